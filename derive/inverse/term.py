"""A term of Q, where it is convex, and whether one has an F with as many weights as outputs.

J J^T = (Hess Q)^-1 of a square J says that Hess Q = Dw^T Dw, w the inverse of F: that Hess Q is the
Euclidean metric in other coordinates. The curvature of H = Hess Q is -[C_i, C_j]/4 with
C_i = H^-1 dH/dbeta_i, as d_i H_jk is symmetric in all three. So such an F exists, locally, exactly
where the C_i commute. With a warp Hess Q/g is to be flat. (Derived here; with more weights than
outputs: Li et al. 2022.)
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import sympy
from sympy import Expr, Symbol, oo

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import Matrix, determinant, dot, inverse
from derive.exact.signs import Signs
from derive.exact.towers.germ import Elementary, Unsettled
from derive.inverse.candidates import Interval, LineElement, tidy
from derive.language import to_sympy
from derive.language.tree import Call, Name, Power, Tree, names, walk
from derive.model.labels import backticked
from derive.model.notation import to_expr
from derive.verdict import Finding, Identity, Verdict

GENERATORS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "root": lambda x, n: x ** (1 / n),
    "log": lambda x, n: sympy.log(x),
    "exp": lambda x, n: sympy.exp(x / n),
    "tan": lambda x, n: sympy.tan(x / (2 * n)),
    "atan": lambda x, n: sympy.atan(x),
}
"""Of an argument x and an index n."""
PARAMETERS = ((1, 1), (2, 1), (1, 2), (3, 5), (5, 3))


@dataclass(frozen=True)
class Term:
    """A term Q of the potential in variables that no other term has.

    Attributes:
        coordinates: of beta: its variables.
        positive: parameters that are declared so.
        start: beta_0 of a single variable, where it is given.
        suffix: with which the names of its weights end, where Q has several terms.
    """

    tree: Tree
    coordinates: tuple[str, ...]
    positive: frozenset[str] = frozenset()
    start: Tree | None = None
    suffix: str = ""

    @property
    def variable(self) -> str:
        """What the term is called by: its variable, or all their names."""
        return ", ".join(self.coordinates)

    @property
    def couples(self) -> bool:
        """Whether it has several variables."""
        return len(self.coordinates) > 1

    @property
    def parameters(self) -> tuple[str, ...]:
        """The other names."""
        found = names((self.tree, self.start or self.tree))
        return tuple(name for name in found if name not in self.coordinates)

    @property
    def numbers(self) -> tuple[str, ...]:
        """What stands behind beta in the names of variables, and behind w and u in ours."""
        return tuple(name.removeprefix("beta").strip("_") for name in self.coordinates)

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
        variables = {name: Symbol(name, **own) for name in self.coordinates}
        return variables | {name: Symbol(name, positive=True) for name in self.parameters}

    @property
    def Q(self) -> Expr:
        """Q in these symbols."""
        return to_sympy(self.tree, self.symbols())

    def parameter_points(self) -> Iterator[dict[str, Fraction]]:
        """Yield rational values of the parameters, positive ones."""
        for first, step in PARAMETERS if self.parameters else PARAMETERS[:1]:
            places = enumerate(self.parameters)
            yield {name: Fraction(first + step * k, 1 + k % 2) for k, name in places}


def turned(
    places: Sequence[Fraction], size: int, ways: Iterable[tuple[int, int]]
) -> dict[tuple[Fraction, ...], None]:
    """Return places for several variables, each once: the k-th, and s further on for each next."""
    n = len(places)
    return dict.fromkeys(tuple(places[(k + i * s) % n] for i in range(size)) for k, s in ways)


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


def expressions(tower: Elementary, symbols: dict[str, Symbol]) -> list[Expr]:
    """Return the SymPy expression of every name of a tower's field."""
    images: list[Expr] = [symbols[name] for name in tower.known]
    blank = [sympy.Integer(0)] * len(tower.field.names)
    for generator in tower.generators:
        x = to_expr(generator.argument, [*images, *blank[len(images) :]])
        images.append(GENERATORS[generator.kind](x, sympy.Integer(generator.index)))
    return [*images, *blank[len(images) :]]


