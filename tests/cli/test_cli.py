"""The command line as a person meets it: answers, refusals, limits, interruption."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests.cli.commands import ROOT, one_line, printed_by, run, run_apart

WEIGHTS = [f"w{i}" for i in range(1, 13)]
HARD = [f"({' + '.join(WEIGHTS[i : i + 9])})**7 + {WEIGHTS[i]}**3" for i in range(4)]


def test_timeout_names_the_stage():
    begun = time.monotonic()
    done = run_apart("regularizer", *HARD, "--timeout", "1")
    assert time.monotonic() - begun < 10
    assert done.returncode == 3
    assert "out of time after 1 s in stage: " in one_line(done)


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_interrupt_stops_at_once():
    program = "from derive.__main__ import main; print(flush=True); main()"
    child = subprocess.Popen(
        [sys.executable, "-c", program, "regularizer", *HARD],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        # A shell's background jobs ignore it.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    assert child.stdout.readline() == "\n"  # from here on it answers for interrupts
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)  # less than a limit of time would take
    assert child.returncode == 130
    assert out == ""
    assert err.startswith("derive: interrupted")
    assert len(err.strip().splitlines()) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks there")
def test_an_interrupt_is_not_lost_while_a_process_forks():
    program = (
        "import os, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from derive.cli.main import main\n"
        "interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)\n"
        "os.register_at_fork(after_in_parent=interrupt)\n"
        f"main(['regularizer', *{HARD}])\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=30)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.startswith("derive: interrupted in stage: ")


CONVOLUTION = ["u1*v1+u2*v2", "u1*v2+u2*v1"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "outputs", [["a*b*u1", "a*b*u2"], pytest.param(CONVOLUTION, marks=pytest.mark.slow)]
)
def test_output_does_not_depend_on_the_hash_seed(outputs):
    program = (
        "from derive import Parameterization as P, derive\n"
        f"d = derive(P.parse({outputs}))\n"
        "print(d.to_text(), d.to_latex(), d.to_json())\n"
    )
    texts = [
        printed_by(program, env={**os.environ, "PYTHONHASHSEED": seed}) for seed in ("0", "4242")
    ]
    assert texts[0] == texts[1] != ""


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_its_limit(end):
    with subprocess.Popen(
        [sys.executable, "-m", "derive", "regularizer", *HARD, "--timeout", "1.5"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    ) as parent:
        time.sleep(0.8)
        parent.send_signal(end)
        begun = time.monotonic()
        # The pipe closes when the last process that holds it has ended.
        parent.communicate(timeout=10)
    assert time.monotonic() - begun < 8


@pytest.mark.skipif(os.name == "nt", reason="pipes in the file system are POSIX")
def test_output_goes_through_pipes_and_links(tmp_path):
    target, link, pipe = tmp_path / "target.txt", tmp_path / "link.txt", tmp_path / "pipe"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    assert run("regularizer", "w", "-o", str(link)).returncode == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("Yes")
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        assert run("regularizer", "w", "-o", str(pipe)).returncode == 0
        assert reader.communicate(timeout=10)[0].startswith("Yes")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_lost_output_is_said():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run_apart("regularizer", "w", stdout=full)
    assert done.returncode == 2
    assert "cannot be written" in one_line(done)
