"""Symmetric matrix factorization beta = W W^T, fitted to linear measurements <A_i, beta> = y_i.

Commuting measurements have a flow in closed form, and from a vanishing start it ends at the least
nuclear norm (Gunasekar et al. 2017, "Implicit regularization in matrix factorization").
"""

from numerics.matrices.commuting import (
    VanishingStart,
    commuting_limit,
    commuting_solution,
    shared_eigenbasis,
    vanishing_start,
)
from numerics.matrices.least_trace import LeastTrace, least_nuclear, least_trace
from numerics.matrices.matrix_flow import MatrixState, Measurements, matrix_flow

__all__ = [
    "LeastTrace",
    "MatrixState",
    "Measurements",
    "VanishingStart",
    "commuting_limit",
    "commuting_solution",
    "least_nuclear",
    "least_trace",
    "matrix_flow",
    "shared_eigenbasis",
    "vanishing_start",
]
