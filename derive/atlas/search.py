"""Search an atlas: by a formula of Q, and by properties of the entries.

A formula is proposed to be that of an entry by numbers (:mod:`derive.atlas.fit`), and confirmed by
an exact identity. The parameters that a fit proposes are read as a number times a power of what the
Q of the entry has that no coordinate is in, from their values at several starts. With these in
their place the formula and Q are read into one tower of elementary functions, where it is decided
whether one Hessian is a constant multiple of the other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import sympy
from sympy import Expr, Rational, Symbol

from derive.atlas.canonical import law_form
from derive.atlas.fit import Family, Samples
from derive.atlas.leaf import Numbers, arrays
from derive.atlas.store import SAMPLED, Atlas, Entry
from derive.errors import DeriveError, InputError
from derive.exact.towers.germ import Elementary, Unsettled
from derive.language import from_sympy, names, parse_expression, to_sympy

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
    known = list[dict[str, float]]()
    for start in map(entry.numbers, starts):
        at = {Symbol(name): Rational(x.numerator, x.denominator) for name, x in start.items()}
        named = {name: float(value.subs(at)) for name, value in constants.items()}
        known.append(named | {name: float(x) for name, x in start.items()})
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


TOLERANCE = 1e-7
"""The largest relative misfit of Hess Q that is none; samples have eight digits or more."""
TRIED, NEAR = 12, 1e-3
"""How many of the nearest are looked at on all their leaves; of more, those that are so near."""
ENOUGH = 4
"""Points of a leaf, at least, that tell formulas apart."""
Leaves: TypeAlias = dict[int, Samples]
"""The samples of an entry by the number of the start."""

DOMAINS = {
    "all": "everywhere = 1",
    "positive": "domain in ('`beta > 0`', '`beta1 > 0` and `beta2 > 0`')",
    "interval": "domain like '`% < beta < %`%'",
    "simplex": "domain like '%`beta1 > 0`%' and domain like '%beta2 - 1%'",
}
"""Conditions on the columns, by a word."""


@dataclass(frozen=True, slots=True)
class Match:
    """An entry that a formula was compared with.

    Attributes:
        entry: the entry.
        misfit: the largest relative distance of the Hessians, for the best constants.
        fit: where that is none, what :func:`exact_constants` is given.
        constants: what the constants of the formula are in start symbols, and an affine map before
            it, where an identity with them is proved; None where none was found.
    """

    entry: Entry
    misfit: float
    fit: tuple[Family, Numbers, Entry, list[int], list[float]] | None = None
    constants: Mapping[str, str] | None = None

    @property
    def ground(self) -> str:
        """How the comparison ended, in words."""
        if self.constants is not None:
            return "equal: an exact identity"
        return "equal in numbers" if self.fit else "near"


def having(
    atlas: Atlas,
    *,
    horizon: str = "",
    warped: bool = False,
    weights: int | None = None,
    law: str = "",
    domain: str = "",
) -> list[Entry]:
    """Return the entries that have some properties.

    Args:
        atlas: that is searched.
        horizon: the norm whose largest margin the flow tends to.
        warped: a Q for a warp that is not 1 alone.
        weights: how many.
        law: what is conserved, whatever the names of the weights.
        domain: where Q lives, of :data:`DOMAINS`.

    Raises:
        LanguageError: the law is no expression.
        InputError: a word is none of a domain, or the law is none that is searched.
    """
    if domain and domain not in DOMAINS:
        raise InputError(f"--domain: choose one of {', '.join(DOMAINS)}")
    form = law_form(to_sympy(parse_expression(law))) if law else ""
    if law and not form:
        raise InputError("--law: write sums of products of weights and their logarithms")
    conditions: dict[str, object] = {
        "horizon = ?": horizon,
        "verdict = 'PROVED' and g != '1' and ?": warped,
        "weights = ?": weights,
        "', ' || law_forms || ', ' like ?": form and f"%, {form}, %",
        f"verdict = 'PROVED' and ({DOMAINS.get(domain)}) and ? != ''": domain,
    }
    asked = {where: value for where, value in conditions.items() if value}
    return atlas.entries(" and ".join(f"({where})" for where in asked) or "1", [*asked.values()])


def search(formula: str, among: Sequence[Entry], most: int = 10) -> list[Match]:
    """Return the entries whose Q a formula is, up to a factor, linear terms, an affine map of beta
    and renaming of constants; where there are none, the nearest.

    Args:
        formula: Q, in beta or beta1, beta2, ...
        among: the entries that are compared.
        most: how many are confirmed by identities, or of the nearest returned.

    Raises:
        LanguageError: it is no expression.
        InputError: it is not written in beta.
    """
    tree = parse_expression(formula)
    betas = tuple(sorted(name for name in names((tree,)) if re.fullmatch(r"beta\d*", name)))
    if betas != ("beta",) and (
        betas != tuple(f"beta{i + 1}" for i in range(len(betas))) or not betas
    ):
        raise InputError("Q: write it in beta, or in beta1, beta2, ...; other names are constants")
    entries = [e for e in among if e.samples and e.dimension == len(betas)]
    family, first = Family.of(to_sympy(tree), betas), [e for e in entries if e.class_id == e.id]
    matches = compared(family, first or entries, TRIED)
    found = {match.entry.id for match in matches if match.fit}
    others = [e for e in entries if e.class_id in found - {e.id}]
    matches += compared(family, others, len(others))
    equal = sorted((x for x in matches if x.fit), key=lambda match: match.entry.number)
    confirmed = [replace(x, constants=exact_constants(*x.fit)) for x in equal[:most] if x.fit]
    return confirmed + equal[most:] or sorted(matches, key=lambda x: x.misfit)[:most]


def classes(
    entries: Sequence[Entry], progress: Callable[[str], None] = lambda line: None
) -> dict[str, str]:
    """Return for each entry with a Q the id of the first whose formula is, in numbers, its Q too.

    Where both have a formula each is a member of the family of the other: the entropy from one
    start is a hypentropy, but is not all of them. An integral leads no others.
    """
    found, left = dict[str, str](), [e for e in entries if e.samples]
    while left:
        leader, *left = left
        found[leader.id] = leader.id
        progress(f"classes of equal Q, {len(left)} entries left")
        if (Q := formula(leader)[0]) is not None:
            alike = [e for e in left if e.dimension == leader.dimension]
            matches = compared(Family.of(Q, coordinates(leader)), alike, len(alike))
            equal = [x.entry for x in matches if x.fit and _has(x.entry, leader)]
            found |= {entry.id: leader.id for entry in equal}
            left = [e for e in left if e.id not in found]
    return found


def _has(entry: Entry, leader: Entry) -> bool:
    """Tell whether the formula of an entry, where there is one, has the Q of another, too."""
    Q, own = formula(entry)[0], coordinates(leader)
    return Q is None or any(x.fit for x in compared(Family.of(Q, own), [leader], 1))


def compared(family: Family, entries: Sequence[Entry], tried: int) -> list[Match]:
    """Return how a family compares with the entries that it is nearest to."""
    leaves = [_leaves(entry) for entry in entries]
    alike = defaultdict[int, list[int]](list)
    for i, found in enumerate(leaves):
        if 0 in found:
            alike[found[0].beta.shape[1]].append(i)
    guesses = dict[int, tuple[float, Numbers]]()
    for group in alike.values():
        x, misfits = family.guessed(Samples.together(leaves[i][0] for i in group))
        guesses |= {i: (r[0], y) for i, r, y in zip(group, misfits, x, strict=True)}
    nearest = sorted(guesses, key=lambda i: guesses[i][0])
    nearest = nearest[:TRIED] + [i for i in nearest[TRIED:tried] if guesses[i][0] < NEAR]
    return [_match(family, entries[i], leaves[i], guesses[i][1]) for i in nearest]


def _leaves(entry: Entry) -> Leaves:
    points, d = entry.points(), entry.dimension
    upper, found = np.triu_indices(d), Leaves()
    for k in range(SAMPLED):
        rows = points[points[:, 0] == k]
        if len(rows) >= ENOUGH:
            H = np.zeros((len(rows), d, d))
            H[:, upper[0], upper[1]] = H[:, upper[1], upper[0]] = rows[:, 1 + d :]
            found[k] = Samples(rows[None, :, 1 : 1 + d], H[None])
    return found


def _match(family: Family, entry: Entry, leaves: Leaves, guesses: Numbers) -> Match:
    """Compare a family with an entry on all its leaves; confirm by an identity what is equal."""
    together = Samples.together(leaves.values())
    x, _ = family.guessed(together)
    x = np.concatenate([x, np.broadcast_to(guesses, (len(x), *guesses.shape))], 1)
    x, misfits = family.improved(together, x)
    best = misfits.argmin(1)[:, None]
    misfit = float(np.take_along_axis(misfits, best, 1).max())
    if misfit > TOLERANCE:
        return Match(entry, misfit)
    x = np.take_along_axis(x, best[..., None], 1)
    # Signs that nothing depends on are the same on all leaves where that is possible.
    same, misfits = family.improved(together, np.broadcast_to(x[:1], x.shape))
    family, x = _simplest(family, together, same if misfits.max() < TOLERANCE else x)
    point = together.beta[0, 0].tolist()
    return Match(entry, misfit, (family, x[:, 0], entry, [*leaves], point))


def _simplest(family: Family, together: Samples, x: Numbers) -> tuple[Family, Numbers]:
    """Return a family with fewer free parameters that fits as well, with those of each leaf."""
    for name in sorted(family.free, key=lambda n: (family.usual(n), not n.startswith("_"))):
        fewer, j = family.with_usual(name), family.free.index(name)
        y, misfits = fewer.improved(together, np.delete(x, j, 2))
        if misfits.max() < TOLERANCE and fewer.moderate(y).all():
            family, x = fewer, y
    return family, x
