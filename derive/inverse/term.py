"""A term of Q: its coordinates, its parameters and where the flow of it starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError
from derive.exact.towers.germ import Elementary
from derive.language.tree import Call, Name, Power, Tree, names, walk
from derive.model.notation import to_expr

GENERATORS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "root": lambda x, n: x ** (1 / n),
    "log": lambda x, n: sympy.log(x),
    "exp": lambda x, n: sympy.exp(x / n),
    "tan": lambda x, n: sympy.tan(x / (2 * n)),
    "atan": lambda x, n: sympy.atan(x),
}
"""Of an argument x and an index n."""
PARAMETERS = ((1, 1), (2, 1), (1, 2), (3, 5), (5, 3))


@dataclass(frozen=True)
class Term:
    """A term Q of the potential in variables that no other term has.

    Attributes:
        coordinates: of beta: its variables.
        positive: parameters that are declared so.
        start: beta_0 of a single variable, where it is given.
        suffix: with which the names of its weights end, where Q has several terms.
    """

    tree: Tree
    coordinates: tuple[str, ...]
    positive: frozenset[str] = frozenset()
    start: Tree | None = None
    suffix: str = ""

    @property
    def variable(self) -> str:
        """What the term is called by: its variable, or all their names."""
        return ", ".join(self.coordinates)

    @property
    def couples(self) -> bool:
        """Whether it has several variables."""
        return len(self.coordinates) > 1

    @property
    def parameters(self) -> tuple[str, ...]:
        """The other names."""
        found = names((self.tree, self.start or self.tree))
        return tuple(name for name in found if name not in self.coordinates)

    @property
    def numbers(self) -> tuple[str, ...]:
        """What stands behind beta in the names of variables, and behind w and u in ours."""
        return tuple(name.removeprefix("beta").strip("_") for name in self.coordinates)

    @property
    def one_sided(self) -> bool:
        """Whether Q is defined for a positive coordinate only, by a bare log or root of it."""
        bare = Name(self.variable)
        return any(
            (isinstance(n, Call) and n.function == "log" and n.argument == bare)
            or (isinstance(n, Power) and n.base == bare and n.exponent.denominator % 2 == 0)
            for n in walk(self.tree)
        )

    def symbols(self) -> dict[str, Symbol]:
        """Return the SymPy symbols of the proposals, parameters positive."""
        own = {"positive": True} if self.one_sided else {"real": True}
        variables = {name: Symbol(name, **own) for name in self.coordinates}
        return variables | {name: Symbol(name, positive=True) for name in self.parameters}

    def parameter_points(self) -> Iterator[dict[str, Fraction]]:
        """Yield rational values of the parameters, positive ones."""
        for first, step in PARAMETERS if self.parameters else PARAMETERS[:1]:
            places = enumerate(self.parameters)
            yield {name: Fraction(first + step * k, 1 + k % 2) for k, name in places}


def turned(
    places: Sequence[Fraction], size: int, ways: Iterable[tuple[int, int]]
) -> dict[tuple[Fraction, ...], None]:
    """Return places for several variables, each once: the k-th, and s further on for each next."""
    n = len(places)
    return dict.fromkeys(tuple(places[(k + i * s) % n] for i in range(size)) for k, s in ways)


def recognise(tree: Tree, variable: str | None) -> tuple[str, ...]:
    """Return the names of the coordinates in one term of Q; InputError for none."""
    found = names((tree,))
    if variable is not None and variable in found:
        return (variable,)
    betas = tuple(sorted(name for name in found if re.fullmatch(r"beta_?\d*", name)))
    if betas or len(found) == 1:
        return betas or found
    if not found:
        raise InputError("Q is a constant: write an expression in beta, such as beta*log(beta)")
    raise InputError(f"which of {', '.join(found)} is the coordinate? call it beta")


def expressions(tower: Elementary, symbols: dict[str, Symbol]) -> list[Expr]:
    """Return the SymPy expression of every name of a tower's field."""
    images: list[Expr] = [symbols[name] for name in tower.known]
    blank = [sympy.Integer(0)] * len(tower.field.names)
    for generator in tower.generators:
        x = to_expr(generator.argument, [*images, *blank[len(images) :]])
        images.append(GENERATORS[generator.kind](x, sympy.Integer(generator.index)))
    return [*images, *blank[len(images) :]]
