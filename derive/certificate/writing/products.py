"""Definitions of exponentials, logarithms and powers as products of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from derive.certificate.checking.function import Function, Known, constant, root_of
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected
from derive.certificate.writing.call_text import call_of, log_of, text_of
from derive.exact.field.polynomial import factorize


def entries_for(space: Space, text: str, image: str, fresh: Callable[[], str]) -> Iterator[JSON]:
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
        g = _generator(space, f)
        part = log_of(f) if g is None else call_of(*g[:3])
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
    if len(found) == 1 and abs(found[0][1]) == 1 and _generator(space, found[0][0]) is None:
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
            value = g.argument
        parts.append([log_of(f) if g is None else call_of(*g[:3]), str(n)])
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


def _generator(space: Space, f: Function) -> Known | None:
    """Return the exponential or power that a factor is, up to its sign."""
    calls = (g for g in space.generators if g.kind in ("exp", "power"))
    return next((g for g in calls if f.top in (g.image.top, -g.image.top)), None)
