"""Numbers from a derived Q, against formulas written down independently."""

import pickle
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb, ctx

from derive import DegenerateStart, InputError, NumericalError, Parameterization
from derive.model.condition import Condition, Sign
from numerics.evaluate import balls, blocks
from numerics.evaluate.blocks import evaluate_precisely
from numerics.evaluate.doubles.arithmetic import Double, Extended, Plain, largest_root, lower_root
from numerics.evaluate.lowering import lower
from numerics.evaluate.start import broken_signs, kept_signs
from tests.conditions import condition
from tests.published import derive_once


def potential(*outputs, **start):
    return derive_once(outputs, start=start).potential


TIED = {"p": "alpha", "m": "alpha"}


def test_product_of_three_follows_its_weights():
    q = lower(potential("a*b*c"), {"a_0": 1, "b_0": "1/2", "c_0": "3/4"})
    mu = 0.3
    beta = q.inverse_gradient(mu)
    step = 1e-4
    slope = (q.inverse_gradient(mu + step) - q.inverse_gradient(mu - step)) / (2 * step)
    roots = np.roots([1, -(0.75 + 7 / 16), 0.75 * 7 / 16, -(beta**2)])
    a2 = roots.real[np.abs(roots.imag) < 1e-9].max()
    b2, c2 = a2 - 0.75, a2 - 7 / 16
    assert np.isclose(slope, b2 * c2 + a2 * c2 + a2 * b2, rtol=1e-6)


def test_shapes():
    one, two = potential("w**2"), potential("a*u1", "a*u2")
    q = lower(one, {"w_0": 1})
    assert isinstance(q(2.0), float)
    assert isinstance(q.gradient(2.0), float)
    assert q([1.0, 2.0]).shape == q.gradient([1.0, 2.0]).shape == (2,)
    assert q([[1.0], [2.0]]).shape == (2,)
    assert q.gradient([[1.0], [2.0]]).shape == (2, 1)
    r = lower(two, {"a_0": 1, "u1_0": 0, "u2_0": 0})
    assert isinstance(r([1.0, 2.0]), float)
    assert r.gradient([1.0, 2.0]).shape == (2,)
    assert r(np.ones((4, 2))).shape == (4,)
    with pytest.raises(InputError, match="last axis must be 2"):
        r([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="real numbers"):
        q("x")


def test_outside_the_domain_is_nan():
    q = lower(potential("w**2"), {"w_0": 1})
    assert np.isnan([q(-1.0), q.gradient(-1.0), q(np.nan)]).all()
    lifted = lower(potential("a*b*c"), {"a_0": 1, "b_0": 2, "c_0": 3})
    assert np.isnan([lifted(np.inf), lifted.inverse_gradient(1e6)]).all()
    assert mpmath.isnan(q.precise_value([-1], 30))
    cubes = lower(potential("p**3-m**3", **TIED), {"alpha": "1/2"})
    assert np.isnan(cubes.inverse_gradient(1.0))  # beyond the pole


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("f", "start", "inside", "outside"),
    [
        ("exp(w)", 0, [1e-2, 0.5, 9], [-1e-9, -2, -1e300]),
        ("1/w", 2, [1e-2, 0.5, 9], [-1e-9, -2, -1e300]),
        ("1/w", -2, [-1e-2, -0.5, -9], [1e-9, 2, 1e300]),
        ("sqrt(w)", 1, [1e-2, 0.5, 9], [-1e-9, -2, -1e300]),
        ("tanh(w)", 1, [-0.999, 0, 0.999], [-1.001, 1.001, 1e300]),
        ("sin(w)", 1, [-0.999, 0, 0.999], [-1.001, 1.001, 1e300]),
    ],
)
def test_q_ends_where_the_kernel_does(f, start, inside, outside):
    """The formulas of Q'' = 1/K have values beyond zeros and poles of K, where no flow goes."""
    q = lower(potential(f), {"w_0": start})
    for form in (q, q.in_doubles):
        for at in (form, form.gradient, form.hessian, lambda b, q=form: q.bregman(b, q.beta0[0])):
            assert np.isfinite([at(b) for b in inside]).all()
            assert np.isnan([at(b) for b in outside]).all()
        assert form.inverse_gradient(q.gradient(inside)) == pytest.approx(inside, rel=1e-6)
    assert all(mpmath.isfinite(q.precise_gradient([b], 30)[0]) for b in inside)
    assert all(mpmath.isnan(q.precise_gradient([b], 30)[0]) for b in outside)


@pytest.mark.parametrize("start", [-2, 2])
def test_the_inverse_of_an_odd_power_has_its_sign(start):
    q = lower(potential("1/w"), {"w_0": start})
    points = np.array([0.1, 1, 3]) / start
    for form in (q, q.in_doubles):
        assert form.inverse_gradient(q.gradient(points)) == pytest.approx(points, rel=1e-12)
        assert np.isnan(form.inverse_gradient(start * 1e9))


@pytest.mark.parametrize("value", [2, "2", 2.0, Fraction(2), mpmath.mpf(2), np.float64(2)])
def test_start_values(value):
    assert lower(potential("w**2"), {"w_0": value}).start == (("w_0", Fraction(2)),)


def test_starts_refused():
    derived = potential("a*u1", "a*u2")
    with pytest.raises(InputError, match="no value for u1_0, u2_0"):
        lower(derived, {"a_0": 1})
    with pytest.raises(InputError, match="names b"):
        lower(derived, {"a_0": 1, "u1_0": 0, "u2_0": 0, "b": 1})
    with pytest.raises(InputError, match=r"a_0 > 0.*derive again with that start"):
        lower(derived, {"a_0": -1, "u1_0": 0, "u2_0": 0})
    with pytest.raises(InputError, match="k > 0"):
        lower(potential("u*v-x*y"), dict.fromkeys(("u_0", "v_0", "x_0", "y_0"), 0))
    with pytest.raises(DegenerateStart):
        lower(potential("1/w"), {"w_0": 0})


@pytest.mark.parametrize(
    ("assumption", "holds"),
    [
        ("x_0 > 0", True),
        ("-x_0 + y_0 > 0", True),
        ("x_0 - y_0 > 0", False),
        ("-x_0 + 1/7 > 0", False),
        ("x_0**2 - 3*x_0*y_0**2/4 > 0", False),
        ("(-x_0 + y_0)/(x_0**2 + 1) > 0", True),
        ("1/(x_0 - 1) > 0", False),
        ("sqrt(x_0 - y_0) > 0", False),
        ("k - y_0 > 0", True),
        ("x_0 - 1 != 0", False),
    ],
)
def test_assumptions_are_decided(assumption, holds):
    derived = potential("w", w="x_0*y_0")
    k, x0 = sympy.Symbol("k", positive=True), sympy.Symbol("x_0", real=True)
    piece = replace(
        derived.pieces[0], assumptions=(condition(assumption),), constants=((k, 3 * x0),)
    )
    changed = replace(derived, pieces=(piece,))
    start = {"x_0": 1, "y_0": 2}
    if holds:
        lower(changed, start)
    else:
        with pytest.raises(InputError, match="derive again with that start"):
            lower(changed, start)


def test_signs_that_broke():
    derived = potential("w")
    names = ("x_0", "y_0", "u", "v")
    x0, y0, u, v = map(sympy.Symbol, names)
    assumed = (Condition(y0 - x0, Sign.KEPT, (x0**2 - 1,)), Condition(u * v, Sign.KEPT))
    piece = replace(derived.pieces[0], assumptions=(*assumed, Condition(u, Sign.SIMPLE)))
    begin, kept, crossed = (
        {n: mpmath.mpf(x) for n, x in zip(names, values, strict=True)}
        for values in ((1, 2, 1, 1), (1, 3, -1, -1), (3, 2, 1, 1))
    )
    changed = replace(derived, pieces=(piece,))
    assert [*map(str, kept_signs(piece))] == ["-x_0 + y_0", "u*v"]
    assert broken_signs(changed.pieces, begin, kept) == ()
    assert broken_signs(changed.pieces, begin, crossed) == ("-x_0 + y_0",)


def test_a_weight_declared_positive():
    p = Parameterization.parse(["w**2"], start={"w": "s - t"}, positive=("w",))
    derived = derive_once(p).potential
    assert lower(derived, {"s": 2, "t": 1}).beta0 == (1,)
    with pytest.raises(InputError, match=r"derived for s - t > 0, which fails at s = 1, t = 2"):
        lower(derived, {"s": 1, "t": 2})


def test_no_potential():
    with pytest.raises(NumericalError, match="there is no Q to evaluate"):
        lower(potential("a*u1", "a*u2", "w**2"), {})
    derived = potential("a", "b*exp(a)")
    unlifted = replace(derived, pieces=(replace(derived.pieces[0], lift=None),))
    with pytest.raises(NumericalError, match="no numeric form of Q on beta1, beta2"):
        lower(unlifted, dict.fromkeys(("a_0", "b_0"), 1))


def test_a_wrong_branch_is_found_at_the_start():
    derived = potential("a*b*u1", "a*b*u2")
    (piece,) = derived.pieces
    wrong = replace(piece, roots=(replace(piece.roots[0], from_above=1),))
    start = {"a_0": 1, "b_0": "1/2", "u1_0": "1/4", "u2_0": "1/4"}
    with pytest.raises(NumericalError, match="at the start, where it must be 0"):
        lower(replace(derived, pieces=(wrong,)), start)


