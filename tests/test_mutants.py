"""Mutants are programs, each broken at one place that is run."""

import ast
from pathlib import Path

from tests.mutants import ROOT, SUBJECTS, mutants, suite_of

PATH = Path("derive/weights/hessian.py")


def test_a_mutant_compiles_and_differs_where_it_says():
    found = list(mutants(PATH))
    assert len(found) > 10
    source = ast.dump(ast.parse(found[0].source))
    told = [str(mutant) for mutant in found]
    for mutant, text in zip(found, told, strict=True):
        changed = ast.parse(mutant.changed)
        compile(changed, PATH, "exec")
        assert ast.dump(changed) != source
        assert text.startswith(f"{PATH}:{mutant.line}\n    -")
    assert any("+    if (p.d != 1):" in text for text in told)
    assert not any("-> " in line for text in told for line in text.splitlines()[1:])


def test_every_subject_has_tests_that_know_it():
    for subject in SUBJECTS:
        path = next((ROOT / subject).rglob("*.py")).relative_to(ROOT)
        files = suite_of(path, ROOT)
        assert all(Path(ROOT, file).is_file() for file in files)
