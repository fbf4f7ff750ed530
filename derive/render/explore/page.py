"""The page to be explored: F and Q of the exports in a picture that follows sliders and handles.

All that the page computes comes from the module of JavaScript that the exports write; what it says
is the theorem of the HTML page. The scripts beside this file draw, and D3 does that for them.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import combinations
from pathlib import Path

from derive.components import in_components
from derive.derivation import Derivation
from derive.errors import InputError, NumericalError
from derive.model.condition import AT_START, Condition
from derive.potential.piece import of_the_flow, start_signs
from derive.printable import renderer
from derive.render.exports.script import FORMS, ScriptWriter, constants_of, of_weights
from derive.render.html import mathml
from derive.render.html.page import as_html, badges, document, picture, typed, words
from derive.render.page.blocks import set_letters
from derive.render.page.formula import assumption
from derive.render.page.printer import latex_name
from derive.render.plain import MARK
from derive.verdict import Verdict

FOLDER = Path(__file__).parent
D3, FLOW, SCRIPT, STYLE = (
    (FOLDER / name).read_text(encoding="utf-8").strip()
    for name in ("d3.min.js", "flow.js", "explore.js", "explore.css")
)
LEAST, MOST = -4, 1
"""The decimal logarithms between which sliders of positive numbers go; their left end is 0."""
INDEX = {ord(x): 0x2080 + int(x) for x in "0123456789"}
DIFFERENCE = r"\nabla Q(\beta) - \nabla Q(\beta_0)"
STEERED = r"\int \lambda\,\mathrm{d}t"
LIFT = r"w' = G^{-1} J^{\mathsf T} \lambda, \lambda = K^{-1} \beta'"
BETA, UNDRAWN = r"\beta", "no page is drawn: "


def render_explore(d: Derivation) -> str:
    """Return the page; what holds in every dimension is drawn in the plane.

    Raises:
        NumericalError: it is not decided whether there is a Q, or Q has no formula.
    """
    _require_picture(d)
    told, d = d, in_components(d, 2)
    refuted = d.verdict is Verdict.REFUTED
    functions = _functions(d)
    values, size = values_of(d), 2 if d.of_coordinates else len(d.beta)
    given = {
        "existing": not refuted,
        "copies": size if d.of_coordinates and not refuted else 1,
        "values": values,
        "outputs": [f"\u03b2{i}".translate(INDEX) for i in range(1, size + 1)],
    }
    title = "Why gradient flow minimises no Q" if refuted else "What gradient flow minimises"
    data = json.dumps(given).replace("<", "\\u003c")
    page = renderer(type(d), "page")(told)
    kinds = {part.kind for part in page.parts}
    theorem = as_html(set_letters(page.select("theorem" if "theorem" in kinds else ""), {}))
    body = "\n".join(
        (
            f'<h1>{title}</h1><p class="typed"><code>{escape(typed(told))}</code></p>',
            badges(told),
            '<div class="panes"><div>',
            f"<noscript><p>The picture moves where JavaScript runs.</p>{picture(told)}</noscript>",
            f'<div class="explore" hidden>{"".join(_explore(d, values))}</div>',
            IN_PLANE * (d != told) + INTEGRATED * (ON_LEAF in functions),
            "</div>",
            f"<div>{''.join(_numbers(d))}{theorem}</div></div>",
            f'<script type="application/json" id="given">{data}</script>',
        )
    )
    module = "\n".join((*functions, FORMS, FLOW, SCRIPT))
    return document(f"{title}: {typed(told)}", body, D3, module=module, style=STYLE)


IN_PLANE = (
    "<p>It holds in every dimension, and is drawn in two: the vector starts along &beta;<sub>1"
    "</sub>, at the norm of the slider.</p>"
)
INTEGRATED = (
    "<p>Q has no formula in &beta;: here it is integrated from <em>K</em> on the leaf of the start,"
    " dQ' = d&beta;/K and dQ = Q' d&beta;, at the tolerance of the flow.</p>"
)
ON_LEAF = (
    "const {Q, gradient, hessian, inside} = on_leaf(model_of({model, start, F, J, K, raise}));"
)


def _functions(d: Derivation) -> list[str]:
    """Return F and Q in JavaScript; Q of one output that has no formula is integrated there."""
    if d.verdict is Verdict.REFUTED:
        return [*of_weights(d)]
    writer = ScriptWriter(d)
    try:
        return writer.parts()
    except NumericalError:
        if not d.of_coordinates:
            raise
        return [*of_weights(d), *writer.of_start(), ON_LEAF]


def _require_picture(d: Derivation) -> None:
    """Raise NumericalError where there is nothing that the page could draw."""
    p = d.parameterization
    asked = {
        "whether there is a Q is undecided": d.verdict is Verdict.UNDECIDED,
        "give vectors a dimension, as --vector u:2": bool(p.vectors) and not d.potential.pieces,
        "steepest descent does not minimise Q on a line": not p.geometry.steering.is_gradient,
        "beta does not move in every direction": p.rank < p.d,
    }
    for reason, holds in asked.items():
        if holds:
            raise NumericalError(f"{UNDRAWN}{reason}")


def values_of(d: Derivation) -> dict[str, float]:
    """Return numbers to begin with: the plain start at which Q is derived, or a witness of none."""
    if d.verdict is Verdict.PROVED:
        room = importlib.import_module("numerics.figures.derived")  # symbols know no numbers
        try:
            begin = room.at_plain_start(d.potential, {})[0]
        except InputError as error:
            raise NumericalError(f"{UNDRAWN}{error}") from None
    else:
        findings = (d.hessian.finding, d.warping.finding)
        points = [e.point for f in findings for e in f.evidence if not e.holds and e.point]
        begin = {name: x for point in points for name, x in point}
        begin |= {f"{name}_0": x for name, x in begin.items()}
    return {name: float(begin.get(name, 1)) for name in constants_of(d)}


def _explore(d: Derivation, values: Mapping[str, float]) -> Iterator[str]:
    """Yield the picture and what one sets."""
    existing = d.verdict is Verdict.PROVED
    yield '<p id="message" class="message" role="status"></p>'
    shown = "The plane of beta: level sets of Q, the data line, and the path of the flow"
    if not existing:
        shown = "Two paths of beta with the same ends"
    yield f'<figure class="picture"><svg id="plane" role="group" aria-label="{shown}"></svg>'
    if existing:
        yield f"<figcaption>{KEY}</figcaption></figure>"
    else:
        yield "<figcaption>The outputs are moved one after the other, and the other way round, "
        yield f"by weights that move along {mathml.inline(LIFT)}. Below are the two weights that "
        yield "end furthest apart.</figcaption>"
        yield '<svg id="weights" role="img" aria-label="Two paths of the weights"></svg></figure>'
    yield '<form class="controls" autocomplete="off">'
    if existing and d.parameterization.d > 2:
        pairs = combinations(enumerate(map(str, d.beta)), 2)
        options = (f'<option value="{i},{j}">{a}, {b}</option>' for (i, a), (j, b) in pairs)
        yield f'<p><label>Plane <select id="axes">{"".join(options)}</select></label></p>'
    elif not existing:
        yield '<div class="control"><label for="size">length</label><input type="range" id="size" '
        yield 'min="0.05" max="2" step="0.01" value="1"></div>'
    yield '<div class="control"><button type="button" id="play">Play</button>'
    yield '<input type="range" id="progress" min="0" max="1" step="0.005" value="1" '
    yield 'aria-label="how far the path is drawn"><output id="time"></output></div>'
    logarithmic = _positive(d)
    for name, value in values.items():
        log = name in logarithmic and name not in d.parameterization.parameters
        reach = 3 * max(1, abs(value))
        ends = (1, 8) if name in d.parameterization.parameters else (-reach, reach)
        low, high = (LEAST, MOST) if log else ends
        box = f'min="{low:g}" max="{high:g}" step="0.01" id="slider-{name}"'
        yield _control(name, _math(name), box, ' data-log="1"' * log)
    yield '</form><div class="curves picture">'
    for name, caption in _curves(d) if existing else ():
        yield f'<figure><figcaption>{caption}</figcaption><svg id="curve-{name}"></svg></figure>'
    yield "</div>"


def _control(name: str, shown: str, slider: str, more: str) -> str:
    """Return a slider of a constant, with its number."""
    return (
        f'<div class="control" data-name="{name}"{more}><label for="slider-{name}">{shown}</label>'
        f'<input type="range" {slider}>'
        f'<input type="number" step="any" id="number-{name}" aria-label="{name}"></div>'
    )


def _curves(d: Derivation) -> Iterable[tuple[str, str]]:
    if d.of_coordinates:
        names = {"Q": "Q - Q(\\beta_0)", "gradient": "Q'", "K": "K = 1/Q''"}
        weights = ("F", f"{mathml.inline('F')}: weights by {mathml.inline(BETA)}")
        return [*((name, mathml.inline(x)) for name, x in names.items()), weights]
    g = d.warping.g
    if g is None or not g.free_symbols:
        return []
    return [("g", f"the warp {mathml.inline('g')} along the path, from its start to its end")]


def _numbers(d: Derivation) -> Iterator[str]:
    """Yield the numbers that follow the picture, and the conditions."""
    rows = {
        "together": "distance of \u03b2 at both ends",
        "apart": "of the weights",
        "first": f"{mathml.inline(STEERED)}, first way",
        "second": "the other way",
    }
    if d.verdict is Verdict.PROVED:
        rows = {
            "limit": "limit of the flow",
            "minimiser": "minimiser of Q on the line",
            "distance": "distance of these two",
            "Q": "Q there, less Q at the start",
            "gradient": "grad Q there",
            "line": "x; y of the data x \u00b7 \u03b2 = y",
            "here": "\u03b2 at the time shown",
            "steps": "work done",
        }
    pieces = d.potential.pieces
    names = dict.fromkeys(s.name for piece in pieces for s, _ in piece.constants)
    yield '<section class="numbers live" hidden><dl>'
    yield from (f'<dt>{says}</dt><dd><output id="{x}"></output></dd>' for x, says in rows.items())
    yield from (f'<dt>{_math(x)}</dt><dd><output id="constant-{x}"></output></dd>' for x in names)
    yield "</dl>"
    if d.verdict is Verdict.PROVED:
        yield "<p>The flow is integrated in the weights, from <em>F</em> alone, by the pair of "
        yield "Dormand and Prince at relative tolerance 10<sup>-9</sup>; the minimiser is found "
        yield "from <em>Q</em> alone. Both in doubles, for the eye; what is proved is below.</p>"
    else:
        yield "<p>If beta followed a mirror flow in its own time, both integrals would be "
        yield f"{mathml.inline(DIFFERENCE)}. That no other clock helps is proved below.</p>"
    asked = _asked(d)
    flow = [*dict.fromkeys(c for piece in pieces for c in of_the_flow(piece))]
    if asked or flow:
        yield "<p>Conditions:</p><ul>"
        for condition in (*asked, *flow):
            yield f'<li data-condition="{escape(str(condition))}">{_words(condition)}</li>'
        yield "</ul>"
    yield "</section>"


def _asked(d: Derivation) -> list[Condition]:
    """Return what is asked of the start symbols."""
    pairs = (c for piece in d.potential.pieces for _, c in start_signs(piece))
    return [*dict.fromkeys(c for c in pairs if c.names <= {*constants_of(d)})]


def _positive(d: Derivation) -> set[str]:
    """Return the names of what is asked, or declared, to be positive, or not to be 0."""
    alone = (c.of.name for c in _asked(d) if c.of.is_Symbol and c.sign in AT_START)
    return {*map(str, d.parameterization.positive), *alone}


def _math(name: str) -> str:
    return mathml.inline(latex_name(name).replace(MARK, ""))


def _words(condition: Condition) -> str:
    return words(assumption(condition).replace(MARK, ""))


def _dot(kind: str, shape: str) -> str:
    return f'<svg viewBox="0 0 24 16" aria-hidden="true">{shape.format(kind)}</svg>'


_CIRCLE = '<g class="mark {}"><path d="M18,8A6,6 0 1 1 6,8A6,6 0 1 1 18,8"/></g>'
_LINE = '<path class="{}" d="M1,8H23"/>'
KEY = (
    '<ul class="key">'
    f"<li>{_dot('level touching', _LINE)} Q of the minimiser</li>"
    f"<li>{_dot('data', _LINE)} the data</li>"
    f"<li>{_dot('flow', _LINE)} &beta;(t)</li>"
    f"<li>{_dot('minimiser', _CIRCLE)} minimiser of Q</li>"
    "<li>&#9671; least l1</li><li>&#9633; least l2</li><li>&#215; start</li></ul>"
)
