"""Check the record of a map of open size, beta_i = F(v_i; sums, single weights), for every n.

A function of entries v_i, v_j, v_n, of sums S_a = sum_k m_a(v_k) and of single weights z, taken as
independent, has <df, dh> = sum_cd f_c h_d <dc, dd> over these, where

    <dv_e, dv_e> = r,  <dv_e, dS_a> = r m_a'(v_e),  <dz, dz> = eta_z,
    <dS_a, dS_b> = r P_ab,  P_ab = sum_k m_a'(v_k) m_b'(v_k),

and all others are 0, for any distinct i, j < n. "sums" has m_a of each name, and "products" P_ab by
1, whose sum is n, and sums: m_a' m_b' is that combination of 1 and the m_c at one entry, with
constants. An identity in entries and sums as independent symbols holds for every n. "at" has
numbers for all names, by which signs are read, and "definitions" the calls.

Shown are <grad y_i, grad F_j> = g delta_ij, where g has no v_i, <grad c, grad F_i> = 0 of the law,
and, where "kernel" says so, the entries of K. With as many laws as there are single weights, and
one more where y_i has v_n in it, when i < n, the leaf has as many dimensions as there are outputs:
they are coordinates of it, so y = grad Q. That is as long as g > 0 and nothing divides by 0.

Or "fails" shows that there is no warp: of the generic outputs i, j and n an equation "of" three,
H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac with the forced H, fails at the numbers for every n, and K
of the three is regular. Entries and q sums are independent functions where n >= 3 + q, as the other
entries give the Jacobian [m_a'(v_k)], of which one minor is not 0: that at the numbers "apart". At
each smaller n down to the size there are weights, "points", where the same fails.

Or "exists" shows that there is a warp, and so a Q. The fields X_i = grad F_i have the components
X_i v_k, one function for all k besides i and j, and X_i z; [X_i, X_j] = H_i X_j - H_j X_i, with
X_i H_j = X_j H_i. So the leaf has as many dimensions as there are outputs, if these are
independent, and the forms with eta(X_i) = H_i and theta_k(X_j) = g delta_kj are closed: d log g and
dy_k. The X_i are independent where F' is not 0 and L_a + sum_b L_b sum_k F_a m_b'/F' = 0 of all
sums a, without the first term of all single weights, and sum_b L_b m_b'(v_n) = 0 where the last is
no output, have the solution L = 0 alone: that their columns are independent, and H defined, is
shown for every n as above, but for the "excluded". "spread" has F_a m_b'/F' by 1 and sums.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from flint import arb, fmpq

from derive.certificate.checking.flow import Flow, determinant, independent
from derive.certificate.checking.function import (
    Function,
    Value,
    coefficients,
    constant,
    evaluated,
    not_zero,
)
from derive.certificate.checking.reading import Call
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import (
    JSON,
    NAME,
    PROVED,
    REFUTED,
    called,
    names_in,
    pairs,
    rational,
    require,
    tree_of,
)

ROOM, TWO = 40, ast.Constant(2)
LEAST, OUTPUTS, FAR = 2, 3, 1000
PLACE = "that is in the part of the domain where these numbers are, or weights of a smaller n: "
Texts = Mapping[str, str]
Slopes = Mapping[str, Function]
"""The derivatives that are not 0, by entries, sums and single weights."""


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
        for name, of in ((self.indexed, "the indexed weight"), (self.bound, "the index of sums")):
            require(name not in self.names, f"{of} has the name of another")
        self.start = [rational(proof["at"][name]) for name in self.given]
        self.has_last = given["outputs"] == self.size_name
        self.signed = {*given["positive"], *given["parameters"]}
        rates: Texts = given["rates"]
        require({*rates} <= {self.indexed, *self.scalars}, "a rate is of a weight")
        self.rates = {w: self._rate(rates.get(w, "1")) for w in (self.indexed, *self.scalars)}
        self.products = dict[tuple[str, str], Function]()

    def accept(self, proof: JSON) -> None:
        """Define calls, and check what sums are of, and sums of products."""
        for entry in proof["definitions"]:
            require({*entry} in ({"name", "of"}, {"of", "is"}, {"of", "is", "from"}), "only calls")
            self.define(entry)
        entry = self.entries["i"]
        for text in self.sums.values():
            used = {*self.slopes_of(self.at_entry(text, entry))}
            require(used == {entry}, "a sum is of one entry")
        for pair, parts in proof["products"].items():
            a, _, b = pair.partition("*")
            require(a in self.sums and b in self.sums, "a product is of two sums")
            own = self.slope(a, entry) * self.slope(b, entry)
            self.products |= dict.fromkeys(((a, b), (b, a)), self.total(own, parts))

    def _rate(self, text: JSON) -> Function:
        """Return a rate: a positive number, or a constant that is positive."""
        rate = self.read(text)
        number = constant(rate)
        named = text in self.given[self.weights :] and text != self.size_name
        require(named or (number is not None and number > 0), "a rate is a positive constant")
        return rate

    def _build(self, node: ast.expr, depth: int) -> Function:
        power: ast.expr = ast.Constant(1)
        match node:
            case ast.Call(ast.Name("sum"), [inner], []):
                return self._total(inner)
            case ast.Call(ast.Name("prod"), [inner], []):
                return self.find("exp", self._total(ast.Call(ast.Name("log"), [inner], [])))
            case ast.Call(ast.Name("norm"), [inner], []):
                pass
            case ast.BinOp(ast.Call(ast.Name("norm"), [inner], []), ast.Pow(), power):
                pass
            case ast.Call(ast.Name("sqrt"), [ast.Call(ast.Name("norm"), [inner], [])], []):
                power = ast.BinOp(power, ast.Div(), TWO)
            case _:
                return super()._build(node, depth)
        squares = ast.Call(ast.Name("sum"), [ast.BinOp(inner, ast.Pow(), TWO)], [])
        half = ast.BinOp(power, ast.Div(), TWO)
        return super()._build(ast.BinOp(squares, ast.Pow(), half), depth + 1)

    def _call(self, node: ast.expr, depth: int) -> Call:
        if isinstance(node, ast.Call) and called(node)[0] == "Integral" and len(node.args) == 2:
            f, x = (ast.unparse(argument) for argument in node.args)
            require(NAME.fullmatch(x), "an integral runs over a name")
            return Call(f"Integral({f}", self._build(node.args[1], depth), self.number(0))
        return super()._call(node, depth)

    def integrand(self, text: str, upper: Function) -> Function:
        """Return the derivative of an integral without ends, one of its values for all entries."""
        node: Any = tree_of(text)
        require(len(node.args) == 2, "an integral has no ends here")
        f, x = map(ast.unparse, node.args)
        require(names_in([f]) <= self.fixed | {x}, "an integrand is of x and of constants")
        return self.read(f)

    def _total(self, inner: ast.expr) -> Function:
        """Return the sum of a function of v over all entries, a multiple of one that has a name."""
        text = ast.unparse(inner)
        used = names_in([text]) & {*self.given[: self.weights]}
        require(not used, "what is summed is a function of one entry")
        entry = self.entries["i"]
        summand = self.at_entry(text, entry)
        ratios = ((name, summand / self.at_entry(m, entry)) for name, m in self.sums.items())
        alike = ((name, ratio) for name, ratio in ratios if self.is_of_constants(ratio))
        name, ratio = next(alike, ("", summand))
        require(name, f"sum({text:.60}) is not among the sums")
        return ratio * self.names[name]

    def at_entry(self, text: JSON, entry: str) -> Function:
        """Return a function of v, or of v_k in a sum, at a generic entry."""
        return self.read(text, dict.fromkeys((self.indexed, self.bound), self.names[entry]))

    def slope(self, name: str, entry: str) -> Function:
        """Return m'(v_e) of a sum."""
        return self.at_entry(self.sums[name], entry).derivative(self.given.index(entry))

    def total(self, own: Function, parts: Texts) -> Function:
        """Return the sum over all entries of a function, a combination of others at v_i."""
        require({*parts} <= {"1", *self.sums}, "what is summed is a combination of sums")
        factors, entry = {x: self.read(c) for x, c in parts.items()}, self.entries["i"]
        entries = {*self.entries.values()}
        of_sums = not any(self.slopes_of(c).keys() & entries for c in factors.values())
        require(of_sums, "factors of sums have no entry")
        texts, names = {"1": "1", **self.sums}, {"1": self.names[self.size_name], **self.names}
        there = self.sum(c * self.at_entry(texts[x], entry) for x, c in factors.items())
        require(own.same(there), "the sum of a product is another")
        return self.sum(c * names[x] for x, c in factors.items())

    def slopes_of(self, f: Function) -> Slopes:
        """Return the derivatives of a function that are not 0."""
        slopes = {c: f.derivative(k) for k, c in enumerate(self.given[: self.weights])}
        return {c: x for c, x in slopes.items() if not x.is_zero()}

    def inner(self, df: Slopes, dh: Slopes) -> Function:
        """Return <df, dh>."""
        pairs = product(df.items(), dh.items())
        return self.sum(x * y * self._metric(c, d) for (c, x), (d, y) in pairs)

    def along(self, x: Any, f: Function) -> Function:
        """Return <x, df>."""
        return self.inner(x, self.slopes_of(f))

    def valued(self, numbers: Mapping[str, Value]) -> list[Value]:
        """Return the values of all names, with other numbers for some."""
        return self.values(
            [numbers.get(x, a) for x, a in zip(self.given, self.start, strict=False)]
        )

    def at_point(self, point: dict[str, Any], n: int) -> list[Value]:
        """Return the values of all names at weights and constants, given as numbers."""
        v, entry = [rational(x) for x in point.pop(self.indexed)], self.entries["i"]
        given: dict[str, Value] = {x: rational(a) for x, a in point.items()}
        signs = v * (self.indexed in self.signed) + [given[x] for x in self.signed & {*given}]
        require(len(v) == n and all(x > 0 for x in signs), f"n = {n} has other weights")
        given |= dict(zip(self.entries.values(), [*v[:2], v[min(2, n - 1)]], strict=True))
        given[self.size_name] = fmpq(n)
        at = [self.valued(given | {entry: x}) for x in v]
        sums = {x: self.at_entry(m, entry) for x, m in self.sums.items()}
        totals = {x: sum((m.at(a) for a in at), fmpq(0)) for x, m in sums.items()}
        return self.valued(given | totals)

    def by_size(self, f: Function) -> Iterator[list[Value]]:
        """Yield numerator and denominator at the numbers, as polynomials in n."""
        k = self.given.index(self.size_name)
        plain = not any(c.argument.uses(k) for c in self.generators)
        require(plain, "a call has the number n in it")
        for side in (f.top, f.bottom):
            parts = {n: evaluated(c, self.start) for n, c in coefficients(side, k).items()}
            yield [parts.get(n, fmpq(0)) for n in range(max(parts, default=0) + 1)]

    def _metric(self, c: str, d: str) -> Function:
        """Return <dc, dd> of entries, sums and single weights."""
        rate, (c, d) = self.rates[self.indexed], sorted((c, d), key=self.sums.__contains__)
        if c in self.sums:
            require((c, d) in self.products, f"the product {c}*{d:.40} is missing")
            return rate * self.products[c, d]
        if d in self.sums and c in self.entries.values():
            return rate * self.slope(d, c)
        return self.rates.get(c, rate) if c == d else self.number(0)


