"""Q and what belongs to it from the derived expressions, to 60 digits: no code of the lowering.

Numbers are balls of python-flint, whose precision is raised until they prove 60 digits.
"""

import operator

import sympy
from flint import arb
from sympy import Symbol
from sympy.printing.pycode import MpmathPrinter

from derive.language import to_sympy

_PI = Symbol("pi_")
_SETTINGS = {
    "fully_qualified_modules": False,
    "inline": True,
    "allow_unknown_functions": True,
    "user_functions": {},
}


def of(x):
    """Return a double or an integer as a ball."""
    return arb(x if isinstance(x, int) else float(x))


def _call(name):
    function = getattr(arb, name)
    # Of an integer arb.sqrt is nan.
    return lambda x: function(x if isinstance(x, arb) else arb(x))


_CALLS = ("sqrt", "exp", "log", "asinh", "sinh", "cosh", "tanh", "atan", "erfi")
_FUNCTIONS = {name: _call(name) for name in _CALLS} | {"mpf": arb}


def compiled(expressions):
    """Return the expressions as a function of numbers by name."""
    plain = [sympy.sympify(e).subs(sympy.pi, _PI) for e in expressions]
    symbols = sorted({s for e in plain for s in e.free_symbols}, key=str)
    dummies = [Symbol(f"s{i}") for i in range(len(symbols))]
    images = dict(zip(symbols, dummies, strict=True))
    function = sympy.lambdify(
        dummies,
        [e.xreplace(images) for e in plain],
        modules=[_FUNCTIONS],
        printer=MpmathPrinter(_SETTINGS),
        cse=True,
    )
    names = [s.name for s in symbols]
    return lambda at: [
        arb(x) if isinstance(x, int) else x for x in function(*(at[n] for n in names))
    ]


def around(x, room):
    return x + arb(0, 1) * room


class Undecided(Exception):
    """More bits are needed."""


class Unsolved(Exception):
    """There is no beta with this dual point, or none was found."""


def _solved(matrix, right):
    """Solve a system of one or two equations."""
    if len(right) == 1:
        return [right[0] / matrix[0]]
    a, b, c, d = matrix
    x, y = right
    return [(d * x - b * y) / (a * d - b * c), (a * y - c * x) / (a * d - b * c)]


