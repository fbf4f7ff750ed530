"""The documentation: its commands run as written, and it builds without a warning."""

import re
import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from derive.catalogue.library import entries
from tests.cli.commands import printed_by, run
from tests.published import GIVEN_SIZE

DOCS = Path(__file__).parents[1] / "docs"
MADE = {"_build", "gallery.md"}
"""What a build of the pages leaves behind."""
PAGES = sorted(path for path in DOCS.rglob("*.md") if not MADE & {*path.parts})
BEFORE = [
    (name, text.replace(r"\n", "\n"))
    for page in PAGES
    for text, name in re.findall(r"^printf '(.*?)' > (\S+)", page.read_text("utf-8"), re.MULTILINE)
]
"""What pages write to files before these are read."""
SHOWN = [
    line.partition("#")
    for page in PAGES
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for line in block.splitlines()
    if line.startswith("derive ")
]


@pytest.mark.slow
def test_the_commands_run_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(SHOWN) > 15
    assert len(BEFORE) > 4
    for name, text in BEFORE:
        Path(name).write_text(text, encoding="utf-8")
    for line, _, says in SHOWN:
        done = run(*shlex.split(line)[1:])
        code = re.search(r"exit status (\d)", says)
        assert done.returncode == (int(code[1]) if code else 0), line + done.stderr
        assert not done.stderr, line


TRAINED = re.findall(
    r"```python\n(import (\w+)\n.*?)```",
    (DOCS / "howto" / "training.md").read_text(encoding="utf-8"),
    re.DOTALL,
)


@pytest.mark.parametrize(("script", "library"), TRAINED, ids=[name for _, name in TRAINED])
def test_q_is_used_in_training(script, library):
    """In a process of its own, as these libraries keep threads."""
    pytest.importorskip(library, reason=f"{library} is not installed")
    printed = printed_by(script)
    if library == "jax":
        loss, left = map(float, re.findall(r"-?\d[\d.]*e[-+]\d+", printed))
        assert loss < 1e-20
        assert abs(left) < 1e-3
    else:
        found = [float(x) for x in re.findall(r"-?\d+\.\d+(?:e[-+]\d+)?", printed)]
        assert found == pytest.approx([1, -1, 0, 0], abs=0.01)


PRINTED = re.findall(
    r"```(sh|text)\n(.*?)```", (DOCS / "tutorial.md").read_text(encoding="utf-8"), re.DOTALL
)


@pytest.mark.slow
def test_the_tutorial_shows_what_is_printed():
    shown, line = 0, ""
    for kind, text in PRINTED:
        if kind == "sh":
            line = text.strip().splitlines()[-1]
        else:
            assert text.rstrip() in run(*shlex.split(line)[1:]).stdout, line
            shown += 1
    assert shown == 6


def test_every_page_is_in_the_contents():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    contents = index.split("```{toctree}")[1].split()
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in PAGES} - {"index"}
    assert pages | {"gallery", "coverage"} == {name for name in contents if name[0].isalpha()}


@pytest.mark.slow
def test_it_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    gallery = (tmp_path / "gallery.html").read_text(encoding="utf-8")
    pages = {path.name for path in (tmp_path / "models").iterdir()}
    assert {f"models/{name}" for name in pages} == set(
        re.findall(r'href="(models/[^"]+)"', gallery)
    )
    assert {"tied-pair.html", "linear-neuron.html", "matrix-factorization.html"} <= pages
    assert gallery.count("Q exists: ") == len(GIVEN_SIZE)
    assert all(entry.title in unescape(gallery) for entry in entries())
    assert "p**2 - m**2" in gallery
    assert "left out" in (tmp_path / "coverage.html").read_text(encoding="utf-8")