def opened(record: JSON) -> tuple[EverySize, dict[str, Function], list[str], list[str]]:
    """Return the names, F at three entries, rates and sums in words, and what is open of K."""
    given, proof, kernel = record["parameterization"], record["certificate"], record["kernel"]
    space = EverySize(given, proof)
    space.accept(proof)
    used = {given["each"], *space.scalars, *given["parameters"]}
    require(names_in([given["output"]]) <= used, "F has other names than it should")
    fewer = given["outputs"] == f"{space.size_name}-1"
    require(fewer or space.has_last, "the outputs are others")
    F = {e: space.at_entry(given["output"], x) for e, x in space.entries.items()}
    if proof["kernel"]:
        names = {x: space.names[x] for x in kernel if not x.startswith("K_")}
        dF = space.slopes_of(F["i"])
        entries = {"K_ii": space.along(dF, F["i"]), "K_ij": space.along(dF, F["j"])}
        for name, entry in (names | entries).items():
            require(space.read(kernel[name]).same(entry), f"{name} is another")
    rates = [f"{w} has the rate {x}" for w, x in given["rates"].items()]
    words = [*rates, *(f"{name} = sum({m})" for name, m in space.sums.items())]
    return space, F, words, [] if proof["kernel"] else ["the entries of K"]


def shown(record: JSON) -> tuple[str, list[str], list[str]]:
    """Return the verdict, what a record proves of every n, and what it says besides."""
    warping, proof = record["warping"], record["certificate"]
    ways = {"fails": _refuted, "exists": _exists}
    way = next((ways[key] for key in ways if key in proof), _proved)
    verdict = REFUTED if way is _refuted else PROVED
    require(record["verdict"] == warping["verdict"] == verdict, f"it proves {verdict}")
    if way is not _proved:
        said = warping["g"], warping["y_i"], record["Q"], *record["laws"]
        require(all(x is None for x in said), "what there is not is said")
    return verdict, *way(record)


