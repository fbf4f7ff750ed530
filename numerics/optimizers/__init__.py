"""Optimizers on linear models: limits of steepest descent, largest margins, experiments."""

from numerics.optimizers.steepest import (
    SteepestLimit,
    coordinate_descent_limit,
    lasso_path,
    steepest_descent_limit,
)

__all__ = ["SteepestLimit", "coordinate_descent_limit", "lasso_path", "steepest_descent_limit"]
