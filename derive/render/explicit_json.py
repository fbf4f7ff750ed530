"""Explicit counterparts as a versioned JSON record; fields are only ever added."""

from __future__ import annotations

import json
from typing import Any

from derive.explicit.contrast import Contrast
from derive.explicit.counterpart import Evaluated, ExplicitCounterpart, SquaredDistance
from derive.explicit.critical.branch import Branch
from derive.explicit.scale_limits import ScaleLimit
from derive.language import to_text
from derive.render.explicit import decimal
from derive.render.json import finding_record
from derive.render.plain import plain

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
            "outputs": list(found.texts),
            "weights": list(p.weights),
            "start": {w: to_text(t) for w, t in found.start},
            "vector": found.vector or None,
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


def _minimum(minimum: SquaredDistance) -> dict[str, Any]:
    forms = minimum.closed_forms
    return {
        "variables": [str(s) for s in minimum.variables],
        "scale": None if minimum.scale is None else str(minimum.scale),
        "argument": str(minimum.argument),
        "polynomials": [plain(equation) for equation in minimum.equations],
        "branches": [
            _branch(branch, None if form is None else plain(form))
            for branch, form in zip(minimum.branches, forms, strict=False)
        ],
        "closed_form": plain(forms[0]) if forms and not minimum.branches and forms[0] else None,
        **finding_record(minimum.finding),
    }


def _branch(branch: Branch, form: str | None) -> dict[str, Any]:
    return {
        "low": None if branch.low is None else decimal(branch.low, DIGITS),
        "high": None if branch.high is None else decimal(branch.high, DIGITS),
        "polynomial": branch.factor,
        "root_from_below": None if branch.factor is None else branch.index,
        "closed_form": form,
        "samples": [str(x) for x in branch.samples],
    }


def _contrast(contrast: Contrast) -> dict[str, Any]:
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


def _limit(limit: ScaleLimit) -> dict[str, Any]:
    return {
        "of": limit.of,
        "when": limit.when,
        "statement": limit.statement,
        **finding_record(limit.finding),
    }


def _evaluated(value: Evaluated) -> dict[str, Any]:
    v = value.value
    return {
        "of": value.of,
        "outputs": [i + 1 for i in value.outputs],
        "point": {name: str(number) for name, number in value.point},
        "value": None if v is None else decimal(v.ball, DIGITS),
        "polynomial": None if v is None or v.polynomial is None else plain(v.polynomial),
        "root_from_below": None if v is None else v.index,
        "reason": value.reason,
    }
