"""Weight decay: w' = G^-1 J^T lambda - kappa(t) w, or -kappa(t) G^-1 dh for a penalty h.

With a = int kappa dt, per unit of a a law changes by -<dc, w>, and y_i by -<dy_i, w> beside the
steering g lambda_i. Where that is q y_i + f(c), one q for all outputs, y - y(w_0) leaves the row
space by the solution of xi' = kappa (q (y_0 + xi) + f(c)) alone.

Where decay by the field P normalises the fields, [P, X_b] = q X_b with a constant q, it shrinks
the start and does nothing else: let Phi be the flow of P, then w = Phi(-a) v has v' = exp(-q a)
sum_b lambda_b X_b(v), gradient flow from w_0 with a steering in the row space. So where a stays
finite and the limit interpolates, it is that of gradient flow from Phi(-a) w_0, for every F with a
Q, warped or not: our own derivation. Of P = w that is homogeneity, X_b(s w) = s^(q + 1) X_b(w). If
J Lam w = F with a diagonal Lam > 0, P = Lam w does so under the rates |w_k|^(2 - 1/lam_k), where
X_b(e^(s Lam) w) = e^(s Lam) X_b(w): decay by the penalty sum_k lam_k^2 |w_k|^(1/lam_k). Under equal
rates it is v' = e^-a e^(2 a Lam) J(v)^T lambda, whose rates change, unless Lam is scalar.

Noise in the row space, as of SGD or of labels: dx = sum_a (lambda dt + X^T sigma dB)_a X_a.

With S = int X^T C X dt, C = sigma sigma^T the covariance of the noise of the residuals, and X_a
the components of grad F_a in the coordinates x, Ito's formula has no martingale part for a law:

    dc = 1/2 sum_ab dS_ab X_a^T (Hess_x c) X_b
    dy_i = g lambda_i dt + g (X^T sigma dB)_i + 1/2 sum_ab dS_ab X_a^T (Hess_x y_i) X_b

so y - y(w_0), less the sum of the last term, stays in the row space for every path.

Source: Pesme, Pillaud-Vivien, Flammarion 2021, for diagonal networks; in general our own.

Momentum: lam x'' + x' = sum_a lambda_a X_a from rest, or x'' + (r/t) x', Nesterov's damping.

    lam c'' + c' = lam x'^T (Hess_x c) x'
    lam y_i'' + y_i' = g lambda_i + lam x'^T (Hess_x y_i) x'

in the coordinates x = w, or theta = grad psi of mirror descent, so that c(inf) = c(0) + int mu
x'^T (Hess_x c) x' dt, and y(inf) - y(0) - int mu x'^T (Hess_x y) x' dt is in the row space: mu =
lam for constant mass, and mu = t/(r - 1) for the damping r/t, r > 1, of which the integrating
factor is t^r, as t^r int_t^inf s^-r ds = t/(r - 1).

A weight may cross 0 under momentum: what has a pole or a logarithm there is lost, polynomials stay.
Source: Papazov, Pesme, Flammarion 2024, for diagonal networks; in general our own derivation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

from sympy import Expr, Symbol

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import dot, inverse, rank
from derive.exact.signs import Signs, is_semidefinite
from derive.exact.towers.tower import build_elements
from derive.language.tree import Tree
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization
from derive.perturbed.drift import Drift, drift_of, in_beta, open_drift
from derive.perturbed.followed import Followed, Leaf
from derive.verdict import Finding, Identity, Verdict
from derive.weights.conserved import bracket

STEERING = Finding(
    Verdict.PROVED,
    "h is a function of `beta`, so this is gradient flow of `L + k(t) h`: no law moves, and "
    "`y' = g (lambda - k dh/dbeta)`",
    (Identity("dh is in the span of the dF_a", "0", "0"),),
)


def decay_of(penalty: Tree | None, leaf: Leaf, x: Followed) -> Drift:
    """Return what weight decay does to a law or dual coordinate, per unit of int kappa."""
    leaf, push = pushed_by(penalty, leaf)
    x = x.over(push[0].field)
    z = LogFunction(-dot(push, x.gradient))
    if x.output is None:
        return drift_of(leaf, x, z)
    q = _factor(leaf, z.rational, x.output)
    if q is None:
        found = open_drift(leaf, x, leaf.with_logs(z), f"is not q {x.symbol} + f(c)")
        return replace(found, in_beta=in_beta(leaf, z.rational))
    found, in_laws = drift_of(leaf, x, z, LogFunction(q)), None
    if q.is_zero() or not x.function.logs:  # z = q y + f(c), where f is affine
        rest = leaf.in_laws(z.rational - q * x.function.rational)
        in_laws = None if rest is None else leaf.written(q) * x.symbol + rest
    still = z.rational.is_zero() and not z.logs
    return replace(found, in_laws=in_laws, factor=leaf.in_laws(q), still=still)


def pushed_by(penalty: Tree | None, leaf: Leaf) -> tuple[Leaf, Field]:
    """Return the weights, or G^-1 dh for a penalty h, and the leaf over the field of that.

    Raises:
        InputError: h is singular at the start.
    """
    p = leaf.parameterization
    if penalty is None:
        return leaf, p.w
    *_, h = build_elements((*p.trees, *p.geometry.trees, penalty), p.weights, p.parameters)
    within, field = leaf, leaf.parameterization.field
    if not set(h.field.names) <= set(field.names):
        within, field = leaf.over(h.field), h.field
    dh = field.gradient(field.embed(h))[: p.p]
    try:
        for x in dh:
            within.parameterization.at_start(x)
    except (ZeroDivisionError, InputError):
        raise InputError("the penalty has no gradient at the start: choose another start") from None
    return within, p.geometry.raised(dh, field.embed)


def is_of_outputs(penalty: Tree, leaf: Leaf) -> bool:
    """Tell whether h is a function of beta: dh = sum_a h_a dF_a, exactly.

    Then -kappa G^-1 dh steers, as loss does: w' = sum_a (lambda_a - kappa h_a) X_a.
    """
    within, push = pushed_by(penalty, leaf)
    fields = within.parameterization.fields
    return rank((*fields, push)) == rank(fields)


def _factor(leaf: Leaf, z: RationalFunction, i: int) -> RationalFunction | None:
    """Return q with z - q y_i conserved: <grad z, grad F_j> = q g delta_ij for all j; or None.

    It is a constant: what changes with laws would differ from one copy of F to the next.
    """
    slopes = [dot(x, z.field.gradient(z)) for x in leaf.parameterization.fields]
    if leaf.g is None or any(not s.is_zero() for j, s in enumerate(slopes) if j != i):
        return None
    q = slopes[i] / leaf.g
    return None if set(q.variables()) - q.field.parameters else q


def scaling_of(p: Parameterization, push: Field) -> tuple[RationalFunction, Field] | None:
    """Return q and s with [push, X_b] = q X_b for every field, and push_k = s_k w_k; or None.

    Of push = w this is homogeneity of degree q + 1, by Euler's identity.
    """
    field = push[0].field
    fields = [tuple(map(field.embed, x)) for x in p.fields]
    rates = tuple(x / field.embed(w) for x, w in zip(push, p.w, strict=True))
    pairs = [z for x in fields for z in zip(bracket(push, x), x, strict=True)]
    q = next(z / x for z, x in pairs if not x.is_zero())
    constant = all(not {*x.variables()} - field.parameters for x in (q, *rates))
    return (q, rates) if constant and all(z == q * x for z, x in pairs) else None


def noise_of(leaf: Leaf, x: Followed) -> Drift:
    """Return 1/2 sum_ab S_ab X_a^T (Hess c) X_b, per unit of the accumulated covariance S."""
    leaf = with_noise(leaf)
    x = x.over(leaf.parameterization.field)
    return drift_of(leaf, x, LogFunction(tensor(leaf, x)))


def with_noise(leaf: Leaf) -> Leaf:
    """Return a leaf with the letters S_ab."""
    pairs = combinations_with_replacement(range(leaf.parameterization.d), 2)
    names = [f"S{leaf.number(a)}{leaf.number(b)}" for a, b in pairs]
    return leaf.with_letters({name: leaf.fresh(name) for name in names})


def tensor(leaf: Leaf, x: Followed) -> RationalFunction:
    """Return 1/2 sum_ab S_ab X_a^T (Hess_x c) X_b, S_ab the letters in the order of the pairs."""
    field, H = leaf.parameterization.field, leaf.hessian(x)
    fields, total = leaf.coordinates.fields, field.zero
    pairs = combinations_with_replacement(range(len(fields)), 2)
    for (a, b), name in zip(pairs, leaf.letters, strict=True):
        term = dot(fields[a], tuple(dot(row, fields[b]) for row in H))
        total += term * leaf.letter(name) * field.constant(Fraction(1 + (a != b), 2))
    return total


@dataclass(frozen=True)
class OneSided:
    """A law c, or log |c|, that changes to one side under momentum: 1 or -1.

    Attributes:
        of: c, or log |c|.
        positive: the weights for as long as which are positive.
        in_logarithm: is it log |c|, which is followed for as long as c is not 0?
    """

    of: Followed
    quantity: Expr
    change: Expr
    side: int
    positive: tuple[str, ...]
    in_logarithm: bool

    @property
    def law(self) -> Symbol:
        """What c is called."""
        return self.of.symbol


def momentum_of(leaf: Leaf, x: Followed, *, alone: bool = True) -> Drift:
    """Return x'^T (Hess_x c) x' in the velocities w_t, closed where it is so in those of c and y.

    From rest it is 0 where c is linear in x along all forces.
    """
    if leaf.coordinates.is_straight(x.gradient, along_steps=alone):
        return drift_of(leaf, x, LogFunction(x.function.rational.field.zero))
    moving = leaf.with_letters({w: leaf.fresh(f"{w}_t") for w in leaf.parameterization.weights})
    change = moving.written(_second(moving, x, velocities(moving)))
    rows = tuple(f.gradient for f in leaf.all)
    if len(rows) != leaf.parameterization.p or rank(rows) < len(rows):
        why = "needs weights that the laws and dual coordinates do not tell"
        return open_drift(leaf, x, change, why)
    within = leaf.with_letters({str(f.symbol): leaf.fresh(f"{f.symbol}_t") for f in leaf.all})
    field, v = within.parameterization.field, velocities(within)
    w = tuple(dot(tuple(map(field.embed, row)), v) for row in inverse(rows))
    found = drift_of(within, x.over(field), LogFunction(_second(within, x, w)))
    return replace(found, change=change)


def velocities(leaf: Leaf) -> Field:
    """Return the letters as functions."""
    return tuple(map(leaf.letter, leaf.letters))


def _second(leaf: Leaf, x: Followed, v: Field) -> RationalFunction:
    """Return v^T (Hess_x f) v, for a vector with the components v by w."""
    v = leaf.coordinates.components(v)
    return dot(v, tuple(dot(row, v) for row in leaf.hessian(x.over(v[0].field))))


def one_sided(leaf: Leaf) -> Iterator[OneSided]:
    """Yield each law, or its logarithm, that changes to one side while weights keep their signs."""
    p, known = leaf.parameterization, Signs(leaf.notation.positive)
    starts = zip(p.weights, p.w0, strict=True)
    positive = tuple(w for w, value in starts if known.is_positive(value))
    for law in leaf.laws:
        c, zero, one = law.function.rational, p.field.zero, p.field.one
        if leaf.coordinates.is_straight(law.gradient, along_steps=True):
            continue  # c does not change
        of = [law]
        if not (law.function.logs or p.at_start(c).is_zero()):
            of.append(Followed(law.symbol, LogFunction(zero, ((one, c),))))
        for x, signs in product(of, ((), positive)):
            H, weight = leaf.hessian(x), Signs(signs)
            forms = ((s, [[s * c for c in row] for row in H]) for s in (1, -1))
            proved = (s for s, form in forms if is_semidefinite(form, weight.is_nonnegative))
            side = next(proved, 0)
            if side:
                change = momentum_of(leaf, x).change
                yield OneSided(x, leaf.with_logs(x.function), change, side, signs, x is not law)
                break
