"""Q where K is a rational function of beta: Q = beta y - int beta/K, y = int 1/K.

SymPy's integration of rational functions proposes; the derivative of what it proposes is a
rational function again and is compared exactly.
"""

from __future__ import annotations

import sympy
from sympy import Expr, Symbol
from sympy.integrals.rationaltools import ratint

from derive.errors import DeriveError
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.elements import to_field
from derive.language import from_sympy
from derive.language.tree import names
from derive.potential.accept import accept_explicit
from derive.potential.piece import Explicit
from derive.weights.kernel_relation import KernelRelation

_TRIED = 10


def integrate_rational(relation: KernelRelation, K: RationalFunction) -> Explicit | None:
    """Return Q for K = kappa * r(beta), kappa in the start symbols and r with rational numbers."""
    field = relation.field
    # K divided by its value at one beta is r up to a number when r has numbers alone.
    values = (_at(K, beta) for beta in range(_TRIED))
    value = next((v for v in values if v is not None and not v.is_zero()), None)
    if value is None:
        return None
    r = K / value
    if set(r.variables()) - {field.names[0]}:
        return None
    first = _integral(relation, 1 / r)
    second = _integral(relation, field.gens[0] / r)
    if first is None or second is None:
        return None
    x = relation.notation.betas[0]
    kappa = relation.factored(value)
    slope = first.subs(x, relation.expr(relation.beta0))
    gradient = (first - slope) / kappa
    piece = Explicit(
        (x,),
        (x * first - second - slope * x) / kappa,
        (gradient,),
        kernel=relation.factored(K),
    )
    return accept_explicit(relation, piece, f"K = {K!r}")


def _at(K: RationalFunction, beta: int) -> RationalFunction | None:
    """Return K at one beta, None at a pole."""
    try:
        return K.compose((K.field.constant(beta), *K.field.gens[1:]), K.field)
    except ZeroDivisionError:
        return None


def _integral(relation: KernelRelation, integrand: RationalFunction) -> Expr | None:
    """Return a real antiderivative whose derivative was proved equal to the integrand."""
    x = relation.notation.betas[0]
    neutral = Symbol("x", real=True)
    proposal = ratint(relation.expr(integrand).subs(x, neutral), neutral, real=True)
    if proposal.has(sympy.RootSum, sympy.Integral, sympy.I, sympy.zoo, sympy.nan):
        return None
    # The logarithm of a negative number is that of its opposite and a constant.
    proposal = proposal.replace(sympy.log, lambda a: sympy.log(sympy.Abs(a))).subs(neutral, x)
    slope = sympy.together(sympy.diff(proposal.replace(sympy.Abs, lambda a: a), x))
    try:
        tree = from_sympy(slope)
        if set(names((tree,))) - set(relation.field.names):
            return None
        return proposal if to_field(tree, relation.field, "slope") == integrand else None
    except DeriveError:
        return None
