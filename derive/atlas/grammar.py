"""Which parameterizations there are, by size: the grammar of the atlas.

An output is a sum of at most three monomials with the coefficients 1 and -1, and F is a monomial
times some outputs, as `a*u1, a*u2` and `u1/|u|, u2/|u|` are. Its size is that of the monomial and
of the outputs together. F is kept in one piece (where two groups of outputs share no weight, Q is a
sum over the groups), and where the gradients of its outputs are independent: the image of others
has no interior, and no Q on it is unique.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from derive.atlas.canonical import Factor, Form, Monomial, Row, Terms, canonical, product, written
from derive.atlas.leaf import independent

WEIGHTS, MOST_OUTPUTS, MOST_TERMS, LARGEST_MONOMIAL = range(4), 3, 3, 4
BELOW = (("total", -1), ("exps", -1), ("norm", -1), ("norm", -2))


class Candidate(NamedTuple):
    """A parameterization by its canonical form, and its size."""

    form: Form
    size: int


@lru_cache(maxsize=16)
def factors(size: int) -> tuple[Factor, ...]:
    """Return the factors of a size.

    That of w**n is n, of a function of a weight 2, of a symmetric scalar the number of its weights;
    what stands below a line counts one more.
    """
    powers = (size, 1 - size) if size > 1 else (1,)
    found: list[Factor] = [("weight", (w,), n) for n in powers for w in WEIGHTS]
    if size == 2:
        found += [(name, (w,), 1) for name in ("exp", "log", "sigmoid") for w in WEIGHTS]
    for several, scalars in ((size, (("norm", 1),)), (size - 1, BELOW)):
        sets = itertools.combinations(WEIGHTS, several) if several > 1 else ()
        found += [(name, s, n) for s in sets for name, n in scalars]
    return tuple(found)


@lru_cache(maxsize=16)
def monomials(size: int) -> tuple[Monomial, ...]:
    """Return the products of factors of a size; no function stands twice in one."""
    found: dict[Monomial, None] = {}
    for first in range(1, size + 1):
        rest: tuple[Monomial, ...] = monomials(size - first) if first < size else ((),)
        for factor, other in itertools.product(factors(first), rest):
            if all(factor[:2] != f[:2] for f in other):
                found[product((factor, *other))] = None
    return tuple(found)


@lru_cache(maxsize=16)
def outputs(size: int, terms: int = MOST_TERMS) -> tuple[Row, ...]:
    """Return the sums of at most so many monomials of a size together."""
    found: list[Row] = [((m, 1),) for m in monomials(size)] if size <= LARGEST_MONOMIAL else []
    for first in range(1, min(size, LARGEST_MONOMIAL + 1)) if terms > 1 else ():
        for m, rest in itertools.product(monomials(first), outputs(size - first, terms - 1)):
            if (len(m), m) < (len(rest[0][0]), rest[0][0]):
                found += [((m, 1), *((n, sign * c) for n, c in rest)) for sign in (1, -1)]
    return tuple(found)


def candidates(largest: int, seed: int = 0) -> Iterator[Candidate]:
    """Yield one F of each class, by size, those of one size in an order drawn by the *seed*.

    >>> sorted(written(c.form) for c in candidates(2))[:3]
    [('1/a',), ('a',), ('a + b',)]
    """
    known = set[Form]()
    for size in range(1, largest + 1):
        for F in _drawn(size, random.Random(f"{seed} {size}")):
            form = canonical(F)
            if form not in known:
                known.add(form)
                if len(form) == len(F) and _in_one_piece(form) and independent(written(form)):
                    yield Candidate(form, size)


def _drawn(size: int, rng: random.Random) -> Iterator[list[Terms]]:
    """Yield F of a size, each class at least once, in a drawn order: that of k * step mod n."""
    choices = [*_choices(size)]
    counts = [math.prod(map(len, options)) for options in choices]
    whole, step = sum(counts), 0
    while math.gcd(step, whole) != 1:
        step = rng.randrange(whole) + 1
    for position in range(whole):
        index, way = position * step % whole, 0
        while index >= counts[way]:
            index, way = index - counts[way], way + 1
        chosen = list[Row]()
        for options in choices[way]:
            index, k = divmod(index, len(options))
            chosen.append(options[k])
        ((scalar, _),), *others = chosen
        yield [{product((*scalar, *m)): c for m, c in output} for output in others]


def _choices(size: int) -> Iterator[list[Sequence[Row]]]:
    """Yield what the scalar and the outputs are chosen from.

    A renaming makes the scalar, or where that is 1 the first output, the least of its renamings.
    """
    for own in range(size - 1):
        for sizes in _partitions(size - own, MOST_OUTPUTS):
            first, *others = map(outputs, sizes)
            if not own:
                yield [[(((), 1),)], _least(first), *others]
            elif others:
                yield [_least([((m, 1),) for m in monomials(own)]), first, *others]
    if size == 1:
        yield [[(((), 1),)], _least(outputs(1))]


def _partitions(size: int, most: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield the sums of at most so many positive numbers, in descending order."""
    if size == 0:
        yield ()
    elif most:
        for first in range(min(size, largest or size), 0, -1):
            for rest in _partitions(size - first, most - 1, first):
                yield (first, *rest)


def _least(options: Sequence[Row]) -> list[Row]:
    """Return those that are, up to a sign, the least of their renamings."""
    first, *others = itertools.permutations(WEIGHTS)

    def renamed(output: Row, order: tuple[int, ...]) -> Row:
        terms = sorted((_renamed(m, order), c) for m, c in output)
        return tuple((m, c * terms[0][1]) for m, c in terms)

    return [x for x in options if all(renamed(x, first) <= renamed(x, y) for y in others)]


@lru_cache(maxsize=200_000)
def _renamed(monomial: Monomial, order: tuple[int, ...]) -> Monomial:
    return tuple(sorted((f, tuple(sorted(order[w] for w in v)), n) for f, v, n in monomial))


def _in_one_piece(form: Form) -> bool:
    """Tell whether the outputs cannot be split in two groups that share no weight."""
    first, *others = ({w for m, _ in row for _, v, _ in m for w in v} for row in form)
    for _ in form:
        joined = [other for other in others if other & first]
        first = first.union(*joined)
        others = [other for other in others if other not in joined]
    return not others
