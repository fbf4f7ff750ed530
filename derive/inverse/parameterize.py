"""Inverse design: from a separable potential Q to a parameterization whose flow minimises it.

For one weight K = F'(w)^2 = 1/Q''(beta), so dw = sqrt(Q'') dbeta and F is the inverse of that
integral. Candidates come from patterns; what is printed was accepted by an exact identity.

A pair p, m: 1/Q''^2 is a quadratic polynomial in beta, the shape of p^2 - m^2. On the leaf
p m = gamma of beta = b + s (p^2 - m^2) the kernel is
K = 4 s^2 (p^2 + m^2) = 4 s sqrt((beta - b)^2 + 4 s^2 gamma^2), as Woodworth et al. (2020) have it
for p = m = alpha at the start.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import sympy
from sympy import Expr

from derive.errors import InputError
from derive.inverse.acceptance import FlowStart, accepts, flow_start, starts, within
from derive.inverse.candidates import (
    Candidate,
    W,
    candidates,
    cases,
    completed,
    conditions,
    defined,
    tidy,
)
from derive.inverse.coupled import LinearChange, in_the_plane, linear_change
from derive.inverse.design import (
    Coordinate,
    FlatMap,
    FlatOnly,
    IntegralOnly,
    InverseDesign,
    Parameterized,
    accepted,
)
from derive.inverse.term import Convexity, Term, examine, recognise
from derive.language import from_sympy, parse_expression, to_sympy, to_text
from derive.language.tree import Tree, names
from derive.model.labels import backticked
from derive.verdict import Finding, Identity, Verdict

CANDIDATES = 24
"""How many are tried for one coordinate."""

Written: TypeAlias = str | Expr | Tree
"""An expression as users give it."""


def parameterize(
    potentials: Written | Sequence[Written],
    variable: str | None = None,
    start: Mapping[str, Written] | None = None,
    positive: Iterable[str] = (),
) -> InverseDesign:
    """Find F whose gradient flow minimises Q, and prove it.

    For one weight F'(w)^2 Q''(F(w)) = c, for a pair <grad F, grad F> Q''(F) = c on the leaves of
    p m; c > 0 is the same for all terms of Q and only changes its unit.

    >>> parameterize("-log(beta)").outputs
    ('exp(w)',)
    >>> parameterize("beta*asinh(beta/2) - sqrt(beta**2 + 4)").outputs
    ('p**2 - m**2',)

    Args:
        potentials: Q, or one term for each coordinate: text, SymPy expressions or trees.
        variable: the coordinate of a single term; by default ``beta``, or the only name.
        start: beta_0 by the name of the coordinate; by default a zero of Q'.
        positive: parameters that are positive.

    Returns:
        What was found for each term: F in one weight or two, else the integral of which F is the
        inverse, or the proof that there is none.

    Raises:
        InputError: Q is not separable, or names do not fit.

    Source: Woodworth et al. 2020 for the pair; Amid and Warmuth 2020, *Reparameterizing mirror
    descent as gradient descent*, for one weight.
    """
    if isinstance(potentials, str) or not isinstance(potentials, Sequence):
        potentials = [potentials]
    trees = [_tree(x) for x in potentials]
    if not trees:
        raise InputError("no potential: give Q(beta), such as beta*log(beta) - beta")
    found: list[Coordinate] = []
    change: list[tuple[str, Expr]] = []
    target: Expr | None = None
    waiting = [*reversed(_terms(trees, variable, dict(start or {}), frozenset(positive)))]
    while waiting:
        term = waiting.pop()
        coordinate = _coordinate(term, target)
        if isinstance(coordinate, LinearChange):
            change += coordinate.betas
            waiting += reversed(coordinate.terms)
            continue
        found.append(coordinate)
        # One clock for all terms: every later F is scaled to the constant of the first.
        if target is None and isinstance(coordinate, Parameterized | FlatMap):
            target = coordinate.scale
    return InverseDesign(tuple(found), tuple(change))


def _tree(value: Written) -> Tree:
    if isinstance(value, str):
        return parse_expression(value)
    return from_sympy(value) if isinstance(value, sympy.Basic) else value


def _terms(
    trees: list[Tree], variable: str | None, start: dict[str, Written], positive: frozenset[str]
) -> list[Term]:
    """Return the terms of Q, each with its coordinates and start."""
    groups = [recognise(tree, variable) for tree in trees]
    variables = [name for group in groups for name in group]
    if unknown := [name for name in start if name not in variables]:
        raise InputError(f"start: there is no coordinate {unknown[0]} ({', '.join(variables)})")
    if excess := sorted(positive - set(names(tuple(trees)))):
        raise InputError(f"positive: {excess[0]} is no parameter of Q")
    _apart(trees, groups)
    several, terms = any(len(group) > 1 for group in groups), list[Term]()
    for i, (tree, group) in enumerate(zip(trees, groups, strict=True), 1):
        given = sorted({*group} & {*start})
        if given and len(group) > 1:
            raise InputError(f"start: Q couples {given[0]} to others; leave it out")
        value = _tree(start[given[0]]) if given else None
        if value is not None and set(names((value,))) & set(variables):
            raise InputError(f"start: the value of {given[0]} uses a coordinate")
        term = Term(tree, group, positive - {*group}, value, str(i) * (len(trees) > 1))
        terms.append(replace(term, suffix=term.numbers[0]) if several else term)
        _refuse_ours(term)
    return terms


def _refuse_ours(term: Term) -> None:
    """Refuse parameters that have the names of weights, or other names of ours."""
    if not term.couples and W.name in term.parameters:
        raise InputError("w is the name of the weight: call the parameter something else")
    ours = {"t", "phi", *(f"{x}{n}" for x in "uw" for n in term.numbers)}
    if term.couples and (taken := sorted(ours & {*term.parameters})):
        raise InputError(f"{taken[0]} is a name of ours: call the parameter something else")


def _apart(trees: Sequence[Tree], groups: Sequence[tuple[str, ...]]) -> None:
    """Refuse terms that share a coordinate."""
    variables = [name for group in groups for name in group]
    for tree, group in zip(trees, groups, strict=True):
        others = {*variables} - {*group} | {x for x in group if variables.count(x) > 1}
        if not (shared := sorted(others & {*names((tree,))})):
            continue
        coupled = sorted({*shared, *group, *(x for g in groups if shared[0] in g for x in g)})
        if len(coupled) == 1:
            raise InputError("two terms use the same coordinate: call them beta1, beta2, ...")
        words = f"Q couples {' and '.join(coupled)}"
        raise InputError(f"{words}: write all terms with one of these as one argument")


def _coordinate(term: Term, target: Expr | None) -> Coordinate | LinearChange:
    """Return what is found for one term, with J^T (Hess Q) J = *target* where that is given."""
    convexity = examine(term)
    if convexity is None and term.start is not None:
        raise InputError(f"start: Q is not defined and smooth around {term.variable} there")
    if convexity is None:
        reason = "Q is not defined and smooth at any point that was tried"
        return Coordinate(term, Finding(Verdict.UNDECIDED, reason), None)
    if convexity.sign <= 0:
        return _refused(convexity)
    return (_coupled if term.couples else _single)(convexity, target)


def _coupled(convexity: Convexity, target: Expr | None) -> Coordinate | LinearChange:
    """Return F of several variables, or others in which Q is a sum."""
    term, flat = convexity.term, convexity.flatness
    if flat.verdict is not Verdict.PROVED:
        return Coordinate(term, flat, None)
    unknown = Finding(Verdict.UNDECIDED, "no closed form of `F` was found", flat.evidence)
    found = linear_change(convexity) or in_the_plane(convexity, target)
    return found or FlatOnly(term, unknown, None, ())


def _single(convexity: Convexity, target: Expr | None) -> Coordinate:
    """Return F of one variable, in one weight or a pair, or the integral of which it is inverse."""
    term = convexity.term
    element = convexity.element
    best: Parameterized | None = None
    for proposed in itertools.islice(candidates(element), CANDIDATES):
        candidate = _adapted(proposed, convexity, target)
        if term.start is not None and not within(term, candidate, term.start):
            continue
        if accepts(term, candidate):
            found = _one_weight(convexity, candidate)
            if found.start.weights is not None:
                return found
            best = best or found
    if known := best or find_pair(convexity, target):
        return known
    reason = "no closed form was found: F is the inverse of the integral w(beta)"
    integral = sympy.Integral(sympy.sqrt(element.q), element.v)
    return IntegralOnly(term, Finding(Verdict.UNDECIDED, reason), element.q, integral)


def _adapted(candidate: Candidate, convexity: Convexity, target: Expr | None) -> Candidate:
    """Return it where Q is smooth, in the weight in which F'^2 Q'' is *target*, where given."""
    if target is not None and target != candidate.scale:
        factor = sympy.sqrt(tidy(target / candidate.scale))
        F, inverse = candidate.F.subs(W, factor * W), candidate.inverse / factor
        candidate = replace(candidate, F=F, inverse=inverse, scale=target)
    (low, high), (left, right) = candidate.interval, convexity.interval or (-sympy.oo, sympy.oo)
    return replace(candidate, interval=(sympy.Max(low, left), sympy.Min(high, right)))


