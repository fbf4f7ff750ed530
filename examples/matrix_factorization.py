"""Matrix factorization: which measurements have a Q, and what a vanishing start leads to."""

import numpy as np

from derive import Parameterization, derive
from numerics.confirm.sizes import check_matrices, steer_matrices
from numerics.matrices import least_trace, sensing_limit

shape = {"W": "n x r"}
commuting = [[[2, 1, 0], [1, 2, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0], [0, 0, 0.5]]]
rows = [[x for row in A for x in row] for A in commuting]
model = Parameterization.parse(["W*T(W)"], matrices=shape, measurements=rows)
d = derive(model)
print("Measurements that commute: from any start", d.entry.potential.Q)
print(check_matrices(d.parameterization, d.entry, digits=15).report())

others = [[1, 0, 0, "-1/2"], [0, 1, 1, "1/2"]]
d = derive(Parameterization.parse(["W*T(W)"], matrices=shape, measurements=others))
print("\nMeasurements that do not:", d.finding.words)
print(steer_matrices(d.orbit).report())

y, size = [2, 0.5], np.eye(3)
least = least_trace(commuting, y, tol=1e-12)
slack = np.linalg.eigvalsh(size - np.tensordot(least.multiplier, commuting, 1))
rate = slack[slack > 1e-9].min()  # Cominetti & San Martin 1994: of entries that are to vanish
print(f"\nCommuting measurements, from beta_0 = eps I, the least trace {least.bound:.4f}")
for eps in (1e-1, 1e-2, 1e-4, 1e-6, 1e-8):
    excess = np.trace(sensing_limit(model, y, {"W": size * eps**0.5})) - least.bound
    print(f"eps = {eps:.0e}: above it by {excess:.2e} = {excess / eps**rate:.4f} eps^{rate:.2f}")
