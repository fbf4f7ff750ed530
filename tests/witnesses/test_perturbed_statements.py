"""What is claimed of perturbed flows, put to witnesses; and witnesses put to false claims."""

import functools
from collections import Counter
from dataclasses import replace

import pytest
import sympy

import tests.witnesses.perturbed  # noqa: F401 (its witnesses)
from derive import perturb
from derive.statement import Statement
from derive.verdict import Verdict
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted
from tests.witnesses.perturbed import kinds_of, replay

ENTROPY = "p*log(p) + m*log(m)"
FEW = [
    (["p**2 - m**2"], {}),
    (["p**3 - m**3"], {}),
    (["a*u1", "a*u2"], {}),
    (["p - m"], {"mirror": ENTROPY}),
    (["u*v"], {"mirror": "u*log(u) + v*log(v)"}),
    (["p**D - m**D"], {}),
]
MANY = [
    *FEW,
    (["w**2"], {}),
    (["w**3"], {}),
    (["u*v"], {}),
    (["u*v*w"], {}),
    (["u**2*v"], {}),
    (["u**2*v**2"], {}),
    (["p**2 - 4*m**2"], {}),
    (["p**2 - m**2/2"], {}),
    (["p**4 - m**4"], {}),
    (["u*v - x*z"], {}),
    (["p1**2 + p2**2 - m1**2 - m2**2"], {}),
    (["sinh(w)"], {}),
    (["exp(p) - exp(-m)"], {}),
    (["w + w**3"], {}),
    (["a*b*u1", "a*b*u2"], {}),
    (["a*b + c"], {}),
    (["u1*v1 + u2*v2", "u1*v2 + u2*v1"], {}),
    (["p**2 - m**2"], {"rates": {"p": "p", "m": "m"}}),
    (["a*u1", "a*u2", "a*u3"], {"rates": {"a": "3"}}),
    (["p**2 - m**2"], {"mirror": ENTROPY}),
    (["u*v"], {"mirror": "u**4/12 + v**4/12"}),
    (["u*v"], {"mirror": "-log(u) - log(v)"}),
    (["p - m"], {"mirror": "cosh(p) + cosh(m)"}),
]
BY = (
    *("decay", "momentum", "step", "noise", "decay, noise", "decay, momentum", "momentum, step"),
    *("decay, momentum, step", "decay, step", "momentum, noise", "decay, momentum, noise"),
)
PENALTIES = [
    *((("p**2 - m**2",), h) for h in ("(p**2 + 3*m**2)/2", "p**4 + m**2", "(p**2 - m**2)**2")),
    *((("u*v",), h) for h in ("u**2 + v**4", "u**2*v**2")),
    (("a*u1", "a*u2"), "a**2"),
    (("p**D - m**D",), "p**2/2 + m**2"),
]


@functools.cache
def found(outputs, given, by, process=None, penalty=None):
    d = derive_once(list(outputs), **dict(given))
    return perturb(d, by, process=process, penalty=penalty)


def records(models, kinds):
    for outputs, given in models:
        names = tuple((k, x) for k, x in given.items() if k != "rates")
        for by in kinds:
            for process in ("mirror", "preconditioned") if "mirror" in given else (None,):
                if "rates" in given:
                    d = derive_once(outputs, **given)
                    yield perturb(d, by)
                else:
                    yield found(tuple(outputs), names, by, process)


def withstood(v, seeds):
    """Return how many trials each statement withstood."""
    told = [s for s in v.statements if isinstance(s, Statement)]
    return Counter({s.kind: replay(WITNESSES[s.kind], v, s, seeds) for s in told})


@pytest.mark.every(22)
@pytest.mark.parametrize("model", FEW, ids=str)
@pytest.mark.parametrize("by", [*BY[:4], "decay, momentum, step"])
def test_statements_withstand_their_witnesses(model, by):
    trials = sum((withstood(v, 1) for v in records([model], (by,))), start=Counter())
    assert sum(trials.values()) > 0, "nothing was tried"


@pytest.mark.slow
@pytest.mark.parametrize("model", MANY, ids=str)
def test_many_statements_withstand_their_witnesses(model):
    trials = Counter()
    for v in records([model], BY):
        trials += withstood(v, 2)
    assert sum(trials.values()) > 0, "nothing was tried"


