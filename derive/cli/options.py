"""A command is a dataclass: its text is the page of --help, its fields are what one types.

The fields that commands share stand in classes that they inherit: one name, one meaning and one
help text for each.
"""

from __future__ import annotations

import inspect
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, fields
from functools import partial
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar, cast, get_args, get_origin, get_type_hints

import click

from derive.cli.output import check_writable
from derive.cli.running import Answer, Enter, finish
from derive.errors import InputError
from derive.model.typed import TypedModel
from derive.option import option, require_bounds

LAST = {"form": 1, "output": 2, "timeout": 3}
"""The fields whose options stand last on a page of help, in this order."""
HELP = {"help_option_names": ["-h", "--help"]}


def time_limit(seconds: float) -> Any:
    """Return the field of the seconds that a command may take."""
    return option(seconds, "Give up after S seconds.", "S", at_least=0.1, at_most=86400)


@dataclass(frozen=True, kw_only=True)
class Runnable(ABC):
    """A command; its text is the page of its --help, its fields are what one types after it.

    A shell completes its arguments by the ids of the records that the function *ids* returns.
    """

    ids: ClassVar[str] = ""

    @abstractmethod
    def run(self) -> int:
        """Refuse what is typed, or do what it asks for; return the exit status."""


@dataclass(frozen=True, kw_only=True)
class Limited(Runnable):
    """A command with a limit of time."""

    timeout: float = time_limit(60.0)


@dataclass(frozen=True, kw_only=True)
class Command(Limited):
    """One that prints its result or writes it to a file."""

    output: Path | None = option(None, "Write the result to FILE.", "FILE", "-o", "--output")

    @abstractmethod
    def answer(self, enter: Enter) -> Answer:
        """Return what is printed, or refuse what is typed; this runs in a process of its own."""

    def run(self) -> int:
        """Answer, and print or write that, with limits."""
        check_writable(self.output)
        return finish(self.answer, self.timeout, self.output)


@dataclass(frozen=True, kw_only=True)
class OfPolynomials:
    """Options of F and its start, for commands that need polynomials of given degree."""

    outputs: tuple[str, ...] = option((), metavar="[OUTPUT]...")
    start: str = option("", "Start values: a=1/2,u=0 (all of u). Others start at w_0.", "W=V,...")
    positive: str = option("", "Weights or start symbols that start positive.", "NAMES")
    vector: str = option("", "Vectors: u:3, or u alone to leave the dimension open.", "U[:D],...")
    matrix: str = option("", "Matrices: W:2x2; then W*T(W) is accepted.", "W:MxN,...")
    rates: str = option("", "Learning rates of weights: a=eta,p=p. Others are 1.", "W=R,...")
    mirror: str = option("", "Mirror descent on the weights: p*log(p) + m*log(m).", "PSI")

    @property
    def model(self) -> TypedModel:
        """F and its start, as they are typed; InputError for a file among the outputs."""
        if files := [x for x in self.outputs if re.fullmatch(r"[\w./-]+\.[a-z]{1,4}", x)]:
            raise InputError(f"{files[0]} is a file and no output: write -o {files[0]}")
        given: dict[str, Any] = {f.name: getattr(self, f.name, "") for f in fields(TypedModel)}
        return TypedModel(**given)


@dataclass(frozen=True, kw_only=True)
class OfModel(OfPolynomials):
    """Options of F and its start: what every command takes that derives something from them."""

    parameter: str = option("", "Names that are constants, beside those in exponents.", "NAMES")


@dataclass(frozen=True, kw_only=True)
class Steepest:
    """The option of steepest descent on the weights, of commands that know what it does."""

    steepest: str = option(
        "", "Steepest descent in l_p: oo, 3, 4/3; spectral; or phi(x) of each slope.", "P"
    )


def command(
    name: str, text: str, summary: str, run: Callable[..., int], *kinds: type
) -> click.Command:
    """Return a command that runs on records of some kinds, which it makes of what is typed."""

    def make_and_run(**values: Any) -> int:
        return run(*(_made(kind, values) for kind in kinds))

    return _Once(
        name,
        callback=make_and_run,
        params=[one for kind in kinds for one in parameters(kind)],
        help=inspect.cleandoc(text),
        short_help=summary,
        context_settings=HELP,
    )


class Commands(click.Group):
    """Commands with a line on each, of which the one that is asked for is imported."""

    def __init__(
        self,
        summaries: Mapping[str, str],
        load: Callable[[str], click.Command],
        usual: str = "",
        **given: Any,
    ) -> None:
        """Keep the table; the *usual* command is named where an expression stands for one."""
        given.setdefault("callback", list_commands)
        given |= {"invoke_without_command": True, "no_args_is_help": False}
        super().__init__(context_settings=HELP, **given)
        self._summaries, self._load, self._usual = summaries, load, usual

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which one learns them."""
        return [*self._summaries]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command of the table."""
        return self._load(name) if name in self._summaries else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is asked for; an expression in its place is an output of F."""
        first, *_ = given = [a.lstrip() for a in args]
        if self._usual and not first.replace("-", "").isalpha():
            line = shlex.join(given)
            raise InputError(f"{first:.60} is no command: try derive {self._usual} {line:.200}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list, for which no command is imported."""
        with formatter.section("Commands"):
            formatter.write_dl([*self._summaries.items()])


