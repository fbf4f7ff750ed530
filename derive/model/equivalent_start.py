"""Other starts of F from which beta moves alike, with more weights that stay 0.

Where the fields are affine, the functions h_1, ..., h_n that iterated derivatives X_a X_b ... F_c
span are finitely many, and X_a h_i = sum_j C_aij h_j with constant C. Under every steering lambda
their values obey h' = sum_a lambda_a C_a h, a linear equation. So beta, which is among them, moves
alike from any two starts at which all h_i agree: such starts cannot be told apart by beta.

With X_a K_bc among the h_i, Q is the same as well. Two neurons with orthonormal u, v and a = b = 0
are one neuron with u = 0 and a = 1 in this sense, although their weights reach more directions.

Source: Isidori, "Nonlinear control systems", chapter 3, on realizations; the use is derived here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, combinations

import sympy
from sympy import Dummy, Expr, Symbol

from derive.errors import DeriveError
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.linear.matrix import connected, dot, nullspace_over_constants
from derive.exact.towers.tower import build_elements
from derive.language import from_sympy
from derive.language.tree import Tree
from derive.model.geometry import EUCLIDEAN
from derive.model.notation import to_expr
from derive.model.parameterization import Parameterization
from derive.model.restriction import EquivalentStart, Restriction, find_idle, leave_out

MAXIMAL_FUNCTIONS = 40
"""Functions in the span at which the search ends."""


def find_equivalent_start(p: Parameterization) -> Restriction | None:
    """Return F in fewer weights, from a start that beta does not tell from the one given, or None.

    Proved by h_i(w_0) = h_i(w_1), exactly, for functions h_i that span all derivatives of F.
    """
    parts = _parts(p)
    if len(parts) < 2 or (functions := closed_span(p)) is None:
        return None
    for number in range(1, len(parts)):
        for chosen in combinations(parts, number):
            kept = tuple(w for w in p.weights if w in chain(*chosen))
            for start in _proposals(p, functions, kept):
                found = _accepted(p, functions, start)
                if found is not None:
                    return found
    return None


def _parts(p: Parameterization) -> list[tuple[str, ...]]:
    """Return the groups of weights that are multiplied with one another; () unless X is affine."""
    size = p.p
    if (
        not p.is_rational
        or p.geometry != EUCLIDEAN
        or not all(_is_affine(x, size) for row in p.fields for x in row)
    ):
        return []
    places = ((k, x) for row in p.fields for k, x in enumerate(row))
    pairs = ((k, j) for k, x in places for j in range(size) if x.depends_on(j))
    return [tuple(p.weights[k] for k in group) for group in sorted(connected(size, pairs))]


def _is_affine(f: RationalFunction, size: int) -> bool:
    """Tell whether f is a polynomial of degree 1 at most in the first *size* variables."""
    return f.denominator.is_constant() and all(sum(e[:size]) <= 1 for e, _ in terms(f.numerator))


def closed_span(p: Parameterization) -> dict[str, RationalFunction] | None:
    """Return a basis, by name, of what all derivatives of F along the fields span."""
    found: dict[str, RationalFunction] = {}
    pending = [(f"F{i}", f) for i, f in zip(p.labels, p.F, strict=True)]
    for name, f in pending:
        functions = [*found.values(), f]
        dependence = nullspace_over_constants([(x,) for x in functions])
        if dependence:
            if dependence[0][-1].is_zero() or not dot(dependence[0], functions).is_zero():
                raise AssertionError(f"{name} is not spanned")
            continue
        if len(found) == MAXIMAL_FUNCTIONS:
            return None
        found[name] = f
        # The list grows while it is walked, until derivatives add nothing new.
        gradient = p.field.gradient(f)
        for i, row in zip(p.labels, p.fields, strict=True):
            along = f"K{name[1:]}{i}" if name[0] == "F" else f"<grad F{i}, grad {name}>"
            pending.append((along, dot(row, gradient)))
    return found


def _proposals(
    p: Parameterization, functions: Mapping[str, RationalFunction], kept: tuple[str, ...]
) -> Iterator[dict[str, Tree]]:
    """Yield starts at which the weights that are not kept are 0; none of them is proved."""
    symbols = {name: Symbol(name, real=True) for name in (*p.start_symbols, *p.parameters)}
    unknowns = {w: Dummy(w, real=True) for w in kept}
    images = {**symbols, **dict.fromkeys(p.weights, sympy.S.Zero), **unknowns}
    equations = [to_expr(h, images) - to_expr(p.at_start(h), symbols) for h in functions.values()]
    general = {x: sympy.prime(k) for k, x in enumerate(symbols.values(), 5)}
    at_numbers = [e for equation in equations if (e := equation.subs(general)) != 0]
    if not _has_simple_points(at_numbers, list(unknowns.values()), 1 if general else 2):
        return
    for solution in _solutions(equations, list(unknowns.values())):
        values = {w: solution.get(x, x) for w, x in unknowns.items()}
        # A root of symbols is not real for all their values.
        if all(v.is_rational_function(*symbols.values()) for v in values.values()):
            yield {w: from_sympy(values.get(w, sympy.S.Zero)) for w in p.weights}


def _has_simple_points(equations: list[Expr], unknowns: list[Dummy], degree: int) -> bool:
    """Tell whether there are finitely many solutions, the last unknown of a low degree in one."""
    if len(equations) < len(unknowns):
        return False
    basis = sympy.groebner(equations, *unknowns)
    if basis.exprs == [1] or not basis.is_zero_dimensional:
        return False
    _, factors = sympy.Poly(basis.exprs[-1], unknowns[-1]).factor_list()
    return any(f.degree() <= degree for f, _ in factors)


def _solutions(equations: list[Expr], unknowns: list[Dummy]) -> list[dict[Dummy, Expr]]:
    """Return real solutions, positive ones first, with no unknown left free."""
    try:
        found = sympy.solve(equations, unknowns, dict=True)
    except NotImplementedError:
        return []
    solved = [x for x in found if len(x) == len(unknowns) and all(v.is_real for v in x.values())]
    return sorted(solved, key=lambda x: sum(v.could_extract_minus_sign() for v in x.values()))


def _accepted(
    p: Parameterization, functions: Mapping[str, RationalFunction], start: dict[str, Tree]
) -> Restriction | None:
    """Return F from a start without its idle weights, where all functions agree; else None."""
    try:
        positive = [name for name in p.positive if name not in p.weights]
        moved = p.with_(start=start, positive=positive)
        trees = [tree for _, tree in (*p.start, *moved.start)]
        both = build_elements(trees, p.start_symbols, p.parameters, (*p.positive, *p.parameters))
        field = both[0].field
        constants = [field.named(name) for name in p.field.names[p.p :]]
        given, other = [*both[: p.p], *constants], [*both[p.p :], *constants]
        if any(h.compose(given, field) != h.compose(other, field) for h in functions.values()):
            return None
        idle = find_idle(moved)
        other_start = EquivalentStart(moved.start, tuple(functions))
        return Restriction(leave_out(moved, idle), start=other_start, idle=idle)
    except DeriveError:
        return None
