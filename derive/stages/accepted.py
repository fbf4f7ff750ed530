"""Accept a closed form of Q of a single output: what is printed is what was shown.

The printed value has the printed gradient as derivative, Q'' K = 1 for the printed K > 0, which
solves the relation that was proved, and the gradient is 0 at the start. Each is an identity of
functions of beta and the start symbols, brought to the normal form of a tower of independent
functions; SymPy only differentiates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError, LanguageError
from derive.exact.elements import build_elements
from derive.exact.separated import SeparatedTower
from derive.language import from_sympy
from derive.stages.kernel import KernelRelation
from derive.stages.notation import Constant
from derive.stages.piece import Piece
from derive.verdict import Identity

OPAQUE = (sympy.asinh, sympy.atan)
"""Functions whose derivatives are algebraic and that meet no others: each stands for itself."""


def accept(relation: KernelRelation, piece: Piece, statement: str) -> Piece | None:
    """Return the piece with its evidence, or None where an identity is not shown.

    Args:
        relation: between K and beta, proved.
        piece: Q, dQ/dbeta and K, proposed.
        statement: the relation as an equation.
    """
    (x,), (gradient,), K = piece.betas, piece.gradient, piece.kernel
    if K is None:
        raise AssertionError("a closed form in beta comes with K")
    decide = Decisions(relation, piece.constants)
    written = dict(piece.constants)
    beta0, K0 = relation.expr(relation.beta0), relation.expr(relation.K0)
    solved = sympy.Add(*(relation.expr(c) * K**n for n, c in enumerate(relation.coefficients)))
    slope, product = plain(piece.value).diff(x), plain(gradient).diff(x) * K
    shown = (
        solved.xreplace(written),
        K.xreplace({x: beta0, **written}) - K0,
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


class Decisions:
    """Whether expressions in beta, start symbols and positive named constants are zero."""

    def __init__(self, relation: KernelRelation, constants: Sequence[Constant]) -> None:
        self._relation = relation
        fresh = relation.notation.fresh
        # k = r^2 with r > 0 makes sqrt(k), and sqrt(k + beta^2) over it, independent.
        self._squares = {k: fresh(f"root_{k.name}", positive=True) ** 2 for k, _ in constants}

    def vanishes(self, expression: Expr) -> bool:
        """Tell whether an expression is proved zero; False means "not proved"."""
        expression = self._without_opaque(plain(expression.xreplace(self._squares)))
        # Powers of -s are taken where it is positive: they are powers of a new s.
        bases = {power.base for power in expression.atoms(sympy.Pow) if not power.exp.is_Integer}
        expression = expression.xreplace({s: -s for s in expression.free_symbols if -s in bases})
        names = sorted(s.name for s in expression.free_symbols)
        p = self._relation.notation.parameterization
        weights = [n for n in names if n not in p.parameters]
        parameters = [n for n in names if n in p.parameters]
        positive = {s.name for s in expression.free_symbols if s.is_positive}
        try:
            (element,) = build_elements(
                [from_sympy(expression)], weights, parameters, positive, SeparatedTower
            )
        except (InputError, LanguageError, ZeroDivisionError):
            return False
        return element.is_zero()

    def _without_opaque(self, expression: Expr) -> Expr:
        """Return the expression with a symbol for each opaque function of its own argument."""
        atoms = sorted(expression.atoms(*OPAQUE), key=str)
        same = {a: a for a in atoms}
        for a, b in combinations(atoms, 2):
            if a.func is b.func and same[b] is b and self.vanishes(a.args[0] - b.args[0]):
                same[b] = same[a]
        images = {a: Symbol(f"opaque_{k}", real=True) for k, a in enumerate(atoms)}
        return expression.xreplace({a: images[same[a]] for a in atoms})


def plain(expression: Expr) -> Expr:
    """Return an expression with log A for log |A|: of the same derivative, and so in the tower."""
    return expression.replace(
        lambda e: isinstance(e, sympy.log) and isinstance(e.args[0], sympy.Abs),
        lambda e: sympy.log(e.args[0].args[0]),
    )
