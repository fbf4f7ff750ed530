"""The flow: the weights follow it, and a coordinate of the outputs stays on the curve of Q.

The place on the curve is a function T of the weights. Of the coordinate x are proved x' = K nu,
with its steering nu, x = f(T), that T stays in the interval of the curve, K = kernel(T), and mu = 0
at the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import sympy
from sympy import Expr, Symbol

from derive.rocq.along import ASKED, UNFOLDED, Along
from derive.rocq.place import DERIVE, Place, squares, sure
from derive.rocq.rests import rests
from derive.rocq.signs import signs_of
from derive.rocq.subject import Coordinate, Subject, Z
from derive.rocq.terms import ATOM, POWER, NoFile, Terms, all_of, cases, each, name_of


def always(label: str, goal: str, proof: str) -> str:
    """Return a lemma on every time."""
    return f"Lemma {label} : forall t, 0 <= t -> {goal}.\n{proof}"


FROM = "assert (f' := from'). unfold starts in f'. "


class Flow(Along):
    """Writes the lemmas on one copy."""

    def __init__(self, m: Subject, x: Coordinate) -> None:
        super().__init__(m, x)
        self.T = x.curve.T[0][0]
        defined = signs_of((e, sign) for _, e, sign in self.defined)
        unfolded = "defined, kept" if m.kept else "defined"
        opening = f"intros t ht'. assert (o' := on' t ht'). unfold {unfolded} in o'. "
        signs = m.asked.with_((*m.kept, *defined.above), defined.off)
        self.begins_at = FROM
        self.lam, self.steady = "lam", "(proj1 moves')"
        self.w = Place(self.at("t"), signs, opening + ASKED)
        self.start = Place(self.names, m.asked, f"{ASKED}{FROM}")

    def copy(self) -> Iterator[str]:
        """Yield the lemmas on one copy of the output."""
        yield from self.flowing(f"{len(self.m.weights)} {self.m.d} rate' {self.outputs}")
        yield self.coordinate()
        yield from self.positive()
        self.W: dict[Symbol, Expr] = {}
        yield from self.on_weights() if self.curve.T[0][1] is not None else self.laws()
        yield self.inside()
        yield self.at_beta()
        yield self.inverse()
        yield self.balanced()
        T, K, nu = (self.on("t")(e) for e in (self.T, self.K, self.steered))
        yield (
            f"Lemma a_copy : copy range' f' mu' kernel' (fun t => {self.output}' (w t)) "
            f"(fun t => {T}) (fun t => {K}) (fun t => {nu}).\n"
            "Proof using asked' from' moves' on'.\n"
            "  split; [exact inside|exact at_beta|exact beta_moves|exact inverse|exact balanced].\n"
            "Qed."
        )

    def flowing(self, flow: str, *between: str) -> Iterator[str]:
        """Yield what is given of a flow, how each weight moves, and that some stay tied."""
        m = self.m
        yield (
            "Variables (w lam : R -> nat -> R).\n"
            f"Hypothesis from' : {self.of('starts')} (w 0).\n"
            f"Hypothesis moves' : flow {flow} w lam.\n"
            f"Hypothesis on' : forall t, 0 <= t -> {self.way}."
        )
        yield from between
        yield from map(self.weight, range(len(m.weights)))
        known = (f"assert (V{k}' := W{k}' t ht'). " for k in range(len(m.weights)))
        self.w = self.w.knowing("".join(known).strip())
        if m.ties:
            yield rests(m, self.on, self.steady)
            known = (f"assert (Z{i}' := rests{i}' t ht'). " for i, _ in m.ties)
            ties = ((m.moving[i], 1, e, f"Z{i}'") for i, e in m.ties)
            self.w = self.w.knowing("".join(known).strip(), relations=ties)

    @property
    def outputs(self) -> str:
        """All outputs as a vector, of which one is the first entry."""
        return "F'" if self.m.d > 1 else "(fun v _ => F' v)"

    def coordinate(self) -> str:
        """Return the lemma on how the coordinate moves, by itself."""
        K, nu = self.on("t")(self.K, POWER), self.on("t")(self.steered, POWER)
        parts = [self.F, *self.m.outputs, self.K, *self.m.rates, *self.m.slopes]
        shown = replace(self.w, closing=f"unfold {self.unfolded}. cbv beta iota.")
        proof = shown.proof(parts, [*parts, *squares(self.F)], DERIVE)
        return always(
            "beta_moves", f"is_derive (fun s => {self.output}' (w s)) t ({K} * {nu})", proof
        )

    # -- how functions of the weights move

    def weight(self, k: int) -> str:
        """Return the lemma on how a weight moves."""
        m, at, n = self.m, self.on("t"), len(self.m.weights)
        velocity = at(m.rates[k] * m.slopes[k])
        J = [F.diff(m.moving[k]) for F in m.outputs]
        parts = [*m.outputs, *J, m.rates[k]]
        put = "unfold partial, F, upd; cbv beta iota delta [Nat.eqb]"
        partial = f"{put}; evar_last; [diff|cbv beta; FIELD]"
        proof = self.w.proof(
            parts,
            [*parts, *(e for F in m.outputs for e in squares(F))],
            f"evar_last.\n  - apply (flow_at {n} {m.d} rate' {self.outputs} w lam moves' t {k} "
            f"(fun i => {cases('i', [at(e) for e in J])})); [exact ht'|lia|]. intros i hi'.\n"
            f"    {each('i', [partial] * m.d)}.",
            "- unfold dot, rate. cbn [Sum]. cbv beta iota. FIELD.",
        )
        return always(f"W{k}'", f"is_derive (fun s => w s {k}%nat) t ({velocity})", proof)

    def moves(self, label: str, e: Expr, slope: str, more: Iterable[Expr] = ()) -> str:
        """Return the lemma on how a function of the weights moves."""
        parts = [e, *self.m.outputs, *self.m.rates, *self.m.slopes, *more]
        proof = self.w.proof(parts, [*parts, *squares(e)], DERIVE)
        return always(label, f"is_derive (fun s => {self.on('s')(e)}) t ({slope})", proof)

    def smooth(self, label: str, e: Expr) -> str:
        """Return the lemma that a function of the weights is differentiable in time."""
        parts = [e, *self.m.outputs, *self.m.slopes, *self.m.rates]
        proof = self.w.proof(parts, squares(e), "eexists. diff.")
        return always(label, f"ex_derive (fun s => {self.on('s')(e)}) t", proof)

    def _put_start(self, e: Expr, end: str = ". ") -> str:
        """Return commands that write the weights at the start in its symbols."""
        text, known = self.terms, f"by (symmetry; assumption){end}"
        return "".join(
            f"replace ({self.on('0')(w)}) with {text(v, ATOM)} {known}"
            for w, v in zip(self.m.moving, self.m.start, strict=True)
            if w in e.free_symbols
        )

    def begins(self, label: str, e: Expr) -> str:
        """Return the lemma that a function of the weights is positive at the start."""
        start = self.m.begin(e)
        sure(self.m.asked.positive(start), start, "> 0")
        put = f"{self._put_start(e, '; ')}FIELD"
        at0, shown = self.on("0")(e), self.terms(start)
        end = f"replace ({at0}) with ({shown}) by ({put}). pos."
        return f"Lemma {label} : 0 < {at0}.\n{self.start.proof([start], [start], end)}"

    def vanishes(self, label: str, e: Expr) -> str:
        """Return the lemmas that a function of the weights is 0, at the start and always."""
        m, start = self.m, self.m.at_start(e)
        for symbol, value in reversed(m.constants):
            start = start.xreplace({symbol: value})
        if not self.start.calls(start).vanishes(start):
            raise NoFile(f"that {e} = 0 at the start is not proved")
        used = [name_of(c.name) for c, _ in m.constants if c in e.free_symbols]
        put = self._put_start(e) + "".join(f"unfold {c}. " for c in used) + "FIELD."
        return (
            f"{self.moves(f'{label}_rests', e, '0')}"
            f"Lemma {label}_start : {self.on('0')(e)} = 0.\n"
            f"{self.start.proof([start], [start], put)}"
            f"Lemma {label} : forall t, 0 <= t -> {self.on('t')(e)} = 0.\n"
            f"Proof. intros t ht'. rewrite <- {label}_start. "
            f"exact (law (fun s => {self.on('s')(e)}) {label}_rests t ht'). Qed.\n"
        )

    def keeps(self, label: str, e: Expr) -> str:
        """Return the lemmas that a function of the weights stays positive, as e' = c e."""
        m = self.m
        calls = self.w.calls(e, self.K, *m.outputs, *m.slopes)
        rate = calls.value(m.rate_of(e)) / calls.value(e)
        rate = sympy.factor(calls.back(calls.normal(rate)))
        above, below = sympy.fraction(rate)
        if not calls.signs.nonzero(below):
            raise NoFile(f"that {e} keeps its sign is not proved")
        of = [sympy.factor(sympy.expand(above).coeff(x) / below) for x in m.steering]
        pairs = zip(of, m.steering, strict=True)
        sums = " + ".join(f"{self.on('t')(c, POWER)} * {self.on('t')(x)}" for c, x in pairs)
        slope = f"({sums}) * ({self.on('t')(e)})"
        rates = [f"{label}_rate{j}" for j in range(m.d)]
        smooth = "".join(self.smooth(at, c) for at, c in zip(rates, of, strict=True))
        shown = cases("j", [self.on("s")(c) for c in of])
        return (
            f"{self.moves(f'{label}_moves', e, slope, [rate])}{smooth}"
            f"{self.begins(f'{label}_start', e)}"
            f"Lemma {label} : forall t, 0 <= t -> 0 < {self.on('t')(e)}.\n"
            f"Proof.\n  apply (moving {m.d} (fun s => {self.on('s')(e)}) (fun j s => {shown})\n"
            f"    {self.lam} {self.steady}); [| |exact {label}_start].\n"
            f"  - intros j t ht' hj'. {each('j', [f'apply {at}; assumption' for at in rates])}.\n"
            f"  - intros t ht'. evar_last; [apply {label}_moves, ht'|].\n"
            "    cbn [Sum]. cbv beta iota. ring.\nQed.\n"
        )

    def positive(self) -> Iterator[str]:
        """Yield that weights stay positive that are rates, or in what T divides by."""
        needs = self.on("t")
        for T, _, W in self.curve.T:
            needs(T if W is not None else sympy.S.Zero)
        asked = (*needs.divisors.values(), *needs.positive.values(), *self.m.rates)
        yield from self.kept(w for w in self.m.moving if any(e.has(w) for e in asked))

    def kept(self, stay: Iterable[Expr]) -> Iterator[str]:
        """Yield that functions of the weights stay positive, where their form does not say so."""
        for k, e in enumerate(stay):
            if self.w.signs.positive(e):
                continue
            yield self.keeps(f"kept{k}'", e)
            self.w = self.w.knowing(f"assert (S{k}' := kept{k}' t ht').", [e])
            if e.is_Pow:
                off = f"assert (O{k}' := square_off _ S{k}')."
                self.w = replace(self.w.knowing(off), signs=self.w.signs.with_(off=[e.base]))

    # -- what is conserved

    def laws(self) -> Iterator[str]:
        """Yield the laws that are defined on every flow; those that divide are left out."""
        relations, proofs = [], []
        for i, law in enumerate(self.m.laws, 1):
            s, t, zero = (self.on(time)(law) for time in "st0")
            try:
                rests = self.moves(f"law{i}_rests'", law, "0")
            except NoFile:
                continue
            yield (
                f"{rests}Lemma law{i}' : forall t, 0 <= t -> {t} = {zero}.\n"
                f"Proof. apply (law (fun s => {s}) law{i}_rests'). Qed.\n"
            )
            if (relation := self.m.relation(law)) is None:
                continue
            weight, n, value = relation
            k, shown = self.m.moving.index(weight), self.on("t")(value)
            put = self._put_start(law, "; ")
            proof = f"generalize (law{i}' t ht'); {put}lra"
            proofs.append(f"assert (L{i}' : w t {k}%nat ^ {n} = {shown}) by ({proof}). ")
            relations.append((weight, n, value, f"L{i}'"))
        known = f"{self.begins_at}hyps. {''.join(proofs)}"
        self.w = self.w.knowing(known.strip(), relations=relations)

    def on_weights(self) -> Iterator[str]:
        """Yield that weights stay positive by which the curve is told, and are those on it."""
        for i, (T, k, W) in enumerate(self.curve.T):
            if k is None or W is None:
                return
            if i:
                yield self.vanishes(f"differ{k}'", self.T - T)
                proof = f"Proof. intros t ht'. generalize (differ{k}' t ht'). lra. Qed.\n"
                yield always(f"same{k}'", f"{self.on('t')(self.T)} = {self.on('t')(T)}", proof)
            self.W[self.m.moving[k]] = W
        for i, (T, k, W) in enumerate(self.curve.T):
            shown = self.on("t")
            same = f"rewrite (same{k}' t ht'). " if i else ""
            names = {**self.at("t"), Z.name: f"({shown(T)})"}
            place = replace(self.w, names=names, values={Z: T})
            goal = Terms({**names, Z.name: f"({shown(self.T)})"})(W)
            yield f"Lemma weight{k}' : forall t, 0 <= t -> w t {k}%nat = {goal}.\n" + place.proof(
                [T], [W], f"{same}FIELD."
            )

    # -- on the curve

    def inside(self) -> str:
        """Return the lemmas that the weights stay on the curve."""
        walls = [*enumerate(self.curve.walls)]
        steps = all_of(f"apply wall{i}'; exact ht'" for i, _ in walls)
        proof = f"Proof. intros t ht'. unfold range, dom. {steps} Qed.\n"
        lines = "".join(self.wall(i, wall) for i, wall in walls)
        return lines + always("inside", f"range' ({self.on('t')(self.T)})", proof)

    def wall(self, i: int, wall: Expr) -> str:
        """Return the lemma that a wall is not crossed: by its form, or as it moves."""
        at = {**self.at("t"), Z.name: self.on("t")(self.T, ATOM)}
        head = f"Lemma wall{i}' : forall t, 0 <= t -> 0 < {Terms(at)(wall)}.\n"
        for j, (T, k, _) in enumerate(self.curve.T):
            e = sympy.factor(wall.subs(Z, T)) if k is not None else wall.subs(Z, T)
            if self.w.signs.positive(e):
                same = f"rewrite (same{k}' t ht'). " if j else ""
                text = Terms({**at, Z.name: self.on("t")(T, ATOM)})(wall)
                put = f"{same}replace ({text}) with ({self.on('t')(e)}) by (FIELD). pos."
                return head + self.w.proof([e, T], [e, T], put)
        e = wall.subs(Z, self.T)
        return (
            f"{self.keeps(f'wall{i}_keeps', e)}{head}"
            f"Proof. intros t ht'. generalize (wall{i}_keeps t ht'). lra. Qed.\n"
        )

    def at_curve(self, closing: str) -> Place:
        """Return the place where z, on the curve, is T of the weights."""
        z, T = self.z, self.on("t")(self.T)
        values, first, known = {Z: self.T}, f"subst {z}; ", ""
        if self.W:
            keys = [k for _, k, _ in self.curve.T]
            known = "".join(f"assert (P{k}' := weight{k}' t ht'). " for k in keys)
            values, first = self.W, "".join(f"rewrite ?P{k}'; " for k in keys)
        known += f"assert (r' := inside t ht'). {self.units_at(f'({T})')}{UNFOLDED}"
        known += f"remember ({T}) as {z} eqn:hx' in *."
        place = self.w.knowing(known, self.x.signs.above)
        return replace(place, closing=closing, values=values, first=first)

    def at_beta(self) -> str:
        """Return the lemma that the curve gives beta."""
        parts = [self.curve.f, self.F]
        shown = f"unfold f, {self.unfolded}. cbv beta iota."
        proof = self.at_curve(shown).proof([*parts, *self.m.outputs], parts, "FIELD.")
        T = self.on("t")(self.T)
        return f"Lemma at_beta : forall t, 0 <= t -> f' ({T}) = {self.output}' (w t).\n{proof}"

    def balanced(self) -> str:
        """Return the lemma that the slope of Q is 0 at the start."""
        mu, T, T0 = self.curve.mu, self.on("0")(self.T), self.m.at_start(self.T)
        put = f"{self._put_start(self.T)}FIELD."
        begins = self.start.proof([T0], [T0], put)
        known = "assert (hx' := begins_at'). assert (r' := inside 0 (Rle_refl 0)). "
        known += (
            f"{self.units_at(f'({T})')}{UNFOLDED}set ({self.z} := {T}) in *. clearbody {self.z}."
        )
        place = replace(
            self.start.knowing(known, self.x.signs.above),
            closing="unfold mu.",
            values={Z: T0},
            first=f"subst {self.z}; ",
            split=True,
        )
        parts = [mu, *squares(mu)]
        if not place.calls(*parts).vanishes(mu):
            raise NoFile("that dQ/dbeta = 0 at the start does not follow by the rules here")
        proof = place.proof([mu], parts, "FIELD.")
        return (
            f"Lemma begins_at' : {T} = {self.terms(T0)}.\n{begins}"
            f"Lemma balanced : mu' ({T}) = 0.\n{proof}"
        )

    # -- K as a function of z

    def inverse(self) -> str:
        """Return the lemma that K along the curve is K in the weights."""
        m, kernel = self.m, self.curve.kernel
        K = self.on("t")(self.K)
        T = self.on("t")(self.T)
        head = f"Lemma inverse : forall t, 0 <= t -> kernel' ({T}) = {K}.\n"
        parts = [kernel, self.K, *m.outputs, *m.slopes]
        n = 1 if self.W else _index(kernel)
        place = self.at_curve("unfold kernel.")
        if n == 1 and place.calls(*parts).vanishes(kernel - self.K):
            return head + place.proof(parts, parts, "FIELD.")
        calls = self.x.calls(kernel)
        power = calls.value(kernel**n)
        sure(self.w.signs.nonnegative(self.K), self.K, ">= 0")
        if calls.back(power) != power:
            raise NoFile("no power of K is a rational function of beta")
        opening = self.w.opening.removeprefix("intros t ht'. ")
        return (
            f"{self.power(n, power)}{head}"
            f"Proof.\n  intros t ht'. apply (same_power {n - 1}).\n"
            "  - left. apply the_curve, inside, ht'.\n"
            f"  - {opening}hyps. nn.\n"
            "  - rewrite kernel_power by (apply inside; exact ht'). symmetry. "
            "apply power; exact ht'.\nQed.\n"
        )

    def power(self, n: int, power: Expr) -> str:
        """Return the lemmas that K^n is a function of z, on either side."""
        m, K, at = self.m, self.K, self.on("t")
        along = Terms({**self.at("t"), Z.name: f"({at(self.T)})"})
        of_T, parts, z = power.subs(Z, self.T), [self.curve.kernel, power], self.z
        lines = (
            f"Lemma kernel_power : forall {z}, range' {z} -> kernel' {z} ^ {n} = "
            f"{self.terms(power)}.\n{self.x.proof(parts, parts, 'FIELD.')}"
        )
        head = f"Lemma power : forall t, 0 <= t -> {at(K, ATOM)} ^ {n} = {along(power)}.\n"
        if self.w.calls(K, of_T, *m.outputs, *m.slopes).vanishes(K**n - of_T):
            return lines + head + self.w.proof([K, of_T], [K, of_T], "FIELD.")
        rest = K**n - of_T
        if not self.w.calls(rest, m.rate_of(rest)).vanishes(m.rate_of(rest)):
            raise NoFile("that K is a function of beta takes laws, which is not proved here")
        return (
            f"{lines}{self.vanishes('power_is', rest)}{head}"
            "Proof. intros t ht'. generalize (power_is t ht'). lra. Qed.\n"
        )


def _index(e: Expr) -> int:
    """Return n for which e^n has no roots."""
    roots = (p.exp.q for p in e.atoms(sympy.Pow) if p.exp.is_Rational)
    return int(sympy.ilcm(1, 1, *roots))
