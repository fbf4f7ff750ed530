"""Python source of Q: one module that needs NumPy only."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from importlib import resources

from derive.derivation import Derivation
from derive.errors import NumericalError
from derive.potential.piece import UNSEEN, of_the_flow
from numerics.evaluate.balls.panels import IntegralFormulas
from numerics.evaluate.balls.parametric import ParametricFormulas
from numerics.evaluate.source.module_conditions import assumed_start
from numerics.evaluate.source.program import ALONG, Program, norm_symbol, program
from numerics.evaluate.source.statements import NoSource, parameter

_IMPORTS = {
    "collections.abc": ("Callable", "Mapping", "Sequence"),
    "fractions": ("Fraction",),
    "math": ("comb",),
    "types": ("MappingProxyType", "SimpleNamespace"),
    "typing": ("Any", "NamedTuple", "TypeAlias"),
}
_PUBLIC = (
    ("Q", "beta", "value", "Return Q(beta), which is 0 at the start."),
    ("gradient", "beta", "gradient", "Return grad Q(beta), the mirror map."),
    ("hessian", "beta", "hessian", "Return the Hessian of Q, (..., d, d)."),
    ("inverse_mirror_map", "y", "inverse", "Return the beta with grad Q(beta) = y."),
    ("bregman", "b, b0", "bregman", "Return Q(b) - Q(b0) - <grad Q(b0), b - b0>."),
)
_PRODUCT = ("hessian_product", "beta, vector", "product", "Return Hess Q(beta) vector.")


def numpy_module(derivation: Derivation) -> str:
    """Return a module with Q, gradient, hessian, inverse_mirror_map and bregman.

    Raises:
        NumericalError: there is no Q, or its form needs more than elementary functions.
    """
    potential = derivation.potential
    p, pieces, turning = potential.parameterization, potential.pieces, potential.turning
    if not pieces:
        raise NumericalError(f"there is no Q, {potential.finding.reason}")
    try:
        programs = [program(potential, i) for i in range(len(pieces))]
    except NoSource as reason:
        raise NumericalError(f"Q has no NumPy module: {reason}") from None
    vector = parameter(turning.direction.start_vector) if turning else ""
    assumed, conditions = assumed_start(p, pieces, vector, norm_symbol(potential))
    numbers = programs[0].names
    names = (*numbers, *[vector] * bool(vector))
    start = ", ".join(f'"{name}": {name}' for name in numbers)
    given = f"_BLOCKS, {{{start}}}"
    call = f"    return OnArrays({given})"
    if vector:
        call = f"    q = OnVectors({given}, {vector})\n    return q"
    functions = (*_PUBLIC, *[_PRODUCT] * bool(vector))
    public = _public(functions, programs, names, call)
    if p.d == 1 and not vector:
        public = [x.replace(_PUBLIC[2][3], "Return d^2Q/dbeta^2.") for x in public]
    body = [*public, *assumed, *_formulas(programs)]
    engine = _engine(programs, body, conditions)
    docstring = _docstring(derivation, _VECTOR_START if vector else _START, names)
    code = "\n\n\n".join([*body, _HEADING, *engine, conditions + _blocks(programs)])
    return f'"""{docstring}"""\n\n{_imports(code)}\n\n\n{code}\n'


def _public(
    functions: Sequence[tuple[str, str, str, str]],
    programs: Sequence[Program],
    names: Sequence[str],
    call: str,
) -> list[str]:
    """Return the texts of the public functions; *call* ends where the name of a method follows."""
    known = all({"inverse", "curve"} & {name for name, _ in x.functions} for x in programs)
    parts = []
    for name, points, method, says in functions:
        if known or method != "inverse":
            head = f'def {name}({", ".join([points, *names])}):\n    """{says}"""\n'
            check = f"    _check({', '.join(names)})\n"
            parts.append(f'{head}{check}{call}("{method}", {points})')
    return parts


def _engine(programs: Sequence[Program], body: Sequence[str], conditions: str) -> list[str]:
    """Return the statements that are the same in every module of its kind."""
    rooted = any("largest_root" in part for part in body)
    kinds = {x.kind for x in programs}
    chosen = [
        "balls/arithmetic",
        "balls/decimals",
        "balls/elementary",
        "balls/precision",
        "balls/closed",
        *["balls/zeros"] * rooted,
        *["balls/panels"] * (IntegralFormulas in kinds),
        "vectors/vector_formulas" if programs[0].sign else "balls/on_arrays",
        *["balls/increasing", "balls/parametric"] * (ParametricFormulas in kinds),
        *["start_conditions"] * bool(conditions),
    ]
    return [part for name in chosen for part in _definitions(name)]


_START = "The start, {}, is numbers, or arrays that fit one coordinate. "
_VECTOR_START = (
    "beta has shape (..., d), for any d of 2 or more. The start, {}, is numbers and, last, a "
    "vector (d,). "
)
_HEADING = "# What follows is the same in every module: numbers with bounds of their errors."


def _formulas(programs: Sequence[Program]) -> list[str]:
    """Return the texts of the formulas, in a class for each block of outputs."""
    parts = []
    for number, written in enumerate(programs, 1):
        texts = [written.constants, *(text for _, text in written.functions)]
        methods = "\n\n".join("@staticmethod\n" + text for text in texts)
        body = textwrap.indent(methods, "    ")
        parts.append(f'class _Block{number}:\n    """Formulas; c holds the start."""\n\n{body}')
    return parts


def _blocks(programs: Sequence[Program]) -> str:
    text = ""
    for number, written in enumerate(programs, 1):
        known = [name for name, _ in written.functions]
        names, indent = [name for name in known if name != ALONG], " " * (12 if written.sign else 8)
        lines = "".join(f"{indent}    {name}=_Block{number}.{name},\n" for name in names)
        q = f"{written.kind.__name__}(\n{lines}{indent})"
        if written.sign:
            parts = "".join(f"{indent}{part},\n" for part in (q, f"_Block1.{ALONG}", written.sign))
            q = f"VectorFormulas(\n{parts}        )"
        shown = (written.outputs, f"_Block{number}.constants", q)
        text += "".join(["    (\n", *(f"        {part},\n" for part in shown), "    ),\n"])
    return f"_BLOCKS: list[Any] = [\n{text}]"


def _docstring(derivation: Derivation, start: str, names: Sequence[str]) -> str:
    """Return what a derivation says of F, its laws and Q, and how to read the functions."""
    kept = ("Parameterization", "Conserved", "Implicit")
    sections = [part for part in derivation.to_text().split("\n\n") if part.startswith(kept)]
    start = start.format(", ".join(names))
    told = (
        "Units: beta has those of F, and Q is defined up to a positive factor, here so that "
        "Q = 0 at the start. Every result has a running error bound below 1e-14, relative, where "
        "it is a normal double, or is nan: decimals step in where doubles lose too much."
    )
    if any(map(of_the_flow, derivation.potential.pieces)):
        told += " " + UNSEEN
    note = textwrap.fill((start if names else "") + told, 95)
    title = "The implicit regularizer Q of gradient flow on F, derived and written by regderive."
    return "\n\n".join([title, *sections, note]).replace("\\", "/") + "\n"


def _definitions(name: str) -> list[str]:
    """Return the statements of a module of numerics, without its imports and docstring."""
    source = resources.files("numerics.evaluate").joinpath(f"{name}.py").read_text(encoding="utf-8")
    lines = source.splitlines()
    parts: list[str] = []
    previous = 0
    for node in ast.parse(source).body:
        end = node.end_lineno or node.lineno
        docstring = isinstance(node, ast.Expr) and not parts
        if not isinstance(node, ast.Import | ast.ImportFrom) and not docstring:
            parts.append("\n".join(lines[previous:end]).strip("\n"))
        previous = end
    return _grouped(parts)


def _grouped(parts: Sequence[str]) -> list[str]:
    """Join assignments that follow each other."""
    found: list[str] = []
    for part in parts:
        plain = not part.startswith(("def ", "class ", "@"))
        if found and plain and not found[-1].startswith(("def ", "class ", "@")):
            found[-1] += "\n" + part
        else:
            found.append(part)
    return found


def _imports(code: str) -> str:
    """Return the imports that the code uses, in their usual order."""
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    lines = [f"import {name}" for name in ("decimal", "functools") if name in used]
    for origin, names in _IMPORTS.items():
        if needed := [name for name in names if name in used]:
            lines.append(f"from {origin} import {', '.join(needed)}")
    return "\n".join(["from __future__ import annotations", "", *lines, "", "import numpy as np"])
