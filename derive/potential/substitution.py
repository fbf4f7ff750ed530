"""Integrals over a coordinate by another one: a logarithm, an exponential, or a root for t.

They are rational in what takes the place of t, or have a name; each is differentiated back. Or
none is an elementary function, for constants that the start leaves free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import sympy
from sympy import Expr, Symbol

from derive.errors import DeriveError, InputError, LanguageError
from derive.exact.field.factors import exact_square_root
from derive.exact.field.function_field import FunctionField, RationalFunction, names_in
from derive.exact.field.generators import Generator
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import rank
from derive.exact.liouville import logarithmic_part, not_elementary
from derive.exact.named_integrals import Exponential
from derive.exact.rational_solutions import moves
from derive.exact.towers.images import Images
from derive.exact.towers.reader import refined
from derive.exact.towers.tower import Tower, to_field
from derive.language import from_sympy
from derive.model.notation import rational, to_expr, without_modulus
from derive.potential.accept import ZeroTest
from derive.potential.antiderivative import antiderivative, known_sign, logarithm
from derive.potential.rewriting import fewest
from derive.weights.coordinate import Coordinate
from derive.weights.solved_leaf import SolvedLeaf


def integral_on_leaf(
    leaf: SolvedLeaf, integrand: RationalFunction, written: Callable[[RationalFunction], Expr]
) -> Expr | None:
    """Return the integral of what is rational in t, a root or a call; None of another.

    Args:
        written: how what is in a logarithm is shown.
    """
    used = (g for g in integrand.field.generators if g.name in integrand.variables())
    moving = [g for g in used if moves(integrand, g, 0)]
    if not moving:
        return antiderivative(leaf, integrand)
    logs, rest = logarithmic_part(integrand)
    if logs:
        short = ((c, written(p).as_content_primitive()[1]) for c, p in logs)
        found = (rational(c) * logarithm(leaf, A) for c, A in short)
        left = sympy.S.Zero if rest.is_zero() else integral_on_leaf(leaf, rest, written)
        return None if left is None else sympy.Add(*found, left)
    return _over_calls(leaf, moving, integrand, written)


def _over_calls(
    leaf: SolvedLeaf,
    moving: Sequence[Generator[RationalFunction]],
    integrand: RationalFunction,
    written: Callable[[RationalFunction], Expr],
) -> Expr | None:
    """Return the integral of what is rational in t and what is *moving*, or None."""
    kinds, (call, *others) = [g.kind for g in moving], moving
    if kinds.count("log") > 1:
        names = [g.name for g in moving if g.kind == "log"]
        return _term_by_term(leaf, names, integrand, written)
    if kinds == ["root"]:
        return _by_root(leaf, call, integrand)
    total: Expr | None = None
    if kinds in (["exp"], ["log"], ["exp", "log"], ["exp", "exp"]):
        total = CallIntegral(leaf, moving).integral(integrand)
    return total if others or total is not None else _by_parts(leaf, call, integrand, written)


def not_elementary_on_leaf(
    leaf: SolvedLeaf, f: RationalFunction, written: Callable[[RationalFunction], Expr]
) -> str:
    """Return why the integral of f is no elementary function of t, or nothing."""
    c = leaf.notation.fresh("c").name
    try:
        alone = _without_integrals(leaf, f, written, c)
    except InputError:  # what is in it has no place in a tower of its own
        return ""
    why = not_elementary(alone, partial(_are_independent, leaf, c))
    return f"with a constant `{c}`, {why}" if why and c in alone.variables() else why


def _are_independent(leaf: SolvedLeaf, c: str, constants: Sequence[str]) -> bool:
    """Tell whether the start leaves constants free: values of laws, and symbols of its own.

    So is c beside an integral G where w^n = w_0^n + n G, as w_0 is in no law.
    """
    p = leaf.given.p
    units = [
        tuple(p.start_field.constant(j == k) for j in p.start_field.weights)
        for k in p.start_field.weights
    ]
    values = [LogFunction(p.start_field.named(n)) for n in p.start_field.weights if n in constants]
    values += [law.mapped(p.at_start) for symbol, law in leaf.laws if symbol.name in constants]
    G = {g.name for g in leaf.integrals}
    last = [w for w, image in zip(p.w, map(leaf.at, p.w), strict=True) if G & names_in(image)]
    values += [LogFunction(p.at_start(w)) for w in last if c in constants]
    try:
        free = rank([[f.along(x) for x in units] for f in values])
    except ValueError:  # a logarithm has a coefficient that the start moves
        return False
    return free == len({*constants} - {*p.parameters})


def _without_integrals(
    leaf: SolvedLeaf, f: RationalFunction, written: Callable[[RationalFunction], Expr], c: str
) -> RationalFunction:
    """Return a function of t where integrals of laws are closed, or named G, with a constant c."""
    if not any(g.name in names_in(f) for g in leaf.integrals):
        return f
    field = leaf.field
    parameters = tuple(g for g in field.generators if g.kind == "parameter")

    def build(units: dict[str, int]) -> RationalFunction:
        given = FunctionField((*field.weights, c), parameters, field.clock)
        tower = Tower.over(given, (), units)
        known = (name for name in given.names if name != c)
        images = Images(tower, {name: tower.field.named(name) for name in known})
        for g in leaf.integrals:
            inside = field.embed(g.argument)
            images.grow(field, names_in(inside))
            closed, G = integral_on_leaf(leaf, inside, written), None
            with suppress(InputError, LanguageError):
                G = closed and tower.element(from_sympy(without_modulus(closed)))
            own = Generator(leaf.images[g.name].name, "integral", images.of(inside))
            begin = images.of(_beside(g, field)) - tower.field.named(c)
            images.images[g.name] = images.minus(G or tower.adjoin(own), begin)
        images.grow(field, names_in(f))
        return images.of(f)

    return refined(build, "an integral of a law")


def _beside(g: Generator[RationalFunction], field: FunctionField) -> RationalFunction:
    """Return w_0^n/n of w^n = w_0^n + n G, of the weight that an integral G gives; or 0."""
    G, inside = field.named(g.name), (field.embed(r.argument) for r in field.generators if r.parts)
    slopes = ((A, A.partial(field.positions[g.name])) for A in inside)
    return next((A / n - G for A, n in slopes if n.is_constant() and not n.is_zero()), field.zero)


def _term_by_term(
    leaf: SolvedLeaf,
    names: Sequence[str],
    integrand: RationalFunction,
    written: Callable[[RationalFunction], Expr],
) -> Expr | None:
    """Return the integral of a sum of functions without logarithms, times one of some or alone."""
    field, known = leaf.field, {*names}
    terms = [integrand.partial(field.positions[name]) * field.named(name) for name in names]
    rest = integrand - sum(terms, field.zero)
    if len(known & {*rest.variables()}) or any(len(known & {*f.variables()}) > 1 for f in terms):
        return None
    parts = [integral_on_leaf(leaf, f, written) for f in (*terms, rest) if not f.is_zero()]
    return None if None in parts else sympy.Add(*parts)


def _by_parts(
    leaf: SolvedLeaf,
    call: Generator[RationalFunction],
    integrand: RationalFunction,
    written: Callable[[RationalFunction], Expr],
) -> Expr | None:
    """Return int (a u + b) dt = A u - int (A u' - b) dt, A = int a dt, with a and A rational."""
    field = leaf.field
    k, u = field.positions[call.name], field.named(call.name)
    a = integrand.partial(k)
    if a.depends_on(k) or (whole := antiderivative(leaf, a)) is None:
        return None
    with suppress(DeriveError):  # A has logarithms, or roots
        A = to_field(from_sympy(whole), field, "an integral")
        left = field.derivative(A * u, 0) - integrand
        rest = None if left.depends_on(k) else integral_on_leaf(leaf, left, written)
        return None if rest is None else leaf.expr(A) * leaf.expr(u) - rest
    return None


def beside_logarithms(curve: Coordinate, mu: Expr, ratio: RationalFunction) -> Expr | None:
    """Return int mu df, mu a sum of logarithms of linear functions of t, by dilogarithms, or None.

    Of each logarithm it is an integral over that, u = log E.
    """
    t, slope = curve.variable, curve.expr(ratio)
    parts = sympy.collect(sympy.expand(mu, log=False), [*mu.atoms(sympy.log)], evaluate=False)

    def rational(part: Expr) -> Expr | None:
        return antiderivative(curve, to_field(from_sympy(part), curve.field, "an integrand"))

    def beside(log: Expr, c: Expr) -> Expr | None:
        if c.has(sympy.log, sympy.atan) or log.func is not sympy.log:
            return None
        (inner,), u, E = log.args, sympy.Dummy("u", real=True), sympy.Dummy("E")
        if (a := inner.diff(t)).has(t):
            return None
        g = sympy.cancel((c * slope * inner / a).xreplace({t: (E - inner + a * t) / a}))

        def known(x: Symbol, part: Expr) -> Expr | None:
            return None if x is u else rational(a * part.xreplace({E: inner}))

        found = Exponential(u, E, u, known, partial(known_sign, curve)).integral(g * u)
        return None if found is None else found.xreplace({u: log, E: inner})

    rest = parts.pop(sympy.S.One, sympy.S.Zero)
    if rest.has(sympy.log, sympy.atan):
        return None
    found = [rational(rest * slope), *(beside(log, c) for log, c in parts.items())]
    return None if None in found else sympy.Add(*found)


@dataclass(frozen=True)
class Substituted(Coordinate):
    """A function x of t in the place of t, for functions of t that are rational in it.

    Attributes:
        known: x, and then the constants, on the leaf.
    """

    leaf: SolvedLeaf
    known: tuple[RationalFunction, ...]

    def on_leaf(self, element: RationalFunction) -> RationalFunction:
        """Return a function of x as one of t."""
        field, names = self.leaf.field, element.field.names[len(self.known) :]
        # The start of weights of other blocks is in no function of these.
        start = (field.named(n) if n in field.positions else field.zero for n in names)
        return element.compose((*self.known, *start), field)

    def start(self, element: RationalFunction) -> RationalFunction:
        """Return the value of a function of x at the start."""
        return self.leaf.start(self.on_leaf(element))


class CallIntegral:
    """Integrals of what is rational in X and E = exp(A(X)), or in u = log E and E = A(X).

    X is t or exp(q t), or one over these; it is in a logarithm linearly.
    """

    def __init__(self, leaf: SolvedLeaf, moving: Sequence[Generator[RationalFunction]]) -> None:
        self.leaf, call, notation = leaf, moving[-1], leaf.notation
        self.argument = leaf.field.embed(call.argument)
        self.is_log = call.kind == "log"
        k = 0 if len(moving) == 1 else leaf.field.positions[moving[0].name]
        self.k, self.inner, self.side = k, leaf.field.gens[k], 1
        below = leaf.field.polynomial(self.argument.denominator)
        if not self.is_log and below.depends_on(k):
            self.inner, self.side = 1 / self.inner, -1
        self.E = notation.fresh("E", positive=True)
        alone = leaf.variable if self.inner == leaf.field.gens[0] else notation.fresh("X")
        self.u = notation.fresh("L") if self.is_log else alone
        own = leaf.field.named(call.name)
        u, E = (own, self.argument) if self.is_log else (self.inner, own)
        self.places = {self.u: u, self.E: E}
        # What else is in it, as exp(delta), does not move.
        others = [g.name for g in leaf.field.generators if g.kind != "parameter"]
        others = [name for name in others if name not in {g.name for g in moving}]
        self.fixed = {notation.fresh(f"k{k}", positive=True): n for k, n in enumerate(others)}
        self.constants = (*leaf.constants, *self.fixed)

    def integral(self, integrand: RationalFunction) -> Expr | None:
        """Return its integral over t, or None."""
        if (forms := self._in_symbols(integrand)) is None:
            return None
        g, exponent = forms
        found = Exponential(self.u, self.E, exponent, self._rational, self._sign).integral(g)
        if found is None or (found.has(sympy.pi) and "pi" in self.leaf.notation.taken):
            return None
        found, E = fewest([found, sympy.expand_mul(found)]), self.leaf.expr(self.argument)
        calls = {self.u: self.leaf.expr(self.inner), self.E: sympy.exp(E)}
        calls = {self.u: sympy.log(E), self.E: E} if self.is_log else calls
        found = self._moving(found.xreplace({**self._known, **calls}))
        slope = without_modulus(found).diff(self.leaf.variable)
        rest = slope - without_modulus(self.leaf.expr(integrand))
        proved = ZeroTest(self.leaf.notation.parameterization, {}).vanishes(rest)
        return found if proved else None

    def _moving(self, found: Expr) -> Expr:
        """Return an integral without the logarithms of factors that do not move."""
        t, terms = self.leaf.variable, list[Expr]()
        for term in sympy.Add.make_args(found):
            c, log = term.as_independent(t, as_Add=False)
            inside = log.args[0] if isinstance(log, sympy.log) else sympy.S.One
            moves = inside.as_independent(t, as_Add=False)[1]
            terms.append(c * sympy.log(moves) if inside.is_Mul and moves.is_positive else term)
        return sympy.Add(*terms)

    def _linear(self) -> tuple[RationalFunction, RationalFunction] | None:
        """Return a and b of A = a X + b in a logarithm of what is positive, or None."""
        X, A, a = self.inner, self.argument, self.argument.partial(self.k)
        moving = {self.leaf.variable.name, repr(X)}
        known = moving.isdisjoint({*a.variables(), *(A - a * X).variables()})
        return (a, A - a * X) if known and self.leaf.sign(A) > 0 else None

    @property
    def _known(self) -> dict[Symbol, Expr]:
        leaf = self.leaf
        return {symbol: leaf.expr(leaf.field.named(n)) for symbol, n in self.fixed.items()}

    def _field(self, *variables: Symbol) -> FunctionField:
        names = (x.name for x in (*variables, *self.constants))
        return self.leaf.notation.parameterization.start_field.extended(tuple(names))

    def _in_symbols(self, f: RationalFunction) -> tuple[Expr, Expr] | None:
        """Return f dt/du as a quotient of polynomials in u and E, and A in u, or None."""
        leaf, field = self.leaf, self._field(self.u, self.E)
        flow = leaf.field.derivative(self.inner, 0)  # dX/dt
        moving = (f, flow) if self.is_log else (f, flow, self.argument)
        if self.k and any(leaf.variable.name in g.variables() for g in moving):
            return None
        named = {repr(x): s.name for s, x in self.places.items()}
        named |= {name: s.name for s, name in self.fixed.items()}
        # A law with a value that needs no name is in no function.
        names = (named.get(n, n) for n in leaf.field.names)
        images = [field.named(n) if n in field.names else field.zero for n in names]
        symbols = {s.name: s for s in (self.u, self.E, *self.constants)} | leaf.images
        unit, X, exponent = field.one, field.gens[0] ** self.side, self.u
        if self.is_log:
            if (line := self._linear()) is None:
                return None
            E, (a, b) = field.gens[1], (x.compose(images, field) for x in line)
            unit, X = E / a, (E - b) / a
        images[self.k] = X
        if not self.is_log:
            exponent = to_expr(self.argument.compose(images, field), symbols)
        return to_expr((f / flow).compose(images, field) * unit, symbols), exponent

    def _rational(self, x: Symbol, part: Expr) -> Expr | None:
        leaf, field = self.leaf, self._field(x)
        names = (*(c.name for c in leaf.constants), *self.fixed.values())
        known = (self.places[x], *map(leaf.field.named, names))
        own = Substituted(leaf.notation, field, x, (), self.constants, leaf, known)
        with suppress(DeriveError):  # what is in it is no function of the field
            return antiderivative(own, to_field(from_sympy(part), field, "an integrand"))
        return None

    def _sign(self, f: Expr) -> int:
        """Return the sign of a constant, or of what some weight has a logarithm of; else 0."""
        leaf, known = self.leaf, {**self._known, self.E: self.leaf.expr(self.places[self.E])}
        inside = (leaf.field.embed(g.argument) for g in leaf.field.generators if g.kind == "log")
        with suppress(DeriveError):
            element = to_field(from_sympy(f.xreplace(known)), leaf.field, "a sign")
            if not f.has(self.E) or any((A / element).is_constant() for A in inside):
                return leaf.sign(element)
        return 0


def _by_root(
    leaf: SolvedLeaf, call: Generator[RationalFunction], integrand: RationalFunction
) -> Expr | None:
    """Return the integral of what is rational in t and a root R of A(t), or None.

    Of A = a t + b it is rational in R, of A = s^2 t^2 + b t + c in x = s t + R.

    Source: Euler 1768, Institutiones calculi integralis, for the root of a quadratic.
    """
    whole, R, t = leaf.field, leaf.field.named(call.name), leaf.field.gens[0]
    A = whole.embed(call.argument)
    slope = A.partial(0)
    a = slope.partial(0) / 2
    s = exact_square_root(a)
    if s is None or a.depends_on(0) or (call.index != 2 and not a.is_zero()):
        return None
    place, u = s * t + R, leaf.notation.fresh("x")
    names = (u.name, *(c.name for c in leaf.constants))
    field = leaf.notation.parameterization.start_field.extended(names)
    fixed = [field.named(n) if n in field.positions else field.zero for n in whole.names]

    def free(f: RationalFunction) -> RationalFunction:
        return f.compose(fixed, field)

    x, b = field.gens[0], free(slope - 2 * a * t)
    c = free(A - (slope - a * t) * t)
    power = x * x if call.index == 2 else x**call.index
    there = (power - c) / (b + 2 * free(s) * x)
    known = dict(zip(whole.names, fixed, strict=True))
    known |= {repr(t): there, call.name: x - free(s) * there}
    moved = integrand.compose([known[n] for n in whole.names], field) * there.partial(0)
    laws = (place, *(whole.named(c.name) for c in leaf.constants))
    own = Substituted(leaf.notation, field, u, (), leaf.constants, leaf, laws)
    if (found := antiderivative(own, moved)) is None:
        return None
    calls = [e for e in sympy.Add.make_args(found) if e.has(sympy.log, sympy.atan)]
    rest = own.on_leaf(to_field(from_sympy(found - sympy.Add(*calls)), field, "an integral"))
    found = sympy.Add(leaf.expr(rest), *calls).xreplace({u: leaf.expr(place)})
    slope = without_modulus(found).diff(leaf.variable) - leaf.expr(integrand)
    return found if ZeroTest(leaf.notation.parameterization, {}).vanishes(slope) else None
