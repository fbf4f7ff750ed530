"""Images of the names of one field in another, which grows by what they need."""

from __future__ import annotations

from collections.abc import Collection

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.towers.tower import Tower


class Images:
    """Images of names in a field that grows."""

    def __init__(self, tower: Tower, images: dict[str, RationalFunction]) -> None:
        self.tower, self.images = tower, images

    def of(self, f: RationalFunction) -> RationalFunction:
        """Return a function of names whose images are known."""
        field = self.tower.field
        known = [field.embed(self.images.get(name, field.zero)) for name in f.field.names]
        return f.compose(known, field)

    def grow(self, field: FunctionField, needed: Collection[str]) -> None:
        """Add the generators among the *needed* names whose arguments are known."""
        for g in (g for g in field.generators if g.name in needed and g.name not in self.images):
            if g.kind == "integral":  # from the start
                self.images[g.name] = self.tower.field.zero
                continue
            inside = [x for x in (g.argument, g.exponent) if x is not None]
            if all({*x.variables()} <= self.images.keys() for x in inside):
                zero, here = self.tower.field.zero, self.tower.field
                known = {n: here.embed(self.images.get(n, zero)) for n in field.names}
                self.images[g.name] = self.tower.generator_at(g, known)

    def minus(self, value: RationalFunction, f: RationalFunction) -> RationalFunction:
        """Return a difference, after what the field grew by."""
        return self.tower.field.embed(value) - self.tower.field.embed(f)

    def log(self, f: RationalFunction) -> RationalFunction:
        """Return log |f|."""
        return self.tower.log(self.of(f))

    def value(self, law: LogFunction) -> RationalFunction:
        """Return a function with logarithms."""
        total = self.of(law.rational)
        for c, A in law.logs:
            total = self.minus(total, self.tower.times(-self.of(c), self.log(A)))
        return total
