"""The path of gradient flow from starts that tend to 0: from saddle to saddle, in fractions.

Where Q/N tends to sum_j L_j^+ beta_j^+ + L_j^- beta_j^-, in slow time tau = t/N the dual
s = grad Q/N has s' = lambda and stays in [-L_j^-, L_j^+]: inside beta_j is 0, at an end it may
grow, with the sign of s_j. Between jumps the fast flow is at rest, at least squares with signs:

    C = {j : s_j at an end},  beta = argmin |X beta - y|^2,  beta_j sign(s_j) >= 0 on C, else 0,
    s' = lambda = X^T (y - X beta)  until the next s_j comes to an end.

By the KKT conditions lambda_j leads inward where beta_j = 0 on C, so that s_j may leave its end.
At last lambda = 0, and s = X^T nu is a certificate: where X beta = y, beta minimises that sum.

Source: Pesme, Flammarion 2023 for the tied pair, where this is a theorem; our own derivation, which
is no proof, for other slopes and depths.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.errors import InputError, NumericalError
from derive.limits.find import regimes
from derive.limits.limit import Limit
from derive.optimizers.paths import PIECES, Bound, Vector, nearest_within, times
from derive.printable import Plotted, Printable
from derive.statement import Claims, Equations, Ground, Open, Statement, Table, each, note, tell
from derive.verdict import Verdict

SOURCE = "Pesme, Flammarion 2023"
SIMULATED = "flows of depth 2, 3 and 4 with unequal scales, in tests"
Slopes = tuple[Fraction | None, Fraction | None]
"""L^- and L^+ of one coordinate; None where it is not bounded on that side."""


Point = tuple[Fraction, ...]


Walk = tuple[Point, tuple[Point, ...], tuple[tuple[int, ...], ...], Point, bool]
"""The last fields of a path, from its times on."""


@dataclass(frozen=True, repr=False)
class SaddlePath(Claims, Plotted, Printable):
    """The path as a start symbol tends to 0, on data X (m, d) and y (m,).

    Attributes:
        derivation: of Q.
        variable: the start symbol.
        unit: N; times are in units of it.
        slopes: L^- and L^+ of each coordinate.
        proved: is the path a theorem of the source?
        times: the tau of each jump.
        plateaus: the beta before the first jump, between jumps, and after the last.
        active: the coordinates at an end, likewise.
        multiplier: nu at the end.
        fits: is X beta = y there?
    """

    derivation: Derivation
    variable: str
    X: tuple[tuple[Fraction, ...], ...]
    y: tuple[Fraction, ...]
    unit: Expr
    slopes: tuple[Slopes, ...]
    proved: bool
    times: Point
    plateaus: tuple[Point, ...]
    active: tuple[tuple[int, ...], ...]
    multiplier: Point
    fits: bool

    @property
    def limit(self) -> tuple[Fraction, ...]:
        """Where the path ends."""
        return self.plateaus[-1]

    @property
    def dual(self) -> tuple[Fraction, ...]:
        """The last s = X^T nu."""
        columns = zip(*self.X, strict=True)
        return tuple(times([*map(list, columns)], self.multiplier))

    @property
    def ground(self) -> str:
        """Why the path is claimed."""
        return "proved (cited)" if self.proved else "heuristic, simulated"

    @property
    def verdict(self) -> Verdict:
        """PROVED where it is a cited theorem; else UNDECIDED, whatever its last beta is."""
        return Verdict.PROVED if self.proved else Verdict.UNDECIDED

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """The path, and what its end minimises."""
        return (_path(self), _limit(self)) if self.fits else (_path(self),)


def follow_saddles(
    derivation: Derivation, rows: Sequence[Vector], y: Vector, variable: str | None = None
) -> SaddlePath:
    """Return the path of beta as a symbol of the start tends to 0, on m rows and m targets.

    Raises:
        InputError: Q/N has no limit that is linear on both sides of 0; coordinates arrive at one
            time, or the columns of those at their ends are dependent, so that the path is open.
    """
    width, p = len(rows[0]), derivation.parameterization
    if derivation.direction is not None or p.affine or len(p.blocks) < p.d:
        raise InputError("the path is of outputs with weights of their own")
    if not p.geometry.steering.is_gradient:
        raise InputError("the path is of gradient flow: leave out steepest")
    symbols = p.start_symbols
    name = symbols[0] if variable is None and len(symbols) == 1 else variable
    if name not in symbols:
        raise InputError(f"give the start symbol that tends to 0: {', '.join(symbols) or 'none'}")
    (limit, *more) = regimes(derivation, name, toward=(0,)).limits
    if more or limit.unit is None:
        raise InputError(f"the limit {name} -> 0 of Q is not known: {limit.finding.reason}")
    slopes = _slopes(limit, name) * (width if derivation.of_coordinates else 1)
    if len(slopes) != width:
        raise InputError(f"X has {width} columns, but F has {p.d} outputs")
    proved = derivation.of_coordinates and _is_tied(derivation, name, slopes[0])
    given = tuple(map(tuple, rows)), tuple(y)
    taus, betas, active, nu, fits = _walked(rows, y, slopes)
    of = (derivation, name, *given, limit.unit, slopes, proved)
    return SaddlePath(*of, taus, betas, active, nu, fits)


def _slopes(limit: Limit, name: str) -> tuple[Slopes, ...]:
    """Return the slopes of the limit on both sides of 0."""
    form, why = limit.potential, f"as {name} -> 0"
    plain = limit.basis is None and not any(limit.origin or ())
    proved = limit.finding.verdict is Verdict.PROVED
    if form is not None and proved and not plain:
        _require_lines(limit.coordinates, form.gradient, why)
    if form is None or not all((form.curve is None, plain, proved)):
        raise InputError(f"Q/N has no limit in beta {why}: {limit.finding.reason}")
    steep = {(x, side) for x, side, _ in limit.steep}
    below = limit.slopes_below or [None] * len(form.gradient)
    sides = zip(limit.coordinates, below, form.gradient, strict=True)
    return tuple(
        (
            None if down is None or (x, -1) in steep else _positive(-down, why),
            None if (x, 1) in steep else _positive(up, why),
        )
        for x, down, up in sides
    )


def _require_lines(coordinates: Sequence[Symbol], gradient: Sequence[Expr], why: str) -> None:
    """Raise InputError where a slope changes with beta - beta_0, whatever beta_0 is."""
    for g in (g for x, g in zip(coordinates, gradient, strict=True) if g.has(x)):
        _positive(g, why)


def _positive(g: Expr, why: str) -> Fraction:
    if not g.is_Rational:
        raise InputError(f"Q/N is not linear on both sides of 0 {why}: its slope is {g}")
    if g <= 0:
        raise InputError(f"Q/N is flat at 0 {why}: coordinates move at once")
    return Fraction(int(g.p), int(g.q))


def _is_tied(d: Derivation, name: str, slopes: Slopes) -> bool:
    """Tell whether beta' = K lambda is as of the tied pair: K^2 = a beta^2 + c alpha^k from 0."""
    kernel, (b,), p = d.metric.kernel, d.beta, d.parameterization
    if kernel is None or slopes[0] != slopes[1] or not p.at_start(p.F[0]).is_zero():
        return False
    square = sympy.expand(kernel[0, 0].subs(dict(d.metric.constants)) ** 2)
    if not square.is_polynomial(b):
        return False
    a, middle, c = (sympy.Poly(square, b).coeff_monomial(b**k) for k in (2, 1, 0))
    size, power = c.as_independent(*(s for s in c.free_symbols if s.name == name))
    known = a.is_Rational and size.is_Rational and power.as_base_exp()[0].is_Symbol
    return bool(known and middle == 0 and sympy.degree(square, b) == 2)


