"""A run of training: is it gradient descent on F, what drifted, and where does it lead?

A step of gradient descent, of any batch, labels and size, is w+ - w = sum_j mu_j grad F_j, mu in
the row space of X. So <grad c, w+ - w> = 0 for every law c, and with <grad y_i, grad F_j> = g
delta_ij the numbers <grad y_j, w+ - w> are in the row space. What breaks either is no such step:
momentum, preconditioning, decay. Exactly, with no remainder,

    y(w_N) - y(w_0) - xi in row(X),   xi = sum_k y(w_(k+1)) - y(w_k) - <grad y(w_k), w_(k+1) - w_k>,

so that a limit with X beta = y is that of gradient flow from the effective start, the weights with
laws c(w_N) and dual coordinates y(w_0) + xi.

Source: Even, Pesme, Gunasekar, Flammarion 2023 for diagonal networks; else our own derivation.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from sympy import Expr

from derive.derivation import Derivation
from derive.printable import Printable
from derive.statement import Claims, Ground, Open, Statement, Table, note, tell
from derive.verdict import Verdict


@dataclass(frozen=True)
class Broken:
    """A step that is no step of gradient descent: which, what it breaks, and by how much of it."""

    step: int
    what: str
    share: float


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
        broken: the first step that is none, with what it breaks; None where all are.
        telling: can it be told? Not where every step is one on these data, nor where a share is
            above what rounding of the log explains, and yet small.
        full: how many steps are along the gradient of all rows.
        laws: the largest change of each law.
        xi: what y moved by besides (copies, or outputs).
        identity: how far y(w_N) - y(w_0) - xi is from the row space of X, relative.
        effective_start: weights by copies (p, n), or None where they were not found.
        predicted: beta of the limit from there.
        flow, of_laws: that from w_0, and that of the laws at the end with y as at w_0.
        reached: beta at the end of the log.
        misfit: |X beta - y| there, relative.
        data: the log, X and y.
    """

    derivation: Derivation
    count: int
    copies: int
    told: int
    seen: float
    share: float
    broken: Broken | None
    telling: bool
    full: int
    laws: tuple[tuple[Expr, float], ...]
    xi: tuple[float, ...]
    identity: float | None
    effective_start: tuple[tuple[float, ...], ...] | None
    predicted: tuple[float, ...] | None
    flow: tuple[float, ...] | None
    of_laws: tuple[float, ...] | None
    reached: tuple[float, ...]
    misfit: float
    data: tuple[object, ...] = field(default=(), compare=False)

    @property
    def is_run(self) -> bool | None:
        """Is it a run of gradient descent on F? None where the data do not tell."""
        if self.broken is not None:
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
        if self.broken is not None or not self.telling:
            return (_is_run(self),)
        return (_is_run(self), _drift(self), *([_limit(self)] if self.predicted else []))


def _apart(a: tuple[float, ...], b: tuple[float, ...] | None) -> float | None:
    return None if b is None else max(abs(x - y) for x, y in zip(a, b, strict=True))


def _number(x: float | None) -> str:
    return "-" if x is None else f"`{x:.1e}`"


def _is_run(r: AuditedRun) -> Statement | Open:
    """Say whether the steps are those of gradient descent, or which is the first that is none."""
    share, values = _number(r.share), {"run": r}
    told = f"`{r.told}` of `{r.count}` steps are large beside the rounding of the log"
    if r.broken is not None:
        words = (
            f"step `{r.broken.step}` is no step of gradient descent on `F`, whatever batch, labels"
            f" and size it has: it breaks {r.broken.what}; no gradient explains"
            f" {_number(r.broken.share)} of it."
            " Momentum, preconditioning, as of Adam, and decay make such steps"
        )
    elif not r.telling:
        why = "on these data every step is one"
        why = why if r.share < r.seen else f"no gradient explains {share} of some step"
        return Open(f"not told: {why}; {told}", kind="run")
    else:
        words = (
            f"{told}, and are steps of gradient descent on `F`, of some batches and labels:"
            f" beyond rounding at most {share} of one is not explained, where {_number(r.seen)}"
            " would be seen"
        )
    return Statement(words, values, kind="run", ground=Ground.SIMULATED, by="in doubles")


def _drift(r: AuditedRun) -> Statement:
    """Say what laws and dual coordinates moved by, beside what steers."""
    rows = tuple((tell("`{c}`", c=c), tell(_number(change))) for c, change in r.laws)
    largest = max(map(abs, r.xi), default=0.0)
    full = f"{r.full} of {r.count} steps are along the gradient of all rows"
    below = (
        Table(("law", "largest change"), rows),
        note(f"`xi`, what `y` moved by beside the row space of `X`: at most {_number(largest)}"),
        note(f"{full}, the others of batches, or of other labels"),
    )
    return Statement(
        f"`y(w_N) - y(w_0) - xi` is in the row space of `X`, but for {_number(r.identity)} of it",
        kind="run drift",
        ground=Ground.SIMULATED,
        by="in doubles",
        values={"run": r},
        below=below,
    )


def _limit(r: AuditedRun) -> Statement:
    """Say how far the end of the log is from what is predicted, part by part."""
    rows = (
        ("gradient flow from `w_0`", _number(_apart(r.reached, r.flow))),
        ("with the laws at the end, `c(w_N)`", _number(_apart(r.reached, r.of_laws))),
        ("with `xi`, too: the effective start", _number(r.distance)),
    )
    return Statement(
        "a limit with `X beta = y` minimises the `Q` of the effective start, of laws `c(w_N)` and"
        " `y(w_0) + xi`; the end of the log is from the limit of",
        kind="run limit",
        ground=Ground.SIMULATED,
        by="in doubles",
        values={"run": r},
        below=(
            Table(("start", "largest distance in `beta`"), rows),
            note(f"`|X beta - y|/|y|` at the end of the log: {_number(r.misfit)}"),
        ),
    )
