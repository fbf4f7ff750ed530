"""Gradient flow on the outputs: the fields, the kernel, the forced warp, brackets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product
from typing import TypeAlias

from flint import arb, arb_mat, ctx, fmpz_mpoly

from derive.certificate.checking.function import BITS, Function, Value, evaluated, not_zero
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, require

Field: TypeAlias = list[Function]
ORDER, PATHS = 3, 200
WARPED = ("warp", "no warp")


class Turning:
    """beta = phi u with a vector u of open dimension and n = |u|: phi > 0, and s = phi n.

    With the rate r of u, y = psi u/n and g = psi r phi/n, <grad y_i, grad F_j> = u_i u_j
    (X psi - g)/n^2 + g delta_ij in every dimension d >= 2, where that leaves H = X log g =
    n <grad phi, grad phi>/phi + X log r. *steep* is <grad phi, grad phi> + phi X log r/n.
    """

    def __init__(self, phi: Function, rate: Function, steep: Function, n: Function) -> None:
        self.phi, self.n, self.pushed, self.H = phi, n, rate * phi, n * steep / phi


class Flow:
    """Gradient flow on outputs: X_a, K, the forced H, and vertical fields V of paths.

    F and X are those where all ties hold; *turning* is None but of a vector of open dimension.
    H_a (K_aa K_bb - K_ab^2) = K_aa B_abb - K_ab B_aba with B_abc = X_a K_bc - X_b K_ac. A path
    (a, b) names V = [X_a, X_b] - H_a X_b + H_b X_a, and (path, m) the field [X_m, V] + omega X_m
    with omega = V K_11 / K_11.
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
        self.vertical: dict[tuple[int, ...], tuple[Field, Function]] = {}

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

    def field(self, path: Sequence[int]) -> tuple[Field, Function]:
        """Return V and omega of a path."""
        require(2 <= len(path) <= 12, "a path has two numbers of outputs or more")
        if tuple(path) not in self.vertical:
            *before, m = path
            if len(before) == 1:
                w, rate, eta = self.X[before[0]], -self.H[before[0]], self.H[m]
                v = [-z for z in self.bracket(self.X[m], w)]
                v = [z + rate * x + eta * y for z, x, y in zip(v, self.X[m], w, strict=True)]
            else:
                w, rate = self.field(before)
                pairs = zip(self.bracket(self.X[m], w), self.X[m], strict=True)
                v = [z + rate * x for z, x in pairs]
            idle = all(vk.is_zero() for vk in v)
            omega = self.zero if idle else self.along(v, self.K[0][0]) / self.K[0][0]
            self.vertical[tuple(path)] = v, omega
        return self.vertical[tuple(path)]

    def sides(
        self, kind: str, path: Sequence[int], pair: Sequence[int]
    ) -> tuple[Function, Function]:
        """Return both sides of a condition that every warp (H = 0: none) needs on the leaf.

        equation (a, b, c): H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac. factor (path; i, j):
        V K_ij = omega K_ij. closed (path): eta is closed on the last two of its fields. constant
        (): the forced H of a vector is 0.
        """
        if self.turning is not None:
            plain = kind == "constant" and not self.warped
            require(plain, "a vector of open dimension has a warp; it may be constant or not")
            return self.turning.H, self.zero
        H, K, X = self.H, self.K, self.X
        *before, m = path
        if kind == "equation" and len(path) == 3:
            a, b = before
            right = self.along(X[a], K[b][m]) - self.along(X[b], K[a][m])
            return H[a] * K[b][m] - H[b] * K[a][m], right
        v, omega = self.field(path)
        if kind == "factor" and len(pair) == 2:
            entry = K[pair[0]][pair[1]]
            return self.along(v, entry), omega * entry
        require(kind == "closed", f"there is no condition of the kind {kind!s:.20}")
        if len(before) == 1:
            return self.along(X[before[0]], H[m]) - self.along(X[m], H[before[0]]), omega
        w, rate = self.field(before)
        return self.along(X[m], rate) - self.along(w, H[m]) + rate * H[m], omega

    def condition(self, kind: str, path: Sequence[int], pair: Sequence[int]) -> str:
        """Return what ``sides`` are sides of, in words; V is the field of the path."""
        a, b, *_ = m = [k + 1 for k in path] or [0, 0]
        if kind == "equation":
            sides = [f"{x}{a} K{b}{m[2]} - {x}{b} K{a}{m[2]}" for x in ("H", "X")]
            return " = ".join(sides) + ("" if self.warped else ", with H = 0 where g = 1")
        if kind == "factor":
            entry = "K" + "".join(str(k + 1) for k in pair)
            return f"V {entry} = omega {entry}, V of the path {m}, omega = V K11/K11"
        return f"eta is closed along the path {m}" if kind == "closed" else "H = 0"

    def nested(self, tree: JSON, depth: int = 0) -> Field:
        """Return X_a for a number a, and the bracket of two for a pair."""
        if isinstance(tree, int):
            return self.X[self.position(tree)]
        require(isinstance(tree, list) and len(tree) == 2 and depth < 12, "a bracket is a pair")
        return self.bracket(self.nested(tree[0], depth + 1), self.nested(tree[1], depth + 1))

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
        common = polynomial
        for k in range(len(self.space.symbols)):
            common = common.gcd(polynomial.derivative(k))
        polynomial = polynomial / common  # each factor once
        labels = range(1, self.d + 1)
        paths = (path for n in range(ORDER + 1) for path in product(labels, repeat=n))
        tried = islice(paths, PATHS)
        return any(not_zero(self.derivative(polynomial, p).at(self.space.start)) for p in tried)


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
