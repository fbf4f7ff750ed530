"""What the forms of output say of a derivation in like order: facts without words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sympy import Expr, Integral, Symbol

from derive.derivation import Derivation
from derive.language.tree import Name
from derive.model.direction import Direction
from derive.model.notation import to_expr
from derive.potential.piece import Piece, Quadrature, Root, trimmed
from derive.weights.dependence import Dependence


def named_laws(d: Derivation) -> Iterator[tuple[str, Expr]]:
    """Yield each conserved quantity with its name."""
    for block in d.blocks:
        laws, notation = block.conserved.laws, block.notation
        for i, law in enumerate(laws, 1):
            name = notation.fresh(f"delta{i}" if len(laws) > 1 else "delta").name
            yield name, to_expr(law, notation.weights)


def part_names(parts: Sequence[object]) -> list[str]:
    """Return what the parts of Q are called.

    >>> part_names("ab"), part_names("a")
    (['Q_1', 'Q_2'], ['Q'])
    """
    return [f"Q_{i}" if len(parts) > 1 else "Q" for i, _ in enumerate(parts, 1)]


def dependent(d: Derivation) -> tuple[Dependence, ...]:
    """Return what is known of the blocks whose outputs move together."""
    return tuple(b.dependence for b in d.blocks if b.dependence is not None)


def to_print(piece: Piece) -> Piece:
    """Return a form without what nothing refers to; K and its roots at b where K(b) is integrated.

    K(b) = 3 A(b)^2 - 2 A(b) delta, where A(b) is a root of a polynomial in A and b.
    """
    piece = trimmed(piece)
    if not isinstance(piece, Quadrature) or piece.kernel is None:
        return piece
    (integral,), (beta,) = piece.value.atoms(Integral), piece.betas
    (b,), roots = integral.variables, list[Root]()
    at_b = {beta: b}
    for root in piece.roots:
        symbol = Symbol(f"{root.symbol}({b})", real=True)
        roots.append(replace(root.mapped(lambda e: e.xreplace(at_b)), symbol=symbol))
        at_b[root.symbol] = symbol
    return replace(piece, kernel=piece.kernel.xreplace(at_b), roots=tuple(roots))


def norms_of(direction: Direction | None) -> dict[str, str]:
    """Return each name that stands for a norm, with that of its vector."""
    if direction is None:
        return {}
    names = {direction.norm: direction.vector}
    start = direction.parameterization.start[-1][1]
    if isinstance(start, Name) and start.name.startswith(f"{direction.norm}_0"):
        names[start.name] = direction.start_vector
    return dict(sorted(names.items(), key=lambda pair: -len(pair[0])))
