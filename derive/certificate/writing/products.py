"""Functions of a certificate as texts, the calls in them, and calls as products of others."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import cast

import sympy
from flint import fmpz_mat, fmpz_mpoly

from derive.certificate.checking import reading
from derive.certificate.checking.function import Function, constant, leading, remainder, root_of
from derive.certificate.checking.reading import Call, call_of
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected, called, tree_of
from derive.exact.field.polynomial import factorize
from derive.exact.linear.families import LogFunction

VIA = {
    **dict.fromkeys(("sinh", "cosh", "tanh", "sigmoid"), ("exp({})",)),
    "softplus": ("exp({})", "log(exp({}) + 1)"),
    **dict.fromkeys(("tan", "sin"), ("cos({})", "sin({})")),
    **dict.fromkeys(("Abs", "abs"), ()),
    "asinh": ("sqrt(({})**2 + 1)", "asinh({})"),
    "erf": ("atan(1)", "sqrt(4*atan(1))", "exp(-({})**2)", "erf({})"),
    "erfi": ("atan(1)", "sqrt(4*atan(1))", "exp(({})**2)", "erfi({})"),
    "Ei": ("exp({})", "Ei({})"),
    "Li2": ("log(1 - ({}))", "Li2({})"),
}
"""The calls by which a call is read, where it is not read by itself."""
KERNEL = re.compile("K_*")
"""K of one output in an integrand."""


def calls_in(texts: Iterable[str]) -> Iterator[str]:
    """Yield the calls and the powers with other exponents than integers, inner ones first."""
    for text in texts:
        yield from dict.fromkeys(_calls(tree_of(text)))


def _calls(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Call) and called(node)[0] == "Integral":
        yield from _in_integral(node)
        return
    if isinstance(node, ast.Name):
        yield from ["atan(1)"] * (node.id == "pi")
        return
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.expr):
            yield from _calls(inner)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        name, inside = node.func.id, ast.unparse(node.args[0])
        read = () if KERNEL.fullmatch(name) else VIA.get(name, (f"{name}({{}})",))
        yield from (call.format(inside) for call in read)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        yield from _in_power(node)


def _in_power(node: ast.BinOp) -> Iterator[str]:
    """Yield a power, or the root that it is one of, where its exponent is no whole number."""
    number = re.fullmatch(r"\(?-?\d+(?: ?/ ?(\d+))?\)?", ast.unparse(node.right))
    if number is None:
        yield ast.unparse(node)
    elif int(number[1] or 1) > 1:
        yield f"({ast.unparse(node.left)})**(1/{number[1]})"


def _in_integral(node: ast.Call) -> Iterator[str]:
    """Yield the calls in the ends of an integral, and in its integrand at the upper end."""
    if len(node.args) == 2:  # without ends
        yield from _calls(node.args[0])
        yield ast.unparse(node)
        return
    if len(node.args) != 4:
        raise Rejected("an integral has two ends here, or none")
    integrand, x, low, high = node.args
    yield from (call for end in (low, high) for call in _calls(end))
    f, name, upper = (ast.unparse(part) for part in (integrand, x, high))
    yield from _calls(tree_of(re.sub(rf"\b{name}\b", f"({upper})", f)))
    yield ast.unparse(node)


def text_of(f: Function) -> str:
    """Return a function of a space in its names."""
    space = cast(Space, f.ring)
    names: dict[str, str] = {}
    symbols = {str(s.top) for s in space.symbols}
    for name, image in space.names.items():
        if image.bottom.is_one() and str(image.top) in symbols:
            names.setdefault(str(image.top), name)

    return reading.spelled(names, f)


def log_of(f: Function) -> str:
    """Return the logarithm of the absolute value of a function as text."""
    return f"log(Abs({text_of(f)}))"


def with_logs(f: LogFunction) -> str:
    """Return a function with logarithms as text."""
    return " + ".join([f"({f.rational!r})", *(f"({c!r})*log(Abs({a!r}))" for c, a in f.logs)])


def entries_for(space: Space, text: str, image: str, fresh: Callable[[], str]) -> Iterator[JSON]:
    """Yield the definition of a call as what it is, with parts, after the logarithms it needs."""
    kind, argument, exponent, _ = space.call(text)
    if kind == "power" and root_of(exponent) is not None:
        yield {"of": text, "is": image}
        return
    if kind not in ("exp", "log", "power"):
        raise Rejected(f"{kind} is no product of others")
    needed: dict[str, None] = {}
    parts = []
    for f, n in prime_factors(argument if kind == "log" else space.read(image)):
        g = _generator(space, f)
        part = log_of(f) if g is None else call_of(g, text_of)
        if g is None or g.kind == "power":
            needed[part if g is None else log_of(g.argument)] = None
        parts.append([part, str(n)])
    if kind == "power":
        needed[log_of(argument)] = None
    for call in needed:
        yield from logarithm(space, call, fresh)
    yield {"of": text, "is": image, "from": parts}


def logarithm(
    space: Space, call: str, fresh: Callable[[], str], product: Function | None = None
) -> Iterator[JSON]:
    """Yield a logarithm, unless known: a generator, or of a *product* that its argument is."""
    argument = space.call(call).argument
    try:
        space.find("log", argument)
        return
    except Rejected:
        pass
    found = prime_factors(argument if product is None else product)
    if len(found) == 1 and found[0][1] == 1 and _generator(space, found[0][0]) is None:
        yield {"name": fresh(), "of": call}
        return
    parts, values = [], []
    for f, n in found:
        g = _generator(space, f)
        if g is None or g.kind == "power":
            inner = f if g is None else g.argument
            yield from logarithm(space, log_of(inner), fresh)
            value = space.find("log", inner) if g is None else g.exponent * space.find("log", inner)
        else:
            value = g.argument if g.kind == "exp" else g.image
        parts.append([log_of(f) if g is None else call_of(g, text_of), str(n)])
        values.append(f"({n})*({text_of(value)})")
    yield {"of": call, "is": " + ".join(values), "from": parts}


def product_of_exponentials(space: Space, text: str) -> JSON:
    """Return the definition of exp(u) by powers of exponentials, of u or of its terms, or None."""
    kind, u, zero, _ = space.call(text)
    known = [call.argument for call in space.known if call.kind == "exp" and call.argument.top]
    for terms in ([u], terms_of(u)) if kind == "exp" and u.top else ():
        ratios = ([(v, constant(_without_roots(space, term / v))) for v in known] for term in terms)
        whole = ([(v, n) for v, n in of if n is not None and n.q == 1] for of in ratios)
        pairs = [next(iter(of), None) for of in whole]
        parts = [
            [call_of(Call(kind, pair[0], zero), text_of), str(pair[1])]
            for pair in pairs
            if pair is not None
        ]
        if len(parts) == len(terms):
            product = "*".join(f"({call})**({n})" for call, n in parts)
            return {"of": text, "is": product, "from": parts}
    return None


def by_exponentials(exponents: Sequence[Function]) -> tuple[list[Function], list[list[int]]]:
    """Return a basis of all integer sums of functions, and each as such a sum of the basis."""
    below = functools.reduce(lambda a, b: a * b / a.gcd(b), (u.bottom for u in exponents))
    rows = [(u.top * (below / u.bottom)).to_dict() for u in exponents]
    monomials = sorted({m for row in rows for m in row}, reverse=True)
    table = fmpz_mat([[row.get(m, 0) for m in monomials] for row in rows])
    echelon = [row for row in table.hnf().tolist() if any(row)]
    sums = list[list[int]]()
    for rest in table.tolist():
        sums.append([])
        for row in echelon:
            at = next(k for k, x in enumerate(row) if x)
            n = int(rest[at] / row[at])
            sums[-1].append(n)
            rest = [x - n * y for x, y in zip(rest, row, strict=True)]
    ring, context = exponents[0].ring, below.context()
    tops = (context.from_dict(dict(zip(monomials, row, strict=True))) for row in echelon)
    return [ring.of(top) / ring.of(below) for top in tops], sums


def _without_roots(space: Space, f: Function) -> Function:
    """Return a quotient with the powers of roots lowered."""
    top, bottom = (reduced(space, p) for p in (f.top, f.bottom))
    return top / bottom


def terms_of(f: Function) -> list[Function]:
    """Return the terms of a sum."""
    ring, below = f.ring, f.ring.of(f.bottom)
    return [ring.of(f.top.context().from_dict({m: c})) / below for m, c in f.top.terms()]


def angles(space: Space, text: str) -> list[list[str]]:
    """Return an angle that goes into that of a cosine n times, or two by sum and n = 1."""
    argument = space.call(text).argument
    if argument.is_zero():
        return []
    known = [
        (call_of(call, text_of), call.argument if call.kind == "cos" else call.image)
        for call in space.known
        if call.kind in ("cos", "atan")
    ]
    for name, u in known:
        n = None if u.top.is_zero() else constant(argument / u)
        if n is not None and n.q == 1:
            return [[name, str(n)]]
    for ((one, u), (other, v)), sign in product(combinations(known, 2), (1, -1)):
        if (u + v * sign - argument).is_zero():
            return [[one, "1"], [other, str(sign)]]
    raise Rejected("no angles add up to this one")


def prime_factors(f: Function) -> list[tuple[Function, int]]:
    """Return irreducible polynomials, and primes, with their powers in a function."""
    found = list[tuple[Function, int]]()
    for polynomial, sign in ((f.top, 1), (f.bottom, -1)):
        content, factors = factorize(polynomial)
        primes = sympy.factorint(abs(int(content))).items()
        found += [(f.ring.number(p), sign * n) for p, n in primes]
        found += [(f.ring.of(p), sign * int(n)) for p, n in factors]
    return found


def _generator(space: Space, f: Function) -> Call | None:
    """Return the exponential or power that a factor is, up to its sign, or the asinh of which."""
    for g in space.generators:
        if g.kind in ("exp", "power") and f.top in (g.image.top, -g.image.top):
            return g
        if g.kind == "asinh" and f.same(g.argument + space.hypotenuse(g.argument)):
            return g
    return None


def reduced(space: Space, polynomial: fmpz_mpoly) -> Function:
    """Return a polynomial as its remainder by the relations over powers of their coefficients."""
    bottom = space.number(1)
    for relation, k in 2 * space.relations[::-1]:
        polynomial, n = remainder(polynomial, relation, k)
        bottom = bottom * space.of(leading(relation, k)) ** n
    return space.of(polynomial) / bottom
