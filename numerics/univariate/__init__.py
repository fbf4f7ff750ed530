"""Univariate shallow nets under mirror flow: their limits, and nets of finite width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.lazy import make_lazy

if TYPE_CHECKING:
    from numerics.univariate.limit_function import (
        LimitFunction,
        MirrorFlow,
        limit_function,
        quantile_net,
        random_net,
        supremum_distance,
        train,
    )
    from numerics.univariate.report import relu_cost

__all__ = [
    "LimitFunction",
    "MirrorFlow",
    "limit_function",
    "quantile_net",
    "random_net",
    "relu_cost",
    "supremum_distance",
    "train",
]

make_lazy(__name__)
