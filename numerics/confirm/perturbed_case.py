"""A perturbation in numbers: a small regression problem, and noise along paths that are drawn.

One copy of F is steered by the noise of its residuals alone, dw = sum_a X_a sigma dB_a - k w dt, by
the Euler-Maruyama scheme: after a time, c - c(w_0) less the integral of its drift has the mean 0
up to O(h) in the step h, and y - y(w_0) less its own, too. Under momentum dw' + dw takes the place
of dw, and c + c' that of c. Here k = 1/10 where there is decay, or 0. A path stops
where a weight has moved by half of itself, as steep F explode.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product

import mpmath
import numpy as np
import sympy
from sympy import Expr, Integral, Symbol

from derive.language import to_sympy
from derive.language.symbolic import from_sympy
from derive.language.tree import Number, Tree, names, substituted
from derive.model.geometry import Field
from derive.model.labels import beside
from derive.model.names import unused
from derive.model.notation import to_expr
from derive.model.parameterization import Parameterization
from derive.perturbed.coordinates import MIRROR
from derive.perturbed.drift import Drift
from derive.perturbed.find import perturb
from derive.perturbed.followed import followed_in_plane
from derive.perturbed.record import Perturbation
from numerics.confirm.crosscheck import Subject
from numerics.confirm.regression_problem import ANY_SIZE, RegressionProblem, digits_of, smooth
from numerics.evaluate.numbers import Array, Real, compiled, evaluated, exact, on_arrays, rational
from numerics.evaluate.start import parameters_at
from numerics.integrator.builder import compile_forward
from numerics.integrator.implicit import jacobians


@dataclass(frozen=True, slots=True)
class Case:
    """A perturbation in numbers: F in copies with data, and what is followed in each of them."""

    problem: RegressionProblem
    laws: tuple[Drift, ...]
    dual: tuple[Drift, ...]
    start: tuple[tuple[str, Expr], ...]
    taken: frozenset[str]
    penalty: tuple[Tree, ...] = ()
    psi: tuple[Tree, ...] = ()

    @property
    def mirror(self) -> tuple[Tree, ...]:
        """The mirror of mirror descent, for each copy; () for a process in the weights."""
        return self.problem.model.spread(self.psi)

    @property
    def data(self) -> tuple[Sequence[object], Sequence[object], dict[str, object]]:
        """X, y and the start of every weight."""
        return self.problem.X, self.problem.y, dict(self.problem.origin)

    def lightness(self, most: Fraction) -> Fraction:
        """Return a mass of momentum of at most 1/(4 |X K X^T|) at the start, and *most*."""
        tape = compile_forward(self.problem.model.trees, self.problem.model.weights)
        (J,) = jacobians(tape, np.array([list(map(float, self.origin))]))
        stiffness = np.linalg.norm(np.array(self.problem.X, float) @ J, 2) ** 2
        return min(most, Fraction(1, 4 * int(stiffness) + 1))

    def letter(self, name: str) -> Symbol:
        """Return a letter of ours beside the weights of all copies."""
        return _real(unused(name, self.problem.model.weights))

    def copied(self, of: Callable[[Drift], Expr]) -> list[Expr]:
        """Return functions of the weights of all laws, and then of y, copy by copy."""
        return [
            self._renamed(of(x), i)
            for group in (self.laws, self.dual)
            for i in range(self.problem.model.count)
            for x in group
        ]

    def _renamed(self, f: Expr, copy: int) -> Expr:
        """Return a function in the names of one copy, with S_ab = G_a G_b."""
        model, known = self.problem.model, dict[str, Expr]()
        one, prefix = model.one, model.prefixes[copy]
        for w in one.weights:
            known |= {
                w: _real(prefix + w),
                beside(f"{w}_t", self.taken): self.letter(f"{prefix}{w}_t"),
                beside(f"{w}_next", self.taken): self.letter(f"{prefix}{w}_next"),
            }
        labels = [""] if one.d == 1 and not one.affine else [str(x) for x in one.labels]
        G = {x: self.letter(f"G_{copy * one.d + i}") for i, x in enumerate(labels, 1)}
        known |= {beside(f"G{a}", self.taken): G[a] for a in G}
        known |= {beside(f"S{a}{b}", self.taken): G[a] * G[b] for a in G for b in G}
        known |= {beside(x, self.taken): self.letter(x) for x in ("eta", "k", "mu", "lam")}
        return f.xreplace({s: known[s.name] for s in f.free_symbols if s.name in known})

    def trees(self, size: Expr = sympy.S.One, **letters: Expr) -> tuple[Tree, ...]:
        """Return *size* times the changes, log(a**2)/2 for log |a|, and letters as given."""
        known = {self.letter(name): x for name, x in letters.items()}
        changes = [size * f.xreplace(known) for f in self.copied(lambda x: x.change)]
        return tuple(from_sympy(smooth(f), ANY_SIZE) for f in changes)

    def evaluated(self, forms: Sequence[Expr], values: Sequence[Real]) -> list[Real]:
        """Return functions of the weights, and of G_1, G_2, ..., k where these are given."""
        G = (self.letter(f"G_{i}") for i in range(1, len(self.problem.model.trees) + 1))
        names = [*map(_real, self.problem.model.weights), *G, self.letter("k")]
        known = [symbol.name for symbol in names[: len(values)]]
        return list(compiled(forms, known, "mpmath")(*map(mpmath.mpf, values)))

    def derivatives(self, w: Sequence[Real], velocities: Sequence[Real]) -> list[Real]:
        """Return the derivatives of every law and y along velocities of the weights."""
        quantities = self.copied(lambda x: smooth(x.quantity))
        names = [_real(name) for name in self.problem.model.weights]
        slopes = [f.diff(name) for f in quantities for name in names]
        found, n = self.evaluated(slopes, w), len(names)
        rows = (found[k : k + n] for k in range(0, len(found), n))
        return [mpmath.fdot(row, velocities) for row in rows]

    def moved(self, w: Sequence[Real]) -> list[Real]:
        """Return the change of every law and y from the start to w."""
        forms, weights = self.copied(lambda x: x.quantity), self.problem.model.weights
        begin, end = (dict(zip(weights, map(mpmath.mpf, x), strict=True)) for x in (self.origin, w))
        # an integral is over a weight from its start
        before = (0 if isinstance(f, Integral) else evaluated(f, begin) for f in forms)
        return [evaluated(f, end, begin) - c for f, c in zip(forms, before, strict=True)]

    def split(self, errors: Sequence[Real], values: Sequence[Real]) -> dict[str, float | None]:
        """Return the digits to which errors of laws, and of y, are small beside the values."""

        def digits(errors: Sequence[Real], values: Sequence[Real]) -> float | None:
            size = max(1, mpmath.norm(list(values)))
            return digits_of(mpmath.norm(list(errors)), size) if errors else None

        k = self.problem.model.count * len(self.laws)
        return {"laws": digits(errors[:k], values[:k]), "dual": digits(errors[k:], values[k:])}

    @property
    def origin(self) -> list[Real]:
        """The weights at the start, to the digits at hand."""
        return [rational(x) for _, x in self.problem.origin]


def _real(name: str) -> Symbol:
    return Symbol(name, real=True)


def drawing(
    found: Perturbation, start: dict[str, object], rng: np.random.Generator
) -> Callable[[], Case]:
    """Return what draws a problem, as far as it is not given."""
    d = found.derivation
    if d.direction is not None:
        d = followed_in_plane(d)
        found = perturb(d, found.by, penalty=found.penalty, process=found.process)
    p = d.parameterization
    values = parameters_at(p.parameters, start)
    subject = Subject.of(d, {**start, **values})
    one, taken = subject.parameterization, d.blocks[0].notation.taken
    bound = partial(exact, values=values)
    laws, dual = (
        # that an integral is moved by itself tells nothing
        tuple(
            replace(x, quantity=bound(x.quantity), change=bound(x.change))
            for x in group
            if not x.change.has(Integral)
        )
        for group in (found.of_laws, found.of_dual)
    )
    begin = tuple((w, bound(x)) for w, x in found.start if w in one.weights)
    h = [] if found.penalty is None else [from_sympy(bound(found.penalty), ANY_SIZE)]
    psi = _psi(found, one, values)

    def draw() -> Case:
        problem = subject.problem(rng)
        return Case(problem, laws, dual, begin, taken, problem.model.spread(h), psi)

    return draw


def _psi(
    found: Perturbation, one: Parameterization, values: Mapping[str, Fraction]
) -> tuple[Tree, ...]:
    """Return the mirror of mirror descent in the weights that are followed."""
    d = found.derivation
    psi = d.parameterization.geometry.psi
    if found.process != MIRROR or psi is None:
        return ()
    known: dict[str, Tree] = {**dict(d.ties), **{x: Number(v) for x, v in values.items()}}
    # A weight that F has not moves with none of these.
    others = [x for x in names((psi,)) if x not in one.weights]
    return (substituted(psi, {x: known.get(x, Number(Fraction(1))) for x in others}),)


PATHS, STEPS, SIZE = 4000, 100, 0.1
"""How many paths of how many steps, and by which part of themselves the weights move."""
ROUNDING = 1e-12
"""What is left of a law that every path keeps."""
NEWTON = 6
"""Steps of Newton's method, as theta moves by a hundredth of itself."""


