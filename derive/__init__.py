"""Derive the implicit regularizer of gradient flow on a parameterization beta = F(w), with proofs.

>>> from derive import Parameterization, derive
>>> d = derive(Parameterization.parse(["a*u1", "a*u2"]))
>>> d.verdict.value, str(d.warping.g)
('PROVED', 'a')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.errors import (
    ConsistencyError,
    DegenerateStart,
    DeriveError,
    InputError,
    LanguageError,
    NumericalError,
    RankDeficient,
)
from derive.lazy import make_lazy
from derive.verdict import Verdict

if TYPE_CHECKING:
    from derive.comparison import Comparison, compare
    from derive.copying import Copies, copies
    from derive.derivation import Derivation, derive
    from derive.explicit.regularize import ExplicitCounterpart, explicit_counterpart
    from derive.inverse.design import InverseDesign
    from derive.inverse.parameterize import parameterize
    from derive.limits.find import Regimes, regimes
    from derive.limits.limit import scale_start
    from derive.limits.random_width import random_width
    from derive.model.parameterization import Parameterization
    from derive.perturbed.find import perturb
    from derive.perturbed.record import Perturbation
    from derive.roads.published import Ansatz
    from derive.separable.find import Margins, margins

__version__ = "0.1.0"

__all__ = [
    "Ansatz",
    "Comparison",
    "ConsistencyError",
    "Copies",
    "DegenerateStart",
    "Derivation",
    "DeriveError",
    "ExplicitCounterpart",
    "InputError",
    "InverseDesign",
    "LanguageError",
    "Margins",
    "NumericalError",
    "Parameterization",
    "Perturbation",
    "RankDeficient",
    "Regimes",
    "Verdict",
    "compare",
    "copies",
    "derive",
    "explicit_counterpart",
    "margins",
    "parameterize",
    "perturb",
    "random_width",
    "regimes",
    "scale_start",
]

make_lazy(__name__)
