"""A derivation as a file that Rocq accepts, which its own room writes."""

from __future__ import annotations

from derive.derivation import Derivation
from derive.rocq.theorem import written


def render_rocq(derivation: Derivation) -> str:
    """Return the file; NumericalError where there is none."""
    return written(derivation)
