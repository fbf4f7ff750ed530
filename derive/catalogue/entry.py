"""One model of the catalogue, and one formula as it was printed: records without any algebra."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from derive.errors import InputError
from derive.model.typed import TypedModel


@dataclass(frozen=True, slots=True)
class Printed:
    """A formula as it was printed, of one of :data:`derive.catalogue.audit.formula_kinds.KINDS`.

    *text* has its components in the language of the command line, *where* what their names mean.
    """

    kind: str
    text: tuple[str, ...]
    place: str
    cite: str
    where: tuple[tuple[str, str], ...] = ()

    @property
    def meanings(self) -> tuple[str, ...]:
        """What the names stand for, or tend to."""
        # What tends somewhere: to 0, infinity, or 1- for one side.
        limits = {x for _, x in self.where if x in ("0", "infinity") or x[-1:] in ("-", "+")}
        return tuple(f"{name} {'->' if x in limits else '='} {x}" for name, x in self.where)


@dataclass(frozen=True, slots=True)
class Entry:
    """A model: F and the start as they are typed on the command line, and what is known of it.

    *verdict* is what is expected of its derivation: PROVED, REFUTED or UNDECIDED; *cite* are keys
    of its sources, and *assumptions* say in words what the model stands for.
    """

    id: str
    title: str
    outputs: tuple[str, ...]
    verdict: str
    start: str = ""
    positive: str = ""
    vector: str = ""
    matrix: str = ""
    parameter: str = ""
    assumptions: str = ""
    cite: tuple[str, ...] = ()
    printed: tuple[Printed, ...] = ()

    @property
    def model(self) -> TypedModel:
        """F and the start, as they are typed."""
        return TypedModel(
            self.outputs, self.start, self.positive, self.vector, self.matrix, self.parameter
        )

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """The options that are given, in the order in which they are typed."""
        names = ("vector", "matrix", "parameter", "start", "positive")
        return tuple((name, getattr(self, name)) for name in names if getattr(self, name))

    @property
    def command(self) -> str:
        """The command that derives it."""
        shown = [f'"{output}"' for output in self.outputs]
        shown += [f'--{name} "{value}"' for name, value in self.options]
        return f"derive regularizer {' '.join(shown)}"


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
    return Printed(where=tuple(where.items()), **_checked(name, Printed, given, ("where",)))


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
