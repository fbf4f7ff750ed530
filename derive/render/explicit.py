"""Explicit counterparts as plain text at 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import singledispatch

import sympy
from flint import arb
from sympy import Expr, Symbol

from derive.explicit.contrast import Contrast
from derive.explicit.counterpart import BlockCounterpart, Evaluated, ExplicitCounterpart
from derive.explicit.critical.intervals import RootInterval
from derive.explicit.minimum import (
    LENGTH,
    CriticalRoot,
    RootByInterval,
    RootValue,
    SquaredDistance,
)
from derive.language import to_text
from derive.render.plain import piece_lines, plain
from derive.render.text import homogeneity
from derive.render.words import title, wrap
from derive.verdict import Verdict

DIGITS = 15
"""Decimal digits of certified values."""
LONG = 400
"""Characters of an identity beyond which only --json has both sides."""


def render_text(found: ExplicitCounterpart, width: int = 80) -> str:
    """Return the record as text."""
    lines = [*_head(found), "", *_parameterization(found)]
    for block in found.blocks:
        for section in _sections(found, block):
            lines += ["", *section]
    if found.evaluated:
        lines += ["", "Values, in balls"]
        lines += [f"  {line}" for value in found.evaluated for line in _evaluated(value)]
    return "\n".join(part for line in lines for part in (wrap(line, width) if line else [""]))


def decimal(value: arb | Fraction, digits: int = DIGITS) -> str:
    """Return a rational number exactly, a ball by its certified digits."""
    return str(value) if isinstance(value, Fraction) else str(value.str(digits, radius=False))


def root_words(index: int) -> str:
    """Say which real root, counted from below.

    >>> root_words(0), root_words(1)
    ('smallest real root', 'real root 2, counted from below,')
    """
    return f"real root {index + 1}, counted from below," if index else "smallest real root"


def interval_text(interval: RootInterval, name: Symbol) -> str:
    """Return an interval in words, empty where it is the whole line."""
    low = None if interval.low is None else decimal(interval.low)
    high = None if interval.high is None else decimal(interval.high)
    if low is None:
        return "" if high is None else f"{name} < {high}"
    return f"{name} > {low}" if high is None else f"{low} < {name} < {high}"


def polynomial_text(equation: Expr) -> str:
    """Return a polynomial in r with its powers in descending order."""
    text = ""
    for (power,), coefficient in sympy.Poly(equation, LENGTH).terms():
        sign = "-" if coefficient.could_extract_minus_sign() else "+"
        factor = plain(-coefficient if sign == "-" else coefficient)
        monomial = "" if power == 0 else "r" if power == 1 else f"r**{power}"
        if monomial and factor != "1":
            bracket = f"({factor})" if coefficient.is_Add else factor
            monomial = f"{bracket}*{monomial}"
        elif not monomial and coefficient.is_Add and sign == "-":
            factor = f"({factor})"
        text += f" {sign} {monomial or factor}"
    return text.removeprefix(" + ").replace(" - ", "-", 1) if text[1] == "-" else text[3:]


def _head(found: ExplicitCounterpart) -> list[str]:
    if found.verdict is Verdict.PROVED:
        return ["What explicit l2 regularization of the weights gives, proved."]
    return ["What explicit l2 regularization of the weights gives, proved in part."]


def _parameterization(found: ExplicitCounterpart) -> Iterator[str]:
    p = found.parameterization
    yield "Parameterization beta = F(w)"
    names = ["beta"] if len(p.texts) == 1 else [f"beta{i + 1}" for i in range(p.d)]
    yield from (f"  {name} = {text}" for name, text in zip(names, p.texts, strict=True))
    if p.vectors:
        kind = "vectors" if len(p.vectors) > 1 else "a vector"
        names = [v.name for v in p.vectors]
        yield f"  {', '.join(names)} {kind} of any dimension; s = |beta| = |{to_text(p.trees[0])}|"
    start = ", ".join(f"{w} = {to_text(t)}" for w, t in p.start)
    yield f"  {homogeneity(p)}; start w_0: {start}"


def _sections(found: ExplicitCounterpart, block: BlockCounterpart) -> Iterator[list[str]]:
    of = ""
    if len(found.blocks) > 1:
        of = f", {', '.join(f'beta{i + 1}' for i in block.outputs)}"
    heading = f"R = min |w - w_0|^2 subject to F(w) = beta{of}"
    yield [title(heading, block.distance.verdict), *_minimum(block.distance, "R")]
    heading = f"R_F = min |w|^2 subject to F(w) = beta{of}"
    yield [title(heading, block.cost.verdict), *_minimum(block.cost, "R_F")]
    yield list(_contrast(block.contrast, of))
    if block.limits:
        yield [f"Limits{of}", *_limits(block)]


@singledispatch
def _minimum(minimum: SquaredDistance, name: str) -> Iterator[str]:
    yield f"  {minimum.finding.reason}"


@_minimum.register
def _(minimum: CriticalRoot, name: str) -> Iterator[str]:
    yield f"  {minimum.finding.reason}"
    yield from _scaled(minimum, name)
    (form,) = minimum.closed_forms or (None,)
    if form is not None:
        yield f"  {_letter(minimum, name)} = {plain(form)}"
    for identity in minimum.finding.evidence:
        yield f"  checked: {identity.statement}"
        if len(identity.left + identity.right) <= LONG:
            yield f"    {identity.left} = {identity.right}"
    if minimum.verdict is Verdict.UNDECIDED and minimum.equations:
        yield f"  {name} is a root r of"
    if form is None:
        yield from _equations(minimum)


@_minimum.register
def _(minimum: RootByInterval, name: str) -> Iterator[str]:
    yield from _scaled(minimum, name)
    for interval, form in zip(minimum.intervals, minimum.closed_forms, strict=True):
        yield f"  {_root(minimum, interval, form, name)}"
    samples = ", ".join(str(x) for interval in minimum.intervals for x in interval.samples)
    yield f"  certified in balls at {minimum.argument}: {samples}; no roots meet in between"
    if any(interval.low is not None for interval in minimum.intervals):
        yield "  at the ends of intervals: the smaller of the limits from both sides"
    if not minimum.is_closed:
        yield from _equations(minimum)


def _scaled(minimum: CriticalRoot, name: str) -> Iterator[str]:
    """Yield R in terms of r, where R scales."""
    if minimum.scale is not None:
        b = f"{minimum.variables[0]}/{minimum.scale}**{minimum.problem.degree}"
        yield f"  {name} = {minimum.scale}**2*r(b), b = {b}, {minimum.scale} != 0"


def _letter(minimum: SquaredDistance, name: str) -> str:
    return name if minimum.scale is None else "r"


def _equations(minimum: SquaredDistance) -> Iterator[str]:
    for i, equation in enumerate(minimum.equations):
        yield f"  {equation_name(minimum, i)} = {polynomial_text(equation)}"


def equation_name(minimum: SquaredDistance, index: int, template: str = "P{}") -> str:
    """Return the name of one of the polynomials, numbered where there are several."""
    return template.format(index + 1) if len(minimum.equations) > 1 else "P"


def _root(minimum: RootByInterval, interval: RootInterval, form: Expr | None, name: str) -> str:
    where = interval_text(interval, minimum.argument)
    where = f" for {where}" if where else ""
    if interval.factor is None:
        return f"no w has F(w) = beta{where}"
    left = _letter(minimum, name)
    if form is not None:
        return f"{left} = {plain(form)}{where}"
    of = equation_name(minimum, interval.factor)
    return f"{left} = {root_words(interval.index)} of {of}{where}"


def _contrast(contrast: Contrast, of: str) -> Iterator[str]:
    yield title(f"Is R the implicit regularizer Q of gradient flow{of}?", contrast.finding.verdict)
    yield f"  {contrast.finding.reason}"
    if contrast.implicit is not None and contrast.implicit.potential.pieces:
        for piece in contrast.implicit.potential.pieces:
            yield from (f"  {line}" for line in piece_lines(piece, "Q") if not line.startswith("d"))
        yield "  compared with both 0 and flat, with Hessian 2 K(w_0)^-1, at beta_0 = F(w_0)"
    at = ", ".join(f"{name} = {value}" for name, value in contrast.start)
    for identity in contrast.finding.evidence:
        yield f"  {identity.statement}:"
        yield f"    R: {identity.left}, Q: {identity.right}{f', at {at}' if at else ''}"
    if contrast.rows:
        yield f"  {'beta':>14}  {'R, certified':>20}  {'Q, double precision':>20}"
    for row in contrast.rows:
        beta = ", ".join(str(b) for b in row.beta)
        beta = beta if len(row.beta) == 1 else f"({beta})"
        yield f"  {beta:>14}  {decimal(row.explicit, 14):>20}  {row.implicit:>20.12g}"


def _limits(block: BlockCounterpart) -> Iterator[str]:
    for limit in block.limits:
        yield title(f"  {limit.when}: {limit.statement}", limit.finding.verdict)
        yield f"    {limit.finding.reason}"


def _evaluated(value: Evaluated) -> Iterator[str]:
    point = ", ".join(f"{name} = {number}" for name, number in value.point)
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
