"""One coordinate of Q: its variable, its parameters, its exact second derivative, where smooth."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr, Symbol, oo

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.signs import Signs
from derive.exact.towers.germ import Elementary, Unsettled
from derive.inverse.line_element import Interval, LineElement, tidy
from derive.language.tree import Call, Name, Power, Tree, names, walk
from derive.model.notation import to_expr

GENERATORS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "root": lambda x, n: x ** (1 / n),
    "log": lambda x, n: sympy.log(x),
    "exp": lambda x, n: sympy.exp(x / n),
    "tan": lambda x, n: sympy.tan(x / (2 * n)),
    "atan": lambda x, n: sympy.atan(x),
}
"""Of an argument x and an index n."""
PARAMETERS = ((1, 1), (2, 1), (1, 2), (3, 5), (5, 3))
PLACES = tuple(Fraction(n, 16) for n in (16, 8, 32, 4, 48, -8, -16, -32, 80, -80, 1, 320))


@dataclass(frozen=True)
class SeparableTerm:
    """A separable term Q of the potential in one variable, with beta_0 where given.

    The names of its weights end with the suffix, where Q has several terms; parameters in
    *positive* are declared so.
    """

    tree: Tree
    variable: str
    positive: frozenset[str] = frozenset()
    start: Tree | None = None
    suffix: str = ""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The coordinates of beta that it is a function of."""
        return (self.variable,)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The other names."""
        found = names((self.tree, self.start or self.tree))
        return tuple(name for name in found if name != self.variable)

    @property
    def one_sided(self) -> bool:
        """Whether Q is defined for a positive coordinate only, by a bare log or root of it."""
        bare = Name(self.variable)
        return any(
            (isinstance(n, Call) and n.function == "log" and n.argument == bare)
            or (isinstance(n, Power) and n.base == bare and n.exponent.denominator % 2 == 0)
            for n in walk(self.tree)
        )

    def symbols(self) -> dict[str, Symbol]:
        """Return the SymPy symbols of the proposals, parameters positive."""
        own = {"positive": True} if self.one_sided else {"real": True}
        parameters = {name: Symbol(name, positive=True) for name in self.parameters}
        return {self.variable: Symbol(self.variable, **own), **parameters}

    def parameter_points(self) -> Iterator[dict[str, Fraction]]:
        """Yield rational values of the parameters, positive ones."""
        for first, step in PARAMETERS if self.parameters else PARAMETERS[:1]:
            places = enumerate(self.parameters)
            yield {name: Fraction(first + step * k, 1 + k % 2) for k, name in places}


@dataclass(frozen=True)
class CoupledTerm(SeparableTerm):
    """A term of the potential in several variables; its *variable* is all their names."""

    variables: tuple[str, ...] = ()

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The coordinates of beta that it is a function of."""
        return self.variables

    @property
    def parameters(self) -> tuple[str, ...]:
        """The other names."""
        return tuple(name for name in names((self.tree,)) if name not in self.variables)

    @property
    def numbers(self) -> tuple[str, ...]:
        """What stands behind beta in their names, and behind w and u in ours."""
        return tuple(name.removeprefix("beta").strip("_") for name in self.variables)

    def symbols(self) -> dict[str, Symbol]:
        """Return the SymPy symbols of the proposals: real, and of parameters positive."""
        parameters = {name: Symbol(name, positive=True) for name in self.parameters}
        return {name: Symbol(name, real=True) for name in self.variables} | parameters


@dataclass(frozen=True)
class Convexity:
    """Q', Q'' and the sign of Q'' near a point, the values of beta and the parameters.

    *everywhere* tells whether Q'' <= 0 is proved wherever Q is defined; in the interval Q is surely
    smooth, None where that is not known.
    """

    term: SeparableTerm
    slope: Expr
    second: Expr
    sign: int
    everywhere: bool
    point: dict[str, Fraction]
    interval: Interval | None

    @functools.cached_property
    def element(self) -> LineElement:
        """The line element Q'' dbeta^2."""
        v = self.term.symbols()[self.term.variable]
        return LineElement(tidy(self.second), v, self.term.positive)


def recognise(tree: Tree, variable: str | None) -> tuple[str, ...]:
    """Return the names of the coordinates in one term of Q; InputError for none."""
    found = names((tree,))
    if variable is not None and variable in found:
        return (variable,)
    betas = tuple(sorted(name for name in found if re.fullmatch(r"beta_?\d*", name)))
    if betas or len(found) == 1:
        return betas or found
    if not found:
        raise InputError("Q is a constant: write an expression in beta, such as beta*log(beta)")
    raise InputError(f"which of {', '.join(found)} is the coordinate? call it beta")


