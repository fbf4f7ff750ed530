"""Fields of dataclasses as options: one for each, with its default, its bounds and its text."""

from dataclasses import dataclass, fields

import pytest
from click.testing import CliRunner

from derive import InputError
from derive.cli.data import Margin
from derive.cli.findings import Perturb
from derive.cli.forms import FORMS, Form, chosen_form, offer
from derive.cli.main import COMMANDS, GROUPS, load
from derive.cli.options import OfModel, OfPolynomials, command, parameters
from derive.cli.regularizer import Regularizer
from derive.model.typed import TypedModel
from derive.option import option
from numerics.experiments.settings import Setting
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
    for json in (False, True):
        with pytest.raises(InputError, match="--standalone goes with --latex"):
            chosen_form(latex=False, json=json, standalone=True)


@pytest.mark.parametrize("setting", Setting.__subclasses__())
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
