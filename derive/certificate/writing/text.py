"""The texts of a certificate: calls that F, logarithms and forms use, as definitions."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from derive.certificate.checking.claims import Checker
from derive.certificate.checking.function import Function, constant, root_of
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import Rejected, tree_of
from derive.errors import DeriveError
from derive.exact.field.function_field import FunctionField
from derive.exact.field.polynomial import factorize
from derive.exact.towers.refinement import Refine
from derive.exact.towers.tower import Tower
from derive.language import parse_expression
from derive.model.parameterization import Parameterization

Entry = dict[str, Any]
ROOM = 60
VIA = {"sinh": "exp", "cosh": "exp", "tanh": "exp"}


class Calls:
    """Names for calls, defined in the record of a certificate; those of F come first."""

    def __init__(self, record: dict[str, Any], p: Parameterization) -> None:
        self.taken = {*p.weights, *p.parameters, *p.start_symbols}
        self.entries = record["definitions"]
        plain = {**record, "outputs": list(p.weights[:1]), "definitions": [], "ties": []}
        plain.pop("vector", None)
        self.space = Checker({**plain, "claims": []}, ROOM).space
        for g in (*p.field.generators, *p.start_field.generators):
            if g.kind != "parameter":
                self.name(g.name)
        for text in calls_in(record["outputs"]):
            if not self.knows(text):
                for kind, argument, exponent, _ in list(self.space.known):
                    self._image_at_start(kind, argument, exponent, p)
                call = self.space.call(text)
                self._image_at_start(*call, p)
                self._image(text, p.field, p)

    def _image_at_start(
        self, kind: str, argument: Function, exponent: Function, p: Parameterization
    ) -> None:
        """Define a call with its argument at w_0."""
        if self.space.is_of_constants(argument):
            return
        text = call_of(kind, self.space.at_start(argument), exponent, spelled)
        if kind == "sin":
            self._image("cos" + text.removeprefix("sin"), p.start_field, p)
        self._image(text, p.start_field, p)

    def _image(self, text: str, field: FunctionField, p: Parameterization) -> None:
        """Define a call as what it is in a field, or else as a generator."""
        if self.knows(text):
            return
        before, count = self.space.scope(), len(self.entries)
        try:
            image = _written(text, field, p)
            if text.startswith("cos("):
                sine = _written("sin" + text.removeprefix("cos"), field, p)
                parts = angles(self.space, text)
                self.define({"of": text, "is": image, "sin": sine, "from": parts})
            else:
                for entry in entries_for(self.space, text, image, self.fresh):
                    self.define(entry)
        except (DeriveError, Rejected, Refine, ValueError):
            self.space.leave(before)
            del self.entries[count:]
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
    return _in_names(f, names)


def spelled(f: Function) -> str:
    """Return a function of a space with its calls spelled out."""
    space = f.space
    given = zip(list(space.names)[: space.size], space.symbols, strict=False)
    names = {str(symbol.top): name for name, symbol in given}
    for kind, u, e, image in space.generators:
        inside, n = _in_names(u, names), root_of(e)
        power = f"(({inside})**(1/{n}))" if n else f"(({inside})**({_in_names(e, names)}))"
        log = f"log(Abs({inside}))" if kind == "log" else f"{kind}({inside})"
        names[str(image.top)] = power if kind == "power" else log
    return _in_names(f, names)


def _in_names(f: Function, names: dict[str, str]) -> str:
    def side(polynomial: Any) -> str:
        text = str(polynomial).replace("^", "**")
        return re.sub(r"x\d+", lambda m: names[m[0]], text)

    return side(f.top) if f.bottom.is_one() else f"({side(f.top)})/({side(f.bottom)})"


def call_of(
    kind: str,
    argument: Function,
    exponent: Function,
    written: Callable[[Function], str] = text_of,
) -> str:
    """Return the text of a call."""
    inside, n = written(argument), root_of(exponent)
    if kind == "power":
        return f"({inside})**(1/{n})" if n else f"({inside})**({text_of(exponent)})"
    return f"log(Abs({inside}))" if kind == "log" else f"{kind}({inside})"


def _written(text: str, field: FunctionField, p: Parameterization) -> str:
    """Return a call in the generators of a field."""
    tree = parse_expression(text.replace("Abs", ""))
    return repr(field.embed(Tower.over(field, p.positive).element(tree)))


def entries_for(
    space: Space, text: str, image: str, fresh: Callable[[str], str]
) -> Iterator[Entry]:
    """Yield the definition of a call as what it is, after those of the logarithms it needs.

    exp, log and powers come with their parts: calls of which the image, or the argument of a
    logarithm, is a product of powers.
    """
    kind, argument, exponent = space.call(text)
    if kind == "power" and root_of(exponent) is not None:
        yield {"of": text, "is": image}
        return
    if kind not in ("exp", "log", "power"):
        raise Rejected(f"{kind} is no product of others")
    needed: dict[str, None] = {}
    parts = []
    for f, n in _factors(argument if kind == "log" else space.read(image)):
        part, base = _part(space, f), _base(space, f)
        if part is None:
            part = f"log(Abs({text_of(f)}))"
            needed[part] = None
        elif base is not None:
            needed[f"log(Abs({text_of(base)}))"] = None
        parts.append([part, str(n)])
    if kind == "power":
        needed[f"log(Abs({text_of(argument)}))"] = None
    for call in needed:
        yield from logarithm(space, call, fresh)
    yield {"of": text, "is": image, "from": parts}


def logarithm(
    space: Space, call: str, fresh: Callable[[str], str], product: Function | None = None
) -> Iterator[Entry]:
    """Yield a logarithm that is not known yet: of a product, or as a generator.

    Args:
        product: what its argument is on the leaf, if that is not how it is written.
    """
    _, argument, _ = space.call(call)
    try:
        space.find("log", argument)
        return
    except Rejected:
        pass
    found = _factors(argument if product is None else product)
    if len(found) == 1 and abs(found[0][1]) == 1 and _part(space, found[0][0]) is None:
        yield {"name": fresh("f"), "of": call}
        return
    parts, values = [], []
    for f, n in found:
        part, base = _part(space, f), _base(space, f)
        inner = f if part is None else base
        if inner is not None:
            yield from logarithm(space, f"log(Abs({text_of(inner)}))", fresh)
        text = part or f"log(Abs({text_of(f)}))"
        kind, u, e = space.call(text)
        value = space.find("log", u) if kind == "log" else u if kind == "exp" else None
        if value is None:
            value = e * space.find("log", u)
        parts.append([text, str(n)])
        values.append(f"({n})*({text_of(value)})")
    yield {"of": call, "is": " + ".join(values), "from": parts}


def angles(space: Space, text: str) -> list[list[str]]:
    """Return a cosine whose argument goes a whole number of times into that of another."""
    _, argument, _ = space.call(text)
    for kind, u, e, _ in space.known:
        n = constant(argument / u) if kind == "cos" and not u.top.is_zero() else None
        if n is not None and n.q == 1:
            return [[call_of(kind, u, e), str(n)]]
    raise Rejected("no angle is a part of this one")


def _factors(f: Function) -> list[tuple[Function, int]]:
    """Return irreducible polynomials, and a number, with their powers in a function."""
    found: list[tuple[Function, int]] = []
    for polynomial, sign in ((f.top, 1), (f.bottom, -1)):
        content, factors = factorize(polynomial)
        if abs(int(content)) != 1:
            found.append((f.space.number(abs(int(content))), sign))
        found += [(Function(f.space, p, f.space.one), sign * int(n)) for p, n in factors]
    return found


def _part(space: Space, f: Function) -> str | None:
    """Return the call that a factor is the generator of, if it is an exponential or a power."""
    for kind, u, e, image in space.generators:
        if kind in ("exp", "power") and (image.top == f.top or image.top == -f.top):
            return call_of(kind, u, e)
    return None


def _base(space: Space, f: Function) -> Function | None:
    """Return the base of the power that a factor is the generator of."""
    for kind, u, _, image in space.generators:
        if kind == "power" and (image.top == f.top or image.top == -f.top):
            return u
    return None
