"""The commands of the atlas as a person types them."""

import importlib.util
import json
from collections import Counter
from pathlib import Path

import pytest

from derive.atlas.store import SHIPPED, opened
from tests.cli.commands import run

HYPENTROPY = "beta*asinh(beta/c) - sqrt(beta**2 + c**2)"


def test_search_says_what_is_equal():
    done = run("atlas", "search", HYPENTROPY)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("equal: 9 by an exact identity, 3 in numbers alone\n")
    assert "F = a*b\n  equal: an exact identity\n  with c = " in done.stdout


def test_search_by_properties():
    done = run("atlas", "search", "--warped", "--weights", "2", "--json")
    assert done.returncode == 0
    assert "a, a*b" in [x["outputs"] for x in json.loads(done.stdout)["entries"]]
    assert run("atlas", "search", "--horizon", "l17").returncode == 1


@pytest.mark.skipif(importlib.util.find_spec("distributed") is not None, reason="dask is there")
def test_a_cluster_needs_dask(tmp_path):
    done = run("atlas", "build", "-o", str(tmp_path / "a.sqlite"), "--cluster", "here:8786")
    assert done.returncode == 2
    assert done.stderr.startswith("derive: --cluster needs dask: pip install")


def test_build_show_and_site(tmp_path):
    path = str(tmp_path / "atlas.sqlite")
    done = run("atlas", "build", "-o", path, "--entries", "3", "--size", "2")
    assert done.returncode == 0, done.stderr
    listed = json.loads(run("atlas", "search", "--weights", "1", "--atlas", path, "--json").stdout)
    name = listed["entries"][0]["id"]
    assert "Implicit regularizer Q" in run("atlas", "show", name, "--atlas", path).stdout
    done = run("atlas", "site", "-o", str(tmp_path / "site"), "--atlas", path)
    assert done.returncode == 0, done.stderr
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert f'<a href="{name}.html">' in index
    assert "<th>F</th>" in index
    assert "http" not in index.split("</style>")[1]
    assert "Theorem" in (tmp_path / "site" / f"{name}.html").read_text(encoding="utf-8")


def test_the_small_atlas_is_small():
    assert SHIPPED.stat().st_size < 300_000


def test_the_guide_counts_what_is_shipped():
    """Each figure of "What it shows" on the shipped entries, but for what was tried elsewhere."""
    with opened(None) as atlas:
        entries = atlas.entries()
    special = [e for e in entries if e.start]
    verdicts, coupled = Counter(e.verdict for e in entries), [e for e in entries if e.dimension > 1]
    proved = [e for e in entries if e.verdict == "PROVED"]
    kinds, warped = Counter(e.kind for e in proved), sum(e.g != "1" for e in proved)
    sizes, never = (
        Counter(e.class_id for e in proved if e.class_id),
        sum("elementary" in e.left for e in proved),
    )
    guide = " ".join((Path(__file__).parents[2] / "docs/howto/atlas.md").read_text().split())
    for sentence in (
        f"The {len(entries)} entries of size 4 or less are {len(entries) - len(special)} $F$ "
        f"from any start and {len(special)} special starts",
        f"Of all, {len(proved)} have a $Q$, {warped} of them with a warp alone",
        f"{verdicts['REFUTED']} have none; {verdicts['UNDECIDED']} are open",
        f"explicit for {kinds['explicit']}, along a curve or in the weights for "
        f"{kinds['parametric']}, by a root of a polynomial for "
        f"{kinds['algebraic']}, and has an integral left for {kinds['quadrature']}",
        f"Of these integrals {never} are proved to be no elementary function",
        f"of {len(coupled)} entries with two or more outputs "
        f"{sum(e.verdict == 'REFUTED' for e in coupled)} have no $Q$",
        f"Of {sum(n > 1 for n in sizes.values())} classes there is more than one entry",
        f"has {sizes.most_common()[0][1]}, such as `a + b`",
        f"of the {len(sizes)} classes",
    ):
        assert sentence in guide, sentence


def test_search_says_what_is_near():
    done = run("atlas", "search", "beta**3", "--json")
    assert done.returncode == 1
    record = json.loads(done.stdout)
    assert (record["format"], record["version"]) == ("regderive-atlas-search", 1)
    assert {x["ground"] for x in record["entries"]} == {"near"}
