"""What the steps of a log are: gradients on rows of data, or these with something beside.

A step of gradient descent with rates r on the weights is A mu, A = diag(r) J^T X^T, with one
multiplier mu a row: t (y - X beta) on a batch of the given labels, anything under others. What A
leaves of a step has two parts. Outside diag(r) J^T the laws say which of them it breaks; inside,
it leaves the row space of X. Momentum, decay and rates of their own add columns to A, and so tell
themselves: the step before, the weights, the gradients before, or A weight by weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from sympy import Expr

from derive.errors import InputError
from derive.perturbed.run import Beside, Broken
from numerics.evaluate.numbers import Array, quiet

Maps: TypeAlias = "tuple[Callable[[Array], Array], ...]"
ROUNDING, LIVE = 4, 100
"""Units in the last place by which a step of the log may be off; it is looked at if it is larger
than that by the second."""
SURE = 1e-4
"""A share of a step above which it is refused; between this and rounding nothing is said."""
SAME = 1e-6
"""How far numbers that are one number may be apart, relative, in double precision."""
FEW, MANY = 10, 300
"""How many steps are looked at for what stands beside gradients: to find it, and to believe it."""
CHUNK, TINY = 10**7, 1e-300


@dataclass
class Steps:
    """The steps of a log (N + 1, p, n), each with the gradients on rows of X at its weights.

    Args:
        maps: dF, of gradients diag(r) J^T, and the covectors dc of laws, (..., f, p, n) each.
        F: the outputs.
        unit: that in the last place of the log.
    """

    log: Array
    X: Array
    y: Array
    unit: float
    maps: Maps
    F: Callable[[Array], Array]
    moves: Array = field(init=False)
    live: Array = field(init=False)
    allowed: Array = field(init=False)

    def __post_init__(self) -> None:
        self.moves = np.diff(self.log, axis=0).reshape(len(self.log) - 1, -1)
        self.sizes = np.linalg.norm(self.moves, axis=1)
        noise = ROUNDING * self.unit * np.sqrt((self.log[:-1] ** 2).sum((1, 2)))
        self.live = np.flatnonzero(self.sizes > LIVE * noise)
        self.floor = max(1e-9, 1e3 * self.unit)
        self.allowed = self.floor + noise / np.maximum(self.sizes, TINY)

    def fields(self, ks: Array) -> Array:
        """Return dF of steps (K, d, p, n); InputError where it is undefined."""
        with quiet():
            dF = self.maps[0](self.log[ks])
        if not np.isfinite(dF).all():
            raise InputError("the gradient of F is undefined at weights of the log")
        return dF

    def gradients(self, ks: Array) -> Array:
        """Return A of steps (K, p n, m)."""
        dF = self.fields(ks)
        rows = self.X.reshape(len(self.X), dF.shape[1], -1)
        return np.asarray(np.einsum("kdpn,idn->kpni", dF, rows).reshape(len(ks), -1, len(rows)))

    def chunks(self, ks: Array) -> Iterator[Array]:
        """Split steps so that the gradients of a part fit in memory."""
        size = self.moves.shape[1] * (len(self.X) + 1)
        return iter(np.array_split(ks, 1 + len(ks) * size // CHUNK))

    def shares(self) -> tuple[Array, Array, Array]:
        """Return of each live step the shares that no gradient explains (K, 3 + laws), and mu.

        These are the whole, what is outside the gradients of F, what is inside and off the rows of
        X, and along each law. The third are the ranks of A.
        """
        shares, multipliers, ranks = [], [], []
        for ks in self.chunks(self.live):
            move, w = self.moves[ks], self.log[ks]
            dF = self.fields(ks)  # the part of a step along the gradients of F, copy by copy
            K, d, p, n = dF.shape
            columns = dF.transpose(0, 3, 2, 1).reshape(K * n, p, d)
            by_copy = move.reshape(w.shape).transpose(0, 2, 1).reshape(K * n, p)
            along = _along(_factors(columns)[0], by_copy).reshape(K, n, p)
            inside = along.transpose(0, 2, 1).reshape(move.shape)
            basis, inverse = _factors(self.gradients(ks))
            rest = move - _along(basis, move)
            with quiet():
                dc = self.maps[1](w)
                dc = np.nan_to_num(dc / np.maximum(np.linalg.norm(dc, axis=2), TINY)[:, :, None])
            laws = np.linalg.norm(np.einsum("kcpn,kpn->kcn", dc, move.reshape(w.shape)), axis=2)
            parts = [*map(_norms, (rest, move - inside, rest - move + inside)), *laws.T]
            shares.append(np.stack(parts, 1) / self.sizes[ks, None])
            multipliers.append(np.einsum("kmr,kr->km", inverse, _coordinates(basis, move)))
            ranks.append((np.abs(basis).max(1) > 0).sum(1))
        return np.concatenate(shares), np.concatenate(multipliers), np.concatenate(ranks)

    def turning(self) -> Array:
        """Return by how much gradients of F and of laws turn in a live step, relative, at most."""
        found = []
        for ks in self.chunks(self.live):
            ratios = [0 * self.sizes[ks]]
            for f in self.maps:
                with quiet():
                    before, after = (np.nan_to_num(f(self.log[ks + i])) for i in (0, 1))
                    size = np.maximum(np.linalg.norm(before, axis=2), TINY)
                    ratio = np.linalg.norm(after - before, axis=2) / size
                ratios += [ratio.reshape(len(ks), -1).max(1)] if ratio.size else []
            found.append(np.max(ratios, 0))
        return np.concatenate(found)

    def typical(self, shares: Array) -> float:
        """Return the root mean square of shares of the live steps, as much as these move."""
        sizes = self.sizes[self.live]
        return float(np.linalg.norm(shares * sizes) / np.linalg.norm(sizes))

    def breaks(self, shares: Array, laws: tuple[Expr, ...]) -> tuple[Broken, ...]:
        """Return what the steps break, each with how many do, the first, and the largest share."""
        named: list[tuple[Expr | str, Array]] = [*zip(laws, shares[:, 3:].T, strict=True)]
        named += [] if laws else [("the span of the gradients of `F`", shares[:, 1])]
        named += [("the row space of `X`", shares[:, 2])]
        bound = np.maximum(SURE, self.allowed[self.live])
        found = []
        for what, share in named:
            if (over := np.flatnonzero(share > bound)).size:
                first, step = float(share[over[0]]), int(self.live[over[0]]) + 1
                found.append(Broken(step, what, first, len(over), float(share.max())))
        return tuple(found)

    def batches(self, mu: Array) -> tuple[Array, Array, Array]:
        """Return of each live step the rows of its batch, 0 under other labels, t, and if all are.

        A batch is the rows where mu is nearer to t (y - X beta) than to 0.
        """
        rows, sizes, full = [], [], []
        for ks, part in zip(
            self.chunks(self.live), self.chunks(np.arange(len(self.live))), strict=True
        ):
            fit = self.F(self.log[ks]).reshape(len(ks), -1) @ self.X.T
            r, A, move = self.y - fit, self.gradients(ks), self.moves[ks]
            i = np.abs(mu[part]).argmax(1)
            each = np.arange(len(ks))
            with quiet():
                t = (mu[part, :][each, i] / r[each, i])[:, None]
                on = np.abs(mu[part] - t * r) < np.abs(mu[part])
                batch = np.where(on, r, 0)
                t = (mu[part] * batch).sum(1) / (batch**2).sum(1)
                off = _norms(move - t[:, None] * np.einsum("kqm,km->kq", A, batch))
            lost = 100 * self.unit * (_norms(fit) + _norms(self.y)) / np.maximum(_norms(r), TINY)
            given = (off < (10 * self.allowed[ks] + lost) * self.sizes[ks]) & (t > 0)
            push = np.einsum("kqm,km->kq", A, r)
            cosine = (push * move).sum(1) / np.maximum(_norms(push) * self.sizes[ks], TINY)
            rows.append(np.where(given, on.sum(1), 0))
            sizes.append(t)
            full.append(cosine > 1 - SAME)
        return np.concatenate(rows), np.concatenate(sizes), np.concatenate(full)

    def beside(self, weights: tuple[str, ...]) -> Beside | None:
        """Return what makes steps gradients on rows, where it stands beside these.

        None where nothing does of what is tried, or where the columns would explain any step.
        """
        few, many = self.spread(FEW), self.spread(MANY)
        for kind in ("signs", *COLUMNS, "rates"):
            if self.values(kind, few) is not None and (found := self.values(kind, many)):
                alone = {"rates": weights, "signs": ("size",)}
                names = alone[kind] if kind in alone else COLUMNS[kind][0]
                values = ((n, *x) for n, x in zip(names, found, strict=True))
                return Beside(kind, tuple(values), len(many))
        return None

    def spread(self, count: int) -> Array:
        """Return so many live steps, from the first to the last."""
        at = np.linspace(0, len(self.live) - 1, min(count, len(self.live)))
        return np.asarray(self.live[at.astype(int)])

    def values(self, kind: str, ks: Array) -> list[tuple[float, float]] | None:
        """Return the coefficients of what makes steps gradients on rows, if it does."""
        if kind == "signs":
            moves = np.abs(self.moves[ks])
            same = np.ptp(moves, axis=1) < 10 * self.allowed[ks] * self.sizes[ks]
            return [_quartiles(moves[:, 0])] if moves.shape[1] > 1 and same.all() else None
        if kind == "rates":
            return self.rates(ks)
        names, columns = COLUMNS[kind]
        found = self.explained(ks, columns)
        if found is None:
            return None
        later = [x[ks > 0].T for x in found]  # before the first step there is none
        said = []
        for name, c, off in zip(names, *later, strict=False):
            best = np.argsort(off)[: 1 + len(off) // 4]  # those that rounding moves least
            own = SIGNS.get(name, 1) * c[best]
            if not own.size or (own <= off[best]).any():  # it is not told from 0
                return None
            said.append(_quartiles(own))
        return said

    def explained(self, steps: Array, columns: tuple[Columns, ...]) -> tuple[Array, Array] | None:
        """Return the coefficients of columns beside A, if with these the steps are explained.

        And by how much rounding may move them.
        """
        found, off = [], []
        for ks in self.chunks(steps):
            basis, _ = _factors(self.gradients(ks))
            extra, move = np.concatenate([f(self, ks) for f in columns], 2), self.moves[ks]
            scale = np.maximum(np.linalg.norm(extra, axis=1), TINY)[:, None]
            more, inverse = _factors(extra / scale - basis @ (basis.mT @ (extra / scale)))
            rest = move - _along(basis, move)
            coordinates = _coordinates(more, rest)
            left = _norms(rest - np.einsum("kqr,kr->kq", more, coordinates))
            used = ((np.abs(basis).max(1) > 0).sum(1) + (np.abs(more).max(1) > 0).sum(1)).max()
            if used >= move.shape[1] or (left > 10 * self.allowed[ks] * self.sizes[ks]).any():
                return None
            found.append(np.einsum("kmr,kr->km", inverse, coordinates) / scale[:, 0])
            error = self.allowed[ks] * self.sizes[ks]
            off.append(np.linalg.norm(inverse, axis=2) / scale[:, 0] * error[:, None])
        return np.concatenate(found), np.concatenate(off)

    def rates(self, steps: Array) -> list[tuple[float, float]] | None:
        """Return the rates in which the weights move along A, each by itself, if they are so."""
        p, m = self.log.shape[1], len(self.X)
        ratios = []
        for ks in self.chunks(steps):
            A = self.gradients(ks).reshape(len(ks), p, -1, m).swapaxes(0, 1)
            move = self.moves[ks].reshape(len(ks), p, -1).swapaxes(0, 1)
            if A.shape[2] <= m:
                return None
            basis, inverse = zip(*map(_factors, A), strict=True)
            left = [_norms(x - _along(b, x)) for b, x in zip(basis, move, strict=True)]
            mu = [
                np.einsum("kmr,kr->km", v, _coordinates(b, x))
                for b, v, x in zip(basis, inverse, move, strict=True)
            ]
            with quiet():
                ratio = np.array([(x * mu[0]).sum(1) / (mu[0] ** 2).sum(1) for x in mu])
                off = [_norms(x - r[:, None] * mu[0]) for x, r in zip(mu, ratio, strict=True)]
            over = np.hypot.reduce(np.array(left)) > 10 * self.allowed[ks] * self.sizes[ks]
            apart = np.max(off, 0) > max(SAME, 1e3 * self.floor) * _norms(mu[0]) * ratio.max(0)
            if over.any() or apart.any() or not (ratio > 0).all():
                return None
            ratios.append(ratio)
        return [*map(_quartiles, np.concatenate(ratios, 1))]


def _before(steps: Steps, ks: Array) -> Array:
    """Return the step before, 0 before the first."""
    return np.asarray(np.where((ks > 0)[:, None], steps.moves[ks - 1], 0)[:, :, None])


def _weights(steps: Steps, ks: Array) -> Array:
    return steps.log[ks].reshape(len(ks), -1, 1)


def _gradients_before(steps: Steps, ks: Array) -> Array:
    return np.asarray(np.where((ks > 0)[:, None, None], steps.gradients(np.maximum(ks - 1, 0)), 0))


Columns: TypeAlias = Callable[[Steps, Array], Array]


COLUMNS: dict[str, tuple[tuple[str, ...], tuple[Columns, ...]]] = {
    "decay": (("decay",), (_weights,)),
    "momentum": (("momentum",), (_before,)),
    "momentum and decay": (("momentum", "decay"), (_before, _weights)),
    "Nesterov": (("momentum",), (_before, _gradients_before)),
    "Nesterov and decay": (("momentum", "decay"), (_before, _weights, _gradients_before)),
}
"""What stands beside the gradients on rows: columns (K, p n, .) of steps; and what the coefficients
of the first ones are."""
SIGNS = {"decay": -1}


def _norms(x: Array) -> Array:
    return np.asarray(np.linalg.norm(x, axis=-1))


def _quartiles(values: Array) -> tuple[float, float]:
    low, high = np.quantile(values, (0.25, 0.75))
    return float(low), float(high)


def _factors(A: Array) -> tuple[Array, Array]:
    """Return an orthonormal basis of the columns, 0 beyond the rank, and what solves by it."""
    U, s, V = np.linalg.svd(A, full_matrices=False)
    on = s > s.max(1, initial=0, keepdims=True) * np.finfo(float).eps * max(A.shape[1:])
    inverse = np.where(on, 1 / np.where(on, s, 1), 0)
    return U * on[:, None], V.mT * inverse[:, None]


def _coordinates(basis: Array, x: Array) -> Array:
    return np.asarray(np.einsum("kqr,kq->kr", basis, x))


def _along(basis: Array, x: Array) -> Array:
    return np.asarray(np.einsum("kqr,kr->kq", basis, _coordinates(basis, x)))
