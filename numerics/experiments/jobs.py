"""Tasks one after the other, or in processes by joblib."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from derive.errors import InputError

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def each(
    function: Callable[[_Task], _Result],
    tasks: Sequence[_Task],
    jobs: int,
    done: Callable[[int], None] = lambda count: None,
) -> list[_Result]:
    """Map a function over tasks, in processes where more than one job is asked for.

    *done* is called with the number of results that are there, after each.

    Raises:
        InputError: several jobs are asked for, and joblib is not installed.
    """
    results: list[_Result] = []
    for result in map(function, tasks) if jobs == 1 else _parallel(function, tasks, jobs):
        results.append(result)
        done(len(results))
    return results


def _parallel(
    function: Callable[[_Task], _Result], tasks: Sequence[_Task], jobs: int
) -> Iterable[_Result]:
    try:
        import joblib
    except ImportError:
        raise InputError(
            "several jobs need joblib: pip install 'regderive[parallel]', or leave one job"
        ) from None
    backend, _ = joblib.parallel.get_active_backend()
    # Backends that others register, such as that of ray, may give a list only.
    form = "generator" if getattr(backend, "supports_return_generator", False) else "list"
    parallel = joblib.Parallel(n_jobs=jobs, return_as=form)
    results: Iterable[_Result] = parallel(joblib.delayed(function)(task) for task in tasks)
    return results
