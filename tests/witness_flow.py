"""Gradient flow in weights by plain high-order extrapolation, to check derivations from outside.

Nothing here shares code with the derivation: F is read by SymPy, differentiated by SymPy, and
everything else is mpmath.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import mpmath
import sympy
from mpmath import mp, mpf

Vector = list[Any]


def number(value):
    """Return an mpf from text such as ``"-3/4"``, an int or a Fraction."""
    exact = Fraction(value)
    return mpf(exact.numerator) / exact.denominator


@dataclass(frozen=True)
class Model:
    """F with its first and second derivatives as mpmath functions."""

    weights: tuple[sympy.Symbol, ...]
    outputs: tuple[sympy.Expr, ...]
    F: Callable[..., Any]
    J: Callable[..., Any]
    second: Callable[..., Any]

    @classmethod
    def of(cls, outputs, weights):
        """Read outputs with SymPy's own parser; each F is compiled once."""
        return _compiled(tuple(outputs), tuple(weights))

    @property
    def d(self):
        """The number of outputs."""
        return len(self.outputs)

    def velocity(self, w, steering):
        """Return J^T lambda."""
        return [mpmath.fdot(steering, column) for column in zip(*self.J(*w), strict=True)]

    def kernel(self, w):
        """Return K = J J^T."""
        J = self.J(*w)
        return [[mpmath.fdot(x, y) for y in J] for x in J]

    def kernel_along(self, w, direction):
        """Return the derivative of K in a direction."""
        J, second = self.J(*w), self.second(*w)
        moved = [[mpmath.fdot(row, direction) for row in matrix] for matrix in second]
        return [
            [mpmath.fdot(moved[b], J[c]) + mpmath.fdot(J[b], moved[c]) for c in range(self.d)]
            for b in range(self.d)
        ]

    def bracket(self, w, a, b):
        """Return [X_a, X_b] at w, X_a = grad F_a."""
        J, second = self.J(*w), self.second(*w)
        forth = [mpmath.fdot(row, J[a]) for row in second[b]]
        back = [mpmath.fdot(row, J[b]) for row in second[a]]
        return [x - y for x, y in zip(forth, back, strict=True)]


@cache
def _compiled(outputs, weights):
    symbols = tuple(sympy.Symbol(w, real=True) for w in weights)
    table = dict(zip(weights, symbols, strict=True))
    F = tuple(sympy.sympify(text, locals=dict(table)) for text in outputs)
    J = [[sympy.diff(f, w) for w in symbols] for f in F]
    second = [[[sympy.diff(g, w) for w in symbols] for g in row] for row in J]

    def function(expression):
        return sympy.lambdify(symbols, expression, modules="mpmath", cse=True)

    return Model(symbols, F, function(list(F)), function(J), function(second))


def _midpoint(f, y, h, n):
    step = h / n
    previous, current = y, [a + step * b for a, b in zip(y, f(y), strict=True)]
    for _ in range(n - 1):
        following = [a + 2 * step * b for a, b in zip(previous, f(current), strict=True)]
        previous, current = current, following
    return [(a + b + step * c) / 2 for a, b, c in zip(previous, current, f(current), strict=True)]


def integrate(f, y, time, steps=8, columns=8):
    """Integrate y' = f(y) by Gragg's midpoint rule, extrapolated to order 2 * columns."""
    h = mpf(time) / steps
    for _ in range(steps):
        table = []
        for k in range(columns):
            n = 2 * (k + 1)
            row = [_midpoint(f, y, h, n)]
            for j in range(k):
                ratio = mpf(n) / (2 * (k - j))
                factor = 1 / (ratio**2 - 1)
                row.append(
                    [a + (a - b) * factor for a, b in zip(row[-1], table[-1][j], strict=True)]
                )
            table.append(row)
        y = table[-1][-1]
    return y


def random_steering(d, seed, pieces=3, size=1.0):
    """Draw piecewise-constant steering with short rational values."""
    rng = Random(seed)
    return [
        ([mpf(rng.randint(-8, 8)) / 8 * size for _ in range(d)], mpf(rng.randint(1, 4)) / 16)
        for _ in range(pieces)
    ]


def run(model, start, steering, g=None, steps=4, columns=8):
    """Return w at the end and int g lambda dt along w' = J^T lambda."""
    p, d = len(start), model.d
    state = [mpf(x) for x in start] + [mpf(0)] * d
    for steer, duration in steering:
        lam = [mpf(x) for x in steer]

        def f(y, lam=lam):
            w = y[:p]
            warp = mpf(1) if g is None else g(*w)
            return model.velocity(w, lam) + [warp * x for x in lam]

        state = integrate(f, state, duration, steps, columns)
    return state[:p], state[p:]


def risen(output, start, time):
    """Return the weights after a time of w' = grad F, F and |grad F|^2 there, int t |grad F|^2."""
    model, w = Model.of([output], tuple(start)), [number(x) for x in start.values()]

    def field(state):
        *w, t, _ = state
        return [*model.velocity(w, [mpf(1)]), mpf(1), t * model.kernel(w)[0][0]]

    *w, _, rise = integrate(field, [*w, mpf(0), mpf(0)], time, 2, 8) if time else [*w, 0, 0]
    return dict(zip(start, w, strict=True)), model.F(*w)[0], model.kernel(w)[0][0], rise


def start_values(parameterization, symbols):
    """Return w_0 in numbers, from the exact start of a parameterization."""
    from derive.language import to_sympy

    values = []
    for _, tree in parameterization.start:
        expression = to_sympy(tree)
        point = {s: symbols[s.name] for s in expression.free_symbols}
        values.append(evaluate(expression, point))
    return values


def evaluate(expression, point):
    """Evaluate a SymPy expression with mpmath, symbols matched by name."""
    expression = sympy.sympify(expression)
    named = {s.name: v for s, v in point.items()} if point else {}
    free = sorted(expression.free_symbols, key=lambda s: s.name)
    f = sympy.lambdify(free, expression, modules="mpmath")
    return f(*(mpmath.mpmathify(named[s.name]) for s in free))


def confirms(identity, derivation):
    """Tell whether left - right is as said, and not 0, at the point; by SymPy from the text."""
    point = {n: sympy.sympify(str(x)) for n, x in identity.point}
    said, table = sympy.sympify(str(identity.residual)), {n: sympy.Symbol(n) for n in point}
    left, right = (sympy.sympify(str(x), table) for x in (identity.left, identity.right))
    found = left - right
    for step in identity.derivative:
        output = derivation.parameterization.outputs[int(step.removeprefix("grad F")) - 1]
        f = sympy.sympify(str(output), table)
        found = sum((f.diff(w) * found.diff(w) for w in table.values()), sympy.S.Zero)
    difference = (found - said).subs({table[n]: x for n, x in point.items()})
    if said.is_Float:
        return abs(sympy.N(difference, 30)) < 1e-15 * abs(said)
    return difference == 0 != said


def real_roots(descending: Sequence[Any]) -> Vector:
    """Return the distinct real roots of a polynomial, the largest first."""
    with mpmath.workdps(mp.dps * 3):
        found = mpmath.polyroots(list(descending), maxsteps=500, extraprec=400)
    tolerance = (1 + max(abs(r) for r in found)) * mpf(10) ** (-mp.dps // 2)
    distinct: Vector = []
    for root in sorted((r for r in found if abs(mpmath.im(r)) < tolerance), key=mpmath.re):
        if not distinct or mpmath.re(root) - distinct[-1] > tolerance:
            distinct.append(mpmath.re(root))
    return distinct[::-1]
