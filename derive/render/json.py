"""The versioned JSON record of a derivation; fields are only ever added."""

from __future__ import annotations

import functools
import json
from typing import Any

from derive.certificate.writing import certify
from derive.derivation import Derivation
from derive.language import to_text
from derive.potential.piece import Explicit, Parametric, Piece, Quadrature, Root
from derive.records import Block, Decision
from derive.render.plain import plain, unmarked
from derive.roads import Road
from derive.verdict import Finding, Identity

FORMAT = "regderive-derivation"
VERSION = 1


def render_json(derivation: Derivation) -> str:
    """Return the record as JSON text with sorted structure and no floats.

    Expressions are strings in the language of the command line; numbers in evidence are exact,
    as strings such as "-3/2".
    """
    return json.dumps(to_record(derivation), indent=2, ensure_ascii=True)


def to_record(d: Derivation) -> dict[str, Any]:
    """Return the record as plain dictionaries and lists."""
    p = d.parameterization
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": d.verdict.value,
        "parameterization": {
            "outputs": [to_text(t) for t in p.trees],
            "weights": list(p.weights),
            "start": {w: to_text(t) for w, t in p.start},
            "positive": list(p.positive),
            "idle": list(d.idle),
            "ties": {w: to_text(tree) for w, tree in d.ties},
            "kernel_factor": None if d.kernel_factor is None else to_text(d.kernel_factor),
            "homogeneity_degree": p.degree,
            "beta": [str(b) for b in d.beta],
            "blocks": [[i + 1 for i in b.outputs] for b in d.blocks],
        },
        "conserved": {
            "laws": [plain(law) for law in d.conserved.laws],
            "values_at_start": [None if v is None else plain(v) for v in d.conserved.values],
            "count": d.conserved.count,
            "bound": d.conserved.bound,
            "lie_dimension": sum(b.lie.dimension for b in d.blocks),
            "lie_algebra": [
                {
                    "commuting": b.lie.commuting,
                    "spanned_by": list(b.lie.words),
                    "independent_at": None
                    if b.lie.point is None
                    else {name: str(value) for name, value in b.lie.point},
                }
                for b in d.blocks
            ],
            **finding_record(d.conserved.finding),
        },
        "metric": _metric(d),
        "hessian": _decision(d.hessian),
        "warping": {
            **_decision(d.warping),
            "g": None if d.warping.g is None else plain(d.warping.g),
            "dual_coordinates": [_dual(b) for b in d.blocks],
        },
        "potential": {
            "kind": d.potential.kind,
            "pieces": [piece_record(piece) for piece in d.potential.pieces],
            "normalization": "grad Q(beta_0) = 0; up to a positive factor and a constant",
            "roads": [[_road(r) for r in b.roads] for b in d.blocks],
            "asked": None if d.asked is None else _road(d.asked),
            **finding_record(d.potential.finding),
        },
        "certificate": certify(d),
    }


def _road(road: Road) -> dict[str, Any]:
    return {"name": road.name, **finding_record(road.finding)}


def _metric(d: Derivation) -> dict[str, Any]:
    metric = d.metric

    def matrix(m: Any) -> list[list[str]] | None:
        return None if m is None else [[plain(x) for x in row] for row in m.tolist()]

    return {
        "kernel_in_weights": matrix(metric.kernel_in_weights),
        "kernel": matrix(metric.kernel),
        "rho": matrix(metric.rho),
        "roots": [root_record(r) for r in metric.roots],
        "constants": {str(s): plain(v) for s, v in metric.constants},
    }


def _dual(block: Block) -> dict[str, Any]:
    dual = block.potential.dual
    if dual is None:
        return {"y": None, "conjugate": None}

    def written(f: Any) -> dict[str, Any]:
        return {
            "rational": repr(f.rational),
            "logarithms": [{"coefficient": repr(c), "argument": repr(a)} for c, a in f.logs],
        }

    return {
        "y": [written(y) for y in dual.y],
        "conjugate": None if dual.R is None else written(dual.R),
    }


def _decision(decision: Decision) -> dict[str, Any]:
    return finding_record(decision.finding)


def finding_record(finding: Finding) -> dict[str, Any]:
    """Return a verdict with its evidence."""
    return {
        "verdict": finding.verdict.value,
        "reason": finding.reason,
        "evidence": [_identity(e) for e in finding.evidence],
    }


def _identity(identity: Identity) -> dict[str, Any]:
    record: dict[str, Any] = {
        "statement": identity.statement,
        "holds": identity.holds,
        "left": identity.left,
        "right": identity.right,
    }
    if not identity.holds:
        record["point"] = {name: str(value) for name, value in identity.point}
        record["residual"] = str(identity.residual)
        record["differentiated_along"] = list(identity.derivative)
    return record


def root_record(root: Root) -> dict[str, Any]:
    """Return a named root."""
    return {
        "symbol": str(root.symbol),
        "polynomial": plain(root.polynomial),
        "explicit": None if root.explicit is None else plain(root.explicit),
        "branch": root.branch,
        "real_roots_above": root.from_above,
    }


def piece_record(piece: Piece) -> dict[str, Any]:
    """Return a closed form."""
    record: dict[str, Any] = {
        "kind": piece.kind,
        "beta": [str(b) for b in piece.betas],
        "Q": plain(piece.value),
        "gradient": [plain(g) for g in piece.gradient],
        "constants": {str(s): plain(v) for s, v in piece.constants},
        "roots": [root_record(r) for r in piece.roots],
        "curve": None,
        "kernel": None,
        "note": "",
        "abbreviations": {},
        "assumptions": list(piece.assumptions),
        "domain": unmarked(piece.domain),
        "evidence": [_identity(e) for e in piece.evidence],
    }
    return {**record, **_own_fields(piece)}


@functools.singledispatch
def _own_fields(piece: Piece) -> dict[str, Any]:
    """Return what one kind of form has beyond the others."""
    return {}


@_own_fields.register
def _(piece: Explicit) -> dict[str, Any]:
    return {"kernel": None if piece.kernel is None else plain(piece.kernel)}


@_own_fields.register
def _(piece: Parametric) -> dict[str, Any]:
    curve = {
        "parameter": str(piece.curve.parameter),
        "beta": plain(piece.curve.beta),
        "interval": [plain(end) for end in piece.curve.interval],
    }
    return {"curve": curve}


@_own_fields.register
def _(piece: Quadrature) -> dict[str, Any]:
    return {
        "kernel": None if piece.kernel is None else plain(piece.kernel),
        "note": unmarked(piece.note),
        "abbreviations": {str(s): plain(v) for s, v in piece.abbreviations},
    }