@dataclass(frozen=True, slots=True)
class PathMean:
    """The mean change of a law or dual coordinate over paths, its standard error, and the drift's.

    *offset* is the mean of the difference of both, with its own standard error. All are 2 f_2 - f_1
    of what f_1 is in some steps and f_2 on the same Brownian paths in twice as many: what Euler's
    scheme leaves out is of the order of a step, and falls out.
    """

    name: str
    mean: float
    error: float
    drift: float
    offset: tuple[float, float]

    @classmethod
    def of(cls, name: str, moved: Array, drift: Array) -> PathMean:
        """Return the means of changes over paths, each in some steps and in twice as many."""
        moved, drift = (2 * f[1] - f[0] for f in (moved, drift))
        both = moved, moved - drift
        mean, off = ((float(f.mean()), float(f.std() / np.sqrt(PATHS))) for f in both)
        return cls(name, *mean, float(drift.mean()), off)

    @property
    def agrees(self) -> bool:
        """Whether the difference is within five standard errors."""
        off, error = self.offset
        return abs(off) <= 5 * error + ROUNDING

    def report(self) -> str:
        """Return the comparison as a line."""
        found = f"{self.mean:+.5f} +- {self.error:.5f} over {PATHS} paths"
        return f"  {self.name} moved by {found}, drift {self.drift:+.5f}"


