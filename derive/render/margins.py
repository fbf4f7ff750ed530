"""What the flow tends to on separable data, as plain text and as a versioned JSON record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy
from sympy import Expr

from derive.margins.far import Far
from derive.margins.find import Margins
from derive.margins.horizon import SOURCE, Hypothesis
from derive.margins.weights_problem import BlockCost
from derive.model.labels import taken_names
from derive.regimes.limit import growth_expression
from derive.render.labels import noted, said
from derive.render.phrases import output_lines, start_words
from derive.render.plain import page, piece_lines, shown, title, vector_lines
from derive.render.written_json import Record, brief_finding, json_text
from derive.verdict import Verdict

DECIDED = {Verdict.PROVED: "proved", Verdict.REFUTED: "fails", Verdict.UNDECIDED: "assumed"}
"""What became of a hypothesis."""
OPEN = "open"
"""The same of one that is not decided, where nothing is concluded from it."""


def render_text(found: Margins, width: int = 80) -> str:
    """Return the record as text."""
    parts = (_model, _finite_time, _coercive, _horizon, _weights, _agreement, _scaled)
    head = ["Gradient flow on separable data, under losses that decrease"]
    taken = taken_names(found.derivation.parameterization)
    return page([head, *(part(found) for part in parts)], width, taken)


def _model(m: Margins) -> Iterator[str]:
    yield "Parameterization beta = F(w)"
    yield from output_lines(m.derivation.parameterization)
    yield f"start w_0: {start_words(m.derivation.parameterization)}"


def _finite_time(m: Margins) -> Iterator[str]:
    yield title("At every time t", m.finite_time.verdict)
    if m.finite_time.verdict is not Verdict.PROVED:
        yield said(m.finite_time.reason)
        return
    yield "beta(t) = argmin Q(beta) subject to <x_i, beta> >= <x_i, beta(t)> for all i"
    yield "for every decreasing loss l, so wherever it is stopped; labels are in the rows x_i of X"
    yield "grad Q(beta(t)) = X^T s(t), s_i(t) = int_0^t g a_i, a_i = -l'(<x_i, beta>) > 0"
    potential = m.derivation.potential
    if potential.turning is not None:
        yield from vector_lines(potential, potential.turning)
        return
    for i, piece in enumerate(potential.pieces, 1):
        name = f"Q{i}" if len(potential.pieces) > 1 else "Q"
        yield from piece_lines(replace(piece, gradient=()), name)
    if len(potential.pieces) > 1:
        yield "Q = " + " + ".join(f"Q{i}" for i, _ in enumerate(potential.pieces, 1))


def _coercive(m: Margins) -> Iterator[str]:
    if not m.far:
        return
    yield title("|grad Q| -> infinity as |beta| -> infinity?", m.coercive.verdict)
    if any(far.leading is None for far in m.far):
        yield said(m.coercive.reason)
    if m.coercive.verdict is Verdict.REFUTED:
        squared = "its limit as the start is scaled to 0 tells of the squared loss alone"
        yield f"where X^T s(t) stays bounded no shape of Q decides the direction, and {squared}"
    yield from (line for far in m.far for line in _growth(far))


def _growth(far: Far) -> Iterator[str]:
    if far.leading is not None:
        beta = ", ".join(map(str, far.betas))
        N = growth_expression(far.leading.growth, 1 / sympy.Symbol("c", positive=True))
        yield f"Q(c x)/(c N) -> {shown(far.leading.h)} at x = {_tuple(beta)}, N = {shown(N)}"


def _tuple(names: str) -> str:
    return f"({names})" if "," in names else names


def _horizon(m: Margins) -> Iterator[str]:
    if not m.hypotheses:
        return
    yield f"Horizon of Q{f': {m.norm}' if m.norm else ''}"
    if m.horizon is None:
        yield "none is given: what fails or is open below keeps it from deciding the direction"
    else:
        yield f"phi = {shown(m.horizon)}"
        if len(m.derivation.beta) == 1 and m.derivation.direction is None:
            yield f"of copies of F side by side: {m.norm}"
        yield "beta(t)/|beta(t)| tends to the direction of argmin phi subject to <x_i, beta> >= 1"
    yield f"hypotheses of the theorem ({SOURCE}):"
    failing = [h for h in m.hypotheses if h.finding.verdict is Verdict.REFUTED]
    yield from (_hypothesis(h, m) for h in failing or m.hypotheses)


def _hypothesis(hypothesis: Hypothesis, m: Margins) -> str:
    """Return what became of a hypothesis, and why."""
    finding, reason = hypothesis.finding, noted(hypothesis.finding.reason)
    word = (
        DECIDED[finding.verdict] if m.horizon is not None or reason.startswith("assumed") else OPEN
    )
    word = word if finding.verdict is Verdict.UNDECIDED else DECIDED[finding.verdict]
    reason = reason.removeprefix("assumed").lstrip(",; ")
    reason = "" if finding.verdict is Verdict.REFUTED and finding is m.coercive else reason
    return f"{word}: {hypothesis.statement}" + (f" ({reason})" if reason else "")


def _weights(m: Margins) -> Iterator[str]:
    w = m.weights
    yield title("In the weights: min |w|^2 subject to <x_i, F(w)> >= 1", w.finding.verdict)
    if w.degree is None or w.finding.verdict is not Verdict.PROVED:
        yield f"no theorem says that the flow tends to a KKT point of it: {w.finding.reason}"
        return
    yield f"w(t)/|w(t)| tends to a KKT point, w = J^T X^T lambda: {w.finding.reason}"
    yield "for exponential and logistic loss; a KKT point need not be a minimizer"
    yield f"F(c w) = c^D F(w), D = {shown(w.degree)}"
    for law in w.vanishing:
        yield f"at a KKT point {shown(law)} = 0"
    for cost in w.costs:
        yield from _cost(cost, f"R_F({_of(cost)})" if len(w.costs) > 1 else "R_F")
    if _counterexample(m):
        point = "beta = (0, 1), all weights of the first copy 0; (1/2, 0) costs half as much"
        yield f"a KKT point that is no minimizer, of two copies on X = [[2, 1]]: {point}"


def _counterexample(m: Margins) -> bool:
    """Tell whether J(0) = 0 and R_F = k |beta| of one output."""
    one = len(m.derivation.beta) == 1 and m.derivation.direction is None
    return one and m.weights.degree == 2 and m.cost is not None


def _of(cost: BlockCost) -> str:
    return ", ".join(map(str, cost.betas))


def _cost(cost: BlockCost, name: str) -> Iterator[str]:
    if cost.formula is None:
        yield f"{name} = min |w|^2 subject to F(w) = beta is not written: {said(_why(cost))}"
        return
    yield f"{name} = min |w|^2 subject to F(w) = beta is {shown(cost.formula)}"
    if cost.side:
        relation = "<" if cost.side > 0 else ">"
        yield f"no w has F(w) = beta for {_of(cost)} {relation} 0"


def _why(cost: BlockCost) -> str:
    proved = cost.cost.finding.verdict is Verdict.PROVED
    return "a root of a polynomial is left" if proved else cost.cost.finding.reason


def _agreement(m: Margins) -> Iterator[str]:
    if m.agreement is not None:
        yield title("Do the horizon and R_F give one margin problem?", m.agreement.verdict)
        yield said(m.agreement.reason)


def _scaled(m: Margins) -> Iterator[str]:
    """Yield what large starts do, where that is another limit than that of all starts."""
    scaled = m.scaled
    if scaled.kernel is None or not scaled.displacement or scaled.time is None:
        return
    c = sympy.Symbol("c", positive=True)
    yield f"Starts c w_0, c -> infinity, at times tau/{shown(c**scaled.time)}"
    moved = f"w = c w_0 + v(tau)/{shown(c**scaled.displacement)}"
    yield f"{moved}, beta -> J(w_0) v: a linear model, K_0 its kernel"
    rows = [f"[{', '.join(map(shown, row))}]" for row in scaled.kernel.tolist()]
    yield f"K_0 = {', '.join(rows) if len(rows) > 1 else rows[0][1:-1]}"
    yield "first c -> infinity, then L -> 0: argmin <beta, K_0^-1 beta> s.t. <x_i, beta> >= 1"
    other = f"the largest margin in phi{f', {m.norm}' if m.norm else ''}"
    which = other if m.horizon is not None else "a KKT point in the weights"
    yield f"first L -> 0, for every c: {which}"


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
            {"statement": h.statement, **brief_finding(h.finding)} for h in found.hypotheses
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
    c = sympy.Symbol("c", positive=True)
    N: Expr | None = leading and growth_expression(leading.growth, 1 / c)
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
