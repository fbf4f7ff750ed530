"""Figures of a model of one's own: Q of one output, or level sets of Q of two, at some starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from derive.derivation import Derivation
from derive.errors import InputError
from derive.language import parse_assignments, to_sympy
from derive.model.typed import TypedModel, read_option
from numerics.evaluate.backend import Array
from numerics.evaluate.potential import AnyPotential
from numerics.figures.quantity import derivation_of, potential_of, start_of
from numerics.figures.specification import Axes, Series, Specification

SCALES = ("1/2", "1", "2")
_DIGITS = 40
_KINDS = {
    1: ("Q", "profile", (r"$\beta$", r"$Q - Q(\beta_0)$"), 201),
    2: ("Level sets of Q", "levels", (r"$\beta_1$", r"$\beta_2$"), 101),
}
"""Title, kind, labels and points along an axis, for Q of one and of two outputs."""
_TRIED = (lambda k: Fraction(1), lambda k: Fraction(1, k), Fraction)
"""Starts of the k-th symbol that are tried in turn, until Q was derived for one."""


def own_figure(model: TypedModel, values: str = "") -> Specification:
    """Return the figure of Q at three scales of a simple start, or at the numbers that are given.

    Raises:
        InputError: there are more than two outputs, or a name of *values* is no start symbol.
        NumericalError: no Q was proved.
    """
    derivation = derivation_of(model)
    base = simple_start(derivation, _numbers(values))
    scaled = {} if values else {"c": SCALES}
    p = derivation.potential.parameterization
    starts = {
        name: f"c*({x})" if scaled and name not in p.parameters else f"({x})"
        for name, x in base.items()
    }
    shown = ", ".join(f"{name} = {float(x):g}" for name, x in base.items())
    series = Series("own", "Q", "start times {c}" if scaled else shown, scaled, starts)
    qs = [potential_of(model, start_of(series, values)) for values in series.combinations()]
    low, high = bounds_of(qs)
    title, kind, labels, points = _KINDS[qs[0].d]
    outputs = ", ".join(model.outputs)
    outputs = f"({outputs})" if len(model.outputs) > 1 else outputs
    return Specification(
        "own",
        f"{title} of F = {outputs}",
        f"The start is {shown or 'that of F'}" + (", times the factors shown." if scaled else "."),
        kind,
        (),
        Axes(*labels, low, high, points=points, columns=len(qs)),
        {"own": model},
        (series,),
        {},
    )


def simple_start(derivation: Derivation, given: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Return numbers for all start symbols: those given, and simple ones that Q was derived for.

    Raises:
        InputError: a name is no start symbol, or beta has neither one nor two coordinates.
    """
    potential = derivation.potential
    p = potential.parameterization
    if derivation.direction is not None or p.d > 2:
        raise InputError("Q of one or two outputs is drawn: give vectors a dimension, u:2")
    known = (*p.parameters, *p.start_symbols)
    if unknown := [name for name in given if name not in known]:
        names = ", ".join(known) or "none"
        raise InputError(f"the start names {', '.join(unknown)}; its symbols are: {names}")
    for number in _TRIED:
        start = {name: number(k) for k, name in enumerate(p.start_symbols, 1)}
        start |= {**dict.fromkeys(p.parameters, Fraction(3)), **given}
        try:
            potential.numeric(start)
        except InputError as error:
            last = error
        else:
            return start
    raise InputError(f"{last}; give numbers for {', '.join(known)}")


def bounds_of(qs: Sequence[AnyPotential]) -> tuple[float, float]:
    """Return an interval of coordinates around all starts, in which Q has values."""
    half = max(3.0, *(1.5 * abs(float(b)) for q in qs for b in q.beta0))
    line = np.linspace(-half, half, 201)
    known: Array = np.concatenate([line[_finite(q, line)] for q in qs])
    return float(known.min()), float(known.max())


def _finite(q: AnyPotential, line: Array) -> Array:
    """Tell at which coordinates Q has a value for some other coordinate."""
    if q.d == 1:
        return np.asarray(np.isfinite(q(line[:, None])))
    found = np.isfinite(q(np.stack(np.meshgrid(line, line), axis=-1)))
    return np.asarray(found.any(axis=0) | found.any(axis=1))


def _numbers(text: str) -> dict[str, Fraction]:
    """Read numbers for names."""
    found = {}
    for name, tree in read_option("--values", parse_assignments, text):
        number = to_sympy(tree)
        if number.free_symbols or not number.is_real:
            raise InputError(f"--values: {name} must be a number such as 1/10, not {number}")
        found[name] = Fraction(str(number if number.is_Rational else number.evalf(_DIGITS)))
    return found
