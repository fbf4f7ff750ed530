"""Float64 results of proved models against their derived formulas in mpmath, of 3000 digits.

So many are left sixty by what cancels between 1e-300 and 1e300. No code of the lowering is used:
roots are Newton's, second derivatives are differences, inverses are one Newton step away.
"""

import functools
import zlib

import mpmath
import numpy as np
import pytest
import sympy
from mpmath import mpf

from derive import InputError, Parameterization, derive
from derive.catalogue import find
from derive.catalogue.library import derive_entry
from derive.language import to_sympy
from derive.model.condition import Sign
from numerics.evaluate.lowering import unchecked
from numerics.evaluate.potential import lower_vector
from tests.published import GIVEN_SIZE

OF_PARAMETERS = "neuron-layer-rates"
"""A vector with a parameter, which has to be given a number."""
MODELS = sorted(  # weight normalization, an integral, is compared in test_vector_numeric.py
    {e.id for e in GIVEN_SIZE if e.verdict == "PROVED"} - {OF_PARAMETERS, "weight-normalization"}
)
POSITIVE = (*("square", "exponential", "unnormalized-exponentiated-gradient"),)
"""Models whose beta is positive."""
DIGITS, NEAR = 3000, mpf(10) ** -700
LEAST, MOST = 2.0**-1022, 2.0**1023
DIRECTIONS = ((2, 3, 6), (-6, 2, 3), (6, -2, -3), (1, 2, -2), (-4, -4, 7), (2, 10, 11))
"""Integer vectors of integer lengths: so u_0 has exactly the length that a start says."""


def compiled(*expressions):
    """Return expressions as a function of numbers by name."""
    symbols = sorted(set().union(*(sympy.sympify(e).free_symbols for e in expressions)), key=str)
    plain = {s: sympy.Symbol(f"s{i}") for i, s in enumerate(symbols)}
    images = [sympy.sympify(e).xreplace(plain) for e in expressions]
    function = sympy.lambdify(list(plain.values()), images, "mpmath", cse=True)
    return lambda at: [mpf(x) for x in function(*(at[s.name] for s in symbols))]


def largest_root(rows):
    """Fall by Newton's method to the largest root of a polynomial with one above its turns."""
    rows = [c / rows[0] for c in rows]
    if all(c >= 0 for c in rows):  # no root is positive
        return -largest_root([c * (-1) ** i for i, c in enumerate(rows)]) if rows[-1] else mpf(0)
    x = 2 * max(abs(c) ** (mpf(1) / k) for k, c in enumerate(rows[1:], 1))
    while True:
        value, slope = mpmath.polyval(rows, x, derivative=True)
        if value <= 0 or abs(value) < abs(slope * x) * mpf(10) ** (50 - DIGITS):
            return x
        x -= value / slope


class Block:
    """Q of one piece, from the formulas that are printed."""

    def __init__(self, piece):
        self.piece, self.names = piece, [b.name for b in piece.betas]
        self.constants = [(s.name, compiled(v)) for s, v in piece.constants]
        self.roots = [
            (r.symbol.name, compiled(*sympy.Poly(r.polynomial, r.symbol).all_coeffs()))
            for r in piece.roots
        ]
        self.value, self.gradient = compiled(piece.value), compiled(*piece.gradient)
        if curve := piece.curve:
            self.beta, self.ends = compiled(curve.beta), compiled(*curve.interval)
            self.rise = compiled(curve.beta.diff(curve.parameter))

    def start(self, numbers):
        """Add the named constants to the numbers of a start."""
        at = dict(numbers)
        for name, constant in self.constants:
            (at[name],) = constant(at)
        return at

    def at(self, start, beta, z=None):
        """Add beta, and the roots or the parameter, near z, that belong to it."""
        at = {**start, **dict(zip(self.names, beta, strict=True))}
        for name, coefficients in self.roots:
            at[name] = largest_root(coefficients(at))
        if self.piece.curve:
            name = self.piece.curve.parameter.name
            for _ in range(10):
                known = {**at, name: z}
                z -= (self.beta(known)[0] - beta[0]) / self.rise(known)[0]
            at[name] = z
        return at

    def draw(self, start, rng):
        """Draw beta of a curve by its parameter: near 0, or near either end."""
        size = mpf(10) ** -rng.uniform(0.3, 60)
        end = self.ends(start)[rng.integers(2)]
        z = end * (size if rng.random() < 0.5 else 1 - size)
        (beta,) = self.beta({**start, self.piece.curve.parameter.name: z})
        return float(beta), z