def _proved(record: JSON) -> tuple[list[str], list[str]]:
    """Return what a record proves of every n, line by line, and what it says besides."""
    given, proof, warping = record["parameterization"], record["certificate"], record["warping"]
    space, F, words, left = opened(record)
    i, j, n = (space.entries[e] for e in "ijn")
    g = space.read(warping["g"])
    dy, dg = space.slopes_of(space.read(warping["y_i"])), space.slopes_of(g)
    require(not g.is_zero(), "g is 0")
    require(g.at(space.start) > 0, "g is not positive at the numbers that signs are read at")
    require(record["size"] == LEAST, f"it is shown from n = {LEAST} on")
    require(not dg.keys() & {i, j}, "g is another for another output")
    require(j not in dy, "y_i has another entry in it")
    require(space.along(dy, F["i"]).same(g), "<grad y_i, grad F_i> is not g")
    require(space.along(dy, F["j"]).is_zero(), "<grad y_i, grad F_j> is not 0")
    last = n in dy or n in dg
    own = [_is_law(space, law, F["i"]) for law in record["laws"]]
    apart = max(own.count(True), own.count(False)) <= 1
    require(apart, "the laws are not shown to be independent")
    fewer = last or not space.has_last
    enough = len(space.scalars) + fewer == len(record["laws"])
    require(enough, "the laws do not leave as many dimensions as there are outputs")
    conditions = "; ".join([*record["conditions"], "g > 0 and no divisor 0 along the flow"])
    lines = [
        _flow(space, given, fewer),
        *words,
        *(f"the flow keeps {law}" for law in record["laws"]),
        f"(grad Q)' = -c g X^T r along the flow, c > 0 constant, with the warp g = {warping['g']}",
        f"dQ/dbeta_i = y_i - y_i(w_0), with y_i = {warping['y_i']}",
        f"assumed: {conditions}",
        f"numbers that signs were read at: {pairs(proof['at'])}",
    ]
    return lines, ["the formula of Q", "the Hessian map", *left]


