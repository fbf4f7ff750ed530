"""Witnesses put to false claims of derivations; true ones are put to them in test_models.py."""

from dataclasses import replace

import pytest

import tests.witnesses.derivation  # noqa: F401 (its witnesses)
from derive import Parameterization
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted, repeated

OTHERS = {
    "regularizer": (["p**2 - m**2"], ["p**3 - m**2"]),
    "dual": (["p**2 - m**2"], ["p**3 - m**2"]),
    "kernel": (["p**2 - m**2"], ["p**2 - 2*m**2"]),
    "conserved": (["p**2 - m**2"], ["p**2 - 2*m**2"]),
    "domain": (["w**2"], ["w**2 - w"]),
    "minimiser": (["p**2 - m**2"], ["p**2 - m"]),
    "every time": (["p**2 - m**2"], ["p**2 - m"]),
    "shrunk start": (["p**2 - m**2"], ["p**2 - m"]),
    "mirror flow": (["a*u1", "a*u2", "a*u3"], ["a*u1", "a*u2 + u1*u3", "a*u3"]),
}
"""For each kind, a model, and another F with the same weights of which its claims are false."""


@pytest.mark.every(8)
@pytest.mark.parametrize("kind", OTHERS)
def test_witnesses_refute_what_is_claimed_of_another_map(kind):
    own, other = OTHERS[kind]
    d = derive_once(own)
    (statement, *_) = d.says(kind)
    false = replace(d, parameterization=Parameterization.parse(other))
    assert false.parameterization.weights == d.parameterization.weights
    with pytest.raises(Refuted):
        repeated(WITNESSES[kind], false, statement)
