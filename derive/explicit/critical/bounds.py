"""The representation cost min |w|^2 subject to F(w) = beta by bounds that hold for all w.

Two proofs beside the critical points; compositions and duality have modules of their own.

Products: F = m(a) L b, m = a_1^n_1 ... a_k^n_k, other weights b. Then |b|^2 >= q(beta)/m^2 with
q(beta) = <beta, (L L^T)^-1 beta>, and by the inequality of the means, with D = 1 + sum_i n_i,

    |a|^2 + |b|^2 = sum_i n_i (a_i^2/n_i) + |b|^2
                 >= D (prod_i (a_i^2/n_i)^n_i |b|^2)^(1/D) >= D (q(beta)/prod_i n_i^n_i)^(1/D),

with equality where all a_i^2/n_i = |b|^2, which some w reaches for every beta. One output that is
a monomial with an odd exponent is of this kind too, with q(beta) = beta^2/c^2, D = sum_i n_i.

Greatest roots: a least w is a critical point, so that R_F is a root of one of the factors of the
critical polynomial. If every factor is a r^n + c(beta), a > 0, and a |w|^(2n) + c(F(w)) >= 0 for
all w, then R_F is at least each of these roots: the greatest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import Polynomial, evaluate, terms
from derive.exact.linear.matrix import Matrix, dot, inverse
from derive.exact.positivity import is_nonnegative
from derive.explicit.constrained import ConstrainedProblem


def product_cost(problem: ConstrainedProblem) -> Polynomial | None:
    """Return P(r, beta) = N r^D - D^D q(beta), N = prod_i n_i^n_i, for a product; None for others.

    R_F is its greatest root, at every beta.
    """
    common = _common_monomial(problem)
    monomial = prod((w**n for w, n in common.items()), start=problem.field.one)
    rest = [f / monomial for f in problem.F]
    if len(rest) == 1 and rest[0].is_constant() and any(n % 2 for n in common.values()):
        quadratic: Matrix | None = ((1 / (rest[0] * rest[0]),),)
        degree = sum(common.values())
    else:
        quadratic = _inverse_gram(problem, rest, common)
        degree = 1 + sum(common.values())
    if quadratic is None:
        return None
    return _power(problem, degree, prod(n**n for n in common.values()), quadratic)


def _common_monomial(problem: ConstrainedProblem) -> dict[RationalFunction, int]:
    """Return the weights that divide every output, with their exponents."""
    exponents = [e for f in problem.F for e, _ in terms(f.numerator)]
    least = [min(e[k] for e in exponents) for k in range(len(problem.weights))]
    return {w: n for w, n in zip(problem.w, least, strict=True) if n}


def _inverse_gram(
    problem: ConstrainedProblem,
    rest: Sequence[RationalFunction],
    common: Mapping[RationalFunction, int],
) -> Matrix | None:
    """Return (L L^T)^-1 where what is left of F is L b, b without the common weights."""
    others = [k for k, w in enumerate(problem.w) if w not in common]
    rows = [[f.partial(k) for k in others] for f in rest]
    for f, row in zip(rest, rows, strict=True):
        image = sum((x * problem.w[k] for x, k in zip(row, others, strict=True)), f.field.zero)
        if any(not x.is_constant() for x in row) or f != image:
            return None
    try:
        return inverse(tuple(tuple(dot(a, b) for b in rows) for a in rows))
    except ZeroDivisionError:
        return None


def _power(problem: ConstrainedProblem, degree: int, scale: int, quadratic: Matrix) -> Polynomial:
    """Return scale r^D - D^D <beta, M beta> with integer coefficients."""
    field = FunctionField(("r", *problem.arguments))
    r, *betas = field.gens
    pairs = product(enumerate(betas), repeat=2)
    q = sum((field.constant(quadratic[i][j].value()) * x * y for (i, x), (j, y) in pairs), r * 0)
    polynomial = (scale * r**degree - degree**degree * q).numerator
    primitive: Polynomial = polynomial.primitive()[1]
    return primitive if int(primitive.leading_coefficient()) > 0 else -primitive


def bounds_every_root(problem: ConstrainedProblem, factors: Sequence[Polynomial]) -> bool:
    """Tell whether |w|^2 is proved to be at least every root of these factors at beta = F(w)."""
    square = sum((w * w for w in problem.w), problem.field.zero)
    return bool(factors) and all(_is_bound(problem, square, f) for f in factors)


def _is_bound(problem: ConstrainedProblem, square: RationalFunction, factor: Polynomial) -> bool:
    """Tell whether the factor is a r^n + c(beta), and its value at w not negative, for a > 0."""
    with_r = [(e, c) for e, c in terms(factor) if e[0]]
    if len(with_r) != 1 or any(with_r[0][0][1:]):
        return False
    value = evaluate(factor, (square, *problem.F), problem.field.constant)
    return is_nonnegative(value if with_r[0][1] > 0 else -value)
