"""The fields that the checker computes with: brackets, forced warps and what stays on a leaf."""

import pytest

from derive.certificate.checking.flow import Flow
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


def test_what_lives_on_a_leaf_is_told_from_what_is_0_there():
    space, flow = flow_of("xy", ["x*y"], "2 2", "hessian")
    read = space.read
    lives = {"x": True, "x - 2": True, "(x - 2)**2*y": True, "x - y": False, "(x - y)**2": False}
    assert {text: flow.lives(read(text).top) for text in lives} == lives
    space, flow = flow_of("xy", ["x", "y**2"], "0 1", "hessian")
    lives = {"x**3": True, "y - 1": True, "x*(y - 1)": True}
    assert {text: flow.lives(space.read(text).top) for text in lives} == lives


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
