"""Q and what belongs to it from the derived expressions, to 60 digits: no code of the lowering.

Every formula is written for both number types of :mod:`tests.numerics.evaluate.engines`. Balls
raise the precision until they prove 60 digits; mpmath then gets the same precision, and must agree.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import sympy
from sympy import Symbol

from derive.language import to_sympy
from derive.potential.piece import Parametric
from tests.numerics.evaluate.engines import compiled


class Undecided(Exception):
    """More bits are needed."""


class Unsolved(Exception):
    """There is no beta with this dual point, or none was found."""


def _solved(matrix: list[Any], right: list[Any]) -> list[Any]:
    """Solve a system of one or two equations."""
    if len(right) == 1:
        return [right[0] / matrix[0]]
    a, b, c, d = matrix
    x, y = right
    return [(d * x - b * y) / (a * d - b * c), (a * y - c * x) / (a * d - b * c)]


class Block:
    """Q of one block of outputs by the derived expressions, in one number type."""

    def __init__(self, piece: Any, engine: Any) -> None:
        self.engine, self.piece = engine, piece
        self.betas = [b.name for b in piece.betas]
        d = len(self.betas)
        self._constants = [(s.name, compiled([v], engine)) for s, v in piece.constants]
        symbols = [r.symbol for r in piece.roots]
        self._roots = [(r.symbol.name, self._root(r)) for r in piece.roots]
        value = piece.value.doit() if piece.value.has(sympy.Integral) else piece.value
        self._value, self._gradient = compiled([value], engine), compiled(piece.gradient, engine)
        # d g_i/d beta_j, d g_i/d r_k, and dr_k/d beta_j by the polynomials of the roots.
        self._direct = compiled([g.diff(b) for g in piece.gradient for b in piece.betas], engine)
        self._across = compiled([g.diff(r) for g in piece.gradient for r in symbols], engine)
        slopes = [-r.polynomial.diff(b) / r.polynomial.diff(r.symbol)
                  for r in piece.roots for b in piece.betas]  # fmt: skip
        assert not any(r.polynomial.diff(s) for r in piece.roots for s in symbols if s != r.symbol)
        self._slopes = compiled(slopes, engine)
        self._d, self._k = d, len(symbols)
        if isinstance(piece, Parametric):
            self._curve(piece.curve)

    def constants(self, start: dict[str, Any]) -> dict[str, Any]:
        """Add the named constants to numbers of the start."""
        at = {**start, "pi_": self.engine.pi()}
        for name, function in self._constants:
            (at[name],) = function(at)
        return at

    def at(self, known: dict[str, Any], beta: Sequence[Any]) -> dict[str, Any]:
        """Add beta, and the roots or the parameter that belong to it."""
        at = {**known, **dict(zip(self.betas, beta, strict=True))}
        for name, step in self._roots:
            at[name] = step(at)
        if isinstance(self.piece, Parametric):
            at[self.piece.curve.parameter.name] = self._parameter(at, beta[0])
        return at

    def value(self, at: dict[str, Any]) -> Any:
        return self._value(at)[0]

    def gradient(self, at: dict[str, Any]) -> list[Any]:
        return self._gradient(at)

    def hessian(self, at: dict[str, Any]) -> list[Any]:
        """Return the entries row by row; roots move by their polynomials, z by h."""
        if isinstance(self.piece, Parametric):
            return [self._rate(at)[0] / self._rise(at)[0]]
        d, k = self._d, self._k
        found, across, slopes = self._direct(at), self._across(at), self._slopes(at)
        for i in range(d):
            for j in range(d):
                for r in range(k):
                    found[i * d + j] = found[i * d + j] + across[i * k + r] * slopes[r * d + j]
        return found

    def inverse(self, known: dict[str, Any], y: Sequence[Any], guess: Sequence[Any]) -> list[Any]:
        """Solve ``grad Q = y`` by Newton's method until it stands still; Unsolved where not.

        Q is strictly convex, so that wherever it began there is no other solution.
        """
        if isinstance(self.piece, Parametric):
            return [self._image(known, y[0])]
        engine, x, close = self.engine, list(guess), False
        for _ in range(40):
            at = self.at(known, x)
            left = [g - z for g, z in zip(self.gradient(at), y, strict=True)]
            steps = _solved(self.hessian(at), left)
            if not all(engine.finite(s) for s in steps):
                raise Unsolved
            # A step that is small beside x may be far from the end where Q' grows fast.
            room = max(abs(z) for z in y) * engine.of(2.0**-100) + engine.of(2.0**-1074)
            if close and all(engine.bounds(g)[1] <= room for g in left):
                bounds = [engine.bounds(2 * s)[1] for s in steps]
                return [engine.around(v, r) for v, r in zip(x, bounds, strict=True)]
            x = [engine.middle(v - engine.middle(s)) for v, s in zip(x, steps, strict=True)]
            # Far below the least double a coordinate may be 0, which has no relative error.
            tiny, least = engine.of(2.0**-120), engine.of(2.0**-1074) * engine.of(2.0**-120)
            close = all(
                abs(engine.middle(s)) <= max(tiny * abs(v), least)
                for v, s in zip(x, steps, strict=True)
            )
        raise Unsolved

    def _root(self, root: Any) -> Any:
        engine = self.engine
        rows = sympy.Poly(root.polynomial, root.symbol).all_coeffs()
        if len(rows) > 3 and root.explicit is None:
            coefficients = compiled(rows, engine)
            return lambda at: _largest_root(coefficients(at), engine)
        if len(rows) == 3:
            # The form without cancellation is not needed: bits are.
            a, b, c = rows
            found = compiled([(-b + sympy.sqrt(b**2 - 4 * a * c)) / (2 * a)], engine)
        else:
            found = compiled([root.explicit], engine)
        return lambda at: found(at)[0]

    def _curve(self, curve: Any) -> None:
        engine, z = self.engine, curve.parameter
        x = self._x = Symbol("distance")
        self._h, self._rise = compiled([curve.beta], engine), compiled([curve.beta.diff(z)], engine)
        self._rate = compiled([self.piece.gradient[0].diff(z)], engine)
        self._ends = compiled(curve.interval, engine)
        low, high = curve.interval
        self._charts = []
        for end, sign in ((high, -1), (low, 1)):
            shifted = curve.beta.subs(z, end + sign * x)
            self._charts.append((compiled([shifted], engine), compiled([shifted.diff(x)], engine)))

    def _image(self, known: dict[str, Any], y: Any) -> Any:
        """Return h(z) at the z with ``Q' = y``; Unsolved beyond the ends of the curve."""
        name = self.piece.curve.parameter.name
        z = y / self._rate({**known, name: y})[0]
        low, high = self._ends(known)
        if not (low < z < high):
            raise Unsolved
        return self._h({**known, name: z})[0]

    def _parameter(self, at: dict[str, Any], beta: Any) -> Any:
        """Find z near 0 or by its distance from an end, by Newton's method; enclose it."""
        engine, name = self.engine, self.piece.curve.parameter.name
        low, high = self._ends(at)
        zero = engine.of(0)
        (origin,) = self._h({**at, name: zero})
        goal = beta - origin
        if goal == 0:
            return zero
        up = bool(goal > 0)
        end = high if up else low
        (half,) = self._h({**at, name: end / 2})
        if bool(abs(goal) <= abs(half - origin)):
            z = engine.middle(goal / self._rise({**at, name: zero})[0])
            z = min(z, engine.middle(end / 2)) if up else max(z, engine.middle(end / 2))
            return self._enclosed(at, name, z, self._h, self._rise, beta)
        h, slope = self._charts[0 if up else 1]
        x = engine.middle(abs(end) / 2)
        for _ in range(60):
            grown = h({**at, "distance": x})[0] - origin
            step = engine.middle(
                (engine.functions["log"](abs(grown)) - engine.functions["log"](abs(goal)))
                * grown / (x * slope({**at, "distance": x})[0])
            )  # fmt: skip
            x = engine.middle(x * engine.functions["exp"](-step))
            if abs(step) < engine.of(1e-9):
                break
        found = self._enclosed(at, "distance", x, h, slope, beta)
        return end - found if up else end + found

    def _enclosed(
        self, at: dict[str, Any], name: str, x: Any, h: Any, slope: Any, beta: Any
    ) -> Any:
        engine = self.engine
        for _ in range(100):
            step = engine.middle((h({**at, name: x})[0] - beta) / slope({**at, name: x})[0])
            x = engine.middle(x - step)
            if step == 0 or abs(step) <= abs(x) * engine.of(2.0**-230):
                break
        else:
            raise Undecided
        room = abs(x) * engine.of(2.0**-220)
        if engine.name == "arb":
            left, right = (h({**at, name: engine.middle(x + s * room)})[0] - beta for s in (-1, 1))
            if not (left * right < 0):
                raise Undecided
        # One more step keeps the digits that the formulas of Q lose.
        for _ in range(8):
            x = engine.middle(x - (h({**at, name: x})[0] - beta) / slope({**at, name: x})[0])
        (left,) = h({**at, name: x})
        (rate,) = slope({**at, name: x})
        room = 2 * abs((left - beta) / rate)
        return engine.around(x, engine.bounds(room)[1]) if engine.name == "arb" else x


