"""Coordinates on a leaf: the weights as algebraic functions of beta and the conserved values.

A *chart* names functions of the weights and knows how each is written in beta: the outputs
themselves, the conserved quantities (constants on the leaf), one root variable with its
polynomial, and weights that are rational functions, or radicals of rational functions, of those.
Every entry is an identity proved by expansion; what is left to choose is the branch of a root.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import comb, gcd

import sympy
from sympy import Expr, Symbol

from derive.exact.field import RationalFunction
from derive.exact.implicitization import Coordinates, Relation, RelationSearch, find_relation
from derive.exact.positivity import is_nonnegative
from derive.exact.roots import branch_from_above
from derive.stages.metric import Metric
from derive.stages.notation import Notation, to_expr
from derive.stages.parametric import start_sign
from derive.stages.piece import Root
from derive.stages.witness import rational_starts
from derive.verdict import Identity

HIGHEST = 12
"""Weighted degree at which the search for a root variable stops."""


@dataclass(frozen=True)
class Chart:
    """Named functions on the leaf.

    Attributes:
        notation: the names.
        metric: K of the parameterization.
        entries: (name, function of the weights, the same in beta), in order of definition.
        constants: the symbols of the conserved values with these in start symbols.
        roots: the root variables.
        evidence: the identities behind the entries.
        assumptions: signs at the start that select branches.
    """

    notation: Notation
    metric: Metric
    entries: tuple[tuple[str, RationalFunction, Expr], ...]
    constants: tuple[tuple[Symbol, Expr], ...]
    roots: tuple[Root, ...] = ()
    evidence: tuple[Identity, ...] = ()
    assumptions: tuple[str, ...] = ()

    @cached_property
    def coordinates(self) -> Coordinates:
        """All entries as coordinates."""
        return Coordinates.of([(name, f) for name, f, _ in self.entries])

    @property
    def images(self) -> list[Expr]:
        """How each entry is written in beta."""
        return [image for _, _, image in self.entries]

    def write(self, function: RationalFunction, without_beta: bool = False) -> Expr | None:
        """Return a function of the weights in beta, proved by expansion, or None.

        Args:
            function: what to write.
            without_beta: use only roots, radicals and constants.
        """
        if function.is_constant():
            return to_expr(function, self.notation.weights)
        betas = {s.name for s in self.notation.betas}
        entries = [e for e in self.entries if not (without_beta and e[0] in betas)]
        if not entries:
            return None
        coordinates = Coordinates.of([(name, f) for name, f, _ in entries])
        relation = find_relation(function, coordinates, powers=(0, 1), highest=HIGHEST)
        if relation is None:
            return None
        ratio = -relation.coefficients[0] / relation.coefficients[1]
        return to_expr(ratio, [image for _, _, image in entries])


def base_chart(metric: Metric, notation: Notation) -> Chart | None:
    """Return the chart of the outputs and the conserved values, or None without polynomial laws."""
    p = metric.parameterization
    laws = metric.conserved.laws
    if any(not law.is_polynomial() or law.degree() < 1 for law in laws):
        return None
    entries = [(s.name, f, s) for s, f in zip(notation.betas, p.F, strict=True)]
    constants = []
    for i, law in enumerate(laws, 1):
        symbol = notation.fresh("delta" if len(laws) == 1 else f"delta{i}")
        value = to_expr(p.at_start(law), notation.start_symbols)
        image: Expr = symbol
        if value.is_number or value.is_Symbol:
            image = value
        else:
            constants.append((symbol, value))
        entries.append((symbol.name, law, image))
    return Chart(notation, metric, tuple(entries), tuple(constants))


def add_root_among(chart: Chart, candidates: Mapping[str, RationalFunction]) -> Chart | None:
    """Add the candidate whose relation has the lowest weighted degree as root variable."""
    searches = {name: RelationSearch(f, chart.coordinates) for name, f in candidates.items()}
    for total in range(1, HIGHEST + 1):
        for name, search in searches.items():
            relation = search.at(total)
            if relation is not None:
                return add_root(chart, name, candidates[name], relation)
    return None


def add_weights(chart: Chart, needed: Sequence[str]) -> Chart | None:
    """Add weights that are rational in the chart, or roots of something rational; all or None."""
    p = chart.metric.parameterization
    known = {name for name, _, _ in chart.entries}
    weights = {name: p.field.gens[p.weights.index(name)] for name in needed if name not in known}
    while weights:
        simple = _simple_entry(chart, weights)
        if simple is None:
            return None
        name, chart = simple
        del weights[name]
    return chart


def _simple_entry(
    chart: Chart, weights: Mapping[str, RationalFunction]
) -> tuple[str, Chart] | None:
    """Add one weight w with w^n rational in the chart."""
    p = chart.metric.parameterization
    for power in (1, 2, 3):
        for name, weight in weights.items():
            highest = 6 if chart.roots else 3
            relation = find_relation(weight, chart.coordinates, powers=(0, power), highest=highest)
            if relation is None or relation.degree != power:
                continue
            ratio = -relation.coefficients[0] / relation.coefficients[power]
            image = to_expr(ratio, chart.images)
            assumed: tuple[str, ...] = ()
            if power > 1:
                sign, assumed = start_sign(p.at_start(weight), chart.notation)
                assumed = (*assumed, *keeps_sign(chart.metric, weight))
                image = sign * sympy.Pow(sign**power * image, sympy.Rational(1, power))
            what = name if power == 1 else f"{name}**{power}"
            identity = Identity(f"{what} = {_named(chart, ratio)}", what, repr(ratio))
            return name, _extended(chart, name, weight, image, identity, assumed)
    return None


def _named(chart: Chart, ratio: RationalFunction) -> Expr:
    """Return an element of the chart's field with its names as symbols."""
    names = [Symbol(name) for name, _, _ in chart.entries]
    return to_expr(ratio, names)


