"""Which signs hold for every start that satisfies some conditions, or along the whole leaf."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import product

from flint import fmpq, fmpz_mpoly

from derive.certificate.checking.function import Function, evaluated, not_zero
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import names_in, require

MEET = re.compile(r"no two real roots of the polynomial of (\w+) meet along the flow")
CONDITION = re.compile(r"(.+) (> 0|< 0|!= 0|keeps its sign along the flow)")


class Conditions:
    """Conditions such as "a_0 > 0", "D - 2 != 0" and "a keeps its sign along the flow".

    They hold at the start in numbers. A weight has a sign along the leaf where it is said to keep
    it; then signs of functions of the weights are those on the whole leaf.
    """

    def __init__(self, space: Space, texts: Iterable[str]) -> None:
        self.space, self.signs, self.others = space, dict[str, int](), set[str]()
        self.generic, self.meet = dict[str, None](), set[str]()
        self.take(texts, {*space.names})

    def take(self, texts: Iterable[str], names: Set[str]) -> None:
        """Take conditions, as far as they are about these names."""
        for text in texts:
            if found := MEET.fullmatch(text):
                self.meet.add(found[1])
                continue
            parts = CONDITION.fullmatch(text)
            require(parts, f"{text!s:.60} is no condition")
            if names_in([parts[1]]) <= names:  # type: ignore[index]
                self.add(*parts.groups())  # type: ignore[union-attr]

    def add(self, text: str, relation: str) -> None:
        """Add a condition that the start in numbers satisfies."""
        f = self.space.read(text)
        value = f.at(self.space.start)
        holds = value > 0 if relation == "> 0" else value < 0 if relation == "< 0" else True
        require(holds and not_zero(value), f"the start does not satisfy {text:.60} {relation}")
        self.others |= {str(p) for p, _ in factors(f)}
        odd = [p for p, n in factors(f) if n % 2]
        if relation not in ("> 0", "< 0", "!= 0"):
            self.space.signs.append(f)  # the sign that it keeps is the one at the start
        if relation != "!= 0" and len(odd) == 1:
            self.signs[str(odd[0])] = 1 if evaluated(odd[0], self.space.start) > 0 else -1

    def sign_of(self, f: Function) -> int:
        """Return the sign that a function is shown to have wherever it is not 0, or 0."""
        value, odd = f.at(self.space.start), [p for p, n in factors(f) if n % 2]
        return 0 if not all(map(self.sign, odd)) or not not_zero(value) else 1 if value > 0 else -1

    def sign_anywhere(self, f: Function) -> int:
        """Return the sign that a function is shown to have wherever it is not 0."""
        content = f.top.factor()[0] * f.bottom.factor()[0]
        signs = (self.sign(p) for p, n in factors(f) if n % 2)
        return math.prod(signs, start=1 if content > 0 else -1) if content else 0

    def sign(self, p: fmpz_mpoly) -> int:
        """Return the sign that a polynomial is shown to have wherever it is not 0, or 0."""
        if found := self.signs.get(str(p)) or -self.signs.get(str(-p), 0):
            return found
        if squares := is_square_sum(p) - is_square_sum(-p):
            return squares
        signs = set[int]()
        for exponents, coefficient in p.to_dict().items():
            odd = (self._of_name(k) for k, n in enumerate(exponents) if n % 2)
            signs.add(math.prod(odd, start=1 if coefficient > 0 else -1))
        return signs.pop() if len(signs) == 1 else 0

    def _of_name(self, k: int) -> int:
        """Return the sign of a name or call; those of exponentials and of powers are known."""
        at = k - self.space.size
        known = 0 <= at < len(self.space.generators)
        known = known and self.space.generators[at].kind in ("exp", "power")
        return 1 if known else self.signs.get(str(self.space.symbols[k].top), 0)

    def _is_signed(self, exponents: Sequence[int]) -> bool:
        return all(self._of_name(k) for k, n in enumerate(exponents) if n)

    def missing(self, functions: Iterable[Function], divisors: Iterable[fmpz_mpoly]) -> list[str]:
        """Return the conditions without which functions may change sign, or divisors vanish.

        Functions of weights are taken at w_0, where calls stay what they are.
        """
        space, found = self.space, dict[str, None]()
        wanted = [(p, n) for f in functions for p, n in factors(space.near_start(f))]
        for d in (space.near_start(Function(space, p, space.one)) for p in divisors):
            wanted += [(p, 2) for p, _ in factors(d)]
        for p, n in wanted:
            if n % 2 == 0 and str(p) in self.others:
                continue
            if self.sign(p):
                if not any(self._is_signed(e) for e in p.to_dict()):
                    self.generic[space.written(p)] = None  # such as a**2 + b**2
            else:
                value = evaluated(p, space.start)
                relation = "!= 0" if n % 2 == 0 else "> 0" if value > 0 else "< 0"
                found[f"{space.written(p)} {relation}"] = None
        return list(found)


def is_square_sum(p: fmpz_mpoly) -> bool:
    """Tell whether p, of degree 2, is a sum of squares: by elimination in its matrix."""
    size, gram = len(p.degrees()), dict[tuple[int, int], fmpq]()
    if p.total_degree() > 2:
        return False
    for exponents, c in p.to_dict().items():
        i, j = ([k for k, n in enumerate(exponents) for _ in range(n)] + [size, size])[:2]
        for at in ((i, j), (j, i)):
            gram[at] = gram.get(at, fmpq(0)) + fmpq(int(c), 2)
    names = sorted({i for i, _ in gram})
    for k in names:
        pivot, row = gram.get((k, k), fmpq(0)), {j: c for (i, j), c in gram.items() if i == k and c}
        if pivot < 0 or (pivot == 0 and row):
            return False
        for i, j in product(row, row):
            gram[i, j] = gram.get((i, j), fmpq(0)) - row[i] * row[j] / pivot
    return True


def factors(f: Function) -> Iterator[tuple[fmpz_mpoly, int]]:
    """Yield the irreducible factors of a quotient with their multiplicities."""
    for side in (f.top, f.bottom):
        yield from ((p, int(n)) for p, n in side.factor()[1])
