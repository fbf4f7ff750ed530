"""Formulas in LaTeX as MathML, which browsers show without a script, by math-core."""

from __future__ import annotations

from collections.abc import Iterable

from math_core import LatexToMathML

WRITER = LatexToMathML(fancy_error=False)


def inline(latex: str) -> str:
    """Return a formula in a line of words.

    >>> inline("x < 1")
    '<math><mi>x</mi><mo>&lt;</mo><mn>1</mn></math>'
    """
    return WRITER.convert_with_local_state(latex, displaystyle=False)


def display(latex: str) -> str:
    """Return a displayed formula."""
    return WRITER.convert_with_local_state(latex, displaystyle=True)


def aligned(rows: Iterable[str]) -> str:
    """Return rows below one another, each aligned at its first ``&``.

    What math-core writes of ``aligned`` has styles of its own, which our pages refuse.
    """
    table = "".join(
        f"<mtr>{''.join(f'<mtd>{_bare(cell)}</mtd>' for cell in row.split('&', 1))}</mtr>"
        for row in rows
    )
    return (
        f'<math display="block"><mtable displaystyle="true" class="aligned">{table}</mtable></math>'
    )


def _bare(latex: str) -> str:
    return display(latex).removeprefix('<math display="block">').removesuffix("</math>")
