"""Twenty drawn instances of each question on F, against witnesses that know F and data only."""

import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import softmax

from derive import (
    Parameterization,
    Verdict,
    derive,
    explicit_counterpart,
    margins,
    perturb,
    regimes,
    scale_start,
)
from derive.errors import DeriveError
from derive.statement import Statement
from numerics import max_margin
from tests.witnesses import WITNESSES
from tests.witnesses.margins import by_programs
from tests.witnesses.processes import Unreached
from tests.witnesses.steepest import Copies, steered


def drawn(first=0):
    """Return twenty seeds: by default the first is run alone."""
    seeds = [first, *(seed for seed in range(20) if seed != first)]
    return pytest.mark.parametrize("seed", seeds)


def trials(record, kinds, seed):
    """Put what is said of some kinds to the witnesses; return how many trials that withstood."""
    said = [s for s in record.says(*kinds) if isinstance(s, Statement)]
    return sum(WITNESSES[s.kind](record, s, random.Random(seed)) for s in said)


def monomial(rng, names):
    return "*".join(f"{name}**{rng.randint(1, 3)}" for name in names)


def under_a_norm(rng):
    """Draw F of one output and a norm: products of powers, differences of powers."""
    norm = rng.choice(("oo", "oo", "4/3", "3/2", "3", "4", "5"))
    if rng.random() < 0.5:
        return monomial(rng, "uvw"[: rng.randint(2, 3)]), norm
    D = rng.randint(2, 4)
    return f"{rng.randint(1, 3)}*(p**{D} - m**{D})", norm


@pytest.mark.every(20)
@drawn(1)
def test_steepest_descent_on_drawn_maps(seed):
    """Laws stay, dQ/dbeta_j moves by phi(l_j), costs on one row and of margins are least.

    And from small starts, which products of powers have a limit from, slopes tend there.
    """
    rng = random.Random(seed)
    while True:
        F, norm = under_a_norm(rng)
        d = derive(Parameterization.parse([F], steepest=norm))
        if d.verdict is not Verdict.PROVED:
            continue
        copies = Copies(d.parameterization, rng)
        x = np.array([rng.choice((-1, 1)) * rng.randint(1, 4) / 2 for _ in range(3)])
        try:
            w = steered(copies, x, 0.05)
            break
        except Unreached:
            continue
    for law in d.conserved.laws:
        c = copies.function(law)
        size = np.abs(c(*copies.w0)).max() + 1
        assert np.abs(c(*w) - c(*copies.w0)).max() < 1e-7 * size, F
    q = d.potential.numeric(copies.symbols)
    slopes = np.array([float(np.squeeze(q.gradient(np.array([b])))) for b in copies.beta(w)])
    ratio = slopes / (np.sign(x) * np.abs(x) ** copies.s)
    assert np.abs(ratio / ratio[0] - 1).max() < 1e-5, F
    trials(d, ("one row", "box"), seed)
    assert trials(margins(d), ("steepest cost",), seed) > 0
    p = scale_start(Parameterization.parse([F], steepest=norm), "alpha")
    small = regimes(p, toward=(0,))
    product = "m" not in F
    assert not product or small.verdict is Verdict.PROVED
    trials(small, ("limit", "limit error", "side reached"), seed)


COSTS = ("abs", "weighted", "trace-K", "log-det-K", "max")


def cost_of(kind, names, rng):
    if kind == "abs":
        first = f"abs({names[0]})**({rng.choice(('3/2', '2', '3'))})"
        return " + ".join((first, *(f"abs({x})**2" for x in names[1:])))
    if kind == "weighted":
        p = rng.choice(("3/2", "2", "3"))
        return " + ".join(f"{rng.randint(1, 5)}*abs({x})**({p})" for x in names)
    return kind


@pytest.mark.every(20)
@drawn()
def test_costs_over_the_fibre_of_drawn_maps(seed):
    """Brute force from many starts, at drawn beta and on drawn rows."""
    rng = random.Random(seed)
    for _ in range(20):
        outputs = rng.choice(
            ([monomial(rng, "uv")], [monomial(rng, "uvw")], ["u**2 - v**2"], ["u*v"],
             ["u*v", "u*w"], ["u**2*v", "u**2*w"], ["u + v*w"], ["u*v + w*x"])
        )  # fmt: skip
        names = sorted({c for f in outputs for c in f if c.isalpha()})
        kind = rng.choice(COSTS)
        X = [[Fraction(rng.randint(-3, 3)) for _ in range(3 * len(outputs))] for _ in range(2)]
        X = X if kind.endswith("-K") and len(outputs) == 1 and rng.random() < 0.5 else []
        try:
            f = explicit_counterpart(outputs, cost=cost_of(kind, names, rng), X=X)
        except DeriveError:
            continue
        if tried := trials(f, ("fibre cost", "cost on data", "constant cost"), seed):
            break
    assert tried > 0


def graded(rng):
    """Draw sums of products without common weights: each scales by itself.

    Of one output and products of two and of three weights the limit is beyond beta = exp(20).
    """
    names = iter("abcdef")
    sizes = sorted(rng.randint(1, 3) for _ in range(2))
    first, second = ("*".join(next(names) for _ in range(n)) for n in sizes)
    outputs = [f"{rng.choice(('', '2*', '-'))}{first}", second]
    whole = sizes[0] == 1 or sizes[0] == sizes[1]
    return [" + ".join(outputs)] if whole and rng.random() < 0.5 else outputs


