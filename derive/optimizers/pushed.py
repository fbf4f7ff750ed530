"""What flows w' = Phi(J^T l) keep, and whether they have a Q: by ranks and minors in balls.

**No law.** A function c that every steering l keeps has <dc, Phi(J^T l)> = 0. Where Phi(J^T l_i) of
p vectors l_i are independent, dc = 0, there and nearby. As Phi is odd, steering forth and back, the
flow then reaches all weights near w.

**No Q.** If Hess Q(beta) beta' = g psi(l) with some g(w) > 0 and any psi, the velocities
v(l) = J Phi(J^T l) of beta at two weights with one beta, near w, differ by one factor for all l. Of
integers k with sum_j k_j w_j dF/dw_j = 0 such weights are w and c^k w, on which v is analytic in c
where phi is; of matrices, where these keep their ranks, as under a power for each row and column.
A minor of v(l_1), v(l_2) at both that is not 0 at c = 2 is not 0 for c near 1, and so for weights
that the flow reaches. (Derived here.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import mul
from random import Random
from typing import Any, ClassVar, TypeAlias

from flint import arb, arb_mat
from sympy import Symbol

from derive.errors import InputError, NumericalError
from derive.exact.balls import ball, evaluate_any, precise, values_of
from derive.model.grading import scalings
from derive.model.names import PI
from derive.model.notation import rational
from derive.model.steepest import PushedMap
from derive.printable import Printable
from derive.statement import Claims, Open, Sentence, Statement, each, note
from derive.verdict import Decided, Finding, Verdict
from derive.weights.witness import are_independent

Point: TypeAlias = tuple[Fraction, ...]
DRAWS, BITS, SMALL = 20, 512, (*range(-9, 0), *range(1, 10))


@dataclass(frozen=True, repr=False)
class PushedDerivation(Decided, Claims, Printable):
    """What was found of a flow that is no gradient flow.

    Attributes:
        parameterization: F and Phi.
        laws: REFUTED where it is proved that the flow keeps no function of the weights.
        finding: is there a Q? REFUTED or UNDECIDED.
        symbols: those of the start in numbers.
        point: the weights of the start there, near which that is proved.
        steering: l_1, ..., l_p for the laws.
        other: weights with the same beta, at which velocities are compared.
        scaling: k, of which these are 2^k w.
        velocities: the l_1, l_2 under which they are compared.
    """

    parameterization: PushedMap
    laws: Finding
    finding: Finding
    symbols: tuple[tuple[str, Fraction], ...] = ()
    point: tuple[tuple[str, Fraction], ...] = ()
    steering: tuple[tuple[int, ...], ...] = ()
    other: tuple[tuple[str, Fraction], ...] = ()
    scaling: tuple[int, ...] = ()
    velocities: tuple[tuple[int, ...], ...] = ()

    outcome: ClassVar[None] = None
    """No shorter record is kept of it."""

    @property
    def uncertified(self) -> str | None:
        """Why no certificate is written, or None."""
        if self.laws.verdict is not Verdict.REFUTED:
            return "no certificate is written: nothing is proved"
        if self.parameterization.function is not None:
            return "no certificate is written: that phi is odd and analytic is not checked"
        return None

    def to_code(self, language: str) -> str:
        """Refuse to write a program."""
        raise NumericalError(f"there is no Q to write as {language}")

    def compare(self, Q: object) -> Any:
        """Refuse to compare."""
        raise InputError(f"there is no Q to compare {Q!s:.40} with")

    @property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed."""
        return tuple(self._statements())

    def _statements(self) -> Iterator[Statement | Open]:
        if self.laws.verdict is Verdict.REFUTED:
            by = note("with `l` " + ", ".join(map(_vector, self.steering)))
            words = "near {at} the flow keeps no function of the weights: {why}"
            values = {"at": _at(self.point), "why": self.laws}
            yield Statement(words, values, kind="conserved", by=self.laws, below=(by,))
        else:
            yield Open("{why}", {"why": self.laws}, kind="conserved")
        if self.verdict is Verdict.REFUTED:
            words = "no `Q(beta)`, no `g > 0` and no `psi` have `grad Q(beta)' = g psi(l)`: {why}"
            values = {"why": self.finding}
            other = (note("the other weights are {at}", at=_at(self.other)),)
            yield Statement(words, values, kind="mirror flow", by=self.finding, below=other)
        else:
            yield Open("{why}", {"why": self.finding}, kind="mirror flow")


def _vector(steer: Sequence[int]) -> str:
    return f"`({', '.join(map(str, steer))})`"


