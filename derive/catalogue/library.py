"""The models, their formulas as printed and the sources, as records on disk; deriving a model."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.errors import InputError
from derive.folder import find_record, read_folder
from derive.model.typed import TypedModel
from derive.printable import Certified, Printable

if TYPE_CHECKING:
    from derive.derivation import Derivation
    from derive.matrices import MatrixDerivation
    from derive.verdict import Verdict

FOLDER = Path(__file__).parent
READINGS = {
    "page": "typeset page",
    "text": "text at hand, extracted from the source",
    "memory": "from memory of the published paper",
}
"""Where a formula was read."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A formula as it was printed, of one of :data:`derive.catalogue.audit.formula_kinds.KINDS`.

    *text* has its components in the language of the command line, *where* what their names mean,
    *assuming* what is printed to hold: texts such as ``z > 0`` or ``c != 0``. *source* says where
    it is, formulas in backticks, *read* where it was read, of :data:`READINGS`; *quote* is the
    whole passage, as it stands there. Where it is printed of more than the model, *instance* says
    what of it the model is.
    """

    kind: str
    text: tuple[str, ...]
    source: str
    cite: str
    read: str
    where: tuple[tuple[str, str], ...] = ()
    assuming: tuple[str, ...] = ()
    quote: str = ""
    instance: str = ""

    @property
    def place(self) -> str:
        """The place in the source, in plain words."""
        return self.source.replace("`", "")

    @property
    def meanings(self) -> tuple[str, ...]:
        """What the names stand for, or tend to, and what is assumed of them."""
        # What tends somewhere: to 0, infinity, or 1- for one side.
        limits = {x for _, x in self.where if x in ("0", "infinity") or x[-1:] in ("-", "+")}
        named = (f"{name} {'->' if x in limits else '='} {x}" for name, x in self.where)
        return (*named, *self.assuming)

    @property
    def reading(self) -> str:
        """Where it was read, in words."""
        return READINGS[self.read]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(TypedModel):
    """A model: F and the start as they are typed on the command line, and what is known of it.

    *verdict* is what is expected of its derivation: PROVED, REFUTED or UNDECIDED; *cite* are keys
    of its sources, and *assumptions* say in words what the model stands for.
    """

    id: str
    title: str
    verdict: str
    assumptions: str = ""
    cite: tuple[str, ...] = ()
    printed: tuple[Printed, ...] = ()

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """The options that are given, in the order in which they are typed."""
        names = ("vector", "matrix", "measurements", "parameter", "rates", "mirror", "start")
        given = ((name, getattr(self, name)) for name in (*names, "positive"))
        return tuple((name, text) for name, text in given if text)

    @property
    def command(self) -> str:
        """The command that derives it."""
        shown = [f'"{output}"' for output in self.outputs]
        shown += [f'--{name} "{value}"' for name, value in self.options]
        return f"derive regularizer {' '.join(shown)}"


@dataclass(frozen=True, repr=False)
class Model(Certified):
    """A model as it was derived, with what became of the formulas that were printed of it."""

    entry: Entry
    derivation: Derivation | MatrixDerivation
    audit: Printable | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether it has a Q."""
        return self.derivation.verdict

    def to_json(self, seconds: float = 20.0) -> str:
        """Return the JSON record of the derivation."""
        return self.derivation.to_json(seconds)


def read_entry(name: str, record: Mapping[str, object]) -> Entry:
    """Return the entry of a record, or refuse a field that is missing, unknown or ill-typed."""
    given = dict(record)
    printed = given.pop("printed", [])
    if not isinstance(printed, list) or not all(isinstance(x, dict) for x in printed):
        raise InputError(f"{name}: printed must be a list of tables")
    formulas = tuple(_printed(f"{name}, formula {i}", x) for i, x in enumerate(printed, 1))
    return Entry(id=name, printed=formulas, **_checked(name, Entry, given, ("id", "printed")))


def _printed(name: str, record: Mapping[str, object]) -> Printed:
    given = dict(record)
    where = given.pop("where", {})
    if not isinstance(where, dict) or not all(isinstance(x, str) for x in where.values()):
        raise InputError(f"{name}: where must give a text for each name")
    printed = Printed(where=tuple(where.items()), **_checked(name, Printed, given, ("where",)))
    if printed.read not in READINGS:
        raise InputError(f"{name}: read must be one of {', '.join(READINGS)}")
    return printed


def _checked(
    name: str, kind: type, given: Mapping[str, object], elsewhere: tuple[str, ...]
) -> dict[str, Any]:
    """Return the values of a record's fields; lists become tuples."""
    known = {f.name: f for f in fields(kind) if f.name not in elsewhere}
    for key, value in given.items():
        if key not in known:
            raise InputError(f"{name}: unknown field {key}; known are {', '.join(known)}")
        several = "tuple" in str(known[key].type)
        texts = value if isinstance(value, list) else [value]
        if several != isinstance(value, list) or not all(isinstance(x, str) for x in texts):
            wanted = "a list of texts" if several else "a text"
            raise InputError(f"{name}: {key} must be {wanted}")
    for key in (f.name for f in known.values() if f.default is MISSING):
        if key not in given:
            raise InputError(f"{name}: the field {key} is missing")
    return {key: tuple(x) if isinstance(x, list) else x for key, x in given.items()}


@functools.cache
def entries() -> tuple[Entry, ...]:
    """Return all models, by id.

    Raises:
        InputError: a record cannot be read; the message names its file.
    """
    return read_folder(FOLDER / "entries", read_entry)


def find(name: str) -> Entry:
    """Return the model of that id.

    Raises:
        InputError: there is none; the message names the nearest.
    """
    return find_record(entries(), name, "model", "`derive catalogue` lists them")


def summand(found: Derivation | MatrixDerivation) -> Derivation:
    """Return what formulas are of: of matrices of every size one entry b_k, as Q is a sum."""
    one: Derivation = getattr(found, "entry", None) or found  # type: ignore[assignment]
    return one


def derive_entry(
    entry: Entry, enter: Callable[[str], None] | None = None, timeout: float | None = None
) -> Derivation:
    """Derive one model, on the same road as what a user types.

    >>> derive_entry(find("linear")).verdict.value
    'PROVED'
    """
    from derive.derivation import derive

    return derive(entry.read().parameterization(), enter, timeout=timeout)
