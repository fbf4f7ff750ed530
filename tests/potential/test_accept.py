"""What is printed of a single output is accepted only as it stands: each part broken in turn."""

from dataclasses import replace

import pytest
import sympy

from derive import Parameterization, derive
from derive.clock import Clock, OutOfTime
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression
from derive.potential import accept, coupled, kernel_integral, parametric
from derive.potential.shortest import has_gradient
from derive.render.text import unmark
from tests.published import derive_once

pytestmark = pytest.mark.every(2)

MODELS = [
    ("w**2", {}),
    ("-w**3", {"w": "s"}),
    ("exp(w)", {}),
    ("p**2 - m**2", {"p": "alpha", "m": "alpha"}),
    ("u*v - x*y", {}),
    ("a*b + a + 3*b", {}),
    ("a*b + c*d + 1", {"a": "2", "b": "3", "c": "4", "d": "5"}),
    ("sqrt(2)*w**3", {}),
    ("w**7/3", {}),
    ("sin(w)", {}),
    ("tan(w)", {}),
]


BREAKS = {
    "the value has another sign": lambda p: replace(p, value=-p.value),
    "the value lacks its last term": lambda p: replace(
        p, value=sympy.Add(*sympy.Add.make_args(p.value)[:-1])
    ),
    "the value has a linear term more": lambda p: replace(p, value=p.value + p.betas[0] / 7),
    "Q is concave": lambda p: replace(p, value=-p.value, gradient=(-p.gradient[0],)),
    "Q is concave and K negative": lambda p: replace(
        p, value=-p.value, gradient=(-p.gradient[0],), kernel=-p.kernel
    ),
    "K is twice as large": lambda p: replace(
        p, value=p.value / 2, gradient=(p.gradient[0] / 2,), kernel=2 * p.kernel
    ),
    "the gradient is not 0 at the start": lambda p: replace(
        p, value=p.value + p.betas[0], gradient=(p.gradient[0] + 1,)
    ),
}


def accepted_as(monkeypatch, output, start, how):
    found = []

    def spy(relation, piece):
        found.append(accept.accept_explicit(relation, how(piece)))
        return found[-1]

    monkeypatch.setattr(kernel_integral, "accept_explicit", spy)
    d = derive(Parameterization.parse([output], start))
    return found, d.potential.pieces[0]


@pytest.mark.every(16)
@pytest.mark.parametrize("fault", BREAKS)
@pytest.mark.parametrize(("output", "start"), MODELS)
def test_what_is_printed_is_accepted_and_a_broken_part_is_not_printed(
    monkeypatch, output, start, fault
):
    found, piece = accepted_as(monkeypatch, output, start, lambda p: p)
    assert found[-1] is not None
    assert piece.kind == "explicit"
    statements = [unmark(e.statement) for e in piece.evidence]
    slope = str(piece.gradient[0]).replace("Abs", "abs")
    assert {"Q'' K = 1", f"dQ/dbeta = {slope}"} <= {*statements}
    assert not any(e.point for e in piece.evidence)
    found, piece = accepted_as(monkeypatch, output, start, BREAKS[fault])
    assert found
    assert all(p is None for p in found)
    # Another coordinate of the leaf may serve, whose own identities are shown.
    statements = [unmark(e.statement) for e in piece.evidence]
    assert piece.kind != "explicit" or "mu = 0 at the start" in statements


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("sqrt(12*x + 24) - 2*sqrt(x/2 + 1)*sqrt(6)", True),
        ("sqrt(12*x + 24) - 3*sqrt(x/2 + 1)*sqrt(6)", False),
        ("(2*x)**(2/3)*2**(5/6) - 2*sqrt(2)*x**(2/3)", True),
        ("(2*x)**(2/3)*2**(5/6) - 2*x**(2/3)", False),
        ("sqrt(6) - sqrt(2)*sqrt(3)", True),
        ("sqrt(5) - sqrt(2)*sqrt(3)", False),
        ("(4*x**4 + y**2/9)**(1/2) - (36*x**4 + y**2)**(1/2)/3", True),
        ("sqrt(4*x**4) - 2*x**2", True),
        ("8**(1/6) - sqrt(2)", True),
        ("(8*x)**(-1/2) - 2**(1/2)*x**(-1/2)/4", True),
    ],
)
def test_numbers_under_roots_stand_apart(text, holds):
    (element,) = build_elements([parse_expression(text)], ("x", "y"))
    assert element.is_zero() is holds


