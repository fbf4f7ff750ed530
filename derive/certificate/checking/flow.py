"""Gradient flow on the outputs: the fields, the kernel, the forced warp, brackets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, islice, product
from typing import TypeAlias

from flint import arb, arb_mat, ctx, fmpz_mpoly

from derive.certificate.checking.function import BITS, Function, Value, evaluated, not_zero
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, require

Field: TypeAlias = list[Function]
ORDER, MOST, PATHS, TERMS = 4, 13, 200, 3000
WARPED = ("warp", "no warp")


class Turning:
    """beta = phi u with a vector u of open dimension and n = |u|: phi > 0, and s = phi n.

    K has the eigenvalue *across* T = r phi^2, with the rate r of u, and along beta that of s, R.
    With y = psi u/n and g = psi r phi/n, <grad y_i, grad F_j> = u_i u_j (X psi - g)/n^2
    + g delta_ij in every dimension d >= 2, where that leaves H = X log g = X log T - (R - T)/s.
    """

    def __init__(self, space: Space, X: Field, phi: Function, rate: Function, n: Function) -> None:
        self.n, self.pushed, T = n, rate * phi, rate * phi**2
        self.across, R = T, space.along(X, phi * n)
        self.H = space.along(X, T) / T - (R - T) / (phi * n)


class Flow:
    """Gradient flow on outputs: X_a, K, the forced H, and vertical fields V of paths.

    F and X are those where all ties hold; *turning* is None but of a vector of open dimension.
    H_a (K_aa K_bb - K_ab^2) = K_aa B_abb - K_ab B_aba with B_abc = X_a K_bc - X_b K_ac. A path (a)
    names X_a, and (path, m) the field V' = [X_m, V] + omega X_m, less H_m V where V = X_a, with
    omega = V log g, so that V' F = 0 and omega' = X_m omega - V H_m + omega H_m for a warp g.
    """

    def __init__(
        self, space: Space, F: list[Function], X: list[Field], turning: Turning | None, kind: str
    ) -> None:
        self.space, self.F, self.X, self.turning = space, F, X, turning
        self.along = space.along
        self.K = [[self.along(x, f) for f in self.F] for x in self.X]
        self.d, self.zero, self.warped = len(self.F), space.number(0), kind in WARPED
        forced = self.warped and (self.d > 1 or self.turning is not None)
        self.H = [self.warp(a) if forced else self.zero for a in range(self.d)]
        self.named: dict[tuple[int, ...], tuple[Field, Function]] = {}

    def for_claim(self, kind: str) -> Flow:
        """Return this with the forced H for claims of a warp, else with H = 0."""
        return Flow(self.space, self.F, self.X, self.turning, kind)

    def bracket(self, x: Sequence[Function], y: Sequence[Function]) -> Field:
        """Return [x, y] = (Dy) x - (Dx) y."""
        return [self.along(x, yk) - self.along(y, xk) for xk, yk in zip(x, y, strict=True)]

    def warp(self, a: int) -> Function:
        """Return the only possible X_a log g."""
        if self.turning is not None:
            return self.turning.H
        K, X, b = self.K, self.X, 1 if a == 0 else 0
        first = self.along(X[a], K[b][b]) - self.along(X[b], K[a][b])
        second = self.along(X[a], K[b][a]) - self.along(X[b], K[a][a])
        return (K[a][a] * first - K[a][b] * second) / (K[a][a] * K[b][b] - K[a][b] ** 2)

    def position(self, label: JSON) -> int:
        """Return the place of the output that claims call *label*."""
        require(type(label) is int and 1 <= label <= self.d, f"there is no output {label!s:.20}")
        return int(label) - 1

    def field(self, path: Sequence[JSON]) -> tuple[Field, Function]:
        """Return X_a, or V, and omega of a path; where H = 0 these are iterated brackets."""
        require(0 < len(path) <= 12, "a path has a number of an output or more")
        if (place := tuple(path)) not in self.named:
            *before, m = path
            x, h = self.X[self.position(m)], self.H[self.position(m)]
            if not before:
                return x, h
            v, omega = self.field(before)
            less, more = (h, self.zero) if len(before) == 1 else (self.zero, omega * h)
            zipped = zip(self.bracket(x, v), x, v, strict=True)
            rate = self.along(x, omega) - self.along(v, h) + more
            self.named[place] = [z + omega * xk - less * vk for z, xk, vk in zipped], rate
        return self.named[place]

    def sides(self, path: Sequence[JSON], of: Sequence[JSON]) -> tuple[Function, Function, str]:
        """Return both sides of a condition that every warp (H = 0: none) needs, and its words.

        It is V F_a = 0, or V K_ab = omega K_ab, with V of a path; of a vector it is H = 0.
        """
        if self.turning is not None:
            plain = not (path or of or self.warped)
            require(plain, "a vector of open dimension has a warp; it may be constant or not")
            return self.turning.H, self.zero, "H = 0"
        require(len(path) > 1, "a path of a vertical field has two outputs or more")
        (v, omega), at = self.field(path), [self.position(label) for label in of]
        require(len(at) in (1, 2), f"no condition: {of!s:.20}")
        i, j, *more = path
        named = f"[X{j}, X{i}]" + f" + H{i} X{j} - H{j} X{i}" * self.warped
        named = f"of the path {path}" if more else f"= {named}"
        if len(at) == 1:
            return self.along(v, self.F[at[0]]), self.zero, f"V F{of[0]} = 0, V {named}"
        entry, name = self.K[at[0]][at[1]], "K{}{}".format(*of)
        words = f"V {name} = omega {name}, V {named}, omega = V log g"
        return self.along(v, entry), omega * entry, words

    def derivative(self, polynomial: fmpz_mpoly, labels: Sequence[int]) -> Function:
        """Return an iterated derivative of a polynomial along fields."""
        f = self.space.of(polynomial)
        for label in labels:
            f = self.along(self.X[self.position(label)], f)
        return f

    def lives(self, polynomial: fmpz_mpoly) -> bool:
        """Tell whether a polynomial is shown not to be 0 on all of the leaf of the start."""
        if not_zero(evaluated(polynomial, self.space.start)):
            return True
        parts = (part for part, _ in polynomial.factor_squarefree()[1])
        return self.alive(math.prod(parts, start=self.space.one)) is not None  # each factor once

    def alive(self, polynomial: fmpz_mpoly) -> list[int] | None:
        """Return fields along which a polynomial, differentiated, is not 0 at the start."""
        labels = range(1, self.d + 1)
        paths = (path for n in range(ORDER) for path in product(labels, repeat=n))
        along_one = ((a,) * n for n in range(ORDER, MOST) for a in labels)
        for path in chain(islice(paths, PATHS), along_one):
            f = self.derivative(polynomial, path)
            if not_zero(f.at(self.space.start)):
                return [*path]
            if len(f.top) > TERMS:
                break
        return None


def independent(rows: Sequence[Sequence[Value]]) -> bool:
    """Tell whether rows of values are shown to be independent: their Gram determinant is > 0."""
    with ctx.workprec(BITS):
        matrix = arb_mat([[arb(x) for x in row] for row in rows] or [[arb(1)]])
        return bool((matrix * matrix.transpose()).det() > 0)


def determinant(matrix: Sequence[Sequence[Function]]) -> Function:
    """Return a determinant, by expansion."""
    require(len(matrix) <= 7, "a determinant is too large to be expanded")
    first, *rest = matrix
    minors = ([[*row[:j], *row[j + 1 :]] for row in rest] for j in range(len(first)))
    terms = (determinant(minor) if rest else 1 for minor in minors)
    signed = ((-1) ** j * x * term for j, (x, term) in enumerate(zip(first, terms, strict=True)))
    return first[0].ring.sum(signed)
