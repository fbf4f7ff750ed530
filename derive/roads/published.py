"""The published road: Hess Q = g rho solved for the unknown functions of an Ansatz.

Q = q(t) + z.beta makes Hess Q = q'' grad t grad t^T + q' Hess t, so with K = rho^-1, r = q''/q'

    K (r grad t grad t^T + Hess t) = (g/q') I.

Pulled back by beta = F(w) these are linear equations for r and g/q' over the functions of the
weights; nothing is eliminated. r must be a function of t on the leaf; then q' = psi solves
X_a psi = psi r X_a t, X_a = grad F_a, and grad Q = psi grad t + z.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Literal

from sympy import Expr

from derive.errors import InputError
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.matrix import dot, rank
from derive.exact.towers.tower import to_field
from derive.language import to_text
from derive.language.tree import Tree, names
from derive.model.geometry import Field
from derive.model.names import read_tree
from derive.model.parameterization import Parameterization
from derive.verdict import Decided, Finding, Identity, Verdict
from derive.weights.conserved import along
from derive.weights.metric import Metric
from derive.weights.witness import Equation, NotProved, is_zero_along_flow, require_equations


@dataclass(frozen=True)
class Ansatz:
    """The form Q(beta) = sum_k q_k(t_k(beta)) + z.beta with unknown q_k, known t_k and free z.

    Either one polynomial t, or d independent linear forms t_k, one for each output.

    Attributes:
        kind: which constructor made it.
        trees: t_k in beta1, ..., betad, where they were given.

    >>> Ansatz.of("beta1**2 + 2*beta2**2").describe((1, 2))
    'q(beta1**2 + 2*beta2**2) + z.beta'
    """

    kind: Literal["radial", "separable", "given"]
    trees: tuple[Tree, ...] = ()

    @classmethod
    def radial(cls) -> Ansatz:
        """Return Q = q(|beta|) + z.beta (Azulay et al. 2021, eq. (10)-(12))."""
        return cls("radial")

    @classmethod
    def separable(cls) -> Ansatz:
        """Return Q = q_1(beta1) + ... + q_d(betad), the linear term being in the q_k."""
        return cls("separable")

    @classmethod
    def of(cls, *functions: str | Expr) -> Ansatz:
        """Return the Ansatz with the given t_k.

        Args:
            functions: one polynomial, or d independent linear forms, in beta1, ..., betad.

        Raises:
            LanguageError: a text is not an expression.
            InputError: there is no function.
        """
        if not functions:
            raise InputError("give an Ansatz at least one function, for instance beta1**2")
        return cls("given", tuple(read_tree(f, "a function of an Ansatz") for f in functions))

    def functions(self, d: int) -> tuple[RationalFunction, ...]:
        """Return t_1, ..., t_n in Q(beta1, ..., betad), or InputError where they are no Ansatz."""
        field = FunctionField(tuple(f"beta{i + 1}" for i in range(d)))
        if self.kind == "radial":
            return (sum((b * b for b in field.gens), field.zero),)
        if self.kind == "separable":
            return field.gens
        found = tuple(_polynomial(tree, field) for tree in self.trees)
        if len(found) > 1:
            rows = [field.gradient(t) for t in found]
            linear = all(x.is_constant() for row in rows for x in row)
            if not linear or len(found) != d or rank(rows) != d:
                raise InputError(
                    f"an Ansatz is one polynomial, or {d} independent linear forms in the outputs"
                )
        return found

    def describe(self, labels: Sequence[int]) -> str:
        """Return the form of Q in words, for outputs of these numbers."""
        if self.kind == "radial":
            whole = tuple(labels) == tuple(range(1, len(labels) + 1))
            inside = "beta" if whole else f"({', '.join(f'beta{i}' for i in labels)})"
            return f"q(|{inside}|) + z.beta"
        if self.kind == "separable":
            return " + ".join(f"q{i}(beta{i})" for i in labels)
        texts = [to_text(tree) for tree in self.trees]
        if len(texts) == 1:
            return f"q({texts[0]}) + z.beta"
        return " + ".join(f"q{k}({text})" for k, text in enumerate(texts, 1))


def _polynomial(tree: Tree, field: FunctionField) -> RationalFunction:
    for name in names((tree,)):
        if name not in field.names:
            raise InputError(
                f"the Ansatz uses {name}: write it in the outputs {', '.join(field.names)}"
            )
    t = to_field(tree, field, "the Ansatz")
    if t.is_constant() or not t.is_polynomial():
        raise InputError(f"the Ansatz needs a polynomial in beta that varies, not {t!r}")
    return t


LARGE = 40
"""Terms of a function above which its derivatives are compared without their denominators."""


def is_defined(p: Parameterization, function: RationalFunction) -> bool:
    """Tell whether a function was proved to be finite somewhere on the leaf of the start."""
    try:
        p.at_start(function)
    except ZeroDivisionError:
        return not is_zero_along_flow(p, function.field.polynomial(function.denominator))
    return True


def is_not_zero(p: Parameterization, function: RationalFunction) -> bool:
    """Tell whether a function is defined and not zero at the start."""
    try:
        return not p.at_start(function).is_zero()
    except ZeroDivisionError:
        return False


def log_warp(metric: Metric, slope: Field, r: RationalFunction, factor: RationalFunction) -> Field:
    """Return H_a = X_a log g for g = psi factor, X_a log psi = r X_a t, X_a t = (K grad t)_a."""
    return tuple(
        r * dot(row, slope) + along(x, factor) / factor
        for row, x in zip(metric.K, metric.parameterization.fields, strict=True)
    )


def tangent(metric: Metric, H: Field) -> tuple[Field, ...]:
    """Return fields that span the tangent spaces of leaves, X_1, ..., X_d first, or NotProved."""
    lie = metric.lie
    fields = lie.parameterization.fields
    if all(
        z == H[a] * y - H[b] * x
        for (a, b), bracket in lie.brackets.items()
        for z, x, y in zip(bracket, fields[a], fields[b], strict=True)
    ):
        return fields
    if len(lie.spanning) + len(metric.conserved.laws) != lie.parameterization.p:
        reason = "the dimension of the leaf was not certified"
        raise NotProved(Finding(Verdict.UNDECIDED, reason))
    return lie.spanning


def require_function_of(
    metric: Metric, t: tuple[str, Field], r: tuple[str, RationalFunction], H: Field
) -> tuple[Identity, ...]:
    """Prove that r is a function of t, given by grad t != 0, on every leaf: dr || dt."""
    (of, slope), (name, function) = t, r
    if function.is_constant():
        return (Identity(f"{name} = {function!r}", repr(function), repr(function)),)
    p = metric.parameterization
    fields = tangent(metric, H)

    def along_t(z: Field) -> RationalFunction:
        return dot([dot(z, df) for df in p.covectors], slope)

    names = [f"X{label}" for label in p.labels]
    names += [f"Z{n}" for n in range(1, len(fields) - p.d + 1)]
    pairs = zip(p.labels, p.fields, strict=True)
    first, x = next((f"X{label}", x) for label, x in pairs if not along_t(x).is_zero())
    large = len(function.numerator) + len(function.denominator) > LARGE
    derived = _times_square if large else along
    cleared = f", times the square of the denominator of {name}" if large else ""
    by_t, by_r = along_t(x), derived(x, function)
    equations = (
        Equation(
            f"{z_name}({name}) {first}({of}) = {first}({name}) {z_name}({of}){cleared}",
            derived(z, function) * by_t,
            by_r * along_t(z),
        )
        for z_name, z in zip(names, fields, strict=True)
        if z is not x
    )
    refuted = f"{name} is no function of {of} alone: Q is not of this form"
    return require_equations(p, equations, refuted)


def _times_square(z: Field, r: RationalFunction) -> RationalFunction:
    """Return B^2 Z(A/B) = B Z(A) - A Z(B) for r = A/B: no common factor has to be found."""
    A, B = (r.field.polynomial(x) for x in r.parts)
    return B * along(z, A) - A * along(z, B)


@dataclass(frozen=True)
class PublishedRoad(Decided):
    """What became of one Ansatz Q = sum_k q_k(t_k) + z.beta.

    For one t, psi = q'(t); for d linear forms t_k, psi_k = q_k''(t_k).

    Attributes:
        finding: PROVED with the identities; REFUTED: Q is not of this form; UNDECIDED.
        slopes: grad t_k at beta = F(w), d functions of the weights each.
        ratios: psi_k'/psi_k as functions of the weights; empty unless PROVED.
        factors: g/psi_k as functions of the weights; empty unless PROVED.
    """

    metric: Metric
    ansatz: Ansatz
    finding: Finding
    slopes: tuple[Field, ...] = ()
    ratios: Field = ()
    factors: Field = ()

    @property
    def name(self) -> str:
        """The road in words."""
        form = self.ansatz.describe(self.metric.labels)
        return f"published (Ansatz {form})"

    @functools.cached_property
    def H(self) -> Field | None:
        """H_a = X_a log g, or None unless PROVED."""
        if not self.ratios:
            return None
        return log_warp(self.metric, self.slopes[0], self.ratios[0], self.factors[0])


def follow_published(metric: Metric, ansatz: Ansatz) -> PublishedRoad:
    """Decide whether Hess Q = g rho for a Q of the form of the Ansatz, and find q''/q'.

    Args:
        metric: of a parameterization with d >= 2 outputs.

    Returns:
        PROVED with q''/q' in the weights, a function of t. REFUTED says that Q is not of this
        form; it does not say that there is no Q.

    Raises:
        InputError: the Ansatz does not fit the outputs.

    Source: Azulay et al. 2021, eq. (10)-(12), for the radial Ansatz.
    """
    p = metric.parameterization
    if p.d == 1:
        raise InputError("an Ansatz needs two outputs or more: for one, every Q is a q(beta)")
    functions = ansatz.functions(p.d)
    slopes = tuple(tuple(x.compose(p.F, p.field) for x in t.field.gradient(t)) for t in functions)
    try:
        walked = separate(metric, slopes) if len(functions) > 1 else _solve(metric, functions[0])
        ratios, factors, evidence = walked
        evidence += _one_function_each(metric, slopes, ratios, factors)
    except NotProved as ended:
        return PublishedRoad(metric, ansatz, ended.finding, slopes)
    finding = Finding(Verdict.PROVED, "Q has the form of the Ansatz", evidence)
    return PublishedRoad(metric, ansatz, finding, slopes, ratios, factors)


def _one_function_each(
    metric: Metric, slopes: tuple[Field, ...], ratios: Field, factors: Field
) -> tuple[Identity, ...]:
    """Prove that r_k = psi_k'/psi_k is a function of t_k, and psi_k g/psi_k one g, or NotProved."""
    p, single = metric.parameterization, len(slopes) == 1
    pairs = zip(ratios, factors, strict=True)
    if not all(is_defined(p, r) and is_not_zero(p, factor) for r, factor in pairs):
        reason = "q_k'''/q_k'' is infinite on the leaf of this start, or g/q_k'' is 0 there"
        if single:
            reason = "q''/q' is infinite on the leaf of this start, or g/q' is 0 or infinite there"
        raise NotProved(Finding(Verdict.UNDECIDED, reason))
    H = log_warp(metric, slopes[0], ratios[0], factors[0])
    evidence: tuple[Identity, ...] = ()
    for k, (slope, r) in enumerate(zip(slopes, ratios, strict=True), 1):
        t, name = ("t", "r") if single else (f"t{k}", f"r{k}")
        evidence += require_function_of(metric, (t, slope), (name, r), H)
    return evidence + require_equations(p, _one_warp(metric, slopes, ratios, factors, H), _MORE)


