"""The limit of Q from the limit of its gradient, and what it is called.

Every property that gives a name, linear, homogeneous, along beta, is an identity that is tested
exactly; a gradient that has none of them is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns

Shape: TypeAlias = Literal["l1", "l2", "quadratic", "power", "other"]
_ONE_HALF = sympy.Rational(1, 2)


@dataclass(frozen=True)
class LimitingPotential:
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


class _Entry(NamedTuple):
    """One entry of the limit of a gradient, on both sides of 0 of its coordinate.

    The magnitude is that of the coordinate of a single output, else the coordinate itself.
    """

    above: Expr
    below: Expr | None
    coordinate: Symbol
    magnitude: Symbol
    single: bool


def recognize(
    above: Sequence[Expr],
    below: Sequence[Expr | None],
    betas: Sequence[Symbol],
    single: Sequence[bool],
    positive: frozenset[str],
) -> LimitingPotential:
    """Return the limit of Q from that of its gradient, by identities that are tested exactly.

    Args:
        above: d entries of the gradient, those of single outputs for beta_i > 0.
        below: those of single outputs in place of their negatives, None where there is none.
        betas: the d coordinates.
        single: for each, whether its entry depends on it alone.
        positive: start symbols that are positive.

    Raises:
        Undecided: an identity or a sign was not decided.
    """
    magnitudes = [
        Symbol(b.name, positive=True) if s else b for b, s in zip(betas, single, strict=True)
    ]
    entries = [_Entry(*row) for row in zip(above, below, betas, magnitudes, single, strict=True)]
    alone = {b.name for b, s in zip(betas, single, strict=True) if s}
    decide = ElementarySigns({*positive, *alone})
    if all(_is_linear(entry, magnitudes, decide) for entry in entries):
        back = dict(zip(magnitudes, betas, strict=True))
        return _quadratic([g.xreplace(back) for g in above], betas)
    known = [g for g in (*above, *below) if g is not None]
    degrees = {_degree(g, magnitudes, decide) for g in known if not decide.is_zero(g)}
    q = degrees.pop() if len(degrees) == 1 else None
    if q is None or q == -1:
        return LimitingPotential("other", None, tuple(above))
    return _homogeneous(entries, q, decide) if any(single) else _coupled(above, betas, q, decide)


def _is_linear(entry: _Entry, variables: Sequence[Symbol], decide: ElementarySigns) -> bool:
    """Tell whether an entry is linear, the same on both sides of 0."""
    up, down, _, m, alone = entry
    if not up.is_polynomial(*variables) or sympy.Poly(up, *variables).total_degree() != 1:
        return False
    return not alone or (down is not None and decide.is_zero(up - down.subs(m, -m)))


def _quadratic(gradient: Sequence[Expr], betas: Sequence[Symbol]) -> LimitingPotential:
    hessian = sympy.Matrix([[sympy.diff(g, b) for b in betas] for g in gradient])
    offset = [g.xreplace(dict.fromkeys(betas, sympy.S.Zero)) for g in gradient]
    products = (
        _ONE_HALF * hessian[i, j] * x * y for i, x in enumerate(betas) for j, y in enumerate(betas)
    )
    Q = sympy.Add(*products, *(z * b for z, b in zip(offset, betas, strict=True)))
    round_ = hessian == hessian[0, 0] * sympy.eye(len(betas))
    centred = round_ and all(z == 0 for z in offset)
    shape: Shape = "l2" if centred else "quadratic"
    return LimitingPotential(shape, Q, tuple(gradient), sympy.Integer(2))


def _homogeneous(entries: Sequence[_Entry], q: Expr, decide: ElementarySigns) -> LimitingPotential:
    """Name a gradient that is homogeneous of degree q: Q = <beta, G>/(q + 1)."""
    total: list[Expr] = []
    even = True
    for up, down, b, m, alone in entries:
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
    shape: Shape = "l1" if q == 0 and even else "power"
    return LimitingPotential(shape, Q, tuple(entry.above for entry in entries), q + 1)


def _coupled(
    gradient: Sequence[Expr], betas: Sequence[Symbol], q: Expr, decide: ElementarySigns
) -> LimitingPotential:
    """Name the limit where all outputs are coupled: c |beta|^(q + 1) where G is along beta."""
    norm = sympy.sqrt(sympy.Add(*(b**2 for b in betas)))
    if _is_radial(gradient, betas, decide):
        at = {b: sympy.S.One if k == 0 else sympy.S.Zero for k, b in enumerate(betas)}
        c = gradient[0].subs(at)
        if decide.is_zero(c * norm ** (q - 1) * betas[0] - gradient[0]):
            Q = c * norm ** (q + 1) / (q + 1)
            rising = decide.sign(c) > 0
            return LimitingPotential("l2" if rising else "power", Q, tuple(gradient), q + 1)
    Q = sympy.Add(*(b * g for b, g in zip(betas, gradient, strict=True))) / (q + 1)
    return LimitingPotential("power", Q, tuple(gradient), q + 1)


def _degree(g: Expr, variables: Sequence[Symbol], decide: ElementarySigns) -> Expr | None:
    """Return q with sum_j b_j dg/db_j = q g, a rational number, or None."""
    moved = sympy.Add(*(b * sympy.diff(g, b) for b in variables))
    at = {s: sympy.Rational(7 + 2 * k, 5) for k, s in enumerate(sorted(g.free_symbols, key=str))}
    guess = sympy.N(moved.subs(at) / g.subs(at), 30)
    if not guess.is_real:
        return None
    q = sympy.Rational(Fraction(str(guess)).limit_denominator(64))
    return q if decide.is_zero(moved - q * g) else None


def _is_radial(g: Sequence[Expr], betas: Sequence[Symbol], decide: ElementarySigns) -> bool:
    return all(
        decide.is_zero(x * b - y * a)
        for i, (x, a) in enumerate(zip(g, betas, strict=True))
        for y, b in list(zip(g, betas, strict=True))[i + 1 :]
    )
