"""Each kind of statement has a witness; what is told are statements, and none contradict."""

import functools

import pytest

from derive import Derivation, Parameterization, explicit_counterpart, margins, perturb
from derive.inverse.parameterize import parameterize
from derive.limits.find import regimes
from derive.limits.random_width import random_width
from derive.optimizers.optimizer import optimizer
from derive.render.text import document
from derive.statement import (
    KINDS,
    Claims,
    Equations,
    Ground,
    Items,
    Note,
    OnPage,
    OnTerminal,
    Open,
    Statement,
)
from derive.verdict import Verdict
from tests.published import derive_once
from tests.witnesses import WITNESSES, load
from tests.witnesses.test_statements import wide_net


def test_every_kind_has_a_witness():
    load()
    assert WITNESSES.keys() == KINDS.keys()


def model(*outputs, **given):
    return derive_once(outputs, **given)


def perturbed(by):
    return lambda: perturb(model("p**2 - m**2"), by)


SCALED = {"start": {"a": "s", "u1": "s", "u2": "0"}, "positive": ["s"]}
RECORDS = {
    "derivation": lambda: model("a*u1", "a*u2"),
    "refutation": lambda: model("a*u1 + b*v1", "a*u2 + b*v2"),
    "wide nets": lambda: wide_net("uniform"),
    **{f"under {by}": perturbed(by) for by in ("decay", "momentum", "step", "noise")},
    "design": lambda: parameterize("beta*log(beta) - beta"),
    "no design": lambda: parameterize("-beta**2"),
    "optimizer": lambda: optimizer("momentum"),
    "adaptive": lambda: optimizer("adagrad"),
    "integral": lambda: parameterize("beta**4 + beta**2"),
    "explicit": lambda: explicit_counterpart(Parameterization.parse(["u*v"], {"u": "1", "v": "1"})),
    "margins": lambda: margins(model("p**2 - m**2")),
    "regimes": lambda: regimes(model("a*u1", "a*u2", **SCALED), "s"),
    "wide starts": random_width,
    "no margin": lambda: margins(model("exp(p) - exp(m)")),
}
"""Of each kind that is told by its statements."""


@functools.cache
def record_of(name):
    return RECORDS[name]()


@pytest.mark.parametrize("name", RECORDS)
def test_no_kind_is_both_claimed_and_open_and_what_is_proved_has_its_ground(name):
    """A finding behind what is proved is no finding that leaves it open; a source is named."""
    record = record_of(name)
    assert isinstance(record, Claims)
    told = [s for s in record.statements if isinstance(s, Statement)]
    claimed = {(s.kind, s.about) for s in told}
    left = {(s.kind, s.about) for s in record.statements if isinstance(s, Open)}
    assert claimed | left
    assert not claimed & left
    for s in told:
        verdict = getattr(s.by, "verdict", None)
        assert s.ground is not Ground.PROVED or verdict is not Verdict.UNDECIDED, s
        assert s.ground is Ground.PROVED or s.by, s


BESIDE = (Statement, Open, Note, Equations, Items, OnPage, OnTerminal, Derivation, Parameterization)


@pytest.mark.parametrize("name", [n for n in RECORDS if n not in ("derivation", "refutation")])
def test_renderers_set_statements_and_add_none(name):
    record = record_of(name)
    told = document(record)
    proofs = [line for s in record.statements if isinstance(s, Statement) for line in s.proof]
    lines = [line for part in told.parts for line in part.lines if line not in proofs]
    assert lines
    assert [x for x in lines if not isinstance(x, BESIDE)] == []
