"""One coordinate of the outputs: the definitions of its curve, and the lemmas on it.

Along the curve x = f(z) are proved f' = df > 0, (height(f z, z))' = mu df,
mu' = df/kernel and kernel > 0; of the flow, where z is a function T of the weights, that x' = K nu
with the steering nu of the coordinate, that x = f(T), that T stays in the interval of the curve,
K = kernel(T), and mu = 0 at the start.

Q lives where the curve is: that it takes every real value is proved towards each end of z. With the
sign s of the end let s f = g + r, where g has no bound and s r' >= 0; with N = 1 + (y/c)^2 there is
a place at which g = c N^n, which is at least y.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy
from sympy import Expr, Symbol

from derive.rocq.flow import ALWAYS, ASKED, Definitions, Flow
from derive.rocq.place import Place, sure
from derive.rocq.subject import Coordinate, Curve, Subject, X, Z
from derive.rocq.terms import ATOM, POWER, NoFile, Signs, Terms, all_of

CURVE = ("range", "f", "height", "df")
"""What is defined along a curve, beside ``dom``, ``q``, ``mu`` and ``kernel``."""
SHOWN = (
    *("height_moves", "mu_moves", "kernel_above"),
    *("inside", "beta_moves", "inverse", "balanced"),
)
"""The lemmas of which the library makes a term of Q."""
Y = Symbol("y'", real=True)


class Term(Flow):
    """Writes the lemmas on one coordinate: on its curve, and on the flow.

    Attributes:
        x: the place of a point of the curve.
        units: what is positive as a multiple of what is positive on the interval.
        range: what the interval of the curve is called.
        unfolded: the command by which what holds on the interval is told.
    """

    def __init__(self, m: Subject, x: Coordinate) -> None:
        self.curve, self.row, self.nu = x.curve, x.row, x.steering
        curve = x.curve
        self.b = [Symbol(f"b'{i}", real=True) for i in range(m.d)]
        self.beta = sympy.Add(*(c * b for c, b in zip(x.row, self.b, strict=True)))
        self.T, self.K = self.beta if curve.explicit else curve.T[0][0], m.inner(x.F, x.F)
        super().__init__(m, {**dict(zip(self.b, m.outputs, strict=True)), Z: self.T})
        self.output = "F" if m.d == 1 else "beta"
        self.z, self.range = ("x", "dom") if curve.explicit else ("z", "range")
        self.unfolded = f"unfold {self.range} in r'."
        self.at_z = Terms({**self.names, X.name: "x", Z.name: self.z})
        names = {**self.at_z.names, X.name: f"({self.at_z(curve.f)})"}
        head, opening = (
            f"forall {self.z}, {self.range}' {self.z} -> ",
            f"intros {self.z} r'. {ASKED}",
        )
        self.x = Place(
            names,
            m.asked.with_(curve.walls),
            head,
            f"{opening}{self.unfolded}",
            self.z,
            self.z,
            moving=(X, Z),
            values={X: curve.f},
            split=True,
        )
        self.beside, self.units = self.x, dict(self._units(curve))
        known = f"{opening}{self.units_at(self.z)}{self.unfolded}"
        self.x = replace(self.x, opening=known, signs=self.x.signs.with_(self.units))
        df, kernel = (self.x.signs.form(e) or e for e in (curve.df, curve.kernel))
        self.curve = replace(curve, df=df, kernel=kernel)

    def _units(self, curve: Curve) -> Iterator[tuple[Expr, Expr]]:
        """Yield what is positive as a multiple of a wall, with the product."""
        bases = [e.args[0] for e in (*curve.f.atoms(sympy.Pow), *curve.height.atoms(sympy.log))]
        for wall in curve.walls:
            calls = self.x.calls(wall)
            numerator, _ = sympy.fraction(sympy.together(calls.value(wall)))
            for e in sorted({calls.back(numerator), *bases} - {*curve.walls}, key=str):
                slope = e.diff(Z)
                product = sympy.Mul(slope / wall.diff(Z), wall, evaluate=False)
                if slope == 0 or slope.has(Z) or not self.x.signs.positive(product):
                    continue
                if self.x.calls(e, product).vanishes(e - product):
                    yield e, product

    def units_at(self, z: str) -> str:
        """Return commands that note what is positive at a place of the curve, where r' says so."""
        return "".join(f"assert (U{i}' := unit{i}' {z} r'). " for i in range(len(self.units)))

    def combined(self, vector: str) -> str:
        """Return the coordinate of a vector of outputs, as text."""
        return Terms({b.name: f"{vector} {i}%nat" for i, b in enumerate(self.b)})(self.beta)

    def of_curve(self) -> Iterator[str]:
        """Yield the definitions of the coordinate, where Q lives, its term of Q, and slopes."""
        if self.m.d > 1:
            beta = self.combined(" ".join(("F", *self.of_F, "w")))
            yield from self.define(self.of_F, {"beta": ("(w : nat -> R)", beta)})
        yield from self.define(self.given, self._of_curve())

    def _of_curve(self) -> Definitions:
        """Return where Q lives, Q and its curve; slopes come last."""
        curve, terms, at_z = self.curve, self.at_z, f"({self.z} : R)"
        walls = (f"{at_z} : Prop", terms.above(curve.walls))
        slopes = {name: (at_z, terms(getattr(curve, name))) for name in ("mu", "kernel")}
        if curve.explicit:
            return {"dom": walls, "q": (at_z, terms(curve.height)), **slopes}
        f, range_ = f"({self.of('f')})", f"({self.of('range')})"
        return {
            "range": walls,
            "f": (at_z, terms(curve.f)),
            "height": ("(x z : R)", terms(curve.height)),
            "dom": ("(x : R) : Prop", "True" if curve.everywhere else f"image {f} {range_} x"),
            "q": ("(x : R)", f"{self.of('height')} x (inv {f} {range_} x)"),
            "df": (at_z, terms(curve.df)),
            **slopes,
        }

    # -- on the curve

    def on_curve(self) -> Iterator[str]:
        """Yield the lemmas on Q and its slope along the curve."""
        curve, x, at = self.curve, self.x, self.x.terms
        for i, (unit, product) in enumerate(self.units.items()):
            put = f"replace ({at(unit)}) with ({at(product)}) by (FIELD). pos."
            goal = f"0 < {at(unit)}"
            yield self.beside.lemma(f"unit{i}'", goal, [], [unit, product], put)
        df, mu, kernel = (at(e, POWER) for e in (curve.df, curve.mu, curve.kernel))
        slopes, steep = (curve.df, curve.mu, curve.kernel), mu
        of = f"Proof using asked'. unfold {self.range}"
        yield (
            f"Lemma between' : forall a b c, {self.range}' a -> {self.range}' b -> a <= c <= b -> "
            f"{self.range}' c.\n{of}. intros a b c. hyps. repeat split; amid a b c. Qed.\n"
        )
        if not curve.explicit:
            yield (
                f"Lemma opened' : forall z, range' z -> locally z range'.\n"
                f"{of} in *. intros z r'. hyps. opens. Qed.\n"
            )
            yield x.moves("f_moves", curve.f, curve.df)
            yield x.positive("f_rises", curve.df)
            steep = f"{mu} * {df}"
        yield x.moves("height_moves", curve.height, curve.mu * curve.df, steep, (curve.f, *slopes))
        yield x.moves("mu_moves", curve.mu, curve.df / curve.kernel, f"{df} / {kernel}", slopes)
        yield x.positive("kernel_above", curve.kernel)

    # -- on the flow

    def copy(self) -> Iterator[str]:
        """Yield the lemmas on one copy of the output."""
        yield from self.flowing(f"{len(self.m.weights)} {self.m.d} rate' {self.outputs}")
        at, T = self.on("t"), self.on("t")(self.T)
        K, nu = at(self.K, POWER), at(self.nu, POWER)
        yield self.w.moves("beta_moves", self.beta, self.K * self.nu, f"{K} * {nu}", [self.K])
        yield from self.staying(self.m.moving)
        told = self.curve.T[0][1] is not None
        yield from self.on_weights() if told else self.laws()
        yield from self.within(self.curve.walls, f"{self.range}' ({T})")
        there = self.there()
        if not self.curve.explicit:
            yield self.zero("at_beta", self.curve.f, self.beta, there)
        yield self.inverse(there)
        T0 = f"({self.on('0')(self.T)})"
        known = f"assert (r' := inside 0 (Rle_refl 0)). {self.units_at(T0)}"
        opening = f"{known}{self.unfolded} {self.start.opening}"
        above = self.x.signs.above
        signs = self.start.signs.with_((*above, *map(self.start.put, above)))
        yield self.starts(
            "balanced", self.curve.mu, replace(self.start, opening=opening, signs=signs, split=True)
        )
        by, place, first = "explicit_term dom' q'", "", ["between'"]
        if not self.curve.explicit:
            by, place = "curve_term range' f' df' height' dom'", f"(fun t => {T}) "
            first += ["opened'", "f_moves", "f_rises", "reached", "at_beta"]
        x = f"(fun t => {self.output}' (w t)) (fun t => {at(self.nu)})"
        yield (
            f"Lemma a_term : term dom' q' {x}.\nProof using asked' from' moves' on'.\n"
            f"  apply ({by} mu' kernel' {x} {place}(fun t => {at(self.K)}));\n"
            f"    [{'|'.join(f'exact {lemma}' for lemma in (*first, *SHOWN))}].\nQed."
        )

    def at_weight(self, T: Expr) -> Place:
        """Return the place where a function of the weights tells where on the curve they are."""
        names = {**self.w.names, Z.name: f"({self.on('t')(T)})"}
        return replace(self.w, names=names, values={**self.w.values, Z: T})

    def on_weights(self) -> Iterator[str]:
        """Yield that weights by which the curve is told are those on it."""
        for T, k, W in self.curve.T:
            if k is None or W is None:
                return
            place, same = self.at_weight(T), ""
            if T != self.T:
                yield self.zero(f"same{k}'", self.T, T)
                same = f"rewrite (same{k}' t ht'). "
            goal = f"{self.on('t')(self.m.moving[k])} = {self.on('t')(W)}"
            yield place.lemma(f"weight{k}'", goal, [T], [W], f"{same}FIELD.")

    def above(self, label: str, wall: Expr) -> str:
        """Return the lemmas that a wall is not crossed: by its form, or as it moves."""
        for T, k in [(self.T, None), *((T, k) for T, k, _ in self.curve.T[1:])]:
            if (place := self.at_weight(T)).form(wall) is not None:
                same = f"rewrite (same{k}' t ht'). " if T != self.T else ""
                goal = f"0 < {self.on('t')(wall)}"
                return place.lemma(label, goal, *place.seen(wall, same))
        return self.keeps(label, wall)

    def there(self) -> Place:
        """Return the place of a time where the weights are on the curve, by which they are told."""
        T = self.on("t")(self.T)
        known = f"assert (r' := inside t ht'). {self.units_at(f'({T})')}{self.unfolded}"
        place = self.w.knowing(known, self.x.signs.above)
        told = [(self.m.moving[k], 1, W, f"P{k}'") for _, k, W in self.curve.T if k is not None]
        if not told:
            return place
        known = "".join(f"assert ({P} := weight{P[1:]} t ht'). " for *_, P in told)
        place = place.knowing(f"{known}remember ({T}) as z eqn:hx' in *.", relations=told)
        values = {x: value for x, value in place.values.items() if x != Z}
        return replace(place, names={**place.names, Z.name: "z"}, values=values)

    def inverse(self, there: Place) -> str:
        """Return the lemma that K along the curve is K in the weights, or that their powers are."""
        kernel, K, at = self.curve.kernel, self.K, self.on("t")
        roots = (p.exp.q for p in kernel.atoms(sympy.Pow) if p.exp.is_Rational)
        n = int(sympy.ilcm(1, 1, *roots)) if self.curve.T[0][1] is None else 1
        if n == 1:
            return self.zero("inverse", kernel, K, there)
        calls = self.x.calls(kernel)
        power = calls.value(kernel**n)
        if calls.back(power) != power:
            raise NoFile("no power of K is a rational function of beta")
        sure(K if self.w.signs.nonnegative(K) else None, K, ">= 0")
        goal = f"{self.x.terms(kernel, ATOM)} ^ {n} = {self.x.terms(power)}"
        return (
            self.x.lemma("kernel_power", goal, [kernel, power], [kernel, power], "FIELD.")
            + self.zero("power", sympy.Pow(K, n, evaluate=False), power)
            + self.w.lemma("K_least", f"0 <= {at(K)}", [K], [], "nn.")
            + f"Lemma inverse : {ALWAYS}{at(kernel)} = {at(K)}.\n"
            f"Proof.\n  intros t ht'. apply (same_power {n - 1}).\n"
            "  - left. apply kernel_above, inside, ht'.\n  - apply K_least, ht'.\n"
            "  - etransitivity; [exact (kernel_power _ (inside t ht'))|]. "
            "symmetry. exact (power t ht').\nQed.\n"
        )


