"""How a chart of a leaf grows: functions of the weights as algebraic functions of beta and laws.

Each function T of the weights solves a polynomial over the field of the chart. Where a power of T
is rational there, T is a radical; else that power is a root variable with its polynomial. Every
entry is an identity proved by expansion; what is left to settle is the branch of a root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import gcd
from operator import mul

import sympy
from sympy import Expr

from derive.exact.field.factors import factored, linear_terms
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import factorize
from derive.exact.linear.implicitization import Coordinates, Relation, RelationSearch
from derive.exact.signs import Signs
from derive.model.condition import Sign
from derive.model.labels import quoted
from derive.model.notation import (
    FUNCTIONS,
    positive_generators,
    rational,
    to_expr,
    to_factored_expr,
)
from derive.model.parameterization import Parameterization
from derive.potential.branch import find_root, sign_in
from derive.potential.chart import HIGHEST, Chart, exponentials
from derive.verdict import Identity

SHORT = 12
"""Operations up to which a rational function of beta has no name."""


@dataclass(frozen=True)
class Want:
    """A function of the weights that would do in a chart; if not *exact*, so do even powers."""

    function: RationalFunction
    exact: bool = True


SHUNNED: tuple[frozenset[Sign], ...] = (frozenset({Sign.KEPT}), frozenset())
"""Signs on which no branch is to rest, first and when nothing else is left."""


def extend(
    chart: Chart,
    wants: Sequence[Want],
    suffices: Callable[[Chart], bool],
    rounds: Sequence[frozenset[Sign]] = SHUNNED,
) -> Chart:
    """Return the chart with one function after another adjoined, until it *suffices*.

    Next is the one whose polynomial is of lowest degree, so that the rest is mostly rational in it.
    Those whose branch rests on a sign along the flow that is only assumed to be kept come last.
    Where a branch is open, or no polynomial is found, the chart may not suffice.

    Args:
        chart: of the outputs and the conserved values.
        wants: functions of the weights, those preferred first.
        suffices: whether all that is to be written can be written.
        rounds: the signs on which no branch is to rest, in one round after the other.
    """
    chart = add_functions(chart)
    for shunned in rounds:
        left = dict.fromkeys(wants)
        while not suffices(chart):
            known = {f for _, f, _ in chart.entries}
            left = {want: None for want in left if want.function not in known}
            found = cheapest_relation(chart, [want.function for want in left])
            if found is None:
                break
            want = next(want for want in left if want.function == found.target)
            del left[want]
            grown = adjoin(chart, want, found)
            more = {*grown.assumptions} - {*chart.assumptions} if grown else set()
            new = grown is not None and grown.entries[-1][1] not in known
            if grown and new and not shunned & {condition.sign for condition in more}:
                chart = add_functions(grown)
    return chart


def cheapest_relation(chart: Chart, candidates: Sequence[RationalFunction]) -> Relation | None:
    """Return the relation of lowest degree of any candidate.

    Of several of one degree it is the first with the fewest powers: radicals before roots. Those of
    functions of the weights alone are sought among such, too, which are fewer.
    """
    plain = {*chart.parameterization.weights, *chart.parameterization.field.constants}
    algebraic = [e for e in chart.entries if {*e[1].variables()} <= plain]
    few = Coordinates.of([(name, f) for name, f, _ in algebraic])
    searches = [RelationSearch(f, chart.coordinates) for f in candidates]
    if 0 < len(algebraic) < len(chart.entries):
        near = [RelationSearch(f, few) for f in candidates if {*f.variables()} <= plain]
        searches = near + searches
    for total in range(1, HIGHEST + 1):
        found = [relation for search in searches if (relation := search.at(total))]
        if found:
            found = [relation.over(chart.coordinates.field) for relation in found]
            return min(found, key=lambda r: sum(1 for c in r.coefficients if not c.is_zero()))
    return None


def adjoin(chart: Chart, want: Want, relation: Relation) -> Chart | None:
    """Return the chart with a wanted function that solves a relation; None on an open branch.

    Of f with f^n in beta, n odd, f^2 = |f^n|^(2/n) needs no sign.
    """
    function = want.function
    added = add_power(chart, function, relation)
    if added is None:
        return None
    extended, power = added
    if power == 1 or not (want.exact or power % 2):
        return extended
    *others, (_, _, image) = extended.entries
    signed, without = sign_in(extended, function), replace(extended, entries=tuple(others))
    if not want.exact and (signed is None or signed[1].assumptions != extended.assumptions):
        square = sympy.Pow(sympy.Abs(image), sympy.Rational(2, power))
        return without.extended(_name(function**2), function**2, square)
    if signed is None:
        return None
    sign, extended = signed
    image = sign * _radical(extended, sign**power * image, power)
    return replace(extended, entries=tuple(others)).extended(_name(function), function, image)


def _name(function: RationalFunction) -> str:
    """Return the name of a function as an entry: a weight or generator has its own."""
    return repr(function) if function in function.field.gens else f"({function!r})"


def _signless(product: Expr) -> Expr:
    """Return a product with its minus sign inside of a sum: x/(1 - y) for -x/(y - 1).

    >>> from sympy.abc import x, y
    >>> _signless(-x / (y - 1))
    x/(1 - y)
    """
    number, rest = product.as_coeff_Mul()
    powers = [factor.as_base_exp() for factor in sympy.Mul.make_args(rest)]
    odd = ((f, n) for f, n in powers if f.is_Add and n.is_Integer and n % 2)
    if number >= 0 or (found := next(odd, None)) is None:
        return product
    f, n = found
    return -number * (rest / f**n) * sympy.Pow(-f, n)


def _radical(chart: Chart, radicand: Expr, index: int) -> Expr:
    """Return the positive root radicand^(1/n) of a fraction.

    Where beta is below the bar alone it is (1/radicand)^(-1/n), by roots of both parts where what
    is above is not negative.
    """
    exponent, betas = sympy.Rational(1, index), chart.notation.betas
    above, below = radicand.as_numer_denom()
    if not below.has(*betas) or above.has(*betas):
        return sympy.Pow(radicand, exponent)
    if above.xreplace(dict(chart.constants)).is_nonnegative:
        return sympy.Pow(above, exponent) * sympy.Pow(below, -exponent)
    return sympy.Pow(1 / radicand, -exponent)


def add_power(
    chart: Chart, function: RationalFunction, relation: Relation
) -> tuple[Chart, int] | None:
    """Return the chart with T = function^k as an entry, T a root of its relation, and k.

    A rational T is written out where it is short; another is a named root.
    """
    power = gcd(*(n for n, c in enumerate(relation.coefficients) if not c.is_zero()))
    T, p = function**power, chart.parameterization
    if relation.degree == power:
        what = f"{_name(function)}**{power}" if power > 1 else repr(function)
        ratio = -relation.coefficients[0] / relation.coefficients[power]
        forms = to_expr(ratio, chart.images), _signless(to_factored_expr(ratio, chart.images))
        if sympy.count_ops(image := min(forms, key=sympy.count_ops)) <= SHORT:
            identity = Identity(quoted(f"{what} = {image}", p), what, repr(ratio))
            extended = chart.extended(_name(T), T, image)
            return replace(extended, evidence=(*chart.evidence, identity)), power
    rooted = add_root(chart, function, relation, power)
    return None if rooted is None else (rooted, power)


def add_root(
    chart: Chart, function: RationalFunction, relation: Relation, power: int
) -> Chart | None:
    """Return the chart with T = function^power as an entry, a named root of its relation."""
    T, p = function**power, chart.parameterization
    letter = "ABCDEGHM"[len(chart.roots)] if len(chart.roots) < 8 else f"A{len(chart.roots)}"
    symbol = chart.notation.fresh(letter, **({"nonnegative": True} if power % 2 == 0 else {}))
    found = find_root(chart, symbol, relation.coefficients[::power], T)
    if found is None:
        return None
    root, resting = found
    what = f"{_name(function)}**{power}" if power > 1 else repr(function)
    statement = quoted(f"{root.polynomial} = 0 for {symbol} = {what}", p)
    evidence = (*chart.evidence, Identity(statement, str(root.polynomial), "0"))
    extended = resting.extended(_name(T), T, symbol)
    return replace(extended, evidence=evidence, roots=(*resting.roots, root))


INVERSES = {"log": sympy.exp, "asinh": sympy.sinh, "atan": sympy.tan}
"""Functions of what is inside of those that are one to one."""


def add_functions(chart: Chart) -> Chart:
    """Add the functions that F uses of what the chart has, and what it has functions of."""
    p = chart.parameterization
    for g in (g for g in p.field.generators if g.kind != "parameter"):
        own, parts = p.field.named(g.name), [x for x in (g.argument, g.exponent) if x is not None]
        images = [chart.write(p.field.embed(x)) for x in parts]
        if not chart.has(own) and None not in images:
            index = [g.index] if g.kind == "root" else []
            image = FUNCTIONS[g.kind](*images, *index)
            chart = chart.extended(g.name, own, image.replace(sympy.Abs, chart.modulus))
    for _, f, image in chart.entries:
        for A, inside in _insides(p, f, image):
            chart = _with_inside(chart, A, inside)
    return chart


def _with_inside(chart: Chart, A: RationalFunction, image: Expr) -> Chart:
    """Return the chart with what is inside of an entry, as weights that it is a multiple of."""
    w = chart.parameterization.w
    if chart.write(A) is None:
        for x in [x for x in w if (A / x).is_constant()] or [A]:
            if not chart.has(x):
                chart = chart.extended(_name(x), x, image / rational((A / x).value()))
    return chart


def _insides(
    p: Parameterization, f: RationalFunction, image: Expr
) -> Iterator[tuple[RationalFunction, Expr]]:
    """Yield A and its image, where f = c exp(A) for a number c, or another one to one."""
    calls = {p.field.named(g.name): g for g in p.field.generators if g.kind != "parameter"}
    number, powers = factored(f)
    known = [(calls[base], n) for base, n in powers if base in calls]
    if powers and [g.kind for g, _ in known] == ["exp"] * len(powers):
        A = sum((n * p.field.embed(g.argument) for g, n in known), p.field.zero)
        yield A, sympy.expand_log(sympy.log(_signless(sympy.factor(image / rational(number)))))
    if (g := calls.get(f)) is not None and g.kind in INVERSES:
        A = p.field.embed(g.argument)
        # Else it is log |A|.
        if g.kind != "log" or Signs(p.nonnegative | positive_generators(p.field)).is_positive(A):
            yield A, INVERSES[g.kind](image)


def with_kernel(chart: Chart, K: RationalFunction) -> Chart | None:
    """Return the chart with functions of F and weights, until K is written; None without that.

    Their branches are proved without assumptions.
    """
    for wants in _wants(chart.parameterization, K):
        chart = extend(chart, wants, lambda c: c.write(K) is not None, [frozenset(Sign)])
        if chart.write(K) is not None:
            return chart
    return None


def _wants(p: Parameterization, K: RationalFunction) -> Iterator[list[Want]]:
    """Yield the functions by which K may be written, then cosh and sinh of what F has exp of."""
    calls = [(g.kind, p.field.named(g.name)) for g in p.field.generators if g.kind != "parameter"]
    below = [p.field.polynomial(f) for f, _ in factorize(p.F[0].denominator)[1]]
    terms = [[t.monomial for t in linear_terms(f)] for f in below]
    ratios = (x / first for first, *others in terms for x in others)
    inner = [x for _, x in calls] + [exponentials(x) for x in (*p.fields[0], *ratios)] + below
    own = [f for f, _ in factored(K)[1]]
    found = (f for f in dict.fromkeys(inner) if not f.is_constant())
    wants = [*map(Want, (*_roots_of_output(p), K))]
    yield wants + [Want(f, exact=False) for f in (*found, *p.w, *own)] + [*map(Want, own)]
    E = [x for kind, x in calls if kind == "exp"]
    yield [Want(f, exact=False) for x in E for f in (x + 1 / x, x - 1 / x)]


def _roots_of_output(p: Parameterization) -> Iterator[RationalFunction]:
    """Yield the roots of F, a product of powers of weights, that are in the field of the weights.

    As under steepest descent, whose rates have roots of weights that are positive.
    """
    inside = {repr(g.argument): g for g in p.field.generators if g.kind == "root"}
    _, powers = factored(p.F[0])
    for n in sorted({g.index for g in inside.values()}):
        known = [(inside.get(repr(w)), w, *divmod(e, n)) for w, e in powers]
        if all(not rest or (g is not None and g.index == n) for g, _, _, rest in known):
            parts = [w**e * (p.field.named(g.name) ** rest if g else 1) for g, w, e, rest in known]
            yield reduce(mul, parts)
