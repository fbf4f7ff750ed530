"""Stage 2: the Lie algebra of the fields grad F_1, ..., grad F_d, which spans what is reachable.

The leaf through w is the orbit of their Lie algebra; its dimension is the rank of the iterated
brackets, of which a rank modulo a prime at a random point is a lower bound.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from random import Random

from flint import nmod

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import dot
from derive.exact.linear.modular import Evaluator, Pole, random_point, rank
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization
from derive.weights.witness import independent_point


@dataclass(frozen=True)
class LieStructure:
    """Brackets of the fields X_a = grad F_a.

    Attributes:
        brackets: [X_a, X_b] for a < b, by (a, b) counted from 0.
        spanning: fields that span the Lie algebra at a generic point: those of X_1, ..., X_d
            that are independent, then iterated brackets.
        dimension: proved lower bound of the generic dimension; equal to it with probability 1.
        commuting: whether every bracket [X_a, X_b] is identically zero (exact); None where not
            all were computed.
        words: the spanning fields as iterated brackets, such as ``[X1, [X1, X2]]``.
    """

    parameterization: Parameterization
    brackets: dict[tuple[int, int], Field] = dataclasses.field(hash=False)
    spanning: tuple[Field, ...]
    dimension: int
    commuting: bool | None
    words: tuple[str, ...]

    @functools.cached_property
    def point(self) -> tuple[tuple[str, Fraction], ...] | None:
        """Rational weights at which the spanning fields are proved independent, or None."""
        return independent_point(self.parameterization, self.spanning)

    @classmethod
    def of_fields(cls, p: Parameterization) -> LieStructure:
        """Return what is known before any bracket is: some of the d fields are independent."""
        words, fields = tuple(f"X{p.labels[i]}" for i in p.independent), p.fields
        return cls(p, {}, tuple(fields[i] for i in p.independent), p.rank, None, words)


def bracket(x: Field, y: Field) -> Field:
    """Return [x, y] = (Dy) x - (Dx) y, p functions of the weights."""
    field = x[0].field
    return tuple(
        dot(x, field.gradient(yk)) - dot(y, field.gradient(xk)) for xk, yk in zip(x, y, strict=True)
    )


def find_lie_structure(p: Parameterization) -> LieStructure:
    """Return the brackets of the gradient fields and the dimension of what they generate.

    The leaf through w is spanned by X_a, [X_a, X_b], [X_a, [X_b, X_c]], ..., X_a = grad F_a.

    Args:
        p: d outputs in p weights.

    Returns:
        the d (d - 1)/2 brackets, and spanning fields, each of p functions of the weights.

    Source: Frobenius' theorem; Marcotte, Gribonval, Peyre 2023 (NeurIPS), for gradient flows.
    """
    fields = p.fields
    brackets = {(a, b): bracket(fields[a], fields[b]) for a, b in combinations(range(p.d), 2)}
    commuting = all(x.is_zero() for field in brackets.values() for x in field)
    named = [(f"X{p.labels[i]}", fields[i]) for i in p.independent]
    if not commuting:
        named = _span(p, named, brackets)
    words, spanning = zip(*named, strict=True)
    return LieStructure(p, brackets, spanning, len(spanning), commuting, words)


def _span(
    p: Parameterization, fields: list[tuple[str, Field]], brackets: dict[tuple[int, int], Field]
) -> list[tuple[str, Field]]:
    """Close the fields under brackets with each X_a, as far as the rank at one point grows."""
    point = random_point(p.field, Random(0))
    names = [f"X{i}" for i in p.labels]
    spanning = list(fields)
    values = [_values(x, point) for _, x in spanning]
    pending = [(f"[{names[a]}, {names[b]}]", z) for (a, b), z in brackets.items()]
    while pending and len(spanning) < p.p:
        word, candidate = pending.pop(0)
        try:
            value = _values(candidate, point)
        except Pole:
            continue
        if rank([*values, value]) > len(spanning):
            spanning.append((word, candidate))
            values.append(value)
            pending.extend(
                (f"[{name}, {word}]", bracket(x, candidate))
                for name, x in zip(names, p.fields, strict=True)
            )
    return spanning


def _values(field: Field, point: Sequence[nmod]) -> list[nmod]:
    return [Evaluator(x)(point) for x in field]


def along(x: Field, function: RationalFunction) -> RationalFunction:
    """Return the derivative of *function* along the field x: <x, grad function>."""
    return dot(x, function.field.gradient(function))
