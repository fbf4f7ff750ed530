"""Where the flow starts: the names of a record, w_0 and its values in numbers, rates.

Another start w_1 from which beta moves as from w_0 may stand for w_0. Functions h_1, ..., h_n, of
which the first are F, with X_a h_i = sum_j C_aij h_j for constants C obey h' = sum_a lambda_a C_a h
under every steering lambda, a linear equation. With h(w_0) = h(w_1) all h, and so beta, take the
same values along both flows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from flint import fmpq

from derive.certificate.checking.flow import determinant
from derive.certificate.checking.function import Function
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, NotACertificate, names_in, rational, require

OUTPUTS = 60
Kind: TypeAlias = Callable[[Sequence[str], Sequence[str], int], Space]


def space_of(given: JSON, proof: JSON, spare: int, kind: Kind) -> Space:
    """Return the names of a record, with w_0 and its values in numbers, and the calls of F."""
    weights, parameters, start = given["weights"], given["parameters"], given["start"]
    if not 0 < len(given["outputs"]) <= OUTPUTS:
        raise NotACertificate("there are too many outputs, or none")
    if set(start) != set(weights):
        raise NotACertificate("the start does not give every weight")
    proofs = [part for part in proof.values() if isinstance(part, dict)]
    proofs += [p for key in ("dual", "pieces") for p in proof[key] or () if p is not None]
    room = max((len(p.get("definitions", ())) for p in proofs), default=0)
    symbols = names_in(start.values()) - set(parameters)
    require(set(proof["at"]) == {*parameters, *symbols}, "at gives other names than the start has")
    constants = [*parameters, *sorted(symbols)]
    space = kind(weights, constants, room + len(proof["definitions"]) + 1 + spare)
    numbers = [rational(proof["at"][name]) for name in constants]
    space.start = [*([fmpq(0)] * len(weights)), *numbers]
    later = []
    for entry in proof["definitions"]:
        plain = "Integral" not in entry.get("of", "Integral")
        require(plain, "only calls are defined before F is read")
        if names_in([entry["of"]]) <= {*constants}:
            space.define(entry)  # as sqrt(2), which the start may use
        else:
            later.append(entry)
    _starts_at(space, given, start, proof)
    for entry in later:
        space.define(entry)
    texts = given["outputs"] if "vector" not in given else [given["coefficient"]]
    known = {*weights, *parameters}
    require(names_in([*texts, *rate_texts(given)]) <= known, "F has other names than it should")
    return space


def _starts_at(space: Space, given: JSON, start: JSON, proof: JSON) -> None:
    """Put the start of every weight, a function of constants, and its value in numbers."""
    space.w0 = [space.read(start[w]) for w in given["weights"]]
    require(all(map(space.is_of_constants, space.w0)), "the start uses a weight")
    space.start = space.started(proof["at"])


def rate_texts(given: JSON) -> list[str]:
    """Return the rates of the weights, or the entries of G^-1, as texts."""
    rows = given.get("rates", {}).values()
    return [text for row in rows for text in (row if isinstance(row, list) else [row])]


def rates_of(space: Space, given: JSON) -> list[dict[int, Function]]:
    """Return the rows of G^-1, without zeros, which is positive definite at the start.

    The rates of the weights are its diagonal, 1 where none are given; or rows are given.
    """
    texts = given.get("rates", {})
    if any(isinstance(row, list) for row in texts.values()):
        require(all(isinstance(row, list) for row in texts.values()), "a row of G^-1 is no list")
        return _rows(space, [[space.read(text) for text in texts[w]] for w in given["weights"]])
    for name, text in texts.items():
        if text != "1":
            space.positive(space.read(text), f"the rate of {name}")
    return [{k: space.read(texts.get(w, "1"))} for k, w in enumerate(given["weights"])]


def _rows(space: Space, rows: list[list[Function]]) -> list[dict[int, Function]]:
    require(all(len(row) == len(rows) for row in rows), "G^-1 is not square")
    pairs = [(rows[i][j], rows[j][i]) for i in range(len(rows)) for j in range(i)]
    require(all(x.same(y) for x, y in pairs), "G^-1 is not symmetric")
    for k in range(1, len(rows) + 1):
        space.positive(determinant([row[:k] for row in rows[:k]]), f"minor {k} of G^-1")
    return [{j: x for j, x in enumerate(row) if not x.is_zero()} for row in rows]


def raised(
    space: Space, rates: Sequence[Mapping[int, Function]], functions: Sequence[Function]
) -> list[list[Function]]:
    """Return the fields G^-1 df of functions."""
    slopes = ([f.derivative(k) for k in range(space.weights)] for f in functions)
    return [[space.sum(df[k] * r for k, r in row.items()) for row in rates] for df in slopes]


def move_start(space: Space, F: Sequence[Function], given: JSON, certificate: JSON) -> bool:
    """Put w_1 for w_0; tell whether the certificate shows by some h and C that beta moves alike."""
    weights, start, w0 = given["weights"], given["equivalent_start"], space.w0
    plain = all(space.is_of_constants(call.argument) for call in space.known)
    plain = plain and "vector" not in given and not set(weights) & set(given["positive"])
    require(plain, "a start is put for another where F has calls, or signs of weights are given")
    require(set(start) == set(weights), "the equivalent start does not give every weight")
    if (proof := certificate["equivalence"]) is not None:
        h = [space.read(text) for text in proof["functions"]]
        _is_linear(space, F, h, proof["slopes"])
    _starts_at(space, given, start, certificate)
    alike = proof is None or all(f.into(w0).same(f.into(space.w0)) for f in h)
    require(alike, "the starts are not equivalent")
    return proof is not None


def _is_linear(space: Space, F: Sequence[Function], h: Sequence[Function], C: JSON) -> None:
    """Require that h starts with F, and that the derivatives of h are linear in h."""
    require(all(f.same(x) for f, x in zip(F, h[: len(F)], strict=True)), "h leaves out F")
    divisors = (space.of(f.bottom) for f in h)
    require(all(map(space.is_of_constants, divisors)), "h is no polynomial in the weights")
    for x, rows in zip(space.fields, C, strict=True):
        for f, row in zip(h, rows, strict=True):
            c = [space.read(text) for text in row]
            require(all(map(space.is_of_constants, c)), "a coefficient of h is not constant")
            same = space.dot(c, h).same(space.along(x, f))
            require(same, "a derivative of h is not the given combination")
