"""The command line: its commands, and what becomes of an error.

Nothing heavy is imported before the arguments are known to be good.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from derive.cli.options import spelled_out
from derive.cli.output import ReaderLeft
from derive.cli.running import BAD_INPUT, FAULT, INTERRUPTED, READER_LEFT, UNDECIDED, YES, Stop
from derive.errors import ConsistencyError, DeriveError, InputError

# In the order in which one learns them: derive, ask more of it, trust it, and see what is known.
COMMANDS = {
    "regularizer": "Derive Q(beta) of gradient flow on F, or prove there is none.",
    "regimes": "Find what Q tends to as the start is scaled.",
    "margin": "Find what the flow tends to on separable data.",
    "optimizers": "List what optimizers on linear models minimise.",
    "univariate": "Find the limit of wide univariate nets under mirror flow.",
    "perturb": "Find what decay, momentum, steps and noise do to Q.",
    "explicit": "Compare Q with explicit l2 regularization of the weights.",
    "parameterize": "Find F(w) whose implicit regularizer is a given Q.",
    "check": "Check the certificate of a result, without SymPy.",
    "rocq": "Write the library of the proofs that Rocq accepts.",
    "catalogue": "List the published models, or derive one.",
    "audit": "Compare printed formulas with what is derived.",
    "report": "Write the catalogue and the audit as pages for a browser.",
    "figure": "List the figures of regularizers, or draw one.",
    "experiment": "Repeat a published experiment.",
}
"""The commands, each a function of the module of its name, with one line on it for the list."""

LONGEST = 200
"""Characters at which what is refused is not printed whole."""


class _Once(TyperCommand):
    """A command that refuses an option given twice, of which the first would be lost."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Return what is left of the arguments, as Typer does."""
        given = [a.partition("=")[0] for a in args]
        options = given[: given.index("--")] if "--" in given else given
        for option in self.params:
            if sum(name in option.opts for name in options) > 1:
                said = f"{option.opts[-1]} {option.metavar or ''}".strip()
                raise InputError(f"{option.opts[-1]} is given twice: give it once, as {said}")
        return super().parse_args(ctx, args)


class _Imported(TyperGroup):
    """The commands of the table, of which the one that is asked for is imported."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]

    def get_command(self, ctx: typer.Context, name: str) -> Any:  # type: ignore[override]
        return command(name) if name in COMMANDS else None

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


def command(name: str) -> Any:
    """Return a command as it is run; of the experiments, their group."""
    function = getattr(import_module(f"derive.cli.{name}"), name)
    if name != "experiment":
        return get_command(_group(name, [(name, function, COMMANDS[name])]))
    from derive.cli.experiment import EXPERIMENTS

    group = _group(name, EXPERIMENTS)
    group.callback()(function)
    return get_command(group)


def _group(name: str, commands: Iterable[tuple[str, Callable[..., None], str]]) -> typer.Typer:
    group = typer.Typer(
        name=name,
        add_completion=name == "derive",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for command, function, summary in commands:
        group.command(command, cls=_Once, short_help=summary)(spelled_out(function))
    return group


app = _group("derive", ())


@app.callback(cls=_Imported, invoke_without_command=True)
def top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Derive the implicit regularizer of gradient flow on a parameterization beta = F(w).

    Try:  derive regularizer "a*u1" "a*u2"

    "derive COMMAND --help" explains a command and gives examples.
    """
    if version:
        from derive import __version__

        print(f"regderive {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status; every refusal is one line on stderr."""
    given = sys.argv[1:] if arguments is None else arguments
    # One leading minus is no option here: expressions such as -w**2 pass as arguments.
    protected = [re.sub(r"\A-(?!-|[oh]?\Z)", " -", a) for a in given]
    try:
        code = app(protected, prog_name="derive", standalone_mode=False)
    except Stop as stop:
        _refuse(str(stop))
        sys.exit(stop.code)
    except ConsistencyError as fault:
        sys.exit(_explain(fault))
    except DeriveError as error:
        _refuse(str(error))
        _teach(given)
        sys.exit(BAD_INPUT if isinstance(error, InputError) else UNDECIDED)
    except KeyboardInterrupt:
        _refuse("interrupted")
        sys.exit(INTERRUPTED)
    except ReaderLeft:
        sys.exit(READER_LEFT)
    except Exception as fault:
        sys.exit(_explain(fault))
    if code == INTERRUPTED:  # which the argument parser answers by a status alone
        _refuse("interrupted")
    sys.exit(code if isinstance(code, int) else YES)


def _teach(arguments: Sequence[str]) -> None:
    """Show on a terminal the examples of a command that was given nothing."""
    if len(arguments) == 1 and arguments[0] in COMMANDS and sys.stderr.isatty():
        _, heading, examples = command(arguments[0]).help.partition("Examples:\n")
        print(
            f"\n{heading}{textwrap.indent(textwrap.dedent(examples).rstrip(), '  ')}",
            file=sys.stderr,
        )


def _explain(fault: Exception) -> int:
    """Print one line for what the argument parser refused, or for a fault of this program."""
    usage = getattr(fault, "format_message", None)
    if usage is not None:
        context = getattr(fault, "ctx", None)
        command = "derive" if context is None else context.command_path
        _refuse(f"{usage()} ({command} --help shows what is accepted)")
        return BAD_INPUT
    _refuse(f"internal error ({type(fault).__name__}: {fault}); please report this command")
    return FAULT


def _refuse(message: str) -> None:
    """Print one line; of what is long, as an option of a thousand letters, both ends."""
    line = f"derive: {' '.join(message.split())}"
    cut = len(line) >= LONGEST
    print(f"{line[:120]} ... {line[-70:]}" if cut else line, file=sys.stderr)
