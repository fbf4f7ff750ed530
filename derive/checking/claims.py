"""The claims of a certificate, each checked by exact identities in what F says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from flint import arb, ctx, fmpq

from derive.checking.flow import Field, Flow, independent
from derive.checking.form import check_form
from derive.checking.functions import Function
from derive.checking.polynomials import BITS, Rejected
from derive.checking.record import RATIONAL, Block, State, number

LEAST = 10**5
"""A decimal residual has at least six digits that count."""

DEPTH = 3
"""Derivatives along the flow that are looked at to see that the outputs move."""

DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]{1,4})?")


def point_of(claim: Mapping[str, Any], state: State) -> list[Any] | None:
    """Return all values at the claim's point, weights and parameters in numbers."""
    if claim.get("point") is None:
        return None
    return state.space.values({name: number(value) for name, value in claim["point"].items()})


def _laws(claim: Mapping[str, Any], block: Block, state: State) -> None:
    flow, point = block.flow, point_of(claim, state)
    laws = [state.space.read(text) for text in claim["laws"]]
    gradients = [flow.gradient(c) for c in laws]
    for text, c in zip(claim["laws"], laws, strict=True):
        for label, x in zip(flow.labels, flow.X, strict=True):
            if not flow.along(x, c).is_zero():
                raise Rejected(f"<grad c, grad F{label}> is not 0 for c = {text:.60}")
    if point is None or not independent([[x.at(point) for x in row] for row in gradients]):
        raise Rejected("the gradients are not shown to be independent")
    fields = claim["brackets"]
    if fields is not None:
        values = [[x.at(point) for x in flow.nested(tree)] for tree in fields]
        if len(fields) != flow.p - len(laws) or not independent(values):
            raise Rejected("the brackets do not show that these are all conserved quantities")
    block.laws = laws


def _exists(warped: bool) -> Callable[[Mapping[str, Any], Block, State], None]:
    def checked(claim: Mapping[str, Any], block: Block, state: State) -> None:
        _require_motion(block.flow, state)
        if block.flow.d > 1:
            block.flow.close(warped, point_of(claim, state), len(block.laws))

    return checked


def _require_motion(flow: Flow, state: State) -> None:
    """Require that the outputs move independently: det K is not zero on the leaf of the start."""
    for length in range(DEPTH + 1):
        for path in product(flow.labels, repeat=length):
            if _lives_at_start(regularity(flow, path, state), state):
                return
    raise Rejected("the outputs are not shown to move independently from the start")


def _lives_at_start(f: Function, state: State) -> bool:
    """Tell whether a polynomial is shown not to be zero at w_0, as a function of the start."""
    if not state.space.generators:
        constants = (state.start.names[v] for v in state.space.variables[len(state.w0) :])
        return f.into([*state.w0, *constants], state.start).is_not_zero()
    at = {name: str(2 * k + 3) for k, name in enumerate(state.start.variables)}
    value = f.at(state.start_point(at))
    return bool(value > 0 or value < 0)


def _fails(warped: bool) -> Callable[[Mapping[str, Any], Block, State], None]:
    def checked(claim: Mapping[str, Any], block: Block, state: State) -> None:
        flow, values = block.flow, state.start_point(claim["at"])
        kind, path, pair = claim["identity"]
        at = [[flow.position(i) for i in part] for part in (path, pair)]
        left, right = flow.sides(kind, at[0], at[1], warped)
        difference = left - right
        if claim["cleared"]:
            common = left.bottom * right.bottom / left.bottom.gcd(right.bottom)
            difference = difference * Function(state.space, common, state.space.unit)
        elif claim["along"]:
            raise Rejected("only a cleared difference is differentiated")
        value = _derivative(difference, claim["along"], flow).at(values)
        _compare(value, claim["residual"])
        try:
            _compare(regularity(flow, claim["regular along"], state).at(values), None)
        except Rejected:
            raise Rejected("J is not shown to have full rank on the leaf of the start") from None

    return checked


def regularity(flow: Flow, labels: Sequence[int], state: State) -> Function:
    """Return the numerator of det K, differentiated along fields."""
    top = Function(state.space, flow.determinant().top, state.space.unit)
    return _derivative(top, labels, flow)


