"""Which signs hold for every start that satisfies some conditions, or along the whole leaf."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import combinations, product
from typing import TypeAlias

from flint import fmpq, fmpz_mpoly

from derive.certificate.checking.function import Function, constant, remainder, root_of, sign
from derive.certificate.checking.reading import Known
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import names_in, require

MEET = re.compile(r"no two real roots of the polynomial of (\w+) meet along the flow")
LARGEST, MARGIN = 60, 1024  # terms of a sum; how much larger a sum of squares may be
Deciding: TypeAlias = tuple[tuple[Function, ...], tuple[Function, Function] | None]
END = " at the limit of the flow"
CONDITION = re.compile(r"(.+) (> 0|< 0|!= 0|keeps its sign along the flow)")


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
        open_ = [p for p in odd if not self.sign(p)] if len(odd) > 1 else odd
        if relation != "!= 0" and len(open_) == 1:
            (p,) = open_
            self.signs[str(p)] = sign(self.space.of(p).at(self.space.start))
            self.positive.append(self.signs[str(p)] * p)

    def sign_of(self, f: Function) -> int:
        """Return the sign that a function is shown to have wherever it is not 0, or 0."""
        value, odd = f.at(self.space.start), [p for p, n in factors(f) if n % 2]
        return sign(value) if all(map(self.sign, odd)) else 0

    def have_one_sign(self, functions: Iterable[Function]) -> bool:
        """Tell whether functions are shown to have one sign, all the same, wherever not 0."""
        signs = {*map(self.sign_of, functions)}
        return len(signs) == 1 and 0 not in signs

    def sign_anywhere(self, f: Function, of: Callable[[fmpz_mpoly], int] | None = None) -> int:
        """Return the sign that a function has wherever it is not 0, by those of its factors."""
        content = f.top.factor()[0] * f.bottom.factor()[0]
        signs = ((of or self.sign)(p) for p, n in factors(f) if n % 2)
        return math.prod(signs, start=sign(fmpq(content)))

    def sign(self, p: fmpz_mpoly) -> int:
        """Return the sign that a polynomial is shown to have wherever it is not 0, or 0."""
        if found := self._alone(p):
            return found
        # that of beta + 1 where beta - 1 > 0
        shifts = ((p - sign * q, sign) for q in self.positive for sign in (1, -1))
        return next((sign for rest, sign in shifts if self._of_terms(rest) == sign), 0)

    def _alone(self, p: fmpz_mpoly) -> int:
        """Return the sign of a polynomial by itself, what is positive not taken from it."""
        given = self.signs.get(str(p)) or -self.signs.get(str(-p), 0)
        return given or is_square_sum(p) - is_square_sum(-p) or self._of_terms(p)

    def _of_terms(self, p: fmpz_mpoly) -> int:
        """Return the sign of all terms wherever they are not 0, or by what decides it, or 0."""
        signs = self._signs_of_terms(p)
        if len(signs) == 1 or (deciding := self._deciding(p)) is None:
            return signs.pop() if len(signs) == 1 else 0
        known, sides = deciding
        found = math.prod(self.sign_anywhere(f, self._alone) for f in known)
        return abs(found) * self.sign_anywhere(sides[found == -1], self._alone) if sides else found

    def _signs_of_terms(self, p: fmpz_mpoly) -> set[int]:
        """Return the signs of the terms, wherever these are not 0; 0 of an unknown one."""
        signs = set[int]()
        for exponents, coefficient in p.to_dict().items():
            odd = (self._of_name(k) for k, n in enumerate(exponents) if n % 2)
            signs.add(math.prod(odd, start=sign(fmpq(coefficient))))
        return signs

    def _of_name(self, k: int) -> int:
        """Return the sign of a name or call: exponentials and powers are positive.

        A logarithm has the sign of u^2 - 1.
        """
        call, given = self._call(k), self.signs.get(str(self.space.symbols[k].top), 0)
        if call and call.kind == "log":
            return self.sign_anywhere(call.argument**2 - 1, self._alone) or given
        return 1 if call and call.kind in ("exp", "power") else given

    def _call(self, k: int) -> Known | None:
        """Return the call that a name is, if it is one."""
        calls = self.space.generators[max(k - self.space.size, 0) :]
        return calls[0] if k >= self.space.size and calls else None

    def _deciding(self, p: fmpz_mpoly) -> Deciding | None:
        """Return what the sign of c (exp(u) - r), or of a + b sqrt(A), is known by.

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
                    return (of(slope), call.argument - logs[r]), None
            if call is None or call.kind != "power" or root_of(call.exponent) != 2:
                continue
            if not call.argument.bottom.is_one():
                continue
            below = call.argument.top
            p, _ = remainder(p, symbol**2 - below, k)
            slope = p.derivative(k)
            rest = p - slope * symbol
            return (of(rest**2 - slope**2 * below),), (of(rest), of(slope))
        return None

    def keeps_sign(self, p: fmpz_mpoly) -> bool:
        """Tell whether p is shown to have a sign, and no zero."""
        return bool(self.sign(p)) and self._is_nowhere_zero(p)

    def _is_nowhere_zero(self, p: fmpz_mpoly) -> bool:
        """Tell whether a polynomial is shown to be nowhere 0.

        It is a condition; or one of its terms, which have one sign, is nowhere 0; or it is more
        than a condition; or the differences are nowhere 0 by which `_of_terms` knows its sign.
        """
        if {str(p), str(-p)} & self.others:
            return True
        if self._signs_of_terms(p) in ({1}, {-1}):
            terms = ((k for k, n in enumerate(exponents) if n) for exponents in p.to_dict())
            return any(all(map(self._is_name_nowhere_zero, names)) for names in terms)
        if (square := next(filter(is_square_sum, (p, -p)), None)) is not None:
            least = square.to_dict().get((0,) * len(p.degrees()), 0)
            return bool(least) and is_square_sum(square * MARGIN - least)
        if any(self._of_terms(p - n * q) == n for q in self.positive for n in (1, -1)):
            return True
        deciding = self._deciding(p)
        return deciding is not None and all(map(self._is_nonzero, deciding[0]))

    def _is_nonzero(self, f: Function) -> bool:
        """Tell whether a function of names and calls that come before is nowhere 0."""
        return all(self._is_nowhere_zero(p) for p, _ in factors(f))

    def _is_name_nowhere_zero(self, k: int) -> bool:
        call = self._call(k)
        if call is None or call.kind not in ("exp", "power", "log"):
            return str(self.space.symbols[k].top) in self.others
        return call.kind != "log" or self._is_nonzero(call.argument**2 - 1)

    def _where_zero(self, p: fmpz_mpoly) -> list[fmpz_mpoly]:
        """Return what has to be other than 0 for p to be so: p itself, or what decides its sign."""
        symbols = (k for k, n in enumerate(p.degrees()) if n and p == self.space.symbols[k].top)
        deciding = self._deciding(p)
        parts = [call.argument**2 - 1 for k in symbols if (call := self._call(k))]
        parts += [] if deciding is None else deciding[0]
        found = [q for f in parts for q, _ in factors(f) if not self._is_nowhere_zero(q)]
        return found or [p]

    def _rests_on_calls(self, p: fmpz_mpoly) -> bool:
        """Tell whether the sign of p is known by that of a difference, or of a logarithm."""
        calls = map(self._call, (k for k, n in enumerate(p.degrees()) if n))
        of_log = any(call is not None and call.kind == "log" for call in calls)
        mixed = len(self._signs_of_terms(p)) > 1 and not is_square_sum(p) and not is_square_sum(-p)
        return of_log or mixed

    def missing(self, functions: Iterable[Function], divisors: Iterable[fmpz_mpoly]) -> list[str]:
        """Return the conditions without which functions may change sign, or divisors vanish.

        Functions of weights are taken at w_0, where calls stay what they are.
        """
        space, found = self.space, dict[str, None]()
        wanted = [(p, n) for f in functions for p, n in factors(space.near_start(f))]
        wanted += [(p, 2) for d in divisors for p, _ in factors(space.near_start(space.of(d)))]
        for p, n in wanted:
            if n % 2 == 0 and str(p) in self.others:
                continue
            if not self.sign(p):
                value = space.of(p).at(space.start)
                relation = "!= 0" if n % 2 == 0 else "> 0" if value > 0 else "< 0"
                found[f"{space.written(p)} {relation}"] = None
            elif not self._is_nowhere_zero(p):
                if self._rests_on_calls(p):
                    found |= {f"{space.written(q)} != 0": None for q in self._where_zero(p)}
                else:
                    self.generic[space.written(p)] = None
        return list(found)


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
