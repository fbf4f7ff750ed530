"""The canonical form of F, and the grammar: one F of each class."""

import random
from collections import Counter
from fractions import Fraction
from math import lcm

import pytest

from derive.atlas.canonical import ALGEBRAIC, canonical, law_form, product, written
from derive.atlas.grammar import candidates


@pytest.fixture(scope="module")
def drawn():
    return [*candidates(4)]


@pytest.fixture(scope="module")
def forms(drawn):
    return [c.form for c in drawn]


def random_member(form, rng):
    """Return an F of the class of a form: weights renamed, signed and scaled, outputs mixed."""
    used = sorted({w for row in form for m, _ in row for _, v, _ in m for w in v})
    names = [*used]
    rng.shuffle(names)
    factors = {f for row in form for m, _ in row for f in m}
    kept = {w for f, v, _ in factors if f not in ("weight", "exp", "norm") for w in v}
    sign = {w: 1 if w in kept else rng.choice((1, -1)) for w in used}
    scale = rng.choice((Fraction(2), Fraction(1, 3), Fraction(3, 2), Fraction(1)))
    scale = scale if all(f in ALGEBRAIC for f, _, _ in factors) else Fraction(1)
    image = dict(zip(used, names, strict=True))

    def moved(m, c):
        c *= scale ** sum(n for _, _, n in m) if scale != 1 else 1
        new = []
        for f, v, n in m:
            c *= sign[v[0]] ** abs(n) if f == "weight" else 1
            n *= sign[v[0]] if f == "exp" else 1
            new.append((f, tuple(sorted(image[w] for w in v)), n))
        return product(new), c

    rows = [[moved(m, c) for m, c in row] for row in form]
    d, mixed = len(rows), []
    for i in range(d):  # a triangular matrix, its rows in any order
        total = Counter()
        for j in range(i + 1):
            factor = rng.choice((1, -1, 2, -3)) if i == j else rng.randrange(-2, 3)
            for m, c in rows[j]:
                total[m] += factor * c
        total[()] += rng.randrange(3)
        below = lcm(*(Fraction(c).denominator for c in total.values()))
        mixed.append({m: int(c * below) for m, c in total.items()})
    rng.shuffle(mixed)
    return mixed


@pytest.mark.parametrize("step", [20, pytest.param(3, marks=pytest.mark.slow)])
def test_it_is_the_same_for_all_of_a_class(forms, step):
    for k, form in enumerate(forms[::step]):
        rng = random.Random(k)
        for _ in range(3):
            assert canonical(random_member(form, rng)) == form


def test_classes_are_not_joined():
    a, b = ("weight", (0,), 1), ("weight", (1,), 1)
    F = {(a, b): 1}, {(("weight", (0,), 2),): 1}
    assert canonical(F[:1]) != canonical(F[1:])
    # A scale of one weight is no isometry.
    assert canonical([{(a,): 1, (b,): 1}]) != canonical([{(a,): 1, (b,): 2}])
    # A scale of both is taken out.
    square = (("weight", (0,), 2),)
    assert canonical([{square: 1, (a,): 8}]) == canonical([{square: 3, (a,): 1}])
    assert canonical([{square: 1, (b,): 1}]) != canonical([{square: 1, (a,): 1}])


def test_marks_keep_weights_apart():
    a, b = ("weight", (0,), 1), ("weight", (1,), 2)
    F = [{product((a, b)): 1}]
    assert canonical(F, ("0", "")) != canonical(F, ("", "0"))
    swapped = [{product((("weight", (1,), 1), ("weight", (0,), 2))): 1}]
    assert canonical(F, ("0", "")) == canonical(swapped, ("", "0"))


@pytest.mark.parametrize("size", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_there_is_one_of_each_class(size, drawn):
    forms = [c.form for c in drawn if c.size <= size]
    assert len(forms) == len({*forms})
    in_another_order = [c.form for c in candidates(size, seed=5)]
    assert {*forms} == {*in_another_order}
    assert forms != in_another_order


@pytest.mark.parametrize(
    "outputs",
    [
        ("a*b",),
        ("a**2 - b**2",),
        ("a*b", "a*c"),
        ("a*b*c", "a*b*d"),
        ("a/sqrt(a**2 + b**2)",),
        ("b*log(a)",),
        ("a*b + c*d",),
    ],
)
def test_the_models_of_papers_are_there(outputs, forms):
    assert outputs in {written(form) for form in forms}


def test_laws_have_a_form():
    from sympy.abc import u, v, w

    assert law_form(w**2 / 3 - u**2 / 3) == law_form(u**2 - v**2) == "a**2 - b**2"
    assert law_form(u**2 + v**2) != law_form(u**2 - v**2)
    assert law_form((u - v) / (u + w)) == ""
