"""What explicit regularization of the weights gives: one record per minimum, and the whole."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from flint import arb
from sympy import Expr, Symbol

from derive.errors import InputError, NumericalError
from derive.exact.field.polynomial import Polynomial, terms
from derive.explicit.constrained import ConstrainedProblem, Stopped
from derive.explicit.contrast import Contrast
from derive.explicit.cost.closed_cost import ClosedCost
from derive.explicit.critical.branch import Branch, greatest_root_at, root_at
from derive.explicit.critical.closed_form import closed_form
from derive.explicit.critical.minimum_at import has_no_weights, is_at_start, value_of
from derive.explicit.scale_limits import ScaleLimit
from derive.language.tree import Tree
from derive.model.parameterization import Parameterization
from derive.printable import Printable
from derive.verdict import Finding, Verdict, conclude

LENGTH = Symbol("r", real=True)
"""The squared distance, at alpha = 1 where the start is alpha times numbers."""


@dataclass(frozen=True)
class CertifiedValue:
    """The minimum at one rational point.

    Attributes:
        ball: encloses it.
        polynomial: the polynomial of which it is a root there, in r; None where it is the value of
            a closed form, or 0 because F(w_0) = beta.
        index, roots: it is this real root, the smallest is 0, of so many.
    """

    ball: Any
    polynomial: Expr | None = None
    index: int | None = None
    roots: int = 0


@dataclass(frozen=True)
class SquaredDistance:
    """min |w - w_0|^2 subject to F(w) = beta on one block; w_0 = 0 gives the representation cost.

    Attributes:
        problem: the constrained problem; None where F is not polynomial.
        variables: the symbols of beta and of the start, in the order of the polynomials.
        factors: polynomials in r and these; the minimum is a root of one of them.
        branches: which root it is, interval by interval, where it depends on one number.
        finding: PROVED where the branches, or a single root, are certified.
        greatest: that the minimum is the greatest root at every beta, where that was proved.
        closed: the minimum in closed form, where it was found as such.
    """

    problem: ConstrainedProblem | None
    variables: tuple[Symbol, ...]
    factors: tuple[Polynomial, ...]
    branches: tuple[Branch, ...]
    finding: Finding
    greatest: Finding | None = None
    closed: ClosedCost | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether it is known which root the minimum is."""
        return self.finding.verdict

    @property
    def scale(self) -> Symbol | None:
        """The symbol alpha, where R = alpha^2 r(beta/alpha^D)."""
        problem = self.problem
        if problem is None or not problem.single or not problem.symbols:
            return None
        return self.variables[-1]

    @property
    def argument(self) -> Symbol:
        """b = beta/alpha^D, or beta itself where nothing is scaled."""
        return self.variables[0] if self.scale is None else Symbol("b", real=True)

    @functools.cached_property
    def equations(self) -> tuple[Expr, ...]:
        """The factors as expressions: in r and b where R scales, else in r, beta and the start."""
        images = [LENGTH, *self.variables]
        if self.scale is not None:
            images = [LENGTH, self.argument, sympy.Integer(1)]
        return tuple(_positive(_expression(f, images)) for f in self.factors)

    @functools.cached_property
    def closed_forms(self) -> tuple[Expr | None, ...]:
        """The minimum on each branch in radicals, None where the polynomial is left.

        Without branches, where each polynomial has at most one root r >= 0, the greatest.
        """
        if self.closed is not None:
            return (self.closed.expression(self.variables),)
        if not self.branches and self.verdict is Verdict.PROVED:
            roots = [closed_form(e, LENGTH, self.argument, None) for e in self.equations]
            known = [root for root in roots if root is not None]
            return (sympy.Max(*known) if len(known) == len(roots) else None,)
        return tuple(
            None
            if branch.factor is None
            else closed_form(self.equations[branch.factor], LENGTH, self.argument, branch)
            for branch in self.branches
        )

    def at(self, point: Mapping[str, Fraction]) -> CertifiedValue | None:
        """Return the minimum at numbers for beta and the start; None where no w has F(w) = beta.

        Raises:
            InputError: a number is missing.
            NumericalError: it was not certified there; the text says which step stopped.
        """
        if self.problem is None or not (self.factors or self.closed):
            raise NumericalError(self.finding.reason)
        missing = [str(s) for s in self.variables if str(s) not in point]
        if missing:
            raise InputError(f"give a number for {missing[0]}")
        data = [Fraction(point[str(s)]) for s in self.variables]
        try:
            if self.closed is not None:
                ball = value_of(self.closed, self.problem, data)
                return None if ball is None else CertifiedValue(ball)
            if self.greatest is not None:
                value, factor, index, roots = greatest_root_at(self.factors, data)
            else:
                value, factor, index, roots = root_at(self.problem, self.factors, data)
        except Stopped as step:
            if is_at_start(self.problem, data):
                return CertifiedValue(arb(0))
            if has_no_weights(self.problem, data):
                return None
            raise NumericalError(f"not certified at this point: {step}") from None
        if value is None or factor is None:
            return None
        images = [LENGTH, *(sympy.Rational(x.numerator, x.denominator) for x in data)]
        polynomial = _positive(_expression(self.factors[factor], images))
        return CertifiedValue(value, polynomial, index, roots)


