"""Q of a single output through a weight: beta = f(A) and dA/dmu = r(A), both rational.

Where the leaf is a rational curve in a weight A, or in a function of it that F uses, the mirror
map is mu = int dA/r and its conjugate is R = int f/r dA, elementary functions of A; and
Q = beta mu - R, where A is the root of f(A) = beta on which the flow is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import sympy
from sympy import Expr

from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.implicitization import Coordinates, express, find_relation
from derive.exact.linear.matrix import dot
from derive.model.notation import AssumePositive, BranchOpen, Notation, to_expr
from derive.model.restriction import images_on_subspace
from derive.potential.accept import ZeroTest, without_modulus
from derive.potential.chart import Chart, base_chart
from derive.potential.domain import Domain
from derive.potential.entries import add_power
from derive.potential.half_spaces import exceptions
from derive.potential.piece import Explicit, Piece, moving
from derive.potential.rational_kernel import antiderivatives, at_start, collected
from derive.verdict import Identity
from derive.weights.kernel_relation import KernelRelation
from derive.weights.metric import Metric


def integrate_through_weight(metric: Metric, notation: Notation) -> tuple[Piece, Chart] | None:
    """Return Q = beta mu(A) - R(A) of one output, A a root named in beta, or None."""
    p, base = metric.parameterization, base_chart(metric, notation)
    if base is None:
        return None
    symbols = notation.start_symbols
    valued = tuple((n, f, to_expr(p.at_start(f), symbols)) for n, f, _ in base.entries[1:])
    chart = Chart(notation, metric, (base.entries[0], *valued), ())
    kept = images_on_subspace(p)
    used = [g.name for g in p.field.generators if g.kind not in ("parameter", "power")]
    for name in (*(w.variables()[0] for w in p.w if w in kept), *used):
        try:
            curve = _find_curve(chart, name, kept)
            found = None if curve is None else _integrate(curve)
        except (AssumePositive, BranchOpen, ZeroDivisionError):
            continue
        if found is not None:
            return found
    return None


@dataclass(frozen=True)
class _LeafCurve:
    """The leaf in A: beta = f(A), dA/dmu = r(A), which *relation* has as its kernel."""

    chart: Chart
    relation: KernelRelation
    f: RationalFunction
    r: RationalFunction


def _find_curve(chart: Chart, name: str, kept: Sequence[RationalFunction]) -> _LeafCurve | None:
    """Return the leaf, where the weights are *kept*, in the weight of a name, or None."""
    p, T = chart.parameterization, chart.parameterization.field.named(name)
    images = (*kept, *p.field.gens[p.p :])
    there = [(n, f.compose(images, p.field)) for n, f, _ in chart.entries]
    there = [(n, f) for n, f in there if not f.is_constant()]
    solved = find_relation(T, Coordinates.of(there))
    # Where A is rational in beta so is K.
    if solved is None or solved.degree == 1:
        return None
    if any(c.partial(0).depends_on(0) for c in solved.coefficients):
        return None
    along = dot(p.fields[0], p.field.gradient(T)).compose(images, p.field)
    rate = express(along, Coordinates.of([("_T", T), *there[1:]]))
    coefficients = tuple(map(chart.coordinates.field.embed, solved.coefficients))
    added = add_power(chart, name, T, replace(solved, coefficients=coefficients))
    if rate is None or added is None or added[1] != 1 or added[0].assumptions:
        return None
    A = added[0].roots[-1].symbol
    field = p.start_field.extended((A.name,))

    def start(f: RationalFunction) -> RationalFunction:
        return p.at_start(f).compose(field.gens[1:], field)

    constants = [start(f) for _, f in there[1:]]
    r = rate.compose((field.gens[0], *constants), field)

    def at(beta: RationalFunction) -> RationalFunction:
        terms = enumerate(c.compose((beta, *constants), field) for c in solved.coefficients)
        return sum((c * field.gens[0] ** n for n, c in terms), field.zero)

    # at(beta) is linear in beta, and 0 at f.
    f = at(field.zero) / (at(field.zero) - at(field.one))
    solution = (-r, field.one)
    relation = KernelRelation(chart.notation, field, solution, start(T), start(along), A)
    return _LeafCurve(added[0], relation, f, r)


def _integrate(curve: _LeafCurve) -> tuple[Piece, Chart] | None:
    """Return Q where mu and R have elementary forms that were shown."""
    chart, relation, f, r = curve.chart, curve.relation, curve.f, curve.r
    found = antiderivatives(relation, r, f)
    if found is None:
        return None
    A, betas = relation.variable, chart.notation.betas
    first, second, kappa = collected(found[0], A), collected(found[1], A), found[2]
    gradient = (first - at_start(relation, first)) / kappa
    value = betas[0] * gradient - moving(second, A) / kappa
    evidence = _accept(relation, value, gradient, (f, r))
    if evidence is None:
        return None
    assumptions = (*chart.notation.assumptions, *chart.assumptions)
    piece = Explicit(betas, value, (gradient,), (), (), assumptions)
    piece = replace(piece, evidence=(*chart.evidence, *evidence), domain=_domain(relation, f, r))
    return chart.named(piece), chart


def _domain(relation: KernelRelation, f: RationalFunction, r: RationalFunction) -> Domain | None:
    """Return all of R where F is a polynomial and K = f' r has no zero, or None.

    The polynomial f then maps R onto R, and beta and A are bounded together.
    """
    notation, p = relation.notation, relation.notation.parameterization
    if p.field.generators or p.parameters or not (f.is_polynomial() and p.F[0].is_polynomial()):
        return None
    K, rest = f.partial(0) * r, f.field.gens[1:]
    met = {g for g, _ in factors(K.compose((relation.beta0, *rest), f.field))}
    for g, _ in factors(K):
        middle = exceptions(g, 1, notation.positive)
        # What is 0 nowhere but for a start with K = 0 is no end.
        if g.depends_on(0) and (middle is None or not {*middle} <= met):
            return None
    return Domain(notation.betas, "slope")


def _accept(
    relation: KernelRelation, value: Expr, gradient: Expr, flow: tuple[RationalFunction, ...]
) -> tuple[Identity, ...] | None:
    """Return what shows that the printed Q has the printed gradient mu, and dmu = dA/r."""
    A, (x,) = relation.variable, relation.notation.betas
    f, r = map(relation.expr, flow)
    slope, bare = without_modulus(value).diff(A), without_modulus(gradient)
    identities = (
        (f"dQ/d{A} = 0 at fixed {x} = {f}", slope.xreplace({x: f}), sympy.S.Zero),
        (f"dQ/d{x} = mu", value.diff(x), gradient),
        (f"dmu/d{A} d{A}/dt = 1 where w' = grad F", bare.diff(A) * r, sympy.S.One),
        (
            "mu = 0 at the start",
            gradient.xreplace({A: relation.expr(relation.beta0)}),
            sympy.S.Zero,
        ),
    )
    decide = ZeroTest(relation.notation.parameterization, {})
    if not all(decide.vanishes(left - right) for _, left, right in identities):
        return None
    return tuple(Identity(what, str(left), str(right)) for what, left, right in identities)
