"""Our letters and a user's names in LaTeX: ours have a tilde where a name is the same."""

from __future__ import annotations

import re
from collections.abc import Set

from derive.model.labels import LABEL, predictor
from derive.render.formula import as_latex
from derive.render.labels import MARK

LETTER = re.compile(
    rf"(?<![A-Za-z\\{MARK}])(?<!\\mathrm{{)(?<!\\mathbb{{)(?<!\\mathsf )"
    r"(\\(?:rho|beta|omega|eta|lambda|psi|tau|mu|kappa|sigma)|[A-Za-z])(?![A-Za-z])"
    r"(_\{[^{}]*\}|_[A-Za-z0-9])?"
)
"""A letter with its index that carries no mark."""


ENTRY = re.compile(r"(K|\\rho|F|X|y|H|V)_(\{\d+\}|\d)")
"""An entry, which goes with its letter."""


def with_tildes(text: str, taken: Set[str]) -> str:
    """Return LaTeX without marks, our letters with a tilde where they are taken."""
    names = {as_latex(name) for name in taken if LABEL.fullmatch(name)}
    beta, altered = as_latex(predictor(taken)), dict[str, str]()

    def ours(found: re.Match[str]) -> str:
        letter, index = found[1], found[2] or ""
        if letter == r"\beta" and beta != letter:
            altered[letter] = beta
            return beta + index
        entry = ENTRY.fullmatch(found[0])
        stem = letter if entry is not None and letter in names else found[0]
        if stem not in names:
            return found[0]
        altered[stem] = stem.replace(letter, new := rf"\tilde{{{letter}}}")
        raised = found.string[: found.start()].endswith("^")
        return f"{{{new}{index}}}" if raised else new + index

    page = LETTER.sub(ours, text).replace(MARK, "")
    written = ", ".join(f"${letter}$ is written ${new}$" for letter, new in altered.items())
    given = rf"\paragraph{{Letters.}} Ours make way for the names given: {written}."
    return f"{given}\n{page}" if altered else page
