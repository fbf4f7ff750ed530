"""Where Q lives is where the curve is: that it takes every real value.

Towards the end of z with the sign s let s f = g + r, where g has no bound and s r' >= 0. With
N = 1 + (y/c)^2 there is a place at which g = c N^n, which is at least y.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy
from sympy import Expr, Symbol

from derive.rocq.along import ASKED, UNFOLDED, Along
from derive.rocq.place import DERIVE, Place, sure
from derive.rocq.signs import Signs
from derive.rocq.subject import Z
from derive.rocq.terms import NoFile, Terms, all_of

Y = Symbol("y'", real=True)


def reached(along: Along) -> Iterator[str]:
    """Yield the lemma that Q lives where the curve is.

    Raises:
        NoFile: no term of f is seen to grow without bound.
    """
    proof = "apply explicit_image" if along.curve.explicit else "reflexivity"
    if along.curve.everywhere and not along.curve.explicit:
        yield from (_end(along, label, sign) for label, sign in (("above", 1), ("below", -1)))
        proof = (
            "unfold dom. split; auto. intros _. destruct the_curve.\n"
            "  apply (image_all range' f' df'); auto; clear x; intros x.\n"
            "  - destruct (below (- x)) as [z [h1 h2]]. exists z. split; [exact h1|lra].\n"
            "  - destruct (above x) as [z [h1 h2]]. exists z. split; [exact h1|lra]"
        )
    yield f"Lemma reached x : dom' x <-> image f' range' x.\nProof using asked'. {proof}. Qed.\n"


def _end(along: Along, label: str, sign: int) -> str:
    """Return the lemma that s f has no bound on the curve."""
    curve, asked, x = along.curve, along.m.asked, along.x
    candidates = (_far(term, sign, asked) for term in sympy.Add.make_args(curve.f))
    if (found := next(filter(None, candidates), None)) is None:
        raise NoFile("that the curve of Q takes every value is not proved")
    term, place, c, n = found
    terms = Terms({**along.names, Y.name: "y"})
    zeta = terms(place)
    there = Terms({**terms.names, Z.name: f"({zeta})"})
    g, r = sign * term, sign * (curve.f - term)
    slope = sign * r.diff(Z)
    k = x.signs.form(slope) or slope
    sure(x.signs.nonnegative(k), k, ">= 0")
    at_0 = Terms({**along.names, Z.name: "0"})
    origin = all_of(
        f"replace ({at_0(wall)}) with ({terms(wall.subs(Z, 0))}) by ring; pos"
        for wall in curve.walls
    )

    def put(e: Expr, holds: Callable[[Expr], bool], tactic: str) -> str:
        value = e.subs(Z, place)
        forms = (sympy.cancel(value), sympy.factor(value), value)
        shown = next((form for form in forms if holds(form)), None)
        if shown is None:
            raise NoFile(f"that {value} has a sign does not follow from its form")
        return f"replace ({there(e)}) with ({terms(shown)}) by (FIELD); {tactic}"

    at = Place(terms.names, asked, ASKED, "unfold range.")
    inside = all_of(put(wall, asked.positive, "pos") for wall in curve.walls)
    side = f"enough (0 <= {there(sign * Z)}) by lra. {put(sign * Z, asked.nonnegative, 'nn')}."
    opening = f"{ASKED}{along.units_at(f'({zeta})')}{UNFOLDED}remember ({zeta}) as z eqn:hx' in *. "
    far = Place(terms.names, x.signs, opening, values={Z: place}, first="subst z; ")
    N = 1 + (Y / c) ** 2
    large = f"large ({terms(c)}) {n} y ltac:(pos) ltac:(lia)"
    end = f"apply Rle_trans with (1 := {large}). right. FIELD."
    parts = [curve.f, g, r, k]
    return (
        f"Lemma {label} : forall x, exists z, range' z /\\ x <= ({sign}) * f' z.\n"
        f"Proof using asked'.\napply (far range' f' (fun z => {terms(g)}) (fun z => {terms(r)})\n"
        f"  (fun z => {terms(k)}) ({sign})).\n- ring.\n- apply the_curve.\n"
        f"- {ASKED}unfold range. hyps. {origin}\n"
        f"- {x.steps(parts, parts, 'FIELD.')}\n- {x.steps(parts, parts, DERIVE)}\n"
        f"- {x.steps([k], [], 'nn.')}\n"
        f"- intros y. assert (r' : range' ({zeta})).\n"
        f"  {{ {at.steps([place], [place], inside)} }}\n"
        f"  exists ({zeta}). split; [exact r'|split].\n"
        f"  + {at.steps([place], [place], side)}\n  + {far.steps([g], [g, c * N**n], end)}\nQed.\n"
    )


def _far(term: Expr, sign: int, asked: Signs) -> tuple[Expr, Expr, Expr, int] | None:
    """Return a term of f without bound, the place where s times it is c N^n, c and n."""
    c, rest = term.as_independent(Z)
    base, e = rest.as_base_exp()
    if base == Z and e.is_Integer and e > 0 and e % 2:
        return (term, sign * (1 + (Y / c) ** 2), c, int(e)) if asked.positive(c) else None
    c *= sign
    N = 1 + (Y / c) ** 2
    if not asked.positive(c):
        return None
    slope = base.diff(Z)
    pole = e.is_Rational and e < 0 and not slope.has(Z) and base.subs(Z, 0) == 1
    if pole and asked.positive(-sign * slope):
        return term, (N**-e.q - 1) / slope, c, -e.p
    return None