class Block:
    """Q of one block of outputs by the derived expressions, in one number type."""

    def __init__(self, piece):
        self.piece = piece
        self.betas = [b.name for b in piece.betas]
        d = len(self.betas)
        self._constants = [(s.name, compiled([v])) for s, v in piece.constants]
        symbols = [r.symbol for r in piece.roots]
        self._roots = [(r.symbol.name, self._root(r)) for r in piece.roots]
        value = piece.value.doit() if piece.value.has(sympy.Integral) else piece.value
        self._value, self._gradient = compiled([value]), compiled(piece.gradient)
        # d g_i/d beta_j, d g_i/d r_k, and dr_k/d beta_j by the polynomials of the roots.
        self._direct = compiled([g.diff(b) for g in piece.gradient for b in piece.betas])
        self._across = compiled([g.diff(r) for g in piece.gradient for r in symbols])
        slopes = [-r.polynomial.diff(b) / r.polynomial.diff(r.symbol)
                  for r in piece.roots for b in piece.betas]  # fmt: skip
        assert not any(r.polynomial.diff(s) for r in piece.roots for s in symbols if s != r.symbol)
        self._slopes = compiled(slopes)
        self._d, self._k = d, len(symbols)
        if piece.time_curve is not None:
            self._curve(piece.curve)

    def constants(self, start):
        """Add the named constants to numbers of the start."""
        at = {**start, "pi_": arb.pi()}
        for name, function in self._constants:
            (at[name],) = function(at)
        return at

    def at(self, known, beta):
        """Add beta, and the roots or the parameter that belong to it."""
        at = {**known, **dict(zip(self.betas, beta, strict=True))}
        for name, step in self._roots:
            at[name] = step(at)
        if self.piece.time_curve is not None:
            at[self.piece.curve.parameter.name] = self._parameter(at, beta[0])
        return at

    def value(self, at):
        return self._value(at)[0]

    def gradient(self, at):
        return self._gradient(at)

    def hessian(self, at):
        """Return the entries row by row; roots move by their polynomials, z by h."""
        if self.piece.time_curve is not None:
            return [self._rate(at)[0] / self._rise(at)[0]]
        d, k = self._d, self._k
        found, across, slopes = self._direct(at), self._across(at), self._slopes(at)
        for i in range(d):
            for j in range(d):
                for r in range(k):
                    found[i * d + j] = found[i * d + j] + across[i * k + r] * slopes[r * d + j]
        return found

    def inverse(self, known, y, guess):
        """Solve ``grad Q = y`` by Newton's method until it stands still; Unsolved where not.

        Q is strictly convex, so that wherever it began there is no other solution.
        """
        if self.piece.time_curve is not None:
            return [self._image(known, y[0])]
        x, close = list(guess), False
        for _ in range(40):
            at = self.at(known, x)
            left = [g - z for g, z in zip(self.gradient(at), y, strict=True)]
            steps = _solved(self.hessian(at), left)
            if not all(s.is_finite() for s in steps):
                raise Unsolved
            # A step that is small beside x may be far from the end where Q' grows fast.
            room = max(abs(z) for z in y) * of(2.0**-100) + of(2.0**-1074)
            if close and all((g).abs_upper() <= room for g in left):
                bounds = [(2 * s).abs_upper() for s in steps]
                return [around(v, r) for v, r in zip(x, bounds, strict=True)]
            x = [(v - s.mid()).mid() for v, s in zip(x, steps, strict=True)]
            # Far below the least double a coordinate may be 0, which has no relative error.
            tiny, least = of(2.0**-120), of(2.0**-1074) * of(2.0**-120)
            close = all(
                abs((s).mid()) <= max(tiny * abs(v), least) for v, s in zip(x, steps, strict=True)
            )
        raise Unsolved

    def _root(self, root):
        rows = sympy.Poly(root.polynomial, root.symbol).all_coeffs()
        if len(rows) > 3 and root.explicit is None:
            coefficients = compiled(rows)
            return lambda at: _largest_root(coefficients(at))
        if len(rows) == 3:
            # The form without cancellation is not needed: bits are.
            a, b, c = rows
            found = compiled([(-b + sympy.sqrt(b**2 - 4 * a * c)) / (2 * a)])
        else:
            found = compiled([root.explicit])
        return lambda at: found(at)[0]

    def _curve(self, curve):
        z = curve.parameter
        x = self._x = Symbol("distance")
        self._h, self._rise = compiled([curve.beta]), compiled([curve.beta.diff(z)])
        self._rate = compiled([self.piece.gradient[0].diff(z)])
        self._ends = compiled(curve.interval)
        low, high = curve.interval
        self._charts = []
        for end, sign in ((high, -1), (low, 1)):
            shifted = curve.beta.subs(z, end + sign * x)
            self._charts.append((compiled([shifted]), compiled([shifted.diff(x)])))

    def _image(self, known, y):
        """Return h(z) at the z with ``Q' = y``; Unsolved beyond the ends of the curve."""
        name = self.piece.curve.parameter.name
        z = y / self._rate({**known, name: y})[0]
        low, high = self._ends(known)
        if not (low < z < high):
            raise Unsolved
        return self._h({**known, name: z})[0]

    def _parameter(self, at, beta):
        """Find z near 0 or by its distance from an end, by Newton's method; enclose it."""
        name = self.piece.curve.parameter.name
        low, high = self._ends(at)
        zero = of(0)
        (origin,) = self._h({**at, name: zero})
        goal = beta - origin
        if goal == 0:
            return zero
        up = bool(goal > 0)
        end = high if up else low
        (half,) = self._h({**at, name: end / 2})
        if bool(abs(goal) <= abs(half - origin)):
            z = (goal / self._rise({**at, name: zero})[0]).mid()
            z = min(z, (end / 2).mid()) if up else max(z, (end / 2).mid())
            return self._enclosed(at, name, z, self._h, self._rise, beta)
        h, slope = self._charts[0 if up else 1]
        x = (abs(end) / 2).mid()
        for _ in range(60):
            grown = h({**at, "distance": x})[0] - origin
            step = (
                (abs(grown).log() - abs(goal).log())
                * grown / (x * slope({**at, "distance": x})[0])
            ).mid()  # fmt: skip
            x = (x * (-step).exp()).mid()
            if abs(step) < of(1e-9):
                break
        found = self._enclosed(at, "distance", x, h, slope, beta)
        return end - found if up else end + found

    def _enclosed(self, at, name, x, h, slope, beta):
        for _ in range(100):
            step = ((h({**at, name: x})[0] - beta) / slope({**at, name: x})[0]).mid()
            x = (x - step).mid()
            if step == 0 or abs(step) <= abs(x) * of(2.0**-230):
                break
        else:
            raise Undecided
        room = abs(x) * of(2.0**-220)
        left, right = (h({**at, name: (x + s * room).mid()})[0] - beta for s in (-1, 1))
        if not (left * right < 0):
            raise Undecided
        # One more step keeps the digits that the formulas of Q lose.
        for _ in range(8):
            x = (x - (h({**at, name: x})[0] - beta) / slope({**at, name: x})[0]).mid()
        (left,) = h({**at, name: x})
        (rate,) = slope({**at, name: x})
        room = 2 * abs((left - beta) / rate)
        return around(x, room.abs_upper())


