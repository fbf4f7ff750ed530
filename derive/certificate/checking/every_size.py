"""Check the record of a map of open size, beta_i = F(v_i; sums, single weights), for every n.

A function of entries v_i, v_j, v_n, of sums S_a = sum_k m_a(v_k) and of single weights z has the
differential sum_e f_e dv_e + sum_a f_a sum_k m_a'(v_k) dv_k + sum_z f_z dz, so that

    <df, dh> = r (sum_e f_e h_e + sum_ea (f_e h_a + h_e f_a) m_a'(v_e) + sum_ab f_a h_b P_ab)
               + sum_z eta_z f_z h_z,    P_ab = sum_k m_a'(v_k) m_b'(v_k),

for any distinct i, j < n. "sums" has m_a of each name, and "products" P_ab by 1, whose sum is n,
and sums: m_a' m_b' is that combination of 1 and the m_c at one entry, with constants. An identity
in entries and sums as independent symbols holds for every n. "at" has numbers for all names, by
which signs are read, and "definitions" the calls.

Shown are <grad y_i, grad F_j> = g delta_ij, where g has no v_i, <grad c, grad F_i> = 0 of the law,
and, where "kernel" says so, the entries of K. With as many laws as there are single weights, and
one more where y_i has v_n in it, when i < n, the leaf has as many dimensions as there are outputs:
they are coordinates of it, so y = grad Q. That is as long as g > 0 and nothing divides by 0.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from derive.certificate.checking.function import Function, constant, not_zero
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, called, names_in, rational, require

OVER_ALL = ("sum", "norm", "prod")
ROOM = 40
Texts = Mapping[str, str]


@dataclass(frozen=True)
class Differential:
    """The derivatives of a function by entries, by sums, and by single weights."""

    own: Mapping[str, Function]
    spread: Mapping[str, Function]
    single: Mapping[str, Function]


class EverySize(Space):
    """The names of such a record, with what sums are of."""

    def __init__(self, given: JSON, proof: JSON) -> None:
        self.entries: Texts = proof["entries"]
        self.sums: Texts = proof["sums"]
        require(set(self.entries) == {"i", "j", "n"}, "the entries are v_i, v_j and v_n")
        self.indexed, self.bound = given["each"], proof["index"]
        self.scalars, self.size_name = list(given["weights"]), proof["size"]
        constants = [*given["parameters"], self.size_name]
        weights = [*self.entries.values(), *self.sums, *self.scalars]
        super().__init__(weights, constants, ROOM + len(proof["definitions"]))
        require(self.indexed not in self.names, "the indexed weight has the name of another")
        self.start = [rational(proof["at"][name]) for name in self.given]
        require(self.bound not in self.names, "the index of sums has the name of another")
        rates: Texts = given["rates"]
        require({*rates} <= {self.indexed, *self.scalars}, "a rate is of a weight")
        self.rates = {w: self._rate(rates.get(w, "1")) for w in (self.indexed, *self.scalars)}
        self.products = dict[str, Function]()

    def accept(self, proof: JSON) -> None:
        """Define calls, and check what sums are of, and sums of products."""
        for entry in proof["definitions"]:
            require({*entry} in ({"name", "of"}, {"of", "is"}, {"of", "is", "from"}), "only calls")
            self.define(entry)
        for name in self.sums:
            f = self.differential(self.at_entry(self.sums[name], "i"))
            require({*f.own} == {"i"} and not (f.spread or f.single), "a sum is of one entry")
        for pair, parts in proof["products"].items():
            self.products[pair] = self._product(pair, parts)

    def _rate(self, text: JSON) -> Function:
        """Return a rate: a positive number, or a constant that is positive."""
        rate = self.read(text)
        number = constant(rate)
        named = text in self.given[self.weights :] and text != self.size_name
        require(named or (number is not None and number > 0), "a rate is a positive constant")
        return rate

    def _build(self, node: ast.expr, depth: int) -> Function:
        if isinstance(node, ast.Call) and called(node)[0] in OVER_ALL:
            name, inner, alone = called(node)
            require(alone, "a function has one argument")
            if name == "sum":
                return self._total(inner)
            if name == "prod":
                total = self._total(ast.Call(ast.Name("log"), [inner], []))
                return self.find("exp", total)
            return self._power_of_norm(inner, ast.Constant(1), depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            left = node.left
            if isinstance(left, ast.Call) and called(left)[0] == "norm":
                return self._power_of_norm(called(left)[1], node.right, depth)
        return super()._build(node, depth)

    def _power_of_norm(self, inner: ast.expr, power: ast.expr, depth: int) -> Function:
        """Return (sum of squares)**(power/2)."""
        two = ast.Constant(2)
        squares = ast.Call(ast.Name("sum"), [ast.BinOp(inner, ast.Pow(), two)], [])
        half = ast.BinOp(power, ast.Div(), two)
        return self._build(ast.BinOp(squares, ast.Pow(), half), depth + 1)

    def _total(self, inner: ast.expr) -> Function:
        """Return the sum of a function of v over all entries, a multiple of one that has a name."""
        text = ast.unparse(inner)
        used = names_in([text]) & {*self.given[: self.weights]}
        require(not used, "what is summed is a function of one entry")
        summand = self.at_entry(text, "i")
        for name in self.sums:
            ratio = summand / self.at_entry(self.sums[name], "i")
            if self.is_of_constants(ratio):
                return ratio * self.names[name]
        require(False, f"sum({text:.60}) is not among the sums")
        raise AssertionError

    def at_entry(self, text: JSON, index: str) -> Function:
        """Return a function of v, or of v_k in a sum, at a generic entry."""
        entry = self.names[self.entries[index]]
        return self.read(text, {self.indexed: entry, self.bound: entry})

    def slope(self, name: str, index: str) -> Function:
        """Return m'(v_e) of a sum."""
        where = self.given.index(self.entries[index])
        return self.at_entry(self.sums[name], index).derivative(where)

    def _product(self, pair: str, parts: Texts) -> Function:
        """Return sum_k m_a'(v_k) m_b'(v_k), as it is at one entry."""
        a, _, b = pair.partition("*")
        require(a in self.sums and b in self.sums, "a product is of two sums")
        factors = {x: self.read(c) for x, c in parts.items()}
        require(all(map(self.is_of_constants, factors.values())), "a product has constants")
        require({*factors} <= {"1", *self.sums}, "a product is a combination of sums")
        at_one = {
            x: self.number(1) if x == "1" else self.at_entry(self.sums[x], "i") for x in factors
        }
        own = self.sum(c * at_one[x] for x, c in factors.items())
        alike = (self.slope(a, "i") * self.slope(b, "i")).same(own)
        require(alike, f"the product {pair:.40} is another")
        n = self.names[self.size_name]
        return self.sum(c * (n if x == "1" else self.names[x]) for x, c in factors.items())

    def differential(self, f: Function) -> Differential:
        """Return the differential of a function."""
        parts = {w: f.derivative(k) for k, w in enumerate(self.given[: self.weights])}
        moving = {w: x for w, x in parts.items() if not x.is_zero()}
        own = {e: moving[w] for e, w in self.entries.items() if w in moving}
        spread = {x: moving[x] for x in self.sums if x in moving}
        return Differential(own, spread, {z: moving[z] for z in self.scalars if z in moving})

    def inner(self, df: Differential, dh: Differential) -> Function:
        """Return <df, dh>."""
        terms = [df.own[e] * dh.own[e] for e in df.own.keys() & dh.own.keys()]
        for one, other in ((df, dh), (dh, df)):
            for (e, x), (a, c) in product(one.own.items(), other.spread.items()):
                terms.append(x * c * self.slope(a, e))
        for (a, x), (b, y) in product(df.spread.items(), dh.spread.items()):
            pair = f"{a}*{b}" if f"{a}*{b}" in self.products else f"{b}*{a}"
            require(pair in self.products, f"the product {pair:.40} is missing")
            terms.append(x * y * self.products[pair])
        single = df.single.keys() & dh.single.keys()
        rest = self.sum(self.rates[z] * df.single[z] * dh.single[z] for z in single)
        return self.rates[self.indexed] * self.sum(terms) + rest


