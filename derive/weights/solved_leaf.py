"""The weights on the leaf of one output as elementary functions of one of them, t.

A law says how two weights go with each other, mostly with what was integrated of dw_i/dw_j. Where
what is unknown in it stands there once, as w^k or exp(q w), it is solved for that, and so are the
others, one after the other; or a power of a weight is rational in t and the laws. A proposal is
accepted where it is the flow from the start: there it has the signs that the weights have, and
dw_j/dt dt/dmu = dF/dw_j are identities of functions of t.

The last weight w may need no law: where dw/dt = a(t) w^m it is known by the integral of a.

A weight is a root on the whole leaf only if it has no zero there, as where d log w/dmu is finite,
where what it is a root of is positive at all t, or where its square is least at the start.
Then dt/dmu = r(t) is smooth, no zero of r is met, and t goes on as long as the flow does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import prod

from sympy import Expr, Symbol

from derive.errors import InputError
from derive.exact.field.factors import factored
from derive.exact.field.function_field import RationalFunction, names_in
from derive.exact.field.generators import Generator
from derive.exact.field.polynomial import by_powers, reindexed
from derive.exact.linear.families import LogFunction
from derive.exact.linear.implicitization import Coordinates, express
from derive.exact.signs import Signs
from derive.exact.towers.images import Images
from derive.exact.towers.reader import Refine, refined
from derive.exact.towers.tower import Tower
from derive.model.notation import AssumePositive, BranchOpen, Notation
from derive.model.parameterization import Parameterization
from derive.model.signs import start_sign
from derive.weights.adjoin import logarithmic_law
from derive.weights.conserved import ConservedQuantities, along
from derive.weights.coordinate import Coordinate
from derive.weights.leaf_start import POSITIVE, LeafStart, Place
from derive.weights.places import Law, Product, products, roots_and_divisors, shares, ties

UNITS = "the fractions in exponents on the leaf"
FEW = 2
"""Terms of the value of a law, from a special start, beyond which it has a name."""


@dataclass(frozen=True)
class SolvedLeaf(Coordinate):
    """The leaf of one output in a weight t.

    Attributes:
        place: t in the weights: one of them, a root in F or what it divides by, a product or a sum.
        laws: what the flow keeps, with the symbols of the values that have one.
        elements: all names of the field of F as functions of t.
        either: of weights whose sign at the start is not known, the roots that they are.
        crossing: roots in weights that may have zeros, beyond which these have the other sign.
        given: of what it is the leaf.
    """

    place: RationalFunction
    laws: tuple[Law, ...]
    elements: dict[str, RationalFunction]
    either: Mapping[str, frozenset[str]]
    crossing: frozenset[str]
    given: Place

    @cached_property
    def images(self) -> dict[str, Expr]:
        """What the field's names are in SymPy; of an integral it is G."""
        return super().images | {g.name: self.notation.fresh("G") for g in self.integrals}

    @property
    def integrals(self) -> list[Generator[RationalFunction]]:
        """The integral by which a weight is known, if one is, over t from the start."""
        return [g for g in self.field.generators if g.kind == "integral"]

    def at(self, f: RationalFunction) -> RationalFunction:
        """Return a function of the weights on the leaf."""
        known = [self.field.embed(self.elements[name]) for name in f.field.names]
        return f.compose(known, self.field)

    def start(self, element: RationalFunction) -> RationalFunction:
        """Return a function of t at the start; InputError where what is in it is not known."""
        return refined(lambda units: LeafStart(self.given, units).begin(element), UNITS)

    def with_values(self, element: RationalFunction) -> RationalFunction:
        """Return a function of the start, which has no names of constants, as it is."""
        return element

    def poles(self, *functions: RationalFunction) -> Iterator[RationalFunction]:
        """Yield the divisors in functions of t at the start; InputError where one is not known."""
        yield from (self.start(self.field.polynomial(f.denominator)) for f in functions)

    def sign(self, f: RationalFunction) -> int:
        """Return the sign of a function of t at the start; 0 where it is not known."""
        try:
            return refined(lambda units: LeafStart(self.given, units).sign(f), UNITS)
        except (InputError, AssumePositive, BranchOpen):
            return 0

    def is_of_either_sign(self, w: str) -> bool:
        """Tell whether a weight is a root whose sign is not known."""
        image = self.at(self.given.p.field.named(w))
        return bool(self.either.get(w, self.crossing) & names_in(image))

    def middle(self, image: RationalFunction) -> RationalFunction:
        """Return the mean of what a weight is with a root of either sign: what is beside that."""
        roots, field = self.crossing.union(*self.either.values()), image.field
        pairs = zip(field.names, field.gens, strict=True)
        return image.compose([field.zero if name in roots else x for name, x in pairs], field)


