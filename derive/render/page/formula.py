r"""Formulas, names and sentences as LaTeX: of the language, and in the notation of our sentences.

In that, ``int_0^t <x_i, beta> ds >= 1``, all names are ours, Greek or letters; other words are
upright. What is put in stands for itself, by a letter that no text has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

import sympy

from derive.errors import DeriveError
from derive.model.condition import AT_START, Condition, Sign, compared
from derive.render.arranged import read
from derive.render.document import literal
from derive.render.page.printer import COMMANDS, GREEK, as_latex, inline, latex, latex_name
from derive.render.text import FORMULA
from derive.verdict import Number

HELD = "\uf000-\uf0ff"
"""Letters that stand for what is put in."""
ATOM = rf"[A-Za-z]+|\d+|[{HELD}]|\+"
INNER = r"(?:[^()]|\([^()]*\))*"
TOKEN = re.compile(
    rf"(?P<script>[_^])(?:\((?P<inner>{INNER})\)|(?P<one>-?(?:{ATOM})))"
    rf"|sqrt\((?P<root>{INNER})\)"
    r"|(?P<ell>\bl(?:inf\b|\d+(?:/\d+)?))|(?P<space>(?<=in )R(?![A-Za-z_(])|R(?=\^d))"
    rf"|(?P<partial>d(?P<of>Q(?:_\d+)?|[{HELD}])/d(?!mu|tau))|(?P<slope>(?<![A-Za-z])d(?=_[a-z]\b))"
    rf"|(?P<times>(?<=[{HELD})])\*(?=[{HELD}])|(?<=[{HELD}])\*(?=\())"
    r"|(?<![\w/])(?P<number>\d+/\d+)(?![\w/])"
    r"|(?<![\w.])(?P<digits>\d+(?:\.\d+)?e[-+]\d+)"
    rf"|(?<![A-Za-z])d(?P<differential>[A-Za-z]|tau|beta|mu|[{HELD}])(?![A-Za-z])"
    rf"|(?P<aside>(?<![A-Za-z\\])[A-Za-z]+_(?![\w({HELD}+-]))"
    r"|(?P<name>s\.t\.|[A-Za-z]+)(?P<index>\d+_[A-Za-z0-9]+|\d*)"
    r"|(?P<open><(?=[^\s=]))|(?P<close>(?<=[^\s-])>(?!=))|(?P<sign><=|>=|->|!=|\.\.\.|.)"
)
SIGNS = {
    "<=": r"\le ", ">=": r"\ge ", "->": r"\to ", "!=": r"\neq ", "~": r"\sim ",
    "*": " ", "{": r"\{", "}": r"\}", "...": r"\dots ",
}  # fmt: skip
NAMES = {
    "grad": r"\nabla ", "Hess": r"\nabla^2 ", "int": r"\int ", "sum": r"\sum ", "in": r"\in ",
    "inf": r"\infty ",
    "oo": r"\infty ",
    **dict.fromkeys(("lam", "eps"), r"\varepsilon "),
    "infinity": r"\infty ", "argmin": r"\operatorname*{arg\,min}\;",
    "E": r"\mathbb{E}\,", "Var": r"\mathrm{Var}\,", "phi": r"\varphi ",
    "tr": r"\operatorname{tr} ",
    **{x: rf"\{x} " for x in ("min", "max", "exp", "det", *COMMANDS)},
}  # fmt: skip
"""What stands for names that are no letters."""


def typeset(text: str) -> str:
    r"""Return a formula of ours as LaTeX.

    >>> typeset("argmin |w - w_0|_2^2/2 s.t. X w = y")
    '\\operatorname*{arg\\,min}\\; \\lvert w - w_{0}\\rvert_{2}^{2}/2 \\text{ s.t. } X w = y'
    >>> typeset("<x_i, X^T s> -> 1/2")
    '\\langle x_{i}, X^{\\mathsf T} s\\rangle \\to \\tfrac{1}{2}'
    >>> typeset("w_+ w_-"), typeset("b_ + 1"), typeset("tanh(t)**2")
    ('w_{+} w_-', '\\tilde{b} + 1', '\\tanh(t)^{2}')
    >>> typeset("1.9e-01"), typeset("log det K + tr K S")
    ('1.9 \\cdot 10^{-1}', '\\log \\det K + \\operatorname{tr} K S')
    """
    bars = iter((r"\lvert ", r"\rvert ") * text.count("|"))

    def written(m: re.Match[str]) -> str:
        match m.lastgroup:
            case "script" | "inner" | "one":
                return f"{m['script']}{{{_script(m['inner'] or m['one'])}}}"
            case "ell":
                return rf"\ell_{{{_script(m['ell'][1:])}}}"
            case "root":
                return rf"\sqrt{{{typeset(m['root'])}}}"
            case "number":
                return r"\tfrac{{{}}}{{{}}}".format(*m["number"].split("/"))
            case "digits":
                head, power = m["digits"].split("e")
                return rf"{head} \cdot 10^{{{int(power)}}}"
            case "differential":
                before = m.string[: m.start()]
                space = r"\," if before.endswith(" ") and before.rstrip()[-1:] not in "=<>" else ""
                return rf"{space}\mathrm{{d}}{typeset(m['differential'])}"
            case "aside":
                return as_latex(m["aside"])
            case "partial":
                return rf"\partial {typeset(m['of'])}/\partial "
            case "name" | "index":
                return _name(m["name"], m["index"], m.string[m.end() :][:1] in ("(", "_"))
        fixed = {"slope": r"\partial", "space": r"\mathbb{R}", "times": r" \cdot "}
        fixed |= {"open": r"\langle ", "close": r"\rangle "}
        return fixed.get(m.lastgroup or "") or (
            next(bars) if m[0] == "|" else SIGNS.get(m[0], m[0])
        )

    latex = TOKEN.sub(written, re.sub(r"(?<=\d) (?=\d)", r"\ ", text.replace("**", "^")))
    latex = re.sub(" +", " ", latex.replace(r" } \text{ ", " ")).strip()
    return re.sub(r"(\\[A-Za-z]+) (?=[_^(),/'])", r"\1", latex)


def hold(latex: str, held: list[str]) -> str:
    """Return a letter that stands for LaTeX, which is kept."""
    held.append(latex)
    return chr(0xF000 + len(held) - 1)


def put_back(text: str, held: Sequence[str]) -> str:
    """Return a text with what was kept in its places."""
    return re.sub(f"[{HELD}]", lambda m: held[ord(m[0]) - 0xF000], text)


def _script(text: str) -> str:
    if text == "T":
        return r"\mathsf T"
    if re.fullmatch(r"\w x \w", text):
        return text.replace("x", r"\times")
    index = set(text) <= {*"ijk"} or (len(text) == 2 and set(text) <= {*"ijklmn"} and text != "in")
    letter = len(text) == 1 or text in NAMES or text.lower() in GREEK
    word = text.isalpha() and not letter and not index
    return (
        rf"\mathrm{{{text}}}" if word else text if "/" in text or index else typeset(text).strip()
    )


def _name(name: str, index: str, called: bool) -> str:
    """Return a name, with its index; a word where it is no letter."""
    if name in NAMES:
        return NAMES[name]
    if len(name) == 1 or name.lower() in GREEK or index:
        return f"{as_latex(name + index)}{' ' * (len(name) > 1 and not index)}"
    return rf"\mathrm{{{name}}}" if called else rf"\text{{ {name} }}"


def fraction(value: Number) -> str:
    r"""Return an exact number, or leading decimal digits, as LaTeX.

    >>> fraction("0e-3"), fraction("1.25")
    ('0.000\\ldots', '1.25\\ldots')
    """
    if isinstance(value, str):
        digits = f"{Decimal(value):f}" if value.startswith("0e-") else value
        return rf"{digits}\ldots"
    return latex(sympy.Rational(value.numerator, value.denominator))


def prose(text: str) -> str:
    """Return words with the formulas in backticks, or between dollars, set as mathematics."""
    return FORMULA.sub(lambda m: f"${typeset(m[2]) if m[2] else relation(m[1], _either)}$", text)


def given_words(text: str) -> str:
    """Return words from elsewhere as they are, and the formulas in backticks as mathematics."""
    parts = enumerate(text.split("`"))
    return "".join(f"${typeset(x)}$" if i % 2 else literal(x) for i, x in parts)


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
WORDS = {"=", "+", "-", "<", ">", "<=", "!=", "infinity"}
WORDS |= {"grad", "log", "int", "sinh", "cosh", "argmin"}


def sentence(text: str) -> str:
    r"""Return a sentence of the text output with the formulas in it set as mathematics.

    >>> sentence("K(b) is 0 at beta_0")
    '$K(b)$ is $0$ at $\\beta_{0}$'
    """
    pairs = enumerate(QUOTED.split(text))
    return "".join(prose(x) if i % 2 else _unquoted(x) for i, x in pairs)


QUOTED = re.compile(r"((?<!\S)`[^`]*`(?=[\s,;:.]|$)|\$[^$]*\$)")
"""A formula between marks, of which others have names alone within a formula."""


def quote(text: str) -> str:
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
        formal = bool(LETTERS.fullmatch(bare) or bare in WORDS or FORMAL.search(bare))
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


def mathematics(text: str) -> str:
    """Return formulas with semicolons between them, what is none in a typewriter face.

    That is breakable after its operators.
    """
    parts = text.split("; ")
    for i, part in enumerate(parts):
        try:
            parts[i] = f"${relation(part)}$"
        except DeriveError:
            breakable = re.sub(r"\*\*|[+*/=]", lambda sign: f"{sign[0]}\u200b", part)
            parts[i] = f"[code:{literal(breakable)}]"
    return "; ".join(parts)


def assumption(given: Condition) -> str:
    r"""Return an assumption with its formulas set as mathematics.

    >>> assumption(Condition(sympy.Symbol("D") - 2, Sign.NONZERO))[2:]
    'D \\neq 2$'
    """
    of = given.of
    if given.sign in AT_START:
        number, what = of.as_coeff_Add()
        left, relation, right = (what, r"\neq", -number) if what.is_Symbol else (of, r"\neq", 0)
        if given.sign is Sign.POSITIVE:
            left, relation, right = compared(of)
        return f"${inline(left)} {relation} {inline(sympy.sympify(right))}$"
    before, _, after = given.sign.partition("{} ")
    said = f"{before}${inline(of)}$ {after.replace('> 0', 'is positive')}"
    options = map(compared, given.guards)
    when = " or ".join(f"${inline(f)} {sign} {inline(g)}$" for f, sign, g in options)
    return f"{said} (which is automatic when {when} at the start)" if when else said
