"""A witness of wide nets: the net of many neurons against the variational problem on a grid."""

from fractions import Fraction

import numpy as np
from flint import arb

from tests.witnesses import Refuted, witness

CELLS = 2000
POINTS = 4
CLOSE = 0.01


@witness("wide limit")
def net_and_problem(p, statement, rng):
    """Fit data by neurons at the quantiles of the density, and solve the problem on a grid.

    The neurons minimise sum phi(alpha_j) subject to the data, as mirror flow from alpha = 0 does;
    the problem has h'' on cells and the affine part of h as unknowns.
    """
    low, high = map(float, p.density.support)
    b = low + (high - low) * (np.arange(CELLS) + 0.5) / CELLS
    density = np.zeros(CELLS)
    for piece in p.density.pieces:
        here = (b >= float(piece.left)) & (b <= float(piece.right))
        density[here] = piece.formula.on_arrays(b[here])
    density /= np.sum(density) * (high - low) / CELLS
    mass = density * (high - low) / CELLS
    x = np.sort([rng.uniform(low, high) for _ in range(POINTS)])
    y = np.array([rng.uniform(-1, 1) for _ in range(POINTS)])
    if p.affine is None or np.min(np.diff(x)) < 0.05 * (high - low):
        return 0
    grid = np.linspace(low, high, 101)
    found = _by_neurons(p, x, y, b, mass, grid), _by_functional(p, x, y, b, density, grid)
    off = np.max(np.abs(found[0] - found[1])) / np.max(np.abs(found[0]))
    if off > CLOSE:
        raise Refuted(f"the net and the problem differ by {off} at {x.tolist()}, {y.tolist()}")
    return 1


def _by_neurons(p, x, y, b, mass, grid):
    """Return h of least sum phi'' (0) alpha^2/2 at neurons with weights 1 and -1."""
    e, o = float(p.activation.even), float(p.activation.odd)

    def features(at):
        right, left = at[:, None] - b, b - at[:, None]
        both = np.hstack([e * np.abs(z) + o * z for z in (right, left)])
        return both * np.sqrt(np.hstack([mass, mass]) / 2)

    return features(grid) @ np.linalg.pinv(features(x)) @ y


def _by_functional(p, x, y, b, density, grid):
    """Return h = c_0 + c_1 x + int h''(t) |x - t|/2 dt of least G1 + G2 + G3, as printed."""
    cell = b[1] - b[0]
    given = (p.bending, *p.affine)
    bending, slopes, moment = (
        float(arb(f)) if isinstance(f, arb) else float(Fraction(str(f))) for f in given
    )

    def shapes(at):
        return np.hstack([np.abs(at[:, None] - b) * cell / 2, np.ones((len(at), 1)), at[:, None]])

    cost = np.concatenate([bending * cell / density, [4 * moment, 4 * slopes]])
    rows = shapes(x)
    return shapes(grid) @ (rows.T / cost[:, None]) @ np.linalg.solve((rows / cost) @ rows.T, y)
