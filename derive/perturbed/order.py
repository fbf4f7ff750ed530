"""Loss weights and the order of batches on given data: does the limit depend on them?

Rows x_i steer the weights along Z_i = sum_a x_ia grad F_a, and beta along K x_i, whatever their
losses weigh and in which order they come. Let

    J [Z_i, Z_j] in span(K x_1, ..., K x_n)    for all i, j.                                    (*)

If (*) holds on the leaf and K is a function of beta there, the K x_i are involutive: by Frobenius
beta stays in a surface of dimension n, which X beta = y meets in isolated points, as X K X^T is
invertible. Vertical fields, J V = 0, change K not, so higher brackets add nothing. Where all
[Z_i, Z_j] are in the span of the Z_k the same holds in the weights. One row is a curve.

If (*) fails for i, j at w_0, loss weights matter for some y near X beta_0. Two flows from w_0 to
one X beta, of size e, end at beta that differ by A r + O(e^3), where r != 0 is what (*) leaves,
with X r = 0, and A half the difference of the areas that the integrals of lambda_i and lambda_j
sweep, of order e^2: it is not 0 where i is fitted before j, or j before i, and other rows last.

K is a function of beta on the leaf where V K = 0 for all vertical V in the Lie algebra of the
grad F_a. Of a special start it suffices that the vertical directions at w_0 are Sigma w_0 for skew
Sigma with J Sigma w = 0: these turn the weights and leave F, K and each grad F_a as they are, so
they keep to the leaf, and span what is vertical near w_0, where that has its least dimension.

Source: derived here.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

from sympy import Symbol

from derive.derivation import Derivation, Model, derived
from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import determinant, dot, inverse, rank, spanning_rows
from derive.joint import join_findings
from derive.model.geometry import EUCLIDEAN, Field
from derive.model.grading import isometries
from derive.model.parameterization import Parameterization
from derive.model.restriction import leave_out
from derive.printable import Printable
from derive.records import Block
from derive.statement import Claims, Open, Statement, each, note
from derive.verdict import Finding, Identity, Verdict
from derive.weights.conserved import along, bracket, closure
from derive.weights.metric import tangent_kernel
from derive.weights.witness import Equation, NotProved, differ_at_start, require

Rows = tuple[tuple[Fraction, ...], ...]
NOT_CLOSED = "on the leaf `K` changes where `beta` does not"
OPEN = "{} fails for general starts, but not visibly on the leaf of this one"
DEPTH = 2
"""Derivatives along the Z_i in which a failure is looked for."""


@dataclass(frozen=True, repr=False)
class DataOrder(Claims, Printable):
    """Does the limit on rows X depend on loss weights and on the order of batches?

    Attributes:
        derivation: of Q.
        X: the rows.
        independent: PROVED: it does not. REFUTED: for some labels it does.
        closed: is K a function of beta on the leaf of the start?
    """

    derivation: Derivation
    X: Rows
    independent: Finding
    closed: Finding

    @property
    def verdict(self) -> Verdict:
        """Whether the limit is independent of them."""
        return self.independent.verdict

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed of K, and of limits on these data."""
        told = {"data order": self.independent, "closed kernel": self.closed}
        return tuple(_statement(self, kind, found) for kind, found in told.items())


def data_order(model: Model, X: Sequence[Sequence[object]]) -> DataOrder:
    """Decide whether limits on given rows depend on loss weights and on the order of batches.

    >>> square = derived(["a**2 + b**2", "a*c + b*e", "c**2 + e**2"])
    >>> data_order(square, [[1, 0, 0], [0, 0, 1]]).verdict.value
    'PROVED'
    >>> data_order(square, [[1, 0, 0], [0, 1, 0]]).verdict.value
    'REFUTED'

    Args:
        model: a derivation of any verdict, or F.
        X: rational rows, one entry for each output.

    Raises:
        InputError: X has other rows, or F is no map in coordinates under gradient flow.

    Source: Frobenius' theorem; derived here.
    """
    d = derived(model)
    p = leave_out(d.parameterization, d.idle)
    rows = tuple(tuple(Fraction(str(x)) for x in row) for row in X)
    if p.vectors or p.affine or p.geometry.steepest is not None:
        raise InputError("data are for independent outputs in coordinates, under gradient flow")
    if not rows or any(len(row) != p.d for row in rows):
        raise InputError(f"the data have rows of {p.d} features, one for each output")
    closed = join_findings([decide_closed(block) for block in d.blocks])
    if d.verdict is Verdict.PROVED:
        why = "the limit is the minimiser of `Q`, on convex subsets of its domain"
        return DataOrder(d, rows, Finding(Verdict.PROVED, why), closed)
    return DataOrder(d, rows, decide_order(p, rows, closed), closed)


