"""A limit of Q: where a start symbol tends to, what Q tends to there, and what it is called.

Every property that gives a name, linear, homogeneous, along beta, is an identity that is tested
exactly; a gradient that has none of them is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError, LanguageError
from derive.exact.asymptotics import SMALL, SPANS, Expander, Expansion, Growth, is_flat, written
from derive.exact.elementary_signs import ElementarySigns, OpenSign, Undecided
from derive.language import parse_expression, to_sympy
from derive.language.tree import Name, Number, Operation, Tree, names
from derive.model.notation import without_modulus
from derive.model.parameterization import Parameterization
from derive.potential.antiderivative import collected
from derive.potential.chart import length_of
from derive.potential.entrywise.notation import antiderivative
from derive.printable import Held
from derive.verdict import Finding, Verdict

LONGEST = 200
"""Characters of an open sign that is written out."""
Side: TypeAlias = Literal["0", "oo", "below", "above"]


@dataclass(frozen=True)
class Point:
    """Where a start symbol tends to: 0+, infinity, or a number from one side.

    Attributes:
        rate: c, where exp(-c symbol), or exp(-c/symbol) as it tends to 0, is the small parameter.
        given: functions of the start that are taken to be positive.
    """

    variable: str
    value: Expr
    side: Side
    rate: Expr | None = None
    given: tuple[Expr, ...] = ()

    @property
    def text(self) -> str:
        """Such as ``alpha -> 0+``."""
        mark = {"0": "0+", "oo": "infinity", "below": f"{self.value}-", "above": f"{self.value}+"}
        given = "".join(f", {condition}" for condition in self.conditions)
        return f"{self.variable} -> {mark[self.side]}{given}"

    @property
    def conditions(self) -> tuple[str, ...]:
        """What is given of the start, such as ``w_0 > 0``."""
        return tuple(
            f"{-c} < 0" if c.could_extract_minus_sign() else f"{c} > 0" for c in self.given
        )

    def decisions(self, positive: Iterable[str]) -> ElementarySigns:
        """Return exact decisions on functions of the start as it tends here."""
        return ElementarySigns({*positive, self.variable}, given=self.given)

    def in_exponentials(self, expressions: Iterable[Expr], positive: Iterable[str]) -> Point:
        """Return the point with a rate where functions have exponentials that are not powers.

        OpenSign: the sign of a rate in the start symbols is not known.
        """
        symbol = Symbol(self.variable, positive=True)
        if self.side not in ("0", "oo"):
            return self
        joined = (sympy.powsimp(f).atoms(sympy.exp) for f in expressions)
        for exponential in sorted(set().union(*joined), key=str):
            at = {s: self.image(symbol) for s in exponential.free_symbols if s.name == symbol.name}
            rate = sympy.expand(symbol * exponential.exp.xreplace(at)).subs(symbol, 0)
            if at and not rate.has(sympy.zoo, sympy.oo, sympy.nan) and rate != 0:
                rate = rate.as_content_primitive()[1]
                return replace(self, rate=self.decisions(positive).sign(rate) * rate)
        return self

    def image(self, small: Expr) -> Expr:
        """Return the symbol in terms of a small e > 0."""
        if self.rate is not None:
            slow = sympy.log(1 / small) / self.rate
            return slow if self.side == "oo" else 1 / slow
        side = {"0": small, "oo": 1 / small, "below": self.value - small}
        return side.get(self.side, self.value + small)

    def expand(
        self, f: Expr, decide: ElementarySigns | None = None, span: Fraction = SPANS[0]
    ) -> Expansion:
        """Return the expansion of a function of the start as it tends here."""
        positive = (s.name for s in f.free_symbols if s.is_positive)
        return Expander(SMALL, decide or self.decisions(positive), span).expand(self.near(f))

    def near(self, expression: Expr, small: Expr = SMALL) -> Expr:
        """Return an expression with the symbol in terms of a small e > 0."""
        image = {s: self.image(small) for s in expression.free_symbols if s.name == self.variable}
        exponential = expression.rewrite([sympy.sinh, sympy.cosh, sympy.tanh], sympy.exp)
        joined = sympy.powsimp(exponential).xreplace(image)
        return sympy.powdenest(joined.replace(sympy.exp, lambda x: sympy.exp(sympy.cancel(x))))

    @property
    def small(self) -> Expr:
        """Return e in terms of the symbol."""
        symbol = Symbol(self.variable, positive=True)
        if self.rate is not None:
            return sympy.exp(-self.rate * (symbol if self.side == "oo" else 1 / symbol))
        return symbol - self.value if self.side == "above" else self.image(symbol)


def read_point(variable: str, text: object) -> Point:
    """Read a limit: 0, oo, or a number with - or + behind it; InputError for all else.

    >>> read_point("s", "1-").text
    's -> 1-'
    """
    written = str(text).strip()
    if written in ("0", "0+"):
        return Point(variable, sympy.S.Zero, "0")
    if written in ("oo", "inf", "infinity"):
        return Point(variable, sympy.S.Infinity, "oo")
    try:
        value = to_sympy(parse_expression(written[:-1]))
    except LanguageError:
        value = None
    if value is None or not value.is_Rational or written[-1] not in "+-":
        raise InputError(
            f"the limit {written!r} is not read: give 0, oo, or a number and a side, such as 1-"
        )
    return Point(variable, value, "below" if written[-1] == "-" else "above")


def scale_start(p: Parameterization, variable: str) -> Parameterization:
    """Return p started from c w_0, c > 0, where w_0 is its start.

    Args:
        p: F and w_0.
        variable: the name of c, which becomes a positive start symbol.

    Raises:
        InputError: the name is taken.

    >>> p = scale_start(Parameterization.parse(["p**2 - m**2"], start={"p": 1, "m": 1}), "alpha")
    >>> dict(p.start)["p"]
    Name(name='alpha')
    """
    vectors = (v.name for v in p.vectors)
    if variable in (*p.weights, *p.start_symbols, *p.parameters, *vectors):
        raise InputError(f"{variable} is a name already: choose another for the scale")
    zero, c = Number(Fraction(0)), Name(variable)
    units: dict[Tree, Tree] = {zero: zero, Number(Fraction(1)): c}

    def scaled(tree: Tree) -> Tree:
        return Operation("*", c, tree) if names((tree,)) else Operation("*", tree, c)

    start = {w: units.get(tree) or scaled(tree) for w, tree in p.start}
    if {*start.values()} == {zero}:
        raise InputError("all weights start at 0, which no scale changes")
    return p.with_(start=start, positive=(*p.positive, variable))


def with_scale(p: Parameterization, variable: str) -> Parameterization:
    """Return p with a positive start symbol *variable*, which scales the start where it is new."""
    if variable in p.parameters or variable in p.positive:
        return p
    if variable not in p.start_symbols:
        return scale_start(p, variable)
    return p.with_(positive=(*p.positive, variable))


Shape: TypeAlias = Literal["l1", "l2", "quadratic", "power", "other"]
_ONE_HALF = sympy.Rational(1, 2)


@dataclass(frozen=True, repr=False)
class LimitingPotential(Held):
    """The limit of Q, and what it is called.

    Attributes:
        shape: l1, a weighted sum of |beta_i|; l2, an increasing function of |beta|; a quadratic
            that is not; power for another homogeneous function; other where only the gradient is
            given.
        Q: the limit, or None where only the gradient was found.
        gradient: its gradient, for beta > 0 where signs matter.
        degree: of homogeneity of Q, where it is so.
        curve: beta as a function of the parameter that the gradient is written in, where it is.
    """

    shape: Shape
    Q: Expr | None
    gradient: tuple[Expr, ...]
    degree: Expr | None = None
    curve: Expr | None = None

    def mapped(self, f: Callable[[Expr], Expr]) -> LimitingPotential:
        """Return it with *f* applied to its expressions in the coordinates."""
        gradient = tuple(map(f, self.gradient))
        return replace(self, Q=None if self.Q is None else f(self.Q), gradient=gradient)


class _Entry(NamedTuple):
    """One entry of the limit of a gradient; the magnitude is |coordinate| of a single output."""

    above: Expr
    below: Expr | None
    coordinate: Symbol
    magnitude: Symbol
    single: bool


def recognize(
    above: Sequence[Expr],
    below: Sequence[Expr | None],
    betas: Sequence[Symbol],
    single: Sequence[bool],
    decide: ElementarySigns,
) -> LimitingPotential:
    """Return the limit of Q from that of its gradient, by exact identities; or Undecided."""
    magnitudes = [
        Symbol(b.name, positive=True) if s else b for b, s in zip(betas, single, strict=True)
    ]
    entries = [_Entry(*row) for row in zip(above, below, betas, magnitudes, single, strict=True)]
    if all(_is_linear(entry, magnitudes, decide) for entry in entries):
        back = dict(zip(magnitudes, betas, strict=True))
        return _quadratic([g.xreplace(back) for g in above], betas)
    slopes = [g for g in (*above, *below) if g is not None]
    degrees = {_degree(g, magnitudes, decide) for g in slopes if not decide.is_zero(g)}
    q = degrees.pop() if len(degrees) == 1 else None
    if q is None or q == -1:
        round_ = not any(single) and rises_radially(above, betas, decide.positive)
        Q = _integrated(entries, decide)
        return LimitingPotential("l2" if round_ else "other", Q, tuple(above))
    return _homogeneous(entries, q, decide) if any(single) else _coupled(above, betas, q, decide)


def _is_linear(entry: _Entry, variables: Sequence[Symbol], decide: ElementarySigns) -> bool:
    """Tell whether an entry is linear, the same on both sides of 0 that are reached."""
    up, down, _, m, alone = entry
    if not up.is_polynomial(*variables) or sympy.Poly(up, *variables).total_degree() != 1:
        return False
    return not alone or down is None or decide.is_zero(up - down.subs(m, -m))


def _quadratic(gradient: Sequence[Expr], betas: Sequence[Symbol]) -> LimitingPotential:
    hessian = sympy.Matrix([[sympy.diff(g, b) for b in betas] for g in gradient])
    offset = [g.xreplace(dict.fromkeys(betas, sympy.S.Zero)) for g in gradient]
    products = (
        _ONE_HALF * hessian[i, j] * x * y for i, x in enumerate(betas) for j, y in enumerate(betas)
    )
    Q = sympy.Add(*products, *(z * b for z, b in zip(offset, betas, strict=True)))
    round_ = hessian == hessian[0, 0] * sympy.eye(len(betas))
    centred = round_ and all(z == 0 for z in offset)
    shape: Shape = "l2" if centred else "quadratic"
    return LimitingPotential(shape, Q, tuple(gradient), sympy.Integer(2))


@dataclass(frozen=True)
class Radial:
    """grad Q = psi(s) beta/s + z with s = |beta| and z free of beta.

    Attributes:
        psi: in the symbol *length*.
        offset: z.
    """

    psi: Expr
    length: Symbol
    offset: tuple[Expr, ...]


def find_radial(
    gradient: Sequence[Expr], betas: Sequence[Symbol], positive: Iterable[str]
) -> Radial | None:
    """Return the parts of a gradient that is along beta but for a constant, or None."""
    slopes = tuple(g.as_independent(*betas, as_Add=True)[0] for g in gradient)
    s = Symbol("length_", positive=True)
    rest = [g - z for g, z in zip(gradient, slopes, strict=True)]
    axis = {**dict.fromkeys(betas, sympy.S.Zero), betas[0]: s}
    psi = rest[0].subs(axis, simultaneous=True)
    length = length_of(betas)
    factor = psi.xreplace({s: length})
    across = [r * length - factor * b for r, b in zip(rest, betas, strict=True)]
    try:
        along_beta = all(map(ElementarySigns({*positive, s.name}).is_zero, across))
    except Undecided:
        along_beta = False
    return Radial(psi, s, slopes) if along_beta else None


def rises_radially(
    gradient: Sequence[Expr], betas: Sequence[Symbol], positive: Iterable[str]
) -> bool:
    """Tell whether a limit of gradients of convex Q is psi(|beta|) beta/|beta|, of several outputs.

    It is monotone, so that psi, which is analytic and not 0, is nowhere negative, and rises.
    """
    radial = find_radial(gradient, betas, positive) if len(betas) > 1 else None
    return radial is not None and not any(radial.offset)


def _integrated(entries: Sequence[_Entry], decide: ElementarySigns) -> Expr | None:
    """Return a sum of integrals, where slopes are one function of each coordinate and have some.

    They are rational, beside logarithms and angles of what is.
    """
    total = sympy.S.Zero
    for up, down, b, m, alone in entries:
        calls = dict.fromkeys(up.atoms(sympy.log, sympy.atan), sympy.S.One)
        parts = up.xreplace(calls), *(call.args[0] for call in calls)
        if not (alone and all(f.is_rational_function(m) for f in parts)):
            return None
        if down is not None and not decide.is_zero(down - up.subs(m, -m)):
            return None
        x = m if down is None else b
        whole = antiderivative(up.xreplace({m: x}), x, tuple(decide.positive))
        split = sympy.expand(whole.replace(sympy.log, _of_factors), log=False)
        Q = collected(split.as_independent(x, as_Add=True)[1], x).xreplace({x: m})
        if Q.has(sympy.Integral) or not decide.is_zero(without_modulus(Q).diff(m) - up):
            return None
        total += Q.xreplace({m: b})
    return total


def _of_factors(A: Expr) -> Expr:
    """Return log |A| up to a constant, a logarithm for each factor."""
    factors = sympy.factor(A.args[0] if isinstance(A, sympy.Abs) else A).as_content_primitive()[1]
    return sympy.Add(*(n * sympy.log(abs(f)) for f, n in factors.as_powers_dict().items()))


def _homogeneous(entries: Sequence[_Entry], q: Expr, decide: ElementarySigns) -> LimitingPotential:
    """Name a gradient that is homogeneous of degree q: Q = <beta, G>/(q + 1)."""
    total: list[Expr] = []
    even = True
    for up, down, b, m, alone in entries:
        if not alone:
            even = False
            total.append(b * up)
            continue
        # <beta, G> on both sides of 0: an even and an odd part.
        rise = sympy.expand(up * m**-q)
        fall = rise if down is None else sympy.expand(-down * m**-q)
        even = even and decide.is_zero(rise - fall) and decide.sign(rise) > 0
        total.append(two_sided(rise, fall, b, q + 1))
    Q = sympy.Add(*(sympy.expand(t) for t in total)) / (q + 1)
    shape: Shape = "l1" if q == 0 and even else "power"
    return LimitingPotential(shape, Q, tuple(entry.above for entry in entries), q + 1)


def _coupled(
    gradient: Sequence[Expr], betas: Sequence[Symbol], q: Expr, decide: ElementarySigns
) -> LimitingPotential:
    """Name the limit where all outputs are coupled: c |beta|^(q + 1) where G is along beta."""
    pairs = combinations(zip(gradient, betas, strict=True), 2)
    if all(decide.is_zero(x * b - y * a) for (x, a), (y, b) in pairs):
        c = gradient[0].subs({**dict.fromkeys(betas, sympy.S.Zero), betas[0]: sympy.S.One})
        length = length_of(betas)
        if decide.is_zero(c * length ** (q - 1) * betas[0] - gradient[0]):
            Q = c * length ** (q + 1) / (q + 1)
            rising = decide.sign(c) > 0
            return LimitingPotential("l2" if rising else "power", Q, tuple(gradient), q + 1)
    Q = sympy.Add(*(b * g for b, g in zip(betas, gradient, strict=True))) / (q + 1)
    return LimitingPotential("power", Q, tuple(gradient), q + 1)


def _degree(g: Expr, variables: Sequence[Symbol], decide: ElementarySigns) -> Expr | None:
    """Return q with sum_j b_j dg/db_j = q g, a rational number, or None."""
    moved = sympy.Add(*(b * sympy.diff(g, b) for b in variables))
    at = {s: sympy.Rational(7 + 2 * k, 5) for k, s in enumerate(sorted(g.free_symbols, key=str))}
    guess = sympy.N(moved.subs(at) / g.subs(at), 30)
    if not guess.is_real:
        return None
    q = sympy.Rational(Fraction(str(guess)).limit_denominator(64))
    return q if decide.is_zero(moved - q * g) else None


Regime: TypeAlias = Literal["rich", "kernel", "anti-NTK", "intermediate", "unknown"]


@dataclass(frozen=True, repr=False)
class Limit(Held):
    """What Q tends to.

    Attributes:
        point: where the start symbol tends to.
        finding: PROVED with what it rests on, or UNDECIDED with the reason.
        regime: kernel, where the limit is the squared norm of the tangent kernel at the start;
            rich, where it is an l1 norm; anti-NTK, where it is an increasing function of the l2
            norm and not quadratic; intermediate otherwise; unknown where nothing was decided.
        coordinates: the arguments x of the limit: beta = origin + basis x.
        origin: where x = 0: beta_0 = F(w_0) where it is the distance from it that is fixed, F(0)
            where that is not 0, else None.
        unit: N in Q/N -> limit; where it depends on |beta|, grad Q/N -> gradient of the limit.
        potential: the limit, in the coordinates.
        below: its gradient for beta < 0 as a function of |beta|, where signs matter.
        error: the relative error of the gradient is of this order, 0 where it vanishes faster than
            every power; None where that was not found.
        sharp: whether it is no better than that.
        basis: None for the standard one.
        steep: where Q/N tends to infinity: a coordinate, its sign there, and dQ/dx to leading
            order.
        open_sign: a function of the start whose sign would have to be known; of an UNDECIDED one.
        depths: exponents, such as D, which are above 2 in what is said.
    """

    point: Point
    finding: Finding
    regime: Regime = "unknown"
    coordinates: tuple[Symbol, ...] = ()
    origin: tuple[Expr, ...] | None = None
    unit: Expr | None = None
    potential: LimitingPotential | None = None
    below: tuple[Expr | None, ...] = ()
    error: Expr | None = None
    sharp: bool = False
    basis: sympy.ImmutableMatrix | None = None
    steep: tuple[tuple[Symbol, int, Expr], ...] = ()
    open_sign: Expr | None = None
    depths: tuple[Symbol, ...] = ()

    @property
    def over(self) -> str:
        """What Q and its slopes are divided by: /N; nothing where N = 1."""
        return "" if self.unit == 1 else "/N"

    @property
    def slopes_below(self) -> list[Expr | None]:
        """Its gradient for negative coordinates; None where these are not reached."""
        signs = {Symbol(x.name, positive=True): -x for x in self.coordinates}
        return [None if g is None else g.xreplace(signs) for g in self.below]

    def slopes_at(self, x: Fraction) -> list[Expr]:
        """Return its gradient where all coordinates have the sign of x."""
        above = () if self.potential is None else self.potential.gradient
        return [g for g in (above if x > 0 else self.slopes_below) if g is not None]


def sided(above: Expr, below: Expr, beta: Symbol) -> tuple[Regime, LimitingPotential]:
    """Return the function of one output with these slopes on either side of 0, and its name."""
    if (above, below) == (1, -1):
        return "rich", LimitingPotential("l1", sympy.Abs(beta), (above,), sympy.S.One)
    Q = two_sided(above, -below, beta, sympy.S.One)
    return "intermediate", LimitingPotential("power", Q, (above,), sympy.S.One)


def two_sided(up: Expr, down: Expr, x: Symbol, p: Expr) -> Expr:
    """Return what is up |x|^p for x > 0, and down |x|^p for x < 0."""
    size = sympy.Abs(x)
    return (up + down) / 2 * size**p + (up - down) / 2 * x * size ** (p - 1)


def undecided(point: Point, reason: str | Undecided) -> Limit:
    """Return a limit of which nothing is claimed."""
    open_sign, words = None, str(reason)
    if isinstance(reason, OpenSign):
        open_sign = reason.expression
        if len(words) > LONGEST:
            names = "`, `".join(sorted(s.name for s in open_sign.free_symbols))
            words = f"the sign of a function of `{names}` is not decided"
    return Limit(point, Finding(Verdict.UNDECIDED, words), open_sign=open_sign)


def growth_expression(growth: Growth, small: Expr) -> Expr:
    """Return e^r log(1/e)^k; 0 of what is below every power."""
    r, k = growth
    if is_flat(growth):
        return sympy.S.Zero
    return small ** written(r) * sympy.log(1 / small) ** -k
