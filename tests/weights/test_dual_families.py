"""The families in which dual coordinates are sought have all members that they should."""

import pytest

from derive import Parameterization
from derive.weights import dual_families
from derive.weights.conserved import find_conserved
from derive.weights.dual_families import conjugate_family, forms_of_warp
from derive.weights.lie import find_lie_structure


def conserved_of(outputs, start=None):
    return find_conserved(find_lie_structure(Parameterization.parse(outputs, start)))


def told(family):
    """Return rational members, and logarithms with their coefficients."""
    plain = {f.rational for f in family if not f.logs}
    logs = {f.logs[0] for f in family if f.logs}
    assert len(plain) + len(logs) == len(family)
    assert all(f.rational.is_zero() for f in family if f.logs)
    return plain, logs


@pytest.mark.parametrize("degree", [-2, -1, 0, 1, 2, 3, 4])
def test_a_family_of_one_degree(degree):
    """F = a u keeps a^2 - u^2, and the signs of a + u and a - u."""
    conserved = conserved_of(["a*u"])
    a, u = conserved.parameterization.w
    (law,) = conserved.laws
    assert {*conserved.darboux} == {a + u, a - u}
    plain, logs = told(conjugate_family(conserved, degree))
    expected = {a**i * u ** (degree - i) for i in range(degree + 1)} if degree > 0 else set()
    if degree <= 0:
        powers = {n for n in range(-2, 3) if n and -2 <= degree - n <= 2}
        mixed = {(n, degree - n) for n in powers if (n > 0) != (degree - n > 0) and degree != n}
        expected = {a**i * u**j for i, j in mixed}
    if degree < 0:
        expected |= {f**degree for f in (a, u, a + u, a - u)}
    assert plain == expected
    weight = {0: a / a, 2: law, 4: law**2}.get(degree)
    assert logs == ({(weight, f) for f in (a + u, a - u)} if weight is not None else set())


def test_members_have_values_at_the_start():
    conserved = conserved_of(["a*u"], {"a": "1", "u": "0"})
    a, u = conserved.parameterization.w
    plain, logs = told(conjugate_family(conserved, -1))
    assert plain == {1 / a, u / a**2, 1 / (a + u), 1 / (a - u)}
    assert logs == set()
    equal = conserved_of(["a*u"], {"a": "1", "u": "1"})
    assert len(told(conjugate_family(equal, 0))[1]) < 2


def test_forms_that_a_warp_asks_for(monkeypatch):
    conserved = conserved_of(["a*u", "a*v"])
    a, u, _ = conserved.parameterization.w
    (law,) = conserved.laws
    assert told(forms_of_warp(conserved, a))[0] == {a**3, a * law}
    found, logs = told(forms_of_warp(conserved, a * u))
    assert found == {a**i * u ** (4 - i) for i in range(5)} | {law * f for f in (a**2, a * u, u**2)}
    assert logs == set()
    assert forms_of_warp(conserved, a + 1) == []
    monkeypatch.setattr(dual_families, "MAXIMAL_COLUMNS", 4)
    assert told(forms_of_warp(conserved, a * u))[0] == {law * f for f in (a**2, a * u, u**2)}


def test_mixed_degrees():
    conserved = conserved_of(["a + u**2"])
    a, u = conserved.parameterization.w
    plain, logs = told(conjugate_family(conserved, None))
    forms = {a**i * u**j for i in range(4) for j in range(4) if 0 < i + j <= 3}
    assert plain == forms | {w**-n for w in (a, u) for n in (1, 2, 3)}
    assert logs == {(a / a, f) for f in conserved.darboux}
