"""Formulas in LaTeX as MathML, by latex2mathml: its tree is tidied, and written by us.

What the library returns as text is not escaped, so only its tree is used: every text in it is
escaped here, and of attributes only those are kept that say how mathematics looks.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element, SubElement, tostring

from latex2mathml.converter import Converter

KEPT = re.compile(
    "accent|displaystyle|fence|form|height|linethickness|[lr]space|mathvariant|maxsize|minsize"
    "|movablelimits|scriptlevel|stretchy|width"
)
WORDS = re.compile(
    r"\\(?P<kind>text|mathrm|mathsf|operatorname)(?:\{(?P<word>(?:\\.|[^{}\\]|\{[^{}]*\})*)\}"
    r"| (?P<letter>\w))"
)
"""What is upright; the library sets letters of words apart."""

ACCENTS = {"~": "\u02dc", "^": "\u02c6", "\u02d9": "\u02d9", "\u00af": "\u00af"}
LIMITS = {"min", "max", "lim", "arg\u2009min"}
BARS = {"|", "\u2016"}
PRIMES, CLOSING = {"\u2032", "\u2033"}, {")", "]", "}", "\u27e9"}
THIN, TIGHT = "0.167em", {"lspace": "0em", "rspace": "0em"}
UPRIGHT = {"mathvariant": "normal"}


def inline(latex: str) -> str:
    """Return a formula in a line of words.

    >>> inline("x < 1")
    '<math display="inline"><mrow><mi>x</mi><mo>&lt;</mo><mn>1</mn></mrow></math>'
    """
    return _written(_math("inline", latex))


def display(latex: str) -> str:
    """Return a displayed formula."""
    return _written(_math("block", latex))


def aligned(rows: Iterable[str]) -> str:
    """Return rows below one another, each aligned at its first ``&``."""
    math = Element("math", {"display": "block"})
    table = SubElement(math, "mtable", {"displaystyle": "true", "class": "aligned"})
    for line in rows:
        row = SubElement(table, "mtr")
        for cell in line.split("&", 1):
            SubElement(row, "mtd").extend(_math("block", cell))
    return _written(math)


COMMAND, SPACES = re.compile(r"\\([A-Za-z]+|.) ?|[{}]"), {",": "\u2009", "dots": "\u2026"}
"""Commands in words, and what stands for those that are spaces or dots."""


def _written(tree: Element) -> str:
    return tostring(tree, encoding="unicode", short_empty_elements=False)


@functools.lru_cache(4096)
def _math(kind: str, latex: str) -> Element:
    """Return a formula as a tree, which is not to be altered."""
    words: list[tuple[str, str]] = []

    def held(found: re.Match[str]) -> str:
        words.append(("mtext" if found["kind"] == "text" else "mi", found["word"] or found[3]))
        return rf"\text{{{len(words) - 1}}}"

    source = WORDS.sub(held, latex.replace(r"\operatorname*{arg\,min}", r"\argmin "))
    tree = Converter(display=kind).convert_to_element(source.strip() or r"\,")
    bars = iter(("prefix", "postfix") * len(source))
    for element in tree.iter():
        _tidy(element, words, bars)
    for element in tree.iter():
        element[:] = _spaced(list(element))
    tree.attrib = {"display": kind}
    return tree


def _tidy(element: Element, words: list[tuple[str, str]], bars: Iterator[str]) -> None:
    """Mend one element: its text and attributes, words, signs, limits, primes and accents."""
    text = html.unescape(element.text or "").strip(" ")
    element.text = text or None
    element.attrib = {k: v for k, v in element.attrib.items() if KEPT.fullmatch(k)}
    if element.tag == "mtext" and text.isdigit():
        element.tag, word = words[int(text)]
        word = COMMAND.sub(lambda m: SPACES.get(m[1], m[1] or ""), word)
        element.text = re.sub("^ | $", "\u00a0", word)
        element.attrib = {**UPRIGHT} if element.tag == "mi" and len(element.text) == 1 else {}
    elif element.tag in ("mo", "mi"):
        _mend_sign(element, text, bars)
    elif element.tag in ("msub", "msup", "mover"):
        _mend_script(element)


def _mend_sign(element: Element, text: str, bars: Iterator[str]) -> None:
    if text in LIMITS:
        element.tag, element.attrib = "mo", {**TIGHT, "movablelimits": "true", "rspace": THIN}
    elif text == "\u221e" or (text.isalpha() and text.isascii()):
        element.tag = "mi"
    elif text == "/":
        element.attrib = {**TIGHT}
    elif text in BARS and "form" not in element.attrib:
        element.attrib |= {"form": next(bars), "stretchy": "false"}


def _mend_script(element: Element) -> None:
    base, script = (html.unescape(part.text or "") for part in element[:2])
    if element.tag == "msub" and base in LIMITS:
        element.tag = "munder"
    elif element.tag == "msup" and script in PRIMES:
        # Where it stands the sign is raised as it is: as a superscript it would be twice.
        element.tag, element[1].tag, element[1].attrib = "mrow", "mo", {**TIGHT}
    elif element.tag == "msup" and "minsize" in element[0].attrib:
        # A bracket of fixed size grows where it stands alone, and not as a base.
        bracket, exponent = element
        element.tag, element[:] = "mrow", [bracket, raised := Element("msup")]
        raised.extend((Element("mspace", {"height": "1.1em"}), exponent))
    elif element.tag == "mover" and script in ACCENTS:
        element.attrib = {"accent": "true"}
        element[1].text = ACCENTS[script]


def _spaced(row: list[Element]) -> Iterator[Element]:
    """Yield a row with spaces around names of functions, and none after the sign of a number."""
    for at, element in enumerate(row):
        is_name = element.tag == "mi" and len(element.text or "") > 1
        if is_name and at and row[at - 1].tag not in ("mo", "mspace"):
            yield Element("mspace", {"width": THIN})
        if element.text in ("+", "\u2212") and at and _opens(row[at - 1]):
            element.set("form", "prefix")
        yield element
        if is_name and row[at + 1 :] and row[at + 1].tag not in ("mo", "mspace", "mrow"):
            yield Element("mspace", {"width": THIN})


def _opens(before: Element) -> bool:
    """Return whether a plus or minus after that is a sign, as after an equality."""
    closes = before.text in CLOSING or before.get("form") == "postfix"
    return before.tag == "mo" and not closes and before.text not in PRIMES
