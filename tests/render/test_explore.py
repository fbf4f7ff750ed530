"""Pages to be explored: one file, and in a browser the numbers of the package."""

import hashlib
import importlib.util
import json
import pickle
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import derive.render.explore.page as explored
from derive import NumericalError, Parameterization, copies, derive
from derive.catalogue import entries, find
from derive.catalogue.library import derive_entry
from derive.verdict import Verdict
from numerics import flow, interpolate
from numerics.margins.margin_path import loss_flow
from numerics.margins.max_margin import max_margin
from tests.cli.commands import run
from tests.published import derive_once

NODE, CHROMIUM = shutil.which("node"), shutil.which("chromium") or shutil.which("google-chrome")
OFF = "gpu quic background-networking component-update sync"
FLAGS = ["--headless", "--no-sandbox", "--no-first-run", *(f"--disable-{x}" for x in OFF.split())]
TIED = {"start": {"p": "alpha", "m": "alpha"}}
NEURON = ["a*u1", "a*u2"]
MODELS = {
    "tied pair": (["p**2-m**2"], TIED, "alpha", (0.01, 0.3, 2)),
    "cubes": (["p**3-m**3"], TIED, "alpha", (0.1, 0.5, 1.5)),
    "degree": (["p**D-m**D"], TIED, "D", (2.5, 4, 5)),
    "square": (["w**2"], {}, "w_0", (0.3, 1, 1.5)),
    "product": (["u*v"], {}, "v_0", (-0.5, 0.25, 2)),
    "exponential": (["exp(v)"], {}, "v_0", (-0.5, 0.25, 1)),
    "sinh": (["sinh(w)"], {}, "w_0", (-1, 0.25, 1)),
    "tanh": (["tanh(w)"], {}, "w_0", (-0.5, 0.25, 0.75)),
    "neuron": (NEURON, {}, "a_0", (0.5, 1, 2)),
    "neuron with rates": (NEURON, {"rates": {"a": "eta"}}, "eta", (0.5, 1, 2)),
    "three entries": ([*NEURON, "a*u3"], {}, "u1_0", (-0.5, 0.5, 1)),
    "deep": (["a*b*u1", "a*b*u2"], {}, "u2_0", (0.25, 0.5, 1)),
    "an integral": (["w + w**5"], {}, "w_0", (-0.5, 0.25, 1)),
    "a curve in a weight": (["w*exp(w)"], {}, "w_0", (-0.5, 0.5, 1)),
    "two blocks": (["w**2", "exp(v)"], {}, "w_0", (0.5, 1, 1.5)),
}


def tied_pair():
    outputs, options, *_ = MODELS["tied pair"]
    return derive_once(outputs, **options)


MORE = {
    "linear": (["w"], {}, "w_0", (-0.5, 0.25, 2)),
    "untied pair": (["u*v - x*z"], {}, "u_0", (0.5, 1, 2)),
    "convolution": (["u*v + x*y", "u*y + x*v"], {}, "u_0", (0.5, 0.75, 2)),
}
NONE = ["a**2 + b**2", "a*c + b*d", "c**2 + d**2"]
D3 = "f2094bbf6141b359722c4fe454eb6c4b0f0e42cc10cc7af921fc158fceb86539"
"""The digest of d3 7.9.0, dist/d3.min.js, as it is in the registry of npm."""


def test_the_library_is_the_published_one_with_its_licence():
    folder = Path(explored.__file__).parent
    assert hashlib.sha256((folder / "d3.min.js").read_bytes()).hexdigest() == D3
    assert "Mike Bostock" in (folder / "d3.LICENSE").read_text()


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["tied pair", "neuron"])
def test_a_page_is_one_file_with_the_theorem(name):
    outputs, options, *_ = MODELS[name]
    page = derive_once(outputs, **options).explore()
    assert len(page.text.encode()) < 700_000
    assert "<h2>Theorem (Implicit regularizer" in page.text
    markup = re.sub(r"<script.*?</script>", "", page.text, flags=re.DOTALL)
    assert not re.search(r"""(src|href)=(?!"data:|"#)""", markup)
    assert "connect-src" not in page.text
    assert "default-src 'none'" in page.text
    assert page._repr_html_().startswith('<iframe sandbox="allow-scripts" srcdoc="&lt;!doctype')
    assert pickle.loads(pickle.dumps(page)) == page
    assert repr(page) == "Live(height=900)"


