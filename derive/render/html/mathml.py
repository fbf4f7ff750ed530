"""Formulas in LaTeX as MathML, which browsers show without a script, by math-core."""

from __future__ import annotations

import re
from collections.abc import Iterable

from math_core import LatexToMathML

WRITER = LatexToMathML(fancy_error=False)
PRIMED = re.compile(
    "<msu(?P<low>bsu)?p>(?P<base>(?:(?!</?msu).)*)<mo>(?P<sign>[\u2032-\u2034])</mo></msu(?:bsu)?p>"
)
"""Primes, which fonts have raised already: browsers would raise them twice."""
SIZED = re.compile("<msup>(<mo [^>]*minsize[^>]*>[^<]*</mo>)")
"""Brackets of fixed size with an exponent: browsers let them grow alone, and not as a base."""

PADDED = re.compile(
    '<mpadded style="padding-right:(?P<width>[^;"]*);">(?P<inner>(?:(?!</?mpadded).)*)</mpadded>'
)
"""A power of brackets before a factor, with a space by a style, which our pages refuse."""


def inline(latex: str) -> str:
    """Return a formula in a line of words.

    >>> inline("x < 1")
    '<math><mi>x</mi><mo>&lt;</mo><mn>1</mn></math>'
    """
    return _written(latex, displaystyle=False)


def display(latex: str) -> str:
    """Return a displayed formula."""
    return _written(latex, displaystyle=True)


def aligned(rows: Iterable[str]) -> str:
    """Return rows below one another, each aligned at its first ``&``.

    What math-core writes of ``aligned`` has styles of its own, which our pages refuse.
    """
    begin, end, table = '<math display="block">', "</math>", ""
    for row in rows:
        cells = (display(cell).removeprefix(begin).removesuffix(end) for cell in row.split("&", 1))
        table += f"<mtr>{''.join(map('<mtd>{}</mtd>'.format, cells))}</mtr>"
    return f'{begin}<mtable displaystyle="true" class="aligned">{table}</mtable>{end}'


def _written(latex: str, displaystyle: bool) -> str:
    def beside(found: re.Match[str]) -> str:
        base = f"<msub>{found['base']}</msub>" if found["low"] else found["base"]
        return f'<mrow>{base}<mo lspace="0em" rspace="0em">{found["sign"]}</mo></mrow>'

    written, padded = WRITER.convert_with_local_state(latex, displaystyle=displaystyle), 1
    while padded:
        spaced = r'<mrow>\g<inner><mspace width="\g<width>"/></mrow>'
        written, padded = PADDED.subn(spaced, written)
    return SIZED.sub(r'\1<msup><mspace height="1.1em"/>', PRIMED.sub(beside, written))
