"""The calls that F, logarithms and forms use, as definitions: known functions of the weights.

What the checker will read is read here first, in a space that defines each call that it does not
know: as a function of what is known, where it is one, or else as a generator.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from math import prod
from typing import TypeAlias, cast

import sympy

from derive.certificate.checking.function import Function, constant, not_zero, root_of
from derive.certificate.checking.reading import Call, call_of
from derive.certificate.checking.signs import Conditions
from derive.certificate.checking.space import SLOPES, Space
from derive.certificate.checking.text import JSON, Rejected, rational
from derive.certificate.checking.theorem import Checker, rate_texts, space_of
from derive.certificate.writing import products
from derive.certificate.writing.products import text_of
from derive.clock import Clock
from derive.errors import DeriveError
from derive.exact.field.function_field import FunctionField
from derive.exact.field.polynomial import factorize
from derive.exact.towers.tower import Tower
from derive.language import parse_expression
from derive.model.parameterization import Parameterization

Names: TypeAlias = "Callable[[Sequence[str], Sequence[str], int], Naming]"
ROOM = 60


class Naming(Space):
    """Names of a certificate that is being written, where a call that is not known is defined."""

    definitions: Definitions | None = None
    met: tuple[Call, ...] = ()
    clock, integral = Clock.of(None), ""

    def spend(self, work: int) -> None:
        """Count what is multiplied; OutOfTime where the clock has run out."""
        self.clock.check()
        super().spend(work)

    def _call(self, node: ast.expr, depth: int) -> Call:
        call = super()._call(node, depth)
        if call.kind.startswith("Integral"):
            self.integral = ast.unparse(node)
        return call

    def find(self, kind: str, argument: Function, exponent: Function | None = None) -> Function:
        """Return what a call is, defined now if it is not known."""
        call = Call(kind, argument, exponent or self.number(0))
        if self.definitions is not None and not self.knows(call):
            if any(x.kind == kind and x.argument.same(argument) for x in self.met):
                raise Rejected(f"{kind} is defined by itself")
            held, self.also = (self.also, dict(self.divisors), list(self.signs)), {}
            before, self.met = self.met, (*self.met, call)
            try:
                self.definitions.meet(call)
            finally:  # what was divided by in the search is not owed
                self.met, (self.also, self.divisors, self.signs) = before, held
        return super().find(kind, argument, exponent)

    def _call_at_start(self, kind: str, u: Function, exponent: Function) -> Function:
        with contextlib.suppress(Rejected):
            return super()._call_at_start(kind, u, exponent)
        self.find(kind, u, exponent)
        return super()._call_at_start(kind, u, exponent)

    def define(self, entry: JSON) -> None:
        """Add a definition, and write it down once, after those of the calls that it is by."""
        super().define(entry)
        entries = [] if self.definitions is None else self.definitions.entries
        entries += [entry] * (entry not in entries)

    def beside(self, names: Sequence[str], constants: Sequence[str], room: int) -> Space:
        """Return a space of other names, whose definitions are written down by themselves."""
        alone = Naming(names, constants, ROOM)
        if (here := self.definitions) is not None:
            alone.definitions = Definitions(alone, here.taken)
            here.beside = alone.definitions.entries
        return alone

    def knows(self, call: Call) -> bool:
        """Tell whether a call is known."""
        try:
            super().find(*call[:3])
        except Rejected:
            return False
        return True

    def text(self, call: Call) -> str:
        """Return a call as text in the names here."""
        return self.integral if call.kind.startswith("Integral") else call_of(call, text_of)


def timed(clock: Clock, weights: Sequence[str], constants: Sequence[str], room: int) -> Naming:
    """Return such names, as long as a clock allows."""
    space = Naming(weights, constants, room)
    space.clock = clock
    return space


class Definitions:
    """Definitions that a space accepts, in the order in which they need one another."""

    def __init__(self, space: Space, taken: set[str]) -> None:
        self.space, self.taken = cast(Naming, space), taken
        self.entries, self.beside = list[JSON](), list[JSON]()

    def __enter__(self) -> Naming:
        """Define what is met from now on."""
        self.space.definitions, self.entries = self, []
        return self.space

    def __exit__(self, *_: object) -> None:
        self.space.definitions = None

    def meet(self, call: Call) -> None:
        """Define a call that is not known: an exponential by others, or all by themselves."""
        entry = products.exponential(self.space, call) if call.kind == "exp" else None
        self.space.define(entry) if entry else self.name(call)

    def name(self, call: Call) -> None:
        """Name a call as a generator, after the calls that its derivative has."""
        kind, u, e, _ = call
        text = self.space.text(call)
        if kind.startswith("Integral"):
            self.space.integrand(text, u)
        else:
            self.space.read(SLOPES[kind], {"f": u, "u": u, "e": e})
        if not self.space.knows(call):
            named = (e["name"] for e in self.entries if "name" in e and e.get("of") == text)
            self.space.define({"name": next(named, None) or self.fresh(), "of": text})
        if kind == "cos":
            self.space.find("sin", u)

    def fresh(self) -> str:
        """Return a name that is not taken."""
        name = next(name for n in count(1) if (name := f"f{n}") not in self.taken)
        self.taken.add(name)
        return name


class Calls(Definitions):
    """Names for calls, defined in the record of a certificate; those of F come first."""

    def __init__(self, record: JSON, p: Parameterization, make: Names, index: int = 1) -> None:
        """Name them; exponentials are powers of those of exponents divided by an *index*."""
        given, proof = record["parameterization"], record["certificate"]
        self.fields: tuple[FunctionField, ...] = ()

        def named(weights: Sequence[str], constants: Sequence[str], room: int) -> Naming:
            space, taken = make(weights, constants, room), {*weights, *constants}
            super(Calls, self).__init__(space, taken)
            return self.__enter__()

        space_of(given, proof, ROOM, named)
        space, self.positive = self.space, p.positive
        for field in (p.field, p.start_field):
            for g in field.generators:
                if g.kind == "exp" and index > 1:
                    space.read(f"exp(({field.embed(g.argument).in_moduli()})/{index})")
                if g.kind != "parameter":
                    space.read(field.named(g.name).in_moduli())
        self.fields = p.start_field, p.field
        F = [given["coefficient"]] if p.vectors else given["outputs"]
        for text in [*F, *rate_texts(given), record["warping"]["g"] or "1"]:
            space.read(text)
        pieces = record["potential"]["pieces"]
        Conditions(space, [text for piece in pieces for text in piece["assumptions"]], space.given)
        for call in list(space.known):
            space.at_start(call.image)
        ties = {w: space.read(tree) for w, tree in given["ties"].items()}
        for call in list(space.generators) if ties else ():
            space.find(call.kind, space.read(space.written(call.argument), ties), call.exponent)

    def meet(self, call: Call) -> None:
        """Define a call as what it is in the fields of F, or else as a generator."""
        space = self.space
        if call.kind == "sin":
            space.find("cos", call.argument)
        varies = not space.is_of_constants(call.argument)
        for field in self.fields[varies : varies + 1]:
            before, size = space.scope(), len(self.entries)
            try:
                space.define(self._in_field(call, field))
            except (DeriveError, LookupError, Rejected, ValueError):
                space.leave(before)  # a tie may have symbols of the start
                del self.entries[size:]
        if not space.knows(call):
            shared = bool(self.fields) and call.kind == "log"
            entry = products.logarithm(space, call) if shared else None
            space.define(entry) if entry else super().meet(call)

    def _in_field(self, call: Call, field: FunctionField) -> JSON:
        """Return the definition of a call in the generators of a field."""
        text = call_of(call, self.space.written)

        def written(text: str) -> Function:
            tree = parse_expression(text.replace("Abs", ""))
            element = Tower.over(field, self.positive).element(tree)
            return self.space.read(field.embed(element).in_moduli())

        if call.kind != "cos":
            return products.as_product(self.space, call, written(text))
        sine, parts = written("sin" + text.removeprefix("cos")), products.angles(self.space, call)
        return {"of": text, "is": text_of(written(text)), "sin": text_of(sine), "from": parts}


FACTORED, LARGEST = 400, 10**12


class FormDefinitions(Definitions):
    """Definitions of calls as functions of the weights.

    Roots are factors of what they are roots of, or *candidates*, entries of K, outputs, weights, or
    functions of a *chart*; *powers* are (B, E, f) with B^E = f on the leaf.
    """

    def __init__(self, state: Checker, calls: Calls, chart: list[str]) -> None:
        super().__init__(state.space, calls.taken)
        self.chart = chart
        K, F = state.flow.K, state.flow.F
        self.known = [*(k for row in K for k in row), *F, *self.space.symbols[: self.space.weights]]
        self.candidates: list[Function] = []
        self.powers: list[tuple[Function, Function, Function]] = []

    def meet(self, call: Call) -> None:
        """Define a call as a function of the weights, where it is one."""
        kind, u, e, _ = call
        entry: JSON = None
        if kind == "log":
            entry = products.logarithm(self.space, call)
        elif kind == "power":
            n = root_of(e)
            image = self._real_power(u, e) if n is None else self._root_of(u, n)
            entry = None if image is None else products.as_product(self.space, call, image)
        elif kind in ("sin", "cos"):
            with contextlib.suppress(Rejected):
                entry = self._cosine(call._replace(kind="cos"))
        if self.space.knows(call):
            return
        self.space.define(entry) if entry else super().meet(call)

    def _cosine(self, call: Call) -> JSON:
        """Return the definition of a cosine and its sine by angles that are known."""
        parts = products.angles(self.space, call)
        parts_read = [(self.space.call(part), rational(n)) for part, n in parts]
        units = [(self.space.unit(x, self.space.find(*x[:3])), n) for x, n in parts_read]
        c, s = map(text_of, self.space.turned(units))
        return {"of": self.space.text(call), "is": c, "sin": s, "from": parts}

    def _root_of(self, argument: Function, n: int) -> Function | None:
        """Return the n-th root of a function, positive at the start, or None."""
        number = constant(argument)
        if number is not None and number.q == 1 and sympy.isprime(int(number.p)):
            return None
        for g in self.candidates:
            if (g**n).same(argument):
                return g
        image: Function | None
        up, down = (products.reduced(self.space, x) for x in (argument.top, argument.bottom))
        for f in (argument, up / down):
            top, bottom = (self._root(self.space.of(x), n) for x in (f.top, f.bottom))
            if top is not None and bottom is not None:
                image = top / bottom
                break
        else:
            image = self._beside_powers(argument, n)
        return -image if image is not None and image.at(self.space.start) < 0 else image

    def _beside_powers(self, f: Function, n: int) -> Function | None:
        """Return the root of w^n/F by that of what is left of f beside n-th powers, or None."""
        of, below = self.space.of, f.bottom
        powers = ((of(p), e // n) for p, e in factorize(f.top * below ** (n - 1))[1] if e >= n)
        whole = prod((p**k for p, k in powers), start=self.space.number(1))
        if constant(whole) is not None:
            return None
        whole = whole / of(below)
        return whole * self.space.read(f"({text_of(f / whole**n)})**(1/{n})")

    def _root(self, f: Function, n: int) -> Function | None:
        """Return a function whose n-th power is f on the leaf: a factor, or an entry of K."""
        found = self._power_root(f, n) or self._power_root(products.reduced(self.space, f.top), n)
        if found is not None:
            return found
        for g in [*self.known, *(self.space.read(text) for text in self.chart)]:
            rest = g**n - f
            if not not_zero(rest.at(self.space.start)) and rest.is_zero():
                return g
        return None

    def _power_root(self, f: Function, n: int) -> Function | None:
        """Return a function of which f is the n-th power, with roots of primes, or None."""
        space = self.space
        if f.top.is_zero() or len(f.top) > FACTORED:
            return None
        content, factors = factorize(f.top * f.bottom ** (n - 1))
        if any(e % n for _, e in factors) or (content < 0 and n % 2 == 0):
            return None
        if abs(content) > LARGEST:
            return None
        total = space.number(-1 if content < 0 else 1)
        for prime, e in sympy.factorint(abs(int(content))).items():
            total = total * (prime ** (e // n))
            if e % n:
                total = total * space.read(f"({prime})**({e % n}/{n})")
        for factor, e in factors:
            total = total * space.of(factor) ** (e // n)
        return total / space.of(f.bottom)

    def _real_power(self, base: Function, exponent: Function) -> Function | None:
        """Return B^e where a weight on the curve is w = c B^E: it is (w/c)^(e/E)."""
        for known, power, quotient in [*self.powers, *self._powers_at(base)]:
            if known.same(base):
                ratio = text_of(exponent / power)
                self._name_logarithm(base, quotient, power)
                return self._power(quotient, ratio)
        for kind, known, power, image in self.space.known:
            if kind == "power" and constant(power) is None and known.same(base):
                for n in (1, -1, 2, -2):
                    rest = constant(exponent - power * n)
                    if rest is not None and rest.q == 1:
                        return base ** int(rest.p) * image**n
        return None

    def _powers_at(self, base: Function) -> Iterator[tuple[Function, Function, Function]]:
        """Yield B, E and B^E where B is c w^D with an open D: B^(1/D) is c^(1/D) w."""
        space = self.space
        for kind, weight, exponent, image in list(space.known):
            open_ = kind == "power" and constant(exponent) is None
            if open_ and not space.is_of_constants(base) and space.is_of_constants(base / image):
                scale = space.find(kind, base / image, 1 / exponent) if not base.same(image) else 1
                yield base, 1 / exponent, weight * scale

    def _power(self, quotient: Function, exponent: str) -> Function:
        """Return a power of a quotient as that of the powers of its sides."""
        sides = (self.space.of(side) for side in (quotient.top, quotient.bottom))
        above, below = (
            x if x.top.is_one() else self.space.read(f"({text_of(x)})**({exponent})") for x in sides
        )
        return above / below

    def _name_logarithm(self, base: Function, quotient: Function, power: Function) -> None:
        """Define log|B| where B^E = w/c, from B = (w/c)^(1/E)."""
        call = Call("log", base, self.space.number(0))
        if not self.space.knows(call):
            whole = self._power(quotient, text_of(1 / power))
            self.space.define(products.logarithm(self.space, call, whole))
