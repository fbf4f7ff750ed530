"""Where a lemma is proved: what things are called there, what is known, and how a proof begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import sympy
from sympy import Expr, Rational, Symbol

from derive.rocq.calls import Calls
from derive.rocq.signs import Signs
from derive.rocq.terms import NoFile, Terms

Relation = tuple[Symbol, int, Expr, str]
"""A name that has a power, n, which is equal to an expression, and what the equation is called."""


@dataclass(frozen=True)
class Place:
    """Where a lemma is proved: what things are called there, and what is known.

    Attributes:
        names: texts of symbols.
        signs: what is known of signs, once the opening is run.
        opening: the commands with which a proof begins.
        closing: those that follow when all conjunctions are taken apart.
        values: what some symbols are equal to; *first* is the tactic that puts that in.
        split: whether logarithms of products are sums.
        relations: equations for powers of names.
    """

    names: Mapping[str, str]
    signs: Signs
    opening: str = ""
    closing: str = ""
    values: Mapping[Symbol, Expr] = field(default_factory=dict)
    first: str = ""
    split: bool = False
    relations: tuple[Relation, ...] = ()

    def knowing(
        self, commands: str, signs: Iterable[Expr] = (), relations: Iterable[Relation] = ()
    ) -> Place:
        """Return the place where commands have shown more."""
        return replace(
            self,
            opening=f"{self.opening}{commands} ",
            signs=self.signs.with_(signs),
            relations=(*self.relations, *relations),
        )

    def proof(self, written: Iterable[Expr], read: Iterable[Expr], *ends: str) -> str:
        """Return a proof of these steps."""
        return f"Proof.\n  {self.steps(written, read, *ends)}\nQed.\n"

    def steps(self, written: Iterable[Expr], read: Iterable[Expr], *ends: str) -> str:
        """Return commands: opening, what is defined, the names of functions, and the ends.

        In the ends ``FIELD`` is what proves an identity.

        Raises:
            NoFile: something that must be positive is not so by its form.
        """
        needs = Terms({**self.names})
        for e in written:
            needs(e)
        calls = self.calls(*read)
        lines = [f"{self.opening}hyps. {self.closing}".strip()]
        for text, e in needs.positive.items():
            sure(calls.signs.positive(e), e, "> 0")
            lines.append(f"assert (0 < {text}) by pos.")
        for text, e in needs.divisors.items():
            if not e.is_number:
                lines.append(f"assert ({text} <> 0) by ({self._nonzero(text, e, calls.signs)}).")
        ends = tuple(end.replace("FIELD", calls.field()) for end in ends)
        return "\n  ".join((*lines, *calls.lines, *ends))

    def _nonzero(self, text: str, e: Expr, signs: Signs) -> str:
        """Return what proves that an expression is not 0, by its form or that of its factors."""
        if signs.nonzero(e):
            return "nz"
        factored = sympy.factor(e)
        sure(signs.nonzero(factored), e, "!= 0")
        return f"replace {text} with ({Terms({**self.names})(factored)}) by ring; nz"

    def calls(self, *read: Expr) -> Calls:
        """Return the functions in some expressions as names."""
        calls = Calls(Terms({**self.names}), self.signs, self.values, self.first, self.split)
        calls.know(self.relations)
        calls.read(*read)
        return calls


def sure(holds: bool, e: Expr, what: str) -> None:
    """Refuse what is not proved of an expression.

    Raises:
        NoFile: it does not hold.
    """
    if not holds:
        raise NoFile(f"that {e} {what} does not follow from its form")


DERIVE = "evar_last; [diff|cbv beta]. FIELD."


def squares(e: Expr) -> list[Expr]:
    """Return sqrt(a^2 + 1) for each asinh(a), as the library's rule writes it."""
    found = []
    for part in sympy.preorder_traversal(e):
        if isinstance(part, sympy.asinh):
            square = sympy.Pow(part.args[0], 2, evaluate=False)
            whole = sympy.Add(square, 1, evaluate=False)
            found.append(sympy.Pow(whole, Rational(1, 2), evaluate=False))
    return found
