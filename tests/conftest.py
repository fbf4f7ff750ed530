"""Makes the modules of this directory importable from the tests below it; what they share."""

import functools
import gc

import pytest

from derive.catalogue import find
from tests.numerics.evaluate.sweep_table import pytest_terminal_summary, pytest_xdist_make_scheduler  # noqa: F401 - hooks
from tests.published import derive_once


def pytest_collection_finish():
    """Keep the garbage collector from looking at modules and tests again and again."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


@pytest.fixture(scope="session")
def derived():
    """Derive models of the catalogue by name, each once."""
    return functools.cache(lambda name: derive_once(find(name).model.read().parameterization()))
