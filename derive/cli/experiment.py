"""The group of commands ``derive experiment``: published experiments, predicted and trained."""

from __future__ import annotations

from derive.cli.matrix_factorization import matrix_factorization
from derive.cli.sparse_regression import sparse_regression

EXPERIMENTS = (
    ("sparse-regression", sparse_regression, "Sparse beta*, by a diagonal network."),
    ("matrix-factorization", matrix_factorization, "Low-rank beta*, by descent on U U^T."),
)
"""Name, function and summary of each experiment."""


def experiment() -> None:
    """Repeat a published experiment: what a start leads to, predicted and trained."""
