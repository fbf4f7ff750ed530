"""Pages for a browser: their formulas are those of the LaTeX, and nothing typed is markup."""

import base64
import hashlib
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from derive.catalogue import entries, find
from derive.catalogue.audit.formula_kinds import audit_entry
from derive.catalogue.audit.report import site
from derive.catalogue.library import derive_entry
from derive.explicit.regularize import explicit_counterpart
from derive.limits.find import regimes
from derive.optimizers.optimizer import optimizers
from derive.printable import renderer
from derive.render.html import mathml
from derive.render.html.page import SEARCH
from derive.render.page.blocks import set_letters
from derive.separable.find import margins
from derive.univariate.problem import (
    read_activation,
    read_density,
    read_potential,
    variational_problem,
)
from derive.verdict import Verdict
from numerics.figures.own import portrait
from tests.cli.commands import refusal_of, run
from tests.published import derive_once

MODELS = ("tied-pair", "linear-neuron", "symmetric-factorization", "deep-diagonal", "convolution-2")
PROBLEMS = (("x**2", "relu", False), ("cosh(x)", "relu", True))
SIGNS = {
    "\u2212": "-", "\u2061": "", "\u221e": r"\infty", "\u2202": r"\partial",
    "\u2207": r"\nabla", "\u2211": r"\sum", "\u222b": r"\int", "\u2208": r"\in", "\u22c5": r"\cdot",
    "\u2192": r"\to", "\u2265": r"\ge", "\u2264": r"\le", "\u2260": r"\neq", "\u27e8": r"\langle",
    "\u00d7": r"\times", "\u27e9": r"\rangle", "\u2016": r"\Vert", "\u211d": r"\mathbbR",
    "\u02d9": "", "\u2032": "'", "\u2033": "''", "\u02dc": "", "\u2113": r"\ell",
    "\U0001d5b3": "T",
    **dict(zip("αβδλμνρτφψϕηωκεθΓΔσξγ", [rf"\{x}" for x in
     ("alpha", "beta", "delta", "lambda", "mu", "nu", "rho", "tau", "varphi", "psi", "phi", "eta",
      "omega", "kappa", "varepsilon", "theta", "Gamma", "Delta", "sigma", "xi", "gamma")],
     strict=True)),
}  # fmt: skip
NAMED = ("log", "exp", "sinh", "cosh", "sin", "cos", "min", "max", "tan", "tanh", "arctan")
PRIMES = ("'", "''")
PICTURE = "data:image/svg+xml;base64,"
SHAPES = {"mfrac": r"\frac", "msqrt": r"\sqrt"}
DROPPED = re.compile(
    r"[{}\s\u00a0]|\\[,;]|\\(left|right|[bB]igg?[lr]|q?quad|text|operatorname\*?|mathrm|mathsf|dot|tilde)"
    r"(?![a-z])"
)


def back(element):
    """Return MathML as LaTeX without brackets of groups."""
    parts, tag = [back(x) for x in element], element.tag
    if tag == "mroot":
        return rf"\sqrt[{parts[1]}]{parts[0]}"
    if tag in ("msup", "msubsup", "msub", "munder", "munderover"):
        marks = {"msup": "^", "msub": "_", "munder": "_"}.get(tag, "_^")
        scripts = zip(marks, parts[1:], strict=True)
        return parts[0] + "".join(x if x in PRIMES else mark + x for mark, x in scripts)
    text = "".join(SIGNS.get(c, c) for c in DROPPED.sub("", element.text or ""))
    named = text in NAMED
    return SHAPES.get(tag, "") + "\\" * named + text + "".join(parts)


def as_tree(latex):
    return ElementTree.fromstring(mathml.display(latex).replace("&ApplyFunction;", ""))


def bare(latex):
    same = re.sub(r"\\[lr]Vert", r"\\Vert", re.sub(r"\\[lr]vert", "|", latex))
    same = re.sub(r"\\l?dots ?", "...", same)
    return DROPPED.sub("", same.replace(r"\tfrac", r"\frac").replace(r"\ne ", r"\neq "))


class Elements(HTMLParser):
    """Collects elements, and the text outside formulas, styles and what is preformatted."""

    def __init__(self, page):
        super().__init__()
        self.found, self.words, self.inside = [], "", []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "br", "wbr"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        assert self.inside.pop() == tag

    def handle_data(self, data):
        if not {"title", "math", "style", "script", "pre", "code"}.intersection(self.inside):
            self.words += data