def _flow(space: EverySize, given: JSON, fewer: bool, excluded: Sequence[int] = ()) -> str:
    """Return what the flow is, and of which n."""
    n, but = space.size_name, "".join(f" but {n}" for n in excluded)
    return (
        f"w' = -diag(rates) J^T X^T r, with beta_i = {given['output']} at {given['each']} = "
        f"{space.entries['i']}, for i = 1, ..., {n}{'-1' * fewer}, of every {n} >= {LEAST}{but}"
    )


def _is_law(space: EverySize, text: str, F_i: Function) -> bool:
    """Require that the flow keeps a function, which is no constant; tell whether v_n is in it."""
    dc, i = space.slopes_of(space.read(text)), space.entries["i"]
    require(space.along(dc, F_i).is_zero(), f"{text:.60} is not conserved")
    outputs = {x for e, x in space.entries.items() if e != "n" or space.has_last}
    require(not dc.keys() & outputs, f"{text:.60} has an entry of an output in it")
    moves = (x * space.slope(c, i) if c in space.sums else x for c, x in dc.items())
    require(any(not_zero(x.at(space.start)) for x in moves), f"{text:.60} is a constant")
    return space.entries["n"] in dc


def _refuted(record: JSON) -> tuple[list[str], list[str]]:
    """Return what a record refutes for every n from its size on, and what it says besides."""
    given, proof, size = record["parameterization"], record["certificate"], record["size"]
    (space, F, words, left), fails = opened(record), proof["fails"]
    least = OUTPUTS + (not space.has_last)
    require(type(size) is int and size >= least, f"there is no n < {least} with three outputs")
    X: list[Any] = [space.slopes_of(f) for f in F.values()]
    flow = Flow(space, [*F.values()], X, None, "no warp")
    (a, b, c), K = fails["of"], flow.K
    require({a, b, c} <= {0, 1, 2}, "there are three outputs")
    change = space.along(X[a], K[b][c]) - space.along(X[b], K[a][c])
    parts = flow.H[a] * K[b][c] - flow.H[b] * K[a][c] - change, determinant(K)
    _never_zero(space, fails, parts, size)
    lines = [
        f"of beta_i = {given['output']} at {given['each']} = {space.entries['i']}, for i = 1, ..., "
        f"{given['outputs']} of every {space.size_name} >= {size}, no Q(beta) and no g > 0 have "
        "Hess Q = g rho around almost all weights",
        *words,
        PLACE + pairs(proof["at"]),
    ]
    return lines, ["the Hessian map", *left]


