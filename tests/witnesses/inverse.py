"""Witnesses of designs: K Q'' along flows of F, from the texts of F and Q alone."""

import numpy as np
import sympy
from sympy import Symbol

from derive.inverse.design import FlatMap, FlatOnly, IntegralOnly, Parameterized
from derive.language import to_sympy
from derive.verdict import Verdict
from tests.witnesses import Refuted, witness

CLOSE = 1e-8
POINTS = 12


def of(design, statement):
    """Return the coordinate that a statement is about."""
    (found,) = (c for c in design.coordinates if c.term.variable == statement.about)
    return found


def drawn(c, rng):
    """Draw positive numbers for the parameters."""
    return {Symbol(n, real=True): rng.uniform(0.5, 2) for n in c.term.parameters}


def real(e):
    """Return an expression with its names as real symbols."""
    return e.xreplace({s: Symbol(s.name, real=True) for s in e.free_symbols})


@witness("design")
def curvature_is_constant(design, statement, rng):
    """Evaluate |grad F|^2 Q''(F) at weights drawn on a leaf: it is c > 0.

    Where no F is claimed to exist, look for a point with Q'' > 0, or without curvature.
    """
    c = of(design, statement)
    if isinstance(c, FlatMap):
        return image_of_hessian(c, rng)
    if c.term.couples:
        if curvature(c, rng) < CLOSE:
            raise Refuted("Hess Q is flat")
        return 1
    b = Symbol(c.term.variable, real=True)
    numbers = drawn(c, rng)
    second = real(to_sympy(c.term.tree)).diff(b, 2).subs(numbers)
    if not isinstance(c, Parameterized):
        assert c.finding.verdict is Verdict.REFUTED
        values = [complex(second.subs(b, rng.uniform(-3, 3))) for _ in range(POINTS)]
        if any(abs(v.imag) < CLOSE < v.real for v in values):
            raise Refuted(f"Q'' takes the values {values}")
        return len(values)
    weights = [Symbol(w, real=True) for w in c.weights]
    F = real(to_sympy(c.output)).subs(numbers)
    size = sum(F.diff(w) ** 2 for w in weights)
    product = 0.0 if c.product is None else float(real(c.product).subs(numbers))
    low, high = (float(real(sympy.sympify(end)).subs(numbers)) for end in c.interval)
    values = []
    for _ in range(POINTS):
        first = rng.uniform(0.2, 3)
        at = dict(zip(weights, (first, product / first), strict=False))
        beta = F.subs(at)
        if beta.is_real and low < float(beta) < high:
            values.append(complex((size.subs(at) * second.subs(b, beta)).evalf()))
    c_0 = float(real(sympy.sympify(c.scale)).subs(numbers))
    if c_0 <= 0 or any(abs(v - c_0) > CLOSE * c_0 for v in values):
        raise Refuted(f"|grad F|^2 Q'' takes the values {values}, not {c_0}")
    return len(values)


def at_a_point(c, rng):
    """Return Q, its variables, and a point near which Q is convex, in real symbols."""
    Q = real(to_sympy(c.term.tree)).subs(drawn(c, rng))
    x = [Symbol(name, real=True) for name in c.term.coordinates]
    H = sympy.lambdify(x, sympy.hessian(Q, x), "numpy")
    while True:
        at = [rng.uniform(-1, 3) for _ in x]
        with np.errstate(all="ignore"):
            values = np.array(H(*at), dtype=complex)
        if np.isfinite(values).all() and np.abs(values.imag).max() == 0:
            lengths = np.linalg.eigvalsh(values.real)
            if lengths.min() > 1e-3 * lengths.max():
                return Q, x, dict(zip(x, at, strict=True))


def curvature(c, rng):
    """Return the largest entry of the Riemann tensor of Hess Q at a point, by its definition."""
    Q, x, at = at_a_point(c, rng)
    g = sympy.hessian(Q, x)
    up = np.linalg.inv(np.array(g.subs(at), dtype=float))
    # Christoffel symbols of the first kind of a Hessian metric: half the third derivatives.
    third = sympy.Array([[[Q.diff(a, b, c) / 2 for c in x] for b in x] for a in x])
    lower = np.array(third.subs(at).tolist(), dtype=float)
    G = np.einsum("km,mij->kij", up, lower)
    half = np.einsum("mik,mjl->ijkl", lower, G)
    entries = (half - half.swapaxes(2, 3)).ravel()
    return max(map(abs, entries)) / np.abs(lower).max()


