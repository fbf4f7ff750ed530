"""Roots of numbers and of forms in beta, as the generators of one certificate.

What is used are powers of x^(1/m), x a prime number or an irreducible form, with one m.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from derive.certificate.checking.function import Function, constant
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import Rejected, rational
from derive.certificate.writing.definitions import Definitions
from derive.certificate.writing.products import calls_in, prime_factors, text_of

ROOM = 40


class Roots(Definitions):
    """Powers of functions of beta in roots of one degree, which are defined as they are needed."""

    def __init__(self, betas: Sequence[str], at: Mapping[str, str], degree: int) -> None:
        super().__init__(Space([], betas, ROOM), [], set())
        self.degree, self.named = degree, dict[str, str]()
        self.space.start = [rational(at[b]) for b in betas]

    def power(self, text: str, exponent: Fraction) -> str:
        """Return a power of a function that is positive at the start."""
        factors = prime_factors(self.space.read(text))
        return "*".join(["1", *(self._root(f, n * exponent) for f, n in factors)])

    def _root(self, f: Function, exponent: Fraction) -> str:
        base, whole = text_of(f if f.at(self.space.start) > 0 else -f), exponent * self.degree
        if whole.denominator > 1:
            raise Rejected("a root of another degree")
        if base not in self.named:
            self.named[base] = self.fresh()
            self.define({"name": self.named[base], "of": f"({base})**(1/{self.degree})"})
        name = self.named[base]
        return f"{name}**({whole})" if whole >= 0 else f"(1/{name}**({-whole}))"

    def read(self, text: str) -> str:
        """Define the roots in a text, and return it."""
        for call in calls_in([text]):
            _, base, e = self.space.call(call)
            n = constant(e)
            if n is None:
                raise Rejected("an exponent is no number")
            self.define({"of": call, "is": self.power(text_of(base), Fraction(int(n.p), int(n.q)))})
        return text
