"""Univariate shallow nets under mirror flow: their limits, and nets of finite width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.lazy import make_lazy

if TYPE_CHECKING:
    from numerics.univariate.cost import relu_cost
    from numerics.univariate.limit_function import LimitFunction, limit_function, supremum_distance
    from numerics.univariate.training import MirrorFlow, quantile_net, random_net, train

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

make_lazy(
    __name__,
    {
        "LimitFunction": "numerics.univariate.limit_function",
        "limit_function": "numerics.univariate.limit_function",
        "MirrorFlow": "numerics.univariate.training",
        "quantile_net": "numerics.univariate.training",
        "random_net": "numerics.univariate.training",
        "relu_cost": "numerics.univariate.cost",
        "supremum_distance": "numerics.univariate.limit_function",
        "train": "numerics.univariate.training",
    },
)
