"""Q of a vector model, beta = phi(a, |u|) u, in numbers: any dimension d >= 2."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from numerics.evaluate.backend import Array, Float64, FloatOrArray
from numerics.evaluate.formula_block import FormulaBlock
from numerics.evaluate.potential import Functions, PotentialAtStart


class VectorFunctions(Functions, Protocol):
    """Q of a vector, on arrays of shape (..., d)."""

    # ruff: noqa: D102
    @property
    def in_doubles(self) -> VectorInDoubles: ...
    def spectrum(self, beta: Array) -> tuple[FloatOrArray, FloatOrArray]: ...
    def hessian_product(self, beta: Array, x: Array) -> Array: ...


class NumericVectorPotential(PotentialAtStart[VectorFunctions]):
    """Q of a vector model at a start; the cost is of order d for all but the Hessian.

    >>> from derive import Parameterization, derive
    >>> d = derive(Parameterization.parse(["a*u"], vectors=["u"]))
    >>> Q = d.potential.numeric({"a_0": 5, "u_0": [3, 4]})
    >>> Q.beta0.tolist(), round(Q([15, 20]), 12), Q.gradient([30, 40]).round(3).tolist()
    ([15.0, 20.0], 0.0, [1.243, 1.657])
    """

    __slots__ = ()

    def spectrum(self, beta: ArrayLike) -> tuple[FloatOrArray, FloatOrArray]:
        """Return the eigenvalues of the Hessian across beta (d - 1 of them), and along it."""
        with Float64().active():
            return self.functions.spectrum(self._read(beta))

    def hessian_product(self, beta: ArrayLike, x: ArrayLike) -> FloatOrArray:
        """Return ``Hess Q(beta) x``; the shapes broadcast."""
        with Float64().active():
            return self.functions.hessian_product(self._read(beta), self._read(x))

    def length_slope(self, s: float) -> float:
        """Return q'(s) by its printed formula."""
        with Float64().active():
            return float(self.functions.in_doubles.slope(np.asarray(s)))

    @property
    def pull(self) -> Array:
        """The vector slope u_0 (d,): ``grad Q = q'(s) beta/s - pull``."""
        return self.functions.in_doubles.pull


class VectorInDoubles:
    """Q from the printed formulas of q, in doubles."""

    def __init__(self, q: FormulaBlock, beta0: Array, pull: Array) -> None:
        """Bind q to the start."""
        self._q, self.beta0, self.pull = q, beta0, pull

    @property
    def in_doubles(self) -> VectorInDoubles:
        """Itself."""
        return self

    def slope(self, s: Array) -> FloatOrArray:
        """Return q'."""
        return self._q.gradient([s])[0]

    def value(self, beta: Array) -> FloatOrArray:
        """Return Q - Q(beta_0)."""
        s, s0 = (np.linalg.norm(x, axis=-1) for x in (beta, self.beta0))
        rise = self._q.value([s]) - self._q.value([np.asarray(s0)])
        return rise - (beta - self.beta0) @ self.pull

    def gradient(self, beta: Array) -> FloatOrArray:
        """Return grad Q."""
        s = np.linalg.norm(beta, axis=-1)
        return (self.slope(s) / s)[..., None] * beta - self.pull

    def spectrum(self, beta: Array) -> tuple[FloatOrArray, FloatOrArray]:
        """Return the eigenvalues of the Hessian across beta and along it."""
        s = np.linalg.norm(beta, axis=-1)
        return self.slope(s) / s, self._q.hessian([s])[0]

    def hessian_product(self, beta: Array, x: Array) -> FloatOrArray:
        """Return ``Hess Q(beta) x``."""
        across, along = self.spectrum(beta)
        e = beta / np.linalg.norm(beta, axis=-1)[..., None]
        part = (along - across) * np.sum(e * x, axis=-1)
        return across[..., None] * x + part[..., None] * e

    def hessian(self, beta: Array) -> FloatOrArray:
        """Return the Hessian."""
        return self.hessian_product(beta[..., None, :], np.eye(beta.shape[-1]))

    def inverse(self, y: Array) -> FloatOrArray:
        """Return the beta with grad Q(beta) = y."""
        dual = y + self.pull
        size = np.linalg.norm(dual, axis=-1)
        return (self._q.inverse_gradient([size])[0] / size)[..., None] * dual

    def bregman(self, b: Array, b0: Array) -> FloatOrArray:
        """Return the Bregman divergence."""
        rise = self.value(b) - self.value(b0)
        return rise - np.sum(self.gradient(b0) * (b - b0), axis=-1)
