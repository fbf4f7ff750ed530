"""Explicit counterparts as a versioned JSON record."""

from __future__ import annotations

from sympy import Expr

from derive.explicit.contrast import Contrast
from derive.explicit.counterpart import Evaluated, ExplicitCounterpart
from derive.explicit.critical.intervals import RootInterval
from derive.explicit.minimum import RootByInterval, RootValue, SquaredDistance
from derive.explicit.scale_limits import ScaleLimit
from derive.render.labels import unmarked
from derive.render.narration import statement_records
from derive.render.written_json import Record, affine_record, finding_record, json_text


def render_json(found: ExplicitCounterpart) -> str:
    """Return the record as JSON text; expressions and numbers are strings."""
    p = found.parameterization
    record: Record = {
        "verdict": found.verdict,
        "parameterization": {
            "outputs": p.texts,
            "weights": p.weights,
            "start": dict(p.start),
            "vector": ", ".join(v.name for v in p.vectors) or None,
            "homogeneity_degree": p.degree,
            **affine_record(p),
        },
        "blocks": [
            {
                "outputs": [i + 1 for i in block.outputs],
                "R": _minimum_record(block.distance),
                "R_F": _minimum_record(block.cost),
                "contrast": _contrast_record(block.contrast),
                "limits": [_limit_record(limit) for limit in block.limits],
            }
            for block in found.blocks
        ],
        "values": [_evaluated_record(value) for value in found.evaluated],
        "statements": statement_records(found),
    }
    return json_text("explicit", record | {"certificate": None})


def _minimum_record(minimum: SquaredDistance) -> Record:
    branches, form = list[Record](), next(iter(minimum.closed_forms), None)
    if isinstance(minimum, RootByInterval):
        pairs = zip(minimum.intervals, minimum.closed_forms, strict=True)
        branches, form = [_interval_record(*pair) for pair in pairs], None
    return {
        "variables": minimum.variables,
        "scale": minimum.scale,
        "argument": minimum.argument,
        "polynomials": minimum.equations,
        "branches": branches,
        "closed_form": form,
        **finding_record(minimum.finding),
    }


def _interval_record(interval: RootInterval, form: Expr | None) -> Record:
    return {
        "low": interval.low,
        "high": interval.high,
        "polynomial": interval.factor,
        "root_from_below": None if interval.factor is None else interval.index,
        "closed_form": form,
        "samples": interval.samples,
    }


def _contrast_record(contrast: Contrast) -> Record:
    implicit = contrast.implicit
    return {
        "implicit": None if implicit is None else implicit.verdict,
        "Q": None if implicit is None else implicit.potential.Q,
        "normalization": "0 and flat with Hessian 2 K(w_0)^-1 at beta_0",
        "start": dict(contrast.start),
        "rows": [
            {"beta": x.beta, "R": x.explicit, "Q": f"{x.implicit:.15g}"} for x in contrast.rows
        ],
        **finding_record(contrast.finding),
    }


def _limit_record(x: ScaleLimit) -> Record:
    said_of_it = {"when": x.when, "statement": unmarked(x.statement)}
    return {"of": "R", **said_of_it, **finding_record(x.finding)}


def _evaluated_record(value: Evaluated) -> Record:
    root = value.value if isinstance(value.value, RootValue) else None
    return {
        "of": value.of,
        "outputs": [i + 1 for i in value.outputs],
        "point": dict(value.point),
        "value": None if value.value is None else value.value.ball,
        "polynomial": None if root is None else root.polynomial,
        "root_from_below": None if root is None else root.index,
        "reason": value.reason,
    }
