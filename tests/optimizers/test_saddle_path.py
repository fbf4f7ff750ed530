"""The path from saddle to saddle: against stiff flows, against a linear program, and refusals."""

import json
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from derive import InputError, Verdict
from numerics import saddle_path
from tests.cli.commands import one_line, run
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted

SAME = {"p": "alpha", "m": "alpha"}
MODELS = {
    "tied": (["p**2 - m**2"], SAME),
    "weighted": (["p**2 - m**2"], {"p": "alpha**2", "m": "alpha"}),
    "depth 3": (["p**3 - m**3"], SAME),
    "depth 4": (["p**4 - m**4"], SAME),
}


def followed(name, X, y):
    outputs, start = MODELS[name]
    return saddle_path(derive_once(outputs, start, ["alpha"]), X, y)


def drawn(name, seed):
    """Return a path on drawn data, where no coordinates tie and jumps are apart."""
    rng = random.Random(seed)
    while True:
        X = [[rng.randint(-3, 3) for _ in range(5)] for _ in range(3)]
        try:
            s = followed(name, X, [rng.randint(-3, 3) for _ in X])
        except InputError:
            continue
        gaps = [b - a for a, b in zip(s.times, s.times[1:], strict=False)]
        if s.times and s.fits and min(gaps, default=1) > s.times[-1] / 6:
            return s


@pytest.mark.every(10)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", MODELS)
def test_flows_from_small_starts_come_near_the_plateaus(name, seed):
    s = drawn(name, seed)
    assert s.ground == ("proved (cited)" if name == "tied" else "heuristic, simulated")
    assert s.verdict is (Verdict.PROVED if name == "tied" else Verdict.UNDECIDED)
    for statement in s.statements:
        assert WITNESSES[statement.kind](s, statement, random.Random(0)) == 1


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["tied", "depth 3"])
def test_false_paths_are_refuted(name):
    s = drawn(name, 1)
    path, end = s.statements
    moved = tuple(tuple(x + Fraction(1, 2) for x in beta) for beta in s.plateaus)
    false = replace(s, plateaus=moved)
    for statement in (path, end):
        with pytest.raises(Refuted):
            WITNESSES[statement.kind](false, statement, random.Random(0))


def test_scales_that_differ_weight_the_sides_of_zero():
    s = followed("weighted", [[1, 4, -1]], [2])
    assert s.slopes == ((Fraction(1, 2), Fraction(1)),) * 3
    assert [str(x) for x in s.limit] == ["0", "1/2", "0"]
    with pytest.raises(InputError, match="arrive at one time"):
        followed("tied", [[1, 2, -2]], [2])
    assert [str(x) for x in followed("weighted", [[1, 2, -2]], [2]).limit] == ["0", "0", "-1"]


@pytest.mark.parametrize(
    ("outputs", "start", "words"),
    [
        (["a*b + c"], {"a": "alpha", "b": "alpha", "c": "alpha"}, "not known|not linear"),
        (["W + a*b"], {"W": "0", "a": "alpha", "b": "0"}, "not known|not linear"),  # Huber
        (["w"], {"w": "alpha"}, "not linear|no limit|not known|flat"),
        (["a*u1", "a*u2"], {"a": "alpha", "u1": "alpha", "u2": "alpha"}, "weights of their own"),
        (["p**2 - m**2"], {}, "start symbol"),
    ],
)
def test_what_has_no_such_path_is_refused(outputs, start, words):
    d = derive_once(outputs, start, ["alpha"] if start else [])
    with pytest.raises(InputError, match=words):
        saddle_path(d, [[1, 2]], [1])
    with pytest.raises(InputError, match="give a derivation"):
        saddle_path(lambda b: b, [[1, 2]], [1])


def test_the_command_prints_the_path(tmp_path):
    data = tmp_path / "xy.csv"
    data.write_text("a,b,c,y\n1,3,-1,3\n2,-1,1,1\n")
    line = ("path", "p**2 - m**2", "--start", "p=alpha,m=alpha", "--data", str(data))
    done = run(*line, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["times"] == ["1/16", "3/28"]
    assert run("path", "p**3 - m**3", *line[2:]).returncode == 3
    done = run("path", "u*v", "--start", "u=c,v=0", *line[4:], "--scale", "d")
    assert done.returncode == 3
    assert "start: u = d*c, v = 0" in done.stdout
    data.write_text("1,2,-2,2\n")
    done = run(*line)
    assert done.returncode == 2
    assert "arrive at one time" in one_line(done)
