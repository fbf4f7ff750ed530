"""Which derivations of Q were walked and agree, as text and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator

from derive.language import parse_expression, to_sympy
from derive.render.formula import latex
from derive.render.sections import Regularizer
from derive.roads.dual_time import COMMUTING_TIME

FORMULAS = {
    "metric in beta (Q'' = 1/K)": r"metric in $\beta$ ($Q'' = 1/K$)",
    "dual length psi": r"dual length $\psi$",
    "eigenvalues of K (s q''/q' = T/R)": r"eigenvalues of $K$ ($s q''/q' = T/R$)",
    "components, d = 2": "components, $d = 2$",
    "dual time (beta = h(mu))": r"dual time ($\beta = h(\mu)$)",
    COMMUTING_TIME: r"dual time ($\beta = h(\mu)$ along commuting fields)",
}
"""Names of roads with their formulas set as mathematics."""


def road_lines(section: Regularizer) -> Iterator[str]:
    """Yield one line for each block."""
    for name, roads in section.roads():
        which = f" on {name}" if len(section.d.blocks) > 1 else ""
        words = f"Roads that agree{which}: " if len(roads) > 1 else f"Road{which}: "
        yield words + "; ".join(r.name for r in roads)
        if section.d.potential.kind == "quadrature":
            # The parametric form is the only closed one.
            yield from (f"{r.name}: {r.finding.reason}" for r in roads if r.name == COMMUTING_TIME)


def road_sentences(section: Regularizer) -> Iterator[str]:
    """Yield one sentence for each block, as LaTeX."""
    for name, roads in section.roads():
        which = f" on ${name[0]}_{{{name[2:]}}}$" if len(section.d.blocks) > 1 else ""
        words = f"Roads that agree{which}: " if len(roads) > 1 else f"Road{which}: "
        yield words + "; ".join(road_name(r.name) for r in roads) + "."


def road_name(name: str) -> str:
    r"""Return the name of a road as LaTeX.

    >>> road_name("published (Ansatz q(|beta|) + z.beta)")
    'published (Ansatz $q(|\\beta|) + z^{\\mathsf T}\\beta$)'
    """
    matched = re.fullmatch(r"(?P<words>.*\(Ansatz )(?P<form>.*)\)", name)
    if matched is None:
        return FORMULAS.get(name, name)
    return f"{matched['words']}${_form(matched['form'])}$)"


def _form(form: str) -> str:
    def term(matched: re.Match[str]) -> str:
        index = f"_{{{matched['index']}}}" if matched["index"] else ""
        return f"q{index}({_inside(matched['inside'])})"

    form = form.replace("z.beta", r"z^{\mathsf T}\beta")
    return re.sub(r"q(?P<index>\d*)\((?P<inside>.*?)\)(?= \+ [qz]|$)", term, form)


def _inside(text: str) -> str:
    if text.startswith("|"):
        return re.sub(r"beta(\d*)", lambda m: rf"\beta_{{{m[1]}}}" if m[1] else r"\beta", text)
    return latex(to_sympy(parse_expression(text)))
