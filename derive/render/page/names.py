r"""Names as LaTeX: digits and underscored parts are subscripts, words are upright.

Where a name from F is a letter of ours, ours has a tilde. A user may have names of a page written
otherwise, as ``\sigma`` for ``alpha``: what is given is a letter, a word or a Greek letter with an
index, and nothing else, so that no command gets in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from derive.errors import InputError
from derive.model.labels import LABEL, aside, predictor
from derive.model.names import unused
from derive.render.document import Document, Part
from derive.render.labels import MARK

CAPITALS = frozenset(
    ("gamma", "delta", "theta", "lambda", "xi", "pi", "sigma", "upsilon", "phi", "psi", "omega")
)
GREEK = CAPITALS | frozenset(
    ("alpha", "beta", "epsilon", "zeta", "eta", "iota", "kappa", "mu", "nu", "rho", "tau", "chi")
)


def latex_name(name: str) -> str:
    """Return a name for a page, marked as such."""
    return MARK + as_latex(name)


def as_latex(name: str) -> str:
    r"""Return a name with its digits and underscored parts as subscripts, words upright.

    >>> as_latex("u1_0"), as_latex("alpha"), as_latex("u_plus"), as_latex("A_(b)")
    ('u_{1,0}', '\\alpha', 'u_{\\mathrm{plus}}', '\\tilde{A}(b)')
    """
    if name.endswith(")"):
        of, _, at = name[:-1].partition("(")
        return f"{as_latex(of)}({as_latex(at)})"
    if name.endswith("_"):
        letter, *index = as_latex(name[:-1]).partition("_")
        return rf"\tilde{{{letter}}}{''.join(index)}"
    if name.startswith("<"):
        return rf"\langle {', '.join(map(as_latex, name[1:-1].split(', ')))} \rangle"
    head, *rest = name.split("_")
    matched = re.fullmatch(r"([A-Za-z]+)(\d*)", head)
    letters, digits = matched.groups() if matched else (head, "")
    subscripts = [s for s in (digits, *rest) if s]
    if letters.lower() in GREEK:
        capital = letters[0].isupper() and letters.lower() in CAPITALS
        base = f"\\{letters.capitalize()}" if capital else f"\\{letters.lower()}"
    else:
        base = letters if len(letters) == 1 else f"\\mathrm{{{letters}}}"
    if not subscripts:
        return base
    words = [s if len(s) == 1 or s.isdigit() else f"\\mathrm{{{s}}}" for s in subscripts]
    return f"{base}_{{{','.join(words)}}}"


LETTER = re.compile(
    rf"(?<![A-Za-z\\{MARK}])(?<!\\mathrm{{)(?<!\\mathbb{{)(?<!\\mathsf )(?<!\\tilde{{)"
    r"(\\(?:rho|beta|omega|eta|lambda|psi|tau|mu|kappa|sigma|delta|Delta|nu|xi)|[A-Za-z])(?![A-Za-z])"
    r"(_\{[^{}]*\}|_[A-Za-z0-9])?"
)
"""A letter with its index that carries no mark."""


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
