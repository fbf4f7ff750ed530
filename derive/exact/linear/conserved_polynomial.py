"""Polynomials in two functions of the weights that a flow conserves, by exact linear algebra."""

from __future__ import annotations

from collections.abc import Sequence

from flint import nmod

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import dot
from derive.exact.linear.modular import nullspace, random_point_and_parameters, residue_matrix
from derive.exact.linear.monomials import Grading, Samples


def conserved_polynomial(
    flow: Sequence[RationalFunction], f: RationalFunction, g: RationalFunction
) -> dict[tuple[int, int], int] | None:
    """Return C(f, g) with f in it, as {(i, j): c_ij}, <grad C, flow> = 0 exactly, or None."""
    field = f.field
    slopes = [dot(flow, field.gradient(x)) for x in (f, g)]
    grading = Grading.of((f, g))
    samples = Samples((f, g, *slopes), random_point_and_parameters)
    for total in range(1, (24 if grading.exact else 10) + 1):
        exponents = [(i, j) for i, j in grading.monomials(total) if i or j]
        if not any(i for i, _ in exponents):
            continue
        points = samples.first(len(exponents) + 4)
        rows = [[_slope(i, j, s) for i, j in exponents] for s in points]
        for vector in sorted(nullspace(residue_matrix(rows)), key=lambda v: sum(map(bool, v))):
            found = {e: c for e, c in zip(exponents, vector, strict=True) if c}
            if _is_conserved(found, f, g, slopes):
                return found
    return None


def _slope(i: int, j: int, sample: Sequence[nmod]) -> nmod:
    f, g, df, dg = sample
    left = i * f ** (i - 1) * df * g**j if i else 0 * f
    return left + (j * g ** (j - 1) * dg * f**i if j else 0)


def _is_conserved(
    polynomial: dict[tuple[int, int], int],
    f: RationalFunction,
    g: RationalFunction,
    slopes: Sequence[RationalFunction],
) -> bool:
    """Tell whether a polynomial in f, with f in it, has no slope along the flow."""
    if not any(i for i, _ in polynomial):
        return False
    total = f.field.zero
    for (i, j), c in polynomial.items():
        if i:
            total += c * i * f ** (i - 1) * g**j * slopes[0]
        if j:
            total += c * j * f**i * g ** (j - 1) * slopes[1]
    return total.is_zero()
