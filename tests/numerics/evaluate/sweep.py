"""Float64 results of Q for the models of the catalogue, against 60 digits and more."""

from __future__ import annotations

import functools
import math
import zlib
from dataclasses import dataclass, field
from typing import Any

import flint
import numpy as np

from derive import InputError
from derive.catalogue import entries, find
from derive.catalogue.library import derive_entry
from derive.model.condition import Sign
from numerics.evaluate.lowering import unchecked
from numerics.evaluate.potential import lower_vector
from tests.numerics.evaluate.reference import Reference, Undecided, Unsolved, of

FUNCTIONS = ("value", "gradient", "hessian", "product", "inverse", "bregman")
OF_PARAMETERS = "neuron-layer-rates"
"""A vector with a parameter, which has to be given a number."""
MODELS = tuple(e.id for e in entries()[::-1] if e.verdict == "PROVED" and e.id != OF_PARAMETERS)
POSITIVE = (
    "square",
    "exponential",
    "symmetric-factorization-commuting",
    "unnormalized-exponentiated-gradient",
)
"""Models whose beta is positive."""
_LADDER = (320, 800, 2000, 5000, 12_000)
_PROVED = 205  # 60 digits and a few bits
_LEAST, _OVER = 2.0**-1022, flint.arb(2) ** 1024
POINTS = 100_000
"""Compared for each function of each model."""
_POINTS = 250
"""Points for each start."""
_DIRECTIONS = ((2, 3, 6), (-6, 2, 3), (6, -2, -3), (1, 2, -2), (-4, -4, 7), (2, 10, 11))
"""Integer vectors of integer lengths: so u_0 has exactly the length that a start says."""


