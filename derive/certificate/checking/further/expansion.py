"""A limit at fixed coordinates, by expansions of grad Q on each of its sides.

What is said of it is Q or its gradient, N, its shape, regime and degree.
"""

from __future__ import annotations

import re
from itertools import combinations, product

from derive.certificate.checking.domain import ends
from derive.certificate.checking.function import Function, not_zero
from derive.certificate.checking.further.near import LOG, SMALL, Near, Roots
from derive.certificate.checking.further.setting import Setting
from derive.certificate.checking.potential import LARGEST
from derive.certificate.checking.shape import are_all
from derive.certificate.checking.text import JSON, Rejected, names_in, rational, require

POINT = re.compile(r"(\w+) -> (?:(0)\+|(infinity)|(-?\d+(?:/\d+)?)([+-]))")


def expanded(whole: Setting, said: JSON, proof: JSON) -> list[str]:
    """Accept a limit at fixed coordinates; return where it holds, and the order of its error."""
    blocks, betas = whole.given["blocks"], whole.given["beta"]
    single, above, lines = len(blocks) == len(betas), said["reached_above_0_only"], list[str]()
    require((single or len(blocks) == 1) and whole.pieces, "coordinates of several kinds")
    proofs = whole.record["derivation"]["certificate"]["pieces"]
    require(None not in proofs, "Q is not certified, of which this is a limit")
    _are_sides(said, [side["where"] for side in proof["sides"]], single)
    sharp, known = False, proof["error"] and said["relative_error"] is not None
    for side in proof["sides"]:
        found, slopes, space = _on_side(whole, said, proof["rate"], side)
        found.is_named([[*map(space.read, row)] for row in whole.kernel or ()], single)
        if known:
            sharp |= _is_sharp(space, said["relative_error"], slopes, found.G)
        lines += whole.holds(side["where"], space)
    exact = sharp or not (known and said["error_is_sharp"])
    require(exact, "the error is not shown to be sharp")
    ends = (name for name in above if not _is_end(whole, said, proof, name))
    whole.open += [f"that {name} > 0 alone is reached" for name in ends]
    order = "of order" if said["error_is_sharp"] else "at most of order"
    lines += [f"relative error: {order} {said['relative_error']}"] * known
    late = not known and said["relative_error"] is not None
    whole.open += [f"the order of the error as {said['limit']}"] * late
    return list(dict.fromkeys(lines))


def _is_sharp(space: Near, text: str, slopes: list[Function], G: list[Function]) -> bool:
    """Require that the error is of an order; tell whether it is not smaller."""
    error = space.read(text)
    space.positive(error, "the error")
    rest = [space.limit((y - g) / error) for y, g in zip(slopes, G, strict=True)]
    return any(not_zero(f.at(space.start)) for f in rest)


def _are_sides(said: JSON, where: list[list[str]], single: bool) -> None:
    """Require that sides are all that are said: either sign of what Q is a sum over."""
    x, above = said["coordinates"], said["reached_above_0_only"]
    both = [n for n in x if n not in one_sided(said)] if single else []
    first = [f"{n} > 0" for n in x if n not in both] if single else []
    require({*above} <= {*x} and (single or not above), "there is no such coordinate")
    are_all(first, where)
    forms = {text.rsplit(" ", 2)[0] for side in where for text in side[len(first) :]}
    require(forms == {*both}, "sides are those of other functions")
    there = {n for n, g in beyond(said).items() if g is not None} - {*both}
    require(not there or said["Q"] is None, "a gradient is said where nothing is reached")


def beyond(said: JSON) -> dict[str, JSON]:
    """Return the gradient where coordinates are below 0, None where it has no other formula."""
    x, given = said["coordinates"], said["gradient_below_0"]
    return dict.fromkeys(x) if given is None else dict(zip(x, given, strict=True))


def one_sided(said: JSON) -> list[str]:
    """Return the coordinates above 0 alone that a limit is proved of."""
    return list(said["reached_above_0_only"] if said["Q"] is not None else said["coordinates"])


