"""Calls of elementary functions: what they are said to be, and their derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from flint import Ordering, fmpq, fmpz_mpoly, fmpz_mpoly_ctx

from derive.certificate.checking.function import (
    Function,
    Known,
    Value,
    not_zero,
    remainder,
    root_of,
)
from derive.certificate.checking.text import NAME, NotACertificate, Rejected, require

NAMES, TURNS = 400, 400


class Spelled(NamedTuple):
    """A call that a text spells; the exponent is that of a power, else 0."""

    kind: str
    argument: Function
    exponent: Function


class KnownCalls:
    """Weights, constants and generators, and the calls that are known."""

    def __init__(self, weights: Sequence[str], constants: Sequence[str], size: int) -> None:
        given = [*weights, *constants]
        if len(set(given)) < len(given) or not all(NAME.fullmatch(n) for n in given):
            raise NotACertificate("names are letters, digits and underscores, each given once")
        self.size, self.weights, self.work = len(given), len(weights), 0
        require(self.size + size <= NAMES, "there are too many names")
        ring = fmpz_mpoly_ctx.get([f"x{i}" for i in range(self.size + size)], Ordering.degrevlex)
        self.one = ring.constant(1)
        self.symbols = [Function(self, x, self.one) for x in ring.gens()]
        self.names = dict(zip(given, self.symbols, strict=False))
        self.generators: list[Known] = []
        self.known: list[Known] = []
        self.relations: list[tuple[fmpz_mpoly, int]] = []
        self.divisors: dict[str, fmpz_mpoly] = {}
        self.slopes: dict[tuple[int, int], Function] = {}
        self.start: list[Value] = []

    def number(self, x: int | fmpq) -> Function:
        """Return a rational number as a function."""
        return Function(self, self.one * fmpq(x).p, self.one * fmpq(x).q)

    def reduce(self, polynomial: fmpz_mpoly) -> fmpz_mpoly:
        """Return the remainder of a polynomial by all relations, the last first."""
        for relation, k in 2 * self.relations[::-1]:
            polynomial, _ = remainder(polynomial, relation, k)
        return polynomial

    def is_of_constants(self, f: Function) -> bool:
        """Tell whether a function has no weight in it, nor a call of one."""
        varying = [*range(self.weights)]
        for j, (_, u, e, _) in enumerate(self.generators, self.size):
            if any(x.uses(k) for x in (u, e) for k in varying):
                varying.append(j)
        return not any(f.uses(k) for k in varying)

    def find(self, kind: str, argument: Function, exponent: Function | None = None) -> Function:
        """Return what a call was defined to be."""
        return self._among(self.known, Spelled(kind, argument, exponent or self.number(0)))

    def find_at_start(self, kind: str, argument: Function, exponent: Function) -> Function:
        """Return what a call was defined to be, among those with no weight in them."""
        fixed = [
            c
            for c in self.known
            if c.kind == kind and all(map(self.is_of_constants, (c.argument, c.image)))
        ]
        return self._among(fixed, Spelled(kind, argument, exponent))

    def _among(self, known: Sequence[Known], call: Spelled) -> Function:
        for kind, u, e, image in known:
            if kind != call.kind:
                continue
            # Logarithms are those of absolute values.
            for rest in (u - call.argument, u + call.argument)[: 2 if kind == "log" else 1]:
                differ = not_zero(rest.at(self.start))
                if not differ and rest.is_zero() and (e - call.exponent).is_zero():
                    return image
        raise Rejected(f"a call of {call.kind} is used that is not among the definitions")

    def is_call(self, call: Spelled, f: Function, parts: Sequence[tuple[Spelled, fmpq]]) -> bool:
        """Tell whether f is a call, by what pairs (E_i, L_i), |E_i| = exp(L_i), combine to.

        exp(u) = f: u = sum n_i L_i, f = prod |E_i|^n_i; a power is exp(e log u); log|u| = f: the
        other way round. The sign of f is read at the start.
        """
        kind, u, e = call
        if kind == "power":
            if not (f.at(self.start) > 0 and u.at(self.start) > 0):
                return False
            if n := root_of(e):
                return (f**n - u).is_zero()
            u = e * self.find("log", u)
        elif kind not in ("exp", "log"):
            return False
        common = math.lcm(1, *(int(n.q) for _, n in parts))
        total, product = self._combined(parts, common)
        if kind == "log":
            return bool(parts) and (f - total).is_zero() and (u ** (2 * common) - product).is_zero()
        positive = common == 1 and f.at(self.start) > 0
        return positive and (u - total).is_zero() and (f**2 - product).is_zero()

    def _combined(
        self, parts: Sequence[tuple[Spelled, fmpq]], common: int
    ) -> tuple[Function, Function]:
        """Return sum n_i L_i and prod E_i^(2 n_i common)."""
        total, product = self.number(0), self.number(1)
        for call, n in parts:
            E, L = self._pair(call)
            total, product = total + L * self.number(n), product * E ** (2 * int(n * common))
        return total, product

    def _pair(self, call: Spelled) -> tuple[Function, Function]:
        """Return (E, L) with |E| = exp(L) for a call that is known."""
        kind, u, e = call
        image = self.find(kind, u, e)
        if kind == "exp":
            return image, u
        if kind == "log":
            return u, image
        if kind == "asinh":
            return u + self._hypotenuse(u), image
        require(kind == "power", f"{kind} is no function of this kind")
        return image, e * self.find("log", u)

    def _hypotenuse(self, u: Function) -> Function:
        """Return sqrt(u^2 + 1)."""
        return self.find("power", u**2 + self.number(1), self.number(fmpq(1, 2)))

    def is_angle(
        self, u: Function, c: Function, s: Function, parts: Sequence[tuple[Spelled, fmpq]]
    ) -> bool:
        """Tell whether c + i s = prod (cos u_i + i sin u_i)^n_i and u = sum n_i u_i."""
        real, imaginary, total = self.number(1), self.number(0), self.number(0)
        for (kind, angle, e), n in parts:
            require(kind == "cos" and n.q == 1 and abs(n.p) <= TURNS, "angles are added n times")
            x, y = self.find("cos", angle, e), self.find("sin", angle, e)
            y = y * self.number(1 if n > 0 else -1)
            total = total + angle * self.number(n)
            for _ in range(abs(int(n.p))):
                real, imaginary = real * x - imaginary * y, real * y + imaginary * x
        return all(f.is_zero() for f in (u - total, c - real, s - imaginary))

    def slope_of(self, j: int, k: int) -> Function:
        """Return the derivative of the generator at place j by weight or constant k."""
        if (j, k) not in self.slopes:
            kind, u, exponent, f = self.generators[j - self.size]
            total, inner = self.number(0), u.derivative(k)
            if not inner.top.is_zero():
                total = self._slope(self.generators[j - self.size]) * inner
            if kind == "power" and not (change := exponent.derivative(k)).top.is_zero():
                total = total + f * self.find("log", u) * change
            self.slopes[j, k] = total
        return self.slopes[j, k]

    def _slope(self, call: Known) -> Function:
        """Return the derivative of f = kind(u) by u."""
        kind, u, exponent, f = call
        if kind == "exp":
            return f
        if kind == "log":
            return self.number(1) / u
        if kind == "atan":
            return self.number(1) / (u**2 + self.number(1))
        if kind == "cos":
            return self.number(-1) * self.find("sin", u)
        if kind == "sin":
            return self.find("cos", u)
        if kind == "asinh":
            return self.number(1) / self._hypotenuse(u)
        return f * exponent / u
