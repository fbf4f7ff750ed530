r"""Explicit counterparts as a page of mathematics."""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy import Expr, Poly, Symbol

from derive.explicit.contrast import Contrast
from derive.explicit.counterpart import ExplicitCounterpart
from derive.explicit.critical.intervals import RootInterval
from derive.explicit.minimum import LENGTH, CriticalRoot, RootByInterval, SquaredDistance
from derive.explicit.scale_limits import ScaleLimit
from derive.model.labels import taken_names
from derive.model.notation import Notation
from derive.render.explicit import beta_text, decimal, equation_name
from derive.render.labels import unmarked
from derive.render.page.formula import at_start, formula, listed, sentence, values_at
from derive.render.page.lines import Row, display, identities
from derive.render.page.names import latex_name
from derive.render.page.paper import Page, Passage
from derive.render.page.pieces import piece_latex
from derive.render.page.printer import latex
from derive.render.phrases import affine_sentences
from derive.verdict import Verdict

ANSWERS = {Verdict.PROVED: "Yes", Verdict.REFUTED: "No", Verdict.UNDECIDED: "Not decided"}
TEMPLATE = "P_{{{}}}"
LIMITS = {"R -> R_F": r"R \to R_F", "Q/Q(1) -> |beta|": r"Q/Q(1) \to |\beta|"}
"""Limits that are no formulas of the language."""


def render_page(found: ExplicitCounterpart) -> Page:
    """Return the page of the explicit counterparts."""
    p = found.parameterization
    passages = [Passage("paragraph", (*_setting(found),), "Setting")]
    for block in found.blocks:
        passages += _minimum(
            block.distance, "R", "R(\\beta) = \\min_{F(w)=\\beta} \\lVert w - w_0\\rVert^2"
        )
        passages += _minimum(
            block.cost, "R_F", "R_F(\\beta) = \\min_{F(w)=\\beta} \\lVert w\\rVert^2"
        )
        passages.append(Passage("paragraph", (*_contrast(block.contrast),), "Beside $Q$"))
        if limits := tuple(_limits(block.limits)):
            passages.append(Passage("remark", limits))
    return Page(tuple(passages), taken_names(p))


def _setting(found: ExplicitCounterpart) -> Iterator[str]:
    p = found.parameterization
    betas = Notation(p, tuple(range(p.d))).betas
    if p.vectors:
        vectors = listed(f"${latex_name(v.name)}$" for v in p.vectors)
        yield rf"For {vectors} of any dimension, with $s = \lVert\beta\rVert$, let"
    else:
        yield r"Let $\beta = F(w)$ with"
    yield from display([(latex(b), f) for b, f in zip(betas, p.outputs, strict=True)])
    yield from affine_sentences(p)
    yield f"and let $w_0$ be {at_start(p.start)}."


def _minimum(minimum: SquaredDistance, name: str, definition: str) -> Iterator[Passage]:
    proved = minimum.verdict is Verdict.PROVED
    lines = [f"Let ${definition}$.", *_value(minimum, name)]
    label = f"thm:{name.replace('_', '')}"
    yield (
        Passage("theorem", tuple(lines), label=label)
        if proved
        else Passage("paragraph", tuple(lines), f"${name}$")
    )
    reason = sentence(minimum.finding.reason)
    if proved:
        why = (f"By elimination, or duality: {reason}.", *identities(minimum.finding.evidence))
        yield Passage("proof", why)


def _value(minimum: SquaredDistance, name: str) -> Iterator[str]:
    if minimum.verdict is not Verdict.PROVED:
        yield rf"Which root this is was not proved everywhere: {sentence(minimum.finding.reason)}."
    left = name
    if isinstance(minimum, CriticalRoot) and minimum.scale is not None:
        alpha, power = latex(minimum.scale), minimum.problem.degree
        beta = latex(minimum.variables[0])
        left = "r"
        yield rf"Then ${name} = {alpha}^2\, r(b)$ with $b = {beta}/{alpha}^{{{power}}}$, where"
    rows: list[Row] = [(left, form) for form in minimum.closed_forms if form is not None]
    if isinstance(minimum, RootByInterval):
        pairs = zip(minimum.intervals, minimum.closed_forms, strict=True)
        rows = [(left, _root(minimum, interval, form)) for interval, form in pairs]
    if not rows and minimum.verdict is Verdict.PROVED:
        yield rf"It is {sentence(minimum.finding.reason)}."
    if not rows or (isinstance(minimum, RootByInterval) and not minimum.is_closed):
        for i, equation in enumerate(minimum.equations):
            rows.append((f"{equation_name(minimum, i, TEMPLATE)}(r)", _polynomial(equation)))
    yield from display(rows)


def _root(minimum: RootByInterval, interval: RootInterval, form: Expr | None) -> str:
    where = _interval(interval, minimum.argument)
    if interval.factor is None:
        return rf"\infty{where}"
    if form is not None:
        return latex(form) + where
    index = interval.index
    which = f"real root {index + 1} from below" if index else "smallest real root"
    return rf"\text{{{which} of }} {equation_name(minimum, interval.factor, TEMPLATE)}{where}"


def _interval(interval: RootInterval, name: Symbol) -> str:
    b = latex(name)
    low = "" if interval.low is None else f"{decimal(interval.low)} < "
    high = "" if interval.high is None else f" < {decimal(interval.high)}"
    return rf", \quad {low}{b}{high}" if low or high else ""


def _polynomial(equation: Expr) -> Expr:
    """Return a polynomial in r, its coefficients collected."""
    terms = Poly(equation, LENGTH).terms()
    return sympy.Add(*(c * LENGTH**n for (n,), c in terms), evaluate=False)


def _contrast(contrast: Contrast) -> Iterator[str]:
    yield f"Is $R$ the implicit regularizer $Q$? {ANSWERS[contrast.finding.verdict]}: "
    yield f"{sentence(contrast.finding.reason)}."
    if contrast.implicit is not None:
        for piece in contrast.implicit.potential.pieces:
            yield from piece_latex(piece, "Q")
    if contrast.rows:
        at = f" at {values_at(contrast.start)}" if contrast.start else ""
        yield (r"Both $0$ and flat with Hessian $2 K(w_0)^{-1}$ at $\beta_0 = F(w_0)$" + f"{at}:")
        yield r"\begin{center}\begin{tabular}{rll}"
        yield r"$\beta$ & $R$ & $Q$ \\ \hline"
        for row in contrast.rows:
            yield rf"${beta_text(row)}$ & {decimal(row.explicit, 10)} & {row.implicit:.10g} \\"
        yield r"\end{tabular}\end{center}"


def _limits(limits: tuple[ScaleLimit, ...]) -> Iterator[str]:
    for limit in limits:
        if limit.finding.verdict is Verdict.PROVED:
            names, _, goal = limit.when.partition(" -> ")
            when = ", ".join(latex_name(name) for name in names.split(", "))
            goal = r"\infty" if goal == "oo" else goal
            yield rf"As ${when} \to {goal}$, {_statement(unmarked(limit.statement))}."


def _statement(statement: str) -> str:
    if statement in LIMITS:
        return f"${LIMITS[statement]}$"
    left, _, right = statement.partition(" -> ")
    scale, _, name = left.rpartition("*")
    if "<" in right or " " in right:
        return sentence(statement)
    return rf"${formula(scale)}\, {name} \to {formula(right)}$" if scale else sentence(statement)
