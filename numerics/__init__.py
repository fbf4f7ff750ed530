"""Numbers: evaluate, flow, solve, compare."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numerics.confirm.agreement import CrossCheck
    from numerics.confirm.crosscheck import crosscheck
    from numerics.confirm.time_warp import TimeWarp, time_warp
    from numerics.evaluate.lowering import lower
    from numerics.evaluate.potential import NumericPotential
    from numerics.flow.gradient_flow import Flow, flow
    from numerics.interpolate.interpolant import Solution, interpolate

__all__ = [
    "CrossCheck",
    "Flow",
    "NumericPotential",
    "Solution",
    "TimeWarp",
    "crosscheck",
    "flow",
    "interpolate",
    "lower",
    "time_warp",
]

_LAZY = {
    "CrossCheck": "numerics.confirm.agreement",
    "Flow": "numerics.flow.gradient_flow",
    "NumericPotential": "numerics.evaluate.potential",
    "Solution": "numerics.interpolate.interpolant",
    "TimeWarp": "numerics.confirm.time_warp",
    "crosscheck": "numerics.confirm.crosscheck",
    "flow": "numerics.flow.gradient_flow",
    "interpolate": "numerics.interpolate.interpolant",
    "lower": "numerics.evaluate.lowering",
    "time_warp": "numerics.confirm.time_warp",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'numerics' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_LAZY[name]), name)


class _Package(ModuleType):
    """The package, in which ``flow`` and ``interpolate`` stay functions.

    Importing the room of that name would put a module in the place of the function.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in _LAZY):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
