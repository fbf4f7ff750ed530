"""Check that w' = Phi(J^T l) keeps nothing, and that it has no Q: at weights in numbers, in balls.

Phi takes sign(x) |x|^s of each entry, s = 1/(p - 1), or the polar factor of each matrix.

**No law.** <dc, Phi(J^T l)> = 0 for all l at a c that the flow keeps; where Phi(J^T l_i) of p
vectors l_i are independent, there and so nearby, dc = 0. As Phi is odd, the flow reaches all
weights nearby from there, which is w_0 with numbers "at" for its symbols.

**No Q.** If grad Q(beta)' = g psi(l), g > 0, velocities J Phi(J^T l) of beta at two weights with
one beta differ by one factor for all l. With sum_j k_j w_j dF/dw_j = 0, c^k w have one beta, and
J^T l at these has the entries c^-k_j (J^T l)_j: none is 0 if none is at c = 1, and if k is a sum of
one of rows and one of columns, a matrix keeps its rank. So these velocities are analytic in c, and
a minor of two of them that is not 0 at c = 2 is not 0 near c = 1, at weights that the flow reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from typing import TypeAlias

from flint import arb, arb_mat, ctx, fmpq

from derive.certificate.checking.function import BITS, Function, Value, sign
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import (
    JSON,
    NAME,
    REFUTED,
    UNDECIDED,
    pairs,
    rational,
    require,
)

STEPS, NEAR, LARGEST, SIZE = 200, arb(2) ** -64, 64, 40
Weights: TypeAlias = Sequence[fmpq]
Phi: TypeAlias = Callable[[Weights], list[arb]]


def shown(record: JSON) -> tuple[str, list[str], list[str]]:
    """Return the verdict and the theorem that a record proves, and what it leaves open."""
    names, proof = record["weights"], record["certificate"]
    named = len({*names}) == len(names) <= SIZE and all(map(NAME.fullmatch, names))
    require(named, "weights have names of their own")
    space = Space(names, [], 0)
    F = [space.read(text) for text in record["outputs"]]
    phi = _phi(record, names)
    flow = Pushed([[f.derivative(k) for k, _ in enumerate(names)] for f in F], phi)
    w = _at(record["point"], names)
    require(_start(record, names) == w, "the weights in numbers are no start")
    with ctx.workprec(BITS):
        rows = [phi(flow.slopes(w, steer)) for steer in _steering(record["steering"], len(F))]
        spans = len(rows) == len(names) and not arb_mat(rows).det().contains(0)
        require(spans, "Phi(J^T l) is not shown to span all directions of the weights")
        require(record["laws"] == REFUTED, "the record proves that there is no law")
        verdict = UNDECIDED if proof["scaling"] is None else REFUTED
        if verdict == REFUTED:
            flow.require_no_potential(record, space, w)
    law, *no_potential = _words(record, verdict)
    said = [tuple(x[key] for key in PARTS) for x in record["statements"]]
    require(said[0] == law, "the record says more of laws")
    require(said[1:] == no_potential or verdict == UNDECIDED, "the record says more of Q")
    require(record["reason"] == said[1][-1] or verdict == UNDECIDED, "the reason is another")
    lines = [f"w' = Phi(J^T l), l = X^T (y - X beta): {record['flow']}"]
    lines += [f"F{i} = {text}" for i, text in enumerate(record["outputs"], 1)]
    lines.append(f"w_0: {pairs(record['start'])}")
    lines += [law[1], *(f"{words[1]}, there" for words in no_potential)]
    return verdict, lines, ["whether there is a Q"] * (verdict == UNDECIDED)


PARTS = "kind", "says", "conditions", "ground", "by"


def _words(record: JSON, verdict: str) -> list[tuple[JSON, ...]]:
    """Return what the record has to say of laws and, where there is none, of Q."""
    by = f"Phi(J^T l) spans all {len(record['weights'])} directions of them"
    at, other = pairs(record["point"]), pairs(record["other"])
    steering = ", ".join(map(_vector, record["steering"]))
    law = f"near {at} the flow keeps no function of the weights: {by}; with l {steering}"
    found: list[tuple[JSON, ...]] = [("conserved", law, [], "proved", by)]
    if verdict == REFUTED:
        one, two = map(_vector, record["certificate"]["velocities"])
        by = (
            f"under l = {one} and {two} beta moves otherwise at other weights with the same beta, "
            "by more than a factor"
        )
        none = "no Q(beta), no g > 0 and no psi have grad Q(beta)' = g psi(l)"
        says = f"{none}: {by}; the other weights are {other}"
        found.append(("mirror flow", says, [], "proved", by))
    return found


def _vector(steer: Sequence[int]) -> str:
    return f"({', '.join(map(str, steer))})"


def _start(record: JSON, names: Sequence[str]) -> list[Value]:
    """Return w_0 with the numbers that the certificate has for its symbols."""
    at, start = record["certificate"]["at"], record["start"]
    require({*start} == {*names} and all(map(NAME.fullmatch, at)), "not all weights have a start")
    space, values = Space([*at], [], 0), [rational(x) for x in at.values()]
    return [space.read(start[name]).at(values) for name in names]


class Pushed:
    """J and Phi."""

    def __init__(self, J: Sequence[Sequence[Function]], phi: Phi) -> None:
        self.J, self.phi = J, phi

    def jacobian(self, w: Weights) -> list[list[fmpq]]:
        """Return J at weights."""
        found = [[f.at(w) for f in row] for row in self.J]
        exact = [[x for x in row if isinstance(x, fmpq)] for row in found]
        require([*map(len, exact)] == [*map(len, found)], "F is no rational function")
        return exact

    def slopes(self, w: Weights, steer: Sequence[int]) -> list[fmpq]:
        """Return J^T l, of which no entry is 0."""
        columns = zip(*self.jacobian(w), strict=True)
        found = [sum((x * y for x, y in zip(steer, c, strict=True)), fmpq(0)) for c in columns]
        require(all(found), "a slope is 0, where Phi may not be smooth")
        return found

    def velocity(self, w: Weights, steer: Sequence[int]) -> list[arb]:
        """Return J Phi(J^T l)."""
        pushed = arb_mat([[x] for x in self.phi(self.slopes(w, steer))])
        return (arb_mat([[arb(x) for x in row] for row in self.jacobian(w)]) * pushed).entries()

    def require_no_potential(self, record: JSON, space: Space, w: Weights) -> None:
        """Require two weights with one beta at which beta moves by more than a factor otherwise."""
        names, proof = record["weights"], record["certificate"]
        k, pair = proof["scaling"], _steering(proof["velocities"], len(self.J))
        require(len(k) == len(names) and len(pair) == 2, "a scaling has a power of each weight")
        require(all(type(n) is int and abs(n) <= LARGEST for n in k), "powers are whole numbers")
        moved = (
            [n * space.names[x] * f for n, x, f in zip(k, names, row, strict=True)]
            for row in self.J
        )
        kept = all(space.sum(row).is_zero() for row in moved)
        require(kept, "the scaling of the weights changes F")
        require(_is_of_rows_and_columns(record, names, k), "a matrix may lose its rank on the way")
        other = _at(record["other"], names)
        scaled = [x * fmpq(2) ** n for x, n in zip(w, k, strict=True)]
        require(scaled == other, "the other weights are not those that are scaled")
        here, there = ([v for s in pair for v in self.velocity(at, s)] for at in (w, other))
        minors = (
            here[i] * there[j] - here[j] * there[i] for i, j in combinations(range(len(here)), 2)
        )
        differ = any(sign(minor) for minor in minors)
        require(differ, "velocities are not shown to differ by more than a factor")


def _at(given: Mapping[str, str], names: Sequence[str]) -> list[fmpq]:
    require({*given} == {*names}, "the weights are not all in numbers")
    return [rational(given[name]) for name in names]


def _steering(given: JSON, d: int) -> list[list[int]]:
    whole = all(type(x) is int and len(row) == d for row in given for x in row)
    require(whole, "steering is by whole numbers, one for each output")
    return [*given]


def _phi(record: JSON, names: Sequence[str]) -> Phi:
    """Return Phi in balls, by its name, which the flow has."""
    push, shapes = record["push"], record["shapes"]
    if push == "spectral":
        require(record["flow"] == "steepest descent in the spectral norm", "the flow is another")
        require({*_places(shapes)} == {*names}, "weights stand in no matrix")
        return lambda G: _polar_factors(dict(zip(names, G, strict=True)), shapes)
    infinite = push in ("oo", "inf", "infinity")
    said = f"steepest descent in l{'inf' if infinite else push}"
    require(record["flow"] == said and not shapes, "the flow is another")
    p = rational(push) if not infinite else fmpq(0)
    require(infinite or p > 1, "p is no number above 1")
    s = arb(0) if infinite else arb(1 / (p - 1))
    return lambda G: [(arb(abs(x)) ** s) * (1 if x > 0 else -1) for x in G]


def _places(shapes: JSON) -> list[str]:
    return [
        f"{name}{i}{j}"
        for name, (n, m) in shapes.items()
        for i, j in product(range(1, n + 1), range(1, m + 1))
    ]


def _is_of_rows_and_columns(record: JSON, names: Sequence[str], k: Sequence[int]) -> bool:
    """Tell whether powers in matrices are k_ij = a_i + b_j."""
    of = dict(zip(names, k, strict=True))
    return all(
        of[f"{x}{i}{j}"] - of[f"{x}{i}1"] == of[f"{x}1{j}"] - of[f"{x}11"]
        for x, (n, m) in record["shapes"].items()
        for i, j in product(range(1, n + 1), range(1, m + 1))
    )


def _polar_factors(G: Mapping[str, fmpq], shapes: JSON) -> list[arb]:
    found = dict[str, arb]()
    for name, (n, m) in shapes.items():
        places = _places({name: (n, m)})
        factor = _polar(arb_mat(n, m, [arb(G[place]) for place in places]))
        found |= zip(places, factor.entries(), strict=True)
    return [found[place] for place in G]


def _polar(G: arb_mat) -> arb_mat:
    """Return O of G = O S: X (3 - X^T X)/2 keeps O, and |X - O| <= |X^T X - 1|."""
    if G.nrows() < G.ncols():
        return _polar(G.transpose()).transpose()
    n = G.ncols()
    one = arb_mat(n, n, [int(i == j) for i, j in product(range(n), repeat=2)])
    X = G * (1 / _length(G))
    for _ in range(STEPS):
        square = X.transpose() * X
        if (off := _length(square - one)) < NEAR:
            return arb_mat(G.nrows(), n, [x + arb(0, off.upper()) for x in X.entries()])
        X = X * (3 * one - square) * (arb(1) / 2)
    require(False, "a matrix is not shown to be of full rank")
    raise AssertionError


def _length(A: arb_mat) -> arb:
    return sum((x * x for x in A.entries()), arb(0)).sqrt()