def _exists(record: JSON) -> tuple[list[str], list[str]]:
    """Return what a record proves of every n without a formula, and what it says besides."""
    given, proof = record["parameterization"], record["certificate"]["exists"]
    space, F, words, left = opened(record)
    X: list[Any] = [space.slopes_of(F[e]) for e in "ij"]
    names = [space.names[c] for c in (*space.entries.values(), *space.scalars)]
    x, y = ([space.along(field, c) for c in names] for field in X)
    bracket = [space.along(X[0], b) - space.along(X[1], a) for a, b in zip(x, y, strict=True)]
    minor = x[0] * y[1] - x[1] * y[0]
    H, K = ((a[0] * bracket[1] - a[1] * bracket[0]) / minor for a in (x, y))
    same = all(z.same(H * b - K * a) for z, a, b in zip(bracket, x, y, strict=True))
    require(same, "[X_i, X_j] is not H_i X_j - H_j X_i")
    require(space.entries["j"] not in space.slopes_of(H), "H_i has another entry in it")
    require(space.along(X[0], K).same(space.along(X[1], H)), "X_i H_j is not X_j H_i")
    require(space.read(record["warping"]["H_i"]).same(H), "H_i is another")
    columns = _columns(space, F, proof["spread"])
    gram = [[space.sum(a * b for a, b in zip(u, v, strict=True)) for v in columns] for u in columns]
    parts = (
        X[0][space.entries["i"]],
        space.of(H.bottom),
        determinant(gram) if gram else space.number(1),
    )
    excluded = proof["excluded"]
    require(all(type(n) is int for n in excluded), "an excluded size is a whole number")
    _never_zero(space, proof, parts, LEAST, excluded)
    lines = [
        _flow(space, given, not space.has_last, excluded),
        *words,
        "around almost all weights there are g > 0 and Q(beta) with Hess Q = g rho on the leaf, in "
        f"as many dimensions as there are outputs, and X_i log g = {record['warping']['H_i']}",
        PLACE + pairs(record["certificate"]["at"]),
    ]
    return lines, ["the Hessian map", *left]


def _columns(
    space: EverySize, F: Mapping[str, Function], spread: Mapping[str, Texts]
) -> list[list[Function]]:
    """Return the columns of the system for L, by the sums in F; rows are single weights, too."""
    dF = {e: space.slopes_of(F[e]) for e in "in"}

    def summed(a: str, b: str) -> Function:
        one, last = (
            dF[e][a] * space.slope(b, x) / dF[e][x] for e in "in" for x in [space.entries[e]]
        )
        whole = space.total(one, spread[f"{a}*{b}"])
        return whole if space.has_last else whole - last

    sums = [x for x in space.sums if x in dF["i"]]
    rows, n = [*sums, *(z for z in space.scalars if z in dF["i"])], space.entries["n"]
    last = [[] if space.has_last else [space.slope(b, n)] for b in sums]
    return [
        [*(summed(a, b) + int(a == b) for a in rows), *more]
        for b, more in zip(sums, last, strict=True)
    ]


def _never_zero(
    space: EverySize,
    proof: JSON,
    functions: Sequence[Function],
    size: int,
    excluded: Sequence[int] = (),
) -> None:
    """Require that functions are not 0 at almost all weights of each n from a size on but some.

    Entries and q sums are independent functions where n >= 3 + q, by a minor at numbers *apart*; at
    each smaller size there are weights.
    """
    apart = [space.valued({space.entries["i"]: rational(x)}) for x in proof["apart"]]
    slopes = [[space.slope(x, space.entries["i"]).at(at) for at in apart] for x in space.sums]
    enough = len(apart) == len(space.sums) and independent(slopes)
    require(enough, "the sums are not shown to be independent")
    large = OUTPUTS + len(space.sums)
    for polynomial in (p for f in functions for p in space.by_size(f)):
        never_zero(polynomial, max(size, large), excluded)
    small = [n for n in range(size, large) if n not in excluded]
    require({*proof["points"]} == {*map(str, small)}, "each small n has weights of its own")
    for n in small:
        at = space.at_point(dict(proof["points"][str(n)]), n)
        require(all(not_zero(f.at(at)) for f in functions), f"nothing is shown to fail at n = {n}")


def never_zero(coefficients: Sequence[Value], least: int, but: Sequence[int] = ()) -> None:
    """Require that c_0 + c_1 n + ... is not 0 for every n from some on, by a bound on its roots."""
    *rest, last = map(arb, coefficients)
    require(not_zero(last), "an equation is not shown to fail for large n")
    bound = 1 + max((float((abs(c) / abs(last)).upper()) for c in rest), default=0.0)
    require(bound < FAR, "an equation may hold for some large n")
    for n in (n for n in range(least, int(bound) + 2) if n not in but):
        value = sum((c * n**k for k, c in enumerate(map(arb, coefficients))), arb(0))
        require(not_zero(value), f"the equation is not shown to fail at n = {n}")
