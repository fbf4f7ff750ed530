"""Printed statements on random starts of wide models, for every width k at once.

An output that is a sum of copies of one function, each of weights of its own, says what every
width has in common: variances add, and what is proved of <u, v> in inner products holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from derive.catalogue.audit.finding import Finding, unchecked
from derive.catalogue.audit.leaf import Leaf, checked
from derive.catalogue.audit.limits import Claim, compare_limit
from derive.catalogue.audit.subject import Subject
from derive.catalogue.audit.weights import define
from derive.catalogue.entry import Printed
from derive.derivation import derive
from derive.exact.field.polynomial import terms
from derive.exact.towers.elementary_germ import Elementary
from derive.language import Name, Number, names, parse_expression
from derive.language.tree import Operation
from derive.model.parameterization import Parameterization
from derive.regimes.find import regimes
from derive.regimes.random_width import random_width

Terms = Mapping[tuple[int, ...], Fraction]
PRODUCT: Terms = {(1, 1): Fraction(1)}
EXPONENTS = (1, -1, 2, -2, 4, -4)
OPPOSITE = {"0": "infinity", "infinity": "0"}


def copies_of(p: Parameterization) -> tuple[int, Terms] | None:
    """Return k and f where F = f(w_1) + ... + f(w_k), each copy of weights of its own, or None.

    >>> copies_of(Parameterization.parse(["u1*v1 + u2*v2"]))
    (2, {(1, 1): Fraction(1, 1)})
    """
    if p.d != 1 or p.field.generators or not p.F[0].is_polynomial():
        return None
    scale = int(p.F[0].denominator.leading_coefficient())
    groups: list[tuple[set[int], dict[tuple[int, ...], Fraction]]] = []
    for exponents, c in terms(p.F[0].numerator):
        used = {i for i, e in enumerate(exponents) if e}
        found = {exponents: Fraction(int(c), scale)}
        for group in [g for g in groups if g[0] & used]:
            groups.remove(group)
            used |= group[0]
            found |= group[1]
        groups.append((used, found))
    units = [
        {tuple(e[i] for i in sorted(used)): c for e, c in found.items()} for used, found in groups
    ]
    same = all(unit == units[0] for unit in units[1:])
    return (len(units), units[0]) if same and all(used for used, _ in groups) else None


def check_wide_limit(subject: Subject, printed: Printed) -> Finding:
    """Compare what Q tends to for beta = <u, v> from random starts of width k -> infinity.

    Then Q depends on mu = sigma sqrt(k) alone, in probability (:func:`random_width`); the last
    entry of ``where`` must be a power of mu, by what ``where`` says of sigma.
    """
    found = copies_of(subject.p)
    if found is None or found[1] != PRODUCT:
        return unchecked("wide random starts are derived for <u, v> only")
    if not printed.where:
        return unchecked("the record does not say what tends to what")
    what, toward = printed.where[-1]
    power = _power_of_mu(printed, what)
    if power is None or toward not in OPPOSITE:
        return unchecked(f"{what} is not proved to be a power of sigma sqrt(k)")
    toward = toward if power > 0 else OPPOSITE[toward]
    # Q depends on the leaf through kappa alone: one copy from (mu, 0) has kappa = mu^4.
    tree = Operation("*", Name("u"), Name("v"))
    one = Parameterization([tree], None, {"u": Name("mu"), "v": Number(Fraction(0))}, ["mu"])
    limits = regimes(derive(one), "mu", (toward,))
    claim = Claim(Name("mu"), toward, {}, ())
    more = f"; for every width, in probability as k -> infinity: {random_width().finding.reason}"
    return compare_limit(limits, printed, claim, False, more)


def _power_of_mu(printed: Printed, what: str) -> int | None:
    """Return n where a text is proved to be a multiple of mu^n."""
    *definitions, _ = printed.where
    trees = [parse_expression(text) for _, text in (*definitions, (what, what))]
    defined = [name for name, _ in definitions]
    free = [name for name in dict.fromkeys((*names(tuple(trees)), "k", "sigma"))
            if name not in defined]  # fmt: skip
    point = {name: Fraction(5 + 2 * i, 3) for i, name in enumerate(free)}
    tower = Elementary(point, trees)
    leaf = Leaf(tower, dict(tower.known), point, len(free))
    define(leaf, Printed(printed.kind, (), "", "", tuple(definitions)))
    quantity, mu = leaf.read(checked(trees[-1], leaf)), leaf.read(random_width().mu)
    return next(
        (n for n in EXPONENTS if leaf.is_constant(tower.tidy(quantity / mu**n))),
        None,
    )
