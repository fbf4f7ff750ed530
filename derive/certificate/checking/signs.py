"""Which signs hold for every start that satisfies some conditions, or along the whole leaf."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

from flint import fmpq, fmpz_mpoly

from derive.certificate.checking.function import (
    Function,
    constant,
    not_zero,
    remainder,
    root_of,
    sign,
)
from derive.certificate.checking.reading import Known
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import names_in, require

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
        """Add a condition that the start in numbers satisfies."""
        f = self.space.read(text)
        value, parts = f.at(self.space.start), [*factors(f)]
        holds = {"> 0": value > 0, "< 0": value < 0}.get(relation, True)
        require(holds and sign(value), f"the start does not satisfy {text:.60} {relation}")
        self.others |= {str(p) for p, _ in parts}
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

    def have_one_sign(self, functions: Iterable[Function]) -> bool:
        """Tell whether functions are shown to have one sign, all the same, wherever not 0."""
        signs = {*map(self.sign_of, functions)}
        return len(signs) == 1 and 0 not in signs

    def sign_anywhere(self, f: Function, of: Callable[[fmpz_mpoly], Sign] | None = None) -> int:
        """Return the sign that a function has wherever it is not 0, by those of its factors."""
        content = f.top.factor()[0] * f.bottom.factor()[0]
        signs = ((of or self.of)(p).value for p, n in factors(f) if n % 2)
        return math.prod(signs, start=sign(fmpq(content)))

    def keeps_sign(self, p: fmpz_mpoly) -> bool:
        """Tell whether p is shown to have a sign, and no zero."""
        found = self.of(p)
        return bool(found.value) and not found.zeros()

    def of(self, p: fmpz_mpoly) -> Sign:
        """Return what is shown of p: by itself, or as of beta + 1 where beta - 1 > 0."""
        alone = self._alone(p)
        shifts = ((p - n * q, n) for q in self.positive for n in (1, -1))
        above = cache(lambda: next((n for rest, n in shifts if self._of_terms(rest).value == n), 0))
        return Sign(alone.value or above(), lambda: [] if above() else alone.zeros())

    def _alone(self, p: fmpz_mpoly) -> Sign:
        """Return what is shown of a polynomial, what is positive not taken from it."""
        found, given = self._of_terms(p), self.signs.get(str(p)) or -self.signs.get(str(-p), 0)
        squares = 0 if found.value else is_square_sum(p) - is_square_sum(-p)
        if squares:
            least = (squares * p).to_dict().get((0,) * len(p.degrees()), 0)
            apart = least and is_square_sum(squares * p * MARGIN - least)
            found = Sign(squares, lambda: [] if apart else [p])
        met = {str(p), str(-p)} & self.others
        return Sign(given or found.value, list if met else found.zeros)

    def _of_terms(self, p: fmpz_mpoly) -> Sign:
        """Return what is shown of a sum by its terms, or by what decides between two of them."""
        terms = [self._of_term(exponents, c) for exponents, c in p.to_dict().items()]
        signs = {term.value for term in terms}
        if len(signs) != 1 or 0 in signs:
            return self._of_difference(p)

        def zeros() -> list[fmpz_mpoly]:
            each = [term.zeros() for term in terms]
            return [] if not all(each) else each[0] if len(terms) == 1 else [p]

        return Sign(signs.pop(), zeros)

    def _of_term(self, exponents: Sequence[int], coefficient: int) -> Sign:
        names = [(self._of_name(k), n) for k, n in enumerate(exponents) if n]
        values = (name.value for name, n in names if n % 2)
        value = math.prod(values, start=sign(fmpq(coefficient)))
        return Sign(value, lambda: [p for name, _ in names for p in name.zeros()])

    def _of_name(self, k: int) -> Sign:
        """Return what is shown of a name or call: exponentials and powers are positive.

        A logarithm has the sign of u^2 - 1.
        """
        call, symbol = self._call(k), self.space.symbols[k].top
        if call and call.kind in ("exp", "power"):
            return Sign(1, list)
        given, others = self.signs.get(str(symbol), 0), self.others
        if call and call.kind == "log":
            found = self._of_function(call.argument**2 - 1)
            return Sign(found.value or given, found.zeros)
        return Sign(given, lambda: [symbol] * (str(symbol) not in others))

    def _of_function(self, f: Function) -> Sign:
        """Return what is shown of a function of names and calls that come before."""
        value = self.sign_anywhere(f, self._alone)
        return Sign(value, lambda: [q for p, _ in factors(f) for q in self.of(p).zeros()])

    def _call(self, k: int) -> Known | None:
        """Return the call that a name is, if it is one."""
        calls = self.space.generators[max(k - self.space.size, 0) :]
        return calls[0] if k >= self.space.size and calls else None

    def _of_difference(self, p: fmpz_mpoly) -> Sign:
        """Return what is shown of c (exp(u) - r), or of a + b sqrt(A).

        The former has the sign of c (u - log r). The latter has that of a where a^2 >= b^2 A, and
        that of b where a^2 <= b^2 A. Both are nowhere 0 where these, or a^2 - b^2 A, are nowhere 0.
        """
        of, known = self.space.of, self.space.known
        logs = {constant(call.argument): call.image for call in known if call.kind == "log"}
        logs[fmpq(1)] = self.space.number(0)
        for k in (k for k, n in enumerate(p.degrees()) if n and len(p) <= LARGEST):
            call, symbol = self._call(k), self.space.symbols[k].top
            slope = p.derivative(k)
            if call is not None and call.kind == "exp" and (rest := slope * symbol - p):
                r = fmpq(rest.leading_coefficient(), slope.leading_coefficient())
                if r > 0 and r in logs and rest * r.q == slope * r.p:
                    return self._of_function(of(slope) * (call.argument - logs[r]))
            if call is None or call.kind != "power" or root_of(call.exponent) != 2:
                continue
            if not call.argument.bottom.is_one():
                continue
            below = call.argument.top
            p, _ = remainder(p, symbol**2 - below, k)
            slope = p.derivative(k)
            rest = p - slope * symbol
            apart = self._of_function(of(rest**2 - slope**2 * below))
            larger = self.sign_anywhere(of(slope if apart.value < 0 else rest), self._alone)
            return Sign(abs(apart.value) * larger, apart.zeros)
        return Sign(0, lambda: [p])

    def missing(self, functions: Iterable[Function], divisors: Iterable[fmpz_mpoly]) -> list[str]:
        """Return the conditions without which functions may change sign, or divisors vanish.

        Functions of weights are taken at w_0, where calls stay what they are.
        """
        space, missing = self.space, dict[str, None]()
        wanted = [(p, n) for f in functions for p, n in factors(space.near_start(f))]
        wanted += [(p, 2) for d in divisors for p, _ in factors(space.near_start(space.of(d)))]
        for p, n in wanted:
            if n % 2 == 0 and str(p) in self.others:
                continue
            found = self.of(p)
            if not found.value:
                value = space.of(p).at(space.start)
                relation = "!= 0" if n % 2 == 0 else "> 0" if value > 0 else "< 0"
                missing[f"{space.written(p)} {relation}"] = None
            elif (zeros := found.zeros()) == [p]:
                self.generic[space.written(p)] = None
            else:
                missing |= {f"{space.written(q)} != 0": None for q in zeros}
        return list(missing)


def is_square_sum(p: fmpz_mpoly) -> bool:
    """Tell whether p is a sum of squares of polynomials in monomials whose squares p has."""
    known = {tuple(map(int, e)): fmpq(int(c)) for e, c in p.to_dict().items()}
    squares = [e for e, c in known.items() if c > 0 and not any(n % 2 for n in e)]
    if len(squares) > LARGEST:
        return False
    gram = {(k, k): known.pop(e) for k, e in enumerate(squares)}
    for (i, u), (j, v) in combinations(enumerate(squares), 2):
        middle = tuple((m + n) // 2 for m, n in zip(u, v, strict=True))
        gram[i, j] = gram[j, i] = known.pop(middle, fmpq(0)) / 2
    return not known and _is_semidefinite(gram, len(squares))


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
        yield from ((p, int(n)) for p, n in side.factor()[1])
