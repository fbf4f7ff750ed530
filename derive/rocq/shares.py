"""The theorem on beta_i = f(v_i)/sum_k f(v_k) of every n, f = exp or a power: ``Radial.v`` has it.

There d + 1 entries have d outputs, the last being what these leave of 1. With h' = 1/f' and l' =
f/f' the sum of l(v) is kept, and l is a convex function of h, so that Q = sum_k beta_k h(v_k) is
above its tangents. A file says which f, where Q lives, and what it is. (Derived here.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sympy
from sympy import Expr

from derive.entrywise import EntrywiseDerivation
from derive.rocq.terms import NoFile, name_of

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


def of_shares(d: EntrywiseDerivation, name: str) -> Iterator[str]:
    """Yield the definitions, the theorem, and the lemma of the library that is its proof.

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
