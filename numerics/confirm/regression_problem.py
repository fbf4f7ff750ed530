"""Small exact regression problems that are drawn, and to how many digits two witnesses agree."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from operator import mul
from typing import Any, TypeAlias, TypeVar

import mpmath
import numpy as np
import sympy
from mpmath import mpf
from sympy import Expr

from derive.copying import Copies
from derive.errors import DegenerateStart, DeriveError, InputError, NumericalError
from derive.exact.balls import Unbounded
from derive.language.budget import DEFAULT
from derive.language.tree import Operation
from derive.model.parameterization import Parameterization
from derive.perturbed.order import DataOrder
from derive.printable import Held
from derive.records import Potential
from derive.verdict import Number, Verdict
from numerics.evaluate.numbers import Real, rational, read_data
from numerics.evaluate.start import check_assumptions, outputs_at, start_point, with_pi
from numerics.integrator.builder import compile_kernel
from numerics.integrator.gradient_flow import Flow, FlowModel, flow, rates_of
from numerics.integrator.jets import Program, bits_of

SLACK, GUARD = 5, 10
"""Digits that a passed check may lack; those that a flow is run to beyond those asked for."""


def digits_of(error: Real, scale: Real) -> float:
    """Return -log10 |error/scale|: inf for an exact agreement, 0 where a side is undefined."""
    if error != error or scale != scale or mpmath.isinf(error):
        return 0.0
    if not error:
        return float("inf")
    return float(-mpmath.log10(abs(error) / (abs(scale) or 1)))


def stationarity(X: Sequence[Sequence[Fraction]], gradient: Sequence[Real], digits: int) -> float:
    """Return the digits to which a vector is ``X^T nu``, by its distance from the row space."""
    with mpmath.workdps(digits):
        g = mpmath.matrix(list(gradient))
        if any(x != x for x in g):
            return 0.0
        rows = mpmath.matrix([[rational(x) for x in r] for r in X])
        nu = mpmath.lu_solve(rows * rows.T, rows * g)
        return digits_of(mpmath.norm(g - rows.T * nu), mpmath.norm(g))


def distance(left: Sequence[Real], right: Sequence[Real], digits: int) -> float:
    """Return the digits that two vectors share, relative to the norm of the first."""
    with mpmath.workdps(digits):
        gaps = [a - b for a, b in zip(left, right, strict=True)]
        return digits_of(mpmath.norm(gaps), mpmath.norm(list(left)))


def least(found: Iterable[float | None], cap: float = math.inf) -> float | None:
    """Return the least number of digits, at most *cap*; None where nothing was compared."""
    return min((min(x, cap) for x in found if x is not None), default=None)


@dataclass(frozen=True, slots=True, repr=False)
class Check(Held):
    """What flows of the weights show of a claim.

    Attributes:
        passed: whether they confirm it.
        title: that in a line.
        rows: the digits that agree, by what was compared; None where nothing was.
        record: the same as what JSON can hold.
        notes: lines below.
        absent: what is written for None.
    """

    passed: bool
    title: str
    rows: Mapping[str, float | None] = field(default_factory=dict)
    record: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    absent: str = "not compared"

    def report(self) -> str:
        """Return a line on each."""
        width, known = max([37, *map(len, self.rows)]), {None: self.absent, math.inf: "exactly"}
        texts = {name: known.get(x) or f"{x:3.0f} digits" for name, x in self.rows.items()}
        rows = (f"  {name:{width}} {text}" for name, text in texts.items())
        return "\n".join([self.title, *rows, *self.notes])

    def to_record(self) -> dict[str, object]:
        """Return the check as what JSON can hold."""
        return {"passed": self.passed, **self.record}


def agreement(rows: Mapping[str, float | None], digits: int) -> Check:
    """Return the check that passes where all rows agree to the digits that were asked for."""
    passed = (least(rows.values()) or 0) >= digits - SLACK
    title = f"Check by flows of the weights to {digits} digits: {'passed' if passed else 'FAILED'}"
    known = {x: None if d is None else int(min(d, digits + GUARD)) for x, d in rows.items()}
    return Check(passed, title, rows, {"asked": digits, "agreement": known})


COPIES = 3
"""How often a single output is replicated: alone, its interpolant would be unique."""
ATTEMPTS = 12
"""Problems that are drawn before there is no check."""
_DRAWS, _MAX_STEPS = 100, 1500
Start: TypeAlias = tuple[tuple[str, Fraction], ...]
Checked = TypeVar("Checked")


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of F on its way: its start symbols, its weights at both ends, and its limit."""

    start: Mapping[str, Fraction]
    begin: Mapping[str, Real]
    end: Mapping[str, Real]
    limit: tuple[Real, ...]


