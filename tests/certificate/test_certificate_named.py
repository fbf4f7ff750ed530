"""A limit is called by what its gradient shows: an l1 or l2 norm, quadratic, or a power."""

from __future__ import annotations

import pytest
from flint import fmpq

from derive.certificate.checking.further.expansion import Tending, image_of
from derive.certificate.checking.further.near import Near
from derive.certificate.checking.text import Rejected

ROOT = "sqrt(x**2 + y**2)"
ONE, TWO = {"gradient": [None]}, {"coordinates": ["x", "y"], "gradient": [None, None]}
SHAPES = [  # what is said, K(w_0), whether Q is a sum over coordinates, its name
    ({**ONE, "Q": "a*x", "degree": "1"}, [["8"]], True, "l1 rich"),
    ({**ONE, "Q": "-x", "degree": "1"}, [["8"]], True, "power intermediate"),
    ({**ONE, "Q": "x**2/2", "degree": "2"}, [["8"]], True, "l2 kernel"),
    ({**ONE, "Q": "x**2/2 - x", "degree": "2"}, [["8"]], True, "quadratic kernel"),
    ({**ONE, "Q": "x**2", "degree": "2", "origin": ["b"]}, [["8"]], True, "quadratic kernel"),
    ({**ONE, "Q": "x**3", "degree": "3"}, [["8"]], True, "power intermediate"),
    ({**ONE, "Q": None, "degree": None, "gradient": ["x**2"]}, [["8"]], True, "other intermediate"),
    ({**TWO, "Q": "x + 2*y", "degree": "1"}, [], True, "l1 rich"),
    ({**TWO, "Q": "x + 2*y", "degree": "1"}, [], False, "power intermediate"),
    ({**TWO, "Q": "x - 2*y", "degree": "1"}, [], True, "power intermediate"),
    ({**TWO, "Q": "R", "degree": "1"}, [], False, "l2 anti-NTK"),
    ({**TWO, "Q": "R", "degree": "1"}, [], True, "power intermediate"),
    ({**TWO, "Q": "R**3", "degree": "3"}, [], False, "l2 anti-NTK"),
    ({**TWO, "Q": "-R", "degree": "1"}, [], False, "power intermediate"),
    ({**TWO, "Q": "x*y", "degree": "2"}, [["0", "1"], ["1", "0"]], False, "quadratic kernel"),
    ({**TWO, "Q": "x**2 + y**2", "degree": "2"}, [["3", "0"], ["0", "3"]], False, "l2 kernel"),
    (
        {**TWO, "Q": "x**2 + y**2", "degree": "2"},
        [["3", "0"], ["0", "1"]],
        False,
        "l2 intermediate",
    ),
    (
        {**TWO, "Q": "x**2/2 + y**2", "degree": "2"},
        [["2", "0"], ["0", "1"]],
        False,
        "quadratic kernel",
    ),
    (
        {**TWO, "Q": "x**2/2 + y**2", "degree": "2"},
        [["2", "1"], ["0", "1"]],
        False,
        "quadratic intermediate",
    ),
    (
        {**TWO, "Q": "x**2 + x*y + y**2", "degree": "2"},
        [["1", "0"], ["0", "1"]],
        False,
        "quadratic intermediate",
    ),
]
NAMES = [("l1", "rich"), ("l2", "anti-NTK"), ("power", "intermediate"), ("quadratic", "kernel")]
NAMES += [("l2", "kernel"), ("other", "intermediate"), ("quadratic", "intermediate")]
NAMES += [("l2", "intermediate")]


def space_of(d):
    """Return x = 3 and y = 5, near the limit of alpha, with a = 2 and b = 7."""
    space = Near(["x", "y"][:d], ["a", "b"], 4)
    space.at([*[fmpq(3), fmpq(5)][:d], fmpq(2), fmpq(7)])
    space.names["alpha"] = space.e
    if d == 2:
        space.define({"name": "R", "of": ROOT})
    return space


def tending(said, space, where=()):
    given = {"coordinates": ["x"], "limit": "alpha -> 0+", "gradient_below_0": None, "unit": "a"}
    given |= {"relative_error": None, "origin": None, **said}
    return Tending({**given, "Q": given["Q"] and given["Q"].replace("R", ROOT)}, space, list(where))


@pytest.mark.parametrize(("said", "kernel", "single", "name"), SHAPES)
def test_a_limit_has_the_name_that_its_gradient_shows(said, kernel, single, name):
    space = space_of(len(said["gradient"]))
    K = [[space.read(text) for text in row] for row in kernel]
    for shape, regime in NAMES:
        found = tending({**said, "shape": shape, "regime": regime}, space)
        if name == f"{shape} {regime}":
            found.is_named(K, single)
            continue
        with pytest.raises(Rejected, match="the limit is"):
            found.is_named(K, single)
    shape, _, regime = name.partition(" ")
    if shape not in ("quadratic", "other"):
        with pytest.raises(Rejected, match="not homogeneous"):
            tending({**said, "shape": shape, "regime": regime, "degree": "5"}, space).is_named(
                K, single
            )


@pytest.mark.parametrize(
    ("said", "where", "why"),
    [
        ({"Q": "alpha*x", "degree": "1", "gradient": [None]}, (), "a name that it should not have"),
        ({"Q": "x", "degree": "1", "gradient": [None], "unit": "x"}, (), "a name that it should"),
        ({"Q": "x", "degree": None, "gradient": [None]}, (), "without Q has no degree"),
        ({"Q": None, "degree": "1", "gradient": ["1"]}, (), "without Q has no degree"),
        ({"Q": "x", "degree": "1", "gradient": ["2"]}, (), "other than grad Q"),
        ({"Q": None, "degree": None, "gradient": [None]}, (), "is not given"),
        ({"Q": "x", "degree": "1", "gradient": [None], "unit": "-a"}, (), "N is not shown"),
        (
            {"Q": None, "degree": None, "gradient": ["1"], "gradient_below_0": [None]},
            ("x < 0",),
            "is not given",
        ),
    ],
)
def test_what_is_said_of_a_limit_belongs_together(said, where, why):
    with pytest.raises(Rejected, match=why):
        tending(said, space_of(1), where)


def test_the_gradient_of_a_side_is_taken():
    both = {"Q": None, "degree": None, "gradient": ["7*x"], "gradient_below_0": ["5*x"]}
    space = space_of(1)
    for where, text in ((("x < 0",), "5*x"), (("x > 0",), "7*x"), ((), "7*x")):
        (slope,) = tending(both, space, where).G
        assert slope.same(space.read(text))
    assert tending({**ONE, "Q": "x**2", "degree": "2"}, space).G[0].same(space.read("2*x"))
    assert tending({"Q": "x", "degree": "1", "gradient": ["1"]}, space).N.same(space.read("a"))


@pytest.mark.parametrize(
    ("limit", "image"),
    [
        ("alpha -> 0+", "_e"),
        ("alpha -> infinity", "1/_e"),
        ("alpha -> 2+", "2 + _e"),
        ("alpha -> -1/2-", "-1/2 - _e"),
    ],
)
def test_a_symbol_tends_to_its_limit(limit, image):
    space = space_of(1)
    assert image_of(space, limit, None).same(space.read(image))
