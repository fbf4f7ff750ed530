"""The start from which unperturbed flow has the laws that a perturbed one ends with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy
from sympy import Expr, Symbol

from derive.exact.linear.families import LogFunction
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.perturbed.drift import Drift
from derive.perturbed.followed import Followed, Leaf, gradient
from derive.perturbed.record import Perturbation

Effective = dict[Symbol, Expr]
"""Start symbols, each with what takes its place."""


def scaled_start(p: Parameterization, factors: Mapping[str, Expr]) -> tuple[tuple[str, Expr], ...]:
    """Return each weight with its factor times its start."""
    symbols = Notation(p, ()).start_symbols
    pairs = zip(p.weights, p.w0, strict=True)
    return tuple((w, factors[w] * to_expr(x, symbols)) for w, x in pairs)


def scaled_symbols(p: Parameterization, factors: Mapping[str, Expr]) -> Effective | None:
    """Return start symbols with which every weight starts at its factor times its start, or None.

    Where the start is homogeneous of degree n in some symbols, these have its factor to the power
    1/n.
    """
    found, field, names = Effective(), p.start_field, Notation(p, ()).start_symbols
    for w, x in zip(p.weights, p.w0, strict=True):
        own = [s for s in p.start_symbols if s in x.variables()]
        parts = (field.named(s) * field.derivative(x, field.weights.index(s)) for s in own)
        n = sum(parts, field.zero) / x if not x.is_zero() else field.one
        if not n.is_constant() or n.is_zero():
            return None
        for s in own:
            image = names[s] * factors[w] ** (1 / to_expr(n, names))
            if found.setdefault(names[s], image) != image:
                return None
    return found or None


def effective_start(found: Perturbation, leaves: Sequence[Leaf]) -> tuple[Effective | None, bool]:
    """Return the start symbols with which unperturbed flow has the laws at the end, or None.

    All are multiplied by one factor. Whether y(0) of that start has the shift xi, too, is told.
    Where not all laws are known, no start is known to have them.
    """
    whole: Effective = {}
    shifted = True
    for leaf in leaves:
        part, own = _start_of(found, leaf)
        if part is None or any(whole.get(s, x) != x for s, x in part.items()):
            return None, False
        whole |= part
        shifted = shifted and own
    return whole, shifted and bool(whole)


def _start_of(found: Perturbation, leaf: Leaf) -> tuple[Effective | None, bool]:
    """Return the start of one block: f s for the start symbols s, laws of degree m times f^m.

    Where y(0) becomes y(0) + n log f, that is what y drifts by; where n = 0, xi is left.
    """
    p, known = leaf.parameterization, leaf.notation.start_symbols
    growths = [_growth(p, y.function) for y in leaf.dual]
    ratios = {_of_law(found, leaf, law) for law in leaf.laws}
    moved = [(y, n) for y, n in zip(leaf.dual, growths, strict=True) if n != 0]
    ratios |= {_of_dual(found, leaf, y, n) for y, n in moved}
    if not (leaf.complete and leaf.dual) or len(ratios) != 1 or None in ratios:
        return None, False
    (ratio,) = ratios
    shifted = all(n != 0 or _drift(found, y).still for y, n in zip(leaf.dual, growths, strict=True))
    return {known[name]: known[name] * (ratio or 0) for name in p.start_symbols}, shifted


def _of_law(found: Perturbation, leaf: Leaf, law: Followed) -> Expr | None:
    """Return f, of which a law of degree m is multiplied by f^m."""
    value, factor = leaf.parameterization.at_start(law.function.rational), _factor(found, leaf, law)
    if factor is None or not value.is_homogeneous() or not value.degree():
        return None
    return factor ** sympy.Rational(1, value.degree())


def _of_dual(found: Perturbation, leaf: Leaf, y: Followed, n: Expr | None) -> Expr | None:
    """Return f, where y drifts by the number n log f."""
    drift = _drift(found, y)
    shift = sympy.S.Zero if drift.still else _constant(found, leaf, drift)
    return None if n is None or shift is None else sympy.exp(shift / n)


def _growth(p: Parameterization, y: LogFunction) -> Expr | None:
    """Return n with y_0 -> y_0 + n log f as all start symbols are multiplied by f, exactly."""
    logs = tuple((p.at_start(c), p.at_start(a)) for c, a in y.logs)
    if y.is_zero() or any(a.is_zero() for _, a in logs):
        return None
    slopes = gradient(LogFunction(p.at_start(y.rational), logs))
    s = map(p.start_field.named, p.start_symbols)
    n = sum((x * v for x, v in zip(s, slopes, strict=False)), p.start_field.zero)
    return to_expr(n, {}) if n.is_constant() else None


def _drift(found: Perturbation, x: Followed) -> Drift:
    (drift,) = (d for d in (*found.of_laws, *found.of_dual) if d.symbol == x.symbol)
    return drift


def _constant(found: Perturbation, leaf: Leaf, drift: Drift) -> Expr | None:
    """Return what y drifts by on the whole, where that is the same at all weights, or None."""
    rate = drift.in_laws
    velocities = "momentum" in found.kinds or "step" in found.kinds
    if rate is None or velocities or rate.has(*(x.symbol for x in leaf.all)):
        return None
    return _accumulated(found, leaf, rate)


def _accumulated(found: Perturbation, leaf: Leaf, rate: Expr) -> Expr:
    """Return a rate per unit of time, with kappa for k; decay alone is per unit of kappa."""
    kappa = leaf.fresh("kappa")
    return kappa * rate if found.by == "decay" else rate.xreplace({leaf.fresh("k"): kappa})


def _factor(found: Perturbation, leaf: Leaf, law: Followed) -> Expr | None:
    """Return what a law is multiplied by, up to the end or in a step, where that is known.

    Under momentum it is in terms of Delta_c, the change of c, or of log |c| where that has a side.
    """
    drift = _drift(found, law)
    if drift.still:
        return sympy.S.One
    if "momentum" in found.kinds and "step" not in found.kinds:
        change = leaf.fresh(f"Delta_{law.symbol.name.rstrip('_')}")
        if any(x.law == law.symbol and x.in_logarithm for x in found.one_sided):
            return sympy.exp(change)
        value = leaf.parameterization.at_start(law.function.rational)
        return None if value.is_zero() else 1 + change / to_expr(value, leaf.notation.start_symbols)
    ratio = None if drift.in_laws is None else sympy.expand(drift.in_laws / law.symbol)
    if ratio is None or ratio.has(*(x.symbol for x in leaf.laws)):
        return None
    return 1 + ratio if "step" in found.kinds else sympy.exp(_accumulated(found, leaf, ratio))
