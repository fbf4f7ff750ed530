"""Why there is no Q, or none in the plain time, with numbers that a referee can follow by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.errors import DeriveError
from derive.exact.balls import Value, ball, evaluate_any, is_nonzero, shown, values_of
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import dot
from derive.language import to_sympy
from derive.model.labels import PAIR, numbers_of, pair
from derive.model.names import PI
from derive.model.notation import to_expr, to_shorter_expr
from derive.model.parameterization import Parameterization
from derive.records import Block
from derive.render.arranged import read
from derive.render.document import say
from derive.render.sections import Row
from derive.statement import Equations, Matrix, OnPage, Sentence, Text, listing, tell
from derive.verdict import Argument, Identity, Number
from derive.weights.metric import Metric
from derive.weights.witness import known, warp_candidate

LARGEST = 4000
"""Characters of a side beyond which it is not put together again."""

NEAR = 1e-9
"""What may be 0, at a point of which decimals are known."""

LONGEST_ENTRY = 150
"""Characters of an entry of K that is written out."""


def number(value: Number) -> object:
    """Return an exact number, or leading digits, to be put in."""
    return Text(value, "digits") if isinstance(value, str) else value


def values_at(failure: Identity) -> Sentence:
    """Return the point at which an identity fails."""
    pairs = ((Text(name), number(value)) for name, value in failure.point)
    return listing("`{0} = {1}`", pairs)


def failing(evidence: Sequence[Identity]) -> Identity | None:
    """Return the first identity that fails."""
    return next((e for e in evidence if not e.holds), None)


def refuted_proof(d: Derivation) -> Iterator[object]:
    """Yield the necessary condition, and the numbers that break it."""
    yield from say("refutation.condition")
    failure = failing(d.warping.finding.evidence)
    if failure is None:
        yield d.warping.finding
        return
    asked = ((b, (b.warping.finding, b.hessian.finding)) for b in d.blocks)
    block = next(b for b, findings in asked if any(failure in f.evidence for f in findings))
    # what holds at the start itself, or has a pole there, is seen in derivatives or cleared of it
    if failure.kind in ARGUMENTS and (numbers := _Numbers.at(block.metric, failure)).are_regular:
        yield from ARGUMENTS[failure.kind](numbers, *failure.of)
        return
    if len(d.blocks) > 1:
        yield from say("refutation.blocks")
    else:
        yield from say("refutation.definitions")
        pairs = zip(block.metric.labels, warp_candidate(block.metric), strict=True)
        H = [(f"H{i}", to_shorter_expr(h, block.notation.weights)) for i, h in pairs]
        if max(len(str(h)) for _, h in H) < LONGEST_ENTRY:
            yield from say("refutation.here", rows=H)
    yield OnPage((*failure_lines(block, failure),))


@dataclass(frozen=True)
class _Numbers:
    """Functions of the weights at the point of an identity that fails."""

    metric: Metric
    values: Sequence[Value]

    @classmethod
    def at(cls, metric: Metric, failure: Identity) -> _Numbers:
        """Return the numbers of a metric at a point."""
        p, at = metric.parameterization, {n: Fraction(v) for n, v in failure.point}
        return cls(metric, values_of(p.field, at | known(p)))

    def of(self, function: RationalFunction) -> Any:
        """Return a number: exact where all are, else in a ball."""
        value = evaluate_any(function, self.values)
        return value if all(isinstance(x, Fraction) for x in self.values) else ball(value)

    @property
    def are_regular(self) -> bool:
        """Whether two equations determine each H_a there; else it is so nearby alone."""
        K = [[self.of(x) for x in row] for row in self.metric.K]
        return all(is_nonzero(K[0][0] * K[b][b] - K[0][b] ** 2) for b in range(1, len(K)))

    def number(self, function: RationalFunction) -> object:
        """Return it as it is put in."""
        return number(self.shown(function))

    def shown(self, function: RationalFunction) -> Number:
        """Return a number as it is printed, exact where it is rational."""
        return shown(evaluate_any(function, self.values))

    def along(self, a: int, f: RationalFunction) -> RationalFunction:
        """Return X_a f."""
        p = self.metric.parameterization
        return dot(p.fields[a], p.field.gradient(f))

    def candidate(self, a: int) -> Any:
        """Return H_a, from the equations for a and the first other output."""
        b, K = (1 if a == 0 else 0), self.metric.K
        first, mixed, second = (self.of(x) for x in (K[a][a], K[a][b], K[b][b]))
        along = self.metric.along
        B = [self.of(along(a, b, c) - along(b, a, c)) for c in (a, b)]
        return (first * B[1] - mixed * B[0]) / (first * second - mixed * mixed)

    def B(self, a: int, b: int, c: int) -> Sentence:
        """Return B_abc = X_a K_bc - X_b K_ac as the difference of its two terms."""
        slopes = self.metric.along(a, b, c), self.metric.along(b, a, c)
        first, second = map(self.shown, slopes)
        bracket = "({second})" if str(second).startswith("-") else "{second}"
        words = "{whole}" if 0 in (first, second) else f"{{first}} - {bracket} = {{whole}}"
        whole = self.number(slopes[0] - slopes[1])
        return tell(words, first=number(first), second=number(second), whole=whole)

    def equation(self, a: int, b: int, c: int) -> Row:
        """Return H_a K_bc - H_b K_ac = B_abc."""
        K, (i, j) = self.metric.K, (self.metric.labels[x] for x in (a, b))
        first, second = map(self.shown, (K[b][c], -K[a][c]))
        words = f"{_times('first', first, f'H_{i}')}{_times('second', second, f'H_{j}')}"
        values = {"first": number(_size(first)), "second": number(_size(second))}
        return Sentence(words.removeprefix(" + ") or "0", values), self.B(a, b, c)


def _size(value: Number) -> Number:
    return value.removeprefix("-") if isinstance(value, str) else abs(value)


def _times(key: str, value: Number, name: str) -> str:
    """Return words for a number times a name, with its sign; nothing for 0."""
    sign = "-" if str(value).startswith("-") else "+"
    factor = "" if _size(value) == 1 else f"{{{key}}} "
    return f" {sign} {factor}{name}" if value != 0 else ""


def _entries(block: Metric, symbols: Mapping[str, Symbol], places: Sequence[str]) -> list[Row]:
    """Return entries of K in the weights, where these are short."""
    at = [[block.labels.index(x) for x in numbers_of(place)] for place in places]
    found = [to_shorter_expr(block.K[i][j], symbols) for i, j in at]
    if any(len(str(x)) > LONGEST_ENTRY for x in found):
        return []
    return [(f"K{name}", x) for name, x in zip(places, found, strict=True)]


def _candidate_lines(n: _Numbers, wanted: Sequence[int]) -> Iterator[object]:
    """Yield K, and the two equations that determine each H_a."""
    K, labels, p = n.metric.K, n.metric.labels, n.metric.parameterization
    symbols = {x: Symbol(x) for x in (*p.weights, *p.parameters)}
    places = [pair(i, j) for i, j in combinations_with_replacement(labels, 2)]
    if written := _entries(n.metric, symbols, places):
        yield from say("refutation.weights", rows=written)
    rows = Matrix(tuple(tuple(map(n.number, row)) for row in K))
    yield from say("refutation.start", rows=(("K", rows),))
    for a, b in dict.fromkeys((0, max(a, 1)) for a in wanted):
        both = [n.equation(a, b, c) for c in (a, b)]
        yield from say("refutation.pair", i=labels[a], j=labels[b], rows=both)
    found = ((labels[a], number(shown(n.candidate(a)))) for a in wanted)
    yield from say("refutation.solution", found=listing("`H_{0} = {1}`", found))


def _no_candidate(n: _Numbers, i: int, j: int, k: int) -> Iterator[object]:
    """H_a K_bc - H_b K_ac = B_abc fails for a third c, or a third output."""
    a, b, c = map(n.metric.labels.index, (i, j, k))
    yield from _candidate_lines(n, (a, b))
    K = n.metric.K
    left = n.candidate(a) * n.of(K[b][c]) - n.candidate(b) * n.of(K[a][c])
    numbers = {"left": number(shown(left)), "right": n.B(a, b, c)}
    ijk = ("" if max(i, j, k) < 10 else ",").join(map(str, (i, j, k)))
    yield from say("refutation.third", i=i, j=j, k=k, ijk=ijk, **numbers)


def _vertical(n: _Numbers, i: int, j: int, k: int, m: int) -> Iterator[object]:
    """V_ij K_km = omega(V_ij) K_km fails, with omega(V) = V K_11/K_11."""
    a, b, c, e = map(n.metric.labels.index, (i, j, k, m))
    yield from _candidate_lines(n, (a, b))
    H, K = {x: n.candidate(x) for x in (a, b)}, n.metric.K

    def vertical(f: RationalFunction) -> Any:
        second = n.along(a, n.along(b, f)) - n.along(b, n.along(a, f))
        return n.of(second) - H[a] * n.of(n.along(b, f)) + H[b] * n.of(n.along(a, f))

    first, left = vertical(K[0][0]), vertical(K[c][e])
    omega = first / n.of(K[0][0])
    numbers = {"first": first, "omega": omega, "left": left, "right": omega * n.of(K[c][e])}
    values = {name: number(shown(x)) for name, x in numbers.items()}
    one = n.metric.labels[0]
    names = {"V": f"V{pair(i, j)}", "K_kl": f"K{pair(k, m)}", "K_11": f"K{pair(one, one)}"}
    yield from say("refutation.vertical", i=i, j=j, **values, **names)


ARGUMENTS: Mapping[Argument, Callable[..., Iterator[object]]] = {
    "candidate": _no_candidate,
    "vertical": _vertical,
}
"""The argument made of an identity that fails, by its kind."""


def failure_lines(block: Block | None, failure: Identity) -> Iterator[object]:
    """Yield an identity that fails: its sides where they are short, and their values."""
    claim, times = failure.claim, failure.factor
    places = [*dict.fromkeys(re.findall(rf"\bK({PAIR})", claim))]
    rows = _entries(block.metric, block.notation.weights, places) if block else []
    where = ", where" if rows else "."
    yield from say("refutation.needed", claim=Text(claim, "claim"), where=where)
    yield from (Equations(tuple(rows)),) if rows else ()
    divisor = _divisor(failure, times)
    sides = _sides(block.parameterization, failure, divisor) if block else None
    if times and (sides is None or divisor == 1):
        yield from say("refutation.cleared", factor=Text(times, "claim"))
    yield from _values(failure, sides)


def _values(failure: Identity, sides: tuple[Expr, ...] | None) -> Iterator[object]:
    """Yield what both sides are at the point, or what they differ by."""
    names = (Text(x.removeprefix("grad "), "claim") for x in failure.derivative)
    values = {"path": listing("{0}", zip(names)), "point": values_at(failure)}
    alike = "_alike" * bool(failure.derivative)
    if sides is None:
        yield from say(f"refutation.differ{alike}", residual=number(failure.residual), **values)
        return
    values_of_sides = (_at(side, failure) for side in sides)
    shown_values = (
        x if x.is_Rational else Text(str(sympy.N(x, 12)), "digits") for x in values_of_sides
    )
    numbers = listing("`{0}`", zip(shown_values))
    told = tell("{numbers} at {point}", numbers=numbers, point=values["point"])
    if max(len(str(side)) for side in sides) < SHORT and any(x.free_symbols for x in sides):
        left, right = sides
        told = tell("`{a}` and `{b}`, which are {values}", a=left, b=right, values=told)
    yield from say(f"refutation.sides{alike}", sides=told, **values)


SHORT = 40
"""Characters of a side that is written out."""


def _divisor(failure: Identity, times: str) -> Expr:
    """Return what both sides were multiplied by, or 1 where that is 0 at the point."""
    try:
        factor = read(times.replace("`", "") or "1")
    except DeriveError:
        return sympy.S.One
    return sympy.S.One if abs(_at(factor, failure)) < NEAR else factor


def _sides(p: Parameterization, failure: Identity, factor: Expr) -> tuple[Expr, ...] | None:
    """Return both sides, differentiated along the flow where that is what differs."""
    if len(failure.left) + len(failure.right) > LARGEST:
        return None
    try:
        sides = [read(x) for x in (failure.left, failure.right)]
    except DeriveError:
        return None
    if factor != 1:
        sides = [sympy.factor(side / factor) for side in sides]
    names = {name: Symbol(name) for name in (*p.weights, *p.parameters)}
    for name in failure.derivative:
        F = to_sympy(p.trees[p.labels.index(int(name.removeprefix("grad F")))])
        slopes = [F.diff(names[w]) for w in p.weights]
        moves = p.geometry.raised(slopes, lambda r: to_expr(r, names))
        pairs = list(zip(p.weights, moves, strict=True))
        sides = [sympy.Add(*(move * side.diff(names[w]) for w, move in pairs)) for side in sides]
    return tuple(sides)


def _at(side: Expr, failure: Identity) -> Expr:
    exact = {PI: sympy.pi} | {name: sympy.Rational(str(v)) for name, v in failure.point}
    return side.subs({s: exact[s.name] for s in side.free_symbols})
