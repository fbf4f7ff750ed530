"""Fields of dataclasses as options: of a model that is typed, of forms, and of settings."""

from dataclasses import fields

import pytest
from click.testing import CliRunner

from derive import InputError
from derive.cli.data import Margin
from derive.cli.findings import Perturb
from derive.cli.forms import FORMS, chosen_form
from derive.cli.main import COMMANDS, GROUPS, load
from derive.cli.options import OfModel, OfPolynomials, command, parameters
from derive.cli.regularizer import Regularizer
from derive.model.typed import TypedModel
from numerics.experiments.settings import Setting
from tests.cli.commands import run


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
