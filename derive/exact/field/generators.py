"""Elementary generators of function fields: their rules, relations and values.

| kind | g | derivative | relation |
|---|---|---|---|
| parameter | D | 0 | |
| root | A^(1/n) | g A'/(n A) | g^n = A |
| power | A^e | e g A'/A | |
| sin | sin(A) | cos(A) A' | g^2 = 1 - cos(A)^2 |
| exp, log, cos, asinh, ... | f(A) | f'(A) A', as its record says | |
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from derive.language.evaluation import E, value_of
from derive.language.functions import RECORDS

Image = TypeVar("Image")


@dataclass(frozen=True, eq=False)
class Generator(Generic[E]):
    """An elementary function of earlier variables.

    Attributes:
        name: its text in the language; it is also the name of the variable.
        kind: "parameter", "root", "power", or the function of that name.
        argument: A, an element of a field of earlier variables; parameters have none.
        index: n of a root.
        exponent: e of a power, an element in the parameters; the element cos(A) of a sine.
        partner: the name of the generator that the derivative uses (cos, sin and asinh).
    """

    name: str
    kind: str
    argument: E = None  # type: ignore[assignment]  # whoever reads it asks for the kind
    index: int = 1
    exponent: E = None  # type: ignore[assignment]
    partner: str = ""

    def slope(self, A: E, g: E, other: E) -> E:
        """Return dg/dA.

        Args:
            A, g: argument and generator as elements of one field.
            other: the partner, or the exponent of a power, in that field.
        """
        if self.kind == "root":
            return g / (self.index * A)
        if self.kind == "power":
            return other * g / A
        return value_of(RECORDS[self.kind].derivative, {"x": A, "f": g, "p": other})

    def relation(self) -> tuple[int, E] | None:
        """Return (n, a) with g^n = a for an algebraic generator."""
        if self.kind == "root":
            return self.index, self.argument
        if self.kind == "sin":
            return 2, 1 - self.exponent * self.exponent
        return None


def images_of(
    generators: Iterable[Generator[E]],
    images: Mapping[str, Image],
    convert: Callable[[E, Mapping[str, Image]], Image],
    functions: Mapping[str, Callable[..., Image]],
    needed: Collection[str] | None = None,
) -> dict[str, Image]:
    """Return the image of each name, those of generators built by *functions* from earlier ones.

    Args:
        generators: those of a field, in their order.
        images: the images of weights and parameters.
        convert: element, images -> image, called with the names known so far.
        needed: the generators to build; all by default. *convert* sees what was built before.
        functions: "exp", "log", ... of the image of A; "root" of (image, n), "power" of two images.

    Raises:
        whatever *functions* raise, for instance at a pole.
    """
    known = dict(images)
    for g in generators:
        if g.name in known or (needed is not None and g.name not in needed):
            continue
        if g.kind == "parameter":
            raise KeyError(g.name)
        A = convert(g.argument, known)
        if g.kind == "root":
            known[g.name] = functions["root"](A, g.index)
        elif g.kind == "power":
            known[g.name] = functions["power"](A, convert(g.exponent, known))
        else:
            known[g.name] = functions[g.kind](A)
    return known
