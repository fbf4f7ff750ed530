"""Files as Rocq reads them: accepted, on no other axioms, within bounds; broken ones refused.

``pytest -m "rocq and not slow"`` is a selection, ``pytest -m rocq`` the whole table.
"""

import json
import random
import re
import shutil
import subprocess
from dataclasses import replace

import pytest
import sympy

from derive import NumericalError
from derive.certificate.checking import check
from derive.certificate.checking.text import Rejected
from tests.published import derive_once
from tests.rocq.files import (
    AXIOMS,
    CATALOGUE,
    LIMIT,
    MODELS,
    REALS,
    REFUTED,
    SHARES,
    VECTORS,
    WITHOUT,
    compiled,
    coqc,
    derivation,
    everything,
    mutants,
)

pytestmark = pytest.mark.rocq

SOME = (
    *("tied-pair", "deep-diagonal-3", "tensor-net-3", "convolution-2", "linear-neuron"),
    *("line and product", "number", "tied fractions", "proportion", "tied at one rate", "letter"),
    "tied with an offset",
    *("negative number", "reciprocal", "hyperbola", "weight-normalization", "divided by a square"),
)
"""Q explicit in beta, along a curve, of a root, of two outputs, of a vector; starts in numbers."""


def every(names, chosen):
    """Return names, those that are not chosen for the whole table alone."""
    return [pytest.param(x, marks=[pytest.mark.slow] * (x not in chosen)) for x in names]


def assert_accepted(folder, name, text, axioms=AXIOMS):
    done = compiled(folder, name.replace(" ", "_").replace("-", "_"), text)
    assert done.accepted, done.text
    assert done.axioms == axioms
    assert done.seconds <= LIMIT
    return done


@pytest.mark.parametrize("name", every([*CATALOGUE, *MODELS, *VECTORS], SOME))
def test_a_theorem_is_accepted(folder, name):
    assert_accepted(folder, name, derivation(name).to_code("rocq"))


@pytest.mark.slow
@pytest.mark.parametrize("name", CATALOGUE)
def test_the_checker_accepts_the_catalogue_too(name):
    record = json.loads(derivation(name).to_json(seconds=60))
    assert record["proofs"] == ["certificate", "rocq"]
    check.check(record)


NOT_VACUOUS = """From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Require Import Mirror.
Open Scope R_scope.
Lemma linear_has_one : ~ no_potential 1 1 (fun w _ => w 0%nat) (fun _ => 0).
Proof.
  intros N. apply (N (fun _ b => b 0%nat) (fun _ _ _ => 1) (fun _ _ _ => 0) (fun _ => 1)
    (fun _ => 0) 1); try lra.
  - intros b i _ _ c v _ D. evar_last; [apply (D 0%nat); lia|]. unfold dot; simpl. as_R; ring.
  - intros; reflexivity.
  - intros i j _ _ c v _ D. evar_last; [apply @is_derive_const|]. unfold dot; simpl. as_R; ring.
  - intros; split; reflexivity.
  - intros c v _ D. evar_last; [apply @is_derive_const|]. unfold dot; simpl. as_R; ring.
  - intros w a c i _ ha hi [_ V]. destruct (V 0%nat ltac:(lia)) as [l [P D]].
    assert (i = 0%nat) by lia. assert (a = 0%nat) by lia. subst.
    replace (1 * kron 0 0) with l; [exact D|]. unfold kron; simpl.
    apply is_derive_unique in P. rewrite <- P, Rmult_1_r.
    apply is_derive_unique. unfold upd; simpl. auto_derive; [exact I|reflexivity].
Qed.
Print Assumptions linear_has_one.
"""


EMPTY = """From Coq Require Import Reals.
Require Import Mirror.
Open Scope R_scope.
Lemma not_on_nothing d Q beta lam : ~ regularizes d (fun _ => False) Q beta lam.
Proof. intros R. destruct (mirror_law _ _ _ _ _ R) as [I _]. exact (I 0 (Rle_refl 0)). Qed.
"""


def test_where_q_lives_is_not_nothing(folder):
    """What is claimed says that beta stays there, so an empty set would not do."""
    done = compiled(folder, "empty", EMPTY)
    assert done.accepted, done.text


