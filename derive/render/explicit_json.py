"""Explicit counterparts as a versioned JSON record; fields are only ever added."""

from __future__ import annotations

import json
from functools import singledispatch
from typing import TypeAlias

from sympy import Expr

from derive.explicit.contrast import Contrast
from derive.explicit.counterpart import Evaluated, ExplicitCounterpart
from derive.explicit.critical.intervals import RootInterval
from derive.explicit.minimum import RootByInterval, RootValue, SquaredDistance
from derive.explicit.scale_limits import ScaleLimit
from derive.language import to_text
from derive.render.explicit import decimal
from derive.render.parts_json import finding_record
from derive.render.plain import plain

Fields: TypeAlias = dict[str, object]
FORMAT = "regderive-explicit"
VERSION = 1
DIGITS = 30


def render_json(found: ExplicitCounterpart) -> str:
    """Return the record as JSON text; expressions and numbers are strings."""
    p = found.parameterization
    record = {
        "format": FORMAT,
        "version": VERSION,
        "verdict": found.verdict.value,
        "parameterization": {
            "outputs": list(p.texts),
            "weights": list(p.weights),
            "start": {w: to_text(t) for w, t in p.start},
            "vector": ", ".join(v.name for v in p.vectors) or None,
            "homogeneity_degree": p.degree,
        },
        "blocks": [
            {
                "outputs": [i + 1 for i in block.outputs],
                "R": _minimum(block.distance),
                "R_F": _minimum(block.cost),
                "contrast": _contrast(block.contrast),
                "limits": [_limit(limit) for limit in block.limits],
            }
            for block in found.blocks
        ],
        "values": [_evaluated(value) for value in found.evaluated],
    }
    return json.dumps(record, indent=2, ensure_ascii=True)


def _minimum(minimum: SquaredDistance) -> Fields:
    return {
        "variables": [str(s) for s in minimum.variables],
        "scale": None if minimum.scale is None else str(minimum.scale),
        "argument": str(minimum.argument),
        "polynomials": [plain(equation) for equation in minimum.equations],
        **_forms(minimum),
        **finding_record(minimum.finding),
    }


@singledispatch
def _forms(minimum: SquaredDistance) -> Fields:
    (form,) = minimum.closed_forms or (None,)
    return {"branches": [], "closed_form": None if form is None else plain(form)}


@_forms.register
def _(minimum: RootByInterval) -> Fields:
    pairs = zip(minimum.intervals, minimum.closed_forms, strict=True)
    return {"branches": [_interval(*pair) for pair in pairs], "closed_form": None}


def _interval(interval: RootInterval, form: Expr | None) -> Fields:
    return {
        "low": None if interval.low is None else decimal(interval.low, DIGITS),
        "high": None if interval.high is None else decimal(interval.high, DIGITS),
        "polynomial": interval.factor,
        "root_from_below": None if interval.factor is None else interval.index,
        "closed_form": None if form is None else plain(form),
        "samples": [str(x) for x in interval.samples],
    }


def _contrast(contrast: Contrast) -> Fields:
    implicit = contrast.implicit
    return {
        "implicit": None if implicit is None else implicit.verdict.value,
        "Q": None
        if implicit is None or implicit.potential.Q is None
        else plain(implicit.potential.Q),
        "normalization": "0 and flat with Hessian 2 K(w_0)^-1 at beta_0",
        "start": {name: str(value) for name, value in contrast.start},
        "rows": [
            {
                "beta": [str(b) for b in row.beta],
                "R": decimal(row.explicit, DIGITS),
                "Q": f"{row.implicit:.15g}",
            }
            for row in contrast.rows
        ],
        **finding_record(contrast.finding),
    }


def _limit(limit: ScaleLimit) -> Fields:
    return {
        "of": limit.of,
        "when": limit.when,
        "statement": limit.statement,
        **finding_record(limit.finding),
    }


def _evaluated(value: Evaluated) -> Fields:
    found = value.value
    root = found if isinstance(found, RootValue) else None
    return {
        "of": value.of,
        "outputs": [i + 1 for i in value.outputs],
        "point": {name: str(number) for name, number in value.point},
        "value": None if found is None else decimal(found.ball, DIGITS),
        "polynomial": None if root is None else plain(root.polynomial),
        "root_from_below": None if root is None else root.index,
        "reason": value.reason,
    }
