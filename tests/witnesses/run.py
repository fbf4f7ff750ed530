"""Witnesses of an audit: the log against differences of F, and flows from the effective start."""

from dataclasses import replace

import numpy as np
import sympy

from tests.witnesses import Refuted, witness
from tests.witnesses.flows import Flows


def of_log(p, w):
    """Return F of copies side by side, from weights as a log has them: a column for each copy."""
    one = Flows.of(p, dict.fromkeys(p.start_symbols, 1.0))
    return Flows.side_by_side([replace(one, w0=column) for column in w.T])


def flows_of(r):
    """Return the flows from the beginning of the log of a record."""
    return of_log(r.derivation.parameterization, r.data[0][0])


def unexplained(flows, w, move, X, *others, rates=1.0):
    """Return the share of a step that no gradients on rows of X explain, here and at others."""
    A = np.hstack([rates * (flows.J(at.T.ravel()).T @ X.T) for at in (w, *others)])
    rest = move.T.ravel() - A @ np.linalg.lstsq(A, move.T.ravel(), rcond=None)[0]
    return np.linalg.norm(rest) / np.linalg.norm(move)


@witness("run")
def steps(r, statement, rng):
    """Explain some steps of the log by gradients, and the one that is told not to be one."""
    (log, X, _), flows = r.data, flows_of(r)
    if r.broken is not None:
        k = r.broken.step - 1
        share = unexplained(flows, log[k], log[k + 1] - log[k], X)
        if share < r.broken.share / 2:
            raise Refuted(f"step {k + 1} is explained but for {share}")
        return 1
    sizes = np.sqrt((np.diff(log, axis=0) ** 2).sum((1, 2)))
    large = np.flatnonzero(sizes > sizes.max() / 100)
    for k in rng.sample([*large], min(20, len(large))):
        share = unexplained(flows, log[k], log[k + 1] - log[k], X)
        if share > max(10 * r.seen, 1e-3 * (r.seen > 1e-6)):
            raise Refuted(f"step {k + 1} is not explained by {share}")
    return 1


@witness("run beside")
def beside(r, statement, rng):
    """Explain some steps by gradients and what stands beside them; without it they are not."""
    (log, X, _), flows = r.data, flows_of(r)
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
            rates = [said[name] for name in r.derivation.parameterization.weights]
            rates = np.tile(rates, move.shape[1])[:, None]
            left = unexplained(flows, w, move, X, rates=rates)
        else:
            rest = move - said.get("momentum", 0) * moves[k - 1] + said.get("decay", 0) * w
            before = [log[k - 1]] if "Nesterov" in kind else []
            left = unexplained(flows, w, rest, X, *before)
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
    (log, X, y), flows = r.data, flows_of(r)
    starts = (r.effective_start, r.predicted), (log[0], r.flow)
    pairs = [
        (np.array(start), said) for start, said in starts if start is not None and said is not None
    ]
    for start, said in pairs:
        end = flows.F(replace(flows, w0=start.T.ravel()).fitted(X, y, time=3000))
        if np.abs(end - said).max() > 1e-5:
            raise Refuted(f"the flow ends at {end}, not at {said}")
    return bool(pairs)
