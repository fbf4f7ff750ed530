"""The calls that F, logarithms and forms use, as definitions of a certificate."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from derive.certificate.checking.claims import Checker
from derive.certificate.checking.function import Function
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected
from derive.certificate.writing.products import angles, call_of, calls_in, entries_for, spelled
from derive.errors import DeriveError
from derive.exact.field.function_field import FunctionField
from derive.exact.towers.reader import Refine
from derive.exact.towers.tower import Tower
from derive.language import parse_expression
from derive.model.parameterization import Parameterization

ROOM = 60


class Definitions:
    """Definitions that a space accepts, in the order in which they need one another."""

    def __init__(self, space: Space, entries: list[JSON], taken: set[str]) -> None:
        self.space, self.entries, self.taken = space, entries, taken

    def define(self, entry: JSON) -> None:
        """Add a definition."""
        self.space.define(entry)
        self.entries.append(entry)

    def knows(self, text: str) -> bool:
        """Tell whether a call is defined."""
        try:
            self.space.read(text)
        except Rejected:
            return False
        return True

    def name(self, text: str) -> None:
        """Name a call as a generator, if it is not known."""
        if not self.knows(text):
            self.define({"name": self.fresh(), "of": text})

    def fresh(self) -> str:
        """Return a name that is not taken."""
        name = next(name for n in count(1) if (name := f"f{n}") not in self.taken)
        self.taken.add(name)
        return name


class Calls(Definitions):
    """Names for calls, defined in the record of a certificate; those of F come first."""

    def __init__(self, record: JSON, p: Parameterization) -> None:
        plain = {**record, "outputs": list(p.weights[:1]), "definitions": [], "ties": []}
        plain.pop("vector", None)
        space = Checker({**plain, "claims": []}, ROOM).space
        taken = {*p.weights, *p.parameters, *p.start_symbols}
        super().__init__(space, record["definitions"], taken)
        for g in (*p.field.generators, *p.start_field.generators):
            if g.kind != "parameter":
                self.name(g.name)
        for text in calls_in(record["outputs"]):
            if not self.knows(text):
                for kind, argument, exponent, _ in list(self.space.known):
                    self._image_at_start(kind, argument, exponent, p)
                call = self.space.call(text)
                self._image_at_start(*call, p)
                self._image(text, p.field, p)

    def _image_at_start(
        self, kind: str, argument: Function, exponent: Function, p: Parameterization
    ) -> None:
        """Define a call with its argument at w_0."""
        if self.space.is_of_constants(argument):
            return
        text = call_of(kind, self.space.at_start(argument), exponent, spelled)
        if kind == "sin":
            self._image("cos" + text.removeprefix("sin"), p.start_field, p)
        self._image(text, p.start_field, p)

    def _image(self, text: str, field: FunctionField, p: Parameterization) -> None:
        """Define a call as what it is in a field, or else as a generator."""
        if self.knows(text):
            return
        before, size = self.space.scope(), len(self.entries)
        try:
            image = _written(text, field, p)
            if text.startswith("cos("):
                sine = _written("sin" + text.removeprefix("cos"), field, p)
                parts = angles(self.space, text)
                self.define({"of": text, "is": image, "sin": sine, "from": parts})
            else:
                for entry in entries_for(self.space, text, image, self.fresh):
                    self.define(entry)
        except (DeriveError, Rejected, Refine, ValueError):
            self.space.leave(before)
            del self.entries[size:]
            self.name(text)

    def missing(self, texts: Iterable[str], space: Space) -> list[JSON]:
        """Return definitions of the calls in texts that are not known yet, as generators."""
        found, before = Definitions(space, [], self.taken), space.scope()
        try:
            for text in calls_in(texts):
                found.name(text)
        finally:
            space.leave(before)
        return found.entries


def _written(text: str, field: FunctionField, p: Parameterization) -> str:
    """Return a call in the generators of a field."""
    tree = parse_expression(text.replace("Abs", ""))
    return repr(field.embed(Tower.over(field, p.positive).element(tree)))