def solved_leaves(
    conserved: ConservedQuantities, notation: Notation
) -> tuple[Iterator[SolvedLeaf], ...]:
    """Return the leaf of one output in weights, roots and divisors, in products, and in sums.

    It is in each of these by which the laws, and one integral, give all weights.

    Raises:
        AssumePositive: the last of all, for one more it depends on the signs of start symbols.
    """
    p, laws = conserved.parameterization, [*map(LogFunction, conserved.laws)]
    if len(laws) < conserved.bound:
        laws += filter(None, [logarithmic_law(conserved)])
    if len(laws) < p.p - 2:
        return ()
    names = [f"delta{i}" if len(laws) > 1 else "delta" for i, _ in enumerate(laws, 1)]
    named = tuple(zip(map(notation.fresh, names), laws, strict=True))
    alone = (Place(p, t, named, notation, None) for t in (*roots_and_divisors(p), *p.w))
    pairs = [(x, *x.places(p)) for x in products(p, named)]
    multiplied = (Place(p, t, named, notation, x) for x, t, _ in pairs)
    added = (Place(p, t, named, notation, x) for x, _, t in pairs)
    return _leaves(alone), _leaves(multiplied), _leaves(added)


def _leaves(choices: Iterable[Place]) -> Iterator[SolvedLeaf]:
    asked: AssumePositive | None = None
    for given in choices:
        try:
            leaf = refined(partial(_solved, given), UNITS)
        except AssumePositive as request:
            asked = asked or request
        except (InputError, ZeroDivisionError, BranchOpen):
            continue
        else:
            yield from () if leaf is None else (leaf,)
    if asked is not None:
        raise asked


def _solved(given: Place, units: dict[str, int]) -> SolvedLeaf | None:
    """Return the leaf in one weight, where it is proved, with given units of exponents."""
    p, start = given.p, LeafStart(given, units)
    solving = _Solving(start, units)
    leaf = solving.leaf()
    if leaf is None or not _is_the_flow(p, leaf):
        return None
    # F and the start have real roots of their own, and powers of weights have them
    own = {repr(leaf.at(g.argument)) for g in p.field.generators if g.kind in ("root", "power")}
    real = solving.real.union(p.start_field.names)
    for g in (g for g in leaf.field.generators if g.kind in ("root", "power")):
        if not (g.name in real or repr(g.argument) in own) and leaf.sign(g.argument) <= 0:
            return None
    return leaf


def _is_the_flow(p: Parameterization, leaf: SolvedLeaf) -> bool:
    """Tell exactly whether dw_j/dt dt/dmu = dF/dw_j, each weight as it is on the leaf."""
    r = leaf.at(along(p.fields[0], leaf.place))
    pairs = ((leaf.at(w), leaf.at(x)) for w, x in zip(p.w, p.fields[0], strict=True))
    return not r.is_zero() and all(leaf.field.derivative(w, 0) * r == x for w, x in pairs)


def _power_of(f: RationalFunction, k: int) -> tuple[int, RationalFunction] | None:
    """Return m and a number s with f = a (w + s)^m, a free of the variable w, or None."""
    slope = f.partial(k)
    if slope.is_zero():
        return 0, f.field.zero
    reach = f / slope  # (w + s)/m
    pace = reach.partial(k)
    if pace.is_zero() or not pace.is_constant() or (1 / pace.value()).denominator != 1:
        return None
    shift = reach / pace - f.field.gens[k]
    return (int(1 / pace.value()), shift) if shift.is_constant() else None


