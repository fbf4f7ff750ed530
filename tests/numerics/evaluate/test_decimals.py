"""Functions of decimals against mpmath."""

import decimal

import mpmath
import numpy as np
import pytest

from numerics.evaluate.balls.decimals import Digits
from numerics.evaluate.balls.precision import wide_context


@pytest.mark.parametrize("name", sorted(Digits.functions))
@pytest.mark.parametrize("digits", [20, 60, 130])
def test_every_function_is_right_to_its_bound(name: str, digits: int) -> None:
    texts = ["0.3", "2e-30", "7", "22.5", "1.0000000000001", "-0.25", "-3e-9"]
    texts = [t for t in texts if t[0] != "-" or name not in ("sqrt", "log")]
    with decimal.localcontext(wide_context(digits)), mpmath.workdps(2 * digits + 60):
        x = np.array([decimal.Decimal(t) for t in texts], dtype=object)
        found = Digits(x, Digits.zero).function(name, 1)
        function = getattr(mpmath, name)
        for t, v, d in zip(texts, found.v, found.d, strict=True):
            gap = abs(mpmath.mpf(str(v)) - function(mpmath.mpf(t)))
            assert (
                gap <= mpmath.mpf(str(d)) < abs(mpmath.mpf(str(v))) * mpmath.mpf(10) ** (3 - digits)
            )
