"""A function from its logarithmic derivatives along the flow: psi with X_a psi = f_a psi.

Its factors are sought among polynomials P whose logarithmic derivatives can occur in f: those
that the flow cannot cross, and the factors of the denominators of f. The exponents then solve a
linear system.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from derive.exact.families import LogFunction, normalized
from derive.exact.field import RationalFunction
from derive.exact.polynomial import factorize
from derive.stages.conserved import ConservedQuantities, constant_relations
from derive.stages.lie import along
from derive.stages.parameterization import Parameterization


def find_logarithm(
    conserved: ConservedQuantities, derivatives: Sequence[RationalFunction]
) -> LogFunction | None:
    """Return log psi = sum_j n_j log P_j with X_a log psi = f_a, proved, or None.

    Args:
        conserved: of the parameterization; with its Darboux polynomials.
        derivatives: f_1, ..., f_d.

    Returns:
        log psi up to a constant, with rational n_j; None when no such product was found.
    """
    p = conserved.lie.parameterization
    if all(f.is_zero() for f in derivatives):
        return LogFunction(p.field.zero)
    factors = _candidates(conserved, derivatives)
    rows = [
        [*(along(x, P) / P for P in factors), f]
        for x, f in zip(p.jacobian, derivatives, strict=True)
    ]
    for *exponents, scale in constant_relations(p, rows):
        if scale:
            logs = tuple(
                (p.field.constant(Fraction(-n, scale)), P)
                for n, P in zip(exponents, factors, strict=True)
                if n
            )
            proposal = LogFunction(p.field.zero, logs)
            if is_logarithm(p, proposal, derivatives):
                return proposal
    return None


def is_logarithm(
    p: Parameterization, logarithm: LogFunction, derivatives: Sequence[RationalFunction]
) -> bool:
    """Tell exactly whether X_a log psi = f_a for every a: the check behind every psi."""
    return all(logarithm.along(x) == f for x, f in zip(p.jacobian, derivatives, strict=True))


def exponential(logarithm: LogFunction) -> RationalFunction | None:
    """Return prod_j P_j^n_j, or None where an exponent is no integer."""
    result = logarithm.rational.field.one
    for coefficient, P in logarithm.logs:
        n = coefficient.value()
        if n.denominator != 1:
            return None
        result *= P ** int(n)
    return result


def _candidates(
    conserved: ConservedQuantities, derivatives: Sequence[RationalFunction]
) -> list[RationalFunction]:
    field = conserved.lie.parameterization.field
    one = field.ring.constant(1)
    found = [
        normalized(field.quotient(factor, one))
        for f in derivatives
        for factor, _ in factorize(f.denominator)[1]
    ]
    candidates = list(conserved.darboux)
    for P in found:
        if P not in candidates:
            candidates.append(P)
    return candidates
