"""What a parameterization is made of, and what is left of that when some of it is replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from derive.language.tree import Tree, names
from derive.model.geometry import Geometry
from derive.model.vectors import Vector


class Ingredients(TypedDict, total=False):
    """All or some of them, as the constructor of a parameterization names them."""

    outputs: Sequence[Tree]
    weights: Sequence[str]
    start: Mapping[str, Tree]
    positive: Iterable[str]
    labels: Sequence[int]
    parameters: Iterable[str]
    geometry: Geometry
    vectors: Sequence[Vector]


def replaced(known: Ingredients, changes: Ingredients) -> Ingredients:
    """Return the ingredients with some replaced, and without what the new ones have no use for.

    Starts of weights that are gone, and names that occur no more, go as well unless they are
    themselves among the changes.
    """
    outputs = tuple(changes.get("outputs", known["outputs"]))
    weights = tuple(changes.get("weights", known["weights"]))
    inherited = {name: tree for name, tree in known["start"].items() if name in weights}
    start = changes.get("start", inherited)
    used = names(outputs)
    constants = (name for name in known["parameters"] if name in used)
    parameters = tuple(changes.get("parameters", constants))
    occurring = {*weights, *parameters, *names(tuple(start.values()))}
    narrowed = (name for name in known["positive"] if name in occurring)
    kept = [known["weights"].index(name) for name in weights if name in known["weights"]]
    return {
        "outputs": outputs,
        "weights": weights,
        "start": start,
        "positive": tuple(changes.get("positive", narrowed)),
        "labels": tuple(changes.get("labels", known["labels"])),
        "parameters": parameters,
        "geometry": changes.get("geometry", known["geometry"].restricted(kept)),
        "vectors": tuple(changes.get("vectors", known["vectors"])),
    }
