"""Q, R and limits of Q at numbers, as functions of beta or of a start: derived, then evaluated."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import sympy
from sympy import Expr

from derive.derivation import Derivation, derive
from derive.errors import InputError, NumericalError
from derive.explicit.counterpart import ExplicitCounterpart, distance_function
from derive.explicit.regularize import explicit_counterpart
from derive.language import parse_expression, to_sympy
from derive.model.typed import TypedModel
from derive.perturbed.find import perturb
from derive.regimes.find import regimes
from derive.verdict import Verdict
from numerics.evaluate.backend import Array
from numerics.evaluate.lowering import lower
from numerics.evaluate.potential import NumericPotential
from numerics.experiments.sparse_regression import SparseData, draw, least_l1
from numerics.experiments.sparse_results import SparseSetting
from numerics.figures.separable import margin_gap
from numerics.figures.specification import Series, Specification
from numerics.interpolate.interpolant import interpolate

FunctionOfBeta: TypeAlias = Callable[[Array], Array]
"""From (n, d) to (n,)."""
_DIGITS = 40


@functools.cache
def derivation_of(model: TypedModel) -> Derivation:
    """Derive a model; NumericalError where no Q was proved."""
    found = derive(model.read().parameterization())
    if found.verdict is not Verdict.PROVED:
        raise NumericalError(f"{', '.join(model.outputs)} has no Q to draw")
    return found


@functools.cache
def counterpart_of(model: TypedModel) -> ExplicitCounterpart:
    """Find the explicit counterpart of a model."""
    return explicit_counterpart(model.read().parameterization())


def start_of(series: Series, values: Mapping[str, str]) -> dict[str, Fraction]:
    """Return numbers for the start symbols and parameters of a series' model.

    >>> series = Series("m", "Q", "", {}, {"u": "sqrt(alpha*(1 - s)/(1 + s))"})
    >>> float(start_of(series, {"alpha": "1", "s": "0.8"})["u"])
    0.3333333333333333
    """
    numbers = {sympy.Symbol(k): sympy.Rational(v) for k, v in values.items()}
    given = {name: to_sympy(parse_expression(text)) for name, text in series.start.items()}
    used = {str(s) for x in given.values() for s in x.free_symbols}
    start = {k: Fraction(v) for k, v in values.items() if k not in used}
    for name, expression in given.items():
        by_name = {s: numbers[sympy.Symbol(s.name)] for s in expression.free_symbols}
        number = expression.subs(by_name)
        start[name] = Fraction(str(number if number.is_Rational else number.evalf(_DIGITS)))
    return start


def potential_of(model: TypedModel, start: Mapping[str, Fraction]) -> NumericPotential:
    """Return Q at a start, in plain doubles: no picture shows the last digits."""
    return lower(derivation_of(model).potential, start).in_doubles


def centre_of(model: TypedModel, start: Mapping[str, Fraction]) -> Array:
    """Return beta_0, where Q is least."""
    return np.array(potential_of(model, start).beta0)


def function_of(model: TypedModel, series: Series, values: Mapping[str, str]) -> FunctionOfBeta:
    """Return the quantity of a series at numbers, 0 at the start; NumericalError if not derived."""
    if series.quantity not in _QUANTITIES:
        known = ", ".join(_QUANTITIES)
        raise InputError(f"the quantity must be one of {known}, not {series.quantity}")
    return _QUANTITIES[series.quantity](model, series, values)


def _implicit(model: TypedModel, series: Series, values: Mapping[str, str]) -> FunctionOfBeta:
    q = potential_of(model, start_of(series, values))
    origin = np.array(q.beta0)
    # grad Q = 0 at beta_0: the divergence from there is Q - Q(beta_0), without cancellation.
    return lambda beta: np.asarray(q.bregman(beta, origin))


def _explicit(model: TypedModel, series: Series, values: Mapping[str, str]) -> FunctionOfBeta:
    start, blocks = start_of(series, values), counterpart_of(model).blocks
    if any(len(block.outputs) != 1 for block in blocks):
        raise NumericalError("R is drawn for outputs that share no weights")
    parts = [(block.outputs[0], distance_function(block.distance, start)) for block in blocks]
    return lambda beta: np.asarray(sum(_pointwise(value, beta[..., i]) for i, value in parts))


def _pointwise(value: Callable[[Fraction], float], x: Array) -> Array:
    """Evaluate once at each distinct number."""
    distinct, where = np.unique(x, return_inverse=True)
    found = np.array([value(Fraction(float(b))) for b in distinct])
    return found[where].reshape(np.shape(x))


def _limit(model: TypedModel, series: Series, values: Mapping[str, str]) -> FunctionOfBeta:
    derivation = derivation_of(model)
    (limit,) = regimes(derivation, series.symbol, [series.to]).limits
    form = limit.potential
    if limit.finding.verdict is not Verdict.PROVED or form is None or form.Q is None:
        raise NumericalError(f"the limit of Q as {series.symbol} -> {series.to} was not proved")
    given: dict[Expr, str] = {s: values[s.name] for s in form.Q.free_symbols if s.name in values}
    Q = sympy.lambdify([derivation.beta], form.Q.subs(given), "numpy")
    return lambda beta: np.asarray(Q(np.moveaxis(beta, -1, 0)))


def _after(by: str, model: TypedModel, series: Series, values: Mapping[str, str]) -> FunctionOfBeta:
    """Return Q of the start that a perturbation leaves, its letters being among the values."""
    given, start = start_of(series, values), dict[str, Fraction]()
    for symbol, expression in effective_of(model, by).items():
        used = {s: sympy.Rational(str(given[s.name])) for s in expression.free_symbols}
        start[symbol.name] = Fraction(str(expression.subs(used).evalf(_DIGITS)))
    q = potential_of(model, start)
    return lambda beta: np.asarray(q.bregman(beta, np.array(q.beta0)))


def effective_of(model: TypedModel, by: str) -> Mapping[sympy.Symbol, Expr]:
    """Return the start that a perturbation leaves; NumericalError where none is known."""
    found = perturb(derivation_of(model), by).effective
    if not found:
        raise NumericalError(f"no start is known that {by} leaves")
    return found


_QUANTITIES: dict[str, Callable[[TypedModel, Series, Mapping[str, str]], FunctionOfBeta]] = {
    "Q": _implicit,
    "R": _explicit,
    "limit": _limit,
    **{by: functools.partial(_after, by) for by in ("decay", "noise", "step")},
}


def sweep(figure: Specification, series: Series, values: Mapping[str, str], x: Array) -> Array:
    """Return the measure of a series at each number of the start symbol that is swept.

    "ratio": Q(e_1)/Q(1/sqrt d) for d copies of the output; 1/sqrt d for l1, 1 for squared l2.
    "error", "l1", "l2": of the interpolant of least Q in sparse regression, the
    population error and the excess of the norm over the least.
    "l1 margin", "l2 margin": of the flow of exponential loss at exp(-level), level among the
    values, by how much the margin falls short of the largest. "start": of a perturbation, the
    start symbol that it leaves, relative to that. InputError for another measure.
    """
    if series.measure == "start":
        return _left_of_start(figure, series, values, x)
    if series.measure not in _MEASURES:
        raise InputError(f"the measure must be one of {', '.join(_MEASURES)}")
    measure, model = _MEASURES[series.measure], figure.models[series.model]
    known = {name: value for name, value in values.items() if name != "level"}
    starts = (start_of(series, {**known, series.symbol: repr(float(number))}) for number in x)
    problem: dict[str, Any] = dict(figure.problem)
    if series.measure in _MARGINS:
        problem |= {"rows": figure.rows, **values}
    return np.array([measure(potential_of(model, start), problem) for start in starts])


def _left_of_start(
    figure: Specification, series: Series, values: Mapping[str, str], x: Array
) -> Array:
    found = effective_of(figure.models[series.model], series.quantity)
    symbol, expression = next(iter(found.items()))
    numbers = {
        s: sympy.Rational(values[s.name]) for s in expression.free_symbols if s.name in values
    }
    ratio, letter = (expression / symbol).subs(numbers), sympy.Symbol(series.symbol, real=True)
    return np.asarray(sympy.lambdify(letter, ratio, "numpy")(x), dtype=float)


def _ratio(q: NumericPotential, problem: Mapping[str, int]) -> float:
    one, spread = q.bregman(np.array([1.0, 1 / math.sqrt(problem["dimension"])]), q.beta0[0])
    return float(one / (problem["dimension"] * spread))


def _interpolant(q: NumericPotential, data: SparseData) -> Array:
    solution = interpolate(q, data.X, data.y)
    if not solution.converged:
        raise NumericalError(f"at {dict(q.start)}: {solution.message}")
    return solution.value


def _error(q: NumericPotential, problem: Mapping[str, int]) -> float:
    data = _data(tuple(problem.items()))
    return data.error(_interpolant(q, data))


def _excess(norm: int, q: NumericPotential, problem: Mapping[str, int]) -> float:
    """Return by how much the l1 or l2 norm of the interpolant exceeds the least, relative to it."""
    given = tuple(problem.items())
    return float(np.linalg.norm(_interpolant(q, _data(given)), norm) / _least(given)[norm] - 1)


@functools.cache
def _data(problem: tuple[tuple[str, int], ...]) -> SparseData:
    setting = SparseSetting(**dict(problem), sizes=())  # type: ignore[arg-type]
    return draw(setting, setting.samples)


@functools.cache
def _least(problem: tuple[tuple[str, int], ...]) -> dict[int, float]:
    """Return the least l1 and l2 norms of interpolants."""
    data = _data(problem)
    least = {1: least_l1(data), 2: np.linalg.lstsq(data.X, data.y)[0]}
    return {norm: float(np.linalg.norm(beta, norm)) for norm, beta in least.items()}


_MARGINS = ("l1 margin", "l2 margin")
_MEASURES: dict[str, Callable[[NumericPotential, Mapping[str, Any]], float]] = {
    "l1 margin": functools.partial(margin_gap, "l1"),
    "l2 margin": functools.partial(margin_gap, "l2"),
    "ratio": _ratio,
    "error": _error,
    "l1": functools.partial(_excess, 1),
    "l2": functools.partial(_excess, 2),
}
