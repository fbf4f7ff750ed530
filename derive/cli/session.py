"""What the experiments share: how one is run, and where its results go."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from derive.cli.bundles import bundle_of
from derive.cli.forms import Form, offer, rendered
from derive.cli.options import Output
from derive.cli.output import Narrator, check_writable, deliver
from derive.cli.running import use_one_thread
from derive.cli.sandbox import Enter
from derive.errors import InputError

if TYPE_CHECKING:
    from numerics.experiments.scaffold import Results

Found = TypeVar("Found", bound="Results")
Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """How an experiment is run, and where its results go."""

    seed: Annotated[int, typer.Option(help="Seed of the random numbers.", min=0, metavar="N")] = 0
    jobs: Annotated[
        int, typer.Option(help="Processes, by joblib.", min=1, max=1024, metavar="N")
    ] = 1
    form: Annotated[Form, offer("json", "csv")]
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the errors to a PNG, SVG or PDF file.", metavar="FILE"),
    ] = None
    output: Output = None

    def prepare(self) -> None:
        """Refuse, before time is spent, what cannot be written; keep NumPy to one thread."""
        check_writable(self.output)
        check_writable(self.plot, "--plot")
        use_one_thread()

    def require_plots(self) -> None:
        """Refuse a plot without matplotlib, before time is spent."""
        if self.plot is not None:
            from numerics.figures.plots import require_matplotlib

            require_matplotlib()

    def publish(self, found: Found, draw: Callable[[Found, Path], None]) -> None:
        """Draw the results where that is asked, and write them in their form."""
        if self.plot is not None:
            draw(found, self.plot)
        deliver(rendered(found, self.form), self.output)


Samples: TypeAlias = Annotated[
    int, typer.Option(help="The number m of measurements.", min=1, max=10**4, metavar="M")
]
Shared: TypeAlias = Annotated[Session, bundle_of(Session)]


def narrated(work: Callable[[Enter | None], Found]) -> Found:
    """Run with a line on the terminal that says what is being done."""
    narrator, begun = Narrator() if sys.stderr.isatty() else None, time.monotonic()
    if narrator is None:
        return work(None)
    try:
        return work(lambda stage: narrator(stage, time.monotonic() - begun))
    finally:
        narrator.clear()


def read_sizes(text: str, example: str) -> tuple[int, ...]:
    """Read the numbers of samples of ``--sizes``."""
    numbers = read_numbers(text, int, "--sizes", example)
    if min(numbers, default=1) < 1:
        raise InputError(f"--sizes: {min(numbers)} is no number of samples; give 1 or more")
    return numbers


def read_numbers(
    text: str, kind: Callable[[str], Number], option: str, example: str
) -> tuple[Number, ...]:
    """Read the numbers of an option; *example* says how they are written."""
    try:
        return tuple(kind(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise InputError(f"{option}: {text!r} must be numbers such as {example}") from None
