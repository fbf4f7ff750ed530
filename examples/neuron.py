"""One linear neuron: derive its regularizer, evaluate it, and watch gradient flow agree."""

from derive import Parameterization, derive
from numerics import crosscheck

d = derive(Parameterization.parse(["a*u1", "a*u2"]))
print(d.to_text())

q = d.potential.numeric({"a_0": 1, "u1_0": "1/2", "u2_0": 0})
print("\nQ(1, 2) =", q([1.0, 2.0]), " grad Q(1, 2) =", q.gradient([1.0, 2.0]))

print(crosscheck(d, digits=30).report())
