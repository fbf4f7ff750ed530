"""The versioned JSON record of a derivation; fields are only ever added."""

from __future__ import annotations

import functools
import json

from sympy import ImmutableMatrix

from derive.certificate.writing import certify
from derive.derivation import Derivation
from derive.exact.linear.families import LogFunction
from derive.language import to_text
from derive.records import Block, InducedMetric
from derive.render.parts_json import Record, finding_record, piece_record, root_record
from derive.render.plain import plain
from derive.render.sections import (
    Eigenvalues,
    HessianMap,
    Kernel,
    Laws,
    Model,
    Regularizer,
    Section,
    VectorModel,
    VectorRegularizer,
    Warp,
    sections_of,
)
from derive.roads.road import Road
from derive.weights.lie import LieStructure

FORMAT = "regderive-derivation"
VERSION = 1


def render_json(derivation: Derivation) -> str:
    """Return the record as JSON text with sorted structure and no floats.

    Expressions are strings in the language of the command line; numbers in evidence are exact,
    as strings such as "-3/2".
    """
    return json.dumps(to_record(derivation), indent=2, ensure_ascii=True)


def to_record(d: Derivation) -> Record:
    """Return the record as plain dictionaries and lists."""
    record: Record = {"format": FORMAT, "version": VERSION, "verdict": d.verdict.value}
    for section in sections_of(d):
        record |= entry(section)
    record["certificate"] = certify(d)
    return record


@functools.singledispatch
def entry(section: Section) -> Record:
    """Return a section under its key; nothing for those that say in words what others record."""
    return {}


@entry.register
def _(section: Model) -> Record:
    p = section.parameterization
    factor = section.kernel_factor
    return {
        "parameterization": {
            "outputs": [to_text(t) for t in p.trees],
            "weights": list(p.weights),
            "start": {w: to_text(t) for w, t in p.start},
            "positive": list(p.positive),
            "idle": list(section.idle),
            "ties": {w: to_text(tree) for w, tree in section.ties},
            "kernel_factor": None if factor is None else to_text(factor),
            "homogeneity_degree": p.degree,
            "beta": [str(b) for b in section.betas],
            "blocks": [[i + 1 for i in outputs] for outputs in section.blocks],
        }
    }


@entry.register
def _(section: VectorModel) -> Record:
    direction, p = section.direction, section.given
    return {
        "parameterization": {
            "outputs": list(p.texts),
            "weights": list(p.weights),
            "start": {w: to_text(t) for w, t in p.start},
            "positive": list(p.positive),
            "idle": list(section.idle),
            "ties": {},
            "beta": [str(section.s)],
            "dimension": "d >= 2",
            "vector": direction.vector,
            "coefficient": to_text(p.vectors[0].coefficient),
            "norms": {direction.vector: direction.norm},
            "start_vector": direction.start_vector,
            "s": str(section.s),
        }
    }


@entry.register
def _(section: Laws) -> Record:
    conserved = section.conserved
    algebras = [b.lie for b in section.algebras]
    return {
        "conserved": {
            "laws": [plain(law) for law in conserved.laws],
            "values_at_start": [None if v is None else plain(v) for v in conserved.values],
            "count": conserved.count,
            "bound": conserved.bound,
            "lie_dimension": sum(lie.dimension for lie in algebras),
            "lie_algebra": [_algebra(lie) for lie in algebras],
            **finding_record(conserved.finding),
        }
    }


def _algebra(lie: LieStructure) -> Record:
    point = None if lie.point is None else {name: str(value) for name, value in lie.point}
    return {"commuting": lie.commuting, "spanned_by": list(lie.words), "independent_at": point}


@entry.register
def _(section: Kernel) -> Record:
    return {"metric": _metric(section.metric)}


@entry.register
def _(section: Eigenvalues) -> Record:
    kernel = section.metric.kernel
    return {
        "metric": {
            "frame": "eigenvalues across beta (T) and along it (R)",
            "formula": "K = T I + (R - T) beta beta^T/s**2",
            "T": None if kernel is None else plain(kernel[0, 0]),
            "R": None if kernel is None else plain(kernel[1, 1]),
            **_metric(section.metric),
        }
    }


def _metric(metric: InducedMetric) -> Record:
    def entries(matrix: ImmutableMatrix | None) -> list[list[str]] | None:
        return None if matrix is None else [[plain(x) for x in row] for row in matrix.tolist()]

    return {
        "kernel_in_weights": entries(metric.kernel_in_weights),
        "kernel": entries(metric.kernel),
        "rho": entries(metric.rho),
        "roots": [root_record(r) for r in metric.roots],
        "constants": {str(s): plain(v) for s, v in metric.constants},
    }


@entry.register
def _(section: HessianMap) -> Record:
    return {"hessian": finding_record(section.finding)}


@entry.register
def _(section: Warp) -> Record:
    g = section.decision.g
    return {
        "warping": {
            **finding_record(section.decision.finding),
            "g": None if g is None else plain(g),
            "dual_coordinates": [_dual(b) for b in section.blocks],
        }
    }


def _dual(block: Block) -> Record:
    dual, turning = block.potential.dual, block.potential.turning
    if turning is not None and turning.dual is not None:
        return {"log_psi": _function(turning.dual.log_psi)}
    if dual is None:
        return {"y": None, "conjugate": None}
    conjugate = None if dual.R is None else _function(dual.R)
    return {"y": [_function(y) for y in dual.y], "conjugate": conjugate}


def _function(f: LogFunction) -> Record:
    logs = [{"coefficient": repr(c), "argument": repr(a)} for c, a in f.logs]
    return {"rational": repr(f.rational), "logarithms": logs}


@entry.register
def _(section: Regularizer) -> Record:
    potential = section.potential
    return {
        "potential": {
            "kind": potential.kind,
            "pieces": [piece_record(piece) for piece in potential.pieces],
            "normalization": "grad Q(beta_0) = 0; up to a positive factor and a constant",
            "roads": [[_road(r) for r in b.roads] for b in section.blocks],
            "asked": None if section.asked is None else _road(section.asked),
            **finding_record(potential.finding),
        }
    }


@entry.register
def _(section: VectorRegularizer) -> Record:
    turning = section.turning
    linear = {"vector": turning.direction.start_vector, "coefficient": plain(-turning.slope)}
    return {
        "potential": {
            "Q": "q(s) + coefficient*<start_vector, beta>",
            **entry.dispatch(Regularizer)(section)["potential"],
            "linear": linear,
        }
    }


def _road(road: Road) -> Record:
    return {"name": road.name, **finding_record(road.finding)}
