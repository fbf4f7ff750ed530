"""Exact expansions in a small parameter, against numbers at 60 digits."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from sympy import Abs, Rational, asinh, exp, log, sqrt

from derive import Parameterization, regimes
from derive.exact.asymptotics import SMALL, Expander, NotReal, Unexpanded
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.limits.find import warped_time
from derive.limits.implicit import expand_largest_root
from derive.limits.warped_time import find_warped_time
from derive.verdict import Verdict
from numerics.confirm.paths import mirror_path
from tests.published import derive_once
from tests.witnesses.flows import Flows
from tests.witnesses.regimes import mu_at

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


NEURON = ["a*u1", "a*u2"]
DEEP = ["a*b*u1", "a*b*u2"]


def found(outputs, start=None, positive=()):
    warped = warped_time(derive_once(outputs, start, positive))
    assert warped is not None
    return warped


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("outputs", "start", "square"),
    [
        (NEURON, {"a": 1, "u1": "1/2", "u2": "-1/3"}, "23/36"),
        (NEURON, {"a": "2*alpha", "u1": "alpha", "u2": "alpha/2"}, "11*alpha**2/4"),
        (DEEP, {"a": 2, "b": "3/2", "u1": "1/2", "u2": "1/3"}, "2227/324"),
        # |x|^2 + |y|^2 >= ||x|^2 - |y|^2|.
        (["x*z - y*w", "x*w + y*z"], {"x": 1, "y": 0, "z": "1/2", "w": 0}, "9/16"),
        (["3*a*u1 + a*u2", "a*u2 - a*u1"], {"a": 1, "u1": "1/2", "u2": "1/3"}, "23/36"),
    ],
)
def test_conserved_quantities_bound_the_pace(outputs, start, square):
    warped = found(outputs, start, ("alpha",) if "alpha" in square else ())
    assert warped.floor == sympy.sympify(square, {"alpha": sympy.Symbol("alpha", positive=True)})
    assert [f.verdict for f in warped.findings] == [Verdict.PROVED] * 3
    assert all(e.left != e.right for e in warped.positive.evidence)
    for e in warped.positive.evidence:
        assert sympy.expand(sympy.sympify(f"{e.left} - ({e.right})")) == 0


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (NEURON, None),
        (NEURON, {"a": "1/2", "u1": 1, "u2": 0}),  # delta < 0: beta = 0 has a = 0
        (NEURON, {"a": 1, "u1": 1, "u2": 0}),  # delta = 0
        (["c*v1/sqrt(v1**2 + v2**2)", "c*v2/sqrt(v1**2 + v2**2)"], None),
    ],
)
def test_what_is_not_proved_is_an_assumption(outputs, start):
    warped = found(outputs, start)
    assert warped.floor is None
    assert warped.positive.verdict is warped.onto.verdict is Verdict.UNDECIDED
    assert "assumed" in warped.positive.reason
    assert "assumed" in warped.onto.reason


def test_a_factor_that_no_law_bounds_is_not_called_positive():
    (block,) = derive_once(NEURON, {"a": 2, "u1": 1, "u2": 1}).blocks
    dual = block.potential.dual
    assert dual is not None
    a, u1, _ = block.metric.parameterization.w
    for g in (u1, a + u1, a - u1 * u1):
        wrong = find_warped_time(replace(dual, g=g), block.notation)
        assert wrong.floor is None
        assert wrong.positive.verdict is Verdict.UNDECIDED
    right = find_warped_time(replace(dual, g=3 * a * a), block.notation)
    assert right.floor == 9 * 2**2


def test_without_a_warp_there_is_nothing_to_say():
    assert warped_time(derive_once("p**2 - m**2")) is None
    assert warped_time(derive_once(["p**2 - m**2", "w"])) is None


def test_numbers_decide_what_symbols_leave_open():
    d = derive_once(NEURON)
    data = {"X": [[1, 2]], "y": [3], "digits": 15}
    warp = mirror_path(d, **data, start={"a_0": 1, "u1_0": "1/2", "u2_0": "-1/3"})
    assert [c.verdict for c in warp.claims] == [Verdict.PROVED] * 3
    assert warp.floor is not None
    assert abs(warp.floor**2 - Fraction(23, 36)) < 1e-15
    assert warp.floor <= min(warp.warp)
    assert "tau(t) >= m t" in warp.report()
    other = mirror_path(d, **data, start={"a_0": "1/2", "u1_0": 1, "u2_0": "2/3"})
    assert other.floor is None
    assert "assumed: g stays positive" in other.report()
    same = mirror_path(derive_once("w"), [[1]], [2], {"w_0": 1}, 15)
    assert same.claims == ()


def test_the_regimes_say_what_is_proved_of_the_warped_time():
    p = Parameterization.parse(NEURON, {"a": "2*alpha", "u1": "alpha", "u2": 0}, ("alpha",))
    text = regimes(derive_once(p), "alpha").to_text()
    assert "g >= m > 0 along the flow, m^2 = 3*alpha**2" in text
    assert '"warped_time": {' in regimes(derive_once(p), "alpha").to_json()


AT = "alpha"


def time_to(p, scale, end):
    """Return when beta is *end* on the flow w' = grad F from alpha."""
    return mu_at(Flows.of(p, {AT: scale}), 0, end, 1e-18)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("output", "start", "regime", "times"),
    [
        # c = alpha tan(alpha z); w = alpha tan(2 alpha z + pi/4)
        ("a*b*c", {"a": AT, "b": AT, "c": "0"}, "rich", (np.pi / 2, -np.pi / 2)),
        ("u**2*w", {"u": "2*alpha", "w": AT}, "intermediate", (np.pi / 8, -3 * np.pi / 8)),
    ],
)
def test_from_a_small_start_a_cubic_is_infinite_after_a_finite_time(output, start, regime, times):
    p = Parameterization.parse([output], start, [AT])
    (limit,) = regimes(derive_once(p), AT, (0,)).limits
    assert limit.regime == regime
    assert limit.error == sympy.Symbol(AT, positive=True)
    (x,), form = limit.coordinates, limit.potential
    for end, time, slope in zip((0.8, -0.8), times, (*form.gradient, *limit.below), strict=True):
        assert form.Q.subs(x, end) == end * slope
        gaps = [abs(time) - abs(e * time_to(p, e, end)) for e in (1e-2, 1e-3)]
        assert 0 < gaps[1] < 0.15 * gaps[0] < 0.01