def _solve(metric: Metric, t: RationalFunction) -> tuple[Field, Field, tuple[Identity, ...]]:
    """Return r = q''/q', g/q' and the identities for one unknown q."""
    p = metric.parameterization
    s = tuple(x.compose(p.F, p.field) for x in t.field.gradient(t))
    v = tuple(dot(row, s) for row in metric.K)
    hessian = [[x.compose(p.F, p.field) for x in t.field.gradient(y)] for y in t.field.gradient(t)]
    constant = [[dot(row, column) for column in hessian] for row in metric.K]
    conditions = _conditions(p.labels, [tuple(x * y for y in s) for x in v], constant)
    # One exists: K is positive definite and grad t is not zero, so (K grad t) grad t^T is no
    # multiple of the identity.
    name, a0, b0 = next(c for c in conditions if not c[1].is_zero())
    equations = (
        Equation(f"{n} with r from {name}, N = K (r grad t grad t^T + Hess t)", b0 * a, b * a0)
        for n, a, b in conditions
    )
    refuted = "q''/q' would have to be two different functions: Q is not of this form"
    evidence = require_equations(p, equations, refuted)
    r = -b0 / a0
    factor = r * v[0] * s[0] + constant[0][0]
    if factor.is_zero():
        zero = Identity("K (r grad t grad t^T + Hess t) = 0", repr(factor), "0")
        reason = "Hess Q = g rho holds with g = 0 only: Q is not of this form"
        raise NotProved(Finding(Verdict.REFUTED, reason, (*evidence, zero)))
    return (r,), (factor,), evidence