def _largest_root(rows):
    """Fall from above by Newton's method to the largest root of a monic polynomial; enclose it."""
    n = len(rows) - 1
    rows = [c / rows[0] for c in rows]
    slopes = [c * (n - i) for i, c in enumerate(rows[:-1])]
    if all(c >= 0 for c in rows):  # no root is positive: 0 is the largest, or the only other one
        if rows[-1] == 0:
            return of(0)
        reflected = [c * (-1) ** i for i, c in enumerate(rows)]
        signs = [c > 0 for c in reflected if c != 0]
        if sum(map(operator.ne, signs, signs[1:])) == 1:  # Descartes' rule of signs
            return -_largest_root(reflected)

    def value(coefficients, x):
        total = coefficients[0]
        for c in coefficients[1:]:
            total = total * x + c
        return total

    x = of(0)
    for k, c in enumerate(rows[1:], 1):
        if c != 0:
            size = (c.abs_upper().log() / k).exp().mid()
            x = max(x, 2 * size)
    for _ in range(2000):
        new = (x - value(rows, x) / value(slopes, x)).mid()
        if not new < x:
            break
        x = new
    rate = value(slopes, x)
    if not rate > 0:
        raise Undecided
    room = (2 * value(rows, x) / rate).abs_upper()
    found = around(x, room)
    # With no negative derivative there is no root above.
    while len(slopes) > 1:
        if not value(slopes, found) > 0:
            raise Undecided
        slopes = [c * (len(slopes) - 1 - i) for i, c in enumerate(slopes[:-1])]
    return found


