"""A limit at fixed coordinates, by expansions of grad Q on each of its sides."""

from __future__ import annotations

import re

from derive.certificate.checking.cost import are_all, keyed
from derive.certificate.checking.domain import ends
from derive.certificate.checking.function import Function, not_zero
from derive.certificate.checking.near import Near, Roots
from derive.certificate.checking.printed import LARGEST
from derive.certificate.checking.setting import Setting
from derive.certificate.checking.tending import Tending
from derive.certificate.checking.text import JSON, Rejected, rational, require

POINT = re.compile(r"(\w+) -> (?:(0)\+|(infinity)|(-?\d+(?:/\d+)?)([+-]))")


class Expansion:
    """A limit at fixed coordinates, by expansions on each of its sides."""

    def __init__(self, whole: Setting, said: JSON, proof: JSON) -> None:
        keyed(proof, "rate sides error")
        self.whole, self.said, self.proof = whole, said, proof
        blocks = whole.given["blocks"]
        self.single = len(blocks) == len(whole.given["beta"])
        mixed = not self.single and len(blocks) > 1
        require(not mixed and whole.pieces, "coordinates of several kinds are not checked")
        proofs = whole.record["derivation"]["certificate"]["pieces"]
        require(None not in proofs, "Q is not certified, of which this is a limit")

    def accepted(self) -> list[str]:
        """Accept the limit; return where it holds, and the order of its error."""
        said, sides, lines = self.said, self.proof["sides"], list[str]()
        above = said["reached_above_0_only"]
        self.sides([side["where"] for side in sides], above)
        sharp, known = False, self.proof["error"] and said["relative_error"] is not None
        for side in sides:
            keyed(side, "where at definitions")
            found, slopes, space = self.on_side(side)
            if known:
                error = space.read(said["relative_error"])
                space.positive(error, "the error")
                rest = [(y - g) / error for y, g in zip(slopes, found.G, strict=True)]
                sharp = sharp | any(not_zero(space.limit(f).at(space.start)) for f in rest)
            lines += self.whole.holds(side["where"], space)
        order = "of order" if said["error_is_sharp"] else "at most of order"
        require(
            sharp or not (known and said["error_is_sharp"]), "the error is not shown to be sharp"
        )
        for name in above:
            if not self.is_end(name, sides[0]):
                self.whole.open.append(f"that {name} > 0 alone is reached")
        lines += [f"relative error: {order} {said['relative_error']}"] * known
        whole = f"the order of the error as {said['limit']}"
        self.whole.open += [] if known or said["relative_error"] is None else [whole]
        return list(dict.fromkeys(lines))

    def sides(self, where: list[list[str]], above: list[str]) -> None:
        """Require that sides are all that are said: either sign of what Q is a sum over."""
        x = self.said["coordinates"]
        both = [n for n in x if n not in above] if self.single and self.said["Q"] else []
        first = [f"{n} > 0" for n in x if n not in both] if self.single else []
        require({*above} <= {*x} and (self.single or not above), "there is no such coordinate")
        are_all(first, where)
        forms = {text.rsplit(" ", 2)[0] for side in where for text in side[len(first) :]}
        require(forms == {*both}, "sides are those of other functions")

    def is_end(self, name: str, side: JSON) -> bool:
        """Tell whether a wall of Q keeps a coordinate above 0 near the limit."""
        whole, said = self.whole, self.said
        beta = whole.given["beta"][said["coordinates"].index(name)]
        (piece,) = (p for p in whole.pieces if p["beta"] == [beta])
        space = whole.near(said, {**side, "at": {n: f"-{x}" for n, x in side["at"].items()}})
        space.names[whole.record["variable"]] = image_of(space, said["limit"], self.proof["rate"])
        introduce(space, {**whole.places(said), **piece["constants"]})
        certified = f"the domain of Q of {beta}" not in whole.state.open
        walls = [wall["form"] for wall in piece["domain"]["walls"] if wall["sign"] == "> 0"]
        try:
            beyond = (space.lead(space.read(form))[1].at(space.start) < 0 for form in walls)
            return certified and any(beyond)
        except Rejected:
            return False

    def on_side(self, side: JSON) -> tuple[Tending, list[Function], Near]:
        """Require the limit of grad Q on a side; return it with (grad Q)/N."""
        whole, said = self.whole, self.said
        space = whole.near(said, side)
        space.names[whole.record["variable"]] = image_of(space, said["limit"], self.proof["rate"])
        y = self.gradient(space, side["definitions"])
        sign = -1 if any(text.endswith(" < 0") for text in side["where"]) else 1
        found = Tending(said, space, sign)
        slopes = [f / found.N for f in y]
        for f, g in zip(slopes, found.G, strict=True):
            require((space.limit(f) - g).is_zero(), "the limit is another")
        K = [[space.read(text) for text in row] for row in whole.kernel or ()]
        found.is_named(K, self.single)
        return found, slopes, space

    def gradient(self, space: Near, definitions: JSON) -> list[Function]:
        """Return grad Q as it is printed, by the names that pieces have and by expansions."""
        pending, roots = names_of(self.whole.pieces)
        pending |= self.whole.places(self.said)
        space.reserved |= {*pending, *roots}
        for piece in (p for p in self.whole.pieces if p["curve"] is not None):
            require(self.whole.rises(piece), "beta is not shown to rise along the curve")
        for entry in definitions:
            introduce(space, pending)
            if "expand" in entry:
                space.expand(entry, roots)
            else:
                require("of" in entry, "only calls are defined near a limit")
                space.define(entry)
        introduce(space, pending)
        slopes = {
            b: y for p in self.whole.pieces for b, y in zip(p["beta"], p["gradient"], strict=True)
        }
        y = [space.read(slopes[b]) for b in self.whole.given["beta"]]
        if (basis := self.said["basis"]) is None:
            return y
        d = range(len(y))
        turned = ([space.read(basis[i][j]) * y[i] for i in d] for j in d)
        return [sum(column, space.number(0)) for column in turned]


def image_of(space: Near, limit: str, rate: JSON) -> Function:
    """Return the symbol that tends to a limit in e, or in l where there is a rate."""
    found, one = POINT.fullmatch(limit), space.number(1)
    require(found, "the limit is not read")
    _, _, infinity, number, side = found.groups()  # type: ignore[union-attr]
    if number is not None:
        return space.number(rational(number)) + (space.e if side == "+" else one - one - space.e)
    if rate is None:
        return one / space.e if infinity else space.e
    c = space.read(rate)
    space.positive(c, "a rate")
    return one / (c * space.slow) if infinity else c * space.slow


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