def noisy_paths(
    case: Case, kinds: Collection[str], rng: np.random.Generator
) -> tuple[PathMean, ...]:
    """Draw paths of the first copy from its start, and compare."""
    p, followed = case.problem.model.one, (*case.laws, *case.dual)
    names = {w: Symbol(w, real=True) for w in (*p.weights, *p.parameters)}
    velocities = [beside(f"{w}_t", case.taken) for w in p.weights]
    sizes = {Symbol(beside(x, case.taken), real=True): v for x, v in (("k", SIZE), ("lam", 1))}
    x = ProcessCoordinates.of(case)
    forms = [f.quantity for f in followed]
    slopes = [smooth(f.quantity).diff(names[w]) for f in followed for w in p.weights]
    slope = on_arrays(slopes, p.weights)
    begin = np.repeat(np.array([[float(x)] for _, x in case.problem.origin[: p.p]]), PATHS, axis=1)
    fields = on_arrays([to_expr(f, names) for row in p.fields for f in row], p.weights)
    sigma = SIZE * (np.linalg.norm(begin[:, 0]) or 1) / np.linalg.norm(fields(begin)[:, 0])
    S = {  # a weight may have the name of an S
        Symbol(beside(f"S{a}{b}", case.taken), real=True): sympy.Float(float(sigma**2) * (a == b))
        for a, b in product(("", *map(str, p.labels)), repeat=2)
    }
    drift = on_arrays(
        [f.change.xreplace({**S, **sizes}) for f in followed], (*p.weights, *velocities)
    )

    def moved(noise: Array) -> Array:
        """Return by how much all has moved at the end of paths, and by which drift."""
        w, v, total = x.end(begin, noise, kinds, drift)
        mean = (slope(w).reshape(-1, p.p, PATHS) * x.raised(w, v)).sum(axis=1)
        return np.stack([_changes(forms, p.weights, begin, w) + mean, total], axis=1)

    z = sigma * rng.standard_normal((STEPS, p.d, 1, PATHS))
    both = np.stack([moved((z[::2] + z[1::2]) / np.sqrt(2)), moved(z)], axis=2)
    pairs = zip(followed, both, strict=True)
    return tuple(PathMean.of(str(f.symbol), *values) for f, values in pairs)


