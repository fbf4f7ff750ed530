"""Numbers and names: the two kinds of leaves, as they are spelled."""

from __future__ import annotations

import keyword
import re
from fractions import Fraction

from derive.errors import LanguageError
from derive.language.budget import DEFAULT, Budget
from derive.language.functions import FUNCTIONS
from derive.language.messages import shown

NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
NAME = r"[A-Za-z][A-Za-z0-9_]*"

_NAME = re.compile(NAME)
_NUMBER_PARTS = re.compile(r"([0-9]*)\.?([0-9]*)(?:[eE][+-]?([0-9]+))?")
_LEADING_ZERO = re.compile(r"0[0-9]+")


def name_fault(text: str, budget: Budget = DEFAULT) -> str | None:
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
    if text in FUNCTIONS:
        return f"{shown(text)} is a function: write {text}(...), or choose another name"
    return None


def check_number(value: Fraction, budget: Budget, column: int | None = None) -> None:
    """Refuse a number whose numerator or denominator has too many digits."""
    if max(abs(value.numerator), value.denominator) >= 10**budget.digits:
        raise LanguageError(f"a number may have at most {budget.digits} digits", column)


def read_number(text: str, budget: Budget, column: int) -> Fraction:
    """Read a number exactly; a decimal is never rounded.

    >>> read_number("1.5e-3", DEFAULT, 1)
    Fraction(3, 2000)
    """
    parts = _NUMBER_PARTS.fullmatch(text)
    if parts is None:
        raise LanguageError(f"{shown(text)} is not a number: write 12 or 1.5e-3", column)
    digits = len(parts[1]) + len(parts[2])
    exponent = (parts[3] or "").lstrip("0")
    # Before anything is converted: 1e400000 is short to write and long to hold.
    if len(exponent) > 9 or digits + int(exponent or "0") > budget.digits:
        message = f"a number may have at most {budget.digits} digits, written out"
        raise LanguageError(message, column)
    if _LEADING_ZERO.fullmatch(text):
        raise LanguageError("write a whole number without leading zeros, such as 7", column)
    value = Fraction(text)
    check_number(value, budget, column)
    return value
