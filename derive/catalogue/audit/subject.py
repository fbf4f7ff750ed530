"""A derivation as the audit sees it: one view of models with components and with open dimension."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import sympy
from sympy import Expr, Matrix, Symbol

from derive.derivation import Derivation
from derive.model.notation import to_expr
from derive.model.parameterization import Parameterization
from derive.potential.piece import Parametric, Piece, written_out
from derive.vectors.derivation import RadialDerivation
from derive.vectors.reduce import radial_eigenvalue
from derive.verdict import Verdict

Trial: TypeAlias = Callable[..., Any]
"""Tries a printed rate on random problems: :func:`numerics.confirm.norm_bounds.try_norm_bound`."""


@dataclass(frozen=True)
class Subject:
    """What was derived from one model.

    Attributes:
        derivation: all of it.
        trial: tries printed rates by numbers; None where none are wanted.
    """

    derivation: Derivation | RadialDerivation
    trial: Trial | None = None

    @property
    def radial(self) -> bool:
        """Whether the dimension is open: then beta is known from s = |beta|."""
        return isinstance(self.derivation, RadialDerivation)

    @property
    def proved(self) -> bool:
        """Whether there is a Q to compare with."""
        return self.derivation.verdict is Verdict.PROVED

    @functools.cached_property
    def p(self) -> Parameterization:
        """The parameterization as given; for an open dimension that of s."""
        d = self.derivation
        return d.model.reduced if isinstance(d, RadialDerivation) else d.parameterization

    @functools.cached_property
    def betas(self) -> tuple[Symbol, ...]:
        """The predictor coordinates, or s."""
        d = self.derivation
        return (d.s,) if isinstance(d, RadialDerivation) else d.beta

    @functools.cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The closed forms of the blocks."""
        d = self.derivation
        if isinstance(d, RadialDerivation):
            return (d.potential.piece,) if d.potential.piece else ()
        return d.potential.pieces

    @property
    def curve(self) -> Parametric | None:
        """The parametric form, where Q has one."""
        return next((piece for piece in self.pieces if isinstance(piece, Parametric)), None)

    @functools.cached_property
    def gradient(self) -> tuple[Expr, ...] | None:
        """Grad Q in beta and start symbols, or q'(s); None where a root has no explicit form."""
        if not self.pieces or any(r.explicit is None for x in self.pieces for r in x.roots):
            return None
        d = self.derivation
        if isinstance(d, RadialDerivation):
            piece = self.pieces[0]
            return (written_out(piece.gradient[0], piece.roots, piece.constants),)
        return d.potential.gradient

    @property
    def slopes(self) -> tuple[Expr, ...] | None:
        """The gradient along the coordinates: that of the parametric form, where Q has one."""
        return self.gradient if self.curve is None else self.curve.gradient

    @functools.cached_property
    def value(self) -> Expr | None:
        """Q in beta and start symbols, without its linear term for an open dimension."""
        if self.gradient is None:
            return None
        d = self.derivation
        if isinstance(d, RadialDerivation):
            piece = self.pieces[0]
            return written_out(piece.value, piece.roots, piece.constants)
        return d.potential.Q

    @property
    def shown(self) -> Expr:
        """Q as it is printed: its names stand for roots and constants of the pieces."""
        d = self.derivation
        if isinstance(d, RadialDerivation) and d.Q is not None:
            return d.Q
        return sympy.Add(*(piece.value for piece in self.pieces))

    @functools.cached_property
    def starts(self) -> Mapping[str, Expr]:
        """Each weight, and each output as ``beta_0``, at the start."""
        symbols = {name: Symbol(name) for name in (*self.p.start_symbols, *self.p.parameters)}
        weights = {w: to_expr(x, symbols) for w, x in zip(self.p.weights, self.p.w0, strict=True)}
        outputs = {
            f"{b}_0": to_expr(self.p.at_start(f), symbols)
            for b, f in zip(self.betas, self.p.F, strict=True)
        }
        return {**weights, **outputs}

    def kernel(self, inverse: bool) -> tuple[Expr, ...] | None:
        """Return the upper triangle of K, or of rho, in beta; (T, R) for an open dimension."""
        d = self.derivation
        if isinstance(d, RadialDerivation):
            spectrum = d.potential.spectrum
            if spectrum is None or any(r.explicit is None for r in spectrum.roots):
                return None
            pair = (spectrum.tangential, spectrum.radial)
            found = [written_out(x, spectrum.roots, spectrum.constants) for x in pair]
            return tuple(1 / x if inverse else x for x in found)
        matrix = d.metric.rho if inverse else d.metric.kernel
        if matrix is None or any(r.explicit is None for r in d.metric.roots):
            return None
        return tuple(written_out(x, d.metric.roots, d.metric.constants) for x in _upper(matrix))

    def kernel_in_weights(self, inverse: bool) -> tuple[Expr, ...]:
        """Return the same in the weights."""
        d = self.derivation
        if isinstance(d, RadialDerivation):
            symbols = {name: Symbol(name) for name in (*self.p.weights, *self.p.parameters)}
            pair = (d.model.phi**2, radial_eigenvalue(d.model.reduced))
            found = [to_expr(x, symbols) for x in pair]
            return tuple(1 / x if inverse else x for x in found)
        matrix = Matrix(d.metric.kernel_in_weights)
        return _upper(matrix.inv(method="ADJ") if inverse else matrix)


def _upper(matrix: Matrix) -> tuple[Expr, ...]:
    n = matrix.rows
    return tuple(matrix[i, j] for i in range(n) for j in range(i, n))
