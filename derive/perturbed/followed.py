"""The laws c and the dual coordinates y of one block, as what a perturbation is followed by.

Let the weights move by w' = G^-1 J^T lambda + e. Then c' = <dc, e>, and y_i' = g lambda_i +
<dy_i, e>: steering by the data moves no law, and y in the row space alone.

Which dual coordinates are followed: a choice among those that differ by functions of the laws.

A dual coordinate is known up to functions of the laws. Where the laws change the choice matters:
here y = 0 where beta = 0, if that can be had with multiples of c, 1/c and log |c| added; else
<dy, w> = 0, if that can. Q_c is then the potential of y on the leaf of c.

Vectors of open dimension, followed in the plane of u and of what moves it.

A steering lambda, a velocity or a step moves u in the plane that it spans with u, and c and y know
u by rotation-equivariant functions. So what holds for u = (u1, u2) holds in every dimension d >= 2,
coordinates taken along u and, in that plane, across it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import chain
from operator import and_
from random import Random

import sympy
from flint import nmod
from sympy import Expr, Symbol

from derive.derivation import Derivation, derive
from derive.exact.field.factors import factored, factors
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.generators import Generator
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import Matrix, dot, nullspace_over_constants
from derive.exact.linear.modular import Evaluator, Pole, random_point, saturated, supports
from derive.exact.signs import Signs
from derive.joint import laws_of
from derive.language.tree import Name
from derive.model.geometry import Field
from derive.model.labels import beside
from derive.model.notation import Notation, log_expr, positive_generators, to_expr
from derive.model.parameterization import Parameterization
from derive.perturbed.coordinates import PRECONDITIONED, Coordinates
from derive.potential.chart import Chart
from derive.records import Block
from derive.roads.components import components, components_along_axis
from derive.verdict import Verdict
from derive.weights.dual import DualCoordinates


@dataclass(frozen=True)
class Followed:
    """A law or a dual coordinate.

    Attributes:
        symbol: what it is called: c1, y1.
        output: of a dual coordinate, which output of its block, counted from 0; None for a law.
        slope: dy/dw, where y is the integral of that over the one weight; *function* is 0 then.
    """

    symbol: Symbol
    function: LogFunction
    output: int | None = None
    slope: RationalFunction | None = None

    @functools.cached_property
    def gradient(self) -> Field:
        """The differential, p functions of the weights."""
        return gradient(self.function) if self.slope is None else (self.slope,)

    def over(self, field: FunctionField) -> Followed:
        """Return it as a function in a larger field."""
        slope = None if self.slope is None else field.embed(self.slope)
        return replace(self, function=self.function.mapped(field.embed), slope=slope)

    def poles(self) -> Iterator[RationalFunction]:
        """Yield the irreducible functions of the weights at whose zeros it is singular."""
        f = self.function.rational if self.slope is None else self.slope
        seen = chain([f.field.polynomial(f.denominator)], (a for _, a in self.function.logs))
        for P in (P for argument in seen for P, _ in factors(argument) if _varies(P)):
            g = next((g for g in P.field.generators if P.field.named(g.name) == P), None)
            if g is not None and g.kind == "power":  # 0 where that of which it is a power is
                P = P.field.embed(g.argument)
            if not Signs(positive_generators(P.field)).is_positive(P):
                yield P


@dataclass(frozen=True)
class Leaf:
    """What is followed in one block of outputs.

    Attributes:
        outputs: which, counted from 0.
        laws: conserved quantities without the perturbation.
        dual: dual coordinates; empty where none were found, or where coefficients of logarithms
            are laws: derivatives of these are not rational.
        g: the warp with them.
        complete: are the laws all that there are?
        letters: of the perturbation, by our names for them, in the functions at hand.
        base: the parameterization in a field without these.
        process: whose steps are straight, of :mod:`derive.perturbed.coordinates`.
    """

    outputs: tuple[int, ...]
    notation: Notation
    parameterization: Parameterization
    laws: tuple[Followed, ...]
    dual: tuple[Followed, ...]
    g: RationalFunction | None
    complete: bool
    letters: Mapping[str, Symbol] = dataclasses.field(default_factory=dict, hash=False)
    base: Parameterization | None = None
    chart: Chart | None = None
    process: str = PRECONDITIONED

    @functools.cached_property
    def coordinates(self) -> Coordinates:
        """The coordinates of the weights in which steps are straight."""
        return Coordinates(self.parameterization, self.process)

    def hessian(self, x: Followed) -> Matrix:
        """Return the second derivatives of a law or dual coordinate in these coordinates."""
        return self.coordinates.hessian(x.gradient)

    def with_letters(self, letters: Mapping[str, Symbol]) -> Leaf:
        """Return the same over a field in which letters of a perturbation are constants."""
        field = self.parameterization.field
        named = (Generator[RationalFunction](s.name, "parameter") for s in letters.values())
        found = self.over(replace(field, generators=(*field.generators, *named)))
        return replace(found, letters=letters, base=self.parameterization)

    def letter(self, name: str) -> RationalFunction:
        """Return a letter as a function."""
        return self.parameterization.field.named(self.letters[name].name)

    def in_numbers(self, f: RationalFunction, numbers: Sequence[Fraction]) -> RationalFunction:
        """Return f with numbers for the letters, in the field without these."""
        if self.base is None:
            return f
        field = self.base.field
        return f.compose((*field.gens, *map(field.constant, numbers)), field)

    def over(self, field: FunctionField) -> Leaf:
        """Return the same in a larger field."""
        return replace(
            self,
            parameterization=self.parameterization.over(field),
            laws=tuple(x.over(field) for x in self.laws),
            dual=tuple(x.over(field) for x in self.dual),
            g=None if self.g is None else field.embed(self.g),
        )

    @property
    def all(self) -> tuple[Followed, ...]:
        """Laws, then dual coordinates."""
        return (*self.laws, *self.dual)

    def poles(self) -> Iterator[RationalFunction]:
        """Yield what a law or dual coordinate is singular at, each once."""
        yield from dict.fromkeys(P for x in self.all for P in x.poles())

    def generic(self) -> Iterator[RationalFunction]:
        """Yield functions of parameters alone, not 0: else a law is constant, or y has a pole."""
        for x in self.all:
            slopes = [
                {f for f, n in factored(s)[1] if n > 0} for s in x.gradient if not s.is_zero()
            ]
            parts = (x.function.rational, *(c for c, _ in x.function.logs))
            below = {f for part in parts for f, n in factored(part)[1] if n < 0}
            found = {*reduce(and_, slopes), *below}
            yield from (f for f in sorted(found, key=repr) if f.variables() and not _varies(f))

    def number(self, a: int) -> str:
        """Return the number of an output in names; nothing where there is one output."""
        return _number(self.notation, a)

    def steered(self, f: LogFunction) -> RationalFunction | None:
        """Return how steering changes a function of the weights, None if it does not, exactly."""
        slopes = (f.along(x) for x in self.parameterization.fields)
        return next((slope for slope in slopes if not slope.is_zero()), None)

    def in_laws(self, f: RationalFunction) -> Expr | None:
        """Return f in 1, c, 1/c, c^2 of every law and the letters, by expansion; else None."""
        one = self.parameterization.field.one
        rational = [law for law in self.laws if not law.function.logs]
        powers = [(law.function.rational, law.symbol, n) for law in rational for n in (1, -1, 2)]
        known = [one, *(c**n for c, _, n in powers)]
        for *vector, last in nullspace_over_constants([(x,) for x in (*known, f)]):
            if not last.is_zero():
                terms = zip(vector, (1, *(c**n for _, c, n in powers)), strict=True)
                return sympy.Add(*(-self.written(k / last) * x for k, x in terms))
        return None

    @property
    def symbols(self) -> dict[str, Symbol]:
        """The weights, parameters and letters by name."""
        return {**self.notation.weights, **{s.name: s for s in self.letters.values()}}

    def written(self, f: RationalFunction) -> Expr:
        """Return a function of the weights as an expression."""
        return to_expr(f, self.symbols)

    def with_logs(self, f: LogFunction) -> Expr:
        """Return the same with logarithms, those of moduli."""
        return log_expr(f, self.symbols)

    def quantity(self, x: Followed) -> Expr:
        """Return a law or dual coordinate as an expression, an integral if it is known as such."""
        if x.slope is None:
            return self.with_logs(x.function)
        return sympy.Integral(self.written(x.slope), self.written(self.parameterization.w[0]))

    def fresh(self, name: str) -> Symbol:
        """Return a symbol of ours that is called otherwise where the user has the name."""
        return _called(self.notation, name)


def follow(blocks: Sequence[Block], process: str) -> tuple[Leaf, ...]:
    """Return the laws and dual coordinates of all blocks, numbered together."""
    several = sum(len(laws_of(b)) for b in blocks) > 1
    found: list[Leaf] = []
    for block in blocks:
        dual, notation = _dual_of(block, blocks), block.notation
        p = block.parameterization if dual is None else dual.parameterization
        first = 1 + sum(len(leaf.laws) for leaf in found)
        laws = tuple(
            Followed(_called(notation, f"c{k if several else ''}"), law.mapped(p.field.embed))
            for k, law in enumerate(filter(has_gradient, laws_of(block)), first)
        )
        y, g = _dual(notation, p, dual, [x.function.rational for x in laws if not x.function.logs])
        complete = follows_all(block) and block.conserved.verdict is Verdict.PROVED
        leaf = Leaf(block.outputs, notation, p, laws, y, g, complete)
        found.append(replace(leaf, chart=block.potential.chart, process=process))
    return tuple(found)


def has_gradient(f: LogFunction) -> bool:
    """Tell whether a gradient is rational: constants stand beside all logarithms."""
    return not any(_varies(c) for c, _ in f.logs)


def follows_all(block: Block) -> bool:
    """Tell whether all laws that are known are followed."""
    return all(map(has_gradient, laws_of(block)))


def _dual_of(block: Block, blocks: Sequence[Block]) -> DualCoordinates | None:
    """Return dual coordinates with rational derivatives, and with g = 1 beside other blocks.

    y' = g lambda has one g for all blocks.
    """
    if (dual := block.potential.dual) is None or not all(map(has_gradient, dual.y)):
        return None
    return dual if len(blocks) == 1 or dual.g == dual.g.field.one else None


def _dual(
    notation: Notation,
    p: Parameterization,
    dual: DualCoordinates | None,
    laws: Sequence[RationalFunction],
) -> tuple[tuple[Followed, ...], RationalFunction | None]:
    """Return the dual coordinates and g; along one weight that is the integral of 1/(dF/dw r)."""
    if dual is None and p.p == p.d == 1 and not p.affine:
        name, slope = _called(notation, f"y{_number(notation, 0)}"), 1 / p.fields[0][0]
        return (Followed(name, LogFunction(p.field.zero), 0, slope),), p.field.one
    y = normalised(p, () if dual is None else dual.y, laws)
    found = (Followed(_called(notation, f"y{_number(notation, a)}"), f, a) for a, f in enumerate(y))
    return tuple(found), None if dual is None else dual.g


def _called(notation: Notation, name: str) -> Symbol:
    return Symbol(beside(name, notation.taken), real=True)


def _number(notation: Notation, a: int) -> str:
    p = notation.parameterization
    return "" if p.d == 1 and not p.affine else str(p.labels[notation.block[a]])


def _varies(f: RationalFunction) -> bool:
    return bool(set(f.variables()) - f.field.parameters)


def gradient(f: LogFunction) -> Field:
    """Return the differential of a function whose logarithms have constant coefficients."""
    field = f.rational.field
    total = list(field.gradient(f.rational))
    for c, argument in f.logs:
        slopes = field.gradient(argument)
        total = [t + c * x / argument for t, x in zip(total, slopes, strict=True)]
    return tuple(total)


Condition = Callable[[LogFunction], Field]
"""What is linear in a function, and to be 0."""


def normalised(
    p: Parameterization, y: Sequence[LogFunction], laws: Sequence[RationalFunction]
) -> list[LogFunction]:
    """Return y with functions of the laws added: 0 where beta is, or with <dy, w> = 0."""
    conditions: list[Condition] = [lambda f: (dot(p.w, gradient(f)),)]
    if p.d == 1 and (images := _where_zero(p)) is not None:
        field = p.field
        conditions.insert(0, lambda f: gradient(f.mapped(lambda x: x.compose(images, field))))
    return [_with_laws(p, f, laws, conditions) for f in y]


def _with_laws(
    p: Parameterization,
    y: LogFunction,
    laws: Sequence[RationalFunction],
    conditions: Sequence[Condition],
) -> LogFunction:
    """Return y + sum_k theta_k f_k(c) for which the first condition holds that can; else y."""
    added = [f for law in laws for f in _functions_of(p, law)]
    for condition in conditions:
        columns = []
        with suppress(ZeroDivisionError):
            columns = [condition(f) for f in (*added, y)]
        kept = _support(columns) if columns else ()
        chosen = [columns[k] for k in kept]
        for *vector, last in nullspace_over_constants(chosen) if chosen else ():
            if not last.is_zero():
                pairs = [(k / last, added[n]) for k, n in zip(vector, kept, strict=False)]
                return sum((f.scaled(k) for k, f in pairs if not k.is_zero()), start=y)
    return y


def _support(columns: Sequence[Field]) -> tuple[int, ...]:
    """Return the columns in a dependence with the last one modulo a prime, () without one."""
    rng, prepared = Random(2), [tuple(map(Evaluator, column)) for column in columns]

    def draw() -> list[list[nmod]]:
        point = random_point(columns[0][0].field, rng)
        return [[f(point) for f in row] for row in zip(*prepared, strict=True)]

    try:
        found = supports(saturated(len(columns), draw))
    except Pole:
        return tuple(range(len(columns)))
    return next((s for s in found if s[-1] == len(columns) - 1), ())


def _functions_of(p: Parameterization, c: RationalFunction) -> tuple[LogFunction, ...]:
    """Return c, 1/c and log |c|, of which combinations are added, but what is singular at w_0."""
    if p.at_start(c).is_zero():
        return (LogFunction(c),)
    logs = tuple((p.field.constant(n), f) for f, n in factored(c)[1])
    regular = not any(p.at_start(f).is_zero() for _, f in logs)
    found = LogFunction(c), LogFunction(1 / c), LogFunction(p.field.zero, logs)
    return found if regular else found[:2]


def _where_zero(p: Parameterization) -> Field | None:
    """Return the weights on a part of {F = 0}: one of them as a function of the others."""
    if p.field.kinds:
        return None
    for factor, _ in factors(p.F[0]):
        for k, w in enumerate(p.w):
            slope = factor.partial(k)
            if factor.is_polynomial() and not slope.is_zero() and not slope.depends_on(k):
                images = list(p.field.gens)
                images[k] = w - factor / slope
                return tuple(images)
    return None


def followed_in_plane(d: Derivation) -> Derivation:
    """Return what is derived of phi u with u = (u1, u2), from (|u_0|, 0) where that is given."""
    if (direction := d.direction) is None:
        return d
    norm = dict(direction.parameterization.start)[direction.norm]
    free = isinstance(norm, Name) and norm.name.startswith(f"{direction.norm}_0")
    return derive(components(direction, 2, {}) if free else components_along_axis(direction, 2))
