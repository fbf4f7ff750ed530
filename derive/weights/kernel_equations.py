"""The equations of a Hessian map and of a warp, exact or around one start.

With X_a = grad F_a, B_abc = X_a K_bc - X_b K_ac and H_a = X_a log g they are

    X_a K_bc = X_b K_ac,        H_a K_bc - H_b K_ac = B_abc,

for all a < b and c. The second determine H: with c = a and c = b,
H_a (K_aa K_bb - K_ab^2) = K_aa B_abb - K_ab B_aba.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Protocol, TypeVar

from derive.model.geometry import Scalar

S = TypeVar("S", bound=Scalar)
S_co = TypeVar("S_co", bound=Scalar, covariant=True)
Condition = tuple[str, S, S]
"""A statement and its two sides."""


class Kernel(Protocol[S_co]):
    """K and its derivatives along the fields, in any representation of functions."""

    @property
    def labels(self) -> tuple[int, ...]:
        """The numbers of the outputs."""

    @property
    def K(self) -> tuple[tuple[S_co, ...], ...]:
        """The tangent kernel."""

    def along(self, a: int, b: int, c: int) -> S_co:
        """Return X_a K_bc."""


def hessian_conditions(kernel: Kernel[S]) -> Iterator[Condition[S]]:
    """Yield X_a K_bc = X_b K_ac, each as it is asked for."""
    for a, b, c in _triples(kernel):
        i, j, k = (kernel.labels[n] for n in (a, b, c))
        statement = f"<grad F{i}, grad K{j}{k}> = <grad F{j}, grad K{i}{k}>"
        yield statement, kernel.along(a, b, c), kernel.along(b, a, c)


def warp_conditions(kernel: Kernel[S], H: tuple[S, ...]) -> Iterator[Condition[S]]:
    """Yield H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac, each as it is asked for."""
    K = kernel.K
    for a, b, c in _triples(kernel):
        i, j, k = (kernel.labels[n] for n in (a, b, c))
        statement = (
            f"H{i} K{j}{k} - H{j} K{i}{k} = <grad F{i}, grad K{j}{k}> - <grad F{j}, grad K{i}{k}>"
        )
        yield statement, H[a] * K[b][c] - H[b] * K[a][c], _B(kernel, a, b, c)


def _triples(kernel: Kernel[S]) -> Iterator[tuple[int, int, int]]:
    d = len(kernel.labels)
    return ((a, b, c) for a, b in combinations(range(d), 2) for c in range(d))


def warp_candidate(kernel: Kernel[S]) -> tuple[S, ...]:
    """Return the only possible gradient of log g along the fields.

    H_a (K_aa K_bb - K_ab^2) = K_aa B_abb - K_ab B_aba for any b != a.

    Args:
        kernel: of d >= 2 outputs.

    Returns:
        d functions of the weights, H_a = <grad F_a, grad log g>.

    Raises:
        ZeroDivisionError: the minor of K is zero at the start.

    Source: derived here; Azulay et al. 2021, equations (10) to (12), for an Ansatz.
    """
    return tuple(_component(kernel, a, 1 if a == 0 else 0) for a in range(len(kernel.labels)))


def _component(kernel: Kernel[S], a: int, b: int) -> S:
    K = kernel.K
    gram = K[a][a] * K[b][b] - K[a][b] * K[a][b]
    return (K[a][a] * _B(kernel, a, b, b) - K[a][b] * _B(kernel, a, b, a)) / gram


def _B(kernel: Kernel[S], a: int, b: int, c: int) -> S:
    return kernel.along(a, b, c) - kernel.along(b, a, c)
