"""The languages of the exports: a table of what differs."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import replace

from derive.programming import Language

NAMES = (
    *("sqrt", "exp", "expm1", "log", "sin", "cos", "tan"),
    *("sinh", "cosh", "tanh", "asinh", "atan", "Abs"),
)

OFF_ZERO = "_off_zero"
"""A function of modules: next to nothing for 0."""


def _array_library(
    title: str, module: str, imports: str, renamed: Mapping[str, str], calls: Mapping[str, str]
) -> Language:
    own = {name: name for name in NAMES} | {"Abs": "abs"} | dict(renamed)
    helpers = {OFF_ZERO: OFF_ZERO, "tangent": "_tangent", "pi": "math.pi", "e": "math.e"}
    # What has a place of its own is not in the module.
    whole = {name: x for name, x in own.items() if "." in x or x.startswith("_")}
    functions = {name: f"{module}.{theirs}" for name, theirs in own.items()} | whole
    where = {"Min": f"{module}.where({{0}} < {{1}}, {{0}}, {{1}})"}
    where["Max"] = f"{module}.where({{0}} > {{1}}, {{0}}, {{1}})"
    words = {"beta", "special", "jax", "jnp", "torch", "np", "math", "abs", "Q", "gradient"}
    words |= {"y", "b", "b0", "hessian", "vector"} if module == "np" else set()
    reserved = frozenset({*words, *keyword.kwlist, *keyword.softkwlist})
    usual = {"xp": module, "array": f"{module}.asarray", "sorted": f"{module}.sort(real)"}
    return Language(title, functions | helpers, where, reserved, imports, usual | dict(calls))


ARCS = {"asinh": "arcsinh", "atan": "arctan"}
NAMED = {"erf": "special.erf", "Ei": "special.expi", "Li2": "_dilogarithm"}
"""As JAX and SciPy have the functions of :mod:`derive.exact.named_integrals`; JAX has no erfi."""
JAX_LINES = "import jax\nimport jax.numpy as jnp"
OF_JAX = {"fixed": "jax.lax.stop_gradient(x)", "special": "from jax.scipy import special"}
OF_NUMPY = {"fixed": "x", "special": "from scipy import special"}
OF_TORCH = {"array": "torch.as_tensor", "fixed": "x.detach()", "sorted": "torch.sort(real)[0]"}
JAX = _array_library("JAX", "jnp", JAX_LINES, ARCS | NAMED, OF_JAX)
SCIPY = ARCS | NAMED | {"erfi": "special.erfi"}
NUMPY = _array_library("NumPy", "np", "import numpy as np", SCIPY, OF_NUMPY)
NUMBER = "torch.tensor({}, dtype=torch.float64)"
"""Of which PyTorch has functions: of a number it has none."""
TORCH = _array_library("PyTorch", "torch", "import torch", {"erf": "torch.special.erf"}, OF_TORCH)
OF_NUMBERS = {name: NUMBER.format(f"math.{name}") for name in ("pi", "e")}
TORCH = replace(TORCH, argument=NUMBER, functions={**TORCH.functions, **OF_NUMBERS})
_WORDS = """await break case catch class const continue debugger default delete do else enum export
extends false finally for function if implements import in instanceof interface let new null package
private protected public return static super switch this throw true try typeof var void while with
yield eval arguments undefined NaN Infinity Math Number Array Object w c beta covector value
model start F J K Q g raise gradient hessian inside conditions along constants laws d3"""
JAVASCRIPT = Language(
    "JavaScript",
    {name: f"Math.{name}" for name in NAMES}
    | {
        "Abs": "Math.abs",
        OFF_ZERO: OFF_ZERO,
        "tangent": "_tangent",
        "erfi": "_erfi",
        "pi": "Math.PI",
        "e": "Math.E",
    },
    {"Min": "Math.min({0}, {1})", "Max": "Math.max({0}, {1})"},
    frozenset(_WORDS.split()),
    "",
    {"xp": "Math"},
    whole="Math.pow({}, {})",  # as -x**2 is no expression there
    power="Math.pow({}, {})",
    mapping="({}) => {}",
    solved=range(9),
)
