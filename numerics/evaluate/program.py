"""Q as Python functions: their text, and the functions that it defines on kinds of numbers.

No name of the user's is in it: symbols are called k0, k1, ... among the constants c, v0, v1, ...
among the arguments, r0, r1, ... where they are roots, and x0, x1, ... where expressions share them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, TypeAlias

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.mirror_map import hessian, inverse_of
from derive.potential.piece import Piece, Root, follows_flow
from derive.programming import Language, NoSource, outputs_at_start
from derive.records import Potential
from numerics.evaluate.balls import COMPLEX, REAL, Closed, Curve, Integral, Vector
from numerics.evaluate.doubles.arithmetic import (
    FUNCTIONS,
    PLAIN_FUNCTIONS,
    Constants,
    Double,
    Extended,
    Formula,
)
from numerics.evaluate.doubles.formulas import ClosedFormulas, ParametricFormulas, VectorFormulas

_LONG = 76
"""Characters from which on what one expression repeats is named."""
BOUNDED = Language(
    "error bounds",
    {x: x for x in FUNCTIONS} | {"Abs": "abs", "pi": "(4 * atan(c.of(1)))", "e": "exp(c.of(1))"},
    {"Min": "minimum({0}, {1})", "Max": "maximum({0}, {1})"},
    power="power({}, {})",
    fraction="Fraction({}, {})",
    argument="c.of({})",
    lacking="{what} has no form with {title}",
    solved=(0,),
)
"""What runs on balls and on doubles: numbers are exact, and functions take balls."""


class Statements:
    """Assignments in order."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """Begin with the names of the symbols at hand."""
        self.names, self.lines = dict(names), list[str]()
        # with a space: no symbol of the user's is called so
        self._shared = (Symbol(f"x {i}") for i in itertools.count())

    def define(self, symbol: str, name: str, value: Expr) -> None:
        """Assign an expression to a name for a symbol."""
        self.assign(symbol, name, self.listed([value]))

    def assign(self, symbol: str, name: str, text: str) -> None:
        """Assign a text to a name for a symbol."""
        self.lines.append(f"{name} = {text}")
        self.names[symbol] = name

    def listed(self, expressions: Sequence[Expr]) -> str:
        """Return the text of expressions, after assignments of what they or a long one share."""
        text = ", ".join(map(self._printed, expressions))
        if len(expressions) < 2 and len(text) < _LONG:
            return text
        shared, expressions = sympy.cse(expressions, symbols=self._shared, order="none")
        for symbol, value in shared:
            self.define(symbol.name, symbol.name.replace(" ", ""), value)
        return ", ".join(map(self._printed, expressions))

    def _printed(self, expression: Expr) -> str:
        return BOUNDED.shown(expression, self._known)

    def _known(self, name: str) -> str:
        if name not in self.names:
            raise NoSource(f"{name} is no function of beta and the start that is known")
        return self.names[name]


@dataclass(frozen=True, slots=True)
class FormulaText:
    """The text of one function of the constants c and some balls."""

    name: str
    arguments: tuple[Symbol, ...]
    results: tuple[Expr, ...]
    roots: tuple[Root, ...] = ()

    def text(self, constants: Mapping[str, str]) -> str:
        """Return Python source."""
        arguments = {s.name: f"v{i}" for i, s in enumerate(self.arguments)}
        writer = Statements({**constants, **arguments})
        for i, root in enumerate(_needed(self.roots, self.results)):
            above, parts = BOUNDED.solution(root)
            function = {None: "", 0: "largest_root("}.get(above, f"lower_root({above}, ")
            text = writer.listed(parts)
            writer.assign(root.symbol.name, f"r{i}", f"{function}{text}{')' * bool(function)}")
        writer.lines.append(f"return [{writer.listed(self.results)}]")
        head = f"def {self.name}(c, {', '.join(arguments.values())}):"
        return "\n    ".join([head, *writer.lines])


def _needed(roots: Sequence[Root], results: Sequence[Expr]) -> list[Root]:
    """Return the roots that the results use, in order."""
    wanted = {s for r in results for s in r.free_symbols}
    found: list[Root] = []
    for root in reversed(roots):
        if root.symbol in wanted:
            found.insert(0, root)
            wanted |= root.polynomial.free_symbols | (root.explicit or root.symbol).free_symbols
    return found


def closed_functions(piece: Piece) -> list[FormulaText]:
    """Return the formulas that there are of those of ClosedFormulas."""
    betas, roots = piece.betas, piece.roots
    duals = tuple(Symbol(f"y {i}") for i in range(1, len(betas) + 1))
    walls = tuple(wall.form for wall in piece.domain.walls) if piece.domain else ()
    texts = [
        FormulaText("gradient", betas, piece.gradient, roots),
        FormulaText("hessian", betas, hessian(piece), roots),
    ]
    if not piece.value.has(sympy.Integral):
        texts.append(FormulaText("value", betas, (piece.value,), roots))
    if solved := inverse_of(piece, duals):
        texts.append(FormulaText("inverse", duals, *solved))
    return [*texts, FormulaText("walls", betas, walls)] if walls else texts


def curve_functions(piece: Piece) -> list[FormulaText]:
    """Return h, its slope and H of a parametric piece, in the distances of z from its ends."""
    assert piece.curve is not None
    curve = piece.curve
    z, (low, high) = curve.parameter, curve.interval
    u, v = (Symbol(name) for name in ("from high", "from low"))
    conjugate = -piece.value.subs(piece.betas[0], 0)

    def written(expression: Expr) -> Expr:
        """Write sums a + b z that vanish at an end of z as b times the distance from there."""
        return expression.replace(
            lambda node: node.is_Add and node.has(z) and not node.diff(z).has(z),
            lambda node: _from_an_end(node, z, ((high, -u), (low, v))),
        )

    parts = {"curve": curve.beta, "slope": curve.beta.diff(z), "conjugate": conjugate}
    return [FormulaText(name, (z, u, v), (written(f),)) for name, f in parts.items()]


def _from_an_end(node: Expr, z: Symbol, ends: Sequence[tuple[Expr, Expr]]) -> Expr:
    for end, image in ends:
        for part in end.args if isinstance(end, sympy.Min | sympy.Max) else (end,):
            if part.is_finite is not False and _vanishes(node.subs(z, part)):
                return node.diff(z) * (image + _beyond(part, end))
    return node


def _beyond(part: Expr, end: Expr) -> Expr:
    """Return end - part, without cancellation where they are the same."""
    others = [part - other for other in end.args if other != part]
    if isinstance(end, sympy.Min):
        return -sympy.Max(0, *others)
    return -sympy.Min(0, *others) if isinstance(end, sympy.Max) else sympy.S.Zero


def _vanishes(expression: Expr) -> bool:
    """Tell whether an expression is proved to be the zero function; False where it is not."""
    powers = [p for p in expression.atoms(sympy.Pow) if not p.exp.is_Rational]
    exponents = {s.name for p in powers for s in p.exp.free_symbols}
    positive = {s.name for s in expression.free_symbols if s.is_positive}
    try:
        return ElementarySigns(positive, parameters=exponents).is_zero(expression)
    except Undecided:
        return False


Space: TypeAlias = Mapping[str, Any]
"""What the text of formulas uses and defines, by name."""
ALONG = "tangential"
"""The name of the formula of q'(s)/s."""


