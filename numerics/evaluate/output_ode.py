"""Q of a single output without a closed form: the mirror map as an ODE in beta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import mpmath

from derive.errors import DeriveError
from derive.model.parameterization import Parameterization
from numerics.evaluate.backend import Number
from numerics.evaluate.numbers import read_number
from numerics.flow.builder import Builder, compile_slopes
from numerics.flow.dual_flow import dual_flow
from numerics.flow.jets import propagate
from numerics.flow.taylor import integrate

_MU, _Q = "mirror map", "potential"  # with a space: no weight is called so
_STEPS = 15
"""Steps for each digit: towards the edge of a leaf they shrink geometrically, by about 0.86."""


@dataclass(frozen=True, slots=True)
class OutputOde:
    """Q along the leaf of the start: ``dw/dbeta = grad F/K``, ``dQ'/dbeta = 1/K``, K = |grad F|^2.

    Attributes:
        parameterization: F, of one output.
        weights: the start w_0.
        beta0: F(w_0).
    """

    parameterization: Parameterization
    weights: tuple[Fraction, ...]
    beta0: Fraction

    def mirror_map(self, beta: Sequence[Number], digits: int) -> tuple[tuple[Number, ...], Number]:
        """Return (Q'(beta), Q(beta) - Q(beta_0)); nan where the leaf does not reach beta."""
        *_, slope, value = self._end(beta, digits)
        return (slope,), value

    def hessian(self, beta: Sequence[Number], digits: int) -> tuple[Number, ...]:
        """Return (Q''(beta),) = (1/K,); nan where the leaf does not reach beta."""
        p = self.parameterization
        weights = self._end(beta, digits)[: p.p]
        if any(w != w for w in weights):
            return (mpmath.nan,)
        tape = compile_slopes(p.trees[0], p.weights)
        gradient = propagate(tape, [[w] for w in weights], digits)[1:]
        with mpmath.workdps(digits):
            return (1 / mpmath.fsum(x**2 for (x,) in gradient),)

    def _end(self, beta: Sequence[Number], digits: int) -> tuple[Number, ...]:
        """Return w (p), Q' and Q above beta; all nan where the leaf does not reach beta."""
        try:
            span = read_number(beta[0], "beta") - self.beta0
            origin: Sequence[Fraction] = (*self.weights, Fraction(0), Fraction(0))
            steps = _STEPS * digits
            return integrate(self._tape(span), origin, digits, None, steps, time=Fraction(1)).state
        except DeriveError:
            return (mpmath.nan,) * (len(self.weights) + 2)

    def inverse(self, mu: Sequence[Number], digits: int) -> tuple[Number, ...]:
        """Return h(mu), the beta at which Q'(beta) = mu; nan where the dual flow ends earlier."""
        p = self.parameterization
        try:
            start = dict(zip(p.weights, self.weights, strict=True))
            return dual_flow(p, mu, start, digits, max_steps=_STEPS * digits).beta
        except DeriveError:
            return (mpmath.nan,)

    def _tape(self, span: Fraction) -> Number:
        """Compile the ODE in t, beta = beta_0 + t span, of the weights, Q' and Q."""
        p = self.parameterization
        builder = Builder((*p.weights, _MU, _Q))
        output = builder.tree(p.trees[0])
        gradient = builder.gradient(output)[: p.p]
        kernel = builder.dot(gradient, gradient)
        speed = builder.divide(builder.constant(span), kernel)
        rates = [builder.multiply(g, speed) for g in gradient]
        height = builder.linear([(builder.input(_MU), span)])
        return builder.tape([*rates, speed, height])