class _Solving(Images):
    """The laws, solved for one weight after the other."""

    def __init__(self, start: LeafStart, units: dict[str, int]) -> None:
        self.start, (p, place, laws, notation, product) = start, start.given
        self.p, self.notation, t = p, notation, start.given.t
        field = p.start_field.extended((t, *(symbol.name for symbol, _ in laws)))
        root = repr(place) in {g.name for g in p.field.generators}
        tower = Tower.over(field, {*notation.positive, *[t] * root}, units)
        super().__init__(tower, {name: tower.field.named(name) for name in p.parameters})
        self.values: dict[Symbol, RationalFunction | None] = {}
        self.either: dict[str, frozenset[str]] = {}
        self.crossing: frozenset[str] = frozenset()
        self.real: frozenset[str] = frozenset()
        alone = shares(p, place)
        self.ties = {v: tie for v, tie in ties(p, place, laws).items() if v not in alone}
        self.alike = {*self.ties, *alone}
        for w, share in alone.items():
            self.images[w] = tower.field.named(t) * tower.field.embed(share)
        if product is not None:
            self._split(product, tower.field.named(t))
        elif root or place in p.w:
            self._know(repr(place), tower.field.named(t))

    def _split(self, x: Product, t: RationalFunction) -> None:
        """Add two weights by their sum t, or their product, the first a root of either sign."""
        before, tower = {*self.tower.field.names}, self.tower
        D = self._value(*x.law) / tower.field.embed(x.c)
        self.alike |= {x.v, x.w}
        if self.start.given.place == x.places(self.p)[1]:
            self._know(x.v, (t + D / t) / 2)
            return self._know(x.w, (t - D / t) / 2)
        if D.is_zero():
            raise InputError("the weights stay in proportion")
        R = tower.power(4 * t * t + D * D, Fraction(1, 2))
        # (R + D)/2 is no square where R is a root: its norm is -t^2, and the field is real
        square = (R + R.field.embed(D)) / 2
        v = tower.adjoin(Generator(f"sqrt({square!r})", "root", square, 2))
        self.crossing |= {str(v)}
        self.real |= {*tower.field.names} - before
        self._know(x.v, v)
        self._know(x.w, v.field.embed(t) / v)

    def leaf(self) -> SolvedLeaf | None:
        """Return the leaf, None where some weight is known by no law and no integral."""
        given = self.start.given
        left = list(given.laws)
        while (
            solved := next((law for law in left if self._is_solved(*law)), None)
            or self._is_expressed()
            or self._integrate()
        ):
            left = [law for law in left if law is not solved]
        if not {*self.p.field.names} <= self.images.keys():
            return None
        field = self.tower.field
        images = {name: field.embed(image) for name, image in self.images.items()}
        used = frozenset[str]().union(*map(names_in, images.values()))
        laws = tuple(law for law in given.laws if law[0].name in used)
        coordinate = self.notation, field, self.notation.fresh("t"), (), tuple(s for s, _ in laws)
        known = images, self.either, self.crossing, given
        return SolvedLeaf(*coordinate, given.place, laws, *known)

    def _is_expressed(self) -> bool:
        """Add one weight of which a power is rational in t and the laws; True if it was done."""
        p, (_, place, laws, _, product), field = self.p, self.start.given, self.tower.field
        if product is not None:  # whose factors are known, and mostly in fewer letters
            return False
        rational = [(symbol, law) for symbol, law in laws if not law.logs]
        known = {self.start.given.t: field.gens[0]} | {
            s.name: self._value(s, x) for s, x in rational
        }
        known |= {n: field.named(n) for n in p.field.constants}
        kept = [(symbol.name, law.rational) for symbol, law in rational]
        coordinates = Coordinates.of(
            [(self.start.given.t, place), *kept, *p.field.constants.items()]
        )
        for w in (w for w in p.weights if w not in self.images):
            for k in (1, 2):
                if (found := express(p.field.named(w) ** k, coordinates)) is not None:
                    power = found.compose([*map(known.__getitem__, found.field.names)], field)
                    return self._root(w, k, power, field.zero)
        return False

    def _integrate(self) -> bool:
        """Add one weight by an integral over t, where dw/dt = a(t) (w + s)^m; True if it was done.

        With n = 1 - m, x = w + s it is x^n = x_0^n + n int a dt, and x_0 exp(int a dt) for n = 0.
        """
        p, tower, place = self.p, self.tower, self.start.given.place
        if any(g.kind == "integral" for g in tower.field.generators):
            return False
        for name, w, moves in zip(p.weights, p.w, p.fields[0], strict=True):
            slope = moves / along(p.fields[0], place)
            inside = names_in(slope)
            if name in self.images or slope.is_zero() or not inside <= {*self.images, name}:
                continue
            if (found := _power_of(slope, p.field.positions[name])) is None:
                continue
            m, shift = found
            n, a = 1 - m, self.of(slope / (w + shift) ** m)
            integral = tower.adjoin(Generator(f"Integral({a!r})", "integral", a))
            s = tower.field.embed(p.at_start(shift))
            start = tower.field.embed(p.at_start(w)) + s
            if n:
                power = (start**n + n * integral) ** (1 if n > 0 else -1)
                self._root(name, abs(n), power, s)
            else:
                self._know(name, self.minus(tower.times(start, tower.exp(integral)), s))
            return True
        return False

    def _short_value(self, symbol: Symbol, law: LogFunction) -> RationalFunction | None:
        """Return the value of a law at the start where that is short, and needs no name.

        From a start with fewer symbols than weights it is short up to a few terms, else of one.
        """
        if symbol not in self.values:
            p, special = self.p, len(self.p.start_symbols) < self.p.p
            value = p.at_start(law.rational)
            if special and law.logs:
                names = zip(p.field.names, map(p.at_start, p.field.gens), strict=True)
                value = Images(self.tower, dict(names)).value(law)
            few = all(len(part) <= (FEW if special else 1) for part in value.parts)
            self.values[symbol] = value if few and (special or not law.logs) else None
        known = self.values[symbol]
        return None if known is None else self.tower.field.embed(known)

    def _value(self, symbol: Symbol, law: LogFunction) -> RationalFunction:
        """Return the value of a law, or its name."""
        value = self._short_value(symbol, law)
        return self.tower.field.named(symbol.name) if value is None else value

    def _know(self, name: str, image: RationalFunction) -> None:
        """Add what a name is, what is in proportion to it, and the generators known with them."""
        self.images[name] = image
        for tied, factor, shift in self._tied(name):
            field = image.field
            self.images[tied] = image * field.embed(factor) + field.embed(shift)
        self.grow(self.p.field, self.p.field.names)

    def _tied(self, name: str) -> Iterator[tuple[str, RationalFunction, RationalFunction]]:
        """Yield what is an affine function of a weight, with its factor and its constant."""
        for v, (w, factor, c, law) in self.ties.items():
            if w == name:
                field = self.tower.field
                shift = field.zero if law is None else self._value(*law) / field.embed(c)
                yield v, factor, shift

    def _is_solved(self, symbol: Symbol, law: LogFunction) -> bool:
        try:
            return self._solve(symbol, law)
        except Refine:
            raise
        except InputError:  # the sign of a modulus is not known
            return False

    def _solve(self, symbol: Symbol, law: LogFunction) -> bool:
        """Solve law = value for the one name in it that is not known; True if that was done."""
        parts = [law.rational, *(x for pair in law.logs for x in pair)]
        unknown = {
            self.ties[n].other if n in self.ties else n for f in parts for n in f.variables()
        }
        unknown -= self.images.keys()
        if len(unknown) != 1:
            inside = set[str]().union(*map(names_in, parts))
            return not (unknown or inside.isdisjoint(self.alike))  # of what is in proportion alone
        (name,), value = unknown, self._value(symbol, law)
        below = [(c, A) for c, A in law.logs if name in {*c.variables(), *A.variables()}]
        known = tuple(pair for pair in law.logs if pair not in below)
        if not below:
            value = self.minus(value, self.value(LogFunction(self.p.field.zero, known)))
            power = self._isolated(law.rational, name, value)
        else:
            ((c, A), *more), rest = below, LogFunction(law.rational, known)
            if more or name in {*c.variables(), *law.rational.variables()}:
                return False
            modulus = self.tower.exp(self.minus(value, self.value(rest)) / self.of(c))
            sign = start_sign(self.p.at_start(A), self.notation)[0] * self.start.sign(modulus)
            power = self._isolated(A, name, modulus * sign)
        return power is not None and self._root(name, *power)

    def _isolated(
        self, f: RationalFunction, name: str, value: RationalFunction
    ) -> tuple[int, RationalFunction, RationalFunction] | None:
        """Return k, A and b with (name + b)^k = A where f = value, or None; b is 0 of a call."""
        field = self.tower.field
        wider = field.extended(("_x",))
        (x,) = wider.gens[:1]

        def equation(x: RationalFunction) -> dict[int, RationalFunction]:
            known = [
                wider.embed(field.embed(self.images.get(n, field.zero))) for n in f.field.names
            ]
            known[f.field.positions[name]] = x
            for tied, factor, b in self._tied(name):
                image = wider.embed(field.embed(factor)) * x + wider.embed(b)
                known[f.field.positions[tied]] = image
            terms = by_powers(
                (f.compose(known, wider) - wider.embed(field.embed(value))).numerator, 0
            )
            return {n: field.polynomial(reindexed(c, field.ring)) for n, c in terms.items()}

        parts, shift = equation(x), field.zero
        if len(parts) > 2 and name in self.p.weights:
            n = max(parts)
            shift = parts.get(n - 1, shift) / (n * parts[n])
            parts = equation(x - wider.embed(shift))
        if len(parts) != 2:
            return None
        low, high = sorted(parts)
        return (
            None if low and not shift.is_zero() else (high - low, -parts[low] / parts[high], shift)
        )

    def _root(self, name: str, k: int, power: RationalFunction, shift: RationalFunction) -> bool:
        """Take the root of what (name + shift)^k is: of a weight without zeros, or exp(q w).

        Of a root r of A it is A = r^n that is solved for the weight in it.
        """
        if name in self.p.weights:
            if k == 1:
                self._know(name, power)
            elif k % 2 == 0 or self._has_no_zero(name, shift):
                root = self._signed_root(name, k, power, shift)
                self._know(name, self.minus(root, shift))
            return name in self.images
        g = next(g for g in self.p.field.generators if g.name == name)
        inside = {*g.argument.variables()} - self.images.keys()
        if len(inside) != 1 or self.start.sign(power) < 0:
            return False
        (inner,) = inside
        argument = self.p.field.embed(g.argument)
        if g.kind == "root" and k == 1:
            self.images[name] = power
            below = self._isolated(argument, inner, power**g.index)
            return below is not None and self._root(inner, *below)
        rate = argument / self.p.field.named(inner)
        if g.kind != "exp" or not rate.is_constant():
            return False
        # log |A| is that of A, but exp of it may be -A in the field
        self.images[name] = self.tower.power(power, Fraction(1, k))
        logarithm = self.tower.log(power)
        self._know(inner, logarithm / (k * self.tower.field.constant(rate.value())))
        return True

    def _has_no_zero(self, name: str, shift: RationalFunction) -> bool:
        """Tell whether d log (w + shift)/dmu is finite where w + shift is 0, or F ends there.

        Or F is 0 at the start, and a power of w times what is free of it: w dw/dmu = k F, k > 0,
        has the sign of mu, as F grows with mu, so that w^2 is least at the start.
        """
        p, given, w = self.p, self.start.given, self.p.field.named(name)
        if name in p.nonnegative - {v.norm for v in p.vectors} and shift.is_zero():
            return True
        if shift.is_zero() and p.at_start(p.F[0]).is_zero() and not p.at_start(w).is_zero():
            pace = w * along(p.fields[0], w) / p.F[0]
            if pace.is_constant() and pace.value() > 0:
                return True
        laws = {symbol.name: law.rational for symbol, law in given.laws if not law.logs}
        images = {given.t: given.place, **laws, **{n: p.field.named(n) for n in p.parameters}}
        if not {*shift.variables()} <= images.keys():
            return False
        known = [images.get(n, p.field.zero) for n in shift.field.names]
        moved = w + shift.compose(known, p.field)
        slope = along(p.fields[0], moved) / moved
        return bool(slope.denominator.gcd(moved.numerator).is_constant())

    def _is_positive(self, power: RationalFunction) -> bool:
        """Tell whether a function of t is proved positive at all t on the leaf of the start."""
        field, known = power.field, Signs(self.notation.positive)
        values = {
            symbol.name: self.start.images[symbol.name] for symbol, _ in self.start.given.laws
        }
        signs = {name: known.strict(value) for name, value in values.items()}
        positive = {g.name for g in field.generators if g.kind in POSITIVE}
        positive |= {*known.positive, *(name for name, sign in signs.items() if sign)}
        images = [signs.get(n, 1) * x for n, x in zip(field.names, field.gens, strict=True)]
        return Signs(positive).is_positive(power.compose(images, field))

    def _signed_root(
        self, name: str, k: int, power: RationalFunction, shift: RationalFunction
    ) -> RationalFunction:
        """Return the root of (w + shift)^k of its sign at the start, of an even k of either."""
        before, sign = {*self.tower.field.names}, 0
        crossing = not (self._has_no_zero(name, shift) or self._is_positive(power))
        try:
            if not crossing:
                start = self.start.begin(shift)
                weight = start.field.embed(self.p.at_start(self.p.field.named(name)))
                sign, assumed = start_sign(weight + start, self.notation)
                sign = 0 if assumed else sign
        except AssumePositive:
            if k % 2:
                raise
        # sqrt(t^2 A) is t sqrt(A), and sqrt(A/t) is sqrt(t A)/t, of either sign
        parts = factored(self.tower.field.embed(power))[1]
        outside = prod((f ** (n // k) for f, n in parts), start=self.tower.field.one)
        root = self.tower.power(power / outside**k * (sign or 1) ** k, Fraction(1, k))
        root = self.tower.field.embed(root) * self.tower.field.embed(outside)
        roots = frozenset({*self.tower.field.names} - before)
        self.real |= roots
        if sign:
            return root * (sign * self.start.sign(root))
        self.crossing |= roots if crossing else frozenset()
        alike = (name, *(w for w, *_ in self._tied(name)))
        self.either |= {} if crossing else dict.fromkeys(alike, roots)
        return root
