"""The claims of a certificate, checked one by one: see :mod:`derive.certificate.checking`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product

from derive.certificate.checking.flow import Field, Flow, Turning, determinant, independent
from derive.certificate.checking.function import Function, Value, not_zero
from derive.certificate.checking.space import Kind, Space, space_of
from derive.certificate.checking.text import JSON, Rejected, names_in, rational, require


class Checker:
    """A certificate being checked, claim by claim."""

    def __init__(self, record: JSON, spare: int = 0, kind: Kind = Space) -> None:
        space = self.space = space_of(record, spare, kind)
        weights, ties = record["weights"], record["ties"]
        for entry in record["definitions"]:
            require("of" in entry, "only calls are defined before F is read")
            space.define(entry)
        F = [space.read(text) for text in record["outputs"]]
        phi, self.sign, n = F, 1, record.get("vector", {}).get("norm")
        if n is not None:
            F = [self.length(phi, n)]
        gradients = [[f.derivative(k) for k in range(space.weights)] for f in [*F, *phi]]
        space.fields = gradients[: len(F)]
        space.relate(ties)
        tied = {weights.index(entry["main"]) for entry in ties}
        self.free = [k for k in range(len(weights)) if k not in tied]
        F, phi, *rows = ([space.without_ties(f) for f in row] for row in [F, phi, *gradients])
        space.fields = rows[: len(F)]
        turning = None
        if n is not None:
            turning = Turning(space.number(self.sign) * phi[0], rows[-1], space.names[n])
        self.flow = Flow(space, F, space.fields, turning, "hessian")
        self.record, self.established, self.g = record, set[str](), ""
        self.covered: set[int] = set()
        self.settle()

    def length(self, phi: Sequence[Function], norm: str) -> Function:
        """Return |beta| = |phi| n of beta = phi u, with the sign of phi at the start."""
        space = self.space
        alone = len(phi) == 1 and norm in space.given[: space.weights]
        require(alone, "a vector stands alone")
        n = space.names[norm].at(space.start)
        require(n > 0 or n == 0, "the length of the vector is not shown to be one at the start")
        at_start = phi[0].at(space.start)
        require(not_zero(at_start), "phi is not shown to be other than 0 at the start")
        self.sign = 1 if at_start > 0 else -1
        return space.number(self.sign) * phi[0] * space.names[norm]

    def laws(self, claim: JSON) -> None:
        """Accept conserved quantities."""
        flow, space = self.flow, self.space
        for entry in claim["definitions"]:
            require("of" in entry, "only calls are defined for laws")
            space.define(entry)
        laws = [space.read(text) for text in claim["laws"]]
        self.require_plain([*claim["laws"], *(v for v in claim["values"] if v is not None)])
        for text, c, value in zip(claim["laws"], laws, claim["values"], strict=True):
            same = value is None or (space.at_start(c) - space.read(value)).is_zero()
            require(same, "a conserved quantity has another value at the start")
            for a, x in enumerate(flow.X, 1):
                require(flow.along(x, c).is_zero(), f"<grad c, grad F{a}> is not 0: {text:.60}")
        point = self.point(claim["point"])
        tied = [k for k in range(space.weights) if k not in self.free]
        free = all(c.derivative(k).is_zero() for c in laws for k in tied)
        require(free, "a law uses a weight that is tied to others")
        gradients = [[c.derivative(k) for k in range(space.weights)] for c in laws]
        require(self.spread(gradients, point), "the gradients are not shown to be independent")
        if claim["brackets"] is not None:
            fields = [flow.nested(tree) for tree in claim["brackets"]]
            complete = len(fields) + len(laws) == len(self.free) and self.spread(fields, point)
            require(complete, "the brackets do not show that these are all conserved quantities")

    def point(self, at: JSON) -> list[Value]:
        """Return the values of all names at a point where the ties hold."""
        space = self.space
        point = space.values([rational(at.get(name)) for name in space.given])
        on = all(space.read(t["zero"]).at(point) == 0 for t in self.record["ties"])
        require(on, "the point is not where the ties hold")
        return point

    def spread(self, fields: Sequence[Field], point: Sequence[Value]) -> bool:
        """Tell whether fields are shown to be independent at a point, in weights that are free."""
        return independent([[x[k].at(point) for k in self.free] for x in fields])

    def exists(self, claim: JSON) -> None:
        """Accept that Q exists: the structure of the fields X_a and V, and eta is closed."""
        flow = self.flow = self.flow.for_claim(claim["claim"])
        if flow.turning is not None and not flow.warped:
            require(flow.turning.H.is_zero(), "the only warp of the vector is not constant")
        moving = self.spread(flow.X, self.space.start) or flow.lives(determinant(flow.K).top)
        require(moving, "the outputs are not shown to move independently along the flow")
        verticals = [flow.field([flow.position(a) for a in path]) for path in claim["paths"]]
        still = all(flow.along(v, f).is_zero() for v, _ in verticals for f in flow.F)
        require(still, "a vertical field moves the outputs")
        fields = [*flow.X, *(v for v, _ in verticals)]
        eta = [*flow.H, *(omega for _, omega in verticals)]
        given = {(i, j): c for i, j, c in claim["structure"]}
        for i, j in combinations(range(len(fields)), 2):
            texts = given.get((i + 1, j + 1), ["0"] * len(verticals))
            self.closes(fields, eta, (i, j), texts)

    def closes(
        self, fields: list[Field], eta: list[Function], pair: tuple[int, int], texts: JSON
    ) -> None:
        """Require [X_i, X_j] = eta_i X_j - eta_j X_i + c V, with these terms for X_a alone.

        The same combination of eta is its curl.
        """
        (i, j), flow = pair, self.flow
        c = [flow.zero] * flow.d + [self.space.read(t) for t in texts]
        if i < flow.d:
            c[i] = flow.zero - eta[j]
        if j < flow.d:
            c[j] = eta[i]
        curl = flow.along(fields[i], eta[j]) - flow.along(fields[j], eta[i])
        rows = [[*field, e] for field, e in zip(fields, eta, strict=True)]
        for k, x in enumerate([*flow.bracket(fields[i], fields[j]), curl]):
            right = sum((ck * row[k] for ck, row in zip(c, rows, strict=True)), flow.zero)
            what = f"the structure of the fields {i + 1}, {j + 1} does not hold identically"
            require((x - right).is_zero(), what)

    def fails(self, claim: JSON) -> None:
        """Accept that a condition, which every warp (or g = 1) needs, fails on the leaf."""
        flow = self.flow.for_claim(claim["claim"])
        values, (kind, path, pair) = self.space.start, claim["identity"]
        path, pair = ([flow.position(a) for a in labels] for labels in (path, pair))
        left, right = flow.sides(kind, path, pair)
        value = flow.derivative((left - right).top, claim["along"]).at(values)
        require(not_zero(value), "the value is 0, or not shown to be other than 0, at this start")
        if not independent([[xk.at(values) for xk in x] for x in flow.X]):
            value = flow.derivative(determinant(flow.K).top, claim["regular"]).at(values)
            require(not_zero(value), "J is not shown to have full rank on the leaf of the start")

    def dual(self, claim: JSON) -> None:
        """Accept g and y with X_a y_b = g delta_ab, as functions of the weights."""
        at = self.outputs(claim)
        self.require_plain([*claim["y"], claim["R"] or "0"])
        for entry in claim["definitions"]:
            self.space.define(entry)
        self.mirror(claim, at)

    def form(self, claim: JSON) -> None:
        """Accept g, y = grad Q and Q as functions of beta."""
        at, flow = self.outputs(claim), self.flow
        self.printed(claim, [flow.F[b] for b in at])
        y = self.mirror(claim, at)
        require(self.g in ("", claim["g"]), "one g serves for all outputs")
        for b, yb in zip(claim["beta"], y, strict=True):
            self.space.vanish_at_start(self.raised(yb, claim), f"the slope along {b}")
        if claim["Q"] is not None:
            rows = [[row[b] * yb for b, yb in zip(at, y, strict=True)] for row in flow.K]
            self.potential(claim["Q"], [sum(row, flow.zero) for row in rows], "Q")

    def raised(self, y: Function, claim: JSON) -> Function:
        """Return what is 0 at w_0: y; of a vector q' + z n, with the term z <u_0, beta> of Q."""
        if self.flow.turning is None:
            return y
        z = self.space.read(claim["linear"])
        require(self.space.is_of_constants(z), "the linear term of Q is not constant")
        return y + self.space.number(self.sign) * z * self.flow.turning.n

    def outputs(self, claim: JSON) -> list[int]:
        """Return the places of the outputs of a claim on Q, which exists."""
        require(self.established & {"hessian", "warp"}, "that Q exists comes before it")
        at = [self.flow.position(a) for a in claim["outputs"]]
        require(at and at == sorted(set(at)), "outputs are listed once, in order")
        self.require_plain([claim["g"]])
        return at

    def mirror(self, claim: JSON, at: Sequence[int]) -> list[Function]:
        """Require that g is the warp, X_a y_b = g delta_ab, and what else is said; return y."""
        flow, read = self.flow, self.space.read
        g, y = read(claim["g"]), [read(text) for text in claim["y"]]
        for x, h in zip(flow.X, flow.H, strict=True):
            require((flow.along(x, g) - h * g).is_zero(), "g is not the warp")
        require(g.at(self.space.start) > 0, "the warp g is not shown to be positive at the start")
        for (a, x), (b, yb) in product(enumerate(flow.X), zip(at, y, strict=True)):
            slope = flow.along(x, yb) - (g if a == b else flow.zero)
            require(slope.is_zero(), f"y{b + 1} is no mirror map along grad F{a + 1}")
        if flow.turning is not None:
            across = g * flow.turning.n - y[0] * flow.turning.phi
            require(across.is_zero(), "y is no mirror map across beta")
        for left, right in claim["equal"]:
            require((read(left) - read(right)).is_zero(), f"{left:.60} is not {right:.60}")
        if claim["R"] is not None:
            slopes = [g * f if a in at else flow.zero for a, f in enumerate(flow.F)]
            self.potential(claim["R"], slopes, "R")
        return y

    def printed(self, claim: JSON, outputs: Sequence[Function]) -> None:
        """Define what a form is written in: beta, constants, roots, and the parameter of a curve.

        Each name in Q and y is fixed on the leaf by what is printed: not just any function there.
        """
        space, z, many = self.space, claim["parameter"], self.flow.d > 1
        fixed = set(space.given[space.weights :])
        numbers = [str(a) if many else "" for a in claim["outputs"]]
        stem = claim["beta"][0].removesuffix(numbers[0])
        require(claim["beta"] == [stem + n for n in numbers], "beta has the numbers of outputs")
        for name, f in zip(claim["beta"], outputs, strict=True):
            require(name not in space.names, f"the name {name!s:.40} is given twice")
            space.names[name] = f
        known = fixed | set(claim["beta"])
        for entry in claim["definitions"]:
            space.define(entry)
            name = entry.get("name")
            if "root of" in entry:
                known |= {name} if names_in([entry["root of"]]) <= known | {name} else set()
            elif name and "is" in entry and names_in([entry.get("value", entry["is"])]) <= fixed:
                known |= {name}
                fixed |= {name}
        if z is not None:
            curve = space.read(claim["curve"]) - outputs[0]
            require(len(outputs) == 1 and curve.is_zero(), "beta is not h(z)")
            require(names_in([claim["curve"]]) <= fixed | {z}, "h uses more than z and constants")
            known |= {z}
        texts = [*claim["y"], claim["Q"] or "0"]
        require(names_in(texts) <= known, "a name that is printed is not fixed by beta")

    def require_plain(self, texts: Sequence[str]) -> None:
        """Require that texts are in weights, constants and calls alone."""
        require(
            names_in(texts) <= set(self.space.given), "a name is used that is defined elsewhere"
        )

    def potential(self, text: str, slopes: Sequence[Function], what: str) -> None:
        """Require the derivatives of a function along the fields."""
        f = self.space.read(text)
        for x, slope in zip(self.flow.X, slopes, strict=True):
            require((self.flow.along(x, f) - slope).is_zero(), f"{what} has another derivative")

    def accept(self, claim: JSON) -> str:
        """Check one claim; return what holds."""
        kind, before, flow = claim["claim"], self.space.scope(), self.flow
        self.space.divisors.clear()
        try:
            CLAIMS[kind](self, claim)
            self.settle()
        except Rejected:
            self.flow = flow
            raise
        finally:
            self.space.leave(before)
        self.established.add(kind)
        if kind in ("form", "not certified"):
            self.covered |= {flow.position(a) for a in claim["outputs"]}
        self.g = claim["g"] if kind == "form" else self.g
        return str(kind)

    def leave_open(self, claim: JSON) -> None:
        """Accept a statement that nothing is shown of."""
        require(isinstance(claim["what"], str) and claim["what"], "it has to be said what")
        require(isinstance(claim["outputs"], list), "the outputs are a list")

    def settle(self) -> None:
        """Require that no divisor so far vanishes on the leaf."""
        divisors, done = self.space.divisors, set[str]()
        while left := [text for text in divisors if text not in done]:  # more turn up on the way
            for text in left:
                require(self.flow.lives(divisors[text]), f"a divisor may be 0: {text:.60}")
            done.update(left)

    def verdict(self) -> str:
        """Return what the claims imply."""
        if "no warp" in self.established:
            return "REFUTED"
        whole = self.covered == set(range(self.flow.d))
        return "PROVED" if self.established & {"hessian", "warp"} and whole else "UNDECIDED"


CLAIMS: dict[str, Callable[[Checker, JSON], None]] = {
    "laws": Checker.laws,
    "hessian": Checker.exists,
    "warp": Checker.exists,
    "no hessian": Checker.fails,
    "no warp": Checker.fails,
    "dual": Checker.dual,
    "form": Checker.form,
    "not certified": Checker.leave_open,
}
