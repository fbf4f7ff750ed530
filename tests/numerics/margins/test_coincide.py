"""The decision in balls between the monotone path and the margin in Q, against paths in doubles."""

import numpy as np
import pytest
import sympy
from flint import arb

from derive import InputError, NumericalError, Parameterization, Verdict, derive
from derive.exact.balls import precise
from numerics import interpolate, margin_path
from numerics.evaluate.numbers import read_matrix
from numerics.margins.coincide import growth, path_is_margin, rises
from numerics.margins.path_equations import equations_of, inner
from tests.numerics.margins.test_kkt import LEAVES, STAYS, tied

ENTERS = [[3, 0, 0, -2], [1, 4, 1, -2], [2, 3, 0, 0]]


DEEP = [pytest.param(3, X, marks=pytest.mark.slow) for X in (LEAVES, STAYS)]


@pytest.mark.every(2)
@pytest.mark.parametrize(("depth", "X"), [(2, LEAVES), (2, STAYS), (2, ENTERS), *DEEP])
def test_it_is_refuted_where_a_row_leaves_and_only_there(depth, X):
    q = tied(depth).potential.numeric({"alpha": 1})
    found = path_is_margin(q, X, 30)
    path = margin_path(q, X, [30])
    if X is LEAVES:
        ((row, level),) = path.left
        assert (found.finding.verdict, found.row) == (Verdict.REFUTED, row)
        assert found.level == pytest.approx(level, rel=2e-3)
        assert path_is_margin(q, X, level * 0.99).finding.verdict is Verdict.PROVED
    else:
        assert (found.finding.verdict, found.level, path.left) == (Verdict.PROVED, 30, ())
        rows = np.array(X)[path.multiplier[0] > 0]
        margin = interpolate(q, rows, [30.0] * len(rows)).value
        assert margin == pytest.approx(path.value[0], rel=1e-8)


