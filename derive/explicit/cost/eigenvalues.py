"""The representation cost of one quadratic form, by its extreme eigenvalues.

With F(w) = <w, A w>, duality says R_F(beta) >= max {x beta: I - x A positive semidefinite}. As x
leaves 0, I - x A stays positive definite up to the nearest root of det(I - x A), where it has a
kernel: all roots are real, being the inverses of eigenvalues. So for beta > 0

    R_F(beta) = x beta,   x the least positive root of det(I - x A),

attained in the kernel of I - x A; for beta < 0 the greatest negative root takes its place. Where
all roots have one sign, so has beta, for every w.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb, ctx, fmpq_mat, fmpq_poly
from sympy import Expr, Symbol

from derive.explicit.cost.algebraic_numbers import root_name
from derive.explicit.cost.closed_cost import ClosedCost
from derive.explicit.cost.feasible import BITS
from derive.explicit.cost.rationals import as_fmpq, roots_of
from derive.verdict import Identity


@dataclass(frozen=True)
class Multiple:
    """x beta, for one output.

    Attributes:
        minimal: an irreducible polynomial with real roots only.
        index: x is this root of it, the smallest is 0.
    """

    minimal: fmpq_poly
    index: int

    def expression(self, betas: Sequence[Symbol]) -> Expr:
        """Return it as an expression."""
        return root_name(self.minimal, self.index) * betas[0]

    def at(self, beta: Sequence[Fraction]) -> arb:
        """Return its value as a ball."""
        return roots_of(self.minimal)[self.index] * arb(as_fmpq(beta[0]))


def find_extreme(forms: Sequence[fmpq_mat]) -> ClosedCost | None:
    """Return R_F of a single quadratic form; None where there are several outputs.

    >>> found = find_extreme([fmpq_mat([[1, 1], [1, -1]])])
    >>> found.expression((Symbol("beta", real=True),))
    sqrt(2)*Abs(beta)/2
    """
    if len(forms) != 1:
        return None
    determinant = fmpq_poly(fmpq_poly(forms[0].charpoly()).coeffs()[::-1])
    factors = [fmpq_poly(f) for f, _ in determinant.factor()[1]]
    with ctx.workprec(BITS):
        roots = [(x, Multiple(f, k)) for f in factors for k, x in enumerate(roots_of(f))]
        roots.sort(key=lambda pair: pair[0].mid())
        if not all(x < y for (x, _), (y, _) in pairwise(roots)):
            return None
        above = next((multiple for x, multiple in roots if x > 0), None)
        below = next((multiple for x, multiple in reversed(roots) if x < 0), None)
    sums = tuple((multiple,) for multiple in (above, below) if multiple is not None)
    reason = (
        "Lagrange duality: F = <w, A w>, and |w|^2 >= x beta where I - x A >= 0; x goes up to the "
        "roots of det(I - x A) next to 0, where some w is in the kernel"
    )
    return ClosedCost(sums, len(sums) == 2, reason, (_identity(determinant),))


def _identity(determinant: fmpq_poly) -> Identity:
    scale, found = determinant.factor()
    product = "*".join(f"({f.str(var='x')})" + (f"**{n}" if n > 1 else "") for f, n in found)
    text = determinant.str(var="x").replace("^", "**")
    return Identity("det(I - x A), its factors", text, f"{scale}*{product}".replace("^", "**"))
