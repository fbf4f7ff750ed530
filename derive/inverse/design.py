"""What inverse design hands over: for each term of Q what was found, and the whole.

Of one term Q(beta) one of four things is said: F in one weight, F in a pair of weights, the
integral of which F is the inverse, or that there is no F, or none that was found.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sympy import Expr, Symbol

from derive.inverse.acceptance import FlowStart
from derive.inverse.candidates import Interval
from derive.inverse.term import Term
from derive.language import from_sympy, to_sympy, to_text
from derive.language.tree import Tree
from derive.printable import Held, Printable
from derive.statement import (
    Claims,
    Equations,
    OnPage,
    OnTerminal,
    Open,
    Sentence,
    Statement,
    Text,
    each,
    note,
    tell,
)
from derive.verdict import Finding, Identity, Verdict, conclude


@dataclass(frozen=True, repr=False)
class Coordinate(Held):
    """What is known of one coordinate of Q; on its own, that no F was found or that there is none.

    *second* is Q'', an expression near the start; None where Q could not be read.
    """

    term: Term
    finding: Finding
    second: Expr | None

    @property
    def kernel(self) -> Expr | None:
        """K = 1/Q'', for the unit of Q in which c = 1."""
        return None if self.second in (None, 0) else 1 / self.second


@dataclass(frozen=True, repr=False)
class IntegralOnly(Coordinate):
    """No closed form was found: F is the inverse of *w_of_beta*, an integral."""

    w_of_beta: Expr


@dataclass(frozen=True, repr=False)
class Parameterized(Coordinate):
    """F in closed form, with K(w) Q''(F(w)) = c proved under what is *assumed* of the parameters.

    *output* is F and *scale* is c; in the *interval*, the range of F, Q'' > 0, and *smooth* tells
    whether Q is proved smooth in all of it. Of one weight *w_of_beta* is the inverse of F; of two
    the *product* is conserved, and K Q'' = c where it has this value.
    """

    output: Tree
    weights: tuple[str, ...]
    interval: Interval
    scale: Expr
    start: FlowStart
    assumed: tuple[str, ...]
    smooth: bool
    w_of_beta: Expr | None = None
    product: Expr | None = None


@dataclass(frozen=True, repr=False)
class FlatMap(Coordinate):
    """F of a coupled Q in as many weights, with J^T (Hess Q)(F) J = *scale* proved near a point.

    The point has values of weights and parameters; the identity goes on as far as F and Q do.
    """

    outputs: tuple[Tree, ...]
    weights: tuple[str, ...]
    scale: Expr
    point: tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True, repr=False)
class FlatOnly(Coordinate):
    """F of a coupled Q exists in as many weights: Hess Q is flat; no closed form was found.

    *w_of_beta* has rows for w, of which F is the inverse, by an integral; none where that is open.
    """

    w_of_beta: tuple[tuple[object, object], ...]


def accepted(*identities: Identity) -> Finding:
    """Return that F is proved by identities."""
    return Finding(Verdict.PROVED, "accepted by an exact identity", identities)


@dataclass(frozen=True, repr=False)
class InverseDesign(Claims, Printable):
    """A parameterization beta = F(w) whose gradient flow has the given Q as implicit regularizer.

    Q is a sum of terms in one coordinate each, and K Q'' = c for all of them, K = |grad F|^2.

    Attributes:
        coordinates: what was found for each term, in the order of the terms.
        change: betas as linear functions of the coordinates u in which a coupled Q is a sum.
    """

    coordinates: tuple[Coordinate, ...]
    change: tuple[tuple[str, Expr], ...] = ()

    @property
    def verdict(self) -> Verdict:
        """PROVED: found and accepted. REFUTED: there is none. UNDECIDED: no closed form found."""
        return conclude(tuple(c.finding for c in self.coordinates))

    @property
    def outputs(self) -> tuple[str | None, ...]:
        """F as text, one per coordinate; None where no closed form was found."""
        found: dict[str, Tree | None] = {}
        for c in self.coordinates:
            own = c.outputs if isinstance(c, FlatMap) else (getattr(c, "output", None),)
            found |= dict(itertools.zip_longest(c.term.coordinates, own))
        for beta, sum_ in self.change:
            parts = {x: found[x.name] for x in sum_.free_symbols}
            known = {x: to_sympy(tree) for x, tree in parts.items() if tree is not None}
            found[beta] = from_sympy(sum_.subs(known)) if len(known) == len(parts) else None
        inner = {x.name for _, sum_ in self.change for x in sum_.free_symbols}
        outer = (tree for name, tree in found.items() if name not in inner)
        return tuple(None if tree is None else to_text(tree) for tree in outer)

    @property
    def coupled(self) -> tuple[Coordinate, ...]:
        """What was found for terms of several variables."""
        return tuple(c for c in self.coordinates if c.term.couples)

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed of each coordinate."""
        return tuple(s for c in self.coordinates for s in claims(c))


