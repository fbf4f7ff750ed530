"""What is written: tokens, and the tree that precedence makes of them; it has no meaning yet."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from derive.errors import LanguageError
from derive.language.budget import Budget
from derive.language.functions import FUNCTIONS
from derive.language.literals import (
    NAME,
    NUMBER,
    name_fault,
    refuse_character,
    refuse_function,
    refuse_symbol,
    shown,
)

_TOKEN = re.compile(
    rf"(?P<number>{NUMBER})|(?P<name>{NAME})|(?P<symbol>//|==|:=|<=|>=|!=|<<|>>|<>|[^-+*/ ])"
    r"|(?P<operator>\*\*|[-+*/])"
)

_BINDING = {"+": (1, 2), "-": (1, 2), "*": (3, 4), "/": (3, 4), "**": (6, 5)}
"""How tightly an operator binds the operand on its left, and the one on its right."""

_SIGN = 5
"""How tightly a sign binds: -x**2 is -(x**2), and x**-y a power."""


class Token(NamedTuple):
    """A piece of a text: its kind is the group of the pattern that it matches."""

    kind: str
    text: str
    column: int


@dataclass(frozen=True, slots=True)
class Syntax:
    """A number, a name, a sign, an operator or a function, and what it is applied to.

    Attributes:
        kind: which of these it is.
        text: how it is spelled.
        column: where it begins; of an operator, where its right operand does.
        operands: what it is applied to.
    """

    kind: Literal["number", "name", "sign", "operator", "function"]
    text: str
    column: int
    operands: tuple[Syntax, ...] = ()


class Parser:
    """Takes a text token by token, and refuses the first that is out of place."""

    def __init__(self, text: str, budget: Budget, functions: Collection[str] = FUNCTIONS) -> None:
        if len(text) > budget.text:
            message = f"a text may have at most {budget.text} characters, this one has {len(text)}"
            raise LanguageError(message, budget.text + 1)
        for column, character in enumerate(text, 1):
            if not " " <= character <= "~":
                raise LanguageError(refuse_character(character), column)
        self._text, self._budget, self._functions = text, budget, functions
        found = _TOKEN.finditer(text)
        self._tokens = [Token(m.lastgroup or "", m[0], m.start() + 1) for m in found]
        self._tokens.append(Token("end", "", len(text.rstrip(" ")) + 1))
        self._place = 0

    @property
    def next(self) -> Token:
        """The first token that is not taken; at the end one that is empty."""
        return self._tokens[self._place]

    @property
    def names(self) -> set[str]:
        """The names in the text, those of functions among them."""
        return {token.text for token in self._tokens if token.kind == "name"}

    def accept(self, text: str) -> bool:
        """Take the next token if it is this one."""
        found = self.next.text == text
        self._place += found
        return found

    def end(self) -> None:
        """Refuse a text that goes on."""
        if self.next.kind != "end":
            raise self._misplaced()

    def items(self) -> Iterator[None]:
        """Go through a list, which has commas between the items that the caller takes."""
        yield
        while self.accept(","):
            yield
        self.end()

    def word(self, until: str) -> Token:
        """Take what stands before the next of some symbols, or the end, whatever it is."""
        first = self.next
        while self.next.text[:1] not in ("", *until):
            self._place += 1
        text = self._text[first.column - 1 : self.next.column - 1]
        return Token("word", text.strip(" "), first.column)

    def name(self, word: Token, taken: Collection[str] = (), what: str = "name") -> str:
        """Return a word that is a name and not *taken*; *what* says what it is the name of."""
        _, text, column = word
        if not text:
            message = f"a {what} is missing: write letters, digits and _, such as w_1"
            raise LanguageError(message, column)
        if fault := name_fault(text, self._budget, self._functions):
            raise LanguageError(fault, column)
        if text in taken:
            raise LanguageError(f"{text} is given twice: give each name once", column)
        if len(taken) >= self._budget.names:
            raise LanguageError(f"at most {self._budget.names} names are accepted", column)
        return text

    def expression(self, binding: int = 0, level: int = 0) -> Syntax:
        """Take an expression of operators that bind no less; *level* counts what is around it."""
        if level > self._budget.nesting:
            bound = self._budget.nesting
            message = f"brackets, signs and powers may be nested at most {bound} deep"
            raise LanguageError(message, self._last.column)
        left = self._operand(level)
        while self.next.kind == "operator" and _BINDING[self.next.text][0] >= binding:
            operator, column = self._take().text, self.next.column
            right = self.expression(_BINDING[operator][1], level + (operator == "**"))
            left = Syntax("operator", operator, column, (left, right))
        return left

    @property
    def _last(self) -> Token:
        return self._tokens[self._place - 1]

    def _take(self) -> Token:
        self._place += 1
        return self._last

    def _operand(self, level: int) -> Syntax:
        kind, text, column = self._take()
        if kind == "number":
            return Syntax("number", text, column)
        if kind == "name" and self.accept("("):
            if text not in self._functions:
                raise LanguageError(refuse_function(text), column)
            return Syntax("function", text, column, self._bracketed(level, text))
        if kind == "name":
            if fault := name_fault(text, self._budget, self._functions):
                raise LanguageError(fault, column)
            return Syntax("name", text, column)
        if text in ("+", "-"):
            return Syntax("sign", text, column, (self.expression(_SIGN, level + 1),))
        if text == "(":
            return self._bracketed(level)[0]
        if kind == "symbol" and text != ")":
            raise LanguageError(refuse_symbol(text), column)
        if len(self._tokens) == 1:
            raise LanguageError("empty expression: write one such as p**2 - m**2", column)
        after = f" after {shown(self._tokens[self._place - 2].text)}" if self._place > 1 else ""
        found = shown(text) if text else "the end"
        message = f"expected a number, a name, a function or a bracket{after}, found {found}"
        raise LanguageError(message, column)

    def _bracketed(self, level: int, function: str = "") -> tuple[Syntax, ...]:
        """Take what is in a bracket that has been opened, the arguments of a function if one is."""
        opened = self._last
        found = [self.expression(0, level + 1)]
        while function and self.accept(","):
            found.append(self.expression(0, level + 1))
        if self.next.kind == "end":
            raise LanguageError("'(' is never closed: write ')'", opened.column)
        if not self.accept(")"):
            raise self._misplaced()
        if len(found) != (2 if function == "dot" else 1):
            count = "two arguments" if function == "dot" else "one argument"
            raise LanguageError(f"{function} takes exactly {count}", opened.column)
        return tuple(found)

    def _misplaced(self) -> LanguageError:
        """Return what is wrong with the next token, as an operand has ended just before it."""
        kind, text, column = self.next
        if kind == "name" and (fault := name_fault(text, self._budget, ())):
            return LanguageError(fault, column)
        if kind in ("number", "name") or text == "(":
            message = f"write * between factors, here after {shown(self._last.text)}"
            if self._last.kind == "number":
                message += "; a number is decimal, such as 12 or 1.5e-3"
            return LanguageError(message, column)
        return LanguageError(refuse_symbol(text), column)