@pytest.mark.every(7)
@pytest.mark.parametrize(("outputs", "penalty"), PENALTIES)
def test_statements_of_penalties_withstand_their_witnesses(outputs, penalty):
    trials = withstood(found(outputs, (), "decay", None, penalty), 2)
    assert sum(trials.values()) > 0, "nothing was tried"


def doubled(drifts):
    return tuple(replace(x, change=2 * x.change) for x in drifts)


TIED, PAIR = ("p**2 - m**2",), ("p - m",)


def falsified(kind):
    """Return a record of which the statement of that kind is false."""
    match kind:
        case "drift":
            v = found(TIED, (), "noise")
            return replace(v, of_laws=doubled(v.of_laws))
        case "closed drift":
            v = found(("p**3 - m**3",), (), "noise")
            closed = replace(v.closed, verdict=Verdict.PROVED, evidence=())
            return replace(v, closed=closed)
        case "perturbed limit":
            v = found(("p**3 - m**3",), (), "momentum")
            return replace(v, of_laws=doubled(v.of_laws))
        case "start of the end" | "noise that stays":
            v = found(TIED, (), "noise")
            grown = {s: s * (s / x) for s, x in v.effective.items()}
            return replace(v, effective=grown)
        case "crossing":
            v = found(TIED, (), "momentum")
            return replace(v, of_laws=doubled(v.of_laws))
        case "decay metric":
            v = found(("a*b + c",), (), "decay")
            even = dict.fromkeys(v.grading, sympy.Rational(1, 2))
            return replace(v, grading=even)
        case "one side":
            v = found(TIED, (), "momentum")
            return replace(v, one_sided=tuple(replace(x, side=-x.side) for x in v.one_sided))
    raise KeyError(kind)


@pytest.mark.every(6)
@pytest.mark.parametrize(
    "kind",
    [
        "drift",
        "closed drift",
        "perturbed limit",
        "start of the end",
        "noise that stays",
        "crossing",
        "decay metric",
        "one side",
    ],
)
def test_witnesses_refute_what_is_false(kind):
    v = falsified(kind)
    with pytest.raises(Refuted):
        replay(
            WITNESSES[kind], v, kinds_of(v).get(kind) or kinds_of(found(TIED, (), "noise"))[kind]
        )


@pytest.mark.every(4)
@pytest.mark.parametrize("by", ["noise", "step", "momentum"])
def test_a_witness_tells_the_two_processes_apart(by):
    """p m is kept by mirror descent alone; so each drift is false of the other process."""
    mirror = (("mirror", ENTROPY),)
    for process, other in (("mirror", "preconditioned"), ("preconditioned", "mirror")):
        v = found(PAIR, mirror, by, process)
        assert replay(WITNESSES["drift"], v, kinds_of(v)["drift"], 2)
        false = replace(v, process=other)
        with pytest.raises(Refuted):
            replay(WITNESSES["drift"], false, kinds_of(v)["drift"])


@pytest.mark.slow
def test_a_weight_of_its_own_for_each_column_is_not_left_out():
    """x = (1, 2) and (1, 3/2): h without S is refuted, as its least sum is at the other end."""
    v = found(TIED, (), "noise")
    statement = kinds_of(v)["annealed noise"]
    assert replay(WITNESSES["annealed noise"], v, statement, 2)
    plain = replace(statement, values={**statement.values, "h": sympy.Abs(v.derivation.beta[0])})
    with pytest.raises(Refuted):
        replay(WITNESSES["annealed noise"], v, plain, 3)


def test_decay_that_stays_ends_where_it_is_said_to():
    v = found(TIED, (), "decay")
    statement = kinds_of(v)["decay kept on"]
    assert replay(WITNESSES["decay kept on"], v, statement, 2)
    other = replace(v, penalty=sympy.Symbol("p", real=True) ** 4)
    with pytest.raises(Refuted):
        replay(WITNESSES["decay kept on"], other, statement)


@pytest.mark.slow
def test_nesterov_s_flow_comes_to_rest_and_a_slower_one_is_told_apart(monkeypatch):
    v = found(TIED, (), "momentum")
    statement = kinds_of(v)["damped rest"]
    assert replay(WITNESSES["damped rest"], v, statement, 2)
    monkeypatch.setattr("tests.witnesses.perturbed.DAMPING", 0.2)
    with pytest.raises(Refuted):
        replay(WITNESSES["damped rest"], v, statement)
