"""Q of one block as Python functions of balls: the text of formulas, one function each."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy
from sympy import Expr, Rational, Symbol
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from derive.stages.piece import Piece, Root
from numerics.elementary import FUNCTIONS
from numerics.mirror import invert

_LINE = 76
_NO_ROOTS: tuple[Root, ...] = ()
_SIMPLE_POWER = re.compile(r"(?<![\w.)\]])([\w.]+) \*\* (\w+)(?![\w.(])")  # as formatters write it
_ARGUMENTS = {"beta", "y", "b", "b0", "Vectorized", "origin", "rate", "low", "high"}
_TAKEN = {*FUNCTIONS, *keyword.kwlist, "c", "np", "abs", "largest_root", "Fraction"}


class NoSource(ValueError):
    """The form cannot be written with the functions at hand."""


def safe(name: str) -> str:
    """Return a name that Python and the formulas leave free."""
    if not name.isidentifier():
        raise NoSource(f"{name} is no name of Python")
    return name + "_" if name in _TAKEN else name


def parameter(name: str) -> str:
    """Return a name for a number of the start, which is an argument of the public functions."""
    return safe(name) + "_" if name in _ARGUMENTS else safe(name)


class _Printer(StrPrinter):  # type: ignore[misc]
    """Prints exact numbers as such, and powers by the functions for balls."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self._names = names

    def _print_Symbol(self, expr: Symbol) -> str:
        return self._names[expr.name]

    _print_Dummy = _print_Symbol

    def _print_Rational(self, expr: Rational) -> str:
        return f"Fraction({expr.p}, {expr.q})"

    def _print_Pow(self, expr: Expr, rational: bool = False) -> str:
        base, exponent = expr.as_base_exp()
        if exponent.is_negative and exponent.is_Rational:
            below = self.parenthesize(base**-exponent, PRECEDENCE["Pow"])
            return f"1/{below}"
        if exponent.is_Integer:
            return f"{self.parenthesize(base, PRECEDENCE['Pow'])}**{exponent}"
        if exponent.is_Rational and exponent.q == 2:
            root = f"sqrt({self._ball(base)})"
            return root if exponent.p == 1 else f"{root}**{exponent.p}"
        return f"power({self._ball(base)}, {self._print(exponent)})"

    def _print_Function(self, expr: Expr) -> str:
        name = type(expr).__name__
        if name not in FUNCTIONS:
            raise NoSource(f"{name} has no form with error bounds")
        return f"{name}({self._ball(expr.args[0])})"

    def _ball(self, expr: Expr) -> str:
        """Print what a function takes: a number as a ball."""
        text: str = self._print(expr)
        if expr.free_symbols or not expr.is_Rational:
            return text
        if not self._names:
            raise NoSource("there is no ball to tell the kind of balls from")
        return f"{next(iter(self._names.values()))}.of({text})"

    def _print_Abs(self, expr: Expr) -> str:
        return f"abs({self._print(expr.args[0])})"

    def emptyPrinter(self, expr: Expr) -> str:
        raise NoSource(f"{type(expr).__name__} has no form with error bounds")

    _print_Integral = _print_Exp1 = _print_Pi = _print_ImaginaryUnit = emptyPrinter


def print_expression(expression: Expr, names: Mapping[str, str]) -> str:
    """Return Python source; *names* are those of the symbols there."""
    tree = _Negations().visit(ast.parse(_Printer(names).doprint(expression), mode="eval"))
    return _SIMPLE_POWER.sub(r"\1**\2", ast.unparse(tree).replace("_minus(", "-("))


class _Negations(ast.NodeTransformer):
    """Marks ``-(x**n)``, so that it keeps its brackets, as formatters want them."""

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        power = isinstance(node.operand, ast.BinOp) and isinstance(node.operand.op, ast.Pow)
        return ast.Call(ast.Name("_minus"), [node.operand], []) if power else node


