"""Functions of a certificate as texts, and the calls in texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from flint import fmpz_mpoly

from derive.certificate.checking.function import Function, root_of
from derive.certificate.checking.text import tree_of
from derive.exact.linear.families import LogFunction

VIA = {"sinh": "exp", "cosh": "exp", "tanh": "exp"}


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
    given = zip(space.given, space.symbols, strict=False)
    names = {str(symbol.top): name for name, symbol in given}
    for kind, u, e, image in space.generators:
        inside, n = _in_names(u, names), root_of(e)
        power = f"(({inside})**(1/{n}))" if n else f"(({inside})**({_in_names(e, names)}))"
        log = f"log(Abs({inside}))" if kind == "log" else f"{kind}({inside})"
        names[str(image.top)] = power if kind == "power" else log
    return _in_names(f, names)


def _in_names(f: Function, names: dict[str, str]) -> str:
    def side(polynomial: fmpz_mpoly) -> str:
        text = str(polynomial).replace("^", "**")
        return re.sub(r"x\d+", lambda m: names[m[0]], text)

    return side(f.top) if f.bottom.is_one() else f"({side(f.top)})/({side(f.bottom)})"


def call_of(
    kind: str, argument: Function, exponent: Function, written: Callable[[Function], str] = text_of
) -> str:
    """Return the text of a call."""
    inside, n = written(argument), root_of(exponent)
    if kind == "power":
        return f"({inside})**(1/{n})" if n else f"({inside})**({text_of(exponent)})"
    return f"log(Abs({inside}))" if kind == "log" else f"{kind}({inside})"


def log_of(f: Function) -> str:
    """Return the logarithm of the absolute value of a function as text."""
    return f"log(Abs({text_of(f)}))"


def with_logs(f: LogFunction) -> str:
    """Return a function with logarithms as text."""
    return " + ".join([f"({f.rational!r})", *(f"({c!r})*log(Abs({a!r}))" for c, a in f.logs)])
