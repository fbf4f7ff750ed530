"""Numbers: exact ones of what a user gives, doubles and mpmath's, and expressions in these."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray
from scipy import special
from sympy import Expr

from derive.errors import InputError

Real: TypeAlias = Any
"""A number or a matrix of mpmath, which states no types."""


def rational(x: Fraction) -> Real:
    """Return a fraction as an mpf of the working precision."""
    return mpmath.mpf(x.numerator) / x.denominator


def check_digits(digits: object) -> None:
    """Raise InputError unless *digits* is a positive whole number."""
    if isinstance(digits, bool) or not isinstance(digits, int) or digits < 1:
        raise InputError(f"digits must be a positive whole number, not {digits!r}")


Array: TypeAlias = np.ndarray[Any, Any]
"""Of float64."""
Number: TypeAlias = Any
"""A float or an mpf, which share no type; or what makes one, of SymPy or the fractions."""
FloatOrArray: TypeAlias = Any
"""A float at one point, an array at many: which one, the shape of the argument tells."""
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


def quiet() -> AbstractContextManager[object]:
    """Silence floating point warnings: nan and inf are answers here."""
    return np.errstate(all="ignore")


def compiled(
    expressions: Sequence[Expr], names: Sequence[str], library: str = "numpy"
) -> Callable[..., list[Any]]:
    """Return what evaluates expressions at numbers for some names, by NumPy or mpmath.

    SymPy writes Python source from the expressions: no name of the user's may reach it.
    """
    return _compiled(tuple(expressions), tuple(names), library)


@functools.lru_cache(maxsize=256)
def _compiled(
    expressions: tuple[Expr, ...], names: tuple[str, ...], library: str
) -> Callable[..., list[Any]]:
    own = {name: sympy.Dummy(f"x{i}", real=True) for i, name in enumerate(names)}
    renamed = [e.xreplace({s: own[s.name] for s in e.free_symbols}) for e in expressions]
    function: Callable[..., list[Any]]
    known = [_LIBRARIES[library], library]
    function = sympy.lambdify([*own.values()], renamed, modules=known, cse=True)
    return function


def on_arrays(expressions: Sequence[Expr], names: Sequence[str]) -> Callable[[Array], Array]:
    """Return expressions (f, ...) as a function of arrays of numbers for the names (p, ...)."""
    f = compiled(expressions, names)
    return lambda w: np.array([np.broadcast_to(x, w.shape[1:]) for x in f(*w)], dtype=float)


NAMED: dict[str, Callable[..., Any]] = {
    "erf": special.erf,
    "erfi": special.erfi,
    "Ei": special.expi,
    "Li2": lambda z: special.spence(1 - z),
}
"""The functions of :mod:`derive.exact.named_integrals`; SciPy says of no error what it is."""
_LIBRARIES: dict[str, dict[str, Callable[..., Any]]] = {
    "numpy": NAMED,
    "mpmath": {"Li2": lambda z: mpmath.polylog(2, z)},
}
"""Those that libraries lack, or have elsewhere."""


def evaluated(
    expression: Expr,
    values: Mapping[str, Real] | None = None,
    origin: Mapping[str, Real] | None = None,
) -> Real:
    """Return an expression at numbers of mpmath, with its integrals by quadrature.

    Those over a variable alone, or up to an end alone, run from its *origin*.
    """
    values, images = values or {}, dict[Expr, Expr]()
    known = dict(values)
    for integral in expression.atoms(sympy.Integral):
        ((x, *ends),), f = integral.limits, integral.function
        low = evaluated(ends[0], values) if ends[1:] else (origin or {})[x.name]
        high = evaluated(ends[-1] if ends else x, values)

        def height(u: Real, f: Expr = f, name: str = x.name) -> Real:
            return evaluated(f, {**values, name: u})

        images[integral] = sympy.Symbol(f"integral {len(images)}")
        known[images[integral].name] = mpmath.quad(height, [low, high])
    whole = expression.xreplace(images)
    names = sorted({s.name for s in whole.free_symbols})
    (value,) = compiled([whole], names, "mpmath")(*(known[name] for name in names))
    return mpmath.mpmathify(value)


_LARGEST_EXPONENT = 100_000  # the exact fraction of 10^(10^9) would fill the memory


def read_matrix(X: Number, d: int | None = None) -> list[list[Fraction]]:
    """Return m rows of d numbers, or of as many as the first; InputError for anything else."""
    # tolist, as an mpmath matrix iterates over its entries, not its rows
    rows = _items(X.tolist() if hasattr(X, "tolist") else X, "X", "rows of numbers")
    matrix = [read_vector(row, f"row {i} of X") for i, row in enumerate(rows, 1)]
    for i, row in enumerate(matrix, 1):
        if d is None and len(row) != len(matrix[0]):
            raise InputError(f"row {i} of X has {len(row)} numbers: give rows of one length")
        if d is not None and len(row) != d:
            raise InputError(f"row {i} of X has {len(row)} numbers but F has {d} outputs")
    return matrix


def read_data(
    X: Number, y: Number, d: int | None = None
) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Return X, m rows of d numbers, and y, m numbers; InputError for anything else."""
    rows, target = read_matrix(X, d), read_vector(y, "y")
    if len(rows) != len(target):
        raise InputError(f"X has {len(rows)} rows but y has {len(target)} numbers")
    return rows, target


