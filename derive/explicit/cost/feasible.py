"""Points with F(w) = beta, proved to exist in balls, and how far they lie from w_0."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from math import prod
from random import Random

from flint import arb, arb_mat, fmpq, fmpq_mat

from derive.exact.balls import ball, evaluate_any
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import terms
from derive.explicit.constrained import ConstrainedProblem, Stopped

BITS = 320
RADIUS = Fraction(1, 2**120)
"""How far from a point close to it a point with F(w) = beta is looked for."""
SEEDS = 20
NEWTON = 40


def value_at(problem: ConstrainedProblem, function: RationalFunction, w: Sequence[arb]) -> arb:
    """Return a function of the weights at numbers or balls, in a ball."""
    padding = [Fraction(0)] * (len(problem.field.names) - len(w))
    return ball(evaluate_any(function, [*w, *padding], BITS))


def distance(w: Sequence[arb], w0: Sequence[Fraction]) -> arb:
    """Return |w - w_0|^2 in a ball."""
    total = arb(0)
    for x, x0 in zip(w, w0, strict=True):
        # A product: flint's powers of balls about 0 are no numbers.
        total += (x - ball(x0)) * (x - ball(x0))
    return total


def feasible_distance(
    problem: ConstrainedProblem, w: Sequence[arb], w0: Sequence[Fraction], beta: Sequence[Fraction]
) -> arb:
    """Return a ball with |v - w_0|^2 for some v with F(v) = beta, by a Krawczyk step.

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
    return distance(around, w0)


def _jacobian_at(problem: ConstrainedProblem, w: Sequence[arb]) -> arb_mat:
    return arb_mat([[value_at(problem, f, w) for f in row] for row in problem.jacobian])


def _residual_at(
    problem: ConstrainedProblem, w: Sequence[arb], beta: Sequence[Fraction]
) -> arb_mat:
    """Return beta - F(w), a column."""
    pairs = zip(problem.F, beta, strict=True)
    return arb_mat([[ball(b) - value_at(problem, f, w)] for f, b in pairs])


def reaches_all(problem: ConstrainedProblem, free: Collection[int]) -> bool:
    """Tell whether F is linear in some weights, and onto when the others are at some integers."""
    rows = []
    for f in problem.F:
        row = [fmpq(0)] * len(problem.weights)
        for exponents, c in terms(f.numerator):
            used = [k for k in free if exponents[k]]
            if len(used) != 1 or exponents[used[0]] > 1:
                return False
            # Integers with no pattern that the terms could share.
            others = ((k * k + 3 * k + 1) ** e for k, e in enumerate(exponents) if k not in free)
            row[used[0]] += c * prod(others)
        rows.append(row)
    return bool(fmpq_mat(rows).rank() == len(rows))


def is_onto(problem: ConstrainedProblem) -> bool:
    """Tell whether every beta has some w, by weights of which F is linear, the others integers.

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
