"""What the gradient fields generate, and the point at which that is seen, as text and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from derive.records import Block
from derive.render.formula import latex_name
from derive.verdict import Verdict


def algebra_lines(block: Block) -> Iterator[str]:
    """Yield which brackets span the Lie algebra, and weights at which they are independent."""
    lie = block.lie
    words = ", ".join(lie.words)
    how = "commute; they span" if lie.commuting else "generate"
    yield f"the fields X_i = grad F_i {how} dimension {lie.dimension}: {words}"
    if lie.point is not None:
        at = ", ".join(f"{name} = {value}" for name, value in lie.point)
        complete = "complete: " if block.conserved.verdict is Verdict.PROVED else ""
        yield f"{complete}{words} {_rank(block)} at {at}"


def algebra_sentences(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the same for every block, as LaTeX sentences."""
    for block in blocks:
        if block.lie.point is None:
            continue
        words = ", ".join(re.sub(r"X(\d+)", r"X_{\1}", f"${word}$") for word in block.lie.words)
        at = ", ".join(f"${latex_name(name)} = {value}$" for name, value in block.lie.point)
        so = ", so the list is complete" if block.conserved.verdict is Verdict.PROVED else ""
        yield rf"With $X_i = \nabla F_i$, {words} {_rank(block)} at {at}{so}."


def _rank(block: Block) -> str:
    return "are independent" if len(block.lie.words) > 1 else "is not zero"