def near_limit(whole: Setting, said: JSON, rate: JSON, side: JSON) -> Near:
    """Return coordinates and constants near the limit, with the symbol that tends to it."""
    space = whole.near(said, side)
    space.names[whole.record["variable"]] = image_of(space, said["limit"], rate)
    return space


def _is_end(whole: Setting, said: JSON, proof: JSON, name: str) -> bool:
    """Tell whether a wall of Q keeps a coordinate above 0 near the limit."""
    beta, side = whole.given["beta"][said["coordinates"].index(name)], proof["sides"][0]
    (piece,) = (p for p in whole.pieces if p["beta"] == [beta])
    opposite = {**side, "at": {n: f"-{x}" for n, x in side["at"].items()}}
    space = near_limit(whole, said, proof["rate"], opposite)
    introduce(space, {**whole.places(said), **piece["constants"]})
    walls = [wall["form"] for wall in piece["domain"]["walls"] if wall["sign"] == "> 0"]
    try:
        beyond = (space.lead(space.read(form))[1].at(space.start) < 0 for form in walls)
        return f"the domain of Q of {beta}" not in whole.state.open and any(beyond)
    except Rejected:
        return False


def _on_side(
    whole: Setting, said: JSON, rate: JSON, side: JSON
) -> tuple[Tending, list[Function], Near]:
    """Require the limit of grad Q on a side; return it with (grad Q)/N."""
    space = near_limit(whole, said, rate, side)
    y = _gradient(whole, said, space, side["definitions"])
    found = Tending(said, space, side["where"])
    slopes = [f / found.N for f in y]
    same = all(space.limit(f).same(g) for f, g in zip(slopes, found.G, strict=True))
    require(same, "the limit is another")
    return found, slopes, space


def _gradient(whole: Setting, said: JSON, space: Near, definitions: JSON) -> list[Function]:
    """Return grad Q as it is printed, by the names that pieces have and by expansions."""
    pending, roots = names_of(whole.pieces)
    pending |= whole.places(said)
    space.reserved |= {*pending, *roots}
    rising = all(whole.rises(p) for p in whole.pieces if p["curve"] is not None)
    require(rising, "beta is not shown to rise along the curve")
    for entry in definitions:
        introduce(space, pending)
        if "expand" in entry:
            space.expand(entry, roots)
        else:
            require("of" in entry, "only calls are defined near a limit")
            space.define(entry)
    introduce(space, pending)
    slopes = {b: y for p in whole.pieces for b, y in zip(p["beta"], p["gradient"], strict=True)}
    y = [space.read(slopes[b]) for b in whole.given["beta"]]
    if (basis := said["basis"]) is None:
        return y
    columns = zip(*basis, strict=True)
    return [space.dot(map(space.read, column), y) for column in columns]


def image_of(space: Near, limit: str, rate: JSON) -> Function:
    """Return the symbol that tends to a limit in e, or in l where there is a rate."""
    found = POINT.fullmatch(limit)
    require(found, "the limit is not read")
    _, _, infinity, number, side = found.groups()  # type: ignore[union-attr]
    if number is not None:
        return (space.e if side == "+" else -space.e) + rational(number)
    small = space.e
    if rate is not None:
        c = space.read(rate)
        space.positive(c, "a rate")
        small = c * space.slow
    return 1 / small if infinity else small


def names_of(pieces: JSON) -> tuple[dict[str, str], Roots]:
    """Return what the names in pieces stand for, and what those without formula are roots of."""
    found, roots = dict[str, str](), Roots()
    for piece in pieces:
        found |= piece["constants"] | piece["abbreviations"]
        if (curve := piece["curve"]) is not None:
            (beta,), z = piece["beta"], curve["parameter"]
            roots[z] = f"({curve['beta']}) - ({beta})", ends(piece)
        for root in piece["roots"]:
            if root["explicit"] is None:
                require(root["branch"] in LARGEST, "a root is not the largest")
                roots[root["symbol"]] = root["polynomial"], None
            else:
                found[root["symbol"]] = root["explicit"]
    return found, roots


