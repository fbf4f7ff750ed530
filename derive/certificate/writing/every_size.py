"""Write the certificate of a map of open size, tried by the checker before it is handed on."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator
from itertools import product
from math import lcm

from derive.certificate.checking import check
from derive.certificate.checking.check import FORMAT, VERSION
from derive.certificate.checking.every_size import EverySize
from derive.certificate.checking.text import JSON, NotACertificate, Rejected, called, tree_of
from derive.certificate.writing.certificate import MISSING, PRIMES, STEP
from derive.certificate.writing.definitions import Definitions
from derive.certificate.writing.products import calls_in
from derive.clock import Clock, OutOfTime
from derive.entrywise import EntrywiseDerivation
from derive.errors import DeriveError
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.tower import Tower
from derive.language import parse_expression, to_text
from derive.verdict import Verdict
from derive.weights.entrywise import Failure

LATE = "no certificate was written: it took too long; the result does not depend on it"


def certify_every_size(d: EntrywiseDerivation, record: JSON, seconds: float | None = None) -> JSON:
    """Return the record with "certificate"; None where there is none, with the reason beside."""
    clock = Clock.of(seconds)
    why = "there is nothing to certify"
    if d.verdict is not Verdict.UNDECIDED:
        try:
            return _accepted({**record, "certificate": _Writer(d, record, clock).proof})
        except OutOfTime:
            why = LATE
        except (Rejected, NotACertificate) as fault:
            why = f"{MISSING}: {STEP} ({fault})"
        except DeriveError as fault:
            why = f"{MISSING}: {fault}"
    return {**record, "certificate": None, "certificate_missing": why}


def _accepted(record: JSON) -> JSON:
    """Return a record that the checker accepts, with K where it can."""
    for kernel in (True, False):
        record["certificate"]["kernel"] = kernel
        with contextlib.suppress(*([Rejected] if kernel else [])):
            check.check(record | {"format": check.EVERY_SIZE, "version": check.FIRST})
            return record
    raise AssertionError


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
        products = self._products()
        for name in self._sums_in(products):  # sums that came up
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

    def _products(self) -> dict[str, JSON]:
        """Return sums of products of slopes: in K, as K changes, and with what the law sums."""
        slopes, products = self.entries.slopes, dict[str, JSON]()
        own = others = [name for name, _ in self.model.sums]
        for _ in range(2 if self.d.dual is None else 1):
            for a, b in product(own, others):
                products[f"{a}*{b}"] = self._combined(slopes[a] * slopes[b], "1")
            others = self._sums_in(products)
        if self.d.dual is not None:
            law = self.d.dual.law
            for summand in self._other_summands():
                self.sums["L1"], by = summand, self._ratio(summand, law)
                products[f"L1*{own[0]}"] = self._combined(law * slopes[own[0]], by)
        return products

    def _fails(self, failure: Failure) -> JSON:
        """Return what fails, with weights of each small size, and where sums are independent."""
        if not failure.of:
            raise Rejected("what fails is no equation of three outputs")
        v, points = self.model.indexed, {}
        for n in range(failure.size, 3 + len(self.sums)):
            texts: JSON = {x: str(a) for x, a in failure.points[n].items()}
            points[str(n)] = {v: [texts.pop(f"{v}{k}") for k in range(1, n + 1)], **texts}
        of, apart = [k - 1 for k in failure.of], [*map(str, PRIMES[: len(self.sums)])]
        return {"of": of, "apart": apart, "points": points}

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

    def _other_summands(self) -> Iterator[str]:
        """Yield what else is summed in laws and y: a multiple of that of the law."""
        known = {ast.unparse(tree_of(m)) for m in self.sums.values()}
        for text in self.said[:1] + self.said[2:]:
            for inner in _summed(tree_of(text)):
                summand = ast.unparse(_Renamed(self.index, self.model.indexed).visit(inner))
                if summand not in known:
                    yield summand
                    return

    def _ratio(self, summand: str, law: RationalFunction) -> str:
        """Return the slope of a summand by that of the law, a constant."""
        own = self.entries.own
        element = Tower.over(own, self.model.positive).element(
            parse_expression(summand.replace("Abs", ""))
        )
        field = element.field
        return repr(field.derivative(element, 0) / field.embed(law))

    def _define(self, given: JSON) -> None:
        """Add definitions of all calls."""
        space = EverySize(given, self.proof)
        found = Definitions(space, self.proof["definitions"], {*space.names, self.model.indexed})
        texts = [to_text(self.model.at(self.model.output, e)) for e in "ijn"]
        trees = [*map(tree_of, [*texts, *self.said]), *map(tree_of, self.sums.values())]
        self._define_roots(found, [ast.unparse(tree) for tree in trees])
        field, third = self.entries.field_, self.model.entry("k")
        kept = (g for g in field.generators if g.kind != "parameter")
        own = (text for g in kept if third not in (text := field.named(g.name).in_moduli()))
        calls = [*own, *calls_in(self._at_entries(trees))]
        exponentials = [x for x in calls if x.startswith("exp(")]
        for call in calls:
            if call in exponentials:
                found.name_exponentials(x for x in exponentials if _readable(space, x))
            found.name(call)

    def _at_entries(self, trees: Iterable[ast.expr]) -> Iterator[str]:
        """Yield texts, without sums, and what is summed in them at each entry."""
        for part in (x for tree in trees for x in (tree, *_summed(tree))):
            for e in "ijn":
                entry = self.model.entry(e)
                named = _Renamed(self.index, entry).visit(_Without().visit(_copied(part)))
                yield ast.unparse(_Renamed(self.model.indexed, entry).visit(named))

    def _define_roots(self, found: Definitions, texts: list[str]) -> None:
        """Define the roots of a sum, where there are several, as powers of one root."""
        for S in self.sums:
            roots = {f"sqrt({S})": 2}
            for call in (calls := [*calls_in(texts)]):
                if power := re.fullmatch(rf"\({S}\)\*\*\(1/(\d+)\)", call):
                    roots[call] = int(power[1])
            used = {call: n for call, n in roots.items() if call in calls}
            if len(used) > 1:
                found.name(root := f"({S})**(1/{lcm(*used.values())})")
                for call, n in used.items():
                    if not found.knows(call):
                        found.define({"of": call, "is": f"({root})**{lcm(*used.values()) // n}"})


def _readable(space: EverySize, call: str) -> bool:
    """Tell whether the names and calls in an argument are known."""
    try:
        space.call(call)
    except Rejected:
        return False
    return True


def _copied(node: ast.expr) -> ast.expr:
    return tree_of(ast.unparse(node))


def _summed(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what is summed in a text."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and called(inner)[0] == "sum":
            yield called(inner)[1]


class _Renamed(ast.NodeTransformer):
    """Writes one name in the place of another."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.new if node.id == self.old else node.id)


class _Without(ast.NodeTransformer):
    """Leaves sums out: they have names."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if called(node)[0] == "sum":
            return ast.Constant(1)
        self.generic_visit(node)
        return node
