"""The examples run, the types of what people hold are theirs, and a source distribution has all."""

import runpy
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
