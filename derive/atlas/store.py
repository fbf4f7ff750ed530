"""The entries of an atlas, and its file: SQLite, with one table of these, one of how it was built.

An entry is a parameterization from one start, with what was derived of it. ``sqlite3`` and pandas
read the file: ``pandas.read_sql("select * from entries", sqlite3.connect(file))``. The columns are
the fields of :class:`Entry`; columns are only ever added.
"""

from __future__ import annotations

import hashlib
import lzma
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, fields
from fractions import Fraction
from pathlib import Path

import numpy as np

from derive.atlas.canonical import LETTERS
from derive.atlas.leaf import Numbers
from derive.errors import InputError
from derive.model.parameterization import Parameterization

FAULT = "FAULT"
"""The verdict of what made the program fail: there is no answer."""
STARTS = tuple(Fraction(n, 20) for n in (28, 17, 23, 31, 15, 26, 19, 33, 21))
SAMPLED = 3
"""From how many starts Hess Q is sampled."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the atlas; each field is a column of the table ``entries``.

    Attributes:
        id: ten letters that F and the start alone decide.
        number: its place, by size and then as drawn.
        size: of F, by the grammar.
        outputs, start: F and its start as one types them.
        weights, dimension: p and d.
        verdict: PROVED, REFUTED, UNDECIDED, or FAULT.
        reason: of a verdict that is not PROVED.
        laws: what the flow keeps, between commas; law_forms: by which these are searched.
        g: the warp; 1 where none is needed, empty where it has no formula.
        Q: a line "Q = ...", and one for each name in it; empty without Q.
        kind: explicit, algebraic, parametric, or quadrature, where an integral is left.
        left: why one is left.
        domain: where Q lives, in words; everywhere: whether that is proved to be all of R^d.
        horizon: the norm whose largest margin the flow tends to on separable data.
        closed: whether K is written as a function of beta and constants.
        class_id: the id of the simplest entry with the same Q, in numbers.
        samples: rows (start, beta, Hess Q) as little-endian doubles, compressed by zlib.
        certificate: the JSON record with its certificate, compressed by xz; None where not asked.
        seconds: of the processor.
    """

    id: str
    number: int
    size: int
    outputs: str
    start: str
    weights: int
    dimension: int
    verdict: str
    reason: str = ""
    laws: str = ""
    law_forms: str = ""
    g: str = ""
    Q: str = ""
    kind: str = ""
    left: str = ""
    domain: str = ""
    everywhere: int = 0
    horizon: str = ""
    closed: int = 0
    class_id: str = ""
    samples: bytes | None = None
    certificate: bytes | None = None
    seconds: float = 0.0

    @property
    def answer(self) -> tuple[object, ...]:
        """What of the entry a special start may change."""
        return self.verdict, self.kind, self.g == "1", self.everywhere, self.horizon

    def parameterization(self) -> Parameterization:
        """Return F and its start, to be derived."""
        start = dict(pair.split("=") for pair in self.start.split(",") if pair)
        return Parameterization.parse(self.outputs.split(", "), start=start)

    @property
    def symbols(self) -> list[str]:
        """Where the weights start, in order: names, or 0."""
        given = dict(pair.split("=") for pair in self.start.split(",") if pair)
        return [given.get(w, f"{w}_0") for w in LETTERS[: self.weights]]

    def numbers(self, k: int) -> dict[str, Fraction]:
        """Return the k-th start in numbers at which Hess Q is sampled."""
        names = dict.fromkeys(s for s in self.symbols if s != "0")
        return {s: STARTS[(j * (k + 1) + 2 * k) % len(STARTS)] for j, s in enumerate(names)}

    def points(self) -> Numbers:
        """Return the samples: the number of the start, beta, and Hess Q as its upper triangle."""
        d = self.dimension
        raw = zlib.decompress(self.samples) if self.samples else b""
        return np.frombuffer(raw, "<f8").reshape(-1, 1 + d + d * (d + 1) // 2)


def identifier(outputs: Sequence[str], start: str = "") -> str:
    """Return the id of an entry."""
    whole = "\n".join((*outputs, start)).encode()
    return hashlib.blake2b(whole, digest_size=5).hexdigest()


VERSION = 1
"""Of the schema; higher ones have more columns."""
SHIPPED = Path(__file__).parent / "atlas.sqlite.xz"
TYPES = {"str": "TEXT NOT NULL", "int": "INTEGER NOT NULL", "float": "REAL NOT NULL"}
SCHEMA = ", ".join(
    f"{f.name} {'TEXT PRIMARY KEY' if f.name == 'id' else TYPES.get(str(f.type), 'BLOB')}"
    for f in fields(Entry)
)
INSERT = f"insert into entries values ({', '.join('?' for _ in fields(Entry))})"


@dataclass(frozen=True, slots=True)
class Atlas:
    """An atlas that is open for reading."""

    connection: sqlite3.Connection

    def entries(self, where: str = "1", values: Sequence[object] = ()) -> list[Entry]:
        """Return the entries that fulfil a condition on their columns, in order."""
        return _entries(self.connection, where, values)

    @property
    def built(self) -> dict[str, str]:
        """What the atlas was built from."""
        return dict(self.connection.execute("select name, value from built"))


def _entries(
    connection: sqlite3.Connection, where: str = "1", values: Sequence[object] = ()
) -> list[Entry]:
    query = f"select * from entries where {where} order by number"
    return [Entry(*row) for row in connection.execute(query, [*values])]


@contextmanager
def opened(path: Path | None) -> Iterator[Atlas]:
    """Open an atlas for reading, without a path the small one that comes with the program.

    Raises:
        InputError: there is no such file, or it is no atlas.
    """
    if path is not None and not path.is_file():
        raise InputError(f"there is no atlas {path}: derive atlas build -o {path} makes one")
    if path is None:
        connection = sqlite3.connect(":memory:")
        connection.deserialize(lzma.decompress(SHIPPED.read_bytes()))
    else:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    with closing(connection):
        atlas = Atlas(connection)
        try:
            version = int(atlas.built.get("version", 0))
        except sqlite3.DatabaseError:
            version = 0
        if version != VERSION:
            raise InputError(f"{path} is no atlas of version {VERSION}")
        yield atlas


def find(path: Path | None, name: str) -> Entry:
    """Return the entry of that id, or of the one that begins so; InputError where there is none."""
    with opened(path) as atlas:
        entries = atlas.entries("substr(id, 1, ?) = ?", [len(name), name])
    if not name or len(entries) != 1:
        what = f"{len(entries)} entries begin with" if len(entries) > 1 else "there is no entry"
        raise InputError(f"{what} {name!r}: `derive atlas search` lists ids")
    return entries[0]


class Writer:
    """The one writer of an atlas: the entries of one F are added together, or not at all."""

    def __init__(self, path: Path, built: Mapping[str, str]) -> None:
        """Begin an atlas, or go on with one that was built from the same.

        Raises:
            InputError: the file is no atlas, one of another kind, or another build writes it.
        """
        try:
            self._connection = connection = sqlite3.connect(path, timeout=1, isolation_level=None)
            # What is committed survives the end of this process at any time.
            connection.execute("pragma locking_mode = exclusive")
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = normal")
            with self._together():
                connection.execute(f"create table if not exists entries ({SCHEMA})")
                connection.execute("create table if not exists built (name primary key, value)")
                known = dict(connection.execute("select name, value from built"))
                if not known:
                    connection.executemany("insert into built values (?, ?)", built.items())
            self.ids = {id for (id,) in connection.execute("select id from entries")}
        except sqlite3.DatabaseError as error:
            raise InputError(f"{path} cannot be written as an atlas: {error}") from None
        if known and known != {**built}:
            other = next(name for name in built if known.get(name) != built[name])
            raise InputError(
                f"{path} was built with {other} {known.get(other)}, not {built[other]}: "
                "go on with the same, or write a new file"
            )

    @contextmanager
    def _together(self) -> Iterator[None]:
        self._connection.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._connection.execute("rollback")
            raise
        self._connection.execute("commit")

    def add(self, entries: Iterable[Entry]) -> None:
        """Add entries, numbered one after the other."""
        with self._together():
            for entry in entries:
                self._connection.execute(INSERT, astuple(entry))
                self._connection.execute(
                    "update entries set number = ? where id = ?", (len(self.ids) + 1, entry.id)
                )
                self.ids.add(entry.id)

    def entries(self) -> list[Entry]:
        """Return all entries."""
        return _entries(self._connection)

    def classify(self, classes: Mapping[str, str]) -> None:
        """Write of entries, by id, which is the simplest one with the same Q."""
        with self._together():
            self._connection.executemany(
                "update entries set class_id = ? where id = ?",
                [(leader, id) for id, leader in classes.items()],
            )

    def close(self) -> None:
        """Leave one file, in which rows stand as they were added."""
        self._connection.execute("pragma journal_mode = delete")
        self._connection.close()
