"""The coordinates x of the weights in which a process takes straight steps.

    preconditioned gradients:  x = w,                 dw = sum_a (...)_a X_a,  X_a = G^-1 dF_a
    mirror descent:            x = theta = grad psi,  dtheta = sum_a (...)_a dF_a,  G = Hess psi

Both are the flow w' = sum_a lambda_a X_a, with the same laws c and dual coordinates y. Steps, noise
and momentum tell them apart, by how f changes along a straight line x + s v:

    f(x + v) - f(x) = <E f, v> + v^T (E E f) v / 2 + ...,    E_i = d/dx_i,

with E = d/dw, or E = G^-1 d/dw. Where E E f = 0 along all steps, nothing is beyond first order: so
laws that are linear in x are kept by any steps, batches, noise and momentum.

Source: the two processes are those of Amid, Warmuth 2020 (mirror descent) and of gradient descent
with the preconditioner (Hess psi)^-1; the drifts in either coordinates are our own derivation.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import Matrix, dot, inverse, nullspace, nullspace_over_constants
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization

MIRROR, PRECONDITIONED = "mirror", "preconditioned"
PROCESSES = (MIRROR, PRECONDITIONED)


class Monomial(NamedTuple):
    """dw/dx = r, a constant times w^m, for one weight: x = w/((1 - m) r), or (w/r) log w if m = 1.

    So x + v is the weight w (1 + (1 - m) v r/w)^(1/(1 - m)), or w exp(v r/w), of the sign of w.
    """

    m: RationalFunction
    r: RationalFunction
    w: RationalFunction

    @property
    def exponent(self) -> RationalFunction | None:
        """1/(1 - m); None for m = 1."""
        rest = 1 - self.m
        return None if rest.is_zero() else 1 / rest

    @property
    def power(self) -> int | None:
        """1/(1 - m), if that is an integer."""
        n = self.exponent
        if n is None or not n.is_constant() or n.value().denominator > 1:
            return None
        return int(n.value())

    def base(self, v: RationalFunction) -> RationalFunction:
        """Return what is taken to the power, and has to be positive; or the exponent."""
        rest = self.w.field.one if self.exponent is None else 1 - self.m
        return rest * v * self.r / self.w + (0 if self.exponent is None else 1)


@dataclass(frozen=True)
class Coordinates:
    """x = w, or x = theta with the derivatives d/dx = G^-1 d/dw.

    Attributes:
        process: mirror or preconditioned.
    """

    parameterization: Parameterization
    process: str = PRECONDITIONED

    @functools.cached_property
    def fields(self) -> tuple[Field, ...]:
        """The components of the fields X_a."""
        p = self.parameterization
        return p.covectors if self.process == MIRROR else p.fields

    def slopes(self, df: Field) -> Field:
        """Return the derivatives by x of a function with the differential df."""
        p = self.parameterization
        return p.geometry.raised(df, p.field.embed) if self.process == MIRROR else df

    def components(self, v: Field) -> Field:
        """Return the components of a vector that has the components v by w."""
        if self.process == PRECONDITIONED:
            return v
        p = self.parameterization
        one, zero = p.field.one, p.field.zero
        if p.geometry.is_diagonal:
            rates = self.slopes((one,) * p.p)
            return tuple(x / r for x, r in zip(v, rates, strict=True))
        unit = (tuple(one if i == j else zero for j in range(p.p)) for i in range(p.p))
        return tuple(dot(row, v) for row in inverse(tuple(map(self.slopes, unit))))

    def hessian(self, df: Field) -> Matrix:
        """Return the second derivatives by x of a function with the differential df."""
        return tuple(self.slopes(x.field.gradient(x)) for x in self.slopes(df))

    def is_straight(self, df: Field, *, along_steps: bool) -> bool:
        """Tell whether E E f = 0; or, for steps sum_a G_a X_a alone, on the span of all of them.

        That is the span of constant directions that all n with <n, X_a> = 0 are orthogonal to.
        """
        H = self.hessian(df)
        if all(x.is_zero() for row in H for x in row):
            return True
        if not along_steps:
            return False
        kept = nullspace_over_constants(list(zip(*self.fields, strict=True)))
        span = nullspace(kept, df[0].field, len(H))
        images = [tuple(dot(row, u) for row in H) for u in span]
        return all(dot(u, v).is_zero() for u in span for v in images)

    @functools.cached_property
    def monomials(self) -> tuple[Monomial, ...] | None:
        """What x_k is in w_k, where dw_k/dx_k = c w_k^m for every weight; else None."""
        p = self.parameterization
        one, zero = p.field.one, p.field.zero
        if self.process == PRECONDITIONED:
            return tuple(Monomial(zero, one, w) for w in p.w)
        if not p.geometry.is_diagonal:
            return None
        found = []
        for k, (w, r) in enumerate(zip(p.w, self.slopes((one,) * p.p), strict=True)):
            slopes = p.field.gradient(r)
            m = w * slopes[k] / r
            if (
                any(not x.is_zero() for i, x in enumerate(slopes) if i != k)
                or set(m.variables()) - p.field.parameters
            ):
                return None
            found.append(Monomial(m, r, w))
        return tuple(found)
