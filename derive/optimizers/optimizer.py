"""What an optimizer on a linear model does: what it spans, minimises, and tends to; all computed.

Where grad psi(w) - grad psi(w_0) stays in row(X), first steps from w_0 lie in Hess psi(w_0)^-1
row(X), of m dimensions on m rows. Steps at m + 1 residuals that are independent refute that for
every psi. On data the limit from 0 is compared, in balls, with an interpolant of smaller norm.

What is claimed of an optimizer: what it spans, what its limits and its iterates minimise.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product

from flint import arb, arb_mat

from derive.errors import InputError
from derive.exact.balls import ball, fraction, shown
from derive.exact.field.function_field import RationalFunction
from derive.exact.signs import Signs
from derive.exact.towers.reader import refined
from derive.exact.towers.tower import Tower
from derive.language import parse_expression
from derive.language.reader import value_of
from derive.optimizers.least_norm import Norm, read_norm, shorter, step_in_balls
from derive.optimizers.paths import Vector, dot, path
from derive.optimizers.span import Update, decide_signs, decide_span, find_update, motion, updates
from derive.printable import Printable
from derive.statement import Claims, Ground, Note, Open, Sentence, Statement, Text, each, note, tell
from derive.verdict import Finding, Identity, Verdict

REFUTES = "no `psi` with an invertible Hessian at `w_0` has"
PULLED = ("J^T", "H", "J")
"""The metric of natural gradient, as a product."""
DIGITS = 10
"""Of numbers that are shown and not rational."""


@dataclass(frozen=True)
class Example:
    """Data on which the limit from 0 is not the interpolant of least norm; numbers as text.

    Attributes:
        limit: exact, or its leading digits.
        shorter: another interpolant, exact.
        norms: of both.
    """

    norm: str
    X: Sequence[Sequence[int]]
    y: Sequence[int]
    limit: tuple[str, ...]
    shorter: tuple[str, ...]
    norms: tuple[str, str]

    @property
    def sentence(self) -> Note:
        """Both interpolants with their norms."""
        limit, other = f"`({', '.join(self.limit)})`", f"`({', '.join(self.shorter)})`"
        return note(
            f"from 0, on `X = {self.X}`, `y = {self.y}`: limit {limit} of norm"
            f" `{self.norms[0]}`, but {other} has norm `{self.norms[1]}`"
        )


@dataclass(frozen=True, repr=False)
class Optimizer(Claims, Printable):
    """One optimizer.

    Attributes:
        update: as in the table.
        span: do its iterates stay in w_0 + row(X), or their dual points?
        finite: what a limit that interpolates minimises, for losses with a finite root.
        margins: does each iterate minimise the same at its own margins, for decreasing losses?
        example: a limit that is not of least norm.
    """

    update: Update
    span: Finding
    finite: Finding
    margins: Finding
    example: Example | None = None

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed, of regression, of decreasing losses and of their tails."""
        return (
            _decided(self.span, self.span.reason, "span"),
            *limits(self.finite, None if self.example is None else self.example.sentence),
            every_iterate(self.update, self.margins, self.finite),
            tail(self.update),
        )

    @property
    def verdict(self) -> Verdict:
        """Whether there is a law of the limits."""
        return self.span.verdict

    @property
    def word(self) -> str:
        """The verdict, or that there is no clean statement: no law, and no claim of least norm."""
        unclear = self.verdict is Verdict.REFUTED and self.example is None
        return "no clean statement" if unclear else self.verdict.value


@dataclass(frozen=True, repr=False)
class Optimizers(Printable):
    """All of the table."""

    found: tuple[Optimizer, ...]
    verdict = Verdict.PROVED


def optimizers() -> Optimizers:
    """Return all optimizers of the table."""
    return Optimizers(tuple(map(decide, updates())))