def image_of_hessian(c, rng):
    """Evaluate J J^T Hess Q(F) near the point that is named: it is c I, by differences of F."""
    w, b = ([Symbol(n, real=True) for n in names] for names in (c.weights, c.term.coordinates))
    point = dict(c.point)
    numbers = {x: float(point[x.name]) for x in drawn(c, rng)}
    F = sympy.lambdify(w, [real(to_sympy(f)).subs(numbers) for f in c.outputs], "numpy")
    H = sympy.lambdify(b, sympy.hessian(real(to_sympy(c.term.tree)).subs(numbers), b), "numpy")
    scale = float(real(c.scale).subs(numbers))
    for _ in range(POINTS):
        at = np.array([float(point[x.name]) * rng.uniform(0.9, 1.1) for x in w])
        step = 1e-5 * np.eye(len(w))
        J = np.array([(np.array(F(*(at + h))) - F(*(at - h))) / 2e-5 for h in step]).T
        found = J @ J.T @ np.array(H(*F(*at)), dtype=float)
        if np.abs(found - scale * np.eye(len(w))).max() > 1e-6 * scale:
            raise Refuted(f"J J^T Hess Q is {found}, not {scale}")
    return POINTS


def lengths(c, rng):
    """Put in what letters stand for, differentiate, and compare Dw^T Dw with Hess Q."""
    Q, x, at = at_a_point(c, rng)
    rows = {str(name): real(sympy.sympify(value)) for name, value in c.w_of_beta}
    numbers = drawn(c, rng)
    t, angle = Symbol("t", real=True), Symbol("phi", real=True)
    under = rows["phi" if "phi" in rows else "w2"].function
    turned = [under * rows["t"].diff(b) for b in x]
    slopes = [[rows["w1"].diff(b) for b in x], turned]
    if "phi" in rows:
        parts = ((rows[w].diff(angle), rows[w]) for w in ("w1", "w2"))
        slopes = [[f.diff(b) + by * s for b, s in zip(x, turned, strict=True)] for by, f in parts]
    values = sympy.Matrix(slopes).subs({angle: 0.7, t: rows["t"]}).subs(numbers).subs(at)
    D, H = np.array(values, dtype=float), np.array(sympy.hessian(Q, x).subs(at), dtype=float)
    ratios = (D.T @ D) @ np.linalg.inv(H)
    if np.abs(ratios - ratios[0, 0] * np.eye(2)).max() > CLOSE * abs(ratios[0, 0]):
        raise Refuted(f"Dw^T Dw (Hess Q)^-1 is {ratios}")
    return 1


@witness("line element")
def length_is_the_root(design, statement, rng):
    """Differentiate the integral: the square of its slope is Q''.

    Of a coupled Q the curvature is 0, and Dw^T Dw a multiple of Hess Q.
    """
    c = of(design, statement)
    if isinstance(c, FlatOnly):
        if curvature(c, rng) > CLOSE:
            raise Refuted("Hess Q is curved")
        return 1 + bool(c.w_of_beta and lengths(c, rng))
    assert isinstance(c, IntegralOnly)
    b, numbers = Symbol(c.term.variable, real=True), drawn(c, rng)
    second = real(to_sympy(c.term.tree)).diff(b, 2).subs(numbers)
    slope = real(c.w_of_beta).diff(b).subs(numbers)
    points = (rng.uniform(0.2, 2) for _ in range(POINTS))
    ratios = [complex((slope.subs(b, x) ** 2 / second.subs(b, x)).evalf()) for x in points]
    if np.ptp([abs(r) for r in ratios] or [0.0]) > CLOSE * max([1.0, *map(abs, ratios)]):
        raise Refuted(f"the square of the slope over Q'' takes the values {ratios}")
    return len(ratios)
