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
from fractions import Fraction
from itertools import product
from math import prod
from typing import NamedTuple

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import Polynomial, evaluate, terms
from derive.exact.linear.matrix import Matrix, dot, inverse
from derive.exact.positivity import is_nonnegative
from derive.explicit.constrained import ConstrainedProblem


class Product(NamedTuple):
    """F = m(a) L b, or c m(a) with L = (c) and no b.

    Attributes:
        powers: the exponents n_i of m, by the names of weights.
        others: the rows of L^T (L L^T)^-1, by the names of the b.
        inverse: (L L^T)^-1.
        sign: of c, where there is no b.
    """

    powers: Mapping[str, int]
    others: Mapping[str, Sequence[Fraction]]
    inverse: Sequence[Sequence[Fraction]]
    sign: int

    @property
    def degree(self) -> int:
        """Return D."""
        return sum(self.powers.values()) + bool(self.others)

    @property
    def scale(self) -> int:
        """Return prod_i n_i^n_i."""
        return prod(n**n for n in self.powers.values())


def product_cost(problem: ConstrainedProblem) -> Polynomial | None:
    """Return P(r, beta) = N r^D - D^D q(beta), N = prod_i n_i^n_i, for a product; None for others.

    R_F is its greatest root, at every beta.
    """
    found = find_product(problem)
    return None if found is None else _power(problem, found)


def find_product(problem: ConstrainedProblem) -> Product | None:
    """Return F as a product, or None."""
    common = _common_monomial(problem)
    monomial = prod((w**n for w, n in common.items()), start=problem.field.one)
    rest = [f / monomial for f in problem.F]
    powers = {problem.weights[problem.w.index(w)]: n for w, n in common.items()}
    if len(rest) == 1 and rest[0].is_constant() and any(n % 2 for n in common.values()):
        c = rest[0].value()
        return Product(powers, {}, [[1 / (c * c)]], 1 if c > 0 else -1)
    others = [k for k, w in enumerate(problem.w) if w not in common]
    rows = _linear(problem, rest, others)
    return None if rows is None else _of_linear(powers, [problem.weights[k] for k in others], rows)


def _of_linear(powers: Mapping[str, int], names: Sequence[str], rows: Matrix) -> Product | None:
    """Return m(a) L b with the names of b; None where L L^T is singular."""
    try:
        gram = inverse(tuple(tuple(dot(a, b) for b in rows) for a in rows))
    except ZeroDivisionError:
        return None
    columns = zip(names, zip(*rows, strict=True), strict=True)
    images = {b: [dot(c, g).value() for g in gram] for b, c in columns}
    return Product(powers, images, [[x.value() for x in row] for row in gram], 1)


def _common_monomial(problem: ConstrainedProblem) -> dict[RationalFunction, int]:
    """Return the weights that divide every output, with their exponents."""
    exponents = [e for f in problem.F for e, _ in terms(f.numerator)]
    least = [min(e[k] for e in exponents) for k in range(len(problem.weights))]
    return {w: n for w, n in zip(problem.w, least, strict=True) if n}


def _linear(
    problem: ConstrainedProblem, rest: Sequence[RationalFunction], others: Sequence[int]
) -> Matrix | None:
    """Return L where what is left of F is L b, b without the common weights."""
    rows = [tuple(f.partial(k) for k in others) for f in rest]
    for f, row in zip(rest, rows, strict=True):
        image = sum((x * problem.w[k] for x, k in zip(row, others, strict=True)), f.field.zero)
        if any(not x.is_constant() for x in row) or f != image:
            return None
    return tuple(rows)


def _power(problem: ConstrainedProblem, found: Product) -> Polynomial:
    """Return N r^D - D^D <beta, (L L^T)^-1 beta> with integer coefficients."""
    field, D = FunctionField(("r", *problem.arguments)), found.degree
    r, *betas = field.gens
    pairs = product(enumerate(betas), repeat=2)
    q = sum((field.constant(found.inverse[i][j]) * x * y for (i, x), (j, y) in pairs), r * 0)
    polynomial = (found.scale * r**D - D**D * q).numerator
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