@pytest.mark.parametrize("side", [1, -1])
def test_a_cubic_that_keeps_its_sign_has_a_rich_limit(side):
    """u^2 = 2 w^2 - alpha^2 is 0 at beta = 0, an end of what the flow reaches."""
    p = Parameterization.parse(["u**2*w"], {"u": AT, "w": f"{side}*alpha"}, [AT])
    (limit,) = regimes(derive_once(p), AT, (0,)).limits
    assert (limit.regime, limit.below) == ("rich", (None,))
    (x,) = limit.coordinates
    assert abs(x) == limit.potential.Q
    basis = sympy.eye(1) if limit.basis is None else limit.basis
    assert basis[0, 0] == side
    (wall,) = derive_once(p).potential.pieces[0].domain.walls
    assert wall.form == side * derive_once(p).beta[0]
    time = np.log(1 + np.sqrt(2)) / np.sqrt(2)
    gaps = [abs(time - abs(e * time_to(p, e, 0.8 * side))) for e in (1e-2, 1e-3)]
    assert 0 < gaps[1] < 0.15 * gaps[0] < 0.01


def test_a_cubic_whose_square_stays_positive_takes_both_signs():
    """u^2 = 2 w^2 + 2 alpha^2 is 0 nowhere, and so is K = u^4 + 4 u^2 w^2."""
    p = Parameterization.parse(["u**2*w"], {"u": "2*alpha", "w": AT}, [AT])
    assert not derive_once(p).potential.pieces[0].domain.walls
