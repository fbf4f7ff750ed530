"""Text, LaTeX and JSON of an inverse design."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sympy import Expr, Integral

from derive.inverse.design import Coordinate, InverseDesign
from derive.language import to_sympy, to_text
from derive.render.formula import latex, latex_name
from derive.render.plain import plain
from derive.render.text import wrap
from derive.verdict import Verdict

FORMAT = "regderive-inverse"
VERSION = 1
UNIT = "the constant only changes the unit of Q"
FREE = "the weight is free up to sign and shift"


def render_text(design: InverseDesign, width: int = 80) -> str:
    """Return the design as plain text."""
    head = {
        Verdict.PROVED: "Yes: gradient flow on F below has the implicit regularizer Q.",
        Verdict.REFUTED: "No: a mirror potential of gradient flow is strictly convex.",
        Verdict.UNDECIDED: "Undecided: no closed form of F was found and proved.",
    }[design.verdict]
    lines = [head]
    for coordinate in design.coordinates:
        lines += ["", *_lines(coordinate)]
    return "\n".join(part for line in lines for part in (wrap(line, width) if line else [""]))


def _lines(c: Coordinate) -> Iterator[str]:
    b = c.variable
    label = "Parameterization "
    yield label.ljust(79 - len(c.finding.verdict.value), ".") + f" {c.finding.verdict.value}"
    yield f"  Q = {to_text(c.potential)}"
    if c.second is not None:
        yield f"  Q'' = {plain(c.second)}"
    if c.output is None:
        yield f"  {c.finding.reason}"
        if c.w_of_beta is not None:
            yield f"  w = {_written(c.w_of_beta)}"
        return
    yield f"  {b} = {to_text(c.output)}"
    if c.w_of_beta is not None:
        yield f"  {c.weights[0]} = {plain(c.w_of_beta)}"
    if c.interval is not None:
        where = "where Q'' > 0" if c.smooth else "as far as Q is smooth, where Q'' > 0"
        yield f"  for {plain(c.interval[0])} < {b} < {plain(c.interval[1])}, {where}"
    yield f"  start: {_start(c)}"
    if c.assumed:
        yield f"  assuming {', '.join(c.assumed)}"
    yield f"  minimises: {_minimised(c)}"
    yield "  proof:"
    yield from (f"    {e.statement}" for e in c.finding.evidence)
    yield f"  {UNIT}" + (f"; {FREE}" if len(c.weights) == 1 else "")
    yield f"  forward run: {c.checked}"


def _start(c: Coordinate) -> str:
    if c.beta_0 is None and len(c.weights) == 2:
        p, m = c.weights
        return f"any {p}, {m} > 0 with the value of {p}*{m} below, {c.variable}_0 = F"
    w = c.weights[0]
    if c.beta_0 is None:
        return f"any {w}_0 with its image in that range, {c.variable}_0 = F({w}_0)"
    at = f"{c.variable}_0 = {to_text(c.beta_0)}"
    if c.start is None:
        return f"{w}_0 with F({w}_0) = {to_text(c.beta_0)}"
    return ", ".join(f"{w} = {to_text(t)}" for w, t in c.start) + f", {at}"


def _minimised(c: Coordinate) -> str:
    b = c.variable
    if c.at_minimum:
        return f"Q itself, as Q'({b}_0) = 0"
    return f"Q - Q'({b}_0)*{b}, the Bregman divergence of Q from the start"


def _written(expression: Expr) -> str:
    if isinstance(expression, Integral):
        return f"Integral({plain(expression.function)}, {expression.variables[0]})"
    return plain(expression)


def render_latex(design: InverseDesign) -> str:
    """Return a LaTeX snippet."""
    lines: list[str] = []
    for c in design.coordinates:
        b, w = latex_name(c.variable), latex_name(c.weights[0] if c.weights else "w")
        rows = [("Q", latex(to_sympy(c.potential)))]
        if c.second is not None:
            rows.append(("Q''", latex(c.second)))
        if c.output is not None:
            rows.append((b, latex(to_sympy(c.output))))
        if c.w_of_beta is not None:
            rows.append((w, latex(c.w_of_beta)))
        if len(c.weights) == 1 and c.scale is not None:
            rows.append((f"F'({w})^2\\, Q''(F({w}))", latex(c.scale)))
        elif c.scale is not None:
            rows.append((r"|\nabla F|^2\, Q''(F)", latex(c.scale)))
        lines += [r"\begin{align*}"]
        lines += [" \\\\\n".join(f"  {left} &= {right}" for left, right in rows)]
        lines += [r"\end{align*}"]
        if c.start is not None:
            values = ", ".join(f"{latex_name(n)}(0) = {latex(to_sympy(t))}" for n, t in c.start)
            lines.append(f"with the start ${values}$.")
        if c.output is None:
            lines.append("No closed form was proved." if c.w_of_beta else "There is none.")
    return "\n".join(lines)


def document(body: str) -> str:
    """Return a document around a snippet, which fits the page as it is."""
    head = "\\documentclass{article}\n\\usepackage{amsmath,amssymb}\n\\begin{document}\n"
    return head + body + "\n\\end{document}"


def render_json(design: InverseDesign) -> str:
    """Return the record as JSON text; expressions are strings."""
    record = {
        "format": FORMAT,
        "version": VERSION,
        "verdict": design.verdict.value,
        "coordinates": [_record(c) for c in design.coordinates],
    }
    return json.dumps(record, indent=2, ensure_ascii=True)


def _record(c: Coordinate) -> dict[str, Any]:
    def written(x: Expr | None) -> str | None:
        return None if x is None else _written(x)

    return {
        "verdict": c.finding.verdict.value,
        "reason": c.finding.reason,
        "Q": to_text(c.potential),
        "coordinate": c.variable,
        "second_derivative": written(c.second),
        "kernel": written(c.kernel),
        "output": None if c.output is None else to_text(c.output),
        "weights": list(c.weights),
        "w_of_beta": written(c.w_of_beta),
        "interval": None if c.interval is None else [plain(x) for x in c.interval],
        "smooth_in_the_interval": c.smooth,
        "scale": written(c.scale),
        "beta_0": None if c.beta_0 is None else to_text(c.beta_0),
        "minimises_Q_itself": c.at_minimum,
        "start": None if c.start is None else {n: to_text(t) for n, t in c.start},
        "assumed": list(c.assumed),
        "evidence": [
            {"statement": e.statement, "left": e.left, "right": e.right, "holds": e.holds}
            for e in c.finding.evidence
        ],
        "forward": {
            "ran": c.forward is not None,
            "verdict": None if c.forward is None else c.forward.verdict.value,
            "reason": c.checked,
        },
    }
