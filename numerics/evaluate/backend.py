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
        return functools.partial(self._evaluate, *_function(tuple(expressions), "numpy"))

    def _evaluate(
        self, names: Sequence[str], function: Callable[..., Sequence[object]], values: Values
    ) -> list[Array]:
        shape = np.broadcast_shapes(*map(np.shape, values.values()))
        results = function(*(self.array(values[name]) for name in names))
        return [
            np.broadcast_to(x, shape) if x.shape != shape else x for x in map(self.array, results)
        ]

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
                return list(map(_real, function(*point)))
            except (ZeroDivisionError, ValueError, OverflowError):
                return undefined

        return functools.partial(_point_by_point, names, at, len(expressions))

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


def _point_by_point(
    names: Sequence[str], at: Callable[..., list[Number]], count: int, values: Values
) -> list[Array]:
    """Return *count* numbers at each point of the arrays, as arrays of their shape."""
    shape = np.broadcast_shapes(*map(np.shape, values.values()))
    arrays = (np.asarray(values[name], dtype=object) for name in names)
    arguments = [np.broadcast_to(array, shape).flat for array in arrays]
    points = zip(*arguments, strict=True) if names else itertools.repeat((), math.prod(shape))
    results = np.empty((math.prod(shape), count), dtype=object)
    for row, point in enumerate(points):
        results[row] = at(*point)
    return [column.reshape(shape) for column in results.T]


def _real(value: Number) -> Number:
    """Return an mpf; nan for a complex number, which no function here should have."""
    return mpmath.nan if isinstance(value, mpmath.mpc) else mpmath.mpf(value)
