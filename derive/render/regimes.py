"""Text, LaTeX and JSON of the regimes of Q."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import sympy
from sympy import Expr, Symbol

from derive.language import to_sympy, to_text
from derive.regimes.find import Regimes
from derive.regimes.limit import Limit
from derive.render.formula import display, latex, latex_name
from derive.render.plain import plain
from derive.render.words import title, wrap
from derive.verdict import Finding, Verdict

FORMAT = "regderive-regimes"
VERSION = 1
MEANING = {
    "kernel": "the squared norm of the tangent kernel at the start",
    "rich": "an l1 norm",
    "anti-NTK": "an increasing function of the l2 norm, the same minimizer",
    "intermediate": "neither the kernel norm nor l1 nor l2",
    "unknown": "not decided",
}


def render_text(regimes: Regimes, width: int = 80) -> str:
    """Return the regimes as plain text."""
    lines = [f"Regimes of Q in {regimes.variable}", "", *_kernel(regimes)]
    for limit in regimes.limits:
        lines += [
            "",
            title(f"Limit {limit.point.text}", limit.finding.verdict),
            *limit_lines(limit, regimes.derivation.beta),
        ]
    if regimes.warped is not None:
        lines += ["", "Warped time tau(t) = int_0^t g ds", f"  g = {_warp(regimes)}"]
        lines += [f"  {_settled(f)}" for f in regimes.warped.findings]
    return "\n".join(part for line in lines for part in wrap(line, width))


def _warp(r: Regimes) -> str:
    g = r.derivation.warping.g
    return "not written" if g is None else plain(g)


def _settled(finding: Finding) -> str:
    """Return a reason that says whether it is proved."""
    proved = finding.verdict is Verdict.PROVED
    return f"proved: {finding.reason}" if proved else finding.reason


def _kernel(r: Regimes) -> Iterator[str]:
    yield "Start"
    if r.vector:
        along, rest = r.derivation.beta
        yield f"  {along} is the component of beta along {r.vector} at the start, {rest} the"
        yield "  length of the rest, in every dimension"
    for i, row in enumerate(r.kernel.matrix.tolist(), 1):
        for j, entry in enumerate(row[i - 1 :], i):
            index = f"{i}{j}" if len(row) > 1 else ""
            yield f"  K{index}(w_0) = {plain(entry)}"
    yield "  K = J J^T is the tangent kernel on predictors"
    if r.derivation.kernel_factor is not None:
        factor = to_text(r.derivation.kernel_factor)
        yield f"  of F in the weights left, {factor} times that in all weights"
    for b, b0 in zip(r.derivation.beta, r.kernel.beta_0, strict=True):
        yield f"  {b}_0 = {plain(b0)}"
    if r.homogeneity is not None:
        D = plain(r.homogeneity.degree)
        yield f"  F(c w) = c^D F(w) with D = {D}, by Euler's identity"
        time = plain(r.homogeneity.time)
        yield f"  from c w_0 gradient flow is c^({time}) times as fast near its start"
    if r.deciding is not None:
        yield f"  {r.deciding.reason}: it decides every joint limit"
    if r.assumptions:
        yield f"  assuming {'; '.join(r.assumptions)}"


def limit_lines(limit: Limit, betas: Sequence[Symbol]) -> Iterator[str]:
    """Yield what a limit is, line by line."""
    form, unit = limit.potential, limit.unit
    if form is None or unit is None:
        yield f"  {limit.finding.reason}"
        return
    yield f"  {limit.regime} regime: {MEANING[limit.regime]}"
    if form.Q is not None:
        yield f"  Q/N -> {plain(form.Q)}"
    else:
        for x, g in zip(limit.coordinates, form.gradient, strict=True):
            yield f"  dQ/d{x}/N -> {plain(g)}"
    if form.curve is not None:
        yield f"  {limit.coordinates[0]} -> {plain(form.curve)}"
    yield f"  N = {plain(unit)}"
    yield from (f"  {plain(x)} = {meaning}" for x, meaning in _coordinates(limit, betas))
    if limit.error is not None:
        order = "of order" if limit.sharp else "at most of order"
        yield f"  relative error: {order} {plain(limit.error)}"
    yield f"  by {limit.finding.reason}"


def _coordinates(limit: Limit, betas: Sequence[Symbol]) -> Iterator[tuple[Symbol, str]]:
    """Yield the coordinates that are not beta itself, and what they are."""
    if limit.basis is not None:
        forms = limit.basis.inv() * sympy.Matrix(betas)
        yield from ((x, plain(f)) for x, f in zip(limit.coordinates, forms, strict=True))
    elif limit.origin is not None and any(b != 0 for b in limit.origin):
        for x, b, b0 in zip(limit.coordinates, betas, limit.origin, strict=True):
            yield x, f"{b} - ({plain(b0)})" if b0 != 0 else str(b)


def render_latex(regimes: Regimes) -> str:
    """Return a LaTeX snippet."""
    r = regimes
    lines = [r"The tangent kernel $K = JJ^\top$ at the start is"]
    lines += list(display([("K(w_0)", latex(sympy.Matrix(r.kernel.matrix)))]))
    if r.derivation.kernel_factor is not None:
        factor = latex(to_sympy(r.derivation.kernel_factor))
        lines.append(f"It is that of $F$ in the weights left, ${factor}$ times that in all.")
    if r.homogeneity is not None:
        lines.append(
            f"The model is homogeneous: $F(cw) = c^D F(w)$, $D = {latex(r.homogeneity.degree)}$."
        )
    if r.vector:
        along, rest = (latex(b) for b in r.derivation.beta)
        lines.append(
            f"In every dimension ${along}$ is the component of $\\beta$ along the start of "
            f"${latex_name(r.vector)}$ and ${rest}$ the length of the rest."
        )
    if r.deciding is not None:
        lines.append("$Q$ depends on the start through $K(w_0)$ alone.")
    for limit in r.limits:
        lines += ["", *_latex_limit(limit, r.derivation.beta)]
    return "\n".join(lines)


def _latex_limit(limit: Limit, betas: Sequence[Symbol]) -> Iterator[str]:
    side = {"0": "0^+", "oo": r"\infty"}
    value = latex(limit.point.value)
    sign = {"below": "^-", "above": "^+"}.get(limit.point.side, "")
    to = side.get(limit.point.side, f"{value}{sign}")
    where = rf"{latex_name(limit.point.variable)} \to {to}"
    if limit.potential is None or limit.unit is None:
        yield f"As ${where}$ nothing was proved."
        return
    yield f"As ${where}$ ({limit.regime} regime),"
    rows: list[tuple[str, str]] = []
    if limit.potential.Q is not None:
        rows.append(("Q/N", rf"\to {latex(limit.potential.Q)}"))
    else:
        for x, g in zip(limit.coordinates, limit.potential.gradient, strict=True):
            rows.append(
                (rf"\frac{{1}}{{N}} \frac{{\partial Q}}{{\partial {latex(x)}}}", rf"\to {latex(g)}")
            )
    if limit.potential.curve is not None:
        rows.append((latex(limit.coordinates[0]), rf"\to {latex(limit.potential.curve)}"))
    rows.append(("N", latex(limit.unit)))
    if limit.basis is not None:
        forms = limit.basis.inv() * sympy.Matrix(betas)
        rows += [(latex(x), latex(f)) for x, f in zip(limit.coordinates, forms, strict=True)]
    elif limit.origin is not None and any(b != 0 for b in limit.origin):
        rows += [
            (latex(x), rf"(\beta - \beta_0)_{{{i}}}, \quad (\beta_0)_{{{i}}} = {latex(b)}")
            for i, (x, b) in enumerate(zip(limit.coordinates, limit.origin, strict=True), 1)
        ]
    yield from (line.replace(r"&= \to", r"&\to") for line in display(rows))
    if limit.error is not None:
        yield rf"with a relative error of order ${latex(limit.error)}$."


def render_json(regimes: Regimes) -> str:
    """Return the record as JSON text; expressions are strings."""
    p = regimes.derivation.parameterization
    h = regimes.homogeneity
    record = {
        "format": FORMAT,
        "version": VERSION,
        "verdict": regimes.verdict.value,
        "outputs": [to_text(t) for t in p.trees],
        "start": {w: to_text(t) for w, t in p.start},
        "variable": regimes.variable,
        "vector": regimes.vector or None,
        "kernel_at_start": [[plain(x) for x in row] for row in regimes.kernel.matrix.tolist()],
        "beta_0": [plain(b) for b in regimes.kernel.beta_0],
        "unbiased": regimes.kernel.unbiased,
        "assumptions": list(regimes.assumptions),
        "homogeneity": None
        if h is None
        else {
            "degree": plain(h.degree),
            "time_exponent": plain(h.time),
            **finding_record(h.finding),
        },
        "decided_by_kernel_at_start": None
        if regimes.deciding is None
        else finding_record(regimes.deciding),
        "limits": [limit_record(limit) for limit in regimes.limits],
        "warped_time": None
        if regimes.warped is None
        else {
            "g": _warp(regimes),
            "positive": finding_record(regimes.warped.positive),
            "onto": finding_record(regimes.warped.onto),
            "bounded": finding_record(regimes.warped.bounded),
        },
    }
    return json.dumps(record, indent=2, ensure_ascii=True)


def limit_record(limit: Limit) -> dict[str, object]:
    """Return a limit as it is written in JSON."""

    def written(x: Expr | None) -> str | None:
        return None if x is None else plain(x)

    form = limit.potential
    return {
        "limit": limit.point.text,
        "regime": limit.regime,
        "Q": None if form is None else written(form.Q),
        "gradient": None if form is None else [plain(g) for g in form.gradient],
        "shape": None if form is None else form.shape,
        "degree": None if form is None else written(form.degree),
        "curve": None if form is None else written(form.curve),
        "coordinates": [str(x) for x in limit.coordinates],
        "origin": None if limit.origin is None else [plain(b) for b in limit.origin],
        "basis": None
        if limit.basis is None
        else [[plain(c) for c in row] for row in limit.basis.tolist()],
        "unit": written(limit.unit),
        "relative_error": written(limit.error),
        "error_is_sharp": limit.sharp,
        **finding_record(limit.finding),
    }


def finding_record(finding: Finding) -> dict[str, object]:
    """Return a finding as it is written in JSON."""
    return {
        "verdict": finding.verdict.value,
        "reason": finding.reason,
        "evidence": [
            {"statement": e.statement, "left": e.left, "right": e.right, "holds": e.holds}
            for e in finding.evidence
        ],
    }
