"""Limits of Q in a start symbol: exact expansions of its gradient, and what they are called.

At fixed beta, grad Q(beta) = N (G(beta) + o(1)) as the symbol tends to its limit, N > 0 free of
beta. Q/N, fixed to be 0 at one point, is convex and its gradient converges almost everywhere and,
as gradients of convex functions, locally bounded; so Q/N converges to the convex function with
gradient G, uniformly on compact sets, and where that has a single minimizer on {X beta = y} the
minimizers converge to it (Rockafellar & Wets 1998, theorems 7.17 and 7.33).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.regimes.coefficients import Coefficients, Undefined, Unexpanded
from derive.regimes.expansion import Expander, Expansion, Growth
from derive.regimes.limit import Limit, Point, Regime, growth_expression, undecided
from derive.regimes.limit_form import LimitForm, recognize
from derive.regimes.root_expansion import expand_largest_root
from derive.verdict import Finding, Identity, Verdict

_SPANS = (1, 2, 4, 8)


@dataclass(frozen=True)
class LeadingGradient:
    """grad Q = e^r |log e|^k (G + O(error)), one G for each sign of a coordinate that has its own.

    Attributes:
        growth: (r, -k).
        above: G_i in the coordinates, those of single outputs positive.
        below: G_i with those of single outputs in place of their negatives, None where Q is not
            defined there; the same where outputs are coupled.
        error: the growth of the largest term left out, over that of the leading one; None where
            nothing is left out.
        sharp: whether that term is known, rather than a bound.
        second: its coefficients beside G, as above; empty where it is not known.
    """

    growth: Growth
    above: tuple[Expr, ...]
    below: tuple[Expr | None, ...]
    error: Growth | None
    sharp: bool
    second: tuple[Expr, ...] = ()


def closed_limit(
    gradient: Sequence[Expr],
    betas: Sequence[Symbol],
    single: Sequence[bool],
    point: Point,
    positive: frozenset[str],
    kernel: sympy.ImmutableMatrix,
    roots: Sequence[tuple[Symbol, Expr]] = (),
    ended: Sequence[bool] = (),
) -> Limit:
    """Return the limit of Q at fixed beta from the closed form of its gradient.

    Args:
        gradient: d expressions in the betas and start symbols.
        betas: the d coordinates.
        single: for each, whether its gradient depends on it alone.
        point: where a start symbol tends to.
        positive: start symbols that are positive.
        kernel: K(w_0) in start symbols.
        roots: symbols in the gradient that stand for the largest real root of a polynomial.
        ended: for each coordinate, whether it is always positive; none is by default.
    """
    try:
        leading = expand_gradient(gradient, betas, single, point, positive, roots, ended)
        form = recognize(leading.above, leading.below, betas, single, positive)
    except Unexpanded as open_end:
        return undecided(point, str(open_end))
    regime: Regime = "intermediate"
    if is_inverse_kernel(form, kernel, betas, point, positive):
        regime = "kernel"
    elif form.shape == "l1":
        regime = "rich"
    elif form.shape == "l2" and form.degree != 2:
        regime = "anti-NTK"
    small = point.small
    unit = growth_expression(leading.growth, small)
    error = None if leading.error is None else growth_expression(leading.error, small)
    evidence = (
        *(Identity(f"{A} is the largest real root of this", str(P), "0") for A, P in roots),
        *(
            Identity(f"dQ/d{b} = N (G + ...)", str(g), f"({unit})*({series})")
            for b, g, series in zip(betas, gradient, _series(leading, error), strict=True)
        ),
    )
    finding = Finding(Verdict.PROVED, "exact expansion of grad Q at fixed beta", evidence)
    at = tuple(betas)
    return Limit(point, finding, regime, at, None, unit, form, leading.below, error, leading.sharp)


def _series(leading: LeadingGradient, error: Expr | None) -> list[str]:
    """Return G, the term after it where it is known, and Landau's symbol for the remainder."""
    if error is None:
        return [str(g) for g in leading.above]
    if not leading.second:
        return [f"{g} + O({error})" for g in leading.above]
    pairs = zip(leading.above, leading.second, strict=True)
    return [f"{g} + ({c})*{error} + o({error})" for g, c in pairs]


