"""Names of a certificate: weights, constants and calls, with what they stand for on the leaf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TypeAlias

from flint import fmpq, fmpz_mpoly

from derive.certificate.checking.function import (
    Function,
    Known,
    Value,
    ball,
    constant,
    evaluated,
    leading,
    not_zero,
    real_roots,
    root_of,
)
from derive.certificate.checking.spelling import Spelled, Spelling
from derive.certificate.checking.text import (
    JSON,
    NAME,
    NotACertificate,
    names_in,
    rational,
    require,
)

ROOTS, LIMIT, OUTPUTS = 100, 400, 60
SHAPES = frozenset(
    frozenset(keys.split("/"))
    for keys in (
        "zero/main",
        "name/of",
        "name/is",
        "name/is/value",
        "name/is/root of/above",
        "of/is",
        "of/is/from",
        "of/is/sin/from",
    )
)

Scope: TypeAlias = tuple[
    dict[str, Function], list[Known], list[tuple[fmpz_mpoly, int]], list[Known]
]


class Space(Spelling):
    """Weights, constants and generators, with their values at a start in numbers."""

    def __init__(self, weights: Sequence[str], constants: Sequence[str], size: int) -> None:
        super().__init__(weights, constants, size)
        self.w0: list[Function] = []
        among = range(self.weights)
        self.fields = [[self.number(i == k) for i in among] for k in among]

    def along(self, x: Sequence[Function], f: Function) -> Function:
        """Return <x, grad f>."""
        used = [(k, xk) for k, xk in enumerate(x) if not xk.top.is_zero()]
        return sum((xk * f.derivative(k) for k, xk in used), self.number(0))

    def values(self, start: Sequence[Value]) -> list[Value]:
        """Return the values of all names, given those of weights and constants."""
        found = list(start)
        for kind, argument, exponent, _ in self.generators:
            x = ball(kind, argument.at(found), exponent.at(found))
            require(isinstance(x, fmpq) or x.is_finite(), f"{kind} has no real value there")
            found.append(x)
        return found

    def started(self, at: dict[str, str]) -> list[Value]:
        """Return the values of all names at a start in numbers."""
        given: list[Value] = [rational(at.get(name)) for name in self.given[self.weights :]]
        known = [*[fmpq(0)] * self.weights, *given]
        return self.values([*(w.at(known) for w in self.w0), *given])

    def at_start(self, f: Function) -> Function:
        """Return a function at w_0, in constants; calls at w_0 are plain or among the known."""
        if f.top.is_constant() and f.bottom.is_constant():
            return f
        images = [*self.w0, *self.symbols[self.weights :]]
        needed = [f]
        for j, (_, argument, _, _) in reversed([*enumerate(self.generators, self.size)]):
            needed += [argument] if any(g.uses(j) for g in needed) else []
        for j, (kind, argument, exponent, _) in enumerate(self.generators, self.size):
            if any(g.uses(j) for g in needed):
                images[j] = self._call_at_start(kind, argument.into(images), exponent)
        return f.into(images)

    def _call_at_start(self, kind: str, u: Function, exponent: Function) -> Function:
        value = None if (x := constant(u)) is None else ball(kind, x, fmpq(0))
        if isinstance(value, fmpq):
            return self.number(value)
        fixed = (c for c in self.known if all(map(self.is_of_constants, (c.argument, c.image))))
        return self.among(fixed, Spelled(kind, u, exponent))

    def vanish_at_start(self, f: Function, what: str) -> None:
        """Require that a function is 0 at w_0."""
        require(self.at_start(f).is_zero(), f"{what} is not 0 at the start")

    def relate(self, entries: Sequence[JSON]) -> None:
        """Add what is 0 on the leaf: 0 at w_0, with derivatives that are 0 where all are."""
        found = []
        for entry in entries:
            text, main = entry["zero"], entry["main"]
            f, k = self.read(text), self.symbols.index(self.names[main])
            self.vanish_at_start(f, f"{text:.60}")
            require(f.top.degrees()[k] > 0, f"{text:.60} does not give {main}")
            regular = not_zero(evaluated(leading(f.top, k), self.start))
            require(regular, f"{text:.60} does not give {main} at the start")
            found.append((f, k))
        self.relations += [(f.top, k) for f, k in found]
        # f' = q f along the fields, and q is regular at the start: f stays 0.
        for f, x in product((f for f, _ in found), self.fields):
            slope = self.along(x, f)
            regular = not_zero(evaluated(f.bottom * slope.bottom, self.start))
            require(slope.is_zero() and regular, "what is 0 at the start does not stay 0")

    def without_ties(self, f: Function) -> Function:
        """Return a function on the leaf in the weights that no relation gives linearly."""
        images = list(self.symbols[: self.weights])
        for relation, k in self.relations:
            g = Function(self, relation, self.one)
            if k < self.weights and relation.degrees()[k] == 1:
                rest = Function(self, relation - leading(relation, k) * images[k].top, self.one)
                images[k] = self.number(0) - rest / g.partial(k)
        return f.into(images) if any(f.uses(k) for _, k in self.relations) else f

    def scope(self) -> Scope:
        """Return what definitions change."""
        return dict(self.names), list(self.known), list(self.relations), list(self.generators)

    def leave(self, before: Scope) -> None:
        """Forget the definitions since *before*."""
        self.names, self.known, self.relations, self.generators = before
        self.start = self.start[: self.size + len(self.generators)]
        self.slopes = {key: f for key, f in self.slopes.items() if key[0] < len(self.start)}

    def define(self, entry: JSON) -> None:
        """Add a definition."""
        require(frozenset(entry) in SHAPES, "a definition has the wrong entries")
        if "zero" in entry:
            self.relate([entry])
            return
        require(entry.get("name") not in self.names, "a name is given twice")
        if "name" in entry:
            require(NAME.fullmatch(entry["name"]), "a name is letters, digits and underscores")
        if "of" not in entry:
            self._define_name(entry)
        elif "is" not in entry:
            self._define_generator(entry["name"], self.call(entry["of"]))
        else:
            self._define_call(entry, self.call(entry["of"]))

    def _define_name(self, entry: JSON) -> None:
        """Add a name for a function: a constant of the flow, a root, or an abbreviation."""
        named = self.names[entry["name"]] = self.read(entry["is"])
        if "value" in entry:
            value = self.read(entry["value"])
            self.vanish_at_start(named - value, entry["name"])
            kept = all(self.along(x, named).is_zero() for x in self.fields)
            require(kept and self.is_of_constants(value), f"{entry['name']} is not conserved")
        if "root of" in entry:
            self._branch(entry, named)

    def _define_generator(self, name: str, call: Spelled) -> None:
        """Add a generator, with the relation of a root, or of a sine to its cosine."""
        kind, argument, exponent = call
        require(self.is_of_constants(exponent), "an exponent changes with the weights")
        k = self.size + len(self.generators)
        image = self.symbols[k]
        if kind == "power" and (n := root_of(exponent)):
            self.relations.append(((image**n - argument).top, k))
        elif kind == "sin":
            rest = image**2 + self.find("cos", argument) ** 2 - self.number(1)
            self.relations.append((rest.top, k))
        self.names[name] = image
        self.generators.append(Known(*call, image))
        self.start = self.values(self.start[: self.size])
        self.known.append(Known(*call, image))

    def _define_call(self, entry: JSON, call: Spelled) -> None:
        """Add a call that is shown to be a known function."""
        require(self.is_of_constants(call.exponent), "an exponent changes with the weights")
        image = self.read(entry["is"])
        parts = [(self.call(t), rational(n)) for t, n in entry.get("from", ())]
        if call.kind == "cos":
            sine = self.read(entry["sin"])
            same = self.is_angle(call.argument, image, sine, parts)
            require(same, f"{entry['of']} is another angle")
            self.known.append(Known("sin", call.argument, call.exponent, sine))
        else:
            same = self.is_call(call, image, parts)
            require(same, f"{entry['of']} is not shown to be {entry['is']:.60}")
        self.known.append(Known(*call, image))

    def _branch(self, entry: JSON, image: Function) -> None:
        """Require that a name is the root of a polynomial that it is said to be."""
        name, k = entry["name"], len(self.symbols) - 1
        require(self.read(entry["root of"]).is_zero(), f"{name} does not solve its polynomial")
        self.names[name] = self.symbols[k]
        P = self.read(entry["root of"]).top
        self.names[name] = image
        require(P.degrees()[k] <= ROOTS, f"the polynomial of {name} has too high a degree")
        root, coefficients = image.at(self.start), list[Value]()
        while not P.is_zero():
            n, lead = int(P.degrees()[k]), leading(P, k)
            coefficients += [fmpq(0)] * max(0, n + 1 - len(coefficients))
            coefficients[n] = fmpq(1) * evaluated(lead, self.start)
            P = P - lead * self.symbols[k].top ** n
        # Real roots come as disjoint balls: all but the one that is the root lie on a side of it.
        real = real_roots(coefficients)
        simple = [n for x, n in real if not (x > root or x < root)] == [1]
        above = sum(n for x, n in real if x > root)
        require(simple and above == entry["above"], f"{name} is another root of its polynomial")


Kind: TypeAlias = Callable[[Sequence[str], Sequence[str], int], Space]


def space_of(record: JSON, spare: int, kind: Kind) -> Space:
    """Return the names of a certificate, with w_0 and its values in numbers."""
    weights, claims, parameters = record["weights"], record["claims"], record["parameters"]
    for key in ("outputs", "weights", "parameters", "definitions", "ties", "claims"):
        require(isinstance(record[key], list), f"{key} is a list")
    symbols = names_in(record["start"].values()) - set(parameters)
    room = max((len(c.get("definitions", ())) for c in claims), default=0)
    if len(claims) > LIMIT or len(record["outputs"]) > OUTPUTS or not record["outputs"]:
        raise NotACertificate("there are too many outputs or claims, or no output")
    room += len(record["definitions"]) + 1 + spare
    space = kind(weights, [*parameters, *sorted(symbols)], room)
    if set(record["start"]) != set(weights):
        raise NotACertificate("the start does not give every weight")
    space.w0 = [space.read(record["start"][w]) for w in weights]
    require(all(space.is_of_constants(w) for w in space.w0), "the start uses a weight")
    space.start = space.started(record["at"])
    plain = {*weights, *parameters}
    require(names_in(record["outputs"]) <= plain, "F has other names than it should")
    return space