def _largest_root(rows: list[Any], engine: Any) -> Any:
    """Fall from above by Newton's method to the largest root of a monic polynomial; enclose it."""
    n = len(rows) - 1
    rows = [c / rows[0] for c in rows]
    slopes = [c * (n - i) for i, c in enumerate(rows[:-1])]
    if all(c >= 0 for c in rows):  # no root is positive: 0 is the largest, or the only other one
        if rows[-1] == 0:
            return engine.of(0)
        reflected = [c * (-1) ** i for i, c in enumerate(rows)]
        signs = [c > 0 for c in reflected if c != 0]
        if sum(map(operator.ne, signs, signs[1:])) == 1:  # Descartes' rule of signs
            return -_largest_root(reflected, engine)

    def value(coefficients: list[Any], x: Any) -> Any:
        total = coefficients[0]
        for c in coefficients[1:]:
            total = total * x + c
        return total

    logarithm, exponential = engine.functions["log"], engine.functions["exp"]
    x = engine.of(0)
    for k, c in enumerate(rows[1:], 1):
        if c != 0:
            size = engine.middle(exponential(logarithm(engine.bounds(c)[1]) / k))
            x = max(x, 2 * size)
    for _ in range(2000):
        new = engine.middle(x - value(rows, x) / value(slopes, x))
        if not new < x:
            break
        x = new
    rate = value(slopes, x)
    if not rate > 0:
        raise Undecided
    room = engine.bounds(2 * value(rows, x) / rate)[1]
    found = engine.around(x, room)
    if engine.name == "arb":
        # With no negative derivative there is no root above.
        while len(slopes) > 1:
            if not value(slopes, found) > 0:
                raise Undecided
            slopes = [c * (len(slopes) - 1 - i) for i, c in enumerate(slopes[:-1])]
    return found


