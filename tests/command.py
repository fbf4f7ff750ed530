"""The program as a person runs it: one command in a process of its own."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(*arguments):
    """Run ``derive`` with these arguments; return its exit status and both streams."""
    return subprocess.run(
        [sys.executable, "-m", "derive", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=120,
    )
