"""One coordinate of Q: its variable, its parameters, its exact second derivative."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sympy import Expr, Symbol, oo

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.positivity import is_nonnegative
from derive.exact.towers.elementary_germ import Elementary
from derive.exact.towers.germ import GermField, Unsettled
from derive.inverse.line_element import LineElement, tidy
from derive.inverse.smooth import expressions, smooth_interval
from derive.language.tree import Call, Name, Power, Tree, names, walk
from derive.model.notation import to_expr

PARAMETERS = ((1, 1), (2, 1), (1, 2), (3, 5), (5, 3))
PLACES = tuple(
    Fraction(x) for x in ("1", "1/2", "2", "1/4", "3", "-1/2", "-1", "-2", "5", "-5", "1/16", "20")
)


@dataclass(frozen=True)
class SeparableTerm:
    """A separable term Q(beta) of the potential.

    Attributes:
        tree: Q as given.
        variable: the name of its coordinate.
        positive: parameters declared positive.
        start: beta_0 where given.
        suffix: what the names of its weights end with, where Q has several terms.
    """

    tree: Tree
    variable: str
    positive: frozenset[str] = frozenset()
    start: Tree | None = None
    suffix: str = ""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The other names."""
        trees = (self.tree,) if self.start is None else (self.tree, self.start)
        return tuple(name for name in names(trees) if name != self.variable)

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
        return {
            self.variable: Symbol(self.variable, **own),
            **{name: Symbol(name, positive=True) for name in self.parameters},
        }

    def parameter_points(self) -> Iterator[dict[str, Fraction]]:
        """Yield rational values of the parameters, positive ones."""
        for first, step in PARAMETERS if self.parameters else PARAMETERS[:1]:
            yield {
                name: Fraction(first + step * k, 1 + k % 2)
                for k, name in enumerate(self.parameters)
            }


@dataclass(frozen=True)
class Convexity:
    """Q' and Q'' near a point.

    Attributes:
        term: Q.
        slope, second: Q' and Q''.
        sign: the sign of Q'' at the point.
        everywhere: whether Q'' <= 0 is proved wherever Q is defined.
        point: the values of beta and the parameters.
        interval: where Q is surely smooth, or None where that is not known.
    """

    term: SeparableTerm
    slope: Expr
    second: Expr
    sign: int
    everywhere: bool
    point: dict[str, Fraction]
    interval: tuple[Expr, Expr] | None

    @functools.cached_property
    def element(self) -> LineElement:
        """The line element Q'' dbeta^2."""
        v = self.term.symbols()[self.term.variable]
        return LineElement(tidy(self.second), v, self.term.positive)


def recognise(tree: Tree, variable: str | None) -> str:
    """Return the name of the coordinate in one term of Q.

    Raises:
        InputError: there is none, or there are several.
    """
    found = names((tree,))
    if variable is not None and variable in found:
        return variable
    betas = [name for name in found if re.fullmatch(r"beta_?\d*", name)]
    if len(betas) > 1:
        raise InputError(
            f"Q couples {' and '.join(betas)} in one argument: only separable potentials are "
            "parameterized; give the term of each coordinate as an argument of its own"
        )
    if len(betas) == 1:
        return betas[0]
    if len(found) == 1:
        return found[0]
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
        smooth = smooth_interval(tower, term.variable, term.symbols(), point)
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
            if value.is_constant():
                places = (value.value(),)
            else:
                middle = Fraction(float(tower.ball(value).mid())).limit_denominator(1000)
                places = (middle,)
        for place in places:
            yield {term.variable: place, **values}


def _nonpositive(term: SeparableTerm, tower: GermField, second: RationalFunction) -> bool:
    """Tell whether Q'' <= 0 is proved wherever Q is defined.

    Roots of functions of beta other than beta itself are written in factors that are positive
    near the point only, so nothing is claimed with them.
    """
    positive = set(term.positive)
    if term.one_sided:
        positive.add(term.variable)
    first = len(tower.known)
    for k, generator in enumerate(tower.generators):
        name = tower.field.names[first + k]
        used = generator.argument.variables()
        if generator.kind == "exp":
            positive.add(name)
        elif generator.kind == "root":
            if set(used) - positive:
                return False
            positive.add(name)
        elif generator.kind == "log" and name in second.variables():
            return False
    return is_nonnegative(-second, frozenset(positive))
