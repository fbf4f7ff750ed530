"""The variational problem of univariate shallow nets, told, and as a JSON record."""

from __future__ import annotations

from collections.abc import Iterator

from flint import fmpq

from derive.exact.rationals import as_fmpq
from derive.render.labels import unmarked
from derive.render.narration import Narration, Part, lines_of, part
from derive.render.written_json import json_text
from derive.statement import Equations, Text, tell
from derive.univariate.formulas import Value
from derive.univariate.problem import VariationalProblem

SLOPES, MOMENT = "h'(inf) + h'(-inf)", "int h''(x) |x| dx - 2 h(0)"


def tell_problem(p: VariationalProblem) -> Narration:
    """Return what is said of a problem; a limit that is formal is no theorem."""
    limit = part("The limit", _problem(p), kind="paragraph" if p.remarks else "theorem")
    words = "Liang and Montúfar ({source}), implicit bias of mirror flow"
    source = Part("Source", (tell(words, source=Text("liang-slides", "cited")), *p.remarks))
    net = "Univariate shallow net of width `n`, trained by mirror flow"
    return Narration((part(net, _setting(p)), limit, part("Derivation", _derivation(p)), source))


def render_json(p: VariationalProblem) -> str:
    """Return the record as JSON text."""
    record = {
        "potential": p.potential.text,
        "scaled": p.scaled,
        "activation": p.activation.name,
        "density": p.density.text,
        "statement": [text for line in _problem(p) for text in lines_of(line)],
        "derivation": [text for line in _derivation(p) for text in lines_of(line)],
        "remarks": list(map(unmarked, p.remarks)),
    }
    return json_text("univariate", record)


def _setting(p: VariationalProblem) -> Iterator[object]:
    sigma = "max(z, 0)" if p.activation.odd else "|z|"
    way = "n^-2 sum phi(n (theta - theta(0)))" if p.scaled else "sum phi(theta - theta(0))"
    yield f"`f(x) = sum_j a_j sigma(w_j x - b_j) + d`, `sigma(z) = {sigma}`, `w_j` is `1` or `-1`"
    text, square = p.density.text, f"`E b^2 = {shown(p.density.moment(2))}`"
    yield f"biases `b_j` from the density `p`: {text if text.isalpha() else f'`{text}`'}, {square}"
    yield tell(f"potential `{way}`, `phi = {{phi}}`", phi=Text(p.potential.text))


def _problem(p: VariationalProblem) -> Iterator[object]:
    tends = "formally tends" if p.remarks else "tends"
    to = f"as `n -> infinity`, `f(x, theta(inf)) - f(x, theta(0))` {tends} to the `h(x)` with"
    goal = f"{to} `h(x_i) = y_i - f(x_i, theta(0))` that minimises"
    if p.affine is not None:
        yield f"{goal} `G1 + G2 + G3`:"
        bending, slopes, moment = map(times, (as_fmpq(p.bending), *p.affine))
        yield Equations(
            (
                ("G1", f"{bending}int h''(x)^2/p(x) dx"),
                ("G2", f"{slopes}({SLOPES})^2"),
                ("G3", f"{moment}({MOMENT})^2"),
            )
        )
        if not all(isinstance(x, fmpq) for x in p.affine):
            yield "decimals are rounded"
        return
    if p.activation.odd:
        yield f"{goal}, among all `u(x)`, the odd part of `alpha`,"
        yield Equations((("G", "1/2 int (D_phi(h''/p + u, 0) + D_phi(h''/p - u, 0)) p dx"),))
        ends = "int p u dx", "int p x u dx"
    else:
        yield f"{goal}"
        yield Equations((("G", "int D_phi(h''(x)/(2 p(x)), 0) p(x) dx"),))
        ends = "0", "0"
    yield "subject to"
    yield Equations(((SLOPES, ends[0]), (MOMENT, ends[1])))
    yield tell("`D_phi(a, 0) = phi(a) - phi(0) - phi'(0) a`, `phi = {law}`", law=Text(p.law.text))


def _derivation(p: VariationalProblem) -> Iterator[object]:
    odd = p.activation.odd
    if not p.scaled:
        counts = "`theta` moves by `O(1/n)`: `phi` counts by its curvature at 0, as `x^2/2` would"
        yield f"{counts}, and the limit is that of gradient flow for all unscaled potentials"
    yield "minimise `E D_phi(alpha, 0)` subject to `h(x) = E alpha(w, b) sigma(w x - b)`"
    yield "with even `p` and `alpha(1, b) = v(b) + u(b)`, `alpha(-1, -b) = v(b) - u(b)`,"
    yield f"`sigma(z) = {'(|z| + z)/2' if odd else '|z|'}` gives"
    if odd:
        both = "int p v |x - b| db + int p u (x - b) db"
        seen = (SLOPES, "int p u db"), (MOMENT, "int p b u db")
        yield Equations((("2 h(x)", both), ("h''", "p v"), *seen))
    else:
        yield Equations((("h(x)", "int p v |x - b| db"), ("h''", "2 p v")))
        yield "both sides have opposite slopes, and `2 h(0) = int h''(b) |b| db`"
    if p.affine is not None:
        least = "`(int p u)^2 + (int p b u)^2/E b^2`"
        yield f"the least `int p u^2` at these is {least}, as `E b = 0`"


def times(factor: Value) -> str:
    """Return a factor with a space behind it; nothing for 1."""
    return "" if factor == 1 else f"{shown(factor)} "


def shown(value: Value) -> str:
    """Return a rational number, or a ball to 12 digits."""
    return str(value) if isinstance(value, fmpq) else str(value.str(12, radius=False))
