"""Two number types of any precision: balls of python-flint, which prove digits, and mpmath."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flint
import mpmath
import sympy
from sympy.printing.pycode import MpmathPrinter

_PI = sympy.Symbol("pi_")
_NAMES = ("sqrt", "exp", "log", "asinh", "sinh", "cosh", "tanh", "atan", "erfi")
_SETTINGS = {
    "fully_qualified_modules": False,
    "inline": True,
    "allow_unknown_functions": True,
    "user_functions": {},
}


class Balls:
    """Numbers within known bounds, by arb."""

    name = "arb"

    def __init__(self) -> None:
        self.functions = {n: _of_ball(n) for n in _NAMES} | {"mpf": flint.arb}

    def use(self, bits: int) -> None:
        flint.ctx.prec = bits

    def of(self, x: Any) -> Any:
        return flint.arb(x if isinstance(x, int) else float(x))

    def middle(self, x: Any) -> Any:
        return x.mid()

    def pi(self) -> Any:
        return flint.arb.pi()

    def around(self, x: Any, room: Any) -> Any:
        return x + flint.arb(0, 1) * room

    def finite(self, x: Any) -> bool:
        return bool(x.is_finite())

    def bounds(self, x: Any) -> tuple[Any, Any]:
        """Return a lower and an upper bound of |x|."""
        return x.abs_lower(), x.abs_upper()


def _of_ball(name: str) -> Callable[[Any], Any]:
    function = getattr(flint.arb, name)
    # Of an integer arb.sqrt is nan.
    return lambda x: function(x if isinstance(x, flint.arb) else flint.arb(x))


class Multiprecision:
    """Numbers of mpmath, on gmpy2."""

    name = "mpmath"

    def __init__(self) -> None:
        self.functions = {n: getattr(mpmath, n) for n in _NAMES} | {"mpf": mpmath.mpf}

    def use(self, bits: int) -> None:
        mpmath.mp.prec = bits

    def of(self, x: Any) -> Any:
        return mpmath.mpf(x if isinstance(x, int) else float(x))

    def middle(self, x: Any) -> Any:
        return x

    def pi(self) -> Any:
        return +mpmath.pi

    def around(self, x: Any, room: Any) -> Any:
        return x

    def finite(self, x: Any) -> bool:
        return bool(mpmath.isfinite(x))

    def bounds(self, x: Any) -> tuple[Any, Any]:
        return abs(x), abs(x)


Compiled = Callable[[dict[str, Any]], list[Any]]


def compiled(expressions: Sequence[Any], engine: Any) -> Compiled:
    """Return the expressions as a function of numbers by name."""
    plain = [sympy.sympify(e).subs(sympy.pi, _PI) for e in expressions]
    symbols = sorted({s for e in plain for s in e.free_symbols}, key=str)
    dummies = [sympy.Symbol(f"s{i}") for i in range(len(symbols))]
    images = dict(zip(symbols, dummies, strict=True))
    function = sympy.lambdify(
        dummies,
        [e.xreplace(images) for e in plain],
        modules=[engine.functions],
        printer=MpmathPrinter(_SETTINGS),
        cse=True,
    )
    names = [s.name for s in symbols]
    of = engine.functions["mpf"]

    def evaluate(at: dict[str, Any]) -> list[Any]:
        return [of(x) if isinstance(x, int) else x for x in function(*(at[n] for n in names))]

    return evaluate
