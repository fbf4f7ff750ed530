"""How small or large a start must be for a least norm: claimed bounds tried on random problems.

A claim: where the start symbol is beyond every bound, the minimizer beta of Q among X beta = y has

    |beta|_p^p <= (1 + eps) |b|_p^p,    b of least |b|_p among them.

The theorems of Woodworth et al. 2020 on beta = p^2 - m^2 are of this kind, with p = 1 for small
starts and p = 2 for large ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sympy import Symbol

from derive.errors import InputError, NumericalError
from derive.language import parse_expression, to_sympy
from derive.records import Potential
from numerics.evaluate.backend import Array
from numerics.evaluate.lowering import lower
from numerics.interpolants.interpolant import interpolate
from numerics.interpolants.least_l1 import least_l1

SLACK = 1e-9
"""Of rounding: relative, on the norm."""


@dataclass(frozen=True)
class NormProblem:
    """A random problem: X (m, d) and y (m,), a tolerance, and the least l1 and l2 norms by p."""

    X: Array
    y: Array
    eps: float
    least: dict[int, float]


@dataclass(frozen=True)
class BoundFailure:
    """A failure: eps, d, the least norm and the start; (1 + eps) norm^p; its |beta|_p^p."""

    point: tuple[tuple[str, str], ...]
    bound: str
    value: str


@dataclass(frozen=True)
class BoundTrial:
    """What became of a claim, in words, on so many random problems."""

    claim: str
    total: int
    failures: tuple[BoundFailure, ...]


def draw_problem(rng: np.random.Generator) -> NormProblem:
    """Return 2 to 12 coordinates and fewer samples, without denormal exp(-d/(eps norm))."""
    d = int(rng.integers(2, 13))
    m = int(rng.integers(1, d))
    X, y = rng.standard_normal((m, d)), rng.standard_normal(m)
    eps, size = float(rng.uniform(0.1, 0.6)), float(rng.uniform(0.2, 1.5) * d)
    y *= size / least_l1(X, y).cost
    return NormProblem(X, y, eps, {1: size, 2: float(np.linalg.norm(np.linalg.pinv(X) @ y))})


def try_norm_bound(
    potential: Potential,
    bounds: Sequence[str],
    variable: str,
    toward: str,
    p: int,
    *,
    problems: int = 20,
    rng: np.random.Generator | None = None,
) -> BoundTrial:
    """Try a claimed rate on random problems, at the bound itself.

    Args:
        potential: Q of one coordinate, which is taken for each of several.
        bounds: texts in eps, d and norm = |b|_p; the symbol is beyond all of them.
        variable, toward, p: the start symbol; "0" or "infinity"; 1 or 2.
        problems, rng: how many; what they are drawn from, the same each time by default.

    Raises:
        InputError: a bound has another name in it, or p or the limit is none of these.
        NumericalError: a problem was not solved.
    """
    if p not in (1, 2) or toward not in ("0", "infinity"):
        raise InputError("a rate bounds an l1 or l2 norm as a start tends to 0 or infinity")
    rng = np.random.default_rng(0) if rng is None else rng
    claim = f"|beta|_{p}^{p} <= (1 + eps) |b|_{p}^{p} once {variable} is beyond the bound"
    failures = []
    for _ in range(problems):
        problem = draw_problem(rng)
        d, eps, least = problem.X.shape[1], problem.eps, problem.least[p]
        named = {"eps": eps, "d": float(d), "norm": least}
        values = [_value(text, named) for text in bounds]
        scale = min(values) if toward == "0" else max(values)
        solution = interpolate(lower(potential, {variable: scale}), problem.X, problem.y)
        if not solution.converged:
            raise NumericalError(solution.message)
        norm = float(np.sum(np.abs(solution.value) ** p))
        bound = (1 + eps) * least**p
        if not norm <= bound * (1 + SLACK):
            point = tuple((name, f"{x:.6g}") for name, x in {**named, variable: scale}.items())
            failures.append(BoundFailure(point, f"{bound:.12g}", f"{norm:.12g}"))
    return BoundTrial(claim, problems, tuple(failures))


def _value(text: str, named: dict[str, float]) -> float:
    expression = to_sympy(parse_expression(text))
    if unknown := sorted(s.name for s in expression.free_symbols if s.name not in named):
        raise InputError(f"{unknown[0]} is not defined here: a bound is in eps, d and norm")
    at = {s: named[s.name] for s in expression.free_symbols if isinstance(s, Symbol)}
    return float(expression.evalf(30, subs=at))