@dataclass(frozen=True, slots=True)
class RegressionProblem:
    """X beta = y for F, or for independent copies of it, each with its own start.

    The *model* is all copies, as the flow takes them; X has m rows of n numbers; *starts* has the
    symbols of each copy, *origin* all weights at the start.
    """

    model: Copies
    X: tuple[tuple[Fraction, ...], ...]
    y: tuple[Fraction, ...]
    starts: tuple[Start, ...]
    origin: tuple[tuple[str, Fraction], ...]

    def flow(self, digits: int, **options: Any) -> Flow:
        """Run gradient flow of all copies."""
        options = {"max_steps": _MAX_STEPS, **options}
        return flow(self.model, self.X, self.y, dict(self.origin), digits, **options)

    def copies(self, end: Flow) -> list[Copy]:
        """Return each copy on its way to the end of a flow."""
        p, copies = self.model.one, []
        for i, start in enumerate(self.starts):
            own, outputs = slice(p.p * i, p.p * (i + 1)), slice(p.d * i, p.d * (i + 1))
            begin, last = (
                dict(zip(p.weights, w[own], strict=True)) for w in (end.start, end.weights)
            )
            copies.append(Copy(dict(start), begin, last, end.limit[outputs]))
        return copies

    def __str__(self) -> str:
        copies = f" for {self.model.count} copies of F" if self.model.count > 1 else ""
        rows = ", ".join(f"[{', '.join(map(str, row))}]" for row in self.X)
        starts = ", ".join(f"{name} = {value}" for name, value in self.origin)
        return f"X = [{rows}], y = [{', '.join(map(str, self.y))}] from {starts}{copies}"


# Laws were derived from F, which was read within limits of its own.
ANY_SIZE = replace(
    DEFAULT, degree=10**6, exponent=10**4, nodes=10**6, terms=10**12, digits=1000, bits=10**5
)


def smooth(f: Expr) -> Expr:
    """Return a function with sqrt(a^2) for |a|, and log(a^2)/2 for log |a|."""
    # of a product, whose modulus SymPy takes apart
    squared = f.replace(
        lambda e: isinstance(e, sympy.log) and not e.args[0].is_Add and e.has(sympy.Abs),
        lambda e: (
            sympy.log(sympy.Pow(e.args[0].replace(sympy.Abs, lambda a: a), 2, evaluate=False)) / 2
        ),
    )
    return squared.replace(
        sympy.Abs, lambda a: sympy.Pow(sympy.Pow(a, 2), sympy.S.Half, evaluate=False)
    )


def reweighted(
    p: FlowModel,
    data: tuple[Sequence[Sequence[Fraction]], Sequence[Fraction]],
    start: Mapping[str, object],
    weight: int,
    digits: int,
) -> list[Flow]:
    """Run flows in which the loss of the first row weighs 1 and *weight* squared."""
    (first, *rows), (label, *labels) = data
    scaled = [([[c * x for x in first], *rows], [c * label, *labels]) for c in (1, weight)]
    return [flow(p, X, y, start, digits) for X, y in scaled]


def first_sound(
    check: Callable[[], Checked],
    task: str,
    attempts: int = ATTEMPTS,
    faults: tuple[type[DeriveError], ...] = (NumericalError, DegenerateStart),
) -> Checked:
    """Draw a problem and check on it, until one allows the check; NumericalError if none does."""
    last = ""
    for _ in range(attempts):
        try:
            return check()
        except faults as error:
            last = str(error)
    raise NumericalError(f"no problem was found on which to {task}: {last}")


def complete_problem(
    p: Parameterization,
    X: Iterable[object] | None,
    y: Iterable[object] | None,
    starts: Sequence[Mapping[str, Fraction]],
    rng: np.random.Generator,
) -> RegressionProblem:
    """Return the problem with one copy of F for each start; X and y are drawn if not given."""
    copies = len(starts)
    if X is None or y is None:
        X = draw_matrix(p.d * copies, rng)
        y = draw_target(p, X, starts, rng)
    rows, target = read_data(X, y, p.d * copies)
    model = Copies(p, copies)
    values = (w for start in starts for w in start_point(p, start)[0])
    origin = tuple(zip(model.weights, values, strict=True))
    own = tuple(tuple(start.items()) for start in starts)
    return RegressionProblem(model, tuple(map(tuple, rows)), tuple(target), own, origin)


def draw_starts(
    potential: Potential, fixed: Sequence[Mapping[str, Fraction]], rng: np.random.Generator
) -> list[dict[str, Fraction]]:
    """Return the start of each copy, drawn in [1/2, 2] where Q allows it; else InputError."""
    names = potential.parameterization.start_symbols

    def drawn(given: Mapping[str, Fraction]) -> dict[str, Fraction]:
        for attempt in range(_DRAWS):
            # Moderate and positive at first; wider, of both signs, where assumptions ask for it.
            wide = attempt // 20
            free = dict[str, Fraction]()
            for n in names:
                free[n] = Fraction(int(rng.integers(8, 33)), 16)
                if wide:
                    top, bottom = rng.integers(1, 2 + wide, size=2).tolist()
                    free[n] *= Fraction(top * int(rng.choice([-1, 1])), bottom)
            start = {**free, **with_pi(names, given)}
            try:
                check_assumptions(potential, start)
                break
            except InputError:
                if attempt + 1 == _DRAWS or len(given) == len(names):
                    raise
        return start

    return [drawn(given) for given in fixed]


