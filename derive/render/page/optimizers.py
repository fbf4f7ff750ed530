r"""What optimizers span and minimise, as a page of mathematics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from derive.language import parse_expression, to_sympy
from derive.optimizers.optimizer import Optimizer, Optimizers
from derive.render.page.formula import escaped
from derive.render.page.lines import display
from derive.render.page.names import latex_name
from derive.render.page.paper import Page, Passage
from derive.render.page.printer import inline
from derive.verdict import Verdict


def render_page(o: Optimizer) -> Page:
    """Return the page of one optimizer: its update, a theorem, and remarks."""
    update = Passage("paragraph", tuple(_update(o)), escaped(o.update.title).capitalize())
    kind: str = "theorem" if o.verdict is not Verdict.UNDECIDED else "remark"
    theorem = Passage(kind, tuple(_theorem(o)))  # type: ignore[arg-type]
    return Page((update, theorem, Passage("remark", tuple(_tail(o)))))


def render_table(found: Optimizers) -> Page:
    """Return the page of all optimizers: a table."""
    lines = [r"\begin{longtable}{@{}llp{0.42\linewidth}p{0.2\linewidth}@{}}"]
    lines.append(r"optimizer & law & a limit with $Xw = y$ & tails\\ \hline")
    for o in found.found:
        tail, word = o.update.tail, o.word.lower()
        last = rf"{_norm(tail['norm'])} \cite{{{tail['cite']}}}" if tail else ""
        claim = f"not {_claim(o)}" if o.finite.verdict is Verdict.REFUTED else _claim(o)
        lines.append(rf"{escaped(o.update.id)} & {word} & {claim} & {last}\\")
    return Page((Passage("paragraph", (*lines, r"\end{longtable}"), "Optimizers"),))


def _update(o: Optimizer) -> Iterator[str]:
    yield r"With $g = X^\top \ell'(Xw)$, coordinate by coordinate,"
    yield from display(
        [(_next(x), to_sympy(parse_expression(text))) for x, text in o.update.update.items()]
    )
    starts = (f"${_name(x)} = {_name(s)}$" for x, s in o.update.state.items())
    yield f"from {', '.join(starts)}; scalars are positive and may change at each step."
    if o.update.norm:
        norm = _norm(f"l{o.update.norm}")
        yield f"Here $d$ is minus the step of steepest descent in {norm}; $\\eta$ is small."
    if o.update.potential:
        psi = inline(to_sympy(parse_expression(o.update.potential)))
        yield rf"Here $z = \psi'(w)$ with $\psi = {psi}$."
    if o.update.where:
        yield f"({escaped(o.update.where)}.)"


def _next(name: str) -> str:
    return rf"{latex_name(name)}^{{+}}"


def _name(text: str) -> str:
    return text if text == "0" else latex_name(text)


def _theorem(o: Optimizer) -> Iterator[str]:
    z, space = o.span.reason.partition("_")[0], o.update.space.replace("row", r"\mathrm{row}")
    if o.span.verdict is Verdict.PROVED:
        yield rf"${z}_k - {z}_0 \in {space}$ for all $k$; a limit with $Xw = y$ is {_claim(o)}."
        if o.margins.verdict is Verdict.PROVED:
            yield r"Under decreasing losses each iterate minimises the same among those with"
            yield r"margins at least its own."
        return
    (witness,) = o.span.evidence or (None,)
    if witness is not None:
        yield r"No $\psi$ with an invertible Hessian at $w_0$ has"
        yield r"$\nabla\psi(w) - \nabla\psi(w_0) \in \mathrm{row}(X)$ along all paths: on"
        residuals = ", ".join(f"${latex_name(n)} = {x}$" for n, x in witness.point)
        yield rf"$X = {_matrix(o.update.data['X'])}$ the first steps at {residuals}"
        yield rf"have the determinant ${witness.residual}$."
    if e := o.example:
        yield rf"The limit is not {_claim(o)}: for $y = {_column(e.y)}$ it is"
        yield rf"${_column(e.limit)}$ of norm ${e.norms[0]}$, but ${_column(e.shorter)}$ has"
        yield rf"norm ${e.norms[1]}$."


def _tail(o: Optimizer) -> Iterator[str]:
    if tail := o.update.tail:
        yield r"Under losses with an exponential tail the direction tends to the largest margin in"
        yield rf"{_norm(tail['norm'])} \cite{{{tail['cite']}}}, given: {escaped(tail['given'])}."
    else:
        yield "Of losses with an exponential tail no theorem is cited."


def _claim(o: Optimizer) -> str:
    """Return ``argmin A s.t. B`` as LaTeX, other words as they are."""
    claim = r"(.*on one row from 0: |not )?argmin (.*) s\.t\. (.*)"
    found = re.fullmatch(claim, o.finite.reason)
    if found is None:
        return escaped(o.finite.reason)
    _, objective, data = found.groups()
    words = "on one row from $0$: " if "one row" in o.finite.reason else ""
    data = data.replace("beta", r"\beta ")
    return rf"{words}$\operatorname*{{arg\,min}} {_objective(objective)}$ s.t. ${data}$"


def _objective(text: str) -> str:
    if found := re.fullmatch(r"\|(.*)\|_\(?([^)^]*)\)?(\^2/2)?", text):
        inner, index, squared = found.groups()
        index = index.replace("inf", r"\infty")
        return rf"\tfrac12\|{inner}\|_2^2" if squared else rf"\|{inner}\|_{{{index}}}"
    if found := re.fullmatch(r"sum \[(.*)\]", text):
        return rf"\sum [{inline(to_sympy(parse_expression(found[1])))}]"
    return text.replace("psi", r"\psi").replace("beta", r"\beta")


def _norm(text: str) -> str:
    if re.fullmatch(r"l[\w/]+", text):
        return rf"$\ell_{{{text[1:].replace('inf', chr(92) + 'infty')}}}$"
    return escaped(text) if " " in text else f"${inline(to_sympy(parse_expression(text)))}$"


def _matrix(rows: Sequence[Sequence[int]]) -> str:
    body = r" \\ ".join(" & ".join(map(str, row)) for row in rows)
    return rf"\bigl(\begin{{smallmatrix}} {body} \end{{smallmatrix}}\bigr)"


def _column(values: Sequence[object]) -> str:
    return f"({', '.join(map(str, values))})"
