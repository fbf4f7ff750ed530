"""What the flow tends to on separable data, told, and as a versioned JSON record."""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy import Expr

from derive.margins.far import Far
from derive.margins.find import Margins
from derive.margins.horizon import SOURCE, Hypothesis
from derive.margins.weights_problem import HOMOGENEOUS, BlockCost
from derive.model.labels import taken_names
from derive.regimes.limit import growth_expression
from derive.render.labels import unmarked
from derive.render.narration import Narration, Part, part
from derive.render.written_json import Record, brief_finding, json_text
from derive.statement import Equations, Items, OnPage, Sentence, Text, each, tell
from derive.verdict import Finding, Verdict

DECIDED = {Verdict.PROVED: "proved", Verdict.REFUTED: "fails", Verdict.UNDECIDED: "assumed"}
"""What became of a hypothesis; open is what is not decided where nothing is concluded from it."""
C = sympy.Symbol("c", positive=True)


def tell_margins(m: Margins) -> Narration:
    """Return what is said of separable data."""
    w, c = m.weights.finding.verdict, m.coercive.verdict
    horizon = f"Horizon of `Q`{f': `{m.norm}`' if m.norm else ''}"
    agree = "Do the horizon and `R_F` give one margin problem?"
    coercive = "`|grad Q| -> infinity` as `|beta| -> infinity`?"
    in_weights = "In the weights: `min |w|^2` subject to `<x_i, F(w)> >= 1`"
    heading = Part("Gradient flow on separable data, under losses that decrease")
    parts = [
        Part("Parameterization `beta = F(w)`", (m.derivation,)),
        part("At every time `t`", _finite_time(m), verdict=m.finite_time.verdict),
        part("", _why_finite(m.finite_time), kind="proof"),
        part(coercive, _coercive(m), verdict=c, title="Coercivity"),
        part(horizon, _horizon(m)),
        part(in_weights, _weights(m), verdict=w, title="Margin in the weights"),
    ]
    if m.agreement is not None:
        title = "Agreement of both margin problems"
        parts.append(part(agree, _agreement(m.agreement), verdict=m.agreement.verdict, title=title))
    return Narration((heading, *parts, *_scaled(m)), taken_names(m.derivation.parameterization))


def _agreement(finding: Finding) -> Iterator[object]:
    if finding.verdict is Verdict.PROVED:
        yield OnPage(("the horizon and `R_F` give one margin problem:",))
    elif finding.verdict is Verdict.REFUTED:
        yield OnPage(("the horizon and `R_F` give different margin problems:",))
    yield finding


def _finite_time(m: Margins) -> Iterator[object]:
    if m.finite_time.verdict is not Verdict.PROVED:
        yield m.finite_time
        return
    labels = "with labels in the rows `x_i` of `X`"
    yield f"for every decreasing loss `l`, wherever it is stopped, {labels},"
    data = "<x_i, beta> >= <x_i, beta(t)>"
    yield Equations(
        (("beta(t)", f"argmin Q(beta) subject to {data}"), ("grad Q(beta(t))", "X^T s(t)"))
    )
    yield "for all `i`, where"
    yield Equations((("s_i(t)", "int_0^t g a_i"), ("a_i", "-l'(<x_i, beta>) > 0")))
    yield m.derivation.potential


def _why_finite(finding: Finding) -> Iterator[object]:
    if finding.verdict is Verdict.PROVED:
        steered = "the flow of `sum_i l(<x_i, beta>)` has `lambda = X^T a` with `a_i > 0`"
        kkt = "so `grad Q(beta(t)) = int_0^t g lambda` is `X^T s(t)` with `s_i(t) >= 0`"
        active = "at `beta(t)` all constraints are active: these are the KKT conditions"
        yield OnPage((f"{steered}, {kkt}; {active}, and `Q` is convex",))


def _coercive(m: Margins) -> Iterator[object]:
    if m.coercive.verdict is not Verdict.UNDECIDED:
        does = "does not tend" if m.coercive.verdict is Verdict.REFUTED else "tends"
        yield OnPage((f"`|grad Q|` {does} to infinity as `|beta| -> infinity`",))
    if any(far.leading is None for far in m.far):
        yield m.coercive
    if m.far and m.coercive.verdict is Verdict.REFUTED:
        squared = "its limit as the start is scaled to 0 tells of the squared loss alone"
        yield f"where `X^T s(t)` stays bounded no shape of `Q` decides the direction, and {squared}"
    for far in m.far:
        yield from _growth(far)


def _growth(far: Far) -> Iterator[object]:
    if far.leading is not None:
        N = growth_expression(far.leading.growth, 1 / C)
        x = _tuple(each("`{0}`", ((b,) for b in far.betas)), len(far.betas))
        at = "at `x = {x}`, `N = {N}`"
        yield tell(f"`Q(c x)/(c N) -> {{h}}` {at}", h=far.leading.h, x=x, N=N)


def _tuple(names: Sentence, size: int) -> Sentence:
    return tell("`({names})`", names=names) if size > 1 else names


