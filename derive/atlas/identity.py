"""Confirm by an exact identity that a formula is the Q of an entry.

The parameters that a fit proposes are read as a number times a power of what the Q of the entry has
that no coordinate is in, from their values at several starts. With these in their place the formula
and Q are read into one tower of elementary functions, where it is decided whether one Hessian is a
constant multiple of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import sympy
from sympy import Expr, Rational, Symbol

from derive.atlas.entry import Entry
from derive.atlas.fit import Family
from derive.atlas.leaf import Numbers, arrays
from derive.errors import DeriveError
from derive.exact.towers.germ import Elementary, Unsettled
from derive.language import from_sympy, parse_expression, to_sympy

EXPONENTS = tuple(Rational(n, 2) for n in (2, 4, -2, 1, -1, 3, -3, -4, 6, -6, 8, -8))
CLOSE, LARGEST_DENOMINATOR, NEAREST = 1e-5, 64, 100


def exact_constants(
    family: Family, fits: Numbers, entry: Entry, starts: Sequence[int], betas: Sequence[float]
) -> dict[str, str] | None:
    """Return the parameters of a family in constants of Q, where with these it is proved to be Q.

    Args:
        family: the formula.
        fits: a row of its free parameters for each of some starts.
        entry: whose Q it may be.
        starts: the numbers of these.
        betas: a point of the leaf from the first of them.
    """
    Q, constants = formula(entry)
    if Q is None:
        return None
    known = [_values(entry.numbers(k), constants) for k in starts]
    images = _images(family, fits, Q, known)
    if None in images.values():
        return None
    expression = family.expression.subs({Symbol(n): x for n, x in images.items()})
    near = {**dict(zip(family.betas, betas, strict=True)), **known[0]}
    point = {name: Fraction(x).limit_denominator(NEAREST) for name, x in near.items()}
    try:
        proved = proportional(expression, Q, point, len(family.betas))
    except (Unsettled, ZeroDivisionError, DeriveError):
        return None
    special = (n for n in images if not n.startswith("_") or n in family.free)
    return {name: str(images[name]) for name in special} if proved else None


def _values(start: Mapping[str, Fraction], constants: Mapping[str, Expr]) -> dict[str, float]:
    at = {Symbol(name): Rational(x.numerator, x.denominator) for name, x in start.items()}
    named = {name: float(value.subs(at)) for name, value in constants.items()}
    return named | {name: float(x) for name, x in start.items()}


def _images(
    family: Family, fits: Numbers, Q: Expr, known: Sequence[Mapping[str, float]]
) -> dict[str, Expr | None]:
    """Return the parameters of a family as expressions; None for one that is not recognised."""
    own = {Symbol(b) for b in family.betas}
    nodes = dict.fromkeys(sympy.preorder_traversal(Q))
    parts = [x for x in nodes if x.free_symbols and not x.free_symbols & own]
    fixed = {name: sympy.Integer(int(x)) for name, x in family.fixed.items()}  # 0 or 1
    free = zip(family.free, fits.T, strict=True)
    return fixed | {name: _recognised(values, parts, known) for name, values in free}


def formula(entry: Entry) -> tuple[Expr | None, dict[str, Expr]]:
    """Return Q of an entry in beta, start symbols and constants, with these in start symbols.

    It is None where it has no formula.
    """
    lines = [line.partition(" = ") for line in entry.Q.splitlines()]
    if entry.kind != "explicit" or not all(equals for _, equals, _ in lines):
        return None, {}
    try:
        named = {x: to_sympy(parse_expression(text)) for x, _, text in lines}
    except DeriveError:
        return None, {}
    Q, own = named.pop("Q"), {Symbol(b) for b in coordinates(entry)}
    for _ in named:  # what names stand for may have others in it
        named = {x: y.subs({Symbol(n): z for n, z in named.items()}) for x, y in named.items()}
    Q = Q.subs({Symbol(x): y for x, y in named.items() if y.free_symbols & own})
    constants = {x: y for x, y in named.items() if not y.free_symbols & own}
    known = {*coordinates(entry), *entry.symbols, *constants}
    return (Q if {x.name for x in Q.free_symbols} <= known else None), constants


def coordinates(entry: Entry) -> tuple[str, ...]:
    """Return the names of the outputs in Q."""
    d = entry.dimension
    return ("beta",) if d == 1 else tuple(f"beta{i}" for i in range(1, d + 1))


def _recognised(
    values: Numbers, parts: Sequence[Expr], known: Sequence[Mapping[str, float]]
) -> Expr | None:
    """Return c X**q with these values at the starts, for a number c and a part X, or X = 1."""
    at = [np.array([start[name] for start in known]) for name in known[0]]
    for part in (sympy.S.One, *parts):
        with np.errstate(all="ignore"):
            sizes = arrays(sympy.Matrix([part]), [*known[0]])(*at)[..., 0, 0]
            for q in EXPONENTS if part.free_symbols else EXPONENTS[:1]:
                factors = values / np.abs(sizes) ** float(q)
                c = _number(float(factors[0]))
                if c is not None and (np.abs(factors - factors[0]) < CLOSE * abs(factors[0])).all():
                    return c * (part if sizes[0] > 0 else -part) ** q
    return None


def _number(x: float) -> Expr | None:
    """Return the fraction, or the square root of one, that a number is nearly."""
    for power in (1, 2) if np.isfinite(x) else ():
        near = Fraction(x**power).limit_denominator(LARGEST_DENOMINATOR)
        if near and abs(near - x**power) < CLOSE * abs(near):
            size = Rational(near.numerator, near.denominator)
            return size if power == 1 else int(np.sign(x)) * sympy.sqrt(size)
    return None


def proportional(left: Expr, right: Expr, point: Mapping[str, Fraction], d: int) -> bool:
    """Tell whether Hess left = c Hess right is proved near a point, with c > 0 constant in beta.

    The first *d* names of the point are the coordinates; all are independent.
    """
    own = [Symbol(name) for name in [*point][:d]]
    trees = [[from_sympy(x) for x in sympy.hessian(F, own)] for F in (left, right)]
    tower = Elementary(point, [*trees[0], *trees[1]])
    above, below = ([tower.read(tree) for tree in several] for several in trees)
    pivot = next(k for k, x in enumerate(below) if not tower.ball(x).contains(0))
    c = tower.tidy(above[pivot] / below[pivot])
    constant = all(tower.is_zero(tower.derivative(c, i)) for i in range(d))
    same = (tower.is_zero(x - c * y) for x, y in zip(above, below, strict=True))
    return tower.sign(c) > 0 and constant and all(same)
