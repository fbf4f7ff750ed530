"""How a chart of a leaf grows: weights as algebraic functions of beta and the conserved values.

A chart grows by one root variable with its polynomial, and by weights that are rational
functions, or radicals of rational functions, of what it has. Every entry is an identity proved
by expansion; what is left to choose is the branch of a root.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import gcd

import sympy
from sympy import Symbol

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.implicitization import Relation, RelationSearch, find_relation
from derive.model.labels import quoted
from derive.model.notation import to_expr
from derive.potential.branch import find_root, sign_in
from derive.potential.chart import HIGHEST, Chart
from derive.verdict import Identity


def cheapest_relation(
    chart: Chart, candidates: Mapping[str, RationalFunction]
) -> tuple[str, RationalFunction, Relation] | None:
    """Return (name, function, relation) of the candidate with the relation of lowest degree."""
    searches = {name: RelationSearch(f, chart.coordinates) for name, f in candidates.items()}
    for total in range(1, HIGHEST + 1):
        for name, search in searches.items():
            relation = search.at(total)
            if relation is not None:
                return name, candidates[name], relation
    return None


def add_weights(chart: Chart, needed: Sequence[str]) -> Chart | None:
    """Add weights that are rational in the chart, or roots of something rational; all or None."""
    p = chart.parameterization
    known = {name for name, _, _ in chart.entries}
    weights = {name: p.w[p.weights.index(name)] for name in needed if name not in known}
    while weights:
        simple = simple_entry(chart, weights)
        if simple is None:
            return None
        name, chart = simple
        del weights[name]
        chart = add_functions(chart)
    return chart


def add_functions(chart: Chart) -> Chart:
    """Add the functions that F uses of weights that the chart has."""
    p = chart.parameterization
    known = {name: image for name, _, image in chart.entries}
    for g in p.field.generators:
        ready = g.kind != "parameter" and set(g.argument.variables()) <= known.keys()
        if not ready or g.name in known:
            continue
        function = p.field.named(g.name)
        known[g.name] = to_expr(function, known)
        chart = chart.extended(g.name, function, known[g.name])
    return chart


def simple_entry(
    chart: Chart, weights: Mapping[str, RationalFunction], powers: Sequence[int] = (1, 2, 3)
) -> tuple[str, Chart] | None:
    """Return the first function w with w^n rational in the chart, and the chart with it."""
    for power in powers:
        for name, weight in weights.items():
            highest = 6 if chart.roots else 3
            relation = find_relation(weight, chart.coordinates, powers=(0, power), highest=highest)
            if relation is None or relation.degree != power:
                continue
            ratio = -relation.coefficients[0] / relation.coefficients[power]
            image = to_expr(ratio, chart.images)
            if power > 1:
                sign, chart = sign_in(chart, weight)
                image = sign * sympy.Pow(sign**power * image, sympy.Rational(1, power))
            what = name if power == 1 else f"{name}**{power}"
            p = chart.parameterization
            names = [Symbol(known) for known, _, _ in chart.entries]
            identity = Identity(quoted(f"{what} = {to_expr(ratio, names)}", p), what, repr(ratio))
            chart = chart.extended(name, weight, image)
            return name, replace(chart, evidence=(*chart.evidence, identity))
    return None


def add_root(
    chart: Chart, name: str, function: RationalFunction, relation: Relation
) -> Chart | None:
    """Return the chart with *function* as root variable: T = function^k solves its relation."""
    added = add_power(chart, name, function, relation)
    if added is None:
        return None
    extended, power = added
    if power == 1:
        return extended
    symbol = extended.roots[-1].symbol
    sign, signed = sign_in(extended, function)
    image = sign * sympy.Pow(sign**power * symbol, sympy.Rational(1, power))
    return replace(signed, entries=chart.extended(name, function, image).entries)


def add_power(
    chart: Chart, name: str, function: RationalFunction, relation: Relation
) -> tuple[Chart, int] | None:
    """Return the chart with T = function^k as an entry, T a root of its relation, and k."""
    power = gcd(*(n for n, c in enumerate(relation.coefficients) if not c.is_zero()))
    letter = "ABCDEGHM"[len(chart.roots)] if len(chart.roots) < 8 else f"A{len(chart.roots)}"
    symbol = chart.notation.fresh(letter, **({"nonnegative": True} if power % 2 == 0 else {}))
    T = function**power
    found = find_root(chart, symbol, relation.coefficients[::power], T)
    if found is None:
        return None
    root, assumed = found
    what = f"({function!r})**{power}" if power > 1 else repr(function)
    statement = quoted(f"{root.polynomial} = 0 for {symbol} = {what}", chart.parameterization)
    identity = Identity(statement, str(root.polynomial), "0")
    extended = replace(
        chart.extended(name, T, symbol),
        evidence=(*chart.evidence, identity),
        roots=(*chart.roots, root),
        assumptions=(*chart.assumptions, *assumed),
    )
    return extended, power
