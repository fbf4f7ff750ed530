"""Has a coupled Q an F with as many weights as outputs? Where Hess Q is a flat metric.

J J^T = (Hess Q)^-1 of a square J says that Hess Q = Dw^T Dw, w the inverse of F: that Hess Q is the
Euclidean metric in other coordinates. The curvature of H = Hess Q is -[C_i, C_j]/4 with
C_i = H^-1 dH/dbeta_i, as d_i H_jk is symmetric in all three. So such an F exists, locally, exactly
where the C_i commute. (Derived here; with more weights than outputs: Li et al. 2022.)
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import sympy
from sympy import Expr

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import Matrix, determinant, dot, inverse
from derive.exact.towers.germ import Elementary, Unsettled
from derive.inverse.term import PLACES, CoupledTerm, expressions
from derive.model.labels import backticked
from derive.model.notation import to_expr
from derive.verdict import Finding, Identity, Verdict

MOST_POINTS = 200


@dataclass(frozen=True)
class HessianMetric:
    """H = Hess Q in a tower at a point, values of the betas and the parameters, and if H > 0."""

    term: CoupledTerm
    tower: Elementary
    H: Matrix
    point: dict[str, Fraction]
    positive: bool

    @property
    def place(self) -> str:
        """The point as text."""
        text = ", ".join(f"{name} = {x}" for name, x in self.point.items())
        return backticked(text, {*self.point})

    def expression(self, element: RationalFunction) -> Expr:
        """Return an element in the symbols of Q."""
        return to_expr(element, expressions(self.tower, self.term.symbols()))

    def value(self, element: RationalFunction) -> str:
        """Return an element at the point, exactly."""
        at = {x: sympy.Rational(self.point[x.name]) for x in self.term.symbols().values()}
        return str(sympy.radsimp(self.expression(element).subs(at)))

    @functools.cached_property
    def slopes(self) -> tuple[Matrix, ...]:
        """C_i = H^-1 dH/dbeta_i."""
        return tuple(
            _product(self, inverse(self.H), _derivative(self.tower, self.H, k))
            for k in range(len(self.H))
        )

    @functools.cached_property
    def flatness(self) -> Finding:
        """Whether F with as many weights as outputs exists: whether the C_i commute."""
        names, undecided = self.term.variables, False
        for i, j in combinations(range(len(names)), 2):
            A, B = self.slopes[i], self.slopes[j]
            commutator = [
                [self.tower.tidy(x - y) for x, y in zip(*rows, strict=True)]
                for rows in zip(_product(self, A, B), _product(self, B, A), strict=True)
            ]
            for (a, row), b in product(enumerate(commutator), range(len(names))):
                entry = row[b]
                if self.tower.is_zero(entry):
                    continue
                if self.tower.ball(entry).contains(0):
                    undecided = True
                    continue
                claim = f"[C_{i + 1}, C_{j + 1}]_{a + 1}{b + 1} = 0"
                value = self.value(entry)
                failing = Identity(claim, value, "0", tuple(self.point.items()), value)
                letters = "C_i = H^-1 dH/dbeta_i, H = Hess Q"
                return Finding(
                    Verdict.REFUTED,
                    f"the entry `{a + 1},{b + 1}` of `[C_{i + 1}, C_{j + 1}]`, `{letters}`, is"
                    f" `{value}` at {self.place}, so `Hess Q` is not flat",
                    (failing,),
                )
        if undecided:
            return Finding(Verdict.UNDECIDED, "it is not decided whether the C_i commute")
        evidence = tuple(
            Identity(f"C_{i + 1} C_{j + 1} = C_{j + 1} C_{i + 1}", "0", "0")
            for i, j in combinations(range(len(names)), 2)
        )
        return Finding(Verdict.PROVED, "`Hess Q` is flat", evidence)


def hessian_metric(term: CoupledTerm) -> HessianMetric | None:
    """Return Hess Q near a point at which it is positive definite, else near any; None: nowhere."""
    fallback = None
    for point in _points(term):
        tower = Elementary(point, [term.tree])
        d = len(term.variables)
        try:
            slope = [tower.derivative(tower.read(term.tree), i) for i in range(d)]
            H = tuple(tuple(tower.derivative(x, j) for j in range(d)) for x in slope)
            positive = all(_minor(tower, H, k) > 0 for k in range(1, d + 1))
        except (Unsettled, ZeroDivisionError):
            continue
        found = HessianMetric(term, tower, H, point, positive)
        if positive:
            return found
        fallback = fallback or found
    return fallback


def _points(term: CoupledTerm) -> Iterator[dict[str, Fraction]]:
    """Yield points, the later betas turning through the places faster."""
    for values in term.parameter_points():
        d, n = len(term.variables), 0
        for k, shift in product(range(len(PLACES)), repeat=2):
            places = [PLACES[(k + i * (shift + 1)) % len(PLACES)] for i in range(d)]
            yield {**dict(zip(term.variables, places, strict=True)), **values}
            if (n := n + 1) == MOST_POINTS:
                break


def _minor(tower: Elementary, H: Matrix, size: int) -> int:
    return tower.sign(tower.tidy(determinant(tuple(row[:size] for row in H[:size]))))


def _derivative(tower: Elementary, H: Matrix, k: int) -> Matrix:
    return tuple(tuple(tower.derivative(x, k) for x in row) for row in H)


def _product(metric: HessianMetric, A: Matrix, B: Matrix) -> Matrix:
    columns = [*zip(*B, strict=True)]
    return tuple(tuple(metric.tower.tidy(dot(row, c)) for c in columns) for row in A)


def not_convex(metric: HessianMetric | None) -> Finding:
    """Return that Q is nowhere strictly convex, where that is known."""
    if metric is None:
        return Finding(Verdict.UNDECIDED, "Q is not defined and smooth at any point that was tried")
    entries = [x for row in metric.H for x in row]
    if determinant(metric.H).is_zero():
        return Finding(Verdict.REFUTED, "`Hess Q` is singular everywhere")
    if all(x.is_constant() for x in entries) and not metric.term.parameters:
        return Finding(Verdict.REFUTED, "`Hess Q` is constant, and not positive definite")
    return Finding(Verdict.UNDECIDED, "no point with `Hess Q > 0` was found")
