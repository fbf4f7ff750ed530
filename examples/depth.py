"""Diagonal networks p^D - m^D from a tied start, D = 2, ..., 5, and how Q is written for each."""

from derive import Parameterization, derive

for depth in range(2, 6):
    p = Parameterization.parse(
        [f"p**{depth} - m**{depth}"], start={"p": "alpha", "m": "alpha"}, positive=["alpha"]
    )
    d = derive(p)
    print(f"D = {depth}: {d.verdict.value}, {d.potential.kind}: Q = {d.potential.Q}")