@pytest.mark.every(20)
@drawn()
def test_gradings_of_drawn_maps(seed):
    """Which weights rule at scaled starts and in margins, and which decay shrinks the start."""
    rng = random.Random(seed)
    outputs = graded(rng)
    d = derive(Parameterization.parse(outputs))
    m = margins(d)
    tried = trials(m, ("graded", "homogeneous", "KKT", "KKT levels", "level cost"), seed)
    assert tried > 0
    if len(outputs) == 1 and d.verdict is Verdict.PROVED:
        p = scale_start(Parameterization.parse(outputs), "alpha")
        trials(regimes(p, "alpha"), ("graded", "ruling weights"), seed)
        trials(perturb(d, "decay"), ("decay metric",), seed)


RATES = ("1/4", "1/3", "2", "3")


def beyond(rng):
    """Draw a half-line, mixed growth, a skip connection, a weight that starts at 0, or rates."""
    kind, k = rng.choice(("half-line", "rates", "mixed", "skip", "at 0")), rng.randint(1, 3)
    if kind == "skip":
        return [f"{k}*W + {rng.choice(('a*b', '2*a*b', 'p**2 - m**2'))}"], {}
    if kind == "at 0":
        return [f"{k}*u*v"], {"start": {"u": "alpha", "v": "0"}}
    if kind == "half-line":
        return [f"{rng.choice(('', '-'))}{k}*w**2"], {}
    if kind == "mixed":
        return ["p**2 - m**2", f"{k}*w"], {}
    rates = {"v": rng.choice(RATES)}
    return [rng.choice(("u*v", f"{k}*u*v", "u**2 - v**2"))], {"rates": rates}


@pytest.mark.every(20)
@drawn()
def test_horizons_and_penalties_of_drawn_maps(seed):
    """Directions of runs on drawn data; limits under drawn penalties that shrink the start."""
    rng = random.Random(seed)
    outputs, given = beyond(rng)
    m = margins(derive(Parameterization.parse(outputs, **given)))
    kinds = ["growth", "coercive", "KKT law", "representation cost", "level cost"]
    kinds += ["direction", "direction on half-lines", "KKT", "KKT levels"]
    assert trials(m, kinds, seed) > 0, outputs
    assert (
        "direction" in [s.kind.split()[0] for s in m.statements if hasattr(s, "ground")]
        or len(outputs) > 1
    )
    a, b = rng.randint(1, 5), rng.randint(1, 5)
    v = perturb(derive("p**2 - m**2"), "decay", penalty=f"{a}*p**2/2 + {b}*m**2/2")
    assert trials(v, ("drift", "perturbed limit"), seed) > 0
    v = perturb(derive(f"{a}*w**2 + {b}*w"), "noise")  # a shift that is constant
    assert trials(v, ("drift", "perturbed limit"), seed) > 0


MIRRORS = ("{k}*{w}*log({w})", "-{k}*log({w})", "{k}*{w}**4/12", "{k}*{w}**2", "exp({k}*{w})")


@pytest.mark.every(20)
@drawn()
def test_perturbed_mirrors_of_drawn_maps(seed):
    """Laws, and dual coordinates where they are known, drift as is told under either process."""
    rng, tried = random.Random(seed), 0
    by, process = rng.choice(("noise", "step")), rng.choice(("mirror", "preconditioned"))
    while not tried:
        F = rng.choice(("p - m", "u*v", "p**2 - m**2", "3*u*v", "p - 2*m", "u**2*v"))
        names = sorted({x for x in F if x.isalpha()})
        psi = [rng.choice(MIRRORS).format(w=w, k=rng.randint(1, 3)) for w in names]
        try:
            d = derive(Parameterization.parse([F], mirror=" + ".join(psi)))
            v = perturb(d, by, process=process)
        except DeriveError:
            continue
        tried = trials(v, ("drift",), seed)


def separating(X, k, start, level):
    """Return beta = k asinh(c w) where log 1/L has grown by so much, K = k^2 c^2/(1 + c^2 w^2)."""

    def field(_, beta):
        g = X.T @ softmax(-X @ beta)
        moved = g / np.cosh(beta / k) ** 2
        return moved / (g @ moved)

    run = solve_ivp(field, (0, level), start, "BDF", rtol=1e-8, atol=1e-8)
    assert run.success
    return run.y[:, -1]


def test_where_the_margin_is_at_several_the_horizon_does_not_decide():
    """All (1, b), 0 <= b <= 1, have the largest margin: the run tends to (1, 2/3) of them."""
    X = np.array([[1.0, 0], [1, 1]])
    assert max_margin(X.astype(int).tolist(), norm="linf").degenerate
    beta = separating(X, 1, np.zeros(2), 40)
    assert beta[1] / beta[0] == pytest.approx(2 / 3, abs=0.02)


@pytest.mark.every(20)
@drawn()
def test_exponential_growth_has_the_largest_coordinate(seed):
    """Of k asinh(c w), by the exponential loss in its logarithm, from drawn starts and rows."""
    rng = np.random.default_rng(seed)
    k, c = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    assert margins(derive(f"{k}*asinh({c}*w)")).norm == "linf"
    X, b = rng.normal(size=(4, 3)), rng.normal(size=3)
    X *= np.sign(X @ b)[:, None]
    beta = separating(X, k, k * np.arcsinh(c * 0.1 * rng.random(3)), 10)
    gap = np.abs(beta).max() / np.min(X @ beta) / by_programs(X, "linf")
    assert 1 - 1e-6 < gap < 1 + 1.5 * k / np.abs(beta).max()
