"""Formulas, names and sentences with formulas as LaTeX, each on one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal

import sympy

from derive.errors import DeriveError
from derive.language import to_sympy
from derive.language.tree import Tree
from derive.model.condition import AT_START, Condition, Sign, compared
from derive.potential.piece import Root
from derive.render.arranged import read
from derive.render.labels import OWN
from derive.render.page.blocks import literal
from derive.render.page.names import latex_name
from derive.render.page.notation import hold, put_back, typeset
from derive.render.page.printer import inline, latex
from derive.verdict import Number


def fraction(value: Number) -> str:
    r"""Return an exact number, or leading decimal digits, as LaTeX.

    >>> fraction("0e-3"), fraction("1.25")
    ('0.000\\ldots', '1.25\\ldots')
    """
    if isinstance(value, str):
        digits = f"{Decimal(value):f}" if value.startswith("0e-") else value
        return rf"{digits}\ldots"
    return latex(sympy.Rational(value.numerator, value.denominator))


def values_at(point: Iterable[tuple[str, Number]]) -> str:
    """Return the values of names as formulas in a line of words.

    >>> values_at([("a", 1)])[-6:]
    'a = 1$'
    """
    return listed(f"${latex_name(name)} = {fraction(value)}$" for name, value in point)


def listed(parts: Iterable[str], word: str = "and") -> str:
    """Return parts with commas and a word before the last one.

    >>> listed("abc")
    'a, b and c'
    """
    *first, last = parts
    return f"{', '.join(first)} {word} {last}" if first else last


def named_list(names: Iterable[str]) -> str:
    """Return names as formulas in a line of words."""
    return listed(f"${latex_name(name)}$" for name in names)


def at_start(start: Iterable[tuple[str, Tree]]) -> str:
    """Return the values of weights at the start, as formulas in a line of words."""
    return listed(f"${latex_name(w)}(0) = {latex(to_sympy(tree))}$" for w, tree in start)


def prose(text: str) -> str:
    """Return words with the formulas in backticks set as mathematics."""

    def set_(found: re.Match[str]) -> str:
        return f"${typeset(found[1]) if found[1] in OWN else relation(found[1], _either)}$"

    return re.sub("`([^`]*)`", set_, text)


def relation(text: str, side: Callable[[str], str] | None = None) -> str:
    """Return equations and inequalities as LaTeX, side by side."""
    parts = re.split(r" (=|<|>|!=) ", text)
    signs, write = {"!=": r"\neq"}, side or _side
    return " ".join(signs.get(x, x) if i % 2 else write(x) for i, x in enumerate(parts))


def _either(text: str) -> str:
    """Return a formula of the language, or one in our notation."""
    try:
        return _side(text)
    except DeriveError:
        return typeset(text)


def _side(text: str) -> str:
    """Return a formula, or what the language has no words for."""
    if moving := re.fullmatch(r"\((.*)\)'", text):
        return f"({', '.join(map(latex_name, moving[1].split(', ')))})'"
    return formula(text)


def formula(text: str) -> str:
    """Return a formula of the language as LaTeX, for a line of words."""
    return inline(read(text))


def statement(text: str) -> str:
    """Return an identity as LaTeX, such as ``<grad F1, grad K21> = 0`` or one of the language."""
    if not re.search(r"grad|omega|\b[HV]\d", text):
        try:
            return relation(text.replace("`", ""))
        except DeriveError:
            pass
    held = list[str]()
    text = re.sub(r"\brate\((\w+)\)", lambda m: hold(rate_name(m[1]), held), text)
    steep = r"\b(norm_\w+) \|grad phi\|\*\*2/phi"
    text = re.sub(steep, lambda m: hold(STEEP.format(latex_name(m[1])), held), text)
    return put_back(typeset(text.replace("`", "")), held)


STEEP = r"{} \lVert \nabla \varphi \rVert^2 / \varphi"


def rate_name(vector: str) -> str:
    """Return the name of the learning rate of a vector."""
    return rf"r_{{{latex_name(vector)}}} "


LETTERS = re.compile(
    r"(?:[A-Z]|[grswxyz]|alpha|eps|rho|beta\d*|psi|phi|delta|tau)(?:_\w+)?(?:\([\w, ]*\))?"
    r"|-?\d+(?:/\d+)?|w_0"
)
FORMAL = re.compile(r"[_*^<>=|\[\]]|'+(\(|$)|^(-[a-z]|[A-Z]/)")
SIGNS = {"=", "+", "-", "<", ">", "<=", "!=", "infinity"}
SIGNS |= {"grad", "log", "int", "sinh", "cosh", "argmin"}


def sentence(text: str) -> str:
    r"""Return a sentence of the text output with the formulas in it set as mathematics.

    >>> sentence("K(b) is 0 at beta_0")
    '$K(b)$ is $0$ at $\\beta_{0}$'
    """
    parts = QUOTED.split(text)
    return "".join(quoted(x) if i % 2 else _unquoted(x) for i, x in enumerate(parts))


QUOTED = re.compile(r"(?<!\S)`([^`]*)`(?=[\s,;:.]|$)")
"""A formula in backticks, of which others have names alone within a formula."""


def quoted(text: str) -> str:
    """Return a formula of the language, or words with formulas among them."""
    try:
        return f"${relation(text)}$"
    except DeriveError:
        return _unquoted(text)


def _unquoted(text: str) -> str:
    """Return words, with what looks like a formula among them as one."""
    runs: list[tuple[Callable[[str], str], list[str]]] = []
    for word in text.replace("`", "").split(" "):
        bare = word.rstrip(",;:.")
        formal = bool(LETTERS.fullmatch(bare) or bare in SIGNS or FORMAL.search(bare))
        before = " ".join(runs[-1][1]) if runs and runs[-1][0] is _as_mathematics else ""
        inside = before.count("(") > before.count(")")
        write = _as_mathematics if formal or inside else literal
        ended = formal and runs and runs[-1][1][-1][-1:] in ",;:" and not inside
        joined = runs and runs[-1][0] is write and not ended
        runs[-1][1].append(word) if joined else runs.append((write, [word]))
    return " ".join(write(" ".join(words)) for write, words in runs)


def _as_mathematics(whole: str) -> str:
    bare = whole.rstrip(",;:.")
    return "$" + (typeset(bare) or r"\cdot") + f"${whole[len(bare) :]}"


def root_note(root: Root) -> str:
    """Return in words which root of its polynomial a symbol is."""
    return f"${latex(root.symbol)}$ be {root.branch.removeprefix('is ')} of"


def assumption(given: Condition) -> str:
    r"""Return an assumption with its formulas set as mathematics.

    >>> assumption(Condition(sympy.Symbol("D") - 2, Sign.NONZERO))[2:]
    'D \\neq 2$'
    """
    of = given.of
    if given.sign in AT_START:
        number, what = of.as_coeff_Add()
        moved = what.is_Symbol and given.sign is Sign.NONZERO
        left, right = (what, -number) if moved else (of, 0)
        relation = ">" if given.sign is Sign.POSITIVE else r"\neq"
        return f"${inline(left)} {relation} {right}$"
    before, _, after = given.sign.partition("{} ")
    said = f"{before}${inline(of)}$ {after.replace('> 0', 'is positive')}"
    options = map(compared, given.guards)
    when = " or ".join(f"${inline(f)} {sign} {inline(g)}$" for f, sign, g in options)
    return f"{said} (which is automatic when {when} at the start)" if when else said
