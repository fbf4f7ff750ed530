"""Makes the modules of this directory importable from the tests below it; what they share."""

import pytest

from derive.catalogue import find
from derive.catalogue.library import derive_entry
from tests.numerics.evaluate.sweep_table import pytest_terminal_summary, pytest_xdist_make_scheduler  # noqa: F401 - hooks


@pytest.fixture(scope="session")
def derived():
    """Derive models of the catalogue by name, each once."""
    known = {}

    def derivation(name):
        if name not in known:
            known[name] = derive_entry(find(name))
        return known[name]

    return derivation
