"""What the iterates of an optimizer span: its update modulo the rows of X, exactly.

Let every state be, modulo row(X), what it starts from: z_0, 0, or for an operator a multiple of the
identity. An update that is linear in its vectors, and leaves these classes as they are where g and
other rows are 0, keeps them for ever: z_k - z_0 stays in row(X). (Operators commute there: what
they have besides, u v^T with u in row(X), is 0.) Of an update of w with a potential z is psi'(w),
coordinate by coordinate.

If the differences of z to the other points, each of one sign, and the directions move by
nonnegative multiples of one another and of -g, and z by these, then z_k - z_0 = X^T s with s >= 0
wherever the loss decreases.

Source: derived; for gradient and mirror descent the first is folklore (Gunasekar, Lee, Soudry,
Srebro 2018, section 2).

The table of optimizers: their updates as data, in ``table.toml``, with what each field means.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.signs import Signs
from derive.exact.towers.reader import refined
from derive.exact.towers.tower import Tower
from derive.folder import find_record
from derive.language import Tree, from_sympy, parse_expression, to_sympy
from derive.verdict import Finding, Identity, Verdict


@dataclass(frozen=True)
class Motion:
    """An update as exact functions: the next value of each state; of w with a potential, of z."""

    update: Update
    images: Mapping[str, RationalFunction]

    @property
    def point(self) -> str:
        """The name of z."""
        return next(iter(self.images))

    @property
    def step(self) -> RationalFunction:
        """The change of z."""
        image = self.images[self.point]
        return image - image.field.named(self.point)


def motion(update: Update) -> Motion:
    """Return an update as exact functions."""
    return refined(lambda units: _motion(update, units), "roots in an update")


def _motion(update: Update, units: dict[str, int]) -> Motion:
    positive = [*update.scalars, *(["w"] if update.positive else [])]
    tower = Tower(tuple(update.grades), (), units, positive)
    images = {x: tower.element(parse_expression(text)) for x, text in update.update.items()}
    if update.slope is not None:
        ends = images.pop("w"), tower.field.named("w")
        after, before = (tower.element(update.slope, {"w": end}) for end in ends)
        step = tower.operate("+", after, -tower.field.embed(before))
        images = {"z": tower.operate("+", tower.field.named("z"), step), **images}
    return Motion(update, {x: tower.field.embed(image) for x, image in images.items()})


def decide_span(m: Motion) -> Finding:
    """Decide whether the update keeps z - z_0 in row(X); UNDECIDED where this road does not."""
    grades, starts = m.update.grades, dict(m.update.state)
    start = starts.pop(m.update.point)
    of = {m.point: start, **starts}
    for name, image in m.images.items():
        if not _is_linear(image, grades, grades[name]):
            return Finding(
                Verdict.UNDECIDED, f"the update of `{name}` is not linear in its vectors"
            )
        classes = dict.fromkeys(m.update.rows, "0") | of
        if _at(image, {x: _named(image, c) for x, c in classes.items()}) != _named(image, of[name]):
            return Finding(Verdict.UNDECIDED, f"the update of `{name}` leaves its class")
    left = f"{m.point}_next - {m.point}"
    space = m.update.space
    identity = Identity(
        f"modulo `{space}` every state stays what it starts from", left, repr(m.step)
    )
    return Finding(Verdict.PROVED, f"`{m.point}_k - {m.point}_0 in {space}`", (identity,))


def decide_signs(m: Motion, span: Finding) -> Finding:
    """Decide whether z_k - z_0, proved to be in row(X), is X^T s with s >= 0 for falling losses."""
    why = "the signs of the multipliers are open"
    grades, starts = m.update.grades, m.update.state
    if m.update.forms or span.verdict is not Verdict.PROVED:
        return Finding(Verdict.UNDECIDED, why)
    points = [x for x, s in starts.items() if s != "0" and x not in (m.point, m.update.point)]
    besides = " + A^T c" if m.update.space != "row(X)" else ""
    told = f"`{m.point}_k - {m.point}_0 = X^T s{besides}` with `s >= 0`"
    for signed in dict.fromkeys([(), (*m.update.signed,)]):
        given = f", where {' and '.join(f'`{x} >= 0`' for x in signed)} at each step"
        for signs in product((1, -1), repeat=len(points)):
            if _is_cone(m, dict(zip(points, signs, strict=True)), grades, signed):
                return Finding(Verdict.PROVED, told + given * bool(signed))
    return Finding(Verdict.UNDECIDED, why)


def _is_cone(
    m: Motion, signs: Mapping[str, int], grades: Mapping[str, int], signed: Sequence[str]
) -> bool:
    """Tell whether z and the e = sign (z - b), of which all start at 0, move within the cone,
    where also the *signed* numbers are positive."""
    z = m.images[m.point]
    named = z.field.named
    shifted = {b: named(m.point) - sign * named(b) for b, sign in signs.items()}
    moves = [m.step, *(sign * (z - m.images[b]) for b, sign in signs.items())]
    moves += [image for x, image in m.images.items() if m.update.state.get(x) == "0"]
    known = Signs((*m.update.scalars, *signed))
    for move in (_at(move, shifted) for move in moves):
        for name in move.variables():
            if grades[name] == 1 and (name == "g" or name not in m.update.rows):
                slope = move.partial(move.field.positions[name])
                if not known.is_positive(-slope if name == "g" else slope):
                    return False
    return True


def _named(element: RationalFunction, text: str) -> RationalFunction:
    return element.field.zero if text == "0" else element.field.named(text)


def _at(element: RationalFunction, values: Mapping[str, RationalFunction]) -> RationalFunction:
    field = element.field
    return element.compose([values.get(x, field.named(x)) for x in field.names], field)


def _is_linear(element: RationalFunction, grades: Mapping[str, int], grade: int) -> bool:
    """Tell whether each term has one vector more than transposed ones, or as many: its *grade*."""
    names = element.field.names
    if any(x not in grades or x == "d" for x in element.variables()):
        return False
    if any(e and grades[x] for x, e in zip(names, element.denominator.degrees(), strict=True)):
        return False
    sizes = (
        sum(e * grades[x] for x, e in zip(names, exponents, strict=True) if e)
        for exponents, _ in terms(element.numerator)
    )
    return all(size == grade for size in sizes)


FILE = Path(__file__).with_name("table.toml")


@dataclass(frozen=True)
class Update:
    """One optimizer; ``table.toml`` says what its fields are."""

    id: str
    title: str
    state: Mapping[str, str]
    update: Mapping[str, str]
    rows: Sequence[str] = ("g",)
    forms: Sequence[str] = ()
    scalars: Sequence[str] = ("eta", "mu")
    signed: Sequence[str] = ()
    space: str = "row(X)"
    where: str = ""
    norm: str = ""
    potential: str = ""
    positive: bool = False
    metric: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    tail: Mapping[str, str] = field(default_factory=dict)

    @property
    def point(self) -> str:
        """The first state: w, or the dual point z."""
        return next(iter(self.state))

    @property
    def slope(self) -> Tree | None:
        """psi'(w), or None without psi."""
        if not self.potential:
            return None
        return from_sympy(to_sympy(parse_expression(self.potential)).diff("w"))

    def read_data(self) -> tuple[list[list[Fraction]], list[Fraction]]:
        """Return X and y."""
        X = [[Fraction(x) for x in row] for row in self.data["X"]]
        return X, [Fraction(b) for b in self.data["y"]]

    @property
    def grades(self) -> dict[str, int]:
        """All names: 1 for vectors, -1 for transposed ones, 0 for operators and scalars."""
        starts = [s for s in self.state.values() if s != "0"]
        vectors = {x for x, s in self.state.items() if s == "0" or s.endswith("_0")}
        grades = dict.fromkeys((*self.state, *starts, *self.scalars, *self.signed), 0)
        grades |= dict.fromkeys((*self.rows, "d", "z", *vectors), 1)
        return grades | {s: 1 for s in starts if s.endswith("_0")} | dict.fromkeys(self.forms, -1)


@functools.cache
def updates() -> tuple[Update, ...]:
    """Return the updates of all optimizers, in the order of the table."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tuple(Update(id=name, **record) for name, record in table.items())


def find_update(name: str) -> Update:
    """Return the optimizer of that name.

    Raises:
        InputError: there is none; the message names the nearest.
    """
    return find_record(updates(), name, "optimizer", "`derive optimizers` lists them")
