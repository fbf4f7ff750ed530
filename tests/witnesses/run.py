"""Witnesses of an audit: the log against differences of F, and flows from the effective start."""

import numpy as np
import sympy

from tests.witnesses import Refuted, Unreached, witness
from tests.witnesses.flows import end_of


def model(r):
    """Return F and its gradient on weights (p, n), by names alone."""
    p = r.derivation.parameterization
    w = [sympy.Symbol(name) for name in p.weights]
    outputs = [f.xreplace({x: sympy.Symbol(x.name) for x in f.free_symbols}) for f in p.outputs]
    F = sympy.lambdify(w, outputs, "numpy")
    dF = sympy.lambdify(w, [[sympy.diff(f, x) + 0 * x for x in w] for f in outputs], "numpy")

    def beta(weights):
        return np.ravel([f * np.ones(weights.shape[1]) for f in F(*weights)])

    def push(weights, steering):
        rows = dF(*weights)
        parts = steering.reshape(len(rows), -1)
        return np.array(
            [sum(g[k] * np.ones(weights.shape[1]) * s for g, s in zip(rows, parts, strict=True))
             for k in range(len(w))]
        )  # fmt: skip

    return beta, push


def unexplained(push, w, move, X, *others):
    """Return the share of a step that no gradients on rows of X explain, here and at others."""
    A = np.stack([push(at, row).ravel() for at in (w, *others) for row in X], 1)
    rest = move.ravel() - A @ np.linalg.lstsq(A, move.ravel(), rcond=None)[0]
    return np.linalg.norm(rest) / np.linalg.norm(move)


@witness("run")
def steps(r, statement, rng):
    """Explain some steps of the log by gradients, and the one that is told not to be one."""
    (log, X, _), (_, push) = r.data, model(r)
    if r.broken is not None:
        k = r.broken.step - 1
        share = unexplained(push, log[k], log[k + 1] - log[k], X)
        if share < r.broken.share / 2:
            raise Refuted(f"step {k + 1} is explained but for {share}")
        return 1
    sizes = np.sqrt((np.diff(log, axis=0) ** 2).sum((1, 2)))
    large = np.flatnonzero(sizes > sizes.max() / 100)
    for k in rng.sample([*large], min(20, len(large))):
        share = unexplained(push, log[k], log[k + 1] - log[k], X)
        if share > max(10 * r.seen, 1e-3 * (r.seen > 1e-6)):
            raise Refuted(f"step {k + 1} is not explained by {share}")
    return 1


@witness("run beside")
def beside(r, statement, rng):
    """Explain some steps by gradients and what stands beside them; without it they are not."""
    (log, X, _), (_, push) = r.data, model(r)
    if r.beside is None:
        return 0
    moves, kind = np.diff(log, axis=0), r.beside.kind
    sizes = np.sqrt((moves**2).sum((1, 2)))
    said = {n: (low + high) / 2 for n, low, high in r.beside.coefficients}
    large = [k for k in np.flatnonzero(sizes > sizes.max() / 100) if k]
    for k in rng.sample(large, min(20, len(large))):
        w, move = log[k], moves[k]
        if kind == "signs":
            left = np.ptp(np.abs(move)) / np.abs(move).max()
        elif kind == "rates":
            rates = np.array([[said[name]] for name in r.derivation.parameterization.weights])
            left = unexplained(lambda w, row, s=rates: s * push(w, row), w, move, X)
        else:
            rest = move - said.get("momentum", 0) * moves[k - 1] + said.get("decay", 0) * w
            before = [log[k - 1]] if "Nesterov" in kind else []
            left = unexplained(push, w, rest, X, *before)
        if left > 1e-3:
            raise Refuted(f"step {k + 1} is not explained by {left}")
    return 1


@witness("run drift")
def drift(r, statement, rng):
    """Evaluate the laws along the log."""
    log, _, _ = r.data
    names = [sympy.Symbol(w) for w in r.derivation.parameterization.weights]
    for law, change in r.laws:
        plain = law.xreplace({x: sympy.Symbol(x.name) for x in law.free_symbols})
        c = sympy.lambdify(names, plain, "numpy")
        values = np.array([c(*w) for w in log])
        if abs(np.abs(values - values[0]).max() - change) > 1e-9 * (1 + change):
            raise Refuted(f"{law} changes by {np.abs(values - values[0]).max()}, not {change}")
    if (r.identity or 0) > 1e-4:
        raise Refuted("y - y(w_0) - xi is not in the row space")
    return 1


@witness("run limit")
def limits(r, statement, rng):
    """Run gradient flow from the effective start and from w_0: they end where that is said."""
    (log, X, y), (beta, push) = r.data, model(r)

    def slope(t, state):
        w = state.reshape(log[0].shape)
        return push(w, X.T @ (y - X @ beta(w))).ravel()

    starts = (r.effective_start, r.predicted), (log[0], r.flow)
    pairs = [
        (np.array(start), said) for start, said in starts if start is not None and said is not None
    ]
    for start, said in pairs:
        state = end_of(slope, start.ravel(), (0, 3000), method="LSODA", rtol=1e-10, atol=1e-12)
        end = beta(state.reshape(log[0].shape))
        if np.abs(X @ end - y).max() > 1e-8:
            raise Unreached
        if np.abs(end - said).max() > 1e-5:
            raise Refuted(f"the flow ends at {end}, not at {said}")
    return bool(pairs)
