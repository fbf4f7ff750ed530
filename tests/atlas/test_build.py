"""Building an atlas: what is kept, and that nothing is lost or done twice."""

import shutil
import sqlite3
from dataclasses import astuple, fields

import numpy as np
import pytest

from derive.atlas.build import Limits, Plan, build, decide, decided, starts
from derive.atlas.canonical import canonical, product, written
from derive.atlas.grammar import Candidate
from derive.atlas.store import FAULT, SCHEMA, Entry, find, opened
from derive.errors import InputError

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
