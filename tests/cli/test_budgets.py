"""What is found is printed, whatever else takes too long."""

from __future__ import annotations

import json
import time

import pytest

from derive import Parameterization, derive
from derive.certificate.checking.check import NotACertificate, check_text
from derive.certificate.writing import certificate
from derive.cli import running
from derive.cli.forms import FORMS
from derive.cli.regularizer import derive_and_add
from derive.cli.running import Answer, Enter, answer_with
from derive.clock import OutOfTime
from derive.model.typed import TypedModel


def test_what_was_kept_is_the_answer_where_the_time_ends() -> None:
    def work(enter: Enter) -> Answer:
        enter.keep(Answer("first"))
        enter.keep(Answer("second", 3, "said"))
        time.sleep(60)
        return Answer("never")

    begun = time.monotonic()
    assert running.run(work, 1.5) == Answer("second", 3, "said")
    assert time.monotonic() - begun < 20


def test_nothing_is_kept_of_what_ends_in_time() -> None:
    def work(enter: Enter) -> Answer:
        enter.keep(Answer("first"))
        return Answer("last")

    assert running.run(work, 60) == Answer("last")


def test_a_certificate_that_takes_too_long_is_left_out() -> None:
    d = derive(Parameterization.parse(["u*v"]))
    told: list[tuple[str, object]] = []
    late = answer_with(d, FORMS["json"], Enter(told.append, 0))
    record = json.loads(late.result)
    whole = json.loads(d.to_json())
    for each in (record, whole):
        each["potential"]["pieces"][0].pop("assumptions")  # to which those of the proof are added
    assert record.pop("certificate_missing") in late.narration
    assert record | {"certificate": whole["certificate"]} == whole
    assert late.code == 0
    with pytest.raises(NotACertificate, match="without"):
        check_text(late.result)
    ((_, kept),) = (message for message in told if message[0] == "kept")
    assert kept == late
    in_time = answer_with(d, FORMS["json"], Enter(told.append, 60))
    assert (in_time.result, in_time.narration) == (d.to_json(), "")


def test_a_section_that_takes_too_long_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> None:
        raise OutOfTime

    d = derive(Parameterization.parse(["u*v"]))
    monkeypatch.setattr(certificate.potential, "piece", late)
    report = check_text(d.to_json())
    assert (report.verdict, report.open) == ("PROVED", ("Q of beta",))


def test_a_derivation_that_takes_too_long_is_printed_as_far_as_it_came() -> None:
    read = TypedModel(("a*u1", "a*u2")).read()
    answer = derive_and_add(read, FORMS["text"], [], Enter(lambda told: None, 0))
    assert answer.code == 3
    assert "out of time in stage: Lie structure" in answer.result
