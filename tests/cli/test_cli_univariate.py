"""``derive univariate`` as a person runs it."""

import json

import pytest

from tests.cli.commands import assert_answers, refusal_of, run


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x,y\n-3/5,1\n0,0\n0.5,1\n", encoding="utf-8")
    return str(path)


def test_the_answer_is_on_a_page(points):
    assert_answers(run("univariate"), 0, ["G1 + G2 + G3", "G3 = 3 (int h''(x) |x| dx"])
    words = ["exact", "563599/1687734 x", "R(f) = 11/3", "net of width 1600"]
    assert_answers(run("univariate", "--data", points, "--check"), 0, words)
    abs_ = ["--scaled", "--activation", "abs", "--potential", "x**4 + x**2"]
    assert_answers(run("univariate", *abs_, "--data", points), 0, ["certified by balls", "D = "])


def test_the_record_has_exact_numbers(points):
    record = json.loads(run("univariate", "--data", points, "--json").stdout)
    assert record["data"]["coefficients"][0] == "85805500/2531601"
    assert record["data"]["functionals"]["G2"] == "5913302404/712111513689"


@pytest.mark.parametrize(
    "text", ["0,1\n0,2\n", "x,y\n", "1,2,3\n", "5,1\n", "0,a\n", "0,1e300\n", "1/0,1\n0,2\n"]
)
def test_bad_data_are_one_line(text, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    refusal_of("univariate", "--data", str(path))
