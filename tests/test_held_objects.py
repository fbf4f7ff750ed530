"""What people hold: its names; one line, equal by content, hashable, picklable, copyable."""

import copy
import importlib
import pickle
import re

import pytest
import sympy

from derive import (
    InputError,
    Parameterization,
    copies,
    derive,
    explicit_counterpart,
    margins,
    parameterize,
    perturb,
    regimes,
)
from derive.catalogue.library import derive_entry, entries, find
from numerics import PotentialDisplay, crosscheck, flow, interpolate, max_margin
from numerics.optimizers import steepest_descent_limit
from numerics.univariate import limit_function
from tests.cli.commands import printed_by

MODELS = ["linear-neuron", "deep-diagonal", "symmetric-factorization", "weight-normalization"]


def parts(record):
    """Yield a derivation and the records that it shows."""
    q = record.potential
    yield from (record, record.conserved, record.metric, record.hessian, record.warping, q)
    yield from (*q.pieces, *record.blocks, record.warping.finding)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", MODELS)
def test_records_are_one_line_and_equal_by_content(name):
    twice = (parts(derive_entry(find(name))) for _ in range(2))
    for one, other in zip(*twice, strict=True):
        assert one == other
        assert hash(one) == hash(other)
        assert one is not other
        assert len(repr(one)) < 200
        assert "\n" not in repr(one)
        for again in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
            assert again == one
            assert type(again) is type(one)


@pytest.mark.slow
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.id)
def test_every_published_model_is_pickled(entry):
    d = derive_entry(entry)
    again = pickle.loads(pickle.dumps(d))
    assert again == d == derive_entry(entry)
    assert again.to_text() == d.to_text()
    assert again.to_json() == d.to_json()


def test_what_differs_is_not_equal():
    d = derive("a*u")
    assert d != derive("b*u")
    assert d != derive(Parameterization.parse(["a*u"], start={"a": "1"}))
    assert d != derive("a*u*v")
    assert d != "a*u"
    assert d.warping != derive("2*a*u").potential
    assert len({d, derive("a*u"), derive("u*a")}) == len({d, derive("u*a")})


PAIR = Parameterization.parse(["p**2 - m**2"], start={"p": "alpha", "m": "alpha"})
HYPERBOLIC = "beta*asinh(beta/(2*alpha**2)) - sqrt(4*alpha**4 + beta**2)"


@pytest.mark.parametrize(
    ("Q", "outcome", "line"),
    [
        (f"({HYPERBOLIC})/4", "AGREES", "[exact identity]"),
        (HYPERBOLIC, "AGREES UP TO", "scale: conjectured = 4 * derived"),
        (f"{HYPERBOLIC} + 7", "AGREES UP TO", "an additive constant"),
        (f"{HYPERBOLIC} + beta", "DIFFERS", "the gradient at the start is not 0"),
        (HYPERBOLIC.replace("2*alpha", "3*alpha"), "DIFFERS", "at beta = 1/3, alpha = 2: conj"),
        ("abs(beta)", "DIFFERS", ""),
    ],
)
def test_a_conjecture_is_compared(Q, outcome, line):
    found = derive(PAIR).compare(Q)
    assert found.outcome == outcome
    assert line in found.to_text()


def test_a_conjecture_is_in_beta_and_the_start():
    with pytest.raises(InputError, match="uses gamma: it may use beta, alpha"):
        derive(PAIR).compare("gamma*beta**2")
    W = derive(Parameterization.parse(["W*T(W)"], arrays={"W": (2, 2)}))
    assert "NOT CHECKED\n  there is no Q" in W.compare("beta1").to_text()
    assert derive("w").compare((sympy.Symbol("beta") - sympy.Symbol("w_0")) ** 2).up_to


def test_other_commands_show_one_line():
    d = derive(Parameterization.parse(["p**2 - m**2"], start={"p": "alpha", "m": "alpha"}))
    for record in (
        regimes(d, "alpha"),
        regimes(d, "alpha").limits[0],
        explicit_counterpart(d.parameterization),
        parameterize("-log(beta)"),
    ):
        assert len(repr(record)) < 200
        assert repr(record).startswith(type(record).__name__)
    assert "Q=beta*asinh(beta/(2*alpha**2))/4" in repr(d)
    assert "verdict=PROVED" in repr(d)


@pytest.mark.parametrize("outputs", ["u*v", "a*u1; a*u2", "w + a*b", "u**2*v"])
def test_explicit_counterparts_are_equal_by_content_hashable_and_pickled(outputs):
    one, other = (explicit_counterpart(outputs.split("; ")) for _ in range(2))
    assert one == other == pickle.loads(pickle.dumps(one)) == copy.deepcopy(one)
    assert hash(one) == hash(other)
    assert one != explicit_counterpart("u**3*v")


def test_outputs_are_taken_as_they_are():
    a, u1, u2 = sympy.symbols("a u1 u2")
    neuron = derive(Parameterization.parse(["a*u1", "a*u2"]))
    assert (
        neuron == derive(["a*u1", "a*u2"]) == derive([a * u1, a * u2]) == derive(("a*u1", a * u2))
    )
    assert derive("w**2") == derive(["w**2"]) == derive(sympy.Symbol("w") ** 2)
    for odd in ([], 1.5, None, {"a*u1"}):
        with pytest.raises(InputError):
            derive(odd)


