"""Which root of a polynomial a function of the weights is: read in numbers along a leaf."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy

from derive import Parameterization
from derive.exact.field.function_field import FunctionField
from derive.model.condition import Condition
from derive.model.notation import Notation
from derive.potential.branch import find_root, keeps_sign, sign_in, taylor, with_guards
from derive.potential.chart import base_chart
from tests.published import derive_once

SYMBOLS = {"u": "a", "v": "b"}
NUMBERS = {"u": "2", "v": "-1"}
LARGEST, CONTINUED = "the largest real root", "the root on the branch of the start"
ROOTS = [  # T, its polynomial in beta = u v and the law c, the start, the branch and the place
    ("u*v", ["-beta", "1"], SYMBOLS, "the root", 0),
    ("3*beta/(c + 5)", ["-3*beta", "c + 5"], SYMBOLS, "the root", 0),
    ("u**2", ["-beta**2", "-c", "1"], SYMBOLS, LARGEST, 0),
    ("v**2", ["-beta**2", "c", "1"], SYMBOLS, LARGEST, 0),
    ("-v**2", ["-beta**2", "-c", "1"], SYMBOLS, CONTINUED, 1),
    ("-v**2", ["beta**2", "c", "-1"], SYMBOLS, CONTINUED, 1),
    ("u**2 + v**2", ["-c**2 - 4*beta**2", "0", "1"], SYMBOLS, LARGEST, 0),
    ("-u**2 - v**2", ["-c**2 - 4*beta**2", "0", "1"], SYMBOLS, CONTINUED, 1),
    ("3*u**2", ["-9*beta**2", "-3*c", "1"], SYMBOLS, LARGEST, 0),
    ("u/v", ["-beta", "-c", "beta"], NUMBERS, CONTINUED, None),
    ("u**4", ["beta**4", "-c**2 - 2*beta**2", "1"], NUMBERS, None, 0),
    ("u", ["-beta**2", "0", "-c", "0", "1"], NUMBERS, "the real root that starts at 2", 0),
    ("v", ["-beta**2", "0", "c", "0", "1"], NUMBERS, "the real root that starts at -1", 1),
    ("u", ["-beta**2", "0", "-c", "0", "1"], SYMBOLS, None, None),
]


def metric_of(outputs, start):
    p = Parameterization.parse(outputs, start)
    return derive_once(p).blocks[0].metric, Notation(p, tuple(range(p.d)))


def chart_of(start):
    """Return the chart of beta = u v, with c its law."""
    return base_chart(*metric_of(["u*v"], start))


def read(chart, texts, weights):
    """Return elements of a field, given by texts."""
    c, (_, beta, _) = chart.entries[-1][1], chart.entries[0]
    field = c.field if weights else chart.coordinates.field
    names = dict(zip("uv", field.gens, strict=False)) | {"c": c, "beta": beta}
    if not weights:
        law, beta = field.gens[-1], field.gens[0]
        sign = 1 if c == chart.parameterization.w[0] ** 2 - chart.parameterization.w[1] ** 2 else -1
        names = {"c": sign * law, "beta": beta}
    return [field.one * eval(t, names) for t in texts]


@pytest.mark.parametrize(("T", "polynomial", "start", "branch", "above"), ROOTS)
def test_a_root_is_told_from_others(T, polynomial, start, branch, above):
    chart = chart_of(start)
    (function,), coefficients = read(chart, [T], True), read(chart, polynomial, False)
    found = find_root(chart, sympy.Symbol("T"), coefficients, function)
    if branch is None and above is None:
        assert found is None
        return
    root, resting = found
    assumed = resting.assumptions
    assert root.branch == (branch or root.branch)
    assert root.from_above == above
    assert bool(assumed) == root.branch.startswith("the real root")
    slopes = taylor(chart.coordinates, coefficients, function)
    assert root.slopes in ((), tuple(slopes))
    numbers = {"a": 2.0, "b": -1.0}
    images = {s: numbers[n] for n, s in chart.notation.start_symbols.items()}
    x = chart.notation.betas[0]
    for t in (0.0, 0.4, -0.7):  # u' = v, v' = u
        w = [2 * np.cosh(t) - np.sinh(t), -np.cosh(t) + 2 * np.sinh(t)]
        images |= {k: value.subs(images) for k, value in chart.constants} | {x: w[0] * w[1]}
        value = float(function.at([Fraction(float(z)) for z in w]))
        at = sympy.Poly(root.polynomial.subs(images), root.symbol).all_coeffs()
        roots = [z.real for z in np.roots([float(z) for z in at]) if abs(z.imag) < 1e-9]
        assert min(abs(z - value) for z in roots) < 1e-6
        if above is not None:
            assert sum(z > value + 1e-6 for z in roots) == above
        if root.explicit is not None:
            assert abs(float(root.explicit.subs(images)) - value) < 1e-9


@pytest.mark.parametrize(
    ("output", "T", "polynomial", "branch", "explicit"),
    [
        ("w**3 + w", "w", ["-beta", "1", "0", "1"], "the only real root", None),
        ("w**3 - w", "w", ["-beta", "-1", "0", "1"], None, None),
        ("w**3", "w**2", ["-beta**2", "0", "0", "1"], LARGEST, "Abs(beta)**(2/3)"),
    ],
)
def test_a_root_of_one_weight(output, T, polynomial, branch, explicit):
    chart = base_chart(*metric_of([output], {"w": "a"}))
    (w,), (beta,) = chart.parameterization.w, chart.coordinates.field.gens
    coefficients = [beta / beta * eval(text, {"beta": beta}) for text in polynomial]
    found = find_root(chart, sympy.Symbol("T"), coefficients, eval(T, {"w": w}))
    if branch is None:
        assert found is None
        return
    root, resting = found
    assert (root.branch, root.from_above, resting) == (branch, 0, chart)
    assert (root.explicit and str(root.explicit)) == explicit


u, v = FunctionField(("u", "v")).gens


@pytest.mark.parametrize(
    ("F", "start", "kept"),
    [
        # Where all laws are 0, all weights are 0 with one of them, and stay so.
        ("a*b*c", dict.fromkeys("abc", "alpha"), "abc"),
        ("a*b*c", {"a": "1", "b": "-1", "c": "2"}, "abc"),  # c^2 - a^2 = 3
        ("a*b*c", {"a": "1", "b": "2", "c": "2"}, "bc"),  # b^2 - a^2 = 3; a crosses 0
        ("a*b + c", dict.fromkeys("ab", "alpha"), "ab"),
        ("a*b + a", dict.fromkeys("ab", "1"), ""),  # a = 0 moves on
    ],
)
def test_the_flow_does_not_enter_what_it_does_not_leave(F, start, kept):
    metric, _ = metric_of([F], start)
    p = metric.parameterization
    for w, symbol in zip(p.w, p.weights, strict=True):
        assert (keeps_sign(metric, w) == ()) is (symbol in kept), symbol


def test_what_keeps_its_sign_is_proved_or_said():
    metric, notation = metric_of(["u*v"], SYMBOLS)
    u, v = metric.parameterization.w
    assert keeps_sign(metric, u**2 + v**2) == keeps_sign(metric, (u - 3) ** 2 * (u - v)) == ()
    said = keeps_sign(metric, u * (v + 2) ** 3)
    kept = ("u keeps its sign along the flow", "v + 2 keeps its sign along the flow")
    assert tuple(map(str, said)) == kept
    first, *others = with_guards((Condition(sympy.Symbol("a")), *said), metric)[1:]
    assert str(first) == f"{said[0]} (automatic when u**2 > v**2 at the start)"
    assert others == [said[1]]
    both = keeps_sign(metric, u * v)
    assert with_guards(both, metric) == both  # u**2 > v**2 and v**2 > u**2
    chart = base_chart(metric, notation)
    warped = SimpleNamespace(warp=-2 * u)
    assert sign_in(warped, u)[0] == sign_in(warped, 1 / u)[0] == -1
    assert sign_in(warped, -3 * u)[0] == 1
    known = base_chart(*metric_of(["u*v"], NUMBERS))
    sign, more = sign_in(known, known.parameterization.w[1])
    assert sign == -1
    (said,) = more.assumptions
    assert str(said) == "v keeps its sign along the flow"
    assert with_guards([said], known.metric) == (said,)  # v**2 > u**2 does not hold there
    assert chart.assumptions == ()
