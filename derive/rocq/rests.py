"""Weights that stay combinations of others: the differences move by combinations of themselves."""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy import Expr, Symbol

from derive.rocq.subject import OneOutput
from derive.rocq.terms import NoFile, Terms


def rests(m: OneOutput, on: Callable[[str], Terms]) -> str:
    """Return the lemmas that z_k = w_i - tie_i are 0: z_k' = sum_j a_kj z_j lam, z_k(0) = 0.

    Raises:
        NoFile: their rates are not polynomials in them.
    """
    n, rows = len(m.ties), _rows(m)
    forms = [m.moving[i] - tie for i, tie in m.ties]

    def of(time: str) -> str:
        cases = "".join(f"| {k}%nat => {on(time)(z)} " for k, z in enumerate(forms[1:], 1))
        return f"match k with {cases}| _ => {on(time)(forms[0])} end"

    factors = "".join(
        f"| {k}%nat, {j}%nat => {on('s')(c)} "
        for k, row in enumerate(rows)
        for j, c in enumerate(row)
        if c != 0
    )
    smooth = (
        "cbv beta iota; apply (continuous_mult _ lam); [|apply (proj1 moves'); exact ht']; "
        "apply @ex_derive_continuous; eexists; diff"
    )
    cut = "[|" * n + "k" + "]" * n
    inner = _each(f"destruct j as {cut.replace('k', 'j')}", n, smooth)
    known = " ".join(f"assert (V{i}' := W{i}' t ht')." for i in range(len(m.weights)))
    moves = "cbv beta iota; evar_last; [diff|cbn [Sum]; cbv beta iota; ring]"
    lines = (
        f"Lemma rest' k t : (k < {n})%nat -> 0 <= t -> {of('t')} = 0.\n"
        f"Proof.\n  apply (rests {n} (fun k s => {of('s')})\n"
        f"    (fun k j s => match k, j with {factors}| _, _ => 0 end * lam s)).\n"
        f"  - clear k t. intros k t hk' ht'. {known}\n"
        f"    {_each(f'destruct k as {cut}', n, moves)}.\n"
        f"  - clear k t. intros k j t hk' hj' ht'. {known}\n"
        f"    {_each(f'destruct k as {cut}', n, inner)}.\n"
        "  - clear k t. intros k hk'. assert (f' := from'). unfold starts in f'. hyps.\n"
        f"    {_each(f'destruct k as {cut}', n, 'lra')}.\nQed.\n"
    )
    return lines + "".join(
        f"Lemma rests{i}' t : 0 <= t -> w t {i}%nat = {on('t')(tie)}.\n"
        f"Proof. intros ht'. generalize (rest' {k} t ltac:(lia) ht'). cbv beta iota. lra. Qed.\n"
        for k, (i, tie) in enumerate(m.ties)
    )


def _each(split: str, n: int, tactic: str) -> str:
    """Return a case distinction with a tactic for each of n cases; beyond there is none."""
    return f"({split}; [{f'{tactic}|' * n}lia])"


def _rows(m: OneOutput) -> list[list[Expr]]:
    """Return a_kj with z_k' = sum_j a_kj z_j lam, over the weights."""
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
