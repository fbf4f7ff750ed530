"""The same path at another pace: gradient flow of a neuron, and mirror flow of its Q."""

from derive import Parameterization, derive
from numerics import mirror_path

neuron = derive(Parameterization.parse(["a*u1", "a*u2"]))
print("d/dt grad Q(beta) = g lambda, with g =", neuron.warping.g)

start = {"a_0": 1, "u1_0": "1/2", "u2_0": "-1/3"}
warp = mirror_path(neuron, X=[[1, 2]], y=[3], start=start, digits=30)
print(warp.report())
