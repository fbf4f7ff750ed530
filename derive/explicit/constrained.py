"""The constrained problem min |w - w_0|^2 subject to F(w) = beta, and points with F(w) = beta.

Or min sum_k c_k (w_k - w0_k)^p_k, of even p_k: it grows with |w - w_0| as well, along every line.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from random import Random

from flint import Ordering, arb, arb_mat, fmpq, fmpq_mat, fmpz_mpoly_ctx

from derive.exact.balls import ball, evaluate_any, whole_power
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import terms
from derive.model.parameterization import Parameterization


class Stopped(Exception):
    """A step of the elimination that stops; the text says which and why."""


@dataclass(frozen=True)
class ConstrainedProblem:
    """The d outputs F and the p start values w_0 in Q(weights, multipliers, start symbols).

    The *degree* is D, where F(c w) = c^D F(w); *costs* are c_k and p_k, by default 1 and 2.
    """

    field: FunctionField
    weights: tuple[str, ...]
    multipliers: tuple[str, ...]
    symbols: tuple[str, ...]
    F: tuple[RationalFunction, ...]
    w0: tuple[RationalFunction, ...]
    degree: int | None
    costs: tuple[tuple[Fraction, int], ...]

    @property
    def power(self) -> int | None:
        """The p of all costs, where they have one."""
        powers = {p for _, p in self.costs}
        return powers.pop() if len(powers) == 1 else None

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
        """The p Lagrange conditions w - w_0 - J^T mu = 0, or grad h/2 - J^T mu = 0."""
        mu = [self.field.named(name) for name in self.multipliers]
        return tuple(
            self.field.constant(c * p / 2) * (w - w0) ** (p - 1)
            - sum((m * row[k] for m, row in zip(mu, self.jacobian, strict=True)), 0)
            for k, ((c, p), w, w0) in enumerate(zip(self.costs, self.w, self.w0, strict=True))
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


def pose_cost(
    p: Parameterization, costs: Sequence[tuple[Fraction, int]] = ()
) -> ConstrainedProblem:
    """Return min |w|^2, or of other costs, subject to F(w) = beta; Stopped: F is not polynomial."""
    return _build(p, (p.field.zero,) * p.p, costs)


def _build(
    p: Parameterization, w0: Sequence[RationalFunction], costs: Sequence[tuple[Fraction, int]] = ()
) -> ConstrainedProblem:
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
    costs = tuple(costs) or ((Fraction(1), 2),) * p.p
    return ConstrainedProblem(field, p.weights, multipliers, own, F, start, p.degree, costs)


def _lack(p: Parameterization) -> str:
    """Say why F is no polynomial over the rationals."""
    if p.parameters and all(g.kind == "parameter" for g in p.field.generators):
        return f"F has the constant {', '.join(p.parameters)}"
    return "F is none in the weights"


BITS = 320
RADIUS = Fraction(1, 2**120)
"""How far from a point close to it a point with F(w) = beta is looked for."""
SEEDS = 20
NEWTON = 40


def value_at(problem: ConstrainedProblem, function: RationalFunction, w: Sequence[arb]) -> arb:
    """Return a function of the weights at numbers or balls, in a ball."""
    padding = [Fraction(0)] * (len(problem.field.names) - len(w))
    return ball(evaluate_any(function, [*w, *padding], BITS))


def heights(problem: ConstrainedProblem, w: Sequence[arb], w0: Sequence[Fraction]) -> list[arb]:
    """Return what each weight adds to |w - w_0|^2, or to another cost, in balls."""
    rows = zip(problem.costs, w, w0, strict=True)
    return [ball(c) * ball(whole_power(x - ball(x0), p)) for (c, p), x, x0 in rows]


def feasible_distance(
    problem: ConstrainedProblem, w: Sequence[arb], w0: Sequence[Fraction], beta: Sequence[Fraction]
) -> arb:
    """Return a ball with the cost of some v with F(v) = beta, by a Krawczyk step.

    v = w + J^T z; G(z) = F(w + J^T z) - beta has a zero in a box Z when
    -Y G(0) + (1 - Y DG(Z)) Z lies in the interior of Z, Y near DG(0)^-1.

    Raises:
        Stopped: the step does not contract, for instance where J has rank below d.
    """
    middle = [x.mid() for x in w]
    J = _jacobian_at(problem, middle)
    step = J.transpose()
    try:
        Y = (J * step).inv().mid()
    except ZeroDivisionError:
        raise Stopped("J has rank below d at the lowest critical point") from None
    size, radius = len(problem.F), ball(RADIUS)
    Z = arb_mat([[arb(0, radius)] for _ in range(size)])
    around = [m + s for m, s in zip(middle, (step * Z).entries(), strict=True)]
    one = arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
    contraction = one - Y * _jacobian_at(problem, around) * step
    image = Y * _residual_at(problem, middle, beta) + contraction * Z
    if not all(abs(x) < radius for x in image.entries()):
        raise Stopped("no point with F(w) = beta was proved near the lowest critical point")
    return sum(heights(problem, around, w0), arb(0))


def _jacobian_at(problem: ConstrainedProblem, w: Sequence[arb]) -> arb_mat:
    return arb_mat([[value_at(problem, f, w) for f in row] for row in problem.jacobian])


def _residual_at(
    problem: ConstrainedProblem, w: Sequence[arb], beta: Sequence[Fraction]
) -> arb_mat:
    """Return beta - F(w), a column."""
    pairs = zip(problem.F, beta, strict=True)
    return arb_mat([[ball(b) - value_at(problem, f, w)] for f, b in pairs])


def reaches_all(problem: ConstrainedProblem, free: Collection[int]) -> bool:
    """Tell whether F is affine in some weights, and onto when the others are at some integers."""
    rows = []
    for f in problem.F:
        row = [fmpq(0)] * len(problem.weights)
        for exponents, c in terms(f.numerator):
            used = [k for k in free if exponents[k]]
            if sum(exponents[k] for k in used) > 1:
                return False
            # Integers with no pattern that the terms could share.
            others = ((k * k + 3 * k + 1) ** e for k, e in enumerate(exponents) if k not in free)
            for k in used:
                row[k] += c * prod(others)
        rows.append(row)
    return bool(fmpq_mat(rows).rank() == len(rows))


def is_onto(problem: ConstrainedProblem) -> bool:
    """Tell whether every beta has some w, by weights in which F is affine, the others integers.

    These are tried: all that do not divide every output, and each one.
    """
    exponents = [e for f in problem.F for e, _ in terms(f.numerator)]
    places = range(len(problem.weights))
    several = [k for k in places if not all(e[k] for e in exponents)]
    return any(reaches_all(problem, free) for free in (several, *([k] for k in places)))


def is_reached(
    problem: ConstrainedProblem, w0: Sequence[Fraction], beta: Sequence[Fraction]
) -> bool:
    """Tell whether Newton's iteration from some drawn w ends near a v, proved, with F(v) = beta."""
    rng, largest = Random(5), max(map(abs, beta))
    reach = 1 + float(largest) ** (1 / (problem.degree or 1))
    for _ in range(SEEDS):
        w = [arb(float(x) + rng.gauss(0, reach)) for x in w0]
        try:
            for _ in range(NEWTON):
                J = _jacobian_at(problem, w)
                mu = (J * J.transpose()).solve(_residual_at(problem, w, beta))
                steps = (J.transpose() * mu).entries()
                w = [(x + s).mid() for x, s in zip(w, steps, strict=True)]
            if feasible_distance(problem, w, w0, beta).is_finite():
                return True
        except (Stopped, ZeroDivisionError):
            continue
    return False
