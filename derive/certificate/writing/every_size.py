"""Write the certificate of a map of open size, tried by the checker before it is handed on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from math import lcm

from derive.certificate.checking import check
from derive.certificate.checking.check import FORMAT, VERSION
from derive.certificate.checking.every_size import EverySize
from derive.certificate.checking.function import root_of
from derive.certificate.checking.reading import Call
from derive.certificate.checking.text import JSON, called, tree_of
from derive.certificate.writing import products
from derive.certificate.writing.certificate import PRIMES, certified
from derive.certificate.writing.definitions import Definitions, Naming
from derive.certificate.writing.products import text_of
from derive.clock import Clock
from derive.entrywise import EntrywiseDerivation
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.tower import Tower
from derive.language import parse_expression, to_text
from derive.verdict import Verdict
from derive.weights.entrywise import EntrywiseWarp, Failure, spread_terms


def certify_every_size(d: EntrywiseDerivation, record: JSON, seconds: float | None = None) -> JSON:
    """Return the record with "certificate"; None where there is none, with the reason beside."""
    clock, decided = Clock.of(seconds), d.verdict is not Verdict.UNDECIDED

    def written(kernel: bool) -> JSON:
        return {**record, "certificate": {**_Writer(d, record, clock).proof, "kernel": kernel}}

    tries = (partial(written, kernel) for kernel in (True, False) if decided)
    head = {"format": check.EVERY_SIZE, "version": check.FIRST}
    return certified(record, tries, "there is nothing to certify", **head)


class _Writer:
    """Writes definitions of calls, names of sums, and sums of products."""

    def __init__(self, d: EntrywiseDerivation, record: JSON, clock: Clock) -> None:
        clock.check()
        self.d, self.entries, self.model = d, d.entries, d.parameterization
        self.index = str(d.notation.shown(d.notation.summed))
        self.sums = {name: to_text(m) for name, m in self.model.sums}
        given, warping = record["parameterization"], record["warping"]
        self.said = [*filter(None, (warping["y_i"], warping["g"])), *record["laws"]]
        self.said += [text for name, text in record["kernel"].items() if name.startswith("K_")]
        products, self.warp = self._products(), None if d.found else d.warp
        self.spread = spread_terms(self.entries) or {} if self.warp is not None else {}
        totals = {f"spread {a} {b}": self._spread(x) for (a, b), x in self.spread.items()}
        for name in self._sums_in(products | totals):  # sums that came up
            self.sums.setdefault(name, repr(self.entries.sums[name]))
        entries = {e: self.model.entry(e) for e in "ijn"}
        names = [*entries.values(), *self.sums, *given["weights"], *given["parameters"]]
        size = self.model.size
        numbers = dict(zip(names, map(str, PRIMES), strict=False))
        self.proof: JSON = {
            "format": FORMAT,
            "version": VERSION,
            "entries": entries,
            "index": self.index,
            "size": size,
            "at": numbers | {size: "7"},
            "sums": self.sums,
            "products": products,
            "definitions": [],
        }
        self._define(given)
        if d.failure is not None:
            self.proof["fails"] = self._fails(d.failure)
        if self.warp is not None:
            self.proof["exists"] = self._exists(self.warp)

    def _products(self) -> dict[str, JSON]:
        """Return sums of products of slopes: in K, as K changes, and with what else is summed."""
        slopes, products = self.entries.slopes, dict[str, JSON]()
        own = others = [name for name, _ in self.model.sums]
        summed = [] if self.d.dual is None else [*self._other_summands()]
        for _ in range(2 if self.d.dual is None else 1):
            for a, b in product(own, others):
                products[f"{a}*{b}"] = self._combined(slopes[a] * slopes[b], "1")
            others = self._sums_in(products)
        for (name, slope, by), x in product(summed, own):
            products[f"{name}*{x}"] = self._combined(slope * slopes[x], by)
        return products

    def _fails(self, failure: Failure) -> JSON:
        """Return what fails, with weights of each small size, and where sums are independent."""
        of, sizes = [k - 1 for k in failure.of], range(failure.size, 3 + len(self.sums))
        return {"of": of, **self._shown({n: failure.points[n] for n in sizes})}

    def _exists(self, warp: EntrywiseWarp) -> JSON:
        """Return how F_a m_b'/F' are summed, and where outputs are independent, also of small n."""
        small = {n: x for n in range(2, 3 + len(self.sums)) if (x := warp.point(n))}
        return {
            "excluded": [*warp.excluded_sizes],
            "spread": {f"{a}*{b}": self._spread(x) for (a, b), x in self.spread.items()},
            **self._shown(small),
        }

    def _shown(self, points: Mapping[int, Mapping[str, Fraction]]) -> JSON:
        """Return weights by size, and numbers at which sums are independent."""
        v, shown = self.model.indexed, {}
        for n, point in points.items():
            texts: JSON = {x: str(a) for x, a in point.items()}
            shown[str(n)] = {v: [texts.pop(f"{v}{k}") for k in range(1, n + 1)], **texts}
        return {"apart": [*map(str, PRIMES[: len(self.sums)])], "points": shown}

    def _spread(self, terms: Iterable[tuple[RationalFunction, RationalFunction]]) -> dict[str, str]:
        """Return a sum of functions of one entry by 1 and sums, with factors without entries."""
        parts = dict[str, list[str]]()
        for c, own in terms:
            for x, text in self._combined(own, repr(c)).items():
                parts.setdefault(x, []).append(text)
        return {x: "+".join(texts) for x, texts in parts.items()}

    def _sums_in(self, products: JSON) -> list[str]:
        printed = {name for x, _ in self.d.kernel if (name := str(x)) in self.entries.sums}
        used = {x for parts in products.values() for x in parts if x != "1"}
        return [x for x in self.entries.sums if x in used | printed]

    def _combined(self, function: RationalFunction, ratio: str) -> dict[str, str]:
        """Return the sum of a function over all entries by 1 and sums, times a constant."""
        self.entries.total(function)  # a new one has a name of its own
        constants = self.entries.combination(function) or ()
        pairs = zip(("1", *self.entries.sums), constants, strict=True)
        return {x: f"({c!r})*({ratio})" for x, c in pairs if not c.is_zero()}

    def _other_summands(self) -> Iterator[tuple[str, RationalFunction, str]]:
        """Yield names of what else is summed in laws and y, and slopes, up to a constant factor."""
        known = {ast.unparse(tree_of(m)) for m in self.sums.values()}
        nodes = (node for text in self.said[:1] + self.said[2:] for node in ast.walk(tree_of(text)))
        for node in nodes:
            if isinstance(node, ast.Call) and called(node)[0] == "sum":
                summand = ast.unparse(called(node)[1])
                summand = re.sub(rf"\b{self.index}\b", self.model.indexed, summand)
                if summand not in known:
                    known.add(summand)
                    yield self._summed(summand, f"L{len(known)}")

    def _summed(self, summand: str, new: str) -> tuple[str, RationalFunction, str]:
        """Return a sum of a multiple, or a new one, its slope up to a factor, and the factor."""
        assert self.d.dual is not None
        own, dual = self.entries.own, self.d.dual
        element = Tower.over(own, self.model.positive).element(
            parse_expression(summand.replace("Abs", ""))
        )
        field = element.field
        slope = field.derivative(element, 0)

        def by(m: RationalFunction) -> RationalFunction | None:
            ratio = slope / field.embed(m)
            return ratio if field.derivative(ratio, 0).is_zero() else None

        if field is own:
            self.entries.total(element)
            for name, m in self.entries.slopes.items():
                if c := by(m):
                    self.sums.setdefault(name, f"({summand})/({c!r})")
                    return name, m, "1"
        self.sums[new] = summand
        return next((new, m, repr(c)) for m in (dual.law, 1 / dual.slope) if (c := by(m)))

    def _define(self, given: JSON) -> None:
        """Add definitions of all calls, once it is seen which there are."""
        common = list[JSON]()
        for _ in range(2):
            space = Names(given, self.proof)
            with (found := Shared(space, {*space.names, self.model.indexed})):
                for entry in common:
                    space.define(entry) if "is" in entry else space.read(entry["of"])
                self._read(space)
            common = [*found.common()]
        self.proof["definitions"] = found.entries

    def _read(self, space: Names) -> None:
        """Read what the checker reads, after the generators of the field."""
        field, third = self.entries.field_, self.model.entry("k")
        kept = (g for g in field.generators if g.kind != "parameter")
        own = [text for g in kept if third not in (text := field.named(g.name).in_moduli())]
        whole = [to_text(self.model.at(self.model.output, e)) for e in "ijn"]
        for text in (*own, *whole, *self.said):
            space.read(text)
        for m, e in product(self.sums.values(), "ijn"):
            space.at_entry(m, self.model.entry(e))


class Names(Naming, EverySize):
    """The names of such a record that is being written."""


class Shared(Definitions):
    """Definitions where roots and exponentials are whole powers of common ones."""

    def __init__(self, space: Naming, taken: set[str]) -> None:
        super().__init__(space, taken)
        self.met = list[Call]()

    def common(self) -> Iterator[JSON]:
        """Yield roots, and a basis of exponentials, of which all are whole powers and products."""
        roots, written = dict[str, int](), self.space.written
        for call in self.met:
            if n := root_of(call.exponent):
                base = written(call.argument)
                roots[base] = lcm(n, roots.get(base, 1))
        yield from ({"of": f"({base})**(1/{n})"} for base, n in roots.items())
        exponents = [call.argument for call in self.met if call.kind == "exp"]
        basis, sums = products.by_exponentials(exponents) if exponents else ([], [])
        texts = [f"exp({written(u)})" for u in basis]
        for _, text in sorted(zip((max(u.variables) for u in basis), texts, strict=True)):
            yield {"of": text}  # inner ones first
        for u, row in zip(exponents, sums, strict=True):
            parts = [[text, str(n)] for text, n in zip(texts, row, strict=True) if n]
            whole = "*".join(f"({text})**({n})" for text, n in parts)
            if (own := f"exp({written(u)})") not in texts:
                yield {"of": own, "is": whole, "from": parts}

    def meet(self, call: Call) -> None:
        """Define a call, a root as a power of a higher one that is known."""
        self.met.append(call)
        m, space = root_of(call.exponent) or 0, self.space
        for x in (x for x in space.known if m and x.argument.same(call.argument)):
            if (n := root_of(x.exponent)) and n % m == 0:
                space.define({"of": space.text(call), "is": text_of(x.image ** (n // m))})
                return
        super().meet(call)
