"""The notebook runs, and shows what is stored in it."""

import ast
import contextlib
import importlib.util
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

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
