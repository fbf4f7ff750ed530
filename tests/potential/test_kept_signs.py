"""What Q assumes to keep its sign along the flow: nothing where a positive function writes it."""

import json
from contextlib import nullcontext

import numpy as np
import pytest

from derive import Parameterization
from derive.certificate.checking.check import Rejected, check_text
from numerics import flow, interpolate
from tests.conditions import texts
from tests.published import derive_once

NORMALISED = [
    (("a/(a+b+c)", "b/(a+b+c)"), ("1", "1", "9/10")),
    (("a/(a+b+c)", "b/(a+b+c)"), ("-7/3", "2/3", "3/4")),
    (("a/(a+b+c+e)", "b/(a+b+c+e)"), ("2/5", "11/4", "2/3", "2/5")),
]


def derived(outputs, start):
    return derive_once(Parameterization.parse(outputs, start=named(outputs, start)))


def named(outputs, values):
    names = sorted(set("abceuvxyz") & set("".join(outputs)))
    return dict(zip(names, values, strict=True))


@pytest.mark.every(4)
@pytest.mark.parametrize(("outputs", "start"), NORMALISED)
def test_the_warp_writes_normalised_outputs_wherever_the_flow_goes(outputs, start):
    d = derived(outputs, start)
    q = d.potential.numeric({})
    assert not [a for piece in d.potential.pieces for a in piece.assumptions]
    for x, to in (([1, 0], -0.15), ([1, 0], 0.2), ([1, -2], 0.3)):
        y = float(np.dot(x, q.beta0)) + to
        limit = flow(d.parameterization, [x], [y], named(outputs, start), 12).limit
        found = interpolate(q, [x], [y])
        assert found.converged
        assert np.allclose(found.value, np.array(limit, dtype=float), atol=1e-8)


def test_a_difference_of_weights_crosses_zero_on_the_way():
    """The form with sqrt((a - c)^2) called (0.25, 0.3575) the interpolant."""
    d = derived(*NORMALISED[0])
    end = flow(d.parameterization, [[1, 0]], [0.25], named(*NORMALISED[0]), 12)
    a, _, c = (float(w) for w in end.weights)
    assert a < c
    found = interpolate(d.potential.numeric({}), [[1, 0]], [0.25])
    assert found.value == pytest.approx([float(b) for b in end.limit], abs=1e-9)
    assert found.value[1] == pytest.approx(0.3925, abs=1e-4)


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("outputs", "start", "said"),
    [
        ("a*u a*v", None, "a**2 > u**2 + v**2"),
        ("a*u a*v", ("1", "2", "0"), ""),
        ("a*u a*v", ("2", "1", "1"), None),
        ("a*b*u a*b*v", None, "a**2 > b**2 or a**2 > u**2 + v**2"),
        ("x**2*y y*z**2", None, "2*y**2 > x**2 + z**2"),
        ("a*c a*b**2", None, "2*a**2 > b**2 + 2*c**2"),
        ("(a**2-b**2)*u (a**2-b**2)*v", None, "a**2 + b**2 > 2*a*b + 2*u**2 + 2*v**2 or a*b < 0"),
    ],
)
def test_a_condition_is_offered_where_it_can_hold(outputs, start, said):
    outputs = outputs.split()
    given = None if start is None else named(outputs, start)
    d = derive_once(Parameterization.parse(outputs, start=given))
    marker = " keeps its sign along the flow"
    found = [text for text in texts(*d.potential.pieces) if marker in text]
    if said is None:
        assert found == []
        return
    _, _, note = found[0].partition(marker)
    options = note.removeprefix(" (automatic when ").removesuffix(" at the start)").split(" or ")
    assert sorted(options) == said.split(" or ")
    page = d.to_latex()
    assert (" automatic when" in page) == bool(said)
    assert page.count("$") % 2 == 0


def test_what_cannot_hold_together_is_not_offered():
    """As x**2 > y**2 and y**2 > x**2."""
    d = derive_once(Parameterization.parse(["x*y*z", "x*y"]))
    kept = [text for text in texts(*d.potential.pieces) if "keeps its sign" in text]
    assert len(kept) == 2
    assert not any("automatic" in text for text in kept)


def test_what_always_holds_is_not_assumed():
    """Neither that an exponential is not 0, nor twice what is assumed to be positive."""
    d = derive_once(Parameterization.parse(["c*a/sqrt(a**2+b**2)", "c*b/sqrt(a**2+b**2)"]))
    assert texts(*d.potential.pieces) == (
        *("a_0**2 + b_0**2 > 0", "c_0 > 0", "c keeps its sign along the flow"),
    )


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("outputs", "start", "kept"),
    [
        # b**2 - u**2 - v**2 is the second law less the first of those that are printed.
        ("a*b*u a*b*v", "3 2 1 1", True),
        ("a*b*u a*b*v", "3 1 1 1", False),
        # a**2 - b**2/2 - c**2 is half of the law.
        ("a*c a*b**2", "2 1 1", True),
        ("a*c a*b**2", "1 1 1", False),
    ],
)
def test_a_sum_of_laws_keeps_a_sign_in_the_certificate_too(outputs, start, kept):
    d = derived(tuple(outputs.split()), start.split())
    assert (d.potential.pieces[0].assumptions == ()) is kept
    checked = check_text(d.to_json())
    assert not checked.open
    assert any("keeps its sign" in line for line in checked.theorem) is not kept
    record = json.loads(d.to_json())
    for piece in record["potential"]["pieces"]:
        piece["assumptions"] = [a for a in piece["assumptions"] if "keeps" not in a]
    with pytest.raises(Rejected) if not kept else nullcontext():
        check_text(json.dumps(record))
    # Of sums that are not conserved, or not positive at the start, nothing follows.
    for sums in ([], ["b**2 + 1", "a**2", "-1 - u**2"]) if "sums" in record["certificate"] else ():
        record["certificate"]["sums"] = sums
        with pytest.raises(Rejected):
            check_text(json.dumps(record))


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("outputs", "start", "kept"),
    [
        ("a*u a*v", {"a": "alpha", "u": "0", "v": "0"}, True),
        ("a*u a*v", {"a": "2*s", "u": "s", "v": "s"}, True),
        ("a*u a*v", {"a": "s", "u": "s", "v": "s"}, False),
        ("a*u a*v", {"a": "s + t", "u": "s", "v": "0"}, True),
        ("a*c a*b**2", {"a": "2*s", "b": "s", "c": "s"}, True),
        ("a*c a*b**2", {"a": "s", "b": "s", "c": "s"}, False),
        ("a*b*u a*b*v", {"a": "alpha", "b": "alpha", "u": "0", "v": "0"}, True),
    ],
)
def test_what_a_law_proves_of_a_start_in_symbols_is_not_assumed(outputs, start, kept):
    """As a = alpha > 0 at the start, a**2 >= alpha**2 > 0 all along."""
    positive = sorted({*"st"} & set("".join(start.values())))
    d = derive_once(Parameterization.parse(outputs.split(), start=start, positive=positive))
    (piece,) = d.potential.pieces
    assert any("keeps its sign" in text for text in texts(piece)) is not kept
    assert (piece.domain.convex == "warp assumed") is not kept
