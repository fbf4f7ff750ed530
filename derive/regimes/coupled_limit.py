"""Limits of coupled outputs: Q is a sum in other coordinates, or a function of |beta|.

Let x = V^T beta. The outputs x_k = <v_k, F(w)> have the tangent kernel V^T K V. Where that is
diagonal, and its entry k does not change along the gradients of the other x_j, the Hessian of Q,
which is its inverse, is diagonal in x with entry k a function of x_k: Q = q_1(x_1) + ... . Such v_k
are eigenvectors of K(w_1)^-1 K(w_2), whatever the weights w_1 and w_2.

Or let Q = q(|beta|) + <z, beta> in which q outgrows the linear term, whatever its growth: grad Q =
psi(s) beta/s + z with s = |beta| and psi = q' > 0. Where z/psi(s) -> 0 at every s > 0, grad Q/psi
-> beta/|beta|, the gradient of the l2 norm, uniformly on compact sets without 0, because psi is
increasing. Minimizers of Q on {X beta = y}, y != 0, stay bounded, and the optimality conditions of
their limits are those of least l2 norm. psi may outgrow every power.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.exact.linear.matrix import dot
from derive.model.geometry import Field
from derive.model.notation import rational
from derive.model.parameterization import Parameterization
from derive.regimes.asymptotics import CONSTANT, Expander
from derive.regimes.closed_form import closed_form_limit
from derive.regimes.initialization import norm
from derive.regimes.leading_gradient import ClosedGradient
from derive.regimes.limit import Limit, LimitingPotential, undecided
from derive.regimes.point import Point
from derive.verdict import Finding, Identity, Verdict


@dataclass(frozen=True)
class Separation:
    """Coordinates x = V^T beta in which Q is a sum, with the identities that prove it.

    Attributes:
        forms: V^T, d rows of whole numbers.
        evidence: identities between functions of the weights.
    """

    forms: sympy.ImmutableMatrix
    evidence: tuple[Identity, ...]

    @property
    def basis(self) -> sympy.ImmutableMatrix:
        """M with beta = M x."""
        return self.forms.inv()

    def gradient(self, gradient: ClosedGradient, x: Sequence[Symbol]) -> ClosedGradient | None:
        """Return dQ/dx, each a function of its x_k as it is written, or None."""
        images = dict(zip(gradient.coordinates, self.basis * sympy.Matrix(x), strict=True))
        slopes = sympy.Matrix([g.xreplace(images) for g in gradient.entries])
        found = tuple(sympy.expand(g) for g in self.basis.T * slopes)
        others = [[y for y in x if y != own] for own in x]
        if any(g.has(*o) for g, o in zip(found, others, strict=True)):
            return None
        return ClosedGradient(found, tuple(x), (True,) * len(x), gradient.positive)


def find_separation(p: Parameterization) -> Separation | None:
    """Return rational coordinates in which Q of one block, Hess Q = K^-1, is a sum, or None."""
    forms = _eigenvectors(p)
    if forms is None:
        return None
    covectors = tuple(
        tuple(dot(row, column) for column in zip(*p.covectors, strict=True))
        for row in ([p.field.constant(int(c)) for c in v] for v in forms.tolist())
    )
    fields = p.geometry.fields(covectors)
    evidence = []
    for k, own in enumerate(covectors, 1):
        slope = p.field.gradient(dot(own, fields[k - 1]))
        for j, other in enumerate(fields, 1):
            if j == k:
                continue
            mixed, change = dot(own, other), dot(other, slope)
            if not (mixed.is_zero() and change.is_zero()):
                return None
            if j > k:
                evidence.append(_is_zero_identity(f"<grad x{k}, grad x{j}>", own, other))
            evidence.append(_is_zero_identity(f"<grad x{j}, grad |grad x{k}|^2>", other, slope))
    return Separation(forms, tuple(evidence))


def separated_limit(
    separation: Separation,
    gradient: ClosedGradient,
    x: Sequence[Symbol],
    point: Point,
    kernel: sympy.ImmutableMatrix,
) -> Limit:
    """Return the limit of Q at fixed x = V^T beta, from its gradient in beta."""
    slopes = separation.gradient(gradient, x)
    if slopes is None:
        return undecided(point, "dQ/dx as it is written mixes coordinates that are separate")
    kernel = sympy.ImmutableMatrix(separation.forms * kernel * separation.forms.T)
    limit = closed_form_limit(slopes, point, kernel)
    evidence = (*separation.evidence, *limit.finding.evidence)
    finding = replace(limit.finding, evidence=evidence)
    turned = separation.basis if limit.basis is None else separation.basis * limit.basis
    return replace(limit, finding=finding, basis=turned)


def _is_zero_identity(product: str, u: Field, v: Field) -> Identity:
    terms = " + ".join(f"({x!r})*({y!r})" for x, y in zip(u, v, strict=True))
    return Identity(f"{product} = 0", terms, "0")


def _eigenvectors(p: Parameterization) -> sympy.ImmutableMatrix | None:
    """Return d eigenvectors of whole numbers as rows, or None if they are not so many."""
    try:
        first, second = (_kernel_at(p, shift) for shift in (0, 1))
    except ZeroDivisionError:
        return None
    if first.det() == 0:
        return None
    pencil = first.inv() * second
    values = sympy.Poly(pencil.charpoly().as_expr()).ground_roots()
    if len(values) != p.d:
        return None
    rows = []
    for value in values:
        (vector,) = (pencil - value * sympy.eye(p.d)).nullspace()
        whole = vector * sympy.ilcm(1, *(x.q for x in vector))
        whole /= sympy.igcd(*whole)
        rows.append(list(whole * sympy.sign(next(x for x in whole if x != 0))))
    return sympy.ImmutableMatrix(sorted(rows, reverse=True))


def _kernel_at(p: Parameterization, shift: int) -> sympy.Matrix:
    """Return K at a rational point; functions take values as if they were weights."""
    size = len(p.field.names)
    point = [Fraction(3 + (7 * k * k + 5 * shift * k) % 11, 2 + k % 5) for k in range(size)]
    rows = [[dot(x, df).at(point) for df in p.covectors] for x in p.fields]
    return sympy.Matrix([[rational(x) for x in row] for row in rows])


@dataclass(frozen=True)
class Radial:
    """grad Q = psi(s) beta/s + z with s = |beta| and z free of beta.

    Attributes:
        psi: in the symbol *length*; *along* is the same in beta.
        offset: z.
    """

    psi: Expr
    length: Symbol
    along: Expr
    offset: tuple[Expr, ...]


def find_radial(
    gradient: Sequence[Expr], betas: Sequence[Symbol], positive: Iterable[str]
) -> Radial | None:
    """Return the parts of a gradient that is along beta but for a constant, or None."""
    slopes = tuple(g.as_independent(*betas, as_Add=True)[0] for g in gradient)
    s = Symbol("length_", positive=True)
    rest = [g - z for g, z in zip(gradient, slopes, strict=True)]
    axis = {**dict.fromkeys(betas, sympy.S.Zero), betas[0]: s}
    psi = rest[0].subs(axis, simultaneous=True)
    length = norm(betas)
    factor = psi.xreplace({s: length})
    across = [r * length - factor * b for r, b in zip(rest, betas, strict=True)]
    try:
        along_beta = all(map(ElementarySigns({*positive, s.name}).is_zero, across))
    except Undecided:
        along_beta = False
    return Radial(psi, s, factor, slopes) if along_beta else None


def norm_limit(
    gradient: Sequence[Expr], betas: Sequence[Symbol], point: Point, positive: frozenset[str]
) -> Limit | None:
    """Return the limit |beta| of a Q whose linear term is outgrown, or None."""
    radial = find_radial(gradient, betas, positive)
    if radial is None:
        return None
    psi, factor, slopes = radial.psi, radial.along, radial.offset
    decide = ElementarySigns({*positive, radial.length.name})
    try:
        # psi/s is an eigenvalue of the Hessian of Q, and so nowhere 0.
        outgrown = decide.sign(psi) > 0 and all(_vanishes(z / psi, point, decide) for z in slopes)
    except Undecided:
        outgrown = False
    if not outgrown:
        return None
    length = norm(betas)
    size = sympy.sqrt(sympy.factor(sympy.Add(*(z**2 for z in slopes))))
    evidence = tuple(
        Identity(f"dQ/d{b} = N {b}/|beta| + z", str(g), f"({factor})*{b}/{length} + ({z})")
        for b, g, z in zip(betas, gradient, slopes, strict=True)
    )
    reason = "grad Q = N beta/|beta| + z with N > 0 a function of |beta| and z/N -> 0"
    found = LimitingPotential("l2", None, tuple(b / length for b in betas), sympy.S.One)
    error = None if size == 0 else size / factor
    finding, at, below = Finding(Verdict.PROVED, reason, evidence), tuple(betas), found.gradient
    return Limit(point, finding, "anti-NTK", at, None, factor, found, below, error, True)


def _vanishes(f: Expr, point: Point, decide: ElementarySigns) -> bool:
    """Tell whether f -> 0 by its expansion; what is flat counts as any power."""
    e = Symbol("e_", positive=True)
    small = {x: point.image(e) for x in f.free_symbols if x.name == point.variable}
    found = Expander(e, decide, Fraction(1)).expand(sympy.powsimp(f.xreplace(small)))
    return found.reaches(CONSTANT) and all(r > 0 for r, _ in found.terms)
