"""Gradient flow on some outputs, recomputed from F alone, for the certificate checker.

For outputs F_1, ..., F_d the fields are X_a = grad F_a and the kernel K_ab = <X_a, X_b>. A warp
must have the logarithmic derivatives H_a = X_a log g that the Gram minors of K force,

    H_a (K_aa K_bb - K_ab^2) = K_aa B_abb - K_ab B_aba,    B_abc = X_a K_bc - X_b K_ac,

and then V_ab = [X_a, X_b] - H_a X_b + H_b X_a leaves beta in place, V K = omega(V) K, and so do
the brackets [X_m, V] + omega(V) X_m. A *path* (a, b, m, ...) names the field made in this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from derive.checking.functions import Function
from derive.checking.polynomials import BITS, Rejected
from derive.checking.space import Space

Field = list[Function]
MAXIMAL_PATH = 12


class Flow:
    """The fields, the kernel and the vertical fields of a group of outputs.

    Args:
        space: where the functions live.
        weights: how many of its variables, the first ones, are weights.
        outputs: the functions F_a, and the numbers by which claims call them.
    """

    def __init__(
        self, space: Space, weights: int, outputs: Sequence[Function], labels: Sequence[int]
    ) -> None:
        self.space, self.outputs, self.labels = space, list(outputs), list(labels)
        jacobian = [[f.derivative(k) for k in range(weights)] for f in outputs]
        self.weights = [k for k in range(weights) if any(not row[k].is_zero() for row in jacobian)]
        self.X: list[Field] = [[row[k] for k in self.weights] for row in jacobian]
        self.K = [[dot(x, y) for y in self.X] for x in self.X]
        self.d, self.p = len(self.X), len(self.weights)
        self.zero = space.number(0)
        self._vertical: dict[tuple[Any, ...], tuple[Field, Function]] = {}
        self._H: Field | None = None
        self._along: dict[tuple[int, int, int], Function] = {}

    def position(self, label: Any) -> int:
        """Return the place in this group of the output that claims call *label*."""
        if label not in self.labels:
            raise Rejected(f"the output {label} is not in this block")
        return self.labels.index(label)

    def gradient(self, f: Function) -> Field:
        """Return the gradient in the weights that this group uses."""
        return [f.derivative(k) for k in self.weights]

    def along(self, x: Field, f: Function) -> Function:
        """Return <x, grad f>."""
        return dot(x, self.gradient(f))

    def kernel_along(self, a: int, b: int, c: int) -> Function:
        """Return X_a K_bc."""
        key = a, min(b, c), max(b, c)
        if key not in self._along:
            self._along[key] = self.along(self.X[a], self.K[b][c])
        return self._along[key]

    def bracket(self, x: Field, y: Field) -> Field:
        """Return [x, y] = (Dy) x - (Dx) y."""
        return [self.along(x, yk) - self.along(y, xk) for xk, yk in zip(x, y, strict=True)]

    def nested(self, tree: Any, depth: int = 0) -> Field:
        """Return X_a for a number a, and the bracket of two for a pair."""
        if isinstance(tree, int):
            return self.X[self.position(tree)]
        if not isinstance(tree, list) or len(tree) != 2 or depth > MAXIMAL_PATH:
            raise Rejected("a bracket is a pair of brackets or numbers of outputs")
        return self.bracket(self.nested(tree[0], depth + 1), self.nested(tree[1], depth + 1))

    def warp(self, needed: bool) -> Field:
        """Return the only possible X_a log g, or zeros where no warp is meant."""
        if not needed or self.d == 1:
            return [self.zero] * self.d
        if self._H is None:
            self._H = [self._forced(a, 1 if a == 0 else 0) for a in range(self.d)]
        return self._H

    def _forced(self, a: int, b: int) -> Function:
        K = self.K
        first = self.kernel_along(a, b, b) - self.kernel_along(b, a, b)
        second = self.kernel_along(a, b, a) - self.kernel_along(b, a, a)
        return (K[a][a] * first - K[a][b] * second) / (K[a][a] * K[b][b] - K[a][b] * K[a][b])

    def vertical(self, path: Sequence[int], warped: bool) -> tuple[Field, Function]:
        """Return the vertical field of a path and the factor omega with V K_11 = omega K_11."""
        key = (warped, *path)
        if key not in self._vertical:
            if not 2 <= len(path) <= MAXIMAL_PATH:
                raise Rejected("a path has at least two numbers of outputs")
            v = self._field(path, warped)
            at = self.K[0][0]
            idle = all(x.is_zero() for x in v)
            self._vertical[key] = v, self.zero if idle else self.along(v, at) / at
        return self._vertical[key]

    def _field(self, path: Sequence[int], warped: bool) -> Field:
        *before, last = path
        x = self.X[last]
        if len(before) == 1:
            a, H = before[0], self.warp(warped)
            z = self.bracket(self.X[a], x)
            terms = zip(z, self.X[a], x, strict=True)
            return [zk - H[a] * yk + H[last] * xk for zk, xk, yk in terms]
        v, omega = self.vertical(before, warped)
        return [z + omega * xk for z, xk in zip(self.bracket(x, v), x, strict=True)]

    def sides(
        self, kind: str, path: Sequence[int], pair: Sequence[int], warped: bool
    ) -> tuple[Function, Function]:
        """Return the two sides of a condition that every warp (or g = 1) needs.

        equation (a, b, c): H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac;
        factor (path; i, j): V K_ij = omega(V) K_ij;
        closed (path): the form eta with eta(X_a) = H_a, eta(V) = omega(V) is closed.
        """
        H = self.warp(warped)
        if kind == "equation" and len(path) == 3:
            a, b, c = path
            left, right = self.kernel_along(a, b, c), self.kernel_along(b, a, c)
            if not warped:
                return left, right
            return H[a] * self.K[b][c] - H[b] * self.K[a][c], left - right
        v, omega = self.vertical(path, warped)
        if kind == "factor" and len(pair) == 2:
            K = self.K[pair[0]][pair[1]]
            return self.along(v, K), omega * K
        if kind != "closed":
            raise Rejected(f"there is no condition of the kind {kind}")
        *before, m = path
        if len(before) == 1:
            a = before[0]
            return self.along(self.X[a], H[m]) - self.along(self.X[m], H[a]), omega
        w, factor = self.vertical(before, warped)
        return self.along(self.X[m], factor) - self.along(w, H[m]) + factor * H[m], omega

    def close(self, warped: bool, point: Sequence[Any] | None, laws: int) -> None:
        """Check every condition identically, and that the vertical fields found are all.

        Raises:
            Rejected: a condition is not an identity, or the fields and laws leave the dimension
                of the leaf open.
        """
        spanning: list[tuple[int, ...]] = []
        rows: list[list[Any]] = []
        pending = [(a, b) for a in range(self.d) for b in range(a + 1, self.d)]
        for a, b in pending:
            for c in range(self.d):
                self._require("equation", (a, b, c), (), warped)
        queue: list[tuple[int, ...]] = list(pending)
        while queue:
            path = queue.pop(0)
            v, _ = self.vertical(path, warped)
            self._require("closed", path, (), warped)
            if all(x.is_zero() for x in v):
                continue
            for i in range(self.d):
                for j in range(i, self.d):
                    self._require("factor", path, (i, j), warped)
            if point is None:
                raise Rejected("a point is needed to count the vertical fields")
            row = [x.at(point) for x in v]
            if independent([*rows, row]):
                rows.append(row)
                spanning.append(path)
                queue.extend((*path, m) for m in range(self.d))
        if spanning:
            fields = [[x.at(point or ()) for x in row] for row in self.X]
            if self.d + len(spanning) + laws != self.p or not independent([*fields, *rows]):
                raise Rejected(
                    f"{self.d} outputs, {len(spanning)} vertical fields and {laws} conserved "
                    f"quantities do not add up to {self.p} weights"
                )

    def _require(self, kind: str, path: Any, pair: Any, warped: bool) -> None:
        left, right = self.sides(kind, path, pair, warped)
        if not left.same(right):
            named = ", ".join(str(self.labels[i]) for i in (*path, *pair))
            raise Rejected(f"the condition {kind} ({named}) does not hold identically")

    def determinant(self) -> Function:
        """Return det K, by expansion."""
        return _determinant(self.K)


def dot(x: Field, y: Field) -> Function:
    """Return the sum of the products."""
    total = x[0].space.number(0)
    for a, b in zip(x, y, strict=True):
        if not (a.top.is_zero() or b.top.is_zero()):
            total = total + a * b
    return total


def independent(rows: Sequence[Sequence[Any]]) -> bool:
    """Tell whether vectors of exact or ball values are shown to be linearly independent."""
    if not rows:
        return True
    with ctx.workprec(BITS):
        gram = [
            [sum((a * b for a, b in zip(x, y, strict=True)), fmpq(0)) for y in rows] for x in rows
        ]
        flat = [entry for row in gram for entry in row]
        if any(isinstance(entry, arb) for entry in flat):
            value: Any = arb_mat(len(rows), len(rows), [arb(entry) for entry in flat]).det()
        else:
            value = fmpq_mat(len(rows), len(rows), flat).det()
        return bool(value > 0)


def _determinant(matrix: list[list[Function]]) -> Function:
    if len(matrix) == 1:
        return matrix[0][0]
    total = matrix[0][0].space.number(0)
    for j, x in enumerate(matrix[0]):
        minor = [[y for i, y in enumerate(row) if i != j] for row in matrix[1:]]
        total = total + (x if j % 2 == 0 else -x) * _determinant(minor)
    return total
