"""Q of one output as integrals over a weight t, by which the laws give all others.

With beta = f(t) and dt/dmu = r(t) along the flow, Q = beta mu - R, mu = int dt/r, R = int f/r dt.
Where a weight passes through 0 it is no function of t. Its square is, and so are K and beta^2
mostly: Q'' = 1/K at the t that F = beta has. Where the laws give all weights but one, that is known
by an integral over t, G.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

import sympy
from sympy import Expr, Symbol

from derive.errors import DeriveError, InputError
from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction, names_in
from derive.exact.linear.families import LogFunction
from derive.exact.named_integrals import NAMED, meanings
from derive.exact.signs import Signs
from derive.exact.towers.tower import to_field
from derive.language import from_sympy, to_sympy
from derive.model.condition import Condition, Sign
from derive.model.labels import quoted
from derive.model.notation import (
    AssumePositive,
    Constant,
    Notation,
    log_expr,
    to_expr,
    to_factored_expr,
    without_modulus,
)
from derive.model.signs import start_sign
from derive.potential.accept import ZeroTest, accept_curve
from derive.potential.antiderivative import antiderivative, at_start, gathered, open_discriminant
from derive.potential.piece import Case, Curve, Integrand, Piece, asked_of_start, moving
from derive.potential.quadrature import INTEGRAL
from derive.potential.rewriting import fewest, with_conjugates, with_hyperbolic, with_products
from derive.potential.substitution import integral_on_leaf, not_elementary_on_leaf
from derive.verdict import Identity
from derive.weights.conserved import along
from derive.weights.metric import Metric
from derive.weights.solved_leaf import SolvedLeaf, solved_leaves

ALONG = "on the leaf, by"
"""Before the weight by which all others are known."""


def integrate_along_weight(
    metric: Metric, R: LogFunction | None, notation: Notation
) -> Iterator[Piece | None]:
    """Yield Q by integrals over weights and norms, over products of two, and over their sums.

    R is the conjugate of Q in the weights, where it is known. Of each kind of coordinate it is the
    closed one, then that which asks less of the start, then one over a weight, then the shortest.

    Raises:
        AssumePositive: last of all, there are some for known signs of start symbols alone.
    """
    found, asked = list[Piece | None](), list[AssumePositive]()

    def openness(piece: Piece) -> tuple[bool, int, bool, int]:
        length = sum(len(str(e)) for e in (piece.value, *piece.abbreviations, piece.note))
        start = asked_of_start(piece, metric, notation)
        return piece.kind == "quadrature", start, piece.curve is None, length

    for leaves in solved_leaves(metric.conserved, notation):
        pieces = list[Piece]()
        while True:
            try:
                pieces += filter(None, [_AlongWeight(metric, next(leaves), notation).piece(R)])
            except StopIteration:
                break
            except AssumePositive as request:
                asked.append(request)
        found.append(min(pieces, key=openness) if pieces[1:] else next(iter(pieces), None))
        yield found[-1]
    if asked and not any(found):
        raise asked[0]


class _AlongWeight:
    """What is printed of a leaf in a weight t."""

    def __init__(self, metric: Metric, leaf: SolvedLeaf, notation: Notation) -> None:
        self.metric, self.p, self.K = metric, metric.parameterization, metric.K[0][0]
        self.leaf = leaf
        self.notation, self.t, self.symbols = notation, leaf.variable, leaf.images
        self.f, self.r = leaf.at(self.p.F[0]), leaf.at(self.moving())
        self.t0 = to_expr(self.p.at_start(leaf.place), notation.start_symbols)
        self.decide = ZeroTest(self.p, {})

    def piece(self, R: LogFunction | None) -> Piece | None:
        """Return Q by an integral over t where the weights are functions of t, else over beta."""
        try:
            if not self.uses(self.leaf.crossing, self.f, self.r) and self.signs_are_known():
                return self.over_weight(R)
        except AssumePositive:
            if (piece := self.over_beta()) is None:
                raise
            return piece
        except InputError:
            return None
        return self.over_beta()

    def uses(self, names: frozenset[str], *functions: RationalFunction) -> bool:
        """Tell whether some functions of t have one of the names, in calls too."""
        return any(names & names_in(f) for f in functions)

    def signs_are_known(self) -> bool:
        """Tell whether the start says which roots are meant; AssumePositive asks for a symbol."""
        p, leaf, found = self.p, self.leaf, list[bool]()
        for name, roots in leaf.either.items():
            if self.uses(roots, self.f, self.r):
                w = p.field.named(name)
                middle = leaf.start(self.leaf.middle(leaf.at(w)))
                _, assumed = start_sign(middle.field.embed(p.at_start(w)) - middle, self.notation)
                found.append(not assumed)
        return all(found)

    def over_weight(self, R: LogFunction | None) -> Piece:
        """Return Q = beta mu - R along t, mu = int dt/r, and R = int f/r dt where not known."""
        p, leaf, t, x = self.p, self.leaf, self.t, self.notation.fresh("x")
        (beta,), t0 = self.notation.betas, self.t0
        generic = dict.fromkeys(
            self.conditions(
                p.at_start(self.moving()), *leaf.poles(self.f, self.r, *self.integrands())
            )
        )
        F, flow, _ = self.as_typed()
        height, pace = self.shortest(self.f, F), self.shortest(self.r, with_products(flow))

        def integral(integrand: Expr) -> Expr:
            moved = self.moved(x, lambda G: sympy.Function(G, real=True)(x))
            return sympy.Integral(integrand.xreplace(moved), (x, t0, t))

        mu, conjugate = self.antiderivative(1 / self.r), None if R is None else self.written(R)
        if conjugate is None:
            conjugate = self.antiderivative(self.f / self.r)
        if conjugate is None:
            conjugate = integral(self.shortest(self.f / self.r, height / pace))
        closed: tuple[Identity, ...] | None = None
        if mu is not None:
            mu, begin = self.from_start(mu, t0)
            Q = None if conjugate.has(sympy.Integral) else beta * mu - conjugate
            speed = self.expr(leaf.field.derivative(self.f, 0) * self.r)
            closed = accept_curve(leaf, begin, (height, pace, speed), mu, Q)
        integrand: Integrand | None = None
        if mu is None or closed is None:
            mu = integral(fewest([self.shortest(1 / self.r), 1 / pace]))
            integrand = self.left()
        elif Q is None:
            proof = self.not_elementary(self.f / self.r)
            integrand = Integrand("not elementary" if proof else "conjugate", proof)
        value, integrals = beta * mu - conjugate, self.integrals({t: t})
        named = meanings(sympy.Tuple(value, *(e for _, e in integrals)))
        return Piece(
            (beta,),
            value,
            (mu,),
            self.constants(),
            assumptions=(*self.notation.assumptions, *generic),
            evidence=(*self.evidence(height, pace), *(closed or ())),
            note=", ".join((*self.weights(), *named)),
            abbreviations=integrals,
            integrand=integrand,
            curve=Curve(t, height, weight=self.name, laws=leaf.laws),
        )

    def from_start(self, mu: Expr, t0: Expr) -> tuple[Expr, dict[Symbol, Expr]]:
        """Return an antiderivative less its value at the start, and what is put in there."""
        begin = {self.t: t0}
        if mu.has(*NAMED):
            change = mu - mu.xreplace(begin)
            return fewest([change, sympy.factor_terms(change)]), begin
        if mu.has(sympy.exp):
            start = mu.replace(sympy.log, self.log_at_start).xreplace(begin)
            change = fewest([mu - start, with_hyperbolic(mu - start)])
            return change, begin | dict(self.constants())
        if any(x.has(self.t) and not x.exp.is_Integer for x in mu.atoms(sympy.Pow)):
            return mu - self.at_start(mu, t0), begin | dict(self.constants())
        # one logarithm of a quotient would ask more of the start
        whole = gathered(mu, self.t)
        return whole - (mu if t0.free_symbols else whole).xreplace(begin), begin

    def log_at_start(self, A: Expr) -> Expr:
        """Return log |A| at the start, of a product of exponentials as a sum: these are weights."""
        with suppress(DeriveError):
            bare = from_sympy(without_modulus(sympy.log(A)).args[0])
            start = self.leaf.start(to_field(bare, self.leaf.field, "a logarithm"))
            factors = sympy.Mul.make_args(to_expr(start, self.notation.start_symbols))
            if all(f.is_number or isinstance(f, sympy.exp) for f in factors):
                return sympy.Add(*(sympy.log(abs(f)) if f.is_number else f.exp for f in factors))
        return sympy.log(A)

    def left(self) -> Integrand:
        """Say why the integral of mu is left, with a proof that it has to be, or what it is."""
        if proof := self.not_elementary(1 / self.r):
            return Integrand("gradient not elementary", proof, over=self.name)
        if any(g.name in self.r.variables() for g in self.r.field.generators):
            return Integrand()
        if (square := open_discriminant(self.leaf, 1 / self.r)) is not None:
            return Integrand("sign", cases=self.by_sign(square))
        poles = (f for f, _ in factors(self.r.field.polynomial(self.r.numerator)))
        P = next((P for P in poles if int(P.numerator.degrees()[0]) > 2), None)
        if P is None or self.antiderivative(1 / self.r) is not None:
            return Integrand()
        return Integrand("roots", f"`{self.expr(P)}` is irreducible", over=self.name)

    def by_sign(self, square: RationalFunction) -> tuple[Case, ...]:
        """Return int dt/r by the sign of a square, with a root s of what is positive.

        Where one constant alone has the sign, also at its zero.
        """
        x, found = self.notation.fresh("x"), list[Case]()
        s, t = self.notation.fresh("s", positive=True), {self.t: x}
        whole = sympy.Integral(self.shortest(1 / self.r).xreplace(t), x)
        for sign in (-1, 1):
            number, c = self.shortest(square * sign).as_content_primitive()
            _, root = sympy.sqrt(number).as_coeff_Mul()
            if (mu := antiderivative(replace(self.leaf, taken=sign), 1 / self.r)) is None:
                return ()
            powers = (x for x in mu.atoms(sympy.Pow) if x.base == c and x.exp.q == 2)
            mu = mu.xreplace({x: (s / root) ** (2 * x.exp) for x in powers})
            e = sympy.expand(root**2 * c)
            where = f"{-e} = -{s}**2" if e.could_extract_minus_sign() else f"{e} = {s}**2"
            found.append(Case(f"`{where}`, `{s} > 0`", whole, gathered(mu, self.t).xreplace(t)))
        field, names = self.leaf.field, self.leaf.field.names
        for constant in (c for c in self.leaf.constants if set(square.variables()) == {c.name}):
            own = field.named(constant.name)
            slope = square.partial(field.positions[constant.name])
            if not (zero := own - square / slope).variables():
                known = [zero if n == constant.name else field.named(n) for n in names]
                mu = antiderivative(self.leaf, (1 / self.r).compose(known, field))
                where = f"`{constant} = {self.expr(zero)}`"
                found += [] if mu is None else [Case(where, whole, mu.xreplace(t))]
        return tuple(found)

    def not_elementary(self, integrand: RationalFunction) -> str:
        """Return why its integral is no elementary function of t, and so of beta; or nothing."""
        # What is shown is so beside an integral in the integrand, not beside one in f alone.
        beside = self.has_integral(integrand) or not self.has_integral(self.f)
        return not_elementary_on_leaf(self.leaf, integrand, self.shortest) if beside else ""

    def antiderivative(self, integrand: RationalFunction) -> Expr | None:
        """Return that of a function of t, or None; of the integral of a law none is known."""
        if self.has_integral(integrand):
            return None
        return integral_on_leaf(self.leaf, integrand, self.shortest)

    def over_beta(self) -> Piece | None:
        """Return Q = int (beta - b)/K(b) db, K(b) where t has beta^2 = b^2; None without that."""
        p, leaf, square = self.p, self.leaf, self.f * self.f
        K, roots = leaf.at(self.K), leaf.crossing.union(*leaf.either.values())
        if self.uses(roots, K, square) or leaf.field.derivative(square, 0).is_zero():
            return None
        try:
            generic = dict.fromkeys(self.conditions(*leaf.poles(K, square, *self.integrands())))
        except InputError:
            return None
        (beta,), (beta0,), b = self.notation.betas, self.notation.beta_0, self.notation.fresh("b")
        there = Symbol(f"{self.t}({b})", real=True)
        kernel = Symbol(f"{self.notation.fresh('K')}({b})", real=True)
        T = self.moved(there, lambda G: Symbol(f"{G}({b})", real=True))
        F, _, kernel_as_typed = self.as_typed()
        shown = self.shortest(K, kernel_as_typed, *self.by_squares(self.K))
        height = self.shortest(square, F**2, *self.by_squares(self.p.F[0] ** 2))
        weight = self.name

        def known(name: str, e: Expr, f: RationalFunction, where: str = "") -> Identity:
            claim, shown = f"{name} = {e}{where}", str(e)
            return Identity(claim, shown, repr(f), kind="kernel", of=(name, shown))

        squares = (self.squared(w, image) for w, image in self.last.items())
        so = f"`F = {b}`, so that `{height.xreplace(T)} = {b}**2`"
        integrals = self.integrals(T)
        named = meanings(sympy.Tuple(*(e for _, e in integrals)))
        where = f", {self.t} = {quoted(weight, p)}"
        return Piece(
            (beta,),
            sympy.Integral((beta - b) / kernel, (b, beta0, beta)),
            (sympy.Integral(1 / kernel, (b, beta0, beta)),),
            self.constants(),
            assumptions=(*self.notation.assumptions, *generic),
            evidence=(
                Identity(INTEGRAL, "1/Q''", repr(self.K), kind="integral"),
                *(known(own, self.shortest(square), square) for own, square in squares),
                known("K", shown, K, where),
                known("F**2", height, square),
            ),
            abbreviations=(*integrals, (kernel, shown.xreplace(T))),
            integrand=replace(self.left(), cases=()),
            note=", ".join((f"`{there} = {weight}` where {so}", *named)),
        )

    def has_integral(self, f: RationalFunction) -> bool:
        """Tell whether the integral of a law is in a function of t."""
        return self.uses(frozenset(g.name for g in self.leaf.integrals), f)

    def moved(self, t: Expr, at: Callable[[str], Expr]) -> dict[Expr, Expr]:
        """Return t and the integral of a law, a function of the name G, at another place."""
        names = (self.symbols[g.name] for g in self.leaf.integrals)
        return {self.t: t, **{G: at(G.name) for G in names}}

    def integrands(self) -> Iterator[RationalFunction]:
        """Yield what the integrals of laws are of."""
        yield from (self.leaf.field.embed(g.argument) for g in self.leaf.integrals)

    def integrands_as_typed(self) -> Iterator[Expr]:
        """Yield w dw/dt of a weight that an integral gives, where w cancels in what was typed."""
        names, weights = self.notation.weights, self.p.weights
        flow, pace, _ = self.flow_as_typed()
        known = {names[w]: self.image(w) for w in weights if w not in self.last}
        last = ((w, x) for w, x in zip(weights, flow, strict=True) if w in self.last)
        yield from (with_products((names[w] * x / pace).xreplace(known)) for w, x in last)

    def flow_as_typed(
        self, form: Callable[[Expr], Expr] = lambda e: e
    ) -> tuple[list[Expr], Expr, Expr]:
        """Return the flow of the weights, that of t, and K, by slopes of F in some form."""
        p, w = self.p, [self.notation.weights[w] for w in self.p.weights]
        place = to_expr(self.leaf.place, self.notation.weights)
        F = to_sympy(p.trees[0], self.notation.weights)
        slopes = [form(F.diff(x)) for x in w]
        flow = p.geometry.raised(slopes, lambda rate: to_expr(rate, self.notation.weights))
        pace = sympy.Add(*(place.diff(x) * rate for x, rate in zip(w, flow, strict=True)))
        return [*flow], pace, sympy.Add(*(a * rate for a, rate in zip(slopes, flow, strict=True)))

    def integrals(self, there: Mapping[Expr, Expr]) -> tuple[Constant, ...]:
        """Return G = int a dt from the start, where t and G are as given."""
        s, begin, found = self.notation.fresh("s"), self.t0, list[Constant]()
        for g, A in zip(self.leaf.integrals, self.integrands(), strict=True):
            G = self.symbols[g.name]
            a, end = self.shortest(A, *self.integrands_as_typed()), there[self.t]
            closed = self.antiderivative(A)
            total = sympy.Integral(a.xreplace({self.t: s}), (s, begin, end))
            if closed and self.decide.vanishes(without_modulus(closed).diff(self.t) - a):
                total = closed.xreplace({self.t: end}) - self.at_start(closed, begin)
            found.append((there.get(G, G), total))
        return tuple(found)

    def at_start(self, e: Expr, begin: Expr) -> Expr:
        """Return a function of t at the start, with roots drawn where it has no other calls."""
        with suppress(DeriveError):
            return at_start(self.leaf, e)
        return e.xreplace({self.t: begin})

    @functools.cached_property
    def last(self) -> dict[str, RationalFunction]:
        """The weights that are known by the integral of a law."""
        images = ((w, self.leaf.at(self.p.field.named(w))) for w in self.p.weights)
        return {w: image for w, image in images if self.has_integral(image)}

    def by_squares(self, f: RationalFunction) -> Iterator[Expr]:
        """Yield a function of the weights, f = u w^2 + v, on the leaf, w a root of either sign."""
        for name in filter(self.leaf.is_of_either_sign, self.p.weights):
            k, w = self.p.field.positions[name], self.p.field.named(name)
            u = f.partial(k).partial(k) / 2
            rest = f - u * w * w
            if not (u.is_zero() or u.depends_on(k) or rest.depends_on(k)):
                u, S, rest = (fewest(self.ways(self.leaf.at(x))) for x in (u, w * w, rest))
                yield u * S + rest

    def constants(self) -> tuple[tuple[Symbol, Expr], ...]:
        """Return the values of the laws."""
        found, named = list[Constant](), self.notation.start_symbols
        for symbol, law in self.leaf.laws:
            value = law.mapped(self.p.at_start)
            ways = [log_expr(value, named)]
            ways += [] if value.logs else [to_factored_expr(value.rational, named)]
            found.append((symbol, with_hyperbolic(fewest(ways))))
        return tuple(found)

    def moving(self) -> RationalFunction:
        """Return dt/dmu in the weights."""
        return along(self.p.fields[0], self.leaf.place)

    @property
    def name(self) -> str:
        """What t is, in the weights."""
        return str(to_expr(self.leaf.place, self.notation.weights))

    def conditions(self, *divisors: RationalFunction) -> Iterator[Condition]:
        """Yield that functions of the start, and logarithms in laws, are not 0.

        InputError: one is, so that t stays where it is, or an integral from the start is infinite.
        """
        p, known = self.p, Signs(self.notation.positive)
        finite = [p.at_start(A) for _, law in self.leaf.laws for _, A in law.logs]
        if any(f.is_zero() for f in (*divisors, *finite)):
            raise InputError("the form divides by 0 at the start")
        for g in (g for f in (*divisors, *finite) for g in known.zeros_of(f)):
            if repr(g) not in self.metric.rests_at:
                yield Condition(to_expr(g, self.notation.start_symbols), Sign.NONZERO)

    def as_typed(self) -> tuple[Expr, ...]:
        """Return F, the flow of t and K on the leaf, in the functions that were typed.

        There a weight is a root of either sign, and a logarithm with it that of the modulus.
        """
        p, names = self.p, self.notation.weights
        F, place = to_sympy(p.trees[0], names), to_expr(self.leaf.place, names)
        images = {names[w]: self.image(w) for w in p.weights}
        either = [names[w] for w in p.weights if self.leaf.is_of_either_sign(w)]

        def on_leaf(e: Expr) -> Expr:
            e = e if place.is_Symbol else e.subs(place, self.t)
            logs = (log for log in e.atoms(sympy.log) if either and log.has(*either))
            return e.xreplace({x: sympy.log(sympy.Abs(x.args[0])) for x in logs}).xreplace(images)

        ways = (map(on_leaf, self.flow_as_typed(form)[1:]) for form in (lambda e: e, sympy.factor))
        return on_leaf(F), *map(fewest, zip(*ways, strict=True))

    def image(self, w: str) -> Expr:
        """Return a weight as a function of t, a root of what is shorter where it is one."""
        image = self.leaf.at(self.p.field.named(w))
        plain, square = self.shortest(image), self.shortest(image * image)
        roots = (sympy.sqrt(square), -sympy.sqrt(square)) if plain.has(sympy.exp) else ()
        return fewest([plain, *(e for e in roots if self.decide.vanishes(e - plain))])

    def weights(self) -> Iterator[str]:
        """Yield what t and the weights are, or their squares where their signs are not known."""
        if self.leaf.place not in self.p.w:
            yield f"`{self.t} = {self.name}`"
        for w in self.p.weights:
            image = self.leaf.at(self.p.field.named(w))
            own, e = self.squared(w, image) if self.leaf.is_of_either_sign(w) else (w, None)
            yield f"`{own} = {self.image(w) if e is None else self.shortest(e)}`"

    def squared(self, w: str, image: RationalFunction) -> tuple[str, RationalFunction]:
        """Return the square of a weight, less what is beside a root of either sign."""
        middle = self.leaf.middle(image) if self.leaf.is_of_either_sign(w) else image.field.zero
        return str((sympy.Symbol(w) - self.expr(middle)) ** 2), (image - middle) ** 2

    def expr(self, f: RationalFunction) -> Expr:
        """Return a function of t in SymPy, logarithms of what is positive as such."""
        return self.positive(sympy.powsimp(to_expr(f, self.symbols), combine="exp"))

    def positive(self, expression: Expr) -> Expr:
        """Return an expression with log A for log |A| of what is not 0, and positive at w_0."""
        return expression.xreplace(self.logarithms)

    @functools.cached_property
    def logarithms(self) -> dict[Expr, Expr]:
        """The logarithms of what has a sign at the start, which it keeps, without modulus."""
        images = dict[Expr, Expr]()
        for g in (g for g in self.leaf.field.generators if g.kind == "log"):
            if sign := self.leaf.sign(g.argument):
                A = to_expr(g.argument, self.symbols)
                images[sympy.log(sympy.Abs(A))] = sympy.log(sympy.expand(sign * A))
        return images

    def shortest(self, f: RationalFunction, *others: Expr) -> Expr:
        """Return a function of t in the shortest way to write it that is proved equal."""
        whole, factored, *rest = self.ways(f, *others)
        short, proved = fewest([whole, factored]), self.decide.vanishes
        less = (e for e in rest if e.count_ops() < short.count_ops())
        by_length = sorted(less, key=lambda e: int(e.count_ops()))
        return next((e for e in by_length if proved(e - whole)), short)

    def ways(self, f: RationalFunction, *others: Expr) -> list[Expr]:
        """Return a function of t expanded and in factors, and in other ways, to be proved equal."""
        whole = self.expr(f)
        factored = self.positive(sympy.powsimp(to_factored_expr(f, self.symbols), combine="exp"))
        spread = sympy.powsimp(sympy.expand(whole), combine="exp")
        hyperbolic = map(with_hyperbolic, (*others, whole, spread))
        return [whole, factored, *others, *hyperbolic, with_products(with_conjugates(factored))]

    def written(self, R: LogFunction) -> Expr | None:
        """Return what moves of a function of the weights on the leaf; None of an unknown sign."""
        used = self.leaf.crossing.union(*self.leaf.either.values())
        on_leaf = R.mapped(self.leaf.at)
        if self.uses(used, on_leaf.rational, *(f for pair in on_leaf.logs for f in pair)):
            return None
        total = log_expr(on_leaf, self.symbols)
        whole = sympy.powsimp(sympy.expand(self.positive(total)), combine="exp")
        names, same = self.moved(self.t, Symbol), self.decide.vanishes
        left, other = (moving(e, *names) for e in (whole, with_hyperbolic(whole)))
        ways = (e for e in (other, sympy.factor(left)) if same((e - left).diff(self.t)))
        return fewest([left, *ways])

    def evidence(self, f: Expr, r: Expr) -> Iterator[Identity]:
        """Yield the flow of the weights along t."""
        (beta,), p, leaf = self.notation.betas, self.p, self.leaf
        for w, x in zip(p.weights, p.fields[0], strict=True):
            image = leaf.at(p.field.named(w))
            slope, own = leaf.field.derivative(image, 0) * self.r, quoted(w, p)
            what = f"d{own}/dmu = dF/d{own} {ALONG} {self.t}"
            yield Identity(what, repr(slope), repr(leaf.at(x)), kind="path", of=(str(r),))
        yield Identity(f"{beta} = {f} {ALONG} {self.t}", str(f), repr(self.f))
        yield Identity(f"d{self.t}/dmu = {r}", str(r), repr(self.r))
