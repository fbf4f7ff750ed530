"""Charts of a leaf: named functions of the weights, and each of them written in beta.

The outputs themselves are entries, and the conserved quantities, which are constants on the leaf;
root variables, and weights that are algebraic in those, are added by
:mod:`derive.potential.entries`. Logarithms of Darboux polynomials are written through a chart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from math import lcm, prod
from typing import TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import with_squares
from derive.exact.field.factors import factored
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.linear.implicitization import Coordinates, express
from derive.exact.linear.matrix import dot
from derive.exact.named_integrals import NAMED
from derive.exact.signs import Signs
from derive.exact.towers.tower import to_field
from derive.language import OWN, from_sympy
from derive.model.condition import Condition
from derive.model.notation import Constant, Notation, rational, to_expr, to_shorter_expr
from derive.model.parameterization import Parameterization
from derive.potential.piece import Piece, Root
from derive.potential.rewriting import by_radical, fewest
from derive.verdict import Identity
from derive.weights.dual import DualCoordinates, is_conjugate
from derive.weights.metric import Metric

HIGHEST = 14
"""Weighted degree at which searches for relations stop."""
SQUARE = "|beta|**2"
"""The entry that some charts have in the place of the outputs."""


Entry: TypeAlias = tuple[str, RationalFunction, Expr]
"""A name, the function of the weights that it has, and the same in beta."""


@dataclass(frozen=True)
class Chart:
    """Named functions on the leaf.

    Attributes:
        entries: (name, function of the weights, the same in beta), in order of definition.
        constants: the symbols of the conserved values with these in start symbols.
        evidence: the identities behind the entries.
        assumptions: signs at the start that select branches.
        warp: g, known to be positive along the flow; 1 for a Hessian map.
        conditions: functions of the start that are assumed positive.
    """

    notation: Notation
    metric: Metric
    entries: tuple[Entry, ...]
    constants: tuple[Constant, ...]
    roots: tuple[Root, ...] = ()
    evidence: tuple[Identity, ...] = ()
    assumptions: tuple[Condition, ...] = ()
    warp: RationalFunction | None = None
    conditions: tuple[RationalFunction, ...] = ()

    @property
    def parameterization(self) -> Parameterization:
        """The map F."""
        return self.metric.parameterization

    @cached_property
    def coordinates(self) -> Coordinates:
        """All entries as coordinates."""
        return Coordinates.of([(name, f) for name, f, _ in self.entries])

    @property
    def images(self) -> list[Expr]:
        """How each entry is written in beta."""
        return [image for _, _, image in self.entries]

    def with_outputs(self, *kept: int) -> Chart:
        """Return the chart of the roots, radicals, constants and these outputs alone."""
        left = [*(s.name for k, s in enumerate(self.notation.betas) if k not in kept), SQUARE]
        return replace(self, entries=tuple(e for e in self.entries if e[0] not in left))

    def in_length(self) -> Chart:
        """Return the chart with |beta|^2 in the place of the outputs."""
        F, betas = self.parameterization.F, self.notation.betas
        square = SQUARE, dot(F, F), length_of(betas) ** 2
        return replace(self, entries=(square, *self.with_outputs().entries))

    @property
    def of_length(self) -> bool:
        """Tell whether |beta|^2 is in the place of beta."""
        return self.image(SQUARE) is not None

    def in_outputs(self) -> Chart:
        """Return the chart with the outputs, in the place of their length where that is there."""
        outputs = _outputs(self.parameterization, self.notation)
        return replace(self, entries=(*outputs, *self.with_outputs().entries))

    def assuming(self, notation: Notation) -> Chart:
        """Return the chart with the start symbols positive that are so in the notation."""
        more = notation.assumed - self.notation.assumed
        if not more:
            return self
        known = self.notation.start_symbols
        positive = {known[name]: notation.start_symbols[name] for name in more}

        def renamed(e: Expr) -> Expr:
            return e.xreplace(positive)

        return replace(
            self,
            notation=notation,
            entries=tuple((name, f, renamed(image)) for name, f, image in self.entries),
            constants=tuple((symbol, renamed(value)) for symbol, value in self.constants),
            roots=tuple(root.mapped(renamed) for root in self.roots),
            assumptions=(*self.assumptions, *(Condition(Symbol(name)) for name in sorted(more))),
        )

    def without_names(self, short: Callable[[Expr], bool]) -> Chart:
        """Return the chart with values that are *short* in the place of their names."""
        values = {symbol: value for symbol, value in self.constants if short(value)}
        entries = tuple((n, f, image.xreplace(values)) for n, f, image in self.entries)
        constants = tuple(pair for pair in self.constants if pair[0] not in values)
        return replace(self, entries=entries, constants=constants)

    def extended(self, name: str, function: RationalFunction, image: Expr) -> Chart:
        """Return the chart with one more entry."""
        return replace(self, entries=(*self.entries, (name, function, image)))

    def has(self, function: RationalFunction) -> bool:
        """Tell whether a function is an entry."""
        return any(f == function for _, f, _ in self.entries)

    def image(self, name: str) -> Expr | None:
        """Return how the entry of a name is written in beta, None where there is none."""
        return next((image for known, _, image in self.entries if known == name), None)

    def write(self, function: RationalFunction) -> Expr | None:
        """Return a function of the weights in beta, proved by expansion, or None.

        Its factors are only where the whole is not, or beside exponentials, whichever is shorter.
        """
        function = self.parameterization.field.embed(function)
        if function.is_constant():
            return to_expr(function, self.notation.weights)
        whole = self._write_whole(function)
        if whole is not None and exponentials(function) in (1, function):
            return whole
        written = [self._write_factors(function), whole]
        return min((e for e in written if e is not None), key=Expr.count_ops, default=None)

    def _write_whole(self, function: RationalFunction) -> Expr | None:
        written = express(function, self.coordinates, HIGHEST) if self.entries else None
        if written is None:
            return None
        write = to_expr if written.denominator.is_constant() else to_shorter_expr
        return write(written, self.images)

    def _write_factors(self, function: RationalFunction) -> Expr | None:
        """Return the product of factors, exponentials together; None of a single one.

        Those of one power are written together where their product is.
        """
        calls = exponentials(function)
        number, powers = factored(function / calls)
        powers += [(calls, 1)] if powers and calls != 1 else factored(calls)[1]
        if [n for _, n in powers] == [1]:
            return None
        total = rational(number)
        for n in dict.fromkeys(n for _, n in powers):
            alike = [f for f, m in powers if m == n]
            product = prod(alike[1:], start=alike[0])
            images = [self._write_whole(product) if alike[1:] else None]
            images = [*map(self.write, alike)] if images == [None] else images
            if None in images:
                return None
            total *= sympy.Mul(*images) ** n
        return total

    def substitute(self, function: RationalFunction) -> Expr | None:
        """Return a function with each weight as it is written in beta; None where one is not."""
        known = {repr(f): image for _, f, image in self.entries}
        if not all(name in known for name in function.variables()):
            return None
        return to_expr(function, [known.get(n, sympy.S.Zero) for n in function.field.names])

    def sign(self, expression: Expr) -> int:
        """Return the sign of a function of beta and constants where it is not 0; 0: none is known.

        It is that of a function of the weights; of a sum with radicals, that of all its terms.
        """
        if expression.is_Add and not expression.is_rational_function():
            signs = {self.sign(term) for term in expression.args}
            return signs.pop() if len(signs) == 1 else 0
        if expression.is_Mul:
            return prod(map(self.sign, expression.args))
        if expression.func is sympy.Abs or (expression.is_Pow and not expression.exp.is_Integer):
            return 1
        if expression.has(sympy.pi, *NAMED):  # which are in no field
            return int(bool(expression.is_positive)) - int(bool(expression.is_negative))
        weights, p = self.notation.weights, self.parameterization
        known = {image: to_expr(f, weights) for _, f, image in self.entries if image.is_Symbol}
        expression = expression.xreplace(known)
        names = {symbol.name for symbol in expression.free_symbols}
        for field, positive in ((p.field, p.positive), (p.start_field, self.notation.positive)):
            if names <= {*field.names}:
                f = to_field(from_sympy(expression, OWN), field, "a sign")
                calls = (g.name for g in field.generators if g.kind in ("exp", "power", "root"))
                return Signs((*positive, *calls)).of(f)
        return 0

    def modulus(self, expression: Expr) -> Expr:
        """Return the modulus of a function of beta and constants, without bars where it can."""
        return (self.sign(expression) * expression) or sympy.Abs(expression)

    def names_in(self, *expressions: Expr) -> tuple[tuple[Root, ...], tuple[Constant, ...]]:
        """Return the roots that expressions use, and the constants that they or these use."""
        used = set[Symbol]().union(*(e.free_symbols for e in expressions))
        roots = tuple(r for r in self.roots if r.symbol in used)
        used = used.union(*(r.polynomial.free_symbols for r in roots))
        return roots, tuple(c for c in self.constants if c[0] in used)

    def named(self, piece: Piece) -> Piece:
        """Return the piece with the names that it uses."""
        roots, constants = self.names_in(piece.value, *piece.gradient)
        return replace(piece, roots=roots, constants=constants)


def base_chart(metric: Metric, notation: Notation) -> Chart | None:
    """Return the chart of the outputs and the conserved values; None where laws have poles.

    Quotients of forms, such as c/b, are no obstacle. What is a number or a symbol at the start has
    no name.
    """
    chart = named_chart(metric, notation)
    return chart and chart.without_names(lambda value: value.is_number or value.is_Symbol)


def named_chart(metric: Metric, notation: Notation) -> Chart | None:
    """Return the chart with a name for each conserved value."""
    p = metric.parameterization
    laws = metric.conserved.laws
    names = [f"delta{i}" for i, _ in enumerate(laws, 1)] if laws[1:] else ["delta" for _ in laws]
    if laws[1:] and metric.conic is not None:
        laws, names = (*laws, metric.conic.law), [*names, "k"]
    units = [unit for law in laws if (unit := _unit(p, law)) is not None]
    if len(units) < len(laws):
        return None
    entries, constants = _outputs(p, notation), []
    for name, law, unit in zip(names, laws, units, strict=True):
        symbol = notation.fresh(name)
        value = to_shorter_expr(p.at_start(law), notation.start_symbols)
        constants.append((symbol, with_squares(value)))
        image = symbol * to_expr(unit, notation.start_symbols)
        entries.append((symbol.name, law * unit, image))
    entries += filter(None, [_exponential(p, *entry) for entry in entries[p.d :]])
    images = notation.start_symbols
    entries += [(name, c, to_expr(c, images)) for name, c in p.field.constants.items()]
    return Chart(notation, metric, tuple(entries), tuple(constants))


def _exponential(
    p: Parameterization, name: str, law: RationalFunction, image: Expr
) -> Entry | None:
    """Return prod_k E_k^n_k = exp(m c) for a law c = sum_k c_k w_k, E_k = exp(q_k w_k) of F.

    It is algebraic in the functions of F, where the law is not.
    """
    rates = {
        k: (p.field.named(g.name), p.field.embed(g.argument) / w)
        for g in p.field.generators
        for k, w in enumerate(p.w)
        if g.kind == "exp" and (p.field.embed(g.argument) / w).is_constant()
    }
    slopes = {k: law.partial(k) for k in range(p.p) if not law.partial(k).is_zero()}
    if not slopes or not slopes.keys() <= rates.keys():
        return None
    if law != sum((c * p.w[k] for k, c in slopes.items()), p.field.zero):
        return None
    if not all(c.is_constant() for c in slopes.values()):
        return None
    ratios = {k: (c / rates[k][1]).value() for k, c in slopes.items()}
    m = lcm(*(n.denominator for n in ratios.values()))
    powers = (rates[k][0] ** int(m * n) for k, n in ratios.items())
    return f"exp({name})", prod(powers, start=p.field.one), sympy.exp(m * image)


def exponentials(f: RationalFunction) -> RationalFunction:
    """Return the exponentials that are factors of a function, to the powers that they have."""
    known = {g.name for g in f.field.generators if g.kind == "exp"}
    return prod((x**n for x, n in factored(f)[1] if repr(x) in known), start=f.field.one)


def length_of(betas: Sequence[Symbol]) -> Expr:
    """Return |beta|."""
    return sympy.sqrt(sympy.Add(*(b**2 for b in betas)))


def _outputs(p: Parameterization, notation: Notation) -> list[Entry]:
    return [(s.name, f, s) for s, f in zip(notation.betas, p.F, strict=True)]


def _unit(p: Parameterization, law: RationalFunction) -> RationalFunction | None:
    """Return what makes a law a polynomial in the weights, made of parameters alone, or None.

    A law N/D needs none where D is not 0 at the start: N = c D holds on the way where D is 0, too.
    """
    below = p.field.polynomial(law.denominator)
    if {*below.variables()} <= p.field.constants.keys():
        return below if (law * below).degree() >= 1 else None
    try:
        p.at_start(law)
    except ZeroDivisionError:
        return None
    return p.field.one


def kernel_in_beta(metric: Metric, chart: Chart | None) -> tuple[tuple[Expr, ...], ...] | None:
    """Return K in beta, entry by entry, each proved by expansion; None where K was not written."""
    if chart is None:
        return None
    if (radial := _radial_kernel(metric, chart)) is not None:
        return radial
    indices = range(metric.parameterization.d)
    entries: dict[tuple[int, int], Expr] = {}
    for i, j in combinations_with_replacement(indices, 2):
        # K_ij of many outputs is mostly a function of two and of what they share; of one it is a
        # function of the root alone, along which the leaf is a curve.
        alone = (chart.with_outputs(),) if len(indices) == 1 and chart.roots else ()
        tried = (c.write(metric.K[i][j]) for c in (*alone, chart.with_outputs(i, j), chart))
        written = next((x for x in tried if x is not None), None)
        if written is None:
            return None
        entries[i, j] = entries[j, i] = _by_radicals(_factored(written), chart.roots)
    return tuple(tuple(entries[i, j] for j in indices) for i in indices)


def _radial_kernel(metric: Metric, chart: Chart) -> tuple[tuple[Expr, ...], ...] | None:
    """Return K = T I + c beta beta^T with T and c written in |beta|; None of another K."""
    if metric.radial is None:
        return None
    T, c = map(chart.in_length().write, metric.radial)
    if T is None or c is None:
        return None
    betas = chart.notation.betas
    return tuple(tuple(_factored(c * a * b + (T if a == b else 0)) for b in betas) for a in betas)


def _by_radicals(entry: Expr, roots: Sequence[Root]) -> Expr:
    """Return an entry of K with the radicals of roots in the place of these, if that is shorter."""
    used = {r.symbol: r.explicit for r in roots if entry.has(r.symbol) and r.explicit is not None}
    rewritten = by_radical(used, entry) if used else entry
    # a sum of radicals may cancel where K is small
    gone = not (rewritten.is_Add or rewritten.free_symbols & used.keys())
    length = entry.count_ops() + sum(formula.count_ops() for formula in used.values())
    return rewritten if gone and rewritten.count_ops() < length else entry


def _factored(entry: Expr) -> Expr:
    """Return an entry of K as a product of irreducible factors, where that is shorter."""
    plain = all(x.exp.is_Integer for x in entry.atoms(sympy.Pow) if x.base is not sympy.E)
    return fewest([entry, sympy.factor(entry)] if plain else [entry])


def log_arguments(functions: Sequence[LogFunction]) -> list[RationalFunction]:
    """Return the arguments of all logarithms, each once."""
    return list(dict.fromkeys(a for f in functions for _, a in f.logs))


def exponentials_as_logs(f: LogFunction, p: Parameterization) -> LogFunction:
    """Return f with each linear term c w as c/q log exp(q w), where F has exp(q w)."""
    rational, logs = f.rational, list(f.logs)
    for g in p.field.generators:
        if g.kind != "exp" or rational.is_zero() or not rational.is_polynomial():
            continue
        A = p.field.embed(g.argument)
        for k, w in enumerate(p.w):
            slope, ratio = rational.partial(k), A / w
            if ratio.is_constant() and slope.is_constant() and not slope.is_zero():
                rational -= slope * w
                logs.append((slope / ratio, p.field.named(g.name)))
    return LogFunction(rational, tuple(logs))


def definite_logs(dual: DualCoordinates, R: LogFunction, notation: Notation) -> LogFunction:
    """Return R with log |P| = const - log |P'| where P P' is conserved and P' has a sign at w_0.

    R may be changed by a conserved function; the identity of R is proved again.
    """
    conserved = dual.metric.conserved
    p = conserved.parameterization
    logs = []
    for coefficient, argument in R.logs:
        signed = (
            (-coefficient, other)
            for other in conserved.darboux
            if all(LogFunction(argument * other).along(x).is_zero() for x in p.fields)
            and _has_sign(p, other, notation)
        )
        chosen = coefficient, argument
        logs.append(chosen if _has_sign(p, argument, notation) else next(signed, chosen))
    changed = LogFunction(R.rational, tuple(logs))
    return changed if is_conjugate(p, changed, dual.g) else R


def _has_sign(p: Parameterization, function: RationalFunction, notation: Notation) -> bool:
    value = p.at_start(function)
    return any(map(Signs(notation.positive).is_nonnegative, (value, -value)))


def write_logs(chart: Chart, function: LogFunction) -> Expr | None:
    """Return the logarithms of a function of the weights in beta, or None."""
    total: Expr = sympy.Integer(0)
    kept = (*chart.metric.conserved.laws, *chart.parameterization.field.constants.values())
    constants = tuple(e for e in chart.entries if e[1] in kept)
    for coefficient, argument in function.logs:
        weight = replace(chart, entries=constants).write(coefficient)
        logarithm = _logarithm(chart, argument)
        if weight == 0:  # where the logarithm may be that of 0
            continue
        if logarithm is None or weight is None:
            return None
        total += weight * logarithm
    return total


def write_function(chart: Chart, function: LogFunction) -> Expr | None:
    """Return a function of the weights in beta, or None."""
    rational = chart.write(function.rational)
    logs = None if rational is None else write_logs(chart, function)
    return None if rational is None or logs is None else rational + logs


def _logarithm(chart: Chart, argument: RationalFunction) -> Expr | None:
    """Return log |argument| in beta."""
    for _, function, image in chart.entries:
        for power in (2, 4):
            if function == argument**power:
                return sympy.log(image) / power
    image = _image(chart, argument)
    if image is None:
        square = chart.write(argument * argument)
        return None if square is None else sympy.log(square) / 2
    start, known = chart.parameterization.at_start(argument), Signs(chart.notation.positive)
    if image.is_nonnegative or known.is_nonnegative(start):
        return sympy.log(image)
    if known.is_nonnegative(-start):
        return sympy.log(-image)
    return sympy.log(sympy.Abs(image))


def _image(chart: Chart, argument: RationalFunction) -> Expr | None:
    """Return the argument of a logarithm in beta: an entry itself, or a polynomial in weights."""
    for _, function, image in chart.entries:
        if function == argument:
            return image
    written = chart.substitute(argument)
    return chart.write(argument) if written is None else written


def at_start(p: Parameterization, y: LogFunction, notation: Notation) -> Expr:
    """Return y(w_0) in start symbols."""
    result = to_expr(p.at_start(y.rational), notation.start_symbols)
    for coefficient, argument in y.logs:
        c = to_expr(p.at_start(coefficient), notation.start_symbols)
        start = to_expr(p.at_start(argument), notation.start_symbols)
        result += c * sympy.log(start**2) / 2
    return result
