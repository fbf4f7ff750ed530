"""Makes the modules of this directory importable from the tests below it; what they share."""

import functools
import gc
import os
from collections import Counter

import flint
import hypothesis
import mpmath
import pytest
from hypothesis import is_hypothesis_test

# Before NumPy is loaded: tests run side by side, each on a core of its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Before SymPy is: what it found is kept over more than one test.
os.environ.setdefault("SYMPY_CACHE_SIZE", "20000")

from derive.catalogue import find
from tests.lines import Lines, repeated
from tests.published import derive_once

# A busy machine makes an example late, and not wrong.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")
FEWEST = 6
"""Examples that are drawn at least."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave to ``-m slow`` all but each n-th case of a test that is marked every(n).

    And what runs no line that others do not, unless that is what is looked for. Where slow tests
    are left out, a quarter is drawn of the examples that hypothesis is asked for.
    """
    cases = Counter()
    known = any(isinstance(plugin, Lines) for plugin in config.pluginmanager.get_plugins())
    listed = set() if known else repeated()
    for item in items:
        every, name = item.get_closest_marker("every"), item.nodeid.partition("[")[0]
        if (every and cases[name] % every.args[0]) or item.nodeid in listed:
            item.add_marker(pytest.mark.slow)
        cases[name] += 1
    # Files of few tests have long ones: so workers end together.
    sizes = Counter(item.path for item in items if not item.get_closest_marker("slow"))
    items.sort(key=lambda item: sizes[item.path])
    if "not slow" in config.option.markexpr:
        for test in filter(is_hypothesis_test, {getattr(item, "obj", None) for item in items}):
            asked = test._hypothesis_internal_use_settings
            drawn = min(asked.max_examples, max(FEWEST, asked.max_examples // 4))
            test._hypothesis_internal_use_settings = hypothesis.settings(asked, max_examples=drawn)


def pytest_collection_finish():
    """Keep the garbage collector from looking at modules and tests again and again."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


@pytest.fixture(scope="session")
def derived():
    """Derive models of the catalogue by name, each once."""
    return functools.cache(lambda name: derive_once(find(name).read().parameterization()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fail where a test leaves mpmath or flint at another precision, which slows those after it."""
    before = mpmath.mp.prec, flint.ctx.prec
    found = yield
    after = mpmath.mp.prec, flint.ctx.prec
    mpmath.mp.prec, flint.ctx.prec = before
    assert after == before, "the test leaves numbers at another precision"
    return found
