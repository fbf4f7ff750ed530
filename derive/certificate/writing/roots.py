"""Roots of numbers and of forms in beta, as the generators of one certificate.

What is used are powers of x^(1/m), x a prime number or an irreducible form, with one m.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import sympy
from flint import fmpz_mpoly

from derive.certificate.checking.function import constant, evaluated
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected, rational
from derive.certificate.writing.products import calls_in, text_of

ROOM = 40


class Roots:
    """Powers of functions of beta in roots of one degree, which are defined as they are needed."""

    def __init__(self, betas: Sequence[str], at: Mapping[str, str], degree: int) -> None:
        self.degree, self.entries, self.named = degree, list[JSON](), dict[str, str]()
        self.space = Space([], betas, ROOM)
        self.space.start = [rational(at[b]) for b in betas]

    def power(self, text: str, exponent: Fraction) -> str:
        """Return a power of a function that is positive at the start."""
        f, factors = self.space.read(text), list[str]()
        for side, sign in ((f.top, 1), (f.bottom, -1)):
            content, found = side.factor()
            for prime, n in sympy.factorint(abs(int(content))).items():
                factors.append(self._root(str(prime), sign * n * exponent))
            for p, n in found:
                factors.append(self._root(self._oriented(p), sign * int(n) * exponent))
        return "*".join(["1", *factors])

    def _oriented(self, p: fmpz_mpoly) -> str:
        positive = evaluated(p, self.space.start) > 0
        return text_of(self.space.of(p if positive else -p))

    def _root(self, base: str, exponent: Fraction) -> str:
        whole = exponent * self.degree
        if whole.denominator > 1:
            raise Rejected("a root of another degree")
        if base not in self.named:
            self.named[base] = f"f{len(self.named) + 1}"
            self.define({"name": self.named[base], "of": f"({base})**(1/{self.degree})"})
        return (
            f"{self.named[base]}**({whole})"
            if whole >= 0
            else f"(1/{self.named[base]}**({-whole}))"
        )

    def define(self, entry: JSON) -> None:
        """Add a definition."""
        self.space.define(entry)
        self.entries.append(entry)

    def read(self, text: str) -> str:
        """Define the roots in a text, and return it."""
        for call in calls_in([text]):
            _, base, e = self.space.call(call)
            n = constant(e)
            if n is None:
                raise Rejected("an exponent is no number")
            self.define({"of": call, "is": self.power(text_of(base), Fraction(int(n.p), int(n.q)))})
        return text