def decide_order(p: Parameterization, X: Rows, closed: Finding) -> Finding:
    """Decide whether all steering by the rows keeps beta in a surface of their number."""
    rows = tuple(tuple(map(p.field.constant, row)) for row in X)
    rows = tuple(rows[i] for i in spanning_rows(rows))
    if len(rows) in (0, 1, p.d):
        curve = "the rows are multiples of one, and `beta` stays on a curve"
        whole = "`X` has as many independent rows as there are outputs: one `beta` fits"
        return Finding(Verdict.PROVED, whole if len(rows) == p.d else curve)
    K = tangent_kernel(p)
    Z = tuple(_combined(row, p.fields) for row in rows)
    ahead = tuple(_products(K, row) for row in rows)
    gram = tuple(_products(ahead, row) for row in rows)
    det = determinant(gram)
    if p.at_start(det).is_zero():
        return Finding(Verdict.UNDECIDED, "`X K X^T` is singular at the start")
    project, evidence, beside = inverse(gram), list[Identity](), False
    for i, j in combinations(range(len(Z)), 2):
        z = bracket(Z[i], Z[j])
        Jz = _products(p.covectors, z)
        mu = _products(project, _products(rows, Jz))
        for label, a, b in zip(p.labels, Jz, _combined(mu, ahead), strict=True):
            claim = f"J [Z{i + 1}, Z{j + 1}] = sum_k mu_k K x_k, in output {label}"
            if a != b:
                return _failing(p, Z, Equation(claim, a, b), det)
            evidence.append(Identity(claim, repr(a), repr(b)))
        beside = beside or z != _combined(mu, Z)
    if beside and closed.verdict is not Verdict.PROVED:
        why = "`K x_i` are involutive, but it is not proved that `K` is a function of `beta`"
        return Finding(Verdict.UNDECIDED, why, tuple(evidence))
    why = f"`beta` stays in a surface of dimension {len(Z)}"
    return Finding(Verdict.PROVED, why, tuple(evidence))


def _combined(c: Sequence[RationalFunction], fields: Sequence[Field]) -> Field:
    """Return sum_k c_k fields_k."""
    return tuple(dot(c, column) for column in zip(*fields, strict=True))


def _products(rows: Sequence[Field], x: Field) -> Field:
    """Return <row, x> for each row."""
    return tuple(dot(row, x) for row in rows)


def _failing(
    p: Parameterization,
    Z: Sequence[Field],
    equation: Equation[RationalFunction],
    det: RationalFunction,
) -> Finding:
    """Refute an equation where steering by the rows leads: at the start, or near it."""
    left, right = equation.left * det, equation.right * det
    pending: list[tuple[tuple[str, ...], RationalFunction]] = [((), left - right)]
    for _ in range(DEPTH + 1):
        for path, f in pending:
            found = differ_at_start(p, (f, p.field.zero), (det,))
            if found is not None:
                why = "`J [Z_i, Z_j]` is not in the span of the `K x_k`"
                sides = repr(left), repr(right)
                failure = Identity(equation.statement, *sides, *found, path, "det(X K X^T)")
                return Finding(Verdict.REFUTED, why, (failure,))
        named = [*enumerate(Z, 1)]
        pending = [((*path, f"Z{k}"), along(z, f)) for path, f in pending for k, z in named]
    return Finding(Verdict.UNDECIDED, OPEN.format(f"`{equation.statement}`"))


def decide_closed(block: Block) -> Finding:
    """Decide whether K is a function of beta on the leaf of the start."""
    p, hessian = block.parameterization, block.hessian
    if p.d == 1 or hessian.verdict is Verdict.PROVED:
        why = "one output: `beta` is monotone" if p.d == 1 else "`rho` is a Hessian map"
        return Finding(Verdict.PROVED, why)
    if _is_turned(block):
        skew = "`Sigma w`, with skew `Sigma` and `J Sigma w = 0`,"
        why = f"fields {skew} span what is vertical at the start"
        return Finding(Verdict.PROVED, why, (Identity("J Sigma w = 0", "0", "0"),))
    try:
        vertical = _vertical(block)
    except NotProved as end:
        return end.finding
    except ZeroDivisionError:
        return Finding(Verdict.UNDECIDED, "a field has a pole at a random point")
    laws = len(block.conserved.laws)
    if p.d + len(vertical) + laws != p.p:
        why = f"{len(vertical)} vertical directions and {laws} laws leave the leaf open"
        return Finding(Verdict.UNDECIDED, why)
    evidence = [Identity(f"V K = 0 for V = {name}", "0", "0") for name in vertical]
    why = (
        "`V K = 0` for all fields `V` of the leaf with `J V = 0`"
        if vertical
        else ("no direction of the leaf leaves `beta` where it is")
    )
    return Finding(Verdict.PROVED, why, tuple(evidence))


