"""Forms of Q in a weight, by quadrature of what is printed, at the ends of a flow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import mpmath
import sympy
from sympy import Expr
from sympy.utilities.lambdify import implemented_function

from derive.language import parse_expression, to_sympy
from derive.potential.piece import Curve
from derive.records import Potential
from numerics.confirm.regression_problem import Copy, digits_of
from numerics.evaluate.lowering import unchecked
from numerics.evaluate.numbers import Real, compiled, rational

Values: TypeAlias = Mapping[str, Real]


def path_agreement(potential: Potential, copy: Copy, digits: int) -> float | None:
    """Return the digits to which forms in a weight give beta, dQ/dbeta and Q where a flow ends.

    There both are known from an ODE in the weights, which knows no formula of Q. None where no
    form is in a weight.
    """
    p, found = potential.parameterization, list[float]()
    _, form = unchecked(potential, copy.start, digits)
    with mpmath.workdps(digits):
        gradient, limit = form.gradient(copy.limit), copy.limit
        known = form.value(limit) - form.value(list(map(rational, form.beta0)))
        for (i, *_), piece in zip(p.blocks, potential.pieces, strict=True):
            path = piece.curve
            if path is None or not path.weight:
                continue
            values = {name: rational(x) for name, x in copy.start.items()}
            (beta,), (slope,) = piece.betas, piece.gradient
            values |= {s.name: evaluated(e, values) for s, e in piece.constants}
            begin, end = (on_curve(path, w) for w in (copy.begin, copy.end))
            slope, value = (with_roots(e, path, begin | values) for e in (slope, piece.value))
            there = {**values, **end, beta.name: limit[i]}
            shown = evaluated(path.beta, there), evaluated(slope, there)
            found += [
                digits_of(x - y, y) for x, y in zip(shown, (limit[i], gradient[i]), strict=True)
            ]
            if len(potential.pieces) == 1:
                whole, here = value.xreplace({beta: path.beta}), {**values, **begin}
                rise = evaluated(whole, there) - evaluated(whole, here)
                found.append(digits_of(rise - known, gradient[i] * limit[i]))
    return min(found, default=None)


def on_curve(path: Curve, weights: Values) -> dict[str, Real]:
    """Return t, and the roots above it, at a point of the flow."""
    roots = {A.name: weights[w] for w, A, _ in path.roots}
    own = to_sympy(parse_expression(path.weight), {w: sympy.Symbol(w) for w in weights})
    return {path.parameter.name: evaluated(own, weights), **roots}


def with_roots(expression: Expr, path: Curve, values: Values) -> Expr:
    """Return an expression in which A(x) is found in numbers, as a root from its start."""
    for _, A, zero in path.roots:
        own = (A.name, path.parameter.name)
        names = sorted({s.name for s in zero.free_symbols} - {*own})
        f, given = compiled([zero], [*own, *names], "mpmath"), [values[name] for name in names]
        known = partial(_root, f, given, values[A.name], bool(A.is_positive))
        found = implemented_function(A.name, known)
        expression = expression.replace(sympy.Function(A.name, real=True), found)
    return expression


def _root(
    f: Callable[..., list[Real]], given: Sequence[Real], guess: Real, is_positive: bool, t: Real
) -> Real:
    """Return the root of a function increasing in A, between bounds that go away from a guess."""

    def at(A: Real) -> Real:
        return f(A, t, *given)[0]

    low, high, step = guess, guess, mpmath.mpf(1)
    while at(low) > 0:
        low, step = (low / 4 if is_positive else low - step), 2 * step
    while at(high) < 0:
        high, step = high + step, 2 * step
    return low if low == high else mpmath.findroot(at, (low, high), solver="anderson")


def evaluated(expression: Expr, values: Values) -> Real:
    """Return an expression at numbers, its integrals by quadrature."""
    numbers = {sympy.Dummy(f"i{n}"): e for n, e in enumerate(expression.atoms(sympy.Integral))}
    whole = expression.xreplace({integral: symbol for symbol, integral in numbers.items()})
    known = {**values, **{s.name: _integral(e, values) for s, e in numbers.items()}}
    names = sorted({s.name for s in whole.free_symbols})
    value: Real = compiled([whole], names, "mpmath")(*(known[name] for name in names))[0]
    return value


def _integral(integral: Expr, values: Values) -> Real:
    ((x, *ends),) = integral.limits
    names = sorted({s.name for s in integral.function.free_symbols} - {x.name})
    f = compiled([integral.function], [x.name, *names], "mpmath")
    known = [values[name] for name in names]
    value: Real = mpmath.quad(lambda u: f(u, *known)[0], [evaluated(e, values) for e in ends])
    return value
