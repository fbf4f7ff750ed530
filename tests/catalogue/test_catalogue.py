"""The catalogue: every record is read, derives, and does as it expects; and its commands."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from derive import InputError, Verdict
from derive.catalogue import Entry, bibtex, entries, find, library
from derive.catalogue.audit.coverage import statements
from derive.catalogue.library import read_entry
from derive.catalogue.listing import markdown
from derive.cli.catalogue import Audit
from derive.cli.forms import FORMS
from derive.components import in_components
from derive.folder import read_folder
from derive.separable.weights_problem import HOMOGENEOUS
from derive.sources import sources
from numerics import crosscheck
from tests.cli.commands import ROOT, run
from tests.published import GIVEN_SIZE

SLIDES = ("slides", "srebro-inductive")
METHODS = ("gunasekar2021", "bronstein2005", "ritt1948", "chebyshev1853", "liouville1835")
"""Sources that pages cite for methods, not for a model."""


def names(chosen):
    return [entry.id for entry in chosen]


@pytest.mark.parametrize("name", names(entries()))
def test_every_model_has_the_verdict_that_its_record_expects(name, derived):
    assert derived(name).verdict is Verdict[find(name).verdict]


def confirmed(derivation, digits):
    return crosscheck(in_components(derivation, 2), digits=digits)


PROVED = names(entry for entry in GIVEN_SIZE if entry.verdict == "PROVED")


@pytest.mark.every(6)
@pytest.mark.parametrize("name", PROVED)
def test_every_proved_model_is_confirmed_by_its_flow(name, derived):
    assert confirmed(derived(name), 10).passed


@pytest.mark.slow
@pytest.mark.parametrize("name", PROVED)
def test_every_proved_model_is_confirmed_by_its_flow_to_fifty_digits(name, derived):
    assert confirmed(derived(name), 50).passed


def test_every_source_is_cited_and_every_citation_is_a_source():
    cited = {key for e in entries() for key in (*e.cite, *(f.cite for f in e.printed))}
    table = Path(__file__).parents[2] / "derive" / "optimizers" / "table.toml"
    cited |= set(re.findall(r'cite = "([^"]+)"', table.read_text(encoding="utf-8")))
    cited |= {key for statement in statements() for key in statement.cite}
    named = re.findall(r"(?:^|; )(\w+)[^;]* (\d{4})", HOMOGENEOUS)  # as pages cite what is in words
    cited |= {name.lower() + year for name, year in named}
    assert cited | set(METHODS) == sources().keys()
    assert bibtex(["azulay2021"]).startswith("@inproceedings{azulay2021,")


def test_every_record_says_where_its_formulas_stand():
    for entry in entries():
        assert entry.cite, entry.id
        assert all(formula.place and formula.text for formula in entry.printed)
        # The papers themselves were not at hand but for one, without its formulas.
        for formula in entry.printed:
            slides, decided = formula.cite.endswith(SLIDES), formula.text in (("yes",), ("no",))
            assert formula.read == ("text" if slides or decided else "memory"), formula.place


def test_the_table_has_a_row_for_each_model(derived):
    table = markdown((entry, derived(entry.id)) for entry in entries()).splitlines()
    assert len(table) == 2 + len(entries())
    assert len({row.count(" | ") for row in table}) == 1


README = (Path(__file__).parent.parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_table_of_the_readme_is_what_the_command_prints(derived):
    shown = README.split("<!-- derive catalogue --markdown -->\n")[1].split("\n<!-- end -->")[0]
    _, _, *rows = shown.splitlines()
    models = [find(row.split(" | ")[0].strip("| ")) for row in rows]
    assert len(models) == 5
    assert shown == markdown((entry, derived(entry.id)) for entry in models)


def test_deleting_a_model_is_deleting_its_file(tmp_path, monkeypatch):
    before = names(entries())
    copied = tmp_path / "catalogue"
    shutil.copytree(library.FOLDER, copied)
    (copied / "entries" / "square.toml").unlink()
    with monkeypatch.context() as changed:
        changed.setattr(library, "FOLDER", copied)
        left = names(entries.__wrapped__())
    assert "square" in before
    assert left == [name for name in before if name != "square"]
    assert names(entries()) == before


def test_no_code_knows_a_model_by_name():
    packages = [library.FOLDER.parent, library.FOLDER.parent.parent / "numerics"]
    unmistakable = [re.escape(name) for name in names(entries()) if "-" in name]
    known = re.compile("|".join(rf"[\"']{name}[\"']" for name in unmistakable))
    # Experiments have names of their own, which may be those of models.
    experiments = {
        *(packages[0] / "cli").glob("experiment*.py"),
        *(packages[1] / "experiments").glob("*.py"),
    }
    modules = {path for package in packages for path in package.rglob("*.py")} - experiments
    assert len(modules) > 200
    for path in modules:
        code = "\n".join(
            line for line in path.read_text().splitlines() if not line.lstrip().startswith(">>>")
        )
        assert not known.search(code), path


def test_an_unknown_model_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="did you mean tied-pair"):
        find("tied-par")
    with pytest.raises(InputError, match="no source"):
        bibtex(["nobody1900"])


FORMULA = {"kind": "Q", "text": ["w"], "source": "p", "cite": "c"}
GOOD = {"title": "t", "outputs": ["w"], "verdict": "PROVED"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"outputs": "w"}, "outputs must be a list"),
        ({"title": 3}, "title must be a text"),
        ({"colour": "red"}, "unknown field colour"),
        ({"printed": [{"kind": "Q"}]}, "formula 1: the field text is missing"),
        ({"printed": [FORMULA]}, "formula 1: the field read is missing"),
        ({"printed": [FORMULA | {"read": "hearsay"}]}, "read must be one of page, text, memory"),
        ({"printed": [{"where": 1}]}, "where must give"),
    ],
)
def test_a_faulty_record_is_refused_in_one_line(change, message):
    assert read_entry("x", GOOD) == Entry(("w",), id="x", title="t", verdict="PROVED")
    with pytest.raises(InputError, match=message):
        read_entry("x", {**GOOD, **change})


def test_a_record_without_its_outputs_is_refused():
    with pytest.raises(InputError, match="outputs is missing"):
        read_entry("x", {"title": "t", "verdict": "PROVED"})


def test_a_file_that_is_no_record_is_refused_by_its_name(tmp_path):
    (tmp_path / "broken.toml").write_text("title = ", encoding="utf-8")
    with pytest.raises(InputError, match=r"broken\.toml: Invalid value"):
        read_folder(tmp_path, read_entry)


def test_the_list_names_every_model_and_how_to_type_it():
    done = run("catalogue")
    assert done.returncode == 0
    for entry in entries():
        assert entry.id in done.stdout.splitlines()
        assert all(f'"{output}"' in done.stdout for output in entry.outputs)


def test_a_refuted_model_has_the_exit_status_of_a_refutation():
    done = run("catalogue", "convolution-3", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["verdict"] == "REFUTED"


def test_the_sources_are_printed_once_each():
    done = run("catalogue", "tied-pair", "--bibtex")
    assert done.returncode == 0
    assert done.stdout.count("@") == done.stdout.count("{woodworth2020,") + 1 == 2


def test_an_audit_of_one_model_is_a_record():
    done = run("audit", "tied-pair", "--json")
    assert done.returncode == 0
    record = json.loads(done.stdout)
    assert record["format"] == "regderive-audit"
    assert record["counts"]["MISPRINT"] == 1


@pytest.mark.slow
def test_an_audit_says_how_far_it_is():
    chosen, said = entries()[:3], []
    record = json.loads(
        Audit(models=tuple(e.id for e in chosen), form=FORMS["json"]).answer(said.append).result
    )
    assert said[1:] == [f"{i}/3 {e.id}" for i, e in enumerate(chosen)]
    assert {audit["model"] for audit in record["audits"]} <= {e.id for e in chosen}


SHOWN = [
    line.split("#")[0].strip()
    for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    if re.match("derive (catalogue|audit|regimes|explicit|margin|perturb|univariate) +[^ #]", line)
]


@pytest.mark.every(6)
@pytest.mark.parametrize("line", SHOWN)
def test_the_examples_of_the_readme_run(line):
    done = run(*shlex.split(line)[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout
