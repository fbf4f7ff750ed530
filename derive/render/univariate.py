"""The variational problem of univariate shallow nets, told, and as a JSON record."""

from __future__ import annotations

from collections.abc import Iterator

from derive.render.narration import Narration, part
from derive.statement import Ground, Text, note
from derive.univariate.problem import VariationalProblem, shown


def tell_problem(p: VariationalProblem) -> Narration:
    """Return what is said of a problem; a limit that is formal is no theorem."""
    (limit,) = p.statements
    kind = "theorem" if limit.ground is Ground.CITED else "paragraph"
    net = "Univariate shallow net of width `n`, trained by mirror flow"
    words = "Liang and Montúfar ({source}), implicit bias of mirror flow"
    source = note(words, source=Text("liang-slides", "cited"))
    parts = (
        part(net, _setting(p)),
        part("The limit", p.statements, kind=kind),
        part("Derivation", limit.proof),
        part("Source", (source,)),
    )
    return Narration(parts)


def _setting(p: VariationalProblem) -> Iterator[object]:
    sigma = "max(z, 0)" if p.activation.odd else "|z|"
    way = "n^-2 sum phi(n (theta - theta(0)))" if p.scaled else "sum phi(theta - theta(0))"
    signs = "`w_j` is `1` or `-1`"
    yield note(f"`f(x) = sum_j a_j sigma(w_j x - b_j) + d`, `sigma(z) = {sigma}`, {signs}")
    text, square = p.density.text, f"`E b^2 = {shown(p.density.moment(2))}`"
    density = text if text.isalpha() else f"`{text}`"
    yield note(f"biases `b_j` from the density `p`: {density}, {square}")
    yield note(f"potential `{way}`, `phi = {{phi}}`", phi=Text(p.potential.text))