@dataclass(frozen=True, slots=True)
class Function:
    """The text of one function of the constants c and some balls."""

    name: str
    arguments: tuple[Symbol, ...]
    roots: tuple[Root, ...]
    results: tuple[Expr, ...]
    equation: str

    def text(self, constants: Mapping[str, str]) -> str:
        """Return Python source."""
        names = dict(constants)
        names.update((s.name, safe(s.name)) for s in self.arguments)
        arguments = ", ".join(names[s.name] for s in self.arguments)
        lines = [f"def {self.name}(c, {arguments}):", f'    """Return {self.equation}."""']
        writer = Statements(names)
        for root in _needed(self.roots, self.results):
            writer.define(root.symbol.name, safe(root.symbol.name), _root_parts(root))
        shown = writer.shortened(self.results)
        lines += [f"    {line}" for line in writer.lines]
        return "\n".join([*lines, f"    return [{shown}]"])


def _needed(roots: Sequence[Root], results: Sequence[Expr]) -> list[Root]:
    """Return the roots that the results use, in order."""
    wanted = {s for r in results for s in r.free_symbols}
    found: list[Root] = []
    for root in reversed(roots):
        if root.symbol in wanted:
            found.insert(0, root)
            wanted |= root.polynomial.free_symbols | (root.explicit or root.symbol).free_symbols
    return found


def _root_parts(root: Root) -> tuple[str, Sequence[Expr]]:
    """Return a function and its arguments."""
    coefficients = sympy.Poly(root.polynomial, root.symbol).all_coeffs()[::-1]
    if len(coefficients) == 2:
        return "", [-coefficients[0] / coefficients[1]]
    if root.from_above == 0:
        return "largest_root", coefficients
    if root.explicit is not None:
        return "", [root.explicit]
    raise NoSource(f"{root.symbol.name} is not the largest root of its polynomial")


