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
from derive.model.notation import FUNCTIONS, rational, to_expr
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
    chart = add_simple(chart, needed)
    return None if any(chart.image(name) is None for name in needed) else chart


def add_simple(chart: Chart, names: Sequence[str]) -> Chart:
    """Add those of the weights, and the functions of them that F uses."""
    p = chart.parameterization
    weights = {name: p.field.named(name) for name in names if chart.image(name) is None}
    while (simple := simple_entry(chart, weights)) is not None:
        chart = add_functions(simple)
        weights = {name: w for name, w in weights.items() if chart.image(name) is None}
    return chart


def add_functions(chart: Chart) -> Chart:
    """Add the functions that F uses of what the chart has, and what it has exponentials of."""
    p = chart.parameterization
    for g in p.field.generators:
        if g.kind == "parameter":
            continue
        known, parts = chart.image(g.name), [x for x in (g.argument, g.exponent) if x is not None]
        if known is None:
            images = [chart.write(p.field.embed(x)) for x in parts]
            if all(x is not None for x in images):
                index = [g.index] if g.kind == "root" else []
                image = FUNCTIONS[g.kind](*images, *index)
                chart = chart.extended(g.name, p.field.named(g.name), image)
        elif g.kind == "exp":
            for name, w in zip(p.weights, p.w, strict=True):
                rate = p.field.embed(g.argument) / w
                if rate.is_constant() and chart.image(name) is None:
                    image = sympy.expand_log(sympy.log(known)) / rational(rate.value())
                    chart = chart.extended(name, w, image)
    return chart


def simple_entry(
    chart: Chart, weights: Mapping[str, RationalFunction], powers: Sequence[int] = (1, 2, 3, 4)
) -> Chart | None:
    """Return the chart with the first function w of which a power is rational in it, or None."""
    for power in powers:
        for name, weight in weights.items():
            highest = 6 if chart.roots or chart.of_length else 3
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
            return replace(chart, evidence=(*chart.evidence, identity))
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
