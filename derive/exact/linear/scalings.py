"""Scalings of the variables that leave functions alone.

Where w_k -> c_k w_k takes each relation of a field to a multiple, it is an automorphism over the
numbers: what is rational in functions that it leaves alone it leaves alone. It does so with f where
prod_k c_k^e_k = 1 for the differences e of the exponents in numerator and denominator of f. These
span a lattice L, and the functions of a lattice are left alone by all such c exactly where theirs
is in L: so a is no rational function of a b and a^2 - b^2, as (a, b) -> (-a, -b) shows.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from flint import fmpz_mat

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import Polynomial

Lattice: TypeAlias = list[list[int]]


def told_apart(target: RationalFunction, functions: Sequence[RationalFunction]) -> bool:
    """Tell whether a scaling leaves functions alone, but not the target: a proof of no relation.

    >>> a, b = FunctionField(("a", "b")).gens
    >>> told_apart(a, (a * b, a**2 - b**2)), told_apart(a**2 + b**2, (a * b, a**2 - b**2))
    (True, False)
    """
    kept = [row for f in functions for row in _lattice(f)]
    kept = _reduced([*kept, *_of_relations(target.field)])
    return _reduced([*kept, *_lattice(target)]) != kept


@functools.lru_cache(maxsize=512)
def _lattice(f: RationalFunction) -> Lattice:
    return _reduced(_differences(f.parts))


@functools.lru_cache(maxsize=32)
def _of_relations(field: FunctionField) -> Lattice:
    """Return the lattice of the scalings that take each relation g^n b - a to a multiple."""
    relations = (field.ring.gens()[k] ** n * b - a for k, n, a, b in field.relations.known)
    return _reduced([row for relation in relations for row in _differences((relation,))])


def _differences(polynomials: Iterable[Polynomial]) -> Lattice:
    """Return the exponents of all terms less those of one."""
    first, *others = {tuple(map(int, e)) for x in polynomials for e in x.monoms()}
    return [[m - n for m, n in zip(e, first, strict=True)] for e in others]


def _reduced(rows: Lattice) -> Lattice:
    """Return the basis of a lattice that is in Hermite normal form."""
    whole = fmpz_mat(rows).hnf().tolist() if rows else []
    return [[*map(int, row)] for row in whole if any(row)]
