"""Q of open size put to flows of the weights at some sizes, in coordinates.

Of n entries: the flow runs to X beta = y in all weights, where nothing is known of sums or of Q. At
its limit the change of the dual coordinates has to be in the row space of X, that of grad Q has to
be the same, and the law what it was. Without a formula of Q loss weights must not have moved the
limit.

Of matrices with measurements X_i = O diag(a_i) H^T in drawn bases: the flow runs to
<X_i, F(w)> = y_i. At its limit the directions of the rows have to be what they were, the dual
coordinates and the change of grad q(b_k) have to be in the row space of a, and loss weights must
not have moved the limit.

Measurements without such bases: two choices of loss weights. A Q that all limits minimise would
make these limits one. That they differ is seen, and proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import TypeAlias

import mpmath
import numpy as np
import sympy
from sympy import Expr, Matrix

from derive.derivation import Derivation
from derive.language.arguments import parse_array_outputs
from derive.language.arrays import entry_names
from derive.language.tree import Tree
from derive.model.entrywise import EntrywiseMap
from derive.model.matrices import AlignedMap, MatrixMap, Rows
from derive.model.parameterization import Parameterization
from derive.potential.entrywise.forms import EntrywisePotential
from derive.weights.entrywise_dual import EntrywiseDual
from derive.weights.orbit import Orbit
from numerics.confirm.regression_problem import (
    GUARD,
    Check,
    RegressionProblem,
    agreement,
    complete_problem,
    digits_of,
    distance,
    draw_matrix,
    draw_target,
    first_sound,
    reweighted,
    stationarity,
)
from numerics.evaluate.numbers import Real, evaluated, rational
from numerics.evaluate.start import bound_at, outputs_at
from numerics.integrator.gradient_flow import Flow

Agreement: TypeAlias = dict[str, float | None]
"""The digits that agree, by what is compared; None where nothing is."""
SIZES = (2, 3, 5)
CONSTANT = Fraction(3, 2)
"""What the first constant of F is in the check; each is greater by 1/3 than the last."""


def check_sizes(
    model: EntrywiseMap,
    found: tuple[EntrywiseDual, EntrywisePotential] | None,
    excluded: Sequence[int] = (),
    digits: int = 20,
) -> Check:
    """Check Q of every n by flows at three sizes, or that there is one where two rows fit.

    Raises:
        NumericalError: no drawn problem has a flow that converges.
    """
    sizes = (n for n in SIZES[found is None :] if n not in excluded)
    at = {n: EntriesAt(model, n) if found is None else QAt(model, n, *found) for n in sizes}
    return _checked({f"n = {n}": x.checked for n, x in at.items()}, digits)


def _checked(
    cases: Mapping[str, Callable[[np.random.Generator, int], Agreement]], digits: int
) -> Check:
    """Return the check of what agrees on a problem of each size that is sound."""
    rng, rows = np.random.default_rng(0), dict[str, float | None]()
    for size, run in cases.items():
        found = first_sound(partial(run, rng, digits + GUARD), f"check {size}")
        rows |= {f"{size}: {name}": value for name, value in found.items()}
    return agreement(rows, digits)


@dataclass(frozen=True)
class EntriesAt:
    """F of n entries in coordinates."""

    model: EntrywiseMap
    n: int

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return self.n - self.model.left_out

    @property
    def constants(self) -> dict[str, Fraction]:
        """Numbers for the constants of F."""
        return {x: CONSTANT + Fraction(k, 3) for k, x in enumerate(self.model.parameters)}

    def problem(self, rng: np.random.Generator) -> RegressionProblem:
        """Return a drawn problem."""
        model, v = self.model, self.model.indexed
        groups = {v: [f"{v}{k}" for k in range(1, self.n + 1)]} | {z: [z] for z in model.scalars}
        rates = {w: rate for x, rate in model.rates for w in groups[x]}
        signs = [w for x in model.positive for w in groups.get(x, [])]
        given = model.of_size(self.n)[: self.outputs], [w for g in groups.values() for w in g]
        p = Parameterization(*given, positive=signs, rates=rates, parameters=model.parameters)
        p = bound_at(p, self.constants)
        numbers = rng.integers(8, 33, size=len(p.start_symbols)).tolist()
        start = {x: Fraction(k, 16) for x, k in zip(p.start_symbols, numbers, strict=True)}
        if self.outputs > 1:
            return complete_problem(p, None, None, [start], rng)
        X = [[Fraction(1)]]
        return complete_problem(p, X, draw_target(p, X, [start], rng), [start], rng)

    def checked(self, rng: np.random.Generator, digits: int) -> Agreement:
        """Return the digits to which two loss weights have one limit on a drawn problem."""
        problem = self.problem(rng)
        data, start = (problem.X, problem.y), dict(problem.origin)
        one, other = reweighted(problem.model, data, start, WEIGHT, digits)
        return {"limits of two loss weights": distance(one.limit, other.limit, digits)}


@dataclass(frozen=True)
class QAt(EntriesAt):
    """F of n entries in coordinates, and what is to be found of it."""

    dual: EntrywiseDual
    potential: EntrywisePotential
    origin: Mapping[str, Real] = field(default_factory=dict)
    """The names at the start, from where integrals without ends run."""

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return self.n - max(self.dual.leaves_out, self.model.left_out)

    def checked(self, rng: np.random.Generator, digits: int) -> Agreement:
        """Return the digits of all that agrees at the end of a flow on a drawn problem."""
        problem = self.problem(rng)
        return self.compare(problem, problem.flow(digits))

    def compare(self, problem: RegressionProblem, end: Flow) -> Agreement:
        """Return the digits of all that agrees at the end of a flow."""
        with mpmath.workdps(end.digits + GUARD):
            (copy,) = problem.copies(end)
            before = self.values(copy.begin)
            at = replace(self, origin=before)
            ends = at.values(copy.end), before
            moved = _difference(*(at.along(self.potential.y, x, self.outputs) for x in ends))
            slopes = [*filter(None, map(at.slopes, ends))]
            errors = mpmath.norm(_difference(_difference(*slopes), moved)) if slopes else None
            span = stationarity(problem.X, moved, end.digits) if self.outputs > 1 else None
            return {
                "y in the row space of X": span,
                "grad Q as y": None if errors is None else digits_of(errors, mpmath.norm(moved)),
                "the law": min((at.kept(x, *ends) for x in self.potential.laws), default=None),
            }

    def kept(self, law: Expr, after: Mapping[str, Real], before: Mapping[str, Real]) -> float:
        """Return the digits to which a law is kept, of what it is or of what it integrates."""
        bare = law.replace(sympy.Integral, lambda f, _: f)
        end, begin = (self.along(law, x, 1)[0] for x in (after, before))
        return digits_of(end - begin, begin if begin else self.along(bare, after, 1)[0])

    def values(self, weights: Mapping[str, Real]) -> dict[str, Real]:
        """Return numbers for all names: weights, constants, the sums and c."""
        at = self.potential.notation
        known = {**weights, **{k: rational(x) for k, x in self.constants.items()}}
        known[at.n.name] = mpmath.mpf(self.n)
        sums = {x: at.total(at.own(at.entries.sums[x])) for x, _ in at.entries.model.sums}
        rows = {left.name: right for left, right in self.potential.rows if left == at.c}
        known |= {x: self.number(value, known) for x, value in sums.items()}
        own = replace(self, origin=self.origin or known)
        return known | {x: own.number(value, known) for x, value in rows.items()}

    def number(self, expression: Expr, known: Mapping[str, Real]) -> Real:
        """Return the value of an expression; integrals without ends run from the start."""
        return evaluated(self.potential.notation.at_size(expression, self.n), known, self.origin)

    def along(self, expression: Expr, known: Mapping[str, Real], most: int) -> list[Real]:
        """Return a function of v_i at the first entries."""
        (i, n), v = (self.model.entry(x) for x in "in"), self.model.indexed

        def of(k: int, values: Mapping[str, Real]) -> dict[str, Real]:
            return {**values, i: values[f"{v}{k}"], n: values[f"{v}{self.n}"]}

        at = ((k, replace(self, origin=of(k, self.origin))) for k in range(1, most + 1))
        return [own.number(expression, of(k, known)) for k, own in at]

    def slopes(self, known: Mapping[str, Real]) -> list[Real]:
        """Return grad Q up to its linear part, in beta; nothing where Q is not in beta."""
        if (gradient := self.potential.gradient(self.n)) is None:
            return []
        at = self.potential.notation
        beta = self.along(at.expr(at.entries.F[0]), known, self.n)
        betas = {f"{at.beta.base}{k}": x for k, x in enumerate(beta, 1)}
        found = [self.number(x, {**known, **betas}) for x in gradient]
        said = any(left == at.last for left, _ in self.potential.rows)
        affine = self.dual.leaves_out and (said or not self.model.left_out)
        return [x - found[-1] * affine for x in found[: self.outputs]]


def _difference(left: list[Real], right: list[Real]) -> list[Real]:
    return [a - b for a, b in zip(left, right, strict=True)]


Sizes: TypeAlias = tuple[tuple[int, int, int], ...]
SQUARE: Sizes = ((2, 2, 1), (3, 3, 2), (4, 4, 1))
OBLONG: Sizes = ((2, 2, 1), (2, 3, 2), (4, 3, 1))
ALIGNED: Sizes = ((2, 2, 2), (3, 2, 2), (2, 3, 2))
"""Rows, columns and inner widths at which Q is checked."""
WEIGHT, TRIED, APART = 8, 3, 1e-4
"""The factor of a measurement, 64 of its loss; problems of which one has to tell loss weights
apart, by this part of the way from the start, which the flows have to 12 digits.
"""


Slope: TypeAlias = tuple[Expr, tuple[str, ...]]
"""dq/db, with the names of b and of the lengths n_mu at the start."""


def check_matrices(model: MatrixMap, entry: Derivation, digits: int = 20) -> Check:
    """Check Q = sum_k q(b_k), with the derivation of one b_k, as :func:`check_sizes` does."""
    slope, kind, cases = _slope(entry), KINDS[type(model)], {}
    for n, m, r in kind.sizes(model):
        size = f"n = {n}" if n == m else f"n, m = {n}, {m}"
        size += f", r = {r}" * bool(model.given)
        cases[size] = partial(kind(model, (n, m, r)).compare, slope)
    return _checked(cases, digits)


def steer_matrices(orbit: Orbit) -> Check:
    """Show that limits tell loss weights apart where measurements have no common bases.

    Raises:
        NumericalError: no drawn problem has a flow that converges.
    """
    rng, moved, model = np.random.default_rng(0), dict[str, float](), orbit.model
    r, larger = orbit.width, ((0, 0), (1, 1)) if model.is_square else ((0, 0), (0, 1), (1, 1))
    sides = [*zip(model.size, orbit.size, strict=True)]
    sizes = (
        [int(x) if x.isdigit() else k + more for (x, k), more in zip(sides, by, strict=True)]
        for by in larger
    )
    for n, m in [orbit.size] if model.given else dict.fromkeys(map(tuple, sizes)):
        run = partial(AtSize(model, (n, m, r)).moved, rng)
        tried = [first_sound(run, f"steer n = {n}") for _ in range(TRIED)]
        moved[f"n, m, r = {n}, {m}, {r}"] = max(tried)
    passed = all(x > APART for x in moved.values())
    words = "which would not move the limit if there were a Q"
    title = f"Steering by loss weights, {words}: {'it moves' if passed else 'IT STAYS'}"
    lines = (f"  {name:37} {100 * x:.2g} % of the way" for name, x in moved.items())
    return Check(passed, title, record={"moved": moved}, notes=tuple(lines))


def _slope(entry: Derivation) -> Slope | None:
    """Return dq/db in b and the lengths at the start, where it is a formula."""
    potential, (beta,) = entry.potential, entry.beta
    names = (beta.name, *potential.parameterization.start_symbols)
    formulas = (f for f in potential.gradient or () if not f.has(sympy.Integral))
    closed = (f for f in formulas if {s.name for s in f.free_symbols} <= {*names})
    return next(((f, names) for f in closed), None)


def _slope_at(slope: Slope, b: Real, start: Iterable[Real]) -> Real:
    """Return dq/db at b, from lengths at the start."""
    gradient, names = slope
    return evaluated(gradient, dict(zip(names, (b, *start), strict=True)))


@dataclass(frozen=True)
class Row:
    """The parts of one row in the eigenspaces, of eigenvalues mu, at both ends of a flow."""

    mus: Sequence[Real]
    before: Sequence[Sequence[Real]]
    after: Sequence[Sequence[Real]]

    @property
    def y(self) -> Real:
        """The time that the steering gave the row: n = n_0 exp(2 mu y)."""
        return mpmath.log(mpmath.norm(self.after[0]) / mpmath.norm(self.before[0])) / (
            2 * self.mus[0]
        )

    def slope(self, slope: Slope) -> Real:
        """Return dq/db at b = sum_mu mu n_mu^2."""
        pairs = zip(self.mus, self.after, strict=True)
        b = mpmath.fsum(mu * mpmath.norm(part) ** 2 for mu, part in pairs)
        return _slope_at(slope, b, map(mpmath.norm, self.before))

    def kept(self, digits: int) -> float:
        """Return the digits to which the parts keep their directions."""
        units = (
            [[x / mpmath.norm(v) for x in v] for v in ends] for ends in (self.before, self.after)
        )
        return min(distance(u, v, digits) for u, v in zip(*units, strict=True))


@dataclass(frozen=True)
class AtSize:
    """F of matrices with given numbers of rows, columns, and inner width."""

    model: MatrixMap
    size: tuple[int, int, int]

    @staticmethod
    def sizes(model: MatrixMap) -> Sizes:
        """Return those at which Q is checked."""
        if model.given:
            return tuple((*model.size_for(len(model.given[0])), r) for r in (1, 2))
        return SQUARE if model.is_square else OBLONG

    @cached_property
    def eigenspaces(self) -> tuple[tuple[Expr, tuple[Matrix, ...]], ...]:
        """Those of the quadratic form that F is in each row."""
        return self.model.eigenspaces

    @cached_property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """The rows and columns of each matrix."""
        return self.model.shapes_at(*self.size)

    @cached_property
    def parameterization(self) -> Parameterization:
        """F, entry by entry."""
        trees: tuple[Tree, ...] = parse_array_outputs([self.model.text], self.shapes)[0].trees
        weights = [x for name, shape in self.shapes.items() for x in entry_names(name, shape)]
        return Parameterization(trees, weights)

    def rows_of(self, weights: Sequence[Real], bases: Mapping[str, Matrix]) -> list[list[Real]]:
        """Return, for each k, the rows k of all matrices in their bases, one after the other."""
        turned, at = list[Real](), 0
        for name, (rows, columns) in self.shapes.items():
            own = [weights[at + k * columns : at + (k + 1) * columns] for k in range(rows)]
            at += rows * columns
            turned.append(_precise(bases[name].T) * mpmath.matrix(own))
        return [[x for w in turned for x in w[k, :]] for k in range(min(self.size[:2]))]

    def parts(self, row: Sequence[Real]) -> list[list[Real]]:
        """Return the part of a row in each eigenspace of the quadratic form."""
        r = self.size[2]
        spaces = ([[evaluated(x) for x in v] for v in vectors] for _, vectors in self.eigenspaces)
        return [[mpmath.fdot(e, row[j::r]) for e in own for j in range(r)] for own in spaces]

    def compare(self, slope: Slope | None, rng: np.random.Generator, digits: int) -> Agreement:
        """Return the digits of all that agrees at the limits of a drawn problem."""
        with mpmath.workdps(digits):
            X, left, right = self.found(rng) if self.model.given else self.drawn(rng)
            bases = {x: left if x in self.model.lefts else right for x in self.model.names}
            end, other = self.limits(X, self.start(rng), rng, digits)
            mus = [evaluated(mu) for mu, _ in self.eigenspaces]
            pairs = zip(*(self.rows_of(w, bases) for w in (end.start, end.weights)), strict=True)
            rows = [Row(mus, *map(self.parts, pair)) for pair in pairs]
            slopes = slope and [row.slope(slope) for row in rows]
            own = {
                "directions of the rows": min(row.kept(digits) for row in rows),
                "y in the row space of a": _in_span(X, left, right, [row.y for row in rows]),
            }
            return own | _steered((end, other), (X, left, right), slopes)

    def drawn(self, rng: np.random.Generator) -> tuple[Rows, Real, Real]:
        """Return drawn measurements O diag(a) H^T with O and H."""
        (n, m, _), count = self.size, min(self.size[:2])
        left = _orthogonal(n, rng)
        right = left if self.model.is_square else _orthogonal(m, rng)
        diagonals = (sympy.diag(*a) for a in draw_matrix(count, rng))
        X = (left[:, :count] * a * right[:, :count].T for a in diagonals)
        return tuple(tuple(map(_fraction, x)) for x in X), _precise(left), _precise(right)

    def found(self, rng: np.random.Generator) -> tuple[Rows, Real, Real]:
        """Return the given measurements with the bases of a drawn combination of them."""
        given, mixed = self.model.given, mpmath.matrix(*self.size[:2])
        for row, c in zip(given, rng.integers(1, 99, len(given)).tolist(), strict=True):
            for k, x in enumerate(row):
                mixed[divmod(k, self.size[1])] += c * rational(x)
        if self.model.is_square:
            left = mpmath.eigsy(mixed)[1]
            return given, left, left
        left, _, right = mpmath.svd_r(mixed)
        return given, left, right.T

    def moved(self, rng: np.random.Generator, digits: int = 12) -> float:
        """Return by how much loss weights move the limit for general measurements."""
        n, m, _ = self.size
        draws = rng.integers(-3, 4, size=(2, n * m)).tolist()
        X = self.model.given or tuple(tuple(map(Fraction, row)) for row in draws)
        start = self.start(rng)
        one, other = self.limits(X, start, rng, digits)
        with mpmath.workdps(digits):
            origin = outputs_at(self.parameterization, start)
            way = [x - rational(b) for x, b in zip(one.limit, origin, strict=True)]
            apart = [x - y for x, y in zip(one.limit, other.limit, strict=True)]
            return float(mpmath.norm(apart) / mpmath.norm(way))

    def start(self, rng: np.random.Generator) -> list[Fraction]:
        """Return all weights, drawn."""
        size = self.parameterization.p
        drawn = rng.integers(8, 25, size=size) * rng.choice([-1, 1], size=size)
        return [Fraction(x, 16) for x in drawn.tolist()]

    def limits(
        self, X: Rows, start: Sequence[Fraction], rng: np.random.Generator, digits: int
    ) -> list[Flow]:
        """Return the ends of two flows to what weights near the start give, by loss weights."""
        p = self.parameterization
        moves = rng.integers(-8, 9, size=len(start)).tolist()
        aim = outputs_at(p, [w + Fraction(k, 16) for w, k in zip(start, moves, strict=True)])
        y = [sum((x * b for x, b in zip(row, aim, strict=True)), Fraction(0)) for row in X]
        origin = dict(zip(p.weights, start, strict=True))
        return reweighted(p, (X, y), origin, WEIGHT, digits)


@dataclass(frozen=True)
class AlignedAt(AtSize):
    """A product of three matrices or more, from aligned starts, with drawn measurements."""

    model: AlignedMap

    @staticmethod
    def sizes(model: MatrixMap) -> Sizes:
        """Return those at which Q is checked."""
        return ALIGNED

    def compare(self, slope: Slope | None, rng: np.random.Generator, digits: int) -> Agreement:
        """Return the digits of all that agrees at the limits of a drawn problem."""
        (n, m, r), count, factors = self.size, min(self.size), self.model.factors
        bases = [_orthogonal(k, rng)[:, :count] for k in (n, *[r] * (len(factors) - 1), m)]
        d = [sympy.Rational(int(x), 16) for x in rng.integers(8, 25, size=count)]
        aligned = (left * sympy.diag(*d) * right.T for left, right in pairwise(bases))
        found = zip(aligned, factors, strict=True)
        start = [_fraction(x) for W, (_, turned) in found for x in (W.T if turned else W)]
        diagonals = (sympy.diag(*a) for a in draw_matrix(count, rng))
        X = tuple(tuple(map(_fraction, bases[0] * a * bases[-1].T)) for a in diagonals)
        with mpmath.workdps(digits):
            end, other = self.limits(X, start, rng, digits)
            left, right = _precise(bases[0]), _precise(bases[-1])
            beta = mpmath.matrix([list(end.limit[i * m : (i + 1) * m]) for i in range(n)])
            b = [(left.T * beta * right)[k, k] for k in range(count)]
            slopes = slope and [
                _slope_at(slope, x, [evaluated(c)]) for x, c in zip(b, d, strict=True)
            ]
            own = {"beta = O diag(b) H^T": distance(beta, _diagonal(left, right, b), digits)}
            return own | _steered((end, other), (X, left, right), slopes)


def _steered(
    ends: tuple[Flow, Flow], bases: tuple[Rows, Real, Real], slopes: Sequence[Real] | None
) -> Agreement:
    """Return the digits to which grad q is in the row space, and loss weights move nothing."""
    one, other = (end.limit for end in ends)
    return {
        "grad q(b_k) in the row space of a": None if slopes is None else _in_span(*bases, slopes),
        "limits of two loss weights": distance(one, other, mpmath.mp.dps),
    }


KINDS: Mapping[type, type[AtSize]] = {MatrixMap: AtSize, AlignedMap: AlignedAt}
"""How each kind of F is run."""


def _in_span(X: Rows, left: Real, right: Real, values: Sequence[Real]) -> float:
    """Return the digits to which O diag(values) H^T is in the span of the X_i."""
    return stationarity(X, [*_diagonal(left, right, values)], mpmath.mp.dps)


def _diagonal(left: Real, right: Real, values: Sequence[Real]) -> Real:
    """Return O diag(values) H^T."""
    zero = mpmath.zeros(left.rows, right.rows)
    return sum((v * left[:, k] * right[:, k].T for k, v in enumerate(values)), zero)


def _orthogonal(n: int, rng: np.random.Generator) -> Matrix:
    """Return (1 - S)^-1 (1 + S) for a skew S of drawn halves: orthogonal, of rational numbers."""
    drawn = Matrix(n, n, rng.integers(-2, 3, size=n * n).tolist())
    S = (drawn - drawn.T) / 2
    return (sympy.eye(n) - S).inv() * (sympy.eye(n) + S)


def _fraction(x: object) -> Fraction:
    return Fraction(str(x))


def _precise(matrix: Matrix) -> Real:
    """Return a matrix of rational numbers in mpmath."""
    return mpmath.matrix([[rational(_fraction(x)) for x in row] for row in matrix.tolist()])
