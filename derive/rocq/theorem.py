"""The file of a derivation: the page's theorem in words, definitions, lemmas, the theorem.

    Theorem model d w lam (u_0 : nat -> R) :
      flows p d rate F w lam ->
      (forall i, (i < d)%nat -> ok (u_0 i) /\\ starts (u_0 i) (w 0 i)) ->
      (forall t i, 0 <= t -> (i < d)%nat -> defined (w t i)) ->
      regularizes d (fun b => forall i, (i < d)%nat -> dom (u_0 i) (b i))
        (fun b => Sum d (fun i => q (u_0 i) (b i))) (fun t i => F (w t i)) lam.

is stated for one output, in d copies that start where each likes: ``ok`` are the conditions that
the page prints, ``defined`` says that F is defined on the way, ``dom`` is where Q lives. Along a
curve beta = f(z) ``q x`` is Q at x and the z that the inverse of f gives. Of several outputs

    regularizes d (fun b => forall j, (j < d)%nat -> dom u_0 j (coordinate j b))
      (fun b => Sum d (fun j => q u_0 j (coordinate j b))) (fun t => F (w t)) lam

has Q as a sum over coordinates that move by themselves; of a vector, as ``radial.py`` has it, Q is
a function of |b|^2 less <u_0, b>; where Q couples outputs it is written as a whole. What
``regularizes`` says is in the library, ``Mirror.v``. The generator need not be trusted: Rocq reads
what it writes, and what has no proof here is refused by name, never written. Where there is no Q

    Theorem model : no_potential p d F start.

says that there is none near a rational start, and no warp.
"""

from __future__ import annotations

from collections.abc import Iterator

from derive.derivation import Derivation
from derive.outcome import HEADLINES
from derive.rocq.coupled import WITHOUT, Coupled
from derive.rocq.curve import Term
from derive.rocq.radial import Radial
from derive.rocq.refutation import Refutation
from derive.rocq.separate import copies, separate
from derive.rocq.subject import couples, separated, subject_of
from derive.rocq.terms import NoFile
from derive.rocq.vector import as_vector, turning
from derive.verdict import Verdict

IMPORTS = """From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Require Import Mirror.
Open Scope R_scope."""
AXIOMS = "The axioms are those of the reals and of classical logic: the last line prints them."
MARK = "`"
"""Stands around formulas in sentences."""
KEPT = ("Yes", "No", "Parameterization", "Implicit")
"""The sections of the page that state the theorem."""


def written(d: Derivation, name: str = "model") -> str:
    """Return the file of a derivation.

    Args:
        d: the derivation.
        name: what the theorem is called.

    Raises:
        NoFile: there is none: nothing was proved, or its proof is not written here.
    """
    proved = [*_proved(d, name)]
    return "\n".join([_words(d), IMPORTS, "", *proved, f"Print Assumptions {name}."])


def _proved(d: Derivation, name: str) -> Iterator[str]:
    """Yield definitions, lemmas and the theorem: there is no Q; of a vector, of outputs, copies."""
    if d.verdict is Verdict.UNDECIDED:
        raise NoFile(f"no file is written: {HEADLINES[d.verdict].replace(MARK, '')}")
    if not d.parameterization.geometry.steering.is_gradient:
        raise NoFile("no file is written of steepest descent in another norm")
    if d.verdict is Verdict.REFUTED:
        yield from Refutation(d).theorem(name)
        return
    vector = d if d.parameterization.vectors else as_vector(d)
    if vector is not None:
        dimension = "d" if vector is d else str(d.parameterization.d)
        yield from Radial(*turning(vector), dimension).theorem(name)
        return
    if couples(d):
        yield from Coupled(subject_of(d), d).theorem(name)
        return
    m, coordinates = separated(d)
    flows = [Term(m, x) for x in coordinates]
    yield from flows[0].definitions()
    yield from (copies if m.d == 1 else separate)(name, flows)


def has_file(d: Derivation) -> bool:
    """Say whether a derivation has a file with all that the page says of Q."""
    try:
        return not any(WITHOUT in part for part in _proved(d, "model"))
    except NoFile:
        return False


def _words(d: Derivation) -> str:
    """Return the page's theorem in words, as a comment."""
    sections = [part for part in d.to_text().split("\n\n") if part.startswith(KEPT)]
    told = "\n\n".join(sections).replace("(*", "( *").replace("*)", "* )")
    return f"(* {told}\n\n{AXIOMS} *)"