def shown(record: JSON) -> tuple[list[str], list[str]]:
    """Return what a record proves of every n, line by line, and what it says besides."""
    given, proof, warping = record["parameterization"], record["certificate"], record["warping"]
    space = EverySize(given, proof)
    space.accept(proof)
    used = {given["each"], *space.scalars, *given["parameters"]}
    require(names_in([given["output"]]) <= used, "F has other names than it should")
    F = {e: space.differential(space.at_entry(given["output"], e)) for e in "ij"}
    dual, g = space.read(warping["y_i"]), space.read(warping["g"])
    dy, dg = space.differential(dual), space.differential(g)
    require(not g.is_zero(), "g is 0")
    require(not dg.own.keys() & {"i", "j"}, "g is another for another output")
    require("j" not in dy.own, "y_i has another entry in it")
    require(space.inner(dy, F["i"]).same(g), "<grad y_i, grad F_i> is not g")
    require(space.inner(dy, F["j"]).is_zero(), "<grad y_i, grad F_j> is not 0")
    last = "n" in dy.own or "n" in dg.own
    for law in record["laws"]:
        dc = space.differential(space.read(law))
        require(space.inner(dc, F["i"]).is_zero(), f"{law:.60} is not conserved")
        moves = [*(x * space.slope(a, "i") for a, x in dc.spread.items()), *dc.single.values()]
        require(any(not_zero(x.at(space.start)) for x in moves), f"{law:.60} is a constant")
    require(len(record["laws"]) <= 1, "the laws are not shown to be independent")
    enough = len(space.scalars) + last == len(record["laws"])
    require(enough, "the laws do not leave as many dimensions as there are outputs")
    outputs = f"{space.size_name}-1" if last else space.size_name
    require(given["outputs"] in (space.size_name, outputs), "the outputs are others")
    left = [] if proof["kernel"] else ["the entries of K"]
    if proof["kernel"]:
        _kernel(space, record["kernel"], F)
    rates = [f"{w} has the rate {x}" for w, x in given["rates"].items()]
    conditions = "; ".join([*record["conditions"], "g > 0 and no divisor 0 along the flow"])
    numbers = ", ".join(f"{x} = {a}" for x, a in proof["at"].items())
    lines = [
        f"w' = -diag(rates) J^T X^T r, with beta_i = {given['output']} at {given['each']} = "
        f"{space.entries['i']}, for i = 1, ..., {outputs}, of every {space.size_name} >= 2",
        *rates,
        *(f"{name} = sum({m})" for name, m in space.sums.items()),
        *(f"the flow keeps {law}" for law in record["laws"]),
        f"(grad Q)' = -c g X^T r along the flow, c > 0 constant, with the warp g = {warping['g']}",
        f"dQ/dbeta_i = y_i - y_i(w_0), with y_i = {warping['y_i']}",
        f"assumed: {conditions}",
        f"numbers that signs were read at: {numbers}",
    ]
    return lines, ["the formula of Q", "the Hessian map", *left]


def _kernel(space: EverySize, kernel: Mapping[str, Any], F: Mapping[str, Differential]) -> None:
    """Require that K is as it is printed."""
    for name, text in kernel.items():
        if not name.startswith("K_"):
            require(space.read(text).same(space.names[name]), f"{name} is another sum")
    for name, other in (("K_ii", "i"), ("K_ij", "j")):
        entry = space.inner(F["i"], F[other])
        require(space.read(kernel[name]).same(entry), f"{name} is another")
