"""Matrix factorization W W^T, 2 x 2: a proof that no Q exists, and the identity that fails."""

from derive import Parameterization, Verdict, derive

d = derive(Parameterization.parse(["a**2 + b**2", "a*c + b*d", "c**2 + d**2"]))
assert d.verdict is Verdict.REFUTED
for finding in (d.hessian.finding, d.warping.finding):
    (failure,) = (e for e in finding.evidence if not e.holds)
    point = ", ".join(f"{name} = {value}" for name, value in failure.point)
    print(f"{failure.statement}\n  fails by {failure.residual} at {point}")
