"""The page to be explored: F and Q of the exports in a picture that follows sliders and handles.

All that the page computes comes from the module of JavaScript that the exports write; what it says
is the theorem of the HTML page. The scripts beside this file draw, and D3 does that for them.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import combinations
from pathlib import Path
from string import Template

from sympy import symbols

from derive.comparison import SCALE
from derive.components import in_components
from derive.derivation import Derivation, derive
from derive.errors import InputError, NumericalError
from derive.folder import read_table
from derive.language import to_text
from derive.limits.find import regimes
from derive.matrices import MatrixDerivation
from derive.model.condition import AT_START, Condition
from derive.model.parameterization import Parameterization
from derive.potential.piece import of_the_flow, start_signs
from derive.printable import Printable, renderer
from derive.render.exports.languages import JAVASCRIPT
from derive.render.exports.program import UNWRITTEN
from derive.render.exports.script import (
    FORMS,
    ScriptWriter,
    constants_of,
    defined,
    function,
    of_weights,
    reading,
)
from derive.render.html import mathml
from derive.render.html.page import as_html, badges, document, picture, words
from derive.render.page.blocks import set_letters
from derive.render.page.formula import assumption
from derive.render.page.printer import latex_name
from derive.render.text import MARK
from derive.separable.find import margins
from derive.verdict import Verdict

FOLDER = Path(__file__).parent
D3, FLOW, SCRIPT, STYLE, HTML = (
    (FOLDER / name).read_text(encoding="utf-8").strip()
    for name in ("d3.min.js", "flow.js", "explore.js", "explore.css", "explore.html")
)
BODY = Template(HTML)
PLANE = symbols("beta1 beta2")
LEAST, MOST = -4, 1
"""The decimal logarithms between which sliders of positive numbers go; their left end is 0."""
INDEX = {ord(x): 0x2080 + int(x) for x in "0123456789"}
UNDRAWN = "no page is drawn: "


@dataclass(frozen=True, kw_only=True)
class Mode:
    """What one sees of one kind of data, or where there is no Q; as ``modes.toml`` has it."""

    data: str = ""
    plane: str
    key: str = ""
    marks: Sequence[Sequence[str]] = ()
    numbers: Mapping[str, str]
    account: str
    figure: str = ""
    figure_marks: Sequence[Sequence[str]] = ()
    slider: str = ""
    curves: Mapping[str, str] = field(default_factory=dict)
    warp: Mapping[str, str] | None = None


TABLE = read_table(__file__, "modes.toml")
NOTES = TABLE.pop("notes")
MODES = {name: Mode(**given) for name, given in TABLE.items()}
"""The modes of pages: by the verdict, and by whether Q has a horizon."""
ICON = '<svg viewBox="0 0 24 16" aria-hidden="true">{}</svg> '
DRAWN = {
    "": "",
    "line": ICON.format('<path class="{}" d="M1,8H23"/>'),
    "mark": ICON.format('<g class="mark {}"><path d="M18,8A6,6 0 1 1 6,8A6,6 0 1 1 18,8"/></g>'),
}


def _html(text: str) -> str:
    """Return a text of a mode with its formulas."""
    return re.sub(r"\$([^$]*)\$", lambda found: mathml.inline(found[1]), " ".join(text.split()))


def _key(marks: Sequence[Sequence[str]]) -> str:
    """Return what the marks of a picture are."""
    drawn = ((*kind.partition(" "), says) for kind, says in marks)
    entries = (f"<li>{DRAWN[x].format(name)}{_html(says)}</li>" for x, _, name, says in drawn)
    return f'<ul class="key">{"".join(entries)}</ul>' if marks else ""


def render_explore(d: Derivation, note: str = "") -> str:
    """Return the page, with a note; what holds in every dimension is drawn in the plane.

    Raises:
        NumericalError: it is not decided whether there is a Q, or Q has no formula.
    """
    _require_picture(d)
    told, d = d, in_components(d, 2)
    refuted = d.verdict is Verdict.REFUTED
    functions = _functions(d)
    values, size = values_of(d), 2 if d.of_coordinates else len(d.beta)
    theorems = {"none" if refuted else "line": _theorems(told)}
    if not refuted and SCALE in told.parameterization.start_symbols:
        theorems["line"] += _theorems(regimes(told, SCALE), first=1)  # before them stands Q
    if not refuted and d.warping.g is not None and len(d.beta) <= 2:
        separable = margins(d)
        if (horizon := separable.horizon_in(PLANE)) is not None:
            theorems["points"] = _theorems(separable)
            lines = [*map(defined, reading(separable.derivation)), f"const {[*PLANE]} = beta"]
            value = JAVASCRIPT.shown(horizon)
            functions.append(function("horizon(beta, c)", "the horizon of Q", lines, value))
    shown = {name: MODES[name] for name in theorems}
    given = {
        "modes": [*shown],
        "copies": size if d.of_coordinates and not refuted else 1,
        "values": values,
        "outputs": [*map(_letter, range(size))],
    }
    what = "Why gradient flow minimises no Q" if refuted else "Which solution gradient flow selects"
    body = BODY.substitute(
        _parts(d, values, shown),
        title=what,
        model=escape(_model(told)),
        badges=badges(told),
        picture=picture(told),
        notes=note + NOTES["plane"] * (d != told) + NOTES["leaf"] * (ON_LEAF in functions),
        theorems="".join(f'<div class="of-{name}">{x}</div>' for name, x in theorems.items()),
        given=json.dumps(given).replace("<", "\\u003c"),
    )
    module = "\n".join((*functions, FORMS, FLOW, SCRIPT))
    return document(f"{what}: {_model(told)}", body, D3, module=module, style=STYLE)


def render_matrices(d: MatrixDerivation) -> str:
    """Return the page of one entry b_k, or of all entries of a block that has no Q.

    Raises:
        NumericalError: as :func:`render_explore`, or measurements that reach more were given.
    """
    p, orbit = d.parameterization, d.orbit
    note = NOTES["entry" if d.verdict is Verdict.PROVED else "block"]
    if d.entry is not None:
        return render_explore(d.entry, note)
    if orbit is None or p.given:
        raise NumericalError(
            f"{UNDRAWN}of matrices where measurements without common bases are given"
        )
    columns = orbit.width if p.columns.isdigit() else max(orbit.size)
    shapes = p.shapes_at(*orbit.size, columns)
    return render_explore(derive(Parameterization.parse([p.text], arrays=shapes)), note)


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
    except NumericalError as error:
        if not d.of_coordinates:
            reason = str(error).removeprefix(UNWRITTEN)
            raise NumericalError(f"{UNDRAWN}{reason}") from None
        return [*of_weights(d), *writer.of_start(), ON_LEAF]


def _theorems(record: Printable, first: int = 0) -> str:
    """Return the theorems of a record from one on, or all that is said where there are none."""
    page = renderer(type(record), "page")(record)
    kinds = {part.kind for part in page.parts}
    chosen = page.select("theorem" if "theorem" in kinds else "")
    return as_html(set_letters(replace(chosen, parts=chosen.parts[first:]), {}))


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


def _parts(d: Derivation, values: Mapping[str, float], shown: Mapping[str, Mode]) -> dict[str, str]:
    """Return the pictures, what one sets, and the numbers that follow."""

    def each(tag: str, say: Callable[[Mode], str], more: str = "") -> str:
        entries = (f'<{tag} class="of-{x}{more}">{say(m)}</{tag}>' for x, m in shown.items())
        return "".join(entries)

    pairs = combinations(range(len(d.beta)), 2)
    planes = [(f"{i},{j}", f"{_letter(i)}, {_letter(j)}") for i, j in pairs]
    starts = ", ".join(f"{w} = {to_text(tree)}" for w, tree in d.parameterization.start)
    sliders = "".join(_sliders(d, values))
    names = dict.fromkeys(s.name for piece in d.potential.pieces for s, _ in piece.constants)
    constants = _numbers({f"constant-{x}": _math(x) for x in names})
    flowing = (c for piece in d.potential.pieces for c in of_the_flow(piece))
    asked = {str(c): assumption(c).replace(MARK, "") for c in (*_asked(d), *flowing)}
    conditions = "".join(
        f'<li data-condition="{escape(c)}">{words(said)}</li>' for c, said in asked.items()
    )
    return {
        "data": _choice("mode", "Data", [(name, mode.data) for name, mode in shown.items()]),
        "plane": " or ".join(mode.plane for mode in shown.values()),
        "keys": each("figcaption", lambda mode: _html(mode.key) + _key(mode.marks)),
        "figures": each("figure", lambda mode: _html(mode.figure) + _key(mode.figure_marks)),
        "settings": _choice("axes", "Plane", planes)
        + "".join(_html(mode.slider) for mode in shown.values()),
        "sliders": f"<p>The start is <code>{escape(starts)}</code>:</p>{sliders}" * bool(sliders),
        "curves": each("div", lambda mode: "".join(_curves(d, mode)), " curves picture"),
        "numbers": each("div", lambda mode: _numbers(mode.numbers)) + constants,
        "accounts": each("p", lambda mode: _html(mode.account)),
        "conditions": f"<p>Conditions:</p><ul>{conditions}</ul>" * bool(conditions),
    }


def _numbers(places: Mapping[str, str]) -> str:
    """Return numbers that follow the picture, by the names of their places."""
    rows = (f'<dt>{_html(x)}</dt><dd><output id="{n}"></output></dd>' for n, x in places.items())
    return f"<dl>{''.join(rows)}</dl>"


def _curves(d: Derivation, mode: Mode) -> Iterator[str]:
    """Yield the small pictures: of several outputs the warp, where it varies."""
    warps = d.warping.g is not None and d.warping.g.free_symbols
    small = mode.curves if mode.warp is None or d.of_coordinates else mode.warp if warps else {}
    for name, says in small.items():
        weights = d.parameterization.weights if name == "F" else ()
        key = _key([(f"line curve way-{k}", _math(w)) for k, w in enumerate(weights)])
        yield f"<figure><figcaption>{_html(says)}{key}</figcaption>"
        yield f'<svg id="curve-{name}"></svg></figure>'


def _sliders(d: Derivation, values: Mapping[str, float]) -> Iterator[str]:
    """Yield a slider for each constant, logarithmic where it is positive, or is not 0."""
    asked = (c.of.name for c in _asked(d) if c.of.is_Symbol and c.sign in AT_START)
    logarithmic = {*map(str, d.parameterization.positive), *asked}
    for name, value in values.items():
        log = name in logarithmic and name not in d.parameterization.parameters
        reach = 3 * max(1, abs(value))
        ends = (1, 8) if name in d.parameterization.parameters else (-reach, reach)
        low, high = (LEAST, MOST) if log else ends
        data, slider = ' data-log="1"' * log, f"slider-{name}"
        yield f'<div class="control" data-name="{name}"{data}>'
        yield f'<label for="{slider}">{_math(name)}</label>'
        yield f'<input type="range" id="{slider}" min="{low:g}" max="{high:g}" step="0.01">'
        yield f'<input type="number" step="any" id="number-{name}" aria-label="{name}"></div>'


def _letter(i: int) -> str:
    return f"\u03b2{i + 1}".translate(INDEX)


def _model(d: Derivation) -> str:
    """Return F, and where it starts, as one reads it."""
    p = d.parameterization
    outputs = zip(d.beta, p.texts, strict=False)
    given = ", ".join(f"{w} = {to_text(tree)}" for w, tree in p.start if to_text(tree) != f"{w}_0")
    whole = ", ".join(f"{b} = {text}" for b, text in outputs)
    return f"{whole} from {given}" if given else whole


def _choice(name: str, says: str, options: Sequence[tuple[str, str]]) -> str:
    """Return a choice of one of several, where there are."""
    if len(options) < 2:
        return ""
    listed = "".join(f'<option value="{value}">{text}</option>' for value, text in options)
    return f'<p><label>{says} <select id="{name}">{listed}</select></label></p>'


def _asked(d: Derivation) -> list[Condition]:
    """Return what is asked of the start symbols."""
    pairs = (c for piece in d.potential.pieces for _, c in start_signs(piece))
    return [*dict.fromkeys(c for c in pairs if c.names <= {*constants_of(d)})]


def _math(name: str) -> str:
    return mathml.inline(latex_name(name).replace(MARK, ""))
