"""Random starts of a sum of k copies of one output, for every width k at once.

Let beta = f(w_1) + ... + f(w_k), and k(w) = |grad f|^2, so that K = k(w_1) + ... + k(w_k). If
<grad k, grad f> = c f, then <grad K, grad beta> = c beta for every k, and along the flow

    d(K^2 - c beta^2) = (2 K c beta - 2 c beta K) lambda dt = 0:    K^2 = c beta^2 + kappa.

Moments of sums of independent copies are polynomials in k, by those of a single one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError
from derive.exact.asymptotics import CONSTANT
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.linear.matrix import dot
from derive.language import parse_name
from derive.limits.fixed_beta import ClosedGradient, closed_form_limit
from derive.limits.limit import Limit, read_point
from derive.limits.statements import limit_statements
from derive.model.notation import rational
from derive.model.parameterization import Parameterization
from derive.printable import Printable
from derive.statement import Claims, Equations, Open, Statement, note
from derive.verdict import Finding, Identity, Verdict, conclude

DEVIATION, MU = Symbol("sigma", positive=True), Symbol("mu", positive=True)
_ORDER = 4


@dataclass(frozen=True, repr=False)
class RandomWidth(Claims, Printable):
    """What decides the regime of k copies of an output, their weights ~ N(0, sigma^2).

    Attributes:
        unit: the output of which there are k copies.
        width: the symbol k.
        finding: the identities, for every width.
        curvature: c.
        kappa_mean: E kappa.
        kappa_variance: Var kappa/(E kappa)^2, which tends to 0 as k -> infinity: by Chebyshev's
            inequality kappa/E kappa -> 1 in probability.
        start_variance: E beta_0^2.
        bias: E beta_0^2/E kappa, which tends to 0 too: the start counts as unbiased.
        mu: E kappa = c mu^4.
        gradient: dQ/dbeta for kappa = c mu^4, beta_0 = 0, to which that of a random start tends in
            probability where mu is kept.
        limits: of that Q as mu -> 0 and as mu -> infinity.
    """

    unit: Parameterization
    width: Symbol
    finding: Finding
    curvature: Expr
    kappa_mean: Expr
    kappa_variance: Expr
    start_variance: Expr
    bias: Expr
    mu: Expr
    gradient: Expr
    limits: tuple[Limit, ...]

    @property
    def deviation(self) -> Symbol:
        """The standard deviation of the weights at the start."""
        return DEVIATION

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed of every width, and of infinite ones."""
        limits = (s for x in self.limits for s in limit_statements(x, x.coordinates))
        return (*_every_width(self), _wide_starts(self), *limits)

    @property
    def verdict(self) -> Verdict:
        """PROVED where both limits are."""
        return conclude((self.finding, *(limit.finding for limit in self.limits)))


def random_width(unit: Parameterization | None = None, width: str = "k") -> RandomWidth:
    """Return the exact moments that decide the regime of wide random starts.

    beta = f(w_1) + ... + f(w_k) has K^2 = c beta^2 + kappa on the leaf, so that
    Q'' = (c beta^2 + kappa)^(-1/2), and kappa/E kappa -> 1 in probability as k -> infinity. With
    sigma^2 = alpha^2/sqrt(k), mu = sigma sqrt(k) = alpha k^(1/4) for copies of u*v.

    >>> random_width().mu
    sqrt(k)*sigma
    >>> random_width(Parameterization.parse(["p**2 - m**2"])).kappa_mean
    64*k**2*sigma**4

    Args:
        unit: one output, a polynomial; u*v by default. Its start is not used.
        width: the name of k.

    Raises:
        InputError: K of the sum is not a function of beta and a constant by the identity above, or
            the start does not count as unbiased.

    Source: Woodworth et al. 2020, section 5, for the statement; the moments are derived here.
    """
    unit = Parameterization.parse(["u*v"]) if unit is None else unit
    if not unit.geometry.steering.is_gradient:
        raise InputError("--width is for gradient flow: leave out --steepest")
    if unit.d != 1:
        raise InputError("--width goes with one output: outputs without common weights are alike")
    (f,) = unit.F
    if not f.is_polynomial() or unit.field.generators:
        raise InputError("--width needs a polynomial F: moments of others are not derived")
    kernel = unit.geometry.inner(unit.covectors[0], unit.covectors[0])
    k = Symbol(parse_name(width, "width"), positive=True)
    c, evidence = _curvature(unit, f, kernel)
    moment = _sums(f, kernel, k)
    mean = sympy.factor(moment[2, 0] - c * moment[0, 2])
    if mean == 0 or moment[0, 1] != 0:
        raise InputError(
            "--width needs an F that is 0 on average over random starts, and not always rich"
        )
    second = moment[4, 0] - 2 * c * moment[2, 2] + c**2 * moment[0, 4]
    spread, bias = sympy.cancel(second / mean**2 - 1), sympy.cancel(moment[0, 2] / mean)
    far = read_point(k.name, "oo")
    if any(x != 0 and far.expand(x).leading <= CONSTANT for x in (spread, bias)):
        raise InputError("--width: the conserved quantity of a wide start does not concentrate")
    reason, mu = "K^2 - c beta^2 is conserved, whatever the width", sympy.root(mean / c, 4)
    finding = Finding(Verdict.PROVED, reason, evidence)
    beta = Symbol("beta", real=True)
    gradient = sympy.asinh(beta / MU**2) / sympy.sqrt(c)
    at_start = sympy.ImmutableMatrix([[sympy.sqrt(c) * MU**2]])
    closed = ClosedGradient((gradient,), (beta,), (True,), frozenset((MU.name,)))
    points = (read_point(MU.name, to) for to in ("0", "oo"))
    limits = tuple(closed_form_limit(closed, point, at_start) for point in points)
    start = moment[0, 2]
    return RandomWidth(unit, k, finding, c, mean, spread, start, bias, mu, gradient, limits)