def _refused(convexity: Convexity) -> Coordinate:
    """Return the refusal of a Q that is not strictly convex at a point, nor at others tried."""
    term, nowhere = convexity.term, convexity.nowhere
    if term.couples:
        unknown = Finding(Verdict.UNDECIDED, "no point with `Hess Q > 0` was found")
        return Coordinate(term, Finding(Verdict.REFUTED, nowhere) if nowhere else unknown, None)
    second, here = convexity.second, convexity.point[term.variable]
    names_of_q = {*term.parameters, term.variable}
    q2, at = backticked(second, names_of_q), backticked(f"{term.variable} = {here}", names_of_q)
    exact = term.start is not None and to_text(term.start) == str(here)
    verdict, reason = Verdict.REFUTED, f"Q is not strictly convex near {at}: Q'' = {q2}"
    if nowhere:
        reason = f"{nowhere}: Q'' = {q2}"
    elif not exact or term.parameters:
        verdict, reason = Verdict.UNDECIDED, "no point with Q'' > 0 was found"
    elif convexity.sign == 0:
        reason = f"Q'' = {q2} is 0 at {at}, and 1/K is positive"
    return Coordinate(term, Finding(verdict, reason), second)


def _one_weight(convexity: Convexity, candidate: Candidate) -> Parameterized:
    """Return the record of an accepted candidate, with its start."""
    term = convexity.term
    weight = W.name + term.suffix
    start = flow_start(convexity, candidate, weight)
    F = from_sympy(candidate.F.subs(W, sympy.Symbol(weight, positive=True)))
    left = f"F'({weight})**2 Q''(F({weight}))"
    scale = backticked(candidate.scale, {*term.parameters})
    identity = Identity(f"{left} = {scale}", left, str(candidate.scale))
    return Parameterized(
        term,
        accepted(identity, *start.evidence),
        convexity.element.q,
        F,
        (weight,),
        candidate.interval,
        candidate.scale,
        start,
        conditions(
            term.positive,
            (*candidate.assumed, *defined((term.Q, candidate.F), term.parameters)),
            start.beta_0,
            candidate.interval,
        ),
        convexity.interval is not None,
        candidate.inverse,
    )


