"""The closed form of Q on one block of outputs, in whichever of four kinds it comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sympy import Expr, Symbol

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import Matrix
from derive.model.notation import Constant
from derive.verdict import Identity

Kind: TypeAlias = Literal["explicit", "parametric", "algebraic", "quadrature"]
KINDS: tuple[Kind, ...] = ("explicit", "parametric", "algebraic", "quadrature")


@dataclass(frozen=True)
class Root:
    """A function of beta that solves a polynomial equation, and which of its roots it is.

    Attributes:
        symbol: its name.
        polynomial: vanishes; a polynomial in the symbol over beta and the constants.
        explicit: the root in radicals, or None for degree above 2.
        branch: which root, in words.
        from_above: 0 when it is the largest real root, 1 for the next, ...; None where only the
            formula says which.
    """

    symbol: Symbol
    polynomial: Expr
    explicit: Expr | None
    branch: str
    from_above: int | None


@dataclass(frozen=True)
class Curve:
    """A parametric form: beta = h(z) for z in an interval.

    Attributes:
        parameter: z.
        beta: h(z).
        interval: the open interval of z on which h is monotone; infinite ends allowed.
        weights: w(z), the flow itself; beta = F(w(z)).
    """

    parameter: Symbol
    beta: Expr
    interval: tuple[Expr, Expr]
    weights: tuple[tuple[str, Expr], ...] = ()


@dataclass(frozen=True)
class Lift:
    """How the point of the leaf above beta moves with beta, as functions of the weights.

    Attributes:
        weights: dw_k/dbeta_i, d rows of p functions.
        log_warp: dlog g/dbeta_i; zeros for a Hessian map.
        rho: the induced metric.
    """

    weights: tuple[tuple[RationalFunction, ...], ...]
    log_warp: tuple[RationalFunction, ...]
    rho: Matrix


@dataclass(frozen=True)
class Piece:
    """Q restricted to one block, with grad Q = 0 at the start.

    Attributes:
        kind: explicit in beta; parametric through :class:`Curve`; algebraic through roots of
            degree above 2; quadrature where no closed form was found.
        betas: the block's predictor coordinates.
        value: Q, up to an additive constant.
        gradient: dQ/dbeta.
        constants: named constants and their values in start symbols, in order of definition.
        roots: named algebraic functions of beta, in order of definition.
        curve: for the parametric kind.
        assumptions: what was assumed of the start, in words.
        evidence: the identities that the form rests on.
        kernel: K(beta) of a single output, where it was written in beta.
        note: what an integral's integrand means, in words with formulas in backticks.
        abbreviations: named functions of beta that an integral uses.
        lift: for coupled outputs whose gradient is an integral, what its integrand needs; there
            g is 1 at the start.
        domain: where Q is defined and why it is convex there, likewise.
        ends: of a single output, zeros and poles of K(beta) in start symbols: Q lives between
            those that are nearest to beta_0.
    """

    kind: Kind
    betas: tuple[Symbol, ...]
    value: Expr
    gradient: tuple[Expr, ...]
    constants: tuple[Constant, ...] = ()
    roots: tuple[Root, ...] = ()
    curve: Curve | None = None
    assumptions: tuple[str, ...] = ()
    evidence: tuple[Identity, ...] = ()
    kernel: Expr | None = None
    note: str = ""
    abbreviations: tuple[tuple[Symbol, Expr], ...] = ()
    lift: Lift | None = None
    domain: str = ""
    ends: tuple[Expr, ...] = ()


def written_out(expression: Expr, roots: Sequence[Root], constants: Sequence[Constant]) -> Expr:
    """Return an expression with its named roots, where they are explicit, and constants put in."""
    for root in reversed(roots):
        if root.explicit is not None:
            expression = expression.subs(root.symbol, root.explicit)
    for symbol, value in reversed(constants):
        expression = expression.subs(symbol, value)
    return expression
