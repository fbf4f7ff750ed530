"""Zeros of systems of equations, enclosed and proved in balls by a step of Krawczyk's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from flint import arb, arb_mat

from derive.exact.balls import precise

System: TypeAlias = Callable[[list[arb]], tuple[arb_mat, arb_mat]]
"""From n numbers or balls to the values of n functions, a column, and their derivatives."""

BITS = 256
RADIUS = arb(2) ** -120
NEWTON = 12


def enclose(system: System, near: Sequence[float]) -> list[arb] | None:
    """Return balls that contain exactly one zero of a system, or None where that is not proved.

    x - Y f(x) + (1 - Y Df(Z)) (Z - x) lies in the interior of the box Z about x, Y near Df(x)^-1.
    """
    with precise(BITS):
        try:
            x = [arb(float(v)) for v in near]
            for _ in range(NEWTON):
                values, slopes = system(x)
                steps = slopes.solve(values).entries()
                x = [(a - b).mid() for a, b in zip(x, steps, strict=True)]
            radii = [RADIUS * (1 + abs(a)).upper() for a in x]
            return _contracted(system, x, radii)
        except ZeroDivisionError:
            return None


def _contracted(system: System, x: list[arb], radii: list[arb]) -> list[arb] | None:
    values, slopes = system(x)
    Y = slopes.mid().inv().mid()
    offsets = arb_mat([[arb(0, r)] for r in radii])
    _, around = system([a + z for a, z in zip(x, offsets.entries(), strict=True)])
    n = len(x)
    one = arb_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
    image = (one - Y * around) * offsets - Y * values
    if not all(abs(z) < r for z, r in zip(image.entries(), radii, strict=True)):
        return None
    return [a + z for a, z in zip(x, image.entries(), strict=True)]
