"""Examples and the notebook run, types are those of what people hold, a distribution has all."""

import ast
import contextlib
import importlib.util
import io
import json
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.lines import repeated

ROOT = Path(__file__).parent.parent


@pytest.mark.every(4)
@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_run(script, capsys):
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()


TYPED = """
from derive import Parameterization, copies, derive, margins, perturb, regimes

q = derive(["a*u1", "a*u2"]).potential.numeric({"a_0": 1, "u1_0": 0, "u2_0": 0})
x: float = q([1.0, 2.0])
y: float = q.bregman([1.0, 2.0], [0.0, 0.0])
slopes: list[float] = q.gradient([1.0, 2.0]).tolist()
derived = derive(copies("w**2", 3)), margins("u*v"), perturb("u*v", "step"), regimes("u*v")
size: int = len(derive(Parameterization.parse(["a*u"], vectors=["u"])).beta)
"""


@pytest.mark.slow
def test_types_are_those_that_one_expects(tmp_path):
    api = pytest.importorskip("mypy.api")
    for text, passes in ((TYPED, True), (TYPED + "z: str = len(q.gradient([1.0]))", False)):
        script = tmp_path / "session.py"
        script.write_text(text, encoding="utf-8")
        out, err, code = api.run(
            ["--strict", "--config-file", str(ROOT / "pyproject.toml"), str(script)]
        )
        assert (code == 0) == passes, out + err


def test_a_source_distribution_has_what_its_tests_read():
    """Beside what the build adds by itself: pyproject.toml, README.md and LICENSE."""
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    kept = {*built["build"]["targets"]["sdist"]["include"]}
    there = {path.name for path in ROOT.iterdir() if path.name[0] not in "._"}
    assert kept <= there
    assert {"docs", "noxfile.py", "tests", "examples"} <= kept


def test_what_is_listed_as_repeated_is_there():
    for name in repeated():
        path, _, test = name.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        assert f"def {test.partition('[')[0]}(" in text, name


NOTEBOOK = Path(__file__).parents[1] / "examples" / "first_derivation.ipynb"
RUN = """
import nbclient, nbformat, sys
notebook = nbformat.read(sys.argv[1], as_version=4)
before = [cell.get("outputs") for cell in notebook.cells]
nbclient.NotebookClient(notebook, timeout=120).execute()
def texts(outputs):
    return [o.get("text", o.get("data", {}).get("text/plain")) for o in outputs or []]
for old, cell in zip(before, notebook.cells, strict=True):
    assert texts(old) == texts(cell.get("outputs")), cell["source"]
print("same")
"""


def run(source, names):
    """Return what a cell prints, and the repr of its last expression, as a notebook shows it."""
    tree = ast.parse("".join(line for line in source if not line.startswith("%")))
    quiet = source[-1].endswith(";") or not isinstance(tree.body[-1], ast.Expr)
    last = None if quiet else ast.Expression(tree.body.pop().value)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), names)
        value = None if last is None else eval(compile(last, "cell", "eval"), names)
    return printed.getvalue(), "" if value is None else repr(value)


def stored(cell):
    """Return the text and the value that the notebook has."""
    text = "".join("".join(o.get("text", ())) for o in cell["outputs"])
    values = (o["data"]["text/plain"] for o in cell["outputs"] if "data" in o)
    return text, "".join("".join(x) for x in values if not x[0].startswith("<Figure"))


def test_every_cell_gives_what_is_stored():
    figures = importlib.util.find_spec("matplotlib") is not None
    names = {}
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 5
    for cell in code:
        if cell["source"][0] == "%matplotlib inline\n" and not figures:
            continue
        assert run(cell["source"], names) == stored(cell), "".join(cell["source"])


@pytest.mark.slow
def test_the_notebook_runs_as_it_is_stored():
    for name in ("nbclient", "nbformat", "ipykernel", "matplotlib"):
        pytest.importorskip(name, reason="the extra notebook is not installed")
    command = [sys.executable, "-c", RUN, str(NOTEBOOK)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=NOTEBOOK.parents[1])
    assert done.stdout.endswith("same\n"), done.stderr
