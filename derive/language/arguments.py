"""Names, lists of names, assignments and outputs, as they are given on the command line."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from derive.errors import LanguageError
from derive.language.budget import DEFAULT, Budget
from derive.language.build import Builder
from derive.language.literals import name_fault
from derive.language.parser import parse_part
from derive.language.screen import check_characters
from derive.language.tree import Tree, names


def parse_name(text: str, what: str, budget: Budget = DEFAULT) -> str:
    """Read one name; *what* says in a refusal what it is the name of.

    >>> parse_name(" w_1 ", "weight")
    'w_1'
    """
    check_characters(text, budget)
    return _name(text, 0, what, budget)


def parse_names(text: str, budget: Budget = DEFAULT) -> tuple[str, ...]:
    """Read a list of different names separated by commas.

    >>> parse_names("p, m")
    ('p', 'm')
    """
    check_characters(text, budget)
    found: list[str] = []
    for piece, offset in _pieces(text):
        found.append(_new_name(piece, offset, found, budget))
    return tuple(found)


def parse_assignments(text: str, budget: Budget = DEFAULT) -> tuple[tuple[str, Tree], ...]:
    """Read assignments such as ``a=a0,b=1/2`` to different names, in their order.

    >>> [name for name, value in parse_assignments("a=a0, c=sqrt(2)*alpha")]
    ['a', 'c']
    """
    check_characters(text, budget)
    builder = Builder(budget)
    found: dict[str, Tree] = {}
    for piece, offset in _pieces(text):
        left, equals, right = piece.partition("=")
        if not equals:
            message = "expected an assignment such as a=1/2; separate several by commas"
            raise LanguageError(message, _start(piece, offset))
        name = _new_name(left, offset, found, budget)
        found[name] = parse_part(right, offset + len(left) + 1, builder).tree
    return tuple(found.items())


def parse_outputs(texts: Sequence[str], budget: Budget = DEFAULT) -> tuple[Tree, ...]:
    """Read the outputs of a parameterization; each must depend on some name.

    >>> len(parse_outputs(["p**2", "p*m"]))
    2
    """
    if isinstance(texts, str):  # a text is a sequence of texts as well, but not as meant here
        texts = (texts,)
    if not texts:
        raise LanguageError("no outputs: give at least one expression, such as p**2 - m**2")
    if len(texts) > budget.outputs:
        message = f"at most {budget.outputs} outputs are accepted, {len(texts)} are given"
        raise LanguageError(message)
    builder = Builder(budget)
    return tuple(_output(text, number, len(texts), builder) for number, text in enumerate(texts, 1))


def _output(text: str, number: int, count: int, builder: Builder) -> Tree:
    """Read one output, and name it in a refusal if there are several."""
    try:
        check_characters(text, builder.budget)
        tree = parse_part(text, 0, builder).tree
    except LanguageError as error:
        if count == 1:
            raise
        numbered = LanguageError(f"output {number}, {error}")
        numbered.column = error.column
        raise numbered from None
    if not names((tree,)):
        message = f"output {number} is a constant: write an expression that has a weight in it"
        raise LanguageError(message)
    return tree


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    """Yield the pieces between the commas outside brackets, each with its offset."""
    start, depth = 0, 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            yield text[start:position], start
            start = position + 1
    yield text[start:], start


def _start(piece: str, offset: int) -> int:
    """Return the column of the first character of a piece that is not a space."""
    return offset + len(piece) - len(piece.lstrip(" ")) + 1


def _name(text: str, offset: int, what: str, budget: Budget) -> str:
    """Read a name with spaces around it."""
    name = text.strip(" ")
    if not name:
        message = f"a {what} is missing: write letters, digits and _, such as w_1"
        raise LanguageError(message, offset + 1)
    fault = name_fault(name, budget)
    if fault is not None:
        raise LanguageError(fault, _start(text, offset))
    return name


def _new_name(text: str, offset: int, found: Collection[str], budget: Budget) -> str:
    """Read a name, and refuse one that is given twice, or one too many."""
    name, column = _name(text, offset, "name", budget), _start(text, offset)
    if name in found:
        raise LanguageError(f"{name} is given twice: give each name once", column)
    if len(found) >= budget.names:
        raise LanguageError(f"at most {budget.names} names are accepted", column)
    return name
