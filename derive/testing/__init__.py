"""Property-based tests of implicit regularizers: what to draw, and a test of a Q of your own.

What is drawn shrinks to a small F, and its ``repr`` is code that runs:

>>> from hypothesis import find
>>> from derive.testing import parameterizations
>>> find(parameterizations("separable"), lambda p: p.d > 1)
Parameterization(['u**2', 'v**2'])

A Q from paper and pencil is put to flows of the weights, which know nothing of it:

>>> from derive.testing import assert_mirror_flow
>>> assert_mirror_flow("w**2", "beta*log(beta) - beta", start={"w": "alpha"})
"""

from __future__ import annotations

try:
    from derive.testing.mirror_flow import assert_mirror_flow
    from derive.testing.strategies import (
        KINDS,
        convex_potentials,
        parameterizations,
        regression_problems,
        separable_problems,
        starts,
        warps,
    )
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    message = "derive.testing needs hypothesis: pip install 'regderive[test]'"
    raise ImportError(message) from None

__all__ = [
    "KINDS",
    "assert_mirror_flow",
    "convex_potentials",
    "parameterizations",
    "regression_problems",
    "separable_problems",
    "starts",
    "warps",
]