def optimizer(name: str) -> Optimizer:
    """Return what is proved, refuted and cited of an optimizer.

    >>> optimizer("momentum").finite.reason
    '`argmin |w - w_0|_2^2/2` s.t. `X w = y`'

    Raises:
        InputError: the table has none of that name.
    """
    return decide(find_update(name))


def decide(update: Update) -> Optimizer:
    """Return what is proved and refuted of an update."""
    moved = motion(update)
    span = decide_span(moved)
    margins = decide_signs(moved, span)
    if span.verdict is Verdict.PROVED:
        return Optimizer(update, span, _minimised(update), margins)
    rate = _rate(moved.step)
    if update.data and rate is not None:
        span = _refuted(update) or span
    if update.norm and rate == -moved.step.field.named("d"):
        finite, example = _compared(update)
        return Optimizer(update, span, finite, margins, example)
    return Optimizer(update, span, _on_one_row(update), margins)


def _rate(step: RationalFunction) -> RationalFunction | None:
    """Return step/eta, or None where the step is not proportional to eta, so as to be small."""
    if "eta" not in step.variables():
        return None
    rate = step.partial(step.field.positions["eta"])
    return rate if rate * step.field.named("eta") == step else None


def _minimised(update: Update) -> Finding:
    """Return what z - z_0 in row(X) and X w = y say: a convex problem is stationary there."""
    data = "`X w = y`, `A w = b`" if update.space != "row(X)" else "`X w = y`"
    if update.metric:
        told = "`argmin D_h(beta, beta_0)` s.t. `X beta = y`"
        identity = _pullback()
        verdict = Verdict.PROVED if identity.holds else Verdict.UNDECIDED
        return Finding(verdict, told, (identity,))
    if update.point == "z":
        return Finding(Verdict.PROVED, f"`argmin D_psi(w, w_0)` s.t. {data}")
    if not update.potential:
        return Finding(Verdict.PROVED, f"`argmin |w - w_0|_2^2/2` s.t. {data}")
    return _of_potential(update, data)


def _of_potential(update: Update, data: str) -> Finding:
    """Return D_psi(w, w_0) in closed form, for a psi whose slope and convexity are checked."""
    tower = Tower(("w", "w_0"), positive=("w", "w_0"))
    w, w0 = (tower.field.named(name) for name in ("w", "w_0"))
    trees = parse_expression(update.potential), update.slope
    found = [tower.element(t, {"w": x}) for x in (w, w0) for t in trees if t is not None]
    here, slope, there, slope0 = map(tower.field.embed, found)
    D = here - there - slope0 * tower.field.embed(w - w0)
    convex = Signs(("w", "w_0")).is_positive(tower.field.derivative(slope, 0))
    if tower.field.derivative(here, 0) != slope or not convex:
        return Finding(Verdict.UNDECIDED, "`psi` is not proved to be convex")
    return Finding(Verdict.PROVED, f"`argmin sum [{D}]` s.t. {data}")


def _pullback() -> Identity:
    """Return J (J^T H J)^-1 J^T H as a reduced word in invertible J and H; it should be empty.

    J of rank d is (J_1, 0), J_1 invertible, after an orthogonal change of the weights, which keeps
    pseudo-inverses: with K = J_1 (J_1^T H J_1)^-1 J_1^T = H^-1 the step is one of mirror descent.
    """
    inverse = [f"{x}^-1" for x in reversed(PULLED)]
    found = " ".join(_reduced(["J", *inverse, "J^T", "H"])) or "I"
    point = () if found == "I" else (("J, H", "generic"),)
    return Identity("in any dimension, J invertible", "J (J^T H J)^-1 J^T H", found, point)


def _reduced(word: Sequence[str]) -> list[str]:
    """Return a product of matrices and inverses without neighbours that cancel."""
    left: list[str] = []
    for x in word:
        if left and (left[-1] == f"{x}^-1" or x == f"{left[-1]}^-1"):
            left.pop()
        else:
            left.append(x)
    return left