DOUBLES = ClosedFormulas, ParametricFormulas, VectorFormulas
"""What makes Q of formulas: in closed form, along a curve, and of a vector."""
_LONGER = int(Extended.unit < Double.unit)
"""How many forms are tried in long doubles, which some processors have not."""


@dataclass(frozen=True, eq=False)
class Program:
    """Q on one block: the texts of its functions, and what these are on each kind of numbers.

    Attributes:
        names: the start symbols, as names of constants, in order.
        text: of the function that adds the constants of the start.
        functions: the texts of the formulas, by name.
        known: what symbols of the start and constants are called in them.
        sign: of a vector of open dimension, that of <beta_0, u_0>; else 0.
    """

    names: tuple[str, ...]
    text: str
    functions: Mapping[str, str]
    known: Mapping[str, str]
    sign: int = 0

    def space(self, used: Space) -> Space:
        """Return the functions by name, made of those that they use."""
        space = dict(used)
        for text in (self.text, *self.functions.values()):
            exec(compile(text, "<formula of Q>", "exec"), space)
        return space

    @cached_property
    def constants(self) -> Callable[[Constants], None]:
        """What adds, on balls, the numbers that depend on the start alone."""
        function: Callable[[Constants], None] = self.space(REAL)["constants"]
        return function

    @cached_property
    def bounded(self) -> Any:
        """Q on doubles with bounds of their errors."""
        return self._bound(FUNCTIONS, DOUBLES)

    @cached_property
    def plain(self) -> Any:
        """Q on doubles alone."""
        return self._bound(PLAIN_FUNCTIONS, DOUBLES)

    @cached_property
    def exact(self) -> Any:
        """Q on balls: without a formula it is an integral of its Hessian."""

        def closed(**formulas: Formula) -> Closed:
            if "value" in formulas:
                return Closed(**formulas)
            return Integral(**formulas, complex_hessian=self.space(COMPLEX)["hessian"])

        return self._bound(REAL, (closed, Curve, Vector))

    @cached_property
    def attempts(self) -> Callable[[str], list[tuple[type[Double], Formula]]]:
        """The forms in doubles of what is asked for, in order; the first in long doubles, too."""

        def attempts(what: str) -> list[tuple[type[Double], Formula]]:
            forms = self.bounded.forms(what)
            kinds: list[tuple[type[Double], Formula]] = [(Double, form) for form in forms]
            kinds[1:1] = [(Extended, form) for form in forms[:_LONGER]]
            return kinds

        return cache(attempts)

    def _bound(self, used: Space, kinds: Sequence[Callable[..., Any]]) -> Any:
        space, (closed, curve, vector) = self.space(used), kinds
        formulas = {name: space[name] for name in self.functions if name != ALONG}
        q = (curve if "curve" in formulas else closed)(**formulas)
        return vector(q, space[ALONG], self.sign) if self.sign else q


