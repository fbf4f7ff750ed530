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

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy
from sympy import Expr

from derive.derivation import Derivation, derive
from derive.entrywise import EntrywiseDerivation
from derive.errors import InputError
from derive.language import to_text
from derive.model.parameterization import Parameterization
from derive.outcome import HEADLINES
from derive.rocq.coupled import WITHOUT, Coupled
from derive.rocq.curve import CURVE, Term, reached
from derive.rocq.radial import Radial, as_vector, turning
from derive.rocq.refutation import Refutation
from derive.rocq.subject import couples, separated, subject_of
from derive.rocq.terms import NoFile, cases, each, name_of
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
SOFTMAX = {
    "f": "exp ({})",
    "h": "- exp (- {})",
    "conserved": "Sum (S d) w_0",
    "q": "- INR (S d) * exp (- ((conserved d w_0 - Sum (S d) (fun k => ln (over d b k)))"
    " / INR (S d)))",
}
"""f and h of a weight, what is kept, and Q without its linear part."""
POWER = {
    "f": "Rpower ({}) {p}",
    "h": "Rpower ({}) (2 - {p}) * / ({p} * (2 - {p}))",
    "conserved": "Sum (S d) (fun k => w_0 k ^ 2)",
    "q": "Rpower (conserved d w_0) (1 - {p} / 2) * Rpower (Sum (S d) (fun k => Rpower (over d b k) "
    "(2 / {p}))) ({p} / 2) * / ({p} * (2 - {p}))",
}


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


def of_every_size(d: EntrywiseDerivation) -> str:
    """Return the file of beta_i = phi v_i, v in every dimension, or of f(v_i)/sum_k f(v_k).

    Raises:
        NoFile: F is no such output.
    """
    p = d.parameterization
    given: dict[str, Any] = {"positive": p.positive, "parameters": p.parameters}
    rates = {name: to_text(rate) for name, rate in p.rates}
    try:
        vector = Parameterization.parse([p.text], vectors=[p.indexed], rates=rates, **given)
    except InputError:
        shares = of_shares(d, "model")
        return "\n".join(
            [_words(d), IMPORTS, "Require Import Radial.\n", *shares, "Print Assumptions model."]
        )
    if p.left_out:
        raise NoFile("no file is written where the last output is left out")
    return written(derive(vector))


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


def _words(d: Derivation | EntrywiseDerivation) -> str:
    """Return the page's theorem in words, as a comment."""
    sections = [part for part in d.to_text().split("\n\n") if part.startswith(KEPT)]
    told = "\n\n".join(sections).replace("(*", "( *").replace("*)", "* )")
    return f"(* {told}\n\n{AXIOMS} *)"


def lemmas(x: Term) -> Iterator[str]:
    """Yield the definitions of a term of Q, and the section with what is proved of it."""
    yield from x.of_curve()
    own = ("dom", "q", *([] if x.curve.explicit else CURVE), "mu", "kernel")
    yield from x.section(own, ("F", "rate", "defined", x.output))
    yield from (*x.on_curve(), *reached(x), *x.copy(), "End Model.\n")


def copies(name: str, flows: Sequence[Term]) -> Iterator[str]:
    """Yield the theorem on any number of copies of one output, and its proof."""
    (x,) = flows
    yield from lemmas(x)
    own = [g for g in x.given if g not in x.of_F]
    args = "".join(f" {g}" if g in x.of_F else f" ({g} i)" for g in x.given)
    groups = (x.of_F, "R"), (own, "nat -> R")
    variables = "".join(f" ({' '.join(names)} : {kind})" for names, kind in groups if names)
    rate, F, defined = map(x.of_weights, ("rate", "F", "defined"))
    yield (
        f"Theorem {name} d w lam{variables} :\n"
        f"  flows {len(x.m.weights)} d ({rate}) ({F}) w lam ->\n"
        f"  (forall i, (i < d)%nat -> ok{args} /\\ starts{args} (w 0 i)) ->\n"
        f"  (forall t i, 0 <= t -> (i < d)%nat -> {defined} (w t i)) ->\n"
        f"  regularizes d (fun b => forall i, (i < d)%nat -> dom{args} (b i))\n"
        f"    (fun b => Sum d (fun i => q{args} (b i)))\n    (fun t i => {F} (w t i)) lam.\n"
        "Proof.\n  intros H' A' on'.\n"
        f"  apply (copies d (fun i => dom{args}) (fun i => q{args}) (fun t i => {F} (w t i))).\n"
        "  intros i hi'. destruct (A' i hi') as [a' f'].\n"
        f"  exact (a_term{args} a' (fun t => w t i) (fun t _ => lam t i) f' (H' i hi')\n"
        "    (fun t ht' => on' t i ht' hi')).\nQed."
    )


