"""What is found is printed, whatever else takes too long."""

import json
import re
import time

import pytest

from derive import Derivation, Parameterization, Verdict, derive
from derive.certificate.checking.check import NotACertificate, check_text
from derive.certificate.writing import certificate
from derive.cli import recorded, running
from derive.cli.data import Margin
from derive.cli.findings import Perturb, Regimes
from derive.cli.forms import FORMS
from derive.cli.recorded import answer_with, bare_answer
from derive.cli.regularizer import Regularizer
from derive.cli.running import Answer, Enter
from derive.clock import OutOfTime
from derive.outcome import Outcome
from derive.verdict import Finding
from tests.cli import commands


def derived(outputs, enter, form=FORMS["text"]):
    return Regularizer(outputs=outputs, form=form).answer(enter)


def told_until_rendering(outputs, seconds, form=FORMS["text"]):
    """Return what is told where rendering never ends."""
    told = []

    def send(message):
        told.append(message)
        if message == ("stage", "rendering"):
            raise TimeoutError

    with pytest.raises(TimeoutError):
        derived(outputs, Enter(send, seconds), form)
    return told


@pytest.mark.parametrize(
    "command",
    [Perturb(outputs=("a*b",), by="step"), Regimes(outputs=("a*b",)), Margin(outputs=("a*b",))],
)
def test_what_needs_a_derivation_goes_on_with_as_much_as_there_is_time_for(command):
    for seconds, late in ((0.0, True), (600.0, False)):
        record = command.find(Enter(lambda message: None, seconds))
        assert (record.verdict is Verdict.UNDECIDED) == late
        assert ("out of time" in record.to_text()) == late


def test_what_was_kept_is_the_answer_where_the_time_ends():
    def work(seconds):
        def answer(enter):
            enter.keep(Answer("first"))
            enter.keep(Answer("second", 3, "said"))
            time.sleep(seconds)
            return Answer("last")

        return answer

    begun = time.monotonic()
    assert running.run(work(60), 1.5) == Answer("second", 3, "said")
    assert time.monotonic() - begun < 20
    assert running.run(work(0), 60) == Answer("last")


def test_a_certificate_that_takes_too_long_is_left_out():
    d = derive(Parameterization.parse(["w**2"]))
    text, told = d.to_json(), []
    late = answer_with(d, FORMS["json"], Enter(told.append, 0))
    record = json.loads(late.result)
    whole = json.loads(text)
    for each in (record, whole):
        each["potential"]["pieces"][0].pop("assumptions")  # to which those of the proof are added
    assert record.pop("certificate_missing") in late.narration
    assert record.pop("proofs") == ["rocq"]
    assert record | {k: whole[k] for k in ("certificate", "proofs")} == whole
    assert late.code == 0
    with pytest.raises(NotACertificate, match="without"):
        check_text(late.result)
    ((_, kept),) = (message for message in told if message[0] == "kept")
    assert kept == late
    in_time = answer_with(d, FORMS["json"], Enter(told.append, 60))
    assert (in_time.result, in_time.narration) == (text, "")


def test_a_section_that_takes_too_long_costs_no_other(monkeypatch):
    def late(*_):
        raise OutOfTime

    d = derive(Parameterization.parse(["u*v"]))
    monkeypatch.setattr(certificate._Writer, "_ends", late)
    report = check_text(d.to_json())
    assert (report.verdict, report.open) == ("PROVED", ("Q of beta",))


@pytest.mark.parametrize("form", ["text", "latex", "standalone", "html", "json", "pdf"])
@pytest.mark.parametrize(
    ("outputs", "code", "words"),
    [(("a*b + c", "a*c", "b*c*a"), 1, "no scalar warp"), (("u*v",), 0, "asinh|arsinh")],
)
def test_a_verdict_is_known_before_it_is_rendered(outputs, code, words, form):
    """Each form prints the verdict, and why, or Q."""
    told = told_until_rendering(outputs, 60, FORMS[form])
    *before, kept, last = (answer for kind, answer in told if kind == "kept")
    assert isinstance(kept, Answer)
    assert kept == last
    # that there is a Q is told before a formula of it is sought
    assert [answer.code for answer in before] == [code] * (1 - code)
    assert (kept.code, kept.narration) == (code, f"derive: {recorded.LATE}")
    assert re.search(words, kept.result)
    assert form != "json" or json.loads(kept.result)["verdict"] == ("PROVED", "REFUTED")[code]
    # what adds to a verdict is looked for after it is told
    stages = [content for kind, content in told if kind in ("stage", "kept")]
    assert stages.index(kept) < stages.index("other roads")


def test_a_check_that_was_not_done_is_no_yes():
    told = []
    Regularizer(outputs=("u*v",), check=True).answer(Enter(told.append, 60))
    for kept in (answer for kind, answer in told if kind == "kept"):
        assert isinstance(kept, Answer)
        assert kept.code == 3
        assert "what else was asked for was not done" in kept.narration


def test_no_program_is_kept_of_a_bare_verdict():
    outcome = Outcome(Parameterization.parse(["w"]), Finding(Verdict.REFUTED, "none"))
    kept = bare_answer(outcome, FORMS["jax"])
    assert (kept.result, kept.code) == ("", 1)
    assert kept.narration.startswith("No: no Q for all data")


def test_what_is_open_is_said_rendered_or_not():
    late = Enter(lambda told: None, 0)
    (kept,) = (answer for kind, answer in told_until_rendering(("u*v",), 0) if kind == "kept")
    for answer in (kept, derived(("a*u1", "a*u2"), late)):
        assert isinstance(answer, Answer)
        assert answer.code == 3
        assert "out of time in stage: proportional weights" in answer.result


def test_what_is_open_has_no_outcome():
    told = []
    assert derive("u*v", timeout=0, known=told.append).verdict is Verdict.UNDECIDED
    assert told == []


def test_a_verdict_outlives_what_comes_after_it(monkeypatch):
    real = recorded.rendered

    def endless(record, form):
        if isinstance(record, Derivation):
            time.sleep(60)
        return real(record, form)

    monkeypatch.setattr(recorded, "rendered", endless)
    done = commands.run("regularizer", "a*b + c", "a*c", "b*c*a", "--timeout", "4")
    assert done.returncode == 1
    assert done.stdout.startswith("No: no Q for all data")
    assert recorded.LATE in done.stderr
