"""The two number types that Q is evaluated in: float64 arrays, and object arrays of mpf.

Both run the same algorithms, elementwise, on NumPy arrays; what is undefined becomes nan.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
import numpy as np
import sympy
from sympy import Expr

Array: TypeAlias = np.ndarray[Any, Any]
"""Of float64, or of mpf as objects."""
Number: TypeAlias = Any
"""A float or an mpf, which share no type; or what makes one, of SymPy or the fractions."""
FloatOrArray: TypeAlias = Any
"""A float at one point, an array at many: which one, the shape of the argument tells."""
Interval: TypeAlias = tuple[Number, Number]
Values: TypeAlias = Mapping[str, Number | Array]
"""Numbers, or arrays of one shape, by the name of a symbol."""
Compiled: TypeAlias = Callable[[Values], list[Array]]
GUARD = 15
"""Decimal digits carried beyond those asked for."""


def exact(expression: Expr, values: Mapping[str, Fraction]) -> Expr:
    """Return *expression* with exact numbers for the symbols, matched by name."""
    images = {
        s: sympy.Rational(values[s.name].numerator, values[s.name].denominator)
        for s in expression.free_symbols
        if s.name in values
    }
    return expression.xreplace(images)


def _renamed(expressions: Sequence[Expr]) -> tuple[tuple[str, ...], list[Expr], list[Expr]]:
    """Return the names in order, a safe symbol for each, and the expressions in those.

    SymPy writes Python source from the expressions: no name of the user's may reach it.
    """
    free = {s for e in expressions for s in e.free_symbols}
    names = tuple(sorted({s.name for s in free}))
    safe = {name: sympy.Dummy(f"x{i}", real=True) for i, name in enumerate(names)}
    images = {s: safe[s.name] for s in free}
    return names, [safe[n] for n in names], [e.xreplace(images) for e in expressions]


@functools.lru_cache(maxsize=256)
def _function(
    expressions: tuple[Expr, ...], modules: str
) -> tuple[tuple[str, ...], Callable[..., list[Number]]]:
    """Return the names in order and a function of them; written once for all starts of a Q."""
    names, symbols, renamed = _renamed(expressions)
    return names, sympy.lambdify(symbols, renamed, modules=modules, cse=True)


@dataclass(frozen=True, slots=True)
class Float64:
    """Double precision."""

    digits: int = 15
    bits: int = 53

    def active(self) -> AbstractContextManager[object]:
        """Silence floating point warnings: nan and inf are answers here."""
        return np.errstate(all="ignore")

    def number(self, value: Number) -> float:
        """Convert a Fraction, a float or a SymPy number; inf where it overflows."""
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf

    def array(self, values: object) -> Array:
        """Convert to an array."""
        return np.asarray(values, dtype=np.float64)

    def compile(self, expressions: Sequence[Expr]) -> Compiled:
        """Return what evaluates expressions on arrays of one shape."""
        names, function = _function(tuple(expressions), "numpy")

        def evaluate(values: Values) -> list[Array]:
            arguments = [self.array(values[name]) for name in names]
            shape = np.broadcast_shapes(*(np.shape(x) for x in values.values()))
            results = function(*arguments)
            arrays = [self.array(x) for x in results]
            return [x if x.shape == shape else np.broadcast_to(x, shape) for x in arrays]

        return evaluate

    def roots(self, coefficients: Sequence[Number]) -> list[Number]:
        """Return the real roots of a polynomial, the largest first; highest degree first."""
        if not np.all(np.isfinite(coefficients)):
            return []
        found = np.roots(coefficients)
        real = found.real[np.abs(found.imag) <= 1e-7 * (np.abs(found) + 1e-300)]
        return sorted(map(float, real), reverse=True)


@dataclass(frozen=True, slots=True)
class Multiprecision:
    """Numbers of mpmath with *digits* decimal digits and guard digits."""

    digits: int

    @property
    def bits(self) -> int:
        """The binary digits carried."""
        return math.ceil((self.digits + GUARD) * math.log2(10))

    def active(self) -> AbstractContextManager[object]:
        """Work at this precision, and restore mpmath's own afterwards."""
        context: AbstractContextManager[object] = mpmath.workprec(self.bits)
        return context

    def number(self, value: Number) -> Number:
        """Convert a Fraction, a float, a SymPy number or an mpf."""
        if isinstance(value, sympy.Expr):
            return sympy.N(value, self.digits + GUARD)._to_mpmath(self.bits)
        if isinstance(value, Fraction):
            return mpmath.mpf(value.numerator) / value.denominator
        return mpmath.mpf(value)

    def array(self, values: object) -> Array:
        """Convert to an array of mpf."""
        source = np.asarray(values, dtype=object)
        result = np.empty(source.shape, dtype=object)
        result.flat[:] = [self.number(x) for x in source.flat]
        return result

    def compile(self, expressions: Sequence[Expr]) -> Compiled:
        """Return what evaluates expressions on arrays of one shape."""
        names, function = _function(tuple(expressions), "mpmath")
        undefined = [mpmath.nan] * len(expressions)

        def at(*point: Number) -> list[Number]:
            try:
                return [_real(x) for x in function(*point)]
            except (ZeroDivisionError, ValueError, OverflowError):
                return undefined

        def evaluate(values: Values) -> list[Array]:
            shape = np.broadcast_shapes(*(np.shape(x) for x in values.values()))
            arguments = [
                np.broadcast_to(np.asarray(values[n], dtype=object), shape).flat for n in names
            ]
            points = zip(*arguments, strict=True) if names else [()] * math.prod(shape)
            columns = list(zip(*(at(*point) for point in points), strict=True))
            results = [np.empty(shape, dtype=object) for _ in expressions]
            for result, column in zip(results, columns, strict=True):
                result.flat[:] = column
            return results

        return evaluate

    def roots(self, coefficients: Sequence[Number]) -> list[Number]:
        """Return the real roots of a polynomial, the largest first; highest degree first."""
        stripped = list(itertools.dropwhile(lambda c: not c, coefficients))
        try:
            found = mpmath.polyroots(stripped, maxsteps=500, extraprec=2 * self.bits)
        except (mpmath.libmp.NoConvergence, ZeroDivisionError, ValueError):
            return []
        close = mpmath.mpf(10) ** (-self.digits // 2)
        real = [mpmath.re(x) for x in found if abs(mpmath.im(x)) <= close * abs(x)]
        return sorted(real, reverse=True)


Backend: TypeAlias = Float64 | Multiprecision
"""What an algorithm computes in."""


def _real(value: Number) -> Number:
    """Return an mpf; nan for a complex number, which no function here should have."""
    return mpmath.nan if isinstance(value, mpmath.mpc) else mpmath.mpf(value)
