"""Symmetric matrix factorization beta = W W^T, fitted to linear measurements <A_i, beta> = y_i.

Commuting measurements have a flow in closed form, others a time-ordered exponential; from a
vanishing start the first end at the least nuclear norm (Gunasekar et al. 2017, "Implicit
regularization in matrix factorization").
"""

from numerics.matrices.commuting import commuting_limit, commuting_solution, shared_eigenbasis
from numerics.matrices.exponential_formulas import PathComparison, compare_paths
from numerics.matrices.least_trace import LeastTrace, least_trace
from numerics.matrices.magnus import TimeOrdered, time_ordered_exponential
from numerics.matrices.matrix_flow import MatrixState, matrix_flow
from numerics.matrices.measurements import Measurements
from numerics.matrices.vanishing_start import VanishingStart, vanishing_start

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
    "least_trace",
    "matrix_flow",
    "shared_eigenbasis",
    "time_ordered_exponential",
    "vanishing_start",
]
