"""min |w - w_0|^2 subject to F(w) = beta: what is known of it, one record for each case.

A :class:`SquaredDistance` on its own says only why nothing is known. A :class:`CriticalRoot` is a
root of a polynomial; which one is known between breakpoints for :class:`RootByInterval`, and
wherever some w has F(w) = beta for :class:`GreatestRoot`, also where it is a formula.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import sympy
from flint import arb, ctx
from sympy import Expr, Poly, Symbol

from derive.errors import InputError, NumericalError
from derive.exact.balls import ball
from derive.exact.field.polynomial import Polynomial, terms
from derive.explicit.constrained import BITS, ConstrainedProblem, Stopped
from derive.explicit.cost.duality import ClosedCost
from derive.explicit.critical.intervals import (
    CertifiedRoot,
    RootInterval,
    all_roots,
    has_weights,
    limit_at,
    minimum_at,
    root_at,
)
from derive.model.names import unused
from derive.model.notation import rational
from derive.statement import (
    Equations,
    OnTerminal,
    Open,
    Sentence,
    Statement,
    Text,
    each,
    note,
    tell,
)
from derive.verdict import Decided, Finding, Verdict

LENGTH = Symbol("r", real=True)
"""The squared distance, at alpha = 1 where the start is alpha times numbers."""
REACHED = "`F(w) = beta` for some `w`"


@dataclass(frozen=True)
class CertifiedValue:
    """A ball with the minimum at one rational point: a closed form, or 0 because F(w_0) = beta.

    Or the real root with this *index*, the smallest is 0, of so many of a *polynomial* in r.
    """

    ball: arb = field(compare=False)
    polynomial: Expr | None = None
    index: int | None = None
    roots: int = 0


@dataclass(frozen=True)
class SquaredDistance(Decided):
    """min |w - w_0|^2 subject to F(w) = beta on one block; w_0 = 0 gives the representation cost.

    The variables are beta and the start; PROVED where it is known which root or formula it is.
    """

    variables: tuple[Symbol, ...]
    finding: Finding

    @property
    def closed_forms(self) -> tuple[Expr | None, ...]:
        """The minimum as an expression, one for each interval; None where there is none."""
        return ()

    @property
    def given(self) -> tuple[str, ...]:
        """Of which beta the root or formula is said, where it is not of every beta."""
        return (f"{REACHED}, at almost all `beta`",)

    def at(self, point: Mapping[str, Fraction]) -> CertifiedValue | None:
        """Return the minimum at numbers for beta and the start; None where no w has F(w) = beta.

        Raises:
            InputError: a number is missing.
            NumericalError: it was not certified there; the text says which step stopped.
        """
        raise NumericalError(self.finding.reason)


@dataclass(frozen=True)
class CriticalRoot(SquaredDistance):
    """The minimum is a root r of one of the factors, in r and the variables; none if not found."""

    problem: ConstrainedProblem
    factors: tuple[Polynomial, ...] = field(hash=False)

    @property
    def scale(self) -> Symbol | None:
        """The symbol alpha, where R = alpha^2 r(beta/alpha^D)."""
        return self.variables[-1] if self.problem.single and self.problem.symbols else None

    @property
    def argument(self) -> Symbol:
        """b = beta/alpha^D, or beta itself where nothing is scaled."""
        if self.scale is None:
            return self.variables[0]
        return Symbol(unused("b", (self.scale.name, *self.problem.weights)), real=True)

    @functools.cached_property
    def equations(self) -> tuple[Expr, ...]:
        """The factors as expressions; in r and b where R scales, else in r and variables."""
        images = [LENGTH, *self.variables]
        if self.scale is not None:
            images = [LENGTH, self.argument, sympy.Integer(1)]
        return tuple(_equation(f, images) for f in self.factors)

    @functools.cached_property
    def closed_forms(self) -> tuple[Expr | None, ...]:
        """The root in radicals, as r >= 0 of a r^n + c; None of other polynomials."""
        if self.verdict is not Verdict.PROVED:
            return ()
        return (_closed_form(self.equations[0], self._side),)

    _side = 0
    """Of a quadratic equation: 1 for the greater root, -1 for the smaller, 0 where unknown."""

    def at(self, point: Mapping[str, Fraction]) -> CertifiedValue | None:
        """Return the minimum at numbers for beta and the start."""
        missing = [str(s) for s in self.variables if str(s) not in point]
        if missing:
            raise InputError(f"give a number for {missing[0]}")
        data = [Fraction(point[str(s)]) for s in self.variables]
        beta, w0 = self.problem.at(data)
        if self.problem.outputs_at(w0) == beta:
            return CertifiedValue(arb(0))
        try:
            return self._value_at(data)
        except Stopped as step:
            raise NumericalError(f"not certified at this point: {step}") from None

    def _value_at(self, data: Sequence[Fraction]) -> CertifiedValue | None:
        if not self.factors:
            ball = minimum_at(self.problem, tuple(data))
            return None if ball is None else CertifiedValue(ball)
        root = self._root_at(data)
        return None if root is None else self._root(root, data)

    def _root(self, root: CertifiedRoot, data: Sequence[Fraction]) -> CertifiedValue:
        """Return a root with its polynomial."""
        polynomial = _equation(self.factors[root.factor], [LENGTH, *map(rational, data)])
        return CertifiedValue(root.ball, polynomial, root.index, root.roots)

    def _root_at(self, data: Sequence[Fraction]) -> CertifiedRoot | None:
        return root_at(self.problem, self.factors, data)


@dataclass(frozen=True)
class GreatestRoot(CriticalRoot):
    """The minimum is the root r >= 0 at every beta with some w; *onto*: every beta has some.

    Or it is a *closed* cost, which is an expression but for norms of larger matrices.
    """

    onto: bool
    closed: ClosedCost | None = field(default=None, hash=False)

    @property
    def given(self) -> tuple[str, ...]:
        """Whether every beta is reached."""
        return () if self.onto else (REACHED,)

    @functools.cached_property
    def closed_forms(self) -> tuple[Expr | None, ...]:
        """The formula, where it is an expression."""
        if self.closed is None:
            return super().closed_forms
        return (self.closed.expression(self.variables),)

    _side = 1

    def _value_at(self, data: Sequence[Fraction]) -> CertifiedValue | None:
        if not (self.onto or has_weights(self.problem, data)):
            return None
        if self.closed is not None:
            return CertifiedValue(self.closed.at(data))
        with ctx.workprec(BITS):
            root = max(all_roots(self.factors, data), key=lambda root: root.ball.mid())
        return self._root(root, data)


@dataclass(frozen=True)
class RootByInterval(CriticalRoot):
    """The minimum depends on one number, and is one root between neighbouring breakpoints.

    At a breakpoint it is the limit from the side of F(w_0): away from there it does not fall.
    """

    intervals: tuple[RootInterval, ...]

    @property
    def given(self) -> tuple[str, ...]:
        """Nothing: the intervals say it."""
        return ()

    def _root_at(self, data: Sequence[Fraction]) -> CertifiedRoot | None:
        problem = self.problem
        alpha, ones = data[-1] if problem.symbols else Fraction(1), [Fraction(1)] * (len(data) - 1)
        if not alpha:  # there b is none
            return super()._root_at(data)
        b = data[0] / alpha ** int(problem.degree or 0) if problem.symbols else data[0]
        (first,) = problem.outputs_at(problem.at([b, *ones])[1])
        for interval in self.intervals:
            inside = interval.beside(b, -1 if b > first else 1)
            if inside is None or b == first:
                continue
            if interval.factor is None:
                return None
            with ctx.workprec(BITS):
                factor, k = self.factors[interval.factor], interval.index
                found = limit_at(factor, k, b, inside, len(ones))
                if found is None:
                    return None
                return CertifiedRoot(found[0] * ball(alpha * alpha), interval.factor, *found[1:])
        return super()._root_at(data)

    @functools.cached_property
    def closed_forms(self) -> tuple[Expr | None, ...]:
        """The minimum on each interval in radicals, None where the polynomial is left."""
        b = self.argument
        forms = (
            None if x.factor is None else _in_radicals(self.equations[x.factor], b, x)
            for x in self.intervals
        )
        pairs = zip(forms, self.intervals, strict=True)
        return tuple(form and form.xreplace({sympy.Abs(b): x.size(b)}) for form, x in pairs)

    @property
    def is_closed(self) -> bool:
        """Whether no polynomial is left."""
        pairs = zip(self.intervals, self.closed_forms, strict=True)
        return all(form is not None or interval.factor is None for interval, form in pairs)


def _equation(polynomial: Polynomial, images: Sequence[Expr]) -> Expr:
    """Return its value, with a positive leading coefficient in r where that has a sign."""
    by_power: dict[int, list[Expr]] = {}
    for (k, *exponents), c in terms(polynomial):
        factors = (x**e for x, e in zip(images[1:], exponents, strict=True))
        by_power.setdefault(k, []).append(sympy.Mul(c, *factors))
    coefficients = {k: sympy.Add(*parts) for k, parts in by_power.items()}
    top = max((k for k, x in coefficients.items() if x != 0), default=0)
    sign = -1 if coefficients[top].could_extract_minus_sign() else 1
    parts = (sign * x * images[0] ** k for k, line in by_power.items() for x in line)
    return sympy.Add(*parts)


def _in_radicals(equation: Expr, b: Symbol, interval: RootInterval) -> Expr | None:
    """Return a root as a function of b, or None.

    The interval says which it is: of a x^2 + ... with a < 0 a root is smaller for the plus sign.
    """
    a = sympy.Poly(equation, LENGTH).LC()
    signs = {sympy.sign(a.subs(b, sympy.Rational(str(x)))) for x in interval.samples}
    side = signs.pop() if len(signs) == 1 and interval.roots == 2 else 0
    return _closed_form(equation, side if interval.index else -side)


def _closed_form(equation: Expr, side: int) -> Expr | None:
    """Return a root of equation = 0, or None.

    For a r^n + c the minimum is (-c/a)^(1/n), since it is not negative; for degree 2 the root of
    the discriminant is taken to that side.
    """
    polynomial = sympy.Poly(equation, LENGTH)
    coefficients = polynomial.all_coeffs()
    degree = polynomial.degree()
    if not any(coefficients[1:-1]):
        radicand = sympy.factor(-coefficients[-1] / coefficients[0])
        return sympy.root(radicand, degree)
    if degree != 2 or not side:
        return None
    A, B, C = coefficients
    discriminant = sympy.sqrt(sympy.factor(B**2 - 4 * A * C))
    return sympy.expand((-B + side * discriminant) / (2 * A))


LONGEST = 1500
"""Characters of a polynomial that is written out."""
DIGITS = 15
"""Decimal digits of certified values."""
KINDS = {
    "R": ("distance", "F(w_0)"),
    "R_F": ("representation cost", "F(0)"),
    "R_h": ("fibre cost", "F(0)"),
}
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
    below = tuple(_formulas(minimum, name, zero))
    if minimum.verdict is Verdict.UNDECIDED:
        words = "`{name}` is a root `r` of the polynomial below; {why}"
    elif isinstance(minimum, RootByInterval):
        words = "`{name}` is known at every `beta`:"
    elif any(form is not None for form in minimum.closed_forms):
        words = "`{name}` has the formula below: {why}"
    else:
        words = "`{name}` is a root `r` of the polynomial below: {why}"
    given = minimum.given
    return Statement(words, values, kind=kind, about=about, conditions=given, below=below)


def _formulas(minimum: CriticalRoot, name: str, zero: str) -> Iterator[object]:
    """Yield formulas by intervals, or the one there is, polynomials, and what was checked.

    Where R scales it stands in terms of r.
    """
    if minimum.scale is not None:
        D = minimum.problem.degree
        names = {"a": minimum.scale, "b": minimum.argument, "beta": minimum.variables[0]}
        b_is = f"`{{b}} = {{beta}}/{{a}}{f'**{D}' if D != 1 else ''}`"
        yield tell(f"`{name} = {{a}}**2*r({{b}})`, {b_is}, where `{{a}} != 0`", **names)
    if isinstance(minimum, RootByInterval):
        yield from _by_intervals(minimum, name, zero)
        return
    (form,) = minimum.closed_forms or (None,)
    if form is not None:
        yield Equations(((_letter(minimum, name), form),))
    elif minimum.equations:
        yield from _equations(minimum)
    for identity in minimum.finding.evidence:
        yield note("checked: {e}", e=identity)
        yield identity


def _by_intervals(minimum: RootByInterval, name: str, zero: str) -> Iterator[object]:
    for interval, form in zip(minimum.intervals, minimum.closed_forms, strict=True):
        yield _root(minimum, interval, form, name)
    if not minimum.is_closed:
        yield "where"
        yield from _equations(minimum)
    if any(interval.low is not None for interval in minimum.intervals):
        yield f"at the ends of intervals: the limit from the side of `{zero}`, at which it is 0"
    samples = ", ".join(f"`{x}`" for interval in minimum.intervals for x in interval.samples)
    balls = f"certified in balls at `{{b}}`: {samples}; no roots meet in between"
    yield note(balls, b=minimum.argument)


def _letter(minimum: CriticalRoot, name: str) -> str:
    return name if minimum.scale is None else "r"


def _equations(minimum: CriticalRoot) -> Iterator[object]:
    """Yield the polynomials; of one that fills pages how large it is."""
    for i, e in enumerate(minimum.equations):
        P, f = equation_name(minimum, i), Poly(e, LENGTH)
        if len(str(e)) < LONGEST:
            yield Equations(((P, f),))
            continue
        size = {"n": sympy.Integer(f.degree()), "k": sympy.Integer(len(sympy.Add.make_args(e)))}
        yield note(f"`{P}` has degree {{n}} in `r`, and {{k}} terms: too long to print", **size)
        yield OnTerminal(("--json has it",))


def equation_name(minimum: CriticalRoot, index: int) -> str:
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
        why = {"at": at, "why": Text(reason, "reason")}
        return Open(f"`{of}` at {{at}}: {{why}}", why, kind="value", about=part)
    told = {"at": at, "of": of, "point": tuple(point), "value": value}
    words = f"`{of}` at {{at}}: no `w` has `F(w) = beta`"
    if value is not None:
        words = f"`{of} = {decimal(value.ball, 30)}` at {{at}}"
    if value is not None and value.index is not None:
        which = root_words(value.index).removesuffix(",")
        words += f", the {which} (of {value.roots}) of `{{P}}`"
        told |= {"P": Poly(value.polynomial, LENGTH)}
    return Statement(words, told, kind="value", about=part)
