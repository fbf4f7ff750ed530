"""Explicit counterparts told."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import singledispatch

from flint import arb
from sympy import Expr, Poly, Symbol

from derive.explicit.contrast import ComparedValues, Contrast
from derive.explicit.counterpart import BlockCounterpart, Evaluated, ExplicitCounterpart
from derive.explicit.critical.intervals import RootInterval
from derive.explicit.minimum import LENGTH, CriticalRoot, RootByInterval, RootValue, SquaredDistance
from derive.explicit.scale_limits import ScaleLimit
from derive.model.labels import taken_names
from derive.model.notation import Notation
from derive.render.narration import Narration, Part, Table, as_text, part
from derive.render.phrases import root_words
from derive.render.plain import plain, shown
from derive.statement import Equations, OnPage, Sentence, Text, each, tell
from derive.verdict import Verdict

DIGITS = 15
"""Decimal digits of certified values."""


def tell_explicit(found: ExplicitCounterpart) -> Narration:
    """Return what is said of explicit counterparts."""
    p = found.parameterization
    whole = "" if found.verdict is Verdict.PROVED else " in part"
    head = Part(f"What explicit l2 regularization of the weights gives, proved{whole}.")
    given: list[object] = [p]
    if p.vectors:
        names = each("`{0}`", ((Symbol(v.name),) for v in p.vectors))
        kind = "vectors" if len(p.vectors) > 1 else "a vector"
        length = f"{{names}} {kind} of any dimension; `s = |beta| = |{{F}}|`"
        given.append(tell(length, names=names, F=p.trees[0]))
    blocks = (section for block in found.blocks for section in _parts(found, block))
    values = part("Values, in balls", map(_evaluated, found.evaluated))
    setting = part("Parameterization `beta = F(w)`", given)
    return Narration((head, setting, *blocks, values), taken_names(p))


def decimal(value: arb | Fraction, digits: int = DIGITS) -> str:
    """Return a rational number exactly, a ball by its certified digits."""
    return str(value) if isinstance(value, Fraction) else str(value.str(digits, radius=False))


def polynomial_text(polynomial: Poly) -> str:
    """Return a polynomial in r with its powers in descending order."""
    text = ""
    for (power,), coefficient in polynomial.terms():
        sign = "-" if coefficient.could_extract_minus_sign() else "+"
        factor = shown(-coefficient if sign == "-" else coefficient)
        monomial = plain(LENGTH**power)
        if coefficient.is_Add and (power or sign == "-"):
            factor = f"({factor})"
        term = factor if not power else monomial if factor == "1" else f"{factor}*{monomial}"
        text += f" {sign} {term}"
    return text.removeprefix(" + ").replace(" - ", "-", 1) if text[1] == "-" else text[3:]


as_text.register(Poly, polynomial_text)


def _parts(found: ExplicitCounterpart, block: BlockCounterpart) -> Iterator[Part]:
    betas = Notation(found.parameterization, block.outputs).betas
    of = each(", `{0}`", ((b,) for b in betas if len(found.blocks) > 1), "")
    for name, length, minimum in (("R", "|w - w_0|", block.distance), ("R_F", "|w|", block.cost)):
        heading = tell(f"`{name} = min {length}^2` subject to `F(w) = beta`{{of}}", of=of)
        yield part(heading, _minimum(minimum, name), verdict=minimum.verdict)
    asked = tell("Is `R` the implicit regularizer `Q` of gradient flow{of}?", of=of)
    verdict = block.contrast.finding.verdict
    title = "Comparison with `Q`"
    yield part(asked, _contrast(block.contrast), verdict=verdict, title=title)
    yield from map(_limit, block.limits)


@singledispatch
def _minimum(minimum: SquaredDistance, name: str) -> Iterator[object]:
    yield minimum.finding


@_minimum.register
def _(minimum: CriticalRoot, name: str) -> Iterator[object]:
    yield minimum.finding
    yield from _scaled(minimum, name)
    (form,) = minimum.closed_forms or (None,)
    if form is not None:
        yield Equations(((_letter(minimum, name), form),))
    for identity in minimum.finding.evidence:
        yield tell("checked: {e}", e=identity)
        yield identity
    if minimum.verdict is Verdict.UNDECIDED and minimum.equations:
        yield f"`{name}` is a root `r` of"
    if form is None:
        yield _equations(minimum)


@_minimum.register
def _(minimum: RootByInterval, name: str) -> Iterator[object]:
    yield from _scaled(minimum, name)
    for interval, form in zip(minimum.intervals, minimum.closed_forms, strict=True):
        yield _root(minimum, interval, form, name)
    if not minimum.is_closed:
        yield "where"
        yield _equations(minimum)
    samples = ", ".join(f"`{x}`" for interval in minimum.intervals for x in interval.samples)
    balls = f"certified in balls at `{{b}}`: {samples}; no roots meet in between"
    yield tell(balls, b=minimum.argument)
    if any(interval.low is not None for interval in minimum.intervals):
        yield "at the ends of intervals: the limit from the side of `F(w_0)`"


def _scaled(minimum: CriticalRoot, name: str) -> Iterator[object]:
    """Yield R in terms of r, where R scales."""
    if minimum.scale is not None:
        names = {"a": minimum.scale, "b": minimum.argument, "beta": minimum.variables[0]}
        b_is = f"`{{b}} = {{beta}}/{{a}}**{minimum.problem.degree}`"
        yield tell(f"`{name} = {{a}}**2*r({{b}})`, {b_is}, `{{a}} != 0`", **names)


def _letter(minimum: SquaredDistance, name: str) -> str:
    return name if minimum.scale is None else "r"


def _equations(minimum: SquaredDistance) -> Equations:
    equations = enumerate(minimum.equations)
    return Equations(tuple((equation_name(minimum, i), Poly(e, LENGTH)) for i, e in equations))


def equation_name(minimum: SquaredDistance, index: int) -> str:
    """Return the name of one of the polynomials, numbered where there are several."""
    return f"P{index + 1}" if len(minimum.equations) > 1 else "P"


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


def _contrast(contrast: Contrast) -> Iterator[object]:
    if contrast.finding.verdict is not Verdict.UNDECIDED:
        no = " not" * (contrast.finding.verdict is Verdict.REFUTED)
        yield OnPage((f"`R` is{no} the implicit regularizer `Q` of gradient flow:",))
    yield contrast.finding
    if contrast.implicit is not None and contrast.implicit.potential.pieces:
        yield contrast.implicit.potential
        flat = "flat at `beta_0 = F(w_0)`, with Hessian `2 K(w_0)^-1` there"
        yield f"for the comparison both are `0` and {flat}"
    point = each("`{0} = {1}`", _named(contrast.start))
    for e in contrast.finding.evidence:
        at = tell(", at {point}" * bool(contrast.start), point=point)
        yield tell(f"{{e}} is `{e.left}` for `R` and `{e.right}` for `Q`{{at}}", e=e, at=at)
    if contrast.rows:
        rows = (
            (f"`{beta_text(x)}`", decimal(x.explicit, 14), f"{x.implicit:.12g}")
            for x in contrast.rows
        )
        yield Table(("`beta`", "`R`, certified", "`Q`, in doubles"), tuple(rows))


def _named(point: tuple[tuple[str, Fraction], ...]) -> Iterator[tuple[Symbol, Fraction]]:
    return ((Symbol(name), value) for name, value in point)


def beta_text(row: ComparedValues) -> str:
    """Return the beta of a row, in brackets where it has several coordinates."""
    beta = ", ".join(str(b) for b in row.beta)
    return beta if len(row.beta) == 1 else f"({beta})"


def _limit(limit: ScaleLimit) -> Part:
    names, _, goal = limit.when.partition(" -> ")
    start = each("`{0}`", ((Symbol(name),) for name in names.split(", ")))
    what = Text(limit.statement, "reason")
    heading = tell(f"`{{start}} -> {goal}`: {{what}}", start=start, what=what)
    many = start if names.count(",") < 3 else Sentence("w_0")
    as_ = tell(f"as `{{start}} -> {goal}`, {{what}}:", start=many, what=what)
    return part(
        heading, (OnPage((as_,)), limit.finding), verdict=limit.finding.verdict, title="Limit"
    )


def _evaluated(value: Evaluated) -> object:
    at, found = each("`{0} = {1}`", _named(value.point)), value.value
    if value.reason or found is None:
        reason = value.reason or "no `w` has `F(w) = beta`"
        return tell(f"`{value.of}` at {{at}}: {reason}", at=at)
    known = f"`{value.of} = {decimal(found.ball, 30)}` at {{at}}"
    if not isinstance(found, RootValue):
        return tell(known, at=at)
    which = root_words(found.index).removesuffix(",")
    polynomial = Poly(found.polynomial, LENGTH)
    return tell(f"{known}, the {which} (of {found.roots}) of `{{P}}`", at=at, P=polynomial)
