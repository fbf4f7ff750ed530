"""What experiments are asked: numbers with bounds, of which the command line makes options.

Nothing is computed here, and nothing that computes is imported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from derive.errors import InputError
from derive.option import option, require_bounds

MOST_PRODUCTS = 1000
"""In an entry of beta of a convolutional net."""
_DIMENSION, _SAMPLES = "The dimension d of the predictor.", "The number m of measurements."
_KINDS = {
    "model": ("U*T(U)", "U*T(V)"),
    "truth": ("psd", "general"),
    "measurements": ("gaussian", "completion", "multitask"),
}


def random_seed() -> Any:
    """Return the field of the seed."""
    return option(0, "Seed of the random numbers.", "N", at_least=0)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is drawn and run; InputError for a number out of its bounds."""

    def __post_init__(self) -> None:
        for one in fields(self):
            require_bounds(one.name, getattr(self, one.name), one.metadata.get("bounds", {}))
        self.refuse()

    def refuse(self) -> None:
        """Raise InputError where numbers do not go together."""


ALPHAS = tuple(10 ** (-5 + 4.4 * k / 19) for k in range(20))
TRAINED = tuple(zip((ALPHAS[i] for i in (0, 6, 9, 13, 19)), (0.0, 0.9, 0.0, 0.7, 0.5), strict=True))


@dataclass(frozen=True, slots=True)
class SparseSetting(Setting):
    """Sparse regression by u v - x z; beta* has some entries 1/sqrt(sparsity), others 0.

    Attributes:
        samples: of the grid, alphas times shapes.
        variance: that of the noise.
        trained: the pairs (alpha, shape) at which weights are trained as well.
        target: a population error, below which the largest alpha is sought.
    """

    dimension: int = option(1000, _DIMENSION, "D", at_least=1, at_most=10**5)
    samples: int = option(100, _SAMPLES, "M", at_least=1, at_most=10**4)
    sparsity: int = option(5, "Entries of beta* that are not 0.", "K", at_least=1)
    variance: float = option(0.01, at_least=0)
    seed: int = random_seed()
    alphas: tuple[float, ...] = option(ALPHAS, above=0)
    shapes: tuple[float, ...] = option((0.0, 0.5, 0.7, 0.9, 0.99), above=-1, below=1)
    trained: tuple[tuple[float, float], ...] = TRAINED
    sizes: tuple[int, ...] = option(
        (80, 100, 150, 200), "The m for which the largest good alpha is found.", "M", at_least=1
    )
    target: float = option(0.025, above=0)

    def refuse(self) -> None:
        """Raise InputError for more samples, or entries, than dimensions."""
        if max(self.samples, self.sparsity, *self.sizes) > self.dimension:
            text = f"samples and sparsity must be at most the dimension, {self.dimension}"
            raise InputError(text)


