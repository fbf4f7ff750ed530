"""The forward derivation of what was found, compared exactly with the Q that was asked for."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import product

import sympy

from derive.derivation import Derivation, derive
from derive.errors import ConsistencyError, DeriveError
from derive.exact.towers.germ import Elementary, Unsettled
from derive.inverse.design import WeightPair
from derive.inverse.term import PLACES
from derive.language import from_sympy
from derive.language.tree import Name, names
from derive.model.parameterization import Parameterization
from derive.verdict import Verdict


@dataclass(frozen=True)
class Forward:
    """What the derivation of F from its start said (None where it does not take F), and if Q is."""

    derivation: Derivation | None
    equal: bool = False


def forward_of(c):
    """Derive from the start of one weight, or from a symbol; of a pair from p = m."""
    taken = {*c.term.parameters, c.term.variable, *c.weights}
    if isinstance(c, WeightPair):
        equal = from_sympy(sympy.powdenest(sympy.sqrt(c.product), force=True))
        symbol = next(n for n in ("alpha", "a", "c", "r0") if n not in taken)
        values = {} if isinstance(equal, Name) else {symbol: equal}
        value = Name(symbol) if values else equal
        return run_forward(
            c.term, c.output, dict.fromkeys(c.weights, value), values, names((value,))
        )
    (weight,) = c.weights
    if c.start.weights is not None:
        ((_, start),) = c.start.weights
        declared = tuple(sorted(c.term.positive & set(names((start,)))))
        found = run_forward(c.term, c.output, {weight: start}, positive=declared)
        if found.derivation is not None:
            return found
    return run_forward(c.term, c.output, {weight: free_start(weight, taken)}, positive=(weight,))


def run_forward(term, output, start, values=None, positive=()):
    """Derive Q from F and compare: Q_F''/Q'' is proved to be a positive constant in beta.

    In *values* start symbols stand for functions of the parameters; those in *positive*, symbols or
    weights, start positive. ConsistencyError: the derivation contradicts the design, a fault.
    """
    weights = tuple(start)
    parameters = tuple(name for name in names((output,)) if name not in weights)
    try:
        p = Parameterization([output], weights, start, positive, parameters=parameters)
        derivation = derive(p)
    except DeriveError:
        return Forward(None)
    if derivation.verdict is Verdict.REFUTED:
        raise ConsistencyError("the forward derivation refutes the design")
    proved = derivation.verdict is Verdict.PROVED
    return Forward(derivation, proved and _proportional(term, derivation, values or {}))


def _proportional(term, derivation, values):
    """Tell whether Q_F'' is proved to be Q'' times a positive constant."""
    piece = derivation.potential.pieces[0]
    curve, parameter = piece.betas[0], piece.betas[0]
    if piece.time_curve is not None:
        curve, parameter = piece.curve.beta, piece.curve.parameter
    elif piece.integrand is not None or piece.curve is not None:
        return False
    try:
        beta, slope = (from_sympy(_written(x, piece.constants)) for x in (curve, piece.gradient[0]))
    except DeriveError:
        return False
    trees = [term.tree, beta, slope, *values.values()]
    # Renamed where a parameter of Q has the name of the curve's parameter.
    along = free_start("z", set(term.parameters))
    symbols = [n for n in names((beta, slope)) if n != parameter.name]
    contradicted = False
    for point in _points(term, along.name, symbols):
        tower = Elementary(point, trees)
        with suppress(Unsettled, ZeroDivisionError):
            images = {name: tower.read(tree) for name, tree in values.items()}
            images[parameter.name] = tower.known[along.name]
            b = tower.read(beta, images)
            speed = tower.derivative(b)
            composed = tower.derivative(tower.read(term.tree, {term.variable: b}))
            found = tower.derivative(tower.read(slope, images))
            asked = tower.derivative(composed / speed)
            # Q_F'' = (d slope/dz)/(d beta/dz), and likewise for Q: the speed cancels.
            ratio = tower.tidy(found / asked)
            if tower.sign(asked) * tower.sign(speed) <= 0:
                continue
            change = tower.derivative(ratio)
            if tower.sign(ratio) > 0 and tower.is_zero(change):
                return True
            contradicted = contradicted or not tower.ball(change).contains(0)
    if contradicted:
        raise ConsistencyError("the forward derivation finds another Q")
    return False


def _written(expression, constants):
    """Return the expression without named constants, |u| as sqrt(u**2), in plain symbols."""
    for symbol, value in reversed(constants):
        expression = expression.subs(symbol, value)
    plain = expression.xreplace({s: sympy.Symbol(s.name) for s in expression.free_symbols})
    return plain.replace(sympy.Abs, lambda u: sympy.sqrt(u**2))


def _points(term, along, symbols):
    for place, start, values in product(PLACES, PLACES[:4], term.parameter_points()):
        free = {name: start for name in symbols if name not in values}
        yield {along: place, **values, **free}


def free_start(weight, taken):
    """Return the symbol at which a weight starts, different from the user's names."""
    name = f"{weight}_0"
    while name in taken:
        name += "0"
    return Name(name)
