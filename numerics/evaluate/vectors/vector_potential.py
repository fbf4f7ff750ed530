"""Q of a vector model, beta = phi(a, |u|) u, in numbers: any dimension d >= 2."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from derive.errors import InputError
from numerics.evaluate.backend import Array, Float64, FloatOrArray
from numerics.evaluate.formula_block import FormulaBlock
from numerics.evaluate.numbers import read_array
from numerics.evaluate.protocols import VectorFunctions


@dataclass(frozen=True, slots=True)
class NumericVectorPotential:
    """Q of a vector model at a start, in float64; calling it evaluates Q.

    Coordinates run along the last axis: beta of shape (d,) or (n, d). The cost is of order d for
    all but the Hessian.

    Attributes:
        d: the number of coordinates, that of u_0.
        start: the exact values of the start symbols.
        beta0: F(w_0), where grad Q = 0.
    """

    d: int
    start: tuple[tuple[str, Fraction], ...]
    beta0: Array
    _functions: VectorFunctions = field(repr=False)
    _formulas: VectorInDoubles = field(repr=False)

    def __call__(self, beta: ArrayLike) -> FloatOrArray:
        """Return Q, which is 0 at beta_0: a float, or an array of shape (n,).

        >>> from derive import Parameterization, derive
        >>> d = derive(Parameterization.parse(["a*u"], vectors=["u"]))
        >>> Q = d.potential.numeric({"a_0": 5, "u_0": [3, 4]})
        >>> Q.beta0.tolist(), round(Q([15, 20]), 12), Q.gradient([30, 40]).round(3).tolist()
        ([15.0, 20.0], 0.0, [1.243, 1.657])
        """
        return self._functions.value(self._read(beta))

    def gradient(self, beta: ArrayLike) -> FloatOrArray:
        """Return grad Q(beta), of the shape of beta."""
        return self._functions.gradient(self._read(beta))

    def spectrum(self, beta: ArrayLike) -> tuple[FloatOrArray, FloatOrArray]:
        """Return the eigenvalues of the Hessian across beta (d - 1 of them), and along it."""
        return self._functions.spectrum(self._read(beta))

    def hessian(self, beta: ArrayLike) -> FloatOrArray:
        """Return the Hessian of Q: (d, d), or (n, d, d)."""
        return self._functions.hessian(self._read(beta))

    def hessian_product(self, beta: ArrayLike, x: ArrayLike) -> FloatOrArray:
        """Return ``Hess Q(beta) x``; the shapes broadcast."""
        return self._functions.hessian_product(self._read(beta), self._read(x))

    def inverse_gradient(self, y: ArrayLike) -> FloatOrArray:
        """Return the beta with ``grad Q(beta) = y``, of the shape of y; nan where none is found."""
        return self._functions.inverse(self._read(y))

    def bregman(self, b: ArrayLike, b0: ArrayLike) -> FloatOrArray:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``; the shapes broadcast."""
        return self._functions.bregman(self._read(b), self._read(b0))

    def length_slope(self, s: float) -> float:
        """Return q'(s) by its printed formula."""
        return float(self._formulas.slope(np.asarray(s)))

    @property
    def pull(self) -> Array:
        """The vector slope u_0 (d,): ``grad Q = q'(s) beta/s - pull``."""
        return self._formulas.pull

    @property
    def in_doubles(self) -> NumericVectorPotential:
        """The same Q by its printed formulas in doubles alone: fast, with no bound of the error."""
        return replace(self, _functions=self._formulas)

    def _read(self, values: ArrayLike) -> Array:
        array = read_array(values)
        if array.ndim == 0 or array.shape[-1] != self.d:
            raise InputError(f"beta has shape {array.shape}, but its last axis must be {self.d}")
        return array


class VectorInDoubles:
    """Q from the printed formulas of q, in doubles."""

    def __init__(self, q: FormulaBlock, beta0: Array, pull: Array) -> None:
        """Bind q to the start."""
        self._q, self.beta0, self.pull = q, beta0, pull

    def slope(self, s: Array) -> FloatOrArray:
        """Return q'."""
        with Float64().active():
            return self._q.gradient([s])[0]

    def value(self, beta: Array) -> FloatOrArray:
        """Return Q - Q(beta_0)."""
        with Float64().active():
            s, s0 = (np.linalg.norm(x, axis=-1) for x in (beta, self.beta0))
            rise = self._q.value([s]) - self._q.value([np.asarray(s0)])
            return rise - (beta - self.beta0) @ self.pull

    def gradient(self, beta: Array) -> FloatOrArray:
        """Return grad Q."""
        with Float64().active():
            s = np.linalg.norm(beta, axis=-1)
            return (self.slope(s) / s)[..., None] * beta - self.pull

    def spectrum(self, beta: Array) -> tuple[FloatOrArray, FloatOrArray]:
        """Return the eigenvalues of the Hessian across beta and along it."""
        with Float64().active():
            s = np.linalg.norm(beta, axis=-1)
            return self.slope(s) / s, self._q.hessian([s])[0]

    def hessian_product(self, beta: Array, x: Array) -> FloatOrArray:
        """Return ``Hess Q(beta) x``."""
        with Float64().active():
            across, along = self.spectrum(beta)
            e = beta / np.linalg.norm(beta, axis=-1)[..., None]
            part = (along - across) * np.sum(e * x, axis=-1)
            return across[..., None] * x + part[..., None] * e

    def hessian(self, beta: Array) -> FloatOrArray:
        """Return the Hessian."""
        return self.hessian_product(beta[..., None, :], np.eye(beta.shape[-1]))

    def inverse(self, y: Array) -> FloatOrArray:
        """Return the beta with grad Q(beta) = y."""
        with Float64().active():
            dual = y + self.pull
            size = np.linalg.norm(dual, axis=-1)
            return (self._q.inverse_gradient([size])[0] / size)[..., None] * dual

    def bregman(self, b: Array, b0: Array) -> FloatOrArray:
        """Return the Bregman divergence."""
        rise = self.value(b) - self.value(b0)
        return rise - np.sum(self.gradient(b0) * (b - b0), axis=-1)