def introduce(space: Near, pending: dict[str, str]) -> None:
    """Name what can be read by now."""
    for name, text in list(pending.items()):
        if name not in space.names:
            try:
                space.names[name] = space.read(text)
            except Rejected:
                continue
            del pending[name]


class Tending:
    """A limit that is printed: its coordinates, N, and G where these have signs."""

    def __init__(self, said: JSON, space: Near, where: list[str]) -> None:
        self.said, self.space, d = said, space, len(said["coordinates"])
        variable, constants = said["limit"].partition(" ")[0], {*space.given[d:]} - {SMALL, LOG}
        forms = [f for f in (*said["gradient"], *beyond(said).values(), said["Q"]) if f is not None]
        plain = names_in(forms) <= {*said["coordinates"], *constants} - {variable}
        sizes = [text for text in (said["unit"], said["relative_error"]) if text is not None]
        plain = plain and names_in(sizes) <= constants
        require(plain, "a limit has a name that it should not have")
        require((said["Q"] is None) == (said["degree"] is None), "a limit without Q has no degree")
        self.x, self.N = space.symbols[:d], space.read(said["unit"])
        slopes = zip(beyond(said).items(), said["gradient"], strict=True)
        texts = [down if f"{x} < 0" in where else up for (x, down), up in slopes]
        found = [None if text is None else space.read(text) for text in texts]
        self.G = [f for f in found if f is not None]
        if said["Q"] is not None:
            self.G = [space.read(said["Q"]).derivative(k) for k in range(d)]
            same = all(f is None or f.same(g) for f, g in zip(found, self.G, strict=True))
            require(same, "G is another than grad Q")
        require(len(self.G) == len(found) == d, "the gradient of the limit is not given")
        space.positive(self.N, "N")

    def is_named(self, K: list[list[Function]], single: bool) -> None:
        """Require the shape, the regime and the degree that are said."""
        said, slopes = self.said, [[g.derivative(k) for k, _ in enumerate(self.x)] for g in self.G]
        shape = self.shape([s for row in slopes for s in row], single)
        regime = {"l1": "rich", "l2": "anti-NTK"}.get(shape, "intermediate")
        if shape == "linear":
            round_ = self.is_radial() and self.is_homogeneous("2")
            shape = "l2" if round_ and said["origin"] is None else "quadratic"
            regime = "kernel" if self.is_kernel(K, slopes) else "intermediate"
        shape = "other" if said["Q"] is None else shape
        same = [said["shape"], said["regime"]] == [shape, regime]
        require(same, f"the limit is {shape} and {regime}, not {said['shape']}, {said['regime']}")
        degree = said["degree"]
        same = degree is None or self.is_homogeneous(degree)
        require(same or shape == "quadratic", "Q is not homogeneous of this degree")

    def shape(self, slopes: list[Function], single: bool) -> str:
        """Return what the gradient shows: linear, an l1 or l2 norm, or a power."""
        among = range(len(self.x))
        outward = all(
            g.at(self.space.start) * x > 0 for g, x in zip(self.G, self.space.start, strict=False)
        )
        if all(s.is_zero() for s in slopes):
            return "l1" if single and outward else "power"
        if all(s.derivative(k).is_zero() for s in slopes for k in among):
            return "linear"
        return "l2" if not single and outward and self.is_radial() else "power"

    def is_radial(self) -> bool:
        """Tell whether G is along x."""
        pairs = combinations(zip(self.x, self.G, strict=True), 2)
        return all((x * h).same(y * g) for (x, g), (y, h) in pairs)

    def is_homogeneous(self, degree: str) -> bool:
        """Tell whether Q is homogeneous."""
        return self.space.is_homogeneous(self.G, self.space.read(degree) - 1, range(len(self.x)))

    def is_kernel(self, K: list[list[Function]], slopes: list[list[Function]]) -> bool:
        """Tell whether K(w_0) G' tends to a multiple of the identity, up to scale."""
        require(K, "K at the start is not known")
        table, places = self.space.product(K, slopes), product(range(len(K)), repeat=2)
        limits = ((self.space.limit(table[i][j] / table[0][0]), i == j) for i, j in places)
        return all(limit.same(int(one)) for limit, one in limits)
