"""Names, lists of names, assignments, shapes and outputs, as they are typed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from derive.errors import LanguageError
from derive.language.arrays import OPEN, Shape
from derive.language.budget import DEFAULT, Budget
from derive.language.functions import ARRAY_FUNCTIONS, FUNCTIONS
from derive.language.grammar import Parser
from derive.language.reader import Reader, SymmetricReader, Value
from derive.language.tree import Tree, names


def parse_name(text: str, what: str, budget: Budget = DEFAULT) -> str:
    """Read one name; *what* says in a refusal what it is the name of.

    >>> parse_name(" w_1 ", "weight")
    'w_1'
    """
    parser = Parser(text, budget)
    return parser.name(parser.word(""), what=what)


def parse_names(text: str, budget: Budget = DEFAULT) -> tuple[str, ...]:
    """Read a list of different names separated by commas.

    >>> parse_names("p, m")
    ('p', 'm')
    """
    parser = Parser(text, budget)
    found: list[str] = []
    for _ in parser.items():
        found.append(parser.name(parser.word(","), found))
    return tuple(found)


def parse_assignments(text: str, budget: Budget = DEFAULT) -> tuple[tuple[str, Tree], ...]:
    """Read assignments such as ``a=a0,b=1/2`` to different names, in their order.

    >>> [name for name, value in parse_assignments("a=a0, c=sqrt(2)*alpha")]
    ['a', 'c']
    """
    parser, reader = Parser(text, budget), Reader(budget)
    found: dict[str, Tree] = {}
    for _ in parser.items():
        left = parser.word(",=")
        if not parser.accept("="):
            message = "expected an assignment such as a=1/2; separate several by commas"
            raise LanguageError(message, left.column)
        name = parser.name(left, found)
        found[name] = reader.value(parser.expression()).trees[0]
    return tuple(found.items())


def parse_shapes(text: str, budget: Budget = DEFAULT) -> tuple[tuple[str, Shape], ...]:
    """Read ``u:3,W:2x2``, vectors and matrices; a name alone is a vector of open dimension.

    >>> parse_shapes("u:3,W:2x2,v")
    (('u', (3,)), ('W', (2, 2)), ('v', (0,)))
    """
    parser = Parser(text, budget, (*FUNCTIONS, *ARRAY_FUNCTIONS))
    found: dict[str, Shape] = {}
    for _ in parser.items():
        name = parser.name(parser.word(",:"), found)
        found[name] = OPEN
        if parser.accept(":"):
            _, size, column = parser.word(",")
            sizes = re.fullmatch(r"([1-9][0-9]?)(?:x([1-9][0-9]?))?", size)
            if sizes is None:
                message = (
                    f"the dimension of {name} is written u:3 for a vector, W:2x2 for a matrix, "
                    "W:nxr for every size with --measurements"
                )
                raise LanguageError(message, column)
            found[name] = tuple(int(n) for n in sizes.groups() if n)
    return tuple(found.items())


def parse_outputs(texts: Sequence[str], budget: Budget = DEFAULT) -> tuple[Tree, ...]:
    """Read the outputs of a parameterization; each must depend on some name.

    >>> len(parse_outputs(["p**2", "p*m"]))
    2
    """
    return tuple(array.trees[0] for array in parse_array_outputs(texts, {}, budget))


def parse_array_outputs(
    texts: Sequence[str], shapes: Mapping[str, Shape], budget: Budget = DEFAULT
) -> tuple[Value, ...]:
    """Read outputs in which some names are vectors or matrices; without any, all are scalars.

    >>> [array] = parse_array_outputs(["a*u"], {"u": (2,)})
    >>> from derive.language import to_text
    >>> [to_text(entry) for entry in array.trees]
    ['a*u1', 'a*u2']
    """
    if isinstance(texts, str):  # a text is a sequence of texts as well, but not as meant here
        texts = (texts,)
    if not texts:
        raise LanguageError("no outputs: give at least one expression, such as p**2 - m**2")
    if len(texts) > budget.outputs:
        message = f"at most {budget.outputs} outputs are accepted, {len(texts)} are given"
        raise LanguageError(message)
    reader = Reader(budget, shapes)
    return tuple(_output(text, number, len(texts), reader) for number, text in enumerate(texts, 1))


def _output(text: str, number: int, count: int, reader: Reader) -> Value:
    """Read one output, and name it in a refusal if there are several."""
    try:
        value = reader.read(text)
    except LanguageError as error:
        if count == 1:
            raise
        numbered = LanguageError(f"output {number}, {error}")
        numbered.column = error.column
        raise numbered from None
    if not names(value.trees):
        message = f"output {number} is a constant: write an expression that has a weight in it"
        raise LanguageError(message)
    return value


def parse_combination(
    text: str, vectors: Collection[str], budget: Budget = DEFAULT
) -> dict[str, tuple[str, Tree]]:
    """Read a sum of terms phi u over vectors u of open dimension; LanguageError for another text.

    Returns:
        for each u the name of its norm and phi, an expression in scalars and such norms.

    >>> parse_combination("a*u", ["u"])
    {'u': ('norm_u', Name(name='a'))}
    """
    reader = Reader(budget, dict.fromkeys(vectors, OPEN))
    value = reader.read(text)
    if value.shape != OPEN:
        ask = f"give a dimension, for instance --vector {min(vectors)}:3"
        raise LanguageError(f"the output is a number, not a vector: {ask}")
    found = ((str(place[0]), phi.tree) for place, phi in value.entries.items())
    return {u: (reader.norm(u), phi) for u, phi in found}


def parse_entrywise(
    text: str, indexed: str, budget: Budget = DEFAULT
) -> tuple[Tree, dict[str, Tree]]:
    """Read a function of one entry v and of sums over all entries of an indexed weight.

    Returns:
        the function, and for the name of each sum in it the function m(v) that is summed.

    >>> tree, sums = parse_entrywise("exp(v)/sum(exp(v))", "v")
    >>> sums
    {'S1': Call(function='exp', argument=Name(name='v'))}
    """
    reader = SymmetricReader(budget, indexed)
    value = reader.read(text)
    return value.trees[0], reader.sums
