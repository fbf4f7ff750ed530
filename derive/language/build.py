"""The only place where trees are made from input: every node is checked as it is built."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from derive.errors import LanguageError
from derive.language.budget import Budget
from derive.language.functions import CALLS, RECORDS
from derive.language.literals import check_number, name_fault
from derive.language.messages import refuse_function
from derive.language.size import (
    Size,
    size_of_call,
    size_of_name,
    size_of_number,
    size_of_operation,
    size_of_power,
    size_of_real_power,
)
from derive.language.tree import (
    Call,
    Name,
    Number,
    Operation,
    Operator,
    Power,
    RealPower,
    Tree,
    walk,
)


@dataclass(frozen=True, slots=True)
class Built:
    """A tree together with the bounds on its size."""

    tree: Tree
    size: Size


class Builder:
    """Build the nodes of trees that are read together, and refuse what is out of bounds.

    Every method takes the column to name in a refusal, or None where there is no text.
    """

    def __init__(self, budget: Budget) -> None:
        """Start with no nodes and no names."""
        self.budget = budget
        self._nodes = 0
        self._names: set[str] = set()

    def number(self, value: Fraction, column: int | None = None) -> Built:
        """Build a number."""
        check_number(value, self.budget, column)
        return self._admit(Number(value), size_of_number(value), column)

    def name(self, text: str, column: int | None = None) -> Built:
        """Build a name."""
        fault = name_fault(text, self.budget)
        if fault is not None:
            raise LanguageError(fault, column)
        self._names.add(text)
        if len(self._names) > self.budget.names:
            message = f"at most {self.budget.names} different names are accepted"
            raise LanguageError(message, column)
        return self._admit(Name(text), size_of_name(text), column)

    def operation(
        self, operator: Operator, left: Built, right: Built, column: int | None = None
    ) -> Built:
        """Build a sum, a product or a quotient."""
        if operator == "/" and right.size.value == 0:
            raise LanguageError("division by zero: write a divisor that is not zero", column)
        size = size_of_operation(operator, left.size, right.size)
        return self._admit(Operation(operator, left.tree, right.tree), size, column)

    def negate(self, operand: Built, column: int | None = None) -> Built:
        """Build ``-operand``: a number for a number, and else a product with -1."""
        if isinstance(operand.tree, Number):
            return self.number(-operand.tree.value, column)
        return self.operation("*", self.number(Fraction(-1), column), operand, column)

    def power(self, base: Built, exponent: Fraction, column: int | None = None) -> Built:
        """Build ``base`` to a constant exponent."""
        bound, value = self.budget.exponent, base.size.value
        if abs(exponent) > bound or exponent.denominator > bound:
            message = f"an exponent may be at most {bound}, and a root at most of index {bound}"
            raise LanguageError(message, column)
        if value == 0 and exponent < 0:
            raise LanguageError("zero to a negative exponent is a division by zero", column)
        if value is not None and value < 0 and exponent.denominator > 1:
            message = "the root of a negative number is not real: write a base that is positive"
            raise LanguageError(message, column)
        return self._admit(Power(base.tree, exponent), size_of_power(base.size, exponent), column)

    def real_power(self, base: Built, exponent: Built, column: int | None = None) -> Built:
        """Build ``base`` to an exponent with names in it."""
        for node in walk(exponent.tree):
            if isinstance(node, Call | RealPower) or (
                isinstance(node, Power) and node.exponent.denominator != 1
            ):
                message = "an exponent is made of names and numbers by + - * / and whole powers"
                raise LanguageError(message, column)
        size = size_of_real_power(base.size, exponent.size)
        return self._admit(RealPower(base.tree, exponent.tree), size, column)

    def call(self, function: str, argument: Built, column: int | None = None) -> Built:
        """Build a call of a function that stands in trees."""
        if function not in CALLS:
            raise LanguageError(refuse_function(function), column)
        value = argument.size.value
        if RECORDS[function].positive and value is not None and value <= 0:
            message = "the logarithm is real only for a positive number: write such a number"
            raise LanguageError(message, column)
        return self._admit(Call(function, argument.tree), size_of_call(argument.size), column)

    def _admit(self, tree: Tree, size: Size, column: int | None) -> Built:
        """Return the node if it is within all bounds; what is not is never kept."""
        self._nodes += 1
        budget, halves = self.budget, (size.numerator, size.denominator)
        for what, found, bound in (
            ("nodes of the expression tree", self._nodes, budget.nodes),
            (
                "levels of nesting (bracket the terms of a long sum in groups)",
                size.depth,
                budget.depth,
            ),
            ("total degree", max(half.degree for half in halves), budget.degree),
            ("bits of the constants", max(half.bits for half in halves), budget.bits),
            ("terms after expansion", max(half.terms for half in halves), budget.terms),
            ("index of the roots inside roots", size.root, budget.exponent),
        ):
            if found > bound:
                raise LanguageError(f"too large: {what} may be at most {bound}", column)
        return Built(tree, size)
