"""Where the margin in Q is not the monotone path, in balls, against paths in doubles."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from derive import InputError, NumericalError, Parameterization, Verdict, derive
from numerics import interpolate, margin_path
from numerics.evaluate.numbers import read_matrix
from numerics.margins.coincide import _multipliers, path_is_margin
from tests.numerics.margins.test_kkt import LEAVES, STAYS, tied

ENTERS = [[3, 0, 0, -2], [1, 4, 1, -2], [2, 3, 0, 0]]


def multipliers(q, X, level):
    """Those of the largest margin in Q, from the predictor with all margins at that level."""
    beta = interpolate(q, X, [level] * len(X)).value
    return np.linalg.lstsq(np.array(X, float).T, q.gradient(beta), rcond=None)[0]


@pytest.mark.parametrize(
    ("depth", "X", "level"),
    [(2, LEAVES, 30), (3, LEAVES, 30), (2, STAYS, 30), (2, ENTERS, 250), (3, ENTERS, 30)],
)
def test_it_is_refuted_where_a_row_leaves_and_only_there(depth, X, level):
    q = tied(depth).potential.numeric({"alpha": 1})
    found, path = path_is_margin(q, X, level), margin_path(q, X, [level])
    if X is STAYS:
        assert (found.finding.verdict, found.row, path.left) == (Verdict.UNDECIDED, None, ())
        return
    ((row, left),) = path.left
    assert (found.finding.verdict, found.row, found.levels[0]) == (Verdict.REFUTED, row, left)
    first, last = (multipliers(q, X, c) for c in found.levels)
    assert first.min() > 0 < last.min()
    assert first[row] > last[row]


@pytest.mark.parametrize(
    ("outputs", "start", "X"),
    [
        (["a + b", "p**2 - m**2", "a - 2*b"], "a b p m", [[1, 2, 4], [2, -1, 1]]),
        (["a*u1", "a*u2"], "a u1 u2", LEAVES),
        (["p**3 - m**3"], "p m", STAYS),
    ],
)
def test_multipliers_are_those_in_doubles(outputs, start, X):
    """Of outputs whose blocks are interlaced, coupled ones with a warp, and along a curve."""
    d = derive(Parameterization.parse(outputs))
    q = d.potential.numeric({f"{w}_0": int(w in "apm") for w in start.split()})
    path = margin_path(q, X, [6])
    rows = read_matrix(X, len(path.value[0]))
    found = _multipliers(q, rows, path, 6.0)
    assert [float(found[i]) for i in found] == pytest.approx(path.multiplier[0][[*found]], rel=1e-9)


def test_margins_of_other_rows_and_the_sign_of_multipliers_are_looked_at():
    q, X = tied(2).potential.numeric({"alpha": 1}), LEAVES
    ((_, left),) = margin_path(q, X, [30]).left
    begin = margin_path(q, X, [left])
    rows = read_matrix(X, len(X[0]))
    assert _multipliers(q, rows, begin, left) is not None
    near = replace(begin, multiplier=np.append(begin.multiplier, [[0]], axis=1))
    others = {factor: [*rows, [factor * x for x in rows[0]]] for factor in (2, Fraction(1, 2))}
    assert _multipliers(q, others[2], near, left) is not None
    assert _multipliers(q, others[Fraction(1, 2)], near, left) is None
    assert min(multipliers(q, X, 1e4)) < 0
    assert _multipliers(q, rows, begin, 1e4) is None


def test_what_cannot_be_decided_is_refused():
    q = tied(2).potential.numeric({"alpha": 1})
    with pytest.raises(InputError, match="above 0"):
        path_is_margin(q, LEAVES, -1)
    with pytest.raises(NumericalError):
        path_is_margin(q, [[1, 2], [-1, -2]], 1)


def test_paths_of_more_rows_than_outputs_do_not_depend_on_their_order():
    q = tied(2).potential.numeric({"alpha": 1})
    X = np.array([[5, -1], [0, 5], [5, 1]])
    one, two = (margin_path(q, X[rows], [1, 10]).value for rows in ([0, 1, 2], [2, 1, 0]))
    assert one == pytest.approx(two, rel=1e-10)
