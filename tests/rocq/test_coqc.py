"""Files as Rocq reads them: accepted, on no other axioms, within bounds; broken ones refused.

``pytest -m "rocq and not slow"`` is a selection, ``pytest -m rocq`` the whole table.
"""

import json
import random
import shutil
import subprocess
from dataclasses import replace

import pytest
import sympy

from derive import NumericalError
from derive.certificate.checking import check
from derive.certificate.checking.text import Rejected
from tests.rocq.files import (
    AXIOMS,
    CATALOGUE,
    LIMIT,
    MODELS,
    catalogued,
    compiled,
    coqc,
    everything,
    model,
    mutants,
)

pytestmark = pytest.mark.rocq

SOME = (
    *("tied-pair", "deep-diagonal-3", "tensor-net-3"),
    *("symmetric-factorization-commuting", "linear-neuron"),
)
"""Q explicit in beta, along a curve, of the root of a cubic, of two outputs, of a vector."""


def assert_accepted(folder, name, text):
    done = compiled(folder, name.replace(" ", "_").replace("-", "_"), text)
    assert done.accepted, done.text
    assert done.axioms == AXIOMS
    assert done.seconds <= LIMIT
    return done


@pytest.mark.parametrize("name", SOME)
def test_a_theorem_is_accepted(folder, name):
    assert_accepted(folder, name, catalogued(name).to_code("rocq"))


def test_a_theorem_on_outputs_that_q_couples_is_accepted(folder):
    assert_accepted(folder, "coupled", model("line and product").to_code("rocq"))


def refused(folder, text, number):
    """Break a file in some places; return those that are accepted all the same."""
    broken = [*mutants(text)]
    chosen = random.Random(1).sample(broken, min(number, len(broken)))
    return [what for what, whole in chosen if compiled(folder, "mutant", whole).accepted]


@pytest.mark.parametrize("name", ["tied-pair", "deep-diagonal-3"])
def test_broken_files_are_refused(folder, name):
    assert refused(folder, catalogued(name).to_code("rocq"), 5) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", CATALOGUE)
def test_the_catalogue_is_accepted_by_both(folder, name):
    """Where there are both proofs, as the record says, Rocq and the checker agree."""
    d = catalogued(name)
    record = json.loads(d.to_json(seconds=60))
    assert record["proofs"] == ["certificate", "rocq"]
    check.check(record)
    assert_accepted(folder, name, d.to_code("rocq"))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_other_models_are_accepted(folder, name):
    assert_accepted(folder, name, model(name).to_code("rocq"))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CATALOGUE, *MODELS])
def test_ten_mutants_of_each_are_refused(folder, name):
    d = catalogued(name) if name in CATALOGUE else model(name)
    assert refused(folder, d.to_code("rocq"), 15) == []


@pytest.mark.slow
def test_the_catalogue_is_in_scope_or_says_why():
    offered, reasons = set(), {}
    for name, d in everything().items():
        try:
            d.to_code("rocq")
            offered.add(name)
        except NumericalError as error:
            reasons[name] = str(error)
    assert offered == {*(f"catalogue {n}" for n in CATALOGUE), *MODELS}
    assert all(why and "\n" not in why for why in reasons.values())


def test_a_forged_q_is_refused_by_both(folder):
    """Q and its slope say alike what is false: neither Rocq nor the checker believes it."""
    d = catalogued("tied-pair")
    (piece,) = d.potential.pieces
    (beta,) = piece.betas
    forged = replace(piece, value=piece.value + beta**2, gradient=(piece.gradient[0] + 2 * beta,))
    false = replace(d, potential=replace(d.potential, pieces=(forged,)))
    assert not compiled(folder, "forged", false.to_code("rocq")).accepted
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
    command = [checker, "-silent", "-o", "-Q", ".", "", "Mirror"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
