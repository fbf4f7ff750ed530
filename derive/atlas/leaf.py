"""F in floating-point numbers, and its leaf: for what is proposed, never for what is decided.

It knows F, a start and the warp g, and no Q: beta moves along a straight line by w' = J^T K^-1 v,
and where Q exists its Hessian at beta(w) is g K^-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import sympy
from numpy.typing import NDArray

from derive.language import names, parse_expression, to_sympy

Numbers: TypeAlias = NDArray[np.float64]
LARGEST_CONDITION = 1e4
"""Of J, at a sample."""
STEPS = 10
"""Of Runge and Kutta, from one sample to the next."""
PLACE = (0.7, 1.3, 0.45, 1.9)


def arrays(expressions: sympy.Matrix, names: Sequence[str]) -> Any:
    """Return a function of arrays of numbers, with the entries of a matrix on the last two axes."""
    entries = sympy.lambdify([*map(sympy.Symbol, names)], [*expressions], "numpy", cse=True)

    def values(*numbers: Any) -> Numbers:
        shape = np.broadcast_shapes(*(np.shape(x) for x in numbers))
        flat = [np.broadcast_to(np.asarray(x, float), shape) for x in entries(*numbers)]
        return np.stack(flat, -1).reshape(*shape, *expressions.shape)

    return values


@dataclass(frozen=True)
class Leaf:
    """F, its Jacobian and a warp as functions of rows of weights, (n, p), in alphabetical order."""

    F: sympy.Matrix
    warp: str
    weights: tuple[str, ...]

    @classmethod
    def of(cls, outputs: Sequence[str], warp: str = "1") -> Leaf:
        """Return the functions of texts."""
        trees = tuple(map(parse_expression, outputs))
        return cls(sympy.Matrix([*map(to_sympy, trees)]), warp, tuple(sorted(names(trees))))

    @cached_property
    def beta(self) -> Any:
        """F."""
        return arrays(self.F, self.weights)

    @cached_property
    def jacobian(self) -> Any:
        """J."""
        J = self.F.jacobian([*map(sympy.Symbol, self.weights)])
        return arrays(J, self.weights)

    @cached_property
    def g(self) -> Any:
        """The warp."""
        return arrays(sympy.Matrix([to_sympy(parse_expression(self.warp))]), self.weights)

    def regular(self, w: Numbers) -> NDArray[np.bool_]:
        """Tell at which rows J has full rank by far."""
        J = self.jacobian(*w.T)
        finite = np.isfinite(J).all((1, 2)) & np.isfinite(w).all(1)
        J[~finite] = 0
        extremes = np.linalg.svd(J, compute_uv=False)[:, [0, -1]]
        return np.asarray(finite & (extremes[:, 0] < LARGEST_CONDITION * extremes[:, 1]))

    def hessian(self, w: Numbers) -> Numbers:
        """Return g K^-1, (n, d, d)."""
        J = self.jacobian(*w.T)
        return np.asarray(self.g(*w.T) * np.linalg.inv(J @ np.swapaxes(J, 1, 2)))

    def lifted(self, w: Numbers, v: Numbers) -> Numbers:
        """Return the w' of the leaf along which beta moves by v; where K is singular no numbers."""
        J = self.jacobian(*w.T)
        K = J @ np.swapaxes(J, 1, 2)
        singular = ~np.isfinite(K).all((1, 2)) | (np.abs(np.linalg.det(K)) == 0)
        K[singular] = np.eye(K.shape[1])
        speed = (np.swapaxes(J, 1, 2) @ np.linalg.solve(K, v[..., None]))[..., 0]
        return np.where(singular[:, None], np.nan, speed)

    def along(self, w: Numbers, v: Numbers) -> Numbers:
        """Return the weights on the leaves above F(w) + v."""
        h = 1 / STEPS
        for _ in range(STEPS):
            k = self.lifted(w, v)
            m = self.lifted(w + h / 2 * k, v)
            n = self.lifted(w + h / 2 * m, v)
            w = w + h / 6 * (k + 2 * m + 2 * n + self.lifted(w + h * n, v))
        return w


def independent(outputs: Sequence[str]) -> bool:
    """Tell whether grad F_1, ..., grad F_d are independent at a point."""
    leaf = Leaf.of(outputs)
    many = len(leaf.weights) >= len(outputs)
    return many and bool(leaf.regular(np.array([PLACE[: len(leaf.weights)]]))[0])
