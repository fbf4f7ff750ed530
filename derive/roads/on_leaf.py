"""Functions of the weights on the leaf of the start: defined, not zero, functions of one t."""

from __future__ import annotations

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import dot
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Identity, Verdict
from derive.weights.equations import Equation
from derive.weights.lie import along
from derive.weights.metric import Metric
from derive.weights.witness import NotProved, is_zero_along_flow, require_equations

LARGE = 40
"""Terms of a function above which its derivatives are compared without their denominators."""


def is_defined(p: Parameterization, function: RationalFunction) -> bool:
    """Tell whether a function was proved to be finite somewhere on the leaf of the start."""
    try:
        p.at_start(function)
    except ZeroDivisionError:
        return not is_zero_along_flow(p, function.field.polynomial(function.denominator))
    return True


def is_not_zero(p: Parameterization, function: RationalFunction) -> bool:
    """Tell whether a function is defined and not zero at the start."""
    try:
        return not p.at_start(function).is_zero()
    except ZeroDivisionError:
        return False


def log_warp(metric: Metric, slope: Field, r: RationalFunction, factor: RationalFunction) -> Field:
    """Return H_a = X_a log g for g = psi factor, X_a log psi = r X_a t, X_a t = (K grad t)_a."""
    return tuple(
        r * dot(row, slope) + along(x, factor) / factor
        for row, x in zip(metric.K, metric.parameterization.fields, strict=True)
    )


def tangent(metric: Metric, H: Field) -> tuple[Field, ...]:
    """Return fields that span the tangent spaces of leaves, X_1, ..., X_d first, or NotProved."""
    lie = metric.lie
    fields = lie.parameterization.fields
    if all(
        z == H[a] * y - H[b] * x
        for (a, b), bracket in lie.brackets.items()
        for z, x, y in zip(bracket, fields[a], fields[b], strict=True)
    ):
        return fields
    if len(lie.spanning) + len(metric.conserved.laws) != lie.parameterization.p:
        reason = "the dimension of the leaf was not certified"
        raise NotProved(Finding(Verdict.UNDECIDED, reason))
    return lie.spanning


def require_function_of(
    metric: Metric, t: tuple[str, Field], r: tuple[str, RationalFunction], H: Field
) -> tuple[Identity, ...]:
    """Prove that r is a function of t, given by grad t != 0, on every leaf: dr || dt."""
    (of, slope), (name, function) = t, r
    if function.is_constant():
        return (Identity(f"{name} = {function!r}", repr(function), repr(function)),)
    p = metric.parameterization
    fields = tangent(metric, H)

    def along_t(z: Field) -> RationalFunction:
        return dot([dot(z, df) for df in p.covectors], slope)

    names = [f"X{label}" for label in p.labels]
    names += [f"Z{n}" for n in range(1, len(fields) - p.d + 1)]
    pairs = zip(p.labels, p.fields, strict=True)
    first, x = next((f"X{label}", x) for label, x in pairs if not along_t(x).is_zero())
    large = len(function.numerator) + len(function.denominator) > LARGE
    derived = _times_square if large else along
    cleared = f", times the square of the denominator of {name}" if large else ""
    by_t, by_r = along_t(x), derived(x, function)
    equations = (
        Equation(
            f"{z_name}({name}) {first}({of}) = {first}({name}) {z_name}({of}){cleared}",
            derived(z, function) * by_t,
            by_r * along_t(z),
        )
        for z_name, z in zip(names, fields, strict=True)
        if z is not x
    )
    refuted = f"{name} is no function of {of} alone: Q is not of this form"
    return require_equations(p, equations, refuted)


def _times_square(z: Field, r: RationalFunction) -> RationalFunction:
    """Return B^2 Z(A/B) = B Z(A) - A Z(B) for r = A/B: no common factor has to be found."""
    A, B = (r.field.polynomial(x) for x in r.parts)
    return B * along(z, A) - A * along(z, B)
