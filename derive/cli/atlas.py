"""The commands ``derive atlas ...``: build an atlas, search it, show an entry, write its pages."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from derive.cli.catalogue import Site
from derive.cli.forms import TEXT, Form, offer
from derive.cli.options import Command, Commands, Program, command, page, time_limit
from derive.cli.output import Narrator, deliver
from derive.cli.recorded import Recorded
from derive.cli.running import YES, Answer, Enter, use_one_thread
from derive.errors import InputError
from derive.option import option

if TYPE_CHECKING:
    from derive.atlas.store import Entry
    from derive.derivation import Derivation

FILE = "The file of an atlas; else the small one that comes with the program."
NO_DASK = "--cluster needs dask: pip install 'regderive[cluster]', or leave it for --jobs"


@dataclass(frozen=True, kw_only=True)
class Build(Program):
    """Derive one parameterization of each class, the smallest first, into a SQLite file."""

    size: int = option(5, "The largest size of F.", "N", at_least=1, at_most=7)
    entries: int = option(1000, "Begin no F once there are N entries.", "N", at_least=1)
    seed: int = option(0, "Of the order in which F of one size are drawn.", "N", at_least=0)
    jobs: int = option(1, "Processes, by joblib.", "N", at_least=1, at_most=1024)
    cluster: str = option("", "Run on a Dask cluster instead.", "ADDRESS")
    certificates: bool = option(False, "Keep certificates, which take most of the time.")
    output: Path | None = option(None, "Write or go on with FILE.", "FILE", "-o", "--output")
    timeout: float = option(
        10.0, "Give an entry up after S seconds of the processor.", "S", at_least=0.1, at_most=86400
    )

    def run(self) -> int:
        """Build, and say how many entries there are."""
        if self.output is None:
            raise InputError("give a file for the atlas, as -o atlas.sqlite")
        use_one_thread()
        jobs = joined(self.cluster) if self.cluster else self.jobs
        from derive.atlas.build import Limits, Plan, build
        from numerics.experiments.settings import in_parallel

        limits = Limits(self.timeout, self.certificates)
        plan = Plan(self.size, self.seed, self.entries, limits)
        with closing(Narrator()) as narrator:
            count = build(self.output, plan, lambda f, x: in_parallel(f, x, jobs), narrator)
        deliver(f"{count} entries: derive atlas search Q --atlas {self.output}", None)
        return YES


def joined(address: str) -> int:
    """Let joblib work on a Dask cluster; return how many jobs are given to it at a time."""
    try:
        import joblib
        from distributed import Client
    except ImportError:
        raise InputError(NO_DASK) from None
    try:
        Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InputError(f"--cluster: there is no cluster at {address}: {error}") from None
    joblib.parallel_config("dask")
    return -1


PROPERTIES = ("horizon", "warped", "weights", "law", "domain")


@dataclass(frozen=True, kw_only=True)
class Search(Command):
    """Find the parameterizations that have a given Q, or given properties."""

    potential: str | None = option(None, metavar="[Q]")
    horizon: str = option("", "Those with this norm of the largest margin: l1, l2, ...", "NORM")
    warped: bool = option(False, "Those that have a Q only with a warp.")
    weights: int | None = option(None, "Those with so many weights.", "N", at_least=1)
    law: str = option("", "Those that keep this, whatever the names.", "LAW")
    domain: str = option("", "Where Q lives: all, positive, interval or simplex.", "WORD")
    most: int = option(10, "Print at most N.", "N", at_least=1)
    atlas: Path | None = option(None, FILE, "FILE")
    form: Form = offer("json")

    def answer(self, enter: Enter) -> Answer:
        """Search, but not for nothing."""
        wanted = {name: getattr(self, name) for name in PROPERTIES}
        if not (self.potential or any(wanted.values())):
            raise InputError('give Q, such as "beta*log(beta)", or a property, such as --warped')
        from derive.atlas.search import having, search
        from derive.atlas.store import opened

        with opened(self.atlas) as atlas:
            entries = having(atlas, **wanted)
            if self.potential is None:
                listed = [_record(entry) for entry in entries[: self.most]]
                return self._told(listed, bool(entries), f"{len(entries)} entries")
            enter("comparing Hessians")
            matches = search(self.potential, entries, self.most)
        equal = any(match.fit for match in matches)
        how = ("ground", "misfit", "constants")
        listed = [
            _record(match.entry) | {name: getattr(match, name) for name in how}
            for match in matches[: self.most]
        ]
        proved = sum(match.constants is not None for match in matches)
        line = f"equal: {proved} by an exact identity, {len(matches) - proved} in numbers alone"
        return self._told(listed, equal, line if equal else "none is equal; the nearest:")

    def _told(self, listed: list[dict[str, Any]], positive: bool, line: str) -> Answer:
        code = YES if positive else 1
        if self.form is not TEXT:
            record = {"format": "regderive-atlas-search", "version": 1, "entries": listed}
            return Answer(json.dumps(record, indent=2), code)
        blocks = [_written(x) for x in listed]
        return Answer("\n".join((*filter(None, (line,)), *blocks)), code)


def _record(entry: Entry) -> dict[str, Any]:
    own = ("id", "outputs", "start", "verdict", "kind", "g", "Q", "laws", "domain", "horizon")
    return {name: getattr(entry, name) for name in own}


def _written(x: dict[str, Any]) -> str:
    start = f"  from {x['start']}" if x["start"] else ""
    lines = [f"{x['id']}  F = {x['outputs']}{start}"]
    if "ground" in x:
        lines.append(f"  {x['ground']}" + f", to {x['misfit']:.0e}" * (x["ground"] == "near"))
        named = (f"{n} = {v}" for n, v in (x["constants"] or {}).items() if n[0] != "_")
        lines += [f"  with {', '.join(names)}" for names in [[*named]] if names]
    lines += [f"  {line}" for line in x["Q"].splitlines() or [x["verdict"]]]
    if x["g"] not in ("", "1"):
        lines.append(f"  g = {x['g']}")
    return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class Show(Recorded):
    """Derive an entry of an atlas again, and print it as `derive regularizer` does."""

    entry: str = option(..., metavar="ID")
    atlas: Path | None = option(None, FILE, "FILE")

    def find(self, enter: Enter) -> Derivation:
        """Derive it."""
        from derive.atlas.store import find
        from derive.derivation import derive

        entry = find(self.atlas, self.entry)
        return derive(entry.parameterization(), enter, timeout=enter.share)


@dataclass(frozen=True, kw_only=True)
class AtlasSite(Site):
    """Write an atlas as pages for a browser: a table that sorts and filters, a page an entry."""

    atlas: Path | None = option(None, FILE, "FILE")
    first: int = option(1000, "Write pages of the first N entries.", "N", at_least=1)
    timeout: float = time_limit(1800.0)

    def pages(self, enter: Enter) -> dict[str, str]:
        """Derive the entries again."""
        enter("importing the algebra")
        from derive.atlas.site import site
        from derive.atlas.store import opened

        with opened(self.atlas) as atlas:
            return site(atlas.entries("number <= ?", [self.first]), enter)


KINDS: dict[str, tuple[type[Program], str]] = {
    "build": (Build, "Derive an F of each class into a file."),
    "search": (Search, "Find the F that have a given Q, or properties."),
    "show": (Show, "Derive and print an entry."),
    "site": (AtlasSite, "Write an atlas as pages for a browser."),
}


def atlas() -> click.Group:
    """Return the commands of the atlas."""

    def load(name: str) -> click.Command:
        kind, summary = KINDS[name]
        return command(name, page(f"atlas-{name}"), summary, kind.run, kind)

    summaries = {name: summary for name, (_, summary) in KINDS.items()}
    text = "Which parameterization has the Q that I want? Small F, each decided, to be searched."
    return Commands(summaries, load, name="atlas", help=text)
