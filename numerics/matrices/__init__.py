"""Symmetric matrix factorization beta = W W^T, fitted to linear measurements <A_i, beta> = y_i.

From a vanishing start commuting measurements lead to the least nuclear norm (Gunasekar et al. 2017,
"Implicit regularization in matrix factorization").
"""

from numerics.matrices.commuting import (
    VanishingStart,
    commuting_limit,
    shared_eigenbasis,
    vanishing_start,
)
from numerics.matrices.least_trace import LeastTrace, least_nuclear, least_trace

__all__ = [
    "LeastTrace",
    "VanishingStart",
    "commuting_limit",
    "least_nuclear",
    "least_trace",
    "shared_eigenbasis",
    "vanishing_start",
]
