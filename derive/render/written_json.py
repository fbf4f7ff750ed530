"""How values stand in JSON records: exact, as texts in the language of the command line."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from flint import arb
from sympy import Expr, MatrixBase

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.language import to_text
from derive.language.tree import Tree
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.potential.domain import Domain
from derive.potential.piece import Parametric, Piece, Quadrature, Root, kernel_of
from derive.render.labels import MARK, unmarked
from derive.render.plain import plain
from derive.verdict import Finding, Identity, Verdict

LARGEST = ("the root", "the only real root", "the largest real root", "the length of beta")

Record: TypeAlias = dict[str, object]
"""Names with texts, whole numbers, truth values, nothing, lists, and what ``written`` knows."""

VERSIONS = {"derivation": 2, "explicit": 2, "regimes": 2}
"""Versions of the formats other than 1."""

DIGITS = 30
"""Decimal digits of certified values."""


def json_text(kind: str, record: Record) -> str:
    """Return a versioned record as JSON text without floats; fields are only ever added."""
    head = {"format": f"regderive-{kind}", "version": VERSIONS.get(kind, 1)}
    text = json.dumps(head | record, indent=2, ensure_ascii=True, default=written)
    return text.replace(json.dumps(MARK)[1:-1], "")


def named(pairs: Iterable[tuple[object, object]]) -> Record:
    """Return values by the texts of their names."""
    return {str(name): value for name, value in pairs}


def finding_record(finding: Finding) -> Record:
    """Return a verdict with its evidence."""
    reason = unmarked(finding.reason)
    return {"verdict": finding.verdict, "reason": reason, "evidence": finding.evidence}


def brief_finding(finding: Finding) -> Record:
    """Return a verdict with its evidence, of which every identity holds."""
    evidence = [
        {"statement": unmarked(e.statement), "left": e.left, "right": e.right, "holds": e.holds}
        for e in finding.evidence
    ]
    return finding_record(finding) | {"evidence": evidence}


def affine_record(p: Parameterization) -> Record:
    """Return the outputs that are left out, as affine functions of the others; {} without any."""
    pairs = zip(Notation(p, ()).affine, p.affine, strict=True)
    found = [{"beta": b, "output": output.tree, "is": image} for (b, image), output in pairs]
    return {"affine": found} if found else {}


@functools.singledispatch
def written(value: object) -> object:
    """Return what stands for a value in JSON."""
    raise TypeError(f"{type(value).__name__} has no JSON")


written.register(Expr, plain)
written.register(Fraction, str)
written.register(RationalFunction, RationalFunction.in_moduli)


@written.register
def _(tree: Tree) -> str:
    return to_text(tree)


@written.register
def _(verdict: Verdict) -> str:
    return verdict.value


@written.register
def _(matrix: MatrixBase) -> list[list[Expr]]:
    rows: list[list[Expr]] = matrix.tolist()
    return rows


@written.register
def _(ball: arb) -> str:
    return str(ball.str(DIGITS, radius=False))


@written.register
def _(identity: Identity) -> Record:
    record: Record = {
        "statement": unmarked(identity.statement),
        "holds": identity.holds,
        "left": identity.left,
        "right": identity.right,
    }
    if not identity.holds:
        record["point"] = named(identity.point)
        record["residual"] = str(identity.residual)
        record["differentiated_along"] = identity.derivative
    return record


@written.register
def _(f: LogFunction) -> Record:
    logs = [{"coefficient": c, "argument": a} for c, a in f.logs]
    return {"rational": f.rational, "logarithms": logs}


@written.register
def _(root: Root) -> Record:
    return {
        "symbol": root.symbol,
        "polynomial": root.polynomial,
        "explicit": root.explicit,
        "branch": root.branch,
        "real_roots_above": 0 if root.from_above == 0 and root.branch in LARGEST else None,
    }


@written.register
def _(domain: Domain) -> Record:
    signs = ("as at beta_0", "> 0")
    return {
        "walls": [
            {"form": wall.form, "sign": signs[wall.oriented], "vanishing": wall.vanishing}
            for wall in domain.walls
        ],
        "undecided": domain.undecided,
        "unless_zero": domain.unless,
    }


@written.register
def _(piece: Piece) -> Record:
    curve = None
    if isinstance(piece, Parametric):
        c = piece.curve
        curve = {"parameter": c.parameter, "beta": c.beta, "interval": c.interval}
    return {
        "kind": piece.kind,
        "beta": piece.betas,
        "Q": piece.value,
        "gradient": piece.gradient,
        "constants": named(piece.constants),
        "roots": piece.roots,
        "curve": curve,
        "kernel": kernel_of(piece),
        "abbreviations": named(piece.abbreviations) if isinstance(piece, Quadrature) else {},
        "assumptions": [str(replace(c, guards=())) for c in piece.assumptions],
        "domain": piece.domain,
    }
