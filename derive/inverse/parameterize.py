"""Inverse design: from a separable potential Q to a parameterization whose flow minimises it.

For one weight K = F'(w)^2 = 1/Q''(beta), so dw = sqrt(Q'') dbeta and F is the inverse of that
integral. Candidates come from patterns; what is printed was accepted by an exact identity.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy
from sympy import Expr

from derive.errors import InputError
from derive.inverse.acceptance import accepts
from derive.inverse.candidates import candidates
from derive.inverse.design import Coordinate, InverseDesign
from derive.inverse.forward import Forward, free_start, run_forward
from derive.inverse.line_element import (
    Candidate,
    LineElement,
    W,
    conditions,
    range_conditions,
    tidy,
)
from derive.inverse.pair import find_pair
from derive.inverse.start import starts, weight_at, within
from derive.inverse.term import Convexity, SeparableTerm, examine, recognise
from derive.language import from_sympy, parse_expression, to_text
from derive.language.tree import Tree, names
from derive.verdict import Finding, Identity, Verdict

CANDIDATES = 24
"""Charts that are tried for one coordinate."""


def parameterize(
    potentials: Any,
    variable: str | None = None,
    start: Mapping[str, Any] | None = None,
    positive: Iterable[str] = (),
) -> InverseDesign:
    """Find F with K(w) Q''(F(w)) = c, and prove it.

    >>> parameterize("-log(beta)").outputs
    ('exp(w)',)
    >>> parameterize("beta*asinh(beta/2) - sqrt(beta**2 + 4)").outputs
    ('p**2 - m**2',)

    Args:
        potentials: Q, or one term for each coordinate: text, SymPy expressions or trees.
        variable: the coordinate of a single term; by default ``beta``, or the only name.
        start: beta_0 by the name of the coordinate; by default a zero of Q'.
        positive: parameters that are positive.

    Raises:
        InputError: Q is not separable, or names do not fit.
    """
    several = isinstance(potentials, Sequence) and not isinstance(potentials, str)
    trees = [_tree(x) for x in (potentials if several else [potentials])]
    if not trees:
        raise InputError("no potential: give Q(beta), such as beta*log(beta) - beta")
    terms = _terms(trees, variable, dict(start or {}), frozenset(positive))
    found: list[Coordinate] = []
    target: Expr | None = None
    for i, term in enumerate(terms, 1):
        coordinate = _coordinate(term, str(i) if len(terms) > 1 else "", target)
        found.append(coordinate)
        # One clock for all blocks: every later F is scaled to the constant of the first.
        target = coordinate.scale if target is None else target
    return InverseDesign(tuple(found))


def _tree(value: Any) -> Tree:
    if isinstance(value, str):
        return parse_expression(value)
    return from_sympy(value) if isinstance(value, sympy.Basic) else value


def _terms(
    trees: list[Tree], variable: str | None, start: dict[str, Any], positive: frozenset[str]
) -> list[SeparableTerm]:
    variables = [recognise(tree, variable) for tree in trees]
    used = set(names(tuple(trees)))
    for name in start:
        if name not in variables:
            raise InputError(f"start: there is no coordinate {name} ({', '.join(variables)})")
    for name in sorted(positive - used):
        raise InputError(f"positive: {name} is no parameter of Q")
    if len(set(variables)) < len(variables):
        raise InputError("two terms use the same coordinate: call them beta1, beta2, ...")
    terms = []
    for tree, name in zip(trees, variables, strict=True):
        others = set(variables) - {name}
        mixed = sorted(others & set(names((tree,))))
        if mixed:
            raise InputError(
                f"Q couples {name} and {mixed[0]}: only separable potentials are parameterized"
            )
        value = _tree(start[name]) if name in start else None
        if value is not None and set(names((value,))) & set(variables):
            raise InputError(f"start: the value of {name} uses a coordinate")
        term = SeparableTerm(tree, name, positive - {name}, value)
        if "w" in term.parameters:
            raise InputError("w is the name of the weight: call the parameter something else")
        terms.append(term)
    return terms


def _coordinate(term: SeparableTerm, suffix: str, target: Expr | None) -> Coordinate:
    convexity = examine(term)
    if convexity is None:
        reason = "Q is not defined and smooth at any point that was tried"
        if term.start is not None:
            raise InputError(f"start: Q is not defined and smooth around {term.variable} there")
        return _open(term, None, reason)
    refutation = _refuted(term, convexity)
    if refutation is not None:
        return refutation
    symbols = term.symbols()
    q = tidy(convexity.second)
    element = LineElement(q, symbols[term.variable], term.positive)
    best: Coordinate | None = None
    for candidate in itertools.islice(candidates(element), CANDIDATES):
        candidate = _within(_rescaled(candidate, target), convexity)
        if term.start is not None and not within(term, candidate, term.start):
            continue
        if not accepts(term, candidate.F, candidate.scale, candidate.assumed, candidate.interval):
            continue
        designed = _single(term, convexity, candidate, f"w{suffix}")
        if designed.beta_0 is not None and designed.start is not None:
            return designed
        best = best or designed
    return best or find_pair(term, convexity, q, suffix, target) or _open(term, q, "")


def _rescaled(candidate: Candidate, target: Expr | None) -> Candidate:
    """Return the candidate in the weight in which F'^2 Q'' is *target*."""
    if target is None or target == candidate.scale:
        return candidate
    factor = sympy.sqrt(tidy(target / candidate.scale))
    F = candidate.F.subs(W, factor * W)
    return replace(candidate, F=F, inverse=candidate.inverse / factor, scale=target)