class Formulas:
    """Q of a model at a start: the sum of its blocks, or that of |beta| with a direction."""

    def __init__(self, potential, given):
        p, self.turning = potential.parameterization, potential.turning
        numbers = {n: mpf(x) for n, x in given.items() if np.ndim(x) == 0}
        if self.turning is not None:
            direction = self.turning.direction
            u = [mpf(float(x)) for x in given[direction.start_vector]]
            numbers[f"{direction.norm}_0"] = mpmath.norm(u)
        self.blocks = [
            (outputs, Block(x)) for outputs, x in zip(p.blocks, potential.pieces, strict=True)
        ]
        self.starts = [block.start(numbers) for _, block in self.blocks]
        weights = {w: to_sympy(tree) for w, tree in p.start}
        outputs = [to_sympy(tree) for tree in p.trees]
        images = [{s: weights.get(s.name, s) for s in f.free_symbols} for f in outputs]
        self.origin = compiled(*map(lambda f, at: f.subs(at, simultaneous=True), outputs, images))(
            numbers
        )
        if self.turning is not None:
            (slope,), (last,) = (
                compiled(x)(numbers) for x in (self.turning.slope, weights[p.weights[-1]])
            )
            self.pull = [slope * x for x in u]
            self.origin = [x * self.origin[0] / last * direction.sign for x in u]

    def _at(self, beta, z):
        if self.turning is not None:
            return [self.blocks[0][1].at(self.starts[0], [mpmath.norm(beta)])]
        return [
            block.at(start, [beta[i] for i in outputs], z)
            for start, (outputs, block) in zip(self.starts, self.blocks, strict=True)
        ]

    def value(self, beta, z):
        places = zip(self._at(beta, z), self.blocks, strict=True)
        total = mpmath.fsum(block.value(at)[0] for at, (_, block) in places)
        return total - (mpmath.fdot(self.pull, beta) if self.turning is not None else 0)

    def gradient(self, beta, z):
        places = zip(self._at(beta, z), self.blocks, strict=True)
        found = {}
        for at, (outputs, block) in places:
            found.update(zip(outputs, block.gradient(at), strict=True))
        if self.turning is None:
            return [found[i] for i in sorted(found)]
        ratio = found[0] / mpmath.norm(beta)
        return [ratio * b - x for b, x in zip(beta, self.pull, strict=True)]

    def hessian(self, beta, z):
        """Return central differences, row by row, whose errors are far below sixty digits."""
        columns = []
        for j, b in enumerate(beta):
            h = NEAR * (abs(b) or 1)
            up, down = ([x + s * h * (i == j) for i, x in enumerate(beta)] for s in (1, -1))
            columns.append(
                [
                    (x - y) / (2 * h)
                    for x, y in zip(self.gradient(up, z), self.gradient(down, z), strict=True)
                ]
            )
        return [column[i] for i in range(len(beta)) for column in columns]

    def inverse(self, dual, near):
        """Return beta with a gradient: of a curve as a formula, else one Newton step from near."""
        block = self.blocks[0][1]
        if curve := block.piece.curve:
            known = {**self.starts[0], curve.parameter.name: dual[0]}
            return block.beta(
                known | {curve.parameter.name: dual[0] ** 2 / block.gradient(known)[0]}
            )
        at, d = [mpf(float(x)) for x in near], len(near)
        left = [g - y for g, y in zip(self.gradient(at, None), dual, strict=True)]
        rows = self.hessian(at, None)
        matrix = mpmath.matrix([rows[d * i : d * (i + 1)] for i in range(d)])
        steps = mpmath.lu_solve(matrix, mpmath.matrix(left))
        return [x - step for x, step in zip(at, steps, strict=True)]


def draw_start(name, potential, rng):
    """Draw a start that Q was derived for, and lower Q there."""
    p, radial = potential.parameterization, potential.turning is not None
    assumed = [c.of for x in potential.pieces for c in x.assumptions if c.sign is Sign.POSITIVE]
    positive = {*p.positive, *(f.name for f in assumed if f.is_Symbol)}
    while True:
        names = (*(() if radial else p.parameters), *p.start_symbols)
        start = {
            n: 10 ** rng.uniform(-8, 8) * (1 if n in positive else rng.choice([-1, 1]))
            for n in names
        }
        start |= {"D": float(rng.integers(3, 9))} if "D" in start else {}
        start |= {"rho": 10 ** rng.uniform(-3, 0)} if "rho" in start else {}
        start |= {"w_0": rng.uniform(-18, 18)} if name == "exponential" else {}
        if radial:
            direction = DIRECTIONS[rng.integers(len(DIRECTIONS))]
            length = round(sum(k * k for k in direction) ** 0.5)
            scale = float(np.float32(10 ** rng.uniform(-8, 8) / length))
            if start.pop(f"{potential.turning.direction.norm}_0", None) is None:
                start[potential.parameterization.start_symbols[0]] = scale * length
            start[potential.turning.direction.start_vector] = np.array(direction) * scale
        try:
            q = lower_vector(potential, start) if radial else unchecked(potential, start)
        except InputError:
            continue
        if np.all(np.isfinite(q.gradient(np.array(q.beta0)))):
            return start, q