@dataclass(frozen=True, slots=True)
class ProcessCoordinates:
    """The weights of all paths, or theta = grad psi(w) of mirror descent.

    Attributes:
        push: the fields in these coordinates.
        P, theta: G^-1 and theta; None where the coordinates are the weights.
    """

    push: Callable[[Array], Array]
    P: Callable[[Array], Array] | None = None
    theta: Callable[[Array], Array] | None = None

    @classmethod
    def of(cls, case: Case) -> ProcessCoordinates:
        """Return the coordinates of the process of a case."""
        p = case.problem.model.one
        names = {w: Symbol(w, real=True) for w in (*p.weights, *p.parameters)}

        def of_weights(rows: Iterable[Field]) -> Callable[[Array], Array]:
            return on_arrays([to_expr(f, names) for row in rows for f in row], p.weights)

        if not case.psi:
            return cls(of_weights(p.fields))
        one, zero = p.field.one, p.field.zero
        unit = tuple(tuple(one if i == j else zero for j in range(p.p)) for i in range(p.p))
        psi = to_sympy(case.psi[0], names)
        theta = on_arrays([psi.diff(names[w]) for w in p.weights], p.weights)
        return cls(of_weights(p.covectors), of_weights(p.geometry.fields(unit)), theta)

    def raised(self, w: Array, v: Array) -> Array:
        """Return the vector with components v."""
        if self.P is None:
            return v
        n = len(w)
        return np.asarray(np.einsum("ij...,j...->i...", self.P(w).reshape(n, n, -1), v))

    def decayed(self, w: Array) -> Array:
        """Return the components of w."""
        if self.P is None:
            return w
        n = len(w)
        P = np.moveaxis(self.P(w).reshape(n, n, -1), -1, 0)
        return np.asarray(np.linalg.solve(P, w.T[..., None])[..., 0].T)

    def end(
        self, begin: Array, noise: Array, kinds: Collection[str], drift: Callable[[Array], Array]
    ) -> tuple[Array, Array, Array]:
        """Return weights and velocities after a unit of time, and the integral of a drift.

        Paths stop where a weight has moved by half of what it was.
        """
        reach = np.where(begin, np.abs(begin), np.abs(begin).max() or 1) / 2
        w, v, total, k = begin, np.zeros_like(begin), np.zeros(PATHS), SIZE * ("decay" in kinds)
        for z in noise:
            h = (np.abs(w - begin) < reach).all(axis=0) / len(noise)
            total = total + drift(np.concatenate([w, self.raised(w, v)])) * h
            kick = (self.push(w).reshape(len(z), -1, PATHS) * z * np.sqrt(h)).sum(axis=0)
            kick -= k * h * self.decayed(w)
            if "momentum" in kinds:
                w, v = self.moved(w, v * h), v + kick - v * h
            else:
                w = self.moved(w, kick)
        return w, v, total

    def moved(self, w: Array, step: Array) -> Array:
        """Return the weights after a step in the coordinates, by Newton's method."""
        if self.theta is None:
            return w + step
        target = self.theta(w) + step
        for _ in range(NEWTON):
            w = w + self.raised(w, target - self.theta(w))
        return w


def _changes(forms: Sequence[Expr], weights: Sequence[str], begin: Array, w: Array) -> Array:
    """Return by how much functions, or integrals over the one weight, differ from the start."""
    rule, half = np.polynomial.legendre.leggauss(20), (w - begin) / 2

    def change(f: Expr) -> Array:
        if not isinstance(f, Integral):
            (after,), (before,) = (on_arrays([f], weights)(x) for x in (w, begin))
            return np.asarray(after - before)
        slope = on_arrays([f.function], weights)
        parts = (c * slope(begin + (1 + t) * half)[0] for t, c in zip(*rule, strict=True))
        return np.asarray(half[0] * sum(parts))

    return np.array([change(f) for f in forms])
