"""The path from saddle to saddle on data, as the start of gradient flow tends to 0."""

from __future__ import annotations

from typing import Any

from derive.derivation import Derivation
from derive.errors import InputError
from derive.optimizers.saddle_path import SaddlePath, follow_saddles
from numerics.evaluate.numbers import read_data


def saddle_path(derivation: Derivation, X: Any, y: Any, variable: str | None = None) -> SaddlePath:
    """Return the path of beta as a symbol of the start tends to 0, in fractions.

    >>> from derive import Parameterization, derive
    >>> p = Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])
    >>> s = saddle_path(derive(p), [[1, 2], [1, -1]], [1, 3])
    >>> [str(t) for t in s.times], [str(x) for x in s.limit], s.ground
    (['1/8', '1/4'], ['7/3', '-2/3'], 'proved (cited)')

    Args:
        derivation: of a Q that is a sum over coordinates; one output stands for copies from equal
            starts.
        X, y: m rows of d numbers, each at its exact value, and m numbers.
        variable: the symbol that tends to 0, where the start has several.

    Raises:
        InputError: no matrix and vector that fit; Q/N has no limit that is linear on both sides of
            0; coordinates arrive at one time, or their columns are dependent.

    Source: Pesme, Flammarion 2023.
    """
    if not isinstance(derivation, Derivation):
        raise InputError("give a derivation: Q at numbers has no start symbol that tends to 0")
    return follow_saddles(derivation, *read_data(X, y), variable)
