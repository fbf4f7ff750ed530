"""Symmetric matrix factorization beta = W W^T, fitted to linear measurements <A_i, beta> = y_i.

Commuting measurements have a flow in closed form, others a time-ordered exponential; from a
vanishing start the first end at the least nuclear norm (Gunasekar et al. 2017, "Implicit
regularization in matrix factorization").
"""

from numerics.matrices.commuting import (
    VanishingStart,
    commuting_limit,
    commuting_solution,
    shared_eigenbasis,
    vanishing_start,
)
from numerics.matrices.exponential_formulas import (
    PathComparison,
    TimeOrdered,
    compare_paths,
    time_ordered_exponential,
)
from numerics.matrices.least_trace import LeastTrace, least_nuclear, least_trace
from numerics.matrices.matrix_flow import MatrixState, Measurements, matrix_flow

__all__ = [
    "LeastTrace",
    "MatrixState",
    "Measurements",
    "PathComparison",
    "TimeOrdered",
    "VanishingStart",
    "commuting_limit",
    "commuting_solution",
    "compare_paths",
    "least_nuclear",
    "least_trace",
    "matrix_flow",
    "shared_eigenbasis",
    "time_ordered_exponential",
    "vanishing_start",
]
