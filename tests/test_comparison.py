"""Models side by side: each column is what the records of that model say, in every form."""

import json
import re

import pytest
import sympy

from derive import InputError, Parameterization, compare, margins, perturb, regimes
from tests.cli.commands import run
from tests.published import derive_once

TIED = Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])
GIVEN = {
    "tied": TIED,
    "neuron": Parameterization.parse(["a*u1", "a*u2"]),
    "vector": Parameterization.parse(["a*u"], vectors=["u"]),
    "none": Parameterization.parse(["W*T(W)"], arrays={"W": (2, 2)}),
}


@pytest.fixture(scope="module")
def found():
    return compare({name: derive_once(p) for name, p in GIVEN.items()})


def test_a_column_is_what_its_records_say(found):
    for m in found.columns:
        d = derive_once(GIVEN[m.label])
        assert m.derivation == d
        separable = margins(d)
        assert (m.margins.horizon, m.margins.norm) == (separable.horizon, separable.norm)
        assert m.step is None or m.step.laws == perturb(d, "step").laws
        assert m.regimes.limits == regimes(GIVEN[m.label]).limits if m.regimes else True
    assert [m.margins.norm for m in found.columns][:3] == ["l1", "l2", "l2"]
    rows = [re.split("  +", line.strip()) for line in found.to_text().splitlines()[:9]]
    assert rows[0] == ["4 models, side by side"]
    assert rows[2] == ["Q exists", "proved", "proved", "proved", "refuted"]
    assert rows[4] == ["warp g", "not needed", "a", "a", "none"]
    assert rows[5][:4] == ["horizon of Q", "l1", "l2", "l2"]
    assert rows[6] == ["drift in a step", "by the laws", "by beta too", "by beta too", "-"]
    assert rows[7][:4] == ["alpha -> 0+", "rich", "anti-NTK", "anti-NTK"]


def test_k_is_in_beta_where_it_has_a_formula_there(found):
    tied, neuron, vector, _ = found.columns
    at = {x: 2 if x.name == "alpha" else 3 for x in tied.kernel.free_symbols}
    assert tied.kernel[0].subs(at) == 4 * sympy.sqrt(4 * 2**4 + 9)
    # At w_0 it is J J^T: a_0 = 2, u_0 = (1, 3).
    at = {"beta1": 2, "beta2": 6, "a_0": 2, "u1_0": 1, "u2_0": 3}
    values = neuron.kernel.subs({x: at[x.name] for x in neuron.kernel.free_symbols})
    assert [sympy.simplify(x) for x in values] == [5, 3, 3, 13]
    assert {s.name for s in vector.kernel.free_symbols} == {"s", "a_0", "norm_u_0"}
    (sine,) = compare(["w + sin(w)"]).columns
    assert {s.name for s in sine.kernel.free_symbols} == {"w"}


def test_all_forms_have_all_models(found):
    text = found.to_text()
    assert max(map(len, text.splitlines())) <= 80
    page, latex, record = found.to_html(), found.to_latex(True), json.loads(found.to_json())
    assert all(form.count("of tied:") + form.count("Of tied:") >= 4 for form in (text, page, latex))
    assert "K_{11}" in latex
    assert (record["format"], record["verdict"]) == ("regderive-comparison", "PROVED")
    rows = {row["label"]: row for row in record["models"]}
    assert list(rows) == list(GIVEN)
    assert (rows["neuron"]["g"], rows["none"]["Q"], rows["none"]["g"]) == ("a", None, None)
    assert rows["tied"]["regimes"] == {"alpha -> 0+": "rich", "alpha -> infinity": "kernel"}
    assert rows["tied"]["effective"] == {"alpha": "alpha*sqrt(1 - 4*G**2*eta**2)"}


def test_many_models_are_in_several_tables():
    found = compare({f"model-{k}-{'x' * (k % 3)}": derive_once("w") for k in range(9)})
    lines = found.to_text().splitlines()
    heads = [line.split() for line in lines if line.startswith("     ") and "model-" in line]
    assert [name for head in heads for name in head] == [m.label for m in found.columns]
    assert len(heads) > 2
    assert max(map(len, lines)) <= 80


def test_a_column_of_an_article_has_as_many_models_as_fit():
    wide = compare({"tied pair": TIED, "linear neuron": GIVEN["neuron"], "exp": "exp(v)"})
    latex = wide.to_latex()
    assert re.findall(r"tabular}{@{}(\w+)@{}}", latex) == ["lll", "ll"]
    assert latex.count("exists & proved") == 2
    assert latex.index("& tied pair & linear neuron") < latex.index("& exp" + 2 * "\\")
    assert "<th>tied pair</th><th>linear neuron</th><th>exp</th>" in wide.to_html()


def test_a_frame_has_a_row_for_each_model(found):
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = found.to_frame()
    assert list(frame.index) == list(GIVEN)
    assert frame.loc["neuron", "norm"] == "l2"


def test_starts_are_compared_and_numbered():
    tied = compare(["u*v", Parameterization.parse(["u*v"], {"u": "alpha", "v": "alpha"})])
    assert [m.label for m in tied.columns] == ["1", "2"]
    assert [len(m.derivation.conserved.laws) for m in tied.columns] == [1, 0]
    for odd in ([], "w**2", {"a {b}": "w**2"}):
        with pytest.raises(InputError):
            compare(odd)
    with pytest.raises(InputError, match="EntrywiseMap"):
        compare([Parameterization.parse(["exp(v)/sum(exp(v))"], each=["v"])])


def test_models_are_typed_with_their_options():
    done = run("compare", "square", "a*u1; a*u2 --start a=2", "u*v --rates v=eta", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)["models"]
    assert [row["label"] for row in rows] == ["square", "model 2", "model 3"]
    assert rows[1]["outputs"] == ["a*u1", "a*u2"]
    assert rows[1]["start"] == {"a": "2", "u1": "u1_0", "u2": "u2_0"}
    assert "eta" in rows[2]["K"][0][0]
