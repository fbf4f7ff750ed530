"""Signs that the checker takes for shown: all that it should, and none that a point contradicts."""

import functools
import itertools
import math
import re

import pytest

from derive.certificate.checking.signs import Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import Rejected

CALLS = {
    "E": "exp(x)",
    "S": "sqrt(x**2 + 1)",
    "L": "log(x**2 + 2)",
    "C": "cos(x)",
    "P": "(x**2 + 1)**a",
    "R": "x**(1/3)",
    "M": "log(x)",
    "T": "atan(x)",
    "N": "atan(1)",
}
GIVEN = (
    *((), ("x > 0",), ("x - 1 > 0",), ("x != 0",), ("y - x > 0",)),
    ("y > 0", "x*y keeps its sign along the flow"),
    *(("x**2*y keeps its sign along the flow",), ("M > 0",), ("1/y - 4 < 0",), ("x + 5 != 0",)),
)
SIGNS = {  # under each of these: "+", "-" nowhere 0, ">", "<" with zeros, "." not shown
    "0": "..........",
    "7": "++++++++++",
    "-a": "..........",
    "E": "++++++++++",
    "-L": "----------",
    "P*E": "++++++++++",
    "M": "..+....+..",
    "M**2": ">>+>>>>>>>",
    "C": "..........",
    "R*x": ".+>..+....",
    "x": ".++..+....",
    "x**3*y": ".....+....",
    "1/x": ".++..+....",
    "1 - x": "..-.......",
    "2 - x**2 - x": "..<.......",
    "x**2 - 1": "..>.......",
    "(x - 2)**2": ">>>>>>>>>>",
    "y": ".....++...",
    "y - x + 1": "....+.....",
    "x - y - 1": "....-.....",
    "y - x - 1": "..........",
    "x**2 + x + 1": "++++++++++",
    "x**2 + 3*x + 1": ".++..+....",
    "x**4 + 1": "++++++++++",
    "-2 - x**2*y**2": "----------",
    "7 - 7*E": ".-...-....",
    "E*x - x": ".+...+....",
    "E*y - y": ".....+....",
    "E*x - E": "..>.......",
    "E*S - S": ".+...+....",
    "S + 1": "++++++++++",
    "S - 1": ">+++>++>>>",
    "1 - S": "<---<--<<<",
    "S*2 - 1": "++++++++++",
    "1 - 2*S": "----------",
    "S - 2": "..........",
    "S - x": "++++++++++",
    "S - y*x": "..........",
    "S*x**2 - x**2": ">+++>++>>>",
    "S*x - x": ".+>..+....",
    "y**2 - S": "..........",
    "L*x": ".+>..+....",
    "M*y": "..........",
    "M + 1": "..+....+..",
    "T": ".++..+....",
    "-N": "----------",
    "P - 1": "..........",
    "E + L": "++++++++++",
    "(E - 1)/y": ".....+....",
    "1/(S - 1)": "++++++++++",
}
GRID = [-3, -0.5, 0, 0.2, 1.3, 2, 4.5]


def conditions(*texts):
    """Return conditions where x and y start at a = 2 and b = 3."""
    space = Space(["x", "y"], ["a", "b"], len(CALLS))
    space.w0 = [space.read("a"), space.read("b")]
    space.start = space.started({"a": "2", "b": "3"})
    for name, text in CALLS.items():
        space.define({"name": name, "of": text})
    return space, Conditions(space, texts)


@functools.cache
def value(text, x, y):
    """Return a formula at a point, or None; the only road here that knows what a call is."""
    names = {"x": x, "y": y, "a": 2, "b": 3, "exp": math.exp, "sqrt": math.sqrt, "cos": math.cos}
    names |= {"log": lambda u: math.log(abs(u)), "atan": math.atan}
    try:
        names |= {name: eval(call, names) for name, call in CALLS.items() if name in text}
        found = eval(text, names)
    except (ValueError, ZeroDivisionError):
        return None
    return found if isinstance(found, int | float) else None


def holds(condition, x, y):
    left, relation = re.match(r"(.+) (<|>|!=|keeps)", condition).groups()
    found = value(left, x, y)
    return found is not None and (found < 0 if relation == "<" else found > 0 or "!" in relation)


@pytest.mark.every(4)
@pytest.mark.parametrize("k", range(len(GIVEN)))
def test_a_sign_is_shown_where_it_should_be_and_holds(k):
    space, known = conditions(*GIVEN[k])
    points = [p for p in itertools.product(GRID, GRID) if all(holds(c, *p) for c in GIVEN[k])]
    assert points
    for text, row in SIGNS.items():
        f, at_start = space.read(text), value(text, 2, 3)
        sign = known.sign_anywhere(f)
        kept = sign and known.keeps_sign(f.top)
        assert ("+" if kept else ">", "-" if kept else "<", ".")[
            (1 - sign) // 2 if sign else 2
        ] == row[k], text
        assert known.sign_of(f) == (sign if at_start else 0), text
        found = [sign * v for p in points if (v := value(text, *p)) is not None]
        assert min(found) >= 0, text