CURVES = [
    ("p**5 - m**5", {"start": {"p": "alpha", "m": "alpha"}}),
    ("p**D - m**D", {"parameters": ["D"]}),
    ("2*a*b + c*d", {}),
    ("exp(w) + exp(2*v)", {}),
    ("sqrt(u) - sqrt(v)", {}),
    ("log(a*b)", {}),
    ("p**3 - m**3", {"start": {"p": "alpha", "m": "alpha"}}),
]
FAULTS = {
    "a weight is doubled": lambda c: replace(c, weights=_scaled(c.weights, 2)),
    "a weight has another sign": lambda c: replace(c, weights=_scaled(c.weights, -1)),
    "time runs twice as fast": lambda c: replace(c, mu=2 * c.mu),
    "time runs backwards": lambda c: replace(c, mu=-c.mu),
}


def _scaled(weights, factor):
    first = next(iter(weights))
    return {**weights, first: factor * weights[first]}


@pytest.mark.every(16)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("output", "options"), CURVES)
def test_a_curve_is_printed_when_it_is_the_flow_and_not_otherwise(
    monkeypatch, output, options, fault
):
    (piece,) = derive_once(output, **options).potential.pieces
    assert piece.time_curve is not None
    shown = {e.statement: e for e in piece.evidence}
    assert shown["beta = F(w(mu))"].left == str(piece.curve.beta)
    assert "d(mu beta - Q)/dmu = beta" in shown

    def broken(p, R, notation, proposal):
        return accept.accept_parametric(p, R, notation, FAULTS[fault](proposal))

    monkeypatch.setattr(parametric, "accept_parametric", broken)
    (piece,) = derive(Parameterization.parse([output], **options)).potential.pieces
    assert piece.time_curve is None


@pytest.mark.parametrize("name", ["powdenest", "expand_power_base"])
def test_a_wrong_rewriting_of_powers_is_not_printed(monkeypatch, name):
    model = Parameterization.parse(["p**D - m**D"])
    original = getattr(sympy, name)
    monkeypatch.setattr(accept.sympy, name, lambda e, force=False: 2 * original(e, force=force))
    (piece,) = derive(model).potential.pieces
    assert piece.curve is None
    assert piece.kind == "quadrature" or piece.lift is not None


def test_a_curve_is_accepted_in_the_functions_in_which_it_is_printed(monkeypatch):
    model = Parameterization.parse(["W + a*b"])
    (piece,) = derive_once(model).potential.pieces
    assert piece.curve.beta.has(sympy.cosh)
    assert piece.value.has(sympy.cosh)
    assert dict(piece.curve.weights)["a"].has(sympy.cosh)
    original = accept.with_hyperbolic
    for wrong in (sympy.sinh, sympy.cosh):
        monkeypatch.setattr(
            accept, "with_hyperbolic", lambda e, f=wrong: original(e).replace(f, lambda a: 2 * a)
        )
        (other,) = derive(model).potential.pieces
        assert other.time_curve is None


def test_a_check_ends_with_the_time_that_was_given():
    x = sympy.Symbol("x", real=True)
    zero, p = (1 + x) ** 2 - 1 - 2 * x - x**2, Parameterization.parse(["w**2"])
    assert accept.ZeroTest(p, {}).vanishes(zero)
    with pytest.raises(OutOfTime):
        accept.ZeroTest(p.within(Clock.of(0)), {}).vanishes(zero)


@pytest.mark.every(12)
@pytest.mark.parametrize(
    "outputs",
    [["a*u1", "a*u2"], ["a*b*u1", "a*b*u2"], ["u*v + x*y", "u*y + x*v"], ["a + b", "a*b"]],
)
@pytest.mark.parametrize("factor", [0, -1, 2])
def test_another_value_of_several_outputs_is_not_printed(outputs, factor, monkeypatch):
    right = derive(Parameterization.parse(outputs)).potential.pieces[0]
    assert has_gradient(right)
    wrong = replace(right, value=factor * right.value)
    assert not has_gradient(wrong)
    written = coupled._value
    monkeypatch.setattr(coupled, "_value", lambda *given: factor * written(*given))
    piece = derive(Parameterization.parse(outputs)).potential.pieces[0]
    assert piece.value != wrong.value
    assert piece.kind == "quadrature" or has_gradient(piece)
