"""Random starts of beta = <u, v>, u and v in R^k, for every width k at once.

K and the conserved quantity of the leaf are polynomials in <u, u>, <u, v> and <v, v>, whose
gradients have inner products in these again: identities between them hold for every k.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol

from derive.errors import ConsistencyError
from derive.exact.field import FunctionField, RationalFunction
from derive.verdict import Finding, Identity, Verdict

WIDTH, DEVIATION = Symbol("k", positive=True), Symbol("sigma", positive=True)


@dataclass(frozen=True)
class RandomWidth:
    """What decides the regime of beta = <u, v> from u_j, v_j ~ N(0, sigma^2), independent.

    On the leaf K^2 = 4 beta^2 + kappa, so Q'' = 1/sqrt(4 beta^2 + kappa); kappa is a random number.

    Attributes:
        finding: the identities, for every width.
        kappa_mean: E kappa.
        kappa_variance: Var kappa/(E kappa)^2, which tends to 0 as k -> infinity: by Chebyshev's
            inequality kappa/E kappa -> 1 in probability.
        start_variance: E beta_0^2.
        bias: E beta_0^2/E kappa, which tends to 0 too: the start counts as unbiased.
        mu: E kappa = 4 mu^4. Q tends in probability to that of kappa = 4 mu^4: rich as mu -> 0,
            kernel as mu -> infinity.
    """

    finding: Finding
    kappa_mean: Expr
    kappa_variance: Expr
    start_variance: Expr
    bias: Expr
    mu: Expr


def random_width() -> RandomWidth:
    """Return the exact moments that decide the regime of wide random starts.

    With sigma^2 = alpha^2/sqrt(k), mu = sigma sqrt(k) = alpha k^(1/4).

    >>> random_width().mu
    sqrt(k)*sigma

    Source: Woodworth et al. 2020, section 5, for the statement; the moments are derived here.
    """
    field = FunctionField(("uu", "uv", "vv"))
    uu, uv, vv = field.gens
    plus, minus, K = uu + 2 * uv + vv, uu - 2 * uv + vv, uu + vv
    kappa = plus * minus
    kernel, four = _inner(uv, uv), 4 * uv * uv + kappa
    drift = _inner(kappa, uv)
    evidence = (
        Identity("|grad beta|^2 = <u, u> + <v, v>", repr(kernel), repr(K)),
        Identity("K^2 = 4 beta^2 + |u + v|^2 |u - v|^2", repr(K * K), repr(four)),
        Identity("<grad kappa, grad beta> = 0", repr(drift), "0"),
    )
    if not (kernel == K and four == K * K and drift.is_zero()):
        raise ConsistencyError("the identities of random width fail; a fault of this program")
    reason = "identities in inner products, whatever the width"
    k, variance = WIDTH, 2 * DEVIATION**2
    # u + v and u - v are independent, their 2k entries normal of variance 2 sigma^2.
    mean = (variance * _chi_square(k, 1)) ** 2
    second = (variance**2 * _chi_square(k, 2)) ** 2
    spread = sympy.expand(second / mean**2 - 1)
    start = k * DEVIATION**4
    return RandomWidth(
        Finding(Verdict.PROVED, reason, evidence),
        mean,
        spread,
        start,
        start / mean,
        sympy.root(mean / 4, 4),
    )


def _inner(f: RationalFunction, g: RationalFunction) -> RationalFunction:
    """Return <grad f, grad g> of functions of <u, u>, <u, v>, <v, v>, by the chain rule."""
    uu, uv, vv = f.field.gens
    zero = f.field.zero
    gram = (
        (4 * uu, 2 * uv, zero),
        (2 * uv, uu + vv, 2 * uv),
        (zero, 2 * uv, 4 * vv),
    )
    total = zero
    for i in range(3):
        for j in range(3):
            total += gram[i][j] * f.partial(i) * g.partial(j)
    return total


def _chi_square(k: Expr, power: int) -> Expr:
    """Return E (z_1^2 + ... + z_k^2)^power = k (k + 2) ... of standard normal z_j."""
    return sympy.Mul(*(k + 2 * j for j in range(power)))
