"""Is a formula Q, for some constants and in some coordinates, the Q of an entry? In numbers.

Hess Q of the formula at L beta + t is compared with Hess Q = g K^-1 of an entry, which is sampled
from F alone: linear terms have no Hessian, and the best factor between the two is computed. What is
left is a least-squares problem in L, t and the constants of the formula, solved for many entries at
once by the method of Levenberg and Marquardt. It proposes; it decides nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy import Expr, Symbol

from derive.atlas.leaf import Numbers, arrays

FIRST, LAST, KEPT = 5, 25, 3
"""Steps from all guesses; from so many that are kept of each leaf."""
DIFFERENCE, DONE = 1e-7, 1e-11
LARGEST = 1e3
"""The misfit of a point at which the formula has no value."""
LARGEST_PARAMETER, SMALLEST_PARAMETER = 6.0, 0.05
"""Beyond these a formula is another one in the limit, as of all a square is."""
SIZES, SPREAD = (1.0, 0.3, 3.0), np.array([1.0, 0.62, 1.45, 0.8, 1.23, 0.55, 1.7])
"""Of L and of constants, at first; no two constants begin equal, where some formulas end."""


class Samples(NamedTuple):
    """Points of several leaves, as many of each: beta (n, k, d), Hess Q (n, k, d, d)."""

    beta: Numbers
    hessian: Numbers

    @classmethod
    def together(cls, leaves: Iterable[Samples]) -> Samples:
        """Return several, of each as many points as the least has."""
        several = [*leaves]
        k = min(x.beta.shape[1] for x in several)
        return cls(*(np.concatenate([x[i][:, :k] for x in several]) for i in (0, 1)))

    def rows(self, index: NDArray[np.intp]) -> Samples:
        """Return those of some leaves."""
        return Samples(self.beta[index], self.hessian[index])


@dataclass(frozen=True)
class Family:
    """A formula in coordinates, with parameters: its constants, and an affine map before it.

    Attributes:
        expression: the formula at L beta + t.
        betas: its coordinates.
        hessian: its Hessian, a function of arrays for the coordinates and all parameters.
        parameters: their names; those of L and t begin with a stroke.
        fixed: the values of those that are not fitted.
    """

    expression: Expr
    betas: tuple[str, ...]
    hessian: Any
    parameters: tuple[str, ...]
    fixed: Mapping[str, float]

    @classmethod
    def of(cls, formula: Expr, betas: tuple[str, ...]) -> Family:
        """Return a formula with all of L, t and its constants free."""
        own = [Symbol(b) for b in betas]
        curve = sympy.hessian(formula, own)
        constants = sorted(x.name for x in curve.free_symbols if x not in own)
        L = sympy.Matrix([[Symbol(f"_{b}_{c}") for c in betas] for b in betas])
        t = sympy.Matrix([Symbol(f"_{b}") for b in betas])
        images = dict(zip(own, L * sympy.Matrix(own) + t, strict=True))
        expression = formula.subs(images, simultaneous=True)
        parameters = (*(x.name for x in L.row_join(t)), *constants)
        hessian = arrays(L.T * curve.subs(images, simultaneous=True) * L, (*betas, *parameters))
        return cls(expression, betas, hessian, parameters, {})

    @property
    def free(self) -> tuple[str, ...]:
        """The parameters that are fitted."""
        return tuple(name for name in self.parameters if name not in self.fixed)

    def usual(self, parameter: str) -> float:
        """Return what a parameter is where it is nothing special: L = 1, t = 0, and 1."""
        row, _, column = parameter[1:].partition("_")
        return float(row == column or not parameter.startswith("_"))

    def with_usual(self, parameter: str) -> Family:
        """Return the family with one parameter fixed at what is usual."""
        return replace(self, fixed={**self.fixed, parameter: self.usual(parameter)})

    def first_guesses(self) -> Numbers:
        """Return where the search begins: L permutes and scales, constants are of three sizes."""
        d, k = len(self.betas), sum(not name.startswith("_") for name in self.parameters)
        scales = SIZES if d == 1 else SIZES[:1]
        maps = [
            np.hstack([sign * scale * np.eye(d)[list(order)], np.zeros((d, 1))]).ravel()
            for order in itertools.permutations(range(d))
            for scale, sign in itertools.product(scales, (1, -1))
        ]
        constants = [size * np.resize(SPREAD, k) for size in ((*SIZES, -1.0) if k else SIZES[:1])]
        return np.array([np.append(m, c) for m in maps for c in constants])

    def misfit(self, x: Numbers, samples: Samples) -> Numbers:
        """Return (mu H - Hess Q)/|Hess Q| at all points, (..., n, k d d), with the best mu each.

        *x* has the free parameters, (..., n, m).
        """
        values: dict[str, Any] = {name: np.array(value) for name, value in self.fixed.items()}
        values |= {name: x[..., i, None] for i, name in enumerate(self.free)}
        with np.errstate(all="ignore"):
            betas = (samples.beta[..., i] for i in range(len(self.betas)))
            H = self.hessian(*betas, *(values[name] for name in self.parameters))
            size = np.linalg.norm(samples.hessian, axis=(-1, -2), keepdims=True)
            M, whole = ((y / size).reshape(*y.shape[:-3], -1) for y in (H, samples.hessian))
            mu = (M * whole).sum(-1, keepdims=True) / (M * M).sum(-1, keepdims=True)
            left = np.where(mu > 0, mu * M - whole, LARGEST)
        return np.where(np.isfinite(left), left, LARGEST)

    def guessed(self, samples: Samples) -> tuple[Numbers, Numbers]:
        """Return parameters (n, g, m) of n leaves near first guesses, and the misfits (n, g).

        The best of each leaf come first.
        """
        guesses = np.broadcast_to(
            self.first_guesses(), (len(samples.beta), *self.first_guesses().shape)
        )
        x, r = self.improved(samples, guesses, FIRST)
        best = np.argsort(r, 1)[:, :KEPT]
        return np.take_along_axis(x, best[..., None], 1), np.take_along_axis(r, best, 1)

    def moderate(self, x: Numbers) -> NDArray[np.bool_]:
        """Tell which parameters are far from limits of the family: scales and constants from 0."""
        usual = np.array([self.usual(name) for name in self.free])
        small = (np.abs(x) < SMALLEST_PARAMETER) & (usual > 0) & (len(self.betas) == 1)
        return np.asarray(~(small | (np.abs(x) > LARGEST_PARAMETER)).any(-1))

    def improved(
        self, samples: Samples, guesses: Numbers, steps: int = LAST
    ) -> tuple[Numbers, Numbers]:
        """Return parameters (n, g, m) some steps from guesses, and the largest misfits (n, g).

        The search is over where one guess of each leaf fits.
        """
        n, g, m = guesses.shape
        samples, x = samples.rows(np.repeat(np.arange(n), g)), guesses.reshape(n * g, m)
        r, damping = self.misfit(x, samples), np.full(n * g, 1e-2)
        for _ in range(steps if m else 0):
            if (np.abs(r).max(-1).reshape(n, g).min(1) < DONE).all():
                break
            width = DIFFERENCE * np.maximum(np.abs(x), 1e-2)
            moved = self.misfit(x + np.eye(m)[:, None, :] * width, samples)
            J = (moved - r) / width.T[..., None]
            J = np.where(np.abs(J) < LARGEST / DIFFERENCE / 10, J, 0.0)
            normal, slope = np.einsum("ank,bnk->nab", J, J), np.einsum("ank,nk->na", J, r)
            diagonal = np.einsum("naa->na", normal)
            diagonal = np.maximum(diagonal, 1e-3 * diagonal.max(1, keepdims=True)) + 1e-14
            damped = normal + damping[:, None, None] * np.eye(m) * diagonal[:, None, :]
            trial = x - np.linalg.solve(damped, slope[..., None])[..., 0]
            s = self.misfit(trial, samples)
            better = ((s * s).sum(-1) < (r * r).sum(-1)) & self.moderate(trial)
            x, r = np.where(better[:, None], trial, x), np.where(better[:, None], s, r)
            damping = np.clip(np.where(better, damping / 6, damping * 4), 1e-13, 1e9)
        return x.reshape(n, g, m), np.abs(r).max(-1).reshape(n, g)
