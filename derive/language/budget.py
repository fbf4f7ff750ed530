"""Bounds on what a text may ask for, so that no input can exhaust memory or time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds that are checked before, or while, a tree is built; all are inclusive.

    Attributes:
        text: characters of one text: far above any formula written by hand.
        nesting: brackets, signs and powers inside each other: the parser goes down for each.
        depth: levels of the tree: a recursive walk stays far from Python's recursion limit.
        digits: of one number, its decimal exponent counted out: ``1e59`` has 60.
        name: characters of one name: names are repeated in every formula and message.
        exponent: absolute, and index of a root or of roots inside roots: more is no closed form.
        degree: total, of numerator and of denominator, were the expression expanded.
        bits: size of the coefficients, were the expression expanded: stops ``9**9**9``.
        nodes: of all trees that are read together: bounds every later pass over them.
        names: different ones: matrices of that many rows are still exactly solvable.
        terms: estimated, of numerator and of denominator, were the expression expanded.
        outputs: of one parameterization: no more than there can be names.
    """

    text: int = 4000
    nesting: int = 50
    depth: int = 200
    digits: int = 60
    name: int = 40
    exponent: int = 64
    degree: int = 64
    bits: int = 4096
    nodes: int = 5000
    names: int = 64
    terms: int = 50_000
    outputs: int = 64


DEFAULT = Budget()
"""The bounds that hold unless a caller gives others."""

OWN = Budget(nodes=200_000, names=1000, digits=1000, name=60, degree=256, terms=10**7)
"""The bounds for what we wrote ourselves: of many terms, names and degrees, but no deeper."""