def _extended(
    chart: Chart,
    name: str,
    function: RationalFunction,
    image: Expr,
    identity: Identity,
    assumed: tuple[str, ...],
) -> Chart:
    return replace(
        chart,
        entries=(*chart.entries, (name, function, image)),
        evidence=(*chart.evidence, identity),
        assumptions=(*chart.assumptions, *assumed),
    )


def add_root(
    chart: Chart, name: str, function: RationalFunction, relation: Relation
) -> Chart | None:
    """Return the chart with *function* as root variable: T = function^k solves its relation."""
    p = chart.metric.parameterization
    power = gcd(*(n for n, c in enumerate(relation.coefficients) if not c.is_zero()))
    coefficients = relation.coefficients[::power]
    letter = "ABCDEGHM"[len(chart.roots)] if len(chart.roots) < 8 else f"A{len(chart.roots)}"
    symbol = chart.notation.fresh(letter, **({"nonnegative": True} if power % 2 == 0 else {}))
    image: Expr = symbol
    assumed: tuple[str, ...] = ()
    if power > 1:
        sign, assumed = start_sign(p.at_start(function), chart.notation)
        assumed = (*assumed, *keeps_sign(chart.metric, function))
        image = sign * sympy.Pow(sign**power * symbol, sympy.Rational(1, power))
    found = _root(chart, symbol, coefficients, function**power)
    if found is None:
        return None
    root, branch_assumed = found
    assumed = (*assumed, *branch_assumed)
    what = f"({function!r})**{power}" if power > 1 else repr(function)
    identity = Identity(f"{root.polynomial} = 0 for {symbol} = {what}", str(root.polynomial), "0")
    extended = _extended(chart, name, function, image, identity, assumed)
    return replace(extended, roots=(*chart.roots, root))


def keeps_sign(metric: Metric, function: RationalFunction) -> tuple[str, ...]:
    """Say which factors of a function are only assumed to keep their sign along the flow.

    Proved are: nonnegative factors, Darboux polynomials (the flow cannot cross their zeros), and
    factors f with f^2 - c >= 0 for a conserved c that is positive at the start.
    """
    found = []
    p = metric.parameterization
    for factor, multiplicity in function.numerator.factor()[1]:
        element = p.field.quotient(factor, p.field.ring.constant(1))
        if multiplicity % 2 == 0 or is_nonnegative(element) or is_nonnegative(-element):
            continue
        if element in metric.conserved.darboux or -element in metric.conserved.darboux:
            continue
        guard = _guard(metric, element)
        if guard is not None:
            value = p.at_start(guard)
            if value.is_constant() and value.value() > 0:
                continue
        note = "" if guard is None else f" (automatic when {guard!r} > 0 at the start)"
        found.append(f"{element!r} keeps its sign along the flow{note}")
    return tuple(found)


