"""Kind and form of the answer do not depend on the names and the order of weights and outputs."""

from __future__ import annotations

import re

import pytest

from derive import Parameterization
from derive.catalogue import Entry, entries
from derive.language.tree import Tree, to_text
from tests.published import derive_once

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
]


def shape(p: Parameterization) -> tuple[object, ...]:
    """Return what is answered, and how long it is."""
    d = derive_once(p)
    pieces = sorted((x.kind, len(x.roots), x.value.count_ops()) for x in d.potential.pieces)
    return d.verdict, d.hessian.verdict, len(d.conserved.laws), pieces


@pytest.mark.parametrize(("outputs", "start"), MODELS)
def test_names_and_order_change_nothing(outputs: list[str], start: dict[str, str]) -> None:
    expected = shape(Parameterization.parse(outputs, start))
    weights = sorted(set(re.findall(r"[a-z]", " ".join(outputs))))
    # The alphabet backwards: as weights are sorted, or met, in another order, so are ties.
    others = dict(zip(weights, "zyxwvutsr", strict=False))

    def renamed(text: str) -> str:
        return re.sub(r"[a-z]", lambda found: others[found.group()], text)

    again = {others[w]: value for w, value in reversed(start.items())}
    found = Parameterization.parse([renamed(f) for f in reversed(outputs)], again)
    assert shape(found) == expected


@pytest.mark.slow
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.id)
def test_names_and_order_change_nothing_in_the_catalogue(entry: Entry) -> None:
    p = entry.model.read().parameterization()
    if p.vectors or p.d > MOST_OUTPUTS:
        pytest.skip("the outputs have no order, or are many")
    others = {w: f"zz{len(p.weights) - i}" for i, w in enumerate(p.weights)}

    def renamed(tree: Tree) -> str:
        return re.sub(r"[A-Za-z]\w*", lambda x: others.get(x.group(), x.group()), to_text(tree))

    again = Parameterization.parse(
        [renamed(tree) for tree in reversed(p.trees)],
        {others[w]: to_text(t) for w, t in reversed(p.start) if to_text(t) != f"{w}_0"},
        [others.get(name, name) for name in p.positive],
        parameters=list(p.parameters),
    )
    assert shape(again) == shape(p)
