"""The limit of Q from the limit of its gradient, and what it is called.

Every property that gives a name, linear, homogeneous, along beta, is an identity that is tested
exactly; a gradient that has none of them is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.regimes.coefficients import Coefficients

Shape: TypeAlias = Literal["l1", "l2", "quadratic", "power", "other"]
_ONE_HALF = sympy.Rational(1, 2)


@dataclass(frozen=True)
class LimitForm:
    """The limit of Q, and what it is called.

    Attributes:
        shape: l1, a weighted sum of |beta_i|; l2, an increasing function of |beta|; a quadratic
            that is not; power for another homogeneous function; other where only the gradient is
            given.
        Q: the limit, or None where only the gradient was found.
        gradient: its gradient, for beta > 0 where signs matter.
        degree: of homogeneity of Q, where it is so.
        curve: beta as a function of the parameter that the gradient is written in, where it is.
    """

    shape: Shape
    Q: Expr | None
    gradient: tuple[Expr, ...]
    degree: Expr | None = None
    curve: Expr | None = None


def recognize(
    above: Sequence[Expr],
    below: Sequence[Expr | None],
    betas: Sequence[Symbol],
    single: Sequence[bool],
    positive: frozenset[str],
) -> LimitForm:
    """Return the limit of Q from that of its gradient, by identities that are tested exactly."""
    positives = [Symbol(b.name, positive=True) for b in betas]
    magnitudes = [m if s else b for m, b, s in zip(positives, betas, single, strict=True)]
    decide = Coefficients({*positive, *(b.name for b, s in zip(betas, single, strict=True) if s)})
    if all(
        _is_linear(up, magnitudes)
        and (not alone or (down is not None and decide.is_zero(up - down.subs(m, -m))))
        for up, down, m, alone in zip(above, below, magnitudes, single, strict=True)
    ):
        back = dict(zip(magnitudes, betas, strict=True))
        return _quadratic([g.xreplace(back) for g in above], betas)
    return _homogeneous(above, below, betas, magnitudes, single, decide)


def _is_linear(g: Expr, variables: Sequence[Symbol]) -> bool:
    return bool(g.is_polynomial(*variables) and sympy.Poly(g, *variables).total_degree() == 1)


def _quadratic(gradient: Sequence[Expr], betas: Sequence[Symbol]) -> LimitForm:
    matrix = [[sympy.diff(g, b) for b in betas] for g in gradient]
    offset = [g.xreplace(dict.fromkeys(betas, sympy.S.Zero)) for g in gradient]
    Q = sympy.Add(
        *(
            _ONE_HALF * m * x * y
            for x, row in zip(betas, matrix, strict=True)
            for y, m in zip(betas, row, strict=True)
        ),
        *(z * b for z, b in zip(offset, betas, strict=True)),
    )
    round_ = all(
        row[j] == (matrix[0][0] if i == j else 0)
        for i, row in enumerate(matrix)
        for j in range(len(betas))
    )
    centred = round_ and all(z == 0 for z in offset)
    return LimitForm("l2" if centred else "quadratic", Q, tuple(gradient), sympy.Integer(2))


def _homogeneous(
    above: Sequence[Expr],
    below: Sequence[Expr | None],
    betas: Sequence[Symbol],
    magnitudes: Sequence[Symbol],
    single: Sequence[bool],
    decide: Coefficients,
) -> LimitForm:
    """Name a gradient that is homogeneous of degree q: Q = <beta, G>/(q + 1)."""
    known = [g for g in (*above, *below) if g is not None]
    degrees = {_degree(g, magnitudes, decide) for g in known if not decide.is_zero(g)}
    q = degrees.pop() if len(degrees) == 1 else None
    if q is None or q == -1:
        return LimitForm("other", None, tuple(above))
    if not any(single):
        return _coupled(above, betas, q, decide)
    total: list[Expr] = []
    even = True
    for up, down, b, m, alone in zip(above, below, betas, magnitudes, single, strict=True):
        if not alone:
            even = False
            total.append(b * up)
            continue
        # <beta, G> on both sides of 0: an even and an odd part.
        rise = sympy.expand(up * m**-q)
        fall = rise if down is None else sympy.expand(-down * m**-q)
        even = even and decide.is_zero(rise - fall) and decide.sign(rise) > 0
        total.append((rise + fall) / 2 * sympy.Abs(b) ** (q + 1))
        total.append((rise - fall) / 2 * b * sympy.Abs(b) ** q)
    Q = sympy.Add(*(sympy.expand(t) for t in total)) / (q + 1)
    return LimitForm("l1" if q == 0 and even else "power", Q, tuple(above), q + 1)


def _coupled(
    gradient: Sequence[Expr], betas: Sequence[Symbol], q: Expr, decide: Coefficients
) -> LimitForm:
    """Name the limit where all outputs are coupled: c |beta|^(q + 1) where G is along beta."""
    norm = sympy.sqrt(sympy.Add(*(b**2 for b in betas)))
    if _is_radial(gradient, betas, decide):
        at = {b: sympy.S.One if k == 0 else sympy.S.Zero for k, b in enumerate(betas)}
        c = gradient[0].subs(at)
        if decide.is_zero(c * norm ** (q - 1) * betas[0] - gradient[0]):
            Q = c * norm ** (q + 1) / (q + 1)
            rising = decide.sign(c) > 0
            return LimitForm("l2" if rising else "power", Q, tuple(gradient), q + 1)
    Q = sympy.Add(*(b * g for b, g in zip(betas, gradient, strict=True))) / (q + 1)
    return LimitForm("power", Q, tuple(gradient), q + 1)


def _degree(g: Expr, variables: Sequence[Symbol], decide: Coefficients) -> Expr | None:
    """Return q with sum_j b_j dg/db_j = q g, a rational number, or None."""
    moved = sympy.Add(*(b * sympy.diff(g, b) for b in variables))
    at = {s: sympy.Rational(7 + 2 * k, 5) for k, s in enumerate(sorted(g.free_symbols, key=str))}
    guess = sympy.N(moved.subs(at) / g.subs(at), 30)
    if not guess.is_real:
        return None
    q = sympy.Rational(Fraction(str(guess)).limit_denominator(64))
    return q if decide.is_zero(moved - q * g) else None


def _is_radial(g: Sequence[Expr], betas: Sequence[Symbol], decide: Coefficients) -> bool:
    return all(
        decide.is_zero(x * b - y * a)
        for i, (x, a) in enumerate(zip(g, betas, strict=True))
        for y, b in list(zip(g, betas, strict=True))[i + 1 :]
    )