def draw_matrix(columns: int, rng: np.random.Generator) -> list[list[Fraction]]:
    """Return well conditioned rows of halves, one fewer than columns, that test all of grad Q."""
    while True:
        entries = rng.integers(-4, 5, size=(columns - 1, columns))
        singular = np.linalg.svd(entries, compute_uv=False)
        if singular[-1] < 0.2 * singular[0]:
            continue
        free = np.linalg.svd(entries)[2][-1]
        if np.min(np.abs(free)) > 0.2 / np.sqrt(columns):
            return [[Fraction(int(x), 2) for x in row] for row in entries]


def draw_target(
    p: Parameterization,
    X: Sequence[Sequence[Fraction]],
    starts: Sequence[Mapping[str, Fraction]],
    rng: np.random.Generator,
) -> list[Fraction]:
    """Return y = X F(w) for w near the start; NumericalError at a pole, or for y of the start."""
    beta: list[Fraction] = []
    origin: list[Fraction] = []
    for start in starts:
        weights, beta0 = start_point(p, start)
        origin += beta0
        moves = rng.integers(1, 6, size=p.p) * rng.choice([-1, 1], size=p.p)
        pairs = zip(weights, moves.tolist(), strict=True)
        moved = [w + Fraction(k, 16) * (abs(w) or 1) for w, k in pairs]
        try:
            found = outputs_at(p, moved)
        except (ZeroDivisionError, Unbounded):
            raise NumericalError("the drawn target lies on a pole of F") from None
        # In the place of a long number, a near one with a small denominator.
        beta += [b if b.denominator < 10**12 else b.limit_denominator(2**12) for b in found]
    y, met = ([sum(map(mul, row, b), Fraction(0)) for row in X] for b in (beta, origin))
    if y == met:
        raise NumericalError("the drawn target is met by the start")
    return y


HEAVY, DIGITS = 4, 15
"""The factor of one row and its label, whose loss then weighs the square of it; digits of flows."""
_SAME = mpf(10) ** (3 - DIGITS)


def check_order(order: DataOrder, y: Iterable[str]) -> Check:
    """Run two flows from the start, with numbers for its symbols, or where it was refuted.

    Raises:
        InputError: the start has no rational value, or a label is no number.
        NumericalError: a flow does not fit the data.
    """
    p, evidence = order.derivation.parameterization, order.independent.evidence
    start: dict[str, Number] = dict(evidence[0].point) if evidence else {}
    if not start:
        numbers = [Fraction(3 + k, 4) for k in range(len(p.start_field.names))]
        try:
            start = {w: x.at(numbers) for w, x in zip(p.weights, p.w0, strict=True)}
        except (ArithmeticError, ValueError):
            raise InputError("the start has no rational value") from None
    missing = {w: Fraction(0) for w in p.weights if w not in start}
    data = order.X, [Fraction(x) for x in y]
    ends = (end.limit for end in reweighted(p, data, {**start, **missing}, HEAVY, DIGITS))
    apart = max(abs(a - b) for a, b in zip(*ends, strict=True))
    # Where limits depend on weights, y may be no such y.
    passed = order.verdict is not Verdict.PROVED or apart < _SAME
    at = ", ".join(f"{w} = {x}" for w, x in start.items())
    title = f"Flows in which the first loss weighs 1 and {HEAVY**2} end {float(apart):.2g} apart"
    rng, whole = np.random.default_rng(0), {**start, **missing}
    changed = first_sound(lambda: _change_of_kernel(p, whole, rng), "compare K at one beta")
    same = {Verdict.PROVED: True, Verdict.REFUTED: False}.get(order.closed.verdict)
    passed = passed and same in (None, changed < _SAME)
    told = f"  two that fit one beta end where K differs by {float(changed):.2g} of its size"
    lines = textwrap.fill(f"  from {at}", subsequent_indent="    ")
    return Check(passed, title, notes=(lines, told))


def _change_of_kernel(
    p: Parameterization, start: Mapping[str, Number], rng: np.random.Generator
) -> Real:
    """Return by how much K differs, over its size, where two flows end at one drawn beta."""
    moves = rng.integers(-4, 5, size=p.p).tolist()
    near = [Fraction(start[w]) + Fraction(k, 16) for w, k in zip(p.weights, moves, strict=True)]
    eye = [[Fraction(a == b) for a in range(p.d)] for b in range(p.d)]
    ends = reweighted(p, (eye, outputs_at(p, near)), start, HEAVY, DIGITS)
    sums = (Operation("+", a, b) for a, b in combinations_with_replacement(p.trees, 2))
    forms = [Program(compile_kernel(f, p.weights, rates_of(p)), bits_of(DIGITS)) for f in sums]
    one, other = ([k for form in forms for k in form.at(end.weights)] for end in ends)
    gap, size = (max(map(abs, x)) for x in ([a - b for a, b in zip(one, other, strict=True)], one))
    return gap / size
