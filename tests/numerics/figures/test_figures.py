"""Figures: the data of each, and that drawing needs nothing but matplotlib."""

import json
import sys
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from derive import InputError, NumericalError, Parameterization, margins, perturb, regimes
from numerics import FlowDisplay, PotentialDisplay, RegimeDisplay, flow, interpolate
from numerics.experiments.settings import SparseSetting, UnivariateSetting
from numerics.experiments.sparse_regression import draw, predict
from numerics.figures.derived import display
from numerics.figures.display import arranged, save
from numerics.figures.gallery import caption, figures, find, to_csv, to_json
from numerics.figures.gallery.scripts import level_set, tied
from tests.cli.commands import refusal_of, run
from tests.published import derive_once

IDS = [figure.id for figure in figures()]
BALLS = ("diagonal-balls", "diagonal-shape-balls", "implicit-explicit-balls")
POINTS = {
    **dict.fromkeys(IDS, 41),
    **dict.fromkeys(BALLS, 17),
    **dict.fromkeys(("diagonal-levels", "neuron-levels"), 21),
    **dict.fromkeys(("depth-ratio", "norm-sweep", "sparse-regression", "margin-accuracy"), 5),
    **dict.fromkeys(("perturbed-scale",), 5),
    **dict.fromkeys(("margin-rates", "margin-tails", "learned-predictors"), 9),
}
NETS = UnivariateSetting(widths=(100, 400), nets=2)


@cache
def shown(name):
    sizes = {"points": POINTS[name]}
    if name.startswith("univariate"):
        sizes = {"setting": NETS} if name.endswith("errors") else {**sizes, "setting": NETS}
    if name in ("norm-sweep", "sparse-regression"):
        sizes |= {"dimension": 300, "samples": 60}
    sizes |= {"training-steps": {"steps": 3000}}.get(name, {})
    return find(name).panels(**sizes)


def curves_of(name):
    (display,) = shown(name)
    return display.series


def radius_on_the_diagonal(curve):
    """Return |beta| at 45 degrees: 1/sqrt 2 on the l1 ball, 1 on the l2 ball."""
    return float(np.hypot(curve.x[2], curve.y[2]))


LONG = "univariate-scaled-errors"  # trains nets at every width


@pytest.mark.every(14)
@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.slow if x == LONG else ()) for x in IDS]
)
def test_every_figure_is_finite_and_says_where_it_comes_from(name):
    figure = find(name)
    for one in (series for shows in shown(name) for series in shows.series):
        assert np.isfinite(one.y).all()
        if one.value is None:
            count = len(NETS.widths) if name.endswith("errors") else POINTS[name]
            assert one.x.shape == one.y.shape
            assert len(one.x) == count or one.quantity == "data"
        else:
            assert one.value.shape == (len(one.y), len(one.x))
            assert np.isfinite(one.value).all()
            assert one.value.min() >= 0
    assert "See " in caption(figure)
    assert max(map(len, caption(figure).splitlines())) <= 80


@pytest.mark.slow
def test_noise_makes_the_profile_less_curved():
    before, *after = curves_of("perturbed-profiles")
    values = [np.interp(0.5, curve.x, curve.y) for curve in (before, *after)]
    assert values == sorted(values)
    assert 0.25 < values[0] < values[-1] < 0.5


def test_unit_balls_go_from_l1_to_l2_with_the_scale():
    found = curves_of("diagonal-balls")
    radii = [radius_on_the_diagonal(c) for c in found]
    assert radii == sorted(radii)
    assert radii[0] == pytest.approx(1 / np.sqrt(2), abs=1e-8)
    assert radii[-1] == pytest.approx(1, abs=1e-8)
    assert len(set(radii)) == len(radii)
    for curve in found:
        points = {
            (round(x, 6) + 0.0, round(y, 6) + 0.0) for x, y in zip(curve.x, curve.y, strict=True)
        }
        assert {(y, x) for x, y in points} == points == {(-x, y) for x, y in points}


