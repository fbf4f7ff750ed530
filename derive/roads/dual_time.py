"""The dual road for several outputs: beta = h(mu) = grad H(mu), H = Q*, along commuting fields.

Where the gradient fields commute, one flow w(mu) follows all of them, and h(mu) = F(w(mu)) has the
symmetric derivative dh_b/dmu_a = <grad F_a, grad F_b> = K_ab. So h is the gradient of some H, and
Q = mu.h(mu) - H(mu) at beta = h(mu), with dQ/dbeta = mu: the Legendre transform of H. None of this
uses a metric in beta or dual coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

from derive.errors import InputError
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.families import LogFunction, eigenvectors, linear_part
from derive.exact.linear.implicitization import Coordinates, express
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization
from derive.roads.compare import require_agreement
from derive.verdict import Finding, Identity, Verdict
from derive.weights.dual import DualCoordinates
from derive.weights.metric import Metric
from derive.weights.witness import Equation

HIGHEST = 6


@dataclass(frozen=True)
class CommutingFlow:
    """The weights w(mu) in the dual times, proved; in Q(mu, start symbols, exponentials of mu)."""

    parameterization: Parameterization
    field: FunctionField
    weights: tuple[RationalFunction, ...]

    def pull_back(self, function: RationalFunction) -> RationalFunction:
        """Return a function of the weights along the flow."""
        return function.compose(self.weights, self.field)

    def slope(self, f: LogFunction, a: int) -> RationalFunction:
        """Return the derivative of f(w(mu)) by mu_a; coefficients of logarithms are constants."""
        total = self.field.derivative(self.pull_back(f.rational), a)
        for coefficient, argument in f.logs:
            along = self.pull_back(argument)
            total += self.pull_back(coefficient) * self.field.derivative(along, a) / along
        return total


def find_commuting_flow(
    p: Parameterization, times: Sequence[str], dual: DualCoordinates | None, laws: Field
) -> CommutingFlow | None:
    """Return the joint flow from w_0, or None where it was not found."""
    if p.field.generators or p.start_field.generators:
        return None
    for found in (_exponential(p, times), _rational(p, times, dual, laws)):
        if found is not None and is_commuting_flow(found):
            return found
    return None


def is_commuting_flow(flow: CommutingFlow) -> bool:
    """Tell exactly whether dw/dmu_a = grad F_a(w) and w(0) = w_0: the check behind each flow."""
    p, field = flow.parameterization, flow.field
    return all(
        field.derivative(w, a) == flow.pull_back(row[k])
        for a, row in enumerate(p.fields)
        for k, w in enumerate(flow.weights)
    ) and all(_at_zero(w, p) == start for w, start in zip(flow.weights, p.w0, strict=True))


def _at_zero(w: RationalFunction, p: Parameterization) -> RationalFunction | None:
    """Return w(mu) at mu = 0, where every exponential is 1."""
    target = p.start_field
    images = [
        target.named(n) if n in target.positions else target.zero if k < p.d else target.one
        for k, n in enumerate(w.field.names)
    ]
    try:
        return w.compose(images, target)
    except ZeroDivisionError:
        return None


def _exponential(p: Parameterization, times: Sequence[str]) -> CommutingFlow | None:
    """Return w(mu) = sum_n v_n exp(<rate_n, mu>) c_n, v_n common eigenvectors of linear fields."""
    matrices = [part for x in p.fields if (part := linear_part(p.field, x)) is not None]
    if len(matrices) < p.d:
        return None
    vectors = eigenvectors(matrices)
    rates = [[_rate(A, v) for A in matrices] for v in vectors]
    if len(vectors) < p.p or any(None in row for row in rates):
        return None
    try:
        trees = [parse_expression(text) for text in _written(p, vectors, rates, times)]
        weights = build_elements(trees, (*times, *p.start_field.names))
    except InputError:
        return None
    return CommutingFlow(p, weights[0].field, weights)


def _written(
    p: Parameterization,
    vectors: Sequence[Sequence[int]],
    rates: Sequence[Sequence[Fraction | None]],
    times: Sequence[str],
) -> Iterator[str]:
    """Yield the weights as text: the start in the basis of eigenvectors, each at its rate."""
    basis = fmpq_mat(p.p, p.p, [v[k] for k in range(p.p) for v in vectors])
    inverted = basis.inv()
    exponents = (" + ".join(f"({r})*{t}" for r, t in zip(row, times, strict=True)) for row in rates)
    exponentials = [f"exp({exponent})" for exponent in exponents]
    for k in range(p.p):
        terms = ((basis[k, n] * inverted[n, j], n, j) for n in range(p.p) for j in range(p.p))
        yield " + ".join(f"({c})*({p.w0[j]!r})*{exponentials[n]}" for c, n, j in terms if c != 0)


def _rate(matrix: fmpq_mat, vector: Sequence[int]) -> Fraction | None:
    """Return the eigenvalue of an eigenvector, or None where it is none."""
    image = matrix * fmpq_mat(len(vector), 1, [fmpq(x) for x in vector])
    k = next(k for k, x in enumerate(vector) if x)
    rate = image[k, 0] / vector[k]
    if any(image[i, 0] != rate * x for i, x in enumerate(vector)):
        return None
    return Fraction(int(rate.p), int(rate.q))


def _rational(
    p: Parameterization, times: Sequence[str], dual: DualCoordinates | None, laws: Field
) -> CommutingFlow | None:
    """Return w(mu) from the weights as rational functions of y(w_0) + mu and the laws."""
    if dual is None or any(y.logs for y in dual.y):
        return None
    named = [(f"y{i}", y.rational) for i, y in enumerate(dual.y)]
    named += [(f"c{i}", law) for i, law in enumerate(laws)]
    coordinates = Coordinates.of(named)
    field = p.start_field.extended(times)
    try:
        starts = [field.embed(p.at_start(f)) for _, f in named]
        images = [x + field.gens[i] if i < p.d else x for i, x in enumerate(starts)]
        written = [express(w, coordinates, HIGHEST) for w in p.w]
        weights = tuple(x.compose(images, field) for x in written if x is not None)
    except ZeroDivisionError:
        return None
    return CommutingFlow(p, field, weights) if len(weights) == p.p else None


COMMUTING_TIME = "dual time (beta = h(mu) along commuting fields)"
"""The weights are written in one dual time for each output."""


def follow_dual_time(metric: Metric, dual: DualCoordinates | None) -> Finding | None:
    """Return what the joint flow of commuting fields gives, or None where it was not written.

    PROVED comes with w(mu), h(mu) and H(mu), where H was found, and the identities behind them. On
    the main road g = 1, and y and R must be mu and H along the flow.

    Raises:
        ConsistencyError: the two roads disagree.

    Source: Li, Wang, Lee, Arora 2022, section 4; the Legendre transform of H is Q.
    """
    p = metric.parameterization
    if not metric.lie.commuting or (dual is not None and dual.g != p.field.one):
        return None
    flow = find_commuting_flow(p, _times(p), dual, metric.conserved.laws)
    if flow is None:
        return None
    h = tuple(flow.pull_back(f) for f in p.F)
    H = _potential(flow, h, dual)
    weights, outputs = zip(p.weights, flow.weights, strict=True), zip(p.labels, h, strict=True)
    evidence = (
        *(Identity(f"{n} along the flow", n, repr(w)) for n, w in weights),
        *(Identity(f"h{b} = F{b}(w(mu))", f"h{b}", repr(x)) for b, x in outputs),
    )
    equations = [*_equations(metric, flow, h, H), *_agreement(flow, dual, H)]
    evidence += require_agreement("weight space", COMMUTING_TIME, equations)
    written = "" if H is None else f", H = {H!r}"
    reason = f"beta = h(mu) = grad H(mu){written}; Q = mu.h(mu) - H(mu) and dQ/dbeta = mu"
    return Finding(Verdict.PROVED, reason, evidence)


def _times(p: Parameterization) -> tuple[str, ...]:
    """Return a new name for each dual time."""
    taken = {*p.weights, *p.start_symbols, *p.parameters}
    names = ("mu", "nu", "tau", *(f"t{k}x" for k in range(100)))
    base = next(n for n in names if not any(t.startswith(n) for t in taken))
    return tuple(f"{base}{a}" for a in p.labels)


def _potential(
    flow: CommutingFlow, h: Field, dual: DualCoordinates | None
) -> RationalFunction | None:
    """Return H: |w|^2/(2 D) for F of degree D, by Euler's identity, or a rational R(w(mu))."""
    p = flow.parameterization
    square = p.geometry.weight_square(p.w)
    if p.degree and square is not None:
        return flow.pull_back(square) / (2 * p.degree)
    if dual is not None and dual.R is not None and not dual.R.logs:
        return flow.pull_back(dual.R.rational)
    return None