class Reference:
    """Q of a derivation: its blocks, or that of the length s = |beta| for a vector model."""

    def __init__(self, potential: Any, engine: Any) -> None:
        self.engine, self.radial = engine, potential.turning is not None
        model = potential.parameterization
        if self.radial:
            direction = potential.turning.direction
            self._sign, self._vector = direction.sign, direction.start_vector
            self._norm = f"{direction.norm}_0"
            self._slope = compiled([potential.turning.slope], engine)
        self.blocks = [
            (outputs, Block(piece, engine))
            for outputs, piece in zip(model.blocks, potential.pieces, strict=True)
        ]
        weights = {name: to_sympy(tree) for name, tree in model.start}
        outputs = [to_sympy(tree) for tree in model.trees]
        images = [
            {s: weights[s.name] for s in f.free_symbols if s.name in weights} for f in outputs
        ]
        self._outputs = compiled(
            [f.subs(at, simultaneous=True) for f, at in zip(outputs, images, strict=True)], engine
        )
        self._last = compiled([weights[model.weights[-1]]], engine)

    def start(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return what depends on the start alone, at the precision in use."""
        engine = self.engine
        known = {n: engine.of(x) for n, x in given.items() if n != getattr(self, "_vector", None)}
        if self.radial:
            u = [engine.of(x) for x in given[self._vector]]
            known[self._norm] = engine.functions["sqrt"](sum((x * x for x in u), engine.of(0)))
            (s0,) = self._outputs(known)
            (length,) = self._last(known)
            (slope,) = self._slope({**known, "pi_": engine.pi()})
            at = self.blocks[0][1].constants(known)
            # The model's weights at the start are those of beta_0/|beta_0| = +-u_0/|u_0|.
            ratio = s0 / length * self._sign
            return {"at": at, "pull": [slope * x for x in u], "beta0": [x * ratio for x in u]}
        at = [block.constants(known) for _, block in self.blocks]
        return {"at": at, "beta0": self._outputs(known)}

    def point(self, start: dict[str, Any], beta: Sequence[Any]) -> Any:
        """Return beta with its roots or parameters."""
        if self.radial:
            s = self.engine.functions["sqrt"](sum((x * x for x in beta), self.engine.of(0)))
            return list(beta), s, self.blocks[0][1].at(start["at"], [s])
        return [
            block.at(at, [beta[i] for i in outputs])
            for at, (outputs, block) in zip(start["at"], self.blocks, strict=True)
        ]

    def rise(self, point: Any, beta: Any) -> Any:
        """Return Q but for its linear part and a constant."""
        if self.radial:
            return self.blocks[0][1].value(point[2])
        return sum(b.value(at) for at, (_, b) in zip(point, self.blocks, strict=True))

    def gradient(self, start: dict[str, Any], point: Any) -> list[Any]:
        if self.radial:
            beta, s, at = point
            ratio = self.blocks[0][1].gradient(at)[0] / s
            return [ratio * x - z for x, z in zip(beta, start["pull"], strict=True)]
        found: dict[int, Any] = {}
        for at, (outputs, block) in zip(point, self.blocks, strict=True):
            found.update(zip(outputs, block.gradient(at), strict=True))
        return [found[i] for i in range(len(found))]

    def hessian(self, point: Any) -> list[Any]:
        """Return the Hessian row by row."""
        if self.radial:
            beta, s, at = point
            block = self.blocks[0][1]
            across, along = block.gradient(at)[0] / s, block.hessian(at)[0]
            e = [x / s for x in beta]
            return [
                (across if i == j else 0) + (along - across) * e[i] * e[j]
                for i in range(len(e)) for j in range(len(e))
            ]  # fmt: skip
        d = sum(len(outputs) for outputs, _ in self.blocks)
        found = [self.engine.of(0)] * (d * d)
        for at, (outputs, block) in zip(point, self.blocks, strict=True):
            entries = iter(block.hessian(at))
            for i in outputs:
                for j in outputs:
                    found[i * d + j] = next(entries)
        return found

    def value(self, start: dict[str, Any], point: Any, beta: Any, origin: Any) -> Any:
        """Return Q(beta) - Q(beta_0)."""
        total = self.rise(point, beta) - self.rise(origin, start["beta0"])
        if self.radial:
            for z, x, x0 in zip(start["pull"], beta, start["beta0"], strict=True):
                total = total - z * (x - x0)
        return total

    def bregman(self, start: dict[str, Any], point: Any, beta: Any, point0: Any, beta0: Any) -> Any:
        total = self.rise(point, beta) - self.rise(point0, beta0)
        slopes = self.gradient(start, point0)
        if self.radial:
            slopes = [g + z for g, z in zip(slopes, start["pull"], strict=True)]
        for g, x, x0 in zip(slopes, beta, beta0, strict=True):
            total = total - g * (x - x0)
        return total

    def inverse(self, start: dict[str, Any], y: Sequence[Any], guess: Sequence[Any]) -> list[Any]:
        """Return the beta with ``grad Q(beta) = y``."""
        if self.radial:
            dual, size = self._dual(start, y)
            (first,) = self._lengths(guess)
            (s,) = self.blocks[0][1].inverse(start["at"], [size], [self.engine.middle(first)])
            return [s * x / size for x in dual]
        found: dict[int, Any] = {}
        for at, (outputs, block) in zip(start["at"], self.blocks, strict=True):
            parts = ([x[i] for i in outputs] for x in (y, guess))
            found.update(zip(outputs, block.inverse(at, *parts), strict=True))
        return [found[i] for i in range(len(found))]

    def _dual(self, start: dict[str, Any], y: Sequence[Any]) -> tuple[list[Any], Any]:
        """Return ``y + slope u_0`` and its length, which is q'(s)."""
        dual = [x + z for x, z in zip(y, start["pull"], strict=True)]
        if all(x == 0 for x in dual):
            raise Unsolved  # beta = 0
        (size,) = self._lengths(dual)
        return dual, size

    def _lengths(self, *vectors: Sequence[Any]) -> list[Any]:
        sqrt, zero = self.engine.functions["sqrt"], self.engine.of(0)
        return [sqrt(sum((x * x for x in v), zero)) for v in vectors]

    def bracketed(self, start: dict[str, Any], y: Sequence[Any], positive: bool) -> list[Any]:
        """Return a beta within a factor of 2 of the solution for one output, or for |beta|.

        Q' increases. Unsolved: the solution is no normal double, or there is none.
        """
        if self.radial:
            block, at, goal, signs = self.blocks[0][1], start["at"], self._dual(start, y)[1], (1,)
        else:
            ((_, block),), (at,), (goal,) = self.blocks, start["at"], y
            signs = (1,) if positive else (-1, 1)
        if isinstance(block.piece, Parametric):
            raise Unsolved  # the formula says so

        def gap(sign: int, k: int) -> Any:
            return block.gradient(block.at(at, [sign * self.engine.of(2.0**k)]))[0] - goal

        for sign in signs:
            low, high = -1022, 1023
            if gap(sign, low) * gap(sign, high) > 0:
                continue
            rising = 1 if gap(sign, high) > 0 else -1
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if rising * gap(sign, middle) > 0 else (middle, high)
            rest = [self.engine.of(0)] * (len(y) - 1)
            return [sign * self.engine.of(2.0**low), *rest]
        raise Unsolved
