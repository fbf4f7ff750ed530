"""The audit of a training run: its weights, step by step, against the identities of its F."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import sympy
from scipy.optimize import root

from derive.derivation import Derivation, derive
from derive.errors import InputError
from derive.language import to_sympy
from derive.model.notation import log_expr, to_expr
from derive.model.parameterization import Parameterization
from derive.perturbed.run import AuditedRun, Batches, LawDrift
from numerics.confirm.steps import TINY, Steps
from numerics.evaluate.numbers import Array, on_arrays, quiet

Map = Callable[[Array], Array]
MOST_NUMBERS = 2 * 10**8
FITS = 1e-9
HUGE = 1e100
"""What stands for a value that is undefined."""


_NO_BATCHES = Batches(0, None, 0, (0, 0), 0, (0.0, 0.0))


def audit_run(
    p: Parameterization, weights: Any, X: Any, y: Any, steps: Any = None, *, every: int = 1
) -> AuditedRun:
    """Return what a log of a training run shows of the flow of F.

    Args:
        p: F; of one output, the columns of X have a copy each.
        weights: after each step, the start first: (N + 1, p, n) for n copies, (N + 1, p) for one or
            for several outputs; or a mapping of the names of weights to arrays (N + 1, n).
        X, y: m rows of d numbers, and m numbers.
        steps: the N step sizes, where known; what is found does not depend on them.
        every: n, where the log has the weights after every n-th step alone.

    Raises:
        InputError: shapes do not fit, a number is not finite, or F has no laws and dual coordinates
            that tell its weights.

    Source: Even, Pesme, Gunasekar, Flammarion 2023.
    """
    plain = p.geometry.is_diagonal and p.geometry.psi is None and p.geometry.steepest is None
    if p.vectors or p.affine or p.parameters or not plain:
        raise InputError("the audit is of F without open dimensions and parameters, under rates")
    X, y = (_read(x, name) for x, name in ((X, "X"), (y, "y")))
    if X.ndim != 2 or y.shape != X.shape[:1] or not X.size:
        raise InputError(f"X has shape {X.shape} and y {y.shape}: give m rows, and m numbers")
    copies = X.shape[1] if p.d == 1 else 1
    if copies * p.d != X.shape[1]:
        raise InputError(f"X has {X.shape[1]} columns, but F has {p.d} outputs")
    log, unit = _read_log(weights, p, copies)
    if steps is not None and _read(steps, "steps").shape != (len(log) - 1,):
        raise InputError(f"steps must be {len(log) - 1} numbers, one for each step")
    free = p.with_(start={}, positive=[])
    return _Audit(derive(free), log, X, y, unit).record(every)


class _Audit:
    """F, its laws c and dual coordinates y as functions of weights (..., p, n), with gradients."""

    def __init__(self, d: Derivation, log: Array, X: Array, y: Array, unit: float) -> None:
        self.d, self.log, self.X, self.y, self.unit = d, log, X, y, unit
        p = d.parameterization
        names = {w: sympy.Symbol(w, real=True) for w in p.weights}
        laws, duals = list[sympy.Expr](), list[sympy.Expr]()
        known = all(block.potential.dual is not None for block in d.blocks)
        for block in d.blocks:
            symbols, dual = block.notation.weights, block.potential.dual
            laws += [to_expr(c, symbols) for c in block.conserved.laws]
            duals += [log_expr(f, symbols) for f in dual.y] if known and dual is not None else []
        named = [_plain(f, names) for f in (*laws, *duals)]
        g = [d.warping.g] if d.warping.g is not None else []
        self.g, _ = _compiled([*names.values()], [_plain(f, names) for f in g])
        self.laws, self.k = tuple(laws), len(laws)
        self.F, self.dF = _compiled([*names.values()], [_plain(f, names) for f in p.outputs])
        self.c, self.dc = _compiled([*names.values()], named[: self.k])
        self.psi, self.dpsi = _compiled([*names.values()], named[self.k :])
        self.known, self.whole = known, known and len(named) == p.p
        rates = [to_sympy(r, names) for r in p.geometry.trees] or [sympy.S.One] * p.p
        self.rates, _ = _compiled([*names.values()], rates)

    def flat(self, values: Array) -> Array:
        """Return one number a feature: copies, or outputs."""
        return values.reshape(*values.shape[:-2], -1)

    def fields(self, w: Array) -> Array:
        """Return the gradients of F in the rates of the weights (..., d, p, n)."""
        return np.asarray(self.dF(w) * self.rates(w)[..., None, :, :])

    def record(self, every: int = 1) -> AuditedRun:
        """Return all that is found."""
        if every < 1:
            raise InputError(f"every is the number of steps between two of the log, not {every}")
        w, X = self.log, self.X
        steps = Steps(w, X, self.y, self.unit, (self.fields, self.dc), self.F)
        if not steps.live.size:
            raise InputError("no step of the log is larger than its rounding")
        shares, mu, ranks = steps.shares()
        allowed = steps.allowed[steps.live]
        over = bool((shares[:, 0] > allowed).any())
        each = every == 1
        breaks = steps.breaks(shares, self.laws) if each else ()
        beside = steps.beside(self.d.parameterization.weights) if over and each else None
        run = not (breaks or beside)
        batches, given = self.on_rows(steps, mu, ranks) if run and each else (_NO_BATCHES, None)
        reached = self.flat(self.F(w[-1]))
        return AuditedRun(
            self.d,
            count=len(w) - 1,
            copies=w.shape[2],
            told=steps.live.size,
            seen=float(allowed.min()),
            share=float(max(0, (shares[:, 0] - allowed).max() + steps.floor)) if over else 0.0,
            breaks=breaks,
            beside=beside,
            telling=bool(np.linalg.matrix_rank(X) < w[0].size) and not over and each,
            batches=batches,
            drifts=self.drifts(given),
            every=every,
            typical=(steps.typical(shares[:, 0]), steps.typical(steps.turning())),
            **self.duals(run, given, reached, every),
            reached=tuple(map(float, reached)),
            misfit=_norm(X @ reached - self.y) / max(_norm(self.y), TINY),
            data=(w, X, self.y),
        )

    def on_rows(self, steps: Steps, mu: Array, ranks: Array) -> tuple[Batches, Array | None]:
        """Return on which rows the steps are, and which have their labels; None: not told."""
        rows, sizes, full = steps.batches(mu)
        if ranks.min() < len(self.X):
            return replace(_NO_BATCHES, full=int(full.sum()), of=len(self.X)), None
        full = full & (rows > 0)
        part, on = (rows > 0) & ~full, rows > 0
        given = np.ones(len(self.log) - 1, dtype=bool)
        given[steps.live] = on
        some, t = rows[part] if part.any() else rows[:1], sizes[on] if on.any() else 0 * sizes[:1]
        counts, ends = [int(x.sum()) for x in (full, part, ~on)], (int(some.min()), int(some.max()))
        known = dict(zip(("full", "given", "others"), counts, strict=True))
        size = float(t.min()), float(t.max())
        return Batches(**known, rows=ends, of=len(self.X), sizes=size), given

    def drifts(self, given: Array | None) -> tuple[LawDrift, ...]:
        """Return what the laws moved by, in the copy where that is most."""
        with quiet():
            values = self.c(self.log)
        found = []
        for i, c in enumerate(self.laws):
            if not np.isfinite(values[:, i]).all():
                continue
            change = np.abs(values[:, i] - values[0, i]).max(0)
            j = int(np.argmax(change))
            others = 0.0 if given is None else float(np.diff(values[:, i, j])[~given].sum())
            found.append(LawDrift(c, float(change[j]), float(values[0, i, j]), others))
        return tuple(found)

    def duals(self, run: bool, given: Array | None, reached: Array, every: int) -> dict[str, Any]:
        """Return what y moved by, and where that leads."""
        found = dict[str, Any].fromkeys(
            ("xi", "identity", "effective_start", "predicted", "flow", "of_laws")
        ) | {"xi_by_labels": 0.0, "fits": ()}
        if not run or not self.known:
            return found
        w, X = self.log, self.X
        with quiet():
            y = self.flat(self.psi(w))
            first = self.flat(np.einsum("kdpn,kpn->kdn", self.dpsi(w[:-1]), np.diff(w, axis=0)))
        if not np.isfinite(y).all():
            return found
        parts = np.diff(y, axis=0) - first
        moved = y[-1] - y[0]
        xi = self.off_rows(moved) if every > 1 else parts.sum(0)
        found["xi"] = _floats(xi)
        if every == 1:
            steered = moved - xi
            found["identity"] = _norm(self.off_rows(steered)) / max(_norm(steered), TINY)
        if given is not None:
            found["xi_by_labels"] = float(np.abs(parts[~given].sum(0)).max())
        if not self.whole:
            return found
        c, (first, last) = self.c(w[-1]), np.sign(self.g(w[[0, -1]]))
        first = np.where(first, first, last)  # where g = 0 at the start, that of the end decides
        starts = ((self.c(w[0]), y[0], first), (c, y[0], first), (c, y[0] + xi, last))
        limits = [self.interpolant(*start, self.y) for start in starts]
        fits = [self.interpolant(*start, X @ reached) for start in starts]
        found |= dict(zip(("flow", "of_laws", "predicted"), map(_floats, limits), strict=True))
        found["fits"] = tuple(None if x is None else float(np.abs(x - reached).max()) for x in fits)
        start = self.solved(*starts[2])
        found["effective_start"] = None if start is None else tuple(map(tuple, start.tolist()))
        return found

    def off_rows(self, x: Array) -> Array:
        """Return what is beside the row space of X."""
        return np.asarray(x - self.X.T @ np.linalg.lstsq(self.X.T, x, rcond=None)[0])

    def spread(self, J: Array) -> Array:
        """Return the fields of all features as columns over all weights (p n, features)."""
        d, p, n = J.shape
        whole = np.zeros((p, n, d, n))
        for j in range(n):
            whole[:, j, :, j] = J[:, :, j].T
        return whole.reshape(p * n, d * n)

    def interpolant(self, c: Array, y: Array, side: Array, fit: Array) -> Array | None:
        """Return beta with X beta = fit, of weights with laws c, dual coordinates in y + row(X)."""
        found = self.solved(c, y, side, self.X, fit)
        return None if found is None else self.flat(self.F(found))

    def solved(
        self, c: Array, y: Array, side: Array, X: Array | None = None, fit: Array | None = None
    ) -> Array | None:
        """Solve for weights with laws c and dual coordinates y, and multipliers of X.

        None where these do not tell the weights, and where g has not the sign that is given.
        """
        w, m = self.log[-1], 0 if X is None else len(X)
        nu = np.zeros(m)
        if X is not None:
            nu = np.linalg.lstsq(X.T, self.flat(self.psi(w)) - y, rcond=None)[0]

        def off(x: Array) -> Array:
            at, nu = x[: w.size].reshape(w.shape), x[w.size :]
            rest = self.flat(self.psi(at)) - y
            parts = [(self.c(at) - c).ravel(), rest if X is None else rest - X.T @ nu]
            parts += [] if X is None else [X @ self.flat(self.F(at)) - fit]
            return np.asarray(
                np.nan_to_num(np.concatenate(parts), nan=HUGE, posinf=HUGE, neginf=-HUGE)
            )

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
            told = _norm(found.fun) < FITS and np.linalg.cond(slopes(found.x)) < 1 / FITS
        at = found.x[: w.size].reshape(w.shape)
        return at if told and (np.sign(self.g(at)) == side).all() else None


def read_arrays(file: Path, option: str) -> dict[str, Array]:
    """Return the arrays of a file of NumPy, or of safetensors; InputError for another file."""
    try:
        if file.suffix == ".safetensors":
            return read_safetensors(file.read_bytes())
        with np.load(file, allow_pickle=False) as found:
            if not isinstance(found, np.lib.npyio.NpzFile):
                raise InputError(f"{option}: {file} is one array: write it by numpy.savez")
            return {name: found[name] for name in found.files}
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError):
        what = "of safetensors" if file.suffix == ".safetensors" else "of numpy.savez"
        raise InputError(f"{option}: {file} is no file {what}") from None


TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8"}
"""Of safetensors, those that NumPy has and logs need."""


def read_safetensors(data: bytes) -> dict[str, Array]:
    """Return the arrays of a file of safetensors: 8 bytes with the length of a header, JSON, data.

    Raises:
        ValueError, KeyError, TypeError: it is none, or has numbers of other types.

    Source: github.com/huggingface/safetensors, the format.
    """
    start = 8 + int.from_bytes(data[:8], "little")
    header, found = dict(json.loads(data[8:start])), {}
    for name, about in header.items():
        if name != "__metadata__":
            first, end = about["data_offsets"]
            part = data[start + first : start + end]
            found[name] = np.frombuffer(part, TYPES[about["dtype"]]).reshape(about["shape"])
    return found


def _norm(x: Array) -> float:
    return float(np.linalg.norm(x))


def _floats(values: Array | None) -> tuple[float, ...] | None:
    return None if values is None else tuple(map(float, values))


def _plain(f: sympy.Expr, names: Mapping[str, sympy.Symbol]) -> sympy.Expr:
    return f.xreplace({s: names[s.name] for s in f.free_symbols})


def _compiled(names: list[sympy.Symbol], functions: list[sympy.Expr]) -> tuple[Map, Map]:
    """Return functions (..., p, n) -> (..., f, n), and their gradients, (..., f, p, n)."""

    def arrays(expressions: list[sympy.Expr], *shape: int) -> Map:
        found, inner = on_arrays(expressions, [x.name for x in names]), range(-1 - len(shape), -1)

        def array(w: Array) -> Array:
            parts = np.moveaxis(w, -2, 0)
            rows = found(parts).reshape(*shape, *parts.shape[1:])
            return np.moveaxis(rows, range(len(shape)), inner)

        return array

    f, p = len(functions), len(names)
    return arrays(functions, f), arrays([g.diff(x) for g in functions for x in names], f, p)


def _read(values: Any, name: str) -> Array:
    try:
        found = np.asarray(values)
        found = found if found.dtype.kind in "fc" else found.astype(float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers") from None
    with quiet():
        finite = np.isrealobj(found) and np.isfinite(found * found).all()  # as are sums of squares
    if found.size > MOST_NUMBERS or not finite:
        raise InputError(f"{name} must be finite and real, and at most {MOST_NUMBERS} numbers")
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
