"""The claims of a certificate, checked one by one: see :mod:`derive.certificate.checking`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, islice, product
from typing import Any

from derive.certificate.checking.flow import Flow, determinant, independent
from derive.certificate.checking.function import Function, evaluated, not_zero
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import NotACertificate, Rejected, names_in, rational, require

ORDER, PATHS, LIMIT, OUTPUTS = 3, 200, 400, 60


class Checker:
    """A certificate being checked, claim by claim."""

    def __init__(self, record: Any, spare: int = 0) -> None:
        weights, claims = record["weights"], record["claims"]
        for key in ("outputs", "weights", "parameters", "definitions", "ties", "claims"):
            require(isinstance(record[key], list), f"{key} is a list")
        symbols = names_in(record["start"].values()) - set(record["parameters"])
        room = max((len(c.get("definitions", ())) for c in claims), default=0)
        if len(claims) > LIMIT or len(record["outputs"]) > OUTPUTS or not record["outputs"]:
            raise NotACertificate("there are too many outputs or claims, or no output")
        constants = [*record["parameters"], *sorted(symbols)]
        room += len(record["definitions"]) + 1 + spare
        space = self.space = Space(weights, constants, room)
        if set(record["start"]) != set(weights):
            raise NotACertificate("the start does not give every weight")
        space.w0 = [space.read(record["start"][w]) for w in weights]
        require(all(space.is_of_constants(w) for w in space.w0), "the start uses a weight")
        space.start = space.started(record["at"])
        plain = {*weights, *record["parameters"]}
        require(names_in(record["outputs"]) <= plain, "F has other names than it should")
        for entry in record["definitions"]:
            require("of" in entry, "only calls are defined before F is read")
            space.define(entry)
        F = [space.read(text) for text in record["outputs"]]
        space.fields = [[f.derivative(k) for k in range(space.weights)] for f in F]
        space.relate(record["ties"])
        tied = {weights.index(entry["main"]) for entry in record["ties"]}
        self.free = [k for k in range(len(weights)) if k not in tied]
        F, *space.fields = ([space.without_ties(f) for f in row] for row in [F, *space.fields])
        self.flow = Flow(space, F, space.fields, False)
        self.record, self.established, self.g = record, set[str](), ""
        self.covered: set[int] = set()
        self.settle()

    def laws(self, claim: Any) -> None:
        """Accept conserved quantities."""
        flow, space, at = self.flow, self.space, claim["point"]
        for entry in claim["definitions"]:
            require("of" in entry, "only calls are defined for laws")
            space.define(entry)
        laws = [space.read(text) for text in claim["laws"]]
        self.require_plain([*claim["laws"], *(v for v in claim["values"] if v is not None)])
        for c, value in zip(laws, claim["values"], strict=True):
            same = value is None or (space.at_start(c) - space.read(value)).is_zero()
            require(same, "a conserved quantity has another value at the start")
        for text, c in zip(claim["laws"], laws, strict=True):
            for a, x in enumerate(flow.X, 1):
                require(flow.along(x, c).is_zero(), f"<grad c, grad F{a}> is not 0: {text:.60}")
        point = space.values([rational(at.get(name)) for name in list(space.names)[: space.size]])
        tied = [k for k in range(space.weights) if k not in self.free]
        free = all(c.derivative(k).is_zero() for c in laws for k in tied)
        require(free, "a law uses a weight that is tied to others")
        on = all(space.read(t["zero"]).at(point) == 0 for t in self.record["ties"])
        require(on, "the point is not where the ties hold")
        rows = [[c.derivative(k).at(point) for k in self.free] for c in laws]
        require(independent(rows), "the gradients are not shown to be independent")
        if claim["brackets"] is not None:
            fields = [flow.nested(tree) for tree in claim["brackets"]]
            rows = [[x[k].at(point) for k in self.free] for x in fields]
            complete = len(rows) + len(laws) == len(self.free) and independent(rows)
            require(complete, "the brackets do not show that these are all conserved quantities")

    def exists(self, claim: Any) -> None:
        """Accept that Q exists: the structure of the fields X_a and V, and eta is closed."""
        flow, space = self.flow, self.space
        flow = self.flow = flow.with_warp(claim["claim"] == "warp")
        rows = [[x[k].at(space.start) for k in self.free] for x in flow.X]
        require(independent(rows), "the outputs are not shown to move independently at the start")
        paths = [[flow.position(a) for a in path] for path in claim["paths"]]
        verticals = [flow.field(path) for path in paths]
        still = all(flow.along(v, f).is_zero() for v, _ in verticals for f in flow.F)
        require(still, "a vertical field moves the outputs")
        fields = [*flow.X, *(v for v, _ in verticals)]
        eta = [*flow.H, *(omega for _, omega in verticals)]
        given = {(i, j): c for i, j, c in claim["structure"]}
        for i, j in combinations(range(len(fields)), 2):
            c = [flow.zero] * flow.d
            c += [space.read(t) for t in given.get((i + 1, j + 1), ["0"] * len(verticals))]
            if j < flow.d:
                c[i], c[j] = flow.zero - eta[j], eta[i]
            elif i < flow.d:
                c[i] = flow.zero - eta[j]
            curl = flow.along(fields[i], eta[j]) - flow.along(fields[j], eta[i])
            left = [*flow.bracket(fields[i], fields[j]), curl]
            rows = [[*field, e] for field, e in zip(fields, eta, strict=True)]
            for k, x in enumerate(left):
                right = sum((ck * row[k] for ck, row in zip(c, rows, strict=True)), flow.zero)
                what = f"the structure of the fields {i + 1}, {j + 1} does not hold identically"
                require((x - right).is_zero(), what)

    def fails(self, claim: Any) -> None:
        """Accept that a condition, which every warp (or g = 1) needs, fails on the leaf."""
        space = self.space
        flow = self.flow.with_warp(claim["claim"] == "no warp")
        values, (kind, path, pair) = space.start, claim["identity"]
        path, pair = ([flow.position(a) for a in labels] for labels in (path, pair))
        left, right = flow.sides(kind, path, pair)
        value = self.derivative((left - right).top, claim["along"]).at(values)
        require(not_zero(value), "the value is 0, or not shown to be other than 0, at this start")
        if not independent([[xk.at(values) for xk in x] for x in flow.X]):
            value = self.derivative(determinant(flow.K).top, claim["regular"]).at(values)
            require(not_zero(value), "J is not shown to have full rank on the leaf of the start")

    def mirror(self, claim: Any) -> None:
        """Accept g and y with X_a y_b = g delta_ab, as functions of the weights or in beta."""
        flow, space, read = self.flow, self.space, self.space.read
        require(self.established & {"hessian", "warp"}, "that Q exists comes before it")
        at = [flow.position(a) for a in claim["outputs"]]
        require(at and at == sorted(set(at)), "outputs are listed once, in order")
        self.require_plain([claim["g"]])
        if claim["claim"] == "form":
            self.printed(claim, [flow.F[b] for b in at])
        else:
            self.require_plain([*claim["y"], claim["R"] or "0"])
            for entry in claim["definitions"]:
                space.define(entry)
        g, y = read(claim["g"]), [read(text) for text in claim["y"]]
        for a, x in enumerate(flow.X):
            require((flow.along(x, g) - flow.H[a] * g).is_zero(), "g is not the warp")
        require(g.at(space.start) > 0, "the warp g is not shown to be positive at the start")
        for a, x in enumerate(flow.X):
            for b, yb in zip(at, y, strict=True):
                slope = flow.along(x, yb) - (g if a == b else flow.zero)
                require(slope.is_zero(), f"y{b + 1} is no mirror map along grad F{a + 1}")
        for left, right in claim["equal"]:
            require((read(left) - read(right)).is_zero(), f"{left:.60} is not {right:.60}")
        if claim["R"] is not None:
            pairs = [(x, g * flow.F[a] if a in at else flow.zero) for a, x in enumerate(flow.X)]
            self.potential(claim["R"], pairs, "R")
        if claim["claim"] == "form":
            require(self.g in ("", claim["g"]), "one g serves for all outputs")
            for b, yb in zip(claim["beta"], y, strict=True):
                space.vanish_at_start(yb, f"the slope along {b}")
            if claim["Q"] is not None:
                slopes = [
                    [flow.K[a][b] * yb for b, yb in zip(at, y, strict=True)] for a in range(flow.d)
                ]
                pairs = [(x, sum(s, flow.zero)) for x, s in zip(flow.X, slopes, strict=True)]
                self.potential(claim["Q"], pairs, "Q")

    def printed(self, claim: Any, outputs: Sequence[Function]) -> None:
        """Define what a form is written in: beta, constants, roots, and the parameter of a curve.

        Each name in Q and y is fixed on the leaf by what is printed: not just any function there.
        """
        space, z = self.space, claim["parameter"]
        fixed = set(list(space.names)[space.weights : space.size])
        numbers = [str(a) if self.flow.d > 1 else "" for a in claim["outputs"]]
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
        plain = set(list(self.space.names)[: self.space.size])
        require(names_in(texts) <= plain, "a name is used that is defined elsewhere")

    def potential(self, text: str, slopes: Sequence[Any], what: str) -> None:
        """Require the derivatives of a function along the fields."""
        f = self.space.read(text)
        for x, slope in slopes:
            require((self.flow.along(x, f) - slope).is_zero(), f"{what} has another derivative")

    def derivative(self, polynomial: Any, labels: Sequence[Any]) -> Function:
        """Return an iterated derivative of a polynomial along fields."""
        f = Function(self.space, polynomial, self.space.one)
        for label in labels:
            f = self.flow.along(self.flow.X[self.flow.position(label)], f)
        return f

    def lives(self, polynomial: Any) -> bool:
        """Tell whether a polynomial is shown not to be 0 on all of the leaf of the start."""
        if not_zero(evaluated(polynomial, self.space.start)):
            return True
        common = polynomial
        for k in range(len(self.space.symbols)):
            common = common.gcd(polynomial.derivative(k))
        polynomial = polynomial / common  # each factor once
        labels = range(1, self.flow.d + 1)
        paths = (path for n in range(ORDER + 1) for path in product(labels, repeat=n))
        tried = islice(paths, PATHS)
        return any(not_zero(self.derivative(polynomial, p).at(self.space.start)) for p in tried)

    def accept(self, claim: Any) -> str:
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

    def leave_open(self, claim: Any) -> None:
        """Accept a statement that nothing is shown of."""
        require(isinstance(claim["what"], str) and claim["what"], "it has to be said what")
        require(isinstance(claim["outputs"], list), "the outputs are a list")

    def settle(self) -> None:
        """Require that no divisor so far vanishes on the leaf."""
        divisors, done = self.space.divisors, set[str]()
        while left := [text for text in divisors if text not in done]:  # more turn up on the way
            for text in left:
                require(self.lives(divisors[text]), f"a divisor may be 0: {text:.60}")
            done.update(left)

    def verdict(self) -> str:
        """Return what the claims imply."""
        if "no warp" in self.established:
            return "REFUTED"
        whole = self.covered == set(range(self.flow.d))
        return "PROVED" if self.established & {"hessian", "warp"} and whole else "UNDECIDED"


CLAIMS: dict[str, Callable[[Checker, Any], None]] = {
    "laws": Checker.laws,
    "hessian": Checker.exists,
    "warp": Checker.exists,
    "no hessian": Checker.fails,
    "no warp": Checker.fails,
    "dual": Checker.mirror,
    "form": Checker.mirror,
    "not certified": Checker.leave_open,
}