def _walked(rows: Sequence[Vector], y: Vector, slopes: Sequence[Slopes]) -> Walk:
    """Return the path from 0, plateau by plateau."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    s, nu, tau = [Fraction(0)] * len(columns), [Fraction(0)] * len(y), Fraction(0)
    jumps, plateaus, active = list[Fraction](), list[Point](), list[tuple[int, ...]]()
    for _ in range(PIECES):
        ends = {j: 1 if x > 0 else -1 for j, x in enumerate(s) if x and abs(x) == slopes[j][x > 0]}
        beta = _at_rest(columns, y, ends)
        r = [a - b for a, b in zip(y, times(rows, beta), strict=True)]
        slope = times(columns, r)
        _refuse("rest at 0 with slope 0", [j for j in ends if not (beta[j] or slope[j])])
        plateaus.append(tuple(beta))
        active.append(tuple(sorted(ends)))
        arrivals = _arrivals(s, slope, slopes)
        if not arrivals:
            return tuple(jumps), tuple(plateaus), tuple(active), tuple(nu), not any(r)
        h = min(arrivals.values())
        first = [j for j, at in arrivals.items() if at == h]
        _refuse(f"arrive at one time {tau + h}", first if first[1:] else [])
        tau += h
        jumps.append(tau)
        s = [a + h * x for a, x in zip(s, slope, strict=True)]
        nu = [a + h * x for a, x in zip(nu, r, strict=True)]
    raise NumericalError(f"the path has more than {PIECES} jumps")


def _arrivals(s: Vector, slope: Vector, slopes: Sequence[Slopes]) -> dict[int, Fraction]:
    """Return how long each s_j takes to its end, where it moves and has one."""
    found = {}
    for j, x in enumerate(slope):
        if x and (end := slopes[j][x > 0]) is not None:
            found[j] = ((end if x > 0 else -end) - s[j]) / x
    return found


def _refuse(why: str, tied: Sequence[int]) -> None:
    if tied:
        raise InputError(f"coordinates {_named(tied)} {why}: a tie")


def _at_rest(columns: Sequence[Vector], y: Vector, ends: dict[int, int]) -> Vector:
    """Return least squares with the signs of those at their ends."""
    bounds: list[Bound] = [
        (Fraction(0), None) if c > 0 else (None, Fraction(0)) for c in ends.values()
    ]
    values, unique = nearest_within([columns[j] for j in ends], y, bounds)
    if not unique:
        raise InputError(f"the columns of coordinates {_named(ends)} are dependent: a tie")
    known = dict(zip(ends, values, strict=True))
    return [known.get(j, Fraction(0)) for j in range(len(columns))]


def _named(indices: Sequence[int] | dict[int, int]) -> str:
    return ", ".join(str(j + 1) for j in indices)


def _vector(v: Sequence[Fraction]) -> str:
    return f"`({', '.join(map(str, v))})`"


def _path(s: SaddlePath) -> Statement:
    """Return the plateaus with the times at which they begin."""
    begins = (Fraction(0), *s.times)
    rows = tuple(
        (f"`{begin}`", _vector(beta), ", ".join(str(j + 1) for j in ends) or "none")
        for begin, beta, ends in zip(begins, s.plateaus, s.active, strict=True)
    )
    scale = [Symbol(s.variable)] * s.unit.has(sympy.Integral)
    words = (
        "as `{x} -> 0`, at fixed times `tau = t/N` between jumps `beta` tends to the vectors below,"
    )
    return Statement(
        words,
        {"x": Symbol(s.variable), "path": s},
        kind="saddle path",
        ground=Ground.CITED if s.proved else Ground.SIMULATED,
        by=SOURCE if s.proved else SIMULATED,
        below=(
            Equations((("N", s.unit),)),
            *(note("with `K` of the start with `{x} = 1`", x=x) for x in scale),
            Table(("`tau` from", "`beta`", "coordinates at an end"), rows),
        ),
    )


def _limit(s: SaddlePath) -> Statement:
    """Return what the last beta minimises, with its certificate."""
    shown = [["oo" if x is None else x for x in pair] for pair in s.slopes]
    alike = shown[1:] == shown[:-1]
    named = [("all `j`", shown[0])] if alike else [(f"`{j}`", x) for j, x in enumerate(shown, 1)]
    rows = ((tell(j), *pair) for j, pair in named)
    ends = each("`L_j^- = {1}`, `L_j^+ = {2}` of {0}", rows, "; ")
    return Statement(
        "{beta} minimises `sum_j (L_j^- beta_j^- + L_j^+ beta_j^+)` subject to `X beta = y`,"
        " {ends}",
        {"beta": tell(_vector(s.limit)), "ends": ends, "path": s},
        kind="saddle limit",
        below=(
            note(
                f"certificate: `nu =` {_vector(s.multiplier)}, and `X^T nu =`"
                f" {_vector(s.dual)} is a subgradient of the sum there"
            ),
        ),
    )