@dataclass
class Row:
    """What a sweep found of one function of one model."""

    compared: int = 0
    worst: float = 0.0
    at: str = ""
    beyond: int = 0
    missing: int = 0
    undecided: int = 0

    def add(self, other):
        for name in ("compared", "beyond", "missing", "undecided"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if other.worst > self.worst:
            self.worst, self.at = other.worst, other.at


@functools.cache
def potential_of(name):
    """Return the derived Q of a model of the catalogue."""
    return derive_entry(find(name)).potential


class Sweep:
    """One model at drawn starts and points."""

    def __init__(self, name, seed):
        self.name, self.potential = name, potential_of(name)
        self.rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
        self.reference = Reference(self.potential)
        self.radial = self.potential.turning is not None
        self.rows = {f: Row() for f in FUNCTIONS if f != "product" or self.radial}

    def run(self, wanted, points=_POINTS, starts=4000):
        """Draw starts, and points for each, until every function was compared so often."""
        for _ in range(starts):
            if open_ := [f for f, row in self.rows.items() if row.compared < wanted]:
                self._start(open_, points)
        return self.rows

    def _start(self, functions, count):
        start, q = self._lowered()
        b, b0, x = self._points(q, count)
        results = {}
        y = q.gradient(b) if "inverse" in functions else b
        with np.errstate(all="ignore"):
            for f in functions:
                results[f] = np.reshape(self._evaluate(q, f, b, b0, x, y), (count, -1))
        rows = [np.reshape(v, (count, -1)) for v in (b, b0, x, y)]
        envs = {}
        for i in range(count):
            with flint.ctx.workprec(flint.ctx.prec):
                _Point(self, start, envs, [v[i] for v in rows]).compare(
                    {f: results[f][i] for f in functions}
                )

    def _evaluate(self, q, function, b, b0, x, y):
        match function:
            case "value":
                return q(b)
            case "bregman":
                return q.bregman(b, b0)
            case "product":
                return q.hessian_product(b, x)
            case "inverse":
                return q.inverse_gradient(y)
        return getattr(q, function)(b)

    def _lowered(self):
        """Draw a start that Q was derived for, and lower Q there."""
        while True:
            start = self._drawn()
            try:
                if self.radial:
                    q = lower_vector(self.potential, start)
                else:
                    q, _ = unchecked(self.potential, start)
            except InputError:
                continue
            if np.all(np.isfinite(q.gradient(np.array(q.beta0)))):
                return start, q

    def _drawn(self):
        rng, radial = self.rng, self.radial
        model = self.potential.parameterization
        pieces = self.potential.pieces
        assumed = (c for x in pieces for c in x.assumptions if c.sign is Sign.POSITIVE)
        positive = {*model.positive, *(c.of.name for c in assumed if c.of.is_Symbol)}
        start = {}
        for name in (*(() if radial else model.parameters), *model.start_symbols):
            size = 10 ** rng.uniform(-8, 8)
            if name not in positive:
                size *= rng.choice([-1, 1])
            start[name] = size
        if "D" in start:
            start["D"] = float(rng.integers(3, 9))
        if "rho" in start:
            start["rho"] = 10 ** rng.uniform(-3, 0)
        if self.name == "exponential":
            start["w_0"] = rng.uniform(-8, 8) * math.log(10)
        if radial:
            self._vector(start)
        return start

    def _vector(self, start):
        """Draw u_0, of the length that the start says."""
        model, rng = self.potential.turning.direction, self.rng
        direction = _DIRECTIONS[rng.integers(len(_DIRECTIONS))]
        length = math.isqrt(sum(k * k for k in direction))
        scale = float(np.float32(10 ** rng.uniform(-8, 8) / length))
        norm = f"{model.norm}_0"
        if norm in start:
            del start[norm]
        else:
            (name,) = self.potential.parameterization.start_symbols
            start[name] = scale * length
        start[model.start_vector] = np.array(direction) * scale

    def _points(self, q, count):
        """Draw points log-uniformly; some close to beta_0, and some pairs close to each other."""
        rng, d = self.rng, q.d
        signs = 1 if self.name in POSITIVE else rng.choice([-1, 1], (2, count, d))
        shares = 10 ** rng.uniform(-3, 0, (2, count, d)) if d > 1 else 1
        b, b0 = 10 ** rng.uniform(-300, 300, (2, count, 1)) * signs * shares
        near = 1 + rng.choice([-1, 1], (2, count, d)) * 10 ** rng.uniform(-15, -0.1, (2, count, d))
        tenth, quarter = rng.random((count, 1)) < 0.1, rng.random((count, 1)) < 0.25
        b = np.where(tenth & (q.beta0 != np.zeros(d)), near[0] * q.beta0, b)
        b0 = np.where(quarter, near[1] * b, b0)
        x = rng.normal(size=(count, d))
        if d == 1:
            return b[:, 0], b0[:, 0], x[:, 0]
        return b, b0, x

    def note(self, function, error, at):
        row = self.rows[function]
        if error > row.worst:
            row.worst, row.at = error, str(at)


@dataclass
class _Point:
    """One point: beta, beta_0 of the divergence, a vector, and a dual point."""

    sweep: Sweep
    start: dict[str, Any]
    envs: dict[int, Any]
    numbers: list[Any]
    _known: dict[Any, Any] = field(default_factory=dict)

    def compare(self, results):
        for function, found in results.items():
            row = self.sweep.rows[function]
            true, bits = self._true(function, found)
            if true is None:
                row.beyond += 1
                # Where the reference gives up there must be no normal number.
                normal = np.isfinite(found) & (abs(found) >= _LEAST)
                row.undecided += bool(bits)
                if bits and np.any(normal):
                    self.sweep.note(function, math.inf, (self.start, self.numbers))
                continue
            normal = 0
            for x, exact in zip(found, true, strict=True):
                if not _is_normal(exact):
                    continue
                normal += 1
                if np.isnan(x):
                    row.missing += 1
                    self.sweep.note(function, math.inf, (self.start, self.numbers))
                elif np.isinf(x):
                    self.sweep.note(function, math.inf, (self.start, self.numbers))
                else:
                    error = float((abs(float(x) / exact - 1)).abs_upper())
                    self.sweep.note(function, error, (self.start, self.numbers))
            row.compared += bool(normal)
            row.beyond += not normal

    def _true(self, function, found):
        """Return balls that prove 60 digits, or that the number is no normal double."""
        for bits in _LADDER:
            try:
                true = self._at(function, bits, found)
            except Undecided:
                continue
            except Unsolved:
                return None, 0
            if all(map(_decided, true)):
                return true, bits
        return None, _LADDER[-1]

    def _at(self, function, bits, found):
        reference = self.sweep.reference
        flint.ctx.prec = bits
        if bits not in self.envs:
            start = reference.start(self.start)
            start["origin"] = reference.point(start, start["beta0"])
            self.envs[bits] = start
        start = self.envs[bits]
        b, b0, x, y = ([of(float(v)) for v in row] for row in self.numbers)
        if function == "inverse":
            if not np.all(np.isfinite(self.numbers[3])):
                raise Unsolved
            good = np.all(np.isfinite(found)) and np.any(found)
            guess = [of(float(v)) for v in found] if good else b
            try:
                return reference.inverse(start, y, guess)
            except Unsolved:
                if len(b) > 1 and not reference.radial:
                    raise Undecided from None
            near = reference.bracketed(start, y, self.sweep.name in POSITIVE)
            try:
                return reference.inverse(start, y, near)
            except Unsolved:
                raise Undecided from None
        point = self._point(bits, start, 0, b)
        if function == "value":
            return [reference.value(start, point, b, start["origin"])]
        if function == "gradient":
            return reference.gradient(start, point)
        if function == "hessian":
            return reference.hessian(point)
        if function == "product":
            rows, d = reference.hessian(point), len(b)
            return [sum(rows[i * d + j] * x[j] for j in range(d)) for i in range(d)]
        point0 = self._point(bits, start, 1, b0)
        return [reference.bregman(start, point, b, point0, b0)]

    def _point(self, bits, start, k, b):
        if (bits, k) not in self._known:
            self._known[bits, k] = self.sweep.reference.point(start, b)
        return self._known[bits, k]


def _is_normal(x):
    return bool(x.abs_lower() >= _LEAST and x.abs_upper() < _OVER)


def _decided(x):
    """Tell whether a ball has 60 digits, or holds no normal double."""
    if not x.is_finite():
        return False
    if x.is_exact() or x.rel_accuracy_bits() >= _PROVED:
        return True
    return bool(x.abs_upper() < _LEAST or x.abs_lower() > _OVER)
