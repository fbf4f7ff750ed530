"""What is written, without a compiler: claims, conditions, refusals, and what proofs consist of."""

import functools
import json
import re

import pytest
import sympy

from derive import NumericalError
from derive.certificate.checking import check
from derive.certificate.checking.text import Rejected
from derive.model.condition import Sign
from derive.rocq.library import library
from derive.rocq.terms import RESERVED, Signs, Terms, name_of, plain
from tests.cli.commands import one_line, refusal_of, run
from tests.published import derive_once
from tests.rocq.files import CATALOGUE, MODELS, VECTORS, derivation, mutants

SEARCHES = r"\b(nra|nia|psatz|nsatz|eauto|tauto|firstorder|Admitted|admit|Axiom|Parameter)\b"


@functools.cache
def written(name):
    """Write the file of a model, once."""
    return derivation(name).to_code("rocq")


def definition(text, name):
    return re.search(rf"^Definition {name}\b.*? := (.*)\.$", text, re.MULTILINE)[1]


@pytest.mark.every(16)
@pytest.mark.parametrize("name", [*CATALOGUE, *MODELS, *VECTORS])
def test_proofs_search_nothing_and_names_of_a_file_are_no_names_of_a_user(name):
    """Names of lemmas are reserved, or have primes; there is something to break in each file."""
    text = written(name)
    assert re.findall(SEARCHES, text.partition("*)")[2]) == []
    own = re.findall(r"^(?:Lemma|Hypothesis|Module) ([\w']+)", text, re.MULTILINE)
    constants = {name_of(c.name) for x in derivation(name).potential.pieces for c, _ in x.constants}
    own += {*re.findall(r"^Definition ([\w']+)", text, re.MULTILINE)} - constants - {"norm_v_0"}
    assert [lemma for lemma in own if "'" not in lemma and lemma not in RESERVED] == []
    assert len([*mutants(text)]) >= 2


@pytest.mark.every(16)
@pytest.mark.parametrize("name", [*CATALOGUE, *MODELS, *VECTORS])
def test_hypotheses_are_the_conditions_of_the_page(name):
    """Each condition of the page, by name; else only that beta starts where Q is said to live."""
    d = derivation(name)
    pieces, p = d.potential.pieces, d.potential.parameterization
    given = [name_of(s) for s in (*p.parameters, *p.start_symbols)]
    names = dict(zip((*p.parameters, *p.start_symbols), given, strict=True))
    constants = (c for piece in pieces for c, _ in piece.constants)
    names |= {c.name: " ".join((name_of(c.name), *given)) for c in constants}
    terms = Terms(names)
    conditions = dict.fromkeys(c for piece in pieces for c in piece.assumptions)
    asked = [
        f"0 < {terms(plain(c.of))}" if c.sign is Sign.POSITIVE else f"{terms(plain(c.of))} <> 0"
        for c in conditions
        if c.sign is not Sign.KEPT and not str(c.of).startswith("norm_")
    ]
    kept = [c for c in conditions if c.sign is Sign.KEPT]
    assert written(name).count("Definition kept") == bool(kept)
    if kept:
        assert len(definition(written(name), "kept").split(" /\\ ")) == len(kept)
    page = re.sub(r"\s+", " ", d.to_text())
    written_out = [c.written for c in conditions if not c.written.startswith("norm_")]
    assert all(text.split(" (automatic")[0] in page for text in written_out)
    said = definition(written(name), "ok").split(" /\\ ")
    hypotheses = [h for h in said if h != "True" and not h.startswith("0 < norm_")]
    assert hypotheses[: len(asked)] == asked
    begun = len(hypotheses) - len(asked)
    assert begun <= sum(len(piece.domain.walls) for piece in pieces)
    assert begun == {"sine": 2, "hyperbola": 1}.get(name, 0)


def test_the_claim_is_what_the_record_says():
    text = written("tied-pair")
    assert definition(text, "F") == "- w 1%nat ^ 2 + w 0%nat ^ 2"
    assert definition(text, "ok") == "0 < alpha"
    assert definition(text, "starts") == "w 0%nat = alpha /\\ w 1%nat = alpha"
    assert definition(text, "dom") == "True"
    assert definition(text, "q") == (
        "x * arcsinh (x / (2 * alpha ^ 2)) / 4 - sqrt (4 * alpha ^ 4 + x ^ 2) / 4"
    )
    assert "regularizes d" in text.partition("Theorem model")[2]
    assert text.rstrip().endswith("Print Assumptions model.")


