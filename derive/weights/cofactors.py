"""A function from its logarithmic derivatives along the flow: psi with X_a psi = f_a psi.

Its factors are sought among polynomials P whose logarithmic derivatives can occur in f: those
that the flow cannot cross, and the factors of the denominators of f; and among exponentials of
given rational functions. The exponents then solve a linear system.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction, normalized
from derive.model.parameterization import Parameterization
from derive.weights.conserved import ConservedQuantities
from derive.weights.linear_search import integer_relations


def find_logarithm(
    conserved: ConservedQuantities,
    derivatives: Sequence[RationalFunction],
    exponents: Sequence[RationalFunction] = (),
) -> LogFunction | None:
    """Return log psi = sum_k m_k f_k + sum_j n_j log P_j with X_a log psi given, proved, or None.

    Args:
        conserved: of the parameterization; with its Darboux polynomials.
        derivatives: X_1 log psi, ..., X_d log psi.
        exponents: the rational functions f_k.

    Returns:
        log psi up to a constant, with rational m_k and n_j; None when none was found.
    """
    p = conserved.parameterization
    if all(f.is_zero() for f in derivatives):
        return LogFunction(p.field.zero)
    zero, one = p.field.zero, p.field.one
    family = [LogFunction(zero, ((one, P),)) for P in candidates(conserved, derivatives)]
    family += [LogFunction(f) for f in exponents]
    rows = [
        [*(f.along(x) for f in family), given]
        for x, given in zip(p.fields, derivatives, strict=True)
    ]
    solutions = [v for v in integer_relations(p, rows) if v[-1]]
    for *multiples, scale in sorted(solutions, key=lambda v: sum(1 for c in v if c)):
        proposal = LogFunction(zero)
        for n, f in zip(multiples, family, strict=True):
            if n:
                proposal += f.scaled(p.field.constant(Fraction(-n, scale)))
        if is_logarithm(p, proposal, derivatives):
            return proposal
    return None


def is_logarithm(
    p: Parameterization, logarithm: LogFunction, derivatives: Sequence[RationalFunction]
) -> bool:
    """Tell exactly whether X_a log psi = f_a for every a: the check behind every psi."""
    return all(logarithm.along(x) == f for x, f in zip(p.fields, derivatives, strict=True))


def exponential(logarithm: LogFunction) -> RationalFunction | None:
    """Return prod_j P_j^n_j, or None where it is not rational."""
    if not logarithm.rational.is_zero():
        return None
    result = logarithm.rational.field.one
    for coefficient, P in logarithm.logs:
        n = coefficient.value()
        if n.denominator != 1:
            return None
        result *= P ** int(n)
    return result


def candidates(
    conserved: ConservedQuantities, derivatives: Sequence[RationalFunction]
) -> list[RationalFunction]:
    """Return the polynomials whose powers may be factors, each once."""
    denominators = (f.field.polynomial(f.denominator) for f in derivatives)
    found = (normalized(factor) for f in denominators for factor, _ in factors(f))
    return list(dict.fromkeys((*conserved.darboux, *found)))
