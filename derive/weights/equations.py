"""The equations of a warp, and of a Hessian map, in any representation of functions of the weights.

With X_a = grad F_a, B_abc = X_a K_bc - X_b K_ac and H_a = X_a log g, 0 for a Hessian map,

    H_a K_bc - H_b K_ac = B_abc

for all a < b and c. They determine H. What is left is closure along the directions of a leaf that
leave beta where it is, the *vertical*

    V_ab = [X_a, X_b] - H_a X_b + H_b X_a.

On the leaf K changes only by a factor along each vertical field V, V K = omega(V) K, and the
one-form eta with eta(X_a) = H_a and eta(V) = omega(V) is closed; g = exp of its integral. Where
every V_ab is zero the leaf has dimension d, nothing is vertical, and what is left is
X_a H_b = X_b H_a. (Derived here.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Generic, NamedTuple, TypeVar

from derive.model.geometry import Scalar
from derive.model.labels import pair
from derive.verdict import Argument

S = TypeVar("S", bound=Scalar)


class Equation(NamedTuple, Generic[S]):
    """A statement and its two sides; of which kind it is, and the outputs that it is about."""

    statement: str
    left: S
    right: S
    kind: Argument = ""
    of: tuple[int, ...] = ()


class Flow(ABC, Generic[S]):
    """The fields X_a = grad F_a and K, with derivatives, in any representation of functions."""

    K: tuple[tuple[S, ...], ...]

    @property
    @abstractmethod
    def labels(self) -> tuple[int, ...]:
        """The numbers of the outputs."""

    @property
    @abstractmethod
    def X(self) -> tuple[tuple[S, ...], ...]:
        """The fields."""

    @abstractmethod
    def slope(self, x: tuple[S, ...], f: S) -> S:
        """Return the derivative of f along the field x."""

    def change(self, v: tuple[S, ...], b: int, c: int) -> S:
        """Return V K_bc."""
        return self.slope(v, self.K[b][c])

    def along(self, a: int, b: int, c: int) -> S:
        """Return X_a K_bc."""
        return self.change(self.X[a], b, c)

    def bracket(self, x: tuple[S, ...], y: tuple[S, ...]) -> tuple[S, ...]:
        """Return [x, y] = (Dy) x - (Dx) y."""
        return tuple(self.slope(x, b) - self.slope(y, a) for a, b in zip(x, y, strict=True))

    def commutator(self, a: int, b: int) -> tuple[S, ...]:
        """Return [X_a, X_b]."""
        return self.bracket(self.X[a], self.X[b])


def hessian_conditions(flow: Flow[S]) -> Iterator[Equation[S]]:
    """Yield X_a K_bc = X_b K_ac, each as it is asked for."""
    for a, b, c in _triples(flow):
        i, j, k = (flow.labels[n] for n in (a, b, c))
        statement = f"<grad F{i}, grad K{pair(j, k)}> = <grad F{j}, grad K{pair(i, k)}>"
        yield Equation(statement, flow.along(a, b, c), flow.along(b, a, c))


def warp_conditions(flow: Flow[S], H: Sequence[S]) -> Iterator[Equation[S]]:
    """Yield H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac, each as it is asked for."""
    K = flow.K
    for a, b, c in _triples(flow):
        i, j, k = (flow.labels[n] for n in (a, b, c))
        first, second = f"K{pair(j, k)}", f"K{pair(i, k)}"
        slopes = f"<grad F{i}, grad {first}> - <grad F{j}, grad {second}>"
        statement = f"H{i} {first} - H{j} {second} = {slopes}"
        left = H[a] * K[b][c] - H[b] * K[a][c]
        yield Equation(statement, left, _B(flow, a, b, c), "candidate", (i, j, k))


def _triples(flow: Flow[S]) -> Iterator[tuple[int, int, int]]:
    d = len(flow.labels)
    return ((a, b, c) for a, b in combinations(range(d), 2) for c in range(d))


def warp_candidate(flow: Flow[S]) -> tuple[S, ...]:
    """Return the only possible gradient of log g along the fields, H_a = <grad F_a, grad log g>.

    H_a (K_aa K_bb - K_ab^2) = K_aa B_abb - K_ab B_aba for any b != a; there are d >= 2 outputs.

    Raises:
        ZeroDivisionError: the minor of K is zero at the start.

    Source: derived here; Azulay et al. 2021, equations (10) to (12), for an Ansatz.
    """
    return tuple(_component(flow, a, 1 if a == 0 else 0) for a in range(len(flow.labels)))


def _component(flow: Flow[S], a: int, b: int) -> S:
    K = flow.K
    gram = K[a][a] * K[b][b] - K[a][b] * K[a][b]
    return (K[a][a] * _B(flow, a, b, b) - K[a][b] * _B(flow, a, b, a)) / gram


def _B(flow: Flow[S], a: int, b: int, c: int) -> S:
    return flow.along(a, b, c) - flow.along(b, a, c)


def closure(
    flow: Flow[S], H: Sequence[S], is_new: Callable[[tuple[S, ...]], bool]
) -> Iterator[Equation[S]]:
    """Yield V K = omega(V) K and d eta = 0 for the vertical fields, as far as these *are new*.

    With V also [X_m, V] + omega(V) X_m is vertical.
    """
    X, labels, spanning = flow.X, flow.labels, list[tuple[str, tuple[S, ...], S]]()
    for a, b in combinations(range(len(X)), 2):
        i, j = labels[a], labels[b]
        name, z = f"V{pair(i, j)}", zip(flow.commutator(a, b), X[a], X[b], strict=True)
        v = tuple(zk - H[a] * yk + H[b] * xk for zk, xk, yk in z)
        omega = flow.change(v, 0, 0) / flow.K[0][0]
        for e in _scaled(flow, name, v, omega):
            yield e._replace(kind="vertical", of=(i, j, *e.of))
        curl = flow.slope(X[a], H[b]) - flow.slope(X[b], H[a])
        yield Equation(f"X{i} H{j} - X{j} H{i} = omega({name})", curl, omega, "closed")
        if is_new(v):
            spanning.append((name, v, omega))
    # The list grows while it is walked: what a bracket adds is bracketed in its turn.
    for name, v, omega in spanning:
        for m, x in enumerate(X):
            lifted = tuple(r + omega * xk for r, xk in zip(flow.bracket(x, v), x, strict=True))
            own, factor = f"[X{labels[m]}, {name}]", flow.change(lifted, 0, 0) / flow.K[0][0]
            yield from _scaled(flow, own, lifted, factor)
            left = flow.slope(x, omega) - flow.slope(v, H[m]) + omega * H[m]
            yield Equation(f"d eta(X{labels[m]}, {name}) = 0", left, factor)
            if is_new(lifted):
                spanning.append((own, lifted, factor))


def _scaled(flow: Flow[S], name: str, v: tuple[S, ...], omega: S) -> Iterator[Equation[S]]:
    """Yield V K = omega(V) K, entry by entry, but for the first, by which omega is defined."""
    for a, b in [*combinations_with_replacement(range(len(flow.X)), 2)][1:]:
        of = flow.labels[a], flow.labels[b]
        statement = f"{name} K{pair(*of)} = omega({name}) K{pair(*of)}"
        yield Equation(statement, flow.change(v, a, b), omega * flow.K[a][b], of=of)
