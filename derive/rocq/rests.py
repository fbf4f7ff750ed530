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
    n, rows = len(m.ties), _rows(m)
    forms = [m.moving[i] - tie for i, tie in m.ties]

    def of(time: str) -> str:
        return cases("k", [on(time)(z) for z in forms])

    factors = "".join(
        f"| {k}%nat, {j}%nat => {steered(c, m, on('s'))} "
        for k, row in enumerate(rows)
        for j, c in enumerate(row)
        if c != 0
    )
    inner = each("j", ["cbv beta iota; cont"] * n)
    known = " ".join(f"assert (V{i}' := W{i}' s ht)." for i in range(len(m.weights)))
    known += "".join(f" assert (C{i}' := {steady} s {i}%nat ht ltac:(lia))." for i in range(m.d))
    moves = "cbv beta iota; evar_last; [diff|cbn [Sum]; cbv beta iota; field; sides]"
    lines = (
        f"Lemma rest' k t : (k < {n})%nat -> 0 <= t -> {of('t')} = 0.\n"
        f"Proof.\n  intros hk' ht'. refine (rests {n} t (fun k s => {of('s')})\n"
        f"    (fun k j s => match k, j with {factors}| _, _ => 0 end)\n"
        "    _ _ _ ht' k hk'); clear k hk'.\n"
        f"  - intros k s hk' [ht _]. {known}\n"
        f"    {each('k', [moves] * n)}.\n"
        f"  - intros k j s hk' hj' [ht _]. {known}\n"
        f"    {each('k', [inner] * n)}.\n"
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
    whole = sympy.expand(e)
    return " + ".join(
        f"{terms(sympy.factor(c), POWER)} * {terms(x)}"
        for x in m.steering
        if (c := whole.coeff(x)) != 0
    )


def _rows(m: Subject) -> list[list[Expr]]:
    """Return a_kj with z_k' = sum_j a_kj z_j, over the weights."""
    z = [Symbol(f"_z{k}", real=True) for k in range(len(m.ties))]
    lifted = {m.moving[i]: tie + x for x, (i, tie) in zip(z, m.ties, strict=True)}
    back = {x: m.moving[i] - tie for x, (i, tie) in zip(z, m.ties, strict=True)}
    rows = []
    for i, tie in m.ties:
        velocity = sympy.expand(m.rate_of(m.moving[i] - tie).subs(lifted, simultaneous=True))
        if not velocity.is_polynomial(*m.moving, *z):
            raise NoFile("that weights stay tied is not proved here")
        row = [sympy.S.Zero] * len(z)
        for term in sympy.Add.make_args(velocity):
            k = next((k for k, x in enumerate(z) if term.has(x)), None)
            if k is None and term != 0:
                raise NoFile("that weights stay tied is not proved here")
            row[k or 0] += term / z[k or 0]
        rows.append([c.subs(back, simultaneous=True) for c in row])
    return rows
