"""The atlas: one F of each class, what is built of them, its commands and flows."""

import importlib.util
import json
import random
import shutil
import sqlite3
from collections import Counter
from dataclasses import astuple, fields
from fractions import Fraction
from math import lcm
from pathlib import Path

import numpy as np
import pytest

from derive.atlas.build import Limits, Plan, build, decide, decided, starts
from derive.atlas.canonical import ALGEBRAIC, canonical, law_form, product, written
from derive.atlas.grammar import Candidate, candidates
from derive.atlas.store import FAULT, SCHEMA, SHIPPED, Entry, find, opened
from derive.derivation import derive
from derive.errors import DeriveError, InputError
from tests.cli.commands import run
from tests.witnesses.flows import Flows, Unreached

PLAN = Plan(size=2, seed=0, entries=10, limits=Limits(20.0))
A, B = ("weight", (0,), 1), ("weight", (1,), 1)
PRODUCT = Candidate(canonical([{(A, B): 1}]), 2)


def built(path, plan=PLAN, progress=lambda line: None, mapped=map):
    build(path, plan, mapped, progress)
    with opened(path) as atlas:
        return [astuple(entry)[:-1] for entry in atlas.entries()]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("atlas") / "whole.sqlite"


@pytest.fixture(scope="module")
def whole(path):
    return built(path)


def test_entries_are_numbered(whole):
    assert [row[1] for row in whole] == [*range(1, len(whole) + 1)]
    assert len(whole) == len({row[0] for row in whole}) >= 10


def test_it_goes_on_where_it_stopped(whole, tmp_path):
    """Nothing is lost and nothing is there twice, wherever it is interrupted."""

    class Interrupted(Exception):
        pass

    def stop(line):
        raise Interrupted

    path = tmp_path / "atlas.sqlite"
    for _ in range(4):
        with pytest.raises(Interrupted):
            build(path, PLAN, map, stop)
    assert built(path) == whole
    assert built(path) == whole


@pytest.mark.slow
def test_processes_do_not_change_it(whole, tmp_path):
    pytest.importorskip("joblib", reason="the extra parallel is not installed")
    from numerics.experiments.settings import in_parallel

    assert built(tmp_path / "a.sqlite", mapped=lambda f, x: in_parallel(f, x, 2)) == whole


@pytest.mark.slow
def test_another_seed_is_another_file(whole, path, tmp_path):
    with pytest.raises(InputError, match="was built with seed 0, not 1"):
        built(shutil.copy(path, tmp_path), Plan(2, 1, 10, Limits(20.0)))


def test_what_is_no_atlas_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("no atlas\n" * 100)
    with pytest.raises(InputError, match="no atlas of version"), opened(path):
        pass
    with pytest.raises(InputError, match="cannot be written as an atlas"):
        built(path)
    with pytest.raises(InputError, match="there is no atlas"), opened(tmp_path / "none"):
        pass


def test_the_schema_is_the_record(whole, path):
    with sqlite3.connect(path) as connection:
        columns = [row[1] for row in connection.execute("pragma table_info(entries)")]
        assert dict(connection.execute("select name, value from built"))["version"] == "1"
    assert columns == [f.name for f in fields(Entry)]
    assert SCHEMA.count(",") == len(columns) - 1
    name = "8efdaff6dc"
    assert find(path, name[:6]).outputs == "a*b"
    with pytest.raises(InputError, match="there is no entry 'zz'"):
        find(path, "zz")


def test_special_starts_that_change_the_answer_are_kept():
    assert {*starts(PRODUCT.form)} == {("", ""), ("alpha", "alpha"), ("0", "")}
    found = decided(PRODUCT, Limits(20.0))
    assert [(x.start, x.domain) for x in found] == [
        ("", "all real $beta$"),
        ("a=alpha,b=alpha", "`beta > 0`"),
    ]
    free = found[0]
    assert (free.verdict, free.kind, free.horizon, free.g) == ("PROVED", "explicit", "l1", "1")
    assert (free.laws, free.law_forms) == ("a**2 - b**2", "a**2 - b**2")


