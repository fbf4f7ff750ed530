"""Search an atlas: by a formula of Q, and by properties of the entries.

A formula is proposed to be that of an entry by numbers (:mod:`derive.atlas.fit`), and confirmed by
an exact identity (:mod:`derive.atlas.identity`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from sympy import Expr

from derive.atlas.canonical import law_form
from derive.atlas.entry import SAMPLED, Entry
from derive.atlas.fit import Family, Samples
from derive.atlas.identity import coordinates, exact_constants, formula
from derive.atlas.leaf import Numbers
from derive.atlas.store import Atlas
from derive.errors import InputError
from derive.language import names, parse_expression, to_sympy

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
        fit: where that is none, what :func:`derive.atlas.identity.exact_constants` is given.
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
            equal = [x.entry for x in matches if x.fit and _has(formula(x.entry)[0], leader)]
            found |= {entry.id: leader.id for entry in equal}
            left = [e for e in left if e.id not in found]
    return found


def _has(Q: Expr | None, entry: Entry) -> bool:
    """Tell whether a formula, where there is one, has the Q of an entry among its members."""
    if Q is None:
        return True
    return any(match.fit for match in compared(Family.of(Q, coordinates(entry)), [entry], 1))


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
