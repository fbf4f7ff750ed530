"""Whether gradient flow on F is defined at the start and can move every output."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence, Set

from derive.errors import DegenerateStart, InputError, RankDeficient
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.matrix import Matrix, rank
from derive.exact.linear.modular import shows_full_rank
from derive.exact.positivity import is_nonnegative
from derive.exact.towers.reader import Refine
from derive.exact.towers.tower import Tower
from derive.language import to_text
from derive.language.tree import Name, Tree
from derive.model.names import bases
from derive.model.vectors import Vector


def check_dependence(
    F: Sequence[RationalFunction], jacobian: Matrix, weights: Sequence[str]
) -> None:
    """Refuse an output that is constant, and a weight on which no output depends."""
    for i, (f, gradient) in enumerate(zip(F, jacobian, strict=True), 1):
        if all(g.is_zero() for g in gradient):
            raise InputError(f"output {i} is the constant {f!r}: it cannot move")
    for k, name in enumerate(weights):
        if all(row[k].is_zero() for row in jacobian):
            raise InputError(f"no output depends on the weight {name}: leave it out")


def check_start(
    F: Sequence[RationalFunction],
    jacobian: Matrix,
    blocks: Iterable[Sequence[int]],
    at_start: Callable[[RationalFunction], RationalFunction],
) -> None:
    """Refuse a start where F or its Jacobian is undefined, or where a block cannot move."""
    try:
        rows = [[at_start(x) for x in row] for row in jacobian]
        for f in F:
            at_start(f)
    except ZeroDivisionError:
        raise DegenerateStart(
            "F or its gradient is undefined at the start: choose a start off its poles"
        ) from None
    for block in blocks:
        if all(x.is_zero() for i in block for x in rows[i]):
            which = ", ".join(str(i + 1) for i in block)
            raise DegenerateStart(
                f"the start is a critical point of output {which}: the gradient is zero there, "
                "so gradient flow never moves; choose another start"
            )


def check_length(
    s: RationalFunction,
    slopes: Sequence[RationalFunction],
    vectors: Sequence[Vector],
    at_start: Callable[[RationalFunction], RationalFunction],
) -> None:
    """Refuse vectors of open dimension whose beta has a constant length s, or cannot move."""
    if all(x.is_zero() for x in slopes):
        raise RankDeficient(
            "the length of beta is constant, so the outputs move together: "
            "give outputs that can move independently"
        )
    if len(vectors) == 1:
        n = s.field.named(vectors[0].norm)
        if at_start(n).is_zero() and vectors[0].norm in (s / n).variables():
            raise DegenerateStart(
                f"{vectors[0].name} starts at 0, where F has no direction; choose another start"
            )
    try:
        at_start(s)
        moved = [at_start(x) for x in slopes]
    except ZeroDivisionError:
        raise DegenerateStart("F is undefined at the start: choose another start") from None
    if all(x.is_zero() for x in moved):
        raise DegenerateStart(
            "the length of beta does not move from the start: choose another start"
        )


def check_positive(
    weights: Sequence[str],
    w0: Sequence[RationalFunction],
    positive: Collection[str],
    nonnegative: Set[str],
) -> None:
    """Refuse a weight declared positive whose start is zero or negative.

    Args:
        weights: the names of the weights.
        w0: where they start.
        positive: weights and start symbols that are declared positive.
        nonnegative: weights that have to be positive where F is defined.
    """
    for weight, value in zip(weights, w0, strict=True):
        symbols = frozenset(positive) & frozenset(value.field.names)
        if weight in positive and is_nonnegative(-value, symbols):
            if weight in nonnegative:
                raise DegenerateStart(
                    f"F is defined only where {weight} > 0, but {weight} starts at {value!r}"
                )
            raise InputError(f"positive: {weight} starts at {value!r}, which is not positive")


def check_bases(
    trees: tuple[Tree, ...],
    field: FunctionField,
    positive: tuple[str, ...],
    at_start: Callable[[RationalFunction], RationalFunction],
) -> None:
    """Refuse a start in numbers where what is under a root, or in a logarithm, is not positive."""
    for tree in bases(trees):
        if not isinstance(tree, Name):
            try:
                base = field.embed(Tower.over(field, positive).element(tree))
                value = at_start(base)
            except (InputError, Refine, ValueError, ZeroDivisionError):
                continue
            if value.is_constant() and value.value() < 0:
                raise DegenerateStart(
                    f"F is defined only where {to_text(tree)} > 0, which starts at {value!r}"
                )


def check_rank(jacobian: Matrix) -> None:
    """Refuse outputs that move together: J has rank below d everywhere."""
    if shows_full_rank(jacobian):
        return
    found = rank(jacobian)
    if found < len(jacobian):
        raise RankDeficient(
            f"the outputs move together: J has rank {found} of {len(jacobian)} everywhere; "
            "give outputs that can move independently"
        )