def test_what_is_out_of_time_says_so():
    """Of an F that nothing else here derives: what is known takes less than a tick of the clock."""
    several = Candidate(canonical([{product(("weight", (k,), 1) for k in range(4)): 1}]), 4)
    entry = decide(several, ("",) * 4, Limits(1e-3))
    assert entry.verdict == "UNDECIDED"
    assert entry.reason.startswith("out of time")


def test_faults_are_rows(monkeypatch):
    def broken(*given, **named):
        raise ZeroDivisionError("broken")

    monkeypatch.setattr("derive.atlas.build.derive", broken)
    assert decide(PRODUCT, ("", ""), Limits(1.0)).verdict == FAULT


def test_samples_know_f_alone():
    """Hess Q of u v is 1/K with K^2 = delta^2 + 4 beta^2, whatever was derived."""
    free, _ = decided(PRODUCT, Limits(20.0))
    for k, beta, H in free.points():
        start = free.numbers(int(k))
        delta = float(start["a_0"] ** 2 - start["b_0"] ** 2)
        assert pytest.approx(1 / np.sqrt(delta**2 + 4 * beta**2), rel=1e-7) == H
        assert pytest.approx(1 / np.sqrt(delta**2 + 3 * beta**2), rel=1e-7) != H


def test_a_constant_that_is_no_law_alone_is_no_fault():
    """Here a law is a function of the constant, which once ended the program."""
    c, below = ("weight", (2,), 1), ("norm", (0, 1), -2)
    F = Candidate(canonical([{product((c, below)): 1}]), 4)
    assert written(F.form) == ("c/(a**2 + b**2)",)
    assert decide(F, ("", "", "0"), Limits(20.0)).verdict == "PROVED"


@pytest.fixture(scope="module")
def drawn():
    return [*candidates(4)]


@pytest.fixture(scope="module")
def forms(drawn):
    return [c.form for c in drawn]


def random_member(form, rng):
    """Return an F of the class of a form: weights renamed, signed and scaled, outputs mixed."""
    used = sorted({w for row in form for m, _ in row for _, v, _ in m for w in v})
    names = [*used]
    rng.shuffle(names)
    factors = {f for row in form for m, _ in row for f in m}
    kept = {w for f, v, _ in factors if f not in ("weight", "exp", "norm") for w in v}
    sign = {w: 1 if w in kept else rng.choice((1, -1)) for w in used}
    scale = rng.choice((Fraction(2), Fraction(1, 3), Fraction(3, 2), Fraction(1)))
    scale = scale if all(f in ALGEBRAIC for f, _, _ in factors) else Fraction(1)
    image = dict(zip(used, names, strict=True))

    def moved(m, c):
        c *= scale ** sum(n for _, _, n in m) if scale != 1 else 1
        new = []
        for f, v, n in m:
            c *= sign[v[0]] ** abs(n) if f == "weight" else 1
            n *= sign[v[0]] if f == "exp" else 1
            new.append((f, tuple(sorted(image[w] for w in v)), n))
        return product(new), c

    rows = [[moved(m, c) for m, c in row] for row in form]
    d, mixed = len(rows), []
    for i in range(d):  # a triangular matrix, its rows in any order
        total = Counter()
        for j in range(i + 1):
            factor = rng.choice((1, -1, 2, -3)) if i == j else rng.randrange(-2, 3)
            for m, c in rows[j]:
                total[m] += factor * c
        total[()] += rng.randrange(3)
        below = lcm(*(Fraction(c).denominator for c in total.values()))
        mixed.append({m: int(c * below) for m, c in total.items()})
    rng.shuffle(mixed)
    return mixed


@pytest.mark.parametrize("step", [20, pytest.param(3, marks=pytest.mark.slow)])
def test_it_is_the_same_for_all_of_a_class(forms, step):
    for k, form in enumerate(forms[::step]):
        rng = random.Random(k)
        for _ in range(3):
            assert canonical(random_member(form, rng)) == form