def test_that_there_is_no_potential_can_be_false(folder):
    assert_accepted(folder, "sanity", NOT_VACUOUS)


@pytest.mark.parametrize("name", every(REFUTED, ["line and sum"]))
def test_refutations_are_accepted_and_ten_mutants_refused(folder, name):
    text = derive_once(REFUTED[name]).to_code("rocq")
    assert_accepted(folder, name, text, REALS)
    assert refused(folder, text, 12) == []


@pytest.mark.parametrize("outputs", [["a", "a**2 - b**2"], ["a*b", "a*b*c"]])
def test_where_convexity_has_no_certificate_the_theorem_is_without_minimality(folder, outputs):
    d = derive_once(outputs)
    text = d.to_code("rocq")
    assert "(* Without minimality: " in text
    assert "  follows_mirror 2 (dom" in text.partition("Theorem model")[2]
    assert json.loads(d.to_json(seconds=60))["proofs"] == ["certificate"]
    assert_accepted(folder, "mirrored", text)


def refused(folder, text, number):
    """Break a file in some places; return those that are accepted all the same."""
    broken = [*mutants(text)]
    chosen = random.Random(1).sample(broken, min(number, len(broken)))
    return [what for what, whole in chosen if compiled(folder, "mutant", whole).accepted]


@pytest.mark.parametrize(
    "name", every([*CATALOGUE, *MODELS, *VECTORS], ["tied-pair", "divided by a square"])
)
def test_ten_mutants_of_each_are_refused(folder, name):
    assert refused(folder, derivation(name).to_code("rocq"), 15) == []


@pytest.mark.parametrize("text", every(SHARES, ["exp(v)/sum(exp(v))", "v**p/sum(v**p)"]))
def test_normalised_outputs_have_a_theorem_for_every_n(folder, text):
    """Of d + 1 entries and d outputs; broken ones are refused, and so is another f."""
    file = derive_once(text, each=["v"]).to_code("rocq")
    assert_accepted(folder, "shares", file)
    assert refused(folder, file, 12) == []
    for of, other in (("Rpower (w i)", "Rpower (w k)"), ("exp (w i)", "2 + exp (w i)")):
        assert of not in file or not compiled(folder, "other", file.replace(of, other)).accepted


@pytest.mark.slow
def test_the_catalogue_is_in_scope_or_says_why():
    offered, reasons = set(), {}
    for name, d in everything().items():
        try:
            d.to_code("rocq")
            offered.add(name)
        except NumericalError as error:
            reasons[name] = str(error)
    assert offered == {*CATALOGUE, *WITHOUT, *MODELS, *VECTORS}
    assert all(why and "\n" not in why for why in reasons.values())


def test_a_forged_q_is_refused_by_both(folder):
    """Q and its slope say alike what is false: no file is written, nor one by hand accepted."""
    d = derivation("tied-pair")
    text = d.to_code("rocq")
    for name, more in (("q", "x ^ 2"), ("mu", "2 * x")):
        formula = re.search(rf"^Definition {name} .*? := (.*)\.$", text, re.MULTILINE)[1]
        text = text.replace(formula, f"{formula} + {more}")
    assert not compiled(folder, "forged", text).accepted
    (piece,) = d.potential.pieces
    (beta,) = piece.betas
    forged = replace(piece, value=piece.value + beta**2, gradient=(piece.gradient[0] + 2 * beta,))
    false = replace(d, potential=replace(d.potential, pieces=(forged,)))
    with pytest.raises(NumericalError, match="moves with"):
        false.to_code("rocq")
    record = json.loads(d.to_json(seconds=60))
    check.check(record)
    said = record["potential"]["pieces"][0]
    said["Q"], said["gradient"] = f"{said['Q']} + beta**2", [f"{said['gradient'][0]} + 2*beta"]
    with pytest.raises(Rejected):
        check.check(record)
    assert sympy.diff(forged.value - piece.value, beta) == 2 * beta


@pytest.mark.slow
def test_the_kernel_checks_the_library_again(folder):
    checker = shutil.which("coqchk")
    if checker is None or not coqc():
        pytest.skip("coqchk is not installed")
    command = [checker, "-silent", "-o", "-Q", ".", "", "Mirror", "Radial"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
