"""What the flow tends to on separable data, told, and as a versioned JSON record."""

from __future__ import annotations

from collections.abc import Iterator

from derive.model.labels import taken_names
from derive.render.narration import Narration, Part, part
from derive.render.sections import norms_of
from derive.separable.find import Margins
from derive.statement import OnPage
from derive.verdict import Finding, Verdict


def tell_margins(m: Margins) -> Narration:
    """Return what is said of separable data."""
    coercive = "`|grad Q| -> infinity` as `|beta| -> infinity`?"
    horizon = f"Horizon of `Q`{f': `{m.norm}`' if m.norm else ''}"
    in_weights = "In the weights: `min |w|^2` subject to `<x_i, F(w)> >= 1`"
    of_weights = ("homogeneous", "KKT", "KKT law", "representation cost", "KKT minimizer")
    parts = [
        Part("Gradient flow on separable data, under losses that decrease"),
        Part("Parameterization `beta = F(w)`", (m.derivation,)),
        part(
            "At every time `t`", m.says("every time", "mirror flow"), verdict=m.finite_time.verdict
        ),
        part("", _why_finite(m.finite_time), kind="proof"),
        part(
            coercive, m.says("coercive", "growth"), verdict=m.coercive.verdict, title="Coercivity"
        ),
        part(horizon, m.says("direction")),
        part(in_weights, m.says(*of_weights)),
    ]
    if m.agreement is not None:
        agree = "Do the horizon and `R_F` give one margin problem?"
        title = "Agreement of both margin problems"
        told = m.says("agreement")
        parts.append(part(agree, told, verdict=m.agreement.verdict, title=title))
    large = m.says("large starts", "large starts, late")
    parts.append(part("Starts `c w_0`, `c -> infinity`", large))
    d = m.derivation
    return Narration(tuple(parts), taken_names(d.parameterization), norms_of(d.direction))


def _why_finite(finding: Finding) -> Iterator[object]:
    if finding.verdict is Verdict.PROVED:
        steered = "the flow of `sum_i l(<x_i, beta>)` has `lambda = X^T a` with `a_i > 0`"
        kkt = "so `grad Q(beta(t)) = int_0^t g lambda` is `X^T s(t)` with `s_i(t) >= 0`"
        active = "at `beta(t)` all constraints are active: these are the KKT conditions"
        yield OnPage((f"{steered}, {kkt}; {active}, and `Q` is convex",))
