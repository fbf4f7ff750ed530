"""What is claimed of optimizers, put to witnesses; and updates of which it is false."""

import random
from dataclasses import replace

import pytest

import tests.witnesses.optimizers  # noqa: F401 (its witnesses)
from derive.optimizers.optimizer import optimizers
from derive.statement import Open
from tests.witnesses import WITNESSES, Refuted, repeated

FOUND = {o.update.id: o for o in optimizers().found}


@pytest.mark.every(9)
@pytest.mark.parametrize("name", FOUND)
def test_statements_withstand_their_witnesses(name):
    o, rng = FOUND[name], random.Random(2)
    tried = [WITNESSES[s.kind](o, s, rng) for s in o.statements if not isinstance(s, Open)]
    assert sum(tried) > 0


def broken(name, **update):
    o = FOUND[name]
    return replace(o, update=replace(o.update, **update))


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("false", "kind"),
    [
        (broken("momentum", update={"w": "w - eta*g + mu*w", "before": "w"}), "span"),
        (broken("gradient-descent", update={"w": "w - eta*g*sqrt(1 + g*g)"}), "optimizer limit"),
        (broken("gradient-descent", update={"w": "w + eta*g"}), "iterates"),
        (broken("coordinate-descent", norm="inf"), "tail"),
        (broken("normalized", tail={**FOUND["normalized"].update.tail, "norm": "l1"}), "tail"),
        (broken("adagrad", update={"w": "w - eta*g", "S": "S"}), "span"),
        (broken("coordinate-descent", norm="inf"), "optimizer limit"),
    ],
    ids=lambda x: getattr(getattr(x, "update", None), "id", x),
)
def test_witnesses_refute_what_is_claimed_of_another_update(false, kind):
    (s, *_) = FOUND[false.update.id].says(kind)
    with pytest.raises(Refuted):
        repeated(WITNESSES[kind], false, s)
