"""An output that is left out, as it is an affine function of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from derive.language.tree import Tree


@dataclass(frozen=True)
class AffineOutput:
    """F_i = c_0 + sum_k c_k F_k for all weights, over outputs k that are kept.

    Attributes:
        label: its number i among all outputs.
        tree: F_i as it was given.
        constant: c_0, a number or made of parameters, as the c_k are.
        terms: (k, c_k) for the c_k that are not 0.
    """

    label: int
    tree: Tree
    constant: Tree
    terms: tuple[tuple[int, Tree], ...]

    def mapped(self, image: Callable[[Tree], Tree]) -> AffineOutput:
        """Return the output with another tree for each, as with numbers for parameters."""
        terms = tuple((k, image(tree)) for k, tree in self.terms)
        return AffineOutput(self.label, image(self.tree), image(self.constant), terms)
