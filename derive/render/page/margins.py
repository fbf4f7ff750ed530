r"""What the flow tends to on separable data, as a page of mathematics."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from derive.margins.find import Margins
from derive.model.labels import taken_names
from derive.render.margins import DECIDED
from derive.render.page.derivation import setting_of
from derive.render.page.lines import display
from derive.render.page.names import latex_name
from derive.render.page.paper import Page, Passage
from derive.render.page.pieces import piece_latex
from derive.render.page.printer import latex
from derive.verdict import Verdict

HYPOTHESES = (
    r"the loss is convex and decreasing like $e^{-u}$, and $X$ is separable",
    r"$Q$ lives on all of $\mathbb{R}^d$ with $\nabla^2 Q \succ 0$",
    r"$g > 0$ along the flow",
    r"$\lvert\nabla Q\rvert \to \infty$ as $\lvert\beta\rvert \to \infty$",
    r"the sets $\{Q \le r\}$, scaled to one size, converge",
    "the predictor of largest margin is unique",
)
"""The hypotheses of the theorem on the horizon, in the order of the record."""


def render_page(found: Margins) -> Page:
    """Return the page of what the flow tends to."""
    d = found.derivation
    theorem = Passage("theorem", (*_finite_time(found),), label="thm:margins")
    parts = (
        ("Horizon of $Q$", _horizon),
        ("In the weights", _weights),
        (r"Starts $c\,w_0$, $c \to \infty$", _scaled),
    )
    told = ((heading, tuple(part(found))) for heading, part in parts)
    rest = (Passage("paragraph", lines, heading) for heading, lines in told if lines)
    return Page((setting_of(d), theorem, *rest), taken_names(d.parameterization))


def _finite_time(m: Margins) -> Iterator[str]:
    if m.finite_time.verdict is not Verdict.PROVED:
        no = m.finite_time.verdict is Verdict.REFUTED
        yield "There is no $Q$." if no else "No $Q$ was proved."
        return
    yield r"For every decreasing loss, with labels in the rows $x_i$ of $X$ and $Q$ below,"
    yield from display(
        [
            (
                r"\beta(t)",
                r"\operatorname*{arg\,min}_\beta\; Q(\beta) \quad\text{subject to}\quad "
                r"\langle x_i, \beta\rangle \ge \langle x_i, \beta(t)\rangle \text{ for all } i",
            ),
            (r"\nabla Q(\beta(t))", r"X^\top s(t), \quad s(t) \ge 0"),
        ]
    )
    potential = m.derivation.potential
    for i, piece in enumerate(potential.pieces, 1):
        name = f"Q_{{{i}}}" if len(potential.pieces) > 1 else "Q"
        yield from piece_latex(piece, name)
    if (turning := potential.turning) is not None:
        start = latex_name(turning.direction.start_vector)
        slope = latex(turning.slope)
        yield rf"From this $q(s)$ goes ${slope}\langle {start}, \beta\rangle$; $s = |\beta|$."


def _horizon(m: Margins) -> Iterator[str]:
    if not m.hypotheses:
        return
    if m.horizon is None:
        yield "It does not decide the direction: see what fails or is open."
    else:
        yield rf"$\varphi_\infty = {latex(m.horizon)}$: $\beta(t)/\lvert\beta(t)\rvert$ tends to"
        yield r"the direction of the minimizer of $\varphi_\infty$ subject to"
        yield r"$\langle x_i, \beta\rangle \ge 1$ (Pesme, Dragomir, Flammarion 2024)."
    yield r"\begin{itemize}"
    for statement, hypothesis in zip(HYPOTHESES, m.hypotheses, strict=True):
        yield rf"\item {statement}: {DECIDED[hypothesis.finding.verdict]}"
    yield r"\end{itemize}"


def _weights(m: Margins) -> Iterator[str]:
    w = m.weights
    if w.degree is None or w.finding.verdict is not Verdict.PROVED:
        return
    yield rf"$F$ is homogeneous of degree ${latex(w.degree)}$:"
    yield r"$w(t)/\lvert w(t)\rvert$ tends to"
    yield r"a KKT point of $\min \lvert w\rvert^2$ subject to $\langle x_i, F(w)\rangle \ge 1$."
    rows = [
        (rf"R_F({', '.join(map(latex, c.betas))})", c.formula)
        for c in w.costs
        if c.formula is not None
    ]
    yield from display(rows)
    if w.vanishing:
        laws = ", ".join(f"${latex(law)} = 0$" for law in w.vanishing)
        yield f"At KKT points {laws}."


def _scaled(m: Margins) -> Iterator[str]:
    """Yield what large starts do, where that is another limit than that of all starts."""
    scaled = m.scaled
    if scaled.kernel is None or not scaled.displacement or scaled.time is None:
        return
    c = sympy.Symbol("c", positive=True)
    late, moved = (latex(c**power) for power in (scaled.time, scaled.displacement))
    yield rf"At times $\tau/{late}$, $w = c\,w_0 + v(\tau)/{moved}$ and $\beta \to J(w_0)\,v$:"
    yield "a linear model with kernel"
    kernel = latex(scaled.kernel) if scaled.kernel.rows > 1 else latex(scaled.kernel[0])
    yield from display([("K_0", kernel)])
    yield r"First $c \to \infty$, then $L \to 0$: the minimizer of"
    yield r"$\langle\beta, K_0^{-1}\beta\rangle$ subject to $\langle x_i, \beta\rangle \ge 1$."
    which = r"that of $\varphi_\infty$" if m.horizon is not None else "a KKT point in the weights"
    yield rf"First $L \to 0$, for every $c$: {which}."