def test_what_is_found_further_takes_what_derive_takes():
    text, expression, given = "w**2", sympy.Symbol("w") ** 2, Parameterization.of("w**2")
    finds = (margins, lambda F: perturb(F, "step"), regimes, explicit_counterpart)
    for further, F in zip(finds, (expression, given, [text], expression), strict=True):
        record = further(text)
        first = record.to_text()
        assert further(F).to_text() == first
        if further is not explicit_counterpart:
            assert pickle.loads(pickle.dumps(record)) == record
        if further is not regimes:
            assert further(derive(text)).to_text() == first
    assert explicit_counterpart("u*v", cost="u**2 + 2*v**2").verdict.value == "PROVED"
    assert [x.regime for x in regimes(PAIR).limits] == ["rich", "kernel"]
    assert regimes(text, "c").variable == "c"
    with pytest.raises(InputError, match="alpha is no symbol of the start"):
        regimes(derive(text))  # whose start is what it is derived for
    two = copies(PAIR, 2)
    assert margins(two).norm == margins(derive(two)).norm == "l1"
    for further in finds:
        with pytest.raises(InputError, match="give a Parameterization"):
            further(Parameterization.parse(["exp(v)/sum(exp(v))"], each=["v"]))


def assert_kept(q, at):
    for again in (pickle.loads(pickle.dumps(q)), copy.deepcopy(q)):
        assert again.gradient(at).tolist() == q.gradient(at).tolist()
        assert len(repr(again)) < 200


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["linear-neuron-plane", "deep-diagonal", "square"])
def test_numbers_are_pickled_as_what_they_were_made_of(name):
    d = derive_entry(find(name))
    start = {s: 2 + k for k, s in enumerate(d.parameterization.start_symbols)}
    q = d.potential.numeric({**start, **dict.fromkeys(d.parameterization.parameters, 3)})
    assert_kept(q, [0.5] * q.d)


def test_vectors_copies_and_doubles_are_pickled():
    u = derive(Parameterization.parse(["a*u"], vectors=["u"])).potential
    two = copies(PAIR, 2, start={"alpha": ["1/3", 2]})
    made = u.numeric({"a_0": 5, "u_0": ["1/3", 4]}), two.numeric(), two.numeric().in_doubles
    for q in made:
        assert_kept(q, [1.0, 2.0])
        again = pickle.loads(pickle.dumps(q))
        assert (again, hash(again)) == (q, hash(q))
    assert len(set(made)) == 3
    assert two == copies(PAIR, 2, start={"alpha": ["1/3", 2]}) != copies(PAIR, 3)
    assert pickle.loads(pickle.dumps(two)) == two


def test_a_notebook_shows_q():
    assert derive("w**2")._repr_latex_().count(r"Q(\beta) =") == 1
    none = derive(Parameterization.parse(["W*T(W)"], arrays={"W": (2, 2)}))._repr_latex_()
    assert none.startswith(r"\begin{theorem}")
    assert "proof" not in none
    assert regimes("w**2")._repr_latex_().startswith(r"\begin{theorem}")


def test_a_notebook_shows_the_parts():
    d = derive(["a*u1", "a*u2"])
    for part, latex in (
        (d.parameterization, r"\beta_{1} &= a u_{1}"),
        (d.conserved, r"\delta_{1} = a^{2} - u_{1}^{2} - u_{2}^{2}"),
        (d.hessian, "fails on the leaf of the start"),
        (d.metric, r"K_{12} = u_{1} u_{2}"),
        (d.warping, "g = a"),
        (d.potential, r"Q(\beta) = \frac{2 A^{3/2}}{3}"),
    ):
        words = re.sub(r"\\q?quad|\s+", " ", part._repr_latex_())
        assert re.sub(r"\s+", " ", latex).replace("&", "") in words.replace("&", ""), words
        html = part._repr_html_()
        assert "<math" in html
        assert "\ue000" not in html
    none = derive(Parameterization.parse(["W*T(W)"], arrays={"W": (2, 2)})).potential
    assert "no scalar warp exists" in none._repr_html_()


def test_a_notebook_shows_the_metric_of_a_vector_as_its_eigenvalues():
    shown = derive(Parameterization.parse(["a*u"], vectors=["u"])).metric._repr_latex_()
    assert r"T = a^{2} , \qquad R = a^{2} + " in shown
    assert r"T = A , \qquad R = 2 A - \delta" in shown


def test_a_notebook_lists_numbers_and_other_fields():
    d = derive("w**2")
    q = d.potential.numeric({"w_0": 1})
    results = (
        (q, "<th>beta0</th><td>(1.0,)</td>"),
        (interpolate(q, [[1]], [2]), "<th>status</th><td>Status.CONVERGED</td>"),
        (flow(d.parameterization, [[1]], [2], start={"w": 1}), "<th>limit</th>"),
        (max_margin([[1, 2]]), "<th>norm</th><td>l2</td>"),
        (crosscheck(d, digits=15), "<th>"),
        (limit_function([0, 1], [1, 0]), "<th>problem</th>"),
        (steepest_descent_limit([[1, 2]], [1], "4/3"), "<th>limit</th>"),
        (PotentialDisplay.from_derivation(d), "<th>kind</th><td>profile</td>"),
        (copies("w**2", 3), "<th>count</th><td>3</td>"),
        (d.compare("beta"), "<th>Q</th><td>beta</td>"),
    )
    for result, row in results:
        assert "\n" not in repr(result)
        assert len(repr(result)) < 200
        assert row in result._repr_html_(), result._repr_html_()
        latex = result._repr_latex_()
        assert latex.startswith(r"$\begin{array}{ll} \verb|")
        assert all(word in latex for word in re.sub("<.*?>", " ", row).split())


@pytest.mark.parametrize("package", ["derive", "numerics"])
def test_the_public_names_are_listed_without_importing_them(package):
    program = f"import {package}, sys; print('sympy' in sys.modules, *dir({package}))"
    heavy, *names = printed_by(program).split()
    assert heavy == "False"
    assert {*importlib.import_module(package).__all__} <= {*names}
    assert "lazy" not in names
