"""What the flow tends to on separable data, told, and as a versioned JSON record."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr

from derive.margins.far import Far
from derive.margins.find import Margins
from derive.margins.statements import C
from derive.margins.weights_problem import BlockCost
from derive.model.labels import taken_names
from derive.regimes.limit import growth_expression
from derive.render.labels import unmarked
from derive.render.narration import Narration, Part, part, statement_records
from derive.render.written_json import Record, brief_finding, json_text
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
    return Narration(tuple(parts), taken_names(m.derivation.parameterization))


def _why_finite(finding: Finding) -> Iterator[object]:
    if finding.verdict is Verdict.PROVED:
        steered = "the flow of `sum_i l(<x_i, beta>)` has `lambda = X^T a` with `a_i > 0`"
        kkt = "so `grad Q(beta(t)) = int_0^t g lambda` is `X^T s(t)` with `s_i(t) >= 0`"
        active = "at `beta(t)` all constraints are active: these are the KKT conditions"
        yield OnPage((f"{steered}, {kkt}; {active}, and `Q` is convex",))


def render_json(found: Margins) -> str:
    """Return the record as JSON text; expressions are strings."""
    p, w = found.derivation.parameterization, found.weights
    potential = found.derivation.potential
    record: Record = {
        "verdict": found.verdict,
        "outputs": p.trees,
        "start": dict(p.start),
        "Q": potential.Q,
        "gradient": potential.gradient,
        "finite_time": brief_finding(found.finite_time),
        "coercive": brief_finding(found.coercive),
        "growth": [_growth_record(far) for far in found.far],
        "horizon": found.horizon,
        "norm": found.norm,
        "hypotheses": [
            {"statement": unmarked(h.statement), **brief_finding(h.finding)}
            for h in found.hypotheses
        ],
        "weights": {
            "degree": w.degree,
            "vanishing": w.vanishing,
            "costs": [_cost_record(cost) for cost in w.costs],
            **brief_finding(w.finding),
        },
        "R_F": found.cost,
        "agreement": found.agreement and brief_finding(found.agreement),
        "large_starts": {
            "time_exponent": found.scaled.time,
            "displacement_exponent": found.scaled.displacement,
            "kernel": found.scaled.kernel and found.scaled.kernel.tolist(),
            **brief_finding(found.scaled.finding),
        },
        "statements": statement_records(found),
    }
    return json_text("margin", record)


def _growth_record(far: Far) -> Record:
    leading = far.leading
    N: Expr | None = leading and growth_expression(leading.growth, 1 / C)
    return {
        "betas": far.betas,
        "unit": N,
        "limit": leading and leading.h,
        "degree": leading and leading.degree,
        **brief_finding(far.coercive),
    }


def _cost_record(cost: BlockCost) -> Record:
    return {
        "outputs": [i + 1 for i in cost.outputs],
        "R_F": cost.formula,
        "for_beta": {0: "all", 1: "positive", -1: "negative"}[cost.side],
        **brief_finding(cost.cost.finding),
    }
