"""What gradient flow has solved at every time: least Q at given margins.

For any decreasing loss l, L = sum_i l(<x_i, beta>), the flow is steered by sum_i a_i x_i with
a_i = -l'(<x_i, beta>) > 0, so that with Q normalised to grad Q(beta_0) = 0 and a warp g > 0

    grad Q(beta(t)) = X^T s(t),   s_i(t) = int_0^t g a_i >= 0.

For b with <x_i, b> >= <x_i, beta(t)> for all i, and Q convex on a domain with the segment between,
Q(b) - Q(beta(t)) >= <X^T s, b - beta(t)> = sum_i s_i (<x_i, b> - <x_i, beta(t)>) >= 0. So beta(t)
minimises Q subject to margins at least those that it has; strictly convex, nothing else does.
"""

from __future__ import annotations

from derive.derivation import Derivation
from derive.potential.domain import Domain
from derive.verdict import Finding, Verdict


def finite_time(derivation: Derivation) -> Finding:
    """Return whether beta(t) = argmin Q subject to <x_i, beta> >= <x_i, beta(t)> for all i.

    PROVED for every convex Q that was proved, warped or not, and for every decreasing loss;
    REFUTED where no Q exists for any warp.
    """
    if derivation.verdict is Verdict.REFUTED:
        found = derivation.warping.finding
        return Finding(Verdict.REFUTED, f"there is no Q: {found.reason}", found.evidence)
    if derivation.verdict is Verdict.UNDECIDED:
        found = derivation.potential.finding
        return Finding(Verdict.UNDECIDED, f"Q was not found: {found.reason}", found.evidence)
    reason = "`grad Q(beta(t)) = X^T s(t)` with `s >= 0`, and Q is strictly convex"
    return Finding(Verdict.PROVED, reason, derivation.potential.finding.evidence)


def domains(derivation: Derivation) -> tuple[Domain, ...]:
    """Return where Q of each block lives, as far as that is recorded."""
    pieces = derivation.potential.pieces
    return tuple(piece.domain for piece in pieces if piece.domain is not None)


def lives_everywhere(derivation: Derivation) -> Finding:
    """Decide whether Q lives on all of R^d; UNDECIDED with what is not known of its domain."""
    found = domains(derivation)
    if any(domain.walls for domain in found):
        ends = "; ".join(domain.where for domain in found if domain.walls)
        return Finding(Verdict.REFUTED, f"Q lives on {ends}")
    if len(found) < len(derivation.potential.pieces):
        return Finding(Verdict.UNDECIDED, "its domain is not recorded")
    open_ = [domain.where for domain in found if domain.undecided]
    if open_:
        return Finding(Verdict.UNDECIDED, f"Q lives on {'; '.join(open_)}")
    unless = " or ".join(f"`{c} = 0`" for domain in found for c in domain.unless)
    reason = "the flow reaches every `beta`, and `Hess Q` is positive there"
    return Finding(Verdict.PROVED, reason + (f", unless {unless}" if unless else ""))


def clock_runs(derivation: Derivation) -> Finding:
    """Decide whether g > 0 along the flow: then its clock int g dt runs without end.

    Where Q lives on all of R^d with a coercive gradient the flow of grad Q exists for all values
    of the clock, and g is positive and continuous on the leaf that they share: in finite values of
    the clock no time is infinite.
    """
    if derivation.hessian.verdict is Verdict.PROVED:
        return Finding(Verdict.PROVED, "`g = 1`")
    if all(domain.convex in ("metric", "warp proved") for domain in domains(derivation)):
        return Finding(Verdict.PROVED, "`g > 0` is proved")
    return Finding(Verdict.UNDECIDED, "that `g` keeps its sign is part of what `Q` assumes")
