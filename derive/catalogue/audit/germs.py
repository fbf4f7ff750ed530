"""What is printed and what is derived as germs: functions near one rational point, exactly.

Both are read into one tower of elementary functions, so that an identity between them is decided by
algebra; balls at the point refute what is none. The names of the coordinates come first: along them
a derivative is taken at a fixed start, on the leaf of the flow.

A derivation as the audit sees it: one view of models with components and with open dimension.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import cycle
from operator import mul
from typing import Any, TypeAlias, TypeVar

import sympy
from sympy import Expr, Matrix, Symbol

from derive.catalogue.library import Printed
from derive.derivation import Derivation
from derive.errors import DeriveError
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.germ import Elementary, Unsettled
from derive.language import Tree, exponent_names, from_sympy, names, parse_expression, to_sympy
from derive.model.condition import AT_START, Condition, Sign
from derive.model.geometry import Field
from derive.model.notation import to_expr
from derive.model.parameterization import Parameterization
from derive.potential.piece import Curve, Piece, written_out
from derive.verdict import Decided


@dataclass(frozen=True)
class Subject:
    """What was derived from one model."""

    derivation: Derivation

    def decision(self, stage: str) -> Decided:
        """Return what a stage decided; of matrices without common bases there is one decision."""
        found: Any = self.derivation
        decided: Decided = getattr(found, stage, found)
        return decided

    @property
    def open_dimension(self) -> bool:
        """Whether beta is a vector of any dimension: then what is known is s = |beta|."""
        return self.derivation.direction is not None

    @property
    def p(self) -> Parameterization:
        """The parameterization as given; for an open dimension that of s."""
        d = self.derivation
        return d.potential.parameterization if self.open_dimension else d.parameterization

    @property
    def betas(self) -> tuple[Symbol, ...]:
        """The predictor coordinates, or s."""
        return self.derivation.beta

    @property
    def curve(self) -> Curve | None:
        """Beta in the dual time, where Q of one output is in that."""
        pieces = self.derivation.potential.pieces
        return pieces[0].time_curve if len(pieces) == 1 else None

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of beta, or of the parameter of a parametric Q."""
        symbols = self.betas if self.curve is None else (self.curve.parameter,)
        return tuple(x.name for x in symbols)

    @functools.cached_property
    def gradient(self) -> tuple[Expr, ...] | None:
        """Grad Q in beta and start symbols, or q'(s); None where a root has no explicit form."""
        potential = self.derivation.potential
        explicit = (r.explicit is not None for piece in potential.pieces for r in piece.roots)
        return potential.gradient if potential.pieces and all(explicit) else None

    @functools.cached_property
    def value(self) -> Expr | None:
        """Q in beta and start symbols, without its linear term for an open dimension."""
        if self.gradient is None:
            return None
        potential = self.derivation.potential
        return None if potential.Q is None else potential.Q - potential.linear

    @functools.cached_property
    def starts(self) -> Mapping[str, Expr]:
        """Each weight, and each output as ``beta_0``, at the start."""
        symbols = {name: Symbol(name) for name in (*self.p.start_symbols, *self.p.parameters)}
        weights = {w: to_expr(x, symbols) for w, x in zip(self.p.weights, self.p.w0, strict=True)}
        outputs = {
            f"{b}_0": to_expr(self.p.at_start(f), symbols)
            for b, f in zip(self.betas, self.p.F, strict=True)
        }
        return {**weights, **outputs}

    def metric(self, name: str) -> tuple[Expr, ...] | None:
        """Return the upper triangle of K or rho in beta; for an open dimension (T, R)."""
        metric = self.derivation.metric
        matrix = {"K": metric.kernel, "rho": metric.rho}[name]
        if matrix is None or any(r.explicit is None for r in metric.roots):
            return None
        return tuple(written_out(x, metric.roots, metric.constants) for x in self._entries(matrix))

    def metric_in_weights(self, name: str) -> tuple[Expr, ...]:
        """Return the same in the weights."""
        kernel = Matrix(self.derivation.metric.kernel_in_weights)
        return self._entries(kernel if name == "K" else kernel.inv(method="ADJ"))

    def _entries(self, matrix: Matrix) -> tuple[Expr, ...]:
        """Return the upper triangle; for an open dimension the eigenvalues (T, R)."""
        n = matrix.rows
        ends = range(1, n + 1) if self.open_dimension else [n] * n
        return tuple(matrix[i, j] for i in range(n) for j in range(i, ends[i]))


