"""A drift as a function of beta and the laws, where these and a root in them tell it."""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy import Expr

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.linear.implicitization import Coordinates, express
from derive.exact.signs import Signs
from derive.model.notation import to_expr
from derive.perturbed.followed import Leaf
from derive.potential.chart import Chart


def in_beta(leaf: Leaf, f: RationalFunction) -> Expr | None:
    """Return a function of the weights, and letters, in beta and the laws, proved by expansion."""
    known = [(name, f.field.embed(h), image) for name, h, image in _entries(leaf)]
    coordinates, images = Coordinates.of([x[:2] for x in known]), [image for *_, image in known]
    total: Expr = sympy.S.Zero
    for letters, c in _coefficients(leaf, f):
        found = None if c is None else express(c, coordinates)
        if found is None:
            return None
        total += leaf.written(letters) * to_expr(found, images)
    return total


def _coefficients(
    leaf: Leaf, f: RationalFunction
) -> Iterator[tuple[RationalFunction, RationalFunction | None]]:
    """Yield monomials in the letters with their coefficients; None where f is no polynomial."""
    field = f.field
    names = {s.name for s in leaf.letters.values()}
    places = [k for k, name in enumerate(field.names) if name in names]
    below = field.polynomial(f.denominator)
    if names & {*below.variables()}:
        yield field.one, None
        return
    parts: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
    for exponents, c in terms(f.numerator):
        own = tuple(n if k in places else 0 for k, n in enumerate(exponents))
        rest = tuple(n - m for n, m in zip(exponents, own, strict=True))
        parts.setdefault(own, {})[rest] = c
    for own, part in parts.items():
        monomial = field.polynomial(field.ring.from_dict({own: 1}))
        yield monomial, field.polynomial(field.ring.from_dict(part)) / below


def _entries(leaf: Leaf) -> Iterator[tuple[str, RationalFunction, Expr]]:
    """Yield functions of the weights on every leaf alike: no branch is that of the start alone."""
    p, chart = leaf.parameterization, leaf.chart
    yield from ((s.name, h, s) for s, h in zip(leaf.notation.betas, p.F, strict=True))
    yield from ((x.symbol.name, x.function.rational, x.symbol) for x in leaf.laws)
    yield from (
        (name, p.field.named(name), leaf.notation.start_symbols[name]) for name in p.parameters
    )
    if chart is not None and len(chart.constants) == len(leaf.laws):
        yield from _roots(leaf, chart)


def _roots(leaf: Leaf, chart: Chart) -> Iterator[tuple[str, RationalFunction, Expr]]:
    """Yield the roots of quadratic equations that are the largest at all weights."""
    p, laws = leaf.parameterization, dict[Expr, Expr]()
    for (symbol, _), law in zip(chart.constants, leaf.laws, strict=True):
        (h,) = (h for name, h, _ in chart.entries if name == symbol.name)
        laws[symbol] = leaf.written(p.field.embed(h) / law.function.rational) * law.symbol
    for root in chart.roots:
        squares = [h * h for _, h, image in chart.entries if image**2 == root.symbol]
        largest = root.slopes and Signs().is_nonnegative(root.slopes[0])
        if squares and largest and root.explicit is not None:
            yield root.symbol.name, squares[0], sympy.factor_terms(root.explicit.xreplace(laws))
