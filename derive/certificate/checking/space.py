"""Names of a certificate: weights, constants and calls, with what they stand for on the leaf."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from flint import Ordering, fmpq, fmpz_mpoly_ctx

from derive.certificate.checking.calls import is_angle, is_call, slope
from derive.certificate.checking.function import (
    Function,
    ball,
    constant,
    evaluated,
    leading,
    not_zero,
    real_roots,
    remainder,
    root_of,
)
from derive.certificate.checking.reading import call, read
from derive.certificate.checking.text import NAME, NotACertificate, Rejected, rational, require

NAMES, ROOTS = 400, 100
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


class Space:
    """Weights, constants and generators, with their values at a start in numbers."""

    def __init__(self, weights: Sequence[str], constants: Sequence[str], size: int) -> None:
        given = [*weights, *constants]
        if len(set(given)) < len(given) or not all(NAME.fullmatch(n) for n in given):
            raise NotACertificate("names are letters, digits and underscores, each given once")
        self.size, self.weights, self.work = len(given), len(weights), 0
        require(self.size + size <= NAMES, "there are too many names")
        ring = fmpz_mpoly_ctx.get([f"x{i}" for i in range(self.size + size)], Ordering.degrevlex)
        self.one = ring.constant(1)
        self.symbols = [Function(self, x, self.one) for x in ring.gens()]
        self.names = dict(zip(given, self.symbols, strict=False))
        self.generators: list[tuple[str, Function, Function, Function]] = []
        self.known: list[tuple[str, Function, Function, Function]] = []
        self.relations: list[tuple[Any, int]] = []
        self.divisors: dict[str, Any] = {}
        self.slopes: dict[tuple[int, int], Function] = {}
        self.w0: list[Function] = []
        self.start: list[Any] = []
        self.fields = [
            [self.number(i == k) for i in range(self.weights)] for k in range(self.weights)
        ]

    def number(self, x: Any) -> Function:
        """Return a rational number as a function."""
        return Function(self, self.one * fmpq(x).p, self.one * fmpq(x).q)

    def along(self, x: Sequence[Function], f: Function) -> Function:
        """Return <x, grad f>."""
        used = [(k, xk) for k, xk in enumerate(x) if not xk.top.is_zero()]
        return sum((xk * f.derivative(k) for k, xk in used), self.number(0))

    def reduce(self, polynomial: Any) -> Any:
        """Return the remainder of a polynomial by all relations, the last first."""
        for relation, k in 2 * self.relations[::-1]:
            polynomial, _ = remainder(polynomial, relation, k)
        return polynomial

    def values(self, start: Sequence[Any]) -> list[Any]:
        """Return the values of all names, given those of weights and constants."""
        found = list(start)
        for kind, argument, exponent, _ in self.generators:
            x = ball(kind, argument.at(found), exponent.at(found))
            require(isinstance(x, fmpq) or x.is_finite(), f"{kind} has no real value there")
            found.append(x)
        return found

    def started(self, at: dict[str, str]) -> list[Any]:
        """Return the values of all names at a start in numbers."""
        constants = list(self.names)[self.weights : self.size]
        known = [fmpq(0)] * self.weights + [rational(at.get(name)) for name in constants]
        return self.values([w.at(known) for w in self.w0] + known[self.weights :])

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
                u = argument.into(images)
                value = None if (x := constant(u)) is None else ball(kind, x, fmpq(0))
                exact = isinstance(value, fmpq)
                images[j] = self.number(value) if exact else self.find(kind, u, exponent, True)
        return f.into(images)

    def vanish_at_start(self, f: Function, what: str) -> None:
        """Require that a function is 0 at w_0."""
        require(self.at_start(f).is_zero(), f"{what} is not 0 at the start")

    def relate(self, entries: Sequence[Any]) -> None:
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

    def scope(self) -> tuple[Any, ...]:
        """Return what definitions change."""
        return dict(self.names), list(self.known), list(self.relations), list(self.generators)

    def leave(self, before: tuple[Any, ...]) -> None:
        """Forget the definitions since *before*."""
        self.names, self.known, self.relations, self.generators = before
        self.start = self.start[: self.size + len(self.generators)]
        self.slopes = {key: f for key, f in self.slopes.items() if key[0] < len(self.start)}

    def is_of_constants(self, f: Function) -> bool:
        """Tell whether a function has no weight in it, nor a call of one."""
        varying = [*range(self.weights)]
        for j, (_, u, e, _) in enumerate(self.generators, self.size):
            if any(x.uses(k) for x in (u, e) for k in varying):
                varying.append(j)
        return not any(f.uses(k) for k in varying)

    def define(self, entry: Any) -> None:
        """Add a definition."""
        require(frozenset(entry) in SHAPES, "a definition has the wrong entries")
        if "zero" in entry:
            self.relate([entry])
            return
        require(entry.get("name") not in self.names, "a name is given twice")
        if "name" in entry:
            require(NAME.fullmatch(entry["name"]), "a name is letters, digits and underscores")
        if "of" not in entry:
            named = self.names[entry["name"]] = self.read(entry["is"])
            if "value" in entry:
                value = self.read(entry["value"])
                self.vanish_at_start(named - value, entry["name"])
                kept = all(self.along(x, named).is_zero() for x in self.fields)
                require(kept and self.is_of_constants(value), f"{entry['name']} is not conserved")
            if "root of" in entry:
                self._branch(entry, named)
            return
        kind, argument, exponent = self.call(entry["of"])
        require(self.is_of_constants(exponent), "an exponent changes with the weights")
        if "is" not in entry:
            k = self.size + len(self.generators)
            image = self.symbols[k]
            if kind == "power" and (n := root_of(exponent)):
                self.relations.append(((image**n - argument).top, k))
            elif kind == "sin":
                rest = image**2 + self.find("cos", argument) ** 2 - self.number(1)
                self.relations.append((rest.top, k))
            self.names[entry["name"]] = image
            self.generators.append((kind, argument, exponent, image))
            self.start = self.values(self.start[: self.size])
            self.known.append((kind, argument, exponent, image))
            return
        image = self.read(entry["is"])
        parts = [(self.call(t), rational(n)) for t, n in entry.get("from", ())]
        if kind == "cos":
            sine = self.read(entry["sin"])
            require(is_angle(self, argument, image, sine, parts), f"{entry['of']} is another angle")
            self.known.append(("sin", argument, exponent, sine))
        else:
            same = is_call(self, kind, argument, exponent, image, parts)
            require(same, f"{entry['of']} is not shown to be {entry['is']:.60}")
        self.known.append((kind, argument, exponent, image))

    def slope_of(self, j: int, k: int) -> Function:
        """Return the derivative of the generator at place j by weight or constant k."""
        if (j, k) not in self.slopes:
            kind, argument, exponent, f = self.generators[j - self.size]
            total, inner = self.number(0), argument.derivative(k)
            if not inner.top.is_zero():
                total = slope(self, kind, argument, exponent, f) * inner
            if kind == "power" and not (change := exponent.derivative(k)).top.is_zero():
                total = total + f * self.find("log", argument) * change
            self.slopes[j, k] = total
        return self.slopes[j, k]

    def _branch(self, entry: Any, image: Function) -> None:
        """Require that a name is the root of a polynomial that it is said to be."""
        name, k = entry["name"], len(self.symbols) - 1
        require(self.read(entry["root of"]).is_zero(), f"{name} does not solve its polynomial")
        self.names[name] = self.symbols[k]
        P = self.read(entry["root of"]).top
        self.names[name] = image
        require(P.degrees()[k] <= ROOTS, f"the polynomial of {name} has too high a degree")
        root, coefficients = image.at(self.start), list[Any]()
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

    def read(self, text: Any) -> Function:
        """Return the function that a text of the language stands for; nothing is evaluated."""
        return read(self, text)

    def call(self, text: Any) -> tuple[str, Function, Function]:
        """Return kind, argument and exponent of a text that is a call or a power."""
        return call(self, text)

    def find(
        self, kind: str, argument: Function, exponent: Function | None = None, fixed: bool = False
    ) -> Function:
        """Return what a call was defined to be; if *fixed*, only what has no weight in it."""
        exponent = exponent or self.number(0)
        for known, u, e, image in self.known:
            if known != kind or (fixed and not all(map(self.is_of_constants, (u, image)))):
                continue
            for rest in (u - argument, u + argument)[: 2 if kind == "log" else 1]:
                differ = not_zero(rest.at(self.start))
                if not differ and rest.is_zero() and (e - exponent).is_zero():
                    return image
        raise Rejected(f"a call of {kind} is used that is not among the definitions")
