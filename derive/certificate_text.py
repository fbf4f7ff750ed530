"""The texts of a certificate: calls that F, logarithms and forms use, as definitions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

from derive.check import Checker
from derive.checking.function import Function, constant, root_of
from derive.checking.space import Space
from derive.checking.text import Rejected, tree_of
from derive.errors import DeriveError
from derive.exact.field import FunctionField
from derive.exact.refinement import Refine
from derive.exact.tower import Tower
from derive.language import parse_expression
from derive.stages.parameterization import Parameterization

Entry = dict[str, str]
ROOM = 60
VIA = {"sinh": "exp", "cosh": "exp", "tanh": "exp"}


class Calls:
    """Names for calls, and the record of a certificate with those of F and of the start."""

    def __init__(self, record: dict[str, Any], p: Parameterization) -> None:
        self.taken = {*p.weights, *p.parameters, *p.start_symbols}
        self.record, self.entries = record, record["definitions"]
        plain = {**record, "outputs": list(p.weights[:1]), "definitions": [], "ties": []}
        self.space = Checker({**plain, "claims": []}, ROOM).space
        for g in (*p.field.generators, *p.start_field.generators):
            if g.argument is not None:
                self.name(g.name)
        for text in calls_in(record["outputs"]):
            if not self.knows(text):
                self._name_logarithms()
                for kind, argument, exponent, _ in list(self.space.known):
                    self._image_at_start(kind, argument, exponent, p)
                call = self.space.call(tree_of(text))
                self._image_at_start(*call, p)
                self._image(text, p.field, p)

    def _image_at_start(
        self, kind: str, argument: Function, exponent: Function, p: Parameterization
    ) -> None:
        """Define a call with its argument at w_0."""
        if self.space.is_of_constants(argument):
            return
        text = call_of(kind, self.space.at_start(argument), exponent)
        if kind == "sin":
            self._image("cos" + text.removeprefix("sin"), p.start_field, p)
        self._image(text, p.start_field, p)

    def _image(self, text: str, field: FunctionField, p: Parameterization) -> None:
        """Define a call as what it is in a field, or else as a generator."""
        if self.knows(text):
            return
        before = self.space.scope()
        try:
            entry = {"of": text, "is": _written(text, field, p)}
            if text.startswith("cos("):
                entry["sin"] = _written("sin" + text.removeprefix("cos"), field, p)
            self.define(entry)
        except (DeriveError, Rejected, Refine, ValueError):
            self.space.leave(before)
            self.name(text)

    def knows(self, text: str) -> bool:
        """Tell whether a call is defined."""
        try:
            self.space.read(text)
        except Rejected:
            return False
        return True

    def define(self, entry: Entry) -> None:
        """Add a definition."""
        self.space.define(entry)
        self.entries.append(entry)

    def name(self, text: str) -> None:
        """Name a call as a generator, if it is not known."""
        if not self.knows(text):
            self.define({"name": self.fresh("f"), "of": text})

    def _name_logarithms(self) -> None:
        """Name log|u| for the bases of real powers: their derivative by the exponent needs it."""
        for kind, base, exponent, _ in list(self.space.known):
            if kind == "power" and constant(exponent) is None:
                self.name(f"log(Abs({text_of(base)}))")

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


def call_of(kind: str, argument: Function, exponent: Function) -> str:
    """Return the text of a call."""
    inside, n = text_of(argument), root_of(exponent)
    if kind == "power":
        return f"({inside})**(1/{n})" if n else f"({inside})**({text_of(exponent)})"
    return f"log(Abs({inside}))" if kind == "log" else f"{kind}({inside})"


def _written(text: str, field: FunctionField, p: Parameterization) -> str:
    """Return a call in the generators of a field."""
    tree = parse_expression(text.replace("Abs", ""))
    return repr(field.embed(Tower.over(field, p.positive).element(tree)))