def test_classes_are_not_joined():
    a, b = ("weight", (0,), 1), ("weight", (1,), 1)
    F = {(a, b): 1}, {(("weight", (0,), 2),): 1}
    assert canonical(F[:1]) != canonical(F[1:])
    # A scale of one weight is no isometry.
    assert canonical([{(a,): 1, (b,): 1}]) != canonical([{(a,): 1, (b,): 2}])
    # A scale of both is taken out.
    square = (("weight", (0,), 2),)
    assert canonical([{square: 1, (a,): 8}]) == canonical([{square: 3, (a,): 1}])
    assert canonical([{square: 1, (b,): 1}]) != canonical([{square: 1, (a,): 1}])


def test_marks_keep_weights_apart():
    a, b = ("weight", (0,), 1), ("weight", (1,), 2)
    F = [{product((a, b)): 1}]
    assert canonical(F, ("0", "")) != canonical(F, ("", "0"))
    swapped = [{product((("weight", (1,), 1), ("weight", (0,), 2))): 1}]
    assert canonical(F, ("0", "")) == canonical(swapped, ("", "0"))


@pytest.mark.parametrize("size", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_there_is_one_of_each_class(size, drawn):
    forms = [c.form for c in drawn if c.size <= size]
    assert len(forms) == len({*forms})
    in_another_order = [c.form for c in candidates(size, seed=5)]
    assert {*forms} == {*in_another_order}
    assert forms != in_another_order


@pytest.mark.parametrize(
    "outputs",
    [
        ("a*b",),
        ("a**2 - b**2",),
        ("a*b", "a*c"),
        ("a*b*c", "a*b*d"),
        ("a/sqrt(a**2 + b**2)",),
        ("b*log(a)",),
        ("a*b + c*d",),
    ],
)
def test_the_models_of_papers_are_there(outputs, forms):
    assert outputs in {written(form) for form in forms}


def test_laws_have_a_form():
    from sympy.abc import u, v, w

    assert law_form(w**2 / 3 - u**2 / 3) == law_form(u**2 - v**2) == "a**2 - b**2"
    assert law_form(u**2 + v**2) != law_form(u**2 - v**2)
    assert law_form((u - v) / (u + w)) == ""


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


DRAWN = 40


def end(p, start, x, move):
    """Return beta (of one output, of two copies) after a flow along row x, by F alone."""
    flows = Flows.side_by_side([Flows.of(p, start)] * (2 if p.d == 1 else 1))
    return flows.F(flows.fitted(x[None], x[None] @ flows.F(flows.w0) + move))


def agrees(entry):
    """Return whether grad Q is a multiple of the row; None where nothing was compared."""
    start, p = entry.numbers(0), entry.parameterization()
    x = (
        np.array([1.0, 0.6])
        if entry.dimension == 1
        else np.array([1.0, -0.7, 0.4])[: entry.dimension]
    )
    try:
        beta = end(p, start, x, 0.2)
        slope = np.ravel(derive(p).potential.numeric(start).gradient(beta))
    except (DeriveError, Unreached, ZeroDivisionError, ArithmeticError):
        return None
    if not np.isfinite(slope).all():
        return None
    across = slope - x * (slope @ x) / (x @ x)
    return bool(np.linalg.norm(across) < 1e-5 * np.linalg.norm(slope))


@pytest.mark.slow
def test_flows_end_where_q_says():
    with opened(None) as atlas:
        proved = atlas.entries("verdict = 'PROVED'")
    drawn = [proved[i] for i in np.random.default_rng(1).permutation(len(proved))[:DRAWN]]
    found = {(x.outputs, x.start): agrees(x) for x in drawn}
    assert [k for k, v in found.items() if v is False] == []
    assert sum(v is True for v in found.values()) > DRAWN / 2
