"""Steepest descent in l_p as gradient flow with rates: what the checker asks of the rates.

With rates c |d_k F|^(s - 1), c one constant, and no weight in two outputs, phi(J^T l) = G^-1 J^T
phi(l) for phi(x) = sign(x) |x|^s, s = 1/(p - 1). Rates are positive; if s is odd, phi is a
polynomial, and all holds where rates are 0, too, with K = c sum_k |d_k F|^(s + 1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from flint import fmpq

from derive.certificate.checking.function import Function, constant
from derive.certificate.checking.signs import factors
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, require

FLOW = re.compile(
    r"w' = phi\(-J\^T X\^T r\) = diag\(rates\) J\^T phi\(-X\^T r\), "
    r"phi\(x\) = sign\(x\)(?: \|x\|\^\(?(\d{1,3}(?:/\d{1,3})?)\)?)?"
)


def exponent(flow: str) -> fmpq | None:
    """Return s of a flow in words, or None of another."""
    found = FLOW.fullmatch(flow)
    return None if found is None else fmpq(*map(int, (found[1] or "0").split("/")))


def degrees(
    space: Space, given: JSON, F: Sequence[Function], rates: Sequence[Mapping[int, Function]]
) -> list[fmpq]:
    """Require that rates are those of phi; return D with <w, dF> = D F of each output, or 0.

    None are returned of gradient flow.
    """
    if (s := exponent(given["flow"])) is None:
        return []
    require("rates" in given and "vector" not in given, "steepest descent has rates")
    divisors = dict(space.divisors)
    _require_rates(space, s, F, rates)
    if s.q == 1 and s.p % 2:
        _owe_no_rates(space, rates)
    moved = (space.sum(space.symbols[k] * f.derivative(k) for k in range(space.weights)) for f in F)
    found = [constant(x / f) or fmpq(0) for x, f in zip(moved, F, strict=True)]
    space.divisors = divisors  # identities hold where these are 0, too
    return found


def _require_rates(
    space: Space, s: fmpq, F: Sequence[Function], rates: Sequence[Mapping[int, Function]]
) -> None:
    """Require rates c |d_k F|^(s - 1)."""
    units, n = list[Function](), 2 * int(s.q)
    for k, row in enumerate(rates):
        slopes = [x for x in (f.derivative(k) for f in F) if not x.is_zero()]
        require(len(slopes) < 2, "under steepest descent outputs share a weight")
        units += [row[k] ** n * x ** (n - 2 * int(s.p)) for x in slopes]
    steady = all(u.derivative(k).is_zero() for u in units[:1] for k in range(space.weights))
    require(steady and all(map(units[0].same, units)), "the rates are not those of phi")


def _owe_no_rates(space: Space, rates: Sequence[Mapping[int, Function]]) -> None:
    """Owe no signs of rates; what a root or a logarithm of F asks is owed whatever they are."""

    def parts(f: Function) -> set[str]:
        return {str(p) for p, _ in factors(f)}

    own = set[str]().union(*(parts(rate) for row in rates for rate in row.values()))
    own = own.difference(*(parts(g.argument) for g in space.generators))
    space.signs = [f for f in space.signs if not parts(f) <= own]
