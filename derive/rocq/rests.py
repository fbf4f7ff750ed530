"""Weights that stay combinations of others: the differences move by combinations of themselves."""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy import Expr, Symbol

from derive.rocq.subject import Subject
from derive.rocq.terms import POWER, NoFile, Terms, cases, each


def rests(m: Subject, on: Callable[[str], Terms], steady: str) -> str:
    """Return the lemmas that z_k = w_i - tie_i are 0: z_k' = sum_j a_kj z_j, z_k(0) = 0.

    Raises:
        NoFile: their rates are not polynomials in them.
    """
    n, z = len(m.ties), [m.moving[i] - tie for i, tie in m.ties]
    at, to = (cases("k", [*map(on(time), z)]) for time in "ts")
    rows = cases("k", [cases("j", [steered(c, m, on("s")) for c in row]) for row in _rows(m)])
    inner = each("j", ["cbv beta iota; cont"] * n)
    known = " ".join(f"assert (V{i}' := W{i}' s ht)." for i in range(len(m.weights)))
    known += "".join(f" assert (C{i}' := {steady} s {i}%nat ht ltac:(lia))." for i in range(m.d))
    moves = "cbv beta iota; evar_last; [diff|cbn [Sum]; cbv beta iota; field; sides]"
    lines = (
        f"Lemma rest' k t : (k < {n})%nat -> 0 <= t -> {at} = 0.\n"
        f"Proof.\n  intros hk' ht'. refine (rests {n} t (fun k s => {to})\n"
        f"    (fun k j s => {rows}) _ _ _ ht' k hk'); clear k hk'.\n"
        f"  - intros k s hk' [ht _]. {known}\n    {each('k', [moves] * n)}.\n"
        f"  - intros k j s hk' hj' [ht _]. {known}\n    {each('k', [inner] * n)}.\n"
        "  - intros k hk'. assert (f' := from'). unfold starts in f'. hyps.\n"
        f"    {each('k', ['lra'] * n)}.\nQed.\n"
    )
    return lines + "".join(
        f"Lemma rests{i}' t : 0 <= t -> w t {i}%nat = {on('t')(tie)}.\n"
        f"Proof. intros ht'. generalize (rest' {k} t ltac:(lia) ht'). cbv beta iota. lra. Qed.\n"
        for k, (i, tie) in enumerate(m.ties)
    )


def steered(e: Expr, m: Subject, terms: Terms) -> str:
    """Return a combination of the steering, term by term."""
    factors = ((sympy.factor(sympy.expand(e).coeff(x)), x) for x in m.steering)
    return " + ".join(f"{terms(c, POWER)} * {terms(x)}" for c, x in factors if c != 0) or "0"


def _rows(m: Subject) -> list[list[Expr]]:
    """Return a_kj with z_k' = sum_j a_kj z_j, over the weights."""
    z = [Symbol(f"_z{k}", real=True) for k in range(len(m.ties))]
    lifted = {m.moving[i]: tie + x for x, (i, tie) in zip(z, m.ties, strict=True)}
    back = {x: m.moving[i] - tie for x, (i, tie) in zip(z, m.ties, strict=True)}
    rows = []
    for i, tie in m.ties:
        velocity = sympy.expand(m.rate_of(m.moving[i] - tie).subs(lifted, simultaneous=True))
        if not velocity.is_polynomial(*z):
            raise NoFile("that weights stay tied is not proved here")
        row, rest = sympy.reduced(velocity, z, *z) if velocity != 0 else ([velocity] * len(z), 0)
        if rest != 0:
            raise NoFile("that weights stay tied is not proved here")
        rows.append([c.subs(back, simultaneous=True) for c in row])
    return rows
