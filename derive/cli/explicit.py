"""The command ``derive explicit``: what explicit regularization of the weights would give."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from derive.cli.options import OfPolynomials
from derive.cli.recorded import Recorded
from derive.cli.running import Enter
from derive.errors import DeriveError, InputError
from derive.model.typed import ReadModel, read_option
from derive.option import option

if TYPE_CHECKING:
    from derive.explicit.counterpart import ExplicitCounterpart
    from derive.explicit.fibre_cost import FibreCost

Point: TypeAlias = dict[str, Fraction]


@dataclass(frozen=True, kw_only=True)
class Explicit(OfPolynomials, Recorded):
    """Find what explicit l2 regularization of the weights gives, beside the implicit Q.

    R(beta) = min |w - w_0|^2 and R_F(beta) = min |w|^2, both subject to F(w) = beta, for F
    polynomial: the polynomial of all critical values by exact elimination, and which of its
    roots is the minimum, certified in balls. Then where R and the implicit regularizer Q of
    gradient flow differ, and the limit of R as the start goes to 0.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`. Where the root
    depends on several numbers it is certified at single points: --at gives one. Outputs that are
    products of vectors or matrices may have R_F in closed form. A vector of open dimension starts
    at 0: give u=0 in --start. With --cost it is the least of another cost, a sum of c*abs(w)**p,
    or of tr K, where F is a sum of monomials without common weights.

    Exit status: 0 R and R_F are printed and proved; 2 bad input; 3 one of them is undecided
    (which step stopped is printed), or out of time.

    \b
    Examples:
      derive explicit "u*v" --start u=alpha,v=alpha
      derive explicit "p**2 - m**2" --start p=alpha,m=alpha --at beta=2,alpha=1
      derive explicit "a*b*u" --vector u --start a=alpha,b=alpha,u=0
      derive explicit "u*v" --cost "3*u**2 + 5*v**2"
      derive explicit "U*T(V)" --matrix U:2x2,V:2x2
      derive explicit "a*u1" "a*u2" --start a=alpha,u1=0,u2=0 --latex
    """

    cost: str = option("", "Another cost than |w|^2: 3*u**2 + 5*v**2, or trace-K.", "H")
    at: str = option("", "Certify values at a point: beta=2,alpha=1/2.", "NAME=V,...")

    def read(self) -> tuple[ReadModel, Point]:
        """Return F, its start and the point."""
        from derive.exact.field.function_field import FunctionField
        from derive.exact.towers.tower import to_field
        from derive.language import parse_assignments

        model, point = self.model.read(), Point()
        if self.cost and self.at:
            raise InputError("--at is for R and R_F: leave it out with --cost")
        for name, tree in read_option("--at", parse_assignments, self.at):
            try:
                value = to_field(tree, FunctionField(()), name)
            except (DeriveError, KeyError):
                value = None
            if value is None or not value.is_constant():
                raise InputError(f"--at: {name} needs a rational number, such as 1/2")
            point[name] = value.value()
        return model, point

    def find(self, read: tuple[ReadModel, Point], enter: Enter) -> ExplicitCounterpart | FibreCost:
        """Return the costs of F, with their values at the point."""
        from derive.explicit.regularize import explicit_counterpart

        model, point = read
        enter("parameterization")
        if self.cost:
            return explicit_counterpart(model.parameterization(), cost=self.cost)
        return explicit_counterpart(model.parameterization(), enter, point)
