"""Numbers and names as they are spelled, and wording of refusals: bounded, with a hint."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection
from fractions import Fraction

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
sqrt, exp, log, sin, cos, tan, sinh, cosh, tanh, asinh, atan, sigmoid, softplus, abs; \
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
