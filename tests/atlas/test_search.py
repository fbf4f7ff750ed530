"""Searching an atlas: what has a Q is found, and what has not is not."""

import functools
from fractions import Fraction

import numpy as np
import pytest
import sympy

from derive.atlas.build import Limits, decided
from derive.atlas.canonical import canonical
from derive.atlas.fit import Family, Samples
from derive.atlas.grammar import Candidate
from derive.atlas.search import classes, formula, having, proportional, search
from derive.atlas.store import opened
from derive.errors import InputError


@pytest.fixture(scope="module")
def atlas():
    with opened(None) as atlas:
        yield atlas


@pytest.fixture(scope="module")
def entries(atlas):
    return atlas.entries()


@pytest.fixture(scope="module")
def equal(entries):
    """Return what is equal to a formula, each searched once."""
    return functools.cache(
        lambda formula: {x.entry.outputs: x for x in search(formula, entries) if x.fit}
    )


TRUE = {
    "beta*asinh(beta/c) - sqrt(beta**2 + c**2)": "a*b",
    "3*beta*asinh(2*beta/(5*k)) - 3*sqrt(beta**2 + 25*k**2/4) + 7*beta - 2": "a*b",
    "beta*asinh(beta) - sqrt(beta**2 + 1)": "a*b",
    "beta*log(beta) - beta": "a**2",
    "5*beta*log(3*beta/c)/7": "a**2",
    "-log(beta)": "exp(a)",
    "x*beta**2": "a",
    "-beta**(2/3)": "a*b*c",
    "1/beta": "1/a**2",
    "log(cosh(k*beta))": "log(a) - log(b)",
    "beta*atan(beta)": "b/a",
    "exp(beta)": "log(a)",
}


@pytest.mark.every(6)
@pytest.mark.parametrize("formula", TRUE)
def test_formulas_are_found_with_other_constants(formula, equal):
    found = equal(formula)
    assert TRUE[formula] in found
    assert any(match.ground == "equal: an exact identity" for match in found.values())


FALSE = [
    *("beta*asinh(beta)", "sqrt(1 + beta**2)", "beta**3", "beta**4", "beta**(5/2)", "beta**(7/4)"),
    *("beta*log(beta) - beta + beta**3", "beta*log(beta)**2", "cosh(beta)", "beta**2*log(beta)"),
    *("log(1 + beta**4)", "beta**2 + exp(beta)", "exp(beta**2)", "beta**2*atan(beta)"),
    *("-log(sin(beta))", "beta*asinh(beta) - 2*sqrt(beta**2 + 1)", "sinh(beta)**2 + beta**4"),
    *("beta1**2/beta2", "(beta1**2 + beta2**2)**2", "beta1**4 + beta2**2"),
]


@pytest.mark.every(8)
@pytest.mark.parametrize("formula", FALSE)
def test_others_are_not(formula, entries):
    matches = search(formula, entries, 3)
    assert 0 < len(matches) <= 3
    assert {match.ground for match in matches} == {"near"}


def test_the_constants_are_told(equal):
    match = equal("beta*asinh(beta/c) - sqrt(beta**2 + c**2)")["a*b"]
    assert sympy.sympify(match.constants["c"]) == sympy.sqrt(sympy.Symbol("k")) / 2
    a, b = sympy.symbols("a_0 b_0")
    assert sympy.expand(formula(match.entry)[1]["k"] - (a**2 - b**2) ** 2) == 0


def test_an_identity_is_needed():
    """What is nearly proportional is not confirmed."""
    beta, c = sympy.symbols("beta c")
    right = beta * sympy.asinh(beta / c) - sympy.sqrt(beta**2 + c**2)
    point = {"beta": Fraction(2, 3), "c": Fraction(5, 4)}
    assert proportional(3 * right + 5 * beta * c, right, point, 1)
    assert not proportional(-right, right, point, 1)
    assert not proportional(right + beta**2 / 10**30, right, point, 1)
    assert not proportional(right.subs(c, 2 * c), right, point, 1)
    x, y = sympy.symbols("beta1 beta2")
    point = {"beta1": Fraction(2, 3), "beta2": Fraction(5, 4)}
    assert proportional(3 * x**4 + 3 * y**2, x**4 + y**2 + x, point, 2)
    assert not proportional(x**4 + 2 * y**2, x**4 + y**2, point, 2)


def test_coupled_outputs_in_other_coordinates(equal):
    """Of `a*u1, a*u2` the published Q is found with the coordinates mixed."""
    Q = "(2*A**(3/2)/3 - sqrt(A)*d)".replace("A", "(d/2 + sqrt(d**2 + 4*S)/2)")
    assert "a*b, a*c" in equal(Q.replace("S", "((beta1 + beta2)**2 + (beta1 - 2*beta2)**2)"))
    assert "a*b, a*c" not in equal(Q.replace("S", "(beta1**2 + beta2**4)"))


def test_properties(atlas):
    law = having(atlas, law="u**2 - v**2", weights=2)
    assert {"a*b"} <= {x.outputs for x in law}
    assert all("a**2 - b**2" in x.law_forms.split(", ") for x in law)
    warped = having(atlas, warped=True, weights=2)
    assert ("a, a*b", "a") in {(x.outputs, x.g) for x in warped}
    assert all(x.g != "1" and x.weights == 2 for x in warped)
    horizon = having(atlas, horizon="l1")
    assert {x.horizon for x in horizon} == {"l1"}
    positive = having(atlas, domain="positive")
    assert "exp(a)" in {x.outputs for x in positive}
    with pytest.raises(InputError, match="--domain: choose one of all, positive"):
        having(atlas, domain="everywhere")
    with pytest.raises(InputError, match="--law: write sums"):
        having(atlas, law="(u + v)/(u - v)")


@pytest.mark.parametrize("formula", ["x**2", "beta1**2 + beta3**2", "beta*beta1"])
def test_a_formula_is_in_beta(formula, entries):
    with pytest.raises(InputError, match="write it in beta"):
        search(formula, entries)


def test_equal_q_is_one_class(entries):
    by_id = {x.id: x for x in entries}
    groups = {}
    for x in entries:
        groups.setdefault(x.class_id, set()).add((x.outputs, x.start))
    (hypentropy,) = (g for g in groups.values() if ("a*b", "") in g)
    assert ("c*sqrt(a**2 + b**2)", "") in hypentropy
    assert ("a**2", "") not in hypentropy
    assert all(by_id[x.class_id].number <= x.number for x in entries if x.class_id)
    some = [x for x in entries if x.outputs in ("a*b", "a**2", "c*sqrt(a**2 + b**2)", "a*b*c")]
    again = classes(some)
    assert again == {x.id: by_id[x.class_id].id for x in some if x.samples}


def test_a_wrong_hessian_is_no_fit():
    """Samples that were spoiled fit no formula any more."""
    a, b = ("weight", (0,), 1), ("weight", (1,), 1)
    entry = decided(Candidate(canonical([{(a, b): 1}]), 2), Limits(20.0))[0]
    family = Family.of(formula(entry)[0], ("beta",))
    rows = entry.points()[:5]
    good = Samples(rows[None, :, 1:2], rows[None, :, 2:, None])
    spoiled = Samples(good.beta, good.hessian * np.array([1, 1, 1.01, 1, 1])[:, None, None])
    for samples, fits in ((good, True), (spoiled, False)):
        x, _ = family.guessed(samples)
        _, misfits = family.improved(samples, x)
        assert (misfits.min() < 1e-7) == fits
