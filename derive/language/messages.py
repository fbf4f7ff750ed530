"""Wording of refusals: bounded, printable, and with a hint at what would be accepted."""

from __future__ import annotations

import unicodedata

from derive.language.tree import FUNCTIONS

ACCEPTED_FUNCTIONS = ", ".join(FUNCTIONS)

_SHOWN = 40

_INSTEAD = {
    "ln": "log(x)",
    "log2": "log(x)/log(2)",
    "log10": "log(x)/log(10)",
    "log1p": "log(1 + x)",
    "expm1": "exp(x) - 1",
    "pow": "x**2",
    "square": "x**2",
    "cbrt": "x**(1/3)",
    "arcsinh": "asinh(x)",
    "arsinh": "asinh(x)",
    "cot": "1/tan(x)",
    "sec": "1/cos(x)",
    "csc": "1/sin(x)",
    "sigmoid": "1/(1 + exp(-x))",
    "logistic": "1/(1 + exp(-x))",
    "softplus": "log(1 + exp(x))",
}

_NOT_DIFFERENTIABLE = frozenset(
    ("abs", "max", "min", "floor", "ceil", "ceiling", "round", "sign", "relu", "heaviside", "mod")
)

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

_FOREIGN = {
    "^": "write ** for powers",
    "//": "write / for a quotient",
    "%": _EXTRA,
    "@": "write * for a product",
    "=": "give only the right-hand side, without a name and =",
    "==": "give only the right-hand side; an equation is not an expression",
    ":=": "give only the right-hand side, without a name and :=",
    "<": "a comparison is not an expression; give only the right-hand side",
    ".": "a point is accepted only inside a number, such as 0.5",
    "_": "a name starts with a letter, such as w_1, and has no _ inside digits",
    "[": "write round brackets ( ) only",
    "'": "text in quotes is not accepted; write names without quotes",
    "&": "logic and bit operators are not accepted; " + _EXTRA,
    "!": "a factorial is not accepted; " + _EXTRA,
}

_SAME_AS = {
    **dict.fromkeys((">", "<=", ">=", "!=", "<<", ">>", "<>"), "<"),
    **dict.fromkeys(("]", "{", "}"), "["),
    **dict.fromkeys(('"', "`"), "'"),
    **dict.fromkeys(("|", "~"), "&"),
}


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
    return f"{shown(symbol)} is not accepted: {_FOREIGN.get(_SAME_AS.get(symbol, symbol), _EXTRA)}"


def refuse_function(name: str) -> str:
    """Say which functions are accepted instead of *name*, the nearest one first.

    >>> print(refuse_function("tahn"))
    'tahn' is not a function: write tan(...) or tanh(...)? (functions: \
sqrt, exp, log, sin, cos, tan, sinh, cosh, tanh, asinh; for a product write *)
    """
    import difflib  # only ever needed on the way to a refusal

    accepted = f"(functions: {ACCEPTED_FUNCTIONS}; for a product write *)"
    if name.lower() in _NOT_DIFFERENTIABLE:
        return (
            f"{shown(name)} is not supported: it is not differentiable; derive each region on its "
            f"own, as a*u1 where a ReLU is active {accepted}"
        )
    if name in ("T", "norm", "dot"):
        return (
            f"{name}(...) is for vectors and matrices: declare them, --vector u:3 or --matrix W:2x2"
        )
    if name.lower() in _INSTEAD:
        return f"{shown(name)} is not a function: write {_INSTEAD[name.lower()]} {accepted}"
    near = difflib.get_close_matches(name[:_SHOWN].lower(), FUNCTIONS, n=2, cutoff=0.7)
    hint = f": write {' or '.join(f'{function}(...)' for function in near)}? " if near else " "
    return f"{shown(name)} is not a function{hint}{accepted}"