def _refuted(update: Update) -> Finding | None:
    """Look for m + 1 residuals whose first steps are independent, proved in balls."""
    X = update.read_data()[0]
    size = len(X) + 1
    residuals = product(map(Fraction, range(-2, 4)), repeat=len(X))
    known = {r: step for r in residuals if any(r) and (step := _first_step(update, X, r))}
    for chosen in combinations(known, size):
        det = arb_mat([known[r][:size] for r in chosen]).det()
        if not det.contains(0):
            point = tuple(
                (f"r_{i}", f"({', '.join(map(str, r))})") for i, r in enumerate(chosen, 1)
            )
            said = f"with such a `psi` {size} first steps on {len(X)} rows would be dependent"
            left = fraction(det) if det.is_exact() else shown(det)
            identity = Identity(said, "their determinant", "0", point, left)
            why = f"{REFUTES} `grad psi(w) - grad psi(w_0) in row(X)`"
            return Finding(Verdict.REFUTED, why, (identity,))
    return None


def _first_step(update: Update, X: Sequence[Vector], r: Sequence[Fraction]) -> list[arb] | None:
    """Return minus the first step from 0 at g = X^T r, with scalars 1; None where slopes tie."""
    g = [ball(dot(column, r)) for column in zip(*X, strict=True)]
    try:
        d = read_norm(update.norm).direction(g) if update.norm else g
        known = dict.fromkeys((*update.state, *update.state.values()), arb(0))
        known |= dict.fromkeys((*update.scalars, *update.signed), arb(1))
        text = update.update[update.point]
        pairs = zip(g, d, strict=True)
        return [-value_of(text, known | {"g": x, "d": v}, lambda _, x: x.sqrt()) for x, v in pairs]
    except (InputError, ZeroDivisionError):
        return None


def _compared(update: Update) -> tuple[Finding, Example | None]:
    """Compare the limit from 0 on the data of the table with interpolants, in its norm."""
    norm, (X, y) = read_norm(update.norm), update.read_data()
    index = norm.name.removeprefix("l")
    index = f"({index})" if "/" in index else index
    claim = f"`argmin |w - w_0|_{index}` s.t. `X w = y`"
    if norm.p is None or norm.p == 1:
        limit: Sequence[Fraction | arb] = path(norm.name, X, y, [Fraction(0)] * len(X[0])).limit
    elif (found := step_in_balls(X, y, norm, 2 * DIGITS)) is not None:
        limit = found
    else:
        raise InputError("limits in balls need two rows and an even q")
    better = shorter(X, y, list(map(ball, limit)), norm)
    if better is None:
        return Finding(Verdict.UNDECIDED, f"not refuted: {claim}"), None
    norms = _shown(_length(norm, limit)), _shown(_length(norm, better))
    texts = tuple(map(_shown, limit)), tuple(map(_shown, better))
    example = Example(norm.name, update.data["X"], update.data["y"], *texts, norms)
    return Finding(Verdict.REFUTED, f"not {claim}"), example


def _length(norm: Norm, w: Sequence[Fraction | arb]) -> Fraction | arb:
    exact = [abs(x) for x in w if isinstance(x, Fraction)]
    if len(exact) == len(w) and (norm.p is None or norm.p == 1):
        return max(exact) if norm.p is None else sum(exact, Fraction(0))
    return norm.value(list(map(ball, w)))


def _shown(x: Fraction | arb) -> str:
    return str(x) if isinstance(x, Fraction) else str(x.str(DIGITS, radius=False))


def _on_one_row(update: Update) -> Finding:
    """Decide whether steps on one row x are t sign(x): then a limit from 0 has the least linf.

    After steps S = a^2 x^2; with g = c x the next step should not depend on x > 0, nor S/x^2, and
    with w and g of the other sign w_next should be of the other sign, S_next the same.
    """
    if update.update.keys() != {"w", "S"}:
        return Finding(Verdict.UNDECIDED, NOTHING)
    return refined(lambda units: _one_row(update, units), "roots in an update")


