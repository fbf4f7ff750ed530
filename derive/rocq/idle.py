"""Weights that start at 0 and stay there: their rates are combinations of themselves."""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy import Expr

from derive.rocq.subject import OneOutput
from derive.rocq.terms import NoFile, Terms


def idle(m: OneOutput, on: Callable[[str], Terms]) -> str:
    """Return the lemmas that the idle weights z rest: z_k' = sum_j a_kj(w) z_j lam, z(0) = 0.

    Raises:
        NoFile: their rates are not polynomials in them.
    """
    n, rows = len(m.idle), [_row(m, i) for i in m.idle]
    cases = "".join(f"| {k}%nat => {i}%nat " for k, i in enumerate(m.idle[1:], 1))
    place = f"match k with {cases}| _ => {m.idle[0]}%nat end"
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
    cut0 = cut.replace("k", "k0")
    inner = _each(f"destruct j as {cut.replace('k', 'j')}", n, smooth)
    known = " ".join(f"assert (V{i}' := W{i}' t ht')." for i in range(len(m.weights)))
    moves = "|".join(
        f"evar_last; [exact (W{i}' t ht')|cbn [Sum]; cbv beta iota; ring]" for i in m.idle
    )
    lines = (
        f"Lemma rest' k t : (k < {n})%nat -> 0 <= t -> w t ({place}) = 0.\n"
        f"Proof.\n  apply (rests {n} (fun k s => w s ({place}))\n"
        f"    (fun k j s => match k, j with {factors}| _, _ => 0 end * lam s)).\n"
        "  - clear k t. intros k t hk' ht'.\n"
        f"    destruct k as {cut}; [{moves}|lia].\n"
        f"  - clear k t. intros k j t hk' hj' ht'. {known}\n"
        f"    {_each(f'destruct k as {cut}', n, inner)}.\n"
        "  - assert (f' := from'). unfold starts in f'. hyps.\n"
        f"    {_each(f'destruct k0 as {cut0}', n, 'assumption')}.\nQed.\n"
    )
    return lines + "".join(
        f"Lemma rests{i}' t : 0 <= t -> w t {i}%nat = 0.\n"
        f"Proof. exact (rest' {k} t ltac:(lia)). Qed.\n"
        for k, i in enumerate(m.idle)
    )


def _each(split: str, n: int, tactic: str) -> str:
    """Return a case distinction with a tactic for each of n cases; beyond there is none."""
    return f"({split}; [{f'{tactic}|' * n}lia])"


def _row(m: OneOutput, i: int) -> list[Expr]:
    """Return a_ij with rate_i dF/dw_i = sum_j a_ij z_j."""
    resting = [m.moving[k] for k in m.idle]
    velocity = sympy.expand(m.rates[i] * m.slopes[i])
    if not velocity.is_polynomial(*m.moving):
        raise NoFile("that weights stay at 0 is not proved here")
    row = [sympy.Integer(0)] * len(resting)
    for term in sympy.Add.make_args(velocity):
        for j, z in enumerate(resting):
            if term.has(z):
                row[j] += term / z
                break
        else:
            if term != 0:
                raise NoFile("that weights stay at 0 is not proved here")
    return row