def expand_gradient(
    gradient: Sequence[Expr],
    betas: Sequence[Symbol],
    single: Sequence[bool],
    point: Point,
    positive: frozenset[str],
    roots: Sequence[tuple[Symbol, Expr]] = (),
    ended: Sequence[bool] = (),
) -> LeadingGradient:
    """Expand grad Q at fixed beta to its leading order and the error after it.

    Args:
        gradient: d expressions in the betas and start symbols.
        betas: the d coordinates.
        single: for each, whether its gradient depends on it alone.
        point: where a start symbol tends to.
        positive: start symbols that are positive.
        roots: symbols in the gradient that stand for the largest real root of a polynomial.
        ended: for each coordinate, whether it is always positive.

    Raises:
        Unexpanded: an expansion of this kind does not exist or a sign was not decided.
    """
    e = Symbol("e_", positive=True)
    signed = {b for b, alone in zip(betas, single, strict=True) if alone}
    magnitudes = {b: Symbol(b.name, positive=True) if b in signed else b for b in betas}
    # In the length of beta the roots of equivariant models have short coefficients.
    length = Symbol("length_", positive=True)
    norm = sympy.sqrt(sympy.Add(*(m**2 for m in magnitudes.values())))
    names = {*positive, *(b.name for b in signed), length.name}
    decide = Coefficients(names, {length: norm})
    last: LeadingGradient | Unexpanded = Unexpanded("no expansion")
    for span in _SPANS:

        def expanded(g: Expr, sign: int, order: Fraction = Fraction(span)) -> Expansion | None:
            at = {b: sign * m if b in signed else m for b, m in magnitudes.items()}
            known: dict[Symbol, Expansion] = {}
            try:
                for symbol, polynomial in roots:
                    P = _at(polynomial.subs(at, simultaneous=True), point, e)
                    P = _in_length(P, tuple(magnitudes.values()), length)
                    known[symbol] = expand_largest_root(P, symbol, e, decide, order)
                image = g.subs(at, simultaneous=True)
                if image.has(sympy.zoo, sympy.nan, sympy.oo):
                    raise Undefined("a pole")
                return Expander(e, decide, order, known).expand(_at(image, point, e))
            except Undefined:
                if sign > 0:
                    raise
                return None  # F does not reach there

        ends = ended or [False] * len(gradient)
        try:
            above = [expanded(g, 1) for g in gradient]
            below = [
                None if end else expanded(g, -1) for g, end in zip(gradient, ends, strict=True)
            ]
            last = _leading([above, below])
        except Unexpanded as open_end:
            if isinstance(last, LeadingGradient):
                break
            last = open_end
            continue
        if last.sharp:
            break
    if isinstance(last, Unexpanded):
        raise last
    back = {length: norm}
    return replace(
        last,
        above=tuple(g.xreplace(back) for g in last.above),
        below=tuple(None if g is None else g.xreplace(back) for g in last.below),
        second=tuple(g.xreplace(back) for g in last.second),
    )


def _in_length(polynomial: Expr, betas: Sequence[Symbol], length: Symbol) -> Expr:
    """Return a polynomial in |beta| where it depends on the betas through it alone."""
    last, others = betas[-1], betas[:-1]
    square = length**2 - sympy.Add(*(b**2 for b in others))
    expanded = sympy.expand(sympy.expand(polynomial).subs(last**2, square))
    return polynomial if expanded.has(*betas) else expanded


def _at(expression: Expr, point: Point, e: Symbol) -> Expr:
    images = {s: point.image(e) for s in expression.free_symbols if s.name == point.variable}
    return sympy.powdenest(expression.xreplace(images))


def _leading(sides: list[list[Expansion | None]]) -> LeadingGradient:
    expansions = [x for side in sides for x in side if x is not None]
    growth = min((x.leading for x in expansions if x.terms), default=None)
    if growth is None or not all(x.reaches(growth) for x in expansions):
        raise Unexpanded("terms that cancel hide the leading one")
    above = tuple(_coefficient(x, growth) for x in sides[0] if x is not None)
    below = tuple(None if x is None else _coefficient(x, growth) for x in sides[1])
    rest = [g for x in expansions for g in x.terms if g != growth]
    orders = [(x.order, 0) for x in expansions if x.order is not None]
    least = min([*rest, *orders], default=None)
    if least is None:
        return LeadingGradient(growth, above, below, None, True)
    error = least[0] - growth[0], least[1] - growth[1]
    if least not in rest:
        return LeadingGradient(growth, above, below, error, False)
    second = tuple(_coefficient(x, least) for x in sides[0] if x is not None)
    return LeadingGradient(growth, above, below, error, True, second)


def _coefficient(x: Expansion, growth: Growth) -> Expr:
    """Return the coefficient of e^r log(1/e)^k, which is that of e^r log(e)^k up to a sign."""
    sign = -1 if growth[1] % 2 else 1
    return sign * x.terms.get(growth, sympy.S.Zero)


def is_inverse_kernel(
    form: LimitForm,
    kernel: sympy.Matrix,
    betas: Sequence[Symbol],
    point: Point,
    names: frozenset[str],
) -> bool:
    """Tell whether the Hessian M of a quadratic limit is K(w_0)^-1, to leading order and scale.

    The product K(w_0) M must be a multiple of the identity to leading order.
    """
    if form.shape not in ("quadratic", "l2") or form.degree != 2:
        return False
    hessian = sympy.Matrix([[sympy.diff(g, b) for b in betas] for g in form.gradient])
    e = Symbol("e_", positive=True)
    decide = Coefficients(names)
    try:
        for span in _SPANS:
            expander = Expander(e, decide, Fraction(span))
            entries = [expander.expand(_at(x, point, e)) for x in kernel * hessian]
            growth = min(x.leading for x in entries if x.terms)
            if all(x.reaches(growth) for x in entries):
                break
        else:
            return False
        leading = [x.terms.get(growth, sympy.S.Zero) for x in entries]
        n = len(betas)
        return all(
            decide.is_zero(c - (leading[0] if k % (n + 1) == 0 else 0))
            for k, c in enumerate(leading)
        )
    except (Unexpanded, ValueError):
        return False
