"""`derive catalogue` and `derive audit` as a person meets them."""

import json
import re
import shlex

import pytest

from derive.catalogue import entries
from derive.cli.catalogue import Audit
from derive.cli.forms import FORMS
from tests.cli.commands import ROOT, run


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
    done = run("audit", "symmetric-factorization-commuting", "--json")
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