@pytest.mark.parametrize(
    ("text", "options", "start"),
    [
        ("w**2", {}, {"w_0": 1}),
        ("p**3-m**3", {"start": {"p": "s", "m": "s"}}, {"s": 1}),
        ("a*b*c", {}, {"a_0": 1, "b_0": 2, "c_0": 3}),
        ("a*u", {"vectors": ["u"]}, {"a_0": 1, "u_0": [3, 4]}),
    ],
)
def test_what_is_no_function_of_q_is_refused(text, options, start):
    q = derive_once(text, **options).potential.numeric(start)
    point = np.array([q.beta0], dtype=float).reshape(1, -1)
    assert np.isfinite(q.functions("gradient", point)).all()
    with pytest.raises(ValueError, match="Q has no 'slope'"):
        q.functions("slope", point)


def test_names_do_not_reach_the_compiler():
    q = lower(potential("exp_1*u1", "exp_1*u2", exp_1="sqrt_", u1="mpf", u2="numpy"), {
        "sqrt_": 2, "mpf": 1, "numpy": 1,
    })  # fmt: skip
    assert np.allclose(q.gradient([2.0, 2.0]), 0)
    for name in ("of", "origin", "x0", "k0", "v0", "c", "slope"):
        q = lower(potential("w**2", w=name), {name: 2})
        assert np.allclose(q.gradient([4.0, 8.0]), [0, np.log(2) / 4])


def test_numbers_of_which_nothing_is_known_are_none():
    for x, known in ((arb(1, 2), False), (arb(0, 1e-40), True), (arb(1e30, 1e10), True)):
        (number,) = evaluate_precisely(lambda x=x: [x], 1, 30)
        assert bool(mpmath.isfinite(number)) is known
    (number,) = evaluate_precisely(lambda: [arb(0, 1e-10)], 1, 30, least=1e-6)
    assert number == 0


# (T - 1)(T - 2)(T^2 + 1), and (T - 2)((T - 3)^2 + 1/100): complex roots lie above the real one
QUARTIC, CUBIC = (2, -3, 3, -3, 1), (-18.02, 21.01, -8, 1)


@pytest.mark.parametrize("kind", [Double, Plain])
def test_real_roots_in_order(kind):
    def numbers(*coefficients):
        return [kind.of(np.array([c], dtype=float)) for c in coefficients]

    with np.errstate(all="ignore"):
        found = [float(lower_root(k, *numbers(*QUARTIC)).v[0]) for k in range(3)]
        assert np.allclose(found, [2, 1, np.nan], equal_nan=True)
        assert np.isclose(float(largest_root(*numbers(*QUARTIC)).v[0]), 2)
        for root in (largest_root(*numbers(*CUBIC)), lower_root(0, *numbers(*CUBIC))):
            assert np.isclose(float(root.v[0]), 2)
            assert kind is Plain or 0 < float(root.d[0]) < 1e-11


@pytest.mark.parametrize("bits", [64, 500])
def test_real_roots_in_order_on_balls(bits):
    with ctx.workprec(bits):
        for root, wanted in zip((0, 1), (2, 1), strict=True):
            found = balls.lower_root(root, *QUARTIC)
            assert found.contains(wanted)
            assert found.rel_accuracy_bits() > bits - 10
        with pytest.raises(balls.Undefined):
            balls.lower_root(2, *QUARTIC)
        # A double root is not told from two, but one above it is found.
        assert balls.largest_root(-4, 8, -5, 1).is_nan()
        for coefficients in (QUARTIC, [Fraction(str(c)) for c in CUBIC], (0, 0, -2, 1)):
            assert balls.largest_root(*coefficients).contains(2)
        # A real root below complex ones, of coefficients that are no doubles.
        third = balls.largest_root(Fraction(10, 27), 1, 0, 1)
        assert (3 * third + 1).contains(0)
        assert third.rel_accuracy_bits() > bits - 10
        assert balls.largest_root(-1, 10**30, 1).rel_accuracy_bits() > bits - 10
        # Newton's steps go past it.
        for level in range(-40, 40, 7):
            root = balls.largest_root(Fraction(level, 16), 1, 0, 1)
            assert root.rel_accuracy_bits() > bits - 10