def program(potential: Potential, block: int) -> Program:
    """Return the functions of one block; they are written once and kept with the potential.

    Raises:
        NoSource: the form of Q needs something that has no bounds here.
    """
    kept = potential.workspace
    if ("program", block) not in kept:
        kept["program", block] = _program(potential, block)
    found: Program = kept["program", block]
    return found


def _program(potential: Potential, block: int) -> Program:
    p, piece, turning = potential.parameterization, potential.pieces[block], potential.turning
    if follows_flow(piece):
        raise NoSource("its gradient is an integral, or along a weight, and no formula in beta")
    if unknown := sorted(
        str(f.func) for slope in piece.gradient for f in slope.atoms(AppliedUndef)
    ):
        raise NoSource(f"its gradient is {unknown[0]}, known along a curve in the weights only")
    start, norm = (*p.parameters, *p.start_symbols), norm_symbol(potential)
    constants = dict.fromkeys((*start, *(s.name for s, _ in piece.constants)))
    known = {name: f"c.k{i}" for i, name in enumerate(constants)}
    text = _constants(potential, block, known)
    arguments = tuple(known[name].removeprefix("c.") for name in start if name != norm)
    written = (curve_functions if piece.time_curve else closed_functions)(piece)
    if turning is not None:
        (s,), (slope,) = piece.betas, piece.gradient
        written.append(FormulaText(ALONG, (s,), (slope / s,), piece.roots))
    functions = {f.name: f.text(known) for f in written}
    sign = turning.direction.sign if turning else 0
    return Program(arguments, text, functions, known, sign)


def norm_symbol(potential: Potential) -> str | None:
    """Return the start symbol of |u_0|; None where the start says what it is, or u is no vector."""
    name = f"{potential.parameterization.weights[-1]}_0"
    free = repr(potential.parameterization.w0[-1]) == name
    return name if free and potential.turning is not None else None


def _constants(potential: Potential, block: int, names: Mapping[str, str]) -> str:
    p, piece = potential.parameterization, potential.pieces[block]
    writer = Statements({name: names[name] for name in (*p.parameters, *p.start_symbols)})
    if (norm := norm_symbol(potential)) is not None:
        writer.lines.append(f"{names[norm]} = length(c.vector)")
    for symbol, value in piece.constants:
        if all(s.name in writer.names for s in value.free_symbols):
            writer.define(symbol.name, names[symbol.name], value)
    if (curve := piece.time_curve) is not None:
        rate = piece.gradient[0] / curve.parameter
        given = zip(("rate", "low", "high"), (rate, *curve.interval), strict=True)
        for name, value in given:
            if value.is_finite is False:
                writer.lines.append(f"c.{name} = None")
            else:
                writer.define(f"{name} of z", f"c.{name}", value)
    outputs = outputs_at_start(p)
    begun = [outputs[i] for i in p.blocks[block]]
    writer.lines.append(f"c.origin = [{writer.listed(begun)}]")
    if potential.turning is not None:
        writer.define("slope of Q", "c.slope", potential.turning.slope)
    return "\n    ".join(["def constants(c):", *writer.lines])