def _guard(metric: Metric, factor: RationalFunction) -> RationalFunction | None:
    """Return a law that keeps a factor away from zero: factor^2 = law + (a sum of squares)."""
    laws = [law for law in metric.conserved.laws if law.is_polynomial()]
    return next(
        (law for law in (*laws, *(-x for x in laws)) if is_nonnegative(factor * factor - law)),
        None,
    )


def _root(
    chart: Chart, symbol: Symbol, coefficients: Sequence[RationalFunction], T: RationalFunction
) -> tuple[Root, tuple[str, ...]] | None:
    """Return the root variable with its branch, and what the branch rests on."""
    images = chart.images
    expressions = [to_expr(c, images) for c in coefficients]
    polynomial = sympy.Add(*(c * symbol**n for n, c in enumerate(expressions)))
    degree = len(coefficients) - 1
    if degree == 1:
        explicit = -expressions[0] / expressions[1]
        return Root(symbol, polynomial, explicit, "the root", 0), ()
    largest = is_largest_root(chart.coordinates, coefficients, T)
    if degree == 2:
        return _quadratic_root(chart, symbol, polynomial, expressions, coefficients, T, largest)
    if largest:
        return Root(symbol, polynomial, None, "the largest real root", 0), ()
    above = _branch_at_starts(chart, coefficients, T)
    if above is None:
        return None
    start = to_expr(chart.metric.parameterization.at_start(T), chart.notation.start_symbols)
    return Root(symbol, polynomial, None, f"the real root that starts at {start}", above), ()


def _quadratic_root(
    chart: Chart,
    symbol: Symbol,
    polynomial: Expr,
    expressions: Sequence[Expr],
    coefficients: Sequence[RationalFunction],
    T: RationalFunction,
    largest: bool,
) -> tuple[Root, tuple[str, ...]]:
    """T = (-b + sign sqrt(b^2 - 4 a c))/(2 a), sign that of 2 a T + b, which is at the start."""
    c, b, a = expressions
    sign = 1
    assumed: tuple[str, ...] = ()
    if not largest:
        lifted = [chart.coordinates.pull_back(x) for x in coefficients]
        slope = 2 * lifted[2] * T + lifted[1]
        if not is_nonnegative(slope):
            p = chart.metric.parameterization
            sign, assumed = start_sign(p.at_start(slope), chart.notation)
            assumed = (*assumed, *keeps_sign(chart.metric, slope))
    explicit = (-b + sign * sympy.sqrt(sympy.expand(b**2 - 4 * a * c))) / (2 * a)
    branch = "the largest real root" if largest else "the root on the branch of the start"
    return Root(symbol, polynomial, explicit, branch, 0 if sign > 0 else 1), assumed


def is_largest_root(
    coordinates: Coordinates, coefficients: Sequence[RationalFunction], T: RationalFunction
) -> bool:
    """Tell whether T(w) is proved to be the largest real root of its polynomial, everywhere.

    If P, P', P''/2!, ... are all >= 0 at T and the leading one is > 0, then
    P(T + h) = sum_k P^(k)(T)/k! h^k > 0 for h > 0. Each is a polynomial in the weights, tested
    for nonnegativity exactly.
    """
    degree = len(coefficients) - 1
    pulled = [coordinates.pull_back(c) for c in coefficients]
    if not pulled[-1].is_constant() or pulled[-1].value() <= 0:
        return False
    for k in range(1, degree):
        derivative = T.field.zero
        for n in range(k, degree + 1):
            derivative += comb(n, k) * pulled[n] * T ** (n - k)
        if not is_nonnegative(derivative):
            return False
    return True


def _branch_at_starts(
    chart: Chart, coefficients: Sequence[RationalFunction], T: RationalFunction
) -> int | None:
    """Return which root T is at rational starts, when it is the same at all that were tried."""
    p = chart.metric.parameterization
    seen: set[int | None] = set()
    pulled = [chart.coordinates.pull_back(c) for c in coefficients]
    for tried, point in enumerate(rational_starts(p)):
        if tried >= 8:
            break
        try:
            values: list[Fraction] = [c.at(point) for c in pulled]
            seen.add(branch_from_above(values, T.at(point)) if values[-1] else None)
        except ZeroDivisionError:
            continue
    seen.discard(None)
    return seen.pop() if len(seen) == 1 else None