@pytest.mark.parametrize("bits", [128, 256, 512, 2048])
def test_the_largest_of_two_close_roots_on_balls(bits):
    """t (t - p) (t - q) = 1e-570: at 256 bits and more there was no root."""
    p, q = (Fraction(0.9876338463534734) ** 2 - Fraction(x) ** 2 for x in (1.5230428e-4, 3.6e-7))
    with ctx.workprec(bits):
        x, y = map(balls.ball, (p, q))
        level = balls.ball(Fraction(1, 10**570))
        root = balls.largest_root(-level, x * y, -x - y, 1)
        assert (root * (root - x) * (root - y) - level).contains(0)
        assert root > (x + y) / 2
        assert root.rel_accuracy_bits() > bits - 60


def test_roots_of_a_leading_coefficient_with_sign():
    coefficients = [Double.of(np.array([x, -x])) for x in (-6.0, 11.0, -6.0, 1.0)]
    assert np.allclose(largest_root(*coefficients).v, [3, 3])
    assert np.allclose(lower_root(1, *coefficients).v, [2, 2])


def test_programs_are_made_once_and_stay_out_of_copies():
    derived = potential("p**2-m**2", **TIED)
    first, second = (lower(derived, {"alpha": a}) for a in (1, 2))
    programs = [q.functions.blocks[0][1].program for q in (first, second)]
    assert programs[0] is programs[1]
    assert first(1.0) != second(1.0)
    other = pickle.loads(pickle.dumps(derived))
    assert other == derived
    assert not other.workspace
    assert lower(other, {"alpha": 1})(1.0) == first(1.0)


def test_numbers_for_parameters_are_kept_apart():
    derived = potential("p**D-m**D", p="b", m="b")
    found = [lower(derived, {"D": D, "b": 1}).gradient(0.5) for D in (3, 4, 3)]
    assert found[0] == found[2] != found[1]


@pytest.mark.skipif(Extended.unit == Double.unit, reason="long doubles are doubles here")
def test_long_doubles_spare_balls(monkeypatch):
    """Q(b) - Q(b0) - Q'(b0)(b - b0) loses two digits here; the bounds see it."""
    q = lower(potential("p**2-m**2", **TIED), {"alpha": "1/8"})
    kinds = []
    at = blocks.Start.at

    def seen(start, kind):
        kinds.append(kind)
        return at(start, kind)

    monkeypatch.setattr(blocks.Start, "at", seen)
    b, b0 = 1.0, 0.75
    found = q.bregman(b, b0)
    assert kinds == [Double, Extended]
    with mpmath.workdps(40):
        Q, y = (lambda x, f=f: f(mpmath.mpf(x) * 32) for f in (_entropy, mpmath.asinh))
        exact = (Q(b) - Q(b0)) / 128 - y(b0) / 4 * (mpmath.mpf(b) - mpmath.mpf(b0))
        assert abs(found / exact - 1) < 1e-15


def _entropy(z):
    return z * mpmath.asinh(z) - mpmath.sqrt(1 + z * z)


def test_the_start_of_a_curve_is_no_double():
    derived = potential("p**3-m**3", p="s", m="t")
    q, beta0 = lower(derived, {"s": "1/3", "t": "1/7"}), [Fraction(1, 27) - Fraction(1, 343)]
    assert abs(q.precise_gradient(beta0, 30)[0]) < 1e-30
    assert q.precise_value(beta0, 30) == pytest.approx(0, abs=1e-30)


@pytest.mark.every(2)
@pytest.mark.parametrize(("p0", "q0", "largest"), [(1, 2, 250), (2, 2, 60), (3, 1, 250)])
def test_sum_of_cubes_from_any_start(p0, q0, largest):
    """beta = p^3/(1 - z)^3 + q^3/(1 - q z/p)^3 and Q' = z/(3 p), for z below the nearer pole."""
    d = derive_once("p**3 + q**3")
    q = d.potential.numeric({"p_0": p0, "q_0": q0})
    beta = 10.0 ** np.array([-250, -20, -1, 0, 2, 20, largest])
    found = q.gradient(beta)
    with mpmath.workdps(400):
        end = min(mpmath.mpf(1), mpmath.mpf(p0) / q0)
        for b, y in zip(beta, found, strict=True):
            small, large = mpmath.mpf(10) ** -100, mpmath.mpf(10) ** 100  # end - z
            for _ in range(1400):
                u = mpmath.sqrt(small * large)
                rest = 1 - mpmath.mpf(q0) * (end - u) / p0
                image = p0**3 / (1 - end + u) ** 3 + q0**3 / rest**3
                small, large = (u, large) if image > b else (small, u)
            exact = (end - u) / (3 * p0)
            assert abs(y - exact) < mpmath.mpf("1e-15") * abs(exact)
    assert q.inverse_gradient(found)[1:5] == pytest.approx(beta[1:5], rel=1e-12)
