"""Definitions of exponentials, logarithms and powers as products of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from derive.certificate.checking.function import Function, constant, root_of
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected
from derive.certificate.writing.text import call_of, text_of
from derive.exact.field.polynomial import factorize


def entries_for(space: Space, text: str, image: str, fresh: Callable[[str], str]) -> Iterator[JSON]:
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
) -> Iterator[JSON]:
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
