"""What is written: tokens, and the tree that precedence makes of them; it has no meaning yet.

Refusals are bounded, with a hint on what to write.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from derive.errors import LanguageError
from derive.language.budget import DEFAULT, Budget
from derive.language.functions import (
    ARRAY_FUNCTIONS,
    FUNCTIONS,
    INSTEAD,
    REFUSED,
    SYMMETRIC_FUNCTIONS,
    listed,
)

_SHOWN = 40

_LOOKALIKES = {
    "\N{MINUS SIGN}": "-",
    "\N{EN DASH}": "-",
    "\N{MULTIPLICATION SIGN}": "*",
    "\N{MIDDLE DOT}": "*",
    "\N{DOT OPERATOR}": "*",
    "\N{ASTERISK OPERATOR}": "*",
    "\N{DIVISION SIGN}": "/",
    "\N{SUPERSCRIPT TWO}": "**2",
    "\N{SUPERSCRIPT THREE}": "**3",
    "\N{SQUARE ROOT}": "sqrt(...)",
}

_EXTRA = "only numbers, names, + - * / **, round brackets and functions are accepted"

_HINTS = (
    ("^", "write ** for powers"),
    ("//", "write / for a quotient"),
    ("@", "write * for a product"),
    ("=", "give only the right-hand side, without a name and ="),
    ("==", "give only the right-hand side; an equation is not an expression"),
    (":=", "give only the right-hand side, without a name and :="),
    ("< > <= >= != << >> <>", "a comparison is not an expression; give only the right-hand side"),
    (".", "a point is accepted only inside a number, such as 0.5"),
    ("_", "a name starts with a letter, such as w_1, and has no _ inside digits"),
    ("[ ] { }", "write round brackets ( ) only"),
    ("' \" `", "text in quotes is not accepted; write names without quotes"),
    ("|", "write abs(x) for |x|, and norm(u) for the length of a vector; " + _EXTRA),
    ("\\", r"LaTeX is not read: write (a)/(b) for \frac{a}{b}, sqrt(x), a*b and p**2; " + _EXTRA),
    ("& ~", "logic and bit operators are not accepted; " + _EXTRA),
    ("!", "a factorial is not accepted; " + _EXTRA),
    (",", "one expression is expected; give each output as its own argument"),
    (")", "it closes no bracket; remove it or write '('"),
)
_FOREIGN = {symbol: hint for symbols, hint in _HINTS for symbol in symbols.split()}


def shown(text: str) -> str:
    r"""Quote *text* so that it is printable ASCII of bounded length.

    >>> print(shown("a\x00\u03b2"), shown("x" * 100))
    'a\x00\u03b2' 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
    """
    quoted = ascii(text[: _SHOWN + 1])
    return quoted if len(quoted) <= _SHOWN else quoted[: _SHOWN - 3] + "..."


def refuse_character(character: str) -> str:
    r"""Say what to write instead of a character that is not printable ASCII.

    >>> print(refuse_character("\u03b2"))
    U+03B2 (greek small letter beta) is not accepted: spell names in ASCII letters, such as beta
    """
    name = unicodedata.name(character, "control or unnamed character").lower()
    subject = f"U+{ord(character):04X} ({name}) is not accepted"
    if character in _LOOKALIKES:
        return f"{subject}: write {_LOOKALIKES[character]}"
    if character.isspace() or not character.isprintable():
        return f"{subject}: write the expression on one line, with plain spaces"
    return f"{subject}: spell names in ASCII letters, such as beta"


def refuse_symbol(symbol: str) -> str:
    """Say what to write instead of an ASCII symbol that is no part of the language."""
    return f"{shown(symbol)} is not accepted: {_FOREIGN.get(symbol, _EXTRA)}"


def refuse_function(name: str) -> str:
    """Say which functions are accepted instead of *name*, the nearest one first.

    >>> print(refuse_function("tahn"))
    'tahn' is not a function: write tan(...) or tanh(...)? (functions: \
sqrt, exp, log, sin, cos, tan, sinh, cosh, tanh, asinh, atan, atanh, sigmoid, softplus, abs; \
for a product write *)
    """
    import difflib  # only ever needed on the way to a refusal

    accepted = f"(functions: {listed()}; for a product write *)"
    if name.lower() in REFUSED:
        return f"{shown(name)} is not supported: {REFUSED[name.lower()]} {accepted}"
    if name in ARRAY_FUNCTIONS:
        return (
            f"{name}(...) is for vectors and matrices: declare them, --vector u:3 or --matrix W:2x2"
        )
    if name in SYMMETRIC_FUNCTIONS:
        return f"{name}(...) goes over the entries of an indexed weight: declare it, --each v"
    if name.lower() in INSTEAD:
        return f"{shown(name)} is not a function: write {INSTEAD[name.lower()]} {accepted}"
    near = difflib.get_close_matches(name[:_SHOWN].lower(), FUNCTIONS, n=2, cutoff=0.7)
    hint = f": write {' or '.join(f'{function}(...)' for function in near)}? " if near else " "
    return f"{shown(name)} is not a function{hint}{accepted}"


NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
NAME = r"[A-Za-z][A-Za-z0-9_]*"

_NAME = re.compile(NAME)
_LEADING_ZERO = re.compile(r"0[0-9]+")


def name_fault(
    text: str, budget: Budget = DEFAULT, functions: Collection[str] = FUNCTIONS
) -> str | None:
    """Say why *text* cannot name a weight or start symbol, or return None if it can.

    >>> name_fault("lambda")
    "'lambda' is reserved: choose another name, such as lam"
    """
    if len(text) > budget.name:
        return f"a name has at most {budget.name} characters, this one has {len(text)}"
    if not _NAME.fullmatch(text):
        return f"{shown(text)} is not a name: write letters, digits and _, such as w_1"
    if keyword.iskeyword(text):
        other = "lam" if text == "lambda" else f"{text}_1"
        return f"{shown(text)} is reserved: choose another name, such as {other}"
    if text.lower() in ("nan", "oo", "inf", "infinity"):
        return f"{shown(text)} is no number to compute with: choose another name"
    if text in functions:
        return f"{shown(text)} is a function: write {text}(...), or choose another name"
    return None


def read_number(text: str, budget: Budget) -> Fraction:
    """Read a number exactly; a decimal is never rounded.

    >>> read_number("1.5e-3", DEFAULT)
    Fraction(3, 2000)
    """
    mantissa, _, exponent = text.lower().partition("e")
    exponent = exponent.lstrip("+-0")
    # Before anything is converted: 1e400000 is short to write and long to hold.
    if len(exponent) > 9 or len(mantissa.replace(".", "")) + int(exponent or "0") > budget.digits:
        raise LanguageError(f"a number may have at most {budget.digits} digits, written out")
    if _LEADING_ZERO.fullmatch(text):
        raise LanguageError("write a whole number without leading zeros, such as 7")
    return Fraction(text)


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
