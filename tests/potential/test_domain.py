"""Half-spaces on which Q of coupled outputs is proved to be defined and strictly convex."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from derive import Derivation, Parameterization, Verdict, derive
from derive.potential.domain import HalfSpaces, find_half_spaces

CONVOLUTION = ["a*c+b*d", "a*d+b*c"]
SQUARES = ["x**2+y**2", "x*y"]
NEURON = ["a*u", "a*v"]
PRODUCT = ["a*c-b*d", "a*d+b*c"]


def derived(outputs: list[str], start: dict[str, str] | None = None) -> Derivation:
    return derive(Parameterization.parse(outputs, start))


def half_spaces(d: Derivation) -> HalfSpaces | None:
    (block,) = d.blocks
    return find_half_spaces(block.metric, block.notation)


@pytest.mark.parametrize(
    ("outputs", "start", "walls", "conditions"),
    [
        (["x+y", "x-y"], None, [], []),
        (SQUARES, None, ["beta1 - 2*beta2", "beta1 + 2*beta2"], []),
        (NEURON, {"a": "2", "u": "1", "v": "0"}, [], []),
        (
            CONVOLUTION,
            None,
            [],
            [f"a_0 {x} b_0 {y} c_0 {z} d_0" for x, y, z in ("--+", "-+-", "+--", "+++")],
        ),
        (CONVOLUTION, {"a": "2", "b": "1/2", "c": "0", "d": "1"}, [], []),
        (PRODUCT, None, [], ["a_0**2 + b_0**2 - c_0**2 - d_0**2"]),
    ],
)
def test_half_spaces(
    outputs: list[str], start: dict[str, str] | None, walls: list[str], conditions: list[str]
) -> None:
    found = half_spaces(derived(outputs, start))
    assert found is not None
    assert sorted(map(str, found.walls)) == sorted(walls)
    assert sorted(map(str, found.conditions)) == sorted(conditions)


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (NEURON, None),
        (NEURON, {"a": "1", "u": "2", "v": "0"}),
        (["a**2-b**2", "2*a*b"], None),
        (["x", "x*y"], {"x": "1", "y": "1"}),
        (CONVOLUTION, {"a": "2", "b": "1", "c": "2", "d": "1"}),
    ],
)
def test_a_domain_with_a_hole_or_open_signs_is_left_in_words(
    outputs: list[str], start: dict[str, str] | None
) -> None:
    """a u with |u| > |a| at the start has no beta = 0, nor has the square of a complex number."""
    d = derived(outputs, start)
    found = half_spaces(d)
    assert found is None or found.walls
    if found is None:
        assert d.potential.pieces[0].domain.startswith("the `beta` that the leaf")


def test_every_start_lies_inside() -> None:
    d = derived(SQUARES)
    found = half_spaces(d)
    assert found is not None
    rng = Random(3)
    for _ in range(40):
        x, y = (Fraction(rng.randint(-9, 9), rng.randint(1, 5)) for _ in range(2))
        inside = [w.subs(dict(zip(d.beta, (x**2 + y**2, x * y), strict=True))) for w in found.walls]
        assert all(v > 0 for v in inside) == (abs(x) != abs(y))


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (NEURON, {"a": "2", "u": "1", "v": "0"}),
        (SQUARES, {"x": "2", "y": "1"}),
        (CONVOLUTION, {"a": "2", "b": "1/2", "c": "0", "d": "1"}),
    ],
)
def test_q_lies_above_its_tangents_inside(outputs: list[str], start: dict[str, str]) -> None:
    """Q(b) > Q(a) + <grad Q(a), b - a>, far from the start too."""
    d = derived(outputs, start)
    found = half_spaces(d)
    assert found is not None
    numeric = d.potential.numeric()
    rng = np.random.default_rng(5)
    points: list[np.ndarray] = []
    while len(points) < 30:
        beta = rng.normal(size=2) * 20
        if all(float(w.subs(dict(zip(d.beta, beta, strict=True)))) > 0 for w in found.walls):
            points.append(beta)
    for a, b in zip(points[::2], points[1::2], strict=True):
        assert numeric.bregman(b, a) > 0
        slope = (numeric.gradient(b) - numeric.gradient(a)) @ (b - a)
        assert slope > 0


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("w**2", "`beta > 0`;"),
        ("exp(w)", "`beta > 0`;"),
        ("tanh(w)", "`-1 < beta < 1`;"),
        ("1/(1+w**2)", "`0 < beta < 1`;"),
        ("a*b", "all real `beta`;"),
        ("sqrt(1+w)", "`beta > 0`, as far as `F` is smooth;"),
        ("1/w", "the `beta` on the same side of `0` as `beta_0`, as far as `F` is smooth;"),
        ("sqrt(a**2+b**2)", "all real `beta`, as far as `F` is smooth;"),
        ("w**3 - w", "the interval around `beta_0` on which `K` is positive and finite;"),
    ],
)
def test_the_domain_of_one_output_in_words(output: str, says: str) -> None:
    """sqrt(a**2 + b**2) has K = 1 and no beta < 0: what K says of the domain is not all."""
    d = derived([output])
    assert d.potential.pieces[0].domain.startswith(says)


def test_a_kernel_with_a_pole_at_0() -> None:
    d = derived(["sqrt(1+w**2)"])
    assert d.verdict is Verdict.PROVED
    assert set(d.potential.pieces[0].ends) == {-1, 0, 1}
    q = derived(["sqrt(1+w**2)"], {"w": "1"}).potential.numeric({})
    assert np.isnan(q.gradient([-2.0, 0.5, 0.99])).all()
    assert np.isfinite(q.gradient([1.01, 2.0])).all()
