"""The start from which unperturbed flow has the laws that a perturbed one ends with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy
from sympy import Expr, Symbol

from derive.exact.linear.families import LogFunction
from derive.model.notation import Notation, log_expr, to_expr
from derive.model.parameterization import Parameterization
from derive.perturbed.drift import Drift
from derive.perturbed.followed import Followed, Leaf, gradient
from derive.perturbed.record import Perturbation
from derive.verdict import Verdict

Effective = dict[Symbol, Expr]
"""Start symbols, each with what takes its place."""
Row = tuple[Followed, Expr | None, Expr | None]


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


def effective_start(
    found: Perturbation, leaves: Sequence[Leaf]
) -> tuple[Effective | None, tuple[Expr, ...] | None]:
    """Return the start symbols with which unperturbed flow has the laws at the end, or None.

    All are multiplied by one factor. With them, what y(0) + xi is beside y(0) of that start, for
    the outputs in turn; None where that is not constant. Where not all laws are known, no start is
    known to have them.
    """
    whole, left = Effective(), dict[int, Expr]()
    for leaf in leaves:
        part, own = _start_of(found, leaf)
        if part is None or any(whole.get(s, x) != x for s, x in part.items()):
            return None, None
        whole |= part
        left |= dict(zip(leaf.outputs, own, strict=False))
    shift = tuple(left[i] for i in sorted(left))
    known = len(left) == sum(len(leaf.outputs) for leaf in leaves) > 0
    # a warp of Q and one of y may differ by a factor
    alike = found.derivation.hessian.verdict is Verdict.PROVED or not any(shift)
    return whole, shift if known and alike else None


def _start_of(found: Perturbation, leaf: Leaf) -> tuple[Effective | None, tuple[Expr, ...]]:
    """Return the start of one block: f s for the start symbols s, laws of degree m times f^m.

    Without laws f is that with which y(0) + n log f is y(0) + xi. Then what is left of xi for each
    y, xi - y(0) of that start + y(0); nothing where one of them is not constant.
    """
    p, known = leaf.parameterization, leaf.notation.start_symbols
    rows = _duals(found, leaf)
    if not (leaf.complete and rows) or any(n != 0 and xi is None for _, n, xi in rows):
        return None, ()
    ratios = {_of_law(found, leaf, law) for law in leaf.laws} or {_of_dual(rows)}
    if len(ratios) != 1 or (f := ratios.pop()) is None:
        return None, ()
    image = {known[name]: known[name] * f for name in p.start_symbols}
    left = [_left(leaf, y, xi, image) for y, _, xi in rows]
    return image, tuple(x for x in left if x is not None) if None not in left else ()


def _duals(found: Perturbation, leaf: Leaf) -> list[Row]:
    """Return each dual coordinate with n of y(0) + n log f, and its xi."""
    p = leaf.parameterization
    return [(y, _growth(p, y.function), _shift(found, leaf, y)) for y in leaf.dual]


def _of_dual(rows: Sequence[Row]) -> Expr:
    """Return f with which the first y(0) + n log f is y(0) + xi."""
    factors = (sympy.exp(xi / n) for _, n, xi in rows if n and xi is not None)
    return next(factors, sympy.S.One)


def _shift(found: Perturbation, leaf: Leaf, y: Followed) -> Expr | None:
    """Return xi of a dual coordinate, where that is constant."""
    drift = _drift(found, y)
    return sympy.S.Zero if drift.still else _constant(found, leaf, drift)


def _left(leaf: Leaf, y: Followed, xi: Expr | None, image: Effective) -> Expr | None:
    """Return xi - y(0) of the start with these symbols + y(0); None where one is not known."""
    p, f = leaf.parameterization, y.function
    if xi is None:
        return None
    try:
        value = log_expr(f.mapped(p.at_start), leaf.notation.start_symbols)
    except ZeroDivisionError:
        return None
    scale = next((x / s for s, x in image.items()), sympy.S.One)
    n = _growth(p, f)
    moved = value.xreplace(image) - value if n is None else n * sympy.log(scale)
    return sympy.expand(sympy.expand_log(xi - moved, force=True))


def _of_law(found: Perturbation, leaf: Leaf, law: Followed) -> Expr | None:
    """Return f, of which a law of degree m is multiplied by f^m."""
    value, factor = leaf.parameterization.at_start(law.function.rational), _factor(found, leaf, law)
    if factor is None or not value.is_homogeneous() or not value.degree():
        return None
    return factor ** sympy.Rational(1, value.degree())


def _growth(p: Parameterization, y: LogFunction) -> Expr | None:
    """Return n with y_0 -> y_0 + n log f as all start symbols are multiplied by f, exactly."""
    try:
        slopes = gradient(y.mapped(p.at_start))
    except ZeroDivisionError:
        return None
    s = map(p.start_field.named, p.start_symbols)
    n = sum((x * v for x, v in zip(s, slopes, strict=False)), p.start_field.zero)
    return to_expr(n, {}) if n.is_constant() else None


def _drift(found: Perturbation, x: Followed) -> Drift:
    (drift,) = (d for d in (*found.of_laws, *found.of_dual) if d.symbol == x.symbol)
    return drift


def _constant(found: Perturbation, leaf: Leaf, drift: Drift) -> Expr | None:
    """Return what y drifts by on the whole, where that is the same at all times, or None."""
    rate = drift.in_laws
    velocities = "momentum" in found.kinds or "step" in found.kinds
    kept = {
        law.symbol: to_expr(p.at_start(law.function.rational), leaf.notation.start_symbols)
        for p in [leaf.parameterization]
        for law in leaf.laws
        if _drift(found, law).still
    }
    rate = None if rate is None else rate.xreplace(kept)
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
