"""The versioned JSON record of a dimension-free derivation; fields are only ever added."""

from __future__ import annotations

import json
from typing import Any

from derive.language import to_text
from derive.render.json import finding_record, piece_record, root_record
from derive.render.plain import plain
from derive.vectors.derivation import RadialDerivation

FORMAT = "regderive-radial-derivation"
VERSION = 1


def render_json(derivation: RadialDerivation) -> str:
    """Return the record as JSON text; norms appear under the names listed in ``norms``."""
    return json.dumps(to_radial_record(derivation), indent=2, ensure_ascii=True)


def to_radial_record(d: RadialDerivation) -> dict[str, Any]:
    """Return the record as plain dictionaries and lists."""
    model, p, potential = d.model, d.model.reduced, d.potential
    spectrum = potential.spectrum
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": d.verdict.value,
        "parameterization": {
            "vector": model.vector,
            "coefficient": to_text(model.coefficient),
            "norms": {model.vector: model.norm},
            "start_vector": model.start_vector,
            "start": {w: to_text(tree) for w, tree in p.start},
            "positive": list(p.positive),
            "idle": list(model.idle),
            "dimension": "d >= 2",
            "s": str(d.s),
        },
        "conserved": {
            "laws": [plain(law) for law in d.conserved.laws],
            "values_at_start": [None if v is None else plain(v) for v in d.conserved.values],
            "count": d.conserved.count,
            "bound": d.conserved.bound,
            **finding_record(d.conserved.finding),
        },
        "metric": {
            "kernel": "T I + (R - T) beta beta^T/s**2",
            "T": None if spectrum is None else plain(spectrum.tangential),
            "R": None if spectrum is None else plain(spectrum.radial),
            "roots": [] if spectrum is None else [root_record(r) for r in spectrum.roots],
            "constants": {}
            if spectrum is None
            else {str(c): plain(v) for c, v in spectrum.constants},
        },
        "hessian": finding_record(d.hessian.finding),
        "warping": {
            **finding_record(d.warping.finding),
            "g": None if d.warping.g is None else plain(d.warping.g),
        },
        "potential": {
            "Q": "q(s) + coefficient*<start_vector, beta>",
            "q": None if potential.piece is None else piece_record(potential.piece),
            "linear": {
                "vector": model.start_vector,
                "coefficient": plain(-potential.slope),
            },
            "normalization": "grad Q(beta_0) = 0; up to a positive factor and a constant",
            **finding_record(potential.finding),
        },
        "components": [
            {"d": c.d, "identities": [e.statement for e in c.identities], "skipped": c.skipped}
            for c in d.checks
        ],
    }
