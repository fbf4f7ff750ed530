"""The audit finds what is wrong, and only that: every answer against forms known to be right."""

import json

import pytest

from derive.audit import Outcome, audit_entry
from derive.audit.kinds import KINDS
from derive.audit.report import escaped, render_json, render_latex, render_text
from derive.audit.run import compare_printed
from derive.audit.subject import Subject
from derive.catalogue import Printed, entries, find
from derive.catalogue.model import derive_entry

AGREES, UP_TO, MISPRINT, OPEN = (o.value for o in Outcome)
DEEP = ("deep-diagonal", "deep-diagonal-3", "deep-diagonal-4", "deep-diagonal-5")

# What is known to be misprinted; all else agrees or is not checked.
MISPRINTS = {
    *((model, place) for model in DEEP for place in (
        "Srebro's slides, Deep diagonal linear net: beta(t), z = X^T int r",
        "Srebro's slides, beta(inf) = alpha^D h_D(X^T s) with h_D as printed there",
        "Srebro's slides, R_alpha(beta) -> |beta|_D as alpha -> 0",
        "Srebro's slides, with logistic loss: |beta|_(D/2)",
    )),
    (
        "tied-pair",
        "Srebro's slides, beta(inf) = alpha^2 (e^(-X^T s) - e^(X^T s)) = 2 alpha^2 sinh X^T s",
    ),
    ("symmetric-factorization-commuting", "Srebro's slides, D_Psi(beta || a I)"),
    (
        "symmetric-factorization-commuting",
        "Gunasekar's slides, Commutative X_i: W(t) = e^(X*(s)) W(0) e^(-X*(s))",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def audits():
    return [audit for entry in entries() for audit in audit_entry(entry)]


@pytest.fixture(scope="module")
def subjects():
    known = {}

    def subject(name):
        if name not in known:
            known[name] = Subject(derive_entry(find(name)))
        return known[name]

    return subject


def test_the_misprints_are_those_that_are_known(audits):
    found = {(a.model, a.printed.place) for a in audits if a.finding.outcome is Outcome.MISPRINT}
    assert found == MISPRINTS


def test_every_misprint_has_the_derived_form_and_a_point_with_both_values(audits):
    for audit in audits:
        if audit.finding.outcome is Outcome.MISPRINT:
            assert audit.finding.derived
            assert audit.finding.witnesses
            assert all(w.printed != w.derived for w in audit.finding.witnesses)


def test_what_is_not_checked_says_why_and_is_of_a_kind_that_waits(audits):
    waiting = {"limit", "rate", "R_alpha"}
    for audit in audits:
        if audit.finding.outcome is Outcome.NOT_CHECKED:
            assert audit.finding.reason
            one_frequency = audit.model == "convolution-frequency"
            assert audit.printed.kind in waiting or one_frequency


def test_differences_are_named(audits):
    for audit in audits:
        assert bool(audit.finding.up_to) == (audit.finding.outcome is Outcome.UP_TO)
        assert audit.printed.kind in KINDS


def test_known_factors_are_found(audits):
    named = {(a.model, a.printed.kind, text) for a in audits for text in a.finding.up_to}
    for expected in (
        ("linear-neuron", "Q", "scale: printed = 3/2 * derived"),
        ("leaky-relu-neuron", "Q", "scale: printed = 3/2 * derived"),
        ("tied-pair", "Q", "scale: printed = 4/alpha**2 * derived"),
        ("tied-pair", "path", "the sign of the dual variable"),
        (
            "tied-pair",
            "K",
            "scale: printed = 1/4 * derived (loss convention, the unit of time)",
        ),
        ("tied-pair", "K at the start", "scale: printed = 1/(2*alpha**2) * derived"),
    ):
        assert expected in named


DELTA = (("delta", "a**2 - norm_u**2"),)
q = "(s**2 - delta/2*(delta/2 + sqrt(s**2 + delta**2/4)))*sqrt(sqrt(s**2 + delta**2/4) - delta/2)/s"
z = "-3/2*sqrt(sqrt(s_0**2 + delta**2/4) - delta/2)"
SHAPE = (("shape", "(a - norm_u)/(a + norm_u)"),)
K = (("k", "D*(D - 2)*alpha**(D - 2)"),)
ENTROPY = "beta*asinh(beta/(2*alpha**2)) - sqrt(beta**2 + 4*alpha**4)"
DIVERGENCE = "beta1*(log(beta1/alpha**2) - 1) + beta2*(log(beta2/alpha**2) - 1)"
COMMUTING, TIED = "symmetric-factorization-commuting", "tied-pair"

CONTROLS = [
    (TIED, "Q", ENTROPY, (), UP_TO),
    (TIED, "Q", f"-({ENTROPY})", (), MISPRINT),
    (TIED, "Q", f"{ENTROPY} + beta", (), MISPRINT),
    (TIED, "mirror potential", f"{ENTROPY} + beta", (), UP_TO),
    (TIED, "Q", ENTROPY.replace("2*alpha**2", "3*alpha**2"), (), MISPRINT),
    (TIED, "Q", "beta", (), MISPRINT),
    (TIED, "Q", "gamma*beta**2", (), OPEN),
    (TIED, "grad Q", "asinh(beta/(2*alpha**2))/4", (), AGREES),
    (TIED, "grad Q", "asinh(beta/(2*alpha**2)) + 1", (), MISPRINT),
    (TIED, "grad Q", "asinh(sqrt(beta**2)/(2*alpha**2))", (), MISPRINT),
    (TIED, "grad Q", "log(beta + sqrt(beta**2 + 4*alpha**4)) - log(2*alpha**2)", (), UP_TO),
    (TIED, "K", "4*sqrt(beta**2 + 4*alpha**4)", (), AGREES),
    (TIED, "K", "sqrt(beta**2 + 3*alpha**4)", (), MISPRINT),
    (TIED, "K", "p**2 - m**2", (), MISPRINT),
    (TIED, "rho", "1/sqrt(beta**2 + 4*alpha**4)", (), UP_TO),
    (TIED, "conserved", "p + m", (), MISPRINT),
    (TIED, "conserved", "log(p) + log(m)", (), AGREES),
    (TIED, "equation", ("p*m", "2*alpha**2"), (), MISPRINT),
    (TIED, "equation", ("p**2", "(sqrt(beta**2 + 4*alpha**4) - beta)/2"), (), MISPRINT),
    (TIED, "equation", ("sqrt(p**2)", "p"), (), AGREES),
    (TIED, "equation", ("sqrt(z**2)", "z"), (), MISPRINT),
    (TIED, "equation", ("sqrt((p - m)**2)", "p - m"), (), MISPRINT),
    (TIED, "path", "2*alpha**2*sinh(4*z)", (), AGREES),
    (TIED, "path", "2*alpha**2*tanh(z)", (), MISPRINT),
    (TIED, "path", "2*alpha**2*sinh(z + 1)", (), MISPRINT),
    (TIED, "Hessian map", "no", (), MISPRINT),
    ("symmetric-factorization", "Hessian map", "yes", (), MISPRINT),
    ("symmetric-factorization", "K", ("beta1", "beta2", "0", "beta1", "beta2", "beta3"), (),
     MISPRINT),
    ("linear-neuron", "Q", (q, z), DELTA, UP_TO),
    ("linear-neuron", "Q", (q.replace("- delta/2)", "+ delta/2)"), z), DELTA, MISPRINT),
    ("linear-neuron", "Q", (q, z.replace("3/2", "1/2")), DELTA, MISPRINT),
    ("linear-neuron", "g", "a", (), AGREES),
    ("linear-neuron", "g", "a**2", (), MISPRINT),
    ("linear-neuron", "g", "sqrt(delta/2 + sqrt(s**2 + delta**2/4))", DELTA, AGREES),
    ("linear-neuron", "rho at the start", ("1", "1 - (1 - shape)**2/(1 + shape**2)"), SHAPE,
     MISPRINT),
    (COMMUTING, "Bregman divergence", DIVERGENCE + " + 2*alpha**2", (), UP_TO),
    (COMMUTING, "Bregman divergence", DIVERGENCE, (), UP_TO),
    (COMMUTING, "Bregman divergence", f"{DIVERGENCE} + beta1", (), MISPRINT),
    (COMMUTING, "path", ("exp(z1)*beta1_0*exp(z1)", "exp(z2)*beta2_0*exp(2*z2)"), (), MISPRINT),
    ("deep-diagonal", "path", "alpha**D*((1 + k*z)**(-D/(D - 2)) - (1 - k*z)**(-D/(D - 2)))", K,
     UP_TO),
    ("deep-diagonal", "path",
     "alpha**D*alpha**D*((1 + k*z)**(-D/(D - 2)) - (1 - k*z)**(-D/(D - 2)))", K, MISPRINT),
    ("deep-diagonal", "path", "alpha**D*((1 + k*z)**(-D/(D - 1)) - (1 - k*z)**(-D/(D - 1)))", K,
     MISPRINT),
    ("deep-diagonal", "representation cost", "beta**(2/D) + 1", (), MISPRINT),
    ("deep-diagonal-3", "Q", "beta**2", (), MISPRINT),
    ("deep-neuron", "Q", "s**(4/3)", (), OPEN),
    (TIED, "a kind of its own", "beta", (), OPEN),
]  # fmt: skip


@pytest.mark.parametrize(("model", "kind", "text", "where", "outcome"), CONTROLS)
def test_controls(subjects, model, kind, text, where, outcome):
    texts = (text,) if isinstance(text, str) else text
    finding = compare_printed(subjects(model), Printed(kind, texts, "here", "nobody", where))
    assert finding.outcome.value == outcome, finding


def test_an_additive_constant_of_a_divergence_is_named(subjects):
    printed = Printed("Bregman divergence", (DIVERGENCE,), "here", "nobody")
    assert "an additive constant" in compare_printed(subjects(COMMUTING), printed).up_to


def test_the_derived_solution_has_one_prefactor_and_the_exponent_of_the_flow(audits):
    path = next(
        a.finding.derived
        for a in audits
        if a.model == "deep-diagonal-3" and a.finding.outcome is Outcome.MISPRINT
    )
    assert path == (
        "beta = alpha**3/(1 - 3*alpha*mu)**3 - alpha**3/(3*alpha*mu + 1)**3, mu = grad Q"
    )


def test_the_renderings_hold_every_answer(audits):
    record = json.loads(render_json(audits))
    assert len(record["audits"]) == len(audits) == sum(record["counts"].values())
    text = render_text(audits)
    assert all(len(line) <= 80 for line in text.splitlines() if " " in line.strip())
    assert text.count("MISPRINT  ") == len(MISPRINTS)
    assert render_latex(audits).count(r" \\") == len(audits) + 1
    assert escaped("a_b^2 {x} \\") == r"a\_b\textasciicircum{}2 \{x\} \textbackslash{}"