def test_a_shape_near_one_undoes_a_small_scale():
    radii = [radius_on_the_diagonal(c) for c in curves_of("diagonal-shape-balls")]
    assert radii == sorted(radii)
    assert radii[0] < 0.8
    assert radii[-1] > 0.999
    for curve in curves_of("diagonal-shape-balls"):
        alpha, s = (float(curve.values[name]) for name in ("alpha", "s"))
        k = (4 * alpha * (1 + s**2) / (1 - s**2)) ** 2

        def q(x, k=k):
            """Return q_k of Azulay et al. (2021), theorem 1, without its factor."""
            return 1 - np.sqrt(1 + 4 * x**2 / k) + 2 * x / np.sqrt(k) * np.arcsinh(2 * x / k**0.5)

        np.testing.assert_allclose(q(curve.x) + q(curve.y), q(1.0), rtol=1e-6)


def test_scale_and_shape_act_through_one_factor():
    """The untied unbiased pair depends on alpha (1 + s^2)/(1 - s^2) alone: its rows compare."""
    by_place = {
        tuple(d.series[0].values.values()): d.value / d.value.max()
        for d in shown("diagonal-levels")
    }
    line = shown("diagonal-levels")[0].x
    squares = (line[:, None] ** 2 + line**2) / 2
    sums = (abs(line[:, None]) + abs(line)) / 2
    assert abs(by_place["1", "0.9999"] - squares).max() < 1e-4
    assert abs(by_place["0.0001", "0.9999"] - squares).max() < 0.02
    assert abs(by_place["0.0001", "0"] - sums).max() < 0.1
    assert abs(by_place["0.0001", "0"] - squares).max() > 0.1


@pytest.mark.slow
def test_scales_part_the_margins_and_accuracy_joins_them():
    found = {(c.label[:7], c.values["level"]): c.y for c in curves_of("margin-accuracy")}
    one, two = ([found[f"$\\ell_{n}", level] for level in ("10", "1000", "100000")] for n in (1, 2))
    assert all((np.diff(y[:3]) > 0).all() for y in one)
    assert one[0][1] > one[1][1] > one[2][1]
    assert two[0][-1] > two[1][-1] > two[2][-1]
    assert two[2][0] > 0.1


@pytest.mark.slow
def test_gaps_of_margins_have_the_constant_that_is_drawn():
    found = {(c.quantity, c.values["nu"]): c for c in curves_of("margin-rates")}
    for nu in ("1/2", "1", "3/2"):
        assert found["Q", nu].y[-1] == pytest.approx(found["limit", nu].y[-1], rel=1e-3)
    for curve in curves_of("margin-tails"):
        slope = np.log(curve.y[-2] / curve.y[-1]) / np.log(curve.x[-2] / curve.x[-1])
        assert slope == pytest.approx(-1 / float(Fraction(curve.values["nu"])), rel=0.02)


def test_depths_part_away_from_zero():
    found = curves_of("depth-profiles")
    assert [c.label for c in found] == [f"$D = {D}$" for D in range(2, 11)]
    ends = [float(c.y[-1]) for c in found]
    assert ends == sorted(ends, reverse=True)
    for curve in found:
        assert curve.y == pytest.approx(curve.y[::-1], rel=1e-9)
        assert (np.diff(curve.y, 2) > 0).all()
    x = found[0].x
    known = 2 - np.sqrt(4 + x**2) + x * np.arcsinh(x / 2)
    assert found[0].y == pytest.approx(known / (2 - np.sqrt(5) + np.arcsinh(0.5)), rel=1e-9)


def test_ratio_goes_from_l1_to_l2_and_sooner_for_deep_networks():
    found = curves_of("depth-ratio")
    for curve in found:
        assert (np.diff(curve.y) > 0).all()
        assert curve.y[-1] == pytest.approx(1, abs=1e-4)
        assert curve.y[0] > 0.1
    firsts = [float(c.y[0]) for c in found]
    assert firsts == sorted(firsts, reverse=True)
    assert firsts[-1] < 0.101


def test_width_and_scale_of_random_starts_act_through_one_number():
    """Q'' = (4 beta^2 + 4 mu^4)^(-1/2), mu = alpha k^(1/4), integrated by a rule of its own."""
    nodes, parts = np.polynomial.legendre.leggauss(200)
    for curve in curves_of("width-regimes"):
        mu = curve.y * curve.x**0.25
        assert mu == pytest.approx(mu[0], rel=1e-9)
        one, spread = (
            b / 2 * parts @ np.arcsinh(b * (nodes + 1) / 2 / mu[0] ** 2) for b in (1, 0.1)
        )
        assert one / (100 * spread) == pytest.approx(float(curve.values["level"]), rel=1e-3)


