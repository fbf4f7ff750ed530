"""Elementary generators of function fields: their rules, relations and values.

| kind | g | derivative | relation |
|---|---|---|---|
| parameter | D | 0 | |
| exp | exp(A) | g A' | |
| log | log abs(A) | A'/A | |
| cos | cos(A) | -sin(A) A' | |
| sin | sin(A) | cos(A) A' | g^2 = 1 - cos(A)^2 |
| asinh | asinh(A) | A'/sqrt(1 + A^2) | |
| root | A^(1/n) | g A'/(n A) | g^n = A |
| power | A^e | e g A'/A | |
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from derive.exact.field.function_field import FunctionField, RationalFunction

Kind: TypeAlias = Literal["parameter", "exp", "log", "cos", "sin", "asinh", "root", "power"]


@dataclass(frozen=True, eq=False)
class Generator:
    """An elementary function of earlier variables.

    Attributes:
        name: its text in the language; it is also the name of the variable.
        kind: which function.
        argument: A, an element of a field of earlier variables; None for a parameter.
        index: n of a root.
        exponent: e of a power, an element in the parameters.
        partner: the name of the generator that the derivative uses (cos, sin and asinh).
    """

    name: str
    kind: Kind
    argument: Any = None
    index: int = 1
    exponent: Any = None
    partner: str = ""


def derivative_of(g: Generator, field: FunctionField, weight: int) -> RationalFunction:
    """Return dg/dw_k in the field."""
    if g.argument is None:
        return field.zero
    A = field.embed(g.argument)
    slope = field.derivative(A, weight)
    if slope.is_zero():
        return field.zero
    own = field.named(g.name)
    match g.kind:
        case "exp":
            return own * slope
        case "log":
            return slope / A
        case "cos":
            return -field.named(g.partner) * slope
        case "sin":
            return field.named(g.partner) * slope
        case "asinh":
            return slope / field.named(g.partner)
        case "root":
            return own * slope / (g.index * A)
    return field.embed(g.exponent) * own * slope / A


def relation_of(g: Generator) -> tuple[int, RationalFunction] | None:
    """Return (n, a) with g^n = a for an algebraic generator."""
    if g.kind == "root":
        return g.index, g.argument
    if g.kind == "sin":
        cosine = g.exponent  # the element cos(A) itself
        return 2, 1 - cosine * cosine
    return None


def images_of(
    field: FunctionField,
    images: Mapping[str, Any],
    convert: Callable[[Any, Mapping[str, Any]], Any],
    functions: Mapping[str, Callable[..., Any]],
    needed: Collection[str] | None = None,
) -> dict[str, Any]:
    """Return the image of each name, those of generators built by *functions* from earlier ones.

    Args:
        field: whose names.
        images: the images of weights and parameters.
        convert: element, images -> image, called with the names known so far.
        needed: the generators to build; all by default. *convert* sees what was built before.
        functions: "exp", "log", ... of the image of A; "root" of (image, n), "power" of two images.

    Raises:
        whatever *functions* raise, for instance at a pole.
    """
    known = dict(images)
    for g in field.generators:
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