class Reference:
    """Q of a derivation: its blocks, or that of the length s = |beta| for a vector model."""

    def __init__(self, potential):
        self.radial = potential.turning is not None
        model = potential.parameterization
        if self.radial:
            direction = potential.turning.direction
            self._sign, self._vector = direction.sign, direction.start_vector
            self._norm = f"{direction.norm}_0"
            self._slope = compiled([potential.turning.slope])
        self.blocks = [
            (outputs, Block(piece))
            for outputs, piece in zip(model.blocks, potential.pieces, strict=True)
        ]
        weights = {name: to_sympy(tree) for name, tree in model.start}
        outputs = [to_sympy(tree) for tree in model.trees]
        images = [
            {s: weights[s.name] for s in f.free_symbols if s.name in weights} for f in outputs
        ]
        self._outputs = compiled(
            [f.subs(at, simultaneous=True) for f, at in zip(outputs, images, strict=True)]
        )
        self._last = compiled([weights[model.weights[-1]]])

    def start(self, given):
        """Return what depends on the start alone, at the precision in use."""
        known = {n: of(x) for n, x in given.items() if n != getattr(self, "_vector", None)}
        if self.radial:
            u = [of(x) for x in given[self._vector]]
            known[self._norm] = sum((x * x for x in u), of(0)).sqrt()
            (s0,) = self._outputs(known)
            (length,) = self._last(known)
            (slope,) = self._slope({**known, "pi_": arb.pi()})
            at = self.blocks[0][1].constants(known)
            # The model's weights at the start are those of beta_0/|beta_0| = +-u_0/|u_0|.
            ratio = s0 / length * self._sign
            return {"at": at, "pull": [slope * x for x in u], "beta0": [x * ratio for x in u]}
        at = [block.constants(known) for _, block in self.blocks]
        return {"at": at, "beta0": self._outputs(known)}

    def point(self, start, beta):
        """Return beta with its roots or parameters."""
        if self.radial:
            s = sum((x * x for x in beta), of(0)).sqrt()
            return list(beta), s, self.blocks[0][1].at(start["at"], [s])
        return [
            block.at(at, [beta[i] for i in outputs])
            for at, (outputs, block) in zip(start["at"], self.blocks, strict=True)
        ]

    def rise(self, point, beta):
        """Return Q but for its linear part and a constant."""
        if self.radial:
            return self.blocks[0][1].value(point[2])
        return sum(b.value(at) for at, (_, b) in zip(point, self.blocks, strict=True))

    def gradient(self, start, point):
        if self.radial:
            beta, s, at = point
            ratio = self.blocks[0][1].gradient(at)[0] / s
            return [ratio * x - z for x, z in zip(beta, start["pull"], strict=True)]
        found = {}
        for at, (outputs, block) in zip(point, self.blocks, strict=True):
            found.update(zip(outputs, block.gradient(at), strict=True))
        return [found[i] for i in range(len(found))]

    def hessian(self, point):
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
        found = [of(0)] * (d * d)
        for at, (outputs, block) in zip(point, self.blocks, strict=True):
            entries = iter(block.hessian(at))
            for i in outputs:
                for j in outputs:
                    found[i * d + j] = next(entries)
        return found

    def value(self, start, point, beta, origin):
        """Return Q(beta) - Q(beta_0)."""
        total = self.rise(point, beta) - self.rise(origin, start["beta0"])
        if self.radial:
            for z, x, x0 in zip(start["pull"], beta, start["beta0"], strict=True):
                total = total - z * (x - x0)
        return total

    def bregman(self, start, point, beta, point0, beta0):
        total = self.rise(point, beta) - self.rise(point0, beta0)
        slopes = self.gradient(start, point0)
        if self.radial:
            slopes = [g + z for g, z in zip(slopes, start["pull"], strict=True)]
        for g, x, x0 in zip(slopes, beta, beta0, strict=True):
            total = total - g * (x - x0)
        return total

    def inverse(self, start, y, guess):
        """Return the beta with ``grad Q(beta) = y``."""
        if self.radial:
            dual, size = self._dual(start, y)
            (first,) = self._lengths(guess)
            (s,) = self.blocks[0][1].inverse(start["at"], [size], [(first).mid()])
            return [s * x / size for x in dual]
        found = {}
        for at, (outputs, block) in zip(start["at"], self.blocks, strict=True):
            parts = ([x[i] for i in outputs] for x in (y, guess))
            found.update(zip(outputs, block.inverse(at, *parts), strict=True))
        return [found[i] for i in range(len(found))]

    def _dual(self, start, y):
        """Return ``y + slope u_0`` and its length, which is q'(s)."""
        dual = [x + z for x, z in zip(y, start["pull"], strict=True)]
        if all(x == 0 for x in dual):
            raise Unsolved  # beta = 0
        (size,) = self._lengths(dual)
        return dual, size

    def _lengths(self, *vectors):
        return [sum((x * x for x in v), of(0)).sqrt() for v in vectors]

    def bracketed(self, start, y, positive):
        """Return a beta within a factor of 2 of the solution for one output, or for |beta|.

        Q' increases. Unsolved: the solution is no normal double, or there is none.
        """
        if self.radial:
            block, at, goal, signs = self.blocks[0][1], start["at"], self._dual(start, y)[1], (1,)
        else:
            ((_, block),), (at,), (goal,) = self.blocks, start["at"], y
            signs = (1,) if positive else (-1, 1)
        if block.piece.time_curve is not None:
            raise Unsolved  # the formula says so

        def gap(sign, k):
            return block.gradient(block.at(at, [sign * of(2.0**k)]))[0] - goal

        for sign in signs:
            low, high = -1022, 1023
            if gap(sign, low) * gap(sign, high) > 0:
                continue
            rising = 1 if gap(sign, high) > 0 else -1
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if rising * gap(sign, middle) > 0 else (middle, high)
            rest = [of(0)] * (len(y) - 1)
            return [sign * of(2.0**low), *rest]
        raise Unsolved
