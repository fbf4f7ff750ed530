"""Bundles: options that several commands share, declared once."""

import inspect
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from derive.cli.experiment import options_of
from derive.cli.forms import FORMS, Form, offer
from derive.cli.main import COMMANDS, command
from derive.cli.options import Bundle, Model, ModelWithoutParameters, bundle_of, spelled_out
from derive.model.typed import TypedModel
from numerics.experiments.settings import Setting

Size = Annotated[int, typer.Option(help="A size.")]


def box(*, width: Size = 1, height: Size = 2) -> tuple[int, int]:
    return width, height


Box = Annotated[tuple[int, int], bundle_of(box)]
Flat = Annotated[tuple[int, int], bundle_of(box, "height")]


def test_options_stand_in_the_place_of_their_argument():
    def command(before: Size = 0, *, of: Box, after: Size = 3) -> None:
        """Say what is given."""
        print(before, of, after)

    flat = spelled_out(command)
    assert [*inspect.signature(flat).parameters] == ["before", "width", "height", "after"]
    app = typer.Typer()
    app.command()(flat)
    assert CliRunner().invoke(app, ["--height", "7"]).stdout == "0 (1, 7) 3\n"


def test_an_option_that_is_left_out_keeps_its_default():
    bundle = Flat.__metadata__[0]
    assert [option.name for option in bundle.options] == ["width"]
    assert bundle.build(width=5) == (5, 2)


def test_a_bundle_may_have_bundles_in_it():
    def shelf(*, of: Box, form: Annotated[Form, offer("json")]) -> tuple[tuple[int, int], str]:
        return of, form.name

    bundle = bundle_of(shelf)
    assert [option.name for option in bundle.options] == ["width", "height", "json"]
    assert bundle.build(width=1, height=1, json=True) == ((1, 1), "json")


@pytest.mark.parametrize("bundle", [Model, ModelWithoutParameters])
def test_the_model_that_is_typed_has_an_option_for_each_of_its_texts(bundle):
    (found,) = (note for note in bundle.__metadata__ if isinstance(note, Bundle))
    names = {option.name for option in found.options}
    texts = set(TypedModel.__dataclass_fields__)
    assert texts - names == ({"parameter"} if bundle is ModelWithoutParameters else set())
    assert found.build(**{n: None if n == "outputs" else n for n in names}).start == "start"


def test_every_form_but_text_is_offered_by_some_command():
    options = {option.name for name in COMMANDS for option in command(name).params}
    offered = options & FORMS.keys()
    assert offered == FORMS.keys() - {"text"}


@pytest.mark.parametrize("setting", Setting.__subclasses__())
def test_the_options_of_a_setting_say_its_defaults(setting):
    bundle = options_of(setting)
    given = {option.name: option.default for option in bundle.options}
    assert given
    assert bundle.build(**given)(seed=0) == setting()
    assert bundle.build(**given)(seed=7) != setting()
