"""Our letters and a user's names: no line has a token in both meanings."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from derive.potential.piece import trimmed
from derive.render.plain import unmark
from derive.render.sections import form_lines
from derive.render.text import text_lines
from tests.published import derive_once

OTHER = "zz"
"""What makes a name that is no letter of ours, and is sorted as the name is."""
SHAPES = {
    "{0}*{1}": ("K R", "Q rho", "y1 X1", "T N", "beta delta", "w s", "F J", "dQ X", "y d", "k A"),
    "{0}**2 {0}*{1}": ("H omega", "K21 F1", "grad K11", "eta V12", "K c1"),
    "{0}*{1} {0}*{2}": ("s K g", "R y1 Q", "z g w", "A beta1 delta"),
    "{0}**3 - {1}**3": ("mu z",),
}
CASES = [(shape, names.split()) for shape, rows in SHAPES.items() for names in rows]


def pages(shape, names):
    for n in (names, [name + OTHER for name in names]):
        outputs = [output.format(*n) for output in re.split(r"(?<=[}23]) (?={)", shape)]
        text = derive_once(outputs).to_text(width=1000)
        yield re.sub(r"Our letters make way .*\n\n", "", text)


def count(line, names):
    """Return how often each name, and its start symbol, is in a line."""
    words = Counter(re.findall(r"(?<!\w)[A-Za-z]\w*", line))
    return [(words[name], words[f"{name}_0"]) for name in names]


@pytest.mark.every(8)
@pytest.mark.parametrize(("shape", "names"), CASES, ids=lambda x: "-".join(x).replace(" ", "_"))
def test_a_token_has_one_meaning_in_a_line(shape, names):
    """A name stands exactly where a name that is no letter of ours does in its place."""
    page, other = (written.splitlines() for written in pages(shape, names))
    assert len(page) == len(other)
    for line, plain in zip(page, other, strict=True):
        assert count(line, names) == count(plain, [name + OTHER for name in names]), plain


def test_a_form_without_its_gradient_keeps_what_it_refers_to():
    """A definition is kept for what is printed, not for how its line begins."""
    d = derive_once(["a*u", "a*v"])
    (piece,) = d.potential.pieces
    lines = list(text_lines(form_lines(replace(piece, gradient=()), "Q")))
    assert any(unmark(line).startswith("delta = a_0**2") for line in lines)
    assert not any(line.startswith("dQ") for line in lines)
    bare = trimmed(replace(piece, value=piece.betas[0], gradient=(), assumptions=()))
    assert bare.roots == bare.constants == ()
