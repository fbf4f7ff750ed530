"""Check a certificate without trusting whoever wrote it.

A certificate says what a derivation proved, and gives what is needed to see it again: no search,
only exact identities. Everything that a claim speaks of is recomputed from the text of the
outputs F; the certificate's author is believed in nothing. This module and the ones that it
imports, :mod:`derive.functions_from_text`, :mod:`derive.check_flow` and :mod:`derive.check_form`,
use Python's standard library and python-flint, and no other part of this package.

A certificate is JSON of dictionaries, lists, strings and small integers::

    {"format": "regderive-certificate", "version": 1,
     "outputs": ["a*u1", "a*u2"],          F, in the language of the command line
     "weights": ["a", "u1", "u2"],
     "parameters": [],                     symbols in F that are constants, such as a depth D
     "generators": [],                     calls and real powers, each after those that it uses
     "point": null,                        {weight: rational}; divisors with generators are
                                           shown there not to be zero
     "start": {"a": "a_0", ...},           w_0 as rational functions of start symbols
     "verdict": "PROVED",
     "claims": [{"claim": kind, "block": n, ...}, ...]}

Numbers are strings such as "-3/2". Blocks are the groups of outputs that share no weight, counted
from 1 in the order of their first output. The claims, in order, each checked in what the ones
before it established:

========== =====================================================================================
idle       "weights": they start at 0, and where they are 0 no output has a slope along them
laws       "laws": <grad c, grad F_i> = 0; gradients independent at "point"; complete where
           p - n fields of "brackets" (1 is X_1, [1, 2] is [X_1, X_2], ...) are, too
hessian    d = 1, or X_a K_bc = X_b K_ac and the closure of :mod:`derive.check_flow` with H = 0
warp       the forced H solves H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac, and the closure holds
no hessian "identity" fails on the leaf: left - right has the value "residual" at the start for
no warp    the start symbols "at"; where "cleared", both sides are first multiplied by their
           denominators and the difference is differentiated along the fields in "along"
dual       <grad y_i, grad F_j> = g delta_ij, X_a g = H_a g, <grad R, grad F_j> = g F_j
form       the printed Q: see :mod:`derive.check_form`
not certified  "what": something printed that this certificate does not prove; always shown
========== =====================================================================================

Why the verdict follows. PROVED, single output: beta is monotone along the flow, so K > 0 is a
function of beta there and Q'' = 1/K. PROVED, hessian or warp: eta(X_a) = H_a, eta(V) = omega(V) is
a closed one-form on the leaf, whose tangent space is spanned by X_a and vertical V, as the ranks
show; g = exp(int eta) makes g K^-1 constant along every V, so a function of beta, and the equations
say that it is a Hessian. Several blocks: all with g = 1.

REFUTED, one block: a warp forces H (Gram minors of an independent J), then each condition on every
leaf point that the flow reaches; a function with a value or an iterated derivative along the flow
other than 0 at w_0 is not zero on the leaf of w_0. Several blocks: for k in one block and i, j in
another, h_k rho_ij = 0, so a warp is constant, and one block is not a Hessian map.

UNDECIDED: the claims imply neither. The verdict must be exactly what the claims imply.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flint import ctx, fmpq

from derive.check_flow import Field, Flow, independent
from derive.functions_from_text import BITS, Function, Rejected, Space, tree_of

FORMAT, VERSION = "regderive-certificate", 1
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
RATIONAL = re.compile(r"-?[0-9]{1,1000}(/[0-9]{1,1000})?")
DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]{1,4})?")
MAXIMAL_CLAIMS, MAXIMAL_OUTPUTS = 400, 60


class NotACertificate(Exception):
    """The record does not have the shape of a certificate."""


@dataclass(frozen=True)
class Report:
    """What was accepted: the verdict, one line for each claim, and what is not certified."""

    verdict: str
    accepted: tuple[str, ...]
    open: tuple[str, ...]


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


def check(certificate: Any) -> Report:
    """Return what a certificate proves.

    >>> record = {"format": FORMAT, "version": 1, "outputs": ["w"], "weights": ["w"],
    ...           "parameters": [], "generators": [], "point": None, "start": {"w": "w_0"},
    ...           "verdict": "PROVED", "claims": [{"claim": "hessian", "block": 1},
    ...           {"claim": "not certified", "block": 1, "what": "Q"}]}
    >>> check(record).open
    ('Q',)

    Raises:
        NotACertificate: the record is none.
        Rejected: a claim, or the verdict, does not follow; one line says which and how.
    """
    if not isinstance(certificate, dict) or certificate.get("format") != FORMAT:
        raise NotACertificate(f"the format is not {FORMAT}")
    if certificate.get("version") != VERSION:
        raise NotACertificate(f"the version is not {VERSION}")
    try:
        _shape(certificate)
        return _check(certificate)
    except (KeyError, TypeError, AttributeError, IndexError) as fault:
        raise NotACertificate(f"an entry is missing or of the wrong type ({fault})") from None
    except ZeroDivisionError:
        raise Rejected("a division by zero") from None


def _shape(certificate: Mapping[str, Any]) -> None:
    lists = ("outputs", "weights", "parameters", "generators", "claims")
    if not all(isinstance(certificate[key], list) for key in lists):
        raise NotACertificate("one of " + ", ".join(lists) + " is no list")
    texts = [*certificate["outputs"], *certificate["weights"], *certificate["parameters"],
             *certificate["generators"], *certificate["start"].values()]
    if not certificate["outputs"] or not all(isinstance(text, str) for text in texts):
        raise NotACertificate("outputs, weights, parameters, generators and start are texts")
    if len(certificate["outputs"]) > MAXIMAL_OUTPUTS or len(certificate["claims"]) > MAXIMAL_CLAIMS:
        raise NotACertificate("there are too many outputs or claims")


def _check(certificate: Mapping[str, Any]) -> Report:
    state = open_certificate(certificate)
    accepted, uncertified = [], []
    for position, claim in enumerate(certificate["claims"], 1):
        kind, where = claim["claim"], f"claim {position} ({claim['claim']})"
        if kind == "idle":
            continue
        index = claim["block"]
        if kind not in CLAIMS or type(index) is not int or not 1 <= index <= len(state.blocks):
            raise Rejected(f"{where}: there is no such claim or block")
        block = state.blocks[index - 1]
        try:
            CLAIMS[kind](claim, block, state)
        except Rejected as why:
            raise Rejected(f"{where}: {why}") from None
        block.established.add("form" if kind == "not certified" else kind)
        if kind == "not certified":
            uncertified.append(str(claim["what"]))
        else:
            accepted.append(f"block {index}: {kind}")
    verdict = implied(state.blocks)
    if certificate["verdict"] != verdict:
        raise Rejected(f"verdict: the claims imply {verdict}, not {certificate['verdict']!s:.40}")
    return Report(verdict, tuple(accepted), tuple(uncertified))


def implied(blocks: list[Block]) -> str:
    """Return the verdict that the established claims imply."""
    hessian = all("hessian" in b.established for b in blocks)
    no_hessian = any(b.established & {"no hessian", "no warp"} for b in blocks)
    single = blocks[0].established if len(blocks) == 1 else set()
    if "no warp" in single or (len(blocks) > 1 and no_hessian):
        return "REFUTED"
    if (hessian or "warp" in single) and all("form" in b.established for b in blocks):
        return "PROVED"
    return "UNDECIDED"


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
        if any(not f.derivative(k).into(zero).is_zero() for f in outputs):
            raise Rejected(f"idle: {weights[k]} does not stay at 0")
    return [f.into(zero) for f in outputs]


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
        if block.flow.d > 1:
            block.flow.close(warped, point_of(claim, state), len(block.laws))

    return checked


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
        determinant = Function(state.space, flow.determinant().top, state.space.unit)
        _compare(_derivative(determinant, claim["regular along"], flow).at(values), None)

    return checked


def _derivative(f: Function, labels: list[Any], flow: Flow) -> Function:
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
    if not isinstance(residual, str) or not DECIMAL.fullmatch(residual):
        raise Rejected("a decimal is expected as residual")
    digits, _, power = residual.lower().partition("e")
    scale = int(power or 0) - len(digits.partition(".")[2])
    stated, unit = fmpq(int(digits.replace(".", ""))), fmpq(10) ** abs(scale)
    with ctx.workprec(BITS):
        error = abs(value * (unit if scale < 0 else 1 / unit) - stated)
        if not error < 1:
            raise Rejected(f"the value is {value.str(15, radius=False)}, not {residual:.40}")


def _dual(claim: Mapping[str, Any], block: Block, state: State) -> None:
    flow, read = block.flow, state.space.read
    if not block.established & {"hessian", "warp"}:
        raise Rejected("dual coordinates need a Hessian map or a warp before them")
    g = read(claim["g"])
    H = flow.warp("hessian" not in block.established)
    if g.is_zero() or not all(
        flow.along(x, g).same(h * g) for x, h in zip(flow.X, H, strict=True)
    ):
        raise Rejected(f"g = {claim['g']:.60} is not the warp")
    if len(claim["y"]) != flow.d:
        raise Rejected("there is one dual coordinate for each output")
    for i, y in enumerate(claim["y"]):
        for j, x in enumerate(flow.X):
            if not _log_slope(y, x, flow, read).same(g if i == j else flow.zero):
                raise Rejected(f"<grad y{flow.labels[i]}, grad F{flow.labels[j]}> is not "
                               + ("g" if i == j else "0"))
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
    from derive.check_form import check_form

    if not block.established & {"hessian", "warp"}:
        raise Rejected("a form of Q needs a Hessian map or a warp before it")
    check_form(claim, block.flow, state, block.warp)


def _nothing(claim: Mapping[str, Any], block: Block, state: State) -> None:
    if not isinstance(claim["what"], str) or not claim["what"]:
        raise Rejected("what is not certified has to be said")


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


def read_certificate(text: str) -> Any:
    """Return the certificate in a JSON text: the text itself, or its key "certificate".

    Raises:
        NotACertificate: the text is no JSON, or holds no certificate.
    """
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise NotACertificate(f"no JSON: {fault}") from None
    if isinstance(record, dict) and "certificate" in record:
        return record["certificate"]
    return record
