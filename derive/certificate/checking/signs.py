"""Which signs hold for every start that satisfies some conditions, and what stays other than 0."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import combinations, product
from typing import NamedTuple

from flint import fmpq, fmpz_mpoly

from derive.certificate.checking.flow import Field
from derive.certificate.checking.function import (
    Function,
    constant,
    leading,
    not_zero,
    remainder,
    root_of,
    sign,
)
from derive.certificate.checking.reading import Call
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import Rejected, names_in, require

MEET = re.compile(r"no two real roots of the polynomial of (\w+) meet along the flow")
LARGEST, MARGIN = 60, 1024  # terms of a sum; how much larger a sum of squares may be
END = " at the limit of the flow"
CONDITION = re.compile(r"(.+) (> 0|< 0|!= 0|keeps its sign along the flow)")


class Sign(NamedTuple):
    """The sign of what has it wherever it is not 0; 0 if none is shown.

    It is nowhere 0 where its *zeros* are not, found when asked for; without any it is so anyway.
    """

    value: int
    zeros: Callable[[], list[fmpz_mpoly]]


class Conditions:
    """Conditions such as "a_0 > 0", "D - 2 != 0" and "a keeps its sign along the flow".

    They hold at the start in numbers. A weight has a sign along the leaf where it is said to keep
    it; then signs of functions of the weights are those on the whole leaf.
    """

    def __init__(
        self, space: Space, texts: Iterable[str] = (), names: Collection[str] | None = None
    ) -> None:
        self.space, self.signs, self.others = space, dict[str, int](), set[str]()
        self.generic, self.meet = dict[str, None](), set[str]()
        self.positive = list[fmpz_mpoly]()
        self._sums, self._known = dict[str, Sign](), list[object]()
        self.take(texts, {*space.names} if names is None else names)

    def take(self, texts: Iterable[str], names: Collection[str]) -> None:
        """Take conditions, as far as they are about these names, and not of the end of the flow."""
        for text in texts:
            found, parts = MEET.fullmatch(text), CONDITION.fullmatch(text)
            require(found or parts or text.endswith(END), f"{text!s:.60} is no condition")
            if found:
                self.meet.add(found[1])
            elif parts and names_in([parts[1]]) <= {*names}:
                self.add(parts[1], parts[2])

    def add(self, text: str, relation: str) -> None:
        """Add a condition that the start in numbers satisfies: of the weights, and at w_0."""
        f = self.space.read(text)
        value, parts = f.at(self.space.start), [*factors(f)]
        holds = {"> 0": value > 0, "< 0": value < 0}.get(relation, True)
        require(holds and sign(value), f"the start does not satisfy {text:.60} {relation}")
        at_start = (p for p, _ in factors(self.space.near_start(f)))  # where calls are those here
        self.others |= {str(p) for p, _ in parts}
        self.others |= {str(p) for p in at_start if self.space.is_of_constants(self.space.of(p))}
        odd = [p for p, n in parts if n % 2]
        if relation.startswith("keeps"):
            self.space.signs.append(f)  # the sign that it keeps is the one at the start
        open_ = [p for p in odd if not self.of(p).value] if len(odd) > 1 else odd
        if relation != "!= 0" and len(open_) == 1:
            (p,) = open_
            self.signs[str(p)] = sign(self.space.of(p).at(self.space.start))
            self.positive.append(self.signs[str(p)] * p)

    def sign_of(self, f: Function) -> int:
        """Return the sign of a function that is not 0 at the start, as far as shown, or 0."""
        return self.sign_anywhere(f) if not_zero(f.at(self.space.start)) else 0

    def sign_anywhere(self, f: Function, before: float = math.inf) -> int:
        """Return the sign that a function has wherever it is not 0, by those of its factors."""
        content = math.prod(f.ring.factor(side)[0] for side in (f.top, f.bottom))
        signs = (self.of(p, before).value for p, n in factors(f) if n % 2)
        return math.prod(signs, start=sign(fmpq(content)))

    def keeps_sign(self, p: fmpz_mpoly) -> bool:
        """Tell whether p is shown to have a sign, and no zero."""
        found = self.of(p)
        return bool(found.value) and not found.zeros()

    def of(self, p: fmpz_mpoly, before: float = math.inf) -> Sign:
        """Return what is shown of p: by itself, or as of beta + 1 where beta - 1 > 0.

        Of the argument of a call that is by what has names *before* it: nothing goes in a circle.
        """
        alone = self._alone(p)
        known = (q for q in self.positive if max(self.space.of(q).variables) < before)
        shifts = ((p - n * q, n) for q in known for n in (1, -1))
        above = cache(lambda: next((n for rest, n in shifts if self._of_sum(rest).value == n), 0))
        return Sign(alone.value or above(), lambda: [] if above() else alone.zeros())

    def _alone(self, p: fmpz_mpoly) -> Sign:
        """Return what is shown of a polynomial, what is positive not taken from it."""
        found, given = self._of_sum(p), self.signs.get(str(p)) or -self.signs.get(str(-p), 0)
        met = {str(p), str(-p)} & self.others
        return Sign(given or found.value, list if met else found.zeros)

    def _of_sum(self, p: fmpz_mpoly) -> Sign:
        """Return what is shown of a sum or difference, kept as long as all it is by is the same."""
        taken = (self.signs, self.others, self.positive, self.space.known, self.space.generators)
        known: list[object] = [x.copy() for x in taken]
        if known != self._known:
            self._sums, self._known = {}, known
        if (key := str(p)) not in self._sums:
            self._sums[key] = self._of_squares(p)
        return self._sums[key]

    def _of_squares(self, p: fmpz_mpoly) -> Sign:
        """Return what is shown of a sum of squares, as all are that have a sign, or a difference.

        It is nowhere 0 if it is more than a part of a term that is so.
        """
        names = {k: self._of_name(k) for k, n in enumerate(p.degrees()) if n > 0}
        signs = {k: name.value for k, name in names.items() if name.value}
        gens = enumerate(p.context().gens())
        image = p.compose(*(x * x * signs[k] if k in signs else x for k, x in gens))
        value = is_square_sum(image) - is_square_sum(-image)

        def zeros() -> list[fmpz_mpoly]:
            open_ = list[fmpz_mpoly]()
            for e in image.to_dict():
                open_ = [q for k, n in enumerate(e) if n for q in names[k].zeros()]
                term = image.context().from_dict({e: value})
                even = not any(n % 2 for n in e)
                if even and not open_ and is_square_sum(value * (image * MARGIN - term)):
                    return []
            return open_ if len(p) == 1 else [p]

        return Sign(value, zeros) if value else self._of_difference(p)

    def _of_name(self, k: int) -> Sign:
        """Return what is shown of a name or call: exponentials and powers are positive.

        A logarithm, of |u|, has the sign of u^2 - 1; asinh and atan have that of u.
        """
        call, symbol = self.space.call_at(k), self.space.symbols[k].top
        if call and call.kind in ("exp", "power"):
            return Sign(1, list)
        given, others = self.signs.get(str(symbol), 0), self.others
        if call and call.kind in ("log", "asinh", "atan"):
            u = call.argument
            found = self._of_function(u**2 - 1 if call.kind == "log" else u, k)
            return Sign(found.value or given, found.zeros)
        return Sign(given, lambda: [symbol] * (str(symbol) not in others))

    def _of_function(self, f: Function, before: int = 0) -> Sign:
        """Return what is shown of a function of names and calls that come before."""
        value = self.sign_anywhere(f, before)
        return Sign(value, lambda: [q for p, _ in factors(f) for q in self.of(p).zeros()])

    def _of_difference(self, p: fmpz_mpoly) -> Sign:
        """Return what is shown of c (exp(u) - r) or a + b sqrt(A), by what has the same zeros."""
        names = (k for k, n in enumerate(p.degrees()) if n and len(p) <= LARGEST)
        for k, call in ((k, call) for k in names if (call := self.space.call_at(k))):
            if call.kind == "exp" and (same := self._shifted_exponent(p, k, call)) is not None:
                return self._of_function(same)
            root = call.kind == "power" and root_of(call.exponent) == 2
            if root and call.argument.bottom.is_one():
                return self._of_root(p, k, call.argument.top)
        return Sign(0, lambda: [p])

    def _shifted_exponent(self, p: fmpz_mpoly, k: int, call: Call) -> Function | None:
        """Return c (u - log r), which has the sign of p = c (exp(u) - r), where p is so."""
        logs = {constant(log.argument): log.image for log in self.space.known if log.kind == "log"}
        logs[fmpq(1)] = self.space.number(0)
        c = p.derivative(k)
        if rest := c * self.space.symbols[k].top - p:
            r = fmpq(rest.leading_coefficient(), c.leading_coefficient())
            if r > 0 and r in logs and rest * r.q == c * r.p:
                return self.space.of(c) * (call.argument - logs[r])
        return None

    def _of_root(self, p: fmpz_mpoly, k: int, A: fmpz_mpoly) -> Sign:
        """Return what is shown of p = a + b sqrt(A), nowhere 0 where a^2 - b^2 A is not.

        It has the sign of a where that is positive, and of b where it is negative.
        """
        of, (a, b) = self.space.of, self.space.parts(p, k, A)
        apart = self._of_function(of(a**2 - b**2 * A))
        larger = self.sign_anywhere(of(b if apart.value < 0 else a), 0)
        return Sign(abs(apart.value) * larger, apart.zeros)

    def move(self, K: Function) -> None:
        """Take that K is not 0 at w_0, without which beta does not move from there."""
        self.others |= {str(p) for p, _ in self.space.factor(self.space.near_start(K).top)[1]}

    def _is_given(self, p: fmpz_mpoly) -> bool:
        """Tell whether p is said not to be 0, or what it is a factor of with its conjugate."""
        norms = [p, *(norm.top for _, norm in self.space.conjugates(p))]
        return any(all(str(q) in self.others for q, _ in self.space.factor(n)[1]) for n in norms)

    def _factors_at_start(self, f: Function) -> Iterator[tuple[fmpz_mpoly, int]]:
        near = self.space.near_start(f)
        require(not near.top.is_zero(), "what must not be 0 is so at the start")
        return factors(near)

    def missing(self, functions: Iterable[Function], divisors: Iterable[fmpz_mpoly]) -> list[str]:
        """Return the conditions without which functions may change sign, or divisors vanish.

        Functions of weights are taken at w_0, where calls stay what they are; of beta, everywhere.
        """
        space, missing = self.space, dict[str, None]()
        wanted = [(p, n) for f in functions for p, n in self._factors_at_start(f)]
        wanted += [(p, 2) for d in divisors for p, _ in self._factors_at_start(space.of(d))]
        for p, n in wanted:
            if n % 2 == 0 and self._is_given(p):
                continue
            found = self.of(p)
            if not found.value:
                value = space.of(p).at(space.start)
                relation = "!= 0" if n % 2 == 0 else "> 0" if value > 0 else "< 0"
                missing[f"{space.written(p)} {relation}"] = None
            elif (zeros := found.zeros()) == [p] and space.is_of_constants(space.of(p)):
                self.generic[space.written(p)] = None
            else:
                missing |= {f"{space.written(q)} != 0": None for q in zeros}
        return list(missing)


def is_square_sum(p: fmpz_mpoly) -> bool:
    """Tell whether p is a sum of squares of polynomials in monomials whose squares p has.

    Its first and its last term, which are no products of others, have to be squares themselves.
    """
    if not all(_is_square(p, k) for k in {0, len(p) - 1} if p):
        return False
    known = {tuple(map(int, e)): fmpq(int(c)) for e, c in p.to_dict().items()}
    squares = [e for e, c in known.items() if c > 0 and not any(n % 2 for n in e)]
    if len(squares) > LARGEST:
        return len(squares) == len(known)
    gram = {(k, k): known.pop(e) for k, e in enumerate(squares)}
    pairs = dict[tuple[int, ...], list[tuple[int, int]]]()
    for (i, u), (j, v) in combinations(enumerate(squares), 2):
        pairs.setdefault(tuple((m + n) // 2 for m, n in zip(u, v, strict=True)), []).append((i, j))
    for middle, at in pairs.items():
        half = known.pop(middle, fmpq(0)) / (2 * len(at))
        gram |= {place: half for i, j in at for place in ((i, j), (j, i))}
    return not known and _is_semidefinite(gram, len(squares))


def _is_square(p: fmpz_mpoly, k: int) -> bool:
    """Tell whether a term has a positive coefficient and even exponents."""
    return bool(p.coefficient(k) > 0) and not any(n % 2 for n in p.monomial(k))


def _is_semidefinite(gram: dict[tuple[int, int], fmpq], size: int) -> bool:
    """Tell whether a symmetric matrix has no negative eigenvalue, by elimination."""
    for k in range(size):
        row = {j: gram[k, j] for j in range(k, size) if gram[k, j]}
        pivot = row.get(k, 0)
        if pivot < 0 or (pivot == 0 and row):
            return False
        for i, j in product(row, row):
            gram[i, j] -= row[i] * row[j] / pivot
    return True


def bounds(p: fmpz_mpoly, q: fmpz_mpoly) -> bool:
    """Tell whether |q| <= c |p| for a number c: by sums of squares c |p| + q and c |p| - q."""
    signed = (p * MARGIN, p * -MARGIN)
    return any(is_square_sum(c + q) and is_square_sum(c - q) for c in signed)


def factors(f: Function) -> Iterator[tuple[fmpz_mpoly, int]]:
    """Yield the irreducible factors of a quotient with their multiplicities."""
    for side in (f.top, f.bottom):
        yield from f.ring.factor(side)[1]


class Kept:
    """What has to stay other than 0 along fields with bounded speeds, one thing after the other.

    F, its fields and all that is printed are smooth as long as no divisor, radicand, argument of a
    logarithm, base of a power and no coefficient that solves a relation vanishes. Reading a text
    yields these: :class:`derive.certificate.checking.reading.Reading`. Take a time up to which all
    of them are other than 0, with weights that stay finite. A function p is so at that time too if

    law: p^2 >= c for a conserved c > 0;
    sign: all calls in p are smooth there, and p has a sign and no zero by the conditions;
    slope: X_a p = h_a p or |X_a p| <= c |h_a p|, where the h_a stay finite, and p is not 0 at w_0;
    value: p is a factor of the numerator of a function that is not 0 there, whose denominator is
        not 0; or of the denominator of one that is finite there, whose numerator is not 0.

    A call is smooth, an h finite, a denominator not 0 only by what was shown before: nothing goes
    in a circle. What nothing shows is a condition, on which the rest may then rely. Without any
    fields it is what is other than 0 however fast the weights move.

    *values* are functions that are finite and not 0, *finite* ones finite, all along the flow;
    *from_start* are those shown by their slopes, which are not 0 at w_0.
    """

    def __init__(
        self,
        fields: Sequence[Field],
        signs: Conditions,
        laws: Iterable[str],
        values: Sequence[Function] = (),
        finite: Sequence[Function] = (),
    ) -> None:
        self.fields, self.signs, self.laws, self.space = fields, signs, laws, signs.space
        self.values, self.finite = values, [*values, *finite]
        self.shown, self.from_start = set[str](), list[fmpz_mpoly]()

    def left(self, wanted: Iterable[Function]) -> list[fmpz_mpoly]:
        """Return what is not shown, in the order in which it is taken as a condition."""
        parts = {str(p): p for f in wanted for p, _ in factors(f)}
        aids = {str(p): p for f in self.finite for p, _ in factors(f)}
        open_ = [p for p in {**parts, **aids}.values() if not self._holds(p)]
        open_.sort(key=lambda p: (str(p) not in parts, max(self.space.of(p).variables), len(p)))
        found = list[fmpz_mpoly]()
        while open_ and str(open_[0]) in parts:
            p = next(filter(self._is_shown, open_), None)
            if p is None:
                found.append(p := open_[0])
            open_.remove(p)
            self.shown.add(str(p))
        return found

    def _holds(self, p: fmpz_mpoly) -> bool:
        """Tell whether p was shown before; constants are not 0 by conditions on the start."""
        return str(p) in self.shown or self.space.is_of_constants(self.space.of(p))

    def _is_shown(self, p: fmpz_mpoly) -> bool:
        f = self.space.of(p)
        if all(map(self._is_smooth, self.space.calls_in(f))) and self.signs.keeps_sign(p):
            return True
        return self._has_value(p) or self.stays_away(f) or self._is_by_slopes(p)

    def _is_finite(self, f: Function) -> bool:
        """Tell whether a function stays finite: its denominator is not 0, and its calls are."""
        apart = all(self._holds(p) for p, _ in self.space.factor(f.bottom)[1])
        return apart and all(map(self._is_call_finite, self.space.calls_in(f)))

    def _is_call_finite(self, call: Call) -> bool:
        if call.kind.startswith("Integral"):  # its integrand is finite at its end
            k = self.space.symbols.index(call.image) - self.space.size
            return all(map(self._is_finite, self.space.slopes[k]))
        rooted = call.kind == "power" and root_of(call.exponent)
        plain = rooted or call.kind not in ("power", "log")
        return self._is_finite(call.argument) if plain else self._is_smooth(call)

    def _is_smooth(self, call: Call) -> bool:
        based = call.kind in ("power", "log")
        apart = not based or all(self._holds(p) for p, _ in factors(call.argument))
        return apart and self._is_finite(call.argument)

    def _has_value(self, p: fmpz_mpoly) -> bool:
        """Tell whether p divides one side of a function that is finite, or not 0, as its other."""
        sides = [(f.top, f.bottom) for f in self.values]
        sides += [(f.bottom, f.top) for f in self.finite]
        of = self.space.of
        for side, other in sides:
            if not (side % p).is_zero() or not self._is_finite(of(side / p)):
                continue
            rests = [self._where(p, q) for q, _ in self.space.factor(other)[1]]
            parts = [q for r in rests for q, _ in self.space.factor(r)[1]]
            if not any(r.is_zero() for r in rests) and all(map(self._holds, parts)):
                self.from_start += [q for q in parts if str(q) not in self.shown]
                return True
        return False

    def _where(self, p: fmpz_mpoly, q: fmpz_mpoly) -> fmpz_mpoly:
        """Return q where p is 0, as far as p gives a variable and q stays finite; else q."""
        if self._holds(q) or not self._is_finite(self.space.of(q)):
            return q
        monic = (k for k, n in enumerate(p.degrees()) if n and leading(p, k).is_constant())
        return next((remainder(q, p, k)[0] for k in monic), q)

    def _is_by_slopes(self, p: fmpz_mpoly) -> bool:
        """Tell whether all |X_a p| <= |h_a p| with h_a that stay finite, if speeds are bounded."""
        space = self.space
        for x in self.fields:
            slope = space.along(x, space.of(p))
            by = bounds(p, slope.top)
            h = Function(space, space.one, slope.bottom) if by else space.quotient(slope, p)
            if not self._is_finite(h):
                return False
        self.from_start.append(p)
        return bool(self.fields)

    @cached_property
    def _positive_laws(self) -> list[Function]:
        """Laws, and sums of these, with the signs that make them positive at w_0."""
        laws = list[Function]()
        for text in self.laws:
            with contextlib.suppress(Rejected):  # its calls may not be known here
                law = self.space.read(text)
                sign = self.signs.sign_of(self.space.near_start(law))
                laws += [law * sign] if sign and self.space.kept(law) else []
        return laws

    def stays_away(self, f: Function) -> bool:
        """Tell whether f^2 >= t c for a conserved c > 0 and a t > 0 with which a term cancels."""
        for c in self._positive_laws:
            above, below = (f.top**2 * c.bottom).to_dict(), (c.top * f.bottom**2).to_dict()
            ratios = {fmpq(above[m], below[m]) for m in above.keys() & below.keys()}
            if any(t > 0 and self.signs.sign_anywhere(f * f - c * t) == 1 for t in ratios):
                self.from_start.append(c.top)
                return True
        return False
