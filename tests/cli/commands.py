"""The program as a person runs it, and what every command promises."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from derive.cli import main as cli

ROOT = Path(__file__).parents[2]


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``derive``, with more options of ``subprocess.run``; return its status and streams."""
    return subprocess.run(
        [sys.executable, "-m", "derive", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **{"cwd": ROOT, **options},
    )


def refusal_of(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that refuses its input, and return the one line that says why."""
    with pytest.raises(SystemExit) as end:
        cli.main([*arguments])
    assert end.value.code == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    return line


def light_help(*command: str) -> str:
    """Return the help of a command, which imports neither NumPy nor SymPy."""
    program = (
        "import sys; from derive.cli.main import app;"
        f"app([*{command!r}, '--help'], standalone_mode=False);"
        "print([m for m in ('numpy', 'sympy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("[]\n")
    return done.stdout
