"""Matrix factorization: the flow as an exponential, and what a vanishing start leads to."""

import mpmath

from numerics.matrices import (
    Measurements,
    commuting_solution,
    compare_paths,
    matrix_flow,
    vanishing_start,
)

commuting = Measurements.read(
    [[[2, 1, 0], [1, 2, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0], [0, 0, "1/2"]]], [2, "1/2"]
)
start = [["1/2", 0, "1/5"], ["1/10", "1/3", 0], [0, "1/4", "2/5"]]
origin, end = matrix_flow(commuting, start, times=[0, 4], digits=30)
with mpmath.workdps(36):
    closed = commuting_solution(commuting, end.integral, origin.beta)
    gap = mpmath.norm(closed - end.beta) / mpmath.norm(end.beta)
print("|exp(X*(s)) beta_0 exp(X*(s)) - beta(4)|/|beta(4)| =", mpmath.nstr(gap, 2))

others = Measurements.read([[[1, 0], [0, "-1/2"]], [[0, 1], [1, "1/2"]]], [1, "1/2"])
print("\nMeasurements that do not commute: relative distances from the flow in the weights")
print(compare_paths(others, [["1/2", 0], ["1/5", "1/3"]], times=["1/2", 1, 2]).report())

print("\nCommuting measurements, from beta_0 = eps I")
print(vanishing_start(commuting, [1e-1, 1e-2, 1e-4, 1e-6, 1e-8]).report())
