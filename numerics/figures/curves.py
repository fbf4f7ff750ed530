"""Functions of beta that figures draw, their level sets, and the models of many figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import sympy
from scipy.optimize import elementwise
from sympy import Expr

from derive.derivation import Derivation, derive
from derive.errors import NumericalError
from derive.explicit.counterpart import distance_function
from derive.explicit.regularize import explicit_counterpart
from derive.limits.limit import Limit
from derive.model.parameterization import Parameterization
from numerics.evaluate.backend import Array, compiled
from numerics.evaluate.lowering import lower

FunctionOfBeta: TypeAlias = Callable[[Array], Array]
"""From (..., d) to (...,)."""


def tied(power: str = "2", d: int = 1) -> Derivation:
    """Derive p^power - m^power in d coordinates, from p = m = alpha."""
    places = [""] if d == 1 else [str(i + 1) for i in range(d)]
    start = {name + i: "alpha" for i in places for name in "pm"}
    outputs = [f"p{i}**{power} - m{i}**{power}" for i in places]
    return derive(Parameterization.parse(outputs, start, ["alpha"]))


def untied(d: int) -> Derivation:
    """Derive u v - x z in d coordinates, from u = x = u0 and v = z = v0."""
    places = [str(i + 1) for i in range(d)]
    symbols = {"u": "u0", "v": "v0", "x": "u0", "z": "v0"}
    start = {name + i: symbol for i in places for name, symbol in symbols.items()}
    outputs = [f"u{i}*v{i} - x{i}*z{i}" for i in places]
    return derive(Parameterization.parse(outputs, start, ["u0", "v0"]))


def implicit(derivation: Derivation, start: Mapping[str, Any]) -> FunctionOfBeta:
    """Return Q - Q(beta_0)."""
    q = lower(derivation.potential, start)
    # grad Q = 0 at beta_0: the divergence from there is Q - Q(beta_0), without cancellation.
    return lambda beta: np.asarray(q.bregman(beta, np.array(q.beta0)))


def explicit(derivation: Derivation, start: Mapping[str, Any]) -> FunctionOfBeta:
    """Return R, the least |w - w_0|^2 with F(w) = beta, of outputs that share no weights."""
    numbers = {name: Fraction(x) for name, x in start.items()}
    blocks = explicit_counterpart(derivation.parameterization).blocks
    parts = [(block.outputs[0], distance_function(block.distance, numbers)) for block in blocks]

    def total(beta: Array) -> Array:
        whole = np.zeros(beta.shape[:-1])
        for i, value in parts:  # once at each distinct number
            distinct, where = np.unique(beta[..., i], return_inverse=True)
            whole += np.array([value(Fraction(float(b))) for b in distinct])[
                where.reshape(whole.shape)
            ]
        return whole

    return total


def limiting(limit: Limit, start: Mapping[str, Any]) -> FunctionOfBeta:
    """Return what Q tends to, in the coordinates of a limit; NumericalError without a form."""
    if limit.potential is None or limit.potential.Q is None:
        raise NumericalError(f"no form of Q as {limit.point.text} is known")
    Q = compiled([at_start(limit.potential.Q, start)], [c.name for c in limit.coordinates])
    return lambda x: np.asarray(Q(*np.moveaxis(x, -1, 0))[0])


def at_start(expression: Expr, start: Mapping[str, Any]) -> Expr:
    """Return an expression with numbers for the names that a start gives."""
    known = {s: start[s.name] for s in expression.free_symbols if s.name in start}
    return expression.subs({s: sympy.Rational(str(x)) for s, x in known.items()})


def profile(f: FunctionOfBeta, x: Array) -> Array:
    """Return a function of one output at numbers, over its value at 1."""
    return np.asarray(f(x[:, None]) / f(np.array([[1.0]])))


def level_set(f: FunctionOfBeta, points: int) -> tuple[Array, Array]:
    """Return where f, which is least at 0, is as at e_1, on rays from 0; two coordinates (n,).

    NumericalError where it does not close within 1.5.
    """
    turns = np.linspace(0, 2 * np.pi, points)
    # Closer near the axes, where the balls of sparse norms have corners.
    angles = turns - 0.7 * np.sin(4 * turns) / 4
    level = float(f(np.array([[1.0, 0.0]]))[0])

    def above(radius: Array, angle: Array) -> Array:
        beta = radius[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return f(beta) - level

    ends, close = (np.zeros(points), np.full(points, 1.5)), {"fatol": 1e-8 * level}
    found = elementwise.find_root(above, ends, args=(angles,), tolerances=close)
    if not found.success.all():
        raise NumericalError("the level set does not close")
    return found.x * np.cos(angles), found.x * np.sin(angles)
