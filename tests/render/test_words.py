"""What records say in words: a row is a record, a form, what is said there, and what is not."""

import re
from collections import Counter
from dataclasses import replace

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
from derive.render.plain import unmark
from derive.render.sections import form_lines
from derive.render.text import text_lines
from derive.roads.published import Ansatz
from numerics import saddle_path
from tests.published import derive_once


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
