"""What a file on one output is about: F, its start, what is asked of it, and the curve of Q.

Q of one output is given along a curve beta = f(z) on an open interval of z, where f' > 0: it has
the slope mu(z), with mu' K = f'. Q explicit in beta is the curve f(z) = z; a parametric Q names
its curve; the root of a polynomial in which beta is linear is the parameter of one. The weights
of the flow are at z = T(w) on it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.language import to_sympy
from derive.model.condition import AT_START, Condition
from derive.potential.piece import Curve as Printed
from derive.potential.piece import Explicit, Piece, Root, curve_of
from derive.rocq.terms import NoFile, plain

X = Symbol("x", real=True)
"""beta."""
Z = Symbol("z", real=True)
"""The parameter of the curve."""


@dataclass(frozen=True)
class Curve:
    """The curve of Q, and where on it the weights are.

    Attributes:
        f: beta, as all that follows a function of z.
        walls: what is positive on the interval of z.
        height: Q as it is printed, of beta, which is x, and z.
        df, mu, kernel: f', dQ/dbeta, and K.
        T: functions of the weights that are z along the flow, each with the weight that is the
            function *weight* of z there, if it has one.
        everywhere: whether beta takes all real values.
    """

    f: Expr
    df: Expr
    walls: tuple[Expr, ...]
    height: Expr
    mu: Expr
    kernel: Expr
    T: tuple[tuple[Expr, int | None, Expr | None], ...]
    everywhere: bool = False

    @property
    def explicit(self) -> bool:
        """Whether z is beta itself."""
        return bool(self.f == Z)


@dataclass(frozen=True)
class OneOutput:
    """What the file is about, in plain symbols.

    Attributes:
        F: the output, in weights and parameters.
        weights, rates: names, and the learning rate of each.
        start: of each weight, in start symbols and parameters.
        symbols: start symbols and parameters, as the definitions take them.
        parameters: those of them that F has.
        constants: names of functions of the start.
        conditions: what is asked of the start.
        laws: functions of the weights that are conserved.
        ties: places of weights that stay combinations of others, with these; 0 for idle ones.
    """

    F: Expr
    weights: tuple[str, ...]
    rates: tuple[Expr, ...]
    start: tuple[Expr, ...]
    symbols: tuple[str, ...]
    parameters: tuple[str, ...]
    constants: tuple[tuple[Symbol, Expr], ...]
    conditions: tuple[Condition, ...]
    laws: tuple[Expr, ...]
    ties: tuple[tuple[int, Expr], ...]

    @functools.cached_property
    def moving(self) -> tuple[Symbol, ...]:
        """The weights as symbols."""
        return tuple(Symbol(w, real=True) for w in self.weights)

    @functools.cached_property
    def slopes(self) -> tuple[Expr, ...]:
        """The partial derivatives of F."""
        return tuple(self.F.diff(w) for w in self.moving)

    def rate_of(self, e: Expr) -> Expr:
        """Return sum_k rate_k dF/dw_k de/dw_k: a function e of the weights moves with this lam."""
        steps = zip(self.rates, self.slopes, self.moving, strict=True)
        return sympy.Add(*(r * s * e.diff(w) for r, s, w in steps))

    @functools.cached_property
    def kernel_in_weights(self) -> Expr:
        """K = sum_k rate_k (dF/dw_k)^2."""
        return self.rate_of(self.F)

    def at_start(self, e: Expr) -> Expr:
        """Return a function of the weights at the start."""
        return e.subs(dict(zip(self.moving, self.start, strict=True)), simultaneous=True)

    def relation(self, law: Expr) -> tuple[Symbol, int, Expr] | None:
        """Return a weight with a power that a law gives, as in u^2 = v^2 + u_0^2 - v_0^2."""
        rest = sympy.expand(law - self.at_start(law))
        for weight in self.moving:
            if rest.is_polynomial(*self.moving) and rest.has(weight):
                poly = sympy.Poly(rest, weight)
                n, lead = poly.degree(), poly.LC()
                if lead.is_number and len(poly.terms()) <= 2 and not poly.nth(0).has(weight):
                    return weight, n, sympy.expand(weight**n - rest / lead)
        return None

    def reduced(self, e: Expr) -> Expr:
        """Return a function of the weights as it is along the flow, by ties and laws."""
        e = e.subs({self.moving[k]: value for k, value in self.ties})
        for w, n, value in filter(None, map(self.relation, self.laws)):
            if e.is_polynomial(w):
                terms = sympy.Poly(e, w).terms()
                e = sum(c * value ** (m // n) * w ** (m % n) for (m,), c in terms)
        return sympy.expand(e)


def one_output(d: Derivation) -> tuple[OneOutput, Curve]:
    """Return what a file on one output is about, and the curve of its Q.

    Raises:
        NoFile: the derivation has no such file.
    """
    p = d.parameterization
    if p.d > 1 or p.vectors or p.affine:
        raise NoFile("F has several outputs, of which no file is written")
    (piece,) = d.potential.pieces
    for why, holds in _outside(d, piece).items():
        if holds:
            raise NoFile(why)
    rates = [plain(to_sympy(tree)) for tree in p.rates] or [sympy.Integer(1)] * p.p
    F = plain(to_sympy(p.trees[0]))
    ties = {w: plain(to_sympy(tree)) for w, tree in d.ties} | dict.fromkeys(d.idle, sympy.S.Zero)
    m = OneOutput(
        F,
        p.weights,
        tuple(rates),
        tuple(plain(to_sympy(tree)) for _, tree in p.start),
        (*p.parameters, *p.start_symbols),
        p.parameters,
        tuple((Symbol(c.name, real=True), plain(value)) for c, value in piece.constants),
        piece.assumptions,
        tuple(map(plain, d.conserved.laws)),
        tuple((p.weights.index(w), e) for w, e in ties.items()),
    )
    return m, _curve(piece, m)


def _outside(d: Derivation, piece: Piece) -> dict[str, bool]:
    """Return the reasons for which there may be no file, and whether each holds."""
    domain, p = piece.domain, d.parameterization
    return {
        "beta moves as from a simpler start, of which no file is written": bool(d.equivalent),
        "no file is written of a mirror that couples weights": not p.geometry.is_diagonal,
        "where Q lives is not decided": domain is None
        or bool({*domain.undecided} - {"curve"})
        or not all(wall.oriented for wall in domain.walls),
        "Q has another domain from some starts": domain is not None and bool(domain.unless),
        "no file is written where something is assumed of the flow on its way": any(
            c.sign not in AT_START or c.guards for c in piece.assumptions
        ),
    }


def _curve(piece: Piece, m: OneOutput) -> Curve:
    """Return the curve of a form.

    Raises:
        NoFile: it is not written as one.
    """
    if isinstance(piece, Explicit) and not piece.roots and piece.kernel is not None:
        return _explicit(piece, piece.kernel, m)
    assert piece.domain is not None
    if piece.domain.walls:
        raise NoFile("the curve of Q ends in beta, of which no file is written")
    curve = None
    if (printed := curve_of(piece)) is not None and printed.interval:
        curve = _parametric(piece, printed, m)
    elif isinstance(piece, Explicit) and len(piece.roots) == 1:
        curve = _of_root(piece, piece.roots[0], m)
    if curve is None:
        raise NoFile(f"Q is {piece.kind}, in a form of which no file is written")
    return replace(curve, everywhere=not piece.domain.undecided)


def _read(piece: Piece, parameter: Symbol, *forms: Expr) -> list[Expr]:
    """Return functions of beta and a parameter, in ours."""
    own = {piece.betas[0].name: X, parameter.name: Z}
    return [plain(e).xreplace({Symbol(k, real=True): v for k, v in own.items()}) for e in forms]


def _explicit(piece: Explicit, kernel: Expr, m: OneOutput) -> Curve:
    """Return beta as the curve of itself."""
    assert piece.domain is not None
    forms = (piece.value, *piece.gradient, kernel, *(w.form for w in piece.domain.walls))
    Q, mu, kernel, *walls = _read(piece, piece.betas[0], *forms)
    return Curve(Z, sympy.S.One, tuple(walls), Q, mu, kernel, ((m.F, None, None),))


def _parametric(piece: Piece, printed: Printed, m: OneOutput) -> Curve:
    """Return the curve that a form names, whose weights tell where they are."""
    names = dict(printed.weights)
    weights = (names[w] for w in m.weights)
    forms = (*printed.interval, printed.beta, piece.value, *piece.gradient, *weights)
    low, high, f, height, mu, *W = _read(piece, printed.parameter, *forms)
    if f.has(sympy.exp, sympy.log):
        raise NoFile("the curve of Q has exponentials, of which no file is written")
    T = ((inverse(e, Z, w), k, e) for k, (w, e) in enumerate(zip(m.moving, W, strict=True)))
    walls = (*(Z - e for e in _ends(low)), *(e - Z for e in _ends(high)))
    return Curve(f, f.diff(Z), walls, height, mu, f.diff(Z) / mu.diff(Z), tuple(T))


def _of_root(piece: Piece, root: Root, m: OneOutput) -> Curve | None:
    """Return the curve of a root of which beta is a polynomial, where that is a weight."""
    forms = (root.polynomial, piece.value, *piece.gradient)
    P, height, mu = _read(piece, root.symbol, *forms)
    slope = sympy.expand(P).coeff(X)
    f = sympy.expand(slope * X - P) / slope
    if not slope.is_number or f.has(X):
        return None
    at = next((T for T in m.moving if m.reduced(f.subs(Z, T) - m.F) == 0), None)
    kernel = f.diff(Z) / mu.diff(Z)
    return at and Curve(f, f.diff(Z), (), height, mu, kernel, ((at, None, None),))


def _ends(end: Expr) -> Iterator[Expr]:
    """Yield what an end of an interval is the least or the largest of; nothing at infinity."""
    if isinstance(end, sympy.Min | sympy.Max):
        for e in end.args:
            yield from _ends(e)
    elif not end.is_infinite:
        yield end


def inverse(e: Expr, z: Symbol, value: Expr) -> Expr:
    """Return z with e(z) = value, where e is built of invertible steps.

    Raises:
        NoFile: it is not.
    """
    if e == z:
        return value
    rest, part = e.as_independent(z)
    if e.is_Add and part != e:
        return inverse(part, z, value - rest)
    if e.is_Mul and part != e:
        return inverse(part, z, value / rest)
    if e.is_Pow and (1 / e.exp).is_Integer:
        return inverse(e.base, z, value ** (1 / e.exp))
    raise NoFile("the curve of Q gives no weight by which its place is told")