PLACES = tuple(Fraction(n, 16) for n in (16, 8, 32, 4, 48, -8, -16, -32, 80, -80, 1, 320))


@dataclass(frozen=True)
class Convexity:
    """grad Q and H = Hess Q in a tower at a point: values of the betas and the parameters.

    Attributes:
        sign: 1 where H is positive definite at the point; else, of one variable, that of Q''.
    """

    term: Term
    tower: Elementary
    slopes: tuple[RationalFunction, ...]
    H: Matrix
    sign: int
    point: dict[str, Fraction]

    @property
    def place(self) -> str:
        """The point as text."""
        text = ", ".join(f"{name} = {x}" for name, x in self.point.items())
        return backticked(text, {*self.point})

    @functools.cached_property
    def images(self) -> list[Expr]:
        """What the names of the tower are in the symbols of Q."""
        return expressions(self.tower, self.term.symbols())

    def expression(self, element: RationalFunction) -> Expr:
        """Return an element in the symbols of Q."""
        return to_expr(element, self.images)

    def value(self, element: RationalFunction) -> str:
        """Return an element at the point, exactly."""
        at = {x: sympy.Rational(self.point[x.name]) for x in self.term.symbols().values()}
        return str(sympy.radsimp(self.expression(element).subs(at)))

    # -- of one variable

    @functools.cached_property
    def slope(self) -> Expr:
        """Q'."""
        return self.expression(self.slopes[0])

    @functools.cached_property
    def second(self) -> Expr:
        """Q''."""
        return self.expression(self.H[0][0])

    @functools.cached_property
    def element(self) -> LineElement:
        """The line element Q'' dbeta^2."""
        v = self.term.symbols()[self.term.variable]
        return LineElement(tidy(self.second), v, self.term.positive)

    @functools.cached_property
    def interval(self) -> Interval | None:
        """The interval around the point in which no argument of a root or logarithm is 0.

        Q is surely smooth there; None where the zeros of such an argument are not known.
        """
        below: list[Expr] = []
        above: list[Expr] = []
        tower, variable, symbols = self.tower, self.term.variable, self.term.symbols()
        place, v = list(tower.known).index(variable), symbols[variable]
        at = {symbols[name]: sympy.Rational(x) for name, x in self.point.items()}
        for branch in tower.branches:
            bare = not _uses_generators(tower, branch)
            if bare and variable not in branch.variables():
                continue
            if _never_zero(tower, branch, variable):
                continue
            slope = branch.partial(place)
            if not bare or variable in slope.variables():
                return None
            zero = sympy.cancel(v - self.expression(branch) / self.expression(slope))
            (below if zero.subs(at) < at[v] else above).append(zero)
        return sympy.Max(-oo, *below), sympy.Min(oo, *above)

    # -- of any number

    @functools.cached_property
    def nowhere(self) -> str:
        """Why Q is strictly convex nowhere, where that is proved wherever Q is defined; or ""."""
        if self.sign > 0:
            return ""
        if self.term.couples:
            entries = [x for row in self.H for x in row]
            if determinant(self.H).is_zero():
                return "`Hess Q` is singular everywhere"
            constant = all(x.is_constant() for x in entries) and not self.term.parameters
            return "`Hess Q` is constant, and not positive definite" if constant else ""
        # The sign at hand speaks for the whole domain only where no branch was chosen.
        whole = ((-oo, oo), (0, oo)) if self.term.one_sided else ((-oo, oo),)
        ((second,),) = self.H
        if self.interval in whole and (second.is_zero() or self._is_nonpositive(second)):
            return "Q is not strictly convex near any point"
        return ""

    def _is_nonpositive(self, second: RationalFunction) -> bool:
        """Tell whether Q'' <= 0 is proved wherever Q is defined.

        Roots of functions of beta other than beta itself are written in factors that are positive
        near the point only, so nothing is claimed with them.
        """
        term = self.term
        positive = set(term.positive) | ({term.variable} if term.one_sided else set())
        for generator in self.tower.generators:
            if generator.kind == "root" and set(generator.argument.variables()) - positive:
                return False
            if generator.kind == "log" and generator.name in second.variables():
                return False
            if generator.kind in ("exp", "root"):
                positive.add(generator.name)
        return Signs(positive).is_nonnegative(-second)

    @functools.cached_property
    def rotations(self) -> tuple[Matrix, ...]:
        """C_i = H^-1 dH/dbeta_i."""
        d, back = range(len(self.H)), inverse(self.H)
        moved = (
            tuple(tuple(self.tower.derivative(x, k) for x in row) for row in self.H) for k in d
        )
        return tuple(_product(self.tower, back, slope) for slope in moved)

    @functools.cached_property
    def flatness(self) -> Finding:
        """Whether F with as many weights as outputs exists: whether the C_i commute."""
        pairs, undecided = [*combinations(enumerate(self.rotations, 1), 2)], False
        for (i, A), (j, B) in pairs:
            both = zip(_product(self.tower, A, B), _product(self.tower, B, A), strict=True)
            for (a, rows), b in product(enumerate(both), range(len(self.H))):
                entry = self.tower.tidy(rows[0][b] - rows[1][b])
                if self.tower.is_zero(entry):
                    continue
                if self.tower.ball(entry).contains(0):
                    undecided = True
                    continue
                claim = f"[C_{i}, C_{j}]_{a + 1}{b + 1} = 0"
                value = self.value(entry)
                failing = Identity(claim, value, "0", tuple(self.point.items()), value)
                letters = "C_i = H^-1 dH/dbeta_i, H = Hess Q"
                return Finding(
                    Verdict.REFUTED,
                    f"the entry `{a + 1},{b + 1}` of `[C_{i}, C_{j}]`, `{letters}`, is"
                    f" `{value}` at {self.place}, so `Hess Q` is not flat",
                    (failing,),
                )
        if undecided:
            return Finding(Verdict.UNDECIDED, "it is not decided whether the C_i commute")
        commute = (f"C_{i} C_{j} = C_{j} C_{i}" for (i, _), (j, _) in pairs)
        evidence = tuple(Identity(claim, "0", "0") for claim in commute)
        return Finding(Verdict.PROVED, "`Hess Q` is flat", evidence)


