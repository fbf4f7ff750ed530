"""Exact expansions in a small parameter, against numbers at 60 digits."""

from fractions import Fraction

import mpmath
import pytest
import sympy
from sympy import Abs, Rational, asinh, exp, log, sqrt

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.limits.asymptotics import SMALL, Expander, NotReal, Unexpanded
from derive.limits.implicit import expand_largest_root

e, (b, c) = SMALL, sympy.symbols("b c", positive=True)
x = sympy.Symbol("x", real=True)
SPAN = Fraction(4)

EXPANDABLE = [
    asinh(b / (2 * e**2)) / 4,
    asinh(-b / (2 * e**2)) / 4,
    asinh(b * e**2 / 2),
    asinh(b + e),
    asinh(e - b),
    sqrt(b**2 + e) - b,
    sqrt(1 / e + b) - sqrt(1 / e - b),
    b / sqrt(e / 2 + sqrt(e**2 + 4 * b**2) / 2),
    sqrt(sqrt(4 * b**2 + e**-2) / 2 - 1 / (2 * e)),
    log(1 + e) - log(e * b + 2),
    log(e**2 + c * e),
    exp(log(e) / 2 + e * b),
    (1 - b / (1 + b)) ** (-1 / (1 - 2 * e)),
    Abs(e - b) * Abs(e**2 - e),
    e ** Rational(-3, 2) * (1 + e) ** 5,
    log(e) * sqrt(e + b),
]


@pytest.mark.every(8)
@pytest.mark.parametrize("f", EXPANDABLE, ids=str)
def test_what_is_left_out_is_as_small_as_is_said(f):
    found = Expander(e, ElementarySigns(("b", "c")), SPAN).expand(f)
    values = {b: Rational(3, 7), c: Rational(5, 3)}
    with mpmath.workdps(60):
        errors = []
        for k in (4, 6):
            small = Rational(1, 10**k)
            L = sympy.log(small)
            total = sympy.Add(
                *(
                    a * small ** Rational(r.numerator, r.denominator) * L ** (-j)
                    for (r, j), a in found.terms.items()
                )
            )
            gap = sympy.N((f - total).subs({**values, e: small}), 60)
            errors.append(abs(mpmath.mpf(str(gap))))
    if found.order is None:
        assert max(errors) < mpmath.mpf(10) ** -50
        return
    # From e = 10^-4 to 10^-6 what is left falls by 10^(2 order), up to logarithms.
    order = float(found.order)
    assert errors[0] < mpmath.mpf(10) ** (-4 * order + 3)
    assert errors[1] < mpmath.mpf(10) ** (-6 * order + 3)
    # Nothing that is known was left out: each term is no zero.
    assert all(sympy.N(a.subs(values)) != 0 for a in found.terms.values())


def test_a_cancellation_is_found_and_not_divided_by():
    # sqrt(1 + 2 e + e^2) - (1 + e) is 0: no leading term is claimed.
    found = Expander(e, ElementarySigns(), SPAN).expand(sqrt(1 + 2 * e + e**2) - 1 - e)
    assert not found.terms
    with pytest.raises(Unexpanded, match="cancels"):
        _ = found.leading
    # One that is hidden in coefficients: (b + c)^2 - b^2 - 2 b c - c^2.
    hidden = ((b + c) ** 2 - b**2 - 2 * b * c - c**2) / e + b
    assert Expander(e, ElementarySigns(("b", "c")), SPAN).expand(hidden).leading == (Fraction(0), 0)


def test_a_sign_that_is_not_known_is_not_guessed():
    expander = Expander(e, ElementarySigns(("b",)), SPAN)
    with pytest.raises(Undecided):
        expander.expand(asinh(x / e))
    with pytest.raises(Undecided):
        expander.expand(sqrt(x + e))
    with pytest.raises(NotReal):
        expander.expand(log(-b / e))
    with pytest.raises(Unexpanded):
        expander.expand(exp(1 / e))
    with pytest.raises(Unexpanded):
        expander.expand(log(log(e) + b))


A = sympy.Symbol("A", real=True)


def test_what_is_flat_is_below_every_power():
    expander = Expander(e, ElementarySigns(("b",)), SPAN)
    flat = expander.expand(exp(-b / e**2 + 3 / e) / e**7)
    assert flat.terms == {}
    assert flat.order > 1000
    assert expander.expand(e**2 + exp(-b / e)).terms == {(Fraction(2), 0): 1}
    for growing in (exp(b / e**2 - 3 / e), exp(-x / e), exp(-log(e) / e), exp(log(e) / e)):
        with pytest.raises(Undecided):
            expander.expand(growing)


@pytest.mark.parametrize(
    "polynomial", ["A**3 - A + e", "A**2 + b", "A**2 + e", "(1 + e)*A**2 - b", "A**2 - A/e - b"]
)
def test_roots_that_meet_or_have_no_limit_are_refused(polynomial):
    A = sympy.Symbol("A", real=True)
    P = sympy.sympify(polynomial, {"A": A, "e": e, "b": b})
    with pytest.raises(Undecided):
        expand_largest_root(P, A, ElementarySigns(("b",)), SPAN)
