"""What to draw beside a model: data that can be fitted or separated, convex Q, and warps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

Rows = list[list[int]]
SMALL = st.integers(-3, 3)
CURVES = ("{atom}**2", "{atom}**2 + {atom}**4", "exp({t})", "cosh({t})", "sqrt(1 + {atom}**2)")
FACTORS = ("1 + {}**2", "exp({})", "1/(1 + {}**2)")


@st.composite
def regression_problems(
    draw: DrawFn, d: int, rows: int | None = None, beta: SearchStrategy[int] = SMALL
) -> tuple[Rows, list[int]]:
    """Draw X of full row rank and y = X beta, whole numbers.

    Args:
        draw: given by hypothesis.
        d: the number of columns.
        rows: m; by default fewer than d, so that many beta fit, or 1.
        beta: what the components of one solution are drawn from, such as those that F reaches.

    >>> from hypothesis import find
    >>> X, y = find(regression_problems(2), lambda problem: problem[1] == [1])
    >>> len(X), len(X[0]), y
    (1, 2, [1])
    """
    m = draw(st.integers(1, max(1, d - 1))) if rows is None else rows
    X = draw(st.lists(_vectors(d, SMALL), min_size=m, max_size=m))
    assume(np.linalg.matrix_rank(X) == m)
    return X, _times(X, draw(_vectors(d, beta)))


@st.composite
def separable_problems(draw: DrawFn, d: int, rows: int = 3) -> tuple[Rows, list[int]]:
    """Draw X and labels 1 or -1 that some beta separates: y_i <x_i, beta> >= 1 for all i.

    >>> from hypothesis import find
    >>> find(separable_problems(1, rows=2), lambda problem: set(problem[1]) == {1, -1})
    ([[1], [-1]], [1, -1])
    """
    X = draw(st.lists(_vectors(d, SMALL), min_size=rows, max_size=rows))
    margins = _times(X, draw(_vectors(d, SMALL)))
    assume(all(margins))
    return X, [1 if z > 0 else -1 for z in margins]


@st.composite
def convex_potentials(draw: DrawFn, d: int) -> str:
    """Draw Q(beta1, ..., betad), as text: a sum of strictly convex functions of d linear forms.

    The forms are independent, so Hess Q > 0 everywhere; for one output, beta is called beta.

    >>> from hypothesis import find
    >>> find(convex_potentials(2), lambda Q: "exp(beta1 + beta2)" in Q)
    'exp(beta1 + beta2) + beta2**2'
    """
    names = _betas(d)
    slopes = [draw(st.integers(-2, 2)) for _ in names[1:]]
    forms = [_form(x, c, y) for x, c, y in zip(names, slopes, names[1:], strict=False)]
    curves = [(draw(st.sampled_from(CURVES)), form) for form in [*forms, names[-1]]]
    atoms = [form if form in names else f"({form})" for _, form in curves]
    return " + ".join(c.format(t=t, atom=a) for (c, t), a in zip(curves, atoms, strict=True))


def _form(x: str, slope: int, y: str) -> str:
    """Return x + slope y as one writes it."""
    size = "" if abs(slope) == 1 else f"{abs(slope)}*"
    return f"{x} {'+' if slope > 0 else '-'} {size}{y}" if slope else x


@st.composite
def warps(draw: DrawFn, d: int) -> str:
    """Draw g(beta1, ..., betad) > 0, as text, that is not constant.

    >>> from hypothesis import find
    >>> find(warps(2), lambda g: "beta2" in g)
    '1 + beta2**2'
    """
    return draw(st.sampled_from(FACTORS)).format(draw(st.sampled_from(_betas(d))))


def _betas(d: int) -> list[str]:
    return ["beta"] if d == 1 else [f"beta{i}" for i in range(1, d + 1)]


def _vectors(d: int, entries: SearchStrategy[int]) -> SearchStrategy[list[int]]:
    return st.lists(entries, min_size=d, max_size=d)


def _times(X: Rows, beta: Sequence[int]) -> list[int]:
    return [sum(x * b for x, b in zip(row, beta, strict=True)) for row in X]
