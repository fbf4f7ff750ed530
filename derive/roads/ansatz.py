"""The form that Q is asked to have: given functions of beta inside unknown functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sympy import Expr

from derive.errors import InputError
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.matrix import rank
from derive.exact.towers.tower import to_field
from derive.language import to_text
from derive.language.tree import Tree, names
from derive.model.names import read_tree


@dataclass(frozen=True)
class Ansatz:
    """The form Q(beta) = sum_k q_k(t_k(beta)) + z.beta with unknown q_k, known t_k and free z.

    Either one polynomial t, or d independent linear forms t_k, one for each output.

    Attributes:
        kind: which constructor made it.
        trees: t_k in beta1, ..., betad, where they were given.

    >>> Ansatz.of("beta1**2 + 2*beta2**2").describe((1, 2))
    'q(beta1**2 + 2*beta2**2) + z.beta'
    """

    kind: Literal["radial", "separable", "given"]
    trees: tuple[Tree, ...] = ()

    @classmethod
    def radial(cls) -> Ansatz:
        """Return Q = q(|beta|) + z.beta (Azulay et al. 2021, eq. (10)-(12))."""
        return cls("radial")

    @classmethod
    def separable(cls) -> Ansatz:
        """Return Q = q_1(beta1) + ... + q_d(betad), the linear term being in the q_k."""
        return cls("separable")

    @classmethod
    def of(cls, *functions: str | Expr) -> Ansatz:
        """Return the Ansatz with the given t_k.

        Args:
            functions: one polynomial, or d independent linear forms, in beta1, ..., betad.

        Raises:
            LanguageError: a text is not an expression.
            InputError: there is no function.
        """
        if not functions:
            raise InputError("give an Ansatz at least one function, for instance beta1**2")
        return cls("given", tuple(read_tree(f, "a function of an Ansatz") for f in functions))

    def functions(self, d: int) -> tuple[RationalFunction, ...]:
        """Return t_1, ..., t_n in Q(beta1, ..., betad), or InputError where they are no Ansatz."""
        field = FunctionField(tuple(f"beta{i + 1}" for i in range(d)))
        if self.kind == "radial":
            return (sum((b * b for b in field.gens), field.zero),)
        if self.kind == "separable":
            return field.gens
        found = tuple(_polynomial(tree, field) for tree in self.trees)
        if len(found) > 1:
            rows = [field.gradient(t) for t in found]
            linear = all(x.is_constant() for row in rows for x in row)
            if not linear or len(found) != d or rank(rows) != d:
                raise InputError(
                    f"an Ansatz is one polynomial, or {d} independent linear forms in the outputs"
                )
        return found

    def describe(self, labels: Sequence[int]) -> str:
        """Return the form of Q in words, for outputs of these numbers."""
        if self.kind == "radial":
            whole = tuple(labels) == tuple(range(1, len(labels) + 1))
            inside = "beta" if whole else f"({', '.join(f'beta{i}' for i in labels)})"
            return f"q(|{inside}|) + z.beta"
        if self.kind == "separable":
            return " + ".join(f"q{i}(beta{i})" for i in labels)
        texts = [to_text(tree) for tree in self.trees]
        if len(texts) == 1:
            return f"q({texts[0]}) + z.beta"
        return " + ".join(f"q{k}({text})" for k, text in enumerate(texts, 1))


def _polynomial(tree: Tree, field: FunctionField) -> RationalFunction:
    for name in names((tree,)):
        if name not in field.names:
            raise InputError(
                f"the Ansatz uses {name}: write it in the outputs {', '.join(field.names)}"
            )
    t = to_field(tree, field, "the Ansatz")
    if t.is_constant() or not t.is_polynomial():
        raise InputError(f"the Ansatz needs a polynomial in beta that varies, not {t!r}")
    return t
