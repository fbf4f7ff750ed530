"""Outputs that are quadratic forms, as matrices, and the groups of weights that repeat in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import product

from flint import fmpq, fmpq_mat

from derive.exact.field.polynomial import Polynomial, terms
from derive.explicit.constrained import ConstrainedProblem


def quadratic_forms(problem: ConstrainedProblem) -> list[fmpq_mat] | None:
    """Return A_i with F_i = <w, A_i w>; None where an output is no quadratic form."""
    if any({sum(e) for e, _ in terms(f.numerator)} != {2} for f in problem.F):
        return None
    below = (int(f.denominator.leading_coefficient()) for f in problem.F)
    size = len(problem.weights)
    return [form_matrix(f.numerator, size) / n for f, n in zip(problem.F, below, strict=True)]


def form_matrix(form: Polynomial, size: int) -> fmpq_mat:
    """Return A with <x, A x> = form, for the first variables of its ring."""
    A = fmpq_mat(size, size)
    for exponents, c in terms(form):
        i, j = (k for k, e in enumerate(exponents) for _ in range(e))
        A[i, j] += fmpq(c, 2)
        A[j, i] += fmpq(c, 2)
    return A


def links(forms: Sequence[fmpq_mat]) -> set[tuple[int, int]]:
    """Return the pairs of weights that meet in a product."""
    places = product(range(forms[0].nrows()), repeat=2)
    return {(i, j) for i, j in places if any(A[i, j] for A in forms)}


def copies(forms: Sequence[fmpq_mat]) -> list[list[list[int]]]:
    """Return the weights in groups that meet in no product, equal forms on them gathered.

    Groups of one kind list their weights so that the forms agree.
    """
    size = forms[0].nrows()
    places = product(range(size), range(size))
    entries = {(i, j): tuple(A[i, j] for A in forms) for i, j in places}
    kinds: list[list[list[int]]] = []
    for group in components(size, links(forms)):
        for kind in kinds:
            matched = next(_matchings(entries, kind[0], group, []), None)
            if matched is not None:
                kind.append(matched)
                break
        else:
            kinds.append([group])
    return kinds


def aligned(forms: Sequence[fmpq_mat]) -> tuple[list[fmpq_mat], list[int]]:
    """Return the forms in s_k w_k, and signs s_k that make more of their groups copies.

    Signs are chosen from weight to weight, for products with a positive first coefficient. They are
    all 1 where that does not help.

    >>> forms = [fmpq_mat([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, -1], [0, 0, -1, 0]])]
    >>> aligned(forms)[1], copies(aligned(forms)[0])
    ([1, 1, 1, -1], [[[0, 1], [2, 3]]])
    """
    signs = _chosen_signs(forms)
    flipped = [
        fmpq_mat([[x * s * t for x, t in zip(row, signs, strict=True)] for row, s in pairs])
        for pairs in (zip(A.tolist(), signs, strict=True) for A in forms)
    ]
    if len(copies(flipped)) < len(copies(forms)):
        return flipped, signs
    return list(forms), [1] * len(signs)


def _chosen_signs(forms: Sequence[fmpq_mat]) -> list[int]:
    size = forms[0].nrows()
    signs = [0] * size
    for first in range(size):
        if signs[first]:
            continue
        signs[first] = 1
        reached = [first]
        for i in reached:
            for j in range(size):
                known = next((A[i, j] for A in forms if A[i, j]), None)
                if known is not None and not signs[j]:
                    signs[j] = signs[i] if known > 0 else -signs[i]
                    reached.append(j)
    return signs


def components(size: int, pairs: Set[tuple[int, int]]) -> list[list[int]]:
    """Return what the pairs hold together."""
    group = list(range(size))
    for i, j in pairs:
        group = [group[j] if g == group[i] else g for g in group]
    return [[k for k in range(size) if group[k] == name] for name in sorted(set(group))]


def _matchings(
    entries: Mapping[tuple[int, int], tuple[fmpq, ...]],
    model: list[int],
    left: list[int],
    chosen: list[int],
) -> Iterator[list[int]]:
    """Yield the orders of *left* in which its forms agree with those on *model*."""
    if len(model) != len(chosen) + len(left):
        return
    if not left:
        yield chosen
    for k in left:
        tried = [*chosen, k]
        place = model[len(chosen)]
        if all(entries[place, m] == entries[k, x] for m, x in zip(model, tried, strict=False)):
            yield from _matchings(entries, model, [x for x in left if x != k], tried)


def sides(group: Sequence[int], pairs: Set[tuple[int, int]]) -> tuple[set[int], set[int]]:
    """Return the weights of a group by the parity of their distance from the first."""
    near: tuple[set[int], set[int]] = ({group[0]}, set())
    for step in range(len(group)):
        near[1 - step % 2].update(j for i, j in pairs if i in near[step % 2])
    return near