Point: TypeAlias = Mapping[str, Fraction]
Where: TypeAlias = Iterable[tuple[str, str]]

COORDINATES = tuple(Fraction(x) for x in ("1/3", "-2/3", "1/2", "7/3", "-1/5", "2", "-3"))
STARTS = ((2, 1, 1), (5, 3, 4), (7, 2, 2), (5, 3, 6), (3, 2, 1), (4, 3, 5), (37, -2, 5), (1, 1, 9))
"""First value, step and denominator; no value is 1, where powers of a start hide."""
EXPONENTS = tuple(Fraction(x) for x in (3, 5, 4, 6, 3, 5, 4, 6))
WEIGHTS = ((3, 2), (12, -1), (2, 3), (19, -2), (4, 3))
"""First value and step."""
CONDITION = re.compile("(.*) (> 0|!= 0)")


class OutOfDomain(Unsettled):
    """A sample is not one that the printed or the derived formula speaks of."""


def first_cause(causes: Sequence[Exception]) -> Unsettled:
    """Return what first went wrong; that samples were not in the domain only where nothing did."""
    for cause in sorted(causes, key=lambda error: isinstance(error, OutOfDomain)):
        return cause if isinstance(cause, Unsettled) else Unsettled(str(cause) or "a division by 0")
    return Unsettled("too few points of one leaf were in the domain")


Place = TypeVar("Place")
Settled = TypeVar("Settled")


def settled(
    places: Iterable[Place],
    settle: Callable[[Place], Settled | None],
    causes: list[Exception] | None = None,
) -> Iterator[Settled]:
    """Yield what is settled at each place, and keep the *causes* where it is not.

    Raises:
        Unsettled: nothing is settled anywhere.
    """
    causes, found = [] if causes is None else causes, False
    for place in places:
        try:
            here = settle(place)
        except (Unsettled, DeriveError, ZeroDivisionError) as error:
            causes.append(error)
            continue
        if here is not None:
            found = True
            yield here
    if not found:
        raise first_cause(causes)


