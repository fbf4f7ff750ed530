"""Text, LaTeX and JSON: golden outputs, widths, what is said of records and what is not."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from derive import (
    Parameterization,
    compare,
    derive,
    explicit_counterpart,
    margins,
    perturb,
    regimes,
)
from derive.catalogue.library import derive_entry, find
from derive.inverse.parameterize import parameterize
from derive.limits.limit import with_scale
from derive.potential.piece import trimmed
from derive.render.page.printer import as_latex
from derive.render.sections import form_lines
from derive.render.text import text_lines, unmark, wrap
from derive.roads.published import Ansatz
from numerics import saddle_path
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


def of(outputs, start=None, **options):
    return derive_once(outputs.split(", "), start, **options)


def explicit(F, start=None, **options):
    return explicit_counterpart(Parameterization.parse([F], start, **options))


def limits(F, start=None, positive=()):
    p = Parameterization.parse(F.split(", "), start, positive)
    return regimes(derive_once(p if start else with_scale(p, "alpha")), "alpha")


EXPONENTIATED = {"mirror": "p*log(p) + m*log(m)"}
SHARED = {"K": "D*alpha", "g": "D*alpha"}
GROWN = {"rates": {"u": "1/v", "v": "1/u", "w": "1/w"}}
TWICE = "p**2 - m**2, 2*p**2 - 2*m**2"
ROWS = [
    # Our letters make way for names.
    (lambda: of("s*K, s*g"), "latex", [r"\tilde{K} = J J^{\mathsf T}", r"g(0) = g_{0}"], "\ue000"),
    (lambda: of("s*K, s*g"), "latex", [r"\nabla \tilde{K}_{21}", r"\tilde{g} = s"], ""),
    (lambda: explicit("u*v", dict.fromkeys("uv", "b")), "text",
     ["R = b**2*r(b_), b_ = beta/b**2, where b != 0"], ""),
    (lambda: explicit("u*v", dict.fromkeys("uv", "r")), "text",
     ["R = r**2*r_(b), b = beta/r**2, where r != 0"], ""),
    (lambda: limits("K*g", SHARED, ["alpha", "D"]), "text",
     ["K_(w_0) = 2*D**2*alpha**2", "F(c w) = c^D_ F(w) with D_ = 2"], ""),
    (lambda: parameterize("beta**2/(2*Q)", positive=["Q"]), "text",
     ["Q_ = beta**2/(2*Q)", "Q_'' = 1/Q "], ""),
    (lambda: perturb(of("lam*u"), "momentum"), "latex",
     [r"\mathrm{lam}(0)", r", \end{align*} drift here by ", r"\varepsilon"], ""),
    (lambda: perturb(of("G*v", vectors=["v"]), "step"), "text", ["v = (v1, v2) in the plane"], ""),
    (lambda: explicit("a*u", {"u": 0}, vectors=["u"]), "text", ["|u|"], "norm_u"),
    # Exponents, signs and conditions.
    (lambda: margins(of("u*v", steepest="3")), "text", ["sum_k |w_k|^3 "], ""),
    (lambda: margins(of("u*v", steepest="4/3")), "text", ["sum_k |w_k|^(4/3) "], ""),
    (lambda: margins(of("u*v", steepest="oo")), "text",
     ["r_u = 1/v, r_v = 1/u, where u > 0, v > 0"], ""),
    (lambda: of("u1*log(a*b), u2*log(a*b)"), "text",
     ["log(abs(a)) + log(abs(b)) keeps its sign along the flow"], "Abs("),
    (lambda: of("a**2 + a"), "text", ["assuming 2*a_0 + 1 != 0"], ""),
    (lambda: of("a**2 + a"), "latex", [r"Assume that $2 a_{0} + 1 \neq 0$."], ""),
    (lambda: of("a**2 + a", {"a": "1"}), "text", ["Q"], "assuming"),
    (lambda: of("g**2*u", vectors=["u"]), "text", ["g_0 != 0"], ""),
    (lambda: of("u*v + w**3", **GROWN), "text", ["with Max(-u_0, -v_0) < z < infinity"], ""),
    # Proofs, and what is not known.
    (lambda: derive_entry(find("symmetric-factorization")), "latex",
     [r"20 & 10 & 0 \\ 10 & 15 & 10 \\ 0 & 10 & 40", "$H_{1} = 0$ and $H_{2} = 1$",
      "the left side is $0$, and $B_{123} = 20$"], ""),
    (lambda: derive_entry(find("multi-neuron-vanishing")), "latex",
     [r"\nabla K_{11}\rangle$ is needed"], ", times"),
    (lambda: derive(["u*v + w**2", "u*w"], timeout=0), "latex",
     ["the number of independent ones is at most 1."], "No function of the weights"),
    (lambda: of("a*tanh(b*c)"), "latex",
     [r"\cite{du2018}: its gradient is orthogonal to all $\nabla F_{j}$, by expansion.",
      r"K = \frac{a^{2} b^{2}}{\cosh^{4}(b c)} + ", r"{\cosh^{4}(b c)} + \tanh^{2}(b c)"], ""),
    (lambda: of("sinh(u)*sinh(v)"), "text",
     ["delta = cosh(v)/cosh(u)", "delta = cosh(v_0)/cosh(u_0)",
      "K = sinh(u)**2*cosh(v)**2 + sinh(v)**2*cosh(u)**2"], "exp(u"),
    (lambda: regimes(derive_entry(find("convolution-2")).parameterization), "latex",
     [r"expanded exactly at fixed $\beta$. For fixed", r"= \int_{0}^{t} \lambda \,\mathrm{d}s$"],
     "0 = 0"),
    (lambda: perturb(derive_once(["a*u"], vectors=["u"]), by="decay"), "text",
     ["Q = 2*A**(3/2)/3 - <u_0, beta>*exp(-kappa) - sqrt(A)*delta A = delta/2 +",
      "delta = (a_0**2 - |u_0|**2)*exp(-2*kappa)"], ""),
    (lambda: perturb(derive_entry(find("convolution-2")), by="decay"), "text",
     ["/sqrt(k1))/4", "x1 = beta1 + beta2", "k2 = (u0_0 - u1_0 - v0_0 + v1_0)**2*"], "/(abs("),
    (lambda: margins(derive_once(["p**2 - m**2"])), "text",
     [">= <x_i, beta(t)> for all i", "s_i(t) = int_0^t a_i ds"], "g a_i"),
    (lambda: regimes(derive_once(["a*u"], vectors=["u"]).parameterization), "latex",
     [r"\lVert u_{0} \rVert"], r"\mathrm{norm}"),
    (lambda: compare({x: derive_entry(find(x)) for x in ("linear-neuron", "tied-pair")}), "latex",
     [r"\[ \beta = a u . \]", r"horizon of $Q$ & $\ell_{2}$ & $\ell_{1}$"], r"\[ s = a"),
    (lambda: derive_entry(find("symmetric-factorization-general")), "latex",
     [r"\paragraph{Is $K$ a function of $\beta$?} $K"], "?."),
    (lambda: saddle_path(derive_once(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}),
                         [["1", "0", "0"], ["0", "1", "2"]], ["3", "1"]), "latex",
     [r"tends to the vectors below \cite{pesme2023},", r"$1/4$ & $(3, 0, 1/2)$"], r"4}$ &"),
    (lambda: regimes(of("sinh(u)*sinh(v)").parameterization), "text",
     ["beta(0) = sinh(alpha*u_0)*sinh(alpha*v_0)", "K(w_0) = sinh(alpha*u_0)**2*cosh("], "exp(2*"),
    (lambda: explicit("u*v - x*z"), "text",
     ["R is a root r of the polynomial below: the smallest real root, for almost all beta and",
      "U V^T is the matrix B = [beta] of beta; by", "or grad Q = 2 tau, the coefficient of tau^2 "
      "in beta is 30 for R and 20 for Q, at u_0 = 4", "39/4 "], ""),
    (lambda: derive_entry(find("matrix-factorization")), "latex",
     ["$H_{1} = 29/17$ and $H_{2} = 45/34$"], r"$- \frac"),
    (lambda: of("p - m", **EXPONENTIATED), "latex",
     [r"\langle \nabla \delta, \nabla F\rangle = m \cdot p - p \cdot m = 0"], ""),
    (lambda: limits("c*b, c*a*b"), "text", ["UNDECIDED"], "part of the language"),
    (lambda: of("a*b, b*c, c*a", {"a": "1", "b": "0", "c": "1"}), "text",  # K is singular there
     ["left - right = 1 at a = 1, b = 0, c = 1", "H1 = a/b"], ""),
    (lambda: of("a*b, b*c, c*a", {"a": "1", "b": "0", "c": "1"}), "html", ["REFUTED"], ""),
    # The form that was asked for.
    (lambda: derive(["a*u1", "a*u2"], ansatz=Ansatz.radial()), "latex",
     ["Ansatz $q(\\lvert \\beta \\rvert) + z^{\\mathsf T} \\beta$), is the form"], ""),
    (lambda: derive(["a*u1", "a*u2"], ansatz=Ansatz.radial()), "text",
     ["Q has the form of the Ansatz"], ""),
    (lambda: derive(["a*u1", "a*u2"], ansatz=Ansatz.separable()), "text",
     ["is not the form of any solution"], ""),
    # Perturbed flows.
    (lambda: perturb(of("p**2 - m**2"), "decay", penalty="3"), "text", ["no law moves"],
     "only the laws move"),
    (lambda: perturb(of("p**2, q*r"), "decay, momentum"), "text",
     ["the drifts of c, y1, y2 are functions of laws, and of velocities"], ""),
    (lambda: perturb(of(TWICE), "noise"), "text", ["X below is X M"], ""),
    (lambda: perturb(of(TWICE), "noise"), "latex", ["$X$ below is $X M$"], ""),
]  # fmt: skip


@pytest.mark.parametrize(("make", "form", "said", "absent"), ROWS, ids=range(len(ROWS)))
def test_it_is_said_in_words(make, form, said, absent):
    page = " ".join(getattr(make(), f"to_{form}")().split())
    assert [words for words in said if words not in page] == []
    assert not absent or absent not in page


OTHER = "zz"
"""What makes a name that is no letter of ours, and is sorted as the name is."""
SHAPES = {
    "{0}*{1}": ("K R", "Q rho", "y1 X1", "T N", "beta delta", "w s", "F J", "dQ X", "y d", "k A"),
    "{0}**2 {0}*{1}": ("H omega", "K21 F1", "grad K11", "eta V12", "K c1"),
    "{0}*{1} {0}*{2}": ("s K g", "R y1 Q", "z g w", "A beta1 delta"),
    "{0}**3 - {1}**3": ("mu z",),
}
CASES = [(shape, names.split()) for shape, rows in SHAPES.items() for names in rows]


def pages(shape, names):
    for n in (names, [name + OTHER for name in names]):
        outputs = [output.format(*n) for output in re.split(r"(?<=[}23]) (?={)", shape)]
        text = derive_once(outputs).to_text(width=1000)
        yield re.sub(r"Our letters make way .*\n\n", "", text)


def count(line, names):
    """Return how often each name, and its start symbol, is in a line."""
    words = Counter(re.findall(r"(?<!\w)[A-Za-z]\w*", line))
    return [(words[name], words[f"{name}_0"]) for name in names]


@pytest.mark.every(8)
@pytest.mark.parametrize(("shape", "names"), CASES, ids=lambda x: "-".join(x).replace(" ", "_"))
def test_a_token_has_one_meaning_in_a_line(shape, names):
    """A name stands exactly where a name that is no letter of ours does in its place."""
    page, other = (written.splitlines() for written in pages(shape, names))
    assert len(page) == len(other)
    for line, plain in zip(page, other, strict=True):
        assert count(line, names) == count(plain, [name + OTHER for name in names]), plain


def test_a_form_without_its_gradient_keeps_what_it_refers_to():
    """A definition is kept for what is printed, not for how its line begins."""
    d = derive_once(["a*u", "a*v"])
    (piece,) = d.potential.pieces
    lines = list(text_lines(form_lines(replace(piece, gradient=()), "Q")))
    assert any(unmark(line).startswith("delta = a_0**2") for line in lines)
    assert not any(line.startswith("dQ") for line in lines)
    bare = trimmed(replace(piece, value=piece.betas[0], gradient=(), assumptions=()))
    assert bare.roots == bare.constants == ()
