"""The versioned JSON record of a derivation."""

from __future__ import annotations

import functools
import json

from derive.certificate.writing import certify
from derive.clock import OutOfTime
from derive.derivation import Derivation
from derive.model.exact_map import ExactMap
from derive.potential.block import DirectionTerms
from derive.records import Block, InducedMetric
from derive.render import sections
from derive.render.written_json import Record, affine_record, json_text, named
from derive.verdict import Finding, Verdict

NO_CERTIFICATE = "no certificate was written: it took too long; the result does not depend on it"


def render_json(derivation: Derivation, seconds: float) -> str:
    """Return the record as JSON text; expressions and exact numbers such as "-3/2" are strings.

    It holds what its certificate is about, and nothing else: evidence is in the certificate. It is
    without a certificate, and says so, where that takes longer than some seconds.
    """
    record: Record = {"verdict": derivation.verdict}
    for section in sections.sections_of(derivation):
        if section.name:
            record[section.name] = entry(section)
    plain: Record = json.loads(json_text("derivation", record))
    try:
        plain = certify(derivation, plain, seconds)
    except OutOfTime:
        plain |= {"certificate": None, "certificate_missing": NO_CERTIFICATE}
    return json_text("derivation", plain)


@functools.singledispatch
def entry(section: sections.Section) -> Record:
    """Return what a section records."""
    raise AssertionError(f"{type(section).__name__} is not recorded")


@entry.register
def _(section: sections.PredictorMap) -> Record:
    d, p = section.d, section.d.parameterization
    return {
        "flow": p.geometry.statement,
        "outputs": p.trees,
        "weights": p.weights,
        "parameters": p.parameters,
        "start": dict(p.start),
        "positive": p.positive,
        "idle": d.idle,
        "ties": dict(d.ties),
        "kernel_factor": d.kernel_factor,
        "homogeneity_degree": p.degree,
        "beta": d.beta,
        "blocks": [[i + 1 for i in block.outputs] for block in d.blocks],
        **affine_record(p),
        **_rates(p),
        **_equivalent_start(d),
    }


def _rates(p: ExactMap) -> Record:
    """Return the rate of each weight, or its row of G^-1, where there are any."""
    return {"rates": dict(zip(p.weights, p.geometry.texts, strict=True))} if p.rates else {}


def _equivalent_start(d: Derivation) -> Record:
    """Return the other start, where one is used."""
    if d.equivalent is None:
        return {}
    weights = dict.fromkeys(d.parameterization.weights, "0")
    return {"equivalent_start": {**weights, **dict(d.equivalent.start)}}


@entry.register
def _(section: sections.VectorMap) -> Record:
    direction, d, p = section.direction, section.d, section.d.parameterization
    return {
        "flow": p.geometry.statement,
        "outputs": p.texts,
        "weights": p.weights,
        "parameters": p.parameters,
        "start": dict(p.start),
        "positive": p.positive,
        "idle": d.idle,
        "ties": {},
        "kernel_factor": None,
        "homogeneity_degree": None,
        "beta": d.beta,
        "blocks": [[1]],
        "dimension": "d >= 2",
        "vector": direction.vector,
        "coefficient": p.vectors[0].coefficient,
        "norms": {direction.vector: direction.norm},
        "start_vector": direction.start_vector,
        "s": d.beta[0],
        **_rates(p),
    }


@entry.register
def _(section: sections.Laws) -> Record:
    conserved, tied = section.d.conserved, len(section.d.idle) + len(section.d.ties)
    return {
        "laws": conserved.laws,
        "values_at_start": conserved.values,
        "count": len(conserved.laws),
        "bound": conserved.bound,
        "lie_dimension": len(section.d.parameterization.weights) - tied - conserved.bound,
        **decision(conserved.finding),
    }


@entry.register
def _(section: sections.KernelEntries) -> Record:
    return _metric(section.d.metric)


@entry.register
def _(section: sections.KernelEigenvalues) -> Record:
    kernel = section.d.metric.kernel
    return {
        "frame": "eigenvalues across beta (T) and along it (R)",
        "formula": "K = T I + (R - T) beta beta^T/s**2",
        "T": None if kernel is None else kernel[0, 0],
        "R": None if kernel is None else kernel[1, 1],
        **_metric(section.d.metric),
    }


def _metric(metric: InducedMetric) -> Record:
    return {**vars(metric), "constants": named(metric.constants)}


@entry.register
def _(section: sections.Relations) -> Record:
    return {"blocks": [found.relations for found in sections.dependent(section.d)]}


@entry.register
def _(section: sections.HessianMap) -> Record:
    return decision(section.d.hessian.finding)


@entry.register
def _(section: sections.Warp) -> Record:
    warping = section.d.warping
    vectors = section.d.parameterization.vectors
    dual = [_dual_of_vector(b) if vectors else _dual(b) for b in section.d.blocks]
    if warping.verdict is not Verdict.PROVED:  # of blocks alone
        dual = [dict.fromkeys(found) for found in dual]
    return {**decision(warping.finding), "g": warping.g, "dual_coordinates": dual}


def _dual_of_vector(block: Block) -> Record:
    turning = block.potential.turning
    found = None if turning is None else turning.dual
    return {"log_psi": None if found is None else found.log_psi}


def _dual(block: Block) -> Record:
    dual = block.potential.dual
    if dual is None:
        return {"y": None, "conjugate": None}
    return {"y": dual.y, "conjugate": dual.R}


@entry.register
def _(section: sections.Regularizer) -> Record:
    d, other = section.d, section.d.potential.other_side
    zero = "grad Q(beta_0) = 0" if other is None else "grad Q = y - y(w_0), or y(w_0) - y"
    return {
        "kind": d.potential.kind,
        "pieces": d.potential.pieces,
        **({} if other is None else {"other_side": other.pieces}),
        "normalization": f"{zero}; up to a positive factor and a constant",
        "asked": d.asked and {"name": d.asked.name, "verdict": d.asked.finding.verdict},
        **decision(d.potential.finding),
    }


@entry.register
def _(section: sections.VectorRegularizer) -> Record:
    turning = section.turning
    linear = _linear_term(turning)
    other = section.d.potential.other_side
    if other is not None and other.turning is not None:
        linear["on_the_other_side"] = _linear_term(other.turning)["coefficient"]
    formula = {"Q": "q(s) + coefficient*<start_vector, beta>"}
    return {**formula, **entry.dispatch(sections.Regularizer)(section), "linear": linear}


def decision(finding: Finding) -> Record:
    """Return a verdict, and why there is none."""
    reason = {"reason": finding.reason} if finding.verdict is Verdict.UNDECIDED else {}
    return {"verdict": finding.verdict, **reason}


def _linear_term(turning: DirectionTerms) -> dict[str, object]:
    """Return z = -slope u_0 of grad Q = q'(s) beta/s + z."""
    return {"vector": turning.direction.start_vector, "coefficient": -turning.slope}
