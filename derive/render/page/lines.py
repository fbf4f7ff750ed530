"""Displayed equations that fit a column: widths of LaTeX in points, and where a formula breaks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import sympy
from sympy import Expr, Integral, Poly

from derive.render.arranged import product_of, pulled_out, tidy
from derive.render.labels import MARK
from derive.render.page.blocks import Display
from derive.render.page.printer import bracketed, inline, latex, ordered_terms

COLUMN = 224.0
"""Points that a displayed line may fill: one of two columns of an article."""

BEFORE_WORDS = re.compile(r" (?=\\text\{)")
"""Where a formula that is LaTeX already may be broken."""

INLINE = 110.0
"""Points above which a formula is displayed rather than set in a line of words."""

Row: TypeAlias = tuple[str, Expr | str | list[str]]
"""The two sides of an equation: LaTeX, and LaTeX, or terms or an expression that may be broken."""

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


def equation(left: str, right: Expr | str | list[str], relation: str = "=") -> Iterator[str]:
    """Yield the lines of one equation, aligned at the relation."""
    room = COLUMN - width(left) - GIVEN["="] - 5
    parts = BEFORE_WORDS.split(right) if isinstance(right, str) else right
    lines = on_lines(parts, room) if isinstance(parts, list) else broken(parts, room)
    yield f"{left} &{relation} {lines[0]}"
    yield from (rf"&\quad {line}" for line in lines[1:])


def vanishing(expression: Expr) -> Iterator[Display]:
    """Yield that an expression is 0; one that is long stands on the right, on lines."""
    whole = latex(expression)
    yield from display([("0", expression) if width(whole) > COLUMN - 30 else (whole, "0")])


def broken(expression: Expr, room: float = COLUMN) -> list[str]:
    """Return an expression on lines of at most *room* points, as far as its atoms allow."""
    expression = tidy(expression)
    whole = latex(expression)
    if width(whole) <= room:
        return [whole]
    return on_lines(_parts(pulled_out(expression), room - 20), room)


def by_powers(polynomial: Poly) -> list[str]:
    """Return what may stand on lines of its own of a polynomial, by descending powers."""
    found = list[str]()
    for (n,), c in polynomial.terms():
        minus, power = c.could_extract_minus_sign(), latex(polynomial.gen**n) if n else ""
        c = -c if minus else c
        first, *rest = _inside(c, COLUMN / 2) if _opens(c, COLUMN) else [bracketed(c)]
        sign = "- " if minus else "+ " if found else ""
        found += [sign + ("" if c == 1 and n else first), *rest]
        found[-1] = f"{found[-1]} {power}".strip()
    return found


def on_lines(parts: Iterable[str], room: float) -> list[str]:
    """Return parts joined to lines of at most *room* points, those below a first one indented."""
    lines: list[str] = []
    for part in parts:
        if lines and width(lines[-1] + part) <= room - (10 if lines[1:] else 0):
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines


def _parts(expression: Expr, room: float) -> list[str]:
    """Return what may stand on lines of its own: terms, or what is in brackets."""
    whole = latex(expression)
    if width(whole) <= max(room, SMALL):
        return [whole]
    for kind, split in SPLITS:
        if isinstance(expression, kind):
            return split(expression, room)
    return [whole]


def _terms(expression: Expr, room: float) -> list[str]:
    found: list[str] = []
    for term in ordered_terms(expression):
        minus = term.could_extract_minus_sign()
        first, *rest = _parts(pulled_out(-term) if minus else term, room - GIVEN["+"])
        if first.startswith("-"):
            minus, first = not minus, first[1:].lstrip()
        sign = "- " if minus else "+ " if found else ""
        found += [sign + first, *rest]
    return found


def _factors(expression: Expr, room: float) -> list[str]:
    """Return a product of fractions as one of powers, its long factors opened."""
    whole = product_of(map(pulled_out, sympy.Mul.make_args(expression)))
    if not whole.is_Mul:
        return _parts(whole, room)
    number, rest = whole.as_coeff_Mul()
    above, below = sympy.fraction(rest, exact=True)
    short = [f for f in sympy.Mul.make_args(above) if not _opens(f, room)]
    long = [f for f in sympy.Mul.make_args(above) if _opens(f, room)]
    if width(latex(below)) > max(room / 2, SMALL):
        long += map(_inverse, sympy.Mul.make_args(below))
        below = sympy.S.One
    under = [_inverse(f) for f in sympy.Mul.make_args(below) if f != 1]
    front = product_of([number, *short, *under])
    parts = [] if front == 1 else ["-" if front == -1 else bracketed(front)]
    for factor in long:
        inner = _inside(factor, room)
        joined = parts and width(parts[-1] + inner[0]) < room
        parts += [f"{parts.pop()} {inner[0]}", *inner[1:]] if joined else inner
    return parts


def _inverse(factor: Expr) -> Expr:
    base, exponent = factor.as_base_exp()
    return sympy.Pow(base, -exponent, evaluate=False)


def _opens(factor: Expr, room: float) -> bool:
    return width(latex(factor)) > max(room / 2, SMALL) and isinstance(factor, OPENED)


def _inside(factor: Expr, room: float) -> list[str]:
    """Return a factor as the parts of a bracket."""
    if factor.is_Add:
        return _enclosed("", _terms(factor, room - 12), "")
    return _parts(factor, room / 2) if isinstance(factor, OPENED) else [bracketed(factor)]


def _power(expression: Expr, room: float) -> list[str]:
    base, exponent = expression.as_base_exp()
    if base is sympy.E:
        return _enclosed(r"\exp", _parts(exponent, room - 30), "")
    if width(latex(base)) <= max(room / 2, SMALL):
        return [latex(expression)]
    return _enclosed("", _parts(pulled_out(base), room - 30), f"^{{{inline(exponent)}}}")


def _call(expression: Expr, room: float) -> list[str]:
    (argument,), name = expression.args[:1], ""
    if not isinstance(expression, sympy.Abs):
        name = latex(expression.func(sympy.Symbol("x"))).partition("(")[0]
    if bars := isinstance(argument, sympy.Abs) or not name:
        (argument,) = argument.args if name else (argument,)
    inner = _parts(pulled_out(argument), room - 35)
    return _enclosed(name, inner, "", (r"\lvert ", r" \rvert") if bars else "()")


def _integral(expression: Expr, room: float) -> list[str]:
    (variable, *ends), *_ = expression.limits
    bounds = zip("_^", ends, strict=False)
    sign = r"\int" + "".join(f"{mark}{{{latex(x)}}}" for mark, x in bounds)
    end = rf"\,\mathrm{{d}}{latex(variable)}"
    first, *rest = _parts(pulled_out(expression.function), room - width(sign) - 25)
    if expression.function.is_Add:
        first, *rest = _enclosed("", [first, *rest], "")
    *middle, last = [f"{sign} {first}", *rest]
    return [*middle, last + end]


def _enclosed(
    before: str, parts: Sequence[str], after: str, brackets: Sequence[str] = "()"
) -> list[str]:
    """Return parts in brackets that may stand on several lines."""
    *most, last = [rf"{before}\Bigl{brackets[0]}{parts[0]}", *parts[1:]]
    return [*most, rf"{last}\Bigr{brackets[1]}{after}"]


OPENED = (sympy.Add, sympy.Pow, sympy.Function, Integral)
SPLITS: tuple[tuple[type, Callable[[Expr, float], list[str]]], ...] = (
    (sympy.Add, _terms),
    (sympy.Mul, _factors),
    (sympy.Pow, _power),
    (sympy.exp, _power),
    (sympy.Function, _call),
    (Integral, _integral),
)
"""How an expression that is too wide is opened."""
