"""The elementary functions, one record each: whoever treats one finds here what is special to it.

A function has one argument x and the name that flint, SymPy and mpmath give it; sigmoid and
softplus, which SymPy has not, are written out there. A new one is a record here; the checker of
certificates keeps a list of its own, so that it trusts nobody.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FunctionRecord:
    """What is known of an elementary function f(x); texts are in the language.

    Attributes:
        name: its spelling.
        rewritten: f(x) in other functions, where it needs no generator of a field.
        is_call: whether it stands in trees; of others only ``rewritten`` does.
        derivative: f'(x), rational in x, in f itself and in the partner p.
        partner: p, another function of x.
        logarithm: f(x) by logarithms and roots, for towers that have few kinds of generators.
        positive: whether x has to be positive; in fields it is the absolute value that is.
    """

    name: str
    rewritten: str = ""
    is_call: bool = True
    derivative: str = ""
    partner: str = ""
    logarithm: str = ""
    positive: bool = False


RECORDS: dict[str, FunctionRecord] = {
    f.name: f
    for f in (
        FunctionRecord("sqrt", "x**0.5", is_call=False),
        FunctionRecord("exp", derivative="f"),
        FunctionRecord("log", derivative="1/x", positive=True),
        FunctionRecord("sin", derivative="p", partner="cos(x)"),
        FunctionRecord("cos", derivative="-p", partner="sin(x)"),
        FunctionRecord("tan", "sin(x)/cos(x)", derivative="1 + f*f"),
        FunctionRecord("sinh", "(exp(x) - exp(-x))/2"),
        FunctionRecord("cosh", "(exp(x) + exp(-x))/2"),
        FunctionRecord("tanh", "sinh(x)/cosh(x)"),
        FunctionRecord(
            "asinh", derivative="1/p", partner="sqrt(1 + x*x)", logarithm="log(x + sqrt(1 + x*x))"
        ),
        FunctionRecord("atan", derivative="1/(1 + x*x)"),
        FunctionRecord("atanh", "log((1 + x)/(1 - x))/2", is_call=False),
        FunctionRecord("sigmoid", "1/(1 + exp(-x))"),
        FunctionRecord("softplus", "log(1 + exp(x))"),
        # The sign of x is that of a name declared positive, and has to last along the flow.
        FunctionRecord("abs", "sqrt(x**2)", is_call=False),
    )
}

FUNCTIONS: tuple[str, ...] = tuple(RECORDS)
"""Every function that may be typed."""

CALLS: tuple[str, ...] = tuple(f.name for f in RECORDS.values() if f.is_call)
"""Every function that stands in trees, and so in what is printed."""

ARRAY_FUNCTIONS: tuple[str, ...] = ("T", "norm", "dot")
"""Functions of vectors and matrices: accepted only where there are some."""

SYMMETRIC_FUNCTIONS: tuple[str, ...] = ("sum", "prod", "norm")
"""Functions of all entries of an indexed weight: accepted only where there is one."""

_KINK = "it is not differentiable; derive each region on its own, as a*u1 where a ReLU is active"

REFUSED: dict[str, str] = {
    **dict.fromkeys(("max", "min", "relu", "sign", "heaviside", "mod"), _KINK),
    **dict.fromkeys(("floor", "ceil", "ceiling", "round"), _KINK),
    **dict.fromkeys(
        ("erf", "erfc", "gelu", "probit"),
        "its derivative needs the constant sqrt(pi), and exact fields have "
        "rational numbers and names; sigmoid and atan are like it",
    ),
}
"""Functions that are known and not accepted, with the reason."""

INSTEAD: dict[str, str] = {
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
    "arctanh": "atanh(x)",
    "artanh": "atanh(x)",
    "arctan": "atan(x)",
    "cot": "1/tan(x)",
    "sec": "1/cos(x)",
    "csc": "1/sin(x)",
    "logistic": "sigmoid(x)",
    "expit": "sigmoid(x)",
    "silu": "x*sigmoid(x)",
    "swish": "x*sigmoid(x)",
}
"""What to write for functions that have another spelling here."""


def listed(last: str = ", ") -> str:
    """Return the functions that may be typed in words, *last* before the last one.

    >>> listed(" and ")[-25:]
    'sigmoid, softplus and abs'
    """
    return ", ".join(FUNCTIONS[:-1]) + last + FUNCTIONS[-1]
