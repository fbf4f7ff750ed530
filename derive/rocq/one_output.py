"""One output, any number of copies: the definitions of a file, and the lemmas of its proof.

Of each copy are proved q' = dq, dq' = 1/kernel, kernel > 0, that beta stays where Q lives,
beta' = K lam, kernel(beta) = K in the weights, and dq = 0 at the start. The library makes the
theorem of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import sympy
from sympy import Expr, Symbol

from derive.model.condition import Sign
from derive.rocq.idle import idle
from derive.rocq.place import DERIVE, Place, squares, sure
from derive.rocq.signs import Signs, said, signs_of
from derive.rocq.subject import OneOutput, X
from derive.rocq.terms import ATOM, POWER, NoFile, Terms, conjunction, name_of, plain

HERE = "by (exact asked' || apply inside; exact"


class Writer:
    """Writes the definitions, the lemmas and the theorem."""

    def __init__(self, m: OneOutput) -> None:
        self.m = m
        self.given = [name_of(s) for s in m.symbols]
        self.of_F = [name_of(s) for s in m.parameters]
        names = dict(zip(m.symbols, self.given, strict=True))
        called = " ".join(self.given)
        names |= {c.name: f"{name_of(c.name)} {called}".strip() for c, _ in m.constants}
        self.names = {**names, X.name: "x"}
        self.asked = signs_of((plain(c.of), c.sign) for c in m.conditions)
        begun = (self.start_of(wall.subs(X, m.F)) for wall in m.walls)
        self.begun = tuple(e for e in begun if not self.asked.positive(e))
        self.asked = self.asked.with_(self.begun)
        within = self.asked.with_(m.walls)
        forms = (within.oriented(f) for f in (m.kernel, sympy.factor(m.kernel)))
        kernel = next((f for f in forms if within.positive(f)), m.kernel)
        self.m = m = replace(m, kernel=kernel)
        self.x = Place(self.names, within, "unfold ok, dom, q, dq, kernel. hyps.", {}, split=True)
        self.smooth = tuple(self._smooth())
        defined = signs_of((e, sign) for _, e, sign in self.smooth)
        along = "intros ht'. assert (o' := on' t ht'). unfold defined in o'. "
        along += "".join(f"assert (V{k}' := W{k}' t ht'). " for k in range(len(m.weights)))
        along += "".join(f"assert (Z{i}' := rests{i}' t ht'). " for i in m.idle)
        still = tuple((m.moving[i], 1, sympy.Integer(0), f"Z{i}'") for i in m.idle)
        self.w = Place(self.at("t"), defined, f"{along}hyps.", {}, relations=still)
        self.beta = Place(
            self.at("t"),
            within.with_(defined.above, defined.off),
            f"{along}assert (a' := asked'). unfold ok in a'. assert (i' := inside t ht'). "
            f"assert (hx' : {self.F_at('t')} = {self.on('t')(m.F)}) by reflexivity. "
            f"unfold dom in i'. set (x := {self.F_at('t')}) in *. clearbody x. hyps. "
            "unfold kernel.",
            {X: m.F},
            relations=still,
        )
        start = m.at_start(m.F)
        self.zero = Place(
            self.names,
            within,
            "assert (a' := asked'). unfold ok in a'. assert (i' := inside 0 (Rle_refl 0)). "
            "assert (f' := from'). unfold starts in f'. unfold dom in i'. hyps. "
            f"assert (hx' : {self.F_at('0')} = {Terms(self.names)(start)}) by apply beta_start. "
            f"set (x := {self.F_at('0')}) in *. clearbody x. unfold dq.",
            {X: start},
            split=True,
        )
        self.start = Place(
            self.names,
            self.asked,
            "assert (a' := asked'). unfold ok in a'. assert (f' := from'). unfold starts in f'. "
            "hyps.",
            {},
        )

    # -- how things are called

    def at(self, time: str) -> dict[str, str]:
        """Return the names of the weights at a time, or of a point w."""
        point = f"w {time}".strip()
        return self.names | {w: f"{point} {i}%nat" for i, w in enumerate(self.m.weights)}

    def on(self, time: str) -> Terms:
        """Return what writes functions of the weights at a time."""
        return Terms(self.at(time))

    def F_at(self, time: str) -> str:
        """Return F of the weights at a time."""
        return " ".join(["F", *self.of_F, f"(w {time})"])

    def head(self, more: str = "") -> str:
        """Return the arguments of a definition."""
        return (f" ({' '.join(self.given)} : R)" if self.given else "") + f" {more}" * bool(more)

    def applied(self, name: str, *more: str) -> str:
        """Return a definition applied to the start."""
        return " ".join((name, *self.given, *more))

    def with_parameters(self, name: str) -> str:
        """Return a definition applied to the parameters of F, as an argument."""
        return f"({' '.join((name, *self.of_F))})" if self.of_F else name

    # -- definitions

    def definitions(self) -> Iterator[str]:
        """Yield what the theorem is about: F, the conditions, where Q lives, and Q."""
        m, at, terms = self.m, self.on(""), Terms(self.names)
        of_F = f" ({' '.join(self.of_F)} : R)" if self.of_F else ""
        yield f"Definition F{of_F} (w : nat -> R) := {at(m.F)}."
        rates = [f"| {i}%nat => {at(r)} " for i, r in enumerate(m.rates) if r != 1]
        chosen = f"match j with {''.join(rates)}| _ => 1 end" if rates else "1"
        yield f"Definition rate{of_F} (j : nat) (w : nat -> R) : R := {chosen}."
        defined = [said(at(e), sign) for _, e, sign in self.smooth]
        yield f"Definition defined{of_F} (w : nat -> R) : Prop := {conjunction(defined)}."
        for symbol, value in m.constants:
            yield f"Definition {name_of(symbol.name)}{self.head()} := {terms(value)}."
        asked = [said(terms(plain(c.of)), c.sign) for c in m.conditions]
        asked += [f"0 < {terms(e)}" for e in self.begun]
        yield f"Definition ok{self.head()} : Prop := {conjunction(asked)}."
        starts = [f"w {i}%nat = {terms(v)}" for i, v in enumerate(m.start)]
        yield f"Definition starts{self.head('(w : nat -> R)')} : Prop := {conjunction(starts)}."
        inside = conjunction([f"0 < {terms(wall)}" for wall in m.walls])
        yield f"Definition dom{self.head('(x : R)')} : Prop := {inside}."
        yield f"Definition q{self.head('(x : R)')} := {terms(m.q)}."

    def _smooth(self) -> Iterator[tuple[str, Expr, Sign]]:
        """Yield what F and the rates divide by and take roots and logarithms of."""
        fresh = Terms(self.at(""))
        for e in (self.m.F, *self.m.rates):
            fresh(e)
        above = tuple(fresh.positive.values())
        for text, e in fresh.positive.items():
            if not Signs().positive(e):
                yield text, e, Sign.POSITIVE
        for text, e in fresh.divisors.items():
            if not e.is_number and not Signs(above).nonzero(e):
                yield text, e, Sign.NONZERO

    # -- functions of x

    def slopes(self) -> Iterator[str]:
        """Yield the lemmas on Q and its slope where Q lives."""
        m, terms = self.m, Terms(self.names)
        yield f"Definition dq{self.head('(x : R)')} := {terms(m.dq)}."
        yield f"Definition kernel{self.head('(x : R)')} := {terms(m.kernel)}."
        slopes = ("q", m.q, m.dq, "dq", ""), ("dq", m.dq, 1 / m.kernel, "kernel", "1 / ")
        for name, of, slope, shown, over in slopes:
            yield self.on_dom(
                f"{name}_slope",
                f"is_derive ({self.applied(name)}) x ({over}{self.applied(shown, 'x')})",
                self.x.proof([of, slope], [of, slope, m.kernel, *squares(of)], DERIVE),
            )
        sure(self.x.signs.positive(m.kernel), m.kernel, "> 0")
        positive = f"0 < {self.applied('kernel', 'x')}"
        yield self.on_dom("kernel_positive", positive, self.x.proof([m.kernel], [], "pos."))

    def on_dom(self, label: str, goal: str, proof: str) -> str:
        """Return a lemma on every x where Q lives."""
        given = f"{self.applied('ok')} -> {self.applied('dom', 'x')} -> "
        return f"Lemma {label}{self.head('(x : R)')} : {given}{goal}.\n{proof}"

    # -- one copy

    def copy(self) -> Iterator[str]:
        """Yield the section on one copy of the output."""
        m = self.m
        rate, F, defined = map(self.with_parameters, ("rate", "F", "defined"))
        yield "Section Copy."
        if self.given:
            yield f"Variables{self.head()}."
        yield (
            "Variables (w : R -> nat -> R) (lam : R -> R).\n"
            f"Hypothesis asked' : {self.applied('ok')}.\n"
            f"Hypothesis from' : {self.applied('starts', '(w 0)')}.\n"
            f"Hypothesis moves' : flow1 {len(m.weights)} {rate} {F} w lam.\n"
            f"Hypothesis on' : forall t, 0 <= t -> {defined.strip('()')} (w t)."
        )
        yield from map(self.weight, range(len(m.weights)))
        yield idle(self.m, self.on) if m.idle else ""
        K = self.on("t")(m.kernel_in_weights, POWER)
        yield self.moves("beta_moves", m.F, f"{K} * lam t", [m.kernel_in_weights])
        start = m.at_start(m.F)
        yield (
            f"Lemma beta_start : {self.F_at('0')} = {Terms(self.names)(start)}.\n"
            + self.start.proof([start], [start], f"unfold F. {self._put_start(m.F)}FIELD.")
        )
        yield from self.laws()
        yield self.inside()
        yield self.inverse()
        zero = self.applied("dq", f"({self.F_at('0')})")
        yield f"Lemma balanced : {zero} = 0.\n" + self.zero.proof(
            [m.dq], [m.dq, *squares(m.dq)], "WRITE FIELD."
        )
        dom, dq, kernel = (
            f"({self.applied(x)})" if self.given else x for x in ("dom", "dq", "kernel")
        )
        beta = f"(fun t => {self.F_at('t')})"
        yield (
            f"Lemma a_copy : copy {dom} {dq} {kernel} {beta} (fun t => {K}) lam.\n"
            "Proof using asked' from' moves' on'.\n"
            "  split; [exact inside|exact beta_moves|exact inverse|exact balanced].\nQed."
        )
        yield "End Copy."

    def weight(self, k: int) -> str:
        """Return the lemma on how a weight moves."""
        m, at = self.m, self.on("t")
        place = Place(
            self.w.names,
            self.w.signs,
            "intros ht'. assert (o' := on' t ht'). unfold defined in o'. hyps.",
            {},
        )
        rate, F = map(self.with_parameters, ("rate", "F"))
        velocity = f"{at(m.rates[k], POWER)} * {at(m.slopes[k], POWER)} * lam t"
        parts = [m.F, m.slopes[k], m.rates[k]]
        proof = place.proof(
            parts,
            [*parts, *squares(m.F)],
            f"evar_last.\n  - apply (flow1_at {len(m.weights)} {rate} {F} w lam moves' t {k}); "
            "[exact ht'|lia|]. unfold partial, F, upd. cbv beta iota delta [Nat.eqb]. diff.",
            "- cbv beta. unfold rate. WRITE FIELD.",
        )
        return (
            f"Lemma W{k}' t : 0 <= t -> is_derive (fun s => w s {k}%nat) t ({velocity}).\n{proof}"
        )

    def moves(self, label: str, e: Expr, slope: str, more: Iterable[Expr] = ()) -> str:
        """Return the lemma on how a function of the weights moves."""
        parts = [e, self.m.F, *self.m.rates, *self.m.slopes, *more]
        proof = self.w.proof(parts, [*parts, *squares(e)], DERIVE)
        shown = self.on("s")(e)
        return f"Lemma {label} t : 0 <= t -> is_derive (fun s => {shown}) t ({slope}).\n{proof}"

    def laws(self) -> Iterator[str]:
        """Yield the laws that are defined on every flow; those that divide are left out."""
        relations, proofs = [], []
        for i, law in enumerate(self.m.laws, 1):
            try:
                lemma = self.law(i, law)
            except NoFile:
                continue
            yield lemma
            if (relation := self._relation(law)) is None:
                continue
            weight, n, value = relation
            k, shown = self.m.moving.index(weight), self.on("t")(value)
            put = self._put_start(law, "; ")
            proof = f"generalize (law{i}' t ht'); {put}lra"
            proofs.append(f"assert (L{i}' : w t {k}%nat ^ {n} = {shown}) by ({proof}). ")
            relations.append((weight, n, value, f"L{i}'"))
        known = f"assert (f' := from'). unfold starts in f'. hyps. {''.join(proofs)}"
        self.lawful = tuple(
            replace(
                place,
                opening=f"{place.opening} ".replace("hyps. ", known),
                relations=(*place.relations, *relations),
            )
            for place in (self.beta, self.w)
        )

    def _relation(self, law: Expr) -> tuple[Symbol, int, Expr] | None:
        """Return a weight with a power that a law gives, as in u^2 = v^2 + u_0^2 - v_0^2."""
        rest = sympy.expand(law - self.m.at_start(law))
        for weight in self.m.moving:
            if rest.is_polynomial(*self.m.moving) and rest.has(weight):
                poly = sympy.Poly(rest, weight)
                n, lead = poly.degree(), poly.LC()
                if lead.is_number and len(poly.terms()) <= 2 and not poly.nth(0).has(weight):
                    return weight, n, sympy.expand(weight**n - rest / lead)
        return None

    def law(self, i: int, law: Expr) -> str:
        """Return the lemmas that a function of the weights is conserved."""
        s, t, zero = (self.on(time)(law) for time in "st0")
        rests = self.moves(f"law{i}_rests'", law, "0")
        return (
            f"{rests}"
            f"Lemma law{i}' t : 0 <= t -> {t} = {zero}.\n"
            f"Proof. apply (law (fun s => {s}) law{i}_rests'). Qed.\n"
        )

    def _put_start(self, e: Expr, end: str = ". ") -> str:
        """Return commands that write the weights at the start in its symbols."""
        text, known = Terms(self.names), f"by (symmetry; assumption){end}"
        return "".join(
            f"replace (w 0 {i}%nat) with {text(v, ATOM)} {known}"
            for i, v in enumerate(self.m.start)
            if self.m.moving[i] in e.free_symbols
        )

    def begins(self, e: Expr, start: Expr) -> str:
        """Return commands that prove a function of the weights positive at the start."""
        put = f"{self._put_start(e, '; ')}FIELD"
        return f"replace ({self.on('0')(e)}) with ({Terms(self.names)(start)}) by ({put}). pos."

    # -- where Q lives

    def inside(self) -> str:
        """Return the lemmas that beta stays where Q lives."""
        walls = self.m.walls
        lines = [self.wall(i, wall) for i, wall in enumerate(walls)]
        steps = " ".join(f"split; [apply wall{i}'; exact ht'|]." for i in range(len(walls) - 1))
        last = f"apply wall{len(walls) - 1}'; exact ht'." if walls else "exact I."
        dom = self.applied("dom", f"({self.F_at('t')})")
        return "".join(lines) + (
            f"Lemma inside t : 0 <= t -> {dom}.\n"
            f"Proof. intros ht'. unfold dom. {steps} {last} Qed.\n"
        )

    def wall(self, i: int, wall: Expr) -> str:
        """Return the lemma that a wall is not crossed: it moves by a multiple of itself."""
        m = self.m
        of_F = wall.subs(X, m.F)
        said = Terms({**self.names, X.name: self.F_at("t")})(wall)
        head = f"Lemma wall{i}' t : 0 <= t -> 0 < {said}.\n"
        if self.w.signs.positive(of_F):
            return head + self.w.proof([m.F], [], "unfold F. pos.")
        calls = self.w.calls(of_F, m.kernel_in_weights, m.F, *m.slopes)
        rate = calls.value(wall.diff(X) * m.kernel_in_weights) / calls.value(of_F)
        rate = sympy.factor(calls.back(calls.normal(rate)))
        _, below = sympy.fraction(rate)
        if not calls.signs.nonzero(below):
            raise NoFile(f"that {wall.subs(X, Symbol('beta'))} keeps its sign is not proved")
        slope = f"{self.on('t')(rate, POWER)} * ({self.on('t')(of_F)}) * lam t"
        moves = self.moves(f"wall{i}_moves'", of_F, slope, [rate])
        parts = [rate, m.F, *m.slopes, *m.rates]
        smooth = self.w.proof(parts, squares(rate), "eexists. diff.")
        start = self.start_of(of_F)
        shown = self.on("s")(rate)
        function = f"(fun s => {self.on('s')(of_F)})"
        zero = self.on("0")(of_F)
        put = self.begins(of_F, start)
        return (
            f"{moves}"
            f"Lemma wall{i}_rate' t : 0 <= t -> ex_derive (fun s => {shown}) t.\n{smooth}"
            f"Lemma wall{i}_start' : 0 < {zero}.\n"
            f"{self.start.proof([start], [start], put)}"
            f"{head}Proof.\n  intros ht'. unfold F.\n"
            f"  generalize (moving {function} (fun s => {shown}) lam (proj1 moves') "
            f"wall{i}_rate' wall{i}_moves' wall{i}_start' t ht'). lra.\nQed.\n"
        )

    def start_of(self, e: Expr) -> Expr:
        """Return a function of the weights at the start, in a form that is positive."""
        start = self.m.at_start(e)
        forms = (start, sympy.factor(start), sympy.expand(start))
        return next((f for f in forms if self.asked.positive(f)), start)

    # -- K as a function of beta

    def inverse(self) -> str:
        """Return the lemma that K as a function of beta is K in the weights."""
        m = self.m
        K = self.on("t")(m.kernel_in_weights)
        beta = self.applied("kernel", f"({self.F_at('t')})")
        head = f"Lemma inverse t : 0 <= t -> {beta} = {K}.\n"
        n = _index(m.kernel)
        parts = [m.kernel, m.kernel_in_weights, m.F, *m.slopes]
        if n == 1:
            for place in (self.beta, self.lawful[0]):
                if place.calls(*parts).vanishes(m.kernel - m.kernel_in_weights):
                    return head + place.proof(parts, parts, "WRITE FIELD.")
        calls = self.x.calls(m.kernel)
        power = calls.value(m.kernel**n)
        if calls.back(power) != power:
            raise NoFile("no power of K is a rational function of beta")
        return (
            self.power(n, power)
            + self.positive(n)
            + head
            + (
                f"Proof.\n  intros ht'. apply (same_power {n - 1}).\n"
                f"  - left. apply kernel_positive; [exact asked'|apply inside; exact ht'].\n"
                f"  - {self.nonnegative()}\n"
                f"  - rewrite kernel_power {HERE} ht'). symmetry. apply power; exact ht'.\nQed.\n"
            )
        )

    def nonnegative(self) -> str:
        """Return what proves that K is not negative."""
        K = self.m.kernel_in_weights
        if self.w.signs.nonnegative(K):
            return self.w.opening.removeprefix("intros ht'. ") + " nn."
        return "left. apply positive; exact ht'."

    def positive(self, n: int) -> str:
        """Return the lemma that K > 0, where its form does not say so: K^n never is 0."""
        m, K = self.m, self.m.kernel_in_weights
        if self.w.signs.nonnegative(K):
            return ""
        start = self.start_of(K)
        sure(self.asked.positive(start), start, "> 0")
        at0, s, t = (self.on(x)(K) for x in "0st")
        put = self.begins(K, start)
        smooth = self.w.proof([m.F, K, *m.slopes, *m.rates], squares(K), "eexists. diff.")
        given = " ".join(["kernel_positive", *self.given, "_ asked' (inside s hs')"])
        return (
            f"Lemma smooth t : 0 <= t -> ex_derive (fun s => {s}) t.\n{smooth}"
            f"Lemma begins : 0 < {at0}.\n{self.start.proof([start], [start], put)}"
            f"Lemma positive t : 0 <= t -> 0 < {t}.\n"
            f"Proof.\n  apply (off_zero (fun s => {s}) smooth); [|exact begins]. intros s hs' z'.\n"
            f"  cbv beta in z'. generalize (power s hs'). rewrite z', <- kernel_power {HERE} hs'). "
            f"generalize (pow_lt _ {n} ({given})). rewrite pow_i by lia. lra.\nQed.\n"
        )

    def power(self, n: int, power: Expr) -> str:
        """Return the lemmas that K^n is a function of beta, on either side."""
        m, K, at = self.m, self.m.kernel_in_weights, self.on("t")
        beta = Terms({**self.at("t"), X.name: self.F_at("t")})
        of_F, parts = power.subs(X, m.F), [m.kernel, power]
        kernel = f"{self.applied('kernel', 'x')} ^ {n} = {Terms(self.names)(power)}"
        given = f"{self.applied('ok')} -> {self.applied('dom', 'x')}"
        lines = f"Lemma kernel_power x : {given} -> {kernel}.\n" + self.x.proof(
            parts, parts, "WRITE FIELD."
        )
        head = f"Lemma power t : 0 <= t -> {at(K, ATOM)} ^ {n} = {beta(power)}.\n"
        rest = K**n - of_F
        for place in (self.w, self.lawful[1]):
            if place.calls(K, of_F, m.F, *m.slopes).vanishes(rest):
                return lines + head + place.proof([K, of_F], [K, of_F], "unfold F. WRITE FIELD.")
        steps = zip(m.rates, m.slopes, m.moving, strict=True)
        slope = sympy.Add(*(r * j * rest.diff(x) for r, j, x in steps))
        if not self.w.calls(rest, slope).vanishes(slope):
            raise NoFile("that K is a function of beta takes laws, which is not proved here")
        start = m.at_start(rest)
        for symbol, value in reversed(m.constants):
            start = start.xreplace({symbol: value})
        if not self.start.calls(start).vanishes(start):
            raise NoFile("that K is a function of beta at the start is not proved")
        used = [name_of(c.name) for c, _ in m.constants if c in rest.free_symbols]
        put = self._put_start(rest) + "".join(f"unfold {c}. " for c in used) + "FIELD."
        rests = self.moves("power_rests'", rest, "0")
        law = f"(law (fun s => {self.on('s')(rest)}) power_rests' t ht')"
        return (
            f"{lines}{rests}"
            f"Lemma power_start' : {self.on('0')(rest)} = 0.\n"
            f"{self.start.proof([start], [start], put)}"
            f"{head}Proof.\n  intros ht'. apply Rminus_diag_uniq. rewrite <- power_start'.\n"
            f"  unfold F. generalize {law}. cbv beta. intros <-. ring.\nQed.\n"
        )

    # -- the theorem

    def theorem(self, name: str) -> str:
        """Return the theorem on all copies, and its proof."""
        m = self.m
        per_copy = [g for g in self.given if g not in self.of_F]
        rate, F, defined = map(self.with_parameters, ("rate", "F", "defined"))

        def of(name: str, *more: str) -> str:
            args = [g if g in self.of_F else f"({g} i)" for g in self.given]
            return " ".join((name, *args, *more))

        groups = (self.of_F, "R"), (per_copy, "nat -> R")
        variables = "".join(f" ({' '.join(x)} : {kind})" for x, kind in groups if x)
        K = self.on("t i")(m.kernel_in_weights)
        kernels = f"(fun i => {of('kernel')}) _ _ (fun i t => {K})"
        return (
            f"Theorem {name} d w lam{variables} :\n"
            f"  flows {len(m.weights)} d {rate} {F} w lam ->\n"
            f"  (forall i, (i < d)%nat -> {of('ok')} /\\ {of('starts', '(w 0 i)')}) ->\n"
            f"  (forall t i, 0 <= t -> (i < d)%nat -> {defined.strip('()')} (w t i)) ->\n"
            f"  regularizes d (fun b => forall i, (i < d)%nat -> {of('dom', '(b i)')})\n"
            f"    (fun b => Sum d (fun i => {of('q', '(b i)')}))\n"
            f"    (fun t i => {F.strip('()')} (w t i)) lam.\n"
            "Proof.\n  intros H' A' on'.\n"
            f"  apply (copies d (fun i => {of('dom')}) (fun i => {of('q')}) (fun i => {of('dq')})\n"
            f"    {kernels}).\n"
            "  - unfold dom. hyps. repeat split; lra.\n"
            "  - intros i x hi'. apply q_slope, A', hi'.\n"
            "  - intros i x hi'. apply dq_slope, A', hi'.\n"
            "  - intros i x hi'. apply kernel_positive, A', hi'.\n"
            f"  - intros i hi'. apply ({of('a_copy')} (fun t => w t i) (fun t => lam t i));\n"
            "    [apply A', hi'|apply A', hi'|apply H', hi'|intros; apply on'; assumption].\n"
            "Qed."
        )


def _index(e: Expr) -> int:
    """Return n for which e^n has no roots."""
    roots = (p.exp.q for p in e.atoms(sympy.Pow) if p.exp.is_Rational)
    return int(sympy.ilcm(1, 1, *roots))
