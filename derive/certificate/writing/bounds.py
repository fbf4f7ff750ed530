"""Bounds on |w|^2 in terms of F(w), and the weights that attain them: proposals for the checker."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from flint import fmpq, fmpq_mat, fmpq_poly

from derive.certificate.checking.further.cost import Cost
from derive.certificate.checking.text import JSON
from derive.certificate.writing.products import calls_in
from derive.certificate.writing.roots import Roots
from derive.exact.rationals import as_fraction, identity, nullspace
from derive.explicit.constrained import ConstrainedProblem
from derive.explicit.cost.composition import Multilinear, Part, composed_parts, multilinear
from derive.explicit.cost.quadratic_forms import quadratic_forms
from derive.explicit.critical.bounds import Product, find_product

SMALL = 4


class Bound(NamedTuple):
    """(p_1 ... p_n)^power >= q(F)."""

    parts: Sequence[str]
    power: int
    q: str


class Proposal(NamedTuple):
    """Bounds on |w|^2, the degree of the roots in their weights, and the weights; or None."""

    bounds: Sequence[Bound]
    degree: int
    weights: Callable[[Roots], Mapping[str, str]] | None


def proposals(problem: ConstrainedProblem, cost: Cost, branch: JSON) -> Iterator[Proposal]:
    """Yield bounds: |w|^2 as a function of beta, products, compositions, and along rays."""
    text, square = branch["closed_form"], _sum(f"{w}**2" for w in cost.weights)
    if text is None:
        yield Proposal([], 1, None)
        return
    if not list(calls_in([text])) and "Abs" not in text:
        yield Proposal([Bound([square], 1, text)], 1, None)
    if (found := find_product(problem)) is not None:
        yield _of_product(found, cost.betas)
    F = multilinear(problem)
    parts = None if F is None else composed_parts(F)
    if F and parts and all(part.minimal.degree() == 1 for part in parts):
        yield _of_composition(F, parts, cost)
    if len(problem.F) == 1 and problem.degree:
        yield from _along_rays(problem, cost, square)


def _of_product(found: Product, betas: Sequence[str]) -> Proposal:
    """Return the bound of F = m(a) L b, or of one monomial, by the inequality of the means."""
    pairs = product(enumerate(betas), repeat=2)
    q = " + ".join(f"({found.inverse[i][j]})*{x}*{y}" for (i, x), (j, y) in pairs)
    q = f"({q})/{found.scale}"
    parts = [f"{a}**2/{n}" for a, n in found.powers.items() for _ in range(n)]
    parts += [_sum(f"{b}**2" for b in found.others)] * bool(found.others)

    def weights(roots: Roots) -> Mapping[str, str]:
        t = roots.power(q, Fraction(1, 2 * found.degree))
        w = {a: f"{roots.power(str(n), Fraction(1, 2))}*{t}" for a, n in found.powers.items()}
        m = "*".join(["1", *(f"({w[a]})**{n}" for a, n in found.powers.items())])
        for b, row in found.others.items():
            w[b] = f"({_sum(f'({c})*{x}' for c, x in zip(row, betas, strict=True))})/({m})"
        if not found.others and (roots.space.start[0] > 0) != (found.sign > 0):
            odd = next(a for a, n in found.powers.items() if n % 2)
            w[odd] = f"-{w[odd]}"
        return w

    return Proposal([Bound(parts, 1, q)], 2 * found.degree, weights)


class _Share(NamedTuple):
    """A part of a composition: its bound, e_g in all groups but the first, a basis in that."""

    bound: Bound
    fixed: Sequence[Sequence[fmpq]]
    basis: Sequence[Sequence[fmpq]]


def _share(part: Part, names: Sequence[Sequence[str]], betas: Sequence[str]) -> _Share:
    spaces = [fmpq_mat([[x[0] for x in row] for row in P]) for P in part.projectors]
    forms = [_form(P.tolist(), group) for P, group in zip(spaces, names, strict=True)]
    q = _sum(f"({c[0]})*{betas[i]}*{betas[j]}" for (i, j), c in part.form.items())
    return _Share(Bound(forms, 1, q), [_column(P) for P in spaces[1:]], _basis(spaces[0]))


def _of_composition(F: Multilinear, parts: Sequence[Part], cost: Cost) -> Proposal:
    """Return the bound by forms that F composes.

    It is attained by t e_g/|e_g| for fixed e_g in all groups but the first, where F is linear.
    """
    names = [[cost.weights[k] for k in group] for group in F.groups]
    shares = [_share(part, names, cost.betas) for part in parts]
    columns = [_value(F, [b, *share.fixed]) for share in shares for b in share.basis]
    rows = fmpq_mat(columns).transpose().inv().tolist()
    images = [_sum(f"({c})*{x}" for c, x in zip(row, cost.betas, strict=True)) for row in rows]

    def weights(roots: Roots) -> Mapping[str, str]:
        left, found = iter(images), dict[str, str]()
        for share in shares:
            for w, term in _share_of_weights(share, names, roots, left):
                found[w] = f"{found[w]} + {term}" if w in found else term
        return found

    return Proposal([share.bound for share in shares], 2 * len(names), weights)


def _share_of_weights(
    share: _Share, names: Sequence[Sequence[str]], roots: Roots, images: Iterator[str]
) -> Iterator[tuple[str, str]]:
    """Yield what a part adds to each weight."""
    t = roots.power(share.bound.q, Fraction(1, 2 * len(names)))
    sizes = [roots.power(str(sum(x * x for x in v)), Fraction(1, 2)) for v in share.fixed]
    for v, size, group in zip(share.fixed, sizes, names[1:], strict=True):
        yield from ((w, f"({x})*{t}/({size})") for w, x in zip(group, v, strict=True))
    factor = "*".join(["1", *(f"({size})/({t})" for size in sizes)])
    for b, image in zip(share.basis, images, strict=False):
        yield from ((w, f"({x})*({image})*{factor}") for w, x in zip(names[0], b, strict=True))


def _form(A: Sequence[Sequence[fmpq]], names: Sequence[str]) -> str:
    return _sum(
        f"({A[i][j]})*{x}*{y}" for i, x in enumerate(names) for j, y in enumerate(names) if A[i][j]
    )


def _column(P: fmpq_mat) -> list[fmpq]:
    return next(row for row in P.transpose().tolist() if any(row))


def _basis(P: fmpq_mat) -> list[list[fmpq]]:
    """Return rows that span the image of a symmetric projector."""
    echelon, rank = P.rref()
    return [list(row) for row in echelon.tolist()[:rank]]


def _value(F: Multilinear, vectors: Sequence[Sequence[fmpq]]) -> list[fmpq]:
    """Return F at one vector from each group."""
    terms = (
        (c * math.prod(v[k] for v, k in zip(vectors, at, strict=True)) for at, c in f.items())
        for f in F.outputs
    )
    return [sum(row, fmpq(0)) for row in terms]


def _along_rays(problem: ConstrainedProblem, cost: Cost, square: str) -> Iterator[Proposal]:
    """Yield bounds |w|^(2k) >= c F^j of one homogeneous output that small vectors attain."""
    D, (beta,) = int(problem.degree or 0), cost.betas
    k, j = (D, 2) if D % 2 else (D // 2, 1)
    for v in _vectors(problem):
        (value,) = problem.outputs_at(v)
        if not value:
            continue
        size = sum(x * x for x in v) ** k / value**j
        bound = Bound([square], k, f"({size})*{beta}**{j}")

        def weights(roots: Roots, v: Sequence[Fraction] = v, value: Fraction = value) -> JSON:
            turned = -1 if D % 2 and (roots.space.start[0] > 0) != (value > 0) else 1
            s = roots.power(f"{beta}/({turned * value})", Fraction(1, D))
            return {w: f"({turned * x})*{s}" for w, x in zip(cost.weights, v, strict=True)}

        yield Proposal([bound], 2 * D, weights)


def _vectors(problem: ConstrainedProblem) -> Iterator[list[Fraction]]:
    """Yield eigenvectors of a quadratic form, and vectors of 0, 1 and -1."""
    size = len(problem.weights)
    for A in quadratic_forms(problem) or ():
        for f, _ in fmpq_poly(A.charpoly()).factor()[1]:
            if f.degree() == 1:
                shifted = A + identity(size) * (fmpq(f[0]) / fmpq(f[1]))
                yield from ([as_fraction(x) for x in v] for v in nullspace(shifted.tolist()))
    if size <= SMALL:
        for v in product((0, 1, -1), repeat=size):
            yield [Fraction(x) for x in v]


def _sum(terms: Iterable[str]) -> str:
    return " + ".join(terms) or "0"
