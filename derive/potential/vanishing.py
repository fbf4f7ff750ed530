"""Whether a printed expression is zero, exactly: in a tower of independent functions.

SymPy symbols that are positive are taken to be so; what is under a root or a logarithm is taken
where it is positive.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError, LanguageError
from derive.exact.linear.separated import SeparatedTower
from derive.exact.towers.elements import build_elements
from derive.language import from_sympy

OPAQUE = (sympy.asinh, sympy.atan)
"""Functions whose derivatives are algebraic and that meet no others: each stands for itself."""


class ZeroTest:
    """Whether expressions in symbols are zero."""

    def __init__(self, parameters: Collection[str], images: Mapping[Expr, Expr]) -> None:
        """Decide where *parameters* may stand in exponents, and some symbols are *images*."""
        self._parameters = frozenset(parameters)
        self._images = dict(images)

    def vanishes(self, expression: Expr) -> bool:
        """Tell whether an expression is proved zero; False means "not proved"."""
        expression = self._without_opaque(without_modulus(expression.xreplace(self._images)))
        # Powers of -s are taken where it is positive: they are powers of a new s.
        bases = {power.base for power in expression.atoms(sympy.Pow) if not power.exp.is_Integer}
        expression = expression.xreplace({s: -s for s in expression.free_symbols if -s in bases})
        names = sorted(s.name for s in expression.free_symbols)
        parameters = [n for n in names if n in self._parameters]
        weights = [n for n in names if n not in self._parameters]
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


def without_modulus(expression: Expr) -> Expr:
    """Return an expression with log A for log |A|: of the same derivative, and so in the tower."""
    return expression.replace(
        lambda e: isinstance(e, sympy.log) and isinstance(e.args[0], sympy.Abs),
        lambda e: sympy.log(e.args[0].args[0]),
    )
