"""The audit of a training run: its weights, step by step, against the identities of its F."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import sympy
from scipy.optimize import root

from derive.derivation import Derivation, derive
from derive.errors import InputError
from derive.model.notation import log_expr, to_expr
from derive.model.parameterization import Parameterization
from derive.perturbed.run import AuditedRun, Broken
from numerics.evaluate.numbers import Array, compiled, quiet

Map = Callable[[Array], Array]
MOST_NUMBERS = 2 * 10**8
ROUNDING, LIVE = 4, 100
"""Units in the last place by which a step of the log may be off; it is looked at if it is larger
than that by the second."""
SURE = 1e-4
"""A share of a step above which it is refused; between this and rounding nothing is said."""
FITS, TINY = 1e-9, 1e-300
HUGE = 1e100
"""What stands for a value that is undefined."""


def audit_run(p: Parameterization, weights: Any, X: Any, y: Any, steps: Any = None) -> AuditedRun:
    """Return what a log of a training run shows of the flow of F.

    Args:
        p: F; of one output, the columns of X have a copy each.
        weights: after each step, the start first: (N + 1, p, n) for n copies, (N + 1, p) for one or
            for several outputs; or a mapping of the names of weights to arrays (N + 1, n).
        X, y: m rows of d numbers, and m numbers.
        steps: the N step sizes, where known; what is found does not depend on them.

    Raises:
        InputError: shapes do not fit, a number is not finite, or F has no laws and dual coordinates
            that tell its weights.

    Source: Even, Pesme, Gunasekar, Flammarion 2023.
    """
    if p.vectors or p.geometry.trees or p.affine or p.parameters:
        raise InputError("the audit is of F without open dimensions, rates and parameters")
    X, y = (_read(x, name) for x, name in ((X, "X"), (y, "y")))
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise InputError(f"X has shape {X.shape} and y {y.shape}: give m rows, and m numbers")
    copies = X.shape[1] if p.d == 1 else 1
    if copies * p.d != X.shape[1]:
        raise InputError(f"X has {X.shape[1]} columns, but F has {p.d} outputs")
    log, unit = _read_log(weights, p, copies)
    if steps is not None and _read(steps, "steps").shape != (len(log) - 1,):
        raise InputError(f"steps must be {len(log) - 1} numbers, one for each step")
    free = p.with_(start={}, positive=[])
    return _Audit(derive(free), log, X, y, unit).record()


class _Audit:
    """F, its laws c and dual coordinates y as functions of weights (..., p, n), with gradients."""

    def __init__(self, d: Derivation, log: Array, X: Array, y: Array, unit: float) -> None:
        self.d, self.log, self.X, self.y, self.unit = d, log, X, y, unit
        self.p = d.parameterization
        names = [sympy.Symbol(w, real=True) for w in self.p.weights]
        laws, duals = list[sympy.Expr](), list[sympy.Expr]()
        for block in d.blocks:
            symbols, dual = block.notation.weights, block.potential.dual
            if dual is None:
                raise InputError("no dual coordinates of this F are known: there is no audit")
            laws += [to_expr(c, symbols) for c in block.conserved.laws]
            duals += [log_expr(f, symbols) for f in dual.y]
        plain = {s.name: s for s in names}
        named = [f.xreplace({s: plain[s.name] for s in f.free_symbols}) for f in (*laws, *duals)]
        self.laws, self.k = [*zip(laws, named, strict=False)], len(laws)
        F = [f.xreplace({s: plain[s.name] for s in f.free_symbols}) for f in self.p.outputs]
        self.F, self.dF = _compiled(names, F)
        self.c, self.dc = _compiled(names, named[: self.k])
        self.psi, self.dpsi = _compiled(names, named[self.k :])
        self.whole = len(named) == self.p.p

    def flat(self, values: Array) -> Array:
        """Return one number a feature: copies, or outputs."""
        return values.reshape(*values.shape[:-2], -1)

    def record(self) -> AuditedRun:
        """Return all that is found."""
        w, X = self.log, self.X
        moves = np.diff(w, axis=0)
        sizes = np.sqrt((moves**2).sum((1, 2)))
        noise = ROUNDING * self.unit * np.sqrt((w[:-1] ** 2).sum((1, 2)))
        live = sizes > LIVE * noise
        if not live.any():
            raise InputError("no step of the log is larger than its rounding")
        allowed = max(1e-9, 1e3 * self.unit) + ROUNDING * noise / np.maximum(sizes, TINY)
        broken, share, full, over = self.compared(moves, sizes, allowed, live)
        with quiet():
            values = self.c(w)
            laws = tuple(
                (c, float(np.abs(values[:, i] - values[0, i]).max()))
                for i, (c, _) in enumerate(self.laws)
            )
            y = self.flat(self.psi(w))
            first = self.flat(np.einsum("kdpn,kpn->kdn", self.dpsi(w[:-1]), moves))
        xi = (np.diff(y, axis=0) - first).sum(0)
        steered = y[-1] - y[0] - xi
        off = steered - X.T @ np.linalg.lstsq(X.T, steered, rcond=None)[0]
        identity = _norm(off) / max(_norm(steered), TINY)
        start = flow = both = of_laws = None
        if broken is None and self.whole and np.isfinite(y).all():
            c = self.c(w[-1])
            flow = self.interpolant(self.c(w[0]), y[0])
            of_laws = self.interpolant(c, y[0])
            start, both = self.solved(c, y[0] + xi), self.interpolant(c, y[0] + xi)
        reached = self.flat(self.F(w[-1]))
        telling = bool(np.linalg.matrix_rank(X) < w[0].size) and not over
        return AuditedRun(
            self.d,
            count=len(moves),
            copies=w.shape[2],
            told=int(live.sum()),
            seen=float(allowed[live].min()),
            share=share,
            broken=broken,
            telling=telling,
            full=full,
            laws=laws,
            xi=tuple(map(float, xi)),
            identity=identity,
            effective_start=None if start is None else tuple(map(tuple, start.tolist())),
            predicted=_floats(both),
            flow=_floats(flow),
            of_laws=_floats(of_laws),
            reached=tuple(map(float, reached)),
            misfit=_norm(X @ reached - self.y) / max(_norm(self.y), TINY),
            data=(w, X, self.y),
        )

    def compared(
        self, moves: Array, sizes: Array, allowed: Array, live: Array
    ) -> tuple[Broken | None, float, int, bool]:
        """Return the first step that is none, and what is found of all.

        That is the largest share that no gradient explains, beyond rounding; how many steps are
        along the gradient of all rows; and whether some share is above rounding, and not sure.
        """
        X, worst, full, over, floor = self.X, 0.0, 0, False, max(1e-9, 1e3 * self.unit)
        for k in map(int, np.flatnonzero(live)):
            J = self.dF(self.log[k])
            columns = self.spread(J)
            A = columns @ X.T
            move = moves[k].ravel()
            a = np.linalg.lstsq(A, move, rcond=None)[0]
            share = _norm(move - A @ a) / float(sizes[k])
            worst = max(worst, share - allowed[k] + floor)
            if share > max(SURE, allowed[k]):
                return self.broken(k, move, columns, share), worst, full, over
            over = over or share > allowed[k]
            r = self.y - X @ self.flat(self.F(self.log[k]))
            cosine = float(move @ (A @ r)) / (float(sizes[k]) * max(_norm(A @ r), TINY))
            full += cosine > 1 - 1e-6
        return None, worst, full, over

    def spread(self, J: Array) -> Array:
        """Return the fields of all features as columns over all weights (p n, features)."""
        d, p, n = J.shape
        whole = np.zeros((p, n, d, n))
        for j in range(n):
            whole[:, j, :, j] = J[:, :, j].T
        return whole.reshape(p * n, d * n)

    def broken(self, k: int, move: Array, columns: Array, share: float) -> Broken:
        """Return what a step breaks: the law that changes most, or that mu is in the row space."""
        with quiet():
            slopes = np.einsum("cpn,pn->cn", self.dc(self.log[k]), move.reshape(self.log[k].shape))
            scale = np.linalg.norm(self.dc(self.log[k]), axis=1) * np.linalg.norm(move)
            changes = np.nan_to_num(np.abs(slopes) / np.maximum(scale, TINY))
        if changes.size and changes.max() > share / 10:
            i = int(changes.max(1).argmax())
            return Broken(
                int(k) + 1, f"the law `{self.laws[i][0]}`, which its gradient keeps", share
            )
        along = columns @ np.linalg.lstsq(columns, move, rcond=None)[0]
        outside = _norm(move - along) > share / 2 * _norm(move)
        what = "the span of the gradients of `F`" if outside else "the row space of `X`"
        return Broken(k + 1, what, share)

    def interpolant(self, c: Array, y: Array) -> Array | None:
        """Return beta with X beta = y, of weights with laws c, dual coordinates in y + row(X)."""
        found = self.solved(c, y, self.X)
        return None if found is None else self.flat(self.F(found))

    def solved(self, c: Array, y: Array, X: Array | None = None) -> Array | None:
        """Solve for weights with laws c and dual coordinates y, and multipliers of X."""
        w, m = self.log[-1], 0 if X is None else len(X)
        nu = np.zeros(m)
        if X is not None:
            nu = np.linalg.lstsq(X.T, self.flat(self.psi(w)) - y, rcond=None)[0]

        def off(x: Array) -> Array:
            at, nu = x[: w.size].reshape(w.shape), x[w.size :]
            rest = self.flat(self.psi(at)) - y
            parts = [(self.c(at) - c).ravel(), rest if X is None else rest - X.T @ nu]
            parts += [] if X is None else [X @ self.flat(self.F(at)) - self.y]
            found: Array = np.nan_to_num(np.concatenate(parts), nan=HUGE, posinf=HUGE, neginf=-HUGE)
            return found

        def slopes(x: Array) -> Array:
            at = x[: w.size].reshape(w.shape)
            jacobian = np.vstack([self.spread(self.dc(at)).T, self.spread(self.dpsi(at)).T])
            if X is None:
                return jacobian
            wide = np.vstack([np.zeros((self.c(at).size, m)), -X.T])
            return np.block([[jacobian, wide], [X @ self.spread(self.dF(at)).T, np.zeros((m, m))]])

        with quiet():
            close = {"xtol": 1e-15, "ftol": 1e-15}
            found = root(
                off, np.concatenate([w.ravel(), nu]), jac=slopes, method="lm", options=close
            )
        return found.x[: w.size].reshape(w.shape) if _norm(found.fun) < FITS else None


def read_arrays(file: Path, option: str) -> dict[str, Array]:
    """Return the arrays of a file of NumPy; InputError for another file."""
    try:
        with np.load(file, allow_pickle=False) as found:
            if not isinstance(found, np.lib.npyio.NpzFile):
                raise InputError(f"{option}: {file} is one array: write it by numpy.savez")
            return {name: found[name] for name in found.files}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError):
        raise InputError(f"{option}: {file} is no file of numpy.savez") from None


def _norm(x: Array) -> float:
    return float(np.linalg.norm(x))


def _floats(values: Array | None) -> tuple[float, ...] | None:
    return None if values is None else tuple(map(float, values))


def _compiled(names: list[sympy.Symbol], functions: list[sympy.Expr]) -> tuple[Map, Map]:
    """Return functions (..., p, n) -> (..., f, n), and their gradients, (..., f, p, n)."""

    def arrays(expressions: list[sympy.Expr], *shape: int) -> Map:
        found = compiled(expressions, [x.name for x in names], "numpy")

        def array(w: Array) -> Array:
            parts = np.moveaxis(w, -2, 0)
            rows = np.array([np.broadcast_to(x, parts.shape[1:]) for x in found(*parts)])
            inner = range(-1 - len(shape), -1)
            return np.moveaxis(rows.reshape(*shape, *parts.shape[1:]), range(len(shape)), inner)

        return array

    f, p = len(functions), len(names)
    return arrays(functions, f), arrays([g.diff(x) for g in functions for x in names], f, p)


def _read(values: Any, name: str) -> Array:
    try:
        found = np.asarray(values)
        found = found if found.dtype.kind == "f" else found.astype(float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers") from None
    if found.size > MOST_NUMBERS or not np.isfinite(found).all():
        raise InputError(f"{name} must be finite, and at most {MOST_NUMBERS} numbers")
    return found


def _read_log(weights: Any, p: Parameterization, n: int) -> tuple[Array, float]:
    """Return weights (N + 1, p, n) in doubles, and the unit in their last place."""
    if isinstance(weights, Mapping):
        if missing := [w for w in p.weights if w not in weights]:
            raise InputError(f"the log has no weights {', '.join(missing)}")
        parts = [_read(weights[w], w) for w in p.weights]
        if len({x.shape for x in parts}) > 1:
            raise InputError("the arrays of the log have several shapes")
        weights = np.stack([x.reshape(len(x), -1) for x in parts], 1)
    log = _read(weights, "the log")
    shaped = log[..., None] if log.ndim == 2 and n == 1 else log
    if shaped.ndim != 3 or shaped.shape[1:] != (p.p, n) or len(shaped) < 2:
        raise InputError(f"the log has shape {log.shape}: give (N + 1, {p.p}, {n}), N >= 1")
    return shaped.astype(float), float(np.finfo(log.dtype).eps)
