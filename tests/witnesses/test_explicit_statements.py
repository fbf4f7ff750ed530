"""What is said of explicit regularization, put to witnesses; and witnesses put to false claims."""

from dataclasses import replace
from fractions import Fraction

import pytest
from flint import arb

import tests.witnesses.explicit  # noqa: F401 (its witnesses)
from derive import Parameterization, explicit_counterpart
from derive.verdict import Finding, Verdict
from tests.witnesses import WITNESSES, Refuted, changed, repeated, withstood

TIED = {"p": "a", "m": "a"}
OWN = [
    (["w**2"], {}),
    (["p**2 - m**2"], TIED),
    (["w**4 - w**2"], {"w": "2"}),
    (["u*v"], {}),
    (["u*v"], {"u": "1", "v": "1"}),
    (["u*v*w"], {"u": "1", "v": "1", "w": "0"}),
    (["u**2*v"], {"u": "1", "v": "0"}),
    (["a*u1", "a*u2"], {}),
    (["W*T(W)"], {}),
    (["w"], {}),
    (["w**3 - 3*w"], {"w": "3"}),
    (["p**2 - m**2/2"], TIED),
]


def found(outputs, start=None, at=None):
    arrays = {"W": (2, 2)} if "W" in outputs[0] else {}
    p = Parameterization.parse(outputs, start or {}, arrays=arrays)
    return explicit_counterpart(p, at=at)


@pytest.mark.every(16)
@pytest.mark.parametrize(("outputs", "start"), OWN, ids=lambda x: str(x))
def test_statements_withstand_their_witnesses(outputs, start):
    assert sum(withstood(found(outputs, start), 1).values()) > 0, "nothing was tried"


@pytest.mark.slow
def test_values_withstand_theirs():
    record = found(["p**2 - m**2"], TIED, {"beta": Fraction(3), "a": Fraction(1)})
    assert withstood(record, 1)["value"] == 2


def test_the_cost_is_0_at_the_output_of_0_and_a_limit_at_other_ends():
    """F = w^4 - w^2 from 2: R_F(0) = 0, as F(0) = 0, though R_F -> 1 from the side of F(2)."""
    record = found(["w**4 - w**2"], {"w": "2"}, {"beta": Fraction(0)})
    (value,) = [s for s in record.says("value") if s.values["of"] == "R_F"]
    assert value.values["value"].ball == 0
    below = [str(x) for x in record.says("representation cost")[0].below]
    assert any("from the side of `F(0)`" in line for line in below)
    assert not any("F(w_0)" in line for line in below)
    assert any("from the side of `F(w_0)`" in str(x) for x in record.says("distance")[0].below)


def falsified(kind):
    """Return a record and a statement of it with another form, root, verdict, limit or value."""
    record = found(["p**2 - m**2"], TIED, {"beta": Fraction(3), "a": Fraction(1)})
    s = record.says(kind)[0]
    if kind in ("distance", "representation cost"):
        minimum = s.values["minimum"]
        moved = tuple(replace(x, factor=None) for x in minimum.intervals)
        return record, changed(s, minimum=replace(minimum, intervals=moved))
    contrast = s.values.get("contrast")
    if kind == "R beside Q":
        same = replace(contrast, finding=Finding(Verdict.PROVED, "they are the same"))
        return record, changed(s, contrast=same)
    if kind == "R and Q in numbers":
        rows = tuple(replace(row, implicit=2 * row.implicit) for row in contrast.rows)
        return record, changed(s, contrast=replace(contrast, rows=rows))
    if kind == "scale limit":
        # From a start that does not go to 0.
        other = {"p": "1 + a", "m": "1 + a"}
        return replace(record, parameterization=Parameterization.parse(["p**2 - m**2"], other)), s
    return record, changed(s, value=replace(s.values["value"], ball=arb(2)))


KINDS = (
    "distance",
    "representation cost",
    "R beside Q",
    "R and Q in numbers",
    "scale limit",
    "value",
)


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", KINDS)
def test_witnesses_refute_what_is_false(kind):
    record, statement = falsified(kind)
    with pytest.raises(Refuted):
        repeated(WITNESSES[kind], record, statement)
