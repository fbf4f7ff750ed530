"""Towers of elementary functions: what is proved zero is zero, on the branch at the point."""

from fractions import Fraction

import pytest

from derive.exact.towers.elementary_germ import Elementary
from derive.exact.towers.germ import Unsettled
from derive.language import parse_expression


def is_zero(text, **point):
    tree = parse_expression(text)
    tower = Elementary({name: Fraction(x) for name, x in point.items()}, [tree])
    return tower.is_zero(tower.read(tree))


@pytest.mark.parametrize(
    ("text", "w"),
    [
        ("sinh(asinh(w)) - w", 2),
        ("asinh(sinh(w)) - w", -2),
        ("sin(w)**2 + cos(w)**2 - 1", 1),
        ("sin(3*w) - 3*sin(w) + 4*sin(w)**3", 1),
        ("tan(w) - sin(w)/cos(w)", 5),
        ("sin(w/2)**2 - (1 - cos(w))/2", 1),
        ("cos(-w/3) - cos(w/3)", 1),
        ("sin(-w) + sin(w)", 1),
        ("(w**(4/3))**(3/2) - w**2", 3),
        ("exp(2*log(w/2)) - w**2/4", 1),
        ("exp(w/2)**2 - exp(w)", 1),
        ("sqrt(exp(w)) - exp(w/2)", 1),
        ("tanh(w) - (exp(2*w) - 1)/(exp(2*w) + 1)", 1),
        ("sqrt(2)*sqrt(3) - sqrt(6)", 1),
        ("sqrt(w**2) - w", 2),
        ("sqrt(w**2) + w", -2),
        ("log(w**2) - 2*log(w)", 2),
        ("log(6) - log(2) - log(3)", 1),
        ("2*log(sqrt(w)) - log(w)", 3),
        ("log(exp(w)*sqrt(w + 1)) - w - log(w + 1)/2", 3),
        ("1/(1 + sqrt(w)) - (1 - sqrt(w))/(1 - w)", 3),
        ("sqrt(5 + 2*sqrt(6)) - sqrt(2) - sqrt(3)", 1),
        ("sqrt(w - w) + (w - w)**(4/3)", 1),
        ("sqrt(sqrt(w**2 + 1) - 1)*sqrt(sqrt(w**2 + 1) + 1) - w", 2),
    ],
)
def test_proved_zero(text, w):
    assert is_zero(text, w=w)


@pytest.mark.parametrize(
    ("text", "w"),
    [
        ("sqrt(w**2) - w", -2),
        ("sqrt(w**2) + w", 2),
        ("sin(w) - w", 1),
        ("exp(w) - 1 - w", 1),
        ("sin(w)**2 - sinh(w)**2", 1),
        ("log(w + 1) - log(w)", 1),
        ("sqrt(w + 1) - sqrt(w) - 1", 2),
        ("exp(2*w) - 2*exp(w)", 1),
        ("w - w**2", 1),
        ("sqrt(sqrt(w**2 + 1) - 1)*sqrt(sqrt(w**2 + 1) + 1) - w", -2),
        ("sqrt(5 - 2*sqrt(6)) - sqrt(2) + sqrt(3)", 1),
        ("sqrt(w + 1) - sqrt(w) - 1", "1/10000000000000000000000000000000000000000"),
    ],
)
def test_not_proved(text, w):
    assert not is_zero(text, w=w)


@pytest.mark.parametrize("text", ["log(w)", "sqrt(w)", "log(w + 1)", "w**(1/3)"])
def test_a_branch_that_is_not_real_is_refused(text):
    with pytest.raises(Unsettled):
        is_zero(text, w=-1)


@pytest.mark.parametrize(
    ("text", "w"),
    [
        ("1/(w + 1) - 1/(w + 1)**2 - w/(w + 1)**2 + 1/(w + 1)", -1),
        ("1/(log(7 + 4*sqrt(3)) - 2*log(2 + sqrt(3)))", 1),
        ("(sqrt(w**2 + 1) - 1)**(-2)", 0),
        ("(w - w)**(-1/2)", 1),
    ],
)
def test_division_by_what_may_be_zero_is_refused(text, w):
    with pytest.raises(Unsettled, match="division by what may be zero"):
        is_zero(text, w=w)


def test_derivatives_follow_the_rules():
    for text, slope in (
        ("exp(3*w)", "3*exp(3*w)"),
        ("log(w**2 + 1)", "2*w/(w**2 + 1)"),
        ("asinh(2*w)", "2/sqrt(1 + 4*w**2)"),
        ("tan(w)", "1 + tan(w)**2"),
        ("cos(2*w)", "-2*sin(2*w)"),
        ("atan(3*w)", "3/(1 + 9*w**2)"),
        ("softplus(w)", "sigmoid(w)"),
        ("tanh(w/2)", "2*sigmoid(w)*(1 - sigmoid(w))"),
        ("w**(5/3)", "5/3*w**(2/3)"),
        ("sqrt(1 + sqrt(w))", "1/(4*sqrt(w)*sqrt(1 + sqrt(w)))"),
        ("sinh(w)*cosh(w)", "cosh(2*w)"),
    ):
        trees = [parse_expression(text), parse_expression(slope)]
        tower = Elementary({"w": Fraction(2, 3)}, trees)
        function, expected = (tower.read(tree) for tree in trees)
        assert tower.is_zero(tower.derivative(function) - expected), text
        assert not tower.is_zero(tower.derivative(function) - expected - 1)
