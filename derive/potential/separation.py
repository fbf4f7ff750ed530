"""Coordinates x = V^T beta in which Q of coupled outputs is a sum, and outputs that are sums.

The outputs x_k = <v_k, F(w)> have the tangent kernel V^T K V. Where that is diagonal, and its
entry k does not change along the gradients of the other x_j, the Hessian of Q, which is its
inverse, is diagonal in x with entry k a function of x_k: Q = q_1(x_1) + ... . It is the one along
the flow of x_k alone from w_0, on which the other x_j stay, so that q_k is the Q of the single
output x_k. Such v_k are eigenvectors of K(w_1)^-1 K(w_2), whatever the weights w_1 and w_2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import NamedTuple, TypeVar

import sympy
from sympy import Expr, Symbol

from derive.exact.linear.matrix import dot
from derive.exact.named_integrals import meanings
from derive.exact.signs import Signs
from derive.language import names, parse_expression, to_sympy
from derive.model.condition import Condition
from derive.model.geometry import Field
from derive.model.notation import (
    AssumePositive,
    BranchOpen,
    Notation,
    rational,
    to_expr,
    without_modulus,
)
from derive.model.parameterization import Parameterization
from derive.potential.accept import ZeroTest, accepted
from derive.potential.along_weight import integrate_along_weight
from derive.potential.coupled import ABOVE, in_weights
from derive.potential.piece import Integrand, Piece, Root
from derive.potential.quadrature import find_lift
from derive.verdict import Identity
from derive.weights.conserved import find_conserved, find_lie_structure
from derive.weights.dual import conjugate_in_time, find_dual
from derive.weights.hessian import WarpVerdict, decide_hessian, decide_warp
from derive.weights.metric import find_metric


@dataclass(frozen=True)
class Separation:
    """Coordinates x = V^T beta in which Q is a sum, with the identities that prove it.

    Attributes:
        forms: V^T, d rows of whole numbers.
        evidence: identities between functions of the weights.
    """

    forms: sympy.ImmutableMatrix
    evidence: tuple[Identity, ...]

    @property
    def basis(self) -> sympy.ImmutableMatrix:
        """M with beta = M x."""
        return self.forms.inv()

    def outputs(self, p: Parameterization) -> Iterator[Parameterization]:
        """Yield each x_k as the one output of a parameterization."""
        trees = [to_sympy(tree) for tree in p.trees]
        for v in self.forms.tolist():
            total = sympy.Add(*(c * tree for c, tree in zip(v, trees, strict=True)))
            used = {x.name for x in total.free_symbols}
            weights = [w for w in p.weights if w in used]
            yield p.with_(outputs=[total], weights=weights, labels=[1])

    def summed(self, pieces: Sequence[Piece], notation: Notation) -> Piece:
        """Return sum_k q_k(x_k) in beta, each q_k in a symbol of its own.

        A coordinate x_k that is no beta_i is a named function of beta.
        """
        forms = self.forms * sympy.Matrix(notation.betas)
        pairs = [(piece, piece.betas[0], form) for piece, form in zip(pieces, forms, strict=True)]
        plain = {x: form for _, x, form in pairs if not form.is_Add}
        chosen = _by_name(pieces)
        slopes = sympy.Matrix([piece.gradient[0] for piece in pieces])
        whole = Piece(
            notation.betas,
            sympy.Add(*(piece.value for piece in pieces)),
            tuple(self.forms.T * slopes),
            _joined(piece.constants for piece in pieces),
            tuple(
                Root(x, x - form, form, "the root", 0, kernel=piece.kernel)
                for piece, x, form in pairs
                if form.is_Add
            ),
            _joined(piece.assumptions for piece in pieces),
            (*self.evidence, *_joined(piece.evidence for piece in pieces)),
        )
        return whole.mapped(lambda e: e.xreplace(chosen).xreplace(plain))


def disjoint_parts(p: Parameterization) -> list[Parameterization]:
    """Return the parts without common weights of which one output is the sum, [p] without any."""
    F, groups = to_sympy(p.trees[0]), list[tuple[set[str], Expr]]()
    rates_move = names(p.geometry.trees) or not p.geometry.is_diagonal
    if rates_move or {x.name for x in F.free_symbols} - {*p.weights, *p.parameters}:
        return [p]
    for term in sympy.Add.make_args(F):
        used, total = {x.name for x in term.free_symbols} & {*p.weights}, term
        # a constant goes with what it meets first
        for group in [x for x in groups if x[0] & used or not (x[0] and used)]:
            groups.remove(group)
            used, total = used | group[0], total + group[1]
        groups.append((used, total))
    if len(groups) < 2:
        return [p]
    known = ((total, [w for w in p.weights if w in used]) for used, total in groups)
    return [p.with_(outputs=[total], weights=weights, labels=[1]) for total, weights in known]


Part = TypeVar("Part")


def _joined(parts: Iterable[tuple[Part, ...]]) -> tuple[Part, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(parts)))


def _by_name(pieces: Iterable[Piece]) -> dict[Symbol, Symbol]:
    """Return one symbol for those of one name: the positive one, which was assumed."""
    parts = ((p.value, *p.gradient, *(x for _, x in p.constants)) for p in pieces)
    symbols = {s for part in chain.from_iterable(parts) for s in part.free_symbols}
    chosen = {s.name: s for s in sorted(symbols, key=lambda s: bool(s.is_positive))}
    return {s: chosen[s.name] for s in symbols}


def find_separation(p: Parameterization) -> Separation | None:
    """Return rational coordinates in which Q of one block, Hess Q = K^-1, is a sum, or None."""
    forms = _eigenvectors(p)
    if forms is None:
        return None
    forms = sympy.ImmutableMatrix([_upward(row, p) for row in forms.tolist()])
    covectors = tuple(
        tuple(dot(row, column) for column in zip(*p.covectors, strict=True))
        for row in ([p.field.constant(int(c)) for c in v] for v in forms.tolist())
    )
    fields = p.geometry.fields(covectors)
    evidence = []
    for k, own in enumerate(covectors, 1):
        slope = p.field.gradient(dot(own, fields[k - 1]))
        for j, other in enumerate(fields, 1):
            if j == k:
                continue
            mixed, change = dot(own, other), dot(other, slope)
            if not (mixed.is_zero() and change.is_zero()):
                return None
            if j > k:
                evidence.append(_is_zero_identity(f"<grad x{k}, grad x{j}>", own, other))
            evidence.append(_is_zero_identity(f"<grad x{j}, grad |grad x{k}|^2>", other, slope))
    return Separation(forms, tuple(evidence))


def _upward(row: list[Expr], p: Parameterization) -> list[Expr]:
    """Return v or -v, of which x = <v, F(w)> is not negative where that is proved."""
    x = dot([p.field.constant(int(c)) for c in row], p.F)
    return [-c for c in row] if Signs(p.nonnegative).is_nonnegative(-x) else row


def _is_zero_identity(product: str, u: Field, v: Field) -> Identity:
    terms = " + ".join(f"({x!r})*({y!r})" for x, y in zip(u, v, strict=True))
    return Identity(f"{product} = 0", terms, "0", kind="separate")


def _eigenvectors(p: Parameterization) -> sympy.ImmutableMatrix | None:
    """Return d eigenvectors of whole numbers as rows, or None if they are not so many."""
    try:
        first, second = (_kernel_at(p, shift) for shift in (0, 1))
    except ZeroDivisionError:
        return None
    if first.det() == 0:
        return None
    pencil = first.inv() * second
    values = sympy.Poly(pencil.charpoly().as_expr()).ground_roots()
    if len(values) != p.d:
        return None
    rows = []
    for value in values:
        (vector,) = (pencil - value * sympy.eye(p.d)).nullspace()
        whole = vector * sympy.ilcm(1, *(x.q for x in vector))
        whole /= sympy.igcd(*whole)
        rows.append(list(whole * sympy.sign(next(x for x in whole if x != 0))))
    return sympy.ImmutableMatrix(sorted(rows, reverse=True))


def _kernel_at(p: Parameterization, shift: int) -> sympy.Matrix:
    """Return K at a rational point; functions take values as if they were weights."""
    size = len(p.field.names)
    point = [Fraction(3 + (7 * k * k + 5 * shift * k) % 11, 2 + k % 5) for k in range(size)]
    rows = [[dot(x, df).at(point) for df in p.covectors] for x in p.fields]
    return sympy.Matrix([[rational(x) for x in row] for row in rows])


def sum_of_parts(warping: WarpVerdict, notation: Notation) -> Piece | None:
    """Return Q of F = F_1 + F_2 + ... without common weights, beta mu - R_1 - R_2 - ..., or None.

    They share mu, and int beta dmu is the sum of theirs, so that Q is the least sum of the Q_k at
    beta_k that add up to beta: its infimal convolution. One of them has to know mu.
    """
    p, parts = warping.parameterization, disjoint_parts(warping.parameterization)
    found = [_part_in_weights(part, notation) for part in parts] if parts[1:] else [None]
    known = [x for x in found if x is not None]
    if len(known) < len(found):
        return None
    R, (beta,) = sympy.Add(*(x.R for x in known)), notation.betas
    mus = sorted((x.mu for x in known if x.mu is not None), key=_length)
    shown = ((mu, _of_mu(p, mu, R, notation)) for mu in mus)
    mu, evidence = next((pair for pair in shown if pair[1] is not None), (beta, None))
    if evidence is None:
        return None
    terms = " and ".join(f"`{part.outputs[0]}`" for part in parts)
    note = f"{ABOVE}, the infimal convolution of those of {terms}"
    return Piece(
        (beta,),
        beta * mu - R,
        (mu,),
        assumptions=(*notation.assumptions, *(a for x in known for a in x.assumptions)),
        evidence=evidence,
        note=", ".join((note, *meanings(beta * mu - R))),
        lift=find_lift(warping),
        integrand=Integrand("conjugate") if R.has(sympy.Integral) else None,
    )


def _length(mu: Expr) -> tuple[bool, int]:
    return mu.has(sympy.Integral), int(mu.count_ops())


class _Part(NamedTuple):
    """What is known in its weights of one of several terms: R, and mu where it is."""

    mu: Expr | None
    R: Expr
    assumptions: tuple[Condition, ...] = ()


def _of_mu(
    p: Parameterization, mu: Expr, R: Expr, notation: Notation
) -> tuple[Identity, ...] | None:
    """Return what shows that mu, in the weights, is dQ/dbeta of Q = beta mu - R, or None."""
    names, begin = notation.weights, (to_expr(x, notation.start_symbols) for x in p.w0)
    start = {names[w]: x for w, x in zip(p.weights, begin, strict=True)}
    fields = [(names[w], to_expr(x, names)) for w, x in zip(p.weights, p.fields[0], strict=True)]
    mu_rate, R_rate = (
        sympy.Add(*(without_modulus(f).diff(w) * x for w, x in fields)) for f in (mu, R)
    )
    shown = (
        ("<grad mu, grad F> = 1", mu_rate, sympy.S.One),
        ("mu = 0 at the start", mu.xreplace(start), sympy.S.Zero),
        ("<grad R, grad F> = F", R_rate, to_expr(p.F[0], names)),
    )
    return accepted(ZeroTest(p, {}), shown, "parts")


def _part_in_weights(part: Parameterization, whole: Notation) -> _Part | None:
    """Return what is known of one of several terms, where that asks no sign of its start."""
    notation, warping = Notation(part, beside=whole.taken), decided(part)
    dual = find_dual(warping)
    R = conjugate_in_time(warping.metric.conserved, dual)
    with suppress(AssumePositive, BranchOpen):
        piece = in_weights(warping, dual, notation)
        by_place = integrate_along_weight(warping.metric, R, notation)
        piece = piece or next(filter(None, by_place), None)
        if piece is not None and piece.in_weights and not piece.abbreviations:
            at = dict(piece.constants) | {piece.betas[0]: sympy.S.Zero}
            if piece.curve is not None:
                own = parse_expression(piece.curve.weight)
                at[piece.curve.parameter] = to_sympy(own, notation.weights)
            mu, conjugate = (e.xreplace(at) for e in (piece.gradient[0], -piece.value))
            return _Part(mu, conjugate, piece.assumptions)
    return None if R is None or R.logs else _Part(None, to_expr(R.rational, notation.weights))


def decided(p: Parameterization) -> WarpVerdict:
    """Return what is decided of outputs: of those of a term, or of one coordinate, as of any."""
    return decide_warp(decide_hessian(find_metric(find_conserved(find_lie_structure(p)))))
