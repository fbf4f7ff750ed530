"""Check the printed form of Q: that Hess Q = g rho on the leaf and grad Q = 0 at the start.

A claim "form" has "Q" (or null), "gradient" = [dQ/dbeta_i, ...] as printed, the names "beta",
"generators" for the roots and functions in these texts, and "at", a start in numbers that selects
branches. "constants" are printed names with their "value" at the start and the "conserved"
function of the weights that they are; "leaf" lists further conserved functions c(w), each with the
"main" variable in which c(w) - c(w_0) is divided out. A function of weights and start symbols
vanishes on the leaf when its numerator is a combination of these, or vanishes at the start and
has derivatives along the flow that it divides. For each "kind":

kernel  one output. "relation" P(K; beta) = 0 holds on the leaf, and P(1/Q''; beta) = 0. At the
        start 1/Q'' is the root K and a simple one, so that Q'' = 1/K along the flow.
chart   roots and algebraic functions have an "image" in the weights that satisfies what defines
        them, and is the right branch at the start. In these images (Hess Q) K = g on the leaf.
curve   beta = h(z), w = w(z): w' = mu' grad F(w), h = F(w), Q' = mu h', mu = 0 and w = w_0 at
        z = 0, so that w(z) is the flow at dual time mu = dQ/dbeta.

Exact are all identities. By balls of radius below 2^-150, at the start "at", are: branches, that
the printed gradient is 0 at beta_0, and that the curve begins at w_0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flint import arb, ctx, fmpq, fmpz_poly

from derive.checking.flow import Flow
from derive.checking.functions import Function
from derive.checking.polynomials import BITS, Rejected, remainder
from derive.checking.record import State, number
from derive.checking.space import Space

TINY = 150


class Leaf:
    """Functions of the weights, the start symbols and named constants, on the leaf of the start."""

    def __init__(self, claim: Mapping[str, Any], flow: Flow, state: State) -> None:
        weights = state.certificate["weights"]
        starts = [n for n in state.start.variables if n not in state.space.variables]
        constants = [c["name"] for c in claim["constants"]]
        self.names = [*starts, *state.certificate["parameters"], *constants]
        self.space = Space(
            [*state.space.variables, *starts, *constants],
            state.certificate["generators"],
            state.space.point,
        )
        read, by_name = self.space.read, self.space.names
        old = len(state.space.variables)
        self.plain = [*self.space.symbols[:old], *self.space.symbols[len(self.space.variables) :]]
        outputs = [f.into(self.plain, self.space) for f in flow.outputs]
        self.flow = Flow(self.space, len(weights), outputs, flow.labels)
        self.w0 = [
            w.into([by_name[v] for v in state.start.variables], self.space) for w in state.w0
        ]
        self.point = {n: number(claim["at"].get(n)) for n in state.start.variables}
        start = state.start.values(self.point)
        self.point |= {n: w.at(start) for n, w in zip(weights, state.w0, strict=True)}
        self.relations: list[tuple[Any, int]] = []
        for constant in claim["constants"]:
            value, c = read(constant["value"]), self._conserved(constant["conserved"])
            unknown = {n: self.point.get(n, fmpq(0)) for n in self.space.variables}
            self.point[constant["name"]] = value.at(self.space.values(unknown))
            self._tie(c, value, by_name[constant["name"]], constant["name"])
        self.values = self.space.values(self.point)
        for entry in claim["leaf"]:
            c = self._conserved(entry["conserved"])
            relation = (c - self.at_start(c)).top
            self._admit(relation, self.space.variables.index(entry["main"]))

    def _conserved(self, text: str) -> Function:
        c = self.space.read(text)
        if not all(self.flow.along(x, c).is_zero() for x in self.flow.X):
            raise Rejected(f"{text:.60} is not conserved")
        return c

    def _tie(self, c: Function, value: Function, symbol: Function, name: str) -> None:
        if not (self.at_start(c) - value).is_zero():
            raise Rejected(f"the conserved function of {name} does not start at its value")
        self.relations.append(((c - symbol).top, self.space.variables.index(name)))

    def _admit(self, relation: Any, main: int) -> None:
        degree = relation.degrees()[main]
        lead = {e: c for e, c in relation.to_dict().items() if e[main] == degree}
        top = Function(self.space, self.space.ring.from_dict(lead), self.space.unit)
        stripped = top / self.space.symbols[main] ** int(degree)
        value = stripped.at(self.values)
        if degree < 1 or not (value > 0 or value < 0):
            raise Rejected(f"the leaf is not solved for {self.space.variables[main]}")
        self.relations.append((relation, main))

    def at_start(self, f: Function) -> Function:
        """Return a function at w_0, in start symbols."""
        if self.space.generators:
            raise Rejected("a form over generators in the weights cannot be checked")
        return f.into([*self.w0, *self.space.symbols[len(self.w0) :]], self.space)

    def require_zero(self, f: Function, what: str) -> None:
        """Require that a function vanishes on the leaf of the start."""
        rest = self.space.reduce(f.top)
        for relation, main in self.relations:
            rest = self.space.reduce(remainder(rest, relation, main))
        if rest.is_zero():
            return
        E = Function(self.space, rest, self.space.unit)
        slopes = [self.flow.along(x, E) for x in self.flow.X]
        if not all((s / E).bottom.is_constant() for s in slopes) or not self.at_start(E).is_zero():
            raise Rejected(f"{what} does not hold on the leaf of the start")


def check_form(claim: Mapping[str, Any], flow: Flow, state: State, warp: Function | None) -> None:
    """Accept the printed form of Q on one block, or raise Rejected."""
    kinds = {"kernel": _kernel, "chart": _chart, "curve": _curve}
    if claim["kind"] not in kinds or len(claim["gradient"]) != flow.d:
        raise Rejected("a form is a kernel, a chart or a curve, with one slope for each output")
    if claim["kind"] != "chart" and flow.d != 1:
        raise Rejected("this kind of form is for a single output")
    kinds[claim["kind"]](claim, Leaf(claim, flow, state), state, warp)


def _printed(claim: Mapping[str, Any], leaf: Leaf) -> tuple[Space, list[Function | None]]:
    """Return the space of beta, and the image of each of its variables and generators."""
    flow = leaf.flow
    if len(claim["beta"]) != flow.d:
        raise Rejected("there is one coordinate for each output")
    images: list[Function | None] = [*flow.outputs, *(leaf.space.names[n] for n in leaf.names)]
    beta0 = [f.at(leaf.values) for f in flow.outputs]
    point = {
        **{n: leaf.point[n] for n in leaf.names},
        **dict(zip(claim["beta"], beta0, strict=True)),
    }
    plain: list[Any] = []
    for generator in claim["generators"]:
        image = generator.get("image") if isinstance(generator, dict) else None
        if isinstance(generator, str) or "is" not in generator:
            images.append(None if image is None else leaf.space.read(image))
        if isinstance(generator, dict) and "name" in generator:
            if image is None:
                raise Rejected(f"{generator['name']} has no image in the weights")
            point[generator["name"]] = leaf.space.read(image).at(leaf.values)
        elif isinstance(generator, dict) and "is" not in generator:
            generator = generator["text"]
        plain.append(generator)
    return Space([*claim["beta"], *leaf.names], plain, point), images


def _slopes(claim: Mapping[str, Any], space: Space) -> list[Function]:
    """Return the printed gradient, if it is that of the printed Q and is 0 at the start."""
    gradient = [space.read(text) for text in claim["gradient"]]
    Q = None if claim["Q"] is None else space.read(claim["Q"])
    for i, slope in enumerate(gradient):
        if Q is not None and not Q.derivative(i).same(slope):
            raise Rejected(f"dQ/d{claim['beta'][i]} is not the printed slope")
        _require_tiny(space.value(slope), f"the slope along {claim['beta'][i]} at the start")
    return gradient


def _require_tiny(value: Any, what: str) -> None:
    with ctx.workprec(BITS):
        if not abs(arb(value)) < arb(2) ** -TINY:
            raise Rejected(f"{what} is not 0")


def _kernel(claim: Mapping[str, Any], leaf: Leaf, state: State, warp: Function | None) -> None:
    space, _ = _printed(claim, leaf)
    relations = Space([claim["kernel"], *claim["beta"], *leaf.names])
    P, K = relations.read(claim["relation"]), leaf.flow.K[0][0]
    if not P.bottom.is_constant() or P.top.degrees()[0] < 1:
        raise Rejected("the relation is a polynomial that contains the kernel")
    constants = [leaf.space.names[n] for n in leaf.names]
    pulled = P.into([K, *leaf.flow.outputs, *constants], leaf.space)
    leaf.require_zero(pulled, "the relation of K and beta")
    inverse = space.number(1) / _slopes(claim, space)[0].derivative(0)
    if not P.into([inverse, *space.symbols[: len(space.variables)]], space).is_zero():
        raise Rejected("1/Q'' does not solve the relation of K and beta")
    others = [space.point[n] for n in space.variables] if space.point is not None else []
    _require_root(P, [*others], 0, K.at(leaf.values), space.value(inverse), "1/Q''")


def _require_root(
    P: Function, others: Sequence[Any], main: int, root: Any, ball: Any, what: str
) -> list[fmpq]:
    """Require that a root of P known by a ball is *root*, and simple; return P's coefficients.

    P(x) = (x - root) q(x) at the start: a root x with q(x) != 0 is *root*.
    """
    coefficients = []
    for n in range(int(P.top.degrees()[main]) + 1):
        part = {(*e[:main], *e[main + 1 :]): c for e, c in P.top.to_dict().items() if e[main] == n}
        total = fmpq(0)
        for e, c in part.items():
            term = fmpq(c)
            for x, k in zip(others, e, strict=False):
                term = term * x ** int(k) if k else term
            total = total + term
        coefficients.append(total)
    quotient, carry = arb(0), fmpq(0)
    with ctx.workprec(BITS):
        for c in reversed(coefficients[1:]):
            carry = carry * root + c
            quotient = quotient * ball + carry
        if carry * root + coefficients[0] != 0 or not (quotient > 0 or quotient < 0):
            raise Rejected(f"{what} is not shown to be on the branch of the start")
    return coefficients


def _chart(claim: Mapping[str, Any], leaf: Leaf, state: State, warp: Function | None) -> None:
    space, images = _printed(claim, leaf)
    count = len(space.variables)
    for index, generator in enumerate(space.generators):
        image = images[count + index]
        if image is None:
            continue
        if generator.relation is None:
            raise Rejected("only roots and algebraic functions have images")
        relation = Function(space, generator.relation, space.unit)
        leaf.require_zero(_pulled(relation, images), "what defines an image")
        if generator.kind == "root" and not image.at(leaf.values) > 0:
            raise Rejected("the image of a root is not shown to be positive at the start")
    for entry in claim["generators"]:
        if isinstance(entry, dict) and "name" in entry:
            _branch(entry, space)
    gradient, flow = _slopes(claim, space), leaf.flow
    g = leaf.space.number(1) if warp is None else warp.into(leaf.plain, leaf.space)
    if not g.at(leaf.values) > 0:
        raise Rejected("the warp g is not shown to be positive at the start")
    for i in range(flow.d):
        hessian = [_pulled(gradient[i].derivative(j), images) for j in range(flow.d)]
        for k in range(flow.d):
            total = -g if i == k else flow.zero
            for j in range(flow.d):
                total = total + hessian[j] * flow.K[j][k]
            leaf.require_zero(total, "(Hess Q) K = g")


def _pulled(f: Function, images: Sequence[Function | None]) -> Function:
    """Return a function of beta as one of the weights."""
    degrees = [a + b for a, b in zip(f.top.degrees(), f.bottom.degrees(), strict=True)]
    if any(n > 0 and image is None for n, image in zip(degrees, images, strict=True)):
        raise Rejected("a function that is left in the Hessian of Q has no image in the weights")
    space = next(image for image in images if image is not None).space
    return f.into([space.number(0) if image is None else image for image in images], space)


def _branch(entry: Mapping[str, Any], space: Space) -> None:
    """Require that a named root is a simple one, the printed formula, and counted right."""
    name = entry["name"]
    main = next(i for i, s in enumerate(space.symbols) if s is space.names[name])
    P = Function(space, space.generators[main - len(space.variables)].relation, space.unit)
    values = space.values(space.point or {})
    others, root = [*values[:main], *values[main + 1 :]], values[main]
    ball = root
    if entry["explicit"] is not None:
        explicit = space.read(entry["explicit"])
        images = [*space.symbols[:main], explicit, *space.symbols[main + 1 :]]
        if not P.into(images, space).is_zero():
            raise Rejected(f"the formula of {name} does not solve its polynomial")
        ball = space.value(explicit)
    coefficients = _require_root(P, others, main, root, ball, name)
    if entry["above"] is not None:
        scale = fmpq(1)
        for c in coefficients:
            scale = scale * c.q
        polynomial: Any = fmpz_poly([int((c * scale).p) for c in coefficients])
        found = [
            z.real for f, _ in polynomial.factor()[1] for z, _ in f.complex_roots() if z.imag == 0
        ]
        # Real roots come as disjoint balls: all but the one that is the root lie on a side of it.
        if sum(1 for x in found if x > root) != entry["above"] or (
            sum(1 for x in found if not (x > root or x < root)) != 1
        ):
            raise Rejected(f"{name} is not real root number {entry['above']} from above")


def _curve(claim: Mapping[str, Any], leaf: Leaf, state: State, warp: Function | None) -> None:
    z, flow = claim["parameter"], leaf.flow
    if state.space.generators:
        raise Rejected("a curve over generators in the weights cannot be checked")
    point = {z: fmpq(0), **{n: leaf.point[n] for n in leaf.names}}
    space = Space([z, *leaf.names], claim["generators"], point)
    weights = state.certificate["weights"]
    lifted = [
        space.read(claim["weights"][w]) if k in flow.weights else space.number(0)
        for k, w in enumerate(weights)
    ]
    images = [*lifted, *(space.names[n] for n in leaf.space.variables[len(weights) :])]
    mu, h = space.read(claim["gradient"][0]), space.read(claim["curve"])
    if not flow.outputs[0].into(images, space).same(h):
        raise Rejected("the curve is not F(w(z))")
    speed = mu.derivative(0)
    if not speed.is_not_zero():
        raise Rejected("the dual time is not shown to change with the parameter")
    _require_tiny(space.value(mu), "the dual time at the start")
    for k, x in zip(flow.weights, flow.X[0], strict=True):
        if not (x.into(images, space) * speed).same(lifted[k].derivative(0)):
            raise Rejected(f"{weights[k]} does not follow the flow along the curve")
        with ctx.workprec(BITS):
            gap = space.value(lifted[k]) - leaf.point[weights[k]]
        _require_tiny(gap, f"{weights[k]} - {weights[k]}(start) at the start of the curve")
    if claim["beta"][0] in space.names:
        raise Rejected(f"the name {claim['beta'][0]} is given twice")
    space.names[claim["beta"][0]] = h
    if claim["Q"] is None or not space.read(claim["Q"]).derivative(0).same(mu * h.derivative(0)):
        raise Rejected("dQ/dz is not mu dbeta/dz")