@dataclass(frozen=True, slots=True)
class MatrixSetting(Setting):
    """Matrix sensing by U U^T or U V^T; ``|beta*|_F = 1``.

    Attributes:
        samples: of the grid, scales times steps.
        sizes: at which the second step is taken, if there are more.
        tolerance: of ``|<A_i, beta> - y_i|/|y|``; the truth has about the noise.
    """

    size: int = option(50, "beta* is N x N.", "N", at_least=1, at_most=300)
    samples: int = option(300, _SAMPLES, "M", at_least=1, at_most=10**4)
    rank: int = option(2, "The rank of beta*.", "R", at_least=1)
    noise: float = option(1e-3, "Standard deviation of the noise.", "X", at_least=0, below=math.inf)
    seed: int = random_seed()
    scales: tuple[float, ...] = option(
        (1e-4, 1e-3, 1e-2, 1e-1, 1.0),
        "Starts: U is each scale times the identity.",
        "X",
        above=0,
        below=math.inf,
    )
    steps: tuple[float, ...] = option(
        (0.3, 0.1, 0.03), "Step sizes, constant in each descent.", "X", above=0, below=math.inf
    )
    sizes: tuple[int, ...] = option(
        (100, 150, 200, 300),
        "The m at which the first scale is compared with the least nuclear norm.",
        "M",
        at_least=1,
    )
    tolerance: float = option(
        5e-4, "Relative residual at which descent ends.", "X", above=0, below=1
    )
    max_iterations: int = option(1_000_000, at_least=1)
    model: str = option("U*T(U)", "What is trained: U*T(U) or U*T(V), from U = V.", "F")
    truth: str = option("psd", "beta*: psd, or general for U*T(V).", "KIND")
    measurements: str = option("gaussian", "gaussian, completion or multitask.", "KIND")

    @property
    def is_symmetric(self) -> bool:
        """Whether F is, so that the measurements count by their symmetric parts."""
        return self.model == "U*T(U)"

    def refuse(self) -> None:
        """Raise InputError for unknown names, no grid, and more of what n x n matrices have."""
        for name, accepted in _KINDS.items():
            if getattr(self, name) not in accepted:
                raise InputError(f"the {name} must be one of {', '.join(accepted)}")
        if self.is_symmetric and self.truth != "psd":
            raise InputError("U*T(U) is positive semidefinite: give the model U*T(V)")
        if self.rank > self.size:
            raise InputError(f"the rank must be at most the size, {self.size}")
        n = self.size
        entries, said = (n * (n + 1) // 2, "n (n + 1)/2") if self.is_symmetric else (n * n, "n^2")
        if max((self.samples, *self.sizes)) > entries:
            raise InputError(f"samples and sizes must be at most {said} = {entries}")
        if not self.scales or not self.steps:
            raise InputError("give at least one scale and one step")


@dataclass(frozen=True, slots=True)
class UnivariateSetting(Setting):
    """Univariate nets: the data, widths, and how many nets are drawn for each."""

    x: tuple[str, ...] = ("-4/5", "-1/3", "1/4", "3/4")
    y: tuple[str, ...] = ("1/2", "-1/4", "1/4", "0")
    widths: tuple[int, ...] = option(
        (100, 400, 1600, 6400), "Even widths of the nets.", "N", at_least=10, at_most=10**6
    )
    nets: int = option(12, "Nets drawn for each width.", "N", at_least=1, at_most=1000)
    seed: int = random_seed()

    def refuse(self) -> None:
        """Raise InputError for odd widths, or none."""
        if not self.widths or any(n % 2 for n in self.widths):
            raise InputError("give one width or more, all of them even")


@dataclass(frozen=True, slots=True)
class OptimizerSetting(Setting):
    """Optimizers on one X: d, m; absolute steps of AdaGrad, whose limit depends on them."""

    samples: int = option(5, _SAMPLES, "M", at_least=1, at_most=10**4)
    dimension: int = option(10, _DIMENSION, "D", at_least=2, at_most=10**5)
    steps: int = option(10_000, "Steps of each run.", "N", "--rounds", at_least=1)
    adagrad: tuple[float, ...] = option(
        (3.0, 1.0, 0.3, 0.1), "Steps of AdaGrad on regression.", "X", above=0
    )
    seed: int = random_seed()

    def refuse(self) -> None:
        """Raise InputError unless many w fit."""
        if self.samples >= self.dimension:
            raise InputError("samples must be fewer than the dimension")


@dataclass(frozen=True, slots=True)
class ReachSetting(Setting):
    """Random symmetric matrices: their sizes n, and how many of each."""

    sizes: tuple[int, ...] = option(
        (2, 3, 4, 5), "The sizes n of the matrices.", "N", "--dimensions", at_least=1, at_most=12
    )
    matrices: int = option(2, "How many are drawn.", "K", at_least=1)
    seed: int = random_seed()


@dataclass(frozen=True, slots=True)
class ConvolutionSetting(Setting):
    """Convolutional nets: d, m, depths L, starts of Gaussian weights, steps over |grad|."""

    size: int = option(4, _DIMENSION, "D", "--dimension", at_least=2, at_most=10**5)
    samples: int = option(2, _SAMPLES, "M", at_least=1, at_most=10**4)
    layers: tuple[int, ...] = option((2, 3), "Depths L.", "L", at_least=2)
    starts: int = option(8, "Starts for each depth.", "N", at_least=1, at_most=1000)
    scale: float = option(1.0, "Standard deviation of the starts.", "X", "--deviation", above=0)
    steps: int = option(3000, at_least=1)
    seed: int = random_seed()

    def refuse(self) -> None:
        """Raise InputError for depths with too many products."""
        if bad := [L for L in self.layers if self.size ** (L - 1) > MOST_PRODUCTS]:
            text = f"{bad[0]} layers: size^(layers - 1) must be at most {MOST_PRODUCTS}"
            raise InputError(text)