def test_a_curve_is_claimed_as_the_page_has_it():
    """The interval and the functions of z are those printed, and where Q lives is the page's."""
    text = written("deep-diagonal-3")
    assert definition(text, "range") == "0 < z + 1 /\\ 0 < 1 - z"
    assert definition(text, "f") == "- alpha ^ 3 / (z + 1) ^ 3 + alpha ^ 3 / (1 - z) ^ 3"
    assert definition(text, "height") == (
        "- alpha ^ 2 / (6 * (z + 1) ^ 2) - alpha ^ 2 / (6 * (1 - z) ^ 2) + x * z / (3 * alpha)"
    )
    assert definition(text, "q") == "height alpha x (inv (f alpha) (range alpha) x)"
    for name in ("deep-diagonal-3", "sum of cubes"):
        d = derivation(name)
        everywhere = "domain: all real beta" in d.to_text()
        assert everywhere == (definition(written(name), "dom") == "True")


def test_a_side_that_the_start_leaves_open_is_that_of_the_start():
    """Of 1/w Q lives on the side of 0 on which beta starts: beta w_0 > 0."""
    assert "on the same side of 0 as beta_0" in derivation("reciprocal").to_text()
    assert definition(written("reciprocal"), "dom") == "0 < w_0 * x"
    assert definition(written("reciprocal"), "defined") == "w 0%nat <> 0"
    assert definition(written("half a reciprocal"), "dom") == "0 < - u_0 * x"


def test_several_outputs_are_claimed_in_coordinates():
    """Each with its interval and its term of Q, as the page has them; the outputs are as given."""
    text = written("sum and product")
    w, v = "w 0%nat", "w 1%nat"
    F = f"match i with | 0%nat => {w} ^ 2 + {v} ^ 2 | _ => {w} * {v} end"
    assert definition(text, "F") == F
    assert definition(text, "coordinate") == (
        "match j with | 0%nat => b 0%nat + 2 * b 1%nat | _ => b 0%nat - 2 * b 1%nat end"
    )
    assert text.count("Definition dom (x_0 y_0 : R) (x : R) : Prop := 0 < x.") == 2
    (_, _, theorem) = text.partition("Theorem model")
    assert "flow 2 2 (rate) (F) w lam" in theorem
    assert "regularizes 2\n    (fun b => forall j" in theorem


def test_a_vector_is_claimed_in_every_dimension():
    """Q is a function of |b|^2 and <u_0, b>, in any dimension or in that of the outputs."""
    text = written("linear-neuron")
    assert definition(text, "F") == "phi w * tail 1 w i"
    assert definition(text, "phi") == "w 0%nat"
    assert definition(text, "delta") == "a_0 ^ 2 - dot d u_0 u_0"
    claim = "regularizes d (fun b => dom d u_0 a_0 (dot d b b))"
    assert claim in text.partition("Theorem model")[2]
    assert "flow (1 + 2) 2 (rate) (F) w lam" in written("linear-neuron-plane")


def test_weight_normalization_is_claimed_in_every_dimension():
    """Q is the integral of the slope that the page prints from the start on."""
    text, args = written("divided by a square"), "d v_0 gam_0"
    assert definition(text, "phi") == "w 0%nat / dot d (tail 1 w) (tail 1 w)"
    assert definition(text, "dom") == "0 < n"
    assert definition(text, "p") == f"sqrt (n + 1) / (sqrt (delta {args}) * sqrt n)"
    start = f"gam_0 ^ 2 / norm_v_0 {args}"
    assert definition(text, "q") == f"RInt (fun x => p {args} x / 2) ({start}) n"
    assert definition(text, "dual") == "(1 / dot d v_0 v_0) * v_0 i"
    assert f"- dot d (dual {args}) b)" in text.partition("Theorem model")[2]


def test_roots_of_several_degrees_have_no_file():
    """No rule ties n**(1/2) to n**(1/3): Rocq would refuse what was written."""
    with pytest.raises(NumericalError, match="several degrees"):
        derive_once(["gam**3*v/norm(v)"], vectors=["v"]).to_code("rocq")


def test_that_there_is_no_q_is_claimed_of_F_at_the_printed_start():
    """The point at which the printed identity fails, where that will do; exit status 1 stays."""
    d = derive_once(["a", "a*b + c"])
    text = d.to_code("rocq")
    assert definition(text, "F") == (
        "match i with | 0%nat => w 0%nat | _ => w 0%nat * w 1%nat + w 2%nat end"
    )
    assert text.partition("Theorem model : ")[2].startswith("no_potential 3 2 F start.")
    assert "No: no Q for all data" in text.partition("*)")[0]
    assert re.findall(SEARCHES, text.partition("*)")[2]) == []
    done = run("regularizer", "a", "a*b + c", "--rocq")
    assert done.returncode == 1
    assert done.stdout == text + "\n"