def _at(point: Sequence[tuple[str, Fraction]]) -> Sentence:
    return each("`{0} = {1}`", ((Symbol(name), rational(x)) for name, x in point))


def derive_pushed(
    model: PushedMap,
    progress: Callable[[str], None] | None = None,
    ansatz: object = None,
    timeout: float | None = None,
    known: object = None,
) -> PushedDerivation:
    """Prove that the flow keeps nothing, and that it has no Q, or leave these undecided.

    Args:
        model: F and Phi.
        progress, timeout, known: as of :func:`derive.derive`; there is nothing to wait for.
        ansatz: there must be none.
    """
    if ansatz is not None:
        raise InputError("an Ansatz goes with gradient flow")
    p, rng = model.plain, Random(0)
    open_ = Finding(Verdict.UNDECIDED, "no weights were found at which `Phi(J^T l)` spans all")
    none = Finding(Verdict.UNDECIDED, "whether there is a `Q` is not decided")
    if not (p.is_rational and model.is_analytic) or p.parameters or p.vectors:
        return PushedDerivation(model, open_, none)
    symbols, w = _start(model)
    if len(w) < p.p or PI in dict(symbols):
        return PushedDerivation(model, open_, none)
    with precise(BITS):
        for steering in _draws(model, w, p.p, rng):
            rows = [model.pushed(_slopes(model, w, steer)) for steer in steering]
            if len(rows) == p.p and not arb_mat(rows).det().contains(0):
                break
        else:
            return PushedDerivation(model, open_, none)
        laws = Finding(Verdict.REFUTED, f"`Phi(J^T l)` spans all `{p.p}` directions of them")
        found = PushedDerivation(model, laws, none, symbols, _named(model, w), steering)
        return _compared(found, w, rng)


def _compared(found: PushedDerivation, w: Point, rng: Random) -> PushedDerivation:
    """Add the proof that there is no Q, by velocities at weights with the same beta."""
    model = found.parameterization
    for k in scalings(model.plain):
        if not model.keeps_ranks(k):
            continue
        other = tuple(x * Fraction(2) ** n for x, n in zip(w, k, strict=True))
        for pair in _draws(model, w, 2, rng):
            here, there = (
                [x for steer in pair for x in _velocity(model, at, steer)] for at in (w, other)
            )
            if are_independent([here, there]):
                why = (
                    f"under `l = {_vector(pair[0])[1:-1]}` and `{_vector(pair[1])[1:-1]}` `beta` "
                    "moves otherwise at other weights with the same `beta`, by more than a factor"
                )
                finding = Finding(Verdict.REFUTED, why)
                return replace(
                    found,
                    finding=finding,
                    other=_named(model, other),
                    scaling=k,
                    velocities=tuple(pair),
                )
    return found


def _start(model: PushedMap) -> tuple[tuple[tuple[str, Fraction], ...], Point]:
    """Return small integers for symbols of the start, and the weights that are rational there."""
    p = model.plain
    symbols = tuple((name, Fraction(n)) for n, name in enumerate(p.start_symbols, 2))
    values = values_of(p.start_field, dict(symbols))
    w = (evaluate_any(x, values) for x in p.w0)
    return symbols, tuple(x for x in w if isinstance(x, Fraction))


def _named(model: PushedMap, w: Point) -> tuple[tuple[str, Fraction], ...]:
    return tuple(zip(model.plain.weights, w, strict=True))


def _draws(
    model: PushedMap, w: Point, count: int, rng: Random
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield steerings under which no slope is 0, where phi may not be smooth."""
    for _ in range(DRAWS):
        with suppress(ZeroDivisionError):
            drawn = [
                tuple(rng.choice(SMALL) for _ in range(model.plain.d)) for _ in range(4 * count)
            ]
            yield tuple([x for x in drawn if all(_slopes(model, w, x))][:count])


def _slopes(model: PushedMap, w: Point, steer: Sequence[int]) -> list[Fraction]:
    """Return J^T l."""
    return [sum(map(mul, steer, c), Fraction(0)) for c in zip(*_jacobian(model, w), strict=True)]


def _velocity(model: PushedMap, w: Point, steer: Sequence[int]) -> list[arb]:
    """Return J Phi(J^T l)."""
    pushed = model.pushed(_slopes(model, w, steer))
    rows = ([ball(x) for x in row] for row in _jacobian(model, w))
    return [sum(map(mul, row, pushed), arb(0)) for row in rows]


def _jacobian(model: PushedMap, w: Point) -> list[list[Fraction]]:
    return [[f.at(w) for f in row] for row in model.plain.covectors]