def list_commands() -> int:
    """Print the page of a group where none of its commands is asked for."""
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        print(context.get_help())
    return 0


def page(name: str) -> str:
    """Return the page of help of a command, of which click leaves the examples as they are."""
    text = (Path(__file__).parent / "pages" / f"{name}.txt").read_text(encoding="utf-8")
    return text.replace("\n\nExamples", "\n\n\b\nExamples")


class _Once(click.Command):
    """A command that refuses an option given twice, of which the first would be lost."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = [a.partition("=")[0] for a in args]
        options = given[: given.index("--")] if "--" in given else given
        for one in self.params:
            if sum(name in one.opts for name in options) > 1:
                usage = f"{one.opts[-1]} {one.metavar or ''}".strip()
                raise InputError(f"{one.opts[-1]} is given twice: give it once, as {usage}")
        return super().parse_args(ctx, args)


def parameters(kind: type) -> Iterator[click.Parameter]:
    """Return the options and arguments of a dataclass; last, those that most commands have."""
    hints = get_type_hints(kind)
    for one in sorted(fields(kind), key=lambda one: LAST.get(one.name, 0)):
        if parts := one.metadata.get("parts"):
            yield from parts
        elif one.metadata.get("help"):
            yield _option(one, hints[one.name])
        elif one.metadata.get("metavar"):
            number = -1 if isinstance(one.default, tuple) else 1
            metavar, needed = one.metadata["metavar"], one.default is ...
            named = partial(_complete, getattr(kind, "ids", ""))
            yield click.Argument(
                [one.name], metavar=metavar, nargs=number, required=needed, shell_complete=named
            )


def _complete(ids: str, ctx: click.Context, one: click.Parameter, begun: str) -> list[str]:
    """Return the ids of records, or else the choices in a metavar, that begin as was typed.

    Of several, with commas, the last is completed.
    """
    module, _, function = ids.partition(":")
    records = getattr(import_module(module), function)() if ids else ()
    choices = [record.id for record in records] or str(one.metavar).split("|")
    first, comma, last = begun.rpartition(",")
    found = (x for x in choices if x.startswith(last) and (ids or len(choices) > 1))
    return [f"{first}{comma}{x}" for x in found]


def _option(one: Field[Any], hint: Any) -> click.Option:
    """Return the option of a field; several numbers are one text."""
    about, default = one.metadata, cast(Any, one.default)
    ends = about["bounds"].get("at_least"), about["bounds"].get("at_most")
    kind = get_args(hint)[0] if get_origin(hint) in (UnionType, tuple) else hint
    names, metavar = _names(one), about["metavar"] or None
    if isinstance(default, tuple):
        kind = _numbers(names[-1], kind, default[:3])
        default, metavar = ",".join(f"{x:g}" for x in default), f"{metavar},..."
    elif kind is Path:
        kind = click.Path(path_type=Path)
    elif ends != (None, None):
        kind = (click.IntRange if kind is int else click.FloatRange)(*ends)
        kind.name = kind.name.removesuffix(" range")  # which a refusal of what is none calls it
    # What is no flag is not said to be none: it could then be given without a value.
    given: dict[str, Any] = {"is_flag": True} if hint is bool else {}
    given |= {"required": True} if default is ... else {"default": default}
    return click.Option(
        [one.name, *names],
        type=kind,
        help=about["help"],
        metavar=metavar,
        shell_complete=partial(_complete, "") if kind is str else None,
        show_default=default not in (None, "", ...) and default is not False,
        **given,
    )


def _names(one: Field[Any]) -> tuple[str, ...]:
    names: tuple[str, ...] = one.metadata["names"]
    return names or (f"--{one.name}",)


def _numbers(
    option: str, kind: Callable[[str], object], example: tuple[object, ...]
) -> Callable[[str], tuple[object, ...]]:
    """Return what reads the numbers of an option."""

    def numbers(text: str) -> tuple[object, ...]:
        try:
            return tuple(kind(part) for part in text.split(",") if part.strip())
        except ValueError:
            like = ",".join(map(str, example))
            raise InputError(f"{option}: {text!r} must be numbers such as {like}") from None

    return numbers


def _made(kind: type, values: dict[str, Any]) -> object:
    """Return the record of the values of its options; InputError for one out of its bounds."""
    given: dict[str, Any] = {}
    for one in fields(kind):
        if parts := one.metadata.get("parts"):
            given[one.name] = one.metadata["make"](**{p.name: values[p.name] for p in parts})
        elif one.name in values:
            value = given[one.name] = values[one.name]
            if value is not None:
                of = ": a number" if isinstance(value, tuple) else ""
                require_bounds(f"{_names(one)[-1]}{of}", value, one.metadata["bounds"])
    return kind(**given)
