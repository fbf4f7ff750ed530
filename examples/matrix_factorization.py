"""Matrix factorization: the flow as an exponential, and what a vanishing start leads to."""

from itertools import pairwise

import mpmath

from numerics.matrices import Measurements, commuting_solution, matrix_flow, vanishing_start

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
print("\nMeasurements that do not commute: the flow needs one exponential for each short time")
for steps in (1, 10, 100):
    times = [f"{2 * k}/{steps}" for k in range(steps + 1)]
    path = matrix_flow(others, [["1/2", 0], ["1/5", "1/3"]], times, digits=15)
    beta = path[0].beta
    for before, after in pairwise(path):
        moved = [b - a for a, b in zip(before.integral, after.integral, strict=True)]
        beta = commuting_solution(others, moved, beta)
    gap = mpmath.norm(beta - path[-1].beta) / mpmath.norm(path[-1].beta)
    print(f"{steps} exponentials: beta(2) is missed by {mpmath.nstr(gap, 2)}")

print("\nCommuting measurements, from beta_0 = eps I")
print(vanishing_start(commuting, [1e-1, 1e-2, 1e-4, 1e-6, 1e-8]).report())
