"""Python source of Q: one module that needs NumPy only."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from importlib import resources

from derive.derivation import Derivation
from derive.errors import NumericalError
from derive.records import Potential
from numerics.evaluate.balls.panels import IntegralFormulas
from numerics.evaluate.balls.parametric import ParametricFormulas
from numerics.evaluate.source.module_conditions import assumed_start
from numerics.evaluate.source.program import Program, program
from numerics.evaluate.source.statements import NoSource, parameter
from numerics.evaluate.vectors.vector_potential import (
    ALONG,
    norm_symbol,
    turning_of,
    vector_program,
)

_IMPORTS = {
    "collections.abc": ("Callable", "Mapping", "Sequence"),
    "dataclasses": ("dataclass",),
    "fractions": ("Fraction",),
    "math": ("comb",),
    "types": ("MappingProxyType", "SimpleNamespace"),
    "typing": ("Any", "TypeAlias"),
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
    try:
        write = _vector_module if derivation.potential.parameterization.vectors else _module
        return write(derivation.potential, derivation.to_text())
    except NoSource as reason:
        raise NumericalError(f"Q has no NumPy module: {reason}") from None


def _module(potential: Potential, text: str) -> str:
    """Return a module for outputs in coordinates."""
    if not potential.pieces:
        raise NumericalError(f"there is no Q, {potential.finding.reason}")
    programs = [program(potential, i) for i in range(len(potential.pieces))]
    names = programs[0].names
    assumed, conditions = assumed_start(potential.parameterization, potential.pieces)
    call = f"    return OnArrays(_BLOCKS, {{{_given(names)}}})"
    public = _public(_PUBLIC, programs, names, call)
    if potential.parameterization.d == 1:
        public = [x.replace(_PUBLIC[2][3], "Return d^2Q/dbeta^2.") for x in public]
    body = [*public, *assumed, *_formulas(programs)]
    curves = any(x.kind is ParametricFormulas for x in programs)
    ends = [
        "balls/on_arrays",
        *["balls/increasing", "balls/parametric"] * curves,
        *["start_conditions"] * bool(conditions),
    ]
    engine = _engine(programs, body, ends)
    return _written(_docstring(text, _START, names), body, engine, conditions + _blocks(programs))


def _vector_module(potential: Potential, text: str) -> str:
    """Return a module for vectors of any dimension."""
    direction = turning_of(potential).direction
    written = vector_program(potential)
    q = _call(written.kind.__name__, 1, [n for n, _ in written.functions if n != ALONG], "        ")
    parts = "".join(f"        {part},\n" for part in (q, f"_Block1.{ALONG}", direction.sign))
    block = f"_BLOCK = (\n    _Block1.constants,\n    VectorFormulas(\n{parts}    ),\n)"
    vector = parameter(direction.start_vector)
    p, norm = potential.parameterization, norm_symbol(potential)
    assumed, conditions = assumed_start(p, potential.pieces, vector, norm)
    names = (*written.names, vector)
    call = f"    q = OnVectors(*_BLOCK, {{{_given(written.names)}}}, {vector})\n    return q"
    public = _public((*_PUBLIC, _PRODUCT), [written], names, call)
    body = [*public, *assumed, *_formulas([written])]
    ends = ["vectors/vector_formulas", *["start_conditions"] * bool(conditions)]
    docstring = _docstring(text, _VECTOR_START, names)
    return _written(docstring, body, _engine([written], body, ends), conditions + block)


def _given(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}": {name}' for name in names)


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


def _engine(programs: Sequence[Program], body: Sequence[str], ends: Sequence[str]) -> list[str]:
    """Return the statements that are the same in every module of its kind."""
    rooted = any("largest_root" in part for part in body)
    integral = any(x.kind is IntegralFormulas for x in programs)
    chosen = [
        "balls/arithmetic",
        "balls/decimals",
        "balls/elementary",
        "balls/precision",
        "balls/closed",
        *["balls/zeros"] * rooted,
        *["balls/panels"] * integral,
        *ends,
    ]
    return [part for name in chosen for part in _definitions(name)]


def _written(docstring: str, body: Sequence[str], engine: Sequence[str], blocks: str) -> str:
    code = "\n\n\n".join([*body, _HEADING, *engine, blocks])
    return f'"""{docstring}"""\n\n{_imports(code)}\n\n\n{code}\n'


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
        names = [name for name, _ in written.functions]
        q = _call(written.kind.__name__, number, names, " " * 8)
        parts = (written.outputs, f"_Block{number}.constants", q)
        text += "".join(["    (\n", *(f"        {part},\n" for part in parts), "    ),\n"])
    return f"_BLOCKS: list[Any] = [\n{text}]"


def _call(kind: str, number: int, names: Sequence[str], indent: str) -> str:
    """Return a call with the formulas of a block, by name where there are many."""
    if not {"divergence", "walls"} & set(names):
        return f"{kind}({', '.join(f'_Block{number}.{name}' for name in names)})"
    lines = "".join(f"{indent}    {name}=_Block{number}.{name},\n" for name in names)
    return f"{kind}(\n{lines}{indent})"


def _docstring(text: str, start: str, names: Sequence[str]) -> str:
    """Return what a derivation says of F, its laws and Q, and how to read the functions."""
    kept = ("Parameterization", "Conserved", "Implicit")
    sections = [part for part in text.split("\n\n") if part.startswith(kept)]
    start = start.format(", ".join(names))
    told = (
        "Units: beta has those of F, and Q is defined up to a positive factor, here so that "
        "Q = 0 at the start. Every result has a running error bound below 1e-14, relative, where "
        "it is a normal double, or is nan: decimals step in where doubles lose too much."
    )
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