class Statements:
    """Assignments in order, none too long for a line."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """Begin with the names of the symbols at hand."""
        self.names, self.lines = dict(names), list[str]()
        self._symbols = (Symbol(f"x{i}") for i in range(10**6))

    def define(self, name: str, target: str, call: tuple[str, Sequence[Expr]]) -> None:
        """Assign a function of expressions, or one expression."""
        function, arguments = call
        shown = self.shortened(arguments)
        self.lines.append(f"{target} = {function}({shown})" if function else f"{target} = {shown}")
        self.names[name] = target

    def shortened(self, expressions: Sequence[Expr]) -> str:
        """Return the expressions, after assignments of what they share and of long parts."""
        shared: list[tuple[Symbol, Expr]] = []
        if len(expressions) > 1:
            shared, expressions = sympy.cse(expressions, symbols=self._symbols, order="none")
        for symbol, value in shared:
            self._assign(symbol, value)
        room = _LINE
        while len(shown := ", ".join(map(self._printed, expressions))) > _LINE and room > 10:
            room = room * 2 // 3
            expressions = [self._shorter(e, room) for e in expressions]
        return shown

    def _assign(self, symbol: Symbol, value: Expr) -> None:
        shown = self._printed(self._shorter(value, _LINE))
        self.names[symbol.name] = symbol.name
        self.lines.append(f"{symbol.name} = {shown}")

    def _shorter(self, expression: Expr, room: int) -> Expr:
        """Return the expression with names for its parts, at most *room* characters long."""
        while len(self._printed(expression)) > room:
            parts = [a for a in expression.args if not a.is_Atom]
            if not parts:
                break
            longest = max(parts, key=lambda a: len(self._printed(a)))
            if len(parts) == 1 and len(self._printed(longest)) > room:
                expression = expression.func(
                    *(self._shorter(a, room) if a is longest else a for a in expression.args)
                )
                if expression.args and len(self._printed(expression)) <= room:
                    break
                longest = max(expression.args, key=lambda a: len(self._printed(a)))
            symbol = next(self._symbols)
            self._assign(symbol, longest)
            expression = expression.xreplace({longest: symbol})
        return expression

    def _printed(self, expression: Expr) -> str:
        return print_expression(expression, self.names)


def closed_functions(piece: Piece) -> list[Function]:
    """Return value, gradient, hessian and, where it has a closed form, inverse of a piece."""
    betas, roots = piece.betas, piece.roots
    names = ", ".join(b.name for b in betas)
    found = [
        Function("value", betas, roots, (piece.value,), f"Q({names}), up to a constant"),
        Function("gradient", betas, roots, piece.gradient, "dQ/dbeta"),
        Function("hessian", betas, roots, hessian(piece), "d^2Q/dbeta^2, row by row"),
    ]
    inverse = _inverse(piece)
    return found if inverse is None else [*found, inverse]


def curve_functions(piece: Piece) -> list[Function]:
    """Return h, its slope and H of a parametric piece, in the distances of z from its ends."""
    curve = piece.curve
    assert curve is not None
    z, (low, high) = curve.parameter, curve.interval
    u, v = (Symbol(name) for name in ("from_high", "from_low"))
    conjugate = -piece.value.subs(piece.betas[0], 0)

    def written(expression: Expr) -> Expr:
        return _by_distances(expression, z, ((high, -u), (low, v)))

    arguments = (z, u, v)
    slope = curve.beta.diff(z)
    return [
        Function("curve", arguments, (), (written(curve.beta),), "beta = h(z)"),
        Function("slope", arguments, (), (written(slope),), "dh/dz"),
        Function("conjugate", arguments, (), (written(conjugate),), "H(z)"),
    ]


def _by_distances(expression: Expr, z: Symbol, ends: Sequence[tuple[Expr, Expr]]) -> Expr:
    """Write sums a + b z that vanish at an end of z as b times the distance from there."""

    def change(node: Expr) -> Expr:
        if not node.is_Add or not node.has(z):
            return node
        b = node.diff(z)
        if b.has(z):
            return node
        for end, image in ends:
            if end.is_finite is not False and _vanishes(node.subs(z, end)):
                return b * image
        return node

    return expression.replace(lambda node: node.is_Add, change)


def _vanishes(expression: Expr) -> bool:
    return bool(sympy.simplify(sympy.powdenest(expression, force=True)) == 0)


def hessian(piece: Piece) -> tuple[Expr, ...]:
    """Return the entries of the Hessian, roots being differentiated by their equations."""
    slopes: dict[tuple[Symbol, Symbol], Expr] = {}

    def total(expression: Expr, b: Symbol) -> Expr:
        parts = [expression.diff(s) * slope for (s, at), slope in slopes.items() if at == b]
        return sympy.Add(expression.diff(b), *parts)

    for root in piece.roots:
        for b in piece.betas:
            slopes[root.symbol, b] = -total(root.polynomial, b) / root.polynomial.diff(root.symbol)
    return tuple(total(g, b) for g in piece.gradient for b in piece.betas)


def _dual_names(d: int) -> list[str]:
    return ["y"] if d == 1 else [f"y{i}" for i in range(1, d + 1)]


def _inverse(piece: Piece) -> Function | None:
    duals = tuple(map(Symbol, _dual_names(len(piece.betas))))
    if not piece.roots and len(piece.betas) == 1:
        image = invert(piece.gradient[0], piece.betas[0], duals[0])
        solved = None if image is None else ((image,), _NO_ROOTS)
    else:
        solved = _solve_common_factor(piece, duals)
    if solved is None:
        return None
    return Function("inverse", duals, solved[1], solved[0], "the beta with grad Q(beta) = y")


def _solve_common_factor(
    piece: Piece, duals: Sequence[Symbol]
) -> tuple[tuple[Expr, ...], tuple[Root, ...]] | None:
    """Solve ``c_i + beta_i phi(A) = y_i``, where A is the only root.

    beta_i = (y_i - c_i)/phi in the polynomial of A leaves one for A alone.
    """
    if len(piece.roots) != 1:
        return None
    (root,), zeros = piece.roots, dict.fromkeys(piece.betas, 0)
    shifts = [g.subs(zeros) for g in piece.gradient]
    factors = {
        sympy.cancel((g - c) / b)
        for g, c, b in zip(piece.gradient, shifts, piece.betas, strict=True)
    }
    (phi, *rest) = factors
    if rest or phi.has(*piece.betas):
        return None
    images = tuple((y - c) / phi for y, c in zip(duals, shifts, strict=True))
    at = root.polynomial.subs(dict(zip(piece.betas, images, strict=True)))
    _, parts = sympy.factor_list(sympy.numer(sympy.together(sympy.expand(at))))
    moving = [part for part, _ in parts if part.has(*duals)]
    if len(moving) != 1 or not moving[0].is_polynomial(root.symbol):
        return None
    return images, (Root(root.symbol, moving[0], None, root.branch, 0),)
