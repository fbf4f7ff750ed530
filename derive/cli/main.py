"""The command line: its commands, and what becomes of an error.

Nothing heavy is imported before the arguments are known to be good.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from derive.cli.options import Commands, command, list_commands, page
from derive.cli.output import ReaderLeft
from derive.cli.running import BAD_INPUT, FAULT, INTERRUPTED, READER_LEFT, UNDECIDED, YES, Stop
from derive.errors import ConsistencyError, DeriveError, InputError

# In the order in which one learns them: derive, ask more of it, trust it, and see what is known.
COMMANDS = {
    "regularizer": "Derive Q(beta) of gradient flow on F, or prove there is none.",
    "explore": "Write a page with a picture of Q and the flow that one moves.",
    "regimes": "Find what Q tends to as the start is scaled.",
    "margin": "Find what the flow tends to on separable data.",
    "compare": "Show models or starts side by side.",
    "path": "Follow the flow on data as the start tends to 0.",
    "optimizers": "List what optimizers on linear models minimise.",
    "univariate": "Find the limit of wide univariate nets under mirror flow.",
    "perturb": "Find what decay, momentum, steps and noise do to Q.",
    "run": "Audit the log of a training run against the flow of F.",
    "explicit": "Compare Q with explicit l2 regularization of the weights.",
    "parameterize": "Find F(w) whose implicit regularizer is a given Q.",
    "check": "Check the certificate of a result, without SymPy.",
    "rocq": "Write the library of the proofs that Rocq accepts.",
    "atlas": "Find which F has the Q that one wants.",
    "catalogue": "List the published models, or derive one.",
    "audit": "Compare printed formulas with what is derived.",
    "report": "Write the catalogue and the audit as pages for a browser.",
    "figure": "List the figures of regularizers, or draw one.",
    "experiment": "Repeat a published experiment.",
}
"""The commands, each a dataclass in the module of its name, with one line on it for the list."""

SHARED = {
    "regularizer": ("explore", "check", "rocq"),
    "findings": (
        *("regimes", "margin", "compare", "path", "optimizers", "univariate", "perturb"),
        *("run", "explicit", "parameterize"),
    ),
    "experiment": ("figure",),
    "catalogue": ("atlas", "audit", "report"),
}
"""The modules of commands that share one."""
GROUPS = ("atlas", "experiment")
"""Those that have commands of their own."""
LONGEST = 300
"""Characters at which what is refused is not printed whole; what is ours is shorter."""


def load(name: str) -> click.Command:
    """Return a command of the table, or a group of them."""
    shared = (module for module, names in SHARED.items() if name in names)
    module = import_module(f"derive.cli.{next(shared, name)}")
    if name in GROUPS:
        group: click.Group = getattr(module, name)()
        return group
    kind = getattr(module, name.capitalize())
    return command(name, page(name), COMMANDS[name], kind.run, kind)


def top(version: bool, show_completion: str | None) -> int:
    """Print what is asked of the program itself, or its page."""
    if version:
        from derive import __version__

        print(f"regderive {__version__}")
    elif show_completion:
        from click.shell_completion import get_completion_class

        writer = get_completion_class(show_completion)
        assert writer is not None
        print(writer(app, {}, "derive", COMPLETE).source())
    else:
        list_commands()
    return YES


COMPLETE = "_DERIVE_COMPLETE"
"""The variable in which a shell asks for completions."""
app = Commands(
    COMMANDS,
    load,
    "regularizer",
    name="derive",
    callback=top,
    params=[
        click.Option(["--version"], is_flag=True, help="Print the version."),
        click.Option(
            ["--show-completion"],
            type=click.Choice(["bash", "zsh", "fish"]),
            metavar="SHELL",
            help="Print the completion of bash, zsh or fish, to be run as it starts.",
        ),
    ],
    help="""Derive the implicit regularizer of gradient flow on a parameterization beta = F(w).

    Try:  derive regularizer "a*u1" "a*u2"

    "derive COMMAND --help" explains a command and gives examples.
    """,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status; every refusal is one line on stderr."""
    given = sys.argv[1:] if arguments is None else arguments
    # One leading minus is no option here: expressions such as -w**2 pass as arguments.
    protected = [re.sub(r"\A-(?!-|[oh]?\Z)", " -", a) for a in given]
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(app, {}, "derive", COMPLETE, instruction))
    try:
        with app.make_context("derive", protected) as context:
            code = app.invoke(context)
    except click.exceptions.Exit as end:  # of a page of help
        code = end.exit_code
    except Stop as stop:
        _refuse(str(stop))
        sys.exit(stop.code)
    except ConsistencyError as fault:
        sys.exit(_explain(fault))
    except DeriveError as error:
        _refuse(str(error))
        if len(given) == 1 and given[0] in COMMANDS and sys.stderr.isatty():  # teach by examples
            _, heading, examples = page(given[0]).partition("Examples:\n")
            print(f"\n{heading}{examples}", file=sys.stderr, end="")
        sys.exit(BAD_INPUT if isinstance(error, InputError) else UNDECIDED)
    except KeyboardInterrupt:
        _refuse("interrupted")
        sys.exit(INTERRUPTED)
    except ReaderLeft:
        sys.exit(READER_LEFT)
    except Exception as fault:
        sys.exit(_explain(fault))
    sys.exit(code)


def _explain(fault: Exception) -> int:
    """Print one line for what the argument parser refused, or for a fault of this program."""
    if isinstance(fault, click.UsageError):
        path = "derive" if fault.ctx is None else fault.ctx.command_path
        _refuse(f"{fault.format_message()} ({path} --help shows what is accepted)")
        return BAD_INPUT
    _refuse(f"internal error ({type(fault).__name__}: {fault}); please report this command")
    return FAULT


def _refuse(message: str) -> None:
    """Print one line; of what is long, as an option of a thousand letters, both ends, of words."""
    line = f"derive: {' '.join(message.split())}"
    if len(line) >= LONGEST:
        first, last = re.sub(r" \S{,20}\Z", "", line[:120]), re.sub(r"\A\S{,20} ", "", line[-70:])
        line = f"{first} ... {last}"
    print(line, file=sys.stderr)