def _one_row(update: Update, units: dict[str, int]) -> Finding:
    tower = Tower(("x", "c", "a", "eta", "w"), (), units, ("x", "c", "a", "eta"))
    x, c, a, eta, at = map(tower.field.named, ("x", "c", "a", "eta", "w"))

    found = [
        tower.element(parse_expression(update.update[name]), known)
        for known in (
            {"w": sign * at, "eta": eta, "S": a * a * x * x, "g": sign * c * x} for sign in (1, -1)
        )
        for name in ("w", "S")
    ]
    w, S, mirrored, same, x, at = map(tower.field.embed, (*found, x, at))
    moves = any(not tower.field.derivative(e, 0).is_zero() for e in (w, S / (x * x)))
    if moves or mirrored != -w or same != S:
        return Finding(Verdict.UNDECIDED, NOTHING)
    identity = Identity("on one row `x`, after `S = a^2 x^2`", "w_next - w", str(w - at))
    told = f"{NOTHING}; {ONE_ROW}"
    return Finding(Verdict.UNDECIDED, told, (identity,))


ONE_ROW = "on one row from 0: `argmin |w|_inf` s.t. `X w = y`"
NOTHING = "no clean statement"
INTERPOLATES = "the loss has a finite root and `w` tends to an interpolant"


def limits(found: Finding, example: Sentence | None) -> Iterator[Statement | Open]:
    """Yield what a limit that interpolates minimises; or data on which it does not.

    Where only one row is decided, that is claimed of one row.
    """
    refuted = found.verdict is Verdict.REFUTED
    words = f"{'in general ' * refuted}the limit is {found.reason}"
    claimed = _decided(found, words, "optimizer limit")
    if isinstance(claimed, Open) and found.evidence:
        yield replace(claimed, words=NOTHING)
        proof, given = tuple(_evidence(found)), (INTERPOLATES,)
        yield Statement(ONE_ROW, kind="optimizer limit", about="row", conditions=given, proof=proof)
    elif isinstance(claimed, Open):
        yield claimed
    else:
        shown = () if example is None else (example,)
        yield replace(claimed, conditions=(INTERPOLATES,), below=shown)


def every_iterate(update: Update, found: Finding, law: Finding) -> Statement | Open:
    """Return what each iterate minimises, for decreasing losses."""
    also = "" if update.space == "row(X)" else " and `A w = b`"
    least = f"each iterate minimises the same among those with margins at least its own{also}"
    claimed = _decided(found, found.reason, "iterates")
    if isinstance(claimed, Open) or law.verdict is not Verdict.PROVED:
        return claimed
    return replace(claimed, below=(note(f"so {least}"),))


def tail(update: Update) -> Statement | Open:
    """Return what is cited of the direction under exponential tails."""
    if not (known := update.tail):
        return Open("no theorem is cited", kind="tail")
    return Statement(
        f"the direction tends to the largest margin in {known['norm']}",
        kind="tail",
        ground=Ground.CITED,
        conditions=(f"the rows are separable, with {known['given']}",),
        by=Text(known["cite"], "cited"),
    )


def _decided(found: Finding, words: str, kind: str) -> Statement | Open:
    """Return what is decided, with the identities behind it."""
    if found.verdict is Verdict.UNDECIDED:
        return Open(found.reason, kind=kind)
    return Statement(words, kind=kind, by=found, proof=tuple(_evidence(found)))


def _evidence(found: Finding) -> Iterator[Sentence]:
    for e in found.evidence:
        if e.holds:
            yield note(f"{e.statement}: `{e.left} = {e.right}`")
        else:
            point = each("`{0} = {1}`", e.point)
            words = f"{e.statement}, but {e.left} is `{e.residual}`, not 0, at {{point}}"
            yield tell(words, point=point)
