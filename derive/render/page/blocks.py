r"""Records told once, as pages: what is told becomes paragraphs, theorems, proofs and remarks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from itertools import chain, groupby, repeat, zip_longest

from sympy import Expr, Poly, Rational

from derive.errors import DeriveError, InputError
from derive.language import to_sympy
from derive.language.tree import Tree
from derive.limits.limit import Point
from derive.model.condition import Condition
from derive.model.labels import LABEL, aside, predictor
from derive.model.names import unused
from derive.printable import Printable
from derive.render.arranged import read
from derive.render.document import (
    Display,
    Document,
    Element,
    Grid,
    Part,
    document,
    in_formulas,
    literal,
)
from derive.render.page.formula import (
    assumption,
    fraction,
    given_words,
    hold,
    mathematics,
    put_back,
    quote,
    relation,
    sentence,
    statement,
    typeset,
)
from derive.render.page.lines import COLUMN, Row, broken, by_powers, display, vanishing, width
from derive.render.page.printer import GREEK, as_latex, inline, latex, latex_name
from derive.render.refutation import failure_lines
from derive.render.sections import flatten
from derive.render.text import MARK, Layout
from derive.sources import sources
from derive.statement import Clause, Equations, Items, Matrix, OnPage, Sentence, Table, Text, each
from derive.verdict import Finding, Identity, Verdict

ANSWERS = {Verdict.PROVED: "yes", Verdict.REFUTED: "no", Verdict.UNDECIDED: "not decided"}
DECIDED = {Verdict.PROVED: "", Verdict.REFUTED: "refuted", Verdict.UNDECIDED: "not decided"}
WORDS = (str, Sentence, Finding, Text)
GOES_ON = re.compile(
    r"(and|with|where|assuming|to first|has|for all|among|subject to|so that|per|in the sense"
    r"|drift)\b"
)
"""How lines begin that go on with a sentence after its formulas."""
TALL = re.compile(r"\((\\int (?:[^()]|\([^()]*\))*)\)")
"""What larger brackets are around."""


LETTER = re.compile(
    rf"(?<![A-Za-z\\{MARK}])(?<!\\mathrm{{)(?<!\\mathbb{{)(?<!\\mathsf )(?<!\\tilde{{)"
    r"(\\(?:rho|beta|omega|eta|lambda|psi|tau|mu|kappa|sigma|delta|Delta|nu|xi)|[A-Za-z])(?![A-Za-z])"
    r"(_\{[^{}]*\}|_[A-Za-z0-9])?"
)
"""A letter with its index that carries no mark."""


def render_page(record: Printable) -> Document:
    """Return the page of a record: its parts with lines, set as blocks."""
    told = document(record)
    parts = tuple(part for part in map(_set, told.parts) if part.lines)
    return Document(parts, told.taken).map(lambda x: norms_as_latex(x, told.norms))


def _set(part: Part) -> Part:
    heading, kind = words_of(part.title or part.heading), part.kind
    heading = "" if heading.lower() == kind else heading
    if part.verdict is not None and (not part.title or part.verdict is Verdict.UNDECIDED):
        asked = heading.endswith("?")
        word = (ANSWERS if asked else DECIDED)[part.verdict]
        heading += f" {word}" if asked else f": {word}" * (word not in heading)
    if part.verdict is not None and kind == "paragraph":
        kind = "paragraph" if part.verdict is Verdict.UNDECIDED else "theorem"
    blocks = map(_citing, paragraph(part.lines))
    return Part(heading, blocks, kind=kind, label=part.label)


def _citing(line: Element) -> Element:
    """Return words with citations for the sources that they name, as (Lyu, Li 2020)."""
    if not isinstance(line, str):
        return line

    def cite(found: re.Match[str]) -> str:
        pairs = re.findall(r"(?:^|; )(\w+)[^;]* (\d{4})", found[1])
        keys = [name.lower() + year for name, year in pairs]
        return f"[@{','.join(keys)}]" if sources().keys() >= set(keys) else found[0]

    line = re.sub(r"\(cited, (\[@[\w-]+\])\)", r"\1", line)
    return re.sub(r"\((?:cited, )?([A-Z]\w+[^()]* \d{4})\)", cite, line)


def paragraph(given: Iterable[object]) -> Iterator[Element]:
    """Yield lines as sentences, with a capital and a stop, unless they go on in formulas."""
    before, lines = ".", tuple(flatten(given, OnPage))
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        if not isinstance(line, WORDS):
            yield from blocks_of(line)
            before = "display"
            continue
        words = words_of(line)
        if isinstance(line, Clause):
            yield words
            before = words[-1]
            continue
        goes_on = before in ",:;" or (before == "display" and GOES_ON.match(words))
        whole = words[-1] not in ",:;.?" and not isinstance(following, Equations)
        words += "." * whole
        yield words if goes_on else words[0].upper() + words[1:]
        before = words[-1]


@singledispatch
def as_math(value: object) -> str:
    """Return a value within a formula."""
    return typeset(str(value))


as_math.register(Expr, inline)
as_math.register(Tree, lambda value: inline(to_sympy(value)))
as_math.register(Fraction, lambda value: inline(Rational(value)))
as_math.register(Poly, by_powers)
as_math.register(Text, lambda value: MATH[value.kind](value.text))
as_math.register(
    Sentence, lambda value: _filled(value, value.words.replace("`", ""), as_math, typeset)
)


@as_math.register
def _(value: Matrix) -> str:
    rows = (" & ".join(map(as_math, row)) for row in value.rows)
    return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"


@as_math.register
def _(value: Point) -> str:
    limit = latex(value.value)
    sides = {"0": "0^+", "oo": r"\infty", "below": f"{limit}^-", "above": f"{limit}^+"}
    given = "".join(rf",\ {inline(c)} > 0" for c in value.given)
    return rf"{latex_name(value.variable)} \to {sides[value.side]}{given}"


@singledispatch
def words_of(value: object) -> str:
    """Return a value within a sentence."""
    return f"${as_math(value)}$"


@words_of.register
def _(value: Sentence) -> str:
    parts = value.words.split("`")
    ways = ((words_of, literal), (as_math, typeset))
    written = (_filled(value, part, *ways[i % 2]) for i, part in enumerate(parts))
    return "".join(f"${x}$" if i % 2 else x for i, x in enumerate(written))


WRITTEN: Mapping[str, Callable[[str], str]] = {
    "given": quote,
    "reason": sentence,
    "cited": "[@{}]".format,
    "claim": lambda text: f"${statement(text)}$",
    "digits": lambda text: f"${fraction(text)}$",
    "quoted": lambda text: f"[emph:{literal(text)}]",
    "theirs": lambda text: in_formulas(
        given_words(text), lambda formula: LETTER.sub(rf"{MARK}\g<0>", formula)
    ),
    "typed": mathematics,
}
MATH: Mapping[str, Callable[[str], str]] = {
    "given": relation,
    "reason": relation,
    "claim": statement,
    "digits": fraction,
}
"""How texts are written in words, and within formulas."""
words_of.register(str, lambda value: words_of(Sentence(value)))
words_of.register(Finding, lambda value: sentence(value.reason))
words_of.register(Identity, lambda value: sentence(value.statement))
words_of.register(Condition, assumption)
words_of.register(int, str)
words_of.register(Text, lambda value: WRITTEN[value.kind](value.text))
words_of.register(Sequence, lambda value: "; ".join(map(words_of, value)))


def _filled(
    told: Sentence, words: str, put: Callable[[object], str], write: Callable[[str], str]
) -> str:
    """Return words as they are written, with what is put in, as that is."""
    held: list[str] = []
    filled = re.sub(r"\{(\w+)\}", lambda m: hold(put(told.values[m[1]]), held), words)
    return put_back(write(filled), held)


@singledispatch
def blocks_of(line: object) -> Iterator[Element]:
    """Yield the blocks of a line that is not words."""
    raise AssertionError(f"{type(line).__name__} has no LaTeX")


@blocks_of.register
def _(line: Equations) -> Iterator[Element]:
    if not line.rows:  # as where no entry of K is other than 0
        return
    (left, right), *rest = line.rows
    if right == 0 and isinstance(left, Expr) and not rest:
        yield from vanishing(left)
        return
    rows = list[Row]()
    for left, same in groupby(line.rows, lambda row: _side(row[0])):
        trees = (to_sympy(b) if isinstance(b, Tree) else b for _, b in same)
        sides = (b if isinstance(b, Expr) else _side(b) for b in trees)
        rows += zip(chain([left], repeat("")), sides, strict=False)
    yield from display(rows, line.label, typeset(line.relation).strip())


def _side(value: object) -> str:
    if isinstance(value, Expr | Fraction):
        return latex(Rational(value) if isinstance(value, Fraction) else value)
    return TALL.sub(lambda m: rf"\Bigl({m[1]}\Bigr)", as_math(value).strip())


LONGEST = 200
"""Characters of a side of an identity that is written out."""


@blocks_of.register
def _(line: Identity) -> Iterator[Element]:
    if not line.holds:
        yield from paragraph(failure_lines(None, line))
        return
    try:
        left, right = (read(x) for x in (line.left, line.right))
    except DeriveError:
        return
    shown = latex(left)
    tells = not left.is_number and max(map(len, (line.left, line.right))) < LONGEST
    if tells and shown != latex(right) and width(shown) < COLUMN / 2:
        yield from display([(shown, right)])


@blocks_of.register
def _(line: Tree) -> Iterator[Element]:
    first, *rest = broken(latex(to_sympy(line)), COLUMN - 30)
    yield Display(tuple(f"& {x}" for x in (first, *rest)) if rest else (first,))


@blocks_of.register
def _(line: Items) -> Iterator[Element]:
    yield Items(tuple(tuple(paragraph((item,))) for item in line.lines))


@blocks_of.register
def _(line: Table) -> Iterator[Element]:
    layout = Layout(line)
    if layout.wide:
        rows = (zip(line.head, row, strict=True) for row in line.rows)
        told = (each("{0}: {1}", (pair for pair in row if pair[1]), "; ") for row in rows)
        yield from blocks_of(Items(tuple(told)))
        return
    columns = "".join({"<": "l", ">": "r"}[side] for _, side in layout.columns)
    written = ((SMALL.sub(r"\1/\2", words_of(x)) for x in row) for row in (line.head, *line.rows))
    yield Grid(tuple(tuple(row) for row in written), columns)


SMALL = re.compile(r"\\tfrac\{(\d+)\}\{(\d+)\}")
"""A fraction that in a table would touch the next row."""
ENTRY = re.compile(r"(K|\\rho|F|X|y|H|V|c|G|S)_(\{[^{}]*\}|\w)")
"""An entry, which goes with its letter."""

SYMBOL = re.compile(
    r"(?P<accent>\\(?:hat|tilde|bar|vec|mathrm|mathbf|mathcal|boldsymbol|mathbb)\{)?"
    r"(?P<base>[A-Za-z]|\\[A-Za-z]+|(?<=\{)[A-Za-z]+)(?(accent)\})"
    r"(?:_(?:[A-Za-z0-9+]|-|\{(?:[A-Za-z0-9,+]|-|\\mathrm\{[A-Za-z]+\})+\}))?"
)
"""What a name may be written as."""
LETTERS = GREEK | {g.capitalize() for g in GREEK} | {f"var{g}" for g in GREEK} | {"ell", "hbar"}


def read_symbol(text: str) -> str:
    r"""Return LaTeX for a name, as it was given.

    >>> read_symbol(r"\sigma_0"), read_symbol("w_+")
    ('\\sigma_0', 'w_+')

    Raises:
        InputError: it is more than a letter with an index.
    """
    found = SYMBOL.fullmatch(text)
    if found is None or (found["base"][0] == "\\" and found["base"][1:] not in LETTERS):
        raise InputError(
            rf"{text[:30]!r} is no letter with an index, such as x, \sigma, w_+ or \hat{{u}}_{{1}}"
        )
    return text


def set_letters(page: Document, rename: Mapping[str, str]) -> Document:
    """Return a page without marks: names written as they are given, our letters where none are.

    Raises:
        InputError: a name is not on the page, or what it is to be is there already.
    """
    return with_tildes(page.map(_renaming(page, rename)))


def _renaming(page: Document, rename: Mapping[str, str]) -> Callable[[str], str]:
    """Return what writes names as they are given.

    A name that F does not have is a letter of ours. The start of a weight goes with the weight.
    """
    written = {name: read_symbol(text) for name, text in rename.items()}
    whole, changes = "\n".join(page.formulas), list[tuple[str, str]]()
    for name, text in written.items():
        mark = MARK if name in page.taken else f"{MARK}?"
        old = rf"{mark}(?<![A-Za-z\\]){re.escape(as_latex(name))}(?![A-Za-z_])"
        start = rf"{mark}(?<![A-Za-z\\]){re.escape(as_latex(f'{name}_0'))}"
        if not re.search(f"{old}|{start}", whole):
            raise InputError(f"--rename: there is no {name} on this page")
        there = re.search(rf"(?<![A-Za-z\\\0]){re.escape(text)}(?![A-Za-z_])", whole)
        if there and text not in map(as_latex, written):
            raise InputError(f"--rename: {text} is on this page already")
        stem, _, index = text.partition("_")
        at_start = f"{stem}_{{{index.strip('{}')},0}}" if index else f"{stem}_{{0}}"
        for pattern, new in ((start, at_start), (old, text)):
            changes.append((pattern, "\0" + new.replace("\\", r"\\")))
            whole = re.sub(*changes[-1], whole)

    def change(formula: str) -> str:
        for pattern, new in changes:
            formula = re.sub(pattern, new, formula)
        return formula.replace("\0", MARK)

    return change


def with_tildes(page: Document) -> Document:
    """Return a page without marks, our letters with a tilde, or a word, where they are taken.

    Where lam is ours it is as in our sentences: a lambda is what steers the flow.
    """
    taken = page.taken
    own_lam = rf"{MARK}{re.escape(as_latex(unused('lam', taken)))}(?![A-Za-z_]) *"
    names = {as_latex(name) for name in taken if LABEL.fullmatch(name)}
    words = {r"\beta": as_latex(predictor(taken)), "w": as_latex(aside("w", taken))}
    altered = dict[str, str]()

    def ours(found: re.Match[str]) -> str:
        letter, index = found[1], found[2] or ""
        if (word := words.get(letter, letter)) != letter:
            altered[letter] = word
            return word + index
        entry = ENTRY.fullmatch(found[0])
        stem = letter if entry is not None and letter in names else found[0]
        if stem not in names:
            return found[0]
        altered[stem] = stem.replace(letter, new := rf"\tilde{{{letter}}}")
        raised = found.string[: found.start()].endswith("^")
        return f"{{{new}{index}}}" if raised else new + index

    def change(formula: str) -> str:
        return LETTER.sub(ours, re.sub(own_lam, r"\\varepsilon ", formula)).replace(MARK, "")

    page = page.map(change)
    if not altered:
        return page
    pairs = ", ".join(f"${new}$ for ${letter}$" for letter, new in altered.items())
    given = f"We write {pairs}, as there are names of our letters in what is given."
    return replace(page, parts=(Part("Notation", (given,)), *page.parts))


def norms_as_latex(text: str, norms: Mapping[str, str]) -> str:
    """Return LaTeX with the norm of a vector where its name stands."""
    for name, vector in norms.items():
        text = text.replace(latex_name(name), rf"\lVert {latex_name(vector)} \rVert")
    return text
