"""Matrix factorization: which measurements have a Q, and what a vanishing start leads to."""

from derive import Parameterization, derive
from numerics.confirm.sizes import check_matrices, steer_matrices
from numerics.matrices import vanishing_start

shape = {"W": "n x r"}
commuting = [[[2, 1, 0], [1, 2, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0], [0, 0, "1/2"]]]
rows = [[x for row in A for x in row] for A in commuting]
d = derive(Parameterization.parse(["W*T(W)"], matrices=shape, measurements=rows))
print("Measurements that commute: from any start", d.entry.potential.Q)
print(check_matrices(d.parameterization, d.entry, digits=15).report())

others = [[1, 0, 0, "-1/2"], [0, 1, 1, "1/2"]]
d = derive(Parameterization.parse(["W*T(W)"], matrices=shape, measurements=others))
print("\nMeasurements that do not:", d.finding.words)
print(steer_matrices(d.orbit).report())

print("\nCommuting measurements, from beta_0 = eps I")
print(vanishing_start(commuting, [2, "1/2"], [1e-1, 1e-2, 1e-4, 1e-6, 1e-8]).report())
