"""Printed statements on starts: how small or large one must be, how fast, and what random ones do.

An output that is a sum of copies of one function, each of weights of its own, says what every
width has in common: variances add, and what is proved of <u, v> in inner products holds.
A bound that is claimed for every problem is tried on random ones: a failure refutes it, and what
holds on all of them is said to hold there, which is no proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod

import sympy
from sympy import Expr, Symbol

from derive.catalogue.audit.germs import Germs, conditions_of, texts_of
from derive.catalogue.audit.judgement import Judgement, Witness, agreement, difference
from derive.catalogue.audit.limits_of_q import Claim, compare_limit
from derive.catalogue.audit.proportionality import judge_equal
from derive.catalogue.audit.subject import Subject
from derive.catalogue.library import Printed
from derive.derivation import derive
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.towers.germ import Unsettled
from derive.language import Name, Number, names, parse_expression
from derive.language.tree import Operation
from derive.limits.find import regimes
from derive.limits.random_width import random_width
from derive.model.notation import rational, to_expr
from derive.model.parameterization import Parameterization
from derive.render.plain import plain
from derive.verdict import Verdict

Terms = Mapping[tuple[int, ...], Fraction]
PRODUCT: Terms = {(1, 1): Fraction(1)}
DEVIATION = Symbol("sigma", positive=True)
EXPONENTS = (1, -1, 2, -2, 4, -4)
OPPOSITE = {"0": "infinity", "infinity": "0"}


def copies_of(p: Parameterization) -> tuple[int, Terms] | None:
    """Return k and f where F = f(w_1) + ... + f(w_k), each copy of weights of its own, or None.

    >>> copies_of(Parameterization.parse(["u1*v1 + u2*v2"]))
    (2, {(1, 1): Fraction(1, 1)})
    """
    if p.d != 1 or p.field.generators or not p.F[0].is_polynomial():
        return None
    groups = _sharing_weights(p.F[0])
    units = [
        {tuple(e[i] for i in sorted(used)): c for e, c in found.items()} for used, found in groups
    ]
    same = all(unit == units[0] for unit in units[1:])
    return (len(units), units[0]) if same and all(used for used, _ in groups) else None


def _sharing_weights(F: RationalFunction) -> list[tuple[set[int], dict[tuple[int, ...], Fraction]]]:
    """Return the least groups of terms of a polynomial that share no weight, with those weights."""
    scale = int(F.denominator.leading_coefficient())
    groups: list[tuple[set[int], dict[tuple[int, ...], Fraction]]] = []
    for exponents, c in terms(F.numerator):
        used = {i for i, e in enumerate(exponents) if e}
        found = {exponents: Fraction(int(c), scale)}
        for group in [g for g in groups if g[0] & used]:
            groups.remove(group)
            used |= group[0]
            found |= group[1]
        groups.append((used, found))
    return groups


def check_wide_limit(subject: Subject, printed: Printed) -> Judgement:
    """Compare what Q tends to for beta = <u, v> from random starts of width k -> infinity.

    Then Q depends on mu = sigma sqrt(k) alone, in probability (:func:`random_width`); the last
    entry of ``where`` must be a power of mu, by what ``where`` says of sigma.
    """
    found = copies_of(subject.p)
    if found is None or found[1] != PRODUCT:
        raise Unsettled("wide random starts are derived for <u, v> only")
    if not printed.where:
        raise Unsettled("the record does not say what tends to what")
    what, toward = printed.where[-1]
    power = _power_of_mu(printed, what)
    if power is None or toward not in OPPOSITE:
        raise Unsettled(f"{what} is not proved to be a power of sigma sqrt(k)")
    toward = toward if power > 0 else OPPOSITE[toward]
    # Q depends on the leaf through kappa alone: one copy from (mu, 0) has kappa = mu^4.
    tree = Operation("*", Name("u"), Name("v"))
    one = Parameterization([tree], None, {"u": Name("mu"), "v": Number(Fraction(0))}, ["mu"])
    limits = regimes(derive(one), "mu", (toward,))
    claim = Claim(Name("mu"), toward, {}, ())
    more = f"; for every width, in probability as k -> infinity: {random_width().finding.words}"
    return compare_limit(limits, printed, claim, more)


def _power_of_mu(printed: Printed, what: str) -> int | None:
    """Return n where a text is proved to be a multiple of mu^n."""
    trees = parse_expression(what), Name("k"), Name("sigma")
    germs = Germs.independent(trees, printed.where[:-1], lambda i, name: Fraction(5 + 2 * i, 3))
    quantity, mu = germs.read(trees[0]), germs.read(random_width().mu)
    ratios = ((n, germs.tower.tidy(quantity / mu**n)) for n in EXPONENTS)
    return next((n for n, ratio in ratios if germs.is_constant(ratio)), None)


def check_variance(subject: Subject, printed: Printed) -> Judgement:
    """Compare the variance of F(w_0) for independent normal weights of deviation sigma.

    Where F is a sum of copies and the texts leave k open, k is their number.
    """
    p = subject.p
    if p.d != 1 or p.field.generators or not p.F[0].is_polynomial():
        raise Unsettled("the variance is derived for one polynomial output")
    germs = Germs.independent(
        texts_of(printed), printed.where, lambda k, name: Fraction(3 + k, 2), conditions_of(printed)
    )
    variance = sympy.factor(_mean(p.F[0] * p.F[0]) - _mean(p.F[0]) ** 2)
    if "k" in germs.point:
        copies = copies_of(p)
        if copies is None:
            raise Unsettled("F is no sum of k copies of one function")
        # Variances of independent copies add: that of every width k.
        variance = variance * Symbol("k") / copies[0]
    (given,) = germs.texts
    derived = f"Var beta(0) = {plain(variance)}, sigma the deviation of a weight"
    reason = "the variance of F at the start"
    return judge_equal(germs, given, germs.read(variance), derived, reason)


def _mean(F: RationalFunction) -> Expr:
    """Return the mean of a polynomial: E w^n = (n - 1)!! sigma^n for even n, 0 for odd n."""
    total = sympy.S.Zero
    scale = F.denominator.leading_coefficient()
    for exponents, c in terms(F.numerator):
        if not any(e % 2 for e in exponents):
            moments = prod(int(sympy.factorial2(e - 1)) if e else 1 for e in exponents)
            total += rational(Fraction(int(c) * moments, int(scale))) * DEVIATION ** sum(exponents)
    return total


def check_rate(subject: Subject, printed: Printed) -> Judgement:
    """Try |beta|_p^p <= (1 + eps) norm^p beyond all the printed bounds on random problems."""
    if subject.trial is None:
        raise Unsettled("it is no identity, and no problems were solved to try it")
    if subject.open_dimension or subject.derivation.verdict is not Verdict.PROVED:
        raise Unsettled("problems are solved for a given dimension and a Q only")
    given, potential = dict(printed.where), subject.derivation.potential
    if given.get("p") not in ("1", "2") or len(given) != 2:
        raise Unsettled("the record does not say which norm is bounded, and what tends to what")
    tried = subject.trial(potential, printed.text, *printed.where[-1], int(given["p"]))
    if not tried.failures:
        held = f"a proof: it held on {tried.total} of {tried.total} random problems"
        return agreement("double precision", (held,))
    worst = tried.failures[0]
    reason = f"it fails on {len(tried.failures)} of {tried.total} random problems"
    shown = Witness(worst.point, (worst.bound,), (worst.value,))
    reason += "; values are the bound and the norm"
    return difference(reason, "double precision", tried.claim, (shown,))


def check_time(subject: Subject, printed: Printed) -> Judgement:
    """Compare the factor by which flow from alpha w_0 is faster: alpha^(2D - 2), as K is.

    Source: Chizat, Oyallon, Bach 2019, for F(c w) = c^D F(w), where K(c w) = c^(2D-2) K(w).
    """
    p = subject.p
    if p.homogeneity is None:
        raise Unsettled("F is not homogeneous")
    (tree,) = texts_of(printed)
    scales = [name for name in names((tree,)) if name not in p.parameters]
    if len(scales) != 1:
        raise Unsettled("the printed factor has not one symbol for the scale")
    point = {scales[0]: Fraction(3, 2), **{name: Fraction(5) for name in p.parameters}}
    germs = Germs.at(point, (tree,), len(point))
    degree = to_expr(p.homogeneity, {name: Symbol(name) for name in p.parameters})
    factor = germs.read(tree)
    rate = germs.tower.tidy(germs.images[scales[0]] * germs.tower.derivative(factor, 0) / factor)
    derived = f"{scales[0]}**({plain(sympy.expand(2 * degree - 2))})"
    reason = "the exponent; values are those"
    return judge_equal(germs, rate, germs.read(2 * degree - 2), derived, reason)
