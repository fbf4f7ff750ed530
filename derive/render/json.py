"""The versioned JSON record of a derivation."""

from __future__ import annotations

import json

from derive.certificate.writing import certify
from derive.clock import OutOfTime
from derive.derivation import Derivation
from derive.records import Block
from derive.render.sections import dependent
from derive.render.written_json import Record, affine_record, json_text, named
from derive.verdict import Finding, Verdict

NO_CERTIFICATE = "no certificate was written: it took too long; the result does not depend on it"


def render_json(derivation: Derivation, seconds: float) -> str:
    """Return the record as JSON text; expressions and exact numbers such as "-3/2" are strings.

    It holds what its certificate is about, and nothing else: evidence is in the certificate. It is
    without a certificate, and says so, where that takes longer than some seconds.
    """
    d, found = derivation, dependent(derivation)
    record: Record = {
        "verdict": d.verdict,
        "parameterization": _parameterization(d),
        "conserved": _conserved(d),
        "metric": _metric(d),
        **({"relations": {"blocks": [x.relations for x in found]}} if found else {}),
        "hessian": decision(d.hessian.finding),
        "warping": _warping(d),
        "potential": _potential(d),
    }
    plain: Record = json.loads(json_text("derivation", record))
    try:
        plain = certify(derivation, plain, seconds)
    except OutOfTime:
        plain |= {"certificate": None, "certificate_missing": NO_CERTIFICATE}
    return json_text("derivation", plain)


def _parameterization(d: Derivation) -> Record:
    p, direction = d.parameterization, d.direction
    vector: Record = {}
    if direction is not None:
        vector = {
            "dimension": "d >= 2",
            "vector": direction.vector,
            "coefficient": p.vectors[0].coefficient,
            "norms": {direction.vector: direction.norm},
            "start_vector": direction.start_vector,
            "s": d.beta[0],
        }
    # The rate of each weight, or its row of G^-1; that of a norm is of its vector.
    texts = p.geometry.texts if p.rates else ()
    rates: Record = {"rates": dict(zip(p.weights, texts, strict=True))} if texts else {}
    return {
        "flow": p.geometry.statement,
        "outputs": p.trees if direction is None else p.texts,
        "weights": p.weights,
        "parameters": p.parameters,
        "start": dict(p.start),
        "positive": p.positive,
        "idle": d.idle,
        "ties": dict(d.ties),
        "kernel_factor": None,  # K is that of F as it is given
        "homogeneity_degree": p.degree if direction is None else None,
        "beta": d.beta,
        "blocks": [[i + 1 for i in block.outputs] for block in d.blocks],
        **affine_record(p),
        **vector,
        **rates,
        **_equivalent_start(d),
    }


def _equivalent_start(d: Derivation) -> Record:
    """Return the other start, where one is used."""
    if d.equivalent is None:
        return {}
    weights = dict.fromkeys(d.parameterization.weights, "0")
    return {"equivalent_start": {**weights, **dict(d.equivalent.start)}}


def _conserved(d: Derivation) -> Record:
    conserved, weights = d.conserved, len(d.parameterization.weights)
    known = conserved.finding.verdict is Verdict.PROVED
    dimension = weights - len(d.idle) - len(d.ties) - conserved.bound
    return {
        "laws": conserved.laws,
        "values_at_start": conserved.values,
        "count": len(conserved.laws),
        "bound": conserved.bound,
        "lie_dimension": dimension if known else None,
        **decision(conserved.finding),
    }


def _metric(d: Derivation) -> Record:
    metric, frame = d.metric, dict[str, object]()
    if d.direction is not None:
        T, R = (None, None) if metric.kernel is None else metric.kernel.diagonal()
        frame = {
            "frame": "eigenvalues across beta (T) and along it (R)",
            "formula": "K = T I + (R - T) beta beta^T/s**2",
            "T": T,
            "R": R,
        }
    return {**frame, **vars(metric), "constants": named(metric.constants)}


def _warping(d: Derivation) -> Record:
    warping = d.warping
    dual = [_dual(block, d) for block in d.blocks]
    if warping.verdict is not Verdict.PROVED:  # of blocks alone
        dual = [dict.fromkeys(found) for found in dual]
    return {**decision(warping.finding), "g": warping.g, "dual_coordinates": dual}


def _dual(block: Block, d: Derivation) -> Record:
    dual, turning = block.potential.dual, block.potential.turning
    if d.parameterization.vectors:
        found = None if turning is None else turning.dual
        return {"log_psi": None if found is None else found.log_psi}
    return {"y": None, "conjugate": None} if dual is None else {"y": dual.y, "conjugate": dual.R}


def _potential(d: Derivation) -> Record:
    potential, other = d.potential, d.potential.other_side
    zero = "grad Q(beta_0) = 0" if other is None else "grad Q = y - y(w_0), or y(w_0) - y"
    formula: Record = {}
    linear: Record = {}
    if potential.turning is not None:
        # z = -slope u_0 of grad Q = q'(s) beta/s + z
        formula = {"Q": "q(s) + coefficient*<start_vector, beta>"}
        vector = potential.turning.direction.start_vector
        linear = {"vector": vector, "coefficient": -potential.turning.slope}
        if other is not None and other.turning is not None:
            linear["on_the_other_side"] = -other.turning.slope
    return {
        **formula,
        "kind": potential.kind,
        "pieces": potential.pieces,
        **({} if other is None else {"other_side": other.pieces}),
        "normalization": f"{zero}; up to a positive factor and a constant",
        "asked": d.asked and {"name": d.asked.name, "verdict": d.asked.finding.verdict},
        **decision(potential.finding),
        **({"linear": linear} if linear else {}),
    }


def decision(finding: Finding) -> Record:
    """Return a verdict, and why there is none."""
    reason = {"reason": finding.reason} if finding.verdict is Verdict.UNDECIDED else {}
    return {"verdict": finding.verdict, **reason}
