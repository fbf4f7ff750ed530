"""How one law or dual coordinate changes, and whether that is closed: a function of laws alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sympy import Expr, Symbol

from derive.exact.linear.families import LogFunction
from derive.perturbed.followed import Followed, Leaf
from derive.printable import Held
from derive.verdict import Decided, Finding, Identity, Verdict


@dataclass(frozen=True, repr=False)
class Drift(Decided, Held):
    """What a perturbation does to one law c, or to one dual coordinate y.

    Attributes:
        symbol: what it is called.
        quantity: it, in the weights; logarithms are of moduli.
        change: of it, in the weights and the letters of the perturbation.
        finding: is the change closed? It depends on the weights through the laws alone; but for
            decay, where that of y may have a term q y.
        regular: has the quantity no pole and no logarithm that weights may reach?
        in_laws: the change in c, and y, where it was written so.
        factor: q.
    """

    symbol: Symbol
    quantity: Expr
    change: Expr
    finding: Finding
    regular: bool
    in_laws: Expr | None = None
    factor: Expr | None = None


def closing(leaf: Leaf, x: Followed, f: LogFunction) -> Finding:
    """Decide whether a change of c or y is a function of the laws."""
    if not leaf.is_law(f):
        return not_closed(x, "is no function of laws: it changes with beta on a leaf")
    if not leaf.complete and (f.logs or leaf.in_laws(f.rational) is None):
        return not_closed(x, "is conserved by the flow, of which not all laws are known")
    statement = f"<grad h, grad F_j> = 0 for all j, h = {leaf.with_logs(f)}"
    reason = f"the drift of {x.symbol} is a function of laws"
    return Finding(Verdict.PROVED, reason, (Identity(statement, "0", "0"),))


def not_closed(x: Followed, why: str) -> Finding:
    """Return that the change of c or y is not known to be closed."""
    return Finding(Verdict.UNDECIDED, f"the drift of {x.symbol} {why}")


def drift_of(leaf: Leaf, x: Followed, change: LogFunction, own: LogFunction | None = None) -> Drift:
    """Return a change as the drift of c or y.

    Args:
        own: what has to be a function of the laws, if that is not the change itself.
    """
    finding = closing(leaf, x, change if own is None else own)
    written = None if change.logs else leaf.in_laws(change.rational)
    return replace(
        open_drift(leaf, x, leaf.with_logs(change), ""), finding=finding, in_laws=written
    )


def open_drift(leaf: Leaf, x: Followed, change: Expr, why: str) -> Drift:
    """Return a drift that is not known to be closed."""
    regular = not any(x.poles())
    return Drift(x.symbol, leaf.with_logs(x.function), change, not_closed(x, why), regular)
