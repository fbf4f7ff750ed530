"""What inverse design hands over: for each term of Q what was found, and the whole.

Of one term Q(beta) one of four things is said: F in one weight, F in a pair of weights, the
integral of which F is the inverse, or that there is no F, or none that was found.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr

from derive.inverse.forward import Forward
from derive.inverse.line_element import Interval
from derive.inverse.start import FlowStart
from derive.inverse.term import SeparableTerm
from derive.language import to_text
from derive.language.tree import Tree
from derive.printable import Held, Printable
from derive.verdict import Finding, Identity, Verdict, conclude


@dataclass(frozen=True, repr=False)
class Coordinate(Held):
    """What is known of one coordinate of Q; on its own, that no F was found or that there is none.

    *second* is Q'', an expression near the start; None where Q could not be read.
    """

    term: SeparableTerm
    finding: Finding
    second: Expr | None

    @property
    def kernel(self) -> Expr | None:
        """K = 1/Q'', for the unit of Q in which c = 1."""
        return None if self.second in (None, 0) else 1 / self.second


@dataclass(frozen=True, repr=False)
class IntegralOnly(Coordinate):
    """No closed form was found: F is the inverse of *w_of_beta*, an integral."""

    w_of_beta: Expr


@dataclass(frozen=True, repr=False)
class Parameterized(Coordinate):
    """F in closed form, with K(w) Q''(F(w)) = c proved under what is *assumed* of the parameters.

    *output* is F and *scale* is c; in the *interval*, the range of F, Q'' > 0, and *smooth* tells
    whether Q is proved smooth in all of it.
    """

    output: Tree
    weights: tuple[str, ...]
    interval: Interval
    scale: Expr
    start: FlowStart
    assumed: tuple[str, ...]
    forward: Forward
    smooth: bool


@dataclass(frozen=True, repr=False)
class OneWeight(Parameterized):
    """F of one weight, and the weight as a function of beta."""

    w_of_beta: Expr


@dataclass(frozen=True, repr=False)
class WeightPair(Parameterized):
    """F of two weights, whose *product* is conserved; K Q'' = c where it has this value."""

    product: Expr


def accepted(*identities: Identity) -> Finding:
    """Return that F is proved by identities."""
    return Finding(Verdict.PROVED, "accepted by an exact identity", identities)


@dataclass(frozen=True, repr=False)
class InverseDesign(Printable):
    """A parameterization beta = F(w) whose gradient flow has the given Q as implicit regularizer.

    Q is a sum of terms in one coordinate each, and K Q'' = c for all of them, K = |grad F|^2.

    Attributes:
        coordinates: what was found for each term, in the order of the terms.
    """

    coordinates: tuple[Coordinate, ...]

    @property
    def verdict(self) -> Verdict:
        """PROVED: found and accepted. REFUTED: there is none. UNDECIDED: no closed form found."""
        return conclude(tuple(c.finding for c in self.coordinates))

    @property
    def outputs(self) -> tuple[str | None, ...]:
        """F as text, one per coordinate; None where no closed form was found."""
        known = (c.output if isinstance(c, Parameterized) else None for c in self.coordinates)
        return tuple(None if output is None else to_text(output) for output in known)
