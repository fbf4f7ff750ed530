"""Perturbed flows: drifts against flows of the weights that share no code with them."""

from derive import Parameterization, Verdict, derive, perturb

TIED = Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])


def test_the_tied_pair_has_an_effective_scale_under_decay_and_noise():
    d = derive(TIED)
    found = {by: perturb(d, by=by) for by in ("decay", "noise", "step", "momentum")}
    assert {v.verdict for v in found.values()} == {Verdict.PROVED}
    shown = {by: str(v.effective) for by, v in found.items()}
    assert shown["decay"] == "{alpha: alpha*exp(-kappa)}"
    assert shown["noise"] == "{alpha: alpha*exp(-2*S)}"
    assert shown["step"] == "{alpha: alpha*sqrt(-4*G**2*eta**2 + 1)}"
    assert [side.side for side in found["momentum"].one_sided] == [-1]


def test_what_is_not_closed_is_not_called_so():
    assert perturb(derive(["p**2 - m**2", "q**3 - n**3"]), "decay").verdict is Verdict.UNDECIDED
    assert perturb(derive(["a*u1", "a*u2"]), "noise").verdict is Verdict.UNDECIDED
    assert perturb(derive(["p**2 + q"]), "decay").verdict is Verdict.UNDECIDED