@pytest.mark.parametrize("depth", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_it_is_decided_for_ever(depth):
    """In doubles nothing is left at far larger margins, either."""
    q = tied(depth).potential.numeric({"alpha": 1})
    found = path_is_margin(q, STAYS)
    assert (found.finding.verdict, found.level) == (Verdict.PROVED, np.inf)
    assert margin_path(q, STAYS, [1e9]).left == ()


@pytest.mark.every(2)
@pytest.mark.parametrize(("X", "stays"), [(STAYS, True), (ENTERS, False), (LEAVES, False)])
def test_nothing_is_called_for_ever_of_which_a_row_leaves(X, stays):
    """From margins before a row leaves, or where one has left, with the rows at hand."""
    q, levels = tied(2).potential.numeric({"alpha": 1}), [5, 150, 500, 1e4]
    (end, *_) = [left for _, left in margin_path(q, X, levels).left] or [np.inf]
    with precise(192):
        equations, _ = equations_of(q, read_matrix(X, len(X[0])))
        chart = equations.charts[0]
        g = growth(chart.tau[0], chart.interval, chart.beta[0], chart.gradient[0])
        said = []
        for level in levels:
            c = min(level, 0.99 * end)
            path = margin_path(q, X, [c])
            rows = [i for i, s in enumerate(path.multiplier[0]) if s > 0]
            beta = [arb(float(b)) for b in path.value[0]]
            said.append(rises(g, equations.X, rows, beta, arb(c)))
    assert any(said) == stays


@pytest.mark.slow
def test_a_row_that_leaves_late_is_seen_without_a_level():
    q = tied(2).potential.numeric({"alpha": 1})
    found = path_is_margin(q, ENTERS)
    ((row, level),) = margin_path(q, ENTERS, [30, 250]).left
    assert (found.finding.verdict, found.row) == (Verdict.REFUTED, row)
    assert found.level == pytest.approx(level, rel=1e-2)


def test_the_growth_of_kernels_is_enclosed():
    """K <= A + B |beta|^e and K = f |beta|^e, against K in doubles; none for exponential curves."""
    z, beta = sympy.symbols("z beta", real=True)
    ends = -sympy.oo, sympy.oo
    for curve in (
        (beta, ends, beta, sympy.asinh(beta / 2)),
        (z, (-1, 1), (1 - z) ** -3 - (1 + z) ** -3, z),
    ):
        g = growth(curve[0], tuple(map(sympy.S, curve[1])), *curve[2:])
        e, (A, B) = float(g.power), map(float, (b.upper() for b in g.bounds))
        K = sympy.lambdify(curve[0], curve[2].diff(curve[0]) / curve[3].diff(curve[0]))
        h = sympy.lambdify(curve[0], curve[2])
        for t in (-0.999, -0.7, -0.1, 0, 0.3, 0.99, 0.9999):
            x = 1e3 * t if curve[2] == beta else t
            assert K(x) <= A + B * abs(h(x)) ** e
            far = g.far(1 if x > 0 else -1, arb(max(1.0, abs(h(x)))))
            near = (far + arb(0, 1e-9)).contains(K(x) / abs(h(x)) ** e) if h(x) else True
            assert near or abs(h(x)) < 1 or not far.is_finite()
    assert growth(z, ends, sympy.exp(2 * z) - sympy.exp(-z), z) is None


@pytest.mark.slow
def test_coupled_outputs_with_a_warp():
    q = derive(Parameterization.parse(["a*u1", "a*u2"])).potential.numeric(
        {"a_0": 1, "u1_0": 0, "u2_0": 0}
    )
    assert path_is_margin(q, LEAVES, 2).finding.verdict is Verdict.PROVED


def test_copies_of_rows_share_their_multiplier():
    q = tied(2).potential.numeric({"alpha": 1})
    found = path_is_margin(q, [STAYS[0], *STAYS], 5)
    assert found.finding.verdict is Verdict.PROVED
    assert path_is_margin(q, [LEAVES[0], *LEAVES], 30).row == 2


def test_columns_are_those_of_outputs_whose_blocks_are_interlaced():
    d = derive(Parameterization.parse(["a + b", "p**2 - m**2", "a - 2*b"]))
    q = d.potential.numeric({"a_0": 0, "b_0": 0, "p_0": 1, "m_0": 1})
    X = [[1, 2, 4], [2, -1, 1]]
    with precise(192):
        equations, _ = equations_of(q, read_matrix(X, 3))
        beta, *_ = equations.beta([arb(1), arb(2), arb(3)])
        margins = [float(inner(row, beta)) for row in equations.X]
    assert margins == [1 * 1 + 4 * 2 + 2 * 3, 2 * 1 + 1 * 2 - 1 * 3]
    assert path_is_margin(q, X, 2).finding.verdict is Verdict.PROVED


def test_rows_that_enter_at_once_are_not_passed_over():
    """beta_0 is not 0: the second row is active soon after the first, or later."""
    start = {"p": "alpha", "m": "beta"}
    d = derive(Parameterization.parse(["p**2 - m**2"], start, ["alpha", "beta"]))
    q = d.potential.numeric({"alpha": 1, "beta": 2})  # beta_0 = (-3, -3)
    assert path_is_margin(q, [[1, 0], [0.25, 0.5]], 1).finding.verdict is Verdict.PROVED
    for near in (0.9999, 1 - 1e-9, 1):
        assert path_is_margin(q, [[1, 0], [0, near]], 1).finding.verdict is Verdict.PROVED


def test_what_cannot_be_decided_is_refused():
    q = tied(2).potential.numeric({"alpha": 1})
    with pytest.raises(InputError, match="above 0"):
        path_is_margin(q, LEAVES, -1)
    with pytest.raises(NumericalError):
        path_is_margin(q, [[1, 2], [-1, -2]], 1)
    walled = derive(Parameterization.parse(["exp(w)"])).potential.numeric({"w_0": 0})
    with pytest.raises(NumericalError, match="all of"):
        path_is_margin(walled, [[1, 2]], 4)


def test_a_row_whose_multiplier_is_0_to_first_order_is_told():
    q = tied(2).potential.numeric({"alpha": 1})
    found = path_is_margin(q, [[5, 1, 2], [3, 3, 2]], 1)
    assert found.finding.verdict is Verdict.UNDECIDED
    assert "the margin of row 1 is not told from the smallest" in found.finding.reason


@pytest.mark.slow
def test_what_stays_open_is_told_with_its_level():
    """Multipliers that rise like c^-3."""
    q = tied(2).potential.numeric({"alpha": 1})
    flat = path_is_margin(q, [[5, -5], [1, 1]], 1e3)
    assert flat.finding.verdict is Verdict.UNDECIDED
    assert 100 < flat.level < 1e3
    assert "the multiplier of row 1 is not seen to rise" in flat.finding.reason


def test_paths_of_more_rows_than_outputs_do_not_depend_on_their_order():
    q = tied(2).potential.numeric({"alpha": 1})
    X = np.array([[5, -1], [0, 5], [5, 1]])
    one, two = (margin_path(q, X[rows], [1, 10]).value for rows in ([0, 1, 2], [2, 1, 0]))
    assert one == pytest.approx(two, rel=1e-10)