def examine(term: Term) -> Convexity | None:
    """Return grad Q and Hess Q near a point where Q is convex, else near one where it is not.

    None where Q could not be read at any point that was tried.
    """
    fallback, d = None, range(len(term.coordinates))
    for point in _points(term):
        tower = Elementary(point, [term.tree])
        try:
            Q = tower.read(term.tree)
            slopes = tuple(tower.derivative(Q, i) for i in d)
            H = tuple(tuple(tower.derivative(x, j) for j in d) for x in slopes)
            found = Convexity(term, tower, slopes, H, _sign(tower, H), point)
        except (Unsettled, ZeroDivisionError):
            continue
        if found.sign > 0:
            return found
        if fallback is None or found.nowhere:
            fallback = found
    return fallback


def _sign(tower: Elementary, H: Matrix) -> int:
    """Return 1 for a positive definite matrix, else the sign of the first minor that is not so."""
    for k in range(1, len(H) + 1):
        minor = tower.tidy(determinant(tuple(row[:k] for row in H[:k])))
        sign = 0 if tower.ball(minor) == 0 else tower.sign(minor)
        if sign <= 0:
            return sign
    return 1


def _points(term: Term) -> Iterator[dict[str, Fraction]]:
    """Yield points: of a start its beta_0, else the later betas turn through places faster."""
    n = len(PLACES)
    for values in term.parameter_points():
        places = [*turned(PLACES, len(term.coordinates), product(range(n), range(1, n + 1)))]
        if term.start is not None:
            tower = Elementary(values, [term.start])
            try:
                value = tower.read(term.start)
            except Unsettled:
                continue
            middle = None if value.is_constant() else Fraction(float(tower.ball(value).mid()))
            places = [(value.value() if middle is None else middle.limit_denominator(1000),)]
        for place in places:
            yield {**dict(zip(term.coordinates, place, strict=True)), **values}


def _product(tower: Elementary, A: Matrix, B: Matrix) -> Matrix:
    columns = [*zip(*B, strict=True)]
    return tuple(tuple(tower.tidy(dot(row, c)) for c in columns) for row in A)


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
