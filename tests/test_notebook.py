"""The notebook runs, and shows what is stored in it."""

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


@pytest.mark.slow
def test_the_notebook_runs_as_it_is_stored():
    for name in ("nbclient", "nbformat", "ipykernel", "matplotlib"):
        pytest.importorskip(name, reason="the extra notebook is not installed")
    command = [sys.executable, "-c", RUN, str(NOTEBOOK)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=NOTEBOOK.parents[1])
    assert done.stdout.endswith("same\n"), done.stderr
