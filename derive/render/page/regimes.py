"""Regimes of Q as a page of mathematics: the limits as a theorem, and what proves each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy
from sympy import Symbol

from derive.language import to_sympy
from derive.model.labels import taken_names
from derive.regimes.find import Regimes
from derive.regimes.limit import Limit
from derive.regimes.point import Point
from derive.render.page.derivation import setting_of
from derive.render.page.formula import assumption, listed, sentence
from derive.render.page.lines import Row, display, identities
from derive.render.page.names import latex_name
from derive.render.page.paper import Page, Passage
from derive.render.page.printer import inline, latex
from derive.render.page.wording import say
from derive.render.regimes import in_basis, moved, tending
from derive.verdict import Verdict

MEANING = {
    "kernel": r"the kernel regime: the squared norm of the tangent kernel at the start",
    "rich": r"the rich regime: an $\ell_1$ norm",
    "anti-NTK": r"the anti-NTK regime: an increasing function of the $\ell_2$ norm",
    "intermediate": r"neither the norm of the kernel nor $\ell_1$ nor $\ell_2$",
    "unknown": "a limit without a name",
}


def render_page(r: Regimes) -> Page:
    """Return the page of the regimes of a derivation."""
    d, name = r.derivation, latex_name(r.variable)
    known = [limit for limit in r.limits if limit.potential is not None and limit.unit is not None]
    found = [setting_of(d), Passage("paragraph", (*_start(r),), "Start")]
    if known:
        limits = (line for limit in known for line in limit_sentences(limit, d.beta))
        found.append(Passage("theorem", (*_given(r), *limits), f"Limits in ${name}$", "thm:limits"))
        found.append(Passage("proof", tuple(line for limit in known for line in _why(limit))))
    for limit in r.limits:
        if limit not in known:
            why = sentence(limit.finding.reason)
            line = say("limits.none", where=limit_at(limit.point), why=why)
            found.append(Passage("remark", (line,)))
    if r.warped is not None:
        found.append(Passage("remark", (*_clock(r),)))
    return Page(tuple(found), taken_names(d.parameterization, (r.variable,)))


def _given(r: Regimes) -> Iterator[str]:
    name = latex_name(r.variable)
    assumed = [assumption(a) for a in r.assumptions if a != f"{r.variable} > 0"]
    more = f" and that {listed(assumed)}" if assumed else ""
    yield rf"Let $Q$ be the regularizer of this flow, with ${name} > 0${more}."


def _start(r: Regimes) -> Iterator[str]:
    if r.vector:
        along, rest = (latex(b) for b in r.derivation.beta)
        yield say("limits.vector", along=along, u=latex_name(r.vector), rest=rest)
    yield "At the start the tangent kernel and the predictor are"
    kernel = sympy.Matrix(r.kernel.matrix)
    rows: list[Row] = [("K(w_0)", latex(kernel[0, 0] if kernel.rows == 1 else kernel))]
    pairs = zip(r.derivation.beta, r.kernel.beta_0, strict=True)
    yield from display([*rows, *((f"{latex(b)}(0)", b0) for b, b0 in pairs)])
    if r.derivation.kernel_factor is not None:
        factor = inline(to_sympy(r.derivation.kernel_factor))
        yield f"This is $K$ of $F$ in the weights left, ${factor}$ times that in all."
    if r.homogeneity is not None:
        yield rf"$F$ is homogeneous of degree ${latex(r.homogeneity.degree)}$."
    if r.deciding is not None:
        yield "$Q$ depends on the start through $K(w_0)$ alone."


def limit_at(point: Point) -> str:
    """Return as LaTeX what a symbol tends to."""
    value = latex(point.value)
    sides = {"0": "0^+", "oo": r"\infty", "below": f"{value}^-", "above": f"{value}^+"}
    given = "".join(rf",\ {inline(c)} > 0" for c in point.given)
    return rf"{latex_name(point.variable)} \to {sides[point.side]}{given}"


def limit_sentences(limit: Limit, betas: Sequence[Symbol]) -> Iterator[str]:
    """Yield where a limit is taken, what it is, and what is below or beyond it."""
    if limit.potential is None or limit.unit is None:
        return
    yield f"As ${limit_at(limit.point)}$, in {MEANING[limit.regime]},"
    for _, left, right in tending(limit, limit.potential):
        yield from display([(left, right)], relation=r"\to")
    rows: list[Row] = [("N", limit.unit), *((latex(x), b) for x, b in in_basis(limit, betas))]
    rows += [
        (latex(x), b - b0) for x, b, b0 in zip(limit.coordinates, betas, moved(limit), strict=False)
    ]
    yield "with"
    yield from display(rows)
    for x, side, slope in limit.steep:
        where = f"${latex(x)} {'>' if side > 0 else '<'} 0$"
        slopes = rf"$\partial Q/\partial {latex(x)} \sim {inline(slope)}$"
        yield rf"For {where} $Q/N \to \infty$, as {slopes}."
    if limit.error == 0:
        yield say("limits.exact", name=latex_name(limit.point.variable))
    elif limit.error is not None:
        most = "" if limit.sharp else "at most "
        yield say("limits.error", most=most, error=inline(limit.error))


def _why(limit: Limit) -> Iterator[str]:
    yield f"For ${limit_at(limit.point)}$: {sentence(limit.finding.reason)}."
    yield from identities(limit.finding.evidence)


def _clock(r: Regimes) -> Iterator[str]:
    g, warped = r.derivation.warping.g, r.warped
    if g is None or warped is None:
        return
    yield say("limits.clock", g=inline(g))
    for finding in warped.findings:
        proved = "" if finding.verdict is Verdict.PROVED else "Not proved: "
        text = sentence(finding.reason)
        yield f"{proved}{text[0].upper()}{text[1:]}."
