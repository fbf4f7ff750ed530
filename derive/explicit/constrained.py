"""The constrained problem min |w - w_0|^2 subject to F(w) = beta, as polynomials."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import Ordering, fmpq, fmpq_mat, fmpz_mpoly_ctx

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import terms
from derive.model.parameterization import Parameterization


class Stopped(Exception):
    """A step of the elimination that stops; the text says which and why."""


@dataclass(frozen=True, eq=False)
class ConstrainedProblem:
    """The d outputs F and the p start values w_0 in Q(weights, multipliers, start symbols).

    The *degree* is D, where F(c w) = c^D F(w).
    """

    field: FunctionField
    weights: tuple[str, ...]
    multipliers: tuple[str, ...]
    symbols: tuple[str, ...]
    F: tuple[RationalFunction, ...]
    w0: tuple[RationalFunction, ...]
    degree: int | None

    @property
    def w(self) -> tuple[RationalFunction, ...]:
        """The weights."""
        return self.field.gens[: len(self.weights)]

    @property
    def ring(self) -> fmpz_mpoly_ctx:
        """Of polynomials in r and what R depends on: the outputs and the start symbols."""
        return fmpz_mpoly_ctx.get(("r", *self.arguments), Ordering.degrevlex)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of what R depends on: the outputs, then the start symbols."""
        return (*(f"beta {i + 1}" for i in range(len(self.F))), *self.symbols)

    @functools.cached_property
    def jacobian(self) -> tuple[tuple[RationalFunction, ...], ...]:
        """DF, d rows of p polynomials."""
        return tuple(tuple(f.partial(k) for k, _ in enumerate(self.weights)) for f in self.F)

    @functools.cached_property
    def conditions(self) -> tuple[RationalFunction, ...]:
        """The p Lagrange conditions w - w_0 - J^T mu = 0."""
        mu = [self.field.named(name) for name in self.multipliers]
        return tuple(
            w - w0 - sum((m * row[k] for m, row in zip(mu, self.jacobian, strict=True)), 0)
            for k, (w, w0) in enumerate(zip(self.w, self.w0, strict=True))
        )

    @functools.cached_property
    def quadratic_forms(self) -> list[fmpq_mat] | None:
        """A_i with F_i = <w, A_i w>; None where an output is no quadratic form."""
        if any({sum(e) for e, _ in terms(f.numerator)} != {2} for f in self.F):
            return None
        forms = [fmpq_mat(len(self.weights), len(self.weights)) for _ in self.F]
        for A, f in zip(forms, self.F, strict=True):
            for exponents, c in terms(f.numerator):
                i, j = (k for k, e in enumerate(exponents) for _ in range(e))
                A[i, j] += fmpq(c, 2 * int(f.denominator.leading_coefficient()))
                A[j, i] += fmpq(c, 2 * int(f.denominator.leading_coefficient()))
        return forms

    @property
    def single(self) -> bool:
        """Whether R depends on one number: beta, or beta/alpha^D by homogeneity."""
        if not self.symbols:
            return len(self.F) == 1
        scales = all(x.is_zero() or (x.is_homogeneous() and x.degree() == 1) for x in self.w0)
        return len(self.F) == len(self.symbols) == 1 and scales and self.degree is not None

    def at(self, data: Sequence[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
        """Return beta and w_0 at numbers for the outputs and the start symbols."""
        d = len(self.F)
        free = [Fraction(0)] * (len(self.field.names) - len(self.symbols))
        return list(data[:d]), [x.at([*free, *data[d:]]) for x in self.w0]

    def outputs_at(self, w: Sequence[Fraction]) -> list[Fraction]:
        """Return F at rational weights."""
        rest = [Fraction(0)] * (len(self.field.names) - len(w))
        return [f.at([*w, *rest]) for f in self.F]


def pose(p: Parameterization) -> ConstrainedProblem:
    """Return min |w - w_0|^2 subject to F(w) = beta; Stopped: F or the start is not polynomial."""
    return _build(p, p.w0)


def pose_cost(p: Parameterization) -> ConstrainedProblem:
    """Return min |w|^2 subject to F(w) = beta; Stopped: F is not polynomial."""
    return _build(p, (p.field.zero,) * p.p)


def _build(p: Parameterization, w0: Sequence[RationalFunction]) -> ConstrainedProblem:
    given = w0[0].field
    for elements, lack in ((p.F, _lack(p)), (w0, "the start is none in its symbols")):
        if elements[0].field.generators or not all(x.is_polynomial() for x in elements):
            raise Stopped(f"the elimination needs polynomials over the rationals: {lack}")
    used = {name for x in w0 for name in x.variables()}
    symbols = tuple(s for s in given.names if s in used)
    # Start symbols may be called as weights are: the ring needs names of its own.
    own = tuple(f"start {s}" for s in symbols)
    multipliers = tuple(f"multiplier {i}" for i in range(1, p.d + 1))
    field = FunctionField((*p.weights, *multipliers, *own))
    placed = dict(zip(symbols, field.gens[p.p + p.d :], strict=True))
    images = [placed.get(name, field.zero) for name in given.names]
    start = tuple(x.compose(images, field) for x in w0)
    F = tuple(f.compose(field.gens[: p.p], field) for f in p.F)
    return ConstrainedProblem(field, p.weights, multipliers, own, F, start, p.degree)


def _lack(p: Parameterization) -> str:
    """Say why F is no polynomial over the rationals."""
    if p.parameters and all(g.kind == "parameter" for g in p.field.generators):
        return f"F has the constant {', '.join(p.parameters)}"
    return "F is none in the weights"