def assert_inert(page, scripts=()):
    """Assert that elements are closed, and that nothing runs or is fetched."""
    seen = Elements(page)
    assert not seen.inside
    for tag, attributes in seen.found:
        assert tag not in ("iframe", "object", "base", "form", "embed")
        assert not [x for x in attributes if x.startswith("on") or x == "style"]
        assert attributes.get("src", "").startswith(PICTURE if tag == "img" else "")
        assert ("src" in attributes) == (tag == "img")
        assert re.match(r"#|data:,$|[\w-]+\.html$", attributes.get("href") or "#")
    texts = {tag: re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S) for tag in ("style", "script")}
    assert tuple(texts["script"]) == tuple(scripts)
    assert sum(tag == "script" for tag, _ in seen.found) == len(scripts)
    policy = next(a["content"] for t, a in seen.found if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for text in (*texts["style"], *texts["script"]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    return seen


@pytest.mark.every(3)
@pytest.mark.parametrize("name", MODELS)
def test_formulas_are_those_of_the_latex(name, derived):
    d = derived(name)
    formulas = set_letters(renderer(type(d), "page")(d).select(), {}).formulas
    for formula in (f.replace("&", "") for f in formulas if "pmatrix" not in f):
        tree = as_tree(formula)
        assert back(tree) == bare(formula)
    page = d.to_html()
    assert page.count("<math") + page.count("<mtr>") >= len(formulas)
    assert not [math for math in re.findall("<math.*?</math>", page, re.S) if "&amp;" in math]
    assert not re.search(r"\\|\$|[{}]", assert_inert(page).words)


def test_a_sign_that_is_lost_would_be_seen():
    tree = as_tree("a + b")
    assert back(tree) == bare("a + b") != bare("a - b")


def test_primes_and_exponents_of_brackets_that_grow_stand_beside_their_bases():
    assert "<msup>" not in mathml.inline("Q''(x)")
    assert "<msub><mi>P</mi><mi>j</mi></msub><mo" in mathml.inline("P_{j}'")
    assert ")</mo><msup><mspace" in mathml.inline(r"\bigl(f(x)\bigr)^{2}")


def test_every_record_has_a_page_and_a_card(derived):
    d = derived("tied-pair")
    records = (d, regimes(d, "alpha"), margins(d), explicit_counterpart(d.parameterization))
    for record in (*records, derived("symmetric-factorization")):
        seen = assert_inert(record.to_html())
        assert ("h1", {}) in seen.found
        assert "PROVED" in seen.words or "REFUTED" in seen.words
        card = record._repr_html_()
        assert "<script" not in card
        assert "<math" in card


def records_of_other_rooms():
    """Yield the optimizers, their table, and problems of wide networks."""
    yield from (*optimizers().found, optimizers())
    for phi, sigma, scaled in PROBLEMS:
        functions = read_potential(phi), read_activation(sigma), read_density("uniform")
        yield variational_problem(*functions, scaled=scaled)


def test_records_of_other_rooms_have_pages_of_words_and_formulas():
    for record in records_of_other_rooms():
        has_words_and_formulas(record)


def has_words_and_formulas(record):
    text, seen = record.to_text(), assert_inert(record.to_html())
    assert ("math", {}) in seen.found
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"[`\\$]|\b[vV]\d_\d", text + seen.words)


def test_functions_that_have_names_are_written():
    """Those with an index too, in formulas and in the words beside them."""
    for output, name in (
        ("exp(a) + a", "<mi>Li</mi></mrow><mn>2</mn></msub>"),
        ("w*exp(s)", "erf"),
        ("a*log(a)", "Ei"),
    ):
        assert derive_once(output).to_html().count(name) > 0


@pytest.mark.every(2)
@pytest.mark.parametrize("weight", ["w" * 40, "input", "script", "catcode"])
def test_names_are_letters(weight):
    assert_inert(derive_once(f"{weight}**2").to_html())


def test_texts_of_a_catalogue_are_words(derived):
    hostile = r"</title><script>alert(1)</script> \input{x} % & $ <img src=x onerror=y>"
    entry = find("tied-pair")
    printed = replace(entry.printed[0], source=hostile, kind="Q", text=(hostile,))
    entry = replace(entry, title=hostile, assumptions="<b>", printed=(printed,))
    pages = site([(entry, derived("tied-pair"))], [])
    assert set(pages) == {"index.html", "audit.html", "tied-pair.html", "explore-tied-pair.html"}
    assert 'href="explore-tied-pair.html"' in pages["index.html"]
    assert hostile not in pages["explore-tied-pair.html"]
    assert_inert(pages["index.html"], [SEARCH])
    assert "<script" not in pages["tied-pair.html"]
    assert "<img src=x" not in pages["tied-pair.html"]


def test_of_matrices_of_every_size_one_entry_or_a_block_is_to_be_explored():
    entry = find("symmetric-factorization-commuting")
    pages = site([(entry, derive_entry(entry))], [])
    assert f'href="explore-{entry.id}.html">Explore one entry<' in pages["index.html"]
    assert "beta = w**2" in pages[f"explore-{entry.id}.html"]
    assert "the sum over all of them" in pages[f"explore-{entry.id}.html"]
    general = find("symmetric-factorization-general")
    pages = site([(general, derive_entry(general))], [])
    assert f'href="explore-{general.id}.html">Explore a small one<' in pages["index.html"]
    assert "beta1 = W11**2 + W12**2, beta2 = W11*W21" in pages[f"explore-{general.id}.html"]


@pytest.mark.slow
def test_a_site_says_what_the_audit_found(derived):
    entry = find("tied-pair")
    audits = list(audit_entry(entry))
    pages = site([(entry, derived(entry.id))], audits)
    outcome = audits[0].judgement.outcome.value
    assert all(outcome in page.upper() for name, page in pages.items() if "explore" not in name)
    assert_inert(pages["audit.html"])
    assert_inert(pages["tied-pair.html"])


@pytest.mark.every(2)
@pytest.mark.parametrize(("name", "panels"), [("tied-pair", 2), ("linear-neuron", 1)])
def test_pictures_show_q(name, panels, derived):
    pytest.importorskip("matplotlib")
    picture, _, start = portrait(derived(name))
    assert {1} <= {*start.values()} <= {1, (1, 0)}
    tree = ElementTree.fromstring(picture)
    groups = [g.get("id", "") for g in tree.iter("{http://www.w3.org/2000/svg}g")]
    assert len([x for x in groups if re.fullmatch(r"axes_\d+", x)]) == panels
    assert picture == portrait(derived(name))[0]
    assert base64.b64encode(picture).decode() in derived(name).to_html()


def test_a_page_has_no_picture_of_a_q_without_values_around_the_start():
    pytest.importorskip("matplotlib")
    outputs, start = ["(a**2 - d**2)/b", "(a**2 - d**2)/c"], {"a": "1", "d": "1", "b": "1"}
    d = derive_once(outputs, start=start | {"c": "-1"})
    assert portrait(d) is None
    assert "<img" not in d.to_html()


def test_no_picture_follows_a_flow_to_each_of_its_points():
    """Q of several outputs in the weights, or an integral, is no formula to draw at once."""
    pytest.importorskip("matplotlib")
    several = ["exp(s)*w1", "exp(s)*w2"], ["a", "b*exp(a)"], ["log(b)", "sqrt(a**2 + b**2)"]
    for outputs in several:
        d = derive_once(outputs)
        assert d.verdict is Verdict.PROVED
        assert portrait(d) is None


def test_without_matplotlib_a_page_says_what_its_picture_needs(derived, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    seen = assert_inert(derived("tied-pair").to_html())
    assert "regderive[plot]" in seen.words
    assert "img" not in dict(seen.found)


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "index.html").write_text("mine")
    assert "other files" in refusal_of("report", "-o", str(tmp_path))
    assert "a file" in refusal_of("report", "-o", str(tmp_path / "index.html"))


def test_spaces_in_formulas_need_no_styles():
    inner = r"\left(a\right)^3 b"
    for latex in (inner, rf"\left({inner}\right)^{{3/2}} c"):
        assert "style" in mathml.WRITER.convert_with_local_state(latex, displaystyle=True)
        written = mathml.display(latex)
        assert "style" not in written
        assert "mpadded" not in written
        assert written.count("<mspace") == latex.count("right")
        ElementTree.fromstring(written)


@pytest.mark.slow
def test_the_catalogue_is_a_site(tmp_path):
    for _ in range(2):
        assert run("report", "-o", str(tmp_path / "site")).returncode == 0
    pages = sorted((tmp_path / "site").iterdir())
    moving = [page for page in pages if page.name.startswith("explore-")]
    assert len(moving) > 25
    assert len(pages) == len(entries()) + 2 + len(moving)
    for page in set(pages) - {*moving}:
        scripts = [SEARCH] if page.name == "index.html" else []
        assert_inert(page.read_text(encoding="utf-8"), scripts)


def test_names_are_written_as_one_likes(derived):
    page = derived("tied-pair").to_html({"alpha": r"\sigma"})
    assert "\u03c3" in page
    assert "\u03b1" not in re.sub(r"<figcaption>.*?</figcaption>", "", page)
