"""K in beta, by roots that are numbered: against J J^T at points of the leaf."""

from __future__ import annotations

from typing import Any

import mpmath
import pytest
import sympy
from witness_flow import Model, evaluate, number, real_roots

from derive import Derivation
from derive.potential.piece import Root
from tests.published import derive_once

pytestmark = pytest.mark.every(3)


def numbers(symbols: dict[str, str]) -> dict[str, Any]:
    return {name: number(value) for name, value in symbols.items()}


@pytest.mark.every(9)
@pytest.mark.parametrize("value", ["1/2", "2", "-1/2", "-2"])
@pytest.mark.parametrize("output", ["y/(1+y**2)", "-2*y/(1+y**2)", "y**3-12*y", "y**3-y/12"])
def test_kernel_of_a_symbolic_start_holds_at_every_start(output: str, value: str) -> None:
    check_kernel([output], {"y": "alpha"}, {"alpha": value}, [value])


def test_kernel_of_a_product_with_a_square_is_positive() -> None:
    check_kernel(["x**2*y"], None, {"x_0": "1", "y_0": "-2"}, ["1", "-2"])


def check_kernel(
    outputs: list[str], start: dict[str, str] | None, symbols: dict[str, str], w: list[str]
) -> None:
    """Compare K(beta) with J J^T; None is an honest answer, a wrong branch is not."""
    d = derive_once(outputs, start)
    kernel = d.metric.kernel
    if kernel is None:
        return
    model = Model.of(outputs, d.parameterization.weights)
    with mpmath.workdps(30):
        weights = [number(x) for x in w]
        values, readings = on_leaf(d, model, weights, numbers(symbols))
        for root, explicit, numbered in readings:
            values[root.symbol.name] = numbered if explicit is None else explicit
        expected = model.kernel(weights)
        point = {sympy.Symbol(n): v for n, v in values.items()}
        for i in range(model.d):
            for j in range(model.d):
                assert abs(evaluate(kernel[i, j], point) - expected[i][j]) < 1e-12


def on_leaf(
    d: Derivation, model: Model, weights: list[Any], values: dict[str, Any]
) -> tuple[dict[str, Any], list[tuple[Root, Any, Any]]]:
    """Return the values at a point, and each root by its formula and by its number."""
    values = values | {b.name: x for b, x in zip(d.beta, model.F(*weights), strict=True)}

    def at(expression: Any) -> Any:
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
        readings.append((root, explicit, numbered))
        values[root.symbol.name] = numbered if explicit is None else explicit
    return values, readings


@pytest.mark.parametrize(
    ("outputs", "start", "w"),
    [
        (["y/(1+y**2)"], {"y": "1/2"}, ["1/2"]),
        (["-2*y/(1+y**2)"], {"y": "2"}, ["2"]),
        (["x*y*z", "z"], {"x": "1", "y": "1/2", "z": "-1"}, ["1", "1/2", "-1"]),
        (["x*y*z", "z"], {"x": "1", "y": "1/2", "z": "1"}, ["1", "1/2", "1"]),
        (["a*u1", "a*u2"], {"a": "-2", "u1": "1", "u2": "3"}, ["-2", "1", "3"]),
    ],
)
def test_the_number_of_a_root_names_the_root_of_the_formula(
    outputs: list[str], start: dict[str, str], w: list[str]
) -> None:
    d = derive_once(outputs, start)
    model = Model.of(outputs, d.parameterization.weights)
    with mpmath.workdps(30):
        _, readings = on_leaf(d, model, [number(x) for x in w], {})
        assert readings
        for _, explicit, numbered in readings:
            assert abs(explicit - numbered) < 1e-12
