"""What a file on beta = phi u is about: phi, |u|^2, and Q as a function of |beta|^2.

Outputs that are phi times weights of their own are such a vector, of their number as dimension.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation, derive
from derive.language import to_sympy
from derive.model.names import unused
from derive.model.parameterization import Parameterization
from derive.potential.piece import with_formulas
from derive.rocq.subject import Subject, Z, conditions, subject_of
from derive.rocq.terms import NoFile, name_of, plain


@dataclass(frozen=True)
class Length:
    """Functions of n = |beta|^2.

    Attributes:
        q, p, dp: Q without <u_0, beta>, 2 q', and p'.
        beyond: p + 2 n p' = sqrt(r T)/R.
        walls: what is positive where Q lives.
    """

    q: Expr
    p: Expr
    dp: Expr
    beyond: Expr
    walls: tuple[Expr, ...]


def turning(d: Derivation) -> tuple[Subject, Length]:
    """Return phi as the output, the scalars, and |u|^2 as the last weight; and Q of the length.

    Raises:
        NoFile: the derivation has no such file.
    """
    m, (vector,) = subject_of(d), d.parameterization.vectors
    norm, phi = Symbol(vector.norm, real=True), plain(to_sympy(vector.coefficient))
    if phi.has(norm) or sympy.cancel(plain(d.warping.g) - m.rates[-1] * phi) != 0:
        raise NoFile("the dual coordinates are not u, of which no file is written")
    length_0 = Symbol(f"{vector.norm}_0", real=True)
    squares = {norm: sympy.sqrt(norm), length_0: sympy.sqrt(length_0)}
    assert d.direction is not None
    start = name_of(d.direction.start_vector)
    scalars = replace(
        m,
        outputs=(phi,),
        start=(*m.start[:-1], (m.start[-1] ** 2).subs(squares)),
        symbols=tuple(s for s in m.symbols if s != length_0.name),
        constants=tuple((c, v.subs(squares)) for c, v in m.constants),
        conditions=tuple(c for c in m.conditions if length_0.name not in c.names),
        laws=tuple(law.subs(squares) for law in m.laws),
        ties=tuple(_ties(phi, m)),
        typed=(("d", "nat"), (start, "nat -> R")),
        texts=((length_0.name, f"dot d {start} {start}"),) if m.start[-1] == length_0 else (),
    )
    return scalars, _length(d, scalars)


def _ties(phi: Expr, m: Subject) -> Iterator[tuple[int, Expr]]:
    """Yield scalars that stay equal to earlier ones: they start and move alike where they are."""
    scalars = [*zip(m.moving, m.start, m.rates, strict=True)][:-1]
    for j, (w, w_0, rate) in enumerate(scalars):
        for v, v_0, other in scalars[:j]:
            apart = (rate * phi.diff(w) - other * phi.diff(v)).subs(w, v)
            if v_0 == w_0 and sympy.expand(apart) == 0:
                yield j, v
                break


def _length(d: Derivation, m: Subject) -> Length:
    """Return functions of n, with what is positive where they are defined.

    Raises:
        NoFile: Q is not explicit.
    """
    turn, (piece,) = d.potential.turning, d.potential.pieces
    beyond = d.potential.other_side is not None or d.direction is None or d.direction.sign < 0
    if turn is None or turn.eigenvalues is None or piece.kind != "explicit" or beyond:
        raise NoFile(f"Q of the length is {piece.kind}, in a form of which no file is written")
    values, s = turn.eigenvalues, Symbol(piece.betas[0].name, real=True)
    roots = [*piece.roots, *values.roots]
    q, slope, across, along = (
        plain(with_formulas(e, roots)).subs(s, sympy.sqrt(Z))
        for e in (piece.value, *piece.gradient, values.across, values.along)
    )
    p = slope / sympy.sqrt(Z)
    second = sympy.sqrt(m.rates[-1] * across) / sympy.expand(along)
    signs, walls = m.asked.with_(least=(Z,)), []
    for e in (e for f in (q, p, second) for e in sympy.postorder_traversal(f) if e.is_Pow):
        if not e.exp.is_Integer and not signs.positive(e.base):
            walls.append(e.base)
            signs = signs.with_([e.base])
    return Length(q, p, p.diff(Z), second, tuple(walls))


def as_vector(d: Derivation) -> Derivation | None:
    """Return the same of a vector of open dimension, where the outputs are its entries.

    The outputs are phi u_i: each u_i is in one of them and starts where it likes, all at one rate.
    """
    p = d.parameterization
    if p.d == 1 or p.affine or p.vectors or not p.geometry.is_diagonal:
        return None
    if (found := _entries([plain(to_sympy(tree)) for tree in p.trees])) is None:
        return None
    phi, entries = found
    name = unused("u", (*p.weights, *p.parameters, *p.start_symbols))
    if (vector := _turned(p, phi, entries, name)) is None:
        return None
    whole = derive(vector)
    same = {*whole.parameterization.parameters} == {*p.parameters}
    return whole if same and _as_printed(d, whole, name) else None


def _turned(
    p: Parameterization, phi: Expr, entries: Sequence[str], name: str
) -> Parameterization | None:
    """Return phi u with a vector of this name for its entries; None where these are told apart."""
    start = {w: str(to_sympy(tree)) for w, tree in p.start}
    rates = dict(zip(p.weights, map(str, map(to_sympy, p.rates)), strict=False))
    if len({rates.get(w) for w in entries}) > 1 or any(start[w] != f"{w}_0" for w in entries):
        return None
    return Parameterization.parse(
        [f"({phi})*{name}"],
        {w: v for w, v in start.items() if w not in entries and v != f"{w}_0"},
        p.positive,
        vectors=[name],
        rates={name if w == entries[0] else w: r for w, r in rates.items() if w not in entries[1:]},
    )


def _entries(F: Sequence[Expr]) -> tuple[Expr, list[str]] | None:
    """Return phi and the names of the entries u_i of outputs phi u_i."""
    ratios = [sympy.fraction(sympy.cancel(f / F[0])) for f in F[1:]]
    u = [ratios[0][1], *(above for above, _ in ratios)]
    phi = sympy.cancel(F[0] / u[0])
    names = [x.name for x in u if x.is_Symbol]
    alike = len({*names}) == len(F) and all(below == u[0] for _, below in ratios)
    return (phi, names) if alike and not phi.has(*u) else None


def _as_printed(d: Derivation, vector: Derivation, name: str) -> bool:
    """Say whether what is assumed for a vector is what the page of its entries prints."""
    asked, kept = conditions(vector)
    printed = {c.written for piece in d.potential.pieces for c in piece.assumptions}
    mine = {c.written for c in asked if f"norm_{name}_0" not in c.names}
    return mine <= printed and all(any(w.startswith(f"{e} keeps") for w in printed) for e in kept)
