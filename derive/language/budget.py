"""Bounds on what a text may ask for, so that no input can exhaust memory or time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds that are checked before, or while, a tree is built; all are inclusive."""

    text: int = 4000
    """Characters of one text: far above any formula written by hand."""

    brackets: int = 50
    """Brackets inside brackets: well within what Python's own parser accepts."""

    run: int = 10
    """Signs in a row, or powers in ``x**2**1**1``: each one is a level of nesting."""

    depth: int = 200
    """Levels of the tree: a recursive walk stays far from Python's recursion limit."""

    digits: int = 60
    """Digits of one number, its decimal exponent counted out: ``1e59`` has 60."""

    name: int = 40
    """Characters of one name: names are repeated in every formula and message."""

    exponent: int = 64
    """Absolute exponent, and index of a root or of roots inside roots: more is no closed form."""

    degree: int = 64
    """Total degree of numerator and of denominator, were the expression expanded."""

    bits: int = 4096
    """Size in bits of the coefficients, were the expression expanded: stops ``9**9**9``."""

    nodes: int = 5000
    """Nodes of all trees that are read together: bounds every later pass over them."""

    names: int = 64
    """Different names: matrices of that many rows are still exactly solvable."""

    terms: int = 50_000
    """Estimated terms of numerator and of denominator, were the expression expanded."""

    outputs: int = 64
    """Outputs of one parameterization: no more than there can be names."""


DEFAULT = Budget()
"""The bounds that hold unless a caller gives others."""
