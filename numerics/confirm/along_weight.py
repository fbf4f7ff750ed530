"""Forms of Q in a weight, by quadrature of what is printed, at the ends of a flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import mpmath
import sympy
from sympy import Expr

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
            there = {**values, path.parameter.name: copy.end[path.weight], beta.name: limit[i]}
            shown = evaluated(path.beta, there), evaluated(slope, there)
            found += [
                digits_of(x - y, y) for x, y in zip(shown, (limit[i], gradient[i]), strict=True)
            ]
            if len(potential.pieces) == 1:
                whole = piece.value.xreplace({beta: path.beta})
                here = {**values, path.parameter.name: copy.begin[path.weight]}
                rise = evaluated(whole, there) - evaluated(whole, here)
                found.append(digits_of(rise - known, gradient[i] * limit[i]))
    return min(found, default=None)


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