def read_vector(values: Number, what: str) -> list[Fraction]:
    """Return the numbers of a sequence that is not empty; *what* names it in messages."""
    items = _items(values, what)
    return [read_number(value, f"number {i} of {what}") for i, value in enumerate(items, 1)]


def _items(values: Number, what: str, of: str = "numbers") -> list[Number]:
    try:
        items = [*values] if not isinstance(values, str) else None
    except TypeError:
        items = None
    if items is None:
        raise InputError(f"{what} must be a sequence of {of}")
    if not items:
        raise InputError(f"{what} is empty")
    return items


def read_array(values: ArrayLike, what: str = "beta", of: str = "an array") -> NDArray[np.float64]:
    """Return an array as doubles; InputError for anything else, where *what* names it."""
    refuse_masked(values, what)
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise InputError(f"{what} has complex entries: give real ones")
        if array.dtype.kind not in "biufO":
            raise TypeError
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be {of} of real numbers") from None


def refuse_masked(values: object, name: str) -> None:
    """Refuse a masked array: what it hides would count as data."""
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array: drop what is masked, and give a plain array")


def read_number(value: Number, what: str) -> Fraction:
    """Return the exact value of a number of any of the libraries, or of a string."""
    if isinstance(value, bool):
        raise InputError(f"{what} must be a number, not {value}")
    try:
        if isinstance(value, str):
            match = re.search(r"[eE]([+-]?\d+)\s*$", value)
            if match and abs(int(match[1])) > _LARGEST_EXPONENT:
                raise InputError(f"{what} has an exponent beyond {_LARGEST_EXPONENT}")
            return Fraction(value)
        if hasattr(value, "_mpf_") and mpmath.isfinite(value):
            sign, mantissa, exponent, _ = value._mpf_
            if abs(exponent) > _LARGEST_EXPONENT:
                raise InputError(f"{what} has an exponent beyond {_LARGEST_EXPONENT}")
            return Fraction((-1) ** sign * int(mantissa)) * Fraction(2) ** int(exponent)
        if hasattr(value, "__index__"):
            return Fraction(value.__index__())
        if hasattr(value, "as_integer_ratio"):
            numerator, denominator = value.as_integer_ratio()
            return Fraction(int(numerator), int(denominator))
        return Fraction(int(value.numerator), int(value.denominator))
    except (ValueError, OverflowError, ZeroDivisionError, AttributeError, TypeError):
        shown = " ".join(repr(value).split())[:40]
        raise InputError(f"{what} must be a finite real number, not {shown}") from None
