"""What to draw of a model: the map beta = F(w), of kinds that differ in their answer, and starts.

Each kind is a strategy of outputs with the start values that belong to it. What the toolkit refuses
by name, such as a start at which F cannot move, is drawn again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

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