@dataclass(frozen=True)
class Germs:
    """What names stand for near a point whose first *d* names are coordinates, and texts in them.

    For coordinates that are not beta itself, *velocity* is d beta/d coordinate.
    """

    tower: Elementary
    images: dict[str, RationalFunction]
    point: Point
    d: int
    trees: Sequence[Tree] = ()
    velocity: RationalFunction | None = None

    @classmethod
    def at(cls, point: Point, trees: Sequence[Tree], d: int) -> Germs:
        """Return the germs of the names of a point, the first *d* of which are coordinates."""
        tower = Elementary(point, trees)
        return cls(tower, dict(tower.known), point, d, trees)

    @classmethod
    def independent(
        cls,
        trees: Sequence[Tree],
        where: Where,
        value: Callable[[int, str], Fraction],
        assuming: Iterable[Condition] = (),
    ) -> Germs:
        """Return germs of independent names, but for those that *where* defines."""
        defined = dict(where)
        every = (*trees, *map(parse_expression, defined.values()))
        free = [name for name in names(every) if name not in defined]
        germs = cls.at({name: value(k, name) for k, name in enumerate(free)}, every, len(free))
        germs.define(where)
        germs.require(assuming)
        return replace(germs, trees=trees)

    @property
    def texts(self) -> list[RationalFunction]:
        """What is printed, as elements."""
        return [self.read(tree) for tree in self.trees]

    def read(self, what: Tree | Expr) -> RationalFunction:
        """Return a text's tree, or a derived expression, as an element, or raise Unsettled."""
        if isinstance(what, Expr):
            # |x| as it is near the point: x or -x.
            what = from_sympy(what.replace(sympy.Abs, lambda x: self.tower.sign(self.read(x)) * x))
        self.check((what,))
        return self.tower.read(what, self.images)

    def require(self, conditions: Iterable[Condition]) -> None:
        """Raise OutOfDomain where a condition on the point, such as c > 0 or c != 0, is broken."""
        for condition in conditions:
            if condition.sign in AT_START:
                sign = self.tower.sign(self.read(condition.of))
                if sign == 0 or (condition.sign is Sign.POSITIVE and sign < 0):
                    raise OutOfDomain(f"no sample has {condition}")

    def check(self, trees: Sequence[Tree]) -> None:
        """Raise Unsettled for a name that stands for nothing here."""
        for name in names(tuple(trees)):
            if name not in self.images:
                raise Unsettled(f"{name} is not defined here")

    def define(self, where: Where) -> None:
        """Add what a printed formula calls by name."""
        for name, text in where:
            self.images[name] = self.read(parse_expression(text))

    def know(self, values: Mapping[str, Expr]) -> None:
        """Add what is known of names that stand for nothing yet."""
        for name, value in values.items():
            if name not in self.images:
                self.images[name] = self.read(value)

    def along(self, element: RationalFunction, k: int) -> RationalFunction:
        """Return the derivative by beta_k at a fixed start."""
        slope = self.tower.derivative(element, k)
        return slope if self.velocity is None else self.tower.tidy(slope / self.velocity)

    def is_constant(self, element: RationalFunction) -> bool:
        """Tell whether an element is proved not to change with the coordinates."""
        return all(self.tower.is_zero(self.tower.derivative(element, k)) for k in range(self.d))

    def vanish(self, elements: Sequence[RationalFunction], what: str = "a difference is 0") -> bool:
        """Tell whether all are proved 0, or one is not; else raise Unsettled: *what* is open."""
        if any(not self.tower.ball(x).contains(0) for x in elements):
            return False
        if all(map(self.tower.is_zero, elements)):
            return True
        raise Unsettled(f"{what} as far as 70 digits tell, which proves nothing")


def germs_from_start(subject: Subject, printed: Printed, point: Point, d: int) -> Germs:
    """Return germs at a point that gives *d* coordinates first, and then the start."""
    return _with_start(subject, printed, Germs.at(point, texts_of(printed), d))


def germs_in_beta(subject: Subject, printed: Printed, point: Point) -> Germs:
    """Return germs in the coordinates beta, or in the parameter of a parametric Q."""
    germs = Germs.at(point, texts_of(printed), len(subject.coordinates))
    if subject.curve is not None:
        beta = germs.images[subject.betas[0].name] = germs.read(subject.curve.beta)
        germs = replace(germs, velocity=germs.tower.derivative(beta, 0))
    germs = _with_start(subject, printed, germs)
    germs.check(germs.trees)
    for piece in subject.derivation.potential.pieces:
        _require_domain(piece, germs)
    return germs


def _require_domain(piece: Piece, germs: Germs) -> None:
    """Raise OutOfDomain where the derived Q does not live: what it assumes, and where it ends."""
    inside = replace(germs, images=dict(germs.images))
    inside.know({symbol.name: value for symbol, value in piece.constants})
    inside.require(piece.assumptions)
    at_start = {b: Symbol(f"{b}_0") for b in piece.betas}
    # Samples have small denominators: none is so near to pi.
    near = {sympy.pi: sympy.Rational(str(sympy.pi.evalf(40)))}
    for wall in piece.domain.walls if piece.domain else ():
        form = wall.form.xreplace(near)
        start = sympy.S.One if wall.oriented else form.xreplace(at_start)
        here, there = (inside.tower.sign(inside.read(x)) for x in (form, start))
        if here != there:
            raise OutOfDomain("no sample is where Q lives")


def _with_start(subject: Subject, printed: Printed, germs: Germs) -> Germs:
    germs.know(subject.starts)
    germs.define(printed.where)
    germs.require(conditions_of(printed))
    return germs


