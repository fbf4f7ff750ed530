"""Entries against gradient flows of separate code, which knows F alone.

At the end of a flow on one row x of data grad Q is a multiple of x. Of one output two copies with
the same weights at the start are trained together, so that their slopes are as the row.
"""

import warnings

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

from derive.atlas.store import opened
from derive.derivation import derive
from derive.errors import DeriveError

DRAWN = 40


def functions(entry):
    """Return F and its Jacobian as functions of weights, read by SymPy and by nothing of ours."""
    names = [*"abcd"][: entry.weights]
    sigmoid = sympy.Lambda(sympy.Symbol("x"), 1 / (1 + sympy.exp(-sympy.Symbol("x"))))
    F = sympy.Matrix(
        [sympy.sympify(f, locals={"sigmoid": sigmoid}) for f in entry.outputs.split(", ")]
    )
    w = [sympy.Symbol(n) for n in names]
    return sympy.lambdify(w, list(F)), sympy.lambdify(w, F.jacobian(w))


def end(entry, start, x, move):
    """Return beta of each copy (one of several outputs, two of one) after a flow along row x."""
    F, J = functions(entry)
    d, p = entry.dimension, entry.weights
    copies = 2 if d == 1 else 1
    w_0 = np.tile([float(start.get(s, 0)) for s in entry.symbols], copies)
    first = np.concatenate([np.ravel(F(*w)) for w in w_0.reshape(copies, p)])
    y = x @ first + move

    def velocity(t, w):
        parts = w.reshape(copies, p)
        beta = np.concatenate([np.ravel(F(*part)) for part in parts])
        r = (x @ beta - y) * x.reshape(copies, d)
        return np.concatenate(
            [-np.array(J(*part), float).T @ row for part, row in zip(parts, r, strict=False)]
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = solve_ivp(velocity, (0, 400.0), w_0, method="LSODA", rtol=1e-10, atol=1e-12)
    if not done.success:
        return None
    w = done.y[:, -1].reshape(copies, p)
    return np.array([np.ravel(F(*part)) for part in w])


def agrees(entry):
    """Return whether grad Q is a multiple of the row; None where nothing was compared."""
    start = entry.numbers(0)
    d = derive(entry.parameterization())
    x = (
        np.array([1.0, 0.6])
        if entry.dimension == 1
        else np.array([1.0, -0.7, 0.4])[: entry.dimension]
    )
    beta = end(entry, start, x, 0.2)
    if beta is None or not np.isfinite(beta).all():
        return None
    try:
        slope = np.ravel(d.potential.numeric(start).gradient(beta))
    except (DeriveError, ZeroDivisionError, ArithmeticError):
        return None
    if not np.isfinite(slope).all():
        return None
    across = slope - x * (slope @ x) / (x @ x)
    return bool(np.linalg.norm(across) < 1e-5 * np.linalg.norm(slope))


@pytest.mark.slow
def test_flows_end_where_q_says():
    with opened(None) as atlas:
        proved = atlas.entries("verdict = 'PROVED'")
    drawn = [proved[i] for i in np.random.default_rng(1).permutation(len(proved))[:DRAWN]]
    found = {(x.outputs, x.start): agrees(x) for x in drawn}
    assert [k for k, v in found.items() if v is False] == []
    assert sum(v is True for v in found.values()) > DRAWN / 2
