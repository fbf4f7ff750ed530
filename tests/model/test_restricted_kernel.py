"""K, rho and the unit of Q are those of F as it was given, whichever weights are left out.

The witness knows F alone: it walks from the start along combinations of grad F, and computes
J J^T in all weights there.
"""

from __future__ import annotations

from typing import Any

import mpmath
import pytest
import sympy

from derive import Derivation, Parameterization
from tests.published import derive_once
from tests.witness_flow import Model, number

BALANCED = {"a": "3", "b": "4", "u1": "9/5", "u2": "12/5", "v1": "12/5", "v2": "16/5"}
ORTHONORMAL = {"a": "0", "b": "0", "u1": "1", "u2": "0", "v1": "0", "v2": "1"}
TWO = ["a*u1 + b*v1", "a*u2 + b*v2"]

CASES = {
    "tied, of both signs": (["u*v*w*x"], {"u": "-1", "v": "-1", "w": "1", "x": "1"}),
    "several lengths": (["u*v*w", "p*q*r*s"], dict.fromkeys("uvwpqrs", "1")),
    "balanced neurons": (TWO, BALANCED),
    "an idle neuron": (TWO, {"a": "1", "b": "0", "u1": "2", "u2": "1", "v1": "0", "v2": "0"}),
    "an equivalent start": (TWO, ORTHONORMAL),
    "an affine output": (["u*v", "3 - 2*u*v", "x**2"], {"u": "1", "v": "1", "x": "2"}),
}


def points_of_the_leaf(outputs: list[str], start: dict[str, str]) -> list[tuple[Model, list[Any]]]:
    """Return points that the flow reaches under steering forwards and backwards."""
    model = Model.of(outputs, list(start))
    found = []
    for side in (1, -1):
        w = [number(x) for x in start.values()]
        for step in range(150):
            steering = [side * mpmath.cos(k + step / mpmath.mpf(40)) for k in range(model.d)]
            # Midpoint steps are good to 1e-7 here, far more than a wrong factor.
            half = [x + s / 2000 for x, s in zip(w, model.velocity(w, steering), strict=True)]
            w = [x + s / 1000 for x, s in zip(w, model.velocity(half, steering), strict=True)]
        found.append((model, w))
    return found


def printed(d: Derivation, matrix: sympy.Matrix, beta: list[Any]) -> sympy.Matrix:
    """Return a matrix in beta in numbers."""
    images = {b.name: sympy.Float(str(x), 30) for b, x in zip(d.beta, beta, strict=True)}
    for symbol, value in d.metric.constants:
        images[symbol.name] = value
    for root in reversed(d.metric.roots):
        matrix = matrix.subs(root.symbol, root.explicit)
    at = {s: images[s.name] for s in matrix.free_symbols}
    return matrix.subs(at).evalf(20)


@pytest.mark.every(6)
@pytest.mark.parametrize("name", CASES)
def test_the_printed_metric_is_that_of_all_weights(name: str) -> None:
    outputs, start = CASES[name]
    d = derive_once(Parameterization.parse(outputs, start=start))
    assert d.metric.kernel is not None
    assert d.metric.rho is not None
    kept = [label - 1 for label in d.potential.parameterization.labels]
    for model, w in points_of_the_leaf(outputs, start):
        full, F = model.kernel(w), model.F(*w)
        K = sympy.Matrix([[sympy.Float(str(full[i][j]), 20) for j in kept] for i in kept])
        beta = [F[i] for i in kept]
        size = max(abs(x) for x in K)
        assert max(abs(x) for x in printed(d, d.metric.kernel, beta) - K) < 1e-5 * size
        product = printed(d, d.metric.rho, beta) * K
        assert max(abs(x) for x in product - sympy.eye(len(kept))) < 1e-5


SINGLE = [CASES["tied, of both signs"], (["p*q*r - x*y*z"], dict.fromkeys("pqrxyz", "3/2"))]


@pytest.mark.parametrize(("outputs", "start"), SINGLE)
def test_the_second_derivative_of_the_printed_potential_is_one_over_kernel(
    outputs: list[str], start: dict[str, str]
) -> None:
    d = derive_once(Parameterization.parse(outputs, start=start))
    q = d.potential.numeric({})
    for model, w in points_of_the_leaf(outputs, start):
        ((K,),), (beta,) = model.kernel(w), model.F(*w)
        h = 1e-4
        slope = (q.gradient([float(beta) + h]) - q.gradient([float(beta) - h]))[0] / (2 * h)
        assert abs(slope * float(K) - 1) < 1e-4
