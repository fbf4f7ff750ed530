"""Witnesses of designs: K Q'' along flows of F, from the texts of F and Q alone."""

import numpy as np
import sympy
from sympy import Symbol

from derive.inverse.design import IntegralOnly, Parameterized, WeightPair
from derive.language import to_sympy
from derive.verdict import Verdict
from tests.witnesses import Refuted, witness

CLOSE = 1e-8
POINTS = 12


def of(design, statement):
    """Return the coordinate that a statement is about."""
    (found,) = (c for c in design.coordinates if c.term.variable == statement.about)
    return found


def drawn(c, rng):
    """Draw positive numbers for the parameters."""
    return {Symbol(n, real=True): rng.uniform(0.5, 2) for n in c.term.parameters}


def real(e):
    """Return an expression with its names as real symbols."""
    return e.xreplace({s: Symbol(s.name, real=True) for s in e.free_symbols})


@witness("design")
def curvature_is_constant(design, statement, rng):
    """Evaluate |grad F|^2 Q''(F) at weights drawn on a leaf: it is one positive number.

    Where no F is claimed to exist, look for a point with Q'' > 0.
    """
    c = of(design, statement)
    b = Symbol(c.term.variable, real=True)
    numbers = drawn(c, rng)
    second = real(to_sympy(c.term.tree)).diff(b, 2).subs(numbers)
    if not isinstance(c, Parameterized):
        assert c.finding.verdict is Verdict.REFUTED
        values = [complex(second.subs(b, rng.uniform(-3, 3))) for _ in range(POINTS)]
        if any(abs(v.imag) < CLOSE < v.real for v in values):
            raise Refuted(f"Q'' takes the values {values}")
        return len(values)
    weights = [Symbol(w, real=True) for w in c.weights]
    F = real(to_sympy(c.output)).subs(numbers)
    size = sum(F.diff(w) ** 2 for w in weights)
    product = float(real(c.product).subs(numbers)) if isinstance(c, WeightPair) else 0.0
    low, high = (float(real(sympy.sympify(end)).subs(numbers)) for end in c.interval)
    values = []
    for _ in range(POINTS):
        first = rng.uniform(0.2, 3)
        at = dict(zip(weights, (first, product / first), strict=False))
        beta = F.subs(at)
        if beta.is_real and low < float(beta) < high:
            values.append(complex((size.subs(at) * second.subs(b, beta)).evalf()))
    if np.ptp([abs(v) for v in values] or [0.0]) > CLOSE * max(map(abs, values)):
        raise Refuted(f"|grad F|^2 Q'' takes the values {values}")
    if any(v.real <= 0 or abs(v.imag) > CLOSE for v in values):
        raise Refuted(f"|grad F|^2 Q'' is not positive: {values}")
    return len(values)


@witness("line element")
def length_is_the_root(design, statement, rng):
    """Differentiate the integral: the square of its slope is Q''."""
    c = of(design, statement)
    assert isinstance(c, IntegralOnly)
    b, numbers = Symbol(c.term.variable, real=True), drawn(c, rng)
    second = real(to_sympy(c.term.tree)).diff(b, 2).subs(numbers)
    slope = real(c.w_of_beta).diff(b).subs(numbers)
    points = (rng.uniform(0.2, 2) for _ in range(POINTS))
    ratios = [complex((slope.subs(b, x) ** 2 / second.subs(b, x)).evalf()) for x in points]
    if np.ptp([abs(r) for r in ratios] or [0.0]) > CLOSE * max([1.0, *map(abs, ratios)]):
        raise Refuted(f"the square of the slope over Q'' takes the values {ratios}")
    return len(ratios)
