"""Q as Python functions: their text, and the functions that it defines on kinds of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, TypeAlias

from sympy import Expr
from sympy.core.function import AppliedUndef

from derive.language import to_sympy
from derive.model.parameterization import Parameterization
from derive.potential.piece import Parametric, follows_flow
from derive.records import Potential
from numerics.evaluate.balls.forms import Closed, Curve, Integral, Vector
from numerics.evaluate.balls.functions import COMPLEX, REAL
from numerics.evaluate.doubles.arithmetic import Constants, Double, Extended, Formula
from numerics.evaluate.doubles.closed import ClosedFormulas
from numerics.evaluate.doubles.elementary import FUNCTIONS, PLAIN_FUNCTIONS
from numerics.evaluate.doubles.parametric import ParametricFormulas
from numerics.evaluate.doubles.vectors import VectorFormulas
from numerics.evaluate.formulas import (
    FormulaText,
    NoSource,
    Statements,
    closed_functions,
    curve_functions,
)

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
    written = curve_functions(piece) if isinstance(piece, Parametric) else closed_functions(piece)
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


def _start_outputs(p: Parameterization, outputs: Sequence[int]) -> list[Expr]:
    """Return F(w_0) in start symbols."""
    images = {name: to_sympy(tree) for name, tree in p.start}
    found = []
    for i in outputs:
        tree = to_sympy(p.trees[i])
        values = {s: images[s.name] for s in tree.free_symbols if s.name in images}
        found.append(tree.subs(values, simultaneous=True))
    return found


def _constants(potential: Potential, block: int, names: Mapping[str, str]) -> str:
    p, piece = potential.parameterization, potential.pieces[block]
    writer = Statements({name: names[name] for name in (*p.parameters, *p.start_symbols)})
    if (norm := norm_symbol(potential)) is not None:
        writer.lines.append(f"{names[norm]} = length(c.vector)")
    for symbol, value in piece.constants:
        if all(s.name in writer.names for s in value.free_symbols):
            writer.define(symbol.name, names[symbol.name], value)
    if isinstance(piece, Parametric):
        rate = piece.gradient[0] / piece.curve.parameter
        given = zip(("rate", "low", "high"), (rate, *piece.curve.interval), strict=True)
        for name, value in given:
            if value.is_finite is False:
                writer.lines.append(f"c.{name} = None")
            else:
                writer.define(f"{name} of z", f"c.{name}", value)
    origin = writer.listed(_start_outputs(p, p.blocks[block]))
    writer.lines.append(f"c.origin = [{origin}]")
    if potential.turning is not None:
        writer.define("slope of Q", "c.slope", potential.turning.slope)
    return "\n    ".join(["def constants(c):", *writer.lines])
