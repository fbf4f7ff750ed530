"""The definitions of a file, and lemmas on the flow: how weights move, what is 0 or positive.

Lemmas are in a section where the start is at hand: there ``dom'`` is ``dom`` of the start. A
function e of the weights is 0 at all times by the rules that are known, or because e' = 0 and it
starts at 0; it is positive by its form, or because e' = c e and it starts so. Weights stay
affine functions of others where the differences move by combinations of themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby

import sympy
from sympy import Expr, Symbol

from derive.model.condition import Sign
from derive.rocq.place import Place
from derive.rocq.subject import Subject
from derive.rocq.terms import (
    ATOM,
    POWER,
    NoFile,
    Signs,
    Terms,
    all_of,
    cases,
    conjunction,
    each,
    name_of,
    plain,
    said,
    signs_of,
)

Definitions = dict[str, tuple[str, str]]
"""Arguments and body, by name."""
ASKED = "assert (a' := asked'). unfold ok in a'. "
ALWAYS = "forall t, 0 <= t -> "


class Flow:
    """Writes what a file is about, lemmas on functions of the weights, and states its theorem.

    Attributes:
        w: the place of a time t.
        start: the place of the start.
        lam, steady: what steers functions of the weights, and that it is continuous.
    """

    def __init__(self, m: Subject, put: Mapping[Symbol, Expr] | None = None) -> None:
        self.put, self.values = dict(put or {}), dict[Symbol, Expr]()
        for x, value in self.put.items():
            self.values[x] = value.xreplace(self.values)
        self.m = m
        symbols = [name_of(s) for s in m.symbols]
        self.given = [*(name for name, _ in m.typed), *symbols]
        self.variables = self.binders(self.given)
        self.of_F = [name_of(s) for s in m.parameters]
        constants = {c.name: self.of(name_of(c.name)) for c, _ in m.constants}
        self.names = dict(zip(m.symbols, symbols, strict=True)) | dict(m.texts) | constants
        self.defined = tuple(self._smooth())
        self.w, self.start = self._at_a_time(), self._at_start()
        self.lam, self.steady = "lam", "(proj1 moves')"

    def _at_a_time(self) -> Place:
        m, defined = self.m, signs_of((e, sign) for _, e, sign in self.defined)
        opening = f"intros t ht'. assert (o' := on' t ht'). {self.unfolding}{ASKED}"
        signs = m.asked.with_((*m.kept, *defined.above), defined.off)
        rates = tuple(r * s for r, s in zip(m.rates, m.slopes, strict=True))
        at, to, moving = self.at("t"), self.at("s"), (*m.moving, *self.put)
        return Place(at, signs, ALWAYS, opening.strip(), "s", "t", to, moving, rates, self.values)

    def _at_start(self) -> Place:
        m, begun = self.m, dict(zip(self.m.moving, self.m.start, strict=True))
        texts = {w.name: self.terms(value, ATOM) for w, value in begun.items()}
        opening, asked = (
            f"{ASKED}assert (f' := from'). unfold starts in f'. hyps. begun w.",
            m.asked,
        )
        if self.defined:
            opening = f"assert (o' := on' 0 (Rle_refl 0)). {self.unfolding}{opening}"
            defined = signs_of((m.at_start(e), sign) for _, e, sign in self.defined)
            asked = asked.with_(defined.above, defined.off)
        begun |= {x: m.at_start(value) for x, value in self.values.items()}
        names, numbers = self.putting(self.names | texts), tuple(self._numbers())
        return Place(names, asked, "", opening, values=begun, numbers=numbers)

    @property
    def unfolding(self) -> str:
        """The command that tells what is asked of the weights at a time."""
        return f"unfold {'defined, kept' if self.m.kept else 'defined'} in o'. "

    def putting(self, names: dict[str, str]) -> dict[str, str]:
        """Return names with those of the functions of the weights that are put for symbols."""
        for x, value in self.put.items():
            names = names | {x.name: f"({Terms(names)(value)})"}
        return names

    def at(self, time: str) -> dict[str, str]:
        """Return the names of weights, steering and what is put at a time, or at a point w."""
        point = f"w {time}".strip()
        weights = {w: f"{point} {i}%nat" for i, w in enumerate(self.m.weights)}
        steering = {x.name: f"lam {time} {i}%nat" for i, x in enumerate(self.m.steering)}
        return self.putting(self.names | steering | weights)

    @property
    def terms(self) -> Terms:
        """What writes functions of the start."""
        return Terms(self.names)

    def of(self, name: str) -> str:
        """Return a definition applied to the start."""
        return " ".join((name, *self.given))

    def of_weights(self, name: str) -> str:
        """Return a definition applied to the parameters of F."""
        return " ".join((name, *self.of_F))

    def on(self, time: str) -> Terms:
        """Return what writes functions of the weights at a time."""
        return Terms(self.at(time))

    @property
    def way(self) -> str:
        """What is asked of the weights at every time."""
        asked = ("defined", *["kept"] * bool(self.m.kept))
        return " /\\ ".join(f"{self.of_weights(name)} (w t)" for name in asked)

    def _smooth(self) -> Iterator[tuple[str, Expr, Sign]]:
        """Yield what F and the rates divide by and take roots and logarithms of."""
        fresh = self.on("")
        for e in (*self.m.outputs, *self.m.rates):
            fresh(e)
        above = tuple(fresh.positive.values())
        for text, e in fresh.positive.items():
            if not Signs().positive(e):
                yield text, e, Sign.POSITIVE
        factors = (f for e in fresh.divisors.values() for f in sympy.Mul.make_args(e))
        for e in dict.fromkeys(f.base if f.is_Pow else f for f in factors):
            if not e.is_number and not Signs(above).nonzero(e):
                yield fresh(e, ATOM), e, Sign.NONZERO

    # -- definitions

    def definitions(self) -> Iterator[str]:
        """Yield F, where it is defined, and what is asked of the start."""
        yield from self.define(self.of_F, self.on_flow())
        yield from self.define(self.given, self.on_start())

    def on_flow(self) -> Definitions:
        """Return definitions on the weights."""
        m, at, point = self.m, self.on(""), "(w : nat -> R)"
        rates = cases("j", [at(r) for r in m.rates]) if {*m.rates} != {1} else "1"
        defined = conjunction(said(at(e), sign) for _, e, sign in self.defined)
        return {
            "F": (f"{point}{' (i : nat)' * (m.d > 1)}", cases("i", [at(F) for F in m.outputs])),
            "rate": (f"(j : nat) {point} : R", rates),
            "defined": (f"{point} : Prop", defined),
        } | ({"kept": (f"{point} : Prop", at.above(m.kept))} if m.kept else {})

    def on_start(self) -> Definitions:
        """Return definitions on the start."""
        m, terms = self.m, self.terms
        asked = [said(terms(plain(c.of)), c.sign) for c in m.conditions]
        asked += [f"0 < {terms(e)}" for e in m.begun]
        starts = [f"w {i}%nat = {terms(v)}" for i, v in enumerate(m.start)]
        return {
            **{name_of(c.name): ("", terms(value)) for c, value in m.constants},
            "ok": (": Prop", conjunction(asked)),
            "starts": ("(w : nat -> R) : Prop", conjunction(starts)),
        }

    def binders(self, names: Iterable[str]) -> str:
        """Return variables with their types."""
        typed = dict(self.m.typed)
        groups = groupby(names, lambda name: typed.get(name, "R"))
        return " ".join(f"({' '.join(group)} : {kind})" for kind, group in groups)

    def define(self, given: list[str], definitions: Definitions) -> Iterator[str]:
        """Yield definitions, each with what it is given."""
        head = f" {self.binders(given)}".rstrip()
        for name, (arguments, body) in definitions.items():
            yield f"Definition {name}{head} {arguments} := {body}.".replace("  ", " ")

    # -- the section, and the theorem

    def section(self, names: Iterable[str], of_weights: Iterable[str]) -> Iterator[str]:
        """Yield how the section of the lemmas begins, where names with a prime are of the start."""
        yield "\nSection Model."
        yield f"Variables {self.variables}." if self.given else ""
        yield f"Hypothesis asked' : {self.of('ok')}."
        called = {name: self.of(name) for name in names}
        called |= {name: self.of_weights(name) for name in of_weights}
        yield from (f"Local Notation {name}' := ({of})." for name, of in called.items())

    def arguments(self, d: str = "d") -> str:
        """Return what definitions are applied to, with a text for the dimension d."""
        return "".join(f" {d if g == 'd' else g}" for g in self.given)

    def stated(self, name: str, flow: str, claim: str, d: str = "d") -> str:
        """Return the theorem without its proof, on a flow of so many weights and outputs."""
        variables = self.variables.removeprefix("" if d == "d" else "(d : nat) ")
        args, (rate, F) = self.arguments(d), map(self.of_weights, ("rate", "F"))
        return (
            f"Theorem {' '.join((name, 'w lam', variables)).rstrip()} :\n"
            f"  flow {flow} ({rate}) ({F}) w lam -> ok{args} -> starts{args} (w 0) ->\n"
            f"  (forall t, 0 <= t -> {self.way}) ->\n  {claim}\n    (fun t => {F} (w t)) lam.\n"
        )

    def proved(
        self,
        name: str,
        flow: str,
        claim: Callable[[Callable[[str], str], str], str],
        proof: str,
        d: str = "d",
    ) -> Iterator[str]:
        """Yield what is claimed as the last lemma of the section, and as the theorem.

        The claim is a text in what a definition is called, and in the dimension.
        """
        args, inner = self.arguments(d), claim("{}'".format, "d")
        yield (
            f"Lemma proved : {inner} (fun t => F' (w t)) lam.\n"
            f"Proof using asked' from' moves' on'.\n{proof}\nQed.\nEnd Model.\n"
        )
        yield self.stated(name, flow, claim(f"{{}}{args}".format, d), d) + (
            f"Proof. intros H' A' B' on'. exact (proved{args} A' w lam B' H' on'). Qed."
        )

    # -- the flow

    def flowing(self, flow: str, *between: str) -> Iterator[str]:
        """Yield what is given of a flow, how each weight moves, and that some stay tied."""
        m = self.m
        yield (
            "Variables (w lam : R -> nat -> R).\n"
            f"Hypothesis from' : {self.of('starts')} (w 0).\n"
            f"Hypothesis moves' : flow {flow} w lam.\n"
            f"Hypothesis on' : {ALWAYS}{self.way}."
        )
        yield from between
        yield from map(self.weight, range(len(m.weights)))
        known = (f"assert (V{k}' := W{k}' t ht')." for k in range(len(m.weights)))
        self.w = self.w.knowing(" ".join(known))
        if m.ties:
            yield rests(m, self.on, self.steady)
            self.know(((m.moving[i], 1, e) for i, e in m.ties), "rests", [i for i, _ in m.ties])

    def know(
        self, relations: Iterable[tuple[Symbol, int, Expr]], label: str, of: Iterable[int]
    ) -> None:
        """Take over equations that lemmas have shown."""
        for i, (symbol, n, value) in zip(of, relations, strict=True):
            name = f"{label[0].upper()}{i}'"
            command = f"assert ({name} := {label}{i}' t ht')."
            self.w = self.w.knowing(command, relations=[(symbol, n, value, name)])

    @property
    def outputs(self) -> str:
        """All outputs as a vector, of which one is the first entry."""
        return "F'" if self.m.d > 1 else "(fun v _ => F' v)"

    def weight(self, k: int) -> str:
        """Return the lemma on how a weight moves."""
        m, at, n = self.m, self.on("t"), len(self.m.weights)
        J = [F.diff(m.moving[k]) for F in m.outputs]
        parts = [*m.outputs, *J, m.rates[k]]
        put = "unfold partial, F, upd; cbv beta iota delta [Nat.eqb]"
        partial = f"{put}; evar_last; [diff|cbv beta; FIELD]"
        return self.moved(
            k,
            parts,
            f"apply (flow_at {n} {m.d} rate' {self.outputs} w lam moves' t {k} "
            f"(fun i => {cases('i', [at(e) for e in J])})); [exact ht'|lia|]. intros i hi'.\n"
            f"    {each('i', [partial] * m.d)}.",
            "unfold dot, rate. cbn [Sum]. cbv beta iota",
        )

    def moved(self, k: int, parts: list[Expr], by: str, put: str) -> str:
        """Return the lemma on how a weight moves, by a lemma of the library."""
        at, w = self.on("t"), self.m.moving[k]
        goal = f"is_derive (fun s => {self.on('s')(w)}) t ({at(self.w.rates[k])})"
        ends = f"evar_last.\n  - {by}", f"- {put}. FIELD."
        return self.w.lemma(f"W{k}'", goal, parts, parts, *ends)

    # -- what is 0

    def zero(self, label: str, left: Expr, right: Expr, place: Place | None = None) -> str:
        """Return the lemmas that two functions of the weights are equal at all times.

        Raises:
            NoFile: that does not follow by the rules here.
        """
        place, e = place or self.w, left - right
        if place.calls(e).vanishes(e):
            goal = f"{self.w.terms(left)} = {self.w.terms(right)}"
            return place.lemma(label, goal, [left, right], [left, right], "FIELD.")
        rate = self.m.rate_of(e.subs(place.values))
        if not place.calls(rate).vanishes(rate):
            raise NoFile(f"that {left} = {right} along the flow is not proved")
        at, rested, begun = self.w.terms, f"{label}_rests'", f"{label}_start'"
        known = f"rewrite <- {begun}. exact (law (fun s => {self.on('s')(e)}) {rested} t ht')"
        return (
            f"{self.w.moves(rested, e, sympy.S.Zero)}{self.starts(begun, e)}"
            f"Lemma {label} : {ALWAYS}{at(left)} = {at(right)}.\n"
            f"Proof. intros t ht'. enough (E' : {at(e)} = 0) by lra. {known}. Qed.\n"
        )

    def starts(self, label: str, e: Expr, place: Place | None = None) -> str:
        """Return the lemma that a function of the weights is 0 at the start."""
        place = place or self.start
        goal = f"{Terms({**place.names, **self.at('0')})(e)} = 0"
        for here in (place, self._unfolded(place, e)):
            if here.calls(e).vanishes(e):
                return here.lemma(label, goal, [e], [e], "FIELD.")
        raise NoFile(f"that {e} = 0 at the start does not follow by the rules here")

    def _numbers(self) -> Iterator[Expr]:
        """Yield functions of weights that are rational numbers at the start, as sqrt(w) at 1."""
        for value in self.values.values():
            for e in sympy.preorder_traversal(value):
                own = e.is_Function or (e.is_Pow and not e.exp.is_Integer)
                if own and self.m.at_start(e).is_Rational:
                    yield e

    def _unfolded(self, place: Place, e: Expr) -> Place:
        """Return the place where constants of the start are what they stand for."""
        names, values, used = dict(place.names), dict(place.values), {*e.free_symbols}
        for c, value in reversed(self.m.constants):
            used |= value.free_symbols if c in used else set()
        constants = [(c, value) for c, value in self.m.constants if c in used]
        for c, value in constants:
            names[c.name] = f"({Terms(names)(value)})"
            values[c] = value.subs(values, simultaneous=True)
        unfolded = ", ".join(name_of(c.name) for c, _ in reversed(constants))
        place = place.knowing(f"unfold {unfolded} in *." if constants else "")
        return replace(place, names=names, values=values)

    def laws(self) -> Iterator[str]:
        """Yield the laws that are defined on every flow; those that divide are left out."""
        known = list[tuple[Symbol, int, Expr]]()
        for law in self.m.laws:
            relation = self.m.relation(law, [w for w, *_ in known])
            if relation is None or self.w.calls().vanishes(law - self.m.at_start(law)):
                continue
            try:
                symbol, n, value = relation
                yield self.zero(f"law{len(known)}'", symbol**n, value)
            except NoFile:
                continue
            known.append(relation)
        self.know(known, "law", range(len(known)))

    # -- what is positive

    def keeps(self, label: str, e: Expr) -> str:
        """Return the lemmas that a function of the weights stays positive, as e' = c e.

        Raises:
            NoFile: that is not so, or it does not start positive by its form.
        """
        m, at = self.m, self.on("t")
        whole = e.subs(self.w.values)
        calls = self.w.calls(whole, *self.w.rates)
        rate = calls.quotient(calls.value(m.rate_of(whole)), calls.value(whole))
        rate = sympy.factor(calls.back(rate))
        above, below = sympy.fraction(rate)
        if not calls.signs.nonzero(below):
            raise NoFile(f"that {e} keeps its sign is not proved")
        of = [sympy.factor(sympy.expand(above).coeff(x) / below) for x in m.steering]
        pairs = zip(of, m.steering, strict=True)
        slope = " + ".join(f"{at(c, POWER)} * {at(x)}" for c, x in pairs)
        function, text = Terms({**self.w.names, **self.w.along})(e), self.w.terms(e)
        rates = [f"{label}_rate{j}'" for j in range(m.d)]
        moved, begun = f"{label}_moves'", f"{label}_start'"
        smooth = "".join(self.w.smooth(x, c) for x, c in zip(rates, of, strict=True))
        shown = cases("j", [self.on("s")(c) for c in of])
        starts = self.start.lemma(begun, f"0 < {self.on('0')(e)}", *self.start.seen(e))
        return (
            f"{self.w.moves(moved, e, rate * e, f'({slope}) * ({text})', of)}{smooth}{starts}"
            f"Lemma {label} : {ALWAYS}0 < {text}.\n"
            f"Proof.\n  apply (moving {m.d} (fun s => {function}) (fun j s => {shown})\n"
            f"    {self.lam} {self.steady}); [| |exact {begun}].\n"
            f"  - intros j t ht' hj'. {each('j', [f'apply {x}; assumption' for x in rates])}.\n"
            f"  - intros t ht'. evar_last; [apply {moved}, ht'|].\n"
            "    cbn [Sum]. cbv beta iota. ring.\nQed.\n"
        )

    def above(self, label: str, e: Expr) -> str:
        """Return the lemmas that a function of the weights is positive: by its form, or always."""
        return self.keeps(label, e) if self.w.form(e) is None else self.w.positive(label, e)

    def within(self, walls: Iterable[Expr], goal: str) -> Iterator[str]:
        """Yield the lemmas that beta stays where Q lives, which is where walls are positive."""
        yield from (self.above(f"wall{i}'", wall) for i, wall in enumerate(walls))
        steps = all_of(f"exact (wall{i}' t ht')" for i, _ in enumerate(walls))
        yield f"Lemma inside : {ALWAYS}{goal}.\nProof. intros t ht'. {steps} Qed.\n"

    def staying(self, candidates: Iterable[Expr]) -> Iterator[str]:
        """Yield that functions of the weights stay positive, of those that are seen to."""
        for k, e in enumerate(candidates):
            if self.w.signs.positive(e):
                continue
            try:
                yield self.keeps(f"kept{k}'", e)
            except NoFile:
                continue
            self.w = self.w.knowing(f"assert (S{k}' := kept{k}' t ht').", [e])
            if e.is_Pow:
                off = f"assert (O{k}' := square_off _ S{k}')."
                self.w = replace(self.w.knowing(off), signs=self.w.signs.with_(off=[e.base]))


def rests(m: Subject, on: Callable[[str], Terms], steady: str) -> str:
    """Return the lemmas that z_k = w_i - tie_i are 0: z_k' = sum_j a_kj z_j, z_k(0) = 0.

    Raises:
        NoFile: their rates are not polynomials in them.
    """
    n, z = len(m.ties), [m.moving[i] - tie for i, tie in m.ties]
    at, to = (cases("k", [*map(on(time), z)]) for time in "ts")
    rows = cases("k", [cases("j", [steered(c, m, on("s")) for c in row]) for row in _rows(m)])
    inner = each("j", ["cbv beta iota; cont"] * n)
    known = " ".join(f"assert (V{i}' := W{i}' s ht)." for i in range(len(m.weights)))
    known += "".join(f" assert (C{i}' := {steady} s {i}%nat ht ltac:(lia))." for i in range(m.d))
    moves = "cbv beta iota; evar_last; [diff|cbn [Sum]; cbv beta iota; field; sides]"
    lines = (
        f"Lemma rest' k t : (k < {n})%nat -> 0 <= t -> {at} = 0.\n"
        f"Proof.\n  intros hk' ht'. refine (rests {n} t (fun k s => {to})\n"
        f"    (fun k j s => {rows}) _ _ _ ht' k hk'); clear k hk'.\n"
        f"  - intros k s hk' [ht _]. {known}\n    {each('k', [moves] * n)}.\n"
        f"  - intros k j s hk' hj' [ht _]. {known}\n    {each('k', [inner] * n)}.\n"
        "  - intros k hk'. assert (f' := from'). unfold starts in f'. hyps.\n"
        f"    {each('k', ['first [lra|begun w; field; sides]'] * n)}.\nQed.\n"
    )
    return lines + "".join(
        f"Lemma rests{i}' t : 0 <= t -> w t {i}%nat = {on('t')(tie)}.\n"
        f"Proof. intros ht'. generalize (rest' {k} t ltac:(lia) ht'). cbv beta iota. lra. Qed.\n"
        for k, (i, tie) in enumerate(m.ties)
    )


def steered(e: Expr, m: Subject, terms: Terms) -> str:
    """Return a combination of the steering, term by term."""
    factors = ((sympy.factor(sympy.expand(e).coeff(x)), x) for x in m.steering)
    return " + ".join(f"{terms(c, POWER)} * {terms(x)}" for c, x in factors if c != 0) or "0"


def _rows(m: Subject) -> list[list[Expr]]:
    """Return a_kj with z_k' = sum_j a_kj z_j, over the weights."""
    z = [Symbol(f"_z{k}", real=True) for k in range(len(m.ties))]
    lifted = {m.moving[i]: tie + x for x, (i, tie) in zip(z, m.ties, strict=True)}
    back = {x: m.moving[i] - tie for x, (i, tie) in zip(z, m.ties, strict=True)}
    rows = []
    for i, tie in m.ties:
        velocity = sympy.expand(m.rate_of(m.moving[i] - tie).subs(lifted, simultaneous=True))
        if not velocity.is_polynomial(*z):
            raise NoFile("that weights stay tied is not proved here")
        row, rest = sympy.reduced(velocity, z, *z) if velocity != 0 else ([velocity] * len(z), 0)
        if rest != 0:
            raise NoFile("that weights stay tied is not proved here")
        rows.append([c.subs(back, simultaneous=True) for c in row])
    return rows
