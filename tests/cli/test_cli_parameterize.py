"""``derive parameterize`` as a person meets it."""

import json
from functools import partial

from tests.cli.commands import run as run_command

run = partial(run_command, "parameterize")


def test_files_and_forms(tmp_path):
    target = tmp_path / "q.json"
    assert run("-log(beta)", "--json", "-o", str(target)).returncode == 0
    assert json.loads(target.read_text(encoding="utf-8"))["verdict"] == "PROVED"
    assert run("-log(beta)", "--latex", "--standalone").stdout.startswith("\\documentclass")
