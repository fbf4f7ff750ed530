"""A model as it is typed: what its texts say, and how they are refused."""

import pytest

from derive import InputError, Parameterization
from derive.language import to_text
from derive.model.typed import TypedModel, read_option


def test_all_texts_are_read():
    read = TypedModel(
        (" a*u", "D*W*u"), start="a=1/2", positive="b", vector="u:2", matrix="W:2x2", parameter="D"
    ).read()
    assert (read.outputs, read.arrays) == (("a*u", "D*W*u"), {"u": (2,), "W": (2, 2)})
    assert {name: to_text(tree) for name, tree in read.start.items()} == {"a": "1/2"}
    assert (read.positive, read.parameters, read.vectors) == (("b",), ("D",), ())


@pytest.mark.parametrize(
    ("typed", "made", "named"),
    [
        (TypedModel(("a*u1", "a*u2"), "a=c", "c"), (["a*u1", "a*u2"], {"a": "c"}, ["c"]), {}),
        (TypedModel(("W*T(W)",), matrix="W:2x2"), (["W*T(W)"],), {"arrays": {"W": (2, 2)}}),
        (TypedModel(("D*w",), parameter="D"), (["D*w"],), {"parameters": ["D"]}),
    ],
    ids=["plain", "arrays", "parameter"],
)
def test_it_is_the_parameterization_that_the_library_parses(typed, made, named):
    assert typed.read().parameterization() == Parameterization.parse(*made, **named)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"start": "w"}, "--start: column 1"),
        ({"positive": "w="}, "--positive: column 1"),
        ({"parameter": "1"}, "--parameter: column 1"),
        ({"vector": "u:2x2"}, "--vector: u has two dimensions: use --matrix"),
        ({"matrix": "W"}, "--matrix: W needs two dimensions, such as W:2x2"),
        ({"matrix": "u:2x2", "vector": "u:2"}, "--matrix: u is a vector already"),
        ({"vector": "u,v:2"}, "--vector: give u a dimension too, or none to all"),
        ({"vector": "u", "matrix": "W:2x2"}, "--vector: give u a dimension too, or none to all"),
        ({"vector": "u", "parameter": "D"}, "--parameter goes with vectors of given dimension"),
    ],
)
def test_a_refusal_names_its_option(texts, message):
    with pytest.raises(InputError, match=message):
        TypedModel(("u*v*W",), **texts).read()


def test_outputs_are_counted():
    with pytest.raises(InputError, match="no outputs"):
        TypedModel(()).read()
    with pytest.raises(InputError, match="give one output"):
        TypedModel(("u", "a*u"), vector="u").read()


def test_what_is_not_given_says_nothing():
    assert read_option("--at", lambda text: (text,), " ") == ()
    assert read_option("--at", lambda text: (text,), "x") == ("x",)
