"""What to draw for tests: a model beta = F(w) with its start, data for it, and potentials."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import sympy
from hypothesis import assume, reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from sympy import Expr, Symbol

from derive.errors import DeriveError, InputError, nearest
from derive.language import parse_expression
from derive.language.tree import names
from derive.model.parameterization import Parameterization

Outputs: TypeAlias = tuple[Sequence[str | Expr], Mapping[str, str]]
"""The outputs of F, and the starts of weights that make it of its kind."""

NAMES = "uvwxyzabcdpqrst"
NUMBERS = ("1", "2", "1/2", "3/2", "-1", "-3/2")
MOST_OUTPUTS = 3
SEPARABLE = (
    "{}**2",
    "{}*{}",
    "{}**2 - {}**2",
    "{}**3",
    "{}*{}*{}",
    "{}**3 - {}**3",
    "{}*{} - {}*{}",
)
WITH_GENERATORS = (
    *("exp({})", "log({})", "sqrt({})", "sinh({})", "asinh({})", "sin({})", "tanh({})"),
    *("sigmoid({})", "{}*exp({})", "exp({}) - exp({})", "{}**2*cosh({})", "{}*log({})"),
)
SPOILED = ("separable", "commuting", "equivariant")
COEFFICIENTS = ("a", "a**2", "a*b", "1 + a**2", "exp(a)", "a*norm")


@st.composite
def _terms(draw: DrawFn, templates: Sequence[str]) -> Outputs:
    """Draw outputs that share no weight: of such F, Q is a sum over the outputs."""
    chosen = draw(st.lists(st.sampled_from(templates), min_size=1, max_size=MOST_OUTPUTS))
    names = iter(NAMES)
    return [t.format(*(next(names) for _ in range(t.count("{}")))) for t in chosen], {}


def _forms(matrices: Iterable[sympy.Matrix]) -> Outputs:
    """Return the quadratic forms w^T A w."""
    return [sympy.expand((_weights(A.rows).T * A * _weights(A.rows))[0]) for A in matrices], {}


def _weights(size: int) -> sympy.Matrix:
    return sympy.Matrix([Symbol(name, real=True) for name in NAMES[:size]])


@st.composite
def _symmetric(draw: DrawFn) -> sympy.Matrix:
    """Draw a 3x3 matrix; a smaller one is cut from it, so that sizes shrink by themselves."""
    f, e, d, c, b, a = draw(st.tuples(*[st.integers(-2, 2)] * 6))
    return sympy.Matrix([[a, b, d], [b, c, e], [d, e, f]])


@st.composite
def _commuting(draw: DrawFn) -> Outputs:
    """Draw quadratic forms of powers of one matrix: the flows of the outputs commute."""
    A, size = draw(_symmetric()), draw(st.integers(1, 3))
    powers = sorted(draw(st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True)))
    return _forms(A[:size, :size] ** k for k in powers[:size])


@st.composite
def _noncommuting(draw: DrawFn) -> Outputs:
    """Draw two quadratic forms whose matrices do not commute."""
    A, B, size = draw(_symmetric()), draw(_symmetric()), draw(st.integers(2, 3))
    A, B = A[:size, :size], B[:size, :size]
    return reject() if A * B == B * A else _forms((A, B))


@st.composite
def _homogeneous(draw: DrawFn) -> Outputs:
    """Draw forms of one degree with few terms."""
    degree, size = draw(st.integers(2, 3)), draw(st.integers(1, 3))
    weight = st.sampled_from(list(_weights(size)))
    monomial = st.lists(weight, min_size=degree, max_size=degree).map(sympy.prod)
    term = st.tuples(st.sampled_from((1, 2, -1, -2)), monomial).map(sympy.prod)
    form = st.lists(term, min_size=1, max_size=2).map(sympy.Add.fromiter)
    return draw(st.lists(form, min_size=1, max_size=size)), {}


@st.composite
def _equivariant(draw: DrawFn) -> Outputs:
    """Draw phi u, or a sum of two such terms: F turns as the vectors do."""
    d, neurons = draw(st.integers(2, 3)), draw(st.integers(1, 2))
    terms = []
    for vector, scalars in [("u", "ab"), ("v", "cd")][:neurons]:
        square = "+".join(f"{vector}{i}**2" for i in range(1, d + 1))
        phi = draw(st.sampled_from(COEFFICIENTS)).replace("norm", f"({square})")
        phi = re.sub(r"\ba\b", scalars[0], re.sub(r"\bb\b", scalars[1], phi))
        terms.append(f"({phi})*{vector}")
    return [" + ".join(f"{term}{i}" for term in terms) for i in range(1, d + 1)], {}


@st.composite
def _degenerate(draw: DrawFn) -> Outputs:
    """Draw another kind and spoil it: idle, duplicated or zero weights, an output said twice."""
    kind = draw(st.sampled_from(SPOILED))
    outputs = [str(f) for f in draw(KINDS[kind])[0]]
    weights = names(tuple(map(parse_expression, outputs)))
    assume(weights)
    used = st.sampled_from(weights)
    match draw(st.sampled_from(("idle", "duplicated", "zero", "dependent"))):
        case "idle":
            return [f"{outputs[0]} + x0*y0", *outputs[1:]], {"x0": "0", "y0": "0"}
        case "duplicated":
            twice = draw(used)
            return [re.sub(rf"\b{twice}\b", f"({twice} + twin)", f) for f in outputs], {}
        case "zero":
            return outputs, dict.fromkeys(draw(st.sets(used, min_size=1, max_size=2)), "0")
    return [*outputs, f"2*({outputs[0]}) + 1"], {}


KINDS: Mapping[str, SearchStrategy[Outputs]] = {
    "separable": _terms(SEPARABLE),
    "commuting": _commuting(),
    "noncommuting": _noncommuting(),
    "homogeneous": _homogeneous(),
    "equivariant": _equivariant(),
    "generators": _terms(WITH_GENERATORS),
    "degenerate": _degenerate(),
}
"""What can be drawn: outputs that share no weight; quadratic forms whose flows commute, or do not;
forms of one degree; F that turns with its vectors; exp, log, ... in F; degenerate on purpose."""


def starts(
    symbols: Iterable[str], numbers: SearchStrategy[str] | None = None
) -> SearchStrategy[dict[str, str]]:
    """Return a strategy of numbers for start symbols or weights, as text.

    Args:
        symbols: their names, such as ``p.start_symbols``.
        numbers: what each is drawn from; by default small numbers of both signs, none of them 0.

    >>> from hypothesis import find
    >>> find(starts(["p_0", "m_0"]), lambda start: start["p_0"] != start["m_0"])
    {'p_0': '1', 'm_0': '2'}
    """
    drawn = st.sampled_from(NUMBERS) if numbers is None else numbers
    return st.fixed_dictionaries(dict.fromkeys(symbols, drawn))


def parameterizations(
    *kinds: str, start: SearchStrategy[str | None] | None = None
) -> SearchStrategy[Parameterization]:
    """Return a strategy of models beta = F(w) with their starts, small ones first.

    Args:
        kinds: of :data:`KINDS`; all of them by default.
        start: what the start of each weight is drawn from, None standing for a symbol; by default
            all are symbols, but for the zeros of models that are degenerate on purpose.

    Raises:
        InputError: there is no such kind.

    >>> from hypothesis import find
    >>> find(parameterizations("equivariant", start=st.just("1")), lambda p: "b" in p.weights)
    Parameterization(['a*b*u1', 'a*b*u2'], start={'a': '1', 'b': '1', 'u1': '1', 'u2': '1'})
    """
    for kind in kinds:
        if kind not in KINDS:
            known = f"the kinds are {', '.join(KINDS)}"
            raise InputError(f"there is no kind {kind!r} of model: {nearest(kind, KINDS, known)}")
    value = st.none() if start is None else start
    return st.one_of([_models(KINDS[kind], value) for kind in kinds or KINDS])


@st.composite
def _models(
    draw: DrawFn, outputs: SearchStrategy[Outputs], value: SearchStrategy[str | None]
) -> Parameterization:
    drawn_outputs, fixed = draw(outputs)
    F = [str(f) for f in drawn_outputs]  # text, as one reads it in the code of the model
    try:
        p = Parameterization(F)
        drawn = {name: draw(value) for name in p.weights if name not in fixed}
        given = {name: number for name, number in drawn.items() if number is not None}
        return Parameterization(F, start={**given, **fixed})
    except DeriveError:
        return reject()


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
