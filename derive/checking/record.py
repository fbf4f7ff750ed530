"""Read F, the start and the blocks from a certificate: what all claims speak of."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from derive.checking.flow import Flow
from derive.checking.functions import Function
from derive.checking.polynomials import Rejected, tree_of
from derive.checking.space import Space

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
RATIONAL = re.compile(r"-?[0-9]{1,1000}(/[0-9]{1,1000})?")
MAXIMAL_CLAIMS, MAXIMAL_OUTPUTS = 400, 60


class NotACertificate(Exception):
    """The record does not have the shape of a certificate."""


@dataclass
class Block:
    """What has been established of a block so far."""

    flow: Flow
    laws: list[Function] = field(default_factory=list)
    established: set[str] = field(default_factory=set)
    warp: Function | None = None


@dataclass
class State:
    """A certificate being checked."""

    certificate: Mapping[str, Any]
    space: Space
    start: Space
    w0: list[Function]
    blocks: list[Block]

    def start_point(self, at: Mapping[str, Any]) -> list[Any]:
        """Return the values of all variables and generators at a start in numbers."""
        symbols = {name: number(at.get(name)) for name in self.start.variables}
        values = self.start.values(symbols)
        weights = [w.at(values) for w in self.w0]
        names = self.certificate["weights"]
        known = {**symbols, **dict(zip(names, weights, strict=True))}
        return self.space.values({v: known[v] for v in self.space.variables})


def require_shape(certificate: Mapping[str, Any]) -> None:
    """Refuse what has not the lists and texts of a certificate."""
    lists = ("outputs", "weights", "parameters", "generators", "claims")
    if not all(isinstance(certificate[key], list) for key in lists):
        raise NotACertificate("one of " + ", ".join(lists) + " is no list")
    texts = [
        *certificate["outputs"],
        *certificate["weights"],
        *certificate["parameters"],
        *certificate["generators"],
        *certificate["start"].values(),
    ]
    if not certificate["outputs"] or not all(isinstance(text, str) for text in texts):
        raise NotACertificate("outputs, weights, parameters, generators and start are texts")
    if len(certificate["outputs"]) > MAXIMAL_OUTPUTS or len(certificate["claims"]) > MAXIMAL_CLAIMS:
        raise NotACertificate("there are too many outputs or claims")


def open_certificate(certificate: Mapping[str, Any]) -> State:
    """Read F and the start, set idle weights to 0, and find the blocks."""
    weights, parameters = certificate["weights"], certificate["parameters"]
    starts = certificate["start"]
    symbols = sorted(names(starts.values()) - set(parameters))
    known = [*weights, *parameters]
    if not all(NAME.fullmatch(n) for n in (*known, *symbols)) or len(set(known)) != len(known):
        raise NotACertificate("names are letters, digits and underscores, each given once")
    if set(starts) != set(weights) or set(weights) & set(symbols):
        raise NotACertificate("start gives every weight in symbols that are no weights")
    given = certificate["point"]
    point = None if given is None else {name: number(value) for name, value in given.items()}
    space = Space(known, certificate["generators"], point)
    start = Space([*symbols, *parameters])
    w0 = [start.read(starts[w]) for w in weights]
    outputs = [space.read(text) for text in certificate["outputs"]]
    idle = [n for c in certificate["claims"] if c["claim"] == "idle" for n in c["weights"]]
    outputs = _without(idle, outputs, weights, w0)
    groups: list[tuple[list[int], set[int]]] = []
    for i, f in enumerate(outputs):
        members, used = [i], {k for k in range(len(weights)) if not f.derivative(k).is_zero()}
        if not used:
            raise Rejected(f"output {i + 1} is constant")
        for group in [g for g in groups if g[1] & used]:
            groups.remove(group)
            members, used = members + group[0], used | group[1]
        groups.append((sorted(members), used))
    blocks = [
        Block(Flow(space, len(weights), [outputs[i] for i in members], [i + 1 for i in members]))
        for members, _ in sorted(groups)
    ]
    return State(certificate, space, start, w0, blocks)


def _without(
    idle: list[str], outputs: list[Function], weights: list[str], w0: list[Function]
) -> list[Function]:
    """Return the outputs where the idle weights are 0, if they start there and stay."""
    if not idle:
        return outputs
    space = outputs[0].space
    places = {weights.index(name) for name in idle}
    zero = [space.number(0) if k in places else s for k, s in enumerate(space.symbols)]
    for k in places:
        if space.generators or not w0[k].is_zero():
            raise Rejected(f"idle: {weights[k]} is not shown to start at 0")
        if any(not f.derivative(k).into(zero, space).is_zero() for f in outputs):
            raise Rejected(f"idle: {weights[k]} does not stay at 0")
    return [f.into(zero, space) for f in outputs]


def number(text: Any) -> fmpq:
    """Return the rational number that a text such as -3/2 is."""
    if not isinstance(text, str) or not RATIONAL.fullmatch(text):
        raise Rejected(f"a rational number is expected, not {text!s:.40}")
    top, _, bottom = text.partition("/")
    return fmpq(int(top), int(bottom or 1))


def names(texts: Any) -> set[str]:
    """Return the names that texts use."""
    nodes = (n for text in texts for n in ast.walk(tree_of(text)))
    return {n.id for n in nodes if isinstance(n, ast.Name)}
