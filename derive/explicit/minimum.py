"""min |w - w_0|^2 subject to F(w) = beta: what is known of it, one record for each case.

A :class:`SquaredDistance` on its own says only why nothing is known. A :class:`CriticalRoot` is a
root of a polynomial; which one is known at every beta for :class:`GreatestRoot`, between
breakpoints for :class:`RootByInterval`. :class:`ClosedMinimum` is given by a formula.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy
from flint import arb
from sympy import Expr, Symbol

from derive.errors import InputError, NumericalError
from derive.exact.field.polynomial import Polynomial, evaluate
from derive.explicit.constrained import ConstrainedProblem, Stopped
from derive.explicit.cost.closed_cost import ClosedCost
from derive.explicit.critical.closed_form import closed_form
from derive.explicit.critical.critical_roots import CertifiedRoot, greatest_root_at, root_at
from derive.explicit.critical.intervals import RootInterval
from derive.explicit.critical.minimum_at import closed_cost_at, has_no_weights, is_at_start
from derive.model.notation import rational
from derive.verdict import Finding, Verdict

LENGTH = Symbol("r", real=True)
"""The squared distance, at alpha = 1 where the start is alpha times numbers."""


@dataclass(frozen=True)
class CertifiedValue:
    """The minimum at one rational point: of a closed form, or 0 because F(w_0) = beta.

    Attributes:
        ball: encloses it.
    """

    ball: arb


@dataclass(frozen=True)
class RootValue(CertifiedValue):
    """The minimum at one rational point as a root.

    Attributes:
        polynomial: of which it is a root, in r.
        index, roots: it is this real root, the smallest is 0, of so many.
    """

    polynomial: Expr
    index: int
    roots: int


@dataclass(frozen=True)
class SquaredDistance:
    """min |w - w_0|^2 subject to F(w) = beta on one block; w_0 = 0 gives the representation cost.

    Attributes:
        variables: the symbols of beta and of the start, in the order of the polynomials.
        finding: PROVED where it is known which root it is, or a formula is; else what is missing.
    """

    variables: tuple[Symbol, ...]
    finding: Finding

    @property
    def verdict(self) -> Verdict:
        """Whether it is known which root the minimum is."""
        return self.finding.verdict

    @property
    def scale(self) -> Symbol | None:
        """The symbol alpha, where R = alpha^2 r(beta/alpha^D)."""
        return None

    @property
    def argument(self) -> Symbol:
        """b = beta/alpha^D, or beta itself where nothing is scaled."""
        return self.variables[0] if self.scale is None else Symbol("b", real=True)

    @property
    def equations(self) -> tuple[Expr, ...]:
        """Polynomials of which it is a root; in r and b where R scales, else in r and variables."""
        return ()

    @property
    def closed_forms(self) -> tuple[Expr | None, ...]:
        """The minimum as an expression, one for each interval; None where there is none."""
        return ()

    def at(self, point: Mapping[str, Fraction]) -> CertifiedValue | None:
        """Return the minimum at numbers for beta and the start; None where no w has F(w) = beta.

        Raises:
            InputError: a number is missing.
            NumericalError: it was not certified there; the text says which step stopped.
        """
        if not self._is_known():
            raise NumericalError(self.finding.reason)
        missing = [str(s) for s in self.variables if str(s) not in point]
        if missing:
            raise InputError(f"give a number for {missing[0]}")
        return self._certified_at([Fraction(point[str(s)]) for s in self.variables])

    def _is_known(self) -> bool:
        return False

    def _certified_at(self, data: Sequence[Fraction]) -> CertifiedValue | None:
        raise NotImplementedError


@dataclass(frozen=True)
class CriticalRoot(SquaredDistance):
    """The minimum is a root r of one of some polynomials.

    Attributes:
        problem: the constrained problem.
        factors: polynomials in r and the variables; none where they were not found.
    """

    problem: ConstrainedProblem
    factors: tuple[Polynomial, ...]

    @property
    def scale(self) -> Symbol | None:
        """The symbol alpha, where R = alpha^2 r(beta/alpha^D)."""
        return self.variables[-1] if self.problem.single and self.problem.symbols else None

    @functools.cached_property
    def equations(self) -> tuple[Expr, ...]:
        """The factors as expressions."""
        images = [LENGTH, *self.variables]
        if self.scale is not None:
            images = [LENGTH, self.argument, sympy.Integer(1)]
        return tuple(_positive(_expression(f, images)) for f in self.factors)

    @functools.cached_property
    def closed_forms(self) -> tuple[Expr | None, ...]:
        """The greatest root in radicals, where each polynomial has at most one root r >= 0."""
        if self.verdict is not Verdict.PROVED:
            return ()
        roots = [closed_form(e, LENGTH, self.argument, None) for e in self.equations]
        known = [root for root in roots if root is not None]
        return (sympy.Max(*known) if len(known) == len(roots) else None,)

    def _is_known(self) -> bool:
        return bool(self.factors)

    def _certified_at(self, data: Sequence[Fraction]) -> CertifiedValue | None:
        try:
            return self._value_at(data)
        except Stopped as step:
            if is_at_start(self.problem, data):
                return CertifiedValue(arb(0))
            if has_no_weights(self.problem, data):
                return None
            raise NumericalError(f"not certified at this point: {step}") from None

    def _value_at(self, data: Sequence[Fraction]) -> CertifiedValue | None:
        return self._root_value(root_at(self.problem, self.factors, data), data)

    def _root_value(self, root: CertifiedRoot | None, data: Sequence[Fraction]) -> RootValue | None:
        if root is None:
            return None
        images = [LENGTH, *map(rational, data)]
        polynomial = _positive(_expression(self.factors[root.factor], images))
        return RootValue(root.ball, polynomial, root.index, root.roots)


@dataclass(frozen=True)
class GreatestRoot(CriticalRoot):
    """The minimum is the greatest root at every beta, as was proved."""

    def _value_at(self, data: Sequence[Fraction]) -> CertifiedValue | None:
        return self._root_value(greatest_root_at(self.factors, data), data)


@dataclass(frozen=True)
class RootByInterval(CriticalRoot):
    """The minimum depends on one number, and is one root between neighbouring breakpoints.

    Attributes:
        intervals: which root it is, interval by interval.
    """

    intervals: tuple[RootInterval, ...]

    @functools.cached_property
    def closed_forms(self) -> tuple[Expr | None, ...]:
        """The minimum on each interval in radicals, None where the polynomial is left."""
        return tuple(
            None
            if interval.factor is None
            else closed_form(self.equations[interval.factor], LENGTH, self.argument, interval)
            for interval in self.intervals
        )

    @property
    def is_closed(self) -> bool:
        """Whether no polynomial is left."""
        return all(
            form is not None or interval.factor is None
            for interval, form in zip(self.intervals, self.closed_forms, strict=True)
        )


@dataclass(frozen=True)
class ClosedMinimum(CriticalRoot):
    """The minimum by a formula, or at least its value at single points.

    Attributes:
        closed: the formula; *factors* are its polynomials.
    """

    closed: ClosedCost

    @functools.cached_property
    def closed_forms(self) -> tuple[Expr | None, ...]:
        """The formula, where it is an expression."""
        return (self.closed.expression(self.variables),)

    def _is_known(self) -> bool:
        return True

    def _value_at(self, data: Sequence[Fraction]) -> CertifiedValue | None:
        ball = closed_cost_at(self.closed, self.problem, data)
        return None if ball is None else CertifiedValue(ball)


def _positive(equation: Expr) -> Expr:
    """Return an equation with a positive leading coefficient in r, where it has a sign."""
    leading = sympy.Poly(equation, LENGTH).LC()
    return -equation if leading.could_extract_minus_sign() else equation


def _expression(polynomial: Polynomial, images: Sequence[Expr]) -> Expr:
    return evaluate(polynomial, images, sympy.Integer)
