"""Findings, roots and closed forms of Q as they stand in JSON records."""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

from derive.potential.piece import Explicit, Parametric, Piece, Quadrature, Root
from derive.render.plain import plain, unmarked
from derive.verdict import Finding, Identity

Record: TypeAlias = dict[str, Any]
"""What JSON holds: dictionaries and lists of texts, numbers, truth values and nothing."""


def finding_record(finding: Finding) -> Record:
    """Return a verdict with its evidence."""
    return {
        "verdict": finding.verdict.value,
        "reason": finding.reason,
        "evidence": [_identity(e) for e in finding.evidence],
    }


def _identity(identity: Identity) -> Record:
    record: Record = {
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


def root_record(root: Root) -> Record:
    """Return a named root."""
    return {
        "symbol": str(root.symbol),
        "polynomial": plain(root.polynomial),
        "explicit": None if root.explicit is None else plain(root.explicit),
        "branch": root.branch,
        "real_roots_above": root.from_above,
    }


def piece_record(piece: Piece) -> Record:
    """Return a closed form."""
    record: Record = {
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
def _own_fields(piece: Piece) -> Record:
    """Return what one kind of form has beyond the others."""
    return {}


@_own_fields.register
def _(piece: Explicit) -> Record:
    return {"kernel": None if piece.kernel is None else plain(piece.kernel)}


@_own_fields.register
def _(piece: Parametric) -> Record:
    curve = {
        "parameter": str(piece.curve.parameter),
        "beta": plain(piece.curve.beta),
        "interval": [plain(end) for end in piece.curve.interval],
    }
    return {"curve": curve}


@_own_fields.register
def _(piece: Quadrature) -> Record:
    return {
        "kernel": None if piece.kernel is None else plain(piece.kernel),
        "note": unmarked(piece.note),
        "abbreviations": {str(s): plain(v) for s, v in piece.abbreviations},
    }