def _derivative(f: Function, labels: Sequence[Any], flow: Flow) -> Function:
    for label in labels:
        f = flow.along(flow.X[flow.position(label)], f)
    return f


def _compare(value: Any, residual: Any) -> None:
    """Require that a value is not 0, and is the one stated."""
    if not (value > 0 or value < 0):
        raise Rejected("the value is 0, or not shown to be other than 0, at this start")
    if residual is None:
        return
    if isinstance(value, fmpq):
        if value != number(residual):
            raise Rejected(f"the value is {value}, not {residual:.40}")
        return
    if isinstance(residual, str) and RATIONAL.fullmatch(residual):
        # Roots of squares are rational: the ball must hold exactly that number.
        if not arb(number(residual)).overlaps(value):
            raise Rejected(f"the value is {value.str(15, radius=False)}, not {residual:.40}")
        return
    if not isinstance(residual, str) or not DECIMAL.fullmatch(residual):
        raise Rejected("a decimal is expected as residual")
    digits, _, power = residual.lower().partition("e")
    scale = int(power or 0) - len(digits.partition(".")[2])
    stated, unit = fmpq(int(digits.replace(".", ""))), fmpq(10) ** abs(scale)
    with ctx.workprec(BITS):
        error = abs(value * (unit if scale < 0 else 1 / unit) - stated)
        if not error < 1 or abs(stated) < LEAST:
            raise Rejected(f"the value is {value.str(15, radius=False)}, not {residual:.40}")


def _dual(claim: Mapping[str, Any], block: Block, state: State) -> None:
    flow, read = block.flow, state.space.read
    if not block.established & {"hessian", "warp"}:
        raise Rejected("dual coordinates need a Hessian map or a warp before them")
    g = read(claim["g"])
    H = flow.warp("hessian" not in block.established)
    if g.is_zero() or not all(flow.along(x, g).same(h * g) for x, h in zip(flow.X, H, strict=True)):
        raise Rejected(f"g = {claim['g']:.60} is not the warp")
    if len(claim["y"]) != flow.d:
        raise Rejected("there is one dual coordinate for each output")
    for i, y in enumerate(claim["y"]):
        for j, x in enumerate(flow.X):
            if not _log_slope(y, x, flow, read).same(g if i == j else flow.zero):
                raise Rejected(
                    f"<grad y{flow.labels[i]}, grad F{flow.labels[j]}> is not "
                    + ("g" if i == j else "0")
                )
    if claim["R"] is not None:
        for j, (x, f) in enumerate(zip(flow.X, flow.outputs, strict=True)):
            if not _log_slope(claim["R"], x, flow, read).same(g * f):
                raise Rejected(f"<grad R, grad F{flow.labels[j]}> is not g F{flow.labels[j]}")
    block.warp = g


def _log_slope(
    y: Mapping[str, Any], x: Field, flow: Flow, read: Callable[[str], Function]
) -> Function:
    """Return the derivative of rational + sum_k coefficient_k log|argument_k| along a field."""
    total = flow.along(x, read(y["rational"]))
    for coefficient, argument in y["logarithms"]:
        if not all(flow.along(z, read(coefficient)).is_zero() for z in flow.X):
            raise Rejected("the coefficient of a logarithm is not conserved")
        total = total + read(coefficient) * flow.along(x, read(argument)) / read(argument)
    return total


def _form(claim: Mapping[str, Any], block: Block, state: State) -> None:
    if not block.established & {"hessian", "warp"}:
        raise Rejected("a form of Q needs a Hessian map or a warp before it")
    check_form(claim, block.flow, state, block.warp)


def _nothing(claim: Mapping[str, Any], block: Block, state: State) -> None:
    if not isinstance(claim["what"], str) or not claim["what"]:
        raise Rejected("what is not certified has to be said")
    if claim["instead of"] not in ("form", "claim"):
        raise Rejected("what is not certified is a form of Q, or another claim")


CLAIMS: dict[str, Callable[[Mapping[str, Any], Block, State], None]] = {
    "laws": _laws,
    "hessian": _exists(False),
    "warp": _exists(True),
    "no hessian": _fails(False),
    "no warp": _fails(True),
    "dual": _dual,
    "form": _form,
    "not certified": _nothing,
}
