"""Starts of a given scale; scale, shape and orientation of the start of two layers u and v."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import sympy
from sympy import Expr

from derive.errors import InputError
from derive.language import to_sympy
from derive.language.tree import Name, Number, Operation
from derive.model.names import read_tree
from derive.model.parameterization import Parameterization

Entry: TypeAlias = str | int | Fraction | Expr
"""An exact number or an expression, as text or as SymPy has it."""


@dataclass(frozen=True)
class Initialization:
    """The starts u and v of two layers, exact; for a neuron a u, v is the number a.

    With scale alpha = |u||v| and shape s = (|v| - |u|)/(|v| + |u|), -1 < s < 1,

        |u| = sqrt(alpha (1 - s)/(1 + s)),         |v| = sqrt(alpha (1 + s)/(1 - s)),
        |u|^2 + |v|^2 = 2 alpha (1 + s^2)/(1 - s^2),    |v|^2 - |u|^2 = 4 alpha s/(1 - s^2).

    As 1 <= 1 + s^2 < 2, the first is of the order of alpha/(1 - s^2), whatever the shape.

    Attributes:
        u: the start of the layer u, as many entries as it has.
        v: that of the layer v; its one entry is the weight a of a neuron.

    Source: Azulay et al. 2021, section 7 and lemma 2.

    >>> start = Initialization.from_shape(2, "1/3", (3, 4))
    >>> start.u, start.v
    ((3/5, 4/5), (2,))
    >>> Initialization.of(start.u, start.v).shape
    1/3
    """

    u: tuple[Expr, ...]
    v: tuple[Expr, ...]

    @classmethod
    def of(cls, u: Sequence[Entry], v: Sequence[Entry]) -> Initialization:
        """Read the starts of two layers; InputError for no expression, or a layer at 0."""
        layers = {"u": _vector(u, "u"), "v": _vector(v, "v")}
        for name, layer in layers.items():
            if all(x == 0 for x in layer):
                raise InputError(f"the layer {name} starts at 0: it has no direction")
        return cls(**layers)

    @classmethod
    def from_shape(
        cls, scale: Entry, shape: Entry, u: Sequence[Entry] = (1,), v: Sequence[Entry] = (1,)
    ) -> Initialization:
        """Return the start of that scale and shape.

        Args:
            scale: alpha = |u||v| > 0.
            shape: s, -1 < s < 1.
            u, v: the directions of the layers, of any length.

        Raises:
            InputError: scale > 0 or -1 < shape < 1 fails, or a direction is 0.
        """
        (alpha,), (s,) = _vector((scale,), "the scale"), _vector((shape,), "the shape")
        if alpha.is_number and not alpha > 0:
            raise InputError(f"the scale must be positive, not {alpha}")
        if s.is_number and not -1 < s < 1:
            raise InputError(f"the shape must lie between -1 and 1, not {s}")
        directions = cls.of(u, v)
        sizes = sympy.sqrt(alpha * (1 - s) / (1 + s)), sympy.sqrt(alpha * (1 + s) / (1 - s))
        return cls(
            *(
                tuple(size * x / norm(layer) for x in layer)
                for size, layer in zip(sizes, (directions.u, directions.v), strict=True)
            )
        )

    @property
    def scale(self) -> Expr:
        """The product |u||v|."""
        return norm(self.u) * norm(self.v)

    @property
    def shape(self) -> Expr:
        """The quotient (|v| - |u|)/(|v| + |u|)."""
        return (norm(self.v) - norm(self.u)) / (norm(self.v) + norm(self.u))

    @property
    def orientation(self) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
        """The unit vectors of u and v."""
        u, v = (tuple(x / norm(layer) for x in layer) for layer in (self.u, self.v))
        return u, v

    @property
    def balancedness(self) -> Expr:
        """The conserved difference delta = |v|^2 - |u|^2."""
        return norm(self.v) ** 2 - norm(self.u) ** 2


def norm(layer: Sequence[Expr]) -> Expr:
    """Return the Euclidean norm."""
    return sympy.sqrt(sympy.Add(*(x**2 for x in layer)))


def _vector(values: Sequence[Entry], what: str) -> tuple[Expr, ...]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise InputError(f"{what} must be a sequence of numbers or expressions")
    entries = tuple(to_sympy(read_tree(x, f"an entry of {what}")) for x in values)
    if not entries:
        raise InputError(f"{what} has no entries")
    # The symbols of a start are real.
    real = {s: sympy.Symbol(s.name, real=True) for x in entries for s in x.free_symbols}
    return tuple(x.xreplace(real) for x in entries)


def scale_start(p: Parameterization, variable: str) -> Parameterization:
    """Return p started from c w_0, c > 0, where w_0 is its start.

    Args:
        p: F and w_0.
        variable: the name of c, which becomes a positive start symbol.

    Raises:
        InputError: the name is taken.

    >>> p = scale_start(Parameterization.parse(["p**2 - m**2"], start={"p": 1, "m": 1}), "alpha")
    >>> dict(p.start)["p"]
    Name(name='alpha')
    """
    vectors = (v.name for v in p.vectors)
    if variable in (*p.weights, *p.start_symbols, *p.parameters, *vectors):
        raise InputError(f"{variable} is a name already: choose another for the scale")
    one = Number(Fraction(1))
    start = {
        w: Name(variable) if tree == one else Operation("*", Name(variable), tree)
        for w, tree in p.start
    }
    return p.with_(start=start, positive=(*p.positive, variable))


def with_scale(p: Parameterization, variable: str) -> Parameterization:
    """Return p with a positive start symbol *variable*, which scales the start where it is new."""
    if variable in p.parameters or variable in p.positive:
        return p
    if variable not in p.start_symbols:
        return scale_start(p, variable)
    return p.with_(positive=(*p.positive, variable))
