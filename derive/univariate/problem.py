"""The variational problem of mirror flow on univariate shallow nets, by exact algebra.

With alpha(1, b) = alpha_e + alpha_o and alpha(-1, -b) = alpha_e - alpha_o, and
sigma(z) = e|z| + o z,

    h(x) = E alpha(w, b) sigma(w x - b) = int p(b) (e alpha_e |x - b| + o alpha_o (x - b)) db,

so h'' = 2 e p alpha_e, and alpha_o is seen only by c = (int p alpha_o, int p b alpha_o):

    h'(inf) + h'(-inf) = 2 o c_0,    int h''(b) |b| db - 2 h(0) = 2 o c_1.

Where o = 0 both are constraints on h. Where phi is quadratic the least int p alpha_o^2 is
c^T M^-1 c, M the matrix of moments of (1, b) under p: a quadratic form in the left sides.

The activation of a univariate shallow net.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq

from derive.errors import InputError
from derive.exact.balls import as_fmpq
from derive.printable import Printable
from derive.statement import Claims, Equations, Ground, Statement, Text, note
from derive.univariate.formulas import Value
from derive.univariate.potential import Density, Potential, read_potential

SLOPES, MOMENT = "h'(inf) + h'(-inf)", "int h''(x) |x| dx - 2 h(0)"
SOURCE = "Liang and Montúfar"


@dataclass(frozen=True, repr=False)
class VariationalProblem(Claims, Printable):
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
    def failing(self) -> tuple[str, ...]:
        """Hypotheses of the source that do not hold here."""
        proved = (self.scaled, self.activation.name) in ((False, "relu"), (True, "abs"))
        fails = {
            "the source proves a limit for unscaled potentials with relu, and for scaled ones with"
            " abs; here the limit is formal": not proved,
            "the source assumes three continuous derivatives of `phi`, which has two": self.scaled
            and self.potential.derivatives < 3,
            "the source assumes `phi'' > 0`, which vanishes at a point": self.scaled
            and not self.potential.strict,
        }
        return tuple(words for words, here in fails.items() if here)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Hypotheses of the source that are not decided."""
        form = "`phi = (psi + omega x^2)/(1 + omega)` with `omega` large enough"
        return (form,) if self.scaled else ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Where the theorems of the source do not apply as they stand; none where one does."""
        return (*self.failing, *(f"the source assumes {x}" for x in self.assumed))

    @functools.cached_property
    def statements(self) -> tuple[Statement]:
        """What nets of this kind tend to."""
        return (limit_statement(self),)


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


def limit_statement(p: VariationalProblem) -> Statement:
    """Return what the net tends to: cited where every hypothesis of the source may hold.

    Where one fails the limit is formal.
    """
    formal, assumed = p.failing, p.assumed
    first, *below = _minimised(p, "formally tends" if formal else "tends")
    return Statement(
        first,
        kind="wide limit",
        ground=Ground.CONJECTURED if formal else Ground.CITED,
        conditions=assumed,
        by="formally, for the reasons below" if formal else SOURCE,
        below=(*below, *map(note, formal)),
        proof=tuple(_derivation(p)),
    )


def _minimised(p: VariationalProblem, tends: str) -> Iterator[Any]:
    """Yield the claim, then its formulas and what their letters mean."""
    to = f"as `n -> infinity`, `f(x, theta(inf)) - f(x, theta(0))` {tends} to the `h(x)` with"
    goal = f"{to} `h(x_i) = y_i - f(x_i, theta(0))` that minimises"
    if p.affine is not None:
        yield f"{goal} `G1 + G2 + G3`:"
        bending, slopes, moment = map(times, (as_fmpq(p.bending), *p.affine))
        yield Equations(
            (
                ("G1", f"{bending}int h''(x)^2/p(x) dx"),
                ("G2", f"{slopes}({SLOPES})^2"),
                ("G3", f"{moment}({MOMENT})^2"),
            )
        )
        if not all(isinstance(x, fmpq) for x in p.affine):
            yield note("decimals are rounded")
        return
    if p.activation.odd:
        yield f"{goal}, among all `u(x)`, the odd part of `alpha`,"
        yield Equations((("G", "1/2 int (D_phi(h''/p + u, 0) + D_phi(h''/p - u, 0)) p dx"),))
        ends = "int p u dx", "int p x u dx"
    else:
        yield f"{goal}"
        yield Equations((("G", "int D_phi(h''(x)/(2 p(x)), 0) p(x) dx"),))
        ends = "0", "0"
    yield note("subject to")
    yield Equations(((SLOPES, ends[0]), (MOMENT, ends[1])))
    yield note("`D_phi(a, 0) = phi(a) - phi(0) - phi'(0) a`, `phi = {law}`", law=Text(p.law.text))


def _derivation(p: VariationalProblem) -> Iterator[object]:
    odd = p.activation.odd
    if not p.scaled:
        counts = "`theta` moves by `O(1/n)`: `phi` counts by its curvature at 0, as `x^2/2` would"
        yield f"{counts}, and the limit is that of gradient flow for all unscaled potentials"
    yield "minimise `E D_phi(alpha, 0)` subject to `h(x) = E alpha(w, b) sigma(w x - b)`"
    yield "with even `p` and `alpha(1, b) = v(b) + u(b)`, `alpha(-1, -b) = v(b) - u(b)`,"
    yield f"`sigma(z) = {'(|z| + z)/2' if odd else '|z|'}` gives"
    if odd:
        both = "int p v |x - b| db + int p u (x - b) db"
        seen = (SLOPES, "int p u db"), (MOMENT, "int p b u db")
        yield Equations((("2 h(x)", both), ("h''", "p v"), *seen))
    else:
        yield Equations((("h(x)", "int p v |x - b| db"), ("h''", "2 p v")))
        yield "both sides have opposite slopes, and `2 h(0) = int h''(b) |b| db`"
    if p.affine is not None:
        least = "`(int p u)^2 + (int p b u)^2/E b^2`"
        yield f"the least `int p u^2` at these is {least}, as `E b = 0`"


def times(factor: Value) -> str:
    """Return a factor with a space behind it; nothing for 1."""
    return "" if factor == 1 else f"{shown(factor)} "


def shown(value: Value) -> str:
    """Return a rational number, or a ball to 12 digits."""
    return str(value) if isinstance(value, fmpq) else str(value.str(12, radius=False))


@dataclass(frozen=True)
class Activation:
    """sigma(z) = even |z| + odd z: the ReLU has both 1/2, the absolute value 1 and 0."""

    name: str
    even: Fraction
    odd: Fraction


ACTIVATIONS = {
    "relu": Activation("relu", Fraction(1, 2), Fraction(1, 2)),
    "abs": Activation("abs", Fraction(1), Fraction(0)),
}


def read_activation(name: str) -> Activation:
    """Return the activation of that name, or raise InputError."""
    if name not in ACTIVATIONS:
        raise InputError(f"--activation is {' or '.join(ACTIVATIONS)}, not {name!r}")
    return ACTIVATIONS[name]
