"""Costs by extreme eigenvalues and singular values."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
import sympy
from flint import fmpq_mat, fmpq_poly

from derive import Parameterization, Verdict
from derive.errors import NumericalError
from derive.explicit.constrained import pose, pose_cost
from derive.explicit.cost.duality import find_extreme, find_nuclear, root_name
from derive.explicit.critical.equations import critical_factors, follow_from_distance
from derive.explicit.minimum import RootValue
from tests.explicit.witness import cost_of, gram, minimum, numeric_minimum, product


def posed(outputs):
    problem = pose_cost(Parameterization.parse(outputs))
    return problem, problem.quadratic_forms


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("(u+v)*(u-2*v)", "Max(beta*(2/9 - 2*sqrt(10)/9), beta*(2/9 + 2*sqrt(10)/9))"),
        ("u**2+2*u*v-v**2", "sqrt(2)*Abs(beta)/2"),
        ("u**2+3*u*v+7*v**2", "beta*(16/19 - 6*sqrt(5)/19)"),
        ("x*y+y*z+z*t", "(-1 + sqrt(5))*Abs(beta)"),
        ("x**2+x*y+2*y*z+3*z**2", None),
        ("2*x*y+3*x*z+z*w", "Abs(beta)*CRootOf(x**4 - 14*x**2 + 4, 2)"),
    ],
)
def test_one_quadratic_form_costs_its_extreme_eigenvalues(output, expected):
    cost = cost_of([output])
    assert cost.verdict is Verdict.PROVED
    _, forms = posed([output])
    closed = find_extreme(forms)
    text = str(closed.expression(cost.variables))
    assert (text == expected) if expected else ("CRootOf" in text)
    assert all(sympy.expand(f"{e.left} - ({e.right})") == 0 for e in closed.evidence)
    A = np.array([[float(x) for x in row] for row in forms[0].tolist()])
    values = np.linalg.eigvalsh(A)
    for beta in (Fraction(7, 3), Fraction(-5, 2)):
        extreme = values[-1] if beta > 0 else values[0]
        value = cost.at({"beta": beta})
        found = numeric_minimum([output], [beta], 12)
        if extreme * beta < 0:
            assert value is None
            assert found is None
        else:
            assert float(value.ball.mid()) == pytest.approx(float(beta) / extreme, rel=1e-12)
            assert found == pytest.approx(float(beta) / extreme, rel=1e-6)
            assert float(closed.expression([sympy.Rational(str(beta))])) == pytest.approx(found)


def test_the_nearest_roots_are_taken():
    """On the diagonal the eigenvalues are 3, 2, -1, -5: others would cost more, or too little."""
    (b,) = betas = (sympy.Symbol("b", real=True),)
    diagonal = fmpq_mat(
        4, 4, [x if i == j else 0 for i, x in enumerate((3, -1, 2, -5)) for j in range(4)]
    )
    found = find_extreme([diagonal])
    assert found.expression(betas) == sympy.Max(b / 3, -b / 5)
    assert found.onto
    assert not find_extreme([fmpq_mat([[2, 0], [0, 3]])]).onto
    assert find_extreme([diagonal, diagonal]) is None


def test_a_root_has_its_own_name():
    cubic = fmpq_poly([-1, -2, 1, 1])
    values = [float(root_name(cubic, k)) for k in range(3)]
    assert values == sorted(values) == pytest.approx(sorted(np.roots([1, 1, -2, -1]).real))
    for f in (fmpq_poly([-1, -1, 1]), fmpq_poly([1, 1, -1])):
        assert float(root_name(f, 0)) < float(root_name(f, 1))


SIZES = (2, 3, 2), (2, 2, 2), (3, 2, 3), (3, 3, 3), (3, 4, 3), (2, 2, 3), (1, 4, 2)
NUCLEAR = "2*sqrt(beta1**2 + beta2**2 + beta3**2 + beta4**2 + 2*Abs(beta1*beta4 - beta2*beta3))"


@pytest.mark.every(2)
@pytest.mark.parametrize("size", SIZES)
def test_twice_the_nuclear_norm_is_the_cost_of_a_product_of_matrices(size):
    """Of rank 1 too."""
    outputs = product(*size)
    cost = cost_of(outputs)
    (part,) = cost.closed.sums[0]
    assert cost.verdict is Verdict.PROVED
    assert "duality" in cost.finding.reason
    assert (cost.closed_forms[0] is None) == (part.rows > 2)
    rng = Random(len(outputs))
    for rank in (part.rows, 1):
        U = [[Fraction(rng.randrange(-9, 10), 2) for _ in range(rank)] for _ in range(part.rows)]
        V = [[Fraction(rng.randrange(1, 10), 3) for _ in range(rank)] for _ in range(part.columns)]
        B = [[sum(map(Fraction.__mul__, u, v)) for v in V] for u in U]
        if size == (3, 2, 3):
            B = [list(row) for row in zip(*B, strict=True)]
        beta = [x for row in B for x in row]
        point = {str(s): x for s, x in zip(cost.variables, beta, strict=True)}
        numbers = {s: sympy.Rational(x) for s, x in zip(cost.variables, beta, strict=True)}
        exact = 2 * np.linalg.svd(np.array(B, float), compute_uv=False).sum()
        ball = cost.at(point).ball
        assert float(ball.mid()) == pytest.approx(exact, rel=1e-12)
        if cost.closed_forms[0] is not None:
            assert float(cost.closed_forms[0].subs(numbers)) == pytest.approx(exact, rel=1e-9)
        if size[:2] == (2, 2):
            assert str(cost.closed_forms[0]) == NUCLEAR
            assert numeric_minimum(outputs, beta, 12) == pytest.approx(exact, rel=1e-6)


def test_signs_of_weights_do_not_matter():
    outputs = ["u1*v1 - u2*v2", "u1*v3 - u2*v4", "-x1*v1 + x2*v2", "x1*v3 - x2*v4"]
    cost = cost_of(outputs)
    assert cost.verdict is Verdict.PROVED
    (evidence,) = cost.finding.evidence
    left, right = (sympy.Matrix(sympy.sympify(x)) for x in (evidence.left, evidence.right))
    assert (left - right).expand().is_zero_matrix
    beta = [3, 2, 1, -4]
    value = cost.at({f"beta{i + 1}": Fraction(x) for i, x in enumerate(beta)}).ball
    found = numeric_minimum(outputs, beta, 12)
    assert float(value.mid()) == pytest.approx(found, rel=1e-6)
    # In the second copy rows and columns change places, and one sign is left over.
    for sign, closed in (("-", True), ("+", False)):
        outputs = ["a*c + e*g", f"a*d {sign} f*g", "b*c - e*h", "b*d + f*h"]
        problem, forms = posed(outputs)
        weights = sympy.symbols(problem.weights)
        found = find_nuclear(forms, weights, sympy.symbols("b1:5"))
        assert (found is not None) is closed


def test_whether_a_gram_matrix_has_some_w_is_proved_or_left_open():
    cost = cost_of(gram(2, 2))
    inside = {"beta1": Fraction(1), "beta2": Fraction(2), "beta3": Fraction(5)}
    assert float(cost.at(inside).ball.mid()) == 6
    # Of rank 1, and indefinite.
    for last in (Fraction(4), Fraction(3)):
        with pytest.raises(NumericalError, match="some w"):
            cost.at({**inside, "beta3": last})


@pytest.mark.parametrize("F", ["w**3 - w", "u*v", "u**2*v", "w**4 - w**2"])
def test_at_single_points_the_certified_root_is_the_smallest(F):
    (_, found), rng = minimum(pose, [F]), Random(3)
    assert found.verdict is Verdict.PROVED
    assert "the smallest real root" in found.finding.reason
    values = []  # 0 is a special number, where R may be another root
    for _ in range(6):
        numbers = (
            Fraction(rng.choice((-1, 1)) * rng.randint(1, 20), rng.randint(1, 20))
            for _ in found.variables
        )
        values.append(found.at({str(s): x for s, x in zip(found.variables, numbers, strict=True)}))
    roots = [x for x in values if isinstance(x, RootValue)]
    assert {x.index for x in roots} == {0}
    assert max(x.roots for x in roots) > 1


def test_weights_that_two_critical_points_share_the_distance_of_do_not_follow():
    # From b_0 = 0 the points (a, b) and (a, -b) are equally far; b = 0 has a factor of its own.
    problem = pose(Parameterization.parse(["a**2*b**2 + a"], {"a": "alpha", "b": "0"}))
    factors = sorted(critical_factors(problem), key=len)
    assert [follow_from_distance(problem, f) for f in factors] == [True, False]
