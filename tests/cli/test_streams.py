"""Streams and files that are not as one expects: one line, a status that says what it was."""

import os
import subprocess
import sys

import pytest

from derive.cli import main as cli
from derive.cli import running
from derive.cli.output import ReaderLeft
from derive.errors import ConsistencyError
from tests.cli.commands import ROOT, run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="streams are those of POSIX")
DERIVE = f"{sys.executable} -m derive"


def shell(script, **environment):
    """Run a script of the shell in which DERIVE is the program."""
    return subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=60,
        env={**os.environ, "DERIVE": DERIVE, **environment},
    )


@pytest.mark.every(4)
@pytest.mark.parametrize("command", ["regularizer w", "--help", "catalogue"])
def test_a_reader_that_leaves_ends_it_as_a_signal_does(command):
    done = shell(f"($DERIVE {command}; echo $? >&2) | true")
    assert done.stderr.split() == ["141"]


@pytest.mark.parametrize(
    ("fault", "code", "lines"),
    [(ReaderLeft(), 141, 0), (KeyError("x"), 70, 1), (ConsistencyError("two roads"), 70, 1)],
)
def test_it_does_so_in_python_and_a_fault_of_the_program_is_70(
    monkeypatch, capsys, fault, code, lines
):
    def fail(*arguments, **options):
        raise fault

    monkeypatch.setattr(cli.app, "invoke", fail)
    with pytest.raises(SystemExit) as end:
        cli.main([])
    assert (end.value.code, running.FAULT) == (code, 70)
    assert capsys.readouterr().err.count("\n") == lines


def test_a_package_that_does_not_work_is_70(tmp_path):
    (tmp_path / "click.py").write_text("raise TypeError('too old')", encoding="utf-8")
    done = shell("$DERIVE regularizer w", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.splitlines() == [
        "derive: a package that is needed does not work (TypeError: too old)"
    ]


@pytest.mark.every(8)
@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("$DERIVE check - <&-", "the standard input is closed"),
        ("$DERIVE check - < /dev/null", "no JSON"),
        ("printf '\\377' | $DERIVE check -", "is no text"),
        ("$DERIVE regularizer w >&-", "the standard output is closed"),
        ("ln -s loop loop && $DERIVE check loop", "symbolic links"),
        ("ln -s loop loop && $DERIVE regularizer w -o loop", "circle"),
        ("ln -s loop loop && $DERIVE regularizer w --numpy -o loop/q.py", "circle"),
        ("$DERIVE regularizer w -o $(printf 'x%.0s' {1..300})", "too long"),
        ("$DERIVE regularizer w\u00e9", "U+00E9"),
        ("$DERIVE check \u00e9", "No such file"),
    ],
)
def test_refusals_are_one_line(tmp_path, script, words):
    done = shell(
        f"cd {tmp_path}; {script}", PYTHONPATH=str(ROOT), PYTHONIOENCODING="ascii", PYTHONUTF8="1"
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_every_locale_will_do(encoding):
    plain = run("catalogue", "--bibtex").stdout
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding}
    done = shell("$DERIVE catalogue --bibtex", **environment)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", plain)


def test_pipes_that_nobody_is_at_keep_nobody_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    pipe = str(tmp_path / "pipe")
    read = run("check", pipe, "--timeout", "1")
    assert read.returncode == 3
    assert read.stderr.startswith("derive: out of time after 1 s in stage: reading")
    written = run("regularizer", "w", "-o", pipe)
    assert written.returncode == 2
    assert written.stdout.startswith("Yes")
    assert written.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("$DERIVE regularizer w 2>&-", "Yes"),  # without a standard error
        ("$DERIVE regularizer w --json | $DERIVE check -", "Accepted: PROVED"),
    ],
)
def test_the_answer_is_the_same_through_pipes(script, says):
    done = shell(script)
    assert (done.returncode, done.stdout.startswith(says)) == (0, True)
