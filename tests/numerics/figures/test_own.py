"""Figures of one's own F, and displays that keep their arrays."""

import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from derive import InputError, NumericalError, Parameterization, margins, perturb, regimes
from numerics import FlowDisplay, PotentialDisplay, RegimeDisplay, flow
from numerics.figures.derived import display
from tests.cli.commands import run
from tests.published import derive_once

PAIR = Parameterization.parse(
    ["p**2 - m**2"], start={"p": "alpha", "m": "alpha"}, positive=["alpha"]
)


def test_a_potential_is_shown_where_it_has_values():
    d = derive_once(["a*u1", "a*u2"])
    shown = PotentialDisplay.from_derivation(d, {"a_0": "1/2"}, points=31)
    q = d.potential.numeric(shown.start)
    assert shown.beta0 == pytest.approx([0.5, 0.5])
    assert shown.value[3, 20] == pytest.approx(q.bregman([shown.x[20], shown.x[3]], shown.beta0))
    square = PotentialDisplay.from_derivation(derive_once("w**2"))
    assert square.x[0] >= 0
    assert np.isfinite(square.value).all()
    plane = PotentialDisplay.from_derivation(derive_once(["a*u1", "a*u2", "a*u3"]), points=31)
    q = derive_once(["a*u1", "a*u2", "a*u3"]).potential.numeric(plane.start)
    point = [plane.x[20], plane.x[3], plane.beta0[2]]
    assert plane.value[3, 20] == pytest.approx(q.bregman(point, plane.beta0))
    with pytest.raises(NumericalError):
        PotentialDisplay.from_derivation(derive_once(["x*y", "y*z", "z*x"]))


def test_derivations_and_potentials_plot_themselves():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    d = derive_once(PAIR)
    shown = d.plot({"alpha": "1/2"})
    assert shown.ax_.get_ylabel() == r"$Q - Q(\beta_0)$"
    assert len(shown.ax_.lines) == 2
    own = pyplot.subplots()[1]
    again = d.potential.numeric({"alpha": 0.5}).plot(own)
    assert again.ax_ is own
    assert np.array_equal(shown.value, again.value)
    assert not np.array_equal(shown.value, d.plot().value)
    named = d.plot(start={"alpha": "1/2"}, ax=pyplot.subplots()[1])
    assert np.array_equal(shown.value, named.value)
    with pytest.raises(NumericalError):
        derive_once(["x*y", "y*z", "z*x"]).plot()
    pyplot.close("all")


def test_regimes_are_approached():
    pytest.importorskip("matplotlib")
    found = regimes(derive_once(PAIR), "alpha")
    for which in (0, 1):
        shown = RegimeDisplay.from_regimes(found, which)
        for plotted in (found.plot(which), found.plot(which=which)):
            assert [s.label for s in plotted.series] == [s.label for s in shown.series]
        distances = [np.abs(value - shown.limit).max() for value in shown.values]
        assert distances == sorted(distances, reverse=True)
        assert distances[-1] < 0.1
        assert distances[0] > 5 * distances[-1]
    with pytest.raises(InputError, match="there are 2 limits"):
        RegimeDisplay.from_regimes(found, 2)


@pytest.mark.parametrize(
    ("outputs", "options", "ball"),
    [
        (["p**2 - m**2"], {"start": {"p": "alpha", "m": "alpha"}}, lambda x, y: abs(x) + abs(y)),
        (["a*u1", "a*u2"], {}, np.hypot),
        (["a*u"], {"vectors": ["u"]}, np.hypot),
        (["u*v + x*y", "u*y + x*v"], {}, lambda x, y: np.maximum(abs(x), abs(y))),
    ],
)
def test_level_sets_of_q_tend_to_the_horizon(outputs, options, ball):
    pytest.importorskip("matplotlib")
    found = margins(Parameterization.parse(outputs, **options))
    *levels, horizon = found.plot().series
    assert ball(horizon.x, horizon.y) == pytest.approx(np.ones(181), rel=1e-7)
    apart = [np.abs(ball(level.x, level.y) - 1).max() for level in levels]
    assert apart == sorted(apart, reverse=True)
    assert apart[-1] < 0.1 < apart[0]


def test_what_has_no_horizon_is_not_drawn():
    with pytest.raises(NumericalError, match="no horizon"):
        margins("w**2").plot()
    with pytest.raises(InputError, match="no picture of Perturbation"):
        display(perturb("w**2", "noise"))


def test_displays_are_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    shown = PotentialDisplay.from_derivation(derive_once("w")).plot()
    again = FlowDisplay.from_data(PAIR, [[1]], [1], {"p": 1, "m": 1}, points=3).plot(shown.ax_)
    assert again.figure_ is shown.figure_
    assert len(shown.ax_.lines) == 3  # Q, its start, and the flow


@pytest.mark.parametrize(
    ("arguments", "labels"),
    [
        (["w**2"], ["start times 1/2", "start times 1", "start times 2"]),
        (
            ["p**3 - m**3", "--start", "p=alpha,m=alpha", "--values", "alpha=sqrt(2)"],
            ["alpha = 1.41421"],
        ),
    ],
)
def test_an_own_model_is_drawn(arguments, labels):
    done = run("figure", "--of", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert [c["label"] for c in json.loads(done.stdout)["curves"]] == labels


def test_what_has_no_Q_is_not_drawn():
    done = run("figure", "--of", "a**2 + b**2", "a*c + b*d", "--csv")
    assert (done.returncode, done.stdout) == (3, "")
    assert "has no Q to draw" in done.stderr


def test_a_flow_is_shown_from_its_start_to_its_limit():
    start = {"p": "1/10", "m": "1/10"}
    shown = FlowDisplay.from_data(PAIR, [["1/2"]], [1], start, points=12)
    assert shown.beta[0] == pytest.approx([0], abs=1e-5)
    assert shown.beta[-1] == pytest.approx(float(flow(PAIR, [["1/2"]], [1], start, 15).limit[0]))
    assert (np.diff(shown.residual) < 0).all()

    def slope(t, beta):
        """beta' = K X^T r, K = 4 sqrt(beta^2 + 4 alpha^4)."""
        return 4 * np.sqrt(beta**2 + 4e-4) * (1 - beta / 2) / 2

    span = shown.time[[0, -1]]
    known = solve_ivp(slope, span, [0.0], t_eval=shown.time, rtol=1e-9, atol=1e-12).y[0]
    assert shown.beta[:, 0] == pytest.approx(known, abs=1e-7)
