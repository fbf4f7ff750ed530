"""The constrained problem min |w - w_0|^2 subject to F(w) = beta, and points with F(w) = beta.

Or min h(w - w_0) for another h, a polynomial that grows without bound along every half-line from 0.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from random import Random

from flint import Ordering, arb, arb_mat, fmpq, fmpq_mat, fmpz_mpoly_ctx

from derive.exact.balls import ball, evaluate_any
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.linear.matrix import dot
from derive.model.parameterization import Parameterization


class Stopped(Exception):
    """A step of the elimination that stops; the text says which and why."""


@dataclass(frozen=True)
class ConstrainedProblem:
    """The d outputs F and the p start values w_0 in Q(weights, multipliers, start symbols).

    The *degree* is D, where F(c w) = c^D F(w); *height* is h, by default |w|^2.
    """

    field: FunctionField
    weights: tuple[str, ...]
    multipliers: tuple[str, ...]
    symbols: tuple[str, ...]
    F: tuple[RationalFunction, ...]
    w0: tuple[RationalFunction, ...]
    degree: int | None
    height: RationalFunction

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
        """The p Lagrange conditions grad h(w - w_0)/2 - J^T mu = 0."""
        mu = [self.field.named(name) for name in self.multipliers]
        return tuple(
            slope - sum((m * row[k] for m, row in zip(mu, self.jacobian, strict=True)), 0)
            for k, slope in enumerate(self.slopes)
        )

    @functools.cached_property
    def slopes(self) -> tuple[RationalFunction, ...]:
        """The halves of grad h at w - w_0."""
        slopes = (self.height.partial(k) / 2 for k, _ in enumerate(self.weights))
        return tuple(slope.compose(self.away, self.field) for slope in slopes)

    @property
    def away(self) -> tuple[RationalFunction, ...]:
        """What is w - w_0 in the place of w."""
        moved = (w - w0 for w, w0 in zip(self.w, self.w0, strict=True))
        return (*moved, *self.field.gens[len(self.weights) :])

    @property
    def has_length(self) -> bool:
        """Whether h is |w|^2."""
        return self.height == dot(self.w, self.w)

    @property
    def metric(self) -> fmpq_mat | None:
        """M with h = <w, M w>; None where h is no quadratic form."""
        return _form_of(self.height, len(self.weights))

    @functools.cached_property
    def quadratic_forms(self) -> list[fmpq_mat] | None:
        """A_i with F_i = <w, A_i w>; None where an output is no quadratic form."""
        forms = [_form_of(f, len(self.weights)) for f in self.F]
        known = [A for A in forms if A is not None]
        return known if len(known) == len(forms) else None

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


def _form_of(f: RationalFunction, size: int) -> fmpq_mat | None:
    """Return A with f = <w, A w>; None where f is no quadratic form of the weights."""
    if {sum(e) for e, _ in terms(f.numerator)} != {2}:
        return None
    A, below = fmpq_mat(size, size), 2 * int(f.denominator.leading_coefficient())
    for exponents, c in terms(f.numerator):
        i, j = (k for k, e in enumerate(exponents) for _ in range(e))
        A[i, j] += fmpq(c, below)
        A[j, i] += fmpq(c, below)
    return A


def pose(p: Parameterization) -> ConstrainedProblem:
    """Return min |w - w_0|^2 subject to F(w) = beta; Stopped: F or the start is not polynomial."""
    return _build(p, p.w0)


def pose_cost(p: Parameterization, height: RationalFunction | None = None) -> ConstrainedProblem:
    """Return min |w|^2, or min h, subject to F(w) = beta; Stopped: F is not polynomial."""
    return _build(p, (p.field.zero,) * p.p, height)


def _build(
    p: Parameterization, w0: Sequence[RationalFunction], height: RationalFunction | None = None
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
    w = field.gens[: p.p]
    h = dot(w, w) if height is None else height.compose(w, field)
    return ConstrainedProblem(field, p.weights, multipliers, own, F, start, p.degree, h)


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


def height_at(problem: ConstrainedProblem, w: Sequence[arb], w0: Sequence[Fraction]) -> arb:
    """Return |w - w_0|^2, or another h(w - w_0), in a ball."""
    return value_at(problem, problem.height, [x - ball(x0) for x, x0 in zip(w, w0, strict=True)])


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
    return height_at(problem, around, w0)


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
