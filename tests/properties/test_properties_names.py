"""Kind and form of the answer do not depend on the names and the order of weights and outputs."""

import re

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from derive import Parameterization
from derive.language.tree import to_text
from derive.model.restriction import leave_out_affine
from derive.render.page.lines import broken
from derive.render.page.printer import latex
from derive.render.text import plain
from derive.testing import parameterizations
from tests.published import GIVEN_SIZE, derive_once

MOST_OUTPUTS = 4

MODELS = [
    (["u*v*w"], {"u": "a", "v": "a", "w": "0"}),
    (["u**2*v"], {"u": "a", "v": "0"}),
    (["p**2 - m**2"], {"p": "a", "m": "a"}),
    (["p**3 - m**3"], {"p": "a", "m": "a"}),
    (["u*v - x*y"], {}),
    (["w + w**3", "u*v"], {}),
    (["k*u", "k*v"], {"v": "0"}),
    (["k**2*u", "k**2*v"], {}),
    (["u*x + v*y", "u*y + v*x"], {}),
    (["u", "u**2 + v**2"], {}),
    (["u*v", "u**2 - v**2"], {}),
    (["p**2", "p*m + m**3"], {}),
    (["u**2 + v**2", "u**2"], {}),
]


def shape(p):
    """Return what is answered, and how long it is."""
    d = derive_once(p)
    pieces = sorted((x.kind, len(x.roots), x.value.count_ops()) for x in d.potential.pieces)
    return d.verdict, d.hessian.verdict, len(d.conserved.laws), pieces


@pytest.mark.every(8)
@pytest.mark.parametrize(("outputs", "start"), MODELS)
def test_names_and_order_change_nothing(outputs, start):
    expected = shape(Parameterization.parse(outputs, start))
    weights = sorted(set(re.findall(r"[a-z]", " ".join(outputs))))
    # The alphabet backwards: as weights are sorted, or met, in another order, so are ties.
    others = dict(zip(weights, "zyxwvutsr", strict=False))

    def renamed(text):
        return re.sub(r"[a-z]", lambda found: others[found.group()], text)

    again = {others[w]: value for w, value in reversed(start.items())}
    found = Parameterization.parse([renamed(f) for f in reversed(outputs)], again)
    assert shape(found) == expected


def test_names_are_printed_as_they_are_counted():
    betas = [f"beta{i}" for i in range(1, 12)]
    whole = sympy.Add(*(sympy.Symbol(b) * sympy.Symbol(f"u{b[4:]}_0") for b in reversed(betas)))
    assert re.findall(r"beta\d+", plain(whole)) == betas
    for tex in (latex(whole), " ".join(broken(latex(whole)))):
        assert re.findall(r"beta_\{(\d+)\}", tex) == [b[4:] for b in betas]
        assert re.findall(r"u_\{(\d+),0\}", tex) == [b[4:] for b in betas]
    # Names that would be the same stay as they are.
    assert plain(sympy.Symbol("u0010") + sympy.Symbol("u10")) == "u0010 + u10"


@settings(max_examples=5, deadline=None, derandomize=True)
@given(parameterizations(), st.randoms(use_true_random=False))
def test_order_changes_nothing_in_drawn_models(p, random):
    _compare(p, random)


def _compare(p, random):
    """Compare a model with its outputs, weights and start in another order, renamed."""
    assume(not p.vectors and p.d <= MOST_OUTPUTS)
    # Of outputs that are affine functions of each other the last is left out: other coordinates.
    assume(leave_out_affine(p).d == p.d)
    places = random.sample(range(len(p.weights)), len(p.weights))
    others = {w: f"n{k}x" for w, k in zip(p.weights, places, strict=True)}
    others |= {f"{w}_0": f"{name}_0" for w, name in others.items()}
    assert shape(_again(p, others, random.sample(p.trees, p.d))) == shape(p)


def _again(p, others, trees):
    """Return the model with weights of other names, and its start reversed."""

    def renamed(text):
        return re.sub(r"[A-Za-z]\w*", lambda x: others.get(x.group(), x.group()), text)

    return Parameterization.parse(
        [renamed(to_text(tree)) for tree in trees],
        {others[w]: renamed(to_text(t)) for w, t in reversed(p.start) if to_text(t) != f"{w}_0"},
        [others.get(name, name) for name in p.positive],
        parameters=list(p.parameters),
        rates={others[w]: renamed(r) for w, r in zip(p.weights, p.geometry.texts, strict=False)},
    )


@pytest.mark.slow
@pytest.mark.parametrize("entry", GIVEN_SIZE, ids=lambda entry: entry.id)
def test_names_and_order_change_nothing_in_the_catalogue(entry):
    p = entry.read().parameterization()
    if p.vectors or p.d > MOST_OUTPUTS:
        pytest.skip("the outputs have no order, or are many")
    others = {w: f"zz{len(p.weights) - i}" for i, w in enumerate(p.weights)}
    assert shape(_again(p, others, p.trees[::-1])) == shape(p)