@pytest.mark.slow
def test_small_scales_find_the_sparse_truth_and_all_fit():
    ends = {(c.values["alpha"], c.measure): c.y for c in curves_of("training-steps")}
    for alpha in ("0.001", "0.1", "1"):
        assert ends[alpha, "training"][-1] < 0.02 * ends[alpha, "training"][0]
    best = [ends[alpha, "population"].min() for alpha in ("0.001", "0.1", "1")]
    assert 20 * best[0] < best[1] < best[2] / 3
    data = draw(SparseSetting(100, 40, sizes=()), 40)
    least = interpolate(tied().potential.numeric({"alpha": 1}), data.X, data.y).value
    assert ends["1", "population"][-1] == pytest.approx(data.error(np.array(least)), rel=0.02)


@pytest.mark.slow
def test_steepest_descent_ends_on_the_line_but_not_where_the_norm_is_least():
    *runs, line, least = curves_of("steepest-descent")
    ends = np.array([[run.x[-1], run.y[-1]] for run in runs])
    assert 5 - ends[:, 0] / 2 == pytest.approx(ends[:, 1], abs=1e-6)  # x1 + 2 x2 = 10
    assert 5 - line.x / 2 == pytest.approx(line.y)
    assert ends[0] == pytest.approx([0.2825957, 4.8587021], abs=0.01)  # of small steps, proved
    assert np.ptp(ends[:, 0]) > 0.03
    assert abs(least.x[0]) < 0.001


@pytest.mark.slow
def test_convolutional_nets_learn_few_frequencies_and_diagonal_ones_few_entries():
    entries, frequencies = (panel.series for panel in shown("learned-predictors"))
    few = {s.label: (np.abs(s.y) > 0.02 * np.abs(s.y).max()).sum() for s in frequencies}
    assert few["convolutional"] < few["fully connected"]
    dense, learned, sparse, trained = (s.y for s in entries)
    assert (np.abs(sparse) > 1e-9).sum() <= 3 < (np.abs(dense) > 1e-9).sum()
    assert trained == pytest.approx(learned, abs=0.05)


def test_implicit_and_explicit_differ_between_the_limits():
    found = {(c.quantity, c.values["alpha"]): c for c in curves_of("implicit-explicit")}
    for alpha in ("0.01", "0.2", "1"):
        Q, R = found["Q", alpha].y, found["R", alpha].y
        np.testing.assert_allclose(Q, Q[::-1], atol=1e-12)
        np.testing.assert_allclose(R, R[::-1], atol=1e-12)
        assert abs(Q - R).max() > 1e-3
    x = found["R", "0.01"].x
    assert abs(found["R", "0.01"].y - abs(x)).max() < 0.02
    assert abs(found["R", "1"].y - x**2).max() < 0.05


@pytest.mark.slow
def test_explicit_balls_of_depth_three_are_not_convex():
    found = {(c.quantity, c.values["alpha"]): c for c in curves_of("implicit-explicit-balls")}
    implicit, explicit = (radius_on_the_diagonal(found[q, "0.05"]) for q in "QR")
    assert explicit < 0.6 < 1 / np.sqrt(2) < implicit < 0.75
    # |b|^(2/3) + |b|^(2/3) = 1 at b = 2^(-3/2).
    assert explicit > np.sqrt(2) * 2**-1.5


def test_level_sets_of_the_neuron():
    surfaces = shown("neuron-levels")
    for s in surfaces:
        assert s.value == pytest.approx(s.value.T, abs=1e-9)
        row, column = np.unravel_index(s.value.argmin(), s.value.shape)
        assert np.abs(s.x[[column, row]] - s.beta0).max() <= s.x[1] - s.x[0]
    by_place = {tuple(s.series[0].values.values()): s for s in surfaces}

    def spread(surface, centre):
        """Return how far the values are from a function of the distance to a point."""
        x, y = np.meshgrid(surface.x, surface.x)
        r = np.hypot(x - centre[0], y - centre[1])
        ring = surface.value[(r > 1.4) & (r < 1.6)]
        return float(ring.max() / ring.min())

    near_one, balanced = by_place["1", "0.9"], by_place["1", "0"]
    assert spread(near_one, near_one.beta0) < 1.4 < 2 < spread(balanced, balanced.beta0)
    assert spread(by_place["0.01", "0"], (0, 0)) < 1.5


