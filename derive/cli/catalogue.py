"""Models that are known: those published, by ``derive catalogue``, ``audit`` and ``report``.

And all small ones, by ``derive atlas``: build an atlas, search it, show an entry, write its pages.
"""

from __future__ import annotations

import json
import textwrap
from abc import abstractmethod
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from derive.cli.forms import TEXT, Form, offer, offer_page, rendered
from derive.cli.options import Command, Commands, Limited, Runnable, command, page, time_limit
from derive.cli.output import Narrator, check_writable, deliver, deliver_to_folder
from derive.cli.recorded import Recorded
from derive.cli.running import YES, Answer, Enter, run, use_one_thread
from derive.errors import InputError
from derive.option import option

if TYPE_CHECKING:
    from derive.catalogue.audit.judgement import Audit as Judged
    from derive.catalogue.library import Entry, Model
    from derive.derivation import Derivation


@dataclass(frozen=True, kw_only=True)
class Catalogue(Recorded):
    """List the published models, or derive one of them and show what was printed of it."""

    ids = "derive.catalogue:entries"
    model: str | None = option(None, metavar="[ID]")
    form: Form = offer_page("markdown")

    def answer(self, enter: Enter) -> Answer:
        """List the models, or derive one."""
        if self.model is None and self.form.name not in ("text", "bibtex", "markdown"):
            raise InputError(
                "--latex, --html and --json go with an ID: `derive catalogue` lists them"
            )
        if self.model is not None and self.form.name == "markdown":
            raise InputError("--markdown is a table of all models: give no ID")
        from derive.catalogue import bibtex, entries, find

        read = entries() if self.model is None else (find(self.model),)
        if self.form.name == "bibtex":
            keys = {key for e in read for key in (*e.cite, *(f.cite for f in e.printed))}
            return Answer(bibtex(sorted(keys)))
        if self.model is not None:
            return super().answer(enter)
        if self.form.name != "markdown":
            return Answer("\n".join(line for entry in read for line in _listed(entry)))
        enter("importing the algebra")
        from derive.catalogue.library import derive_entry
        from derive.catalogue.listing import markdown

        derived = []
        for entry in read:
            enter(entry.id)
            derived.append((entry, derive_entry(entry)))
        return Answer(markdown(derived))

    def find(self, enter: Enter) -> Model:
        """Derive the model that is named."""
        from derive.catalogue.library import Model, derive_entry, find

        entry = find(self.model or "")
        return Model(entry, derive_entry(entry, enter, enter.share))


def _listed(entry: Entry) -> list[str]:
    wrapper = textwrap.TextWrapper(80, "  ", "    ", break_long_words=False, break_on_hyphens=False)
    outputs = [f'"{output}"' for output in entry.outputs]
    typed = " ".join([*outputs, *(f"--{name} {value}" for name, value in entry.options)])
    return [entry.id, *wrapper.wrap(entry.title), *wrapper.wrap(typed)]


@dataclass(frozen=True, kw_only=True)
class Audit(Command):
    """Compare every printed formula of the catalogue with what is derived from F alone."""

    ids = "derive.catalogue:entries"
    models: tuple[str, ...] = option((), metavar="[ID]...")
    form: Form = offer_page()
    timeout: float = time_limit(300.0)

    def answer(self, enter: Enter) -> Answer:
        """Return the audit of some models, or of all."""
        from derive.catalogue import entries, find

        read = tuple(map(find, dict.fromkeys(self.models))) or entries()
        enter("importing the algebra")
        from derive.catalogue.audit.formula_kinds import audit_entry
        from derive.catalogue.audit.judgement import Audits

        audits: list[Judged] = []
        for done, entry in enumerate(read):
            enter(f"{done}/{len(read)} {entry.id}")
            audits += audit_entry(entry)
        return Answer(rendered(Audits((*audits,)), self.form))


OURS = '<meta name="generator" content="regderive">'


@dataclass(frozen=True, kw_only=True)
class Site(Limited):
    """A command that writes pages for a browser to a folder."""

    output: Path | None = option(None, "Write the pages to DIR.", "DIR", "-o", "--output")

    @abstractmethod
    def pages(self, enter: Enter) -> dict[str, str]:
        """Return the texts of the pages by their names; this runs in a process of its own."""

    def run(self) -> int:
        """Make the pages, and write them to a folder that is new, or holds such pages."""
        if self.output is None:
            raise InputError("give a folder for the pages, as -o DIR")
        _check_folder(self.output)
        pages = run(self.pages, self.timeout)
        deliver_to_folder(pages, self.output)
        deliver(f"{len(pages)} pages: open {self.output / 'index.html'}", None)
        return YES


def _check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made, or that holds what is not ours."""
    check_writable(folder / "index.html" if folder.is_dir() else folder)
    if not folder.is_dir():
        if folder.exists():
            raise InputError(f"-o: {folder} is a file; give a folder")
        return
    index = folder / "index.html"
    ours = index.is_file() and OURS in index.read_text(encoding="utf-8", errors="replace")[:2000]
    if not ours and any(folder.iterdir()):
        raise InputError(f"-o: {folder} holds other files; give a new folder")


@dataclass(frozen=True, kw_only=True)
class Report(Site):
    """Write the catalogue and its audit as a small site: an index, and a page a model."""

    timeout: float = time_limit(300.0)

    def pages(self, enter: Enter) -> dict[str, str]:
        """Derive and audit all models."""
        enter("importing the algebra")
        from derive.catalogue import entries
        from derive.catalogue.audit.formula_kinds import audit_formulas
        from derive.catalogue.audit.germs import Subject
        from derive.catalogue.audit.report import site
        from derive.catalogue.library import derive_entry, summand

        derived: list[tuple[Entry, Derivation]] = []
        audits: list[Judged] = []
        for done, entry in enumerate(entries()):
            enter(f"{done}/{len(entries())} {entry.id}")
            derivation = derive_entry(entry)
            derived.append((entry, derivation))
            audits += audit_formulas(entry, Subject(summand(derivation)))
        enter("writing the pages")
        return site(derived, audits)


if TYPE_CHECKING:
    from derive.atlas.store import Entry as AtlasEntry
    from derive.derivation import Derivation

FILE = "The file of an atlas; else the small one that comes with the program."
NO_DASK = "--cluster needs dask: pip install 'regderive[cluster]', or leave it for --jobs"


@dataclass(frozen=True, kw_only=True)
class Build(Runnable):
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


def _record(entry: AtlasEntry) -> dict[str, Any]:
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


KINDS: dict[str, tuple[type[Runnable], str]] = {
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
