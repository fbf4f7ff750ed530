"""Q of one output beta = c log E + b through E, a simpler function of the weights.

Both have the same curves w' = grad F, and so the same leaves. As beta moves at rate 1, E =
exp((beta - b)/c) moves at the rate E/c, so that K = |grad E|^2 (c/E)^2. Where that is rational in E
so is Q'' = 1/K: dQ/dbeta = int c/(E K) dE, proposed by SymPy. Q is the integral of that, closed
where no logarithm is in it but that of E, which is beta again. Q lives on the beta of the E > 0
that are reached.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm

import sympy
from sympy import Expr

from derive.errors import InputError
from derive.exact.constants import is_number, sign_of_number
from derive.exact.field.factors import linear_terms
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.tower import Tower, to_field
from derive.language import from_sympy
from derive.model.notation import Notation, rational, to_expr
from derive.model.parameterization import Parameterization
from derive.potential.accept import accept_explicit
from derive.potential.domain import Domain, Wall
from derive.potential.piece import Explicit, Piece, Quadrature
from derive.potential.quadrature import integral_from
from derive.potential.rational_kernel import antiderivative, at_start, collected
from derive.potential.reached import find_domain
from derive.weights.conserved import find_conserved
from derive.weights.kernel_relation import KernelRelation, find_kernel_relation
from derive.weights.lie import find_lie_structure
from derive.weights.metric import Metric, find_metric


@dataclass(frozen=True)
class Logarithm:
    """F = c log E + b, with E > 0 in the field of F, a number c, and a constant b."""

    E: RationalFunction
    c: Fraction
    b: RationalFunction


def find_logarithm(p: Parameterization) -> Logarithm | None:
    """Return F of one output as a logarithm of a function in its field, or None.

    >>> find_logarithm(Parameterization.parse(["log(p)/2 - log(m)"]))
    Logarithm(E=p/m**2, c=Fraction(1, 2), b=0)
    """
    (F,) = p.F
    if not p.field.kinds & {"log", "asinh"}:
        return None
    moving = [t for t in linear_terms(F) if {*t.monomial.variables()} - p.field.constants.keys()]
    whole = sum((t.monomial * p.field.constant(t.coefficient) for t in moving), p.field.zero)
    bottom = lcm(*(t.coefficient.denominator for t in moving))
    c = Fraction(gcd(*(int(t.coefficient * bottom) for t in moving)), bottom)
    try:
        E = Tower.over(p.field, p.positive).exp(whole / p.field.constant(c))
    except InputError:
        return None
    if {*E.variables()} - {*p.field.names}:
        return None
    E = p.field.embed(E)
    start = p.at_start(E)
    negative = is_number(start) and sign_of_number(start) < 0  # log E is that of |E|
    return Logarithm(-E if negative else E, c, F - whole)


def integrate_through_exponential(metric: Metric, notation: Notation) -> Piece | None:
    """Return Q where F = c log E + b and |grad E|^2 is rational in E, or None."""
    found = find_logarithm(metric.parameterization)
    if found is None:
        return None
    E = from_sympy(to_expr(found.E, notation.weights))
    try:
        p = metric.parameterization.with_(outputs=[E])
    except InputError:
        return None
    simpler = find_metric(find_conserved(find_lie_structure(p)))
    within = Notation(p, assumed=notation.assumed, coordinate=notation.fresh("E").name)
    relation = find_kernel_relation(simpler, within)
    if relation is None or len(relation.coefficients) > 2:
        return None
    kernel = -relation.coefficients[0] / relation.coefficients[1]
    piece = _integrate(metric, notation, relation, found, kernel)
    if piece is None:
        return None
    own = Explicit(within.betas, piece.value, piece.gradient, kernel=relation.factored(kernel))
    domain = find_domain(own, simpler, None, within)
    return replace(piece, domain=_in_beta(domain, notation, found))


def _integrate(
    metric: Metric,
    notation: Notation,
    relation: KernelRelation,
    found: Logarithm,
    kernel: RationalFunction,
) -> Piece | None:
    """Return Q where |grad E|^2 is *kernel*, of E alone by a *relation*, or None."""
    p, x, (beta,) = metric.parameterization, relation.variable, notation.betas
    rate = kernel.field.gens[0] / kernel.field.constant(found.c)
    K = kernel / rate**2
    slope = antiderivative(relation, 1 / (K * rate))
    if slope is None:
        return None
    slope = slope.xreplace({sympy.Abs(x): x})  # E > 0
    c, log = rational(found.c), sympy.log(x)
    s = (beta - to_expr(found.b, notation.start_symbols)) / c
    field = p.start_field.extended((x.name,))
    F0, K0 = (p.at_start(f).compose(field.gens[1:], field) for f in (p.F[0], metric.K[0][0]))
    solved = (field.embed(-K), field.one)
    outer = KernelRelation(notation, field, solved, F0, K0, x, image=sympy.exp(s))
    logs, beta0 = slope.coeff(log), outer.expr(F0)
    start = at_start(relation, slope - logs * log) + logs * s.xreplace({beta: beta0})
    images = {log: s, x: sympy.exp(s)}
    gradient = (collected(slope, x) - start).xreplace(images)
    whole = _integral(relation, slope, rate)
    if whole is None:
        value = integral_from(beta0, gradient, beta, notation)
    else:  # log E is beta and a constant
        linear = whole.coeff(log)
        rest, linear = whole - linear * log, sympy.expand(linear / c - start)
        value = rest.xreplace(images) + linear * beta
    printed = relation.factored(K).xreplace(images)
    piece = accept_explicit(
        outer, Explicit((beta,), value, (gradient,), kernel=printed), f"K = {K!r}"
    )
    if piece is None or whole is not None:
        return piece
    given = (piece.betas, value, piece.gradient)
    return Quadrature(*given, evidence=piece.evidence, left="conjugate", kernel=printed)


def _integral(relation: KernelRelation, slope: Expr, rate: RationalFunction) -> Expr | None:
    """Return the integral in beta of a slope, or None where it has other logarithms than log E."""
    x, field = relation.variable, relation.field
    rest, calls = sympy.expand(slope).as_independent(sympy.log, sympy.atan, as_Add=True)
    k = calls / sympy.log(x)
    if k.has(sympy.log, sympy.atan):
        return None
    whole = antiderivative(relation, to_field(from_sympy(rest), field, "dQ/dbeta") / rate)
    if whole is None:
        return None
    c = relation.expr(field.gens[0] / rate)
    return collected(whole.xreplace({sympy.Abs(x): x}), x) + c * k * sympy.log(x) ** 2 / 2


def _in_beta(domain: Domain, notation: Notation, found: Logarithm) -> Domain:
    """Return the beta = c log E + b of the E > 0 in a domain."""
    (x,), (beta,), undecided = domain.betas, notation.betas, dict.fromkeys(domain.undecided)
    c, b = rational(found.c), to_expr(found.b, notation.start_symbols)
    walls = []
    for wall in domain.walls:
        end = wall.end(x)
        if end.is_positive:
            form = wall.form.diff(x) * (beta - c * sympy.log(end) - b)
            walls.append(Wall(form, wall.oriented, wall.vanishing))
        elif not end.is_nonpositive:
            undecided["kernel"] = None
    return replace(domain, betas=(beta,), walls=tuple(walls), undecided=tuple(undecided))
