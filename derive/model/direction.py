"""One vector u of open dimension: beta = phi(a, |u|) u has a length and a direction.

With n = |u| and s = phi n = |beta|, gradient flow with steering lambda moves (a, n) along
grad s by <u/n, lambda>, and the direction u/n on the sphere. Hence for every d >= 2

    K = T I + (R - T) beta beta^T / s^2,   T = r phi^2,   R = |grad s|^2,

with the learning rate r of u, 1 in gradient flow; across u the direction moves by
(u/n)' = (r phi/n) lambda. The conserved quantities are those of the single output s, and a
leaf is a curve times a sphere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from sympy import Expr, Symbol

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.language.tree import Number, Operation, Tree
from derive.model.condition import Condition, Sign
from derive.model.labels import predictor
from derive.model.names import unused
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.model.signs import sign_at_start


@dataclass(frozen=True)
class Direction:
    """The direction of beta = phi u, beside its length s(a, n) = |phi| n.

    Attributes:
        parameterization: s, positive near the start.
        sign: that of phi at the start; where phi is 0 there, that at the limit of the flow.
        assumptions: what had to be assumed of the start to know it.
    """

    parameterization: Parameterization
    sign: int
    assumptions: tuple[Condition, ...]
    notation: Notation

    @property
    def other_side(self) -> Direction | None:
        """The same where phi < 0 at the limit of the flow; None where phi is not 0 at the start."""
        if self.sign < 0 or not self.parameterization.at_start(self.phi).is_zero():
            return None
        return _opposite(self)

    @property
    def vector(self) -> str:
        """The name of u."""
        return self.parameterization.vectors[0].name

    @property
    def norm(self) -> str:
        """The name that stands for n = |u|."""
        return self.parameterization.vectors[0].norm

    @property
    def coefficient(self) -> Tree:
        """The coefficient of u as given."""
        return self.parameterization.vectors[0].coefficient

    @property
    def start_vector(self) -> str:
        """The name of the start u_0."""
        return unused(f"{self.vector}_0", self.notation.taken, "0")

    @property
    def n(self) -> RationalFunction:
        """|u| as a function of the weights of s."""
        return self.parameterization.w[-1]

    @property
    def phi(self) -> RationalFunction:
        """|phi|, positive near the start: T = phi^2 is the eigenvalue of K across beta."""
        return self.parameterization.F[0] / self.n

    @property
    def rate(self) -> RationalFunction:
        """The learning rate r of u."""
        p = self.parameterization
        dn = p.field.gradient(self.n)
        return p.geometry.inner(dn, dn)

    @property
    def pushed(self) -> str:
        """What moves u, r phi, in words."""
        return "phi" if self.rate == self.n.field.one else f"rate({self.vector}) phi"

    @property
    def turn(self) -> RationalFunction:
        """r phi/n, by which the steering turns u/n, and g = psi r phi/n."""
        return self.rate * self.phi / self.n

    @property
    def T(self) -> RationalFunction:
        """r phi^2, the eigenvalue of K across beta."""
        return self.rate * self.phi * self.phi

    @property
    def R(self) -> RationalFunction:
        """|grad s|^2, the eigenvalue of K along beta."""
        p = self.parameterization
        return p.geometry.inner(p.covectors[0], p.covectors[0])

    @property
    def H(self) -> RationalFunction:
        """<grad log g, grad s> = n |grad phi|^2/phi + <grad log r, grad s> of the only warp g."""
        p, r = self.parameterization, self.rate
        slopes = p.field.gradient(self.phi)
        grown = p.geometry.inner(p.field.gradient(r), p.covectors[0]) / r
        return self.n * p.geometry.inner(slopes, slopes) / self.phi + grown

    @property
    def beta(self) -> Symbol:
        """The vector beta, as a name."""
        return Symbol(predictor(self.notation.taken))

    @property
    def along_start(self) -> Expr:
        """The inner product of u_0 and beta, as one symbol."""
        return Symbol(f"<{self.start_vector}, {self.beta}>", real=True)


def find_direction(p: Parameterization) -> Direction | None:
    """Return the direction of beta = phi u, with s = |phi| |u| > 0 near the start.

    Args:
        p: F; of a vector of open dimension its length.

    Returns:
        s with its start and the sign of phi; None for outputs in coordinates.

    Raises:
        InputError: there are several vectors, and the derivation depends on the dimension.

    Source: derived here; Azulay et al. 2021, eq. (10)-(12), for Q = q(|beta|) + <z, beta>.
    """
    if not p.vectors:
        return None
    if len(p.vectors) != 1:
        name = p.vectors[0].name
        raise InputError(f"the derivation depends on the dimension: give one, --vector {name}:3")
    notation = Notation(p)
    value = p.at_start(p.F[0] / p.w[-1])
    if value.is_zero():
        return Direction(p, 1, (_at_limit(p),), notation)
    phi = sign_at_start(value, notation).settled()
    found = Direction(p, 1, phi.conditions, phi.notation)
    return found if phi.sign > 0 else replace(_opposite(found), assumptions=phi.conditions)


def _opposite(found: Direction) -> Direction:
    """Return the direction with the opposite phi, which is positive at the limit of the flow."""
    p = found.parameterization
    p = p.with_(outputs=[Operation("*", Number(Fraction(-1)), p.trees[0])])
    return Direction(p, -1, (_at_limit(p),), replace(found.notation, parameterization=p))


def _at_limit(p: Parameterization) -> Condition:
    phi = to_expr(p.F[0] / p.w[-1], Notation(p).weights)
    return Condition(phi, Sign.ENDS_POSITIVE)