def _equations(
    metric: Metric, flow: CommutingFlow, h: Field, H: RationalFunction | None
) -> Iterator[Equation]:
    """Yield dh_b/dmu_a = K_ab, then dH/dmu_a = h_a where H is known."""
    labels = flow.parameterization.labels
    for a, i in enumerate(labels):
        for b, j in enumerate(labels):
            slope = flow.field.derivative(h[b], a)
            yield f"dh{j}/dmu{i} = K{i}{j}", slope, flow.pull_back(metric.K[a][b])
    if H is not None:
        for a, i in enumerate(labels):
            yield f"dH/dmu{i} = h{i}", flow.field.derivative(H, a), h[a]


def _agreement(
    flow: CommutingFlow, dual: DualCoordinates | None, H: RationalFunction | None
) -> Iterator[Equation]:
    """Yield d y_b(w(mu))/dmu_a = delta_ab and, where both are known, dR(w(mu))/dmu_a = dH/dmu_a."""
    if dual is None:
        return
    field, labels = flow.field, flow.parameterization.labels
    for a, i in enumerate(labels):
        for b, j in enumerate(labels):
            right = field.one if a == b else field.zero
            yield f"dy{j}/dmu{i} = {int(a == b)}", flow.slope(dual.y[b], a), right
        if dual.R is not None and H is not None:
            yield f"dR/dmu{i} = dH/dmu{i}", flow.slope(dual.R, a), field.derivative(H, a)
