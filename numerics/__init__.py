"""Numbers: evaluate, flow, solve, compare."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numerics.crosscheck import crosscheck
    from numerics.flow import Flow, flow
    from numerics.interpolate import Solution, interpolate
    from numerics.lowering import lower
    from numerics.potential import NumericPotential
    from numerics.report import CrossCheck
    from numerics.time_warp import TimeWarp, time_warp

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
    "CrossCheck": "numerics.report",
    "Flow": "numerics.flow",
    "NumericPotential": "numerics.potential",
    "Solution": "numerics.interpolate",
    "TimeWarp": "numerics.time_warp",
    "crosscheck": "numerics.crosscheck",
    "flow": "numerics.flow",
    "interpolate": "numerics.interpolate",
    "lower": "numerics.lowering",
    "time_warp": "numerics.time_warp",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'numerics' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_LAZY[name]), name)


class _Package(ModuleType):
    """The package, in which functions such as ``flow`` stay functions.

    Importing the submodule of that name would put the module in the place of the function.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and name in _LAZY:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
