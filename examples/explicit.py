"""Explicit l2 regularization of the weights gives another function than gradient flow minimises."""

from fractions import Fraction

from derive import Parameterization, explicit_counterpart

tied = Parameterization.parse(["p**2 - m**2"], start={"p": "alpha", "m": "alpha"})
found = explicit_counterpart(tied, at={"beta": Fraction(2), "alpha": Fraction(1, 10)})
print(found.to_text())

(block,) = found.blocks
print(block.distance.equations[0])  # the quartic of Woodworth et al. (2020)
for row in block.contrast.rows:
    print(row.beta[0], row.explicit, row.implicit)
