"""Functions of decimals by MPFR: the digits are those of the decimal module."""

from __future__ import annotations

import decimal
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pytest

from derive import Parameterization, derive
from numerics.evaluate.balls.decimals import Digits
from numerics.evaluate.balls.mpfr_decimals import MpfrDigits

SQRT, LOG, EXP = (MpfrDigits.functions[name] for name in ("sqrt", "log", "exp"))


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
            (SQRT(x), x.sqrt()),
            (LOG(x), x.ln()),
            (LOG(beside), beside.ln()),
            (EXP(small), small.exp()),
        ]
        assert all(abs(found - true) <= unit * abs(true) for found, true in pairs)


def test_what_has_no_digits_and_what_is_beyond_mpfr() -> None:
    nan, infinity = Decimal("nan"), Decimal("inf")
    assert LOG(Decimal(0)) == -infinity
    assert LOG(Decimal(-1)).is_nan()
    assert SQRT(Decimal(-1)).is_nan()
    assert SQRT(Decimal(0)) == 0
    assert EXP(-infinity) == 0
    assert EXP(Decimal("1e40")) == infinity
    assert all(f(nan).is_nan() for f in (SQRT, LOG, EXP))
    large = Decimal("1e2000000000")
    assert SQRT(large) == Decimal("1e1000000000")
    assert LOG(large) == large.ln()
    assert EXP(Decimal("2e9")) == Decimal("2e9").exp()


@pytest.mark.parametrize("name", sorted(Digits.functions))
def test_every_function_of_balls_is_that_of_decimals(name: str) -> None:
    x = np.array([Decimal(1) / 3, Decimal("2e-30"), Decimal(7), Decimal("22.5")], dtype=object)
    fast, slow = (kind(x, kind.zero).function(name, 1) for kind in (MpfrDigits, Digits))
    assert np.all(abs(fast.v - slow.v) <= fast.d)
    assert type(fast + 1) is MpfrDigits


def test_the_package_uses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    q = derive(Parameterization.parse(["w**2"])).potential.numeric({"w_0": 1})
    called, log = [], MpfrDigits.functions["log"]
    monkeypatch.setitem(MpfrDigits.functions, "log", lambda x: called.append(x) or log(x))
    q.bregman(1 + 1e-9, 1 - 1e-9)
    assert called == []
    q.bregman(1e300, 1e-300)
    assert called
