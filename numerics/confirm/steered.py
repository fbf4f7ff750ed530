"""Steepest descent in l_p put to its own flow and steps on drawn data: does grad Q move by phi?

The witness knows F and the data alone: w' = phi(J^T l), l = X^T (y - X beta), entry by entry. It
sums phi(l_j), which is what grad Q is said to move by, up to the unit of time that Q leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import mpmath
import numpy as np
import sympy

from derive.components import in_components
from derive.derivation import Derivation
from derive.errors import NumericalError
from derive.language import to_sympy
from derive.language.tree import Tree
from derive.model.rates import read_power
from derive.model.steepest import PushedMap
from derive.optimizers.pushed import PushedDerivation
from derive.records import Potential
from numerics.confirm.crosscheck import GUARD, Subject
from numerics.confirm.regression_problem import (
    SLACK,
    Check,
    RegressionProblem,
    digits_of,
    first_sound,
    least,
)
from numerics.evaluate.lowering import joint
from numerics.evaluate.numbers import Array, Real, compiled, rational
from numerics.integrator.builder import Builder, Register, Tape, compile_forward
from numerics.integrator.gradient_flow import DriftWatch, Steered
from numerics.integrator.jets import Program, bits_of
from numerics.integrator.taylor import Stepper, integrate

SHARE, STEPS, IN_STEPS, FEW, LARGEST = 0.125, 64, 16, 200, 1000
"""How far weights move, of their size; finite steps; their digits; most Taylor steps; digits."""


def check_reached(d: PushedDerivation, length: float = 1e-6) -> Check:
    """Take a few steps of the flow on drawn data, many times, and the rank of where they lead."""
    model, p, rng = d.parameterization, d.parameterization.plain, np.random.default_rng(0)
    weights = [sympy.Symbol(name, real=True) for name in p.weights]
    F = compiled(p.outputs, p.weights)
    J = compiled([f.diff(w) for f in p.outputs for w in weights], p.weights)
    start, ends = np.array([float(x) for _, x in d.point]), []
    for _ in range(4 * p.p):
        X, y, w = rng.normal(size=(p.d, p.d)), rng.normal(size=p.d), start
        X *= 10 ** rng.uniform(-2, 0)
        for _ in range(STEPS):
            jacobian = np.array(J(*w), float).reshape(p.d, p.p)
            slope = _pushed(model, jacobian.T @ X.T @ (y - X @ np.array(F(*w), float)))
            w = w + length / STEPS * slope / np.linalg.norm(slope)
        ends.append((w - start) / np.linalg.norm(w - start))
    reached = int(np.linalg.matrix_rank(np.array(ends), tol=1e-5))
    line = f"Short flows reach {reached} of {p.p} directions of the weights"
    shown = {"reached": reached, "weights": p.p}
    return Check(reached == p.p, line, record={"shown": shown})


def _pushed(model: PushedMap, G: Array) -> Array:
    """Return Phi(G) in doubles; polar factors by singular vectors."""
    if not model.shapes and model.function is not None:
        return np.array(compiled([to_sympy(model.function)], ["x"])(G)[0], float)
    if not model.shapes:
        return np.sign(G) * np.abs(G) ** float(read_power(model.push))
    entries = dict(zip(model.plain.weights, G, strict=True))
    for name, (rows, columns) in model.shapes:
        places = [f"{name}{i + 1}{j + 1}" for i in range(rows) for j in range(columns)]
        one = np.array([entries[x] for x in places]).reshape(rows, columns)
        left, _, right = np.linalg.svd(one, full_matrices=False)
        entries |= dict(zip(places, (left @ right).ravel(), strict=True))
    return np.array([*entries.values()])


def check_steered(d: Derivation, digits: int = 30) -> Check:
    """Run the flow of phi on drawn data, and finite steps, and compare with grad Q.

    Raises:
        NumericalError: no data were found on which no slope changes its sign.
    """
    rng, subject = np.random.default_rng(0), Subject.of(in_components(d), {})
    s = subject.parameterization.geometry.steering.exponent
    assert s is not None

    def check() -> Check:
        problem = subject.problem(rng)
        laws = problem.model.spread(subject.laws)
        return _Run(problem, s).compared(subject.potential, laws, digits)

    return first_sound(check, "check Q")


class _Run:
    """The flow of the weights and of T_j = int phi(l_j), on data, while no slope changes sign."""

    def __init__(self, problem: RegressionProblem, s: Fraction) -> None:
        self.problem, self.s, model = problem, s, problem.model
        self.origin = [x for _, x in problem.origin]
        self.sizes = len(self.origin), len(model.trees)
        self.totals = tuple(f"T {j}" for j in range(self.sizes[1]))
        self.slopes = Program(self._tape(lambda builder, x, j: x), bits_of(IN_STEPS))
        self.signs = self._signs(self.origin)
        if 0 in self.signs:
            raise NumericalError("a slope is 0 at the start")

    def _tape(self, phi: Callable[[Builder, Register, int], Register]) -> Tape:
        """Return the program of phi(J^T l) and phi(l)."""
        builder = Steered(self.problem.model, (self.problem.X, self.problem.y), extra=self.totals)
        pushed = [*builder.pulled, *builder.steering]
        return builder.tape([phi(builder, x, j) for j, x in enumerate(pushed)])

    def _signs(self, w: Sequence[Real]) -> list[int]:
        """Return the signs of J^T l and l."""
        found = self.slopes.at([*w[: self.sizes[0]], *[Fraction(0)] * self.sizes[1]])
        return [int(x > 0) - int(x < 0) for x in found]

    def _kept(self, w: Sequence[Real]) -> None:
        if self._signs(w) != self.signs:
            raise NumericalError("a slope changes its sign")

    def compared(self, potential: Potential, laws: Sequence[Tree], digits: int) -> Check:
        """Return the digits to which grad Q is T, up to a unit, and the laws are kept."""

        def phi(builder: Builder, x: Register, j: int) -> Register:
            size = builder.linear([(x, Fraction(self.signs[j]))])  # x keeps its sign
            return builder.linear([(builder.power(size, self.s), Fraction(self.signs[j]))])

        field, start = self._tape(phi), [*self.origin, *[Fraction(0)] * self.sizes[1]]
        speeds = Program(field, bits_of(IN_STEPS)).at(start)[: self.sizes[0]]
        rates = (
            abs(v) / (abs(w) or 1)
            for v, w in zip(map(float, speeds), map(float, self.origin), strict=True)
        )
        time = Fraction(SHARE / max(rates)).limit_denominator(10**15)
        watch = DriftWatch(laws, self.problem.model.weights, digits + GUARD)

        def stop(run: Stepper) -> bool:
            self._kept(run.state)
            watch.observe(run.state[: self.sizes[0]])
            return False

        end = integrate(field, start, digits + GUARD, stop, FEW, time=time).state
        self._kept(end)
        starts = map(dict, self.problem.starts)
        _, gradient = joint(potential, starts, digits + 2 * GUARD)
        error = self._apart(gradient, end, digits + 2 * GUARD)
        coarse, fine = (self._apart(gradient, self._stepped(field, n, time)) for n in (1, 2))
        drift = least([digits_of(x, 1) for x in watch.drift])
        tiny = mpmath.mpf(10) ** (4 - IN_STEPS)
        halved = 2.0 if fine < tiny else float(coarse / fine)
        shown = {"steered": digits_of(error, 1), "drift": drift}
        agree = (least(shown.values()) or 0) >= digits - SLACK
        passed = agree and halved > 1.5
        title = f"Flow of phi and Q {'agree' if passed else 'DISAGREE'} ({digits} digits asked)"
        names = "grad Q moves by phi(-X^T r)", "conserved quantities at every step"
        rows = dict(zip(names, shown.values(), strict=True))
        known = {k: None if x is None else int(min(x, LARGEST)) for k, x in shown.items()}
        steps = f"  {2 * STEPS} finite steps err {halved:.2f} times less than {STEPS}"
        notes = steps, f"  {self.problem}"
        return Check(passed, title, rows, {"shown": known}, notes, "none is there")

    def _stepped(self, field: Tape, n: int, time: Fraction) -> list[Real]:
        """Return where finite steps end."""
        step, count = Program(field, bits_of(IN_STEPS)), n * STEPS
        state = [*map(rational, self.origin), *[mpmath.mpf(0)] * self.sizes[1]]
        size = rational(time) / count
        for _ in range(count):
            state = [x + size * v for x, v in zip(state, step.at(state), strict=True)]
        self._kept(state)
        return state

    def _apart(
        self, gradient: Callable[..., Sequence[Real]], state: Sequence[Real], digits: int = IN_STEPS
    ) -> Real:
        """Return |y - u T|/|y| for y = grad Q(beta), with the unit u that fits best."""
        with mpmath.workdps(digits):
            weights, T = state[: self.sizes[0]], mpmath.matrix(list(state[self.sizes[0] :]))
            F = compile_forward(self.problem.model.trees, self.problem.model.weights)
            y = mpmath.matrix(list(gradient(Program(F, bits_of(digits)).at(weights))))
            unit = (T.T * y)[0] / (T.T * T)[0]
            return mpmath.norm(y - unit * T) / mpmath.norm(y)
