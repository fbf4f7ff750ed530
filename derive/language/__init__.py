"""The language of expressions: the only door through which text enters.

Nothing that is read is ever executed, everything is bounded before it is built, and every refusal
is one line that says where and what would be accepted.
"""

from derive.errors import LanguageError
from derive.language.arguments import parse_assignments, parse_name, parse_names, parse_outputs
from derive.language.budget import OWN, Budget
from derive.language.functions import CALLS, FUNCTIONS
from derive.language.reader import bind, parse_expression
from derive.language.symbolic import from_sympy, to_sympy
from derive.language.tree import (
    Call,
    Name,
    Number,
    Operation,
    Power,
    RealPower,
    Tree,
    children,
    exponent_names,
    names,
    to_text,
    walk,
)

__all__ = [
    "CALLS",
    "FUNCTIONS",
    "OWN",
    "Budget",
    "Call",
    "LanguageError",
    "Name",
    "Number",
    "Operation",
    "Power",
    "RealPower",
    "Tree",
    "bind",
    "children",
    "exponent_names",
    "from_sympy",
    "names",
    "parse_assignments",
    "parse_expression",
    "parse_name",
    "parse_names",
    "parse_outputs",
    "to_sympy",
    "to_text",
    "walk",
]
