"""What F reaches along the curve of grad F from the start is the domain that is printed.

The witness knows F alone: it walks both ways along grad F/|grad F|, with steps that neither pass a
zero of grad F nor a point where that is infinite, and looks at where F ends.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
import sympy

from derive import Parameterization
from tests.published import derive_once

Function = Callable[[np.ndarray], float]

START = {"u": "3/2", "v": "4/5", "w": "7/3"}

OUTPUTS = [
    "u**2*v**2",
    "sqrt(u*v)",
    "w/sqrt(1+w**2)",
    "tanh(u*v)",
    "exp(-w**2)",
    "1 - 2*exp(u*v)",
    "sqrt(1+w**2)",
    "log(1+w**2)",
    "u**2*v**2*w**2",
    "u**(3/2)*v**(3/2)",
    "u**2*v**(1/3)",
    "asinh(w**3)/2",
    "1/(u*v)",
    "1/(1+u**2*v**2)",
    "2 - sigmoid(w)",
    "cosh(u*v)",
    "atan(u*v)",
    "(u*v)**(-1/2)",
    "log(u*v)",
    "w**3",
    "log(u)**2",
    "sqrt(u)*sqrt(v)",
    "-(u*v)**2",
    "w**2/(1+w**2)",
]


def compiled(output):
    names = [n for n in START if sympy.Symbol(n) in sympy.sympify(output).free_symbols]
    symbols = [sympy.Symbol(n, positive=True) for n in names]
    table = {**dict(zip(names, symbols, strict=True)), "sigmoid": lambda x: 1 / (1 + sympy.exp(-x))}
    F = sympy.sympify(output, locals=table)
    f, J = (sympy.lambdify(symbols, x, "numpy") for x in (F, [F.diff(s) for s in symbols]))
    return lambda w: float(f(*w)), lambda w: np.array(J(*w), dtype=float), names


def end_of_walk(output, side):
    """Return what F tends to on one side, infinite where it goes on growing."""
    F, J, names = compiled(output)
    w = np.array([float(sympy.Rational(START[n])) for n in names])
    values, h = [F(w)], 1e-3

    def slope(w):
        g = J(w)
        return side * g / np.linalg.norm(g)

    with np.errstate(all="ignore"):
        while len(values) < 4000 and abs(values[-1]) < 1e7 and np.linalg.norm(w) < 1e40:
            a, h = slope(w), min(2 * h, 0.05 * max(0.1, float(np.linalg.norm(w))))
            while h > 1e-60:
                b = slope(w + h / 2 * a)
                new = w + h * b
                ratio = np.linalg.norm(J(new)) / np.linalg.norm(J(w))
                if 0.5 < ratio < 2 and slope(new) @ a > 0.99 and np.isfinite(F(new)):
                    break
                h /= 2
            else:
                break
            w = new
            values.append(F(w))
    last, before = values[-1], values[len(values) * 3 // 4]
    grows = abs(last - before) > max(1e-3, 0.02 * abs(last - values[0]))
    return side * math.inf if grows or abs(last) >= 1e7 else last


@pytest.mark.every(40)
@pytest.mark.parametrize("symbols", [False, True])
@pytest.mark.parametrize("output", OUTPUTS)
def test_the_domain_is_what_the_curve_of_the_gradient_reaches(output, symbols):
    names = compiled(output)[2]
    start = None if symbols else {n: START[n] for n in names}
    d = derive_once(Parameterization.parse([output], start))
    (piece,) = d.potential.pieces
    assert piece.domain is not None
    # In symbols the sign of a power may be open.
    assert piece.domain.exact or (symbols and output in ("1/(u*v)", "asinh(w**3)/2"))
    at = {f"{n}_0": sympy.Rational(START[n]) for n in names}
    low, high = -math.inf, math.inf
    start_value = compiled(output)[0](np.array([float(x) for x in at.values()]))
    for wall in piece.domain.walls:
        end = wall.end(*d.beta)
        number = float(end.subs({s: at[s.name] for s in end.free_symbols}))
        low, high = (max(low, number), high) if number < start_value else (low, min(high, number))
    walked = end_of_walk(output, -1), end_of_walk(output, 1)
    if piece.domain.exact:
        assert walked == pytest.approx((low, high), rel=1e-2, abs=1e-2)
    else:
        assert low <= walked[0] < walked[1] <= high