def _horizon(m: Margins) -> Iterator[object]:
    if not m.hypotheses:
        return
    if m.horizon is None:
        yield "not given: what fails or is open below keeps it from deciding the direction"
    else:
        yield Equations((("phi", m.horizon),))
        if len(m.derivation.beta) == 1 and m.derivation.direction is None:
            yield f"for copies of `F` side by side this is `{m.norm}`"
        least = "argmin phi(beta) subject to <x_i, beta> >= 1 for all i"
        yield "`beta(t)/|beta(t)|` tends to the direction of"
        yield Equations((("beta_inf", least),))
    yield f"hypotheses of the theorem ({SOURCE}):"
    failing = [h for h in m.hypotheses if h.finding.verdict is Verdict.REFUTED]
    yield Items(tuple(_hypothesis(h, m) for h in failing or m.hypotheses))


def _hypothesis(hypothesis: Hypothesis, m: Margins) -> Sentence:
    """Return what became of a hypothesis, and why."""
    finding, reason = hypothesis.finding, hypothesis.finding.reason
    word = DECIDED[finding.verdict]
    if word == "assumed" and m.horizon is None and not reason.startswith("assumed"):
        word = "open"
    reason = reason.removeprefix("assumed").lstrip(",; ")
    if not reason or (word == "fails" and finding is m.coercive):
        return tell(f"{word}: {hypothesis.statement}")
    return tell(f"{word}: {hypothesis.statement} ({{why}})", why=Text(reason, "note"))


def _weights(m: Margins) -> Iterator[object]:
    w = m.weights
    if w.degree is None or w.finding.verdict is not Verdict.PROVED:
        none = "no theorem says that the flow tends to a KKT point of it"
        yield tell(f"{none}: {{why}}", why=w.finding)
        return
    yield tell("`F(c w) = c^D F(w)` with `D = {D}`", D=w.degree)
    given = "under exponential or logistic loss, where the flow separates the data at some time"
    kkt = "the direction of a KKT point, `w = J^T X^T lambda` with `lambda >= 0`"
    yield f"{given}, `w(t)/|w(t)|` tends to {kkt} {HOMOGENEOUS}"
    yield "a KKT point need not be a minimizer"
    for law in w.vanishing:
        yield tell("at a KKT point `{law} = 0`", law=law)
    for cost in w.costs:
        yield from _cost(cost, len(w.costs))
    if _counterexample(m):
        point = "`beta = (0, 1)`, all weights of the first copy 0; `(1/2, 0)` costs half as much"
        yield f"a KKT point that is no minimizer, of two copies on `X = [[2, 1]]`: {point}"


def _counterexample(m: Margins) -> bool:
    """Tell whether J(0) = 0 and R_F = k |beta| of one output."""
    one = len(m.derivation.beta) == 1 and m.derivation.direction is None
    return one and m.weights.degree == 2 and m.cost is not None


def _cost(cost: BlockCost, blocks: int) -> Iterator[object]:
    beta = each("`{0}`", ((b,) for b in cost.betas))
    name = tell("`R_F({beta})`", beta=beta) if blocks > 1 else "R_F"
    least = "min |w|^2 subject to F(w) = beta"
    if cost.formula is None:
        proved = cost.cost.finding.verdict is Verdict.PROVED
        why = "a root of a polynomial is left" if proved else cost.cost.finding
        yield tell(f"`{{name}} = {least}` is not written: {{why}}", name=name, why=why)
        return
    yield Equations(((name, least), (name, cost.formula)))
    if cost.side:
        relation = "<" if cost.side > 0 else ">"
        yield tell(f"no `w` has `F(w) = beta` for `{{beta}} {relation} 0`", beta=beta)


def _scaled(m: Margins) -> Iterator[Part]:
    """Yield what large starts do, where that is another limit than that of all starts."""
    scaled = m.scaled
    if scaled.kernel is None or not scaled.displacement or scaled.time is None:
        return
    late = tell("`tau/{late}`", late=C**scaled.time)
    heading = tell("Starts `c w_0`, `c -> infinity`, at times {late}", late=late)
    moved = "`w = c w_0 + v(tau)/{late}`, `beta -> J(w_0) v`: a linear model, `K_0` its kernel"
    rows = [each("`{0}`", ((x,) for x in row)) for row in scaled.kernel.tolist()]
    kernel = each("`[{0}]`", ((row,) for row in rows)) if len(rows) > 1 else rows[0]
    lazy = "`argmin <beta, K_0^-1 beta>` s.t. `<x_i, beta> >= 1`"
    other = f"the largest margin in `phi`{f', `{m.norm}`' if m.norm else ''}"
    which = other if m.horizon is not None else "a KKT point in the weights"
    yield Part(
        heading,
        (
            tell(moved, late=C**scaled.displacement),
            Equations((("K_0", kernel),)),
            f"first `c -> infinity`, then `L -> 0`: {lazy}",
            f"first `L -> 0`, for every `c`: {which}",
        ),
    )


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