@pytest.mark.slow
def test_errors_rise_with_scale_and_shape():
    found = curves_of("sparse-regression")
    errors = np.array([c.y for c in found])
    assert (np.diff(errors, axis=0) > -1e-3).all()
    assert (np.diff(errors, axis=1) > -1e-3).all()
    setting = SparseSetting(dimension=300, samples=60, sizes=())
    data = draw(setting, 60)
    alpha = float(found[3].x[1])
    assert found[3].y[1] == pytest.approx(data.error(predict(data, alpha, 0.9).value), rel=1e-6)
    # The l2 limit projects beta* onto m of d directions.
    assert errors[0, 0] < 0.03
    assert errors[0, -1] == pytest.approx(1 - 60 / 300, rel=0.1)


@pytest.mark.slow
def test_norms_fall_to_the_least():
    l1, l2 = (c.y for c in curves_of("norm-sweep"))
    assert (np.diff(l1) > 0).all()
    assert (np.diff(l2) < 0).all()
    assert 0 < l1[0] < 0.01
    assert 0 < l2[-1] < 1e-6


def test_a_level_set_that_does_not_close_is_an_error():
    with pytest.raises(NumericalError, match="does not close"):
        level_set(lambda b: b[..., 0] ** 2, 17)


def test_tables_hold_the_data():
    found = shown("implicit-explicit")
    record = json.loads(to_json(find("implicit-explicit"), found))
    assert (record["format"], record["version"]) == ("regderive-figure", 1)
    assert record["kind"] == "profile"
    assert [c["values"]["alpha"] for c in record["curves"]] == ["0.01", "0.2", "1"] * 2
    assert {c["quantity"] for c in record["curves"][3:]} == {"R"}
    assert record["curves"][0]["outputs"] == ["p**2 - m**2"]
    assert record["curves"][3]["y"] == found[0].series[3].y.tolist()
    header, *rows = to_csv(found).splitlines()
    assert header == "label,quantity,alpha,x,y"
    assert len(rows) == 6 * 41
    surfaces = shown("neuron-levels")
    record = json.loads(to_json(find("neuron-levels"), surfaces))
    assert record["surfaces"][0]["value"] == surfaces[0].value.tolist()
    header, *rows = to_csv(surfaces).splitlines()
    assert header == "label,quantity,alpha,s,x,y,value"
    assert len(rows) == 8 * 21**2


def test_without_matplotlib_there_are_still_numbers(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = refusal_of("figure", "implicit-explicit", "-o", str(tmp_path / "x.png"))
    assert "regderive[plot]" in line
    assert not list(tmp_path.iterdir())
    done = run("figure", "implicit-explicit", "--csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("label,quantity,alpha,x,y\n")


def test_command_lists():
    done = run("figure")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[::2] == IDS
    assert all(line.startswith("  ") and len(line) <= 80 for line in lines[1::2])


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("name", "lines"),
    [("diagonal-balls", 6), ("neuron-levels", 1), ("univariate-scaled-errors", 6)],
)
def test_each_kind_is_drawn(name, lines, tmp_path):
    pytest.importorskip("matplotlib")
    panels = shown(name)
    figure = arranged(panels, find(name).title)
    assert [len(panel.ax_.lines) for panel in panels] == [lines] * len(panels)
    save(figure, tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_drawing_from_the_command_line(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "figure.pdf"
    done = run("figure", "implicit-explicit", "-o", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "Woodworth et al. (2020)" in done.stdout
    assert path.read_bytes().startswith(b"%PDF")


def test_a_format_is_refused_before_anything_is_derived():
    pytest.importorskip("matplotlib")
    line = refusal_of("figure", "implicit-explicit", "-o", "figure.doc")
    assert "must end in .png, .pdf, .svg" in line


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
