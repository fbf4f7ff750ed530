"""Accept a parametric form of Q: the curve is the flow w' = grad F, with time mu = dQ/dbeta.

Along that flow the dual coordinate y grows at rate 1, so that mu = y - y(w_0). The weights solve
the equation from the start, and the solution is unique; beta = F on them; the conjugate
mu beta - Q has derivative beta. Each is an identity of what is printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol

from derive.model.notation import Notation, to_expr
from derive.potential.piece import Curve, Parametric
from derive.potential.vanishing import Decisions
from derive.verdict import Identity
from derive.weights.dual import DualCoordinates


@dataclass(frozen=True)
class CurveProposal:
    """The weights along the flow, as functions of z.

    Attributes:
        z: the parameter.
        mu: the time, linear in z.
        weights: of each weight, parameter, and generator that is a function of one weight.
        units: positive symbols in the weights, with what they stand for: 1 at z = 0.
        interval: where all units are positive.
    """

    z: Symbol
    mu: Expr
    weights: Mapping[str, Expr]
    units: Mapping[Symbol, Expr]
    interval: tuple[Expr, Expr]

    def rate(self, expression: Expr) -> Expr:
        """Return d/dmu of an expression in z and the units."""
        slopes = {self.z: sympy.S.One, **{u: e.diff(self.z) for u, e in self.units.items()}}
        total = sympy.Add(*(expression.diff(s) * slope for s, slope in slopes.items()))
        return total / self.mu.diff(self.z)

    def start(self, expression: Expr) -> Expr:
        """Return the value at z = 0."""
        return expression.xreplace({self.z: sympy.S.Zero, **dict.fromkeys(self.units, sympy.S.One)})

    def written(self, expression: Expr) -> Expr:
        """Return an expression in z alone."""
        return expression.xreplace(self.units)


def accept_curve(
    dual: DualCoordinates, notation: Notation, proposal: CurveProposal
) -> Parametric | None:
    """Return the piece with its evidence, or None where an identity is not shown."""
    p = dual.parameterization
    if dual.R is None:
        raise AssertionError("parametric forms need the conjugate")
    beta, conjugate = (_tidy(to_expr(f, proposal.weights)) for f in (p.F[0], dual.R.rational))
    if any(g.kind == "power" for g in p.field.generators):
        # A proposal like any other: what is printed is compared with F(w) below.
        beta = sympy.powdenest(sympy.expand_power_base(beta, force=True), force=True)
    decide = Decisions(p.parameters, {})
    evidence: list[Identity] = []
    for statement, left, right in _identities(dual, notation, proposal, beta, conjugate):
        if not decide.vanishes(left - right):
            return None
        left, right = proposal.written(left), proposal.written(right)
        evidence.append(Identity(statement, str(left), str(right)))
    (b,), write = notation.betas, proposal.written
    names = sorted(notation.assumed)
    return Parametric(
        notation.betas,
        proposal.mu * b - write(conjugate),
        (proposal.mu,),
        curve=Curve(
            proposal.z,
            write(beta),
            proposal.interval,
            tuple((name, write(w)) for name, w in proposal.weights.items()),
        ),
        assumptions=tuple(f"{name} > 0" for name in names),
        evidence=(*evidence, *dual.evidence),
    )


def _identities(
    dual: DualCoordinates,
    notation: Notation,
    proposal: CurveProposal,
    beta: Expr,
    conjugate: Expr,
) -> Iterator[tuple[str, Expr, Expr]]:
    """Yield what is to be shown: a statement and its two sides."""
    p, known = dual.parameterization, proposal.weights
    (b,) = notation.betas
    for name, slope, start in zip(p.weights, p.fields[0], p.w0, strict=True):
        w = known[name]
        yield f"d{name}/dmu = dF/d{name}", proposal.rate(w), to_expr(slope, known)
        yield f"{name}(0) = {start!r}", proposal.start(w), to_expr(start, notation.start_symbols)
    alone = {name: known[name] for name in (*p.weights, *p.parameters)}
    for name in sorted(known.keys() - alone.keys()):
        yield f"{name} is that of the weight", known[name], to_expr(p.field.named(name), alone)
    yield f"{b} = F(w(mu))", beta, to_expr(p.F[0], known)
    yield f"d(mu {b} - Q)/dmu = {b}", proposal.rate(conjugate), beta


def _tidy(expression: Expr) -> Expr:
    """Collect the exponentials in a sum; cosmetic."""
    if not expression.has(sympy.exp):
        return expression
    expanded = sympy.expand(expression)
    exponentials = sorted(expanded.atoms(sympy.exp), key=str)
    collected = sympy.collect(expanded, exponentials, evaluate=False)
    return sympy.Add(*(sympy.factor(c) * e for e, c in collected.items()))
