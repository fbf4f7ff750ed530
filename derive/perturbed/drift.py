"""How one law or dual coordinate changes, and whether that is closed: a function of laws alone.

A drift as a function of beta and the laws, where these and a root in them tell it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import grouped
from derive.exact.linear.families import LogFunction
from derive.exact.linear.implicitization import Coordinates, express
from derive.exact.linear.matrix import dot
from derive.exact.signs import Signs
from derive.joint import join_findings
from derive.model.notation import to_expr
from derive.model.parameterization import Parameterization
from derive.perturbed.followed import Followed, Leaf
from derive.potential.chart import Chart
from derive.printable import Held
from derive.verdict import Decided, Finding, Identity, Verdict
from derive.weights.witness import Equation, differ_at_start, find_failure

SLOPE = "<grad f, grad F_j> = 0"
"""What holds for a closed drift f."""
SIZES = (1, 8, 64)
"""By which 2, 3, ... are divided for the letters, where steps have to be small."""


@dataclass(frozen=True, repr=False)
class Drift(Decided, Held):
    """What a perturbation does to one law c, or to one dual coordinate y.

    Attributes:
        symbol: what it is called.
        quantity: it, in the weights; logarithms are of moduli.
        change: of it, in the weights and the letters of the perturbation.
        finding: is the change closed? It depends on the weights through the laws alone; but for
            decay, where that of y may have a term q y. REFUTED: steering changes it, on a leaf.
        regular: has the quantity no pole and no logarithm that weights may reach?
        in_laws: the change in c, and y, where it was written so.
        in_beta: the change in beta and c, where it was written so and is not closed.
        factor: q.
        still: is nothing of the change left beside what steers?
    """

    symbol: Symbol
    quantity: Expr
    change: Expr
    finding: Finding
    regular: bool
    in_laws: Expr | None = None
    factor: Expr | None = None
    in_beta: Expr | None = None
    still: bool = False


def closing(
    leaf: Leaf, x: Followed, f: LogFunction, positive: Sequence[RationalFunction] = ()
) -> Finding:
    """Decide whether a change of c or y is a function of the laws.

    Args:
        positive: what has to be so, of the weights and letters, where a failure is shown.
    """
    if (slope := leaf.steered(f)) is not None:
        return _refuted(leaf, x, slope, positive)
    if not leaf.complete and (f.logs or leaf.in_laws(f.rational) is None):
        return not_closed(x, "is conserved by the flow, of which not all laws are known")
    statement = f"{SLOPE} for all j, f = {leaf.with_logs(f)}"
    reason = f"the drift of `{x.symbol}` is a function of laws"
    return Finding(Verdict.PROVED, reason, (Identity(statement, "0", "0"),))


def _refuted(
    leaf: Leaf, x: Followed, slope: RationalFunction, positive: Sequence[RationalFunction]
) -> Finding:
    """Return weights, parameters and letters at which steering changes a drift on a leaf."""
    p, letters = leaf.base or leaf.parameterization, [s.name for s in leaf.letters.values()]
    for size in SIZES:
        numbers = [Fraction(k) / size for k in range(2, 2 + len(letters))]
        conditions = (*positive, *(f * f for f in leaf.generic()))
        there, *given = (leaf.in_numbers(f, numbers) for f in (slope, *conditions))
        failure = find_failure(p, Equation(SLOPE, there, p.field.zero), given)
        if failure is not None:
            failure = _itself(p, there, failure, given)
            point = (*failure.point, *zip(letters, numbers, strict=True))
            why = f"the drift of `{x.symbol}` is no function of laws: "
            why += "it changes with `beta` on a leaf"
            return Finding(Verdict.REFUTED, why, (replace(failure, point=point),))
    return not_closed(x, "changes with beta on leaves; that of the start was not decided")


def _itself(
    p: Parameterization,
    slope: RationalFunction,
    failure: Identity,
    positive: Sequence[RationalFunction],
) -> Identity:
    """Return a failure of f, not of f times its denominator, where f has no pole at the point."""
    if not failure.factor:
        return failure
    differentiated = slope
    for j in failure.derivative:
        x = p.fields[p.labels.index(int(j.removeprefix("grad F")))]
        differentiated = dot(x, p.field.gradient(differentiated))
    found = differ_at_start(p, (differentiated, p.field.zero), positive)
    return Identity(SLOPE, repr(slope), "0", *found, failure.derivative) if found else failure


def not_closed(x: Followed, why: str) -> Finding:
    """Return that the change of c or y is not known to be closed."""
    return Finding(Verdict.UNDECIDED, f"the drift of `{x.symbol}` {why}")


def drift_of(
    leaf: Leaf,
    x: Followed,
    change: LogFunction,
    own: LogFunction | None = None,
    positive: Sequence[RationalFunction] = (),
) -> Drift:
    """Return a change as the drift of c or y.

    Args:
        own: what has to be a function of the laws, if that is not the change itself.
        positive: as for :func:`closing`.
    """
    own = change if own is None else own
    finding = closing(leaf, x, own, positive)
    plain = None if change.logs else change.rational
    found = open_drift(leaf, x, leaf.with_logs(change), "")
    found = replace(found, finding=finding, still=own.is_zero())
    if finding.verdict is Verdict.PROVED:
        return replace(found, in_laws=None if plain is None else leaf.in_laws(plain))
    return replace(found, in_beta=None if plain is None else in_beta(leaf, plain))


def added(parts: Sequence[tuple[Expr, Drift]]) -> Drift:
    """Return the sum of drifts, each times a factor; closed if all are."""
    first = parts[0][1]

    def total(written: Sequence[Expr | None]) -> Expr | None:
        pairs = zip(written, parts, strict=True)
        terms = [None if x is None else size * x for x, (size, _) in pairs]
        return None if None in terms else sympy.Add(*terms)

    factors = {x.factor for _, x in parts} - {None}
    finding = join_findings([x.finding for _, x in parts])
    return replace(
        first,
        change=sympy.Add(*(size * x.change for size, x in parts)),
        finding=finding,
        in_laws=total([x.in_laws for _, x in parts]),
        in_beta=total([x.in_beta if x.in_laws is None else None for _, x in parts]),
        factor=factors.pop() if len(factors) == 1 else None,
        still=all(x.still for _, x in parts),
    )


def open_drift(leaf: Leaf, x: Followed, change: Expr, why: str) -> Drift:
    """Return a drift that is not known to be closed."""
    regular = not any(x.poles())
    return Drift(x.symbol, leaf.quantity(x), change, not_closed(x, why), regular)


def in_beta(leaf: Leaf, f: RationalFunction) -> Expr | None:
    """Return a function of the weights, and letters, in beta and the laws, proved by expansion."""
    known = [(name, f.field.embed(h), image) for name, h, image in _entries(leaf)]
    coordinates, images = Coordinates.of([x[:2] for x in known]), [image for *_, image in known]
    total: Expr = sympy.S.Zero
    for letters, c in _coefficients(leaf, f):
        found = None if c is None else express(c, coordinates)
        if found is None:
            return None
        total += leaf.written(letters) * to_expr(found, images)
    return total


def _coefficients(
    leaf: Leaf, f: RationalFunction
) -> Iterator[tuple[RationalFunction, RationalFunction | None]]:
    """Yield monomials in the letters with their coefficients; None where f is no polynomial."""
    field = f.field
    names = {s.name for s in leaf.letters.values()}
    places = [k for k, name in enumerate(field.names) if name in names]
    below = field.polynomial(f.denominator)
    if names & {*below.variables()}:
        yield field.one, None
        return
    for own, c in grouped(f.numerator, places).items():
        yield field.polynomial(field.ring.from_dict({own: 1})), field.polynomial(c) / below


def _entries(leaf: Leaf) -> Iterator[tuple[str, RationalFunction, Expr]]:
    """Yield functions of the weights on every leaf alike: no branch is that of the start alone."""
    p, chart = leaf.parameterization, leaf.chart
    yield from ((s.name, h, s) for s, h in zip(leaf.notation.betas, p.F, strict=True))
    rational = [x for x in leaf.laws if not x.function.logs]
    yield from ((x.symbol.name, x.function.rational, x.symbol) for x in rational)
    yield from (
        (name, p.field.named(name), leaf.notation.start_symbols[name]) for name in p.parameters
    )
    if chart is not None and len(chart.constants) == len(leaf.laws) == len(rational):
        yield from _roots(leaf, chart)


def _roots(leaf: Leaf, chart: Chart) -> Iterator[tuple[str, RationalFunction, Expr]]:
    """Yield the roots of quadratic equations that are the largest at all weights."""
    p, laws = leaf.parameterization, dict[Expr, Expr]()
    for (symbol, _), law in zip(chart.constants, leaf.laws, strict=True):
        (h,) = (h for name, h, _ in chart.entries if name == symbol.name)
        laws[symbol] = leaf.written(p.field.embed(h) / law.function.rational) * law.symbol
    for root in chart.roots:
        squares = [h * h for _, h, image in chart.entries if image**2 == root.symbol]
        largest = root.slopes and Signs().is_nonnegative(root.slopes[0])
        if squares and largest and root.explicit is not None:
            yield root.symbol.name, squares[0], sympy.factor_terms(root.explicit.xreplace(laws))
