"""Options are fields of dataclasses; what is found is printed, whatever else takes too long."""

import json
import re
import time
from dataclasses import dataclass, fields

import pytest
from click.testing import CliRunner

from derive import Derivation, InputError, Parameterization, Verdict, derive
from derive.certificate.checking.check import NotACertificate, check_text
from derive.certificate.writing import certificate
from derive.cli import recorded, running
from derive.cli.findings import Margin, Perturb, Regimes
from derive.cli.forms import FORMS, Form, chosen_form, offer
from derive.cli.main import COMMANDS, GROUPS, load
from derive.cli.options import OfModel, OfPolynomials, command, parameters
from derive.cli.recorded import answer_with, bare_answer
from derive.cli.regularizer import Regularizer
from derive.cli.running import Answer, Enter
from derive.clock import OutOfTime
from derive.model.typed import TypedModel
from derive.option import option
from derive.outcome import Outcome
from derive.verdict import Finding
from numerics.experiments.settings import Setting
from tests.cli import commands
from tests.cli.commands import run


@dataclass(frozen=True, kw_only=True)
class Above:
    form: Form = offer("json")
    width: int = option(1, "A size.", "N", at_least=0)


@dataclass(frozen=True, kw_only=True)
class Box(Above):
    height: float = option(2.0, "Another.", "X", "--tall")
    depths: tuple[int, ...] = option((3, 4), "Some.", "N", above=0)
    inner: int = 7
    name: str | None = option(None, metavar="[NAME]")
    text: str = option(..., "Needed.", "TEXT")
    other: str | None = option(None, "Not needed.", "TEXT")


@pytest.fixture
def made():
    return []


@pytest.fixture
def box(made):
    return command("box", "A box.", "", lambda one: made.append(one) or 0, Box)


def test_own_fields_come_before_those_that_all_commands_have():
    names = [one.name for one in parameters(Box)]
    assert names == ["width", "height", "depths", "name", "text", "other", "json"]


def test_what_is_typed_is_a_record(box, made):
    for typed in (
        "--tall 5 --depths 1,2, x --text t --json",
        "--text t",
        "--text --json --other -x",
    ):
        assert CliRunner().invoke(box, typed.split()).exit_code == 0
    assert made == [
        Box(height=5.0, depths=(1, 2), name="x", text="t", form=FORMS["json"]),
        Box(text="t"),
        Box(text="--json", other="-x"),
    ]


@pytest.mark.parametrize(
    "bad", [["--width", "-1"], ["--tall", "x"], ["--inner", "1"], ["a", "b"], []]
)
def test_what_does_not_fit_is_refused(box, made, bad):
    needed = ["--text", "t"] if bad else []
    assert CliRunner().invoke(box, [*bad, *needed]).exit_code == 2
    assert made == []


@pytest.mark.parametrize(
    "bad", [["--depths", "0"], ["--depths", "x"], ["--tall", "1", "--tall=2"], ["--json", "--json"]]
)
def test_a_refusal_of_our_own_names_the_option(box, bad):
    with pytest.raises(InputError, match=bad[0]):
        CliRunner().invoke(box, [*bad, "--text", "t"], catch_exceptions=False)


@pytest.mark.parametrize("kind", [OfModel, OfPolynomials])
def test_the_model_that_is_typed_has_an_option_for_each_of_its_texts(kind):
    texts = {one.name for one in fields(TypedModel)}
    names = {one.name for one in parameters(kind)}
    own = {"each", "measurements", "steepest", "penalty"}
    own |= {"parameter"} if kind is OfPolynomials else set()
    assert texts - names == own
    commands = (Margin, Regularizer, Perturb)
    assert texts <= {one.name for command in commands for one in parameters(command)}
    typed = kind(**{name: name for name in names})
    assert typed.model == TypedModel(**{name: name for name in names})


def test_every_form_but_text_is_offered_by_some_command():
    options = {one.name for name in COMMANDS if name not in GROUPS for one in load(name).params}
    assert options & FORMS.keys() == FORMS.keys() - {"text"}


def test_one_form_at_a_time():
    assert chosen_form(latex=False, json=False) is FORMS["text"]
    assert chosen_form(latex=True, json=False, standalone=True) is FORMS["standalone"]
    with pytest.raises(InputError, match="one of --bibtex, --latex and --json"):
        chosen_form(bibtex=True, latex=False, json=True)
    for both in (False, True):
        with pytest.raises(InputError, match="--standalone goes with --latex"):
            chosen_form(latex=False, json=both, standalone=True)


# Of a class with slots there is one without, which is not used.
@pytest.mark.parametrize("setting", {s.__name__: s for s in Setting.__subclasses__()}.values())
def test_the_options_of_a_setting_say_its_defaults(setting):
    settings = []
    run = command("run", "", "", lambda one: settings.append(one) or 0, setting)
    assert CliRunner().invoke(run, []).exit_code == 0
    assert CliRunner().invoke(run, ["--seed", "7"]).exit_code == 0
    assert settings == [setting(), setting(seed=7)]


def test_an_expression_in_the_place_of_a_command_names_the_usual_one():
    (refused, bare) = (run(*given) for given in (["a*u1", "a*u2", "--check"], ["nothing"]))
    assert (refused.returncode, bare.returncode) == (2, 2)
    assert "try derive regularizer 'a*u1' 'a*u2' --check" in refused.stderr
    assert "No such command 'nothing'" in bare.stderr


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
