"""What is known of Q on one block of outputs."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr

from derive.model.direction import Direction
from derive.model.notation import Constant
from derive.potential.chart import Chart
from derive.potential.piece import Piece, Root
from derive.potential.shortest import Form
from derive.verdict import Finding
from derive.weights.dual import DualCoordinates, DualLength
from derive.weights.hessian import WarpVerdict


@dataclass(frozen=True)
class Eigenvalues:
    """K across beta (T) and along it (R) as functions of s = |beta|, with the names they use."""

    across: Expr
    along: Expr
    roots: tuple[Root, ...]
    constants: tuple[Constant, ...]


@dataclass(frozen=True)
class DirectionTerms:
    """What the direction of beta adds to q(s): Q = q(s) - slope <u_0, beta>.

    Attributes:
        dual: log psi in the weights, where found in the families.
        g: the warp psi phi/n in the scalars and the norm; None where psi was not found.
        slope: psi_0/n_0, with the sign of phi.
    """

    direction: Direction
    dual: DualLength | None
    g: Expr | None
    slope: Expr
    eigenvalues: Eigenvalues | None


@dataclass(frozen=True)
class BlockPotential:
    """Q of one block of outputs.

    Attributes:
        warping: the verdict on existence; in a larger field where g had to be adjoined.
        piece: Q in closed form or as a quadrature, of a vector q(s); None where none was found.
        chart: how functions of the weights are written in beta on the leaf, where found.
        finding: PROVED with the identities behind the piece; the reason otherwise.
        turning: for a vector of open dimension, what its direction adds.
        other_side: Q where g < 0, for a start at which g is 0 and may take either sign.
        forms: the proved forms of Q, that of the piece first.
    """

    warping: WarpVerdict
    dual: DualCoordinates | None
    piece: Piece | None
    chart: Chart | None
    finding: Finding
    turning: DirectionTerms | None = None
    other_side: BlockPotential | None = None
    forms: tuple[Form, ...] = ()
