"""A perturbation in numbers, on a small regression problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import mpmath
import numpy as np
import sympy
from sympy import Expr, Symbol

from derive.language.symbolic import from_sympy
from derive.language.tree import Number, Tree, names, substituted
from derive.model.labels import beside
from derive.model.parameterization import Parameterization
from derive.perturbed.coordinates import MIRROR
from derive.perturbed.drift import Drift
from derive.perturbed.find import perturb
from derive.perturbed.planar import followed_in_plane
from derive.perturbed.record import Perturbation
from numerics.confirm.agreement import digits_of
from numerics.confirm.crosscheck import ANY_SIZE, in_numbers
from numerics.confirm.regression_problem import (
    COPIES,
    RegressionProblem,
    complete_problem,
    draw_starts,
)
from numerics.evaluate.backend import compiled
from numerics.evaluate.copies import fixed_starts
from numerics.evaluate.numbers import read_number
from numerics.evaluate.start import with_pi
from numerics.flow.perturbed import letter
from numerics.reals import Real, rational

Numbers = Mapping[str, Fraction]


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

    def letter(self, name: str) -> Symbol:
        """Return a letter of ours beside the weights of all copies."""
        return _real(letter(self.problem.model, name))

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
        return tuple(from_sympy(self.smooth(f), ANY_SIZE) for f in changes)

    @staticmethod
    def smooth(f: Expr) -> Expr:
        """Return a function with sqrt(a^2) for |a|."""
        # of a product, whose modulus SymPy takes apart
        squared = f.replace(
            lambda e: isinstance(e, sympy.log) and not e.args[0].is_Add and e.has(sympy.Abs),
            lambda e: (
                sympy.log(sympy.Pow(e.args[0].replace(sympy.Abs, lambda a: a), 2, evaluate=False))
                / 2
            ),
        )
        return squared.replace(
            sympy.Abs, lambda a: sympy.Pow(sympy.Pow(a, 2), sympy.S.Half, evaluate=False)
        )

    def evaluated(self, forms: Sequence[Expr], values: Sequence[Real]) -> list[Real]:
        """Return functions of the weights, and of G_1, G_2, ..., k where these are given."""
        G = (self.letter(f"G_{i}") for i in range(1, len(self.problem.model.trees) + 1))
        names = [*map(_real, self.problem.model.weights), *G, self.letter("k")]
        known = [symbol.name for symbol in names[: len(values)]]
        return list(compiled(forms, known, "mpmath")(*map(mpmath.mpf, values)))

    def derivatives(self, w: Sequence[Real], velocities: Sequence[Real]) -> list[Real]:
        """Return the derivatives of every law and y along velocities of the weights."""
        quantities = self.copied(lambda x: self.smooth(x.quantity))
        names = [_real(name) for name in self.problem.model.weights]
        slopes = [f.diff(name) for f in quantities for name in names]
        found, n = self.evaluated(slopes, w), len(names)
        rows = (found[k : k + n] for k in range(0, len(found), n))
        return [mpmath.fdot(row, velocities) for row in rows]

    def moved(self, w: Sequence[Real]) -> list[Real]:
        """Return the change of every law and y from the start to w."""
        forms = self.copied(lambda x: x.quantity)
        known = [sympy.S.Zero if isinstance(f, sympy.Integral) else f for f in forms]
        ends = self.evaluated(known, w), self.evaluated(known, self.origin)
        moved = [b - a for b, a in zip(*ends, strict=True)]
        for i, f in enumerate(forms):
            if isinstance(f, sympy.Integral):
                moved[i] = self._integral(f, w)
        return moved

    def _integral(self, f: sympy.Integral, w: Sequence[Real]) -> Real:
        """Return the integral over a weight from its start."""
        ((weight, *_),) = f.limits
        k = self.problem.model.weights.index(weight.name)
        slope = compiled([f.function], [weight.name], "mpmath")
        total: Real = mpmath.quad(lambda x: slope(x)[0], [self.origin[k], mpmath.mpf(w[k])])
        return total

    def split(
        self, errors: Sequence[Real], values: Sequence[Real]
    ) -> tuple[float | None, float | None]:
        """Return the digits to which errors of laws, and of y, are small beside the values."""
        k = self.problem.model.count * len(self.laws)
        laws, dual = (_digits(errors[part], values[part]) for part in (slice(k), slice(k, None)))
        return laws, dual

    @property
    def origin(self) -> list[Real]:
        """The weights at the start, to the digits at hand."""
        return [rational(x) for _, x in self.problem.origin]


def _real(name: str) -> Symbol:
    return Symbol(name, real=True)


def _digits(errors: Sequence[Real], values: Sequence[Real]) -> float | None:
    if not errors:
        return None
    return digits_of(mpmath.norm(list(errors)), max(1, mpmath.norm(list(values))))


def drawing(
    found: Perturbation, start: dict[str, object], rng: np.random.Generator
) -> Callable[[], Case]:
    """Return what draws a problem, as far as it is not given."""
    d = found.derivation
    if d.direction is not None:
        d = followed_in_plane(d)
        found = perturb(d, found.by, penalty=found.penalty, process=found.process)
    p = d.parameterization
    drawn = {name: Fraction(2 * k + 7, 2) for k, name in enumerate(p.parameters)}
    given = with_pi(p.parameters, start)
    values = {x: read_number(given.get(x, drawn[x]), f"the parameter {x}") for x in drawn}
    subject, rest = in_numbers(d, {**start, **values})
    one, taken = subject.parameterization, d.blocks[0].notation.taken
    fixed = fixed_starts(one.start_symbols, rest, 1 if one.d > 1 else COPIES)

    def bound(f: Expr) -> Expr:
        at = {s: values[s.name] for s in f.free_symbols if s.name in values}
        return f.subs({s: sympy.Rational(x.numerator, x.denominator) for s, x in at.items()})

    laws, dual = (
        tuple(replace(x, quantity=bound(x.quantity), change=bound(x.change)) for x in group)
        for group in (found.of_laws, found.of_dual)
    )
    begin = tuple((w, bound(x)) for w, x in found.start)
    h = [] if found.penalty is None else [from_sympy(bound(found.penalty), ANY_SIZE)]
    psi = _psi(found, one, values)

    def draw() -> Case:
        starts = draw_starts(subject.potential, fixed, rng)
        problem = complete_problem(one, None, None, starts, rng)
        return Case(problem, laws, dual, begin, taken, problem.model.spread(h), psi)

    return draw


def _psi(found: Perturbation, one: Parameterization, values: Numbers) -> tuple[Tree, ...]:
    """Return the mirror of mirror descent in the weights that are followed."""
    d = found.derivation
    psi = d.parameterization.geometry.psi
    if found.process != MIRROR or psi is None:
        return ()
    known: dict[str, Tree] = {**dict(d.ties), **{x: Number(v) for x, v in values.items()}}
    # a weight that F has not moves with none of these
    others = [x for x in names((psi,)) if x not in one.weights]
    return (substituted(psi, {x: known.get(x, Number(Fraction(1))) for x in others}),)