def examine(term: SeparableTerm) -> Convexity | None:
    """Return the derivatives of Q at a point where Q'' > 0, else at one where it is not.

    None where Q could not be read at any point that was tried.
    """
    fallback = None
    for point in _points(term):
        tower = Elementary(point, [term.tree])
        try:
            slope = tower.derivative(tower.read(term.tree))
            second = tower.derivative(slope)
            sign = 0 if tower.ball(second) == 0 else tower.sign(second)
        except (Unsettled, ZeroDivisionError):
            continue
        images = expressions(tower, term.symbols())
        derivatives = to_expr(slope, images), to_expr(second, images)
        smooth = _smooth_interval(tower, term, images, point)
        # The sign at hand speaks for the whole domain only where no branch was chosen.
        whole = smooth == (-oo, oo) or (term.one_sided and smooth == (0, oo))
        everywhere = sign <= 0 and whole and (second.is_zero() or _nonpositive(term, tower, second))
        found = Convexity(term, *derivatives, sign, everywhere, point, smooth)
        if sign > 0:
            return found
        if fallback is None or everywhere:
            fallback = found
    return fallback


def _points(term: SeparableTerm) -> Iterator[dict[str, Fraction]]:
    for values in term.parameter_points():
        places = PLACES
        if term.start is not None:
            tower = Elementary(values, [term.start])
            try:
                value = tower.read(term.start)
            except Unsettled:
                continue
            middle = None if value.is_constant() else Fraction(float(tower.ball(value).mid()))
            places = (value.value() if middle is None else middle.limit_denominator(1000),)
        for place in places:
            yield {term.variable: place, **values}


def _nonpositive(term: SeparableTerm, tower: Elementary, second: RationalFunction) -> bool:
    """Tell whether Q'' <= 0 is proved wherever Q is defined.

    Roots of functions of beta other than beta itself are written in factors that are positive
    near the point only, so nothing is claimed with them.
    """
    positive = set(term.positive) | ({term.variable} if term.one_sided else set())
    for generator in tower.generators:
        if generator.kind == "root" and set(generator.argument.variables()) - positive:
            return False
        if generator.kind == "log" and generator.name in second.variables():
            return False
        if generator.kind in ("exp", "root"):
            positive.add(generator.name)
    return Signs(positive).is_nonnegative(-second)


def _smooth_interval(
    tower: Elementary, term: SeparableTerm, images: list[Expr], point: dict[str, Fraction]
) -> Interval | None:
    """Return the interval around the point in which no argument of a root or logarithm is 0.

    None where the zeros of such an argument are not known.
    """
    below: list[Expr] = []
    above: list[Expr] = []
    symbols, place = term.symbols(), list(tower.known).index(term.variable)
    v = symbols[term.variable]
    at = {symbols[name]: sympy.Rational(x) for name, x in point.items()}
    for branch in tower.branches:
        bare = not _uses_generators(tower, branch)
        if bare and term.variable not in branch.variables():
            continue
        if _never_zero(tower, branch, term.variable):
            continue
        slope = branch.partial(place)
        if not bare or term.variable in slope.variables():
            return None
        zero = sympy.cancel(v - to_expr(branch, images) / to_expr(slope, images))
        (below if zero.subs(at) < at[v] else above).append(zero)
    return sympy.Max(-oo, *below), sympy.Min(oo, *above)


def _uses_generators(tower: Elementary, element: RationalFunction) -> bool:
    return bool(set(element.variables()) - set(tower.known))


def _never_zero(tower: Elementary, branch: RationalFunction, variable: str) -> bool:
    """Tell whether an irreducible argument, or its norm over square roots, is proved not 0."""
    for generator, element in zip(tower.generators, tower.adjoined, strict=True):
        if generator.kind == "exp" and branch == element:
            return True
        square_root = generator.kind == "root" and generator.index == 2
        if square_root and element.variables()[0] in branch.variables():
            norm = tower.norm(branch, element)
            free = not norm.is_zero() and variable not in norm.variables()
            return free and not _uses_generators(tower, norm)
    if _uses_generators(tower, branch):
        return False
    # An irreducible polynomial >= 0 that depends on beta has no linear factor there.
    place = list(tower.known).index(variable)
    linear = branch.partial(place).partial(place).is_zero()
    return not linear and any(map(Signs().is_nonnegative, (branch, -branch)))


def expressions(tower: Elementary, symbols: dict[str, Symbol]) -> list[Expr]:
    """Return the SymPy expression of every name of a tower's field."""
    images: list[Expr] = [symbols[name] for name in tower.known]
    blank = [sympy.Integer(0)] * len(tower.field.names)
    for generator in tower.generators:
        x = to_expr(generator.argument, [*images, *blank[len(images) :]])
        images.append(GENERATORS[generator.kind](x, sympy.Integer(generator.index)))
    return [*images, *blank[len(images) :]]
