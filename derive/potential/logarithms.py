"""Logarithms of Darboux polynomials, written in beta and at the start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy
from sympy import Expr

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.positivity import is_nonnegative
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.potential.chart import Chart
from derive.weights.dual import DualCoordinates, is_conjugate


def log_arguments(functions: Sequence[LogFunction]) -> list[RationalFunction]:
    """Return the arguments of all logarithms, each once."""
    found: list[RationalFunction] = []
    for f in functions:
        found += [a for _, a in f.logs if a not in found]
    return found


def exponentials_as_logs(f: LogFunction, p: Parameterization) -> LogFunction:
    """Return f with each linear term c w as c/q log exp(q w), where F has exp(q w)."""
    rational, logs = f.rational, list(f.logs)
    for g in p.field.generators:
        if g.kind != "exp" or rational.is_zero() or not rational.is_polynomial():
            continue
        A = p.field.embed(g.argument)
        for k, w in enumerate(p.w):
            slope, ratio = rational.partial(k), A / w
            if ratio.is_constant() and slope.is_constant() and not slope.is_zero():
                rational -= slope * w
                logs.append((slope / ratio, p.field.named(g.name)))
    return LogFunction(rational, tuple(logs))


def definite_logs(dual: DualCoordinates, R: LogFunction, notation: Notation) -> LogFunction:
    """Return R with log |P| = const - log |P'| where P P' is conserved and P' has a sign at w_0.

    R may be changed by a conserved function; the identity of R is proved again.
    """
    conserved = dual.metric.conserved
    p = conserved.parameterization
    logs = []
    for coefficient, argument in R.logs:
        chosen = coefficient, argument
        if not _has_sign(p, argument, notation):
            for other in conserved.darboux:
                product = LogFunction(argument * other)
                constant = all(product.along(x).is_zero() for x in p.fields)
                if constant and _has_sign(p, other, notation):
                    chosen = -coefficient, other
                    break
        logs.append(chosen)
    changed = LogFunction(R.rational, tuple(logs))
    return changed if is_conjugate(p, changed, dual.g) else R


def _has_sign(p: Parameterization, function: RationalFunction, notation: Notation) -> bool:
    value = p.at_start(function)
    return is_nonnegative(value, notation.positive) or is_nonnegative(-value, notation.positive)


def write_logs(chart: Chart, function: LogFunction) -> Expr | None:
    """Return the logarithms of a function of the weights in beta, or None."""
    total: Expr = sympy.Integer(0)
    constants = [e for e in chart.entries if e[1] in chart.metric.conserved.laws]
    for coefficient, argument in function.logs:
        weight = _constant(chart, coefficient, constants)
        logarithm = _logarithm(chart, argument)
        if logarithm is None or weight is None:
            return None
        total += weight * logarithm
    return total


def _logarithm(chart: Chart, argument: RationalFunction) -> Expr | None:
    """Return log |argument| in beta."""
    for _, function, image in chart.entries:
        for power in (2, 4):
            if function == argument**power:
                return sympy.log(image) / power
    image = _image(chart, argument)
    if image is None:
        names = {g.name for g in argument.field.generators}
        square = chart.write(argument * argument) if repr(argument) in names else None
        return None if square is None else sympy.log(square) / 2
    start = chart.parameterization.at_start(argument)
    if image.is_nonnegative or is_nonnegative(start, chart.notation.positive):
        return sympy.log(image)
    if is_nonnegative(-start, chart.notation.positive):
        return sympy.log(-image)
    return sympy.log(sympy.Abs(image))


def _image(chart: Chart, argument: RationalFunction) -> Expr | None:
    """Return the argument of a logarithm in beta: an entry itself, or a polynomial in weights."""
    for _, function, image in chart.entries:
        if function == argument:
            return image
    written = chart.substitute(argument)
    return chart.write(argument) if written is None else written


def _constant(
    chart: Chart,
    coefficient: RationalFunction,
    constants: Sequence[tuple[str, RationalFunction, Expr]],
) -> Expr | None:
    """Return a conserved coefficient in the constants of the leaf."""
    if coefficient.is_constant():
        return to_expr(coefficient, chart.notation.weights)
    return replace(chart, entries=tuple(constants)).write(coefficient)


def at_start(p: Parameterization, y: LogFunction, notation: Notation) -> Expr:
    """Return y(w_0) in start symbols."""
    result = to_expr(p.at_start(y.rational), notation.start_symbols)
    for coefficient, argument in y.logs:
        c = to_expr(p.at_start(coefficient), notation.start_symbols)
        start = to_expr(p.at_start(argument), notation.start_symbols)
        result += c * sympy.log(start**2) / 2
    return result


def not_zero(start: RationalFunction, notation: Notation) -> str:
    """Say that a function of the start is not zero, in the form that assumptions have."""
    return f"{to_expr(start, notation.start_symbols)} != 0"
