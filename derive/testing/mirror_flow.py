"""Put a potential Q, from wherever it comes, to gradient flows of the weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import mpmath
import numpy as np
import sympy
from sympy import Expr

from derive.errors import InputError
from derive.language import parse_expression, to_sympy
from derive.model.names import read_starts
from derive.model.parameterization import Parameterization
from numerics.confirm.regression_problem import (
    COPIES,
    GUARD,
    RegressionProblem,
    complete_problem,
    first_sound,
    stationarity,
)
from numerics.evaluate.numbers import Real, check_digits, compiled, rational, read_number
from numerics.evaluate.start import bound_at, start_point
from numerics.integrator.gradient_flow import Flow

Gradient: TypeAlias = Callable[[Sequence[Real], Mapping[str, Real]], list[Real]]
"""grad Q by beta and what the start gives."""


def assert_mirror_flow(
    outputs: Parameterization | Expr | str | Sequence[Expr | str],
    Q: Expr | str,
    start: Mapping[str, object] | None = None,
    digits: int = 20,
    *,
    problems: int = 3,
    rng: np.random.Generator | None = None,
) -> None:
    """Assert that gradient flow of beta = F(w) on squared loss moves grad Q in the row space of X.

    For drawn X and y the flow runs to X beta = y in the weights, where nothing is known of Q. Then

        grad Q(beta) - grad Q(beta_0) = X^T nu,   <X^T nu, beta - beta_0> > 0

    at its limit, as for every convex Q that the flow minimises, with a warp or without. So Q counts
    up to a positive factor and linear terms. A single output would fit any Q: copies of it are
    fitted jointly. Agreement to many digits is strong evidence, and no proof.

    Args:
        outputs: F, as text, SymPy or a Parameterization.
        Q: in beta, or in beta1, ..., betad; it may use the names in *start* and w_0 for the start
            of a weight w.
        start: numbers or expressions for weights, and numbers for the names in these and for
            exponents; what is not given is drawn from [1/2, 2].
        digits: to which grad Q has to be in the row space, relative to its change.
        problems: how many are drawn.
        rng: what to draw from; the same problems each time by default.

    Raises:
        AssertionError: Q fails: one line with the model, the problem and by how much.
        InputError: a name, a number or an expression has no sense here.
        NumericalError: no drawn problem has a flow that converges.

    Source: Gunasekar et al. 2018, "Characterizing implicit bias in terms of optimization geometry",
    theorem 1; Azulay et al. 2021 with a warp.

    >>> assert_mirror_flow("p**2 - m**2", "beta**2", start={"p": "alpha", "m": "alpha"})
    Traceback (most recent call last):
    AssertionError: beta**2 is no mirror potential of ...
    """
    __tracebackhide__ = True  # by pytest: the test that fails is the caller's
    check_digits(digits)
    p, fixed = _read_model(outputs, start or {})
    gradient = _gradient_of(Q, p)
    rng = np.random.default_rng(0) if rng is None else rng
    free = [name for name in p.start_symbols if name not in fixed]

    def run() -> tuple[RegressionProblem, Flow]:
        sizes = rng.integers(8, 33, size=(COPIES if p.d == 1 else 1, len(free))).tolist()
        drawn = ({x: Fraction(k, 16) for x, k in zip(free, row, strict=True)} for row in sizes)
        starts = [{**fixed, **own} for own in drawn]
        problem = complete_problem(p, None, None, starts, rng)
        return problem, problem.flow(digits + GUARD)

    for _ in range(problems):
        problem, end = first_sound(run, "test Q")
        if not _defect(gradient, problem, end, digits):
            continue
        # A defect that twice the digits make vanish was one of the arithmetic.
        if defect := _defect(gradient, problem, problem.flow(2 * (digits + GUARD)), digits):
            raise AssertionError(f"{Q} is no mirror potential of {p}: {defect}, at {problem}")


def _read_model(
    outputs: Parameterization | Expr | str | Sequence[Expr | str], start: Mapping[str, object]
) -> tuple[Parameterization, dict[str, Fraction]]:
    """Return F from its start, with numbers for exponents, and the numbers of start symbols."""
    p = Parameterization.of(outputs)
    if p.vectors:
        raise InputError("flows need a number for the dimension: give outputs in components")
    if missing := [name for name in p.parameters if name not in start]:
        raise InputError(f"the start gives no number for the parameter {missing[0]}")
    powers = {name: read_number(start[name], f"the parameter {name}") for name in p.parameters}
    given = {w: start[w] for w in p.weights if w in start}
    origins = read_starts(p.weights, p.parameters, {**dict(p.start), **given})
    p = bound_at(p.with_(start=dict(origins)), powers)
    rest = {name: value for name, value in start.items() if name not in (*p.weights, *powers)}
    if unknown := [name for name in rest if name not in p.start_symbols]:
        raise InputError(f"the start names {unknown[0]}, which nothing starts from")
    return p, {name: read_number(value, f"the start of {name}") for name, value in rest.items()}


def _gradient_of(Q: Expr | str, p: Parameterization) -> Gradient:
    """Return grad Q, nan where it is no real number."""
    read = to_sympy(parse_expression(Q)) if isinstance(Q, str) else Q
    if not isinstance(read, Expr):
        raise InputError(f"Q is a {type(Q).__name__}: give text or a SymPy expression")
    betas = ("beta",) if p.d == 1 else tuple(f"beta{i}" for i in range(1, p.d + 1))
    known = dict.fromkeys((*betas, *p.start_symbols, *(f"{w}_0" for w in p.weights)))
    real = {s: sympy.Symbol(s.name, real=True) for s in read.free_symbols}
    if strange := sorted(s.name for s in real if s.name not in known):
        raise InputError(f"Q uses {strange[0]}: it may use {', '.join(known)}")
    slopes = [sympy.diff(read.xreplace(real), sympy.Symbol(b, real=True)) for b in betas]
    function = compiled(slopes, tuple(known), "mpmath")

    def gradient(beta: Sequence[Real], values: Mapping[str, Real]) -> list[Real]:
        named = {**values, **dict(zip(betas, beta, strict=True))}
        try:
            found = function(*(mpmath.mpmathify(named[name]) for name in known))
        except (ArithmeticError, ValueError):
            return [mpmath.nan] * len(beta)
        # An imaginary part may be one of rounding.
        small, numbers = mpmath.mpf(10) ** (-mpmath.mp.dps // 2), map(mpmath.mpmathify, found)
        return [x.real if abs(x.imag) <= abs(x) * small else mpmath.nan for x in numbers]

    return gradient


def _defect(gradient: Gradient, problem: RegressionProblem, end: Flow, digits: int) -> str:
    """Say what is wrong with Q at the end of a flow; nothing where all is well."""
    p, change, sizes, steps = problem.model.one, list[Real](), list[Real](), list[Real]()
    with mpmath.workdps(end.digits + GUARD):
        for copy in problem.copies(end):
            weights, origin = start_point(p, copy.start)
            known = {**{f"{w}_0": x for w, x in zip(p.weights, weights, strict=True)}, **copy.start}
            values = {name: rational(x) for name, x in known.items()}
            ends = list(map(rational, origin)), list(copy.limit)
            before, after = (gradient(beta, values) for beta in ends)
            for beta, slope in zip(ends, (before, after), strict=True):
                if not all(map(mpmath.isfinite, slope)):
                    where = ", ".join(mpmath.nstr(b, 8) for b in beta)
                    return f"grad Q is no real vector at beta = ({where})"
            change += [b - a for a, b in zip(before, after, strict=True)]
            sizes += [*before, *after]
            steps += [b - a for a, b in zip(*ends, strict=True)]
        if mpmath.norm(change) <= mpmath.mpf(10) ** -digits * mpmath.norm(sizes):
            return "grad Q stays as it is along the flow"
        if mpmath.fdot(change, steps) <= 0:
            return "grad Q does not increase along the flow: Q is not convex"
        found = stationarity(problem.X, change, end.digits + GUARD)
        off = mpmath.nstr(mpmath.mpf(10) ** -found, 2)
    text = f"the change of grad Q leaves the row space of X by {off} of its length"
    return text if found < digits else ""
