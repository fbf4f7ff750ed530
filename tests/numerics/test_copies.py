"""Copies of a parameterization: as wide as one likes, each from a start of its own."""

import pickle

import numpy as np
import pytest
import sympy

from derive import InputError, NumericalError, Parameterization, Verdict, copies, derive
from numerics import crosscheck, flow, interpolate

PAIR = Parameterization.parse(["p**2 - m**2"], start={"p": "alpha", "m": "alpha"})
COUPLED = Parameterization.parse(["u**2 + v**2", "u**2 - v**2"], start={"v": "u0"})


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.integers(-4, 5, size=(3, 200)), [3, -2, 5], rng.integers(5, 50, size=200)


@pytest.mark.slow
def test_200_tied_pairs(data):
    X, y, hundredths = data
    many = copies(PAIR, 200, start={"alpha": [f"{k}/100" for k in hundredths]})
    s, end = interpolate(many, X, y), flow(many, X, y, digits=15)
    # beta_i = 2 alpha_i^2 sinh(4 (X^T nu)_i): Woodworth et al. 2020, with the step of w' = -grad
    expected = 2 * (hundredths / 100) ** 2 * np.sinh(4 * X.T @ s.multiplier)
    assert s.converged
    assert end.converged
    assert s.value == pytest.approx(expected, abs=1e-13)
    assert s.value == pytest.approx(np.array(end.limit, dtype=float), abs=1e-12)
    # negative control: from one start for all, another predictor
    other = interpolate(copies(PAIR, 200, start={"alpha": "1/10"}), X, y).value
    assert np.abs(other - s.value).max() > 1e-3
    one = derive(PAIR).potential.numeric({"alpha": "1/10"})
    assert interpolate(one, X, y).value == pytest.approx(other, abs=1e-13)


def test_copies_of_two_outputs():
    two = copies(COUPLED, 2, start={"u_0": ["1/2", 2], "u0": ["1/3", 1]})
    X, y = [[1, 2, -1, 3], [0, 1, 1, -1]], [1, 2]
    assert crosscheck(two, X, y, digits=12).passed
    weights = {"u": ["1/2", 2], "v": ["1/3", 1]}
    ends = [flow(two, X, y, given, 12).limit for given in (None, weights, {"u_0": ["1/2", 2]})]
    assert ends[0] == ends[1] == ends[2]
    assert np.array(ends[0], float) == pytest.approx(interpolate(two, X, y).value, rel=1e-9)
    starts = {"u_0": 0.5, "u0": "1/3"}, {"u_0": 2, "u0": 1}
    parts = [derive(COUPLED).potential.numeric(start) for start in starts]
    beta = np.array([3.0, 1.0, 4.0, -2.0])
    expected = parts[0](beta[:2]) + parts[1](beta[2:])
    assert two.numeric()(beta) == pytest.approx(expected, rel=1e-14)


def test_a_parameter_belongs_to_the_start():
    scaled = Parameterization.parse(
        ["k*p**2 - m**2"], start={"p": "alpha", "m": "alpha"}, parameters=["k"]
    )
    two = copies(scaled, 2, start={"alpha": [1, 2], "k": 1})
    one, other = two.numeric(), two.numeric({"k": 3})
    assert one != other
    assert one([1, 1]) != other([1, 1])
    for q in (other, two.numeric({"alpha": [3, 4]})):
        again = pickle.loads(pickle.dumps(q))
        assert (again, hash(again), again([1, 1])) == (q, hash(q), q([1, 1]))


def test_copies_under_a_warp_minimise_no_sum():
    """Each has a clock of its own: the flow ends where grad Q is not in the row space."""
    two = copies(["a*u1", "a*u2"], 2, start={"a_0": ["1/2", 2], "u1_0": 0, "u2_0": 0})
    X, y = [[1, 2, -1, 3], [0, 1, 1, -1]], [1, 2]
    for question in (lambda: crosscheck(two, X, y), lambda: interpolate(two, X, y)):
        with pytest.raises(NumericalError, match="each has a warp of its own"):
            question()
    end = np.array(flow(two, X, y, digits=10).limit, float)
    starts = ({"a_0": a, "u1_0": 0, "u2_0": 0} for a in (0.5, 2))
    parts = [two.derivation.potential.numeric(start) for start in starts]
    slope = np.concatenate([q.gradient(b) for q, b in zip(parts, (end[:2], end[2:]), strict=True)])
    _, (misfit,), *_ = np.linalg.lstsq(np.array(X, float).T, slope)
    assert misfit > 1e-3


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: copies(PAIR, 0), "at least 1"),
        (lambda: copies(PAIR, 2, start={"beta": 1}), "its symbols are: alpha"),
        (lambda: copies(Parameterization.parse(["a*u"], vectors=["u"]), 2), "a dimension"),
        (lambda: copies(PAIR, 2, start={"alpha": [1, 2, 3]}).numeric(), "3 values, not 2"),
        (lambda: interpolate(copies(PAIR, 2, start={"alpha": 1}), [[1, 2, 3]], [1]), "3 columns"),
        (lambda: flow(copies(PAIR, 2), [[1, 2]], [1]), "no value for alpha"),
        (lambda: flow(PAIR, [[1]], [1]), "no value for p, m"),
    ],
)
def test_what_is_no_copy_is_refused(made, said):
    with pytest.raises(InputError, match=said):
        made()


@pytest.mark.parametrize(
    "given",
    [
        copies(Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}), 3),
        copies(Parameterization.parse(["u*v"], rates={"u": "eta"}), 2),
        copies("w**2", 2, start={"w_0": ["1/10", "2"]}),
    ],
)
def test_copies_are_derived_together(given):
    """Q is the sum of the Q of one at each output, with the start of each copy."""
    d, one = derive(given), given.derivation
    assert (d.verdict, len(d.potential.pieces)) == (Verdict.PROVED, given.count)
    p = d.parameterization
    values = {name: 0.5 + k for k, name in enumerate((*p.start_symbols, *p.parameters))}
    point = [0.3 + i for i in range(given.count)]
    slopes = d.potential.numeric(values).gradient(point)
    for i, (prefix, x) in enumerate(zip(given.prefixes, point, strict=True)):
        own = {s: values.get(prefix + s, values.get(s)) for s in one.parameterization.start_symbols}
        own |= {name: (x[i] if isinstance(x, tuple) else x) for name, x in given.start}
        own |= {name: values[name] for name in one.parameterization.parameters}
        own = {name: float(sympy.Rational(str(value))) for name, value in own.items()}
        assert slopes[i] == pytest.approx(one.potential.numeric(own).gradient([x])[0], rel=1e-12)


def test_copies_of_a_vector_under_a_warp_have_no_q_together():
    assert derive(copies(["a*u1", "a*u2"], 2)).verdict is Verdict.REFUTED
