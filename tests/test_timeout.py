"""A derivation that runs out of time keeps what it has, and says which stage stopped."""

from itertools import count
from types import SimpleNamespace

import pytest

from derive import Parameterization, Verdict, clock, derive
from derive.certificate.checking.check import check_text
from derive.roads.published import Ansatz

STAGES = (
    "Lie structure",
    "conserved quantities",
    "metric",
    "Hessian-map decision",
    "warp decision",
    "potential",
    "other roads",
)
FEWER = "proportional weights"
"""What comes before all stages."""
MODELS = {
    "warp": (["a*u1", "a*u2"], {}),
    "blocks": (["u**2 - v**2", "exp(w)"], {"u": "alpha", "v": "alpha"}),
    "none": (["a*c", "a*c*c + b"], {}),
    "tied": (["u*v*w"], {"u": "1", "v": "1", "w": "1"}),
}


def printed(d):
    """Return the text; the other forms are written as well."""
    assert d.to_latex()
    assert check_text(d.to_json())
    return " ".join(d.to_text().split())


@pytest.mark.every(8)
@pytest.mark.parametrize("last", STAGES)
@pytest.mark.parametrize("name", ["warp", "blocks"])
def test_a_stage_that_is_late_is_named(monkeypatch, name, last):
    entered = []
    now = SimpleNamespace(monotonic=lambda: 9.0 if last in entered else 0.0)
    monkeypatch.setattr(clock, "time", now)
    outputs, start = MODELS[name]
    d = derive(Parameterization.parse(outputs, start), entered.append, timeout=5)
    assert entered.pop(0) == FEWER
    before = STAGES[: STAGES.index(last) + 1]
    # What a verdict rests on is looked for in all blocks before what only adds to it.
    count = len(d.blocks)
    decided, added = before[: len(STAGES) - 2], before[len(STAGES) - 2 :]
    earlier = [stage for stage in added[:-1] for _ in range(count)]
    assert entered == [*decided * (count if added else 1), *earlier, *added[-1:]]
    says = f"out of time in stage: {last}"
    if added:
        assert d.verdict is Verdict.PROVED
        assert d.blocks[0].roads[0].finding.reason == f"out of time in stage: {added[-1]}"
        left = [piece.integrand for piece in d.potential.pieces]
        assert [x and x.left for x in left] == [("time" if last == "potential" else None)] * count
        assert printed(d)
        return
    assert d.verdict is Verdict.UNDECIDED
    assert says in printed(d)
    known = STAGES.index(last) > 1
    assert (d.conserved.count > 0) == known
    assert d.hessian.finding.reason == says or last in STAGES[4:]


def test_a_verdict_in_fewer_weights_is_not_lost_to_what_comes_after_it(monkeypatch):
    """Q of the tied weights is known; then the time is over, in a road that only adds to it."""
    entered = []
    now = SimpleNamespace(monotonic=lambda: 9.0 if "other roads" in entered else 0.0)
    monkeypatch.setattr(clock, "time", now)
    outputs, start = MODELS["tied"]
    d = derive(Parameterization.parse(outputs, start), entered.append, timeout=5)
    assert (d.verdict, len(d.ties)) == (Verdict.PROVED, 2)


@pytest.mark.parametrize("name", MODELS)
def test_no_moment_to_stop_changes_an_answer(monkeypatch, name):
    """The time goes by one at each look at the clock."""
    outputs, start = MODELS[name]
    whole = derive(Parameterization.parse(outputs, start))
    for seconds in (1, 4, 16, 64, 256, 1024, 4096, 10**9):
        ticks = count()
        monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=ticks.__next__))
        form = Ansatz.radial() if len(outputs) > 1 else None
        d = derive(Parameterization.parse(outputs, start), None, form, timeout=seconds)
        pairs = zip((d, d.hessian, d.warping), (whole, whole.hessian, whole.warping), strict=True)
        assert all(x.verdict in (y.verdict, Verdict.UNDECIDED) for x, y in pairs)
        assert set(d.conserved.laws) <= set(whole.conserved.laws)
    assert d.verdict is whole.verdict
    assert next(ticks) > 64


def test_what_was_derived_in_time_can_be_used_after_it():
    d = derive(Parameterization.parse(["u*v"]), timeout=60)
    assert d.verdict is Verdict.PROVED
    assert check_text(d.to_json()).verdict == "PROVED"
    assert derive(d.parameterization, timeout=0).verdict is Verdict.UNDECIDED
    assert derive(d.parameterization).verdict is Verdict.PROVED
