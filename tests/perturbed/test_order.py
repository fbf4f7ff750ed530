"""Do limits on given data depend on loss weights? By exact brackets, and by flows of weights."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
import sympy

from derive import InputError, Verdict
from derive.perturbed.order import data_order
from derive.verdict import Finding
from numerics.confirm.regression_problem import check_order
from tests.cli.commands import run
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted

PRODUCT = ["u1*v1 + u2*v2", "u1*v3 + u2*v4", "u3*v1 + u4*v2", "u3*v3 + u4*v4"]
BALANCED = {
    **{"u1": "1", "u2": "2", "u3": "3", "u4": "-1"},
    **{"v1": "3", "v2": "2/5", "v3": "1", "v4": "-11/5"},
}
"""V = O U with a rotation O by (3/5, 4/5)."""
SQUARE = ["a**2 + b**2", "a*c + b*e", "c**2 + e**2"]
NEURONS = ["a*u1 + b*v1", "a*u2 + b*v2", "a*u3 + b*v3"]
HADAMARD = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])


def ordered(outputs, X, start=None):
    return data_order(derive_once(outputs, start or {}), X)


def forms_of(rng, commuting):
    """Return three quadratic forms, independent; the first two along the rows commute, or not.

    The rows are F_1 + F_3 and F_2 where they do: H D H with the same H.
    """
    while True:
        A = [np.array([[rng.randrange(-2, 3) for _ in range(4)] for _ in range(4)]) for _ in "abc"]
        forms = [a + a.T for a in A]
        if commuting:
            D = (np.diag([rng.randrange(-2, 3) for _ in range(4)]) for _ in "ab")
            first, second = (HADAMARD @ diagonal @ HADAMARD for diagonal in D)
            forms = [first - forms[2], second, forms[2]]
        if np.linalg.matrix_rank([f.ravel() for f in forms]) == 3:
            return forms


def drawn(seed):
    """Return F with quadratic outputs and two rows, which commute in every other one."""
    rng = random.Random(seed)
    w = sympy.Matrix(sympy.symbols("a b c e"))
    forms = [sympy.expand((w.T @ sympy.Matrix(f) @ w)[0]) for f in forms_of(rng, seed % 2)]
    X = [[1, 0, 1 if seed % 2 else rng.randrange(-2, 3)], [0, 1, 0]]
    return [*map(str, forms)], X


@pytest.mark.every(8)
@pytest.mark.parametrize("seed", range(20))
def test_weighted_flows_end_together_where_that_is_proved_and_only_there(seed):
    o = ordered(*drawn(seed))
    assert o.verdict is (Verdict.PROVED if seed % 2 else Verdict.REFUTED)
    (told,) = o.says("data order")
    assert WITNESSES["data order"](o, told, random.Random(seed)) > 0


each_data = pytest.mark.parametrize(
    ("outputs", "X", "start", "order", "closed"),
    [
        (PRODUCT, [[1, 2, 0, 1], [0, 1, 1, 3]], {}, "REFUTED", "REFUTED"),
        (PRODUCT, [[1, 2, 0, 1], [0, 1, 1, 3]], BALANCED, "REFUTED", "PROVED"),
        (PRODUCT, [[1, 0, 0, 0], [0, 0, 0, 1]], {}, "PROVED", "REFUTED"),
        (PRODUCT, [[1, 2, 3, 4]], {}, "PROVED", "REFUTED"),
        (PRODUCT, [[1, 2, 3, 4], ["2", 4, 6, 8]], {}, "PROVED", "REFUTED"),
        (SQUARE, [[1, 0, 0], [0, 0, 1]], {}, "PROVED", "PROVED"),
        (SQUARE, [[0, 0, 0]], {}, "PROVED", "PROVED"),
        (SQUARE, [[1, 0, 0], [0, 1, 0]], {}, "REFUTED", "PROVED"),
        (SQUARE, [[1, 0, 0], [0, 1, 0], [1, 1, 5]], {}, "PROVED", "PROVED"),
        (["a*u1", "a*u2", "a*u3"], [[1, 2, 3], [1, 0, "1/2"]], {}, "PROVED", "PROVED"),
        (NEURONS, [[1, 2, 3], [1, 0, 0]], {}, "REFUTED", "REFUTED"),
    ],
    ids=range(11),
)  # fmt: skip


@pytest.mark.every(6)
@each_data
def test_the_order_of_data_and_the_kernel_are_as_flows_tell_them(outputs, X, start, order, closed):
    o = ordered(outputs, X, start)
    assert (o.verdict.value, o.closed.verdict.value) == (order, closed)
    for s in o.says("data order", "closed kernel"):
        assert WITNESSES[s.kind](o, s, random.Random(1)) > 0


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", ["data order", "closed kernel"])
def test_witnesses_refute_what_is_false(kind):
    o = ordered(PRODUCT, [[1, 2, 0, 1], [0, 1, 1, 3]])
    wrong = Finding(Verdict.PROVED, "it is not")
    false = replace(o, **{"independent" if kind == "data order" else "closed": wrong})
    with pytest.raises(Refuted):
        WITNESSES[kind](false, false.says(kind)[0], random.Random(1))


@pytest.mark.parametrize("X", [[], [[1, 2]], [[1, 2, 3, 4, 5]]])
def test_rows_of_another_length_are_refused(X):
    with pytest.raises(InputError):
        ordered(SQUARE, X)


ROWS = ["W*T(W)", "--matrix", "W:2x2"]


@pytest.mark.every(2)
@pytest.mark.parametrize(("rows", "code"), [("1,0,0,2\n0,0,1,3\n", 0), ("1,0,0,2\n0,1,0,1\n", 1)])
def test_the_command_answers_and_runs_two_flows(tmp_path, rows, code):
    (tmp_path / "xy.csv").write_text(rows)
    given = ["regularizer", *ROWS, "--data", str(tmp_path / "xy.csv")]
    done = run(*given, "--check")
    assert done.returncode == code
    assert "first loss weighs 1 and 16" in done.stdout
    assert not done.stderr
    apart = float(done.stdout.partition("Flows in which")[2].partition(" end ")[2].split()[0])
    assert (apart < 1e-10) == (code == 0)
    record = json.loads(run(*given, "--json").stdout)["data"]
    assert record["verdict"] == ("PROVED" if code == 0 else "REFUTED")
    assert record["closed"]["verdict"] == "PROVED"
    assert r"\begin{proof}" in run(*given, "--latex").stdout
    assert "<html" in run(*given, "--html").stdout


@pytest.mark.parametrize("outputs", [SQUARE, ["a*b", "a + b*c"]])
def test_flows_to_one_beta_tell_whether_k_is_a_function_of_it(outputs):
    o = ordered(outputs, [[1, 2, 1][: len(outputs)]])
    assert check_order(o, ["1"]).passed
    (of,) = {Verdict.PROVED, Verdict.REFUTED} - {o.closed.verdict}
    assert not check_order(replace(o, closed=Finding(of, "it is not")), ["1"]).passed


def test_data_that_do_not_fit_are_refused_in_a_line(tmp_path):
    (tmp_path / "xy.csv").write_text("1,2,3\n")
    for more in (["--data", str(tmp_path / "xy.csv")], ["--data", str(tmp_path / "none.csv")]):
        done = run("regularizer", *ROWS, *more)
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) == 1
