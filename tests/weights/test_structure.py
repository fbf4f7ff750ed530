"""Parameterization, Lie structure, conserved quantities and tangent kernel."""

from itertools import pairwise

import pytest

from derive import DegenerateStart, InputError, Parameterization, Verdict
from derive.weights.conserved import along, bracket, find_conserved, find_lie_structure
from derive.weights.witness import independent_point
from tests.published import derive_once

HOPF = ["p**2+q**2-r**2-s**2", "2*p*r+2*q*s", "2*q*r-2*p*s"]


@pytest.mark.parametrize(
    ("outputs", "start", "error", "why"),
    [
        (["x*y"], {"x": "0", "y": "0"}, DegenerateStart, None),
        (["w**2"], {"w": "0"}, DegenerateStart, None),
        (["1/w"], {"w": "0"}, DegenerateStart, None),
        (["x*y", "z**3"], {"z": "0"}, DegenerateStart, None),
        (["x - x + 2", "y"], {}, InputError, "constant"),
        (["x*y - x*y + x + y - y"], {}, InputError, "leave it out"),
        # With both columns of W aligned W W^T keeps rank one.
        (["a**2+b**2", "c**2+d**2", "a*c+b*d"], {"a": "1", "b": "0", "c": "1", "d": "0"},
         DegenerateStart, "move together"),
    ],
)  # fmt: skip
def test_outputs_and_starts_that_cannot_move_are_refused(outputs, start, error, why):
    ask = derive_once if why == "move together" else Parameterization.parse
    with pytest.raises(error, match=why):
        ask(outputs, start)


@pytest.mark.parametrize("power", [2, 3, 7])
def test_start_on_a_fold_that_the_flow_leaves(power):
    """J has rank 1 at x = 0, but x' = lambda_1 + ... leaves it at once: rank 2 is reached."""
    outputs = ["x", f"x**{power}*y"]
    d = derive_once(outputs, {"x": "0", "y": "1"})
    assert d.verdict is not Verdict.PROVED


def test_degree_is_eulers():
    assert Parameterization.parse(["a*b*u1", "a*b*u2"]).degree == 3
    assert Parameterization.parse(["x/y"]).degree == 0
    assert Parameterization.parse(["x**2", "x*y*z"]).degree is None
    assert Parameterization.parse(["1/x-1/y"]).degree == -1


def test_blocks_ignore_weights_that_cancel():
    assert Parameterization.parse(["a*u1", "a*u2", "w**2"]).blocks == ((0, 1), (2,))
    assert Parameterization.parse(["x + z - z", "z"]).blocks == ((0,), (1,))
    assert Parameterization.parse(["x*y", "z", "y + t"]).blocks == ((0, 2), (1,))


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["y**2+2*z**2"], {"y": "0", "z": "1"}),
        (["x", "y**2+2*z**2"], {"x": "2", "y": "0", "z": "-1"}),
        (["x*y+y*z+z*x"], {"x": "alpha", "y": "alpha", "z": "alpha"}),
        (["sqrt(x*y+y*z+z*x)"], {"x": "1", "y": "1", "z": "1"}),
    ],
)
def test_law_with_a_pole_at_the_start(outputs, start):
    d = derive_once(outputs, start)
    assert len(d.conserved.values) == len(d.conserved.laws)
    for conserved in (block.metric.conserved for block in d.blocks):
        at_start = map(conserved.parameterization.at_start, conserved.laws)
        assert len([*at_start]) == len(conserved.laws)


def test_a_point_where_the_rank_drops_is_passed_over():
    """At a = b = c = d the fields of W W^T are dependent."""
    lie = find_lie_structure(Parameterization.parse(["a**2 + c**2", "a*b + c*d", "b**2 + d**2"]))
    assert lie.point is not None
    values = [value for _, value in lie.point]
    assert any(x != y for x, y in pairwise(values))


def test_dependent_fields_are_never_called_independent():
    p = Parameterization.parse(["exp(x)*u", "exp(x)*v"])
    first, second = p.fields
    total = tuple(2 * x + p.F[0] * y for x, y in zip(first, second, strict=True))
    assert independent_point(p, (first, second)) is not None
    assert independent_point(p, (first, second, total)) is None


@pytest.mark.parametrize(
    ("outputs", "dimension", "laws"),
    [
        (["w"], 1, 0),
        (["p**2-m**2"], 1, 1),
        (["u*v-x*y"], 1, 3),
        (["p**3-m**3"], 1, 1),
        (["a*u1", "a*u2"], 2, 1),
        (["a*b*u1", "a*b*u2"], 2, 2),
        (["a**2+b**2", "a*c+b*d", "c**2+d**2"], 4, 0),
        (["a*e+b*f", "a*g+b*h", "c*e+d*f", "c*g+d*h"], 5, 3),
        (HOPF, 4, 0),
        (["x", "(x-z)**2/2+y"], 3, 0),
    ],
)
def test_dimension_and_laws(outputs: list[str], dimension: int, laws: int) -> None:
    p = Parameterization.parse(outputs)
    lie = find_lie_structure(p)
    found = find_conserved(lie)
    assert lie.commuting == all(
        x.is_zero() for i, X in enumerate(p.fields) for Y in p.fields[:i] for x in bracket(X, Y)
    )
    if lie.dimension + laws == p.p:
        assert found.verdict is Verdict.PROVED
    assert len(found.laws) <= p.p - lie.dimension
    assert (lie.dimension, len(found.laws)) == (dimension, laws)
    assert all(along(X, law).is_zero() for law in found.laws for X in p.fields)
