"""Maps of open size derived: beta_i = F(v_i; sums, single weights), for every n at once.

A yes is brackets of two generic fields, with sums as independent symbols, which show a warp for
every n; dual coordinates in generic entries, where they are known, give formulas of it and of Q. A
no is an equation for the warp in three generic outputs that fails, and so in every larger number of
outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import sympy
from sympy import Expr

from derive.clock import Stages
from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.model.entrywise import EntrywiseMap
from derive.model.notation import to_factored_expr
from derive.potential.entrywise.forms import EntrywisePotential, find_entrywise_potential
from derive.potential.entrywise.notation import EntrywiseNotation
from derive.printable import Certified, renderer
from derive.records import Conserved, Decision
from derive.statement import Text
from derive.verdict import Decided, Finding, Identity, Verdict
from derive.weights.entrywise import (
    Entries,
    EntryFlow,
    EntrywiseWarp,
    Failure,
    TooManySums,
    find_entrywise_failure,
    find_entrywise_refutation,
    find_entrywise_warp,
)
from derive.weights.entrywise_dual import (
    EntrywiseDual,
    Factors,
    NotOfThisKind,
    find_entrywise_dual,
    find_factors,
)
from derive.weights.witness import Equation


@dataclass(frozen=True, repr=False)
class EntrywiseDerivation(Decided, Certified):
    """What was derived of a map of open size, for every n from ``size`` on.

    Attributes:
        parameterization: F.
        entries: generic entries and the sums that came up.
        finding: does g rho = Hess Q have a solution?
        hessian: has it one with g = 1?
        warp: the slopes of log g, where there is a warp.
        dual: dual coordinates with the laws, where they were found.
        potential: Q, where it was found.
        failure: what shows that there is none.

    Two are equal where F and what was found of it are; the rest follows.
    """

    parameterization: EntrywiseMap
    entries: Entries = field(compare=False)
    finding: Finding
    hessian: Decision
    warp: EntrywiseWarp | None = field(default=None, compare=False)
    dual: EntrywiseDual | None = field(default=None, compare=False)
    potential: EntrywisePotential | None = field(default=None, compare=False)
    failure: Failure | None = field(default=None, compare=False)

    outcome: ClassVar[None] = None
    """No shorter record is kept of it."""

    def _shown(self) -> list[tuple[str, object]]:
        Q = None if self.potential is None else self.potential.value
        return [("F", self.parameterization.text), ("verdict", self.verdict), ("Q", Q)]

    @property
    def size(self) -> int:
        """The least n for which the verdict is shown; 0 where there is none."""
        return self.failure.size if self.failure else 2 * (self.warp is not None)

    @property
    def excluded_sizes(self) -> tuple[int, ...]:
        """The n at which nothing is said of Q."""
        parts = (x.excluded_sizes for x in (self.warp, self.dual) if x is not None)
        return tuple(sorted({n for sizes in parts for n in sizes if n > 1}))

    @property
    def found(self) -> tuple[EntrywiseDual, EntrywisePotential] | None:
        """The dual coordinates with Q, where there are formulas of them."""
        if self.dual is None or self.potential is None:
            return None
        return self.dual, self.potential

    @cached_property
    def drift(self) -> Expr | None:
        """H_i = <grad log g, grad F_i>, where no formula of g is known."""
        return None if self.warp is None or self.found else self.notation.expr(self.warp.H)

    @cached_property
    def warping(self) -> Decision:
        """Is there a warp, and which?"""
        found = self.potential
        return Decision(self.finding, None if found is None else self.notation.shown(found.g))

    @cached_property
    def y(self) -> Expr | None:
        """The dual coordinate y_i."""
        return None if self.potential is None else self.notation.shown(self.potential.y)

    @cached_property
    def notation(self) -> EntrywiseNotation:
        """The symbols."""
        return EntrywiseNotation(self.entries)

    @property
    def conditions(self) -> tuple[Text, ...]:
        """What Q asks of v_i, for every i along the flow, and of constants, beside g > 0."""
        found, at = self.potential, self.notation
        sizes = (f"{at.n} != {n}" for n in self.excluded_sizes)
        if found is None or self.dual is None:
            return tuple(Text(x, "given") for x in sizes)
        images = {**at.symbols, self.parameterization.indexed: at.entry("i")}
        factors = sympy.Mul.make_args(to_factored_expr(self.dual.slope, images))
        pairs = (x.as_base_exp() for x in factors if x.has(at.entry("i")))
        open_ = [(b, ">" if e.is_integer is not True else "!=") for b, e in pairs if b != sympy.E]
        zeros = [f"{b} {sign} 0" for b, sign in open_ if not b.is_positive]
        signs = [f"{at.symbols.get(x, at.entry('i'))} > 0" for x in self.parameterization.positive]
        texts = (*signs, *zeros, *self._clock_runs, *(f"{x} != 0" for x in found.excluded), *sizes)
        return tuple(Text(x, "given") for x in texts)

    @property
    def _clock_runs(self) -> tuple[str, ...]:
        """Where a sum is the clock, that it moves: where it stands still, it does so for ever."""
        assert self.dual is not None
        if self.dual.clock != "sum":
            return ()
        at = self.notation
        top, _ = sympy.fraction(sympy.factor(at.expr(self.dual.D)))
        whole = sympy.expand(top)
        bases = [] if whole.is_nonzero else [x.as_base_exp()[0] for x in sympy.Mul.make_args(top)]
        return tuple(f"{b} != 0" for b in bases if b.has(at.S) and b.is_zero is None)

    @cached_property
    def conserved(self) -> Conserved:
        """What the flow keeps, all of it where dual coordinates were found."""
        laws = (
            () if self.potential is None else tuple(map(self.notation.shown, self.potential.laws))
        )
        return Conserved(laws, (None,) * len(laws), len(laws), self.finding)

    @cached_property
    def kernel(self) -> tuple[tuple[object, Expr], ...]:
        """K_ii and K_ij with i != j in the weights, then what the sums in them are."""
        at, sums = self.notation, self.entries.sums
        pairs = zip(("K_ii", "K_ij"), EntryFlow(self.entries).K[0][:2], strict=True)
        rows: list[tuple[object, Expr]] = [(x, at.expr(entry)) for x, entry in pairs]
        used = {x.name for _, value in rows for x in value.free_symbols}
        names = {name for name, _ in self.parameterization.sums} | used
        rows += [(at.symbols[x], at.total(at.own(m))) for x, m in sums.items() if x in names]
        return tuple((name, at.shown(value)) for name, value in rows)

    @cached_property
    def argument(self) -> tuple[tuple[object, Expr], ...]:
        """What the dual coordinates are made of."""
        if (found := self.dual) is None:
            return ()
        at, m = self.notation, self.entries.sums[found.sum]
        functions = [("f", found.f), ("m", m), ("h'", 1 / found.slope), ("k", found.k)]
        functions += [("mu", found.mu), *([] if found.variable else [("c'", found.law)])]
        functions += [] if found.b.is_zero() else [("b", found.b)]
        tau = f"dtau/d{found.variable or 'c'}", at.expr(found.rate)
        return (*((x, at.own(f)) for x, f in functions), tau)

    def to_code(self, language: str) -> str:
        """Return the file for Rocq of phi v, on v in every dimension; there is no other program.

        Raises:
            NumericalError: F is no such output, or there is no such file.
        """
        return str(renderer(type(self), language)(self))

    @property
    def outputs(self) -> str:
        """Which outputs there are."""
        model = self.parameterization
        return f"{model.size}-1" if model.left_out else model.size

    @property
    def left_out(self) -> bool:
        """Whether the last output is left out, an affine function of the others."""
        affine = self.dual is not None and self.dual.clock == "last entry"
        return affine and not self.parameterization.left_out


def derive_entrywise(
    model: EntrywiseMap,
    progress: Callable[[str], None] | None = None,
    ansatz: object = None,
    timeout: float | None = None,
    known: object = None,
) -> EntrywiseDerivation:
    """Derive the implicit regularizer of a map of open size, or prove that there is none.

    Args:
        model: F, whose start v_0 is free.
        progress, timeout: as of :func:`derive.derive`.
        ansatz: there must be none.
        known: what is told a verdict that comes before the rest: here none does.

    Source: derived here.
    """
    if ansatz is not None:
        raise InputError("an Ansatz goes with outputs of given number")
    stages = Stages(timeout, progress or (lambda stage: None))
    entries = Entries(model, stages.clock)

    def undecided(late: Finding) -> EntrywiseDerivation:
        return EntrywiseDerivation(model, entries, late, Decision(late))

    def decided() -> EntrywiseDerivation:
        if factors is not None and factors.dependent and not model.left_out:
            return undecided(Finding(Verdict.UNDECIDED, DEPENDENT.format(v=model.indexed)))
        try:
            return _by_brackets(entries, factors) or _by_refutation(entries) or undecided(OPEN)
        except (TooManySums, ZeroDivisionError):
            return undecided(Finding(Verdict.UNDECIDED, "more sums come up than are followed"))

    def written() -> EntrywiseDerivation:
        assert factors is not None
        try:
            dual = find_entrywise_dual(factors)
            Q = find_entrywise_potential(dual)
        except NotOfThisKind:
            return found
        reason = "`<grad y_i, grad F_j> = g delta_ij` in generic entries, with sums as symbols"
        finding = Finding(Verdict.PROVED, reason, dual.identities)
        return replace(found, finding=finding, dual=dual, potential=Q)

    factors = find_factors(entries)
    found = stages("a warp, or none", decided, undecided)
    left = found.warp is None or factors is None
    return found if left else stages("potential", written, lambda _: found)


DEPENDENT = (
    "all n outputs depend on one another, as `sum_j c_j grad F_j = 0` with `c_j = m'/f'` at `v_j`: "
    "K is singular; for the outputs i < n give `--each {v}:n-1`"
)
OPEN = Finding(Verdict.UNDECIDED, "no warp is shown by brackets, and no equation of one fails")


def _by_brackets(entries: Entries, factors: Factors | None) -> EntrywiseDerivation | None:
    """Show a warp by its slopes, for outputs that are independent of the last if of others."""
    model = entries.model
    fewer = model.left_out or (factors is not None and factors.singular)
    if (warp := find_entrywise_warp(entries, fewer)) is None:
        return None
    reason = (
        "`[X_i, X_j] = H_i X_j - H_j X_i` and `X_i H_j = X_j H_i` of `X_i = grad F_i` in generic "
        "entries, with sums as symbols"
    )
    finding = Finding(Verdict.PROVED, reason, warp.identities)
    return EntrywiseDerivation(model, entries, finding, _hessian(entries, warp.H), warp)


def _hessian(entries: Entries, drift: RationalFunction) -> Decision:
    """Decide whether g, unique up to a factor for two outputs and more, is constant."""
    statement = "<grad log g, grad F_i> = 0"
    if drift.is_zero():
        reason = "g is constant, so none is needed"
        return Decision(Finding(Verdict.PROVED, reason, (Identity(statement, "0", "0"),)))
    failure = find_entrywise_failure(entries, Equation(statement, drift, drift.field.zero))
    if failure is None:
        reason = "g is not constant as a function of generic entries, but no weights show it"
        return Decision(Finding(Verdict.UNDECIDED, reason))
    size = f"`{entries.model.size} >= {failure.size}`"
    reason = f"the only warp g is not constant, for every {size}"
    return Decision(Finding(Verdict.REFUTED, reason, (failure.identity,)))


def _by_refutation(entries: Entries) -> EntrywiseDerivation | None:
    """Refute by three generic outputs."""
    model, failure = entries.model, find_entrywise_refutation(entries)
    if failure is None:
        return None
    almost = "for almost all values of its constants, " if model.parameters else ""
    reason = (
        f"the only candidate for `H_a = <grad F_a, grad log g>` fails: {almost}no warp exists from "
        f"almost every start, for every `{model.size} >= {failure.size}`"
    )
    finding = Finding(Verdict.REFUTED, reason, (failure.identity,))
    return EntrywiseDerivation(model, entries, finding, Decision(finding), failure=failure)