def _curvature(
    unit: Parameterization, f: RationalFunction, kernel: RationalFunction
) -> tuple[Expr, tuple[Identity, ...]]:
    """Return c with <grad k, grad f> = c f, and the identity."""
    slope = dot(unit.field.gradient(kernel), unit.fields[0])
    c = slope / f
    if not c.is_constant() or c.is_zero():
        raise InputError(
            "--width: <grad |grad F|^2, grad F> is no multiple of F, so K is not derived for all k"
        )
    number = rational(c.value())
    statement = f"<grad |grad F|^2, grad F> = {number} F"
    return number, (Identity(statement, repr(slope), f"({number})*({f!r})"),)


def _mean(f: RationalFunction) -> Expr:
    """Return E f of independent N(0, sigma^2) variables: E w^(2n) = (2n - 1)!! sigma^(2n)."""
    total = sympy.S.Zero
    for exponents, coefficient in terms(f.numerator):
        if all(e % 2 == 0 for e in exponents):
            product = sympy.Mul(*(sympy.factorial2(e - 1) * DEVIATION**e for e in exponents))
            total += int(coefficient) * product
    return total / rational(f.field.polynomial(f.denominator).value())


def _sums(
    f: RationalFunction, kernel: RationalFunction, k: Symbol
) -> Mapping[tuple[int, int], Expr]:
    """Return E K^a beta^b, a + b <= 4, by the k-th power of the generating function."""
    s, t = sympy.symbols("s_ t_")
    pairs = [(a, n - a) for n in range(1, _ORDER + 1) for a in range(n + 1)]
    bases = {(a, b): s**a * t**b / (sympy.factorial(a) * sympy.factorial(b)) for a, b in pairs}
    single = sympy.Add(*(_mean(kernel**a * f**b) * bases[a, b] for a, b in pairs))
    powers = (sympy.ff(k, n) / sympy.factorial(n) * single**n for n in range(1, _ORDER + 1))
    expanded = sympy.Poly(sympy.expand(sympy.Add(*powers)), s, t)
    return {
        (a, b): sympy.factor(expanded.coeff_monomial(s**a * t**b) * s**a * t**b / bases[a, b])
        for a, b in pairs
    }


def _every_width(r: RandomWidth) -> Iterator[Statement]:
    """Yield the law of wide starts, and its moments."""
    (identity,) = r.finding.evidence
    law = f"`K^2 = {r.curvature} beta^2 + kappa` with `kappa` conserved"
    words = f"`{identity.statement}`, so that on the leaf {law}"
    yield Statement(words, {"c": r.curvature}, kind="width law", by=r.finding)
    moments = (
        ("E kappa", r.kappa_mean),
        ("Var kappa/(E kappa)^2", r.kappa_variance),
        ("E beta_0^2", r.start_variance),
        ("E beta_0^2/E kappa", r.bias),
    )
    words = "over random starts"
    yield Statement(words, dict(moments), kind="width moments", below=(Equations(moments),))


def _wide_starts(r: RandomWidth) -> Statement:
    """Return what decides the regime of infinitely many copies."""
    alpha = Symbol("alpha", positive=True)
    scaled = sympy.powsimp(r.mu.subs(DEVIATION, alpha / sympy.root(r.width, 4)))
    tends = "`kappa/E kappa -> 1` and `beta_0/mu^2 -> 0` in probability, by Chebyshev's inequality"
    words = f"{tends}; so, where `mu` is kept, `dQ/dbeta -> {{g}}` in probability"
    below = (
        Equations((("mu", r.mu), ("E kappa", f"{r.curvature} mu^4"))),
        note("with `sigma^2 = alpha^2/sqrt({k})`", k=r.width),
        Equations((("mu", scaled),)),
    )
    return Statement(words, {"g": r.gradient, "mu": r.mu}, kind="wide starts", below=below)
