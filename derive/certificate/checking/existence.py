"""What is decided in the weights: conserved quantities, and whether Q exists."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations

from derive.certificate.checking.flow import Field, determinant, independent
from derive.certificate.checking.function import Function, Value, not_zero
from derive.certificate.checking.text import (
    JSON,
    PROVED,
    REFUTED,
    UNDECIDED,
    Rejected,
    rational,
    require,
)
from derive.certificate.checking.theorem import Check, Checker


def laws(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept conserved quantities, <grad c, X_a> = 0; all of them, by brackets of the X_a."""
    flow, space = state.flow, state.space
    for entry in proof["definitions"]:
        plain = "Integral" not in entry.get("of", "Integral")  # which has no value at a point
        require(plain, "only calls are defined for laws")
        space.define(entry)
    texts, values = said["laws"], said["values_at_start"]
    state.require_plain([*texts, *(v for v in values if v is not None)])
    functions = [space.read(text) for text in texts]
    for text, c, value in zip(texts, functions, values, strict=True):
        _is_law(state, text, c, value)
    point = space.values([rational(proof["point"].get(name)) for name in space.given])
    on = all(space.read(t["zero"]).at(point) == 0 for t in state.ties)
    require(on, "the point is not where the ties hold")
    gradients = [[c.derivative(k) for k in range(space.weights)] for c in functions]
    require(_spread(state, gradients, point), "the gradients are not shown to be independent")
    fields = [flow.field(path)[0] for path in proof["brackets"]]
    require(_spread(state, fields, point), "the brackets are not shown to be independent")
    bound, count = len(state.free) - len(fields), len(texts)
    keys = ("count", "bound", "lie_dimension", "verdict", "reason")
    shown = [count, bound, len(fields), PROVED, None]
    if count != bound:  # there may be more brackets, and more laws
        why = f"independent laws found: {count}; at most {bound} exist"
        shown[2:] = [None, UNDECIDED, why]
    same = [said.get(key) for key in keys] == shown
    require(same, "the brackets show another number of laws")
    state.theorem += [f"conserved: {text}" for text in texts]
    state.assume(state.stated())
    whole = "near almost all weights every conserved quantity is a function of these"
    all_ = whole if texts else "nothing is conserved"
    state.theorem.append(all_ if count == bound else f"at most {bound} are conserved")


def _is_law(state: Checker, text: str, c: Function, value: JSON) -> None:
    """Require <grad c, X_a> = 0, the value at the start, and that c is of weights that are free."""
    tied = {*range(state.space.weights)} - {*state.free}
    require(starts_at(state, c, value), "a conserved quantity has another value at the start")
    require(state.space.kept(c), f"<grad c, X_a> is not 0: {text:.60}")
    free = all(c.derivative(k).is_zero() for k in tied)
    require(free, "a law uses a weight that is tied to others")


def starts_at(state: Checker, c: Function, value: JSON) -> bool:
    """Tell whether a function has a value at w_0; None is said where none is known."""
    try:
        at_start = state.space.at_start(c)
    except Rejected:
        return value is None
    return value is not None and at_start.same(state.space.read(value))


def _spread(state: Checker, fields: Sequence[Field], point: Sequence[Value]) -> bool:
    """Tell whether fields are shown to be independent at a point, in weights that are free."""
    return independent([[x[k].at(point) for k in state.free] for x in fields])


def exists(kind: str, state: Checker, _: JSON, proof: JSON) -> None:
    """Accept that Q exists: the structure of the fields X_a and V, and eta is closed."""
    flow = state.flow = state.flow.for_claim(kind)
    if flow.turning is not None and not flow.warped:
        require(flow.turning.H.is_zero(), "the only warp of the vector is not constant")
    moving = _spread(state, flow.X, state.space.start) or flow.lives(determinant(flow.K).top)
    require(moving, "the outputs are not shown to move independently along the flow")
    verticals = [flow.vertical(path) for path in proof["paths"]]
    still = all(flow.along(v, f).is_zero() for v, _ in verticals for f in flow.F)
    require(still, "a vertical field moves the outputs")
    fields = [*flow.X, *(v for v, _ in verticals)]
    eta = [*flow.H, *(omega for _, omega in verticals)]
    given = {(i, j): c for i, j, c in proof["structure"]}
    for i, j in combinations(range(len(fields)), 2):
        texts = given.get((i + 1, j + 1), ["0"] * len(verticals))
        _closes(state, fields, eta, (i, j), texts)


def _closes(
    state: Checker, fields: list[Field], eta: list[Function], pair: tuple[int, int], texts: JSON
) -> None:
    """Require [X_i, X_j] = eta_i X_j - eta_j X_i + c V, with these terms for X_a alone.

    The same combination of eta is its curl.
    """
    (i, j), flow = pair, state.flow
    c = [flow.zero] * flow.d + [state.space.read(t) for t in texts]
    if i < flow.d:
        c[i] = -eta[j]
    if j < flow.d:
        c[j] = eta[i]
    curl = flow.along(fields[i], eta[j]) - flow.along(fields[j], eta[i])
    columns = zip(*([*field, e] for field, e in zip(fields, eta, strict=True)), strict=True)
    left = [*flow.bracket(fields[i], fields[j]), curl]
    same = all(x.same(state.space.dot(c, y)) for x, y in zip(left, columns, strict=True))
    require(same, f"the structure of the fields {i + 1}, {j + 1} does not hold identically")


def fails(kind: str, state: Checker, _: JSON, proof: JSON) -> None:
    """Accept that a condition, which every warp (or g = 1) needs, fails on the leaf."""
    flow = state.flow.for_claim(kind)
    values, (condition, path, pair) = state.space.start, proof["identity"]
    left, right, words = flow.sides(condition, path, pair)
    value = flow.derivative((left - right).top, proof["along"]).at(values)
    require(not_zero(value), "the value is 0, or not shown to be other than 0, at this start")
    if not independent([[xk.at(values) for xk in x] for x in flow.X]):
        regular = flow.derivative(determinant(flow.K).top, proof["regular"]).at(values)
        require(not_zero(regular), "J is not shown to have full rank on the leaf of the start")
    along = "".join(f" along X{a}" for a in proof["along"])
    state.theorem += [
        f"{kind}: needed is {words}",
        f"{kind}: left = {state.space.written(left)}",
        f"{kind}: right = {state.space.written(right)}",
        f"the numerator of left - right{along and ', differentiated'}{along} is {value} there",
    ]


def decide(name: str, verdict: str) -> Check:
    """Return what accepts the proof of a Hessian map or a warp, or that there is none."""
    kind = {"hessian": "hessian", "warping": "warp"}[name]
    require(verdict in (PROVED, REFUTED), f"{verdict!s:.20} is no verdict")
    return partial(exists, kind) if verdict == PROVED else partial(fails, f"no {kind}")
