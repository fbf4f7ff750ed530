"""What a file is about: F, its start, what is asked of it, and coordinates with the curves of Q.

Q is a sum over coordinates that move by themselves. The term of one is given along a curve
x = f(z) on an open interval of z, where f' > 0: it has the slope mu(z), with mu' K = f'.
Where Q is explicit that is f(z) = z; a parametric Q names its curve; the root of a polynomial in
which beta is linear is the parameter of one. The weights of the flow are at z = T(w) on it.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.language import to_sympy
from derive.model.condition import AT_START, Condition, Sign
from derive.potential.piece import Curve as Printed
from derive.potential.piece import Piece, Root
from derive.rocq.terms import NoFile, Signs, plain, signs_of

Relation = tuple[Symbol, int, Expr]
"""A symbol, n, and what its n-th power is."""
X = Symbol("x'", real=True)
"""beta, by a name that no start has."""
Z = Symbol("z'", real=True)
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
class Coordinate:
    """A coordinate of the outputs that moves by itself, and the curve of what Q adds in it.

    Attributes:
        row: its coefficients in the outputs.
        F: the coordinate as a function of the weights.
        steering: what moves it: F' = K steering, in the steering of the outputs.
        curve: where the curve of its term of Q is, and the weights on it.
    """

    row: tuple[Expr, ...]
    F: Expr
    steering: Expr
    curve: Curve


@dataclass(frozen=True)
class Subject:
    """What the file is about, in plain symbols.

    Attributes:
        outputs: F, in weights and parameters.
        weights, rates: names, and the learning rate of each.
        start: of each weight, in start symbols and parameters.
        symbols: start symbols and parameters, as the definitions take them.
        parameters: those of them that F has.
        constants: names of functions of the start.
        conditions: what is asked of the start.
        laws: functions of the weights that are conserved.
        ties: places of weights that stay affine functions of others, with these; 0 for idle ones.
        begun: walls that the start is asked to be inside of, beyond the conditions.
        kept: functions of the weights that are asked to stay positive along the flow.
        typed: arguments of the definitions before the symbols, with their types; of a vector u,
            whose |u|^2 is the last weight and whose phi is the output, d and u_0.
        texts: how symbols are written that are no arguments.
    """

    outputs: tuple[Expr, ...]
    weights: tuple[str, ...]
    rates: tuple[Expr, ...]
    start: tuple[Expr, ...]
    symbols: tuple[str, ...]
    parameters: tuple[str, ...]
    constants: tuple[tuple[Symbol, Expr], ...]
    conditions: tuple[Condition, ...]
    laws: tuple[Expr, ...]
    ties: tuple[tuple[int, Expr], ...]
    begun: tuple[Expr, ...] = ()
    kept: tuple[Expr, ...] = ()
    typed: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()

    @property
    def d(self) -> int:
        """The number of outputs."""
        return len(self.outputs)

    @property
    def steering(self) -> tuple[Symbol, ...]:
        """The steering of each output, as symbols."""
        return tuple(Symbol(f"lam'{i}", real=True) for i in range(self.d))

    @functools.cached_property
    def asked(self) -> Signs:
        """What is asked of the start."""
        asked = signs_of((plain(c.of), c.sign) for c in self.conditions)
        return asked.with_(self.begun)

    @functools.cached_property
    def moving(self) -> tuple[Symbol, ...]:
        """The weights as symbols."""
        return tuple(Symbol(w, real=True) for w in self.weights)

    @functools.cached_property
    def slopes(self) -> tuple[Expr, ...]:
        """What moves each weight, sum_i lam_i dF_i/dw_k; |u|^2 by 2 (phi + 2 N phi_N) <u, lam>."""
        whole = sympy.Add(*(x * F for x, F in zip(self.steering, self.outputs, strict=True)))
        *slopes, last = (whole.diff(w) for w in self.moving)
        return (*slopes, 2 * whole + 4 * self.moving[-1] * last if self.typed else last)

    def inner(self, e: Expr, of: Expr) -> Expr:
        """Return sum_k rate_k de/dw_k dof/dw_k."""
        return sympy.Add(
            *(r * e.diff(w) * of.diff(w) for r, w in zip(self.rates, self.moving, strict=True))
        )

    def rate_of(self, e: Expr) -> Expr:
        """Return e', of a function e of the weights, along the flow."""
        steps = zip(self.rates, self.slopes, self.moving, strict=True)
        return sympy.Add(*(r * s * e.diff(w) for r, s, w in steps))

    def at_start(self, e: Expr) -> Expr:
        """Return a function of the weights at the start."""
        return e.subs(dict(zip(self.moving, self.start, strict=True)), simultaneous=True)

    def relation(self, law: Expr, used: Collection[Symbol] = ()) -> Relation | None:
        """Return a constant or a weight with a power that a law gives, as u^2 = v^2 + k."""
        value = self.at_start(law)
        rest = sympy.expand(law - value)
        for c, of in self.constants:
            if c not in used and sympy.expand(of - value) == 0:
                return c, 1, law
        found = list[Relation]()
        for weight in self.moving:
            if weight not in used and rest.is_polynomial(*self.moving) and rest.has(weight):
                poly = sympy.Poly(rest, weight)
                n, lead = poly.degree(), poly.LC()
                if lead.is_number and len(poly.terms()) <= 2 and not poly.nth(0).has(weight):
                    found.append((weight, n, sympy.expand(weight**n - rest / lead)))
        # field rewrites by an equation without fractions
        return min(found, key=lambda x: (x[1], _has_fractions(x[2])), default=None)

    def reduced(self, e: Expr) -> Expr:
        """Return a function of the weights as it is along the flow, by ties and laws."""
        e = e.subs({self.moving[k]: value for k, value in self.ties})
        for w, n, value in filter(None, map(self.relation, self.laws)):
            if w in self.moving and e.is_polynomial(w):
                terms = sympy.Poly(e, w).terms()
                e = sum(c * value ** (m // n) * w ** (m % n) for (m,), c in terms)
        return sympy.expand(e)


def subject_of(d: Derivation) -> Subject:
    """Return what a file on outputs in coordinates is about.

    Raises:
        NoFile: the derivation has no such file.
    """
    p, pieces = d.parameterization, d.potential.pieces
    unless = [piece.domain is not None and bool(piece.domain.unless) for piece in pieces]
    refuse(
        {
            "F has outputs in a form of which no file is written": bool(p.affine),
            "no file is written of a mirror that couples weights": not p.geometry.is_diagonal,
            "Q has another domain from some starts": any(unless),
        }
    )
    rates = [plain(to_sympy(tree)) for tree in p.rates] or [sympy.Integer(1)] * p.p
    ties = {w: plain(to_sympy(tree)) for w, tree in d.ties} | dict.fromkeys(d.idle, sympy.S.Zero)
    constants = (c for piece in pieces for c in piece.constants)
    asked, kept = conditions(d)
    return Subject(
        tuple(plain(to_sympy(tree)) for tree in p.trees),
        p.weights,
        tuple(rates),
        tuple(plain(to_sympy(tree)) for _, tree in p.start),
        (*p.parameters, *p.start_symbols),
        p.parameters,
        tuple({Symbol(c.name, real=True): plain(value) for c, value in constants}.items()),
        asked,
        tuple(map(plain, d.conserved.laws)),
        tuple((p.weights.index(w), e) for w, e in ties.items()),
        kept=kept,
    )


def separated(d: Derivation) -> tuple[Subject, tuple[Coordinate, ...]]:
    """Return what a file is about, and coordinates in which Q is a sum.

    Raises:
        NoFile: the derivation has no such file.
    """
    m, pieces = subject_of(d), d.potential.pieces
    on_way = (c.sign not in AT_START or c.guards for x in pieces for c in x.assumptions)
    coupled = (len(piece.betas) > 1 and not _parts(piece) for piece in pieces)
    # what a curve gives is decided by the curve
    decided = (x.domain is not None and not {*x.domain.undecided} - {"curve"} for x in pieces)
    refuse(
        {
            "no file is written where something is assumed of the flow on its way": any(on_way),
            "where Q lives is not decided": not all(decided),
            "Q couples outputs, of which no file is written": any(coupled),
        }
    )
    betas = tuple(map(plain, d.beta))
    coordinates = tuple(x for piece in pieces for x in _coordinates(piece, m, betas))
    explicit = (x for x in coordinates if x.curve.explicit)
    starts = (m.at_start(wall.subs(Z, x.F)) for x in explicit for wall in x.curve.walls)
    # the walls that the conditions do not put the start inside of
    return replace(m, begun=tuple(e for e in starts if m.asked.form(e) is None)), coordinates


def _coordinates(piece: Piece, m: Subject, betas: tuple[Symbol, ...]) -> Iterator[Coordinate]:
    """Yield the coordinates in which a piece is a sum, each with its curve.

    Raises:
        NoFile: it is none.
    """
    at = [betas.index(plain(b)) for b in piece.betas]
    if len(at) == 1 and (piece.roots or piece.kind != "explicit"):
        (i,), F = at, m.outputs[at[0]]
        rows = tuple(sympy.Integer(k == i) for k in range(m.d))
        yield Coordinate(rows, F, m.steering[i], _curve(piece, m, F))
        return
    forms = _parts(piece)
    V = sympy.Matrix([[form.diff(b) for b in piece.betas] for form in forms.values()])
    terms = [sympy.Add.make_args(g) for g in piece.gradient]
    for v, dual, (x, form) in zip(V.tolist(), V.inv().T.tolist(), forms.items(), strict=True):
        row = dict(zip(at, v, strict=True))
        F = sympy.factor(sympy.Add(*(c * m.outputs[i] for i, c in row.items())))
        slope = sympy.Add(*(c * t for c, g in zip(dual, terms, strict=True) for t in g))
        nu = sympy.Add(*(c * m.steering[i] for i, c in zip(at, dual, strict=True)))
        rows = tuple(row.get(i, sympy.S.Zero) for i in range(m.d))
        yield Coordinate(rows, F, sympy.expand(nu), _term(piece, m, (x, form), slope, F))


def couples(d: Derivation) -> bool:
    """Say whether Q is in one piece that is no sum over coordinates."""
    return len(d.potential.pieces) == 1 and not _parts(d.potential.pieces[0])


def _parts(piece: Piece) -> dict[Symbol, Expr]:
    """Return coordinates in which a form is a sum, as they are in the outputs, if it is one."""
    forms = {r.symbol: r.explicit for r in piece.roots} | {b: b for b in piece.betas}
    own = {x: form for x, form in forms.items() if piece.value.has(x) and form is not None}
    alone = all(sum(term.has(x) for x in own) <= 1 for term in sympy.Add.make_args(piece.value))
    linear = all(not f.diff(b).free_symbols for f in own.values() for b in piece.betas)
    single = len(piece.betas) == 1
    return own if single or (len(own) == len(piece.betas) and linear and alone) else {}


def _term(piece: Piece, m: Subject, at: tuple[Symbol, Expr], slope: Expr, F: Expr) -> Curve:
    """Return a coordinate, as it is in the outputs, as the curve of itself with its term of Q."""
    assert piece.domain is not None
    x, _ = at
    height = sympy.Add(*(t for t in sympy.Add.make_args(piece.value) if t.has(x)))
    own = next((r.kernel for r in piece.roots if r.symbol == x), piece.kernel)
    kernel = sympy.cancel(1 / slope.diff(x)) if own is None else own
    walls = {_wall(wall.form, at, piece.betas): wall.oriented for wall in piece.domain.walls}
    walls.pop(None, None)
    Q, mu, kernel, *ends = _read(piece, x, height, slope, kernel, *filter(None, walls))
    for k, oriented in enumerate(walls.values()):
        ends[k] *= 1 if oriented else _side(m.at_start(ends[k].subs(Z, F)))
    return Curve(Z, sympy.S.One, tuple(ends), Q, mu, kernel, ((F, None, None),))


def _side(e: Expr) -> Expr:
    """Return an expression of the sign of another, without quotients."""
    side = sympy.Mul(*sympy.fraction(sympy.factor(e)))
    return side / abs(side.as_coeff_Mul()[0])


def _wall(wall: Expr, at: tuple[Symbol, Expr], betas: Iterable[Symbol]) -> Expr | None:
    """Return a wall as a function of a coordinate, if it is one."""
    x, form = at
    c = next(wall.diff(b) / form.diff(b) for b in betas if form.diff(b) != 0)
    rest = sympy.expand(wall - c * form)
    return None if rest.has(*betas) else c * x + rest


def conditions(d: Derivation) -> tuple[tuple[Condition, ...], tuple[Expr, ...]]:
    """Return what is asked of the start, and functions of the weights that are to stay positive.

    Raises:
        NoFile: more is assumed of the flow, or with which sign a function starts.
    """
    p = d.potential.parameterization
    start = {Symbol(w, real=True): plain(to_sympy(tree)) for w, tree in p.start}
    all_ = dict.fromkeys(c for piece in d.potential.pieces for c in piece.assumptions)
    asked = tuple(c for c in all_ if c.sign in AT_START)
    kept = tuple(plain(c.of) for c in all_ if c.sign is Sign.KEPT)
    begun = {plain(c.of) for c in asked if c.sign is Sign.POSITIVE}
    own = all(e.subs(start, simultaneous=True) in begun for e in kept)
    if len(asked) + len(kept) != len(all_) or not own:
        raise NoFile("no file is written where more is assumed of the flow on its way")
    return asked, kept


def refuse(reasons: dict[str, bool]) -> None:
    """Refuse what has no file, by the first reason that holds.

    Raises:
        NoFile: the reason.
    """
    if (why := next((why for why, holds in reasons.items() if holds), None)) is not None:
        raise NoFile(why)


def _curve(piece: Piece, m: Subject, F: Expr) -> Curve:
    """Return the curve of a form.

    Raises:
        NoFile: it is not written as one.
    """
    assert piece.domain is not None
    if piece.domain.walls:
        raise NoFile("the curve of Q ends in beta, of which no file is written")
    curve = None
    if (printed := piece.curve) is not None and printed.interval:
        curve = _parametric(piece, printed, m)
    elif piece.integrand is None and len(piece.roots) == 1:
        curve = _of_root(piece, piece.roots[0], m, F)
    if curve is None:
        raise NoFile(f"Q is {piece.kind}, in a form of which no file is written")
    return replace(curve, everywhere=not piece.domain.undecided)


def _read(piece: Piece, parameter: Symbol, *forms: Expr) -> list[Expr]:
    """Return functions of beta and a parameter, in ours."""
    own = {piece.betas[0].name: X, parameter.name: Z}
    return [plain(e).xreplace({Symbol(k, real=True): v for k, v in own.items()}) for e in forms]


def _parametric(piece: Piece, printed: Printed, m: Subject) -> Curve:
    """Return the curve that a form names, whose weights tell where they are."""
    weights = dict(printed.weights)
    forms = (*printed.interval, printed.beta, piece.value, *piece.gradient, *weights.values())
    low, high, f, height, mu, *W = _read(piece, printed.parameter, *forms)
    if f.has(sympy.exp, sympy.log):
        raise NoFile("the curve of Q has exponentials, of which no file is written")
    if not {*weights} <= {*m.weights}:
        raise NoFile("the curve of Q has open powers, of which no file is written")
    places = {w: m.weights.index(w) for w in weights}
    told = sorted(zip(places.values(), W, strict=True), key=lambda x: x[0])
    T = ((inverse(e, Z, m.moving[k]), k, e) for k, e in told)
    walls = (*(Z - e for e in _ends(low)), *(e - Z for e in _ends(high)))
    return Curve(f, f.diff(Z), walls, height, mu, f.diff(Z) / mu.diff(Z), tuple(T))


def _of_root(piece: Piece, root: Root, m: Subject, F: Expr) -> Curve | None:
    """Return the curve of a root of which beta is a polynomial, where that is a weight."""
    forms = (root.polynomial, piece.value, *piece.gradient)
    P, height, mu = _read(piece, root.symbol, *forms)
    slope = sympy.expand(P).coeff(X)
    f = sympy.expand(slope * X - P) / slope
    if not slope.is_number or f.has(X):
        return None
    at = next((T for T in m.moving if m.reduced(f.subs(Z, T) - F) == 0), None)
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


def _has_fractions(e: Expr) -> bool:
    return any(not x.is_Integer for x in e.atoms(sympy.Rational))