def _positive(equation: Expr) -> Expr:
    """Return an equation with a positive leading coefficient in r, where it has a sign."""
    leading = sympy.Poly(equation, LENGTH).LC()
    return -equation if leading.could_extract_minus_sign() else equation


def _expression(polynomial: Polynomial, images: list[Any]) -> Expr:
    return sympy.Add(
        *(
            sympy.Mul(sympy.Integer(c), *(x**e for x, e in zip(images, exponents, strict=True)))
            for exponents, c in terms(polynomial)
        )
    )


@dataclass(frozen=True)
class Evaluated:
    """A minimum at one point, as it was asked for.

    Attributes:
        of: "R" or "R_F".
        outputs: the block, outputs counted from 0.
        point: beta and the start symbols that it depends on.
        value: None where no w has F(w) = beta, or where it was not certified.
        reason: why it was not certified, empty where it was.
    """

    of: str
    outputs: tuple[int, ...]
    point: tuple[tuple[str, Fraction], ...]
    value: CertifiedValue | None
    reason: str = ""


@dataclass(frozen=True)
class BlockCounterpart:
    """The explicit counterparts on outputs that share weights.

    Attributes:
        outputs: which outputs, counted from 0.
        distance: R(beta) = min |w - w_0|^2.
        cost: R_F(beta) = min |w|^2.
        contrast: R beside the implicit Q.
        limits: of R and Q as the scale of the start goes to 0 and to infinity.
    """

    outputs: tuple[int, ...]
    distance: SquaredDistance
    cost: SquaredDistance
    contrast: Contrast
    limits: tuple[ScaleLimit, ...]


@dataclass(frozen=True)
class ExplicitCounterpart(Printable):
    """R(beta), R_F(beta) and how they compare with the implicit regularizer, block by block.

    Attributes:
        texts: the outputs as given.
        parameterization: F; for a vector model its length |beta| as a function of the scalars and
            of the vectors' lengths.
        vector: the names of the vectors whose dimension is open, "u" or "u, v"; empty without one.
        blocks: R and R_F are the sums over these.
        evaluated: values at a point, where one was asked for.
    """

    texts: tuple[str, ...]
    parameterization: Parameterization
    vector: str
    blocks: tuple[BlockCounterpart, ...]
    evaluated: tuple[Evaluated, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """PROVED where R and R_F are, on every block."""
        return conclude(tuple(m.finding for b in self.blocks for m in (b.distance, b.cost)))

    @property
    def start(self) -> tuple[tuple[str, Tree], ...]:
        """Where the weights start."""
        return self.parameterization.start
