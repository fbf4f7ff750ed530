r"""Explicit counterparts as LaTeX for a paper; the snippet needs amsmath."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Poly, Symbol

from derive.explicit.contrast import Contrast
from derive.explicit.counterpart import ExplicitCounterpart
from derive.explicit.critical.intervals import RootInterval
from derive.explicit.minimum import LENGTH, CriticalRoot, RootByInterval, SquaredDistance
from derive.explicit.scale_limits import ScaleLimit
from derive.language import parse_expression, to_sympy
from derive.model.labels import taken_names
from derive.model.notation import Notation
from derive.render.explicit import beta_text, decimal, equation_name
from derive.render.formula import LONG, at_start, display, latex, latex_name, on_lines, piece_latex
from derive.render.labels import unmarked
from derive.render.latex_labels import with_tildes
from derive.render.phrases import affine_sentences
from derive.verdict import Verdict

TEMPLATE = "P_{{{}}}"
LIMITS = {"R -> R_F": r"R \to R_F", "Q/Q(1) -> |beta|": r"Q/Q(1) \to |\beta|"}
"""Limits that are no formulas of the language."""


def render_latex(found: ExplicitCounterpart) -> str:
    """Return the record as a snippet."""
    return with_tildes("\n".join(_body(found)), taken_names(found.parameterization))


def _body(found: ExplicitCounterpart) -> Iterator[str]:
    p = found.parameterization
    betas = Notation(p, tuple(range(p.d))).betas
    rows = [(latex(b), latex(f)) for b, f in zip(betas, p.outputs, strict=True)]
    if p.vectors:
        vectors = ", ".join(f"${latex_name(v.name)}$" for v in p.vectors)
        kind = "vectors" if len(p.vectors) > 1 else "a vector"
        yield rf"For {kind} {vectors} of any dimension, with $s = |\beta|$:"
    yield from display(rows)
    yield from affine_sentences(p)
    yield f"Start: ${at_start(p.start)}$."
    for block in found.blocks:
        yield from _minimum(block.distance, "R", r"R(\beta) = \min_{F(w)=\beta} |w - w_0|^2")
        yield from _minimum(block.cost, "R_F", r"R_F(\beta) = \min_{F(w)=\beta} |w|^2")
        yield from _contrast(block.contrast)
        yield from _limits(block.limits)


def _minimum(minimum: SquaredDistance, name: str, definition: str) -> Iterator[str]:
    yield rf"\paragraph{{${definition}$}}"
    if minimum.verdict is not Verdict.PROVED:
        reason = _words(minimum.finding.reason)
        yield rf"Which root this is was not proved everywhere: {reason}."
    left = name
    if isinstance(minimum, CriticalRoot) and minimum.scale is not None:
        alpha, power = latex(minimum.scale), minimum.problem.degree
        beta = latex(minimum.variables[0])
        left = "r"
        yield rf"${name} = {alpha}^2\, r(b)$ with $b = {beta}/{alpha}^{{{power}}}$, where"
    if isinstance(minimum, RootByInterval):
        pairs = zip(minimum.intervals, minimum.closed_forms, strict=True)
        rows = [(left, _root(minimum, interval, form)) for interval, form in pairs]
    else:
        rows = [(left, latex(form)) for form in minimum.closed_forms if form is not None]
    if not rows and minimum.verdict is Verdict.PROVED:
        yield rf"${name}$ is {_words(minimum.finding.reason)}."
    if not rows or (isinstance(minimum, RootByInterval) and not minimum.is_closed):
        for i, equation in enumerate(minimum.equations):
            rows.append((f"{equation_name(minimum, i, TEMPLATE)}(r)", polynomial_latex(equation)))
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


def polynomial_latex(equation: Expr) -> str:
    """Return a polynomial in r with its powers in descending order, long ones on several lines."""
    terms: list[str] = []
    for (power,), coefficient in Poly(equation, LENGTH).terms():
        negative = coefficient.could_extract_minus_sign()
        factor = latex(-coefficient if negative else coefficient)
        if power and factor == "1":
            factor = ""
        elif coefficient.is_Add and (power or negative):
            factor = rf"\left({factor}\right)"
        sign = "- " if negative else "+ " if terms else ""
        terms.append(f"{sign}{factor} {latex(LENGTH**power) if power else ''}".strip())
    lines = on_lines(terms, LONG - 15)
    body = " \\\\\n    & ".join(lines)
    return body if len(lines) == 1 else rf"\begin{{aligned}}[t] & {body} \end{{aligned}}"


def _contrast(contrast: Contrast) -> Iterator[str]:
    yield r"\paragraph{Beside the implicit regularizer $Q$}"
    reason = _words(contrast.finding.reason)
    yield f"{reason[0].upper()}{reason[1:]}."
    if contrast.implicit is not None:
        for piece in contrast.implicit.potential.pieces:
            yield from piece_latex(piece, "Q")
    if contrast.rows:
        at = ", ".join(f"{latex_name(name)} = {value}" for name, value in contrast.start)
        at = f" at ${at}$" if at else ""
        yield (r"Both $0$ and flat with Hessian $2 K(w_0)^{-1}$ at $\beta_0 = F(w_0)$" + f"{at}:")
        yield r"\begin{center}\begin{tabular}{rll}"
        yield r"$\beta$ & $R$ & $Q$ \\ \hline"
        for row in contrast.rows:
            yield rf"${beta_text(row)}$ & {decimal(row.explicit, 10)} & {row.implicit:.10g} \\"
        yield r"\end{tabular}\end{center}"


def _limits(limits: tuple[ScaleLimit, ...]) -> Iterator[str]:
    proved = [limit for limit in limits if limit.finding.verdict is Verdict.PROVED]
    if not proved:
        return
    yield r"\paragraph{Limits}"
    yield r"\begin{itemize}"
    for limit in proved:
        names, _, goal = limit.when.partition(" -> ")
        when = ", ".join(latex_name(name) for name in names.split(", "))
        goal = r"\infty" if goal == "oo" else goal
        yield rf"\item ${when} \to {goal}$: {_statement(unmarked(limit.statement))}"
    yield r"\end{itemize}"


def _statement(statement: str) -> str:
    if statement in LIMITS:
        return f"${LIMITS[statement]}$"
    left, _, right = statement.partition(" -> ")
    scale, _, name = left.rpartition("*")
    if "<" in right or " " in right:
        return _words(statement)
    scaled = latex(to_sympy(parse_expression(scale)))
    return rf"${scaled}\, {name} \to {latex(to_sympy(parse_expression(right)))}$"


def _words(text: str) -> str:
    r"""Return a sentence of the text output with its formulas as typewriter text.

    >>> _words("R_F(b) -> 0")
    'R\\_F(b) $\\to$ 0'
    """
    escaped = "".join(f"\\{c}" if c in "_#%&$" else c for c in unmarked(text))
    escaped = escaped.replace("^", r"\^{}").replace("->", r"$\to$")
    return escaped.replace(">=", r"$\ge$").replace("<", "$<$").replace(">", "$>$")
