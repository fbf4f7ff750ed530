"""Outputs that move together: J has rank below d, and beta stays on a surface in R^d.

The steering lambda has d components, and beta' = K lambda follows fewer. Dual coordinates y with
y' = g lambda, of which a Q(beta) with grad Q(beta) - grad Q(beta_0) in the row space of every X
is made, need <grad y_i, grad F_j> = g delta_ij. As sum_j n_j grad F_j = 0 for some n(w) that is
not 0, they have g n_i = 0 for every i: there are none with g > 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy
from sympy import Expr

from derive.exact.linear.implicitization import Coordinates, Relation, RelationSearch
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Identity, Verdict

HIGHEST = 12
"""Weighted degree at which the search for relations stops."""

MAXIMAL_MONOMIALS = 600


@dataclass(frozen=True)
class Dependence:
    """The surface in R^d on which the outputs of a block stay.

    Attributes:
        outputs: their number.
        rank: of J, the dimension of the surface.
        relations: P(beta) with P(F(w)) = 0 identically, each in an output that the others lack.
        missing: in how many more relations no polynomial was found.
        evidence: the identities P(F(w)) = 0.
    """

    outputs: int
    rank: int
    relations: tuple[Expr, ...]
    missing: int
    evidence: tuple[Identity, ...]

    @classmethod
    def of_rank(cls, p: Parameterization) -> Dependence | None:
        """Return what the rank of J alone says."""
        return None if p.rank == p.d else cls(p.d, p.rank, (), p.d - p.rank, ())


def find_dependence(p: Parameterization, notation: Notation) -> Dependence | None:
    """Return the relations among the outputs of a block, proved by expansion; None without any.

    Each output whose differential is spanned by others is tied to these by a polynomial P with
    P(F(w)) = 0.

    Args:
        p: d outputs; notation: names of their coordinates beta.

    Returns:
        d - rank J polynomials in beta and parameters, where they were found.

    Source: the row-space law is that of Gunasekar et al. 2018; that none exists is derived here.
    """
    if p.rank == p.d:
        return None
    named = dict(enumerate(zip((b.name for b in notation.betas), p.F, strict=True)))
    constants = p.field.constants.items()
    coordinates = Coordinates.of([*(named[i] for i in p.independent), *constants])
    relations = []
    for i in sorted(set(named) - set(p.independent)):
        search = RelationSearch(p.F[i], coordinates, limit=MAXIMAL_MONOMIALS)
        found = next(filter(None, map(search.at, range(1, HIGHEST + 1))), None)
        if found is not None:
            relations.append(_written(found, coordinates, notation, i))
    identities = tuple(Identity(f"{relation} = 0", "0", "0") for relation in relations)
    missing = p.d - p.rank - len(relations)
    return Dependence(p.d, p.rank, tuple(relations), missing, identities)


def _written(relation: Relation, coordinates: Coordinates, notation: Notation, i: int) -> Expr:
    """Return a relation in beta, its first term without a minus sign."""
    betas = {b.name: b for b in notation.betas}
    fixed = notation.parameterization.field.constants
    values = {name: to_expr(c, notation.start_symbols) for name, c in fixed.items()}
    images = [{**betas, **values}[name] for name in coordinates.field.names]
    terms = (
        to_expr(c, images) * notation.betas[i] ** n for n, c in enumerate(relation.coefficients)
    )
    found = sympy.expand(sympy.Add(*terms))
    return -found if found.could_extract_minus_sign() else found


def no_row_space_law(p: Parameterization) -> Finding | None:
    """Say why no Q(beta) has a row-space law, where J has rank below d; else None."""
    if p.rank == p.d:
        return None
    reason = (
        f"J has rank {p.rank} < {p.d}: no Q(beta) has grad Q(beta) - grad Q(beta_0) in the row "
        "space of every X; whether limits minimise some Q on the surface was not decided"
    )
    return Finding(Verdict.UNDECIDED, reason)
