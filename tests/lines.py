"""Which tests run no line of the library that others do not: python -m tests.lines tests/ROOM ...

They are written to ``repeated.txt``, and left to ``pytest -m slow``, but for those that are quick,
that run other processes, and for controls: what has to be refused, refuted or told apart stays,
whatever lines it runs. Each room is looked at by itself, so that its tests stand alone. Needs
Python 3.12, which tells once a test that a line is run.
"""

import ast
import gc
import importlib
import pkgutil
import re
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType

import pytest

ROOT = Path(__file__).parent.parent
LISTED = Path(__file__).with_name("repeated.txt")
SECONDS = 0.2
CONTROL = re.compile(
    r"raises\(|refus|refut|Refuted|REFUTED|complaint|wrong|false|forg|broken|tamper|apart|isnan|hostile"
    r"|never|nothing|no_|not_|seen|subprocess|printed_by|Popen|shell\(|> 1e-|!= |assert not"
)
"""In the source of a test: what is refused, differs, or runs elsewhere."""
LIBRARY = tuple(f"{ROOT / name}/" for name in ("derive", "numerics"))
TOOL = 3


def source(name):
    """Return the source of a test, by its name."""
    path, _, test = name.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    wanted = test.partition("[")[0]
    return next(
        ast.get_source_segment(text, node)
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == wanted
    )


def repeated():
    """Return the tests that are listed."""
    return {*LISTED.read_text(encoding="utf-8").splitlines()}


class Lines:
    """A plugin that notes what each test takes, and which lines it runs."""

    def __init__(self):
        self.tests, self.ran = {}, set()

    def _arm(self, code):
        if code.co_filename.startswith(LIBRARY):
            sys.monitoring.set_local_events(TOOL, code, sys.monitoring.events.LINE)
            for inner in code.co_consts:
                if isinstance(inner, CodeType):
                    self._arm(inner)

    def _run(self, code, number):
        self.ran.add((code.co_filename, number))
        return sys.monitoring.DISABLE

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self):
        """Ask for the lines of all functions."""
        for name in ("derive", "numerics"):
            for module in pkgutil.walk_packages([str(ROOT / name)], f"{name}."):
                with suppress(ImportError):  # of what is not installed
                    importlib.import_module(module.name)
        gc.unfreeze()
        sys.monitoring.use_tool_id(TOOL, "lines")
        sys.monitoring.register_callback(TOOL, sys.monitoring.events.LINE, self._run)
        for function in gc.get_objects():
            if isinstance(function, FunctionType):
                self._arm(function.__code__)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        """Note the lines of a test with what it sets up."""
        self.ran = set()
        sys.monitoring.restart_events()
        begun = time.process_time()
        result = yield
        self.tests[item.nodeid] = time.process_time() - begun, self.ran
        return result


FORMS = "tests/potential/"
"""Whose tests hold the forms of Q, which may change where no line does: they stay."""


def choose(tests):
    """Yield the tests that run nothing alone, those that take longest first."""
    tests = {name: test for name, test in tests.items() if not name.startswith(FORMS)}
    runs = Counter(line for _, lines in tests.values() for line in lines)
    for name, (seconds, lines) in sorted(tests.items(), key=lambda test: -test[1][0]):
        alone = seconds <= SECONDS or any(runs[line] == 1 for line in lines)
        if not alone and lines and not CONTROL.search(source(name)):
            runs.subtract(lines)
            yield name


def main(rooms):
    """Look at the tests of some rooms, and list what repeats others."""
    lines = Lines()
    pytest.main(["-n", "0", "-o", "filterwarnings=default", *rooms], [lines])
    rest = {name for name in repeated() if not name.startswith(tuple(rooms))}
    for room in rooms:
        own = {name: test for name, test in lines.tests.items() if name.startswith(room)}
        rest |= {*choose(own)}
    LISTED.write_text("\n".join(sorted(rest)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    importlib.import_module("tests.lines").main(sys.argv[1:])  # the one that conftest.py knows
