"""What records say in words: a row is a record, a form, what is said there, and what is not."""

import pytest

from derive import Parameterization, derive, explicit_counterpart, margins, perturb, regimes
from derive.catalogue.library import derive_entry, find
from derive.inverse.parameterize import parameterize
from derive.limits.limit import with_scale
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
     ["at most 1 independent ones exist"], "No function of the weights"),
    (lambda: of("p - m", **EXPONENTIATED), "latex",
     [r"\langle \nabla \delta, \nabla F\rangle = m \cdot p - p \cdot m = 0"], ""),
    (lambda: limits("c*b, c*a*b"), "text", ["UNDECIDED"], "part of the language"),
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