def _conditions(
    labels: Sequence[int], linear: Sequence[Field], constant: Sequence[Sequence[RationalFunction]]
) -> list[tuple[str, RationalFunction, RationalFunction]]:
    """Return (name, a, b) for each r a + b = 0 by which r *linear* + *constant* is round."""
    places = list(enumerate(labels))
    off = [
        (f"N{m}{n} = 0", linear[i][j], constant[i][j]) for (i, m), (j, n) in permutations(places, 2)
    ]
    first, a, b = f"N{labels[0]}{labels[0]}", linear[0][0], constant[0][0]
    return off + [
        (f"N{n}{n} = {first}", linear[i][i] - a, constant[i][i] - b) for i, n in places[1:]
    ]


_MORE = "q_k'' = g/M_kk depends on more than t_k for any g: Q is not of this form"


def separate(
    metric: Metric, slopes: tuple[Field, ...]
) -> tuple[Field, Field, tuple[Identity, ...]]:
    """Return r_k = q_k'''/q_k'', M_kk = g/q_k'' and the identities, or raise NotProved."""
    p = metric.parameterization
    # dt_k = sum_b (dt_k/dbeta_b) dF_b, and Y_k = grad t_k in the weights.
    covectors = tuple(
        tuple(dot(slope, column) for column in zip(*p.covectors, strict=True)) for slope in slopes
    )
    fields = p.geometry.fields(covectors)
    d = range(p.d)
    products = (
        Equation(f"<grad t{k + 1}, grad t{n + 1}> = 0", dot(fields[k], covectors[n]), p.field.zero)
        for k, n in combinations(d, 2)
    )
    evidence = require_equations(p, products, "grad t_k are not orthogonal: Q is not of this form")
    M = tuple(dot(y, dt) for y, dt in zip(fields, covectors, strict=True))
    logs = [[along(y, m) / m for m in M] for y in fields]
    others = [0 if n else 1 for n in d]
    evidence += require_equations(p, _warp_along_others(logs, others), _MORE)
    ratios = tuple((logs[k][others[k]] - logs[k][k]) / M[k] for k in d)
    return ratios, M, evidence


