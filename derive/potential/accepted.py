"""Accept a closed form of Q of a single output: what is printed is what was shown.

The printed value has the printed gradient as derivative, Q'' K = 1 for the printed K > 0, which
solves the relation that was proved, and the gradient is 0 at the start. Each is an identity of
functions of beta and the start symbols, brought to the normal form of a tower of independent
functions; SymPy only differentiates.
"""

from __future__ import annotations

from dataclasses import replace

import sympy
from sympy import Expr

from derive.potential.piece import Explicit
from derive.potential.vanishing import Decisions, plain
from derive.verdict import Identity
from derive.weights.kernel_relation import KernelRelation


def accept(relation: KernelRelation, piece: Explicit, statement: str) -> Explicit | None:
    """Return the piece with its evidence, or None where an identity is not shown.

    Args:
        relation: between K and beta, proved.
        piece: Q, dQ/dbeta and K, proposed.
        statement: the relation as an equation.
    """
    (x,), (gradient,), K = piece.betas, piece.gradient, piece.kernel
    if K is None:
        raise AssertionError("a closed form in beta comes with K")
    notation = relation.notation
    # k = r^2 with r > 0 makes sqrt(k), and sqrt(k + beta^2) over it, independent.
    squares = {k: notation.fresh(f"root_{k.name}", positive=True) ** 2 for k, _ in piece.constants}
    decide = Decisions(notation.parameterization.parameters, squares)
    written = dict(piece.constants)
    beta0, K0 = relation.expr(relation.beta0), relation.expr(relation.K0)
    solved = sympy.Add(*(relation.expr(c) * K**n for n, c in enumerate(relation.coefficients)))
    at_start = K.xreplace({x: beta0, **written})
    slope, product = plain(piece.value).diff(x), plain(gradient).diff(x) * K
    shown = (
        solved.xreplace(written),
        # Neither is negative: K0 = |grad F|^2.
        at_start**2 - K0**2 if _is_nonnegative(K) else at_start - K0,
        slope - gradient,
        product - 1,
        gradient.xreplace({x: beta0}),
    )
    if not all(decide.vanishes(difference) for difference in shown):
        return None
    left, _, right = statement.partition(" = ")
    at = f"at {x} = {relation.beta0!r}"
    evidence = (
        Identity(statement, left.replace("K", f"({K})", 1), right),
        Identity("K = |grad F|^2 at the start", f"K {at}", repr(relation.K0)),
        Identity(f"dQ/d{x} = {gradient}", str(slope), str(gradient)),
        Identity("Q'' K = 1", str(product), "1"),
        Identity(f"dQ/d{x} = 0 {at}", f"dQ/d{x} {at}", "0"),
    )
    return replace(piece, evidence=evidence)


def _is_nonnegative(expression: Expr) -> bool:
    """Tell whether an expression is a product of positive numbers, even powers and even roots."""
    return all(
        (factor.is_Rational and factor > 0)
        or (factor.is_Pow and factor.exp.is_Rational and 0 in (factor.exp.p % 2, factor.exp.q % 2))
        for factor in sympy.Mul.make_args(expression)
    )