UNIT = "the constant only changes the unit of `Q`"
FLAT = "its curvature is `-[C_i, C_j]/4`, `C_i = H^-1 dH/dbeta_i`, `H = Hess Q`: these commute"
FREE = "; the weight is free up to sign and shift"
CLAIM = (
    "for copies `{b}_i = F(w_i)` with weights of their own, a limit of gradient flow on"
    " `|X {b} - y|^2/2` with `X {b} = y` is the minimiser"
)
FLOW = "along `w' = lambda grad F` one has `beta' = |grad F|^2 lambda`, so `Q'(beta)` has the time"
DATA = "with `lambda = X^T (y - X beta)` for all copies, `Q'(beta) - Q'(beta(0))` stays in the row"


@functools.singledispatch
def claims(c: Coordinate) -> Iterator[Statement | Open]:
    """Yield what is claimed of a coordinate: without F, that there is none, or nothing."""
    why, about = {"why": c.finding}, c.term.variable
    if c.finding.verdict is Verdict.REFUTED:
        words = "no `F` has it: {why}"
        if c.term.couples:
            words = "no `F` with as many weights as outputs has it without a warp `g`: {why}"
        yield Statement(words, why, kind="design", about=about, by=c.finding)
    else:
        yield Open("{why}", why, kind="design", about=about)


@claims.register
def _(c: IntegralOnly) -> Iterator[Statement | Open]:
    yield Open("{why}", {"why": c.finding}, kind="design", about=c.term.variable)
    inverse = "`F` is the inverse of the integral of `sqrt(Q'')`"
    formula = Equations((("w", c.w_of_beta),))
    yield Statement(inverse, kind="line element", about=c.term.variable, below=(formula,))


@claims.register
def _(c: FlatOnly) -> Iterator[Statement | Open]:
    yield Open("{why}", {"why": c.finding}, kind="design", about=c.term.variable)
    yield Statement(
        "an `F` with as many weights as outputs exists where `Hess Q > 0`, as `Hess Q` is flat",
        kind="line element",
        about=c.term.variable,
        below=(Equations(c.w_of_beta),) if c.w_of_beta else (),
        proof=(FLAT,),
    )


@claims.register
def _(c: FlatMap) -> Iterator[Statement | Open]:
    betas = map(Symbol, c.term.coordinates)
    at = each("`{0} = {1}`", ((Symbol(w), x) for w, x in c.point))
    rows = tuple(zip(betas, c.outputs, strict=True))
    yield Statement(
        "`F` has the implicit regularizer `Q` near {at}, and from there as far as both are smooth:",
        {"at": at},
        kind="design",
        about=c.term.variable,
        by=c.finding,
        below=(
            Equations(rows),
            note("minimises: `Q - <grad Q(beta(0)), beta>`, the Bregman divergence from the start"),
        ),
        proof=(
            tell("by expansion `J^T (Hess Q)(F) J = {c} I`, so `J J^T Hess Q = {c} I`", c=c.scale),
            tell("along `w' = J^T lambda` then `grad Q(beta)' = {c} lambda`", c=c.scale),
            UNIT,
        ),
    )


