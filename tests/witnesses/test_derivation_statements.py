"""What derivations claim, put to witnesses; and witnesses put to false claims."""

import random
from collections import Counter
from dataclasses import replace

import pytest

import tests.witnesses.derivation  # noqa: F401 (its witnesses)
from derive import Parameterization
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted, repeated

OWN = [
    (["p**2 - m**2"], {}),
    (["w**2"], {}),
    (["tanh(w)"], {}),
    (["W + a*b"], {}),
    (["u**2*v"], {}),
    (["a*u1", "a*u2", "a*u3"], {}),
    (["u1*v1 + u2*v2", "u1*v2 + u2*v1"], {}),
    (["x/(x + y + z)", "y/(x + y + z)"], {}),
    (["u*v", "x**2"], {}),
    (["a*u1 + b*v1", "a*u2 + b*v2", "a*u3 + b*v3"], {}),
]
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


def tried(d, seed):
    """Return how many trials each statement of a derivation withstood."""
    rng = random.Random(seed)
    return Counter({s.kind: WITNESSES[s.kind](d, s, rng) for s in d.statements})


@pytest.mark.every(12)
@pytest.mark.parametrize(("outputs", "start"), OWN, ids=str)
def test_statements_withstand_their_witnesses(outputs, start):
    d = derive_once(Parameterization.parse(outputs, start))
    trials = tried(d, 1)
    assert sum(trials.values()) > 0, "nothing was tried"


@pytest.mark.every(8)
@pytest.mark.parametrize("kind", OTHERS)
def test_witnesses_refute_what_is_claimed_of_another_map(kind):
    own, other = OTHERS[kind]
    d = derive_once(Parameterization.parse(own))
    (statement, *_) = d.says(kind)
    false = replace(d, parameterization=Parameterization.parse(other))
    assert false.parameterization.weights == d.parameterization.weights
    with pytest.raises(Refuted):
        repeated(WITNESSES[kind], false, statement)
