"""Our letters and a user's names: no line has a token in both meanings."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from derive import Parameterization, margins
from derive.explicit.regularize import explicit_counterpart
from derive.inverse.parameterize import parameterize
from derive.limits.find import regimes
from derive.potential.piece import trimmed
from derive.render.plain import unmark
from derive.render.sections import form_lines
from derive.render.text import text_lines
from tests.published import derive_once

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


@pytest.mark.parametrize(
    ("start", "scaled"), [("b", "r(b_), b_ = beta/b**2"), ("r", "r_(b), b = beta/r**2")]
)
def test_explicit_costs_keep_their_letters_apart(start, scaled):
    p = Parameterization.parse(["u*v"], start={"u": start, "v": start})
    assert f"R = {start}**2*{scaled}, where {start} != 0" in explicit_counterpart(p).to_text()


def test_a_form_without_its_gradient_keeps_what_it_refers_to():
    """A definition is kept for what is printed, not for how its line begins."""
    d = derive_once(["a*u", "a*v"])
    (piece,) = d.potential.pieces
    lines = list(text_lines(form_lines(replace(piece, gradient=()), "Q")))
    assert any(unmark(line).startswith("delta = a_0**2") for line in lines)
    assert not any(line.startswith("dQ") for line in lines)
    bare = trimmed(replace(piece, value=piece.betas[0], gradient=(), assumptions=()))
    assert bare.roots == bare.constants == ()


def test_regimes_and_designs_keep_their_letters_apart():
    start = {"K": "D*alpha", "g": "D*alpha"}
    d = derive_once("K*g", start=start, positive=["alpha", "D"])
    text = regimes(d, "alpha", ["0"]).to_text()
    assert "K_(w_0) = 2*D**2*alpha**2" in text
    assert "F(c w) = c^D_ F(w) with D_ = 2" in text
    design = parameterize("beta**2/(2*Q)", positive=["Q"]).to_text()
    assert "Q_ = beta**2/(2*Q)" in design
    assert "Q_'' = 1/Q\n" in design


def test_in_latex_our_letters_have_a_tilde():
    latex = derive_once(["s*K", "s*g"]).to_latex()
    assert r"\tilde{K} = J J^{\mathsf T}" in latex
    assert r"\nabla \tilde{K}_{21}" in latex
    assert r"g(0) = g_{0}" in latex
    assert r"\tilde{g} = s" in latex
    assert "\ue000" not in latex


def test_a_condition_on_logarithms_of_absolute_values_is_told():
    d = derive_once(["u1*log(a*b)", "u2*log(a*b)"])
    text = " ".join(d.to_text().split())
    assert "log(abs(a)) + log(abs(b)) keeps its sign along the flow" in text
    assert "Abs(" not in text


@pytest.mark.parametrize(("p", "least"), [("3", "sum_k |w_k|^3 "), ("4/3", "sum_k |w_k|^(4/3) ")])
def test_an_exponent_has_brackets_where_it_is_a_quotient(p, least):
    text = " ".join(margins(derive_once("u*v", steepest=p)).to_text().split())
    assert least in text


def test_a_length_is_written_as_that_of_its_vector():
    text = explicit_counterpart(Parameterization.parse(["a*u"], {"u": 0}, vectors=["u"])).to_text()
    assert "|u|" in text
    assert "norm_u" not in text


def test_rates_by_signs_of_weights_say_which_are_positive():
    found = margins(derive_once("u*v", steepest="oo"))
    text = " ".join(found.to_text().split())
    assert "r_u = 1/v, r_v = 1/u, where u > 0, v > 0" in text
