"""Numbers: evaluate, flow, solve, compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.lazy import make_lazy

if TYPE_CHECKING:
    from numerics.confirm.audit import audit_run
    from numerics.confirm.crosscheck import CrossCheck, crosscheck
    from numerics.confirm.paths import FiniteTime, TimeWarp, confirm_finite_time, time_warp
    from numerics.confirm.perturbed import PerturbedCheck, confirm_perturbation
    from numerics.evaluate.lowering import lower
    from numerics.evaluate.potential import NumericPotential
    from numerics.figures.derived import FlowDisplay, PotentialDisplay, RegimeDisplay
    from numerics.integrator.gradient_flow import Flow, flow
    from numerics.interpolants.interpolant import Solution, interpolate, interpolate_path
    from numerics.margins.interval import MarginInterval
    from numerics.margins.loss_flow import LossFlow, loss_flow
    from numerics.margins.margin_path import MarginPath, margin_path
    from numerics.margins.max_margin import NotSeparable, max_margin
    from numerics.margins.predictor import MaxMargin
    from numerics.optimizers.saddle import saddle_path

__all__ = [
    "CrossCheck",
    "FiniteTime",
    "Flow",
    "FlowDisplay",
    "LossFlow",
    "MarginInterval",
    "MarginPath",
    "MaxMargin",
    "NotSeparable",
    "NumericPotential",
    "PerturbedCheck",
    "PotentialDisplay",
    "RegimeDisplay",
    "Solution",
    "TimeWarp",
    "audit_run",
    "confirm_finite_time",
    "confirm_perturbation",
    "crosscheck",
    "flow",
    "interpolate",
    "interpolate_path",
    "loss_flow",
    "lower",
    "margin_path",
    "max_margin",
    "saddle_path",
    "time_warp",
]

make_lazy(
    __name__,
    {
        "audit_run": "numerics.confirm.audit",
        "CrossCheck": "numerics.confirm.crosscheck",
        "FiniteTime": "numerics.confirm.paths",
        "confirm_finite_time": "numerics.confirm.paths",
        "Flow": "numerics.integrator.gradient_flow",
        "LossFlow": "numerics.margins.loss_flow",
        "MarginPath": "numerics.margins.margin_path",
        "loss_flow": "numerics.margins.loss_flow",
        "margin_path": "numerics.margins.margin_path",
        "MarginInterval": "numerics.margins.interval",
        "MaxMargin": "numerics.margins.predictor",
        "NotSeparable": "numerics.margins.max_margin",
        "NumericPotential": "numerics.evaluate.potential",
        "FlowDisplay": "numerics.figures.derived",
        "PotentialDisplay": "numerics.figures.derived",
        "RegimeDisplay": "numerics.figures.derived",
        "PerturbedCheck": "numerics.confirm.perturbed",
        "confirm_perturbation": "numerics.confirm.perturbed",
        "Solution": "numerics.interpolants.interpolant",
        "TimeWarp": "numerics.confirm.paths",
        "crosscheck": "numerics.confirm.crosscheck",
        "flow": "numerics.integrator.gradient_flow",
        "interpolate": "numerics.interpolants.interpolant",
        "interpolate_path": "numerics.interpolants.interpolant",
        "lower": "numerics.evaluate.lowering",
        "max_margin": "numerics.margins.max_margin",
        "saddle_path": "numerics.optimizers.saddle",
        "time_warp": "numerics.confirm.paths",
    },
)
