"""Numbers: evaluate, flow, solve, compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.lazy import make_lazy

if TYPE_CHECKING:
    from numerics.confirm.audit import audit_run
    from numerics.confirm.crosscheck import CrossCheck, crosscheck
    from numerics.confirm.paths import MirrorPath, mirror_path
    from numerics.confirm.perturbed import confirm_perturbation
    from numerics.evaluate.lowering import lower
    from numerics.evaluate.potential import NumericPotential
    from numerics.figures.derived import FlowDisplay, PotentialDisplay, RegimeDisplay
    from numerics.integrator.gradient_flow import Flow, flow
    from numerics.interpolants.interpolant import Solution, interpolate, interpolate_path
    from numerics.margins.interval import MarginInterval
    from numerics.margins.margin_path import LossFlow, MarginPath, loss_flow, margin_path
    from numerics.margins.max_margin import NotSeparable, max_margin
    from numerics.margins.predictor import MaxMargin
    from numerics.optimizers.steepest import saddle_path

__all__ = [
    "CrossCheck",
    "Flow",
    "FlowDisplay",
    "LossFlow",
    "MarginInterval",
    "MarginPath",
    "MaxMargin",
    "MirrorPath",
    "NotSeparable",
    "NumericPotential",
    "PotentialDisplay",
    "RegimeDisplay",
    "Solution",
    "audit_run",
    "confirm_perturbation",
    "crosscheck",
    "flow",
    "interpolate",
    "interpolate_path",
    "loss_flow",
    "lower",
    "margin_path",
    "max_margin",
    "mirror_path",
    "saddle_path",
]

make_lazy(__name__)
