"""What is claimed of explicit regularization: R and R_F, whether R is Q, limits, and values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from flint import arb
from sympy import Expr, Poly, Symbol

from derive.explicit.contrast import Contrast
from derive.explicit.critical.intervals import RootInterval
from derive.explicit.minimum import (
    LENGTH,
    CertifiedValue,
    CriticalRoot,
    RootByInterval,
    RootValue,
    SquaredDistance,
)
from derive.statement import Equations, Open, Sentence, Statement, Table, each, note, tell
from derive.verdict import Finding, Verdict

DIGITS = 15
"""Decimal digits of certified values."""
KINDS = {"R": ("distance", "F(w_0)"), "R_F": ("representation cost", "F(0)")}
"""What is minimal, and the output at which it is 0."""


def minimum_of(
    name: str, minimum: SquaredDistance, outputs: Sequence[int], about: str
) -> Statement | Open:
    """Return R or R_F of some outputs: a formula, or which root of a polynomial it is."""
    kind, zero = KINDS[name]
    why = {"why": minimum.finding}
    if not isinstance(minimum, CriticalRoot) or not (minimum.equations or minimum.closed_forms):
        return Open("{why}", why, kind=kind, about=about)
    values = {
        **why,
        "name": name,
        "minimum": minimum,
        "betas": minimum.variables[: len(outputs)],
        "outputs": tuple(outputs),
    }
    below = (*_scaled(minimum, name), *_formulas(minimum, name, zero))
    if minimum.verdict is Verdict.UNDECIDED:
        words = "`{name}` is a root `r` of the polynomial below; {why}"
    elif isinstance(minimum, RootByInterval):
        words = "`{name}` is known at every `beta`:"
    else:
        words = "`{name}` is as below: {why}"
    given = minimum.given
    return Statement(words, values, kind=kind, about=about, conditions=given, below=below)


def _scaled(minimum: CriticalRoot, name: str) -> Iterator[object]:
    """Yield R in terms of r, where R scales."""
    if minimum.scale is not None:
        D = minimum.problem.degree
        names = {"a": minimum.scale, "b": minimum.argument, "beta": minimum.variables[0]}
        b_is = f"`{{b}} = {{beta}}/{{a}}{f'**{D}' if D != 1 else ''}`"
        yield tell(f"`{name} = {{a}}**2*r({{b}})`, {b_is}, where `{{a}} != 0`", **names)


def _formulas(minimum: CriticalRoot, name: str, zero: str) -> Iterator[object]:
    """Yield formulas by intervals, or the one there is, polynomials, and what was checked."""
    if isinstance(minimum, RootByInterval):
        yield from _by_intervals(minimum, name, zero)
        return
    (form,) = minimum.closed_forms or (None,)
    if form is not None:
        yield Equations(((_letter(minimum, name), form),))
    elif minimum.equations:
        yield _equations(minimum)
    for identity in minimum.finding.evidence:
        yield note("checked: {e}", e=identity)
        yield identity


def _by_intervals(minimum: RootByInterval, name: str, zero: str) -> Iterator[object]:
    for interval, form in zip(minimum.intervals, minimum.closed_forms, strict=True):
        yield _root(minimum, interval, form, name)
    if not minimum.is_closed:
        yield "where"
        yield _equations(minimum)
    if any(interval.low is not None for interval in minimum.intervals):
        yield f"at the ends of intervals: the limit from the side of `{zero}`, at which it is 0"
    samples = ", ".join(f"`{x}`" for interval in minimum.intervals for x in interval.samples)
    balls = f"certified in balls at `{{b}}`: {samples}; no roots meet in between"
    yield note(balls, b=minimum.argument)


def _letter(minimum: SquaredDistance, name: str) -> str:
    return name if minimum.scale is None else "r"


def _equations(minimum: SquaredDistance) -> Equations:
    equations = enumerate(minimum.equations)
    return Equations(tuple((equation_name(minimum, i), Poly(e, LENGTH)) for i, e in equations))


def equation_name(minimum: SquaredDistance, index: int) -> str:
    """Return the name of one of the polynomials, numbered where there are several."""
    return f"P{index + 1}" if len(minimum.equations) > 1 else "P"


def root_words(index: int) -> str:
    """Say which real root, counted from below.

    >>> root_words(0), root_words(1)
    ('smallest real root', 'real root 2, counted from below,')
    """
    return f"real root {index + 1}, counted from below," if index else "smallest real root"


def _root(minimum: RootByInterval, interval: RootInterval, form: Expr | None, name: str) -> object:
    where = _where(interval, minimum.argument)
    if interval.factor is None:
        return tell("no `w` has `F(w) = beta`{where}", where=where)
    of = f"{root_words(interval.index)} of {equation_name(minimum, interval.factor)}"
    root = tell("{x}{where}", x=of if form is None else form, where=where)
    return Equations(((_letter(minimum, name), root),))


def _where(interval: RootInterval, b: Symbol) -> Sentence:
    """Say on which interval, unless it is the whole line."""
    low = None if interval.low is None else decimal(interval.low)
    if interval.high is None:
        return tell("" if low is None else f" for `{{b}} > {low}`", b=b)
    low = "" if low is None else f"{low} < "
    return tell(f" for `{low}{{b}} < {decimal(interval.high)}`", b=b)


def decimal(value: arb | Fraction, digits: int = DIGITS) -> str:
    """Return a rational number exactly, a ball by its certified digits."""
    return str(value) if isinstance(value, Fraction) else str(value.str(digits, radius=False))


def contrast_of(contrast: Contrast, about: str) -> Iterator[Statement | Open]:
    """Yield whether R is Q, and values of both."""
    finding = contrast.finding
    if finding.verdict is Verdict.UNDECIDED:
        yield Open("{why}", {"why": finding}, kind="R beside Q", about=about)
        return
    below = list[object]()
    if contrast.implicit is not None and contrast.implicit.potential.pieces:
        flat = "flat at `beta_0 = F(w_0)`, with Hessian `2 K(w_0)^-1` there"
        below += [contrast.implicit.potential, note(f"for the comparison both are `0` and {flat}")]
    point = each("`{0} = {1}`", named(contrast.start))
    for e in finding.evidence:
        at = tell(", at {point}" * bool(contrast.start), point=point)
        below.append(tell(f"{{e}} is `{e.left}` for `R` and `{e.right}` for `Q`{{at}}", e=e, at=at))
    no = " not" * (finding.verdict is Verdict.REFUTED)
    words = f"`R` is{no} the implicit regularizer `Q` of gradient flow: {{why}}"
    told = {"why": finding, "contrast": contrast}
    yield Statement(words, told, kind="R beside Q", about=about, by=finding, below=tuple(below))
    if contrast.rows:
        cells = (
            (
                f"`{x.beta[0]}`" if len(x.beta) == 1 else f"`({', '.join(map(str, x.beta))})`",
                decimal(x.explicit, 14),
                f"{x.implicit:.12g}",
            )
            for x in contrast.rows
        )
        table = Table(("`beta`", "`R`, certified", "`Q`, in doubles"), tuple(cells))
        words = "values of both{at}:"
        at = tell(" at {point}" * bool(contrast.start), point=point)
        told = {"at": at, "contrast": contrast}
        yield Statement(words, told, kind="R and Q in numbers", about=about, below=(table,))


def named(point: Sequence[tuple[str, Fraction]]) -> Iterator[tuple[Symbol, Fraction]]:
    """Yield names as symbols, with their numbers."""
    return ((Symbol(name), value) for name, value in point)


def limit_of(finding: Finding, start: Sequence[str], about: str) -> Statement:
    """Return that R tends to R_F as the start does to 0."""
    told = {"why": finding, "start": each("`{0}`", ((Symbol(name),) for name in start))}
    words = "as `{start} -> 0`, `R -> R_F`: {why}"
    return Statement(words, told, kind="scale limit", about=about, by=finding)


def value_of(
    of: str, point: Sequence[tuple[str, Fraction]], value: CertifiedValue | None, reason: str
) -> Statement | Open:
    """Return R or R_F at numbers."""
    at = each("`{0} = {1}`", named(point))
    part = f"{of} at {', '.join(f'{name} = {x}' for name, x in point)}"
    if reason:
        return Open(f"`{of}` at {{at}}: {reason}", {"at": at}, kind="value", about=part)
    told = {"at": at, "of": of, "point": tuple(point), "value": value}
    words = f"`{of}` at {{at}}: no `w` has `F(w) = beta`"
    if value is not None:
        words = f"`{of} = {decimal(value.ball, 30)}` at {{at}}"
    if isinstance(value, RootValue):
        which = root_words(value.index).removesuffix(",")
        words += f", the {which} (of {value.roots}) of `{{P}}`"
        told |= {"P": Poly(value.polynomial, LENGTH)}
    return Statement(words, told, kind="value", about=part)
