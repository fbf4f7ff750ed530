"""The variational problem of mirror flow on univariate shallow nets, by exact algebra.

With alpha(1, b) = alpha_e + alpha_o and alpha(-1, -b) = alpha_e - alpha_o, and
sigma(z) = e|z| + o z,

    h(x) = E alpha(w, b) sigma(w x - b) = int p(b) (e alpha_e |x - b| + o alpha_o (x - b)) db,

so h'' = 2 e p alpha_e, and alpha_o is seen only by c = (int p alpha_o, int p b alpha_o):

    h'(inf) + h'(-inf) = 2 o c_0,    int h''(b) |b| db - 2 h(0) = 2 o c_1.

Where o = 0 both are constraints on h. Where phi is quadratic the least int p alpha_o^2 is
c^T M^-1 c, M the matrix of moments of (1, b) under p: a quadratic form in the left sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from derive.errors import InputError
from derive.exact.rationals import as_fmpq
from derive.printable import Printable
from derive.univariate.activation import Activation
from derive.univariate.density import Density
from derive.univariate.formulas import Value
from derive.univariate.potential import Potential, read_potential


@dataclass(frozen=True, repr=False)
class VariationalProblem(Printable):
    """What the limit function minimises.

    Attributes:
        potential, activation, density: as given.
        scaled: whether the potential acts on n (theta - theta(0)).
        law: the potential of alpha in the limit: phi where it is scaled, else x**2/2.
        bending: the factor of int h''^2/p in E alpha_e^2.
        affine: what alpha_o leaves: the factors of (h'(inf) + h'(-inf))^2 and of
            (int h''|x| - 2 h(0))^2; None where both are constrained to 0, or phi is not quadratic.
    """

    potential: Potential
    activation: Activation
    density: Density
    scaled: bool
    law: Potential
    bending: Fraction
    affine: tuple[Value, Value] | None

    @property
    def remarks(self) -> tuple[str, ...]:
        """Where the theorems of the source do not apply as they stand; none where one does."""
        return tuple(self._remarks())

    def _remarks(self) -> Iterator[str]:
        if (self.scaled, self.activation.name) not in ((False, "relu"), (True, "abs")):
            proved = "unscaled potentials with relu, and for scaled ones with abs"
            yield f"the source proves a limit for {proved}; here the limit is formal"
        if self.scaled:
            yield "the source assumes `phi = (psi + omega x^2)/(1 + omega)`, `omega` large enough"
        if self.scaled and self.potential.derivatives < 3:
            yield "the source assumes three continuous derivatives of `phi`, which has two"
        if self.scaled and not self.potential.strict:
            yield "the source assumes `phi'' > 0`, which vanishes at a point"


def variational_problem(
    potential: Potential, activation: Activation, density: Density, scaled: bool
) -> VariationalProblem:
    """Derive the variational problem of a setting.

    Raises:
        InputError: an unscaled potential with phi'' = 0 somewhere.
    """
    if not scaled and not potential.strict:
        raise InputError(
            f"--potential: phi'' vanishes for {potential.text}; add a square, or give --scaled"
        )
    law = potential if scaled else read_potential("x**2/2")
    e, o = activation.even, activation.odd
    affine = None
    if o and law.quadratic is not None:
        # M is diagonal: E b = 0 of an even density.
        square = as_fmpq(4 * o * o)
        affine = (1 / square, 1 / (square * density.moment(2)))
    return VariationalProblem(potential, activation, density, scaled, law, 1 / (4 * e * e), affine)
