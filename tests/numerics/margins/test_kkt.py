"""KKT points in the weights: against margins in beta, and what is none; margins of matrices."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from derive import InputError, NumericalError, Parameterization
from numerics import NotSeparable, interpolate, loss_flow, margin_path, max_margin
from numerics.margins.interval import Bounded, dft, interval, nuclear
from numerics.margins.kkt import kkt_point
from tests.cli.commands import run
from tests.published import derive_once

ROWS = [[2, 3], [-2, 5]]


def numbers(balls):
    assert all(float(x.rad()) < 1e-12 for x in balls)
    return np.array([float(x.mid()) for x in balls])


@pytest.mark.parametrize(("depth", "rotations"), [(2, 0), (3, 0), (4, 0)])
def test_diagonal_networks_end_on_one_feature(depth, rotations):
    """The l1 solution is stationary for every |beta|_(2/D); |w|^2 = |beta|^(2/D)."""
    point = kkt_point(f"p**{depth} - m**{depth}", ROWS)
    w = numbers(point.weights.values())
    assert numbers(point.beta) == pytest.approx([0, 1 / 3], abs=1e-15)
    assert w @ w == pytest.approx(3 ** (-2 / depth))
    assert (point.support, point.rotations) == ((0,), rotations)
    # Euler: <w, w> = D sum lambda.
    assert depth * sum(numbers(point.multiplier)) == pytest.approx(w @ w)


def test_a_neuron_has_the_l2_margin_and_width_two_the_l1():
    point = kkt_point(["a*u1", "a*u2"], ROWS)
    size = max_margin(ROWS)
    assert float(point.cost) == pytest.approx(2 / float(size.margin))
    assert numbers(point.beta) == pytest.approx([float(x) for x in size.value])
    wide = kkt_point("u1*v1 + u2*v2", ROWS)
    assert float(wide.cost) == pytest.approx(2 / float(max_margin(ROWS, norm="l1").margin))
    assert wide.rotations == 1


def test_a_symmetric_product():
    W = Parameterization.parse(["W*T(W)"], arrays={"W": (2, 2)})
    X = [[1, 1, 2], [0, -3, 4]]
    point = kkt_point(W, X, rng=np.random.default_rng(3))
    w = numbers(point.weights.values()).reshape(2, 2)
    lam = numbers(point.multiplier)
    pull = lam @ np.array(X, float)  # of W W^T = [[b1, b2], [b2, b3]]
    assert w == pytest.approx(np.array([[2 * pull[0], pull[1]], [pull[1], 2 * pull[2]]]) @ w)


def test_a_stationary_point_that_is_no_minimum_and_one_that_is_none():
    """The smallest example of two problems with unlike first-order points."""
    point = kkt_point("p**2 - m**2", [[2, 1]], [0, 0, 1, 0])
    least = kkt_point("p**2 - m**2", [[2, 1]])
    assert (float(point.cost), float(least.cost)) == (1.0, pytest.approx(0.5))
    with pytest.raises(NumericalError):
        kkt_point("p**2 - m**2", [[2, -1]], [0, 0, 1, 0])
    with pytest.raises(NumericalError):
        kkt_point("p**2 - m**2", [[1, 1]], [0.7, 0, 0.7, 0])  # one of a segment of them


@pytest.mark.parametrize(
    ("outputs", "X", "multiplier", "margins"),
    [
        ("p**2 - m**2", [[2, 1], ["3", "1"], [2, 1]], [1 / 4, 0, 0], [1, 1.5, 1]),
        ("p**2 - m**2", [[2, 3], [1, 3]], [1 / 6, 0], [1, 1]),  # of beta = (0, 1/3)
        (["a*u1", "a*u2"], [[1, 1], [1, -1], [1, 0]], [0.5, 0.5, 0], [1, 1, 1]),
    ],
)
def test_of_dependent_rows_some_have_a_multiplier(outputs, X, multiplier, margins):
    point = kkt_point(outputs, X)
    assert numbers(point.multiplier) == pytest.approx(multiplier)
    assert numbers(point.margins) == pytest.approx(margins)


def test_a_margin_of_1_without_a_reason_is_not_told():
    with pytest.raises(NumericalError, match="row 2 is not told from 1"):
        kkt_point(["a*u1", "a*u2"], [[1, 0], [1, 5]])


def test_what_has_no_such_points_is_refused():
    for outputs, X in (
        ("exp(w)", [[1]]),
        (["a*u1", "a*u2"], [[1, 2, 3]]),
        ("w/(1+w**2)", [[1]]),
        ("w", 5),
    ):
        with pytest.raises(InputError):
            kkt_point(outputs, X)
    for near in ([1, 2], "x", [[1, 2], [3]], [1j] * 4, [10**400] * 4):
        with pytest.raises(InputError, match="near must be 4 numbers"):
            kkt_point("p**2 - m**2", [[2, 1]], near)
    with pytest.raises(NumericalError, match="at least 1"):
        kkt_point("w**2", [[-1]])


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["p**3 - m**3", "--kkt"], 0, "|w|^2 = 0.480749856769"),
        (["exp(w)", "--kkt"], 2, "F must be a polynomial in the weights"),
        (["a*u", "--vector", "u", "--kkt"], 2, "weights of given number"),
        (["w", "--norm", "l1", "--kkt"], 2, "without --norm and --steepest"),
        (["D*a*b", "--parameter", "D", "--kkt"], 2, "over the rationals"),  # D has no cost
        (["a + b**2", "--kkt"], 2, "scaled alike"),  # where a**2 is least
        (["a**3 + b*c**2", "--start", "b=0,c=0", "--kkt"], 0, "weights: copy1_a = 0, copy2_a ="),
    ],
)
def test_the_command_finds_one_on_data(tmp_path, options, code, said):
    """(1/3)^(2/3) of beta = (0, 1/3), whose copy has one weight."""
    path = tmp_path / "data.csv"
    path.write_text("2,3,1\n-2,5,1\n-1,-4,0\n")
    done = run("margin", *options, "--data", str(path))
    assert done.returncode == code
    assert said in done.stdout + done.stderr


LEAVES = [[2, 3], [-2, 5]]
STAYS = [[1, 2, -1], [2, -1, 1]]
LEVELS = np.array([1.0, 10.0, 100.0])


def tied(depth):
    start = {"p": "alpha", "m": "alpha"}
    return derive_once(f"p**{depth} - m**{depth}", start, ["alpha"])


def apart(a, b):
    """1 - cos of the angle between two vectors, without cancellation."""
    return np.linalg.norm(a / np.linalg.norm(a) - b / np.linalg.norm(b)) ** 2 / 2


def check_limit(depth, X, alpha):
    """At levels alpha^D c of the loss the flow is near the path at margins c."""
    d = tied(depth)
    path = margin_path(d.potential.numeric({"alpha": 1}), X, LEVELS)
    q = d.potential.numeric({"alpha": alpha})
    run = loss_flow(q, X, alpha**depth * LEVELS)
    gaps = [apart(a, b) for a, b in zip(run.value, path.value, strict=True)]
    assert max(gaps) < 1e-9
    return path


def test_depth_two_where_a_row_leaves():
    path = check_limit(2, LEAVES, 1000)
    ((row, level),) = path.left
    assert (row, 4 * path.multiplier[-1, 1]) == (1, pytest.approx(0.0203, abs=1e-4))
    assert 1 < level < 10
    # The largest margin in Q, without the memory of the row that left, is another predictor.
    q = tied(2).potential.numeric({"alpha": 1})
    other = interpolate(q, LEAVES[:1], [100.0]).value
    assert min(np.array(LEAVES) @ other) >= 100 - 1e-9
    assert apart(other, path.value[-1]) > 1e-6


def test_paths_of_more_rows_than_outputs_do_not_depend_on_their_order():
    q = tied(2).potential.numeric({"alpha": 1})
    X = np.array([[5, -1], [0, 5], [5, 1]])
    one, two = (margin_path(q, X[rows], [1, 10]).value for rows in ([0, 1, 2], [2, 1, 0]))
    assert one == pytest.approx(two, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("X", [LEAVES, STAYS])
def test_depth_three(X):
    assert len(check_limit(3, X, 100).left) == (X is LEAVES)


def test_a_neuron_with_its_warp():
    """Coupled outputs, and a warp, which only changes the clock."""
    d = derive_once(["a*u1", "a*u2"])
    q = d.potential.numeric({"a_0": 1, "u1_0": 0, "u2_0": 0})
    path = margin_path(q, LEAVES, [1.0, 10.0])
    assert [interpolate(q, LEAVES, [c, c]).value for c in (1.0, 10.0)] == [
        pytest.approx(beta, rel=1e-8) for beta in path.value
    ]


def test_a_flow_is_followed_to_its_tolerance_in_any_unit():
    """Of one large row s is small: beta = 2 sinh(4 x s) has the level x beta."""
    x, levels = 1000.0, np.array([1e3, 1e4, 1e5])
    run = loss_flow(tied(2).potential.numeric({"alpha": 1}), [[x]], levels)
    assert run.multiplier[:, 0] == pytest.approx(np.arcsinh(levels / (2 * x)) / (4 * x), rel=1e-7)


def test_the_level_of_one_row_is_its_margin_from_a_start_that_is_not_0():
    row, start = [2, 3], {"a_0": 1, "u1_0": 0.5, "u2_0": 0.25}
    q = derive_once(["a*u1", "a*u2"]).potential.numeric(start)
    assert loss_flow(q, [row], [3, 10]).value @ row == pytest.approx([3, 10], rel=1e-7)


@pytest.mark.slow
def test_the_rate_at_which_coordinates_vanish_is_that_of_the_certificate():
    """beta_j/beta_max ~ log(1/L)^(|z_j| - 1), z = X^T y of the exact l1 margin."""
    largest = max_margin(LEAVES, norm="l1")
    z = np.array(LEAVES, float).T @ np.array([float(y) for y in largest.multiplier])
    assert z == pytest.approx([2 / 3, 1])
    q = tied(2).potential.numeric({"alpha": 1})
    run = loss_flow(q, LEAVES, [1e6, 1e9]).value
    ratios = run[:, 0] / run[:, 1]
    exponent = np.log(ratios[1] / ratios[0]) / np.log(1e3)
    assert exponent == pytest.approx(abs(z[0]) - 1, abs=1e-3)


@pytest.mark.parametrize(
    ("X", "levels", "said"),
    [
        ([[1, 2], [3]], [1], "X must be an array"),
        ([1, 2], [1], "rows"),
        ([[1, float("nan")]], [1], "finite"),
        (LEAVES, [2, 1], "increase"),
        (LEAVES, [-5], "above"),
        (LEAVES, [], "increase"),
    ],
)
@pytest.mark.parametrize("follow", [margin_path, loss_flow])
def test_bad_input_is_refused(follow, X, levels, said):
    q = tied(2).potential.numeric({"alpha": 1})
    with pytest.raises(InputError, match=said):
        follow(q, X, levels)


def test_what_is_no_potential_in_numbers_is_refused():
    with pytest.raises(InputError, match=r"potential\.numeric"):
        margin_path(tied(2), LEAVES, [1])


def test_rows_that_are_not_separable_end_the_path():
    q = tied(2).potential.numeric({"alpha": 1})
    with pytest.raises(NumericalError):
        margin_path(q, [[1, 2], [-1, -2]], [1])


def drawn(seed, m, d):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, size=(m, d))
    return (X * np.where(X @ np.arange(1, d + 1) < 0, -1, 1)[:, None] * 2 + (X == 0)).tolist()


def check(found, X, least=None):
    """The bounds are near and in order, the margins are 1, and *least* is between them."""
    X = [[Fraction(x) for x in row] for row in X]
    margins = [sum(a * b for a, b in zip(x, found.value, strict=True)) for x in X]
    assert min(margins) == 1
    assert min(found.multiplier) >= 0
    assert found.lower <= found.upper < found.lower * (1 + Fraction(1, 10**7))
    assert least is None or found.lower <= least <= found.upper
    return found


@pytest.mark.parametrize("seed", range(3))
def test_diagonal_matrices_have_the_l1_margin(seed):
    X = drawn(seed, 4, 3)
    least = 1 / Fraction(str(max_margin(X, norm="l1").margin))
    matrices = [np.diag(x).ravel().tolist() for x in X]
    check(max_margin(matrices, norm="nuclear", shape=(3, 3)), matrices, least)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7])
def test_circulant_matrices_have_the_singular_values_of_the_transform(d):
    X = drawn(d, 5, d)
    one = check(max_margin(X, norm="dft"), X)
    turned = [[x[(i - j) % d] for i in range(d) for j in range(d)] for x in X]
    two = check(max_margin(turned, norm="nuclear", shape=(d, d)), turned)
    assert one.lower <= d * two.upper
    assert d * two.lower <= one.upper


def test_more_rows_than_are_looked_at_at_once():
    """The l1 margin, of two frequencies, is that of all rows."""
    X = np.random.default_rng(0).integers(-9, 10, size=(1000, 2)) * 2 + 1
    X = (X * np.sign(X @ [3, 2])[:, None]).tolist()  # 3 times an odd number is not even
    both = [[Fraction(a + b, 2), Fraction(a - b, 2)] for a, b in X]
    check(max_margin(X, norm="dft"), X, 1 / Fraction(str(max_margin(both, norm="l1").margin)))


@pytest.mark.parametrize("seed", range(4))
def test_ties_in_plenty_and_copies(seed):
    """The optimum is not unique, and doubles have little to go by."""
    rng = np.random.default_rng(seed)
    X = np.sign(rng.integers(-2, 3, size=(12, 6)))
    X = (X * np.where(X @ [3, 1, 4, 1, 5, 9] < 0, -1, 1)[:, None]).tolist()
    X = [x for x in X if any(x)] * 2
    for options in ({"norm": "dft"}, {"norm": "nuclear", "shape": (2, 3)}):
        check(max_margin(X, **options), X)


def test_bounds_hold_whatever_doubles_do():
    """Of a matrix that is far from what its rounded factors give, too."""
    rows = [Fraction(k**3 % 17 - 8, 7) * 10**k for k in range(6)]
    x = np.array([float(a) for a in rows])
    sizes = np.linalg.svd(x.reshape(2, 3), compute_uv=False), np.abs(np.fft.fft(x)) / 6
    for spectral, s in zip((nuclear((2, 3), 6), dft(6)), sizes, strict=True):
        norm, dual = spectral.bounds(rows)
        assert norm >= arb(0.999999) * dual
        assert float(dual) >= s.max() * (1 - 1e-12)
        assert float(dual) <= s.max() * (1 + 1e-9)


def test_multipliers_below_0_prove_nothing():
    """The least norm is 2; with y = (4, -1) the quotient would be 3."""

    def found(*y):
        near = Bounded(lambda X: (np.array([1.0, 0.0]), np.array(y)), dft(2).bounds)
        return interval("dft", near, [[1, 0], [2, 0]])

    assert found(4.0, -1.0).lower <= 2
    assert found(-1.0, -1.0) is found(0.0, 0.0) is None


def test_rows_that_cancel_and_bad_shapes():
    with pytest.raises(NotSeparable):
        max_margin([[1, 2], [-1, -2]], norm="dft")
    with pytest.raises(NotSeparable):
        max_margin([[0, 0]], norm="dft")
    for options, said in (
        ({"norm": "nuclear"}, "shape"),
        ({"norm": "nuclear", "shape": (3, 2)}, "no 3 x 2"),
        ({"norm": "nuclear", "shape": "22"}, "two whole numbers"),
        ({"norm": "dft", "shape": (1, 2)}, "shape"),
        ({"norm": "nuclear", "shape": (1, 2), "labels": "abc"}, "two classes, and there are 3"),
    ):
        with pytest.raises(InputError, match=said):
            max_margin([[1, 2], [3, 4], [5, 7]], **{"labels": "aba"} | options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "options", "code", "said"),
    [
        ("3,1,a\n1,2,a\n-1,-4,b\n", ["u*v + x*y", "u*y + v*x"], 0, "largest dft margin"),
        (
            "-1,0,0,-1,a\n2,1,0,0,b\n",
            ["U*T(V)", "--matrix", "U:2x2,V:2x2", "--norm", "nuclear", "--shape", "2x2"],
            1,
            "largest nuclear margin, between two bounds",
        ),
        ("3,a\n-3,b\n", ["w", "--norm", "l0"], 2, "there is no norm 'l0'"),
        ("3,1,a\n1,2,b\n2,2,c\n", ["w", "--norm", "dft"], 2, "that of two classes"),
    ],
)
def test_the_command_takes_a_norm_or_that_of_the_horizon(tmp_path, table, options, code, said):
    path = tmp_path / "data.csv"
    path.write_text(table)
    done = run("margin", *options, "--data", str(path))
    assert done.returncode == code
    assert said in done.stdout + done.stderr