def test_what_is_not_drawn_is_refused_in_one_line(tmp_path):
    done = run("explore", "exp(s)*w1", "exp(s)*w2", "-o", str(tmp_path / "page.html"))
    line = "derive: no page is drawn: Q is a formula in the weights, and none in beta\n"
    assert (done.returncode, done.stderr) == (3, line)
    assert not list(tmp_path.iterdir())
    with pytest.raises(NumericalError, match="steepest descent does not"):
        derive_once(["u*v"], steepest="oo").explore()
    given = {"matrices": {"W": "n x r"}, "measurements": [[1, 0, 0, 2], [0, 1, 1, 0]]}
    with pytest.raises(NumericalError, match="measurements without common bases are given"):
        derive(Parameterization.parse(["W*T(W)"], **given)).explore()
    done = run("explore", "a*", "-o", str(tmp_path / "page.html"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    done = run("explore", "w**2", "-o", str(tmp_path / "none" / "page.html"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_page_of_no_q_begins_at_the_witness():
    d = derive_once(NONE)
    assert d.verdict is Verdict.REFUTED
    given = json.loads(re.search(r'id="given">(.*?)</script>', d.explore().text)[1])
    assert given["values"] == {"a_0": 1, "b_0": 2, "c_0": 3, "d_0": 1}
    assert given["modes"] == ["none"]


@pytest.mark.parametrize(("name", "limits"), [("tied pair", 2), ("neuron", 0)])
def test_what_the_scale_of_the_start_does_is_a_theorem_on_the_page(name, limits):
    outputs, options, *_ = MODELS[name]
    page = derive_once(outputs, **options).explore().text
    assert page.count("<h2>Theorem (Implicit regularizer") == 1
    assert page.count("<h2>Theorem (Limit") == limits
    assert page.count("Rich regime: the limit is an") == limits / 2


def test_undecided_is_not_drawn(monkeypatch):
    d = derive_once(["w**2"])
    monkeypatch.setattr(type(d), "verdict", Verdict.UNDECIDED)
    with pytest.raises(NumericalError, match="undecided"):
        explored.render_explore(d)


def wanted(d, values, x, y):
    """Return what numerics gives: the limit of the flow, the minimiser, Q there and grad Q."""
    p, single = d.parameterization, d.of_coordinates
    q = d.potential.numeric(values)
    X = [x]
    free = {n: v for n, v in values.items() if n not in p.parameters}
    fixed = {n: v for n, v in values.items() if n in p.parameters}
    beta = np.asarray(interpolate(q, X, [y]).value, float)
    if single:
        Q = sum(float(np.sum(q([b]))) for b in beta)
        slope = np.ravel([q.gradient([b]) for b in beta])
    else:
        Q, slope = float(np.sum(q(beta))), np.ravel(q.gradient(beta))
    if fixed:  # the flow of numerics knows no parameters
        return None, beta, Q, slope
    if single:
        end = flow(copies(p, 2), X, [y], start=free, digits=12).limit
    else:
        start = {w: free[f"{w}_0"] for w in p.weights}
        end = flow(p, X, [y], start=start, digits=12).limit
    return np.array(end, float), beta, Q, slope


@pytest.mark.every(3)
@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("alpha", [1e-3, 0.3, 3])
def test_flow_and_minimiser_of_the_page_are_those_of_numerics(tmp_path, alpha):
    d = tied_pair()
    (tmp_path / "flow.mjs").write_text(explored.FLOW)
    (tmp_path / "module.mjs").write_text(d.to_code("js"))
    program = f"""
    import * as one from "./module.mjs";
    import {{copies, follow, minimise, model_of}} from "./flow.mjs";
    const m = copies(model_of(one), 2), c = {{alpha: {alpha}}};
    const flow = follow(m, c, [1, -2], 1.5), least = minimise(m, c, [1, -2], 1.5);
    console.log(JSON.stringify([flow.arrived, flow.beta.at(-1), least]));
    """
    (tmp_path / "program.mjs").write_text(program)
    done = subprocess.run([NODE, "program.mjs"], cwd=tmp_path, capture_output=True, check=True)
    arrived, limit, least = json.loads(done.stdout)
    end, beta, *_ = wanted(d, {"alpha": alpha}, [1, -2], 1.5)
    assert arrived
    assert least["converged"]
    assert limit == pytest.approx(end, rel=1e-6, abs=1e-9)
    assert least["beta"] == pytest.approx(beta, rel=1e-9, abs=1e-12)


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("name", ["tied pair", "square", "exponential", "product"])
def test_q_that_is_integrated_on_the_leaf_is_q(tmp_path, name):
    outputs, options, symbol, values = MODELS[name]
    d = derive_once(outputs, **options)
    (tmp_path / "flow.mjs").write_text(explored.FLOW)
    (tmp_path / "module.mjs").write_text(d.to_code("js"))
    c = dict.fromkeys(d.parameterization.start_symbols, 1.0)
    program = f"""
    import * as one from "./module.mjs";
    import {{model_of, on_leaf}} from "./flow.mjs";
    const leaf = on_leaf(model_of(one)), found = [];
    for (const x of {json.dumps(values)}) {{
      const c = {{...{json.dumps(c)}, "{symbol}": x}}, zero = one.Q(one.F(one.start(c), c), c);
      for (const b of [-2, -0.7, 0.1, 0.8, 3, 40]) {{
        const slopes = (m) => [m.gradient([b], c)[0], m.hessian([b], c)[0][0]];
        const of = (m) => [m.inside([b], c), m.Q([b], c), ...slopes(m)];
        const [here, there] = [of(leaf), of(one)];
        found.push([here, [there[0], there[1] - zero, ...there.slice(2)]]);
      }}
    }}
    console.log(JSON.stringify(found));
    """
    (tmp_path / "program.mjs").write_text(program)
    done = subprocess.run([NODE, "program.mjs"], cwd=tmp_path, capture_output=True, check=True)
    pairs = [pair for pair in json.loads(done.stdout) if pair[1][1] is not None]
    assert len(pairs) > 8
    for leaf, formula in pairs:
        assert leaf == pytest.approx(formula, rel=1e-6, abs=1e-7)


@pytest.fixture(scope="module")
def browser():
    if importlib.util.find_spec("playwright") is None or CHROMIUM is None:
        pytest.skip("playwright, or a Chromium, is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        launched = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def show(browser, tmp_path):
    """Return what opens the page of a model; at the end, nothing was said and nothing fetched."""
    messages, pages = [], []

    def opened(d, **options):
        (tmp_path / "page.html").write_text(d.explore().text, encoding="utf-8")
        page = browser.new_page(**options)
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: messages.append(request.url))
        url = (tmp_path / "page.html").as_uri()
        page.goto(url)
        if options.get("java_script_enabled", True):
            settle(page)
        messages.remove(url)
        pages.append(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert messages == []


def settle(page):
    """Wait until two pictures of the screen have passed."""
    page.evaluate("() => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))")


def number(page, name):
    """Return the numbers that a text shows."""
    text = page.text_content(f"#{name}")
    return np.array([float(x) for x in re.findall(r"-?[\d.]+(?:e[+-]?\d+)?", text)])


def constants(page):
    """Return what the sliders are set to."""
    return page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.control[data-name]')]"
        ".map((x) => [x.dataset.name, Number(x.querySelector('[type=number]').value)]))"
    )


@pytest.mark.browser
@pytest.mark.parametrize("name", MODELS)
def test_numbers_of_the_page_are_those_of_numerics(show, name):
    outputs, options, symbol, values = MODELS[name]
    d = derive_once(outputs, **options)
    page = show(d)
    for value in values:
        page.fill(f"#number-{symbol}", str(value))
        settle(page)
        assert page.text_content("#message") == ""
        c = constants(page)
        assert c[symbol] == value
        x, y = json.loads(page.get_attribute("#line", "data-value"))
        end, beta, Q, slope = wanted(d, c, x, y)
        close = {"rel": 1e-6, "abs": 1e-6 * np.abs(beta).max()}
        if end is not None:
            assert number(page, "limit") == pytest.approx(end, **close)
        assert number(page, "minimiser") == pytest.approx(beta, **close)
        assert number(page, "limit") == pytest.approx(number(page, "minimiser"), **close)
        assert number(page, "Q") == pytest.approx([Q], rel=1e-6)
        assert number(page, "gradient") == pytest.approx(slope, rel=1e-6, abs=1e-8)
        assert float(page.text_content("#distance")) <= 1e-6 * np.abs(beta).max()


SEPARABLE = {
    "tied pair": "l1",
    "linear": "l2",
    "product": "l1",
    "neuron": "l2",
    "untied pair": "l1",
    "convolution": "dft",
}


@pytest.mark.browser
@pytest.mark.parametrize("name", SEPARABLE)
def test_on_separable_data_the_page_is_where_numerics_is(show, name):
    outputs, options, symbol, values = (MODELS | MORE)[name]
    d = derive_once(outputs, **options)
    page = show(d)
    page.select_option("#mode", "points")
    for value in values:
        page.fill(f"#number-{symbol}", str(value))
        settle(page)
        assert page.text_content("#message") == ""
        rows = json.loads(page.get_attribute("#rows", "data-value"))
        q = d.potential.numeric(constants(page))
        level = number(page, "loss")
        (beta,) = loss_flow(q, rows, level, 1e-9).value
        largest = max_margin(rows, norm=SEPARABLE[name])
        end = np.array(largest.value, float)
        for shown, value in (("direction", beta), ("towards", end)):
            unit = number(page, shown) / np.linalg.norm(number(page, shown))
            assert unit == pytest.approx(value / np.linalg.norm(value), rel=1e-6, abs=1e-7)
        margin = np.mean(np.array(largest.margin, float))  # of an interval its middle
        assert number(page, "largest") == pytest.approx([margin], rel=1e-7)
        slope = np.ravel([q.gradient([b]) for b in beta] if d.of_coordinates else q.gradient(beta))
        assert number(page, "steered") == pytest.approx(slope, rel=1e-6, abs=1e-6)
        assert number(page, "slope") == pytest.approx(slope, rel=1e-6, abs=1e-6)
        assert number(page, "unequal")[0] < 1e-6 * np.abs(slope).max()
        assert number(page, "margin")[0] <= number(page, "largest")[0] * (1 + 1e-7)


@pytest.mark.browser
def test_points_are_dragged_and_what_no_line_separates_is_said(show):
    page = show(tied_pair())
    page.select_option("#mode", "points")
    settle(page)
    before = page.get_attribute("#rows", "data-value")
    point = page.locator("#points .handle").first
    point.focus()
    page.keyboard.press("Shift+ArrowLeft")
    settle(page)
    assert page.get_attribute("#rows", "data-value") != before
    point.scroll_into_view_if_needed()
    box, half = point.bounding_box(), page.locator("#points").bounding_box()["height"] / 2
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 8, box["y"] + 1.5 * half, steps=4)
    settle(page)
    assert "No line through 0" in page.text_content("#message")
    assert not page.locator("#plane").is_visible()
    assert point.is_visible()
    page.mouse.move(box["x"] + 8, box["y"] + 8, steps=4)
    page.mouse.up()
    settle(page)
    assert page.text_content("#message") == ""
    early = page.text_content("#direction")
    page.fill("#progress", "0.2")
    settle(page)
    assert page.text_content("#direction") != early
    page.select_option("#mode", "line")
    settle(page)
    assert float(page.text_content("#distance")) < 1e-6


def test_where_q_has_no_horizon_no_points_are_offered():
    for name in ("cubes", "square", "three entries"):
        outputs, options, *_ = MODELS[name]
        assert 'id="mode"' not in derive_once(outputs, **options).explore().text, name


@pytest.mark.browser
def test_a_vector_of_every_dimension_is_drawn_in_the_plane(show):
    page = show(derive_once(["a*u"], vectors=["u"]))
    assert "It holds in every dimension" in page.inner_text("main")
    plane = derive_once(NEURON)
    for a, length in ((1, 1), (2, "0.5"), (0.5, 0.25)):
        page.fill("#number-a_0", str(a))
        page.fill("#number-norm_u_0", str(length))
        settle(page)
        x, y = json.loads(page.get_attribute("#line", "data-value"))
        values = {"a_0": a, "u1_0": length, "u2_0": 0}
        end, beta, Q, slope = wanted(plane, values, x, y)
        for name, value in (("limit", end), ("minimiser", beta), ("Q", [Q]), ("gradient", slope)):
            assert number(page, name) == pytest.approx(value, rel=1e-6, abs=1e-6), name


@pytest.mark.browser
def test_f_is_drawn_on_the_leaf(show):
    page = show(tied_pair())
    page.fill("#number-alpha", "0.5")
    settle(page)
    p, m = page.evaluate("d3.select('#curve-F').selectAll('path.curve').data()")
    (beta, plus), (_, minus) = np.transpose(p), np.transpose(m)
    assert (beta.min(), beta.max()) == pytest.approx((-2, 2), abs=1e-3)
    assert plus**2 - minus**2 == pytest.approx(beta, abs=1e-7)
    assert plus * minus == pytest.approx(0.25, abs=1e-7)


@pytest.mark.browser
@pytest.mark.parametrize("alpha", ["1", "0.01"])
def test_curves_are_where_their_numbers_are(show, alpha):
    page = show(tied_pair())
    page.fill("#number-alpha", alpha)
    settle(page)
    for name in ("Q", "gradient", "K", "F"):
        lines = page.evaluate(
            f"d3.selectAll('#curve-{name} path.curve').nodes()"
            ".map((x) => [x.__data__, x.getAttribute('d')])"
        )
        points = np.concatenate([data for data, _ in lines])
        drawn = np.concatenate([re.findall(r"[ML](.*?),([^ML]*)", d) for _, d in lines])
        for number, place in zip(points.T, drawn.astype(float).T, strict=True):
            slope, height = np.polyfit(number, place, 1)
            assert place == pytest.approx(slope * number + height, abs=0.01), name
        assert 8 <= drawn.astype(float)[:, 1].min() <= drawn.astype(float)[:, 1].max() <= 108


@pytest.mark.browser
def test_handles_are_dragged_and_moved_by_keys(show):
    page = show(tied_pair())
    before = page.get_attribute("#line", "data-value")
    box = page.locator(".handle").first.bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 40, steps=4)
    page.mouse.up()
    settle(page)
    dragged = page.get_attribute("#line", "data-value")
    assert dragged != before
    moved = page.locator(".handle").first.bounding_box()
    assert (moved["x"] - box["x"], moved["y"] - box["y"]) == pytest.approx((52, 32), abs=2)
    page.locator(".handle").nth(1).focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowUp")
    settle(page)
    assert page.get_attribute("#line", "data-value") != dragged
    assert page.evaluate("document.activeElement.classList.contains('handle')")


@pytest.mark.browser
def test_sliders_light_up_what_they_break_and_nothing_is_drawn(show):
    page = show(derive_once(NEURON))
    parts = ".picture, .numbers dl, #time"
    hidden = f"[...document.querySelectorAll('{parts}')].map((x) => getComputedStyle(x).visibility)"
    assert set(page.evaluate(hidden)) == {"visible"}
    page.fill("#slider-a_0", "-4")
    settle(page)
    assert page.locator(".bad").count() == 1
    assert "nothing is drawn" in page.text_content("#message")
    assert set(page.evaluate(hidden)) == {"hidden"}
    page.fill("#slider-a_0", "0")
    settle(page)
    assert page.input_value("#number-a_0") == "1"
    assert page.locator(".bad").count() == 0
    # From there a has to change its sign on the way to the data.
    for name, value in {"a_0": "0.05", "u1_0": "-3", "u2_0": "-3"}.items():
        page.fill(f"#number-{name}", value)
    settle(page)
    assert page.locator(".bad").count() == 1
    assert "On the way" in page.text_content("#message")
    assert set(page.evaluate(hidden)) == {"hidden"}


@pytest.mark.browser
def test_time_runs_and_stops_and_stands_where_motion_is_not_wanted(show):
    d = tied_pair()
    page = show(d)
    page.fill("#progress", "0.5")
    settle(page)
    half = json.loads(page.get_attribute("#time", "data-value"))
    page.click("#play")
    page.wait_for_timeout(300)
    page.click("#play")
    later = json.loads(page.get_attribute("#time", "data-value"))
    assert later > half
    page.wait_for_timeout(100)
    assert json.loads(page.get_attribute("#time", "data-value")) == later
    calm = show(d, reduced_motion="reduce")
    calm.fill("#progress", "0.5")
    calm.click("#play")
    assert calm.input_value("#progress") == "1"


@pytest.mark.browser
def test_two_ways_to_one_beta_end_at_different_weights(show):
    page = show(derive_once(NONE))
    assert number(page, "apart")[0] > 0.01
    assert number(page, "together")[0] < 1e-7
    assert np.abs(number(page, "first") - number(page, "second")).max() > 1e-3


@pytest.mark.browser
def test_ways_that_leave_the_domain_are_shorter_at_first(show):
    page = show(derive_once(["x*y", "x + y**2"]))
    assert page.text_content("#message") == ""
    assert float(page.input_value("#size")) < 1
    assert number(page, "together")[0] < 1e-7
    assert np.abs(number(page, "first") - number(page, "second")).max() > 1e-3
    page.fill("#size", "2")
    settle(page)
    assert "make it shorter" in page.text_content("#message")
    assert not page.locator("#plane").is_visible()


@pytest.mark.browser
def test_where_the_weights_come_back_what_steered_them_differs(show):
    page = show(derive_entry(find("convolution-two-frequencies")))
    assert number(page, "apart")[0] < 1e-7
    assert np.abs(number(page, "first") - number(page, "second")).max() > 1e-3


@pytest.mark.browser
@pytest.mark.slow
def test_all_models_of_the_catalogue_meet_their_minimiser(show):
    for entry in entries():
        page = show(derive_entry(entry))
        assert page.text_content("#message") == "", entry.id
        if page.locator("#distance").count():
            assert float(page.text_content("#distance")) < 1e-6, entry.id
        if page.locator("#mode").count():
            page.select_option("#mode", "points")
            settle(page)
            assert page.text_content("#message") == "", entry.id
            assert float(page.text_content("#unequal")) < 1e-6, entry.id
        assert len(page.content().encode()) < 700_000, entry.id
        page.close()


@pytest.mark.browser
def test_pages_fit_a_phone_and_stand_without_scripts(show):
    d = tied_pair()
    page = show(d, viewport={"width": 390, "height": 800}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    bare = show(d, java_script_enabled=False)
    assert bare.locator("h2", has_text="Theorem").first.is_visible()
    assert not bare.locator("#play").is_visible()
    if importlib.util.find_spec("matplotlib"):
        assert bare.locator("noscript img").is_visible()


@pytest.mark.browser
def test_a_notebook_shows_the_page_in_a_frame(browser, tmp_path):
    frame = derive_once(NEURON).explore()._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!doctype html><body>{frame}", encoding="utf-8")
    page, messages = browser.new_page(), []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto((tmp_path / "notebook.html").as_uri())
    inner = page.frame_locator("iframe")
    inner.locator("#plane .level.touching").wait_for(state="attached")
    assert float(inner.locator("#distance").text_content()) < 1e-6
    assert messages == []
    page.close()
