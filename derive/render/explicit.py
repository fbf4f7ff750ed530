"""Explicit counterparts as plain text at 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch

import sympy
from flint import arb
from sympy import Expr, Symbol

from derive.explicit.contrast import ComparedValues, Contrast
from derive.explicit.counterpart import BlockCounterpart, Evaluated, ExplicitCounterpart
from derive.explicit.critical.intervals import RootInterval
from derive.explicit.minimum import LENGTH, CriticalRoot, RootByInterval, RootValue, SquaredDistance
from derive.explicit.scale_limits import ScaleLimit
from derive.language import to_text
from derive.model.labels import taken_names
from derive.model.notation import Notation
from derive.render.labels import marked, said
from derive.render.phrases import homogeneity, output_lines, root_words
from derive.render.plain import at, page, piece_lines, plain, shown, title
from derive.verdict import Verdict

DIGITS = 15
"""Decimal digits of certified values."""
LONG = 400
"""Characters of an identity beyond which only --json has both sides."""


def render_text(found: ExplicitCounterpart, width: int = 80) -> str:
    """Return the record as text."""
    part = "" if found.verdict is Verdict.PROVED else " in part"
    head = f"What explicit l2 regularization of the weights gives, proved{part}."
    blocks = (section for block in found.blocks for section in _sections(found, block))
    taken = taken_names(found.parameterization)
    return page([[head], _parameterization(found), *blocks, _values(found)], width, taken)


def decimal(value: arb | Fraction, digits: int = DIGITS) -> str:
    """Return a rational number exactly, a ball by its certified digits."""
    return str(value) if isinstance(value, Fraction) else str(value.str(digits, radius=False))


def polynomial_text(equation: Expr) -> str:
    """Return a polynomial in r with its powers in descending order."""
    text = ""
    for (power,), coefficient in sympy.Poly(equation, LENGTH).terms():
        sign = "-" if coefficient.could_extract_minus_sign() else "+"
        factor = shown(-coefficient if sign == "-" else coefficient)
        monomial = plain(LENGTH**power)
        if coefficient.is_Add and (power or sign == "-"):
            factor = f"({factor})"
        term = factor if not power else monomial if factor == "1" else f"{factor}*{monomial}"
        text += f" {sign} {term}"
    return text.removeprefix(" + ").replace(" - ", "-", 1) if text[1] == "-" else text[3:]


def _parameterization(found: ExplicitCounterpart) -> Iterator[str]:
    p = found.parameterization
    yield "Parameterization beta = F(w)"
    yield from output_lines(p)
    if p.vectors:
        kind = "vectors" if len(p.vectors) > 1 else "a vector"
        names = [marked(v.name) for v in p.vectors]
        length = marked(to_text(p.trees[0]))
        yield f"{', '.join(names)} {kind} of any dimension; s = |beta| = |{length}|"
    start = marked(", ".join(f"{w} = {to_text(t)}" for w, t in p.start))
    yield f"{homogeneity(p)}; start w_0: {start}"


def _sections(found: ExplicitCounterpart, block: BlockCounterpart) -> Iterator[Iterable[str]]:
    betas = "".join(f", {b}" for b in Notation(found.parameterization, block.outputs).betas)
    of = betas if len(found.blocks) > 1 else ""
    for name, length, minimum in (("R", "|w - w_0|", block.distance), ("R_F", "|w|", block.cost)):
        heading = f"{name} = min {length}^2 subject to F(w) = beta{of}"
        yield [title(heading, minimum.verdict), *_minimum(minimum, name)]
    yield _contrast(block.contrast, of)
    limits = [line for limit in block.limits for line in _limit(limit)]
    yield [f"Limits{of}", *limits] if limits else []


@singledispatch
def _minimum(minimum: SquaredDistance, name: str) -> Iterator[str]:
    yield said(minimum.finding.reason)


@_minimum.register
def _(minimum: CriticalRoot, name: str) -> Iterator[str]:
    yield said(minimum.finding.reason)
    yield from _scaled(minimum, name)
    (form,) = minimum.closed_forms or (None,)
    if form is not None:
        yield f"{_letter(minimum, name)} = {shown(form)}"
    for identity in minimum.finding.evidence:
        yield f"checked: {said(identity.statement)}"
        if len(identity.left + identity.right) <= LONG:
            yield f"  {marked(identity.left)} = {marked(identity.right)}"
    if minimum.verdict is Verdict.UNDECIDED and minimum.equations:
        yield f"{name} is a root r of"
    if form is None:
        yield from _equations(minimum)


@_minimum.register
def _(minimum: RootByInterval, name: str) -> Iterator[str]:
    yield from _scaled(minimum, name)
    for interval, form in zip(minimum.intervals, minimum.closed_forms, strict=True):
        yield _root(minimum, interval, form, name)
    samples = ", ".join(str(x) for interval in minimum.intervals for x in interval.samples)
    yield f"certified in balls at {minimum.argument}: {samples}; no roots meet in between"
    if any(interval.low is not None for interval in minimum.intervals):
        yield "at the ends of intervals: the limit from the side of F(w_0)"
    if not minimum.is_closed:
        yield from _equations(minimum)


def _scaled(minimum: CriticalRoot, name: str) -> Iterator[str]:
    """Yield R in terms of r, where R scales."""
    if minimum.scale is not None:
        alpha, b = marked(minimum.scale), minimum.argument
        b_is = f"{minimum.variables[0]}/{alpha}**{minimum.problem.degree}"
        yield f"{name} = {alpha}**2*r({b}), {b} = {b_is}, {alpha} != 0"


def _letter(minimum: SquaredDistance, name: str) -> str:
    return name if minimum.scale is None else "r"


def _equations(minimum: SquaredDistance) -> Iterator[str]:
    for i, equation in enumerate(minimum.equations):
        yield f"{equation_name(minimum, i)} = {polynomial_text(equation)}"


def equation_name(minimum: SquaredDistance, index: int, template: str = "P{}") -> str:
    """Return the name of one of the polynomials, numbered where there are several."""
    return template.format(index + 1) if len(minimum.equations) > 1 else "P"


def _root(minimum: RootByInterval, interval: RootInterval, form: Expr | None, name: str) -> str:
    where = _where(interval, minimum.argument)
    if interval.factor is None:
        return f"no w has F(w) = beta{where}"
    left = _letter(minimum, name)
    if form is not None:
        return f"{left} = {shown(form)}{where}"
    of = equation_name(minimum, interval.factor)
    return f"{left} = {root_words(interval.index)} of {of}{where}"


def _where(interval: RootInterval, name: Symbol) -> str:
    """Say on which interval, unless it is the whole line."""
    low = None if interval.low is None else decimal(interval.low)
    if interval.high is None:
        return "" if low is None else f" for {name} > {low}"
    high = decimal(interval.high)
    return f" for {name} < {high}" if low is None else f" for {low} < {name} < {high}"


def _contrast(contrast: Contrast, of: str) -> Iterator[str]:
    yield title(f"Is R the implicit regularizer Q of gradient flow{of}?", contrast.finding.verdict)
    yield said(contrast.finding.reason)
    if contrast.implicit is not None and contrast.implicit.potential.pieces:
        for piece in contrast.implicit.potential.pieces:
            yield from piece_lines(replace(piece, gradient=()), "Q")
        yield "compared with both 0 and flat, with Hessian 2 K(w_0)^-1, at beta_0 = F(w_0)"
    start = at(contrast.start)
    for identity in contrast.finding.evidence:
        yield f"{identity.statement}:"
        yield f"  R: {identity.left}, Q: {identity.right}{f', at {start}' if start else ''}"
    if contrast.rows:
        yield f"{'beta':>14}  {'R, certified':>20}  {'Q, double precision':>20}"
    for row in contrast.rows:
        yield f"{beta_text(row):>14}  {decimal(row.explicit, 14):>20}  {row.implicit:>20.12g}"


def beta_text(row: ComparedValues) -> str:
    """Return the beta of a row, in brackets where it has several coordinates."""
    beta = ", ".join(str(b) for b in row.beta)
    return beta if len(row.beta) == 1 else f"({beta})"


def _limit(limit: ScaleLimit) -> Iterator[str]:
    yield title(f"{marked(limit.when)}: {said(limit.statement)}", limit.finding.verdict, 78)
    yield f"  {said(limit.finding.reason)}"


def _values(found: ExplicitCounterpart) -> Iterator[str]:
    if found.evaluated:
        yield "Values, in balls"
    for value in found.evaluated:
        yield from _evaluated(value)


def _evaluated(value: Evaluated) -> Iterator[str]:
    point = at(value.point)
    found = value.value
    if value.reason:
        yield f"{value.of} at {point}: {value.reason}"
    elif found is None:
        yield f"{value.of} at {point}: no w has F(w) = beta"
    elif isinstance(found, RootValue):
        yield f"{value.of} = {decimal(found.ball, 30)} at {point},"
        which = root_words(found.index).removesuffix(",")
        yield f"  the {which} (of {found.roots}) of {polynomial_text(found.polynomial)}"
    else:
        yield f"{value.of} = {decimal(found.ball, 30)} at {point}"
