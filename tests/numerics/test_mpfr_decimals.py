"""Functions of decimals by MPFR: the digits are those of the decimal module."""

from __future__ import annotations

import decimal
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pytest

from numerics import mpfr_decimals
from numerics.ball import ROUNDED


@pytest.fixture(autouse=True)
def _wide() -> Iterator[None]:
    with decimal.localcontext(decimal.Context(prec=50, Emin=-(10**17), Emax=10**17, traps=[])):
        yield


@pytest.mark.parametrize("digits", [20, 50, 130])
def test_digits_are_those_of_decimals(digits: int) -> None:
    rng = np.random.default_rng(digits)
    decimal.getcontext().prec = digits
    unit = Decimal(10) ** (1 - digits)
    for _ in range(40):
        x = Decimal(rng.uniform(0.1, 1)).scaleb(int(rng.integers(-400, 400)))
        beside = 1 + Decimal(rng.uniform(-1, 1)).scaleb(-int(rng.integers(0, digits)))
        small = Decimal(rng.uniform(-1, 1)).scaleb(int(rng.integers(-30, 5)))
        pairs = [
            (mpfr_decimals.sqrt(x), x.sqrt()),
            (mpfr_decimals.ln(x), x.ln()),
            (mpfr_decimals.ln(beside), beside.ln()),
            (mpfr_decimals.exp(small), small.exp()),
        ]
        assert all(abs(found - true) <= unit * abs(true) for found, true in pairs)


def test_what_has_no_digits_and_what_is_beyond_mpfr() -> None:
    nan, infinity = Decimal("nan"), Decimal("inf")
    assert mpfr_decimals.ln(Decimal(0)) == -infinity
    assert mpfr_decimals.ln(Decimal(-1)).is_nan()
    assert mpfr_decimals.sqrt(Decimal(-1)).is_nan()
    assert mpfr_decimals.sqrt(Decimal(0)) == 0
    assert mpfr_decimals.exp(-infinity) == 0
    assert mpfr_decimals.exp(Decimal("1e40")) == infinity
    assert all(f(nan).is_nan() for f in ROUNDED.values())
    large = Decimal("1e2000000000")
    assert mpfr_decimals.sqrt(large) == Decimal("1e1000000000")
    assert mpfr_decimals.ln(large) == large.ln()
    assert mpfr_decimals.exp(Decimal("2e9")) == Decimal("2e9").exp()


def test_the_package_uses_them() -> None:
    import numerics.tiered  # noqa: F401

    assert ROUNDED["exp"] is mpfr_decimals.exp
