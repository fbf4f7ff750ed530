"""Witnesses of the path from small starts: stiff flows of the logarithms of weights, and an LP."""

import numpy as np
import sympy
from scipy.integrate import solve_ivp
from scipy.optimize import linprog

from tests.witnesses import Refuted, Unreached, witness

LARGE = 4.0
"""Of log |w|, beyond which no run of the data goes: beta stays bounded."""


def flow_of_logs(p, start, X, y, times):
    """Return beta at times of gradient flow on copies, weights positive, by their logarithms."""
    w = [sympy.Symbol(name) for name in p.weights]
    (F,) = (f.xreplace({x: sympy.Symbol(x.name) for x in f.free_symbols}) for f in p.outputs)
    beta = sympy.lambdify(w, F, "numpy")
    # (log w)' = lambda dF/w, of powers a power again
    rates = sympy.lambdify(w, [sympy.expand(sympy.diff(F, x) / x) for x in w], "numpy")
    d = X.shape[1]

    def weights(z):
        return np.exp(np.minimum(z.reshape(len(w), d), LARGE))

    def slope(t, z):
        at = weights(z)
        push = X.T @ (y - X @ beta(*at))
        return np.concatenate([r * push for r in rates(*at)])

    z = np.repeat(np.array(start), d)
    run = solve_ivp(slope, (0, times[-1]), z, "LSODA", t_eval=times, rtol=1e-9, atol=1e-11)
    if not run.success or not np.isfinite(run.y).all():
        return None
    return np.array([beta(*weights(z)) for z in run.y.T])


def distance(s, size):
    """Return how far flows from alpha = exp(-size) are from the plateaus, in their middle."""
    p = s.derivation.parameterization
    alpha = sympy.exp(-sympy.Integer(size))
    images = dict.fromkeys(s.unit.free_symbols, alpha)
    logs = [float(sympy.log(sympy.sympify(str(f)).subs(s.variable, alpha))) for f in p.w0]
    tau = np.array([*s.times, 2 * s.times[-1]], float)
    middle = (tau[:-1] + tau[1:]) / 2
    X, y = (np.array(x, float) for x in (s.X, s.y))
    run = flow_of_logs(p, logs, X, y, middle * float(s.unit.subs(images)))
    return None if run is None else np.abs(run - np.array(s.plateaus[1:], float)).max()


@witness("saddle path")
def saddle(s, statement, rng):
    """Run flows from small starts: they come near the plateaus, the nearer the smaller."""
    if not s.times or s.unit.has(sympy.Integral):
        raise Unreached
    slow = s.unit.has(sympy.log)
    sizes = (12, 24) if slow else (4, 7)
    found = [x for x in (distance(s, size) for size in sizes) if x is not None]
    if len(found) < 2:
        return 0
    if found[1] > max(0.5 * found[0], 1e-8) or found[1] > (0.2 if slow else 1e-3):
        raise Refuted(f"flows are {found} from the plateaus {s.plateaus}")
    return 1


@witness("saddle limit")
def least_sum(s, statement, rng):
    """Solve the linear program."""
    X = np.array(s.X, float)
    costs = [float(c or 1e6) for side in (1, 0) for c in (pair[side] for pair in s.slopes)]
    found = linprog(costs, A_eq=np.hstack([X, -X]), b_eq=np.array(s.y, float))
    v = np.array([*(float(max(b, 0)) for b in s.limit), *(float(max(-b, 0)) for b in s.limit)])
    if np.abs(X @ np.array(s.limit, float) - np.array(s.y, float)).max() > 1e-12:
        raise Refuted("X beta is not y")
    if v @ costs > found.fun + 1e-7:
        raise Refuted(f"{s.limit} costs {v @ costs}, least is {found.fun}")
    return 1
