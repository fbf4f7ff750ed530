"""The texts of a certificate: calls that F, logarithms and forms use, as definitions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

from derive.checking.function import Function
from derive.checking.space import Space
from derive.checking.text import Rejected, tree_of
from derive.errors import DeriveError
from derive.exact.conversion import to_field
from derive.language import parse_expression
from derive.stages.parameterization import Parameterization

Entry = dict[str, str]
VIA = {"sinh": "exp", "cosh": "exp", "tanh": "exp"}


class Calls:
    """Names for calls, and the record of a certificate with those of F and of the start."""

    def __init__(self, record: dict[str, Any], p: Parameterization) -> None:
        self.taken = {*p.weights, *p.parameters, *p.start_symbols}
        self.record = record
        entries = record["definitions"]
        for g in (*p.field.generators, *p.start_field.generators):
            if g.argument is not None:
                text = ast.unparse(tree_of(g.name))
                if text not in {entry["of"] for entry in entries}:
                    entries.append({"name": self.fresh("f"), "of": text})
        known = {entry["of"] for entry in entries}
        for text in calls_in(record["outputs"]):
            if text not in known:
                known.add(text)
                entries += self._image(text, p)

    def _image(self, text: str, p: Parameterization) -> list[Entry]:
        """Return what a call in F is, in the generators of its field."""
        try:
            return [{"of": text, "is": repr(to_field(parse_expression(text), p.field, text))}]
        except DeriveError:
            return []

    def fresh(self, base: str) -> str:
        """Return a name that is not taken."""
        n = 1
        while f"{base}{n}" in self.taken:
            n += 1
        self.taken.add(f"{base}{n}")
        return f"{base}{n}"

    def missing(self, texts: Iterable[str], space: Space) -> list[Entry]:
        """Return definitions of the calls in texts that are not known yet, as generators."""
        found: list[Entry] = []
        before = space.scope()
        try:
            for text in calls_in(texts):
                try:
                    space.read(text)
                except Rejected:
                    entry = {"name": self.fresh("f"), "of": text}
                    space.define(entry)
                    found.append(entry)
        finally:
            space.leave(before)
        return found


def calls_in(texts: Iterable[str]) -> Iterator[str]:
    """Yield the calls and the powers with other exponents than integers, inner ones first."""
    for text in texts:
        yield from dict.fromkeys(_calls(tree_of(text)))


def _calls(node: ast.expr) -> Iterator[str]:
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.expr):
            yield from _calls(inner)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        name, inside = node.func.id, ast.unparse(node.args[0])
        if name == "tan":
            yield f"cos({inside})"
            yield f"sin({inside})"
        elif name not in ("Abs", "abs"):
            if name == "sin":
                yield f"cos({inside})"
            if name == "asinh":
                yield f"sqrt(({inside})**2 + 1)"
            yield f"{VIA.get(name, name)}({inside})"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        exponent = _number(node.right)
        base = ast.unparse(node.left)
        if exponent is None:
            yield ast.unparse(node)
        elif exponent[1] > 1:
            yield f"({base})**(1/{exponent[1]})"


def _number(node: ast.expr) -> tuple[int, int] | None:
    """Return numerator and denominator of an exponent that is written as a number."""
    found = re.fullmatch(r"\(?(-?\d+)(?: ?/ ?(\d+))?\)?", ast.unparse(node))
    return (int(found[1]), int(found[2] or 1)) if found else None


def text_of(f: Function) -> str:
    """Return a function of a space in its names."""
    space = f.space
    names: dict[str, str] = {}
    symbols = {str(s.top): k for k, s in enumerate(space.symbols)}
    for name, image in space.names.items():
        if image.bottom.is_one() and str(image.top) in symbols:
            names.setdefault(str(image.top), name)

    def side(polynomial: Any) -> str:
        text = str(polynomial).replace("^", "**")
        return re.sub(r"x\d+", lambda m: names[m[0]], text)

    return side(f.top) if f.bottom.is_one() else f"({side(f.top)})/({side(f.bottom)})"
