"""The program as a person runs it, and what every command promises."""

import pickle
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from derive.cli import main as cli
from derive.cli import running

ROOT = Path(__file__).parents[2]
Done = subprocess.CompletedProcess[str]


def within(function, timeout, narrator):
    """Do what a child would, without one: in another process all that is known here is lost.

    What it hands over, an error too, goes through a pipe there, so it has to survive one.
    """
    try:
        return pickle.loads(pickle.dumps(function(running.Enter(lambda _: None, timeout))))
    except Exception as error:
        raise pickle.loads(pickle.dumps(error)) from None


def remembered(model, progress=None, known=None, **options):
    """Derive what was not derived before: what a command does with it is put to the test."""
    from tests.published import derive, derive_once

    given = {name: value for name, value in options.items() if value is not None}
    return derive(model, progress, known=known, **given) if given else derive_once(model)


def run(*arguments, text="", apart=False):
    """Run ``derive`` here.

    Args:
        text: what is read from the standard input.
        apart: compute in a child, as is done where a limit of time is given.
    """
    out, err = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as given,
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.MonkeyPatch.context() as patch,
    ):
        given.write(text)
        given.seek(0)
        patch.setattr(sys, "stdin", given)
        if not apart and "--timeout" not in arguments:
            patch.setattr(running, "_run", within)
            patch.setattr("derive.derivation.derive", remembered)
        with pytest.raises(SystemExit) as end:
            cli.main([*arguments])
    code = end.value.code or 0
    assert isinstance(code, int)
    said, told = (stream.buffer.getvalue().decode("utf-8") for stream in (out, err))
    return Done(arguments, code, said, told)


def run_apart(*arguments, **options):
    """Run ``derive`` in a process of its own, with more options of ``subprocess.run``."""
    options = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    command = [sys.executable, "-m", "derive", *arguments]
    return subprocess.run(command, text=True, check=False, timeout=120, **options)


def printed_by(program, **options):
    """Return what a program in Python prints that runs in a process of its own."""
    options = {"cwd": ROOT, **options}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def refusal_of(*arguments):
    """Run a command that refuses its input, and return the one line that says why."""
    done = run(*arguments)
    assert done.returncode == 2, done
    return one_line(done)


def one_line(done):
    """Return the only line on the standard error, where nothing else is printed."""
    assert not done.stdout
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("derive: ")
    assert line.isprintable()
    return line


def assert_answers(done, code, words):
    """Assert that a command ends with a status, and that its page is narrow and has the words."""
    assert done.returncode == code, done.stderr
    assert [word for word in words if word not in done.stdout] == []
    assert max(map(len, done.stdout.splitlines())) <= 80
