"""Nuclear and |DFT|_1 margins: bounds against l1 margins, each other, and forged bounds."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from derive import InputError
from numerics import NotSeparable, max_margin
from numerics.margins.interval import Bounded, interval
from numerics.margins.spectral import dft, nuclear
from tests.cli.commands import run


def drawn(seed, m, d):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, size=(m, d))
    return (X * np.where(X @ np.arange(1, d + 1) < 0, -1, 1)[:, None] * 2 + (X == 0)).tolist()


def check(found, X, least=None):
    """The bounds are near and in order, the margins are 1, and *least* is between them."""
    X = [[Fraction(x) for x in row] for row in X]
    margins = [sum(a * b for a, b in zip(x, found.value, strict=True)) for x in X]
    assert min(margins) == 1
    assert min(found.multiplier) >= 0
    assert found.lower <= found.upper < found.lower * (1 + Fraction(1, 10**7))
    assert least is None or found.lower <= least <= found.upper
    return found


@pytest.mark.parametrize("seed", range(3))
def test_diagonal_matrices_have_the_l1_margin(seed):
    X = drawn(seed, 4, 3)
    least = 1 / Fraction(str(max_margin(X, norm="l1").margin))
    matrices = [np.diag(x).ravel().tolist() for x in X]
    check(max_margin(matrices, norm="nuclear", shape=(3, 3)), matrices, least)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7])
def test_circulant_matrices_have_the_singular_values_of_the_transform(d):
    X = drawn(d, 5, d)
    one = check(max_margin(X, norm="dft"), X)
    turned = [[x[(i - j) % d] for i in range(d) for j in range(d)] for x in X]
    two = check(max_margin(turned, norm="nuclear", shape=(d, d)), turned)
    assert one.lower <= d * two.upper
    assert d * two.lower <= one.upper


def test_more_rows_than_are_looked_at_at_once():
    """The l1 margin, of two frequencies, is that of all rows."""
    X = np.random.default_rng(0).integers(-9, 10, size=(1000, 2)) * 2 + 1
    X = (X * np.sign(X @ [3, 2])[:, None]).tolist()  # 3 times an odd number is not even
    both = [[Fraction(a + b, 2), Fraction(a - b, 2)] for a, b in X]
    check(max_margin(X, norm="dft"), X, 1 / Fraction(str(max_margin(both, norm="l1").margin)))


@pytest.mark.parametrize("seed", range(4))
def test_ties_in_plenty_and_copies(seed):
    """The optimum is not unique, and doubles have little to go by."""
    rng = np.random.default_rng(seed)
    X = np.sign(rng.integers(-2, 3, size=(12, 6)))
    X = (X * np.where(X @ [3, 1, 4, 1, 5, 9] < 0, -1, 1)[:, None]).tolist()
    X = [x for x in X if any(x)] * 2
    for options in ({"norm": "dft"}, {"norm": "nuclear", "shape": (2, 3)}):
        check(max_margin(X, **options), X)


def test_bounds_hold_whatever_doubles_do():
    """Of a matrix that is far from what its rounded factors give, too."""
    rows = [Fraction(k**3 % 17 - 8, 7) * 10**k for k in range(6)]
    x = np.array([float(a) for a in rows])
    sizes = np.linalg.svd(x.reshape(2, 3), compute_uv=False), np.abs(np.fft.fft(x)) / 6
    for spectral, s in zip((nuclear((2, 3), 6), dft(6)), sizes, strict=True):
        norm, dual = spectral.bounds(rows)
        assert norm >= arb(0.999999) * dual
        assert float(dual) >= s.max() * (1 - 1e-12)
        assert float(dual) <= s.max() * (1 + 1e-9)


def test_multipliers_below_0_prove_nothing():
    """The least norm is 2; with y = (4, -1) the quotient would be 3."""

    def found(*y):
        near = Bounded(lambda X: (np.array([1.0, 0.0]), np.array(y)), dft(2).bounds)
        return interval("dft", near, [[1, 0], [2, 0]])

    assert found(4.0, -1.0).lower <= 2
    assert found(-1.0, -1.0) is found(0.0, 0.0) is None


def test_rows_that_cancel_and_bad_shapes():
    with pytest.raises(NotSeparable):
        max_margin([[1, 2], [-1, -2]], norm="dft")
    with pytest.raises(NotSeparable):
        max_margin([[0, 0]], norm="dft")
    for options, said in (
        ({"norm": "nuclear"}, "shape"),
        ({"norm": "nuclear", "shape": (3, 2)}, "no 3 x 2"),
        ({"norm": "nuclear", "shape": "22"}, "two whole numbers"),
        ({"norm": "dft", "shape": (1, 2)}, "shape"),
        ({"norm": "nuclear", "shape": (1, 2), "labels": "abc"}, "two classes, and there are 3"),
    ):
        with pytest.raises(InputError, match=said):
            max_margin([[1, 2], [3, 4], [5, 7]], **{"labels": "aba"} | options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "options", "code", "said"),
    [
        ("3,1,a\n1,2,a\n-1,-4,b\n", ["u*v + x*y", "u*y + v*x"], 0, "largest dft margin"),
        (
            "-1,0,0,-1,a\n2,1,0,0,b\n",
            ["U*T(V)", "--matrix", "U:2x2,V:2x2", "--norm", "nuclear", "--shape", "2x2"],
            1,
            "largest nuclear margin, between two bounds",
        ),
        ("3,a\n-3,b\n", ["w", "--norm", "l0"], 2, "there is no norm 'l0'"),
        ("3,1,a\n1,2,b\n2,2,c\n", ["w", "--norm", "dft"], 2, "that of two classes"),
    ],
)
def test_the_command_takes_a_norm_or_that_of_the_horizon(tmp_path, table, options, code, said):
    path = tmp_path / "data.csv"
    path.write_text(table)
    done = run("margin", *options, "--data", str(path))
    assert done.returncode == code
    assert said in done.stdout + done.stderr
