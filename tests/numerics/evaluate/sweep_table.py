"""The table of `pytest -m sweep`, and how xdist deals its tests out."""

import pytest

_HEADER = ("model", "function", "points", "worst error", "not normal", "given up", "missing")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Deal the models out one by one, where by default a file goes to one process."""
    if config.option.markexpr != "sweep":
        return None
    from xdist.scheduler import LoadScheduling

    return LoadScheduling(config, log)


def pytest_terminal_summary(terminalreporter):
    """Print what was compared, for each model and function."""
    from tests.numerics.evaluate.sweep import Row

    rows = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, found in getattr(report, "user_properties", ()):
                if name == "sweep" and report.when == "call":
                    for key, values in found.items():
                        rows.setdefault(key, Row()).add(Row(**values))
    if rows:
        terminalreporter.section("sweep")
        table = [_HEADER, *(_cells(key, row) for key, row in sorted(rows.items()))]
        widths = [max(len(line[i]) for line in table) for i in range(len(_HEADER))]
        for line in table:
            cells = (x.ljust(w) for x, w in zip(line, widths, strict=True))
            terminalreporter.write_line("  ".join(cells).rstrip())


def _cells(key, row):
    model, function = key.rsplit(" ", 1)
    counts = (row.beyond, row.undecided, row.missing)
    return (model, function, f"{row.compared}", f"{row.worst:.1e}", *map(str, counts))
