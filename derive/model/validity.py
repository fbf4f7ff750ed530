"""Whether gradient flow on F is defined at the start and can move every output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.errors import DegenerateStart, InputError, RankDeficient
from derive.exact.linear.matrix import rank
from derive.exact.linear.modular import shows_full_rank
from derive.exact.positivity import is_nonnegative
from derive.exact.towers.refinement import Refine
from derive.exact.towers.tower import Tower
from derive.language import to_text
from derive.language.tree import Name
from derive.model.names import bases

if TYPE_CHECKING:
    from derive.model.parameterization import Parameterization


def check_dependence(p: Parameterization) -> None:
    """Refuse an output that is constant, and a weight on which no output depends."""
    for i, (f, gradient) in enumerate(zip(p.F, p.jacobian, strict=True), 1):
        if all(g.is_zero() for g in gradient):
            raise InputError(f"output {i} is the constant {f!r}: it cannot move")
    for k, name in enumerate(p.weights):
        if all(row[k].is_zero() for row in p.jacobian):
            raise InputError(f"no output depends on the weight {name}: leave it out")


def check_start(p: Parameterization) -> None:
    """Refuse a start where F or its Jacobian is undefined, or where a block cannot move."""
    try:
        rows = [[p.at_start(x) for x in row] for row in p.jacobian]
        for f in p.F:
            p.at_start(f)
    except ZeroDivisionError:
        raise DegenerateStart(
            "F or its gradient is undefined at the start: choose a start off its poles"
        ) from None
    for block in p.blocks:
        if all(x.is_zero() for i in block for x in rows[i]):
            which = ", ".join(str(i + 1) for i in block)
            raise DegenerateStart(
                f"the start is a critical point of output {which}: the gradient is zero there, "
                "so gradient flow never moves; choose another start"
            )


def check_positive(p: Parameterization) -> None:
    """Refuse a weight declared positive whose start is zero or negative."""
    symbols = frozenset(p.positive) & frozenset(p.start_field.names)
    for weight, value in zip(p.weights, p.w0, strict=True):
        if weight in p.positive and is_nonnegative(-value, symbols):
            if weight in p.nonnegative:
                raise DegenerateStart(
                    f"F is defined only where {weight} > 0, but {weight} starts at {value!r}"
                )
            raise InputError(f"positive: {weight} starts at {value!r}, which is not positive")


def check_bases(p: Parameterization) -> None:
    """Refuse a start in numbers where what is under a root, or in a logarithm, is not positive."""
    for tree in bases(p.trees):
        if not isinstance(tree, Name):
            try:
                base = p.field.embed(Tower.over(p.field, p.positive).element(tree))
                value = p.at_start(base)
            except (InputError, Refine, ValueError, ZeroDivisionError):
                continue
            if value.is_constant() and value.value() < 0:
                raise DegenerateStart(
                    f"F is defined only where {to_text(tree)} > 0, which starts at {value!r}"
                )


def check_rank(p: Parameterization) -> None:
    """Refuse outputs that move together: J has rank below d everywhere."""
    if shows_full_rank(p.jacobian):
        return
    found = rank(p.jacobian)
    if found < p.d:
        raise RankDeficient(
            f"the outputs move together: J has rank {found} of {p.d} everywhere; "
            "give outputs that can move independently"
        )
