"""|u| and |u_0| in place of the names that stand for the norms of a vector of open dimension."""

from __future__ import annotations

import re

from derive.language.tree import Name
from derive.model.direction import Direction
from derive.render.formula import latex_name


def _norms(direction: Direction) -> dict[str, str]:
    """Return each name that stands for a norm, with that of its vector."""
    names = {direction.norm: direction.vector}
    start = direction.parameterization.start[-1][1]
    if isinstance(start, Name) and start.name.startswith(f"{direction.norm}_0"):
        names[start.name] = direction.start_vector
    return dict(sorted(names.items(), key=lambda pair: -len(pair[0])))


def norms_as_text(text: str, direction: Direction | None) -> str:
    """Return plain text with |u| where the name of a norm stands."""
    if direction is None:
        return text
    names = _norms(direction)
    pattern = r"\b(" + "|".join(names) + r")\b"
    return re.sub(pattern, lambda found: f"|{names[found.group()]}|", text)


def norms_as_latex(text: str, direction: Direction | None) -> str:
    """Return LaTeX likewise."""
    for name, vector in () if direction is None else _norms(direction).items():
        text = text.replace(latex_name(name), rf"\lVert {latex_name(vector)} \rVert")
    return text
