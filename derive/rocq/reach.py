"""Where Q lives is where the curve is: that it takes every real value.

Towards the end of z with the sign s let s f = g + r, where g has no bound and s r' >= 0. With
N = 1 + (y/c)^2 there is a place at which g = c N^n, which is at least y.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy import Expr, Symbol

from derive.rocq.curve import Term
from derive.rocq.place import Place
from derive.rocq.section import ASKED
from derive.rocq.signs import Signs
from derive.rocq.subject import Z
from derive.rocq.terms import NoFile, Terms, all_of

Y = Symbol("y'", real=True)


def reached(along: Term) -> Iterator[str]:
    """Yield the lemma that Q lives where the curve is.

    Raises:
        NoFile: no term of f is seen to grow without bound.
    """
    proof = "apply explicit_image" if along.curve.explicit else "reflexivity"
    if along.curve.everywhere and not along.curve.explicit:
        yield from (*_end(along, "above", 1), *_end(along, "below", -1))
        proof = (
            "unfold dom. split; auto. intros _. destruct the_curve.\n"
            "  apply (image_all range' f' df'); auto; clear x; intros x.\n"
            "  - destruct (below (- x)) as [z [h1 h2]]. exists z. split; [exact h1|lra].\n"
            "  - destruct (above x) as [z [h1 h2]]. exists z. split; [exact h1|lra]"
        )
    yield f"Lemma reached x : dom' x <-> image f' range' x.\nProof using asked'. {proof}. Qed.\n"


def _end(along: Term, label: str, sign: int) -> Iterator[str]:
    """Yield the lemmas that s f has no bound on the curve."""
    curve, asked, x = along.curve, along.m.asked, along.x
    candidates = (_far(term, sign, asked) for term in sympy.Add.make_args(curve.f))
    if (found := next(filter(None, candidates), None)) is None:
        raise NoFile("that the curve of Q takes every value is not proved")
    term, place, c, n = found
    g, r = sign * term, sign * (curve.f - term)
    slope = sign * r.diff(Z)
    k = x.signs.form(slope) or slope
    at = x.terms
    goal = f"({sign}) * ({at(curve.f)}) = {at(g)} + ({at(r)})"
    yield x.lemma(f"{label}_split'", goal, [curve.f, g, r], [curve.f, g, r], "FIELD.")
    yield x.moves(f"{label}_rest'", r, f"({sign}) * ({at(k)})", [k])
    yield x.nonnegative(f"{label}_grows'", k)
    names = {**along.names, Y.name: "y"}
    zeta = Terms(names)(place)
    names[Z.name] = f"({zeta})"
    there = Place(names, asked, "forall y, ", f"intros y. {ASKED}", values={Z: place})
    at_0 = Place({**names, Z.name: "0"}, asked, "", ASKED, values={Z: sympy.S.Zero})
    for where, here, point, of in (("origin", at_0, "0", ""), ("inside", there, zeta, " y")):
        walls = [f"{label}_{where}{i}'" for i, _ in enumerate(curve.walls)]
        yield from map(here.positive, walls, curve.walls)
        steps = all_of(f"exact ({wall}{of})" for wall in walls)
        yield (
            f"Lemma {label}_{where}' : {here.head}range' ({point}).\n"
            f"Proof using asked'.{' intros y.' * bool(of)} {steps} Qed.\n"
        )
    yield there.nonnegative(f"{label}_side'", sign * Z)
    known = f"assert (r' := {label}_inside' y). {along.units_at(f'({zeta})')}{along.unfolded}"
    far, N = there.knowing(known, x.signs.above), 1 + (Y / c) ** 2
    large = f"large ({far.terms(c)}) {n} y ltac:(pos) ltac:(lia)"
    end = f"apply Rle_trans with (1 := {large}). right. FIELD."
    yield far.lemma(f"{label}_large'", f"y <= {far.terms(g)}", [g], [g, c * N**n], end)
    yield (
        f"Lemma {label} : forall x, exists z, range' z /\\ x <= ({sign}) * f' z.\n"
        f"Proof using asked'.\n  apply (far range' f' (fun z => {at(g)}) (fun z => {at(r)})\n"
        f"    (fun z => {at(k)}) ({sign})); [ring|apply the_curve|exact {label}_origin'\n"
        f"    |exact {label}_split'|exact {label}_rest'|exact {label}_grows'|].\n"
        f"  intros y. exists ({zeta}). split; [exact ({label}_inside' y)|].\n"
        f"  split; [generalize ({label}_side' y); lra|exact ({label}_large' y)].\nQed.\n"
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
