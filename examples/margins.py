"""Classification: what gradient flow minimises on its way, and where its direction tends."""

from pathlib import Path

from derive import Parameterization, derive, margins
from numerics import max_margin, mirror_path
from numerics.margins.predictor import read_csv

start = {"p": "alpha", "m": "alpha"}
for depth in (2, 3):
    found = margins(derive(Parameterization.parse([f"p**{depth} - m**{depth}"], start, ["alpha"])))
    tends = (
        "the largest margin in " + str(found.norm) if found.norm else "no margin in a shape of Q"
    )
    print(f"depth {depth}: Q at given margins at all times; in the end {tends}; R_F = {found.cost}")

# Which flowers decide between two species, exactly: few features for l1, few examples for l2.
X, species = read_csv((Path(__file__).parent / "iris.csv").read_text())
for norm in ("l1", "l2"):
    largest = max_margin(X, species, norm=norm)
    print(norm, [str(b) for b in largest.value], "from rows", [i + 1 for i in largest.support])

# The statement at every time, on a flow of the weights that knows nothing of Q.
neuron = derive(Parameterization.parse(["a*u1", "a*u2", "a*u3"]))
origin = {"a_0": 1, "u1_0": "1/2", "u2_0": "-1/3", "u3_0": 0}
data = {"X": [[1, 2, 1], [2, -1, 0]], "y": [1, 1]}
path = mirror_path(neuron, **data, start=origin, loss="exponential", times=("1/4", 1, 4))
print(path.report())
