"""Q of a vector model, beta = phi(a, |u|) u, in numbers: any dimension d >= 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import mpmath
import numpy as np

from derive.errors import InputError
from numerics.evaluate.backend import Array, Float64, Multiprecision
from numerics.evaluate.formula_block import FormulaBlock
from numerics.evaluate.numbers import read_number


class VectorFunctions(Protocol):
    """Q on arrays of shape (..., d)."""

    def value(self, beta: Any) -> Any: ...  # noqa: D102
    def gradient(self, beta: Any) -> Any: ...  # noqa: D102
    def spectrum(self, beta: Any) -> tuple[Any, Any]: ...  # noqa: D102
    def hessian(self, beta: Any) -> Any: ...  # noqa: D102
    def hessian_product(self, beta: Any, x: Any) -> Any: ...  # noqa: D102
    def inverse(self, y: Any) -> Any: ...  # noqa: D102
    def bregman(self, b: Any, b0: Any) -> Any: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class NumericVectorPotential:
    """Q of a vector model at a start, in float64; calling it evaluates Q.

    Coordinates run along the last axis: beta of shape (d,) or (n, d). The cost is of order d for
    all but the Hessian.

    Attributes:
        d: the number of coordinates, that of u_0.
        start: the exact values of the start symbols.
        beta0: F(w_0), where grad Q = 0.
        pull: slope u_0 (d,), so that ``grad Q = q'(s) beta/s - pull``.
    """

    d: int
    start: tuple[tuple[str, Fraction], ...]
    beta0: Array
    pull: Array
    _form: VectorFunctions = field(repr=False)
    _in_doubles: VectorInDoubles = field(repr=False)

    def __call__(self, beta: Any) -> Any:
        """Return Q, which is 0 at beta_0: a float, or an array of shape (n,).

        >>> from derive import VectorModel, derive
        >>> d = derive(VectorModel.parse("a*u", ["u"]))
        >>> Q = d.potential.numeric({"a_0": 5, "u_0": [3, 4]})
        >>> Q.beta0.tolist(), round(Q([15, 20]), 12), Q.gradient([30, 40]).round(3).tolist()
        ([15.0, 20.0], 0.0, [1.243, 1.657])
        """
        return self._form.value(self._read(beta))

    def gradient(self, beta: Any) -> Any:
        """Return grad Q(beta), of the shape of beta."""
        return self._form.gradient(self._read(beta))

    def spectrum(self, beta: Any) -> tuple[Any, Any]:
        """Return the eigenvalues of the Hessian across beta (d - 1 of them), and along it."""
        return self._form.spectrum(self._read(beta))

    def hessian(self, beta: Any) -> Any:
        """Return the Hessian of Q: (d, d), or (n, d, d)."""
        return self._form.hessian(self._read(beta))

    def hessian_product(self, beta: Any, x: Any) -> Any:
        """Return ``Hess Q(beta) x``; the shapes broadcast."""
        return self._form.hessian_product(self._read(beta), self._read(x))

    def inverse_gradient(self, y: Any) -> Any:
        """Return the beta with ``grad Q(beta) = y``, of the shape of y; nan where none is found."""
        return self._form.inverse(self._read(y))

    def bregman(self, b: Any, b0: Any) -> Any:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``; the shapes broadcast."""
        return self._form.bregman(self._read(b), self._read(b0))

    def length_slope(self, s: float) -> float:
        """Return q'(s) by its printed formula."""
        return float(self._in_doubles.slope(np.asarray(s)))

    @property
    def separable(self) -> bool:
        """False: the coordinates are coupled by the length of beta."""
        return False

    @property
    def in_doubles(self) -> NumericVectorPotential:
        """The same Q by its printed formulas in doubles alone: fast, with no bound of the error."""
        return replace(self, _form=self._in_doubles)

    def _read(self, values: Any) -> Array:
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("beta must be an array of real numbers") from None
        if array.ndim == 0 or array.shape[-1] != self.d:
            raise InputError(f"beta has shape {array.shape}, but its last axis must be {self.d}")
        return array


class VectorInDoubles:
    """Q from the printed formulas of q, in doubles."""

    def __init__(self, q: FormulaBlock, beta0: Array, pull: Array) -> None:
        """Bind q to the start."""
        self._q, self._beta0, self._pull = q, beta0, pull

    def slope(self, s: Array) -> Array:
        """Return q'."""
        with Float64().active():
            return self._q.gradient([s])[0]

    def value(self, beta: Any) -> Any:
        """Return Q - Q(beta_0)."""
        with Float64().active():
            s, s0 = (np.linalg.norm(x, axis=-1) for x in (beta, self._beta0))
            rise = self._q.value([s]) - self._q.value([np.asarray(s0)])
            return rise - (beta - self._beta0) @ self._pull

    def gradient(self, beta: Any) -> Any:
        """Return grad Q."""
        with Float64().active():
            s = np.linalg.norm(beta, axis=-1)
            return (self.slope(s) / s)[..., None] * beta - self._pull

    def spectrum(self, beta: Any) -> tuple[Any, Any]:
        """Return the eigenvalues of the Hessian across beta and along it."""
        with Float64().active():
            s = np.linalg.norm(beta, axis=-1)
            return self.slope(s) / s, self._q.hessian([s])[0]

    def hessian_product(self, beta: Any, x: Any) -> Any:
        """Return ``Hess Q(beta) x``."""
        with Float64().active():
            across, along = self.spectrum(beta)
            e = beta / np.linalg.norm(beta, axis=-1)[..., None]
            part = (along - across) * np.sum(e * x, axis=-1)
            return across[..., None] * x + part[..., None] * e

    def hessian(self, beta: Any) -> Any:
        """Return the Hessian."""
        return self.hessian_product(beta[..., None, :], np.eye(beta.shape[-1]))

    def inverse(self, y: Any) -> Any:
        """Return the beta with grad Q(beta) = y."""
        with Float64().active():
            dual = y + self._pull
            size = np.linalg.norm(dual, axis=-1)
            return (self._q.inverse_gradient([size])[0] / size)[..., None] * dual

    def bregman(self, b: Any, b0: Any) -> Any:
        """Return the Bregman divergence."""
        rise = self.value(b) - self.value(b0)
        return rise - np.sum(self.gradient(b0) * (b - b0), axis=-1)


@dataclass(frozen=True, slots=True)
class HighPrecisionVector:
    """Q of a vector model at a start, in mpf of the given decimal digits and guard digits."""

    digits: int
    beta0: tuple[Any, ...]
    pull: tuple[Any, ...]
    _q: FormulaBlock = field(repr=False)

    def value(self, beta: Sequence[Any]) -> Any:
        """Return Q at d numbers, up to an additive constant; nan outside the domain."""
        backend = Multiprecision(self.digits)
        with backend.active():
            point = [backend.number(read_number(x, "beta")) for x in beta]
            s = backend.array([mpmath.norm(point)])
            return self._q.value([s])[0] - mpmath.fdot(self.pull, point)

    def gradient(self, beta: Sequence[Any]) -> list[Any]:
        """Return the d numbers grad Q; nan outside the domain."""
        backend = Multiprecision(self.digits)
        with backend.active():
            point = [backend.number(read_number(x, "beta")) for x in beta]
            s = mpmath.norm(point)
            ratio = self._q.gradient([backend.array([s])])[0][0] / s if s else mpmath.nan
            return [ratio * x - z for x, z in zip(point, self.pull, strict=True)]
