"""A check of the raw text, before Python's parser sees it.

What passes is a well-formed expression of the language, in bounded nesting, and nothing else; so
every refusal can say in the words of the language what is wrong and where.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from derive.errors import LanguageError
from derive.language.budget import Budget
from derive.language.functions import FUNCTIONS
from derive.language.literals import (
    NAME,
    NUMBER,
    name_fault,
    read_number,
    refuse_character,
    refuse_function,
    refuse_symbol,
    shown,
)

_TOKEN = re.compile(
    rf"(?P<space> +)|(?P<number>{NUMBER})|(?P<name>{NAME})|(?P<open>\()|(?P<close>\))"
    r"|(?P<foreign>//|==|:=|<=|>=|!=|<<|>>|<>)|(?P<operator>\*\*|[-+*/])|(?P<comma>,)"
    r"|(?P<other>.)",
    re.DOTALL,
)

_OPERAND = "a number, a name, a function or a bracket"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: its kind is the group of the pattern that it matches."""

    kind: str
    text: str
    column: int

    @property
    def ends_operand(self) -> bool:
        """Tell whether an operator can follow."""
        return self.kind in ("number", "name", "close")


def check_characters(text: str, budget: Budget) -> None:
    """Refuse a text that is too long or has other characters than printable ASCII."""
    if len(text) > budget.text:
        message = f"a text may have at most {budget.text} characters, this one has {len(text)}"
        raise LanguageError(message, budget.text + 1)
    for column, character in enumerate(text, 1):
        if not " " <= character <= "~":
            raise LanguageError(refuse_character(character), column)


ARRAY_FUNCTIONS: tuple[str, ...] = ("T", "norm", "dot")
"""Functions of vectors and matrices: accepted only where there are some."""


def check_syntax(text: str, offset: int, budget: Budget, more: tuple[str, ...] = ()) -> None:
    """Refuse a text that is no expression; with *more* functions commas in brackets are allowed."""
    known = (*FUNCTIONS, *more)
    tokens = [Token("start", "", offset + 1)]
    for match in _TOKEN.finditer(text):
        if match.lastgroup and match.lastgroup != "space":
            tokens.append(Token(match.lastgroup, match[0], offset + match.start() + 1))
    if len(tokens) == 1:
        message = "empty expression: write one such as p**2 - m**2"
        raise LanguageError(message, offset + 1)
    tokens.append(Token("end", "", tokens[-1].column + len(tokens[-1].text)))
    opened: list[Token] = []
    for previous, token in pairwise(tokens):
        if not (more and opened and token.kind == "comma"):
            _check_token(token, budget, len(opened))
        _check_pair(previous, token, known)
        if token.kind == "open":
            opened.append(token)
        elif token.kind == "close":
            if not opened:
                raise LanguageError("')' closes no bracket: remove it or write '('", token.column)
            opened.pop()
        if len(opened) > budget.brackets:
            message = f"brackets may be nested at most {budget.brackets} deep"
            raise LanguageError(message, token.column)
    if opened:
        raise LanguageError("'(' is never closed: write ')'", opened[-1].column)
    _check_runs(tokens, budget)


def _check_token(token: Token, budget: Budget, depth: int) -> None:
    """Refuse a token that is wrong wherever it stands."""
    if token.kind in ("foreign", "other"):
        raise LanguageError(refuse_symbol(token.text), token.column)
    if token.kind == "comma":
        where = "a function takes exactly one argument" if depth else "one expression is expected"
        message = f"',' is not accepted: {where}; give each output as its own argument"
        raise LanguageError(message, token.column)
    if token.kind == "number":
        read_number(token.text, budget, token.column)
    if token.kind == "name" and token.text not in FUNCTIONS:
        fault = name_fault(token.text, budget)
        if fault is not None:
            raise LanguageError(fault, token.column)


def _check_pair(previous: Token, token: Token, functions: tuple[str, ...]) -> None:
    """Refuse a token that cannot stand after the one before it."""
    is_call = previous.kind == "name" and token.kind == "open"
    if previous.kind == "name" and not is_call and previous.text in functions:
        message = f"{shown(previous.text)} is a function: write {previous.text}(...)"
        raise LanguageError(message, previous.column)
    if is_call:
        if previous.text not in functions:
            raise LanguageError(refuse_function(previous.text), previous.column)
    elif previous.ends_operand:
        if token.kind in ("number", "name", "open"):
            message = f"write * between factors, here after {shown(previous.text)}"
            if previous.kind == "number":
                message += "; a number is decimal, such as 12 or 1.5e-3"
            raise LanguageError(message, token.column)
    elif token.kind in ("close", "end", "comma") or token.text in ("*", "/", "**"):
        after = f" after {shown(previous.text)}" if previous.text else ""
        found = shown(token.text) if token.text else "the end"
        message = f"expected {_OPERAND}{after}, found {found}"
        raise LanguageError(message, token.column)


def _check_runs(tokens: list[Token], budget: Budget) -> None:
    """Refuse a long run of signs or of powers: Python's parser goes down a level for each."""
    signs, powers = 0, [0]  # the powers so far, for each open bracket
    for previous, token in pairwise(tokens):
        is_sign = token.text in ("+", "-") and not previous.ends_operand
        signs = signs + 1 if is_sign else 0
        if token.kind == "open":
            powers.append(0)
        elif token.kind == "close":
            powers.pop()
        elif token.kind == "operator" and not is_sign:
            powers[-1] = powers[-1] + 1 if token.text == "**" else 0
        if max(signs, powers[-1]) > budget.run:
            what = "signs" if is_sign else "powers"
            message = f"at most {budget.run} {what} in a row: write it with fewer"
            raise LanguageError(message, token.column)
