"""Q on one block of outputs: explicit, algebraic, along a curve, or by integrals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Literal, Self, TypeAlias, TypeVar, cast, get_args

import sympy
from sympy import Expr, Symbol

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import Matrix
from derive.model.condition import AT_START, Condition, Sign
from derive.model.notation import BranchOpen, Constant, Notation, without_modulus
from derive.model.signs import Premises, start_conditions
from derive.potential.domain import Domain, Wall
from derive.potential.rewriting import without_hyperbolic
from derive.printable import Held
from derive.verdict import Identity
from derive.weights.metric import Metric

Kind: TypeAlias = Literal["explicit", "parametric", "algebraic", "quadrature"]
"""From the most to the least explicit."""
Part = TypeVar("Part")
Whole = TypeVar("Whole", bound="Piece")
Rewriting: TypeAlias = Callable[[Expr], Expr]


@dataclass(frozen=True, repr=False)
class Root(Held):
    """A function of beta that solves a polynomial equation, and which of its roots it is.

    Attributes:
        polynomial: vanishes; a polynomial in the symbol over beta and the constants.
        explicit: the root in radicals, or None for degree above 2.
        branch: which root, in words.
        from_above: 0 when it is the largest real root, 1 for the next, ...; None where only the
            formula says which.
        slopes: P^(k)(T)/k!, k = 1, 2, ..., of its polynomial at the function T of the weights that
            the root is; where all are positive no real root is larger.
        kernel: of a coordinate <v, beta> in which Q is a sum, |grad <v, F>|^2 as a function of it.
    """

    symbol: Symbol
    polynomial: Expr
    explicit: Expr | None
    branch: str
    from_above: int | None
    slopes: tuple[RationalFunction, ...] = ()
    kernel: Expr | None = None

    def mapped(self, f: Rewriting) -> Root:
        """Return the root with *f* applied to its expressions."""
        return _mapped(self, f)


@dataclass(frozen=True, repr=False)
class Curve(Held):
    """beta = f(t) along the flow w' = grad F from the start.

    Attributes:
        parameter: t, a multiple of the dual time mu = dQ/dbeta, or a weight.
        beta: f.
        interval: of a multiple of mu, the open interval on which f is monotone, with infinite ends
            allowed; () of a weight, which goes as far as the flow does.
        weights: the weights as functions of a multiple of mu, beta = F(w(mu)).
        inverse: t of beta, where that has a formula.
        weight: the name of the weight that t is.
        laws: what the flow keeps, with the symbols of the values, where t is a weight.
        roots: of weights that have no formula in the weight t the names, the symbols A, and what is
            0 at A alone.
    """

    parameter: Symbol
    beta: Expr
    interval: tuple[Expr, ...] = ()
    weights: tuple[tuple[str, Expr], ...] = ()
    inverse: Expr | None = None
    weight: str = ""
    laws: tuple[tuple[Symbol, LogFunction], ...] = ()
    roots: tuple[tuple[str, Symbol, Expr], ...] = ()

    @property
    def in_exponentials(self) -> Curve:
        """The same with exponentials for cosh and sinh, as it is expanded far out."""
        return replace(self, beta=without_hyperbolic(self.beta))


@dataclass(frozen=True, repr=False)
class Lift(Held):
    """How the point of the leaf above beta moves with beta, as functions of the weights.

    Attributes:
        weights: dw_k/dbeta_i, d rows of p functions.
        log_warp: dlog g/dbeta_i; zeros for a Hessian map.
        warp: g, in the unit of the gradient that is printed; None where that is 1 at the start.
        numbers: what parameters of F are in these functions, where they have numbers.
    """

    weights: tuple[tuple[RationalFunction, ...], ...]
    log_warp: tuple[RationalFunction, ...]
    rho: Matrix
    warp: RationalFunction | None = None
    numbers: tuple[tuple[str, Fraction], ...] = ()


Left: TypeAlias = Literal[
    "time",
    "warp",
    "dual",
    "law",
    "leaf",
    "root",
    "conjugate",
    "kernel",
    "sign",
    "antiderivative",
    "roots",
    "gradient not elementary",
    "not elementary",
]

WHY_LEFT: dict[Left, str] = {
    "time": "the time was over before one was sought that is closed",
    "warp": "$g$ is no product of powers times an exponential that was found",
    "dual": "the gradient of Q was not found among quotients with the poles of $g$, and logarithms "
    "of polynomials over the rationals; it may be an arctangent or an elliptic integral",
    "law": "a sum of logarithms and functions of weights is conserved, so that the weights above "
    "$beta$ solve an equation that is not algebraic",
    "leaf": "the laws that were found do not determine the weights above $beta$",
    "root": "the weights above $beta$ were not written by roots whose branch is known "
    "for every such start",
    "conjugate": "the gradient of Q is closed, but no antiderivative of it was found",
    "kernel": "$K$ was not written in $beta$",
    "sign": "whether its antiderivative has logarithms or an arctangent depends on a sign that the "
    "start leaves open",
    "antiderivative": "no antiderivative was found",
    "roots": "no antiderivative was found without the roots of a polynomial",
    "gradient not elementary": "$dQ/dbeta$ is no elementary function of $beta$",
    "not elementary": "the gradient of $Q$ is closed, and $Q$ is no elementary function of $beta$",
}
"""Why an integral is left."""


@dataclass(frozen=True, repr=False)
class Case(Held):
    """An integral for some starts.

    Attributes:
        where: for which, and what a name in it is, with formulas in backticks.
        integral: without ends.
        value: its antiderivative.
    """

    where: str
    integral: Expr
    value: Expr


@dataclass(frozen=True, repr=False)
class Integrand(Held):
    """What an integral in Q is of.

    Attributes:
        left: why it is left.
        proof: what shows that, as Liouville's theorem that it is no elementary function.
        cases: what it is, by a sign that the start leaves open.
        over: what t is in the proof.
    """

    left: Left = "antiderivative"
    proof: str = ""
    cases: tuple[Case, ...] = ()
    over: str = ""

    @property
    def unknown(self) -> bool:
        """Whether a closed form was not found, and may exist."""
        return not self.cases and self.left in ("antiderivative", "kernel", "root", "law")

    def elsewhere(self, constants: Iterable[Symbol]) -> Integrand | None:
        """Return what is proved of dQ/dbeta, for a form over another t, or None."""
        if not self.over:
            return None
        named = ", ".join(f"`{c}`" for c in constants)
        where = f"over `t = {self.over}`{f' with constants {named}' * bool(named)}"
        return replace(self, proof=f"{where}, {self.proof}")

    @property
    def why(self) -> str:
        """Why it is left, with what proves that it is no elementary function."""
        return "".join((WHY_LEFT[self.left], f", since {self.proof}" if self.proof else ""))


@dataclass(frozen=True, repr=False)
class Piece(Held):
    """Q restricted to one block, with grad Q = 0 at the start.

    Attributes:
        betas: the block's predictor coordinates.
        value: Q, up to an additive constant.
        gradient: dQ/dbeta.
        constants: named constants and their values in start symbols, in order of definition.
        roots: named algebraic functions of beta, in order of definition.
        assumptions: what was assumed of the start, and of the flow.
        domain: where Q is, which the stage proves last of all.
        kernel: K(beta) of a single output, where it was proved.
        curve: of a single output in the dual time mu, Q = mu beta - H, or over a weight: beta as a
            function of that.
        note: what names in the form mean, in words with formulas in backticks.
        abbreviations: named functions of beta that an integral uses.
        integrand: why integrals are left in Q, where they are.
        lift: of coupled outputs that are not written in beta, how the point above it moves.
    """

    betas: tuple[Symbol, ...]
    value: Expr
    gradient: tuple[Expr, ...]
    constants: tuple[Constant, ...] = ()
    roots: tuple[Root, ...] = ()
    assumptions: tuple[Condition, ...] = ()
    evidence: tuple[Identity, ...] = ()
    domain: Domain | None = None
    kernel: Expr | None = None
    curve: Curve | None = None
    note: str = ""
    abbreviations: tuple[Constant, ...] = ()
    integrand: Integrand | None = None
    lift: Lift | None = None

    @property
    def kind(self) -> Kind:
        """How explicit it is: by integrals that are left, weights, and roots without a formula."""
        if any(e.has(sympy.Integral) for e in (self.value, *self.gradient)):
            return "quadrature"
        if self.curve is not None or self.lift is not None:
            return "parametric"
        return "algebraic" if any(r.explicit is None for r in self.roots) else "explicit"

    @property
    def means(self) -> str:
        """What it means, and why an integral is left, with formulas in backticks."""
        if self.kind != "quadrature" or self.integrand is None:
            return self.note
        left = f"an integral is left: {self.integrand.why}"
        return f"{self.note}; {left}" if self.note else left

    @property
    def time_curve(self) -> Curve | None:
        """Beta as a function of the dual time mu = dQ/dbeta, where the form is in that."""
        return None if self.curve is None or self.curve.weight else self.curve

    @property
    def in_weights(self) -> str:
        """In which weights Q is a formula, in words; empty where that is in beta or mu."""
        if self.lift is not None and self.kind == "parametric":
            return "the weights"
        return "" if self.curve is None else self.curve.weight

    def mapped(self, f: Rewriting) -> Self:
        """Return the piece with *f* applied to its expressions; it must leave the names alone."""
        return _mapped(self, f)


KINDS: tuple[Kind, ...] = get_args(Kind)


def _mapped(part: Part, f: Rewriting) -> Part:
    """Return a part of a piece with *f* applied to every expression in it."""
    mapped: object = part
    if isinstance(part, Expr):
        mapped = f(part)
    elif isinstance(part, tuple):
        mapped = tuple(_mapped(x, f) for x in part)
    elif isinstance(part, Piece | Root | Curve | Domain | Wall):
        parts = {x.name: _mapped(getattr(part, x.name), f) for x in fields(part)}
        mapped = replace(part, **parts)
    return cast(Part, mapped)


def trimmed(piece: Whole) -> Whole:
    """Return the form without the roots, abbreviations and constants that nothing refers to."""
    known = {x.name for x in piece.betas}
    parts = [piece.value, *piece.gradient]
    parts += [] if piece.curve is None else [piece.curve.beta]
    parts += [piece.kernel] if piece.integrand is not None and piece.kernel is not None else []
    known |= {x.name for part in parts for x in part.free_symbols}
    known = known.union(*(condition.names for condition in piece.assumptions))

    def kept(named: tuple[Constant, ...]) -> tuple[Constant, ...]:
        found = list[Constant]()
        for symbol, value in reversed(named):
            if symbol.name in known:
                found.insert(0, (symbol, value))
                known.update(x.name for x in value.free_symbols)
        return tuple(found)

    piece = replace(piece, abbreviations=kept(piece.abbreviations))
    roots = {s for s, _ in kept(tuple((r.symbol, r.polynomial) for r in piece.roots))}
    piece = replace(piece, roots=tuple(r for r in piece.roots if r.symbol in roots))
    return replace(piece, constants=kept(piece.constants))


def of_the_flow(piece: Piece) -> tuple[Condition, ...]:
    """Return what is assumed of the flow on its way, which neither start nor beta tells."""
    return tuple(c for c in piece.assumptions if c.sign not in AT_START)


UNSEEN = (
    "Whether what is assumed of the flow holds on the way to a limit, beta does not tell: "
    "interpolate of regderive follows the weights."
)
"""What a module says that has Q under such an assumption."""


def poles(piece: Piece, start: Collection[str]) -> tuple[Condition, ...]:
    """Return that the functions of the start alone are not 0 that the form divides by.

    Nor those of which it has logarithms, or Ei: mu is infinite there. Constants are such, too.
    """
    shown = _shown(piece)
    powers = (power for part in shown for power in sorted(part.atoms(sympy.Pow), key=str))
    bases = [x.base for x in powers if x.exp.is_negative]
    whole = map(without_modulus, shown)
    logs = (log for part in whole for log in sorted(part.atoms(sympy.log, sympy.Ei), key=str))
    factors = (x.as_base_exp()[0] for log in logs for x in sympy.Mul.make_args(log.args[0]))
    upright = (-f if f.could_extract_minus_sign() else f for f in factors if f is not sympy.E)
    found = dict.fromkeys(Condition(f, Sign.NONZERO) for f in (*bases, *upright))
    fixed = {*start, *(symbol.name for symbol, _ in piece.constants)}
    return tuple(c for c in found if c.names and c.names <= fixed)


def _shown(piece: Piece) -> list[Expr]:
    """Return the expressions in a form: K is in those that have an integral over it."""
    named = (value for _, value in (*piece.constants, *piece.abbreviations))
    found = [piece.value, *piece.gradient, *named]
    found += [r.explicit for r in piece.roots if r.explicit is not None]
    return found if piece.kernel is None or piece.kind != "quadrature" else [*found, piece.kernel]


def asked_of_start(piece: Piece, metric: Metric, notation: Notation) -> int:
    """Return how many conditions on the start a form of one output has."""
    p = metric.parameterization
    own = (*piece.assumptions, *poles(piece, notation.start_symbols))
    own = (*start_conditions(p, notation), *own)
    with suppress(BranchOpen, ZeroDivisionError):
        moves = [p.at_start(metric.K[0][0])]
        return len(Premises(own, notation, piece.constants, moves).irredundant)
    return len(own)


def start_signs(piece: Piece) -> Iterator[tuple[Condition, Condition]]:
    """Yield what is asked of the start, as it is said, and in start symbols alone."""
    told = (c for c in piece.assumptions if c.sign in AT_START)
    yield from ((said, said.within(piece.constants)) for said in told)


def moving(value: Expr, *symbols: Symbol) -> Expr:
    """Return the terms that are not constant along the flow: those with one of the symbols."""
    return sympy.Add(*(t for t in sympy.Add.make_args(value) if t.has(*symbols)))


def follows_flow(piece: Piece) -> bool:
    """Tell whether grad Q is no formula in beta or in mu: an integral is left, or a weight."""
    integral = any(g.has(sympy.Integral) for g in piece.gradient)
    return integral or bool(piece.in_weights)


def written_out(expression: Expr, roots: Sequence[Root], constants: Sequence[Constant]) -> Expr:
    """Return an expression with its named roots, where they are explicit, and constants put in."""
    for root in reversed(roots):
        if root.explicit is not None:
            expression = expression.subs(root.symbol, root.explicit)
    for symbol, value in reversed(constants):
        expression = expression.subs(symbol, value)
    return expression


def with_formulas(expression: Expr, roots: Sequence[Root]) -> Expr:
    """Return an expression with every root that has a formula replaced by it."""
    for root in reversed(roots):
        if root.explicit is not None:
            expression = expression.xreplace({root.symbol: root.explicit})
    return expression


def without_roots(expression: Expr, roots: Sequence[Root]) -> Expr:
    """Return an expression with formulas for roots, powers joined."""
    return sympy.powdenest(with_formulas(expression, roots))
