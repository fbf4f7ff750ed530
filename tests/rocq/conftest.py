"""The library, compiled once for the tests that compile files."""

import pytest

from tests.rocq.files import with_library


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return with_library(tmp_path_factory.mktemp("rocq"))
