"""Which tests run no line of the library that others do not: python -m tests.lines tests docs

They are written to ``repeated.txt``, and left to ``pytest -m slow``, but for those that are quick.
Of controls (what has to be refused, refuted or told apart), of tests that run other processes and
of tests of what proofs rest on, one row at least stays. What a test runs of its own room other
tests of this room have to run, and what it runs elsewhere any test. What tests derive together
counts as run, and as paid for, by each. Needs Python 3.12, which tells once a test that a line is
run. ``tests/ROOM`` looks at a room by itself.
"""

import ast
import functools
import gc
import importlib
import pkgutil
import re
import sys
import tempfile
import time
from array import array
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from tests import published

ROOT = Path(__file__).parent.parent
LISTED = Path(__file__).with_name("repeated.txt")
SECONDS = 0.1
CONTROL = re.compile(
    r"raises\(|refus|refut|Refuted|REFUTED|complaint|wrong|false|forg|broken|tamper|apart|isnan|hostile"
    r"|never|nothing|no_|not_|seen|subprocess|printed_by|Popen|shell\(|> 1e-|!= |assert not"
)
"""In the source of a test: what is refused, differs, or runs elsewhere."""
PROOFS = "exact weights potential certificate numerics/integrator properties witnesses test_"
"""Where tests of what proofs rest on are, and of what is true of all models."""
WHOLE = tuple(f"tests/{x}" for x in PROOFS.split())
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


@dataclass
class Run:
    """What runs: how long by itself, which lines, and what it uses that is derived once."""

    seconds: float = 0.0
    lines: set[int] | array = field(default_factory=set)
    used: set[tuple[object, ...]] = field(default_factory=set)


class Lines:
    """A plugin that notes what each test takes, and which lines it runs."""

    def __init__(self):
        self.tests, self.kept, self.numbers, self.run = {}, {}, {}, Run()
        folder = Path(tempfile.mkdtemp())
        published._folder = lambda: folder  # nothing is known from an earlier time
        for name in ("_derived", "_certified", "regimes_once"):
            setattr(published, name, self._shared(name, getattr(published, name)))

    def _shared(self, name, find):
        """Return a function of which is noted what it takes the first time."""

        @functools.wraps(find)
        def found(*given):
            key = name, *given
            if key not in self.kept:
                outer, begun = self.run, self._begin()
                find(*given)
                self.kept[key] = self._end(begun)
                outer.seconds -= time.process_time() - begun
                self.run = outer
            self.run.lines.update(self.kept[key].lines)
            self.run.used |= {key, *self.kept[key].used}
            return find(*given)

        return found

    def _begin(self):
        self.run = Run()
        sys.monitoring.restart_events()
        return time.process_time()

    def _end(self, begun):
        self.run.seconds += time.process_time() - begun
        self.run.lines = array("I", self.run.lines)
        sys.monitoring.restart_events()
        return self.run

    def _arm(self, code):
        if code.co_filename.startswith(LIBRARY):
            sys.monitoring.set_local_events(TOOL, code, sys.monitoring.events.LINE)
            for inner in code.co_consts:
                if isinstance(inner, CodeType):
                    self._arm(inner)

    def _ran(self, code, number):
        line = code.co_filename, number
        self.run.lines.add(self.numbers.setdefault(line, len(self.numbers)))
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
        sys.monitoring.register_callback(TOOL, sys.monitoring.events.LINE, self._ran)
        for function in gc.get_objects():
            if isinstance(function, FunctionType):
                self._arm(function.__code__)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        """Note the lines of a test with what it sets up."""
        begun = self._begin()
        result = yield
        self.tests[item.nodeid] = self._end(begun)
        return result


def home(name):
    """Return where the code is whose tests a test is among."""
    room, *below = Path(name.partition("::")[0]).parts[1:-1] or ("",)
    return f"{ROOT}/{f'numerics/{below[0]}' if room == 'numerics' and below else f'derive/{room}'}/"


def choose(tests, kept, lines):
    """Yield the tests that run nothing alone, those that take longest first.

    A line counts once for all tests, and once more for those of its own room.
    """
    rows = Counter(name.partition("[")[0] for name in tests)
    users = Counter(key for run in tests.values() for key in run.used)
    rooms = {room: {*_of(room, lines)} for room in map(home, tests)}
    count = Counter()

    def runs(name):
        own = rooms[home(name)]
        for n in tests[name].lines:
            yield n
            if n in own:
                yield -1 - n

    def seconds(name):
        shares = (kept[key].seconds / users[key] for key in tests[name].used)
        return sum(shares, tests[name].seconds)

    for name in tests:
        count.update(runs(name))
    for name in sorted((n for n in tests if ".py::" in n), key=seconds, reverse=True):
        test = name.partition("[")[0]
        if seconds(name) <= SECONDS or not tests[name].lines:
            continue
        last = rows[test] == 1 and (name.startswith(WHOLE) or CONTROL.search(source(name)))
        if not last and all(count[line] > 1 for line in runs(name)):
            yield name
            count.subtract(runs(name))
            users.subtract(tests[name].used)
            rows[test] -= 1


def _of(room, lines):
    """Return the lines of a room."""
    return (n for (path, _), n in lines.items() if path.startswith(room))


def main(rooms):
    """Look at the tests of some rooms, and list what repeats others."""
    lines = Lines()
    pytest.main(["-n", "0", "-o", "filterwarnings=default", *rooms], [lines])
    rest = {name for name in repeated() if not name.startswith(tuple(rooms))}
    rest |= {*choose(lines.tests, lines.kept, lines.numbers)}
    LISTED.write_text("\n".join(sorted(rest)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    importlib.import_module("tests.lines").main(sys.argv[1:])  # the one that conftest.py knows
