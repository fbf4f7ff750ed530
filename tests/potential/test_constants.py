"""The form of Q does not depend on what a constant is: a whole number, sqrt(2), pi or a name."""

import numpy as np
import pytest

from derive import InputError, Parameterization
from numerics import crosscheck
from tests.published import derive_once

ROOTS, NAMED = ("2", "sqrt(2)", "2**(1/3)"), ("pi", "D")
MODELS = [
    (["c*a*u1", "a*u2 + c"], {}, (*ROOTS, *NAMED)),
    (["a + c*b", "a*b"], {}, (*ROOTS, *NAMED)),
    (["c*x*y", "y**2 - x**2"], {}, (*ROOTS, *NAMED)),
    (["x + y", "(x**2 - y**2)/c"], {}, (*ROOTS, *NAMED)),
    (["c*a*b", "k**2*a"], {}, ROOTS),
    (["c*u*v*w"], {"u": "1", "v": "2", "w": "3"}, ROOTS),
    (["c*p**3 - m**3"], {}, ("2", *NAMED)),
    (["c*u*v + c"], {}, ("2", *NAMED)),
]


def with_constant(outputs, start, c):
    parameters = ["D"] if c == "D" else []
    return Parameterization.parse([f.replace("c", c) for f in outputs], start, (), parameters)


@pytest.mark.every(8)
@pytest.mark.parametrize(("outputs", "start", "constants"), MODELS)
def test_any_constant_leaves_the_form(outputs, start, constants):
    found = [derive_once(with_constant(outputs, start, c)).potential for c in constants]
    assert len({(q.kind, len(q.pieces[0].roots)) for q in found}) == 1


def test_the_flow_confirms_a_form_with_a_constant():
    assert crosscheck(derive_once(with_constant(*MODELS[0][:2], "sqrt(2)")), digits=15).passed


@pytest.mark.every(3)
@pytest.mark.parametrize("at", ["alpha", "alpha + 1", "alpha - 1", "2*alpha + 3", "alpha + gamma"])
def test_q_has_the_gradient_that_is_printed_from_starts_that_are_sums(at):
    p = Parameterization.parse(["a*b*u1", "a*b*u2"], {"a": at, "b": at, "u1": "0", "u2": "0"})
    q = derive_once(p).potential.numeric(dict.fromkeys(p.start_symbols, 3))
    b, step = np.array([1.5, -0.5]), 1e-6
    slopes = [(q(b + step * e) - q(b - step * e)) / (2 * step) for e in np.eye(2)]
    assert slopes == pytest.approx(q.gradient(b), rel=1e-6)


@pytest.mark.every(2)
@pytest.mark.parametrize("output", ["p**D + q", "p**D - q**D"])
def test_a_square_under_an_open_exponent_is_that_of_something_positive(output):
    p = Parameterization.parse([output], {"p": "alpha**2", "q": "alpha**2"})
    d = derive_once(p)

    q = d.potential.numeric({"alpha": 2, "D": 3})
    assert float(q.gradient(q.beta0[0])) == pytest.approx(0, abs=1e-12)
    with pytest.raises(InputError, match="alpha > 0"):
        d.potential.numeric({"alpha": -2, "D": 3})


def test_relations_among_outputs_may_have_constants():
    d = derive_once(["sqrt(2)*a*c", "a*d", "b*c", "D*b*d"], parameters=["D"])
    (relation,) = d.blocks[0].dependence.relations
    values = {"beta1": 2**0.5 * 3 * 5, "beta2": 3 * 7, "beta3": 2 * 5, "beta4": 11 * 2 * 7, "D": 11}
    at = {s: values[s.name] for s in relation.free_symbols}
    assert float(relation.xreplace(at)) == pytest.approx(0, abs=1e-9)
    moved = {s: x + 1 for s, x in at.items()}
    assert float(relation.xreplace(moved)) != pytest.approx(0, abs=1e-3)