def reached(along: Term) -> Iterator[str]:
    """Yield the lemma that Q lives where the curve is.

    Raises:
        NoFile: no term of f is seen to grow without bound.
    """
    if along.curve.explicit:
        return
    proof = "reflexivity"
    if along.curve.everywhere:
        yield from (*_end(along, "above", 1), *_end(along, "below", -1))
        proof = (
            "unfold dom. split; auto. intros _.\n"
            "  apply (image_all range' f' df' between' f_moves f_rises); clear x; intros x.\n"
            "  - destruct (below (- x)) as [z [h1 h2]]. exists z. split; [exact h1|lra].\n"
            "  - destruct (above x) as [z [h1 h2]]. exists z. split; [exact h1|lra]"
        )
    yield f"Lemma reached x : dom' x <-> image f' range' x.\nProof using asked'. {proof}. Qed.\n"


def _end(along: Term, label: str, sign: int) -> Iterator[str]:
    """Yield the lemmas that s f has no bound on the curve."""
    curve, asked, x = along.curve, along.m.asked, along.x
    candidates = (_far(term, sign, asked) for term in sympy.Add.make_args(curve.f))
    if (found := next(filter(None, candidates), None)) is None:
        raise NoFile("that the curve of Q takes every value is not proved")
    term, place, c, n = found
    g, r = sign * term, sign * (curve.f - term)
    slope = sign * r.diff(Z)
    k = x.signs.form(slope) or slope
    at = x.terms
    goal = f"({sign}) * ({at(curve.f)}) = {at(g)} + ({at(r)})"
    yield x.lemma(f"{label}_split'", goal, [curve.f, g, r], [curve.f, g, r], "FIELD.")
    yield x.moves(f"{label}_rest'", r, sign * k, f"({sign}) * ({at(k)})", [k])
    yield x.nonnegative(f"{label}_grows'", k)
    names = {**along.names, Y.name: "y"}
    zeta = Terms(names)(place)
    names[Z.name] = f"({zeta})"
    there = Place(names, asked, "forall y, ", f"intros y. {ASKED}", values={Z: place})
    at_0 = Place({**names, Z.name: "0"}, asked, "", ASKED, values={Z: sympy.S.Zero})
    for where, here, point, of in (("origin", at_0, "0", ""), ("inside", there, zeta, " y")):
        walls = [f"{label}_{where}{i}'" for i, _ in enumerate(curve.walls)]
        yield from map(here.positive, walls, curve.walls)
        steps = all_of(f"exact ({wall}{of})" for wall in walls)
        yield (
            f"Lemma {label}_{where}' : {here.head}range' ({point}).\n"
            f"Proof using asked'.{' intros y.' * bool(of)} {steps} Qed.\n"
        )
    yield there.nonnegative(f"{label}_side'", sign * Z)
    known = f"assert (r' := {label}_inside' y). {along.units_at(f'({zeta})')}{along.unfolded}"
    far, N = there.knowing(known, x.signs.above), 1 + (Y / c) ** 2
    large = f"large ({far.terms(c)}) {n} y ltac:(pos) ltac:(lia)"
    end = f"apply Rle_trans with (1 := {large}). right. FIELD."
    yield far.lemma(f"{label}_large'", f"y <= {far.terms(g)}", [g], [g, c * N**n], end)
    yield (
        f"Lemma {label} : forall x, exists z, range' z /\\ x <= ({sign}) * f' z.\n"
        f"Proof using asked'.\n  apply (far range' f' (fun z => {at(g)}) (fun z => {at(r)})\n"
        f"    (fun z => {at(k)}) ({sign})); [ring|exact between'|exact {label}_origin'\n"
        f"    |exact {label}_split'|exact {label}_rest'|exact {label}_grows'|].\n"
        f"  intros y. exists ({zeta}). split; [exact ({label}_inside' y)|].\n"
        f"  split; [generalize ({label}_side' y); lra|exact ({label}_large' y)].\nQed.\n"
    )


def _far(term: Expr, sign: int, asked: Signs) -> tuple[Expr, Expr, Expr, int] | None:
    """Return a term of f without bound, the place where s times it is c N^n, c and n."""
    c, rest = term.as_independent(Z)
    base, e = rest.as_base_exp()
    if base == Z and e.is_Integer and e > 0 and e % 2:
        return (term, sign * (1 + (Y / c) ** 2), c, int(e)) if asked.positive(c) else None
    c *= sign
    N = 1 + (Y / c) ** 2
    if not asked.positive(c):
        return None
    slope = base.diff(Z)
    pole = e.is_Rational and e < 0 and not slope.has(Z) and base.subs(Z, 0) == 1
    if pole and asked.positive(-sign * slope):
        return term, (N**-e.q - 1) / slope, c, -e.p
    return None
