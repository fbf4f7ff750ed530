"""What inverse design hands over: one record per coordinate, and the whole."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr

from derive.derivation import Derivation
from derive.language.tree import Tree
from derive.printable import Printable
from derive.verdict import Finding, Verdict, conclude


@dataclass(frozen=True)
class Coordinate:
    """One coordinate of Q and the parameterization found for it.

    Attributes:
        potential: Q(beta) as given.
        variable: the name of beta.
        second: Q'', an expression near the start; None where Q could not be read.
        w_of_beta: the weight as a function of beta; an integral where no closed form was found,
            None for a pair.
        weights: names of the weights; empty where no closed form was found.
        output: F; None likewise.
        interval: the range of F, in which Q'' > 0.
        scale: c in K(w) Q''(F(w)) = c.
        beta_0: where the flow starts; None for any point of the interval.
        at_minimum: whether Q' = 0 there, so that the flow minimises Q itself.
        start: the values of the weights; None where only F(w_0) = beta_0 is known.
        assumed: conditions on the parameters.
        finding: the verdict with the identities behind it.
        forward: the derivation from F, where it was run.
        checked: what the forward run said.
        smooth: whether Q is proved smooth in the whole interval.
    """

    potential: Tree
    variable: str
    second: Expr | None
    finding: Finding
    w_of_beta: Expr | None = None
    weights: tuple[str, ...] = ()
    output: Tree | None = None
    interval: tuple[Expr, Expr] | None = None
    scale: Expr | None = None
    beta_0: Tree | None = None
    at_minimum: bool = False
    start: tuple[tuple[str, Tree], ...] | None = None
    assumed: tuple[str, ...] = ()
    forward: Derivation | None = None
    checked: str = ""
    smooth: bool = True

    @property
    def kernel(self) -> Expr | None:
        """K = 1/Q'', for the unit of Q in which c = 1."""
        return None if self.second in (None, 0) else 1 / self.second


@dataclass(frozen=True)
class InverseDesign(Printable):
    """A parameterization whose gradient flow has the given Q as implicit regularizer."""

    coordinates: tuple[Coordinate, ...]

    @property
    def verdict(self) -> Verdict:
        """PROVED: found and accepted. REFUTED: there is none. UNDECIDED: no closed form found."""
        return conclude(tuple(c.finding for c in self.coordinates))

    @property
    def outputs(self) -> tuple[str | None, ...]:
        """F as text, one per coordinate; None where no closed form was found."""
        from derive.language import to_text

        return tuple(None if c.output is None else to_text(c.output) for c in self.coordinates)
