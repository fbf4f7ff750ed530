"""The fields that the checker computes with: brackets, forced warps and what stays on a leaf."""

import pytest
import sympy
from flint import arb, fmpq

from derive.certificate.checking.flow import Flow, determinant, independent
from derive.certificate.checking.function import Ring
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import Rejected


def space_of(weights, at, *calls):
    """Return a space of weights that start at constants x_0, ..., with values."""
    constants = [f"{w}_0" for w in weights]
    found = Space(list(weights), constants, len(calls) + 2)
    found.w0 = [found.read(c) for c in constants]
    found.start = found.started(dict(zip(constants, at.split(), strict=True)))
    for k, call in enumerate(calls):
        found.define({"name": f"c{k}", "of": call})
    return found


def flow_of(weights, outputs, at, kind="warp"):
    space = space_of(weights, at)
    F = [space.read(text) for text in outputs]
    X = [[f.derivative(k) for k in range(len(weights))] for f in F]
    space.fields = X
    return space, Flow(space, F, X, None, kind)


def test_brackets_and_derivatives_along_fields():
    space, flow = flow_of("xy", ["x**2*y", "y**3"], "3 5", "hessian")
    read, X = space.read, flow.X
    bracket = flow.bracket(X[0], X[1])
    assert bracket[0].same(read("-6*x*y**2"))
    assert bracket[1].same(read("6*x**2*y"))
    for f in (read("x"), read("x*y**2"), read("1/(x + y)")):
        one = flow.along(X[0], flow.along(X[1], f)) - flow.along(X[1], flow.along(X[0], f))
        assert flow.along(flow.field([2, 1])[0], f).same(one)
    twice = flow.derivative(read("x*y").top, [1, 2])
    assert twice.same(flow.along(X[1], flow.along(X[0], read("x*y"))))
    assert flow.K[0][1].same(read("3*x**2*y**2"))
    assert flow.position(2) == 1
    for label in (0, 3, "1", 1.0, None):
        with pytest.raises(Rejected, match="there is no output"):
            flow.position(label)
    for path in ([], [1]):
        with pytest.raises(Rejected, match="two outputs or more"):
            flow.sides(path, [1, 1])
    with pytest.raises(Rejected, match="a path has a number"):
        flow.field([])
    with pytest.raises(Rejected, match="a path has a number"):
        flow.field([1] * 13)
    assert all(x.is_zero() for x in flow.field([1] * 12)[0])
    for of in ([], [1, 2, 1]):
        with pytest.raises(Rejected, match="no condition"):
            flow.sides([1, 2], of)


def test_what_lives_on_a_leaf_is_told_from_what_is_0_there():
    space, flow = flow_of("xy", ["x*y"], "2 2", "hessian")
    read = space.read
    lives = {"x": True, "x - 2": True, "(x - 2)**2*y": True, "x - y": False, "(x - y)**2": False}
    assert {text: flow.lives(read(text).top) for text in lives} == lives
    space, flow = flow_of("xy", ["x", "y**2"], "0 1", "hessian")
    lives = {"x**3": True, "y - 1": True, "x*(y - 1)": True}
    assert {text: flow.lives(space.read(text).top) for text in lives} == lives


def test_rows_are_independent_and_determinants_expanded():
    one, two = fmpq(1), fmpq(2)
    assert independent([[one, two], [two, one]])
    assert independent([[one, two, one]])
    assert independent([])
    assert not independent([[one, two], [two, two * 2]])
    assert not independent([[one], [two]])
    assert not independent([[arb(0, 1), arb(1)], [arb(1), arb(0, 1)]])
    x, y, z = Ring(3, 3, 0).symbols
    symbols = dict(zip((x, y, z), sympy.symbols("x0:3"), strict=True))
    for rows in ([[x]], [[x, y], [z, x]], [[x, y, z], [y, x, y], [z, z, x]]):
        theirs = sympy.Matrix([[symbols[f] for f in row] for row in rows]).det()
        assert sympy.expand(sympy.sympify(str(determinant(rows).top).replace("^", "**"))) == (
            sympy.expand(theirs)
        )
    with pytest.raises(Rejected, match="too large"):
        determinant([[x] * 8] * 8)
    assert determinant([[x if i == j else y * 0 for j in range(7)] for i in range(7)]).same(x**7)


