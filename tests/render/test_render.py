"""Text, LaTeX and JSON: golden outputs, widths, balance, and what must never leak."""

import json
import re
from pathlib import Path

import pytest

from derive import derive
from derive.render.page.printer import as_latex
from derive.render.plain import wrap
from tests.published import MODELS, derive_once

GOLDEN = Path(__file__).parent.parent / "golden"


def published(model):
    return derive_once(model.outputs, model.start, model.positive)


def slug(model):
    return re.sub(r"[^a-z0-9]+", "-", model.name.lower()).strip("-")


@pytest.mark.every(6)
@pytest.mark.parametrize("model", MODELS, ids=slug)
@pytest.mark.parametrize("form", ["txt", "tex", "json"])
def test_golden(model, form):
    """Compare with the stored output; a change is reviewed and stored by deleting the file."""
    d = published(model)
    text = {"txt": d.to_text, "tex": d.to_latex, "json": d.to_json}[form]() + "\n"
    stored = GOLDEN / f"{slug(model)}.{form}"
    assert stored.exists(), f"store it: {stored.name} is missing\n{text}"
    assert text == stored.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a", "a"),
        ("u1", "u_{1}"),
        ("u1_0", "u_{1,0}"),
        ("beta12", r"\beta_{12}"),
        ("Gamma", r"\Gamma"),
        ("Alpha", r"\alpha"),
        ("step", r"\mathrm{step}"),
        ("input", r"\mathrm{input}"),
        ("u_plus", r"u_{\mathrm{plus}}"),
        ("a__b", r"a_{b}"),
    ],
)
def test_latex_names(name, written):
    assert as_latex(name) == written


def test_wrap_keeps_every_word_and_the_indent():
    line = "  Q = " + " + ".join(f"term{i}*x**{i}" for i in range(20))
    lines = wrap(line, 60)
    assert max(map(len, lines)) <= 60
    assert lines[0].startswith("  Q = ")
    assert all(x.startswith("      ") for x in lines[1:])
    assert " ".join(" ".join(lines).split()) == " ".join(line.split())


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("outputs", "losses", "decay"),
    [
        (("a*u1", "a*u2"), True, True),
        (("sin(w)",), True, False),
        (("u1*v1 + u2*v2", "u1*v2 + u2*v1"), True, True),
        (("u1**2*v1", "v1**2 + u1"), False, False),
    ],
)
def test_a_proved_q_says_what_it_is_under_other_losses_and_decay(outputs, losses, decay):
    """Decay shrinks the start of homogeneous F alone; without a Q nothing is said of either."""
    d = derive_once(outputs)
    text, page = d.to_text(), d.to_latex()
    assert ("every decreasing loss" in text.casefold()) == losses == ("decreasing loss" in page)
    assert ("exp(-kappa)" in text) == decay == ("weight decay $-k(t)" in page)


@pytest.fixture(scope="module")
def many_outputs():
    return derive_once("W*T(W)", arrays={"W": (4, 4)})


@pytest.mark.slow
def test_a_long_rho_is_not_expanded(many_outputs):
    """K of W W^T, 4 x 4, is short in beta; its inverse would be a page for each entry."""
    metric = many_outputs.metric
    assert metric.rho is None
    assert metric.kernel is not None
    assert derive_once(["a*u1", "a*u2", "a*u3", "a*u4"]).metric.rho is not None
    text = many_outputs.to_text()
    assert "left - right" in text
    assert len(text) < 12_000


def test_entries_of_many_outputs_can_be_told(many_outputs):
    assert "K9_10 = " in many_outputs.to_text()
    assert r"K_{9,10}" in many_outputs.to_latex()
    assert r"K_{99}" in many_outputs.to_latex()


@pytest.mark.slow
def test_a_formula_that_is_too_long_is_said_to_be():
    d = derive("(a + b + c + d)**9*u", timeout=0)
    assert "K = [too long to print]" in d.to_text()
    assert len(d.to_text()) < 3000
    entry = json.loads(d.to_json(seconds=0))["metric"]["kernel_in_weights"][0][0]
    assert len(entry) > 20_000
    assert "too long" not in derive("(a + b)**3*u").to_text()


def test_relations_are_said_of_the_weights_that_move():
    heading = "Relations among the outputs, for all weights"
    square = derive_once(["a*b", "a**2*b**2 + c*d"], start={"c": "0", "d": "0"})
    assert f"{heading} that are not left out" in square.to_text()
    assert f"{heading}\n" in derive_once(["a*b", "a**2*b**2"]).to_text()
