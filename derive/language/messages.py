"""Wording of refusals: bounded, printable, and with a hint at what would be accepted."""

from __future__ import annotations

import unicodedata

from derive.language.functions import FUNCTIONS, INSTEAD, REFUSED, listed

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
    ("& | ~", "logic and bit operators are not accepted; " + _EXTRA),
    ("!", "a factorial is not accepted; " + _EXTRA),
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
    if name in ("T", "norm", "dot"):
        return (
            f"{name}(...) is for vectors and matrices: declare them, --vector u:3 or --matrix W:2x2"
        )
    if name.lower() in INSTEAD:
        return f"{shown(name)} is not a function: write {INSTEAD[name.lower()]} {accepted}"
    near = difflib.get_close_matches(name[:_SHOWN].lower(), FUNCTIONS, n=2, cutoff=0.7)
    hint = f": write {' or '.join(f'{function}(...)' for function in near)}? " if near else " "
    return f"{shown(name)} is not a function{hint}{accepted}"
