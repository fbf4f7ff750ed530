"""Commands that find a record, print it in a form, and confirm it where that is asked."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from derive.cli.forms import TEXT, Form, in_brief, offer_page, rendered
from derive.cli.options import Command
from derive.cli.running import NO, UNDECIDED, YES, Answer, Enter
from derive.errors import DeriveError, InputError, NumericalError
from derive.option import option
from derive.printable import Certified

if TYPE_CHECKING:
    from derive.derivation import Derivation
    from derive.model.typed import TypedModel
    from derive.outcome import Outcome
    from numerics.confirm.regression_problem import Check

EXIT = {"PROVED": YES, "REFUTED": NO, "UNDECIDED": UNDECIDED}
"""The exit status of a verdict."""


@dataclass(frozen=True, kw_only=True)
class Recorded(Command):
    """A command that finds a record, and prints it in a form."""

    form: Form = offer_page()

    @abstractmethod
    def find(self, enter: Enter) -> Any:
        """Return the record that is asked for, which has a verdict, or refuse what is typed."""

    def complete(self, record: Any, answer: Answer, enter: Enter) -> Answer:
        """Return the answer that prints a record with what else is asked for."""
        return answer

    def answer(self, enter: Enter) -> Answer:
        """Return the record that is asked for in its form, and what else is."""
        enter("importing the algebra")
        record = self.find(enter)
        return self.complete(record, answer_with(record, self.form, enter), enter)


@dataclass(frozen=True, kw_only=True)
class Checked(Recorded):
    """One that --check confirms by numbers."""

    check: bool = option(False, "Confirm by precise flows of the weights.")

    @abstractmethod
    def confirm(self, record: Any, enter: Enter) -> Check:
        """Return what numbers say of a record."""

    def complete(self, record: Any, answer: Answer, enter: Enter) -> Answer:
        """Add what numbers say, where that is asked for."""
        if not self.check:
            return answer
        enter.keep_unfinished(answer)
        return checked(answer, self.form, lambda: self.confirm(record, enter))

    def run(self) -> int:
        """Refuse a check beside other forms than text."""
        if self.check and self.form is not TEXT:
            raise InputError("--check is for text: leave out --json, --html or --latex")
        return super().run()


def derived(typed: TypedModel, enter: Enter, scale: str = "") -> Derivation:
    """Return what is derived of F; a name that scales its start is positive where that uses it."""
    model = typed.read()
    from derive.derivation import derive, map_of
    from derive.language import names
    from derive.limits.limit import with_scale

    enter("parameterization")
    if scale in names(tuple(model.start.values())):
        model = replace(model, positive=tuple(dict.fromkeys((*model.positive, scale))))
    p = model.parameterization()
    return derive(with_scale(map_of(p), scale) if scale else p, enter, timeout=enter.share)


def bare_answer(outcome: Outcome, form: Form) -> Answer:
    """Return what is answered where no time is left for more than the verdict."""
    brief, code = in_brief(form), EXIT[outcome.verdict.value]
    if brief is None:
        return Answer("", code, outcome.to_text())
    return Answer(rendered(outcome, brief), code, f"derive: {LATE}")


LATE = "out of time: the verdict alone is printed; raise --timeout for the rest"


def answer_with(record: Any, form: Form, enter: Enter) -> Answer:
    """Render a finished record; its verdict is the status.

    No program is written of a Q that does not exist, or has no form there.
    """
    enter("rendering")
    code = EXIT[record.verdict.value]
    if not (form.name == "json" and isinstance(record, Certified)):
        try:
            return Answer(rendered(record, form), code)
        except NumericalError as error:
            return Answer("", code or UNDECIDED, f"derive: --{form.name}: {error}")
    bare = record.to_json(seconds=0)
    enter.keep(Answer(bare, code, _missing(bare)))
    enter("certificate")
    whole = record.to_json(enter.share)
    return Answer(whole, code, _missing(whole))


def _missing(text: str) -> str:
    """Return why a record is without a certificate; nothing where it has one."""
    record = json.loads(text)
    why = (record.get("derivation") or record).get("certificate_missing")
    return f"derive: {why}" if why else ""


def told(answer: Answer, form: Form, text: str) -> Answer:
    """Return an answer with more text, which other forms have beside them."""
    below = f"{answer.result}\n\n{text}"
    return replace(answer, result=below) if form.name == "text" else answer.saying(text)


def checked(answer: Answer, form: Form, check: Callable[[], Any]) -> Answer:
    """Return an answer with what numbers say; where they do not confirm it, it is undecided."""
    try:
        found = check()
    except DeriveError as error:
        return answer.failing(f"derive: --check: could not be done: {error}")
    if found is None:
        return answer.saying("--check: there is no Q to check")
    report = found.report()
    if form.name == "json":
        answer = with_field(answer, "check", found.to_record())
    answer = told(answer, form, report)
    return answer if found.passed else answer.failing("derive: --check: " + report.split("\n")[0])


def with_data(answer: Answer, found: Any, form: Form) -> Answer:
    """Return an answer with what is found on data, which has a text and a JSON record."""
    if form is TEXT:
        return told(answer, form, found.to_text())
    return with_field(answer, "data", json.loads(found.to_json()))


def with_field(answer: Answer, name: str, value: object) -> Answer:
    """Return an answer in JSON with one more field."""
    record = json.loads(answer.result) | {name: value}
    return replace(answer, result=json.dumps(record, indent=2, ensure_ascii=True))
