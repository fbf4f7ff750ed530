"""Accept a closed form of Q of a single output: what is printed is what was shown.

The explicit value has the printed gradient as derivative, Q'' K = 1 for the printed K > 0, which
solves the relation that was proved, and the gradient is 0 at the start. The curve of a parametric
form is the flow w' = grad F, with time mu = dQ/dbeta: the dual coordinate y grows at rate 1 along
it, so that mu = y - y(w_0); the weights solve the equation from the start, and the solution is
unique; beta = F on them; the conjugate mu beta - Q has derivative beta. Each is an identity of
functions of beta, or z, and the start symbols, brought to the normal form of a tower of
independent functions, where positive symbols are taken to be so, and what is under a root or a
logarithm is taken where it is positive; SymPy only differentiates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError, LanguageError
from derive.exact.field.function_field import RationalFunction
from derive.exact.named_integrals import NAMED
from derive.exact.towers.tower import build_elements
from derive.language import OWN, from_sympy
from derive.model.labels import quoted
from derive.model.names import unused
from derive.model.notation import Notation, split_logarithms, to_expr, without_modulus
from derive.model.parameterization import Parameterization
from derive.potential.piece import Curve, Piece, moving
from derive.potential.rewriting import by_exponentials, fewest, with_hyperbolic
from derive.verdict import Argument, Identity
from derive.weights.conserved import along
from derive.weights.coordinate import Coordinate, KernelRelation

OPAQUE = (sympy.asinh, sympy.atan, type(sympy.pi), *NAMED)
"""Functions that meet no others in what their derivatives are in: each stands for itself."""


class ZeroTest:
    """Whether expressions in symbols are zero."""

    def __init__(self, p: Parameterization, images: Mapping[Expr, Expr]) -> None:
        """Decide where parameters may stand in exponents, and some symbols are *images*."""
        self._parameters = p.parameters
        self._clock = p.field.clock
        self._images = dict(images)

    def vanishes(self, expression: Expr) -> bool:
        """Tell whether an expression is proved zero; False means "not proved"."""
        expression = _with_one_logarithm(split_logarithms(expression.xreplace(self._images)))
        # Logarithms of roots may cancel as they are: no tower has log(1 + a/r) and log(1 - a/r).
        rooted = {x: x for x in sorted(filter(_has_root, expression.atoms(sympy.log)), key=str)}
        if rooted and self.vanishes(_with_symbols(expression, rooted)):
            return True
        expression = self._without_opaque(expression)
        # Powers of -s are taken where it is positive: they are powers of a new s.
        bases = {power.base for power in expression.atoms(sympy.Pow) if not power.exp.is_Integer}
        expression = expression.xreplace({s: -s for s in expression.free_symbols if -s in bases})
        names = sorted(s.name for s in expression.free_symbols)
        parameters = [n for n in names if n in self._parameters]
        weights = [n for n in names if n not in self._parameters]
        positive = {s.name for s in expression.free_symbols if s.is_positive}
        try:
            (element,) = build_elements(
                [from_sympy(expression, OWN)], weights, parameters, positive, self._clock
            )
        except (InputError, LanguageError, ZeroDivisionError):
            return False
        return element.is_zero()

    def _without_opaque(self, expression: Expr) -> Expr:
        """Return the expression with a symbol for each opaque function of its own argument."""
        if expression.has(sympy.exp, sympy.log, sympy.sinh, sympy.cosh):  # which undo an asinh
            expression = expression.replace(
                sympy.asinh, lambda a: sympy.log(a + sympy.sqrt(1 + a * a))
            )
        atoms = sorted(expression.atoms(*OPAQUE), key=str)
        same = {a: a for a in atoms}
        for a, b in combinations(atoms, 2):
            if a.func is b.func and same[b] is b and self.vanishes(a.args[0] - b.args[0]):
                same[b] = same[a]
        return _with_symbols(expression, same)


def _with_symbols(expression: Expr, same: Mapping[Expr, Expr]) -> Expr:
    """Return an expression with symbols of its own for parts of it, one for all that are the same.

    What holds of any numbers in their places holds of these.
    """
    taken = {symbol.name for symbol in expression.free_symbols}
    names = (unused(f"opaque_{k}", taken) for k, _ in enumerate(same))
    images = {a: Symbol(name, real=True) for a, name in zip(same, names, strict=True)}
    return expression.xreplace({a: images[b] for a, b in same.items()})


def _has_root(expression: Expr) -> bool:
    return any(
        power.exp.is_Rational and not power.exp.is_Integer for power in expression.atoms(sympy.Pow)
    )


def _with_one_logarithm(expression: Expr) -> Expr:
    """Return an expression with one logarithm for those of one modulus: of A, and of -A.

    Numbers are compared without roots in denominators: SymPy is long in seeing that
    log(2 + sqrt(3)) - log((3 + sqrt(3))/(3 - sqrt(3))) is 0.
    """
    first, same = dict[Expr, Expr](), dict[Expr, Expr]()
    logs = sorted(expression.atoms(sympy.log), key=lambda e: (_is_minus(e.args[0]), str(e)))
    for log in logs:
        (A,) = log.args
        A = sympy.radsimp(A) if A.is_number else A
        same[log] = first.setdefault(-A if _is_minus(A) else A, log)
    return expression.xreplace(same)


def _is_minus(A: Expr) -> bool:
    return bool(A.could_extract_minus_sign())


def accepted(
    decide: ZeroTest,
    shown: Iterable[tuple[str, Expr, Expr]],
    kind: Argument,
    *of: str,
    written: Callable[[Expr], Expr] = lambda e: e,
) -> tuple[Identity, ...] | None:
    """Return statements with their two sides as evidence, None where they are not all proved."""
    evidence = list[Identity]()
    for statement, left, right in shown:
        if not decide.vanishes(left - right):
            return None
        sides = str(written(left)), str(written(right))
        evidence.append(Identity(statement, *sides, kind=kind, of=of))
    return tuple(evidence)


def accept_curve(
    curve: Coordinate,
    begin: Mapping[Symbol, Expr],
    along: tuple[Expr, Expr, Expr],
    gradient: Expr,
    value: Expr | None,
) -> tuple[Identity, ...] | None:
    """Return what shows that mu is the time from the start, and dQ = mu dbeta on beta = f(t).

    Args:
        curve: the coordinate t.
        begin: what it is at the start, with constants.
        along: f, dt/dmu and dbeta/dmu in t.
        gradient: mu in t.
        value: Q in beta and t, or None.
    """
    t, (x,), (f, r, K) = curve.variable, curve.notation.betas, along
    mu = split_logarithms(gradient)
    shown = [
        (f"dmu/d{t} d{t}/dmu = 1 where w' = grad F", mu.diff(t) * r, sympy.S.One),
        ("mu = 0 at the start", gradient.xreplace(begin), sympy.S.Zero),
    ]
    if value is not None:
        Q = split_logarithms(value)
        # Of the slope along the curve, Q_x + Q_t r/K, without the quotient, which may be long.
        moves = (Q.diff(x) - mu) * K + Q.diff(t) * r
        statement = f"K dQ/d{x} = K mu where {x} = {f}"
        shown.append((statement, moves.xreplace({x: f}), sympy.S.Zero))
    return accepted(ZeroTest(curve.notation.parameterization, {}), shown, "weight", str(f))


def accept_in_beta(
    decide: ZeroTest, piece: Piece, K: Expr, begin: Mapping[Symbol, Expr], kind: Argument = ""
) -> tuple[Identity, ...] | None:
    """Return what shows that Q has its slope, which is 0 at the start, and Q'' = 1/K, or None.

    Of an integral that is left the slope is no claim.
    """
    (x,), (gradient,) = piece.betas, piece.gradient
    slope, value = map(without_modulus, (gradient, piece.value))
    name = f"dQ/d{x}"
    derived = () if piece.integrand else ((f"{name} = {gradient}", value.diff(x), slope),)
    rest = (
        ("Q'' K = 1", slope.diff(x) * K, sympy.S.One),
        (f"{name} = 0 at the start", gradient.xreplace(begin), sympy.S.Zero),
    )
    first = accepted(decide, derived, "slope", x.name, str(gradient))
    found = None if first is None else accepted(decide, rest, kind)
    return None if first is None or found is None else (*first, *found)


def accept_explicit(relation: KernelRelation, piece: Piece) -> Piece | None:
    """Return Q, dQ/dbeta and K with their evidence, or None where an identity is not shown."""
    (x,), K, notation = piece.betas, piece.kernel, relation.notation
    if K is None:
        raise AssertionError("a closed form in beta comes with K")
    # k = r^2 with r > 0 makes sqrt(k), and sqrt(k + beta^2) over it, independent.
    positive = (k for k, _ in piece.constants if k.is_positive)
    squares = {k: notation.fresh(f"root_{k.name}", positive=True) ** 2 for k in positive}
    decide, m = ZeroTest(notation.parameterization, squares), relation.m
    used = set[Expr]().union(*(e.free_symbols for e in (piece.value, *piece.gradient, K)))
    named = tuple((symbol, value) for symbol, value in relation.named if symbol in used)
    piece = replace(piece, constants=(*piece.constants, *named))
    written = dict(piece.constants)
    begin, K0 = {x: relation.expr(relation.beta0)}, relation.expr(relation.K0)
    at_start = K.xreplace({**begin, **written})
    shown = (
        (K**m - relation.expr(relation.power)).xreplace(written),
        # Neither is negative: K0 = |grad F|^2.
        at_start**2 - K0**2 if _is_nonnegative(K) else at_start - K0,
    )
    starts = dict.fromkeys((relation.expr(relation.beta0), *notation.beta_0))  # and as typed
    ways = (accept_in_beta(decide, piece, K, {x: e, **dict(relation.named)}) for e in starts)
    found = next(filter(None, ways), None)
    if found is None or not all(map(decide.vanishes, shown)):
        return None
    power, right = ("K", K) if m == 1 else (f"K**{m}", sympy.expand(K**m))
    claim = f"{power} = {quoted(right, notation.parameterization)}"
    left, of = f"({K})" if m == 1 else f"({K})**{m}", (power, str(right))
    evidence = (
        Identity(claim, left, repr(relation.power), kind="kernel", of=of),
        Identity("K = |grad F|^2 at the start", str(at_start), repr(relation.K0)),
        *found,
    )
    return replace(piece, evidence=evidence)


def _is_nonnegative(expression: Expr) -> bool:
    """Tell whether an expression is a product of positive numbers, even powers and even roots."""
    return all(
        (factor.is_Rational and factor > 0)
        or (factor.is_Pow and factor.exp.is_Rational and 0 in (factor.exp.p % 2, factor.exp.q % 2))
        for factor in sympy.Mul.make_args(expression)
    )


@dataclass(frozen=True)
class CurveProposal:
    """The weights along the flow as functions of z, with the time mu, linear in z.

    *units* are positive symbols in them, 1 at z = 0, whose values are positive on the interval.
    """

    z: Symbol
    mu: Expr
    weights: Mapping[str, Expr]
    units: Mapping[Symbol, Expr]
    interval: tuple[Expr, Expr]

    def rate(self, expression: Expr) -> Expr:
        """Return d/dmu of an expression in z and the units."""
        slopes = {self.z: sympy.S.One, **{u: e.diff(self.z) for u, e in self.units.items()}}
        total = sympy.Add(*(expression.diff(s) * slope for s, slope in slopes.items()))
        return total / self.mu.diff(self.z)

    def start(self, expression: Expr) -> Expr:
        """Return the value at z = 0."""
        return expression.xreplace({self.z: sympy.S.Zero, **dict.fromkeys(self.units, sympy.S.One)})

    def written(self, expression: Expr) -> Expr:
        """Return an expression in z alone."""
        return expression.xreplace(self.units)


def accept_parametric(
    p: Parameterization, R: RationalFunction, notation: Notation, proposal: CurveProposal
) -> Piece | None:
    """Return the piece of a proposed flow with its evidence, or None where that is not shown.

    R is the conjugate of Q in the weights.
    """
    beta, conjugate = (by_exponentials(to_expr(f, proposal.weights)) for f in (p.F[0], R))
    conjugate = moving(_distributed(conjugate), proposal.z, *proposal.units)
    weights = {name: with_hyperbolic(w) for name, w in proposal.weights.items()}
    sums = map(with_hyperbolic, (beta, conjugate))
    products = (to_expr(f, weights) for f in (p.F[0], R))
    beta, conjugate = map(fewest, zip(sums, products, strict=True))
    proposal = replace(proposal, weights=weights)
    if "power" in p.field.kinds:
        # A proposal like any other: what is printed is compared with F(w) below.
        beta = sympy.powdenest(sympy.expand_power_base(beta, force=True), force=True)
    shown = _identities(p, notation, proposal, beta, conjugate)
    evidence = accepted(ZeroTest(p, {}), shown, "curve", written=proposal.written)
    if evidence is None:
        return None
    (b,), write = notation.betas, proposal.written
    written = tuple((name, write(w)) for name, w in weights.items())
    return Piece(
        notation.betas,
        proposal.mu * b - write(conjugate),
        (proposal.mu,),
        curve=Curve(proposal.z, write(beta), proposal.interval, written),
        assumptions=notation.assumptions,
        evidence=evidence,
    )


def _identities(
    p: Parameterization, notation: Notation, proposal: CurveProposal, beta: Expr, conjugate: Expr
) -> Iterator[tuple[str, Expr, Expr]]:
    """Yield what is to be shown: a statement and its two sides."""
    (b,), known = notation.betas, proposal.weights
    calls = (name for name in known if name not in (*p.weights, *p.parameters))
    # A call is one more coordinate, which the flow moves at a rate of its own.
    for name in (*p.weights, *sorted(calls)):
        f, own, moves = p.field.named(name), quoted(name, p), proposal.rate(known[name])
        slope, start = along(p.fields[0], f), p.at_start(f)
        what = f"dF/d{own}" if name in p.weights else f"<grad {own}, grad F>"
        yield f"d{own}/dmu = {what}", moves, to_expr(slope, known)
        at_start = to_expr(start, notation.start_symbols)
        yield f"{own}(0) = {quoted(repr(start), p)}", proposal.start(known[name]), at_start
    yield f"{b} = F(w(mu))", beta, to_expr(p.F[0], known)
    yield f"d(mu {b} - Q)/dmu = {b}", proposal.rate(conjugate), beta


def _distributed(expression: Expr) -> Expr:
    """Return a sum with the numbers before the sums in it multiplied out; cosmetic."""
    parts = (term.as_coeff_Mul() for term in sympy.Add.make_args(expression))
    return sympy.Add(*(n * x for n, rest in parts for x in sympy.Add.make_args(rest)))