@claims.register
def _(c: Parameterized) -> Iterator[Statement | Open]:
    b, (low, high), (w, *_) = Symbol(c.term.variable), c.interval, map(Symbol, c.weights)
    inverse = ((w, c.w_of_beta),) if c.product is None else ()
    where = "where `Q'' > 0`" if c.smooth else "as far as `Q` is smooth, where `Q'' > 0`"
    words = f"`F` has the implicit regularizer `Q` for `{{low}} < {{b}} < {{high}}`, {where}"
    start = note("start: {start}", start=_start(c))
    yield Statement(
        f"{words}, from the start below:",
        {"low": low, "high": high, "b": b},
        kind="design",
        about=c.term.variable,
        conditions=tuple(map(Text, c.assumed)),
        by=c.finding,
        below=(Equations(((b, c.output), *inverse)), start, *_least(c, b)),
        proof=tuple(_proof(c)),
    )


def _start(c: Parameterized) -> Sentence:
    """Return the start in the weights, which may not be known as it is given."""
    b, b_0, (w, *m) = Symbol(c.term.variable), c.start.beta_0, map(Symbol, c.weights)
    if c.start.weights is not None and b_0 is not None:
        known = each("`{0} = {1}`", ((Symbol(w), tree) for w, tree in c.start.weights))
        return tell("{known}, `{b}(0) = {x}`", known=known, b=b, x=b_0)
    if c.product is not None:
        return tell("any `{p}, {m} > 0` with `{p} {m} = {x}`", p=w, m=m[0], x=c.product)
    if b_0 is None:
        image = "any `{w}(0)` with its image in that range, `{b}(0) = F({w}(0))`"
        return tell(image, w=w, b=b)
    return tell("`{w}(0)` with `F({w}(0)) = {x}`", w=w, x=b_0)


def _least(c: Parameterized, b: Symbol) -> Iterator[object]:
    """Yield what is minimised."""
    if c.start.at_minimum:
        least = note("minimises: `Q` itself, as `Q'({b}(0)) = 0`", b=b)
    else:
        divergence = "the Bregman divergence of `Q` from the start"
        least = note(f"minimises: `Q - Q'({{b}}(0)) {{b}}`, {divergence}", b=b)
    if c.term.variable.isalpha():
        # What a limit minimises over all coordinates.
        each_b = tell("`{b}_i`", b=b)
        size = "sum_i Q({b})" if c.start.at_minimum else "sum_i (Q({b}) - Q'({b}(0)) {b})"
        goal = tell(f"argmin {size} subject to X {{all}} = y", b=each_b, all=b)
        yield OnPage((note(CLAIM, b=b), Equations(((b, goal),))))
        yield OnTerminal((least,))
    else:
        yield least


def _proof(c: Parameterized) -> Iterator[object]:
    known = dict(zip("wm", map(Symbol, c.weights), strict=False)) | {"c": c.scale}
    if pair := c.product is not None:
        kept = "by expansion `<grad({w} {m}), grad F> = 0`, so `{w} {m} = {x}` is kept"
        norm = "there `<grad F, grad F> Q''(F) = {c}`"
        yield tell(f"{kept}; {norm}", x=c.product, **known)
    else:
        yield tell("by expansion `F'({w})^2 Q''(F({w})) = {c}`", **known)
    rest = c.finding.evidence[1 + pair :]
    yield from (tell("{e}", e=e) for e in rest)
    stays = "space of `X`: these are the KKT conditions of the problem, as `Q` is convex"
    yield OnPage(
        (tell(f"{FLOW} derivative `{{slope}}`; {DATA} {stays}", slope=c.scale * Symbol("lambda")),)
    )
    yield UNIT + FREE * (not pair)
