"""K in beta, by roots that are numbered: against J J^T at points of the leaf."""

import mpmath
import pytest
import sympy
from witness_flow import Model, evaluate, number, real_roots

from tests.published import derive_once

SCALAR = ("y/(1+y**2)", "-2*y/(1+y**2)", "y**3-12*y", "y**3-y/12")
POINTS = [  # outputs, their start, the weights there, and whether K has roots with numbers
    (["y/(1+y**2)"], {"y": "1/2"}, ["1/2"], True),
    (["-2*y/(1+y**2)"], {"y": "2"}, ["2"], True),
    (["x*y*z", "z"], {"x": "1", "y": "1/2", "z": "-1"}, ["1", "1/2", "-1"], True),
    (["x*y*z", "z"], {"x": "1", "y": "1/2", "z": "1"}, ["1", "1/2", "1"], True),
    (["a*u1", "a*u2"], {"a": "-2", "u1": "1", "u2": "3"}, ["-2", "1", "3"], True),
    (["x**2*y"], {}, ["1", "-2"], False),
    *(([F], {"y": "alpha"}, [y], False) for y in ("1/2", "2", "-1/2", "-2") for F in SCALAR),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("outputs", "start", "w", "rooted"), POINTS)
def test_the_kernel_holds_and_the_number_of_a_root_names_that_of_its_formula(
    outputs, start, w, rooted
):
    """No K in beta is an honest answer, a wrong branch is not."""
    d = derive_once(outputs, start)
    model, kernel = Model.of(outputs, d.parameterization.weights), d.metric.kernel
    with mpmath.workdps(30):
        weights = [number(x) for x in w]
        values, readings = on_leaf(d, model, weights)
        assert readings or not rooted
        for explicit, numbered in readings:
            assert explicit is None or abs(explicit - numbered) < 1e-12
        if kernel is not None:
            expected, point = model.kernel(weights), {sympy.Symbol(n): v for n, v in values.items()}
            for i in range(model.d):
                for j in range(model.d):
                    assert abs(evaluate(kernel[i, j], point) - expected[i][j]) < 1e-12


def on_leaf(d, model, weights):
    """Return the values at a point, and each root by its formula and by its number."""
    values = dict(zip(d.parameterization.start_symbols, weights, strict=False))
    values |= {b.name: x for b, x in zip(d.beta, model.F(*weights), strict=True)}

    def at(expression):
        return evaluate(expression, {sympy.Symbol(n): v for n, v in values.items()})

    for symbol, value in d.metric.constants:
        values[symbol.name] = at(value)
    readings = []
    for root in d.metric.roots:
        real = real_roots([at(c) for c in sympy.Poly(root.polynomial, root.symbol).all_coeffs()])
        explicit = None if root.explicit is None else at(root.explicit)
        if root.from_above is None:
            # Only the formula says which root it is: it must be one.
            numbered = min(real, key=lambda x: abs(x - explicit))
        else:
            assert root.from_above < len(real), "there is no such real root"
            numbered = real[root.from_above]
        readings.append((explicit, numbered))
        values[root.symbol.name] = numbered if explicit is None else explicit
    return values, readings
