"""Check that given measurements steer beta = sum_t c_t A_t B_t^T to more dimensions than they fix.

grad <X, F> moves A_t by c_t X B_t and B_t by c_t X^T A_t: a linear map S_X of all rows Z, one above
the other, whatever their length. Flows along the S_X reach the orbit of the group of Lie{S_X}, and
beta moves on it, at the "start", in as many directions as dF has on the A Z, A in that algebra: in
no fewer from almost every start with so many columns or more. Ranks are modulo a prime, where they
are no larger than they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, product

from flint import nmod, nmod_mat

from derive.certificate.checking.text import JSON, rational, require

PRIME = 2**61 - 1


def shown(given: JSON) -> str:
    """Return what is shown of an orbit, or raise Rejected."""
    steered = Steered([(a, b, _modulo(c)) for a, b, c in given["terms"]], *given["size"])
    start, (n, m) = [_modulo(x) for x in given["start"].values()], given["size"]
    width, rest = divmod(len(start), steered.total)
    require(width and not rest, "the start has other weights")
    Z = nmod_mat(steered.total, width, start, PRIME)
    fields = [steered.field([_modulo(x) for x in row]) for row in given["X"]]
    d = _rank([steered.of_beta(Z, A * Z) for A in _algebra(fields)])
    require(d == given["dimension"] > len(fields), "beta is not shown to reach so many dimensions")
    return (
        f"from almost every start with {width} columns or more {len(fields)} measurements of "
        f"{n} x {m} entries, X, steer beta to {d} dimensions, so that different beta of one "
        "<X_i, beta> are reached"
    )


class Steered:
    """The rows of all matrices of F, one above the other."""

    def __init__(self, terms: Sequence[tuple[str, str, nmod]], n: int, m: int) -> None:
        self.terms, self.at, self.total = terms, dict[str, int](), 0
        lefts, rights = {a for a, _, _ in terms}, {b for _, b, _ in terms}
        require(n == m or not lefts & rights, "sizes do not fit")
        for name in dict.fromkeys((*(a for a, _, _ in terms), *(b for _, b, _ in terms))):
            self.at[name] = self.total
            self.total += n if name in lefts else m
        self.places = [*product(range(n), range(m))]

    def field(self, x: Sequence[nmod]) -> nmod_mat:
        """Return S_X."""
        S = nmod_mat(self.total, self.total, PRIME)
        for (a, b, c), ((i, j), value) in product(self.terms, [*zip(self.places, x, strict=True)]):
            S[self.at[a] + i, self.at[b] + j] += c * value
            S[self.at[b] + j, self.at[a] + i] += c * value
        return S

    def of_beta(self, Z: nmod_mat, V: nmod_mat) -> list[nmod]:
        """Return dF at Z along V, entry by entry."""
        moved, at, zero = V * Z.transpose(), self.at, nmod(0, PRIME)
        moved = moved + moved.transpose()  # <v_k, w_l> + <w_k, v_l> of any two rows
        return [
            sum((c * moved[at[a] + i, at[b] + j] for a, b, c in self.terms), zero)
            for i, j in self.places
        ]


def _algebra(fields: Sequence[nmod_mat]) -> list[nmod_mat]:
    """Return what spans the Lie algebra of some linear maps."""
    found, pending = list[nmod_mat](), [*fields]
    while pending:
        A = pending.pop(0)
        if _rank([x.entries() for x in (*found, A)]) > len(found):
            found.append(A)
            pending += [A * B - B * A for B in fields]
    return found


def _rank(rows: list[list[nmod]]) -> int:
    return int(nmod_mat(len(rows), len(rows[0]), list(chain(*rows)), PRIME).rank())


def _modulo(text: JSON) -> nmod:
    x = rational(text)
    return nmod(int(x.p), PRIME) / int(x.q)