def test_a_term_of_either_sign_keeps_no_sum_from_zero():
    """(x + y)^2 + (x - 1)^2 >= x y/1024, which is not 0, and is 0 at (1, -1)."""
    space, known = conditions("x != 0", "y != 0")
    p, q = (space.read(f"(x + y)**2 + (x - 1)**2 + {c}*x**2").top for c in (0, 1))
    assert (known.of(p).value, known.keeps_sign(p)) == (1, False)
    assert known.keeps_sign(q)


MISSING = [  # conditions; functions, with what they miss; divisors, with what they miss; generic
    (
        (),
        {"x": "a > 0", "y*x**2": "b > 0, a != 0", "x**2 + 1": "", "x*y - 7": "a*b - 7 < 0"},
        {
            "x": "a != 0",
            "x**2 + y**2": "",
            "(x - 1)*y": "b != 0, a - 1 != 0",
            "x + 1": "a + 1 != 0",
        },
        {"a**2 + b**2"},
    ),
    (
        ("a > 0", "b - 1 > 0", "a - b != 0"),
        {"x": "", "x*y": "", "x + 1": "", "(x - y)**2": "", "x - y": "a - b < 0"},
        {"x - y": "", "x**2 + y**2": "", "x + y": "", "x - 1": "a - 1 != 0"},
        set(),
    ),
    (
        (),
        {"E - 1": "exp(x) - 1 > 0", "S - 1": "x != 0", "M": "log(Abs(x)) > 0", "L": ""},
        {"S - 1": "x != 0", "E - 1": "exp(x) - 1 != 0", "M": "log(Abs(x)) != 0", "S + 1": ""},
        set(),
    ),
    (("x - 5 < 0", "y > 0"), {"S - 1": "x != 0"}, {"M": "log(Abs(x)) != 0"}, set()),
]


@pytest.mark.parametrize(("given", "functions", "divisors", "generic"), MISSING)
def test_what_is_missing_for_signs_and_divisors_is_said(given, functions, divisors, generic):
    space, known = conditions(*given)
    for text, said in functions.items():
        assert {*known.missing([space.read(text)], [])} == {*filter(None, said.split(", "))}, text
    for text, said in divisors.items():
        assert {*known.missing([], [space.read(text).top])} == {*filter(None, said.split(", "))}, (
            text
        )
    assert set(known.generic) == generic


@pytest.mark.parametrize(
    "text", ["x < 0", "x - 2 > 0", "x - 2 != 0", "0*x keeps its sign along the flow"]
)
def test_a_condition_holds_at_the_start(text):
    with pytest.raises(Rejected, match="the start does not satisfy"):
        conditions(text)


def test_conditions_are_about_some_names_and_say_one_thing():
    space, known = conditions(
        "zz > 0", "no two real roots of the polynomial of A meet along the flow"
    )
    assert (known.signs, known.others, known.meet) == ({}, set(), {"A"})
    assert Conditions(space, ["x > 0"], ["y"]).others == set()
    before = len(space.signs)
    assert Conditions(space, ["x > 0", "y - 1 < 0"][:1], ["x"]).others == {"x0", "x2"}
    assert len(space.signs) == before
    # E at the start is not known: what is said of it is not said of E elsewhere
    assert Conditions(space, ["x - E != 0"]).others == {str(space.read("x - E").top)}
    conditions("x keeps its sign along the flow")
    with pytest.raises(Rejected, match="is no condition"):
        conditions("x = 2")


def space_of_root(argument):
    space = Space(["w"], ["c"], 3)
    space.w0 = [space.names["c"]]
    space.start = space.started({"c": "3"})
    space.define({"name": "r", "of": f"sqrt({argument})"})
    return space


def test_a_factor_is_given_by_its_norm():
    """w - sqrt(2) is not 0 where w^2 - 2 is not, and needs that."""
    space = space_of_root("2")
    p = space.read("c - r").top
    assert not Conditions(space)._is_given(p)
    assert Conditions(space, ["c**2 - 2 != 0"])._is_given(p)
    assert not Conditions(space, ["c**2 - 5 != 0"])._is_given(p)
    quotient = space.quotient(space.read("w**2 - 2"), space.read("w - r").top)
    assert quotient.same(space.read("w + r"))


def test_a_norm_of_zero_shows_nothing():
    """c - sqrt(c^2) is 0, as c > 0."""
    space = space_of_root("c**2")
    p = space.read("c - r").top
    assert [*space.conjugates(p)] == []
    assert not Conditions(space)._is_given(p)