def draw_points(name, formulas, q, rng):
    """Draw two points log-uniformly, the second at times near the first; with z on a curve."""
    block, signs = formulas.blocks[0][1], [1] if name in POSITIVE else [-1, 1]
    if block.piece.curve:
        return [([b], z) for b, z in (block.draw(formulas.starts[0], rng) for _ in range(2))]
    shares = 10 ** rng.uniform(-3, 0, (2, q.d)) * rng.choice(signs, (2, q.d))
    points = 10 ** rng.uniform(-300, 300, (2, 1)) * shares
    if rng.random() < 0.3:
        points[1] = points[0] * (1 + 10 ** rng.uniform(-15, -0.1, q.d))
    return [(point.tolist(), None) for point in points]


def compare(formulas, q, b, b0, rng):
    """Yield names of functions with results, and with what is exact."""
    (b, z), (b0, z0) = b, b0
    exact, exact0 = ([mpf(x) for x in p] for p in (b, b0))
    point, point0 = (p[0] if q.d == 1 else np.array(p) for p in (b, b0))
    height, slopes = formulas.value(exact, z), formulas.gradient(exact, z)
    curved = formulas.hessian(exact, z)
    origin = formulas.value(formulas.origin, mpf(0))
    yield "value", q(point), [height - origin]
    yield "gradient", q.gradient(point), slopes
    yield "hessian", q.hessian(point), curved
    gaps = [x - y for x, y in zip(exact, exact0, strict=True)]
    rise = height - formulas.value(exact0, z0)
    pull = mpmath.fdot(formulas.gradient(exact0, z0), gaps)
    yield "bregman", q.bregman(point, point0), [rise - pull]
    if formulas.turning is not None:
        x = rng.normal(size=q.d)
        rows = [curved[q.d * i : q.d * (i + 1)] for i in range(q.d)]
        yield "product", q.hessian_product(point, x), [mpmath.fdot(r, map(mpf, x)) for r in rows]
    dual = q.gradient(point)
    found = np.ravel(q.inverse_gradient(dual))
    if np.isfinite(dual).all() and (abs(found) >= LEAST).all():
        yield "inverse", found, formulas.inverse([mpf(float(y)) for y in np.ravel(dual)], found)


@functools.cache
def potential_of(name):
    return derive_entry(find(name)).potential


def check(name, seed, wanted, change=lambda q: q):
    """Compare until all functions were at so many points; return the largest errors."""
    potential, rng = potential_of(name), np.random.default_rng([zlib.crc32(name.encode()), seed])
    counts, worst = {}, {}
    for _ in range(10 * wanted):
        start, q = draw_start(name, potential, rng)
        with mpmath.workdps(DIGITS), np.errstate(all="ignore"):
            formulas = Formulas(potential, start)
            b, b0 = draw_points(name, formulas, q, rng)
            for function, found, exact in compare(formulas, change(q), b, b0, rng):
                for x, true in zip(np.ravel(found), exact, strict=True):
                    if LEAST <= abs(true) < MOST:
                        error = float(abs(mpf(float(x)) / true - 1)) if np.isfinite(x) else np.inf
                        counts[function] = counts.get(function, 0) + 1
                        worst[function] = max(worst.get(function, 0), error)
        if len(counts) > 4 and min(counts.values()) >= wanted:
            return worst
    raise AssertionError(f"too few points: {counts}")


@pytest.mark.every(12)
@pytest.mark.parametrize("name", MODELS)
def test_results_have_all_digits(name):
    """Beta from 1e-300 to 1e300 and starts from 1e-8 to 1e8, log-uniform."""
    worst = check(name, 9, 5)
    assert max(worst.values()) < 1e-14, worst


@pytest.mark.parametrize("name", ["tied-pair", "square"])
def test_plain_doubles_lose_them(name):
    worst = check(name, 5, 20, lambda q: q.in_doubles)
    assert worst["bregman"] > 1e-8
    assert worst["value"] > 1e-8


def test_a_vector_with_a_parameter_is_that_with_a_number():
    at = {"a_0": 1, "u_0": [1, 2]}
    with pytest.raises(InputError, match="no value for eta"):
        potential_of(OF_PARAMETERS).numeric(at)
    fixed = derive(Parameterization.parse(["a*u"], vectors=["u"], rates={"a": "2"})).potential
    given = potential_of(OF_PARAMETERS).numeric({**at, "eta": 2})
    assert np.allclose(given.gradient([0.5, 0.2]), fixed.numeric(at).gradient([0.5, 0.2]), 1e-12)
    assert not np.allclose(given.gradient([0.5, 0.2]), 0)