def _within(candidate: Candidate, convexity: Convexity) -> Candidate:
    """Return the candidate on the interval in which Q is smooth."""
    if convexity.interval is None:
        return candidate
    (low, high), (left, right) = candidate.interval, convexity.interval
    return replace(candidate, interval=(sympy.Max(low, left), sympy.Min(high, right)))


def _refuted(term: SeparableTerm, convexity: Convexity) -> Coordinate | None:
    """Return the refusal of a Q that is proved not to be strictly convex."""
    if convexity.sign > 0:
        return None
    second = convexity.second
    here = convexity.point[term.variable]
    exact = term.start is not None and to_text(term.start) == str(here)
    if convexity.everywhere:
        reason = f"Q is not strictly convex near any point: Q'' = {second}"
    elif exact and not term.parameters:
        reason = f"Q is not strictly convex near {term.variable} = {here}: Q'' = {second}"
        if convexity.sign == 0:
            reason = f"Q'' = {second} is 0 at {term.variable} = {here}, and 1/K is positive"
    else:
        return _open(term, second, "no point with Q'' > 0 was found")
    finding = Finding(Verdict.REFUTED, reason)
    return Coordinate(term.tree, term.variable, second, finding)


def _open(term: SeparableTerm, q: Expr | None, reason: str) -> Coordinate:
    """Return the implicit answer: F is the inverse of the integral of sqrt(Q'')."""
    integral = None
    if q is not None and not reason:
        v = term.symbols()[term.variable]
        integral = sympy.Integral(sympy.sqrt(q), v)
        reason = "no closed form was found: F is the inverse of the integral w(beta)"
    finding = Finding(Verdict.UNDECIDED, reason)
    return Coordinate(term.tree, term.variable, q, finding, w_of_beta=integral)


def _single(
    term: SeparableTerm, convexity: Convexity, candidate: Candidate, weight: str
) -> Coordinate:
    """Return the record of one weight, with its start and the forward run."""
    natural = (candidate.F.subs(W, value) for value in (0, 1))
    beta_0 = start = None
    zero = False
    for value, at_minimum in starts(term, convexity, natural):
        if term.start is None and not within(term, candidate, value):
            continue
        found = weight_at(term, candidate, value)
        if beta_0 is None or (found is not None and start is None):
            beta_0, zero, start = value, at_minimum, found
    F = from_sympy(candidate.F.subs(W, sympy.Symbol(weight, positive=True)))
    statement = f"F'({weight})**2 Q''(F({weight})) = {candidate.scale}"
    evidence = [Identity(statement, f"F'({weight})**2 Q''(F({weight}))", str(candidate.scale))]
    if zero and beta_0 is not None:
        evidence.append(Identity(f"Q'({to_text(beta_0)}) = 0", "Q'(beta_0)", "0"))
    free = free_start(weight, set(term.parameters) | {term.variable})
    # The exact start first; one that the derivation does not read gives way to a symbol.
    forward = Forward(None, None, "")
    declared = () if start is None else tuple(sorted(term.positive & set(names((start,)))))
    for first, positive in ((start, declared), (free, (weight,))):
        if first is not None and forward.derivation is None:
            forward = run_forward(term, F, (weight,), {weight: first}, positive=positive)
    if forward.identity is not None:
        evidence.append(forward.identity)
    return Coordinate(
        term.tree,
        term.variable,
        tidy(convexity.second),
        Finding(Verdict.PROVED, "accepted by an exact identity", tuple(evidence)),
        candidate.inverse,
        (weight,),
        F,
        candidate.interval,
        candidate.scale,
        beta_0,
        zero,
        None if start is None else ((weight, start),),
        (
            *conditions(term.positive, candidate.assumed),
            *range_conditions(beta_0, candidate.interval),
        ),
        forward.derivation,
        forward.reason,
        convexity.interval is not None,
    )
