"""A run of training: is it gradient descent on F, what drifted, and where does it lead?

A step of gradient descent, of any batch, labels and size, is w+ - w = sum_j mu_j grad F_j, mu in
the row space of X. So <grad c, w+ - w> = 0 for every law c, and with <grad y_i, grad F_j> = g
delta_ij the numbers <grad y_j, w+ - w> are in the row space. What breaks either is no such step:
momentum, preconditioning, decay. Exactly, with no remainder,

    y(w_N) - y(w_0) - xi in row(X),   xi = sum_k y(w_(k+1)) - y(w_k) - <grad y(w_k), w_(k+1) - w_k>,

so that a limit with X beta = y is that of gradient flow from the effective start, the weights with
laws c(w_N) and dual coordinates y(w_0) + xi. Minimisers subject to X beta = X beta(w_N), in place
of y, tell at every time of a run which drifts account for where it is.

Source: Even, Pesme, Gunasekar, Flammarion 2023 for diagonal networks; else our own derivation.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from sympy import Expr

from derive.derivation import Derivation
from derive.printable import Printable
from derive.statement import (
    Claims,
    Ground,
    OnTerminal,
    Open,
    Sentence,
    Statement,
    Table,
    note,
    tell,
)
from derive.verdict import Verdict


@dataclass(frozen=True)
class Broken:
    """What steps break that are no steps of gradient descent: how many do, and by how much.

    Attributes:
        step: the first that does, counted from 1, and the share of it that does.
        quantity: a law, or in words what steps leave.
        steps, most: how many do, and the largest share.
    """

    step: int
    quantity: Expr | str
    share: float
    steps: int
    most: float

    @property
    def what(self) -> str:
        """The law, or what steps leave, as text."""
        return f"the law `{self.quantity}`" if self.is_law else str(self.quantity)

    @property
    def is_law(self) -> bool:
        """Is it a law that is broken?"""
        return not isinstance(self.quantity, str)

    @property
    def sentence(self) -> Sentence:
        """The same, with a law in the notation of what it is printed with."""
        return tell("the law `{c}`", c=self.quantity) if self.is_law else tell(self.what)


@dataclass(frozen=True)
class Beside:
    """What makes all steps gradients on rows, where it stands beside these.

    Attributes:
        kind: "signs", "decay", "momentum", "rates", ...
        coefficients: names, with the lower and the upper quartile over the steps.
        steps: how many were looked at, evenly over the log.
    """

    kind: str
    coefficients: tuple[tuple[str, float, float], ...]
    steps: int


@dataclass(frozen=True)
class LawDrift:
    """What one law moved by along the log, in the copy where that is most.

    Attributes:
        change: the largest change; at_start: the law there.
        by_labels: the part of steps whose labels are not the given ones.
    """

    law: Expr
    change: float
    at_start: float
    by_labels: float


@dataclass(frozen=True)
class Batches:
    """How many steps are on all rows, and on which batches of them with the labels given.

    Attributes:
        full: steps along the gradient of all rows.
        given: steps on some of the rows, all with their labels; None where dependent rows hide it.
        rows: the least and the largest number of these, of the rows that there are.
        others: steps under other labels.
        sizes: the least and the largest step size, of the loss summed over rows.
    """

    full: int
    given: int | None
    others: int
    rows: tuple[int, int]
    of: int
    sizes: tuple[float, float]


@dataclass(frozen=True, repr=False)
class AuditedRun(Claims, Printable):
    """What a log of weights shows, in doubles; copies are columns.

    Attributes:
        derivation: of Q, from a free start.
        count: N steps.
        copies: how many copies of F there are.
        told: how many of the steps are large beside the rounding of the log, and are looked at.
        seen: the share of a step, the least of all, that would be seen.
        share: the largest share of a step that no gradient explains.
        breaks: what steps break.
        beside: what makes them gradients on rows again, where it was found.
        telling: can it be told? Not where every step is one on these data, nor where a share is
            above what rounding of the log explains, and yet small.
        batches: on which rows the steps are.
        drifts: what each law moved by, where it is finite.
        xi: what y moved by besides (copies, or outputs); None where no y is known.
        xi_by_labels: the part of it of steps whose labels are not the given ones.
        identity: how far y(w_N) - y(w_0) - xi is from the row space of X, relative.
        effective_start: weights by copies (p, n), or None where they were not found.
        predicted: beta of the limit from there.
        flow, of_laws: that from w_0, and that of the laws at the end with y as at w_0.
        fits: how far the end of the log is from the minimisers that fit as it does, of the same
            three starts: flow, of_laws, and effective.
        reached: beta at the end of the log.
        misfit: |X beta - y| there, relative.
        every: how many steps of training are one of the log. Beyond 1 the log has their sums, which
            are gradients on rows to first order alone: they break nothing and tell nothing for
            sure, xi is what y moved by beside the row space of X, and identity None.
        typical: the share that no gradient explains, and how much gradients turn in one of the log:
            root mean squares over it, as much as its steps move.
        data: the log, X and y.
    """

    derivation: Derivation
    count: int
    copies: int
    told: int
    seen: float
    share: float
    breaks: tuple[Broken, ...]
    beside: Beside | None
    telling: bool
    batches: Batches
    drifts: tuple[LawDrift, ...]
    xi: tuple[float, ...] | None
    xi_by_labels: float
    identity: float | None
    effective_start: tuple[tuple[float, ...], ...] | None
    predicted: tuple[float, ...] | None
    flow: tuple[float, ...] | None
    of_laws: tuple[float, ...] | None
    fits: tuple[float | None, ...]
    reached: tuple[float, ...]
    misfit: float
    every: int = 1
    typical: tuple[float, float] = (0.0, 0.0)
    data: tuple[object, ...] = field(default=(), compare=False)

    @property
    def broken(self) -> Broken | None:
        """The first step that is none, with what it breaks; None where all are."""
        return min(self.breaks, key=lambda b: b.step, default=None)

    @property
    def full(self) -> int:
        """How many steps are along the gradient of all rows."""
        return self.batches.full

    @property
    def laws(self) -> tuple[tuple[Expr, float], ...]:
        """The largest change of each law."""
        return tuple((d.law, d.change) for d in self.drifts)

    @property
    def is_run(self) -> bool | None:
        """Is it a run of gradient descent on F? None where the data do not tell."""
        if self.breaks or self.beside is not None:
            return False
        return True if self.telling else None

    @property
    def distance(self) -> float | None:
        """How far the end of the log is from the predicted limit, in the largest coordinate."""
        return _apart(self.reached, self.predicted)

    @property
    def verdict(self) -> Verdict:
        """The status of the command: is it such a run, as far as doubles tell? That is no proof."""
        names = {True: Verdict.PROVED, False: Verdict.REFUTED, None: Verdict.UNDECIDED}
        return names[self.is_run]

    def report(self) -> str:
        """Return all of it as text."""
        return self.to_text()

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """Is it a run, what drifted, and where it leads."""
        if self.is_run is False:
            return (_is_run(self), *([_beside(self)] if self.every == 1 else []))
        if self.is_run is None and self.every == 1:
            return (_is_run(self),)
        return (_is_run(self), _drift(self), _limit(self))


def _apart(a: tuple[float, ...], b: tuple[float, ...] | None) -> float | None:
    return None if b is None else max(abs(x - y) for x, y in zip(a, b, strict=True))


def _number(x: float | None) -> str:
    return "-" if x is None else f"`{x:.1e}`"


def _between(low: float, high: float) -> str:
    """Return one number, or the two between which there are several."""
    texts = dict.fromkeys(f"`{x:.3g}`" for x in (low, high))
    return " to ".join(texts)


_seen = functools.partial(Statement, ground=Ground.SIMULATED, by="in doubles")


def _is_run(r: AuditedRun) -> Statement | Open:
    """Say whether the steps are those of gradient descent, or what those break that are none."""
    share, values = _number(r.share), dict[str, object](run=r)
    told = f"`{r.told}` of `{r.count}` steps are large beside the rounding of the log"
    below: tuple[object, ...] = ()
    if r.broken is not None:
        words = (
            f"step `{r.broken.step}` is no step of gradient descent on `F`, whatever batch, labels"
            " and size it has: it breaks {broken}"
        )
        values |= {"broken": r.broken.sentence}
        rows = tuple(
            (b.sentence, tell(f"`{b.steps}`"), tell(f"`{b.step}`"), tell(_number(b.most)))
            for b in r.breaks
        )
        head = ("broken", "steps that break it", "first", "largest share")
        below = (Table(head, rows), note(told))
    elif r.beside is not None:
        words = (
            f"the steps are none of gradient descent on `F`: no gradient explains {share} of some"
            f" step, where {_number(r.seen)} would be seen; {told}"
        )
    elif not r.telling:
        why = "on these data every step is one"
        if r.share >= r.seen:
            why = f"no gradient explains {share} of some step"
        if r.every > 1:
            why = _of_sums(r)
        return Open(f"not told: {why}; {told}", kind="run")
    else:
        words = (
            f"{told}, and are steps of gradient descent on `F`, of some batches and labels; of"
            f" anything else a share of {_number(r.seen)} of a step would be seen"
        )
        below = tuple(map(note, _batches(r)))
    return _seen(words, values, kind="run", below=below)


def _of_sums(r: AuditedRun) -> str:
    """Say of a log of every n-th step what its sums of steps are to first order."""
    share, turning = r.typical
    said = (
        f"a log of every `{r.every}`-th step has sums of steps, gradients on rows to first"
        f" order alone; no gradient explains {_number(share)} of them, where gradients turn by"
        f" {_number(turning)} over one, in the mean"
    )
    if share > turning:
        return (
            f"{said}: that is more, as of Adam, decay and noise, or of a way between two of the log"
            " that is long beside their distance"
        )
    return f"{said}: that is no more than of gradient descent; momentum would not be seen"


def _batches(r: AuditedRun) -> Iterator[str]:
    """Yield on which rows and labels the steps are."""
    b = r.batches
    yield f"`{b.full}` of `{r.told}` steps are along the gradient of all rows"
    if b.given is None:
        if b.full < r.told:
            yield "the others are of batches, or of other labels: rows of `X` are dependent"
        return
    if b.given:
        rows = " to ".join(dict.fromkeys(f"`{n}`" for n in b.rows))
        yield f"`{b.given}` are of batches of {rows} of the `{b.of}` rows, with their labels"
    if b.full + b.given:
        yield f"step sizes, of the loss summed over the rows: {_between(*b.sizes)}"
    if b.others:
        yield f"`{b.others}` are of other labels, as under label noise"


BESIDE = {
    "decay": "minus {decay} times the weights: weight decay",
    "momentum": "{momentum} times the step before: heavy-ball momentum",
    "momentum and decay": "{momentum} times the step before, minus {decay} times the weights:"
    " heavy-ball momentum with weight decay",
    "Nesterov": "{momentum} times the step before, and a gradient at the weights before:"
    " Nesterov's momentum",
    "Nesterov and decay": "{momentum} times the step before, minus {decay} times the weights, and"
    " a gradient at the weights before: Nesterov's momentum with weight decay",
}
"""What stands beside gradients on rows, in words."""
MORE = {
    "decay": "what decay does: derive perturb --by decay",
    "momentum": "what momentum does: derive perturb --by momentum",
    "rates": "give them by --rates",
    "signs": "of its flow: --steepest oo of other commands",
}
"""What tells more."""


def _beside(r: AuditedRun) -> Statement | Open:
    """Say what the steps are that are none of gradient descent, where that was found."""
    if r.beside is None:
        words = (
            "what they are is not told: beside gradients on rows neither multiples of the weights"
            " and of the step before nor learning rates explain them; Adam and other"
            " preconditioning, gradients at other weights, and noise on them make such steps"
        )
        if r.typical[0] < r.typical[1]:
            words += "; if the log has every `n`-th step alone, give `n` by `--every`"
        return Open(words, kind="run beside")
    kind, values = r.beside.kind, {n: _between(a, b) for n, a, b in r.beside.coefficients}
    every = f"each of `{r.beside.steps}` steps over the log"
    if kind == "signs":
        words = f"{every} moves all weights by one size, {values['size']}: steps of signs"
    elif kind == "rates":
        rates = ", ".join(f"`{name}` {value}" for name, value in values.items())
        words = f"{every} is one with learning rates of the weights in the proportion {rates}"
    else:
        words = f"{every} is a gradient on rows of `X` and {BESIDE[kind].format(**values)}"
    more = (OnTerminal((MORE[kind],)),) if kind in MORE else ()
    return _seen(words, {"run": r}, kind="run beside", below=more)


def _drift(r: AuditedRun) -> Statement:
    """Say what laws and dual coordinates moved by, beside what steers."""
    labels = r.batches.others > 0
    head = ("law", "largest change", "at start", *(["by other labels"] if labels else []))
    rows = tuple(
        (
            tell("`{c}`", c=d.law),
            *(tell(_number(x)) for x in (d.change, d.at_start)),
            *([tell(_number(d.by_labels))] if labels else []),
        )
        for d in r.drifts
    )
    below: tuple[object, ...] = (Table(head, rows),) if rows else ()
    words = "no gradient moves a law to first order in the step; over the log they moved"
    if r.xi is not None:
        largest = max(map(abs, r.xi), default=0.0)
        part = f", by other labels {_number(r.xi_by_labels)}" if labels else ""
        xi = "`xi`, what `y` moved by beside the row space of `X`: at most"
        below = (*below, note(f"{xi} {_number(largest)}{part}"))
    if r.identity is not None:
        words = (
            "`y(w_N) - y(w_0) - xi` is in the row space of `X`, but for"
            f" {_number(r.identity)} of it"
        )
    return _seen(words, {"run": r}, kind="run drift", below=below)


def _limit(r: AuditedRun) -> Statement | Open:
    """Say how far the end of the log is from what is predicted, part by part."""
    if r.xi is None:
        words = "not told: no dual coordinates of this `F` are known, or they are not finite"
        return Open(words, kind="run limit")
    if r.predicted is None:
        words = "not told: weights with these laws and `y` were not found, or are not alone"
        return Open(words, kind="run limit")
    starts = (
        ("gradient flow from `w_0`", r.flow),
        ("with the laws at the end, `c(w_N)`", r.of_laws),
        ("with `xi`, too: the effective start", r.predicted),
    )
    rows = tuple(
        (name, _number(_apart(r.reached, limit)), _number(fit))
        for (name, limit), fit in zip(starts, r.fits, strict=True)
    )
    return _seen(
        "a limit with `X beta = y` minimises the `Q` of the effective start, of laws `c(w_N)` and"
        " `y(w_0) + xi`; the end of the log is from the limit, and from the minimiser that fits as"
        " it does, of",
        {"run": r},
        kind="run limit",
        conditions=("its steps are those of gradient descent",) if r.every > 1 else (),
        below=(
            Table(("start", "from its limit", "at the same fit"), rows),
            note(f"`|X beta - y|/|y|` at the end of the log: {_number(r.misfit)}"),
        ),
    )
