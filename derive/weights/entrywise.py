"""Functions of generic entries and of symmetric sums: what is computed once for every n.

A function of v = (v_1, ..., v_n) that is written in some entries and in sums S_a = sum_k m_a(v_k)
has the gradient e_i d_i f + sum_k C(v_k) e_k, C = sum_a f_a m_a', so that

    <df, dh> = r (sum_i f_i h_i + sum_ia (f_i h_a + h_i f_a) m_a'(v_i) + sum_ab f_a h_b S_ab),

with S_ab = sum_k m_a'(v_k) m_b'(v_k), a number times n, a combination of sums that there are, or a
new one; to this single weights z add eta_z f_z h_z. So an identity that holds with entries and sums
as independent symbols holds for every n.

Conversely e entries and q sums are independent functions where n >= e + q: the other n - e entries
give the Jacobian [m_a'(v_k)], whose minors are not all 0 as 1, m_1, ..., m_q are linearly
independent over the constants; this is how a new sum is told from the others. So what fails as an
identity in e entries and q sums fails for every n >= e + q, at almost all weights. (Derived here.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from itertools import islice, product
from operator import add

from flint import fmpz_poly

from derive.clock import ENDLESS, Clock
from derive.errors import InputError
from derive.exact.balls import (
    Unbounded,
    Value,
    ball,
    evaluate_any,
    is_nonzero,
    precise,
    shown,
    values_of,
)
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import Polynomial, terms
from derive.exact.linear.matrix import determinant, dot, nullspace_over_constants
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression
from derive.language.tree import Name, Number, Tree, substituted
from derive.model.entrywise import ENTRIES, EntrywiseMap
from derive.model.geometry import Field
from derive.model.names import unused
from derive.verdict import Identity
from derive.weights.witness import Equation, Flow, small_points, warp_candidate, warp_conditions

ONE = Number(Fraction(1))
TRIED = (0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 3), (5, 5)
"""Numbers for sums, and for single weights, at which the own function of F is read."""
SPARE = 8
"""Sums beside those of F that may come up."""


class TooManySums(Exception):
    """More sums come up than there are names for."""


@dataclass(frozen=True)
class Covector:
    """sum_i a_i dv_i + sum_k C(v_k) dv_k + sum_z b_z dz.

    Attributes:
        own: a_i, by the indices of generic entries.
        spread: C as a sum of products of a function of sums and one of one entry.
        scalars: b_z, by single weights.
    """

    own: dict[str, RationalFunction]
    spread: tuple[tuple[RationalFunction, RationalFunction], ...] = ()
    scalars: dict[str, RationalFunction] = field(default_factory=dict)


@dataclass
class Entries:
    """The field of generic entries v_i, v_j, v_k, v_n, of sums, and of single weights.

    Sums get their names as they come up: ``sums`` has m_a' of each, and m_a where it is known, as
    functions of one entry.
    """

    model: EntrywiseMap
    clock: Clock = ENDLESS
    slopes: dict[str, RationalFunction] = field(default_factory=dict)
    sums: dict[str, RationalFunction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for (name, _), m in zip(self.model.sums, self._functions[1:], strict=True):
            known = self.combination(m)
            if known is not None:
                raise InputError(f"the sum of {m!r} is one of the other sums: write it so")
            self._add(name, m.field.derivative(m, 0), m)

    @cached_property
    def _functions(self) -> Field:
        """F at S = z = 0, or another number where F then depends on v, and m_a, of one entry."""
        p, sums = self.model, [name for name, _ in self.model.sums]
        for of_sum, single in TRIED:
            numbers: dict[str, Tree] = dict.fromkeys(sums, Number(Fraction(of_sum)))
            numbers |= dict.fromkeys(p.scalars, Number(Fraction(single)))
            trees = (substituted(p.output, numbers), *(m for _, m in p.sums))
            try:
                found = build_elements(trees, (p.indexed,), p.parameters, p.positive, self.clock)
            except ZeroDivisionError:
                continue
            if not found[0].field.derivative(found[0], 0).is_zero():
                return found
        raise InputError("F has poles where sums and single weights are 0, 1, 2, 3 and 5")

    @property
    def scalars(self) -> tuple[str, ...]:
        """The names of the sums in F, and of single weights."""
        return (*(name for name, _ in self.model.sums), *self.model.scalars)

    @property
    def f(self) -> RationalFunction:
        """F at a number for S and z, a function of one entry."""
        return self._functions[0]

    @property
    def own(self) -> FunctionField:
        """The field of functions of one entry."""
        return self.f.field

    @cached_property
    def entries(self) -> dict[str, str]:
        """The names of the generic entries, by index."""
        return {index: self.model.entry(index) for index in ENTRIES}

    @cached_property
    def spare(self) -> tuple[str, ...]:
        """Names for the sums that come up."""
        taken = {*self.model.taken, *self.scalars, *self.entries.values()}
        return tuple(unused(f"T{k}", taken) for k in range(1, SPARE + 1))

    @cached_property
    def _built(self) -> tuple[Field, dict[str, Field]]:
        """F at v_i, v_j, v_k, then rates; and each function of one entry at all of these."""
        p, weights = self.model, (*self.entries.values(), *self.scalars, *self.spare)
        positive = [*p.positive, *(self.entries.values() if p.indexed in p.positive else ())]
        rates = dict(p.rates)
        trees = [p.at(p.output, index) for index in ENTRIES[:3]]
        trees += [rates.get(w, ONE) for w in (p.indexed, *p.scalars)]
        trees += [Name(p.size)]
        own = [p.at(parse_expression(x), index) for x in self.own.names for index in ENTRIES]
        constants = (*p.parameters, p.size)
        built = build_elements((*trees, *own), weights, constants, positive, self.clock)
        first, images = len(trees), dict[str, Field]()
        for k, index in enumerate(ENTRIES):
            images[index] = built[first + k :: len(ENTRIES)]
        return built[:first], images

    @property
    def F(self) -> Field:
        """F at v_i, v_j and v_k."""
        return self._built[0][:3]

    @property
    def n(self) -> RationalFunction:
        """The number of entries."""
        return self._built[0][-1]

    @property
    def rates(self) -> Field:
        """The rates of v and of the single weights."""
        return self._built[0][3:-1]

    @property
    def field_(self) -> FunctionField:
        """The field in which everything is computed."""
        return self.F[0].field

    def at(self, function: RationalFunction, index: str) -> RationalFunction:
        """Return a function of one entry at a generic entry."""
        return function.compose(self._built[1][index], self.field_)

    def gradient(self, function: RationalFunction) -> Covector:
        """Return the differential of a function of entries, sums and single weights."""
        pairs = zip(self.field_.weights, self.field_.gradient(function), strict=True)
        parts = {name: slope for name, slope in pairs if not slope.is_zero()}
        own = {i: parts[name] for i, name in self.entries.items() if name in parts}
        spread = tuple((parts[x], m) for x, m in self.slopes.items() if x in parts)
        return Covector(own, spread, {z: parts[z] for z in self.model.scalars if z in parts})

    def partial(self, function: RationalFunction, name: str) -> RationalFunction:
        """Return the derivative by one entry, sum or single weight."""
        return self.field_.derivative(function, self.field_.positions[name])

    def moving(self, function: RationalFunction) -> tuple[str, ...]:
        """Return the entries, sums and single weights on which a function depends."""
        pairs = zip(self.field_.weights, self.field_.gradient(function), strict=True)
        return tuple(name for name, slope in pairs if not slope.is_zero())

    def total(self, function: RationalFunction) -> RationalFunction:
        """Return sum_k m(v_k) for a function m of one entry; of a new one, a new name."""
        combination = self.combination(function)
        if combination is None:
            name = next((x for x in self.spare if x not in self.slopes), None)
            if name is None:
                raise TooManySums
            self._add(name, self.own.derivative(function, 0), function)
            return self.field_.named(name)
        constant, *rest = (self.at(c, "i") for c in combination)
        named = (self.field_.named(name) for name in self.sums)
        return reduce(add, (c * s for c, s in zip(rest, named, strict=True)), constant * self.n)

    def combination(self, function: RationalFunction) -> Field | None:
        """Return the constants of a function in 1 and the m_a; None where there are none."""
        columns = [(function,), (self.own.one,), *((m,) for m in self.sums.values())]
        for first, *rest in nullspace_over_constants(columns):
            if not first.is_zero():
                return tuple(-x / first for x in rest)
        return None

    @property
    def homogeneous(self) -> bool:
        """Whether sum_w w dF/dw = D F over all weights, with a constant D."""
        (r, *etas), v = self.rates, self.own.named(self.model.indexed)
        pairs = zip(self.model.scalars, etas, strict=True)
        euler = Covector({}, ((1 / r, v),), {z: self.field_.named(z) / eta for z, eta in pairs})
        degree = self.inner(euler, self.gradient(self.F[0])) / self.F[0]
        return {*degree.variables()} <= self.field_.parameters

    def _add(self, name: str, slope: RationalFunction, function: RationalFunction) -> None:
        self.slopes[name], self.sums[name] = slope, function

    def inner(self, df: Covector, dh: Covector) -> RationalFunction:
        """Return <df, dh>."""
        zero = self.field_.zero
        terms = [x * dh.own.get(i, zero) for i, x in df.own.items()]
        for one, other in ((df, dh), (dh, df)):
            pairs = ((i, x, c, m) for i, x in one.own.items() for c, m in other.spread)
            terms += [x * c * self.at(m, i) for i, x, c, m in pairs]
        terms += [c * e * self.total(m * k) for c, m in df.spread for e, k in dh.spread]
        r, *etas = self.rates
        rates = dict(zip(self.model.scalars, etas, strict=True))
        single = (rates[z] * x * dh.scalars.get(z, zero) for z, x in df.scalars.items())
        return reduce(add, single, r * reduce(add, terms, zero))


@dataclass
class EntryFlow(Flow[RationalFunction]):
    """K and its derivatives along the fields of three generic outputs.

    A field grad F_a stands by its covector dF_a.
    """

    entries: Entries

    @property
    def labels(self) -> tuple[int, ...]:
        """The numbers of the three outputs."""
        return (1, 2, 3)

    @cached_property
    def X(self) -> tuple[Covector, ...]:  # type: ignore[override]
        """The covectors dF_a."""
        return tuple(map(self.entries.gradient, self.entries.F))

    @cached_property
    def K(self) -> tuple[Field, ...]:  # type: ignore[override]
        """<dF_a, dF_b>."""
        return tuple(tuple(self.entries.inner(x, y) for y in self.X) for x in self.X)

    def slope(self, x: Covector, f: RationalFunction) -> RationalFunction:  # type: ignore[override]
        """Return <x, df>."""
        return self.entries.inner(x, self.entries.gradient(f))


POINTS = 60
"""Weights at which an equation is looked at."""


@dataclass(frozen=True)
class Failure:
    """An equation that fails for every n from some size on, at almost all weights.

    Attributes:
        of: the outputs that it is about, where it is one of a warp.
        points: weights where it fails, for each n from the size on up to where n is large.
    """

    size: int
    identity: Identity
    of: tuple[int, ...]
    points: Mapping[int, Mapping[str, Fraction]]


def find_entrywise_failure(
    entries: Entries, equation: Equation[RationalFunction], given: RationalFunction | None = None
) -> Failure | None:
    """Return from which n on an equation fails, with a point at that size; None where it holds.

    There a *given* function is not 0 either.

    For large n entries and sums are independent; whole numbers n at which all coefficients of the
    difference vanish are left out; smaller n are shown one by one, at weights.
    """
    statement, left, right, _, of = equation
    difference = left - right
    if difference.is_zero():
        return None
    both = difference if given is None else difference * given
    sides = (both.numerator, both.denominator)
    large = len(ENTRIES[:3]) + len(entries.slopes)
    size = max([large, *(1 + n for side in sides for n in vanishing_sizes(entries, side))])
    least = len(ENTRIES[:3]) + entries.model.left_out
    points = {size: _point(entries, both, size)}
    while size > least and (smaller := _point(entries, both, size - 1)):
        size -= 1
        points[size] = smaller
    if (point := points[size]) is None:
        return None
    residual = shown(evaluate_any(difference, values_at_size(entries, point, size)))
    where = tuple(point.items())
    identity = Identity(statement, repr(left), repr(right), where, residual)
    return Failure(size, identity, of, {n: x for n, x in points.items() if x is not None})


def vanishing_sizes(entries: Entries, side: Polynomial) -> list[int]:
    """Return the n at which a polynomial that is not zero is zero in all else."""
    place = entries.field_.positions[entries.model.size]
    rows: dict[tuple[int, ...], dict[int, int]] = {}
    for exponents, c in terms(side):
        rest = (*exponents[:place], *exponents[place + 1 :])
        rows.setdefault(rest, {})[exponents[place]] = c
    found = fmpz_poly([0])
    for row in rows.values():
        found = found.gcd(fmpz_poly([row.get(k, 0) for k in range(max(row) + 1)]))
    linear = (f for f, _ in found.factor()[1] if f.degree() == 1)
    return [int(-f[0] / f[1]) for f in linear if abs(f[1]) == 1]


def _point(entries: Entries, function: RationalFunction, n: int) -> dict[str, Fraction] | None:
    """Return weights of size n at which a function is not zero."""
    model = entries.model
    names = [f"{model.indexed}{k}" for k in range(1, n + 1)]
    names += [*model.scalars, *model.parameters]
    for numbers in islice(small_points(len(names)), POINTS):
        given = dict(zip(names, numbers, strict=True))
        try:
            if is_nonzero(evaluate_any(function, values_at_size(entries, given, n))):
                return given
        except (ZeroDivisionError, Unbounded):
            continue
    return None


def values_at_size(entries: Entries, given: dict[str, Fraction], n: int) -> Sequence[Value]:
    """Return the values of all variables at weights of size n."""
    model, own = entries.model, entries.own
    constants: dict[str, Value] = {x: given[x] for x in (*model.scalars, *model.parameters)}
    v = [given[f"{model.indexed}{k}"] for k in range(1, n + 1)]
    at = [values_of(own, {**constants, model.indexed: x}) for x in v]
    images: dict[str, Value] = {x: Fraction(1) for x in entries.spare}
    with precise():
        for name, m in entries.sums.items():
            images[name] = reduce(_plus, (evaluate_any(m, values) for values in at))
    first = [v[min(k, n - 1)] for k in range(3)]
    chosen = dict(zip(entries.entries.values(), (*first, v[-1]), strict=True))
    return values_of(entries.field_, {**constants, **images, **chosen, model.size: Fraction(n)})


def _plus(x: Value, y: Value) -> Value:
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x + y
    return ball(x) + ball(y)


def find_entrywise_refutation(entries: Entries) -> Failure | None:
    """Return the equation of the only possible warp that fails for three generic outputs, or None.

    Where g rho is a Hessian in n outputs it is one in three of them, for which H is determined;
    these have to be independent.
    """
    flow = EntryFlow(entries)
    H, ((a, b, c), (_, d, e), (_, _, f)) = warp_candidate(flow), flow.K
    regular = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d)  # without quotients
    failures = (find_entrywise_failure(entries, e, regular) for e in warp_conditions(flow, H))
    return next(filter(None, failures), None)


@dataclass(frozen=True)
class EntrywiseWarp:
    """A warp by its slopes H_i = X_i log g, with [X_i, X_j] = H_i X_j - H_j X_i on X_i = grad F_i.

    Attributes:
        H: H_i, a function of v_i, sums and single weights.
        identities: what was expanded.
        regular: what is not 0 where the X_i are independent, and H is defined.
    """

    entries: Entries
    H: RationalFunction
    identities: tuple[Identity, ...]
    regular: RationalFunction

    @cached_property
    def excluded_sizes(self) -> tuple[int, ...]:
        """The n >= 2 at which the X_i are not shown to be independent."""
        small = {n for n in range(2, 3 + len(self.entries.slopes)) if self.point(n) is None}
        large = vanishing_sizes(self.entries, self.regular.numerator)
        return tuple(sorted({n for n in (*small, *large) if n > 1}))

    def point(self, n: int) -> dict[str, Fraction] | None:
        """Return weights of size n at which the X_i are independent."""
        return _point(self.entries, self.regular, n)


def find_entrywise_warp(entries: Entries, fewer: int = 0) -> EntrywiseWarp | None:
    """Return the warp of every n by brackets of the fields of two generic outputs, or None.

    The component of a field at v_k is one for all other entries, so that it stands for each. Where
    the brackets are as they should be the leaf has as many dimensions as there are outputs, and
    there are one-forms with eta(X_i) = H_i and theta_k(X_j) = g delta_kj. These are closed where
    X_i H_j = X_j H_i, thus d log g and dy_k, with y = grad Q as K is symmetric.
    """
    (X, Y, _), slope, field = (flow := EntryFlow(entries)).X, flow.slope, entries.field_
    names = [*map(entries.model.entry, ENTRIES[:3]), *entries.model.scalars]
    x, y = ([slope(Z, field.named(c)) for c in names] for Z in (X, Y))
    bracket = [slope(X, b) - slope(Y, a) for a, b in zip(x, y, strict=True)]
    minor = x[0] * y[1] - x[1] * y[0]
    regular = independence(entries, fewer)
    if regular is None or regular.is_zero() or minor.is_zero():
        return None
    H, K = ((a[0] * bracket[1] - a[1] * bracket[0]) / minor for a in (x, y))
    rows = [
        (f"[X_i, X_j]({c}) = H_i X_j({c}) - H_j X_i({c})", z, H * b - K * a)
        for c, z, a, b in list(zip(names, bracket, x, y, strict=True))[2:]
    ]
    rows.append(("X_i H_j = X_j H_i", slope(X, K), slope(Y, H)))
    if any(left != right for _, left, right in rows) or names[1] in entries.moving(H):
        return None
    identities = tuple(Identity(s, repr(left), repr(right)) for s, left, right in rows)
    return EntrywiseWarp(entries, H, identities, regular * field.polynomial(H.denominator))


def independence(entries: Entries, fewer: int) -> RationalFunction | None:
    """Return a function that is 0 wherever outputs depend on one another, where it is known.

    If sum_i c_i X_i = 0, then c_k F'(v_k) + sum_b m_b'(v_k) L_b = 0 at v_k, L_b = sum_i c_i
    F_b(v_i), so that L_a + sum_b L_b sum_k F_a m_b'/F' = 0, without the first term of single
    weights z = a, and sum_b L_b m_b'(v_n) = 0 where *fewer* than n are outputs. This is a system
    for L; the function is F' times the Gram determinant of its columns.
    """
    if (spread := spread_terms(entries)) is None:
        return None
    F, one = entries.F[0], entries.field_.one
    moving, sums = (dict.fromkeys(x[k] for x in spread) for k in (0, 1))
    of = {m: entries.total(m) - fewer * entries.at(m, "n") for x in spread.values() for _, m in x}
    columns = [
        [reduce(add, (c * of[m] for c, m in spread[a, b]), one * (a == b)) for a in moving]
        + [entries.at(entries.slopes[b], "n")] * fewer
        for b in sums
    ]
    gram = tuple(tuple(dot(x, y) for y in columns) for x in columns)
    return entries.partial(F, entries.entries["i"]) * (determinant(gram) if gram else one)


def spread_terms(
    entries: Entries,
) -> Mapping[tuple[str, str], Sequence[tuple[RationalFunction, RationalFunction]]] | None:
    """Return F_a m_b'/F' as a sum of functions of sums and single weights, times one of v.

    Of F = A + f(v_i) G that is A_a/G m_b'/f' + G_a/G f m_b'/f', by a and b; else None.
    """
    if (parts := affine_parts(entries)) is None:
        return None
    G, A = parts
    f, slope = entries.f, entries.own.derivative(entries.f, 0)
    moving = {*entries.moving(G), *entries.moving(A)}
    names = [x for x in entries.scalars if x in moving]
    of_one = {b: entries.slopes[b] / slope for b in names if b in entries.slopes}
    return {
        (a, b): ((entries.partial(A, a) / G, m), (entries.partial(G, a) / G, m * f))
        for a, (b, m) in product(names, of_one.items())
    }


def affine_parts(entries: Entries) -> tuple[RationalFunction, RationalFunction] | None:
    """Return G and A of F = A + f(v_i) G, with f as it is at numbers for S and z, or None."""
    slope = entries.own.derivative(entries.f, 0)
    if slope.is_zero():
        return None
    G = entries.partial(entries.F[0], entries.entries["i"]) / entries.at(slope, "i")
    if {*entries.moving(G)} & {*entries.entries.values()}:
        return None
    return G, entries.F[0] - entries.at(entries.f, "i") * G
