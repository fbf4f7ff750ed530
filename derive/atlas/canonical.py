"""One representative of each class of parameterizations: the canonical form of F.

An output is a sum of monomials, a monomial a product of powers of factors: of weights, of exp, log
and sigmoid of one weight, and of the sum, the norm and the sum of exponentials of several. Two F
are in one class where one becomes the other by

- renaming the weights, and changing signs of weights that stand in no log, sigmoid or sum:
  isometries of the weights, under which gradient flow is the same;
- where F is algebraic, a rational scale c > 0 that all weights share, which changes the unit of
  time only;
- an affine change of the outputs, beta -> A beta + b with A invertible and rational: Q of the one
  is Q of the other in other coordinates.

The outputs span, beside the constants, a space of functions; of it the reduced row echelon form
over the monomials is unique. The canonical form is the least of these over all renamings and signs,
with the scale taken out. Scales of single weights are no isometries; rotations, 1 - sigmoid(w) =
sigmoid(-w) and relations between monomials are not used: what is equal by them is two entries, with
one Q.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from flint import fmpz_mat
from sympy import Expr

LETTERS = "abcdefgh"
Factor: TypeAlias = tuple[str, tuple[int, ...], int]
"""A function by its name, the weights in it, by number, in order, and an exponent."""
Monomial: TypeAlias = tuple[Factor, ...]
"""Factors in order, no two with the same function of the same weights; () is 1."""
Terms: TypeAlias = Mapping[Monomial, int]
"""An output up to a factor: monomials with whole coefficients."""
Row: TypeAlias = tuple[tuple[Monomial, int], ...]
"""The same without a constant, its coefficients coprime, the first positive."""
Form: TypeAlias = tuple[Row, ...]
Image: TypeAlias = tuple[tuple[int, int, int], ...]
"""Weights, each with its new number and a sign."""

WRITTEN = {"weight": "{}", "exp": "exp({})", "log": "log({})", "sigmoid": "sigmoid({})"}
"""How functions of one weight are written; of the others, the terms of their sums."""
SUMS = {"total": ("{}", "({})"), "exps": ("exp({})", "({})"), "norm": ("{}**2", "sqrt({})")}
ALGEBRAIC = ("weight", "total", "norm")


def product(factors: Iterable[Factor]) -> Monomial:
    """Return a product as a monomial."""
    powers: dict[tuple[str, tuple[int, ...]], int] = {}
    for name, weights, n in factors:
        powers[name, weights] = powers.get((name, weights), 0) + n
    return tuple(sorted((*key, n) for key, n in powers.items() if n))


def written(form: Iterable[Row], letters: Sequence[str] = LETTERS) -> tuple[str, ...]:
    """Return outputs in the language of the command line.

    >>> a, root = ("weight", (0,), 1), ("norm", (0, 1), -1)
    >>> written([(((a, root), 2), ((a,), -1))])
    ('2*a/sqrt(a**2 + b**2) - a',)
    """

    def factor(name: str, weights: Sequence[int], n: int) -> str:
        power = f"**{n}" * (n != 1)
        if name in WRITTEN:
            return WRITTEN[name].format(letters[weights[0]]) + power
        term, whole = SUMS[name]
        inner = " + ".join(term.format(letters[w]) for w in weights)
        if name == "norm" and n % 2 == 0:
            return f"({inner})" + f"**{n // 2}" * (n > 2)
        return whole.format(inner) + power

    def monomial(m: Monomial, c: int) -> str:
        ordered = sorted(m, key=lambda f: (f[0] != "weight", f))
        above = [factor(*f) for f in ordered if f[2] > 0]
        below = [f"/{factor(name, weights, -n)}" for name, weights, n in ordered if n < 0]
        number = [str(abs(c))] if abs(c) > 1 or not above else []
        return ("- " if c < 0 else "+ ") + "*".join((*number, *above)) + "".join(below)

    rows = (" ".join(monomial(m, c) for m, c in row) for row in form)
    return tuple(row[2:] if row[0] == "+" else f"-{row[2:]}" for row in rows)


def canonical(outputs: Sequence[Terms], marks: Sequence[str] = ()) -> Form:
    """Return the least form in the class of F.

    Args:
        outputs: of F; constants in them are dropped, as are outputs that are affine functions of
            others.
        marks: where each weight starts, "" for anywhere: renamings keep the marks, and signs change
            of weights with the mark "" or "0".
    """
    rows = [{m: c for m, c in output.items() if m} for output in outputs]
    used = sorted({w for row in rows for m in row for _, weights, _ in m for w in weights})
    starts = {w: marks[w] if w < len(marks) else "" for w in used}
    moved = (
        [_sum((_moved(m, image), c) for m, c in row.items()) for row in rows]
        for image in _images(rows, starts)
    )
    return min((_scaled(_echelon(F)) for F in moved), key=_order)


def _order(form: Form) -> tuple[object, ...]:
    """Order forms: few terms first, then positive signs and exponents."""

    def term(m: Monomial, c: int) -> tuple[object, ...]:
        return tuple((name, weights, -n) for name, weights, n in m), -c

    return tuple((len(row), tuple(term(*t) for t in row)) for row in form)


def _sum(terms: Iterable[tuple[tuple[Monomial, int], int]]) -> Terms:
    total: dict[Monomial, int] = {}
    for (m, sign), c in terms:
        total[m] = total.get(m, 0) + sign * c
    return {m: c for m, c in total.items() if c}


def _images(rows: Sequence[Terms], marks: Mapping[int, str]) -> Iterator[Image]:
    """Yield renamings with signs; only weights that occur in the same way change places."""
    support = {m for row in rows for m in row}
    factors = {f for m in support for f in m}
    still = {
        w
        for name, weights, _ in factors
        for w in weights
        if name not in ("weight", "exp", "norm") or marks[w] not in ("", "0")
    }
    ways = {w: (mark, _occurrence(w, support)) for w, mark in marks.items()}
    ordered = sorted(ways, key=ways.__getitem__, reverse=True)
    groups = [[*group] for _, group in itertools.groupby(ordered, ways.__getitem__)]
    for places in itertools.product(*map(itertools.permutations, groups)):
        order = [*itertools.chain(*places)]
        for signs in itertools.product(*((1,) if w in still else (1, -1) for w in order)):
            yield tuple((w, i, sign) for (i, w), sign in zip(enumerate(order), signs, strict=True))


def _occurrence(w: int, support: Iterable[Monomial]) -> tuple[object, ...]:
    """Return how a weight occurs, whatever its sign and the names of others."""
    found = {
        tuple(sorted((f, w in v, len(v), abs(n) if f == "exp" else n) for f, v, n in m))
        for m in support
        if any(w in v for _, v, _ in m)
    }
    return tuple(sorted(found))


@functools.lru_cache(maxsize=200_000)
def _moved(monomial: Monomial, image: Image) -> tuple[Monomial, int]:
    """Return a monomial in renamed weights, and its sign: exp(-w) is exp(w)**-1."""
    numbers, sign, factors = {w: (i, s) for w, i, s in image}, 1, list[Factor]()
    for name, weights, n in monomial:
        new, signs = zip(*(numbers[w] for w in weights), strict=True)
        sign *= signs[0] if name == "weight" and n % 2 else 1
        factors.append((name, tuple(sorted(new)), n * signs[0] if name == "exp" else n))
    return product(factors), sign


def _echelon(outputs: Sequence[Terms]) -> Form:
    """Return the reduced row echelon form of the space that outputs span."""
    columns = sorted({m for row in outputs for m in row}, key=_place)
    reduced, _, rank = fmpz_mat([[row.get(m, 0) for m in columns] for row in outputs]).rref()
    return tuple(_row(zip(columns, map(int, row), strict=True)) for row in reduced.tolist()[:rank])


@functools.lru_cache(maxsize=200_000)
def _place(monomial: Monomial) -> tuple[int, Monomial]:
    """Order monomials by how many factors they have."""
    return sum(abs(n) for _, _, n in monomial), monomial


def _row(terms: Iterable[tuple[Monomial, int]]) -> Row:
    kept = [(m, c) for m, c in terms if c]
    common = math.gcd(*(c for _, c in kept)) * (1 if kept[0][1] > 0 else -1)
    return tuple((m, c // common) for m, c in kept)


def law_form(law: Expr) -> str:
    """Return the canonical form of a conserved quantity; empty where it has none here.

    >>> from sympy.abc import u, v
    >>> law_form(v**2 / 2 - u**2 / 2)
    'a**2 - b**2'
    """
    weights = sorted(law.free_symbols, key=str)
    terms: dict[Monomial, int] = {}
    whole = law.expand().as_coefficients_dict()
    below = math.lcm(*(c.q for c in whole.values() if c.is_Rational))
    for term, c in whole.items():
        factors = list[Factor]()
        for base, n in term.as_powers_dict().items():
            inside = base if base.is_Symbol else base.args[0] if base.args else None
            name = "weight" if base.is_Symbol else base.func.__name__
            if inside not in weights or name not in WRITTEN or not (n.is_Integer and c.is_Rational):
                return ""
            factors.append((name, (weights.index(inside),), int(n)))
        terms[product(factors)] = int(c * below)
    return written(canonical([terms]))[0] if terms else ""


def _scaled(form: Form) -> Form:
    """Return the form with the scale of all weights taken out.

    In the first row with terms of degrees k and k + n, n > 0, c changes the quotient r of their
    coefficients by c^n: it makes |r| whole and free of n-th powers.
    """
    if any(name not in ALGEBRAIC for row in form for m, _ in row for name, _, _ in m):
        return form
    for row in form:
        degrees = {m: sum(n for _, _, n in m) for m, _ in row}
        low = min(row, key=lambda term: degrees[term[0]])
        others = [term for term in row if degrees[term[0]] > degrees[low[0]]]
        if others:
            n, ratio = degrees[others[0][0]] - degrees[low[0]], Fraction(others[0][1], low[1])
            size = abs(ratio.numerator) * ratio.denominator ** (n - 1)
            # the largest whole number whose n-th power divides it
            root = max(q for q in range(1, round(size ** (1 / n)) + 2) if size % q**n == 0)
            c = Fraction(ratio.denominator, root)
            return tuple(_with_scale(row, c) for row in form)
    return form


def _with_scale(row: Row, c: Fraction) -> Row:
    """Return the row of c w for every weight w."""
    values = [(m, k * c ** sum(n for _, _, n in m)) for m, k in row]
    below = math.lcm(*(x.denominator for _, x in values))
    return _row((m, int(x * below)) for m, x in values)