def points(subject: Subject, coordinates: Sequence[str]) -> Iterator[list[dict[str, Fraction]]]:
    """Yield groups of points: one start each, several places on its leaf."""
    symbols = [*subject.p.start_symbols, *subject.p.parameters]
    powers = exponent_names(subject.p.trees)
    signed = not subject.betas[0].is_nonnegative
    places = COORDINATES if signed else tuple(map(abs, COORDINATES))
    rows = [places[shift:] + places[:shift] for shift in range(len(places))]
    for (first, step, below), exponent in zip(STARTS, EXPONENTS, strict=True):
        start = {
            name: exponent if name in powers else Fraction(first + step * k, below)
            for k, name in enumerate(symbols)
        }
        yield [{**dict(zip(coordinates, cycle(row), strict=False)), **start} for row in rows]


def germs_in_weights(subject: Subject, printed: Printed) -> Iterator[Germs]:
    """Yield germs in the weights at any time; start symbols are read off conserved quantities.

    What ``where`` defines by the weights at the start must then be conserved.
    """
    p, trees = subject.p, texts_of(printed)

    def at(place: tuple[int, int]) -> Germs:
        (first, step), known = place, enumerate((*p.weights, *p.parameters))
        point = {name: Fraction(first + step * k, 1 + k % 2) for k, name in known}
        germs = Germs.at(point, trees, len(p.weights))
        for beta, tree in zip(subject.betas, p.trees, strict=True):
            germs.images[beta.name] = germs.read(tree)
        for name, value in constants_of(subject):
            germs.images[name] = germs.read(value)
        germs.define(printed.where)
        germs.require(conditions_of(printed))
        defined, X = [germs.images[name] for name, _ in printed.where], flow_fields(subject, germs)
        changes = (x for element in defined for x in flow_slopes(germs, X, element))
        if not all(map(germs.tower.is_zero, changes)):
            raise Unsettled("what it defines by the start is not conserved")
        germs.check(trees)
        return germs

    return settled(WEIGHTS, at)


def flow_fields(subject: Subject, germs: Germs) -> list[Field]:
    """Return the fields X_i = G^-1 dF_i in germs in the weights."""
    p, derivative = subject.p, germs.tower.derivative
    symbols = {w: Symbol(w) for w in (*p.weights, *p.parameters)}
    slopes = ([derivative(F, k) for k in range(p.p)] for F in map(germs.read, p.trees))
    return [p.geometry.raised(dF, lambda r: germs.read(to_expr(r, symbols))) for dF in slopes]


def flow_slopes(
    germs: Germs, fields: Sequence[Field], element: RationalFunction
) -> list[RationalFunction]:
    """Return the derivatives of an element along the fields of the flow."""
    tower = germs.tower
    slopes = [tower.derivative(element, k) for k, _ in enumerate(fields[0])]
    return [tower.tidy(sum(map(mul, X, slopes), tower.field.zero)) for X in fields]


def constants_of(subject: Subject) -> Iterator[tuple[str, Expr]]:
    """Yield start symbols as functions of the weights: from a law that starts at c*symbol**n."""
    conserved = subject.derivation.conserved
    for law, value in zip(conserved.laws, conserved.values, strict=True):
        free = [] if value is None else sorted(value.free_symbols, key=str)
        if value is None or len(free) != 1 or free[0].name not in subject.p.start_symbols:
            continue
        c, power = value.as_independent(free[0], as_Add=False)
        base, n = power.as_base_exp()
        if base == free[0] and n.is_Rational:
            yield free[0].name, (law / c) ** (1 / n)


@functools.cache
def conditions_of(printed: Printed) -> tuple[Condition, ...]:
    """Return what is printed to hold."""
    found = filter(None, map(CONDITION.fullmatch, printed.assuming))
    read = ((to_sympy(parse_expression(x[1])), Sign(f"{{}} {x[2]}")) for x in found)
    return tuple(Condition(*said) for said in read)


@functools.cache
def texts_of(printed: Printed) -> tuple[Tree, ...]:
    """Return the trees of the printed texts."""
    return tuple(parse_expression(text) for text in printed.text)
