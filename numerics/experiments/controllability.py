"""What U' = (sum_i s_i(t) A_i) U can reach, U of full rank: Lie algebras of random symmetric A_i.

Where the A_i and their brackets span all n x n matrices, steering s leads from any U to any other
of the same orientation, so U U^T to any positive definite matrix; its rank stays.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import partial

import numpy as np

from derive.weights.orbit import lie_algebra, matrix
from numerics.experiments.settings import ReachSetting, Results, Stages, table


@dataclass(frozen=True, slots=True)
class Reach:
    """One draw: n, the number of matrices, the dimension of their Lie algebra, and n^2."""

    size: int
    matrices: int
    dimension: int
    full: int


@dataclass(frozen=True, slots=True)
class ReachResults(Results):
    """All draws."""

    listed = "draws"

    seed: int
    draws: tuple[Reach, ...]

    def to_text(self) -> str:
        """Return the table."""
        head = f"Lie algebras of random symmetric matrices of whole numbers, seed {self.seed}\n"
        columns = {"n": "4", "matrices": "10", "dimension": "11", "n^2": "6"}
        return "\n".join([head, *table(columns, map(astuple, self.draws))])


def controllability(setting: ReachSetting, stages: Stages) -> ReachResults:
    """Draw symmetric matrices of each size and find the dimensions of their Lie algebras."""
    draws = stages.each("sizes", partial(_draw, setting), setting.sizes)
    return ReachResults(setting.seed, draws)


def _draw(setting: ReachSetting, n: int) -> Reach:
    rng = np.random.default_rng([setting.seed, n])
    drawn = (rng.integers(-9, 10, (n, n)) for _ in range(setting.matrices))
    found = lie_algebra(matrix((A + A.T).tolist()) for A in drawn)
    return Reach(n, setting.matrices, len(found), n * n)
