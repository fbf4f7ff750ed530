"""Without timings, each of the benchmarks of ``test_speed.py`` runs for its first case alone.

Their answers are tested elsewhere: of the catalogue in ``tests/catalogue``, of published models in
``tests/certificate``, of vectors in ``tests/test_vectors.py``.
"""

from pathlib import Path

TIMED = Path(__file__).with_name("test_speed.py")


def pytest_collection_modifyitems(config, items):
    """Leave the other cases out, unless they are timed."""
    if config.option.benchmark_enable:
        return
    seen, kept, left = set(), [], []
    for item in items:
        name = item.nodeid.partition("[")[0]
        (left if item.path == TIMED and name in seen else kept).append(item)
        seen.add(name)
    config.hook.pytest_deselected(items=left)
    items[:] = kept
