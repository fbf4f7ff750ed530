"""What is meant: numbers, vectors and matrices of trees, by one walk through what is written."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, Self, TypeAlias, TypeVar

from derive.errors import LanguageError
from derive.language.arrays import OPEN, Shape, entry_names, places
from derive.language.budget import DEFAULT, Budget
from derive.language.build import Builder, Built
from derive.language.functions import ARRAY_FUNCTIONS, FUNCTIONS, RECORDS, SYMMETRIC_FUNCTIONS
from derive.language.grammar import Parser, Syntax, read_number
from derive.language.tree import Algebra, Tree, evaluated, fold, names, unknown

Place: TypeAlias = tuple[int | str, ...]
"""() of a number, (i,) and (i, j) of entries, (u,) of the coefficient of a vector u."""

_TWO, _HALF = Fraction(2), Fraction(1, 2)
_ONE = Builder(DEFAULT).number(Fraction(1))
"""The coefficient of a vector of open dimension that stands alone."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number, vector or matrix by its entries; of open dimension, a combination of vectors."""

    shape: Shape
    entries: Mapping[Place, Built]

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The entries row by row, without their bounds."""
        return tuple(x.tree for x in self.entries.values())

    def each(self, change: Callable[[Built], Built]) -> Value:
        """Return the value with every entry changed."""
        return Value(self.shape, {place: change(x) for place, x in self.entries.items()})

    def __str__(self) -> str:
        if self.shape == OPEN:
            return "a vector of open dimension"
        size = "x".join(map(str, self.shape))
        return ("a number", f"a vector of length {size}", f"a {size} matrix")[len(self.shape)]


class Reader:
    """Reads texts under the bounds of one budget; names may be those of vectors and matrices."""

    def __init__(self, budget: Budget, shapes: Mapping[str, Shape] | None = None) -> None:
        self._budget, self._builder, self._shapes = budget, Builder(budget), shapes or {}
        self._functions = (*FUNCTIONS, *ARRAY_FUNCTIONS) if shapes else FUNCTIONS
        self._names: set[str] = set()

    def read(self, text: str) -> Value:
        """Return what a text says."""
        parser = Parser(text, self._budget, self._functions)
        self._names, written = parser.names, parser.expression()
        parser.end()
        return self.value(written)

    def value(self, written: Syntax) -> Value:
        """Return what is meant by what is written."""
        return fold(written, lambda node: node.operands, self._combined)

    def norm(self, vector: str) -> str:
        """Return the name that stands for the norm of a vector of open dimension."""
        name = f"norm_{vector}"
        while name in self._names:
            name += "_"
        return name

    def _combined(self, node: Syntax, operands: list[Value]) -> Value:
        try:
            return self._meaning(node, operands)
        except LanguageError as error:
            raise LanguageError(str(error), node.column) from None

    def _meaning(self, node: Syntax, operands: list[Value]) -> Value:
        match node.kind, operands:
            case "number", _:
                return _number(self._builder.number(read_number(node.text, self._budget)))
            case "name", _:
                return self._name(node.text)
            case "sign", [operand]:
                return operand if node.text == "+" else operand.each(self._builder.negate)
            case "operator", [left, right]:
                return self._operation(node.text, left, right)
        return self._applied(node.text, operands)

    def _name(self, name: str) -> Value:
        shape = self._shapes.get(name, ())
        if shape == OPEN:
            return Value(OPEN, {(name,): _ONE})
        arrays = self._shapes.items() if not shape else ()
        if any(name.startswith(array) and name in entry_names(array, n) for array, n in arrays):
            raise LanguageError(f"{name} is an entry of an array: rename it")
        entries = map(self._builder.name, entry_names(name, shape))
        return Value(shape, dict(zip(places(shape), entries, strict=True)))

    def _operation(self, operator: str, left: Value, right: Value) -> Value:
        build = self._builder
        match operator:
            case "+":
                return self._sum(left, right)
            case "-":
                return self._sum(left, right.each(build.negate))
            case "*":
                return self._product(left, right)
            case "/" if not right.shape:
                return left.each(lambda x: build.operation("/", x, right.entries[()]))
            case "/":
                raise _misfit("cannot be a divisor", "", right)
        if left.shape or right.shape:
            raise _misfit("make no power", "; write W*W for a matrix", left, right)
        return _number(build.real_power(left.entries[()], right.entries[()]))

    def _sum(self, left: Value, right: Value) -> Value:
        if left.shape != right.shape:
            raise _misfit("cannot be added", "", left, right)
        total = dict(left.entries)
        for place, x in right.entries.items():
            total[place] = self._builder.operation("+", total[place], x) if place in total else x
        return Value(left.shape, total)

    def _product(self, left: Value, right: Value) -> Value:
        """Return the product of two matrices, or of a number and anything."""
        if not (left.shape and right.shape):
            pairs = ((i, j) for i in left.entries for j in right.entries)
            entries = {(*i, *j): self._times(left.entries[i], right.entries[j]) for i, j in pairs}
            return Value(left.shape or right.shape, entries)
        if len(left.shape) != 2 or left.shape[1] != right.shape[0]:
            hint = "; write dot(u, v), or give the entries" if len(left.shape) == 1 else ""
            raise _misfit("cannot be multiplied", hint, left, right)
        shape, inner = (left.shape[0], *right.shape[1:]), range(1, left.shape[1] + 1)
        entries = {
            (i, *j): self._inner((left.entries[i, k], right.entries[k, *j]) for k in inner)
            for i, *j in places(shape)
        }
        return Value(shape, entries)

    def _times(self, x: Built, y: Built) -> Built:
        if x is _ONE:
            return y
        return x if y is _ONE else self._builder.operation("*", x, y)

    def _inner(self, pairs: Iterable[tuple[Built, Built]]) -> Built:
        build = self._builder
        terms = (
            build.power(x, _TWO) if x.tree == y.tree else build.operation("*", x, y)
            for x, y in pairs
        )
        return functools.reduce(functools.partial(build.operation, "+"), terms)

    def _applied(self, function: str, operands: list[Value]) -> Value:
        first = operands[0]
        if function == "T":
            if len(first.shape) != 2:
                raise _misfit("cannot be in T(...)", ": it is for matrices", first)
            turned = first.shape[::-1]
            return Value(turned, {(i, j): first.entries[j, i] for i, j in places(turned)})
        if function in ARRAY_FUNCTIONS:
            return _number(self._length(function, operands))
        if first.shape:
            raise _misfit(f"cannot be in {function}(...)", ": it is for numbers", first)
        record, argument = RECORDS[function], first.entries[()]
        if record.is_call:
            return _number(self._builder.call(function, argument))
        return _number(self._builder.rebuild(template(record.rewritten), {"x": argument}))

    def _length(self, function: str, operands: list[Value]) -> Built:
        """Return the inner product of two vectors, or the norm of one."""
        build, left, right = self._builder, operands[0], operands[-1]
        alone = left.entries == right.entries and [*left.entries.values()] == [_ONE]
        if len(left.shape) != 1 or left.shape != right.shape or (left.shape == OPEN and not alone):
            use = ": it is for vectors of one length"
            raise _misfit(f"cannot be in {function}(...)", use, *operands)
        if left.shape == OPEN:
            [(vector,)] = left.entries
            norm = build.name(self.norm(str(vector)))
            return norm if function == "norm" else build.power(norm, _TWO)
        square = self._inner(zip(left.entries.values(), right.entries.values(), strict=True))
        return build.power(square, _HALF) if function == "norm" else square


class SymmetricReader(Reader):
    """Reads functions of one entry of an indexed weight v, and of sums over all its entries.

    Attributes:
        sums: for the name that stands for sum_k m(v_k), the function m(v).
    """

    def __init__(self, budget: Budget, indexed: str) -> None:
        super().__init__(budget)
        self._functions = (*FUNCTIONS, *SYMMETRIC_FUNCTIONS)
        self._indexed = indexed
        self.sums: dict[str, Tree] = {}

    def _applied(self, function: str, operands: list[Value]) -> Value:
        if function not in SYMMETRIC_FUNCTIONS:
            return super()._applied(function, operands)
        build, [entry] = self._builder, operands
        inner = entry.entries[()]
        within = {*names((inner.tree,))}
        if self._indexed not in within or within & {*self.sums}:
            what = f"{function}(...) goes over the entries of {self._indexed}"
            raise LanguageError(
                f"{what}: it takes a function of {self._indexed} without sums in it"
            )
        match function:
            case "norm":
                return _number(build.power(self._sum_of(build.power(inner, _TWO)), _HALF))
            case "prod":
                return _number(build.call("exp", self._sum_of(build.call("log", inner))))
        return _number(self._sum_of(inner))

    def _sum_of(self, inner: Built) -> Built:
        """Return the name that stands for the sum of a function over all entries."""
        known = next((name for name, m in self.sums.items() if m == inner.tree), None)
        name = known or f"S{len(self.sums) + 1}"
        while known is None and name in self._names:
            name += "_"
        self.sums[name] = inner.tree
        return self._builder.name(name)


def _number(built: Built) -> Value:
    return Value((), {(): built})


def _misfit(what: str, hint: str, *values: Value) -> LanguageError:
    """Return the refusal of values that do not go together, with a hint on what does."""
    if vectors := [str(place[0]) for v in values if v.shape == OPEN for place in v.entries]:
        u = min(vectors)
        hint = f": write phi(..., norm({u}))*{u}, or give a dimension, for instance --vector {u}:3"
    return LanguageError(f"{' and '.join(map(str, values))} {what}{hint}")


def parse_expression(text: str, budget: Budget = DEFAULT) -> Tree:
    """Read one expression within bounds, or raise LanguageError; nothing is ever executed.

    >>> parse_expression("3*x")
    Operation(operator='*', left=Number(value=Fraction(3, 1)), right=Name(name='x'))
    """
    return Reader(budget).read(text).trees[0]


template = functools.cache(parse_expression)
"""The tree of a text in :mod:`derive.language.functions`."""


def bind(tree: Tree, values: Mapping[str, Fraction]) -> Tree:
    """Return *tree* with numbers for some names; LanguageError where it is undefined there.

    >>> from derive.language.tree import Name, RealPower
    >>> bind(RealPower(Name("p"), Name("D")), {"D": Fraction(3)})
    Power(base=Name(name='p'), exponent=Fraction(3, 1))
    """
    builder = Builder(DEFAULT)
    return builder.rebuild(tree, {name: builder.number(x) for name, x in values.items()}).tree


class Arithmetic(Protocol):
    """What can be added, multiplied and divided, whole numbers included."""

    def __add__(self, other: Self | int, /) -> Self: ...
    def __radd__(self, other: int, /) -> Self: ...
    def __rsub__(self, other: int, /) -> Self: ...
    def __mul__(self, other: Self | int, /) -> Self: ...
    def __rmul__(self, other: int, /) -> Self: ...
    def __truediv__(self, other: Self | int, /) -> Self: ...
    def __rtruediv__(self, other: int, /) -> Self: ...


E = TypeVar("E", bound=Arithmetic)


def value_of(text: str, values: Mapping[str, E], call: Callable[[str, E], E] = unknown) -> E:
    """Return the value of a text of names, whole numbers and + - * /; of calls by *call*.

    >>> value_of("1 + f*f", {"f": 3})
    10
    """

    def power(x: E, exponent: Fraction) -> E:
        if exponent != Fraction(1, 2):
            raise TypeError(f"{text} is not of this kind")
        return call("sqrt", x)

    def number(value: Fraction) -> E:
        return int(value)  # type: ignore[return-value]  # whole numbers go with all

    return evaluated(template(text), Algebra(number, values.__getitem__, power, call))
