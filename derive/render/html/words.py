"""Words in LaTeX, of the few commands that our pages use, as plain text."""

from __future__ import annotations

import re

LETTERS = {"textbackslash": "\\", "textasciicircum": "^", "textasciitilde": "~"}
LETTERS |= {"textless": "<", "textgreater": ">", "textbar": "|", "allowbreak": "", "dots": "\u2026"}
LETTERS |= {",": "\u2009"}
COMMAND = re.compile(r"\\([A-Za-z]+)(?:\{\}| )?|\\(.)|[{}]", re.DOTALL)


def plain(latex: str) -> str:
    r"""Return words without commands.

    >>> plain(r"R\_alpha -\textgreater{} 0")
    'R_alpha -> 0'
    """
    return COMMAND.sub(lambda m: LETTERS.get(m[1] or m[2], m[2] or ""), latex)
