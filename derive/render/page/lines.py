"""Displayed equations that fit a column: widths of LaTeX in points, and where a formula breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from sympy import Expr, Poly

from derive.render.document import Display
from derive.render.page.printer import bracketed, latex
from derive.render.text import MARK

COLUMN = 224.0
"""Points that a displayed line may fill: one of two columns of an article."""

Row: TypeAlias = tuple[str, Expr | str]
"""The two sides of an equation: LaTeX, and LaTeX or an expression."""

SMALL = 70.0
"""Points below which nothing is broken."""

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_]|\s+|.", re.DOTALL)
GIVEN = {
    **dict.fromkeys((r"\left", r"\right"), 4.0),
    **dict.fromkeys((r"\bigl", r"\bigr", r"\Bigl", r"\Bigr", r"\mathsf", "&", MARK), 0.0),
    **dict.fromkeys("0123456789", 5.0),
    **dict.fromkeys("([|])", 4.6),
    **dict.fromkeys((r"\langle", r"\rangle", r"\lvert", r"\rvert", "/"), 4.6),
    **dict.fromkeys(("+", "-", r"\cdot", r"\pm"), 12.5),
    **dict.fromkeys(("=", "<", ">", r"\to", r"\neq", r"\le", r"\ge", r"\in", r"\sim"), 14.0),
    **dict.fromkeys((r"\log", r"\exp", r"\sin", r"\cos", r"\tan"), 17.0),
    **dict.fromkeys((r"\arsinh", r"\sinh", r"\cosh", r"\tanh", r"\arctan"), 28.0),
    **{r"\lVert": 5.2, r"\rVert": 5.2, r"\quad": 10.0, r"\qquad": 20.0, r"\;": 2.8, r"\,": 1.7},
    **{r"\int": 10.0, r"\nabla": 8.4, r"\infty": 10.0, r"\min": 19.0, r"\ ": 3.4, r"\mathrm": 0.0},
    **{"m": 8.8, "w": 7.3, "M": 10.8, "W": 11.0, ",": 4.5, r"\operatorname": 0.0},
}
"""Widths, with the space that TeX leaves around them, of what is no letter, digit or Greek."""


def width(text: str) -> float:
    """Return about how many points wide a formula is when it is set at ten points."""
    tokens = TOKEN.findall(text)
    return _widths(tokens, 0, 1.0)[0]


def words_width(text: str) -> float:
    """Return the same of a cell of a table, which is set at nine points, with what is beside it."""
    parts = text.split("$")
    return 4.3 * len("".join(parts[::2])) + 0.9 * sum(map(width, parts[1::2])) + 12.0


def _widths(tokens: Sequence[str], at: int, scale: float) -> tuple[float, int]:
    """Return the width up to the end of the group, and where that is."""
    total = 0.0
    while at < len(tokens) and tokens[at] != "}":
        found, at = _atom(tokens, at, scale)
        total += found
    return total, at + 1


def _atom(tokens: Sequence[str], at: int, scale: float) -> tuple[float, int]:
    """Return the width of the next group, command with its arguments, or character."""
    token = tokens[at]
    if token == "{":
        return _widths(tokens, at + 1, scale)
    if token in ("^", "_"):
        return _atom(tokens, at + 1, 0.72 * scale) if at + 1 < len(tokens) else (0.0, at + 1)
    if token in (r"\frac", r"\tfrac"):
        inner = scale if scale == 1 and token == r"\frac" else 0.75 * scale
        top, at = _atom(tokens, at + 1, inner)
        bottom, at = _atom(tokens, at, inner)
        return max(top, bottom) + 2.4, at
    if token == r"\sqrt":
        found, at = _atom(tokens, at + 1, scale)
        return found + 8.6 * scale, at
    if token in (r"\begin", r"\end"):
        return 0.0, _widths(tokens, at + 2, 0.0)[1]
    letter = 0.0 if token.isspace() else 7.4 if token.isupper() else 5.7
    return scale * GIVEN.get(token, letter), at + 1


def display(rows: Sequence[Row], label: str = "", relation: str = "=") -> Iterator[Display]:
    """Yield displayed equations left = right, long ones broken; they may get a label.

    A row without a left side goes on with the equation above it.
    Those that are too wide when aligned, as one has a long left side, are displayed one by one.
    """
    if not rows:
        return
    apart = [list(equation(left, right, relation)) for left, right in rows]
    ends = [" ," if left else "" for left, _ in rows[1:]] + [""]
    whole = [
        x for lines, end in zip(apart, ends, strict=True) for x in (*lines[:-1], lines[-1] + end)
    ]
    beside = r" \qquad ".join(map(_unaligned, whole)).replace(r" \qquad  =", " =")
    if not label and len(whole) == len(rows) and width(beside) < COLUMN:
        yield Display((beside,))
    elif not label and len(rows) > 1 and _aligned(whole) > COLUMN + 10:
        for row in rows:
            yield from display([row], relation=relation)
    else:
        alone = len(whole) == 1
        yield Display((_unaligned(whole[0]),) if alone else tuple(whole), label)


def _aligned(lines: Sequence[str]) -> float:
    """Return how wide lines are below one another."""
    sides = zip(*(line.split("&", 1) for line in lines), strict=True)
    return sum(max(map(width, side)) for side in sides)


def _unaligned(line: str) -> str:
    return line.replace("&", "", 1)


def equation(left: str, right: Expr | str, relation: str = "=") -> Iterator[str]:
    """Yield the lines of one equation, aligned at the relation."""
    whole = right if isinstance(right, str) else latex(right)
    first, *rest = broken(whole, COLUMN - width(left) - GIVEN["="] - 5)
    yield f"{left} &{relation} {first}"
    yield from (rf"&\quad {line}" for line in rest)


def vanishing(expression: Expr) -> Iterator[Display]:
    """Yield that an expression is 0; one that is long stands on the right, on lines."""
    whole = latex(expression)
    yield from display([("0", whole) if width(whole) > COLUMN - 30 else (whole, "0")])


def by_powers(polynomial: Poly) -> str:
    """Return a polynomial in one name, by descending powers."""
    text = ""
    for (n,), c in polynomial.terms():
        minus, power = c.could_extract_minus_sign(), latex(polynomial.gen**n) if n else ""
        factor = "" if n and abs(c) == 1 else bracketed(-c if minus else c)
        sign = "- " if minus else "+ " if text else ""
        text += f" {sign}{factor} {power}".rstrip()
    return text.strip()


def broken(latex: str, room: float = COLUMN) -> list[str]:
    """Return a formula on lines of at most *room* points, as far as its atoms allow.

    It breaks at its outermost signs, and within a term that is too wide in its widest bracket.
    """
    if width(latex) <= room:
        return [latex]
    lines: list[str] = []
    for part in _parts(latex, room - 20):
        if lines and width(lines[-1] + part) <= room - (10 if lines[1:] else 0):
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines


def _parts(latex: str, room: float) -> list[str]:
    """Return what may stand on lines of its own."""
    if width(latex) <= max(room, SMALL):
        return [latex]
    terms = _terms(latex)
    if len(terms) > 1:
        return [part for term in terms for part in _parts(term, room - GIVEN["+"])]
    groups = sorted(_groups(TOKEN.findall(latex)), key=lambda group: -width(group[2]))
    for before, opening, inner, closing, after in groups:
        first, *rest = _parts(inner, room - 30)
        if rest:
            exponent, _, others = after.partition(" ")
            *front, start = _parts(before, room) if width(before) > room else [before]
            behind = _parts(others, room) if width(others) > SMALL else [others] * bool(others)
            middle = [f"{start}{opening}{first}", *rest[:-1], f"{rest[-1]}{closing}{exponent}"]
            return [*front, *middle, *behind]
    heads = (x[0] for x in groups if latex.startswith(x[0]) and x[0].endswith(" "))
    before = max((x for x in heads if SMALL < width(x) < room), key=width, default="")
    return [before.strip(), *_parts(latex[len(before) :], room)] if before else [latex]


BRACKETS = {"(": ")", "[": "]", r"\lvert": r"\rvert", r"\lVert": r"\rVert"}
OPENING = {**BRACKETS, "{": "}", r"\begin": r"\end"}
SIZES = (r"\left", r"\right", r"\bigl", r"\bigr", r"\Bigl", r"\Bigr")


def _end(tokens: Sequence[str], at: int) -> int:
    """Return where the bracket ends that opens there."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] in OPENING) - (tokens[i] in OPENING.values())
        if depth == 0:
            return i
    return len(tokens) - 1


