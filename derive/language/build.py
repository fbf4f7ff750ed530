"""The only place where trees are made from input: every node is checked as it is built.

Upper bounds on the size an expression would have if it were expanded are found without expanding.
Every tree is seen as a quotient of two polynomials with integer coefficients. Their variables are
the names and, as further independent variables, the function calls and roots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb

from derive.errors import LanguageError
from derive.language.budget import Budget
from derive.language.functions import CALLS, RECORDS
from derive.language.grammar import name_fault, refuse_function
from derive.language.tree import (
    Algebra,
    Call,
    Name,
    Number,
    Operation,
    Operator,
    Power,
    RealPower,
    Tree,
    arithmetic,
    evaluated,
    walk,
)


@dataclass(frozen=True, slots=True)
class Bound:
    """Upper bounds on a polynomial.

    Attributes:
        degree: total degree.
        terms: number of terms.
        bits: binary logarithm of the sum of the absolute values of the coefficients.
    """

    degree: int
    terms: int
    bits: int

    def plus(self, other: Bound) -> Bound:
        """Return the bound on a sum."""
        degree, bits = max(self.degree, other.degree), max(self.bits, other.bits) + 1
        return Bound(degree, self.terms + other.terms, bits)

    def times(self, other: Bound) -> Bound:
        """Return the bound on a product."""
        return Bound(self.degree + other.degree, self.terms * other.terms, self.bits + other.bits)

    def power(self, exponent: int) -> Bound:
        """Return the bound on a power; a product of equal factors has only so many terms."""
        terms = comb(self.terms + exponent - 1, exponent)
        return Bound(self.degree * exponent, terms, self.bits * exponent)

    def within(self, variables: int) -> Bound:
        """Return the bound, its terms no more than there are monomials of such a degree."""
        if self.terms <= variables:  # fewer than the monomials of degree one, or a constant
            return self
        terms = min(self.terms, comb(variables + self.degree, variables))
        return Bound(self.degree, terms, self.bits)


UNIT, VARIABLE = Bound(0, 1, 0), Bound(1, 1, 0)
_NESTING = "levels of nesting (bracket the terms of a long sum in groups)"


@dataclass(frozen=True, slots=True)
class Size:
    """Everything about a tree that is bounded while it is built.

    Attributes:
        depth: levels of the tree.
        numerator: bound on the numerator.
        denominator: bound on the denominator.
        names: the names that are variables of the two.
        atoms: the number of function calls and roots that are variables of the two.
        root: index of the roots, multiplied when one is inside another.
        value: the exact value, where the tree is constant and arithmetic suffices to know it.
    """

    depth: int
    numerator: Bound
    denominator: Bound
    names: frozenset[str] = frozenset()
    atoms: int = 0
    root: int = 1
    value: Fraction | None = None


def size_of_operation(sign: Operator, left: Size, right: Size) -> Size:
    """Return the size of a sum, a product or a quotient; a divisor is not zero."""
    above, below = left.numerator, left.denominator
    if sign == "+":
        above = above.times(right.denominator).plus(right.numerator.times(below))
        below = below.times(right.denominator)
    elif sign == "*":
        above, below = above.times(right.numerator), below.times(right.denominator)
    else:
        above, below = above.times(right.denominator), below.times(right.numerator)
    names, atoms = left.names | right.names, left.atoms + right.atoms
    variables, value = len(names) + atoms, None
    if left.value is not None and right.value is not None:
        value = arithmetic(sign, left.value, right.value)
    depth, root = 1 + max(left.depth, right.depth), max(left.root, right.root)
    above, below = above.within(variables), below.within(variables)
    return Size(depth, above, below, names, atoms, root, value)


def size_of_power(base: Size, exponent: Fraction) -> Size:
    """Return the size of a power; a root is one more variable."""
    count = ceil(abs(exponent))
    above, below = base.numerator.power(count), base.denominator.power(count)
    if exponent < 0:
        above, below = below, above
    atoms = base.atoms + (exponent.denominator > 1)
    variables = len(base.names) + atoms
    value = None
    if base.value is not None and (exponent.denominator == 1 or base.value in (0, 1)):
        value = base.value ** ceil(exponent)  # exact also for a root of 0 or 1
    above, below = above.within(variables), below.within(variables)
    root = base.root * exponent.denominator
    return Size(1 + base.depth, above, below, base.names, atoms, root, value)


@dataclass(frozen=True, slots=True)
class Built:
    """A tree together with the bounds on its size."""

    tree: Tree
    size: Size


class Builder:
    """Build trees that are read together, and refuse what is out of bounds."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._nodes = 0
        self._names: set[str] = set()

    def number(self, value: Fraction) -> Built:
        """Build a number."""
        if max(abs(value.numerator), value.denominator) >= 10**self.budget.digits:
            raise LanguageError(f"a number may have at most {self.budget.digits} digits")
        # (n - 1).bit_length() is log2(n) rounded up, so that 1 costs nothing in products.
        above = Bound(0, 1, (max(abs(value.numerator), 1) - 1).bit_length())
        below = Bound(0, 1, (value.denominator - 1).bit_length())
        return self._admit(Number(value), Size(1, above, below, value=value))

    def name(self, text: str) -> Built:
        """Build a name."""
        fault = name_fault(text, self.budget)
        if fault is not None:
            raise LanguageError(fault)
        self._names.add(text)
        if len(self._names) > self.budget.names:
            raise LanguageError(f"at most {self.budget.names} different names are accepted")
        return self._admit(Name(text), Size(1, VARIABLE, UNIT, frozenset((text,))))

    def operation(self, sign: Operator, left: Built, right: Built) -> Built:
        """Build a sum, a product or a quotient."""
        if sign == "/" and right.size.value == 0:
            raise LanguageError("division by zero: write a divisor that is not zero")
        size = size_of_operation(sign, left.size, right.size)
        return self._admit(Operation(sign, left.tree, right.tree), size)

    def negate(self, operand: Built) -> Built:
        """Build ``-operand``: a number for a number, and else a product with -1."""
        if isinstance(operand.tree, Number):
            return self.number(-operand.tree.value)
        return self.operation("*", self.number(Fraction(-1)), operand)

    def power(self, base: Built, exponent: Fraction) -> Built:
        """Build ``base`` to a constant exponent."""
        bound, value = self.budget.exponent, base.size.value
        if abs(exponent) > bound or exponent.denominator > bound:
            message = f"an exponent may be at most {bound}, and a root at most of index {bound}"
            raise LanguageError(message)
        if value == 0 and exponent < 0:
            raise LanguageError("zero to a negative exponent is a division by zero")
        if value is not None and value < 0 and exponent.denominator > 1:
            message = "the root of a negative number is not real: write a base that is positive"
            raise LanguageError(message)
        return self._admit(Power(base.tree, exponent), size_of_power(base.size, exponent))

    def real_power(self, base: Built, exponent: Built) -> Built:
        """Build ``base`` to an exponent that is an expression, with names in it or not."""
        if exponent.size.value is not None:
            return self.power(base, exponent.size.value)
        if base.tree == Name("e"):
            written = "e is a name like others: write exp(w) for the exponential of w"
            raise LanguageError(f"{written}, or call the base otherwise")
        for node in walk(exponent.tree):
            if isinstance(node, Call | RealPower) or (
                isinstance(node, Power) and node.exponent.denominator != 1
            ):
                message = "an exponent is made of names and numbers by + - * / and whole powers"
                raise LanguageError(message)
        depth = 1 + max(base.size.depth, exponent.size.depth)
        size = Size(depth, VARIABLE, UNIT, atoms=1)
        return self._admit(RealPower(base.tree, exponent.tree), size)

    def call(self, function: str, argument: Built) -> Built:
        """Build a call of a function that stands in trees."""
        if function not in CALLS:
            raise LanguageError(refuse_function(function))
        value = argument.size.value
        if RECORDS[function].positive and value is not None and value <= 0:
            message = "the logarithm is real only for a positive number: write such a number"
            raise LanguageError(message)
        size = Size(1 + argument.size.depth, VARIABLE, UNIT, atoms=1)
        return self._admit(Call(function, argument.tree), size)

    def rebuild(self, tree: Tree, values: Mapping[str, Built]) -> Built:
        """Build *tree* with other trees for some names."""

        def operation(sign: Operator, left: Built, right: Built) -> Built:
            if sign == "*" and left.tree == Number(Fraction(-1)):
                return self.negate(right)
            return self.operation(sign, left, right)

        own = Algebra(
            self.number,
            lambda name: values[name] if name in values else self.name(name),
            self.power,
            self.call,
            operation,
            self.real_power,
        )
        return evaluated(tree, own)

    def _admit(self, tree: Tree, size: Size) -> Built:
        """Return the node if it is within all bounds; what is not is never kept."""
        self._nodes += 1
        budget, halves = self.budget, (size.numerator, size.denominator)
        for what, found, bound in (
            ("nodes of the expression tree", self._nodes, budget.nodes),
            (_NESTING, size.depth, budget.depth),
            ("total degree", max(half.degree for half in halves), budget.degree),
            ("bits of the constants", max(half.bits for half in halves), budget.bits),
            ("terms after expansion", max(half.terms for half in halves), budget.terms),
            ("index of the roots inside roots", size.root, budget.exponent),
        ):
            if found > bound:
                raise LanguageError(f"too large: {what} may be at most {bound}")
        return Built(tree, size)