def separate(name: str, flows: Sequence[Term]) -> Iterator[str]:
    """Yield the theorem on several outputs, of whose coordinates each moves by itself."""
    modules = [f"Q{j}'" for j, _ in enumerate(flows, 1)]
    for module, x in zip(modules, flows, strict=True):
        yield from (f"\nModule {module}.", *lemmas(x), f"End {module}.")
    x, m = flows[0], flows[0].m
    args, variables = x.arguments(), f" {x.variables}".rstrip()
    dom, q = (cases("j", [f"{Q}.{field}{args}" for Q in modules]) for field in ("dom", "q"))
    coordinate = cases("j", [x.combined("b") for x in flows])
    yield (
        f"\nDefinition coordinate (j : nat) (b : nat -> R) := {coordinate}.\n"
        f"Definition dom{variables} (j : nat) : R -> Prop := {dom}.\n"
        f"Definition q{variables} (j : nat) : R -> R := {q}.\n"
    )
    claim = (
        f"regularizes {m.d}\n"
        f"    (fun b => forall j, (j < {m.d})%nat -> dom{args} j (coordinate j b))\n"
        f"    (fun b => Sum {m.d} (fun j => q{args} j (coordinate j b)))"
    )
    rows = cases("j", [cases("i", [x.terms(c) for c in x.row]) for x in flows])
    steering = cases("j", [x.on("t")(x.nu) for x in flows])
    known = "".join(f"assert (E{j}' := E' {j}%nat ltac:(lia)). " for j in range(m.d))
    unfolded = "unfold coordinate, dot; cbn [Sum]; cbv beta iota; field"
    terms = [f"exact ({Q}.a_term{args} A' w lam B' H' on')" for Q in modules]
    yield (
        f"{x.stated(name, f'{len(m.weights)} {m.d}', claim)}Proof.\n  intros H' A' B' on'.\n"
        f"  apply (separable {m.d} (fun j i => {rows}) coordinate (dom{args}) (q{args}) _ lam\n"
        f"    (fun t j => {steering})).\n"
        f"  - intros j b hj'. {each('j', [unfolded] * m.d)}.\n"
        f"  - intros b c E' i hi'. {known}unfold coordinate in *. cbv beta iota in *.\n"
        f"    {each('i', ['lra'] * m.d)}.\n"
        f"  - intros t i ht' hi'. {each('i', ['cbn [Sum]; cbv beta iota; field'] * m.d)}.\n"
        f"  - intros j hj'. {each('j', terms)}.\nQed."
    )


def of_shares(d: EntrywiseDerivation, name: str) -> Iterator[str]:
    """Yield the theorem on beta_i = f(v_i)/sum_k f(v_k) of every n, f = exp or a power.

    There d + 1 entries have d outputs, the last being what these leave of 1. With h' = 1/f' and l'
    = f/f' the sum of l(v) is kept, and l is a convex function of h, so that Q = sum_k beta_k h(v_k)
    is above its tangents: ``Radial.v`` has it. (Derived here.)

    Raises:
        NoFile: F is no such output.
    """
    f, v = _shared(d), d.notation.v
    base, p = f.as_base_exp()
    if f == sympy.exp(v):
        yield from _theorem(name, SOFTMAX, "", "", "softmax d w lam")
    elif base == v and p != 2 and p.is_positive and (p.is_Rational or p.is_Symbol):
        text = str(p) if p.is_Integer else f"({p})" if p.is_Rational else name_of(str(p))
        form = {key: part.replace("{p}", text) for key, part in POWER.items()}
        given = f" ({text} : R)" * p.is_Symbol
        asked = f"0 < {text} -> {text} <> 2 -> " * p.is_Symbol
        asked += "(forall t k, 0 <= t -> (k < S d)%nat -> 0 < w t k) -> "
        yield from _theorem(name, form, given, asked, f"powers d {text} w lam")
    else:
        raise NoFile("of every size a file is written of phi(|v|) v, softmax and powers alone")


def _shared(d: EntrywiseDerivation) -> Expr:
    """Return f where the outputs are f(v_i)/sum_k f(v_k)."""
    at, dual = d.notation, d.dual
    if dual is not None and d.left_out and not d.parameterization.rates:
        f = at.own(dual.f)
        whole = sympy.cancel(at.expr(d.entries.F[0]) * at.S / f.subs(at.v, at.entry("i")))
        if whole == 1 and at.own(at.entries.sums[at.S.name]) == f:
            return f
    raise NoFile("of every size a file is written of phi(|v|) v, or f(v)/sum(f(v)), alone")


def _theorem(
    name: str, form: Mapping[str, str], given: str, asked: str, proof: str
) -> Iterator[str]:
    """Yield definitions of F, of where Q lives, and of Q; and the theorem."""
    f, h, conserved, q = form.values()
    whole = f"Sum (S d) (fun k => {f.format('w k')})"
    args = given.partition(":")[0].rstrip().replace("(", "")
    y_0 = f"fun i => {h.format('w_0 i')} - ({h.format('w_0 d')})"
    yield f"Definition F{given} d w i := {f.format('w i')} / {whole}."
    yield "Definition dom d b := forall k, (k < S d)%nat -> 0 < over d b k."
    yield f"Definition conserved d w_0 := {conserved}."
    yield f"Definition Q{given} d w_0 b := {q} - dot d ({y_0}) b."
    yield f"Theorem {name}{given} d w lam :"
    yield f"  {asked}flow (S d) d (fun _ _ => 1) (F{args} d) w lam ->"
    yield f"  regularizes d (dom d) (Q{args} d (w 0)) (fun t => F{args} d (w t)) lam."
    yield f"Proof. intros. apply ({proof}); first [assumption|lra]. Qed."
