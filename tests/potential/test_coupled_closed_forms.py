"""Closed forms of coupled outputs, each as a theorist writes it, confirmed by flows of the weights.

The Hessian of Q is compared with that of the form written down, up to a positive factor, at
points of the simplex; the flow of a start in numbers ends where Q is least.
"""

from itertools import product

import pytest
import sympy

from derive.components import in_components
from numerics import crosscheck
from tests.published import derive_once

WEIGHTS = ("a", "b", "c", "d")


def normalized(f, n):
    """Return the first n - 1 of f(v_i)/sum_j f(v_j)."""
    terms = [f.replace("v", v) for v in WEIGHTS[:n]]
    return [f"{t}/({' + '.join(terms)})" for t in terms[:-1]]


def powers(p):
    """Return v_i^p/sum_j v_j^p with Q = c^(1 - p/2) (sum beta^(2/p))^(p/2)/(p (2 - p)) + linear."""
    b3 = "(1 - beta1 - beta2)"
    root = " + ".join(f"{b}**(2/S({p}))" for b in ("beta1", "beta2", b3))
    c = "(a_0**2 + b_0**2 + c_0**2)"
    return normalized(f"v**{p}", 3), f"{c}**(1 - S({p})/2)*({root})**(S({p})/2)/({p}*(2 - {p}))"


B3 = "(1 - beta1 - beta2)"
LAST = "(1 - beta1 - beta2 - beta3)"
REFERENCE = ["exp(a)/(exp(a) + exp(b) + 1)", "exp(b)/(exp(a) + exp(b) + 1)"]

FORMS = [
    (normalized("exp(v)", 3), f"-3*exp(-(a_0 + b_0 + c_0)/3)*(beta1*beta2*{B3})**(1/S(3))", []),
    (
        normalized("exp(v)", 4),
        f"-4*exp(-(a_0 + b_0 + c_0 + d_0)/4)*(beta1*beta2*beta3*{LAST})**(1/S(4))",
        [],
    ),
    # y_1 = log(beta1 beta2/b^2) - b/beta1, likewise y_2, with b = 1 - beta1 - beta2.
    (
        REFERENCE,
        f"beta1*log(beta1) + beta2*log(beta2) + beta1*log(beta2) + beta2*log(beta1) "
        f"- log(beta1*beta2) + 2*{B3}*log({B3})",
        [],
    ),
    (*powers(1), ["a", "b", "c"]),
    (*powers(3), ["a", "b", "c"]),
    (*powers(5), ["a", "b", "c"]),
    (
        ["x**3 + 3*x*y**2", "3*x**2*y + y**3"],
        "-((beta1 + beta2)**(2/S(3)) + (beta1 - beta2)**(2/S(3)))/4",
        ["x", "y"],
    ),
    (["exp(a) + exp(b)", "exp(a) - exp(b)"], "-log(beta1 + beta2) - log(beta1 - beta2)", []),
    # As many weights as outputs: grad y = g (J^T)^-1 is integrated.
    (["exp(b)", "a + b"], "exp(beta2)/beta1", []),
    (["1/sqrt(a**2 + b**2)", "a"], "(beta1*beta2**2 + 1/beta1)/2", []),
    (["a", "a*sqrt(a**2 + b**2)"], "atanh(beta1**2/beta2)/2", ["a"]),
]
IDS = ["softmax-3", "softmax-4", "reference", "v", "v**3", "v**5", "cubes", "exponentials"]
IDS += ["shifted", "inverse-norm", "times-norm"]


def hessian(Q, point):
    table = {s.name: s for s in Q.free_symbols}
    betas = [table[name] for name in sorted(table) if name.startswith("beta")]
    values = {s: point[s.name] for s in Q.free_symbols}
    return [Q.diff(x, y).subs(values).evalf(30) for x, y in product(betas, betas)]


@pytest.mark.every(6)
@pytest.mark.parametrize(("outputs", "written", "positive"), FORMS, ids=IDS)
def test_the_form_is_the_one_that_one_would_write_and_flows_confirm_it(outputs, written, positive):
    d = derive_once(outputs, positive=positive)
    Q = d.potential.Q
    assert Q is not None
    assert not any(piece.integrand is not None for piece in d.potential.pieces)
    expected = sympy.sympify(written)
    starts = {s: sympy.Rational(k + 2, 3) for k, s in enumerate(d.parameterization.start_symbols)}
    ratios = []
    for inner in ((2, 1, 1), (3, 2, 1), (5, 2, 2)):
        betas = {f"beta{i}": sympy.Rational(n, 10) for i, n in enumerate(inner, 1)}
        pairs = zip(*(hessian(f, {**starts, **betas}) for f in (Q, expected)), strict=True)
        ratios += [x / y for x, y in pairs if abs(y) > 1e-20]
    assert len(ratios) >= 9
    assert all(abs(r - ratios[0]) < 1e-20 for r in ratios)
    assert ratios[0] > 0
    assert crosscheck(d, digits=15).passed


def test_entries_of_K_are_outputs_where_they_are():
    d = derive_once(["x**2 + y**2", "x*y"])
    assert str(d.metric.kernel) == "Matrix([[4*beta1, 4*beta2], [4*beta2, beta1]])"


@pytest.mark.slow
def test_a_rate_that_is_a_parameter_stands_in_the_exponent():
    d = derive_once("g*v/norm(v)", vectors=["v"], rates={"g": "eta"})
    (piece,) = d.potential.pieces
    assert str(piece.gradient[0]) == "exp(s**2/(2*eta*norm_v_0**2))"
    assert crosscheck(in_components(d), digits=15).passed