def _terms(latex: str) -> list[str]:
    """Return a formula parted before signs, and words, that are in no bracket."""
    tokens, terms, at = TOKEN.findall(latex), [""], 0
    while at < len(tokens):
        end = _end(tokens, at) if tokens[at] in OPENING else at
        sign = tokens[at] in ("+", "-") and terms[-1].strip()[-1:] not in ("", "=", "<", ">")
        if (sign or tokens[at] == r"\text") and terms[-1].strip():
            terms.append("")
        terms[-1] += "".join(tokens[at : end + 1])
        at = end + 1
    return [term.strip() for term in terms]


def _constant(tokens: Sequence[str]) -> tuple[str, str]:
    """Return what is before all brackets and functions of a product, or 1, and the rest."""
    at = 0
    while at < len(tokens) and not FUNCTION.match(tokens[at]):
        at = _end(tokens, at) + 1 if tokens[at] == "{" else at + 1
    return "".join(tokens[:at]).strip() or "1", "".join(tokens[at:])


FUNCTION = re.compile(
    r"[(\[]|\\(left|[bB]igl|l[vV]ert|operatorname|t?frac|sqrt|int|sum|log|exp|(sin|cos|tan)h?|arctan)$"
)


def _groups(tokens: Sequence[str]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield what stands in brackets, with what is around; fractions and roots as products.

    A/B is 1/B (A), or A (B)^(-1) where B is wider.
    """

    def text(first: int, last: int | None = None) -> str:
        return "".join(tokens[first:last])

    at = 0
    while at < len(tokens):
        end, before = _end(tokens, at) if tokens[at] in OPENING else at, text(0, at)
        if tokens[at] in (r"\frac", r"\tfrac"):
            over = _end(tokens, at + 1)
            end = _end(tokens, over + 1)
            above, below, after = text(at + 2, over), text(over + 2, end), text(end + 1)
            several = len(_terms(above)) > 1
            if width(below) > width(above):
                front = rf"\left({above}\right) " if several else f"{above} " * (above != "1")
                yield before + front, r"\Bigl(", below, r"\Bigr)^{-1}", after
            elif several:
                yield rf"{before}\frac{{1}}{{{below}}} ", r"\Bigl(", above, r"\Bigr)", after
            else:
                number, above = _constant(TOKEN.findall(above))
                yield rf"{before}\frac{{{number}}}{{{below}}} ", "", above, "", after
        elif text(at, at + 2) == r"\sqrt{":
            end = _end(tokens, at + 1)
            yield before, r"\Bigl(", text(at + 2, end), r"\Bigr)^{1/2}", text(end + 1)
        elif tokens[at] in BRACKETS:
            sized = at > 0 and tokens[at - 1] in SIZES
            inner = text(at + 1, end - 1 if tokens[end - 1] in SIZES else end)
            gap = " " * (len(tokens[at]) > 1)  # a command ends where no letter follows
            opening, closing = rf"\Bigl{tokens[at]}{gap}", rf"\Bigr{tokens[end]}"
            yield text(0, at - sized), opening, inner, closing, text(end + 1)
        at = end + 1
