"""A derivation as the audit sees it: one view of models with components and with open dimension."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Expr, Matrix, Symbol

from derive.derivation import Derivation
from derive.model.notation import to_expr
from derive.model.parameterization import Parameterization
from derive.potential.piece import Parametric, written_out


@dataclass(frozen=True)
class Subject:
    """What was derived from one model."""

    derivation: Derivation

    @property
    def open_dimension(self) -> bool:
        """Whether beta is a vector of any dimension: then what is known is s = |beta|."""
        return self.derivation.direction is not None

    @property
    def p(self) -> Parameterization:
        """The parameterization as given; for an open dimension that of s."""
        d = self.derivation
        return d.potential.parameterization if self.open_dimension else d.parameterization

    @property
    def betas(self) -> tuple[Symbol, ...]:
        """The predictor coordinates, or s."""
        return self.derivation.beta

    @property
    def curve(self) -> Parametric | None:
        """The parametric form, where Q has one."""
        pieces = self.derivation.potential.pieces
        return next((piece for piece in pieces if isinstance(piece, Parametric)), None)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of beta, or of the parameter of a parametric Q."""
        symbols = self.betas if self.curve is None else (self.curve.curve.parameter,)
        return tuple(x.name for x in symbols)

    @functools.cached_property
    def gradient(self) -> tuple[Expr, ...] | None:
        """Grad Q in beta and start symbols, or q'(s); None where a root has no explicit form."""
        potential = self.derivation.potential
        explicit = (r.explicit is not None for piece in potential.pieces for r in piece.roots)
        return potential.gradient if potential.pieces and all(explicit) else None

    @functools.cached_property
    def value(self) -> Expr | None:
        """Q in beta and start symbols, without its linear term for an open dimension."""
        if self.gradient is None:
            return None
        potential = self.derivation.potential
        return None if potential.Q is None else potential.Q - potential.linear

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

    def metric(self, name: str) -> tuple[Expr, ...] | None:
        """Return the upper triangle of K or rho in beta; for an open dimension (T, R)."""
        metric = self.derivation.metric
        matrix = {"K": metric.kernel, "rho": metric.rho}[name]
        if matrix is None or any(r.explicit is None for r in metric.roots):
            return None
        return tuple(written_out(x, metric.roots, metric.constants) for x in self._entries(matrix))

    def metric_in_weights(self, name: str) -> tuple[Expr, ...]:
        """Return the same in the weights."""
        kernel = Matrix(self.derivation.metric.kernel_in_weights)
        return self._entries(kernel if name == "K" else kernel.inv(method="ADJ"))

    def _entries(self, matrix: Matrix) -> tuple[Expr, ...]:
        """Return the upper triangle; for an open dimension the eigenvalues (T, R)."""
        n = matrix.rows
        ends = range(1, n + 1) if self.open_dimension else [n] * n
        return tuple(matrix[i, j] for i in range(n) for j in range(i, ends[i]))
