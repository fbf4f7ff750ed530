"""Symmetric matrix factorization beta = W W^T, fitted to linear measurements <A_i, beta> = y_i.

From a vanishing start commuting measurements lead to the least nuclear norm (Gunasekar et al. 2017,
"Implicit regularization in matrix factorization").
"""

from numerics.matrices.least_norm import (
    LeastTrace,
    least_nuclear,
    least_trace,
    sensing_limit,
    shared_bases,
)

__all__ = ["LeastTrace", "least_nuclear", "least_trace", "sensing_limit", "shared_bases"]