def _warp_along_others(
    logs: Sequence[Sequence[RationalFunction]], others: Sequence[int]
) -> Iterator[Equation[RationalFunction]]:
    """Yield Y_n log g = Y_n log M_kk, one and the same for every k other than n."""
    for n, row in enumerate(logs):
        for k, log in enumerate(row):
            if k not in (n, others[n]):
                statement = f"Y{n + 1} log M{k + 1} = Y{n + 1} log M{others[n] + 1}"
                yield Equation(statement, log, row[others[n]])


def _one_warp(
    metric: Metric, slopes: tuple[Field, ...], ratios: Field, M: Field, H: Field
) -> Iterator[Equation[RationalFunction]]:
    """Yield Z log(q_k'' M_kk) = Z log(q_1'' M_11), both log g, along the whole leaf."""
    p = metric.parameterization
    if all(r.is_zero() for r in ratios) and all((m / M[0]).is_constant() for m in M):
        return
    fields = tangent(metric, H)

    def along_leaf(z: Field, k: int) -> RationalFunction:
        t = dot([dot(z, df) for df in p.covectors], slopes[k])
        return ratios[k] * t + along(z, M[k]) / M[k]

    for z in fields:
        for k in range(1, len(slopes)):
            statement = f"Z log(q{k + 1}'' M{k + 1}) = Z log(q1'' M1)"
            yield Equation(statement, along_leaf(z, k), along_leaf(z, 0))