def _vertical(block: Block) -> list[str]:
    """Return names of fields that span what is vertical, with V K = 0 for each.

    Raises:
        NotProved: that fails for one.
    """
    p, metric, names = block.parameterization, block.metric, list[str]()
    for name, v in closure(p, (), _brackets(block)):
        pairs = combinations_with_replacement(range(p.d), 2)
        changes = (
            Equation(f"{name} K = 0", metric.change(v, b, c), p.field.zero) for b, c in pairs
        )
        require(p, changes, NOT_CLOSED, OPEN)
        names.append(name)
    return names


def _brackets(block: Block) -> Iterator[tuple[str, Field]]:
    """Yield [X_a, X_b] less what it has along the X_c: vertical fields."""
    p, metric = block.parameterization, block.metric
    for a, b in combinations(range(p.d), 2):
        z = metric.commutator(a, b)
        mu = _products(metric.rho, _products(p.covectors, z))
        along_fields = _combined(mu, p.fields)
        v = tuple(x - y for x, y in zip(z, along_fields, strict=True))
        yield f"V{p.labels[a]}{p.labels[b]}", v


def _is_turned(block: Block) -> bool:
    """Tell whether isometries that keep F span what is vertical at the start, as above."""
    p, conserved = block.parameterization, block.conserved
    try:
        leaf = [[*map(p.at_start, x)] for x in block.lie.spanning]
        laws = [[*map(p.at_start, p.field.gradient(c)[: p.p])] for c in conserved.laws]
        turns = [[*map(p.at_start, x)] for x in isometries(p)]
    except ZeroDivisionError:
        return False
    size = rank(leaf)
    if not turns or not p.starts_regular or p.geometry != EUCLIDEAN or size != p.p - rank(laws):
        return False
    return size + rank(turns) - rank([*leaf, *turns]) == size - p.d


ROWS = "`Z_i = sum_j x_ij grad F_j` is the field along which row `i` steers the weights"
SURFACE = (
    "whatever the losses weigh, the weights move along the `Z_i`, and `beta` along the `K x_i`",
    "the brackets of the `Z_i` move `beta` along the `K x_k` too, and by what is vertical, which"
    " leaves `K` and so the `K x_k` as they are: these are involutive, and by the theorem of"
    " Frobenius `beta` stays in a surface whose tangent space they span",
    "of rows that are independent `X K X^T` is invertible, so that `X beta = y` meets that surface"
    " in isolated points",
)
APART = (
    "let two flows lead from `w_0` to one `X beta`, of distance `e` from `X beta_0`; their `beta`"
    " differ by `A r + O(e^3)`, where `r` is what `J [Z_i, Z_j]` has beside the span of the"
    " `K x_k`, and `A` half the difference of the areas that the time integrals of the weighted"
    " residuals of the rows `i` and `j` sweep",
    "where row `i` is fitted long before `j`, or `j` before `i`, and others last, `A` is of order"
    " `e^2` and not `0`",
)


def _statement(order: DataOrder, kind: str, found: Finding) -> Statement | Open:
    values = {"why": found, "order": order}
    if found.verdict is Verdict.UNDECIDED:
        return Open("not decided: {why}", values, kind=kind)
    proved = found.verdict is Verdict.PROVED
    if kind == "closed kernel":
        is_one = "is" if proved else "is not"
        words = f"`K` {is_one} a function of `beta` on the leaf: {{why}}"
        return Statement(words, values, kind=kind, by=found)
    if proved:
        words = (
            "limits with `X beta = y` that are near one another are one, whatever the loss weights"
            " and the order of batches: {why}"
        )
        proof = tuple(map(note, SURFACE)) if order.derivation.verdict is not Verdict.PROVED else ()
        return Statement(words, values, kind=kind, by=found, proof=proof)
    (failure,) = found.evidence
    on = "loss weights for some `y` near `X beta_0`"
    if failure.derivative:
        on = "the order of batches for some labels"
    at = each("`{0} = {1}`", ((Symbol(w), x) for w, x in failure.point))
    return Statement(
        f"limits with `X beta = y` depend on {on}: {{why}}, as at {{at}}",
        {**values, "at": at},
        kind=kind,
        by=found,
        below=(note(ROWS),),
        proof=tuple(map(note, APART)),
    )
