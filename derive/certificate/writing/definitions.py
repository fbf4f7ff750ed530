"""The calls that F, logarithms and forms use, as definitions: known functions of the weights."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from itertools import count
from math import prod

import sympy

from derive.certificate.checking.function import Function, constant, not_zero, root_of
from derive.certificate.checking.reading import Call, call_of
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected, rational
from derive.certificate.checking.theorem import Checker, Kind, rate_texts, space_of
from derive.certificate.writing import products
from derive.errors import DeriveError
from derive.exact.field.function_field import FunctionField
from derive.exact.field.polynomial import factorize
from derive.exact.towers.tower import Tower
from derive.language import parse_expression
from derive.model.parameterization import Parameterization

ROOM = 60
NUMBER = re.compile(r"exp\(-?\d+\)")


class Definitions:
    """Definitions that a space accepts, in the order in which they need one another."""

    def __init__(self, space: Space, entries: list[JSON], taken: set[str]) -> None:
        self.space, self.entries, self.taken = space, entries, taken

    def define(self, entry: JSON) -> None:
        """Add a definition."""
        self.space.define(entry)
        self.entries.append(entry)

    def knows(self, text: str) -> bool:
        """Tell whether a call is defined."""
        try:
            self.space.read(text)
        except Rejected:
            return False
        return True

    def name(self, text: str) -> None:
        """Name a call as a generator, if it is not known, nor a product of exponentials."""
        if self.knows(text):
            return
        power = products.product_of_exponentials(self.space, text)
        self.define(power or {"name": self.fresh(), "of": text})
        if text.startswith("cos("):
            self.name("sin" + text.removeprefix("cos"))

    def name_exponentials(self, texts: Iterable[str]) -> None:
        """Name exponentials as products of those of a basis of all integer sums of exponents."""
        found = {text: self.space.call(text).argument for text in texts if not self.knows(text)}
        if not found:
            return
        basis, sums = products.by_exponentials([*found.values()])
        calls = [call_of(Call("exp", u, self.space.number(0)), products.text_of) for u in basis]
        for call in calls:
            self.name(call)
        for text, row in zip(found, sums, strict=True):
            if not self.knows(text):
                parts = [[call, str(n)] for call, n in zip(calls, row, strict=True) if n]
                product = "*".join(f"({call})**({n})" for call, n in parts)
                self.define({"of": text, "is": product, "from": parts})

    def name_terms(self, text: str) -> None:
        """Name a call; for an exponential of a sum those of its terms."""
        kind, u, e, _ = self.space.call(text)
        if kind == "exp":
            for term in products.terms_of(u):
                self.name(call_of(Call(kind, term, e), products.text_of))
        self.name(text)

    def fresh(self) -> str:
        """Return a name that is not taken."""
        name = next(name for n in count(1) if (name := f"f{n}") not in self.taken)
        self.taken.add(name)
        return name


class Calls(Definitions):
    """Names for calls, defined in the record of a certificate; those of F come first."""

    def __init__(self, record: JSON, p: Parameterization, make: Kind, index: int = 1) -> None:
        """Name them; exponentials are powers of those of exponents divided by an *index*."""
        given, proof = record["parameterization"], record["certificate"]
        space = space_of(given, proof, ROOM, make)
        super().__init__(space, proof["definitions"], set(space.names))
        for field in (p.field, p.start_field):
            for g in field.generators:
                if g.kind == "exp" and index > 1:
                    self.name(f"exp(({field.embed(g.argument).in_moduli()})/{index})")
                if g.kind != "parameter":
                    self.name(field.named(g.name).in_moduli())
        F = [given["coefficient"]] if p.vectors else given["outputs"]
        for text in products.calls_in([*F, *rate_texts(given), record["warping"]["g"] or "1"]):
            if not self.knows(text):
                self._known_at_start(p)
                self._image_at_start(self.space.call(text), p)
                self._image(text, p.field, p)
        self._known_at_start(p)
        ties = {w: space.read(tree) for w, tree in given["ties"].items()}
        for call in list(space.generators) if ties else ():
            tied = call._replace(argument=space.read(space.written(call.argument), ties))
            text = call_of(tied, space.written)
            for entry in products.logarithm(space, text, self.fresh) if call.kind == "log" else ():
                self.define(entry)
            self._image(text, p.field, p)

    def _known_at_start(self, p: Parameterization) -> None:
        """Define the calls so far with their arguments at w_0."""
        for call in list(self.space.known):
            self._image_at_start(call, p)

    def _image_at_start(self, call: Call, p: Parameterization) -> None:
        """Define a call with its argument at w_0."""
        kind, argument, exponent, _ = call
        if self.space.is_of_constants(argument):
            return
        u = self.space.at_start(argument)
        u = -u if kind == "log" and u.at(self.space.start) < 0 else u
        text = call_of(Call(kind, u, exponent), self.space.written)
        if kind == "sin":
            self._image("cos" + text.removeprefix("sin"), p.start_field, p)
        self._image(text, p.start_field, p)

    def _image(self, text: str, field: FunctionField, p: Parameterization) -> None:
        """Define a call as what it is in a field, or else as a generator."""
        if self.knows(text):
            return
        before, size = self.space.scope(), len(self.entries)
        try:
            image = _written(text, field, p)
            if text.startswith("cos("):
                sine = _written("sin" + text.removeprefix("cos"), field, p)
                parts = products.angles(self.space, text)
                self.define({"of": text, "is": image, "sin": sine, "from": parts})
            else:
                for entry in products.entries_for(self.space, text, image, self.fresh):
                    self.define(entry)
        except (
            DeriveError,
            LookupError,
            Rejected,
            ValueError,
        ):  # a tie may have symbols of the start
            self.space.leave(before)
            del self.entries[size:]
            self.name(text)

    def missing(self, texts: Iterable[str], space: Space) -> list[JSON]:
        """Return definitions of the calls in texts that are not known yet, as generators."""
        found, before = Definitions(space, [], self.taken), space.scope()
        try:
            for text in products.calls_in(texts):
                found.name(text)
        finally:
            space.leave(before)
        return found.entries


def _written(text: str, field: FunctionField, p: Parameterization) -> str:
    """Return a call in the generators of a field."""
    tree = parse_expression(text.replace("Abs", ""))
    return field.embed(Tower.over(field, p.positive).element(tree)).in_moduli()


FACTORED, LARGEST = 400, 10**12


class FormDefinitions(Definitions):
    """Definitions of calls as functions of the weights.

    Roots are factors of what they are roots of, or *candidates*, entries of K, outputs, weights, or
    functions of a *chart*; *powers* are (B, E, f) with B^E = f on the leaf.
    """

    def __init__(self, state: Checker, calls: Calls, chart: list[str]) -> None:
        super().__init__(state.space, [], calls.taken)
        self.chart = chart
        K, F = state.flow.K, state.flow.F
        self.known = [*(k for row in K for k in row), *F, *self.space.symbols[: self.space.weights]]
        self.candidates: list[Function] = []
        self.powers: list[tuple[Function, Function, Function]] = []

    def use(self, text: str) -> None:
        """Define the calls in a text that are not known."""
        # of what exponentials are products is known before them
        calls = sorted(products.calls_in([text]), key=lambda call: not NUMBER.fullmatch(call))
        # one logarithm stands for itself, several may share parts, that of exp(w) is w
        several = sum(call.startswith(("log(", "exp(")) for call in calls) > 1
        for call in calls:
            if self.knows(call):
                continue
            if call.startswith("cos("):
                with contextlib.suppress(Rejected):
                    self.define(self._cosine(call))
                    continue
            for entry in self._definitions_of(call, several):
                self.define(entry)

    def _definitions_of(self, call: str, several: bool) -> Iterator[JSON]:
        """Yield what defines a call: as a function of the weights where it is one."""
        space, fresh = self.space, self.fresh
        kind, argument, exponent, _ = space.call(call)
        image = self._image(kind, argument, exponent)
        plain = constant(argument) not in (None, 1)
        generators = enumerate(space.generators, space.size)
        raised = any(g.kind == "exp" and argument.uses(k) for k, g in generators)
        if kind == "log" and (several or plain or raised):
            yield from products.logarithm(space, call, fresh)
        elif image is None:
            power = products.product_of_exponentials(space, call)
            yield power or {"name": fresh(), "of": call}
        else:
            yield from products.entries_for(space, call, products.text_of(image), fresh)

    def _cosine(self, call: str) -> JSON:
        """Return the definition of a cosine and its sine by angles that are known."""
        units = []
        for part, n in (parts := products.angles(self.space, call)):
            inner = self.space.call(part)
            if inner.kind == "atan":
                self.use(f"sqrt(({products.text_of(inner.argument)})**2 + 1)")
            units.append((self.space.unit(inner, self.space.find(*inner[:3])), rational(n)))
        c, s = map(products.text_of, self.space.turned(units))
        return {"of": call, "is": c, "sin": s, "from": parts}

    def use_at_start(self, text: str) -> None:
        """Define the calls in a text with their arguments at w_0."""
        space, f = self.space, self.space.read(text)
        for j, (kind, argument, exponent, _) in enumerate(list(space.generators), space.size):
            varies = f.uses(j) and not space.is_of_constants(argument)
            if varies and not kind.startswith("Integral"):
                self.use(call_of(Call(kind, space.at_start(argument), exponent), products.text_of))

    def _image(self, kind: str, argument: Function, exponent: Function) -> Function | None:
        """Return the function of the weights that a call is, where it is one."""
        if kind == "exp":
            return self._exponential(argument)
        if kind != "power":
            return None
        n = root_of(exponent)
        return self._real_power(argument, exponent) if n is None else self._root_of(argument, n)

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
        text = f"({products.text_of(f / whole**n)})**(1/{n})"
        self.use(text)
        return whole * self.space.read(text)

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
                self.use(f"({prime})**(1/{n})")
                total = total * space.read(f"({prime})**({e % n}/{n})")
        for factor, e in factors:
            total = total * space.of(factor) ** (e // n)
        return total / space.of(f.bottom)

    def _real_power(self, base: Function, exponent: Function) -> Function | None:
        """Return B^e where a weight on the curve is w = c B^E: it is (w/c)^(e/E)."""
        for known, power, quotient in self.powers:
            if known.same(base):
                ratio = products.text_of(exponent / power)
                self._name_logarithm(base, quotient, power)
                return self._power(quotient, ratio)
        for kind, known, power, image in self.space.known:
            if kind == "power" and constant(power) is None and known.same(base):
                for n in (1, -1, 2, -2):
                    rest = constant(exponent - power * n)
                    if rest is not None and rest.q == 1:
                        return base ** int(rest.p) * image**n
        return None

    def _power(self, quotient: Function, exponent: str) -> Function:
        """Return a power of a quotient as that of the powers of its sides."""
        sides = []
        for side in (quotient.top, quotient.bottom):
            base = products.text_of(self.space.of(side))
            text = "1" if side.is_one() else f"({base})**({exponent})"
            self.use(text)
            sides.append(self.space.read(text))
        return sides[0] / sides[1]

    def _name_logarithm(self, base: Function, quotient: Function, power: Function) -> None:
        """Define log|B| where B^E = w/c, from B = (w/c)^(1/E)."""
        space = self.space
        product = self._power(quotient, products.text_of(1 / power))
        for entry in products.logarithm(space, products.log_of(base), self.fresh, product):
            self.define(entry)

    def _exponential(self, argument: Function) -> Function | None:
        """Return exp of an integer combination of logarithms and known exponents, or None."""
        space, total = self.space, self.space.number(1)
        for j, (kind, inner, _, image) in enumerate(space.generators, space.size):
            if kind in ("log", "asinh") and argument.uses(j):
                c = constant(argument.partial(j))
                if c is None or c.q != 1:
                    return None
                base = inner if kind == "log" else inner + space.hypotenuse(inner)
                total = total * base ** int(c.p)
                argument = argument - c * image
        for kind, inner, _, image in space.known:
            if kind == "exp" and not argument.top.is_zero():
                c = constant(argument / inner)
                if c is not None and c.q == 1:
                    total = total * image ** int(c.p)
                    argument = space.number(0)
        if not argument.is_zero() or constant(total) is not None:
            return None
        return total if total.at(space.start) > 0 else -total
