"""Maps of open size derived: beta_i = F(v_i; sums, single weights), for every n at once.

A yes is dual coordinates in generic entries, which solve their equations with sums as independent
symbols, and so for every n. A no is an equation for the warp in three generic outputs that fails,
and so in every larger number of outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import sympy
from sympy import Expr

from derive.clock import Stages
from derive.model.entrywise import EntrywiseMap
from derive.model.notation import to_factored_expr
from derive.potential.entrywise.forms import EntrywisePotential, find_entrywise_potential
from derive.potential.entrywise.notation import EntrywiseNotation
from derive.printable import Printable
from derive.records import Decision
from derive.statement import Text
from derive.verdict import Decided, Finding, Identity, Verdict
from derive.weights.entrywise import (
    Entries,
    EntryFlow,
    Failure,
    TooManySums,
    find_entrywise_failure,
    find_entrywise_refutation,
)
from derive.weights.entrywise_dual import (
    EntrywiseDual,
    Factors,
    NotOfThisKind,
    find_entrywise_dual,
    find_factors,
)
from derive.weights.equations import Equation, warp_candidate


@dataclass(frozen=True, repr=False)
class EntrywiseDerivation(Decided, Printable):
    """What was derived of a map of open size, for every n from ``size`` on.

    Attributes:
        parameterization: F.
        entries: generic entries and the sums that came up.
        finding: does g rho = Hess Q have a solution?
        hessian: has it one with g = 1?
        size: the least n for which the verdict is shown.
        dual: dual coordinates with the laws, where they were found.
        potential: Q, where it was found.
        dependent: whether K is singular for every n.
    """

    parameterization: EntrywiseMap
    entries: Entries
    finding: Finding
    hessian: Decision
    size: int
    dual: EntrywiseDual | None = None
    potential: EntrywisePotential | None = None
    dependent: bool = False

    def _shown(self) -> list[tuple[str, object]]:
        Q = None if self.potential is None else self.potential.value
        return [("F", self.parameterization.text), ("verdict", self.verdict), ("Q", Q)]

    @cached_property
    def warping(self) -> Decision:
        """Is there a warp, and which?"""
        return Decision(self.finding, None if self.potential is None else self.potential.g)

    @cached_property
    def notation(self) -> EntrywiseNotation:
        """The symbols."""
        return EntrywiseNotation(self.entries)

    @property
    def conditions(self) -> tuple[Text, ...]:
        """What Q asks of v_i, for every i along the flow, and of constants, beside g > 0."""
        found, at = self.potential, self.notation
        if found is None or self.dual is None:
            return ()
        slope = self.dual.slope
        images = {**at.symbols, self.parameterization.indexed: at.entry("i")}
        factors = sympy.Mul.make_args(to_factored_expr(slope, images))
        pairs = (x.as_base_exp() for x in factors if x.has(at.entry("i")))
        open_ = [(b, ">" if e.is_integer is not True else "!=") for b, e in pairs if b != sympy.E]
        zeros = [f"{b} {sign} 0" for b, sign in open_ if not b.is_positive]
        signs = [f"{at.symbols.get(x, at.entry('i'))} > 0" for x in self.parameterization.positive]
        sizes = (f"{at.n} != {n}" for n in self.dual.excluded_sizes)
        texts = (*signs, *zeros, *(f"{x} != 0" for x in found.excluded), *sizes)
        return tuple(Text(x, "given") for x in texts)

    @property
    def laws(self) -> tuple[Expr, ...]:
        """What the flow keeps, all of it where dual coordinates were found."""
        found = self.potential
        return () if found is None or found.law is None else (self.notation.shown(found.law),)

    @property
    def follows(self) -> tuple[Expr, ...]:
        """What is in Q as it is above beta along the flow."""
        found = () if self.potential is None else self.potential.follows
        return tuple(map(self.notation.shown, found))

    @cached_property
    def kernel(self) -> tuple[tuple[object, Expr], ...]:
        """K_ii and K_ij with i != j in the weights, then what the sums in them are."""
        flow, at = EntryFlow(self.entries), self.notation
        model = self.parameterization
        pairs = zip(("K_ii", "K_ij"), flow.K[0][:2], strict=True)
        rows: list[tuple[object, Expr]] = [(x, at.expr(entry)) for x, entry in pairs]
        used = set[sympy.Symbol]().union(*(value.free_symbols for _, value in rows))
        sums = self.entries.sums.items()
        names = {name for name, _ in model.sums} | {s.name for s in used}
        rows += [(at.symbols[x], at.total(at.own(m))) for x, m in sums if x in names]
        return tuple((name, at.shown(value)) for name, value in rows)

    @cached_property
    def argument(self) -> tuple[tuple[object, Expr], ...]:
        """What the dual coordinates are made of."""
        if (found := self.dual) is None:
            return ()
        at = self.notation
        m = self.entries.sums[at.S.name]
        tau = f"dtau/d{found.variable or 'c'}", at.expr(found.rate)
        functions = [("f", found.f), ("m", m), ("h'", 1 / found.slope), ("k", found.k)]
        functions += [("mu", found.mu), *([] if found.variable else [("c'", found.law)])]
        return (*((x, at.own(f)) for x, f in functions), tau)

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
    model: EntrywiseMap, progress: Callable[[str], None] | None = None, timeout: float | None = None
) -> EntrywiseDerivation:
    """Derive the implicit regularizer of a map of open size, or prove that there is none.

    Args:
        model: F, whose start v_0 is free.
        progress: called with the name of each stage as it begins.
        timeout: seconds, after which what is not decided is UNDECIDED.

    Source: derived here.
    """
    stages = Stages(timeout, progress or (lambda stage: None))
    entries = Entries(model, stages.clock)
    found = stages(
        "laws and dual coordinates", lambda: _by_dual(entries), lambda late: _open(entries, late)
    )
    if found.verdict is Verdict.UNDECIDED and not found.dependent:
        open_ = found.finding
        found = stages(
            "warp decision",
            lambda: _by_refutation(entries, open_),
            lambda late: _open(entries, late),
        )
    dual = found.dual
    if dual is None:
        return found

    def written() -> EntrywiseDerivation:
        try:
            return replace(found, potential=find_entrywise_potential(dual))
        except NotOfThisKind as reason:
            return _open(entries, Finding(Verdict.UNDECIDED, f"Q was not written: {reason}"))

    return stages("potential", written, lambda late: _open(entries, late))


def _open(entries: Entries, finding: Finding) -> EntrywiseDerivation:
    return EntrywiseDerivation(entries.model, entries, finding, Decision(finding), 0)


def _undecided(entries: Entries, reason: object) -> EntrywiseDerivation:
    return _open(entries, Finding(Verdict.UNDECIDED, str(reason)))


def _by_dual(entries: Entries) -> EntrywiseDerivation:
    """Decide by dual coordinates, or by outputs that depend on one another."""
    try:
        factors = find_factors(entries)
        if factors is None:
            return _undecided(entries, "the output is no product f(v_i) G with one sum in G")
        if factors.dependent and not entries.model.left_out:
            return _dependent(factors)
        dual = find_entrywise_dual(factors)
    except NotOfThisKind as why:
        return _undecided(entries, why)
    except TooManySums:
        return _undecided(entries, "more sums come up than are followed")
    reason = "`<grad y_i, grad F_j> = g delta_ij` in generic entries, with sums as symbols"
    finding = Finding(Verdict.PROVED, reason, dual.identities)
    return EntrywiseDerivation(entries.model, entries, finding, _hessian(dual), 2, dual)


def _hessian(dual: EntrywiseDual) -> Decision:
    """Decide whether g, unique up to a factor for two outputs and more, is constant."""
    statement, drift = "<grad log g, grad F_i> = 0", dual.drift
    if drift.is_zero():
        reason = "g is constant, so none is needed"
        return Decision(Finding(Verdict.PROVED, reason, (Identity(statement, "0", "0"),)))
    failure = find_entrywise_failure(dual.entries, Equation(statement, drift, drift.field.zero))
    if failure is None:
        reason = "g is not constant as a function of generic entries, but no weights show it"
        return Decision(Finding(Verdict.UNDECIDED, reason))
    size = f"`{dual.entries.model.size} >= {failure.size}`"
    reason = f"the only warp g is not constant, for every {size}"
    return Decision(Finding(Verdict.REFUTED, reason, (failure.identity,)))


def _dependent(factors: Factors) -> EntrywiseDerivation:
    """Say that all n outputs move together, so that rho is not defined."""
    v = factors.entries.model.indexed
    reason = (
        "all n outputs depend on one another, as `sum_j c_j grad F_j = 0` with `c_j = m'/f'` at "
        f"`v_j`: K is singular; for the outputs i < n give `--each {v}:n-1`"
    )
    return replace(_undecided(factors.entries, reason), dependent=True)


def _by_refutation(entries: Entries, open_: Finding) -> EntrywiseDerivation:
    """Refute by three generic outputs; by closure where there are as many outputs as weights."""
    try:
        failure = find_entrywise_refutation(entries) or _not_closed(entries)
    except (TooManySums, ZeroDivisionError):
        failure = None
    if failure is None:
        return _open(entries, open_)
    almost = "for almost all values of its constants, " if entries.model.parameters else ""
    reason = (
        f"the only candidate for H_a = <grad F_a, grad log g> fails: {almost}no warp exists from "
        f"almost every start, for every `{entries.model.size} >= {failure.size}`"
    )
    finding = Finding(Verdict.REFUTED, reason, (failure.identity,))
    return EntrywiseDerivation(entries.model, entries, finding, Decision(finding), failure.size)


def _not_closed(entries: Entries) -> Failure | None:
    """Return that X_i H_j = X_j H_i fails, as it must not with n independent outputs of n weights.

    Then [X_i, X_j] = H_i X_j - H_j X_i, so [X_i, X_j] log g = 0.
    """
    factors, flow = find_factors(entries), EntryFlow(entries)
    model = entries.model
    if factors is None or factors.D.is_zero() or model.scalars or model.left_out:
        return None
    H, X = warp_candidate(flow), flow.X
    closed = Equation("X1 H2 = X2 H1", flow.slope(X[0], H[1]), flow.slope(X[1], H[0]))
    return find_entrywise_failure(entries, closed, factors.D)
