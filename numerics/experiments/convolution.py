"""Linear convolutional nets on separable data: which critical point each start leads to.

    beta = w_1 * ... * w_L, circular, so DFT beta = prod_l DFT w_l: of all weights with one beta the
    least |w|^2 is (L/d) sum_k |DFT beta|_k^(2/L).

Two layers minimise |DFT beta|_1, which is convex: every start leads to a least value, between two
bounds. From three on |DFT beta|_(2/L) has several critical points (Gunasekar, Lee, Soudry, Srebro
2018, "Implicit bias of gradient descent on linear convolutional networks", Theorem 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from flint import arb
from scipy.special import softmax

from derive.errors import InputError, NumericalError
from derive.exact.balls import precise
from derive.model.parameterization import Parameterization
from numerics.evaluate.numbers import Array
from numerics.experiments.settings import ConvolutionSetting, Results, Stages, table
from numerics.margins.interval import BITS, MarginInterval
from numerics.margins.kkt import kkt_point, shortest
from numerics.margins.max_margin import NotSeparable, max_margin

STEP = 0.02
ABSENT = 1e-9
"""Of the largest |DFT beta|, below which a frequency is not there."""
DIGITS = 12


@dataclass(frozen=True, slots=True)
class Limit:
    """One start: |DFT beta|_(2/L) at the end, and at the KKT point of the weights beside it.

    Attributes:
        critical: at the KKT point, proved digits; None where none was certified.
        present: the frequencies of beta that are not 0 there.
    """

    layers: int
    start: int
    end: float
    critical: str | None
    present: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ConvolutionResults(Results):
    """All starts; least: proved bounds of min |DFT beta|_1 with margins at least 1."""

    listed = "limits"

    setting: ConvolutionSetting
    X: tuple[tuple[int, ...], ...]
    least: tuple[float, float]
    limits: tuple[Limit, ...]

    def to_text(self) -> str:
        """Return the table."""
        s = self.setting
        lines = ["Linear convolutional nets under exponential loss, circular convolutions"]
        lines += [f"X = {list(map(list, self.X))}, Gaussian starts of scale {s.scale:g}"]
        lines += [f"|DFT beta|_(2/L), smallest margin 1; seed {s.seed}", ""]
        columns = {"layers": "7d", "start": "6d", "end of run": "12.6f", "KKT point": "16"}
        lines += table(
            columns | {"  frequencies": "<13"},
            [
                (
                    x.layers,
                    x.start,
                    x.end,
                    x.critical or "not certified",
                    f"  {', '.join(map(str, x.present))}",
                )
                for x in self.limits
            ],
        )
        low, high = self.least
        lines += ["", f"2 layers: min |DFT beta|_1 is in [{low:.9f}, {high:.9f}]"]
        for L in s.layers:
            found = {x.critical for x in self.limits if x.layers == L and x.critical}
            lines.append(f"{L} layers: {len(found)} critical value(s) among {s.starts} starts")
        return "\n".join(lines)


def convolution(setting: ConvolutionSetting, stages: Stages) -> ConvolutionResults:
    """Run the starts of each depth; InputError where the drawn data are not separable."""
    rng = np.random.default_rng(setting.seed)
    X = rng.integers(-5, 6, (setting.samples, setting.size))
    rows: list[list[int]] = X.tolist()
    try:
        best = max_margin(rows, norm="dft")
    except NotSeparable:
        raise InputError("the rows that were drawn are not separable: draw fewer") from None
    tasks = [(L, start) for L in setting.layers for start in range(setting.starts)]
    found = stages.each("starts", partial(_limit, setting, X), tasks)
    assert isinstance(best, MarginInterval)
    bounds = float(best.lower), float(best.upper)
    return ConvolutionResults(setting, tuple(map(tuple, rows)), bounds, found)


def outputs(size: int, layers: int) -> list[str]:
    """Return the entries of w_1 * ... * w_L, circular.

    >>> outputs(2, 2)
    ['w1_0*w2_0 + w1_1*w2_1', 'w1_0*w2_1 + w1_1*w2_0']
    """
    found: list[list[str]] = [[] for _ in range(size)]
    for places in product(range(size), repeat=layers):
        term = "*".join(f"w{layer}_{k}" for layer, k in enumerate(places, 1))
        found[sum(places) % size].append(term)
    return [" + ".join(terms) for terms in found]


def _limit(setting: ConvolutionSetting, X: Array, task: tuple[int, int]) -> Limit:
    L, start = task
    rng = np.random.default_rng([setting.seed, L, start])
    w = descended(X, setting.scale * rng.standard_normal((L, setting.size)), setting.steps)
    beta = np.fft.irfft(np.prod(np.fft.rfft(w, axis=1), axis=0), setting.size)
    end = float(np.sum(np.abs(np.fft.fft(beta)) ** (2 / L)) ** (L / 2))
    try:
        near = shortest(
            lambda v: _margins(X, v.reshape(w.shape))[0],
            lambda v: _margins(X, v.reshape(w.shape))[1].reshape(len(X), -1),
            w.ravel(),
        )
        p = Parameterization.parse(outputs(setting.size, L))
        places = (name[1:].split("_") for name in p.weights)
        shaped = near.x.reshape(w.shape)
        origin = [shaped[int(layer) - 1, int(k)] for layer, k in places]
        point = kkt_point(p, X.tolist(), origin)
    except NumericalError:
        return Limit(L, start, end, None, ())
    sizes = np.abs(np.fft.rfft([float(x) for x in point.beta]))
    present = tuple(int(k) for k in np.flatnonzero(sizes > ABSENT * sizes.max()))
    with precise(BITS):
        value = (point.cost * setting.size / L) ** (arb(L) / 2)
        return Limit(L, start, end, value.str(DIGITS, radius=False), present)


def descended(X: Array, w: Array, steps: int) -> Array:
    """Return weights (L, d), smallest margin 1, after steps along grad log sum exp(-X beta)."""
    for _ in range(steps):
        u, slopes = _margins(X, w)
        g = np.tensordot(softmax(-u), slopes, 1)
        w = w + STEP * g / np.linalg.norm(g)
    least = float(np.min(_margins(X, w)[0]))
    if least <= 0:
        raise NumericalError("a run did not separate the data: take more steps")
    return np.asarray(w / least ** (1 / len(w)))


def _margins(X: Array, w: Array) -> tuple[Array, Array]:
    """Return X beta (m,) and its derivatives (m, L, d)."""
    hat = np.fft.rfft(w)
    others = np.array([np.prod(np.delete(hat, k, axis=0), axis=0) for k in range(len(w))])
    slopes = np.fft.irfft(np.fft.rfft(X)[:, None] * others.conj(), w.shape[1])
    return np.tensordot(slopes[:, 0], w[0], 1), slopes
