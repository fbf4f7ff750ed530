"""What is computed once in generic entries and sums is what coordinates give at every n."""

import dataclasses
from fractions import Fraction
from itertools import product

import pytest

from derive import InputError, Parameterization, Verdict, derive
from derive.exact.balls import ball, evaluate_any, precise, values_of
from derive.model.entrywise import EntrywiseMap
from derive.weights.entrywise import (
    Entries,
    EntryFlow,
    find_entrywise_failure,
    find_entrywise_refutation,
    values_at_size,
    vanishing_sizes,
)
from derive.weights.entrywise_dual import NotOfThisKind, find_entrywise_dual, find_factors
from derive.weights.metric import tangent_kernel
from derive.weights.witness import Equation

MAPS = [
    "exp(v)/sum(exp(v))",
    "v**3/sum(v**3)",
    "gam*v/norm(v)",
    "a*v**2/sum(v) + b*v",
    "v/prod(v)",
    "sigmoid(v)*sum(v**2)",
]
ROOM = {"v1": Fraction(1), "v2": Fraction(2), "v3": Fraction(1, 2), "v4": Fraction(3, 2)}
SCALARS = {"gam": Fraction(5, 4), "a": Fraction(2), "b": Fraction(3)}


def entries_of(text, each="v", **options):
    return Entries(EntrywiseMap.parse([text], [each], **options))


def dual_of(text, each="v", **options):
    return find_entrywise_dual(find_factors(entries_of(text, each, **options)))


def agree(x, y):
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x == y
    with precise():
        gap = ball(x) - ball(y)
        return gap.contains(0) and gap.rad() < 1e-40


@pytest.mark.every(6)
@pytest.mark.parametrize("text", MAPS)
@pytest.mark.parametrize("n", [3, 4])
def test_K_and_its_derivatives_are_those_of_coordinates(text, n):
    entries = entries_of(text)
    flow, model = EntryFlow(entries), entries.model
    p = Parameterization(model.of_size(n))
    given = {x: {**ROOM, **SCALARS}[x] for x in p.weights}
    K = tangent_kernel(p)
    pairs = []
    for i, j in product(range(3), repeat=2):
        slope = p.geometry.inner(p.covectors[i], p.field.gradient(K[1][j]))
        pairs += [(flow.K[i][j], K[i][j]), (flow.along(i, 1, j), slope)]
    # The sums that come up have values once they have.
    values, there = values_at_size(entries, given, n), values_of(p.field, given)
    assert all(agree(evaluate_any(x, values), evaluate_any(y, there)) for x, y in pairs)


def test_sums_are_new_only_where_they_are_independent():
    entries = entries_of("exp(v)/sum(exp(v))")
    own = entries.own
    f = entries.f
    S, n = entries.field_.named("S1"), entries.n
    assert entries.total(3 * f + 2) == 3 * S + 2 * n
    new = entries.total(f * f)
    assert new == entries.field_.named("T1")
    assert entries.total(5 * f * f - f) == 5 * new - S
    assert own.derivative(f, 0) == f


def test_a_sum_that_is_another_is_refused():
    with pytest.raises(InputError, match="one of the other sums"):
        entries_of("v/(sum(v) + sum(2*v + 1))")


@pytest.mark.parametrize(
    ("text", "each", "clock"),
    [
        ("exp(v)/sum(exp(v))", "v", "last entry"),
        ("v**p/sum(v**p)", "v", "last entry"),
        ("sigmoid(v)/sum(sigmoid(v))", "v", "last entry"),
        ("v**k/norm(v)**k", "v:n-1", "last entry"),
        ("gam*v**k/norm(v)**k", "v", "single weight"),
        ("v**k*sum(v**2)**q", "v", "sum"),
        ("exp(v)*(1 + sum(v))", "v", "sum"),
        ("sigmoid(v)/(1 + sum(sigmoid(v)))", "v", "sum"),
        ("v**2 + 3*sum(v**2)", "v", "sum"),
        ("(v + 3*sum(v))*norm(v)", "v", "sum"),
    ],
)
def test_dual_coordinates_are_accepted_by_identities(text, each, clock):
    dual = dual_of(text, each)
    assert dual.clock == clock
    assert all(identity.holds for identity in dual.identities)
    moved = [] if dual.rate.is_zero() else [{"rate": -dual.rate}]
    for broken in (*moved, {"G": dual.G * 2}, {"b": dual.b + 1}):
        with pytest.raises(NotOfThisKind):
            _ = dataclasses.replace(dual, **broken).identities


@pytest.mark.parametrize("text", ["gam*exp(v)/(1 + sum(exp(v)))", "gam*sinh(v)/(2 + sum(sinh(v)))"])
def test_as_many_laws_as_single_weights_are_asked_for(text):
    """Without a law y_i are functions of the weights, and not of beta."""
    with pytest.raises(NotOfThisKind, match="no law"):
        dual_of(text)


@pytest.mark.parametrize("text", ["gam*exp(v)/sum(exp(v))", "gam*v/sum(v)"])
def test_a_verdict_at_two_entries_says_nothing_of_more(text):
    model = EntrywiseMap.parse([text], ["v"])
    assert derive(Parameterization(model.of_size(2)), timeout=60).verdict is Verdict.PROVED
    assert find_entrywise_refutation(Entries(model)).size == 3


def test_a_law_that_is_none_is_not_accepted():
    dual = dual_of("v**2*sum(v**2)")
    assert not dual.conserved
    with pytest.raises(NotOfThisKind):
        _ = dataclasses.replace(dual, D=dual.D.field.zero).identities


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("gam*v/sum(v)", 3),
        ("exp(v)/sum(exp(v))", None),  # where there is a warp no equation of it fails
        ("gam*exp(v)/sum(exp(v))", 3),
        ("gam*exp(v)/(1 + sum(exp(v)))", 3),  # y_i with the right slopes, and no law
        ("gam*v**3/norm(v)**3", None),
        ("v/(1 + sum(v**4))", 3),
        ("v/prod(v)", 3),
        ("v**3/prod(v)", 4),  # at n = 3 the outputs have the product 1
        ("v**2*sum(v**2)", None),
    ],
)
def test_what_is_refuted_for_every_n_is_so_in_coordinates(text, size):
    entries = entries_of(text)
    failure = find_entrywise_refutation(entries)
    assert (failure and failure.size) == size
    if size:
        found = derive(Parameterization(entries.model.of_size(size)), timeout=60)
        assert found.warping.verdict is Verdict.REFUTED


def test_whole_numbers_at_which_an_equation_holds_are_left_out():
    entries = entries_of("v/sum(v)")
    n, S, zero = entries.n, entries.field_.named("S1"), entries.field_.zero
    function = (n - 7) * (S + n)
    assert vanishing_sizes(entries, function.numerator) == [7]
    failure = find_entrywise_failure(entries, Equation("0", function, zero))
    assert failure.size == 8
    assert find_entrywise_failure(entries, Equation("0", function, function)) is None


def test_what_fails_is_shown_at_weights_of_its_size():
    entries = entries_of("gam*v/sum(v)")
    failure = find_entrywise_refutation(entries)
    point = dict(failure.identity.point)
    assert {"v1", "v2", "v3", "gam"} == set(point)
    assert failure.identity.residual != 0


def test_entries_have_names_that_are_not_taken():
    model = EntrywiseMap.parse(["v_i*n*v/sum(v)"], ["v"])
    assert model.entry("i") == "v_i_"
    assert model.size == "n_"