def find_pair(convexity: Convexity, target: Expr | None) -> Parameterized | None:
    """Return the pair, or None where 1/Q''^2 is no quadratic polynomial without real roots.

    *target* is the constant K Q'' that is asked for; any where None.
    """
    element = convexity.element
    square = sympy.cancel(1 / element.q**2)
    if not square.is_polynomial(element.v) or sympy.degree(square, element.v) != 2:
        return None
    form = completed(square, element.v)
    if form is None:
        return None
    a, b, d = form
    for sign, inner, r, assumed in cases(element, a, d):
        if sign > 0 and inner > 0:
            s = sympy.Integer(1) if target is None else target * sympy.sqrt(a) / 4
            gamma, scale = r / (2 * s), 4 * s / sympy.sqrt(a)
            return _proved(convexity, (b, s, gamma), scale, assumed)
    return None


def _proved(
    convexity: Convexity, leaf: tuple[Expr, Expr, Expr], scale: Expr, assumed: tuple[Expr, ...]
) -> Parameterized | None:
    """Return beta = b + s (p^2 - m^2) on the leaf p m = gamma, where K Q'' = scale is accepted."""
    term, element, (b, s, gamma) = convexity.term, convexity.element, leaf
    interval = convexity.interval or (-sympy.oo, sympy.oo)

    def p_at(beta: Expr) -> Expr:
        x = (beta - b) / s
        if x == 0:
            return sympy.powdenest(sympy.sqrt(gamma), force=True)
        return sympy.sqrt((x + sympy.sqrt(x**2 + 4 * gamma**2)) / 2)

    F, K = b + s * (W**2 - gamma**2 / W**2), 4 * s**2 * (W**2 + gamma**2 / W**2)
    if not accepts(term, Candidate(F, p_at(element.v), interval, scale, assumed), K):
        return None
    taken = {*term.parameters, term.variable}
    names_of_pairs = ((x + term.suffix, y + term.suffix) for x, y in ("pm", "uv", "xy", "gh"))
    p, m = next(pair for pair in names_of_pairs if not taken & {*pair})
    x, y = sympy.symbols((p, m), positive=True)
    start = FlowStart()
    for beta_0, at_minimum in itertools.islice(starts(convexity, (b,)), 1):
        at_start = p_at(to_sympy(beta_0, term.symbols()))
        values = from_sympy(at_start), from_sympy(sympy.simplify(gamma / at_start))
        start = FlowStart(beta_0, at_minimum, tuple(zip((p, m), values, strict=True)))
    written, product = (backticked(x, taken) for x in (scale, gamma))
    statement = f"<grad F, grad F> Q''(F) = {written} on {p}*{m} = {product}"
    finding = accepted(
        Identity(statement, "<grad F, grad F> Q''(F)", str(scale)),
        Identity(f"<grad({p}*{m}), grad F> = 0", "0", "0"),
        *start.evidence,
    )
    return Parameterized(
        term,
        finding,
        element.q,
        from_sympy(b + s * (x**2 - y**2)),
        (p, m),
        interval,
        scale,
        start,
        conditions(term.positive, assumed, start.beta_0, interval),
        convexity.interval is not None,
        product=gamma,
    )
