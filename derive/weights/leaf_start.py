"""What functions of a coordinate t of the leaf of one output are at the start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction, names_in
from derive.exact.towers.images import Images
from derive.exact.towers.tower import Tower
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.model.signs import start_sign
from derive.weights.places import Law, Product

POSITIVE = ("exp", "power", "root")


class Place(NamedTuple):
    """A function t of the weights, and the laws of one output that may give all of them.

    Attributes:
        product: the weights that t is the product or the sum of, where it is one.
    """

    p: Parameterization
    place: RationalFunction
    laws: Sequence[Law]
    notation: Notation
    product: Product | None

    @property
    def t(self) -> str:
        """The name of t."""
        return str(self.notation.fresh("t"))


class LeafStart(Images):
    """What functions of t, of the values of laws and of the start are at the start."""

    def __init__(self, given: Place, units: dict[str, int]) -> None:
        self.given, (p, place, laws, notation, _) = given, given
        tower = Tower.over(p.start_field, notation.positive, units)
        weights = zip(p.field.names, map(p.at_start, p.field.gens), strict=True)
        begin = Images(tower, dict(weights))
        values = {symbol.name: begin.value(law) for symbol, law in laws}
        known = {name: tower.field.named(name) for name in p.start_field.names}
        super().__init__(tower, {**known, given.t: begin.of(place), **values})

    def sign(self, f: RationalFunction) -> int:
        """Return the sign of a function at the start; InputError for one that is assumed.

        Roots and exponentials are positive.
        """
        for g in f.field.generators:
            if g.kind in POSITIVE and g.name in f.variables():
                k = f.field.positions[g.name]
                above, below = ({int(e[k]) for e in side.monoms()} for side in f.parts)
                if len(above) == len(below) == 1:  # a power times what is free of it
                    f = f / f.field.gens[k] ** (max(above) - max(below))
        sign, assumed = start_sign(self.begin(f), self.given.notation)
        if assumed:
            raise InputError(f"the sign of {f!r} at the start is not known")
        return sign

    def begin(self, f: RationalFunction) -> RationalFunction:
        """Return a function at the start; InputError for a pole, or what is not known there."""
        self.grow(f.field, names_in(f))
        if not {*f.variables()} <= self.images.keys():
            raise InputError(f"{f!r} is not known at the start")
        try:
            return self.of(f)
        except ZeroDivisionError:
            raise InputError(f"{f!r} has a pole at the start") from None
