"""What one sees on a page to be explored, by the kind of data; each mode has its own theorem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from derive.derivation import Derivation
from derive.render.html import mathml

DIFFERENCE = r"\nabla Q(\beta) - \nabla Q(\beta_0)"
STEERED = r"\int \lambda\,\mathrm{d}t"
LIFT = r"w' = G^{-1} J^{\mathsf T} \lambda, \lambda = K^{-1} \beta'"
BETA = r"\beta"


def _dot(kind: str, shape: str) -> str:
    return f'<svg viewBox="0 0 24 16" aria-hidden="true">{shape.format(kind)}</svg>'


def _key(*entries: str) -> str:
    """Return what the marks of a picture are."""
    return f'<ul class="key">{"".join(f"<li>{x}</li>" for x in entries)}</ul>'


def _curves(d: Derivation) -> Iterable[tuple[str, str]]:
    if d.of_coordinates:
        names = {"Q": "Q - Q(\\beta_0)", "gradient": "Q'", "K": "K = 1/Q''"}
        weights = ("F", f"{mathml.inline('F')}: weights by {mathml.inline(BETA)}")
        return [*((name, mathml.inline(x)) for name, x in names.items()), weights]
    g = d.warping.g
    if g is None or not g.free_symbols:
        return []
    return [("g", f"the warp {mathml.inline('g')} along the path, from its start to its end")]


@dataclass(frozen=True)
class Mode:
    """What one sees of one kind of data, or of two steerings where there is no Q.

    Attributes:
        data: what one moves.
        plane: what the plane of beta shows.
        key: what its marks are.
        numbers: what is printed, by the names of the places.
        account: how that is found.
        figure: another picture below.
        slider: what one sets beside the constants.
        curves: small pictures, with captions.
    """

    data: str
    plane: str
    key: str
    numbers: Mapping[str, str]
    account: str
    figure: str = ""
    slider: str = ""
    curves: Callable[[Derivation], Iterable[tuple[str, str]]] = lambda d: ()


_CIRCLE = '<g class="mark {}"><path d="M18,8A6,6 0 1 1 6,8A6,6 0 1 1 18,8"/></g>'
_LINE = '<path class="{}" d="M1,8H23"/>'
INTEGRATOR = (
    "The flow is integrated in the weights, from <em>F</em> alone, by the pair of Dormand and "
    "Prince at relative tolerance 10<sup>-9</sup>"
)
EYE = "Both in doubles, for the eye; what is proved is below."
MODES = {
    "none": Mode(
        "",
        "Two paths of beta with the same ends",
        "The outputs are moved one after the other, and the other way round, by weights that move "
        f"along {mathml.inline(LIFT)}. Below are the two weights that end furthest apart.",
        {
            "together": "distance of \u03b2 at both ends",
            "apart": "of the weights",
            "first": f"{mathml.inline(STEERED)}, first way",
            "second": "the other way",
        },
        "If beta followed a mirror flow in its own time, both integrals would be "
        f"{mathml.inline(DIFFERENCE)}. That no other clock helps is proved below.",
        '<svg id="weights" class="picture" role="img" aria-label="Two paths of the weights"></svg>',
        '<div class="control"><label for="size">length</label><input type="range" id="size" '
        'min="0.05" max="2" step="0.01" value="1"></div>',
    ),
    "line": Mode(
        "one equation, x \u00b7 \u03b2 = y",
        "The plane of beta: level sets of Q, the data line, and the path of the flow",
        _key(
            f"{_dot('level touching', _LINE)} Q of the minimiser",
            f"{_dot('data', _LINE)} the data",
            f"{_dot('flow', _LINE)} &beta;(t)",
            f"{_dot('minimiser', _CIRCLE)} minimiser of Q",
            "&#9671; least l1",
            "&#9633; least l2",
            "&#215; start",
        ),
        {
            "limit": "limit of the flow",
            "minimiser": "minimiser of Q on the line",
            "distance": "distance of these two",
            "Q": "Q there, less Q at the start",
            "gradient": "grad Q there",
            "line": "x; y of the data x \u00b7 \u03b2 = y",
            "here": "\u03b2 at the time shown",
            "steps": "work done",
        },
        f"{INTEGRATOR}; the minimiser is found from <em>Q</em> alone. {EYE}",
        curves=_curves,
    ),
    "points": Mode(
        "points to separate",
        "the same plane at margin 1, with a level set of the horizon of Q",
        _key(
            f"{_dot('level touching', _LINE)} Q at &beta;(t)",
            f"{_dot('level horizon', _LINE)} the horizon of Q, its limit",
            f"{_dot('data', _LINE)} margin 1",
            f"{_dot('flow', _LINE)} &beta;(t) at margin 1",
            f"{_dot('minimiser', _CIRCLE)} its limit",
            "&#9671; largest l1 margin",
            "&#9633; largest l2 margin",
        ),
        {
            "direction": mathml.inline(r"\beta/\varphi(\beta)"),
            "towards": "its limit, by the horizon",
            "margin": mathml.inline(r"\min_i \langle x_i, \beta\rangle/\varphi(\beta)"),
            "largest": "its limit, the largest",
            "steered": mathml.inline(r"X^{\mathsf T} s") + ", by the flow",
            "slope": mathml.inline(r"\nabla Q(\beta)") + ", by Q",
            "unequal": "distance of these two",
            "loss": mathml.inline(r"\log(1/L)"),
            "rows": mathml.inline("x_i") + ", with labels",
        },
        f"{INTEGRATOR}; its limit is found from the horizon {mathml.inline(chr(92) + 'varphi')} "
        "alone. In the picture &beta;(t) is scaled to margin 1, with the level set of <em>Q</em> "
        f"through it. {EYE}",
        '<svg id="points" role="group" aria-label="The plane of the data: points of two labels, '
        'and the lines that separate them"></svg><figcaption>'
        + _key(
            "&#9675; label 1",
            "&#9679; label -1",
            f"{_dot('flow', _LINE)} &beta;(t), with its margin",
            f"{_dot('level horizon', _LINE)} its limit",
        )
        + "</figcaption>",
        curves=lambda d: [("margin", "the margin, over the largest, by log <em>t</em>")],
    ),
}
"""The modes of pages: by the verdict, and by whether Q has a horizon."""