@pytest.mark.parametrize(
    ("outputs", "why"),
    [
        (["u**2*v"], "where Q lives is not decided"),
        (["p**2 - m**3"], "Q has another domain from some starts"),
        (["a**2 + c"], "the curve of Q has exponentials"),
        (["a", "a*b*c"], "where Q lives is not decided"),
        (["a", "a*b", "b"], "no file is written"),
        (["sqrt(1 - u**2)"], "does not follow from its form"),
        (["a**2*b", "a*b**2"], "a refutation that takes second derivatives"),
        (["a*u + b*v", "a*x + b*y"], "a refutation on the leaf of a start alone"),
    ],
)
def test_what_has_no_file_says_why_in_a_line(outputs, why):
    with pytest.raises(NumericalError, match=why) as error:
        derive_once(outputs).to_code("rocq")
    assert "\n" not in str(error.value)


def test_the_command_writes_a_file_or_exits_3(tmp_path):
    path = tmp_path / "model.v"
    done = run("regularizer", "u*v", "--rocq", "-o", str(path))
    assert (done.returncode, done.stdout) == (0, "")
    assert path.read_text() == written("product") + "\n"
    done = run("regularizer", "u**2*v", "--rocq")
    assert done.returncode == 3
    assert one_line(done).startswith("derive: --rocq: ")
    assert run("regularizer", "W*T(W)", "--matrix", "W:2x2", "--rocq").returncode == 1


def test_a_record_says_which_proofs_there_are():
    """In one line; the checker knows these names alone."""
    for name, proofs in (("tied-pair", ["certificate", "rocq"]), ("deep-neuron", ["certificate"])):
        record = json.loads(derivation(name).to_json(seconds=60))
        assert record["proofs"] == proofs
        check.check(record)
        with pytest.raises(Rejected, match="proofs are named otherwise"):
            check.check(record | {"proofs": [*proofs, "oracle"]})


def test_the_library_is_written_with_its_page(tmp_path):
    folder = tmp_path / "proofs"
    assert run("rocq", "--library", "-o", str(folder)).returncode == 0
    assert {p.name for p in folder.iterdir()} == {
        "Mirror.v",
        "Radial.v",
        "_CoqProject",
        "REFEREE.md",
    }
    page, text = (folder / "REFEREE.md").read_text(), (folder / "Mirror.v").read_text()
    read = re.findall(r"^\d+\. `(\w+)", page, re.MULTILINE)
    assert len(read) == 10
    assert all(re.search(rf"^(Definition|Record) {name}\b", text, re.MULTILINE) for name in read)
    assert "derive rocq --library -o DIR" in refusal_of("rocq")
    assert "is a file" in refusal_of("rocq", "--library", "-o", str(folder / "Mirror.v"))


def test_the_library_has_no_axiom_of_its_own_and_fits():
    texts = [text for name, text in library().items() if name.endswith(".v")]
    assert re.findall(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b", "".join(texts)) == []
    assert all(len(text.splitlines()) <= 1000 for text in texts)


def test_names_make_way_for_those_of_the_file():
    assert "at_" in written("names")
    assert all(name_of(name) != name for name in RESERVED)


def test_what_is_broken_is_of_every_kind():
    whole = {what.partition(":")[0] for what, _ in mutants(written("square"))}
    assert whole >= {"F", "q", "kernel", "mu", "dom"}
    whole = {what.partition(":")[0] for what, _ in mutants(written("deep-diagonal-3"))}
    assert whole >= {"F", "f", "range", "height", "kernel", "mu", "law"}
    assert any(what.startswith("law") for what, _ in mutants(written("product")))


def test_signs_follow_from_the_form_alone():
    a, b = map(plain, sympy.symbols("a b"))
    signs = Signs((a,), (b,))
    assert signs.positive(a + b**2)
    assert signs.positive(a * b**2 / (1 + a))
    assert not signs.positive(a + b)
    assert not signs.positive(b)
    assert signs.nonzero(b * a)
    assert not signs.nonzero(a - b)


def test_a_condition_that_is_a_number_when_it_is_multiplied_out_tells_nothing():
    """From a = alpha^2, b = alpha the sum of squares at the start is such a condition."""
    x = sympy.Symbol("x")
    assert not Signs(((x + 1) ** 2 - x**2 - 2 * x,), ()).positive(x)
    d = derive_once(["a**2 + b**2"], start={"a": "alpha**2", "b": "alpha"})
    assert "Theorem model" in d.to_code("rocq")
    assert check.check_text(d.to_json()).verdict == "PROVED"
