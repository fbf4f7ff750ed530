"""From the rich to the kernel regime: what Q tends to as the start is scaled."""

from derive import Parameterization, derive, regimes
from numerics.confirm.limits import confirm_limits

tied = Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])
found = regimes(derive(tied), "alpha")
print(found.to_text())

for confirmation in confirm_limits(found):
    print(confirmation.report())