def test_ties_hold_at_the_start_and_along_the_flow():
    space, _ = flow_of("xyz", ["x*z + y*z"], "2 2 5")
    space.w0[1] = space.w0[0]
    space.relate([{"zero": "x - y", "main": "y"}])
    assert space.read("x**2 - y**2").is_zero()
    assert space.read("x - y").same(0)
    assert not space.read("x - z").is_zero()
    found = space.without_ties(space.read("x*y + y/z"))
    assert not found.uses(1)
    assert found.same(space.read("x**2 + x/z"))
    assert [str(f.top) for f in space.leads] == ["1"]
    for zero, main, why in [
        ("x - z", "z", "is not 0 at the start"),
        ("(x - y)**2 + 0*z", "z", "does not give z"),
        ("x_0 - x", "x", "does not stay 0"),
    ]:
        with pytest.raises(Rejected, match=why):
            space.relate([{"zero": zero, "main": main}])


def test_functions_at_the_start_and_what_the_flow_keeps():
    calls = ["exp(x)", "exp(x_0)", "Integral(t**2, t = y_0 .. y)", "sqrt(y**2 + 3)", "log(y - 2)"]
    space = space_of("xy", "2 3", *calls)
    read = space.read
    assert space.at_start(read("c0*x + c2")).same(read("c1*x_0"))
    assert space.at_start(read("7")).same(7)
    with pytest.raises(Rejected, match="at the start is not known"):
        space.at_start(read("c3"))
    assert space.near_start(read("c3 + y")).same(read("c3 + y_0"))
    assert space.near_start(read("c3**2 + y")).same(read("y**2 + 3 + y_0"))
    assert read("c2").derivative(1).same(read("y**2"))
    assert read("c2").derivative(0).is_zero()
    space.fields = [[read("x"), read("-y")]]
    assert [space.kept(read(t)) for t in ("x*y", "x_0", "x", "x**2*y**2 + x_0")] == [
        *(True, True, False, True)
    ]
    P, k = space.root("c3", "c3**2 - y**2 - 3")
    assert k == len(space.symbols) - 1
    assert [int(P.degrees()[j]) for j in (1, k)] == [2, 2]
    for name, text, why in [
        ("c3", "c3**2 - y**2 - 4", "does not solve"),
        ("c3", "y - y", "too high a degree"),
    ]:
        with pytest.raises(Rejected, match=why):
            space.root(name, text)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"name": "x", "is": "y"}, "given twice"),
        ({"name": "2x", "is": "y"}, "letters, digits"),
        ({"name": "f"}, "wrong entries"),
        ({"name": "f", "is": "x", "of": "exp(x)"}, "wrong entries"),
        ({"name": "f", "of": "x**y"}, "exponent changes"),
        ({"of": "x**y", "is": "x"}, "exponent changes"),
        ({"of": "exp(2*x)", "is": "x"}, "not shown to be x"),
        ({"name": "f", "of": "Integral(t, x = y_0 .. y)"}, "runs over a new name"),
        ({"name": "f", "of": "Integral(t*x, t = y_0 .. y)"}, "of x and of constants"),
        ({"name": "f", "of": "Integral(t, t = x_0 .. y)"}, "not 0 at the start"),
        ({"name": "f", "of": "sqrt(1 - x)"}, "no real value"),
    ],
)
def test_definitions_are_of_a_kind(entry, why):
    with pytest.raises(Rejected, match=why):
        space_of("xy", "2 3").define(entry)
