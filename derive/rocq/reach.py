"""That a curve takes every real value: far along it, one term of f is beyond what is asked.

Towards the end of z with the sign s let s f = g + r, where g has no bound and s r' >= 0. With
N = 1 + (y/c)^2 there is a place at which g = c N^n, or c exp(N), which is at least y.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy
from sympy import Expr, Symbol

from derive.rocq.one_output import Writer
from derive.rocq.place import DERIVE, Place, sure
from derive.rocq.signs import Signs
from derive.rocq.subject import Z
from derive.rocq.terms import NoFile, Terms

Y = Symbol("y", real=True)


def everywhere(writer: Writer) -> Iterator[str]:
    """Yield the lemmas that every beta is on the curve.

    Raises:
        NoFile: no term of f is seen to grow without bound.
    """
    ok, parts = writer.applied("ok"), " ".join(map(writer.function, ("range", "f", "df")))
    f, range_ = writer.function("f"), writer.function("range")
    yield from _end(writer, "above", 1)
    yield from _end(writer, "below", -1)
    far = (
        f"destruct ({writer.applied(label, f'({y})')} o') as [z [h1 h2]]. exists z. split; "
        "[exact h1|lra].\n"
        for label, y in (("below", "- x"), ("above", "x"))
    )
    yield (
        f"Lemma everywhere{writer.head('(x : R)')} : {ok} -> image {f} {range_} x.\n"
        f"Proof.\n  intros o'. destruct ({writer.applied('the_curve')} o').\n"
        f"  apply (image_all {parts}); auto; clear x; intros x.\n  - {'  - '.join(far)}Qed.\n"
    )


def _end(writer: Writer, label: str, sign: int) -> Iterator[str]:
    """Yield the lemmas that s f has no bound on the curve."""
    curve, asked, x = writer.curve, writer.asked, writer.x
    candidates = (_far(term, sign, asked) for term in sympy.Add.make_args(curve.f))
    if (found := next(filter(None, candidates), None)) is None:
        raise NoFile("that the curve of Q takes every value is not proved")
    term, place, c, n = found
    terms = Terms({**writer.names, Y.name: "y"})
    zeta = terms(place)
    there = Terms({**terms.names, Z.name: f"({zeta})"})
    g, r = sign * term, sign * (curve.f - term)
    k = writer.oriented(sign * r.diff(Z))
    parts = [curve.f, g, r, k]
    f, range_ = writer.applied("f", "z"), writer.function("range")
    goal = f"({sign}) * {f} = {terms(g)} + ({terms(r)})"
    yield writer.on_curve(f"{label}_sum", goal, x.proof(parts, parts, "WRITE FIELD."))
    goal = f"is_derive (fun z => {terms(r)}) z (({sign}) * ({terms(k)}))"
    yield writer.on_curve(f"{label}_slope", goal, x.proof(parts, parts, DERIVE))
    sure(x.signs.nonnegative(k), k, ">= 0")
    yield writer.on_curve(f"{label}_grows", f"0 <= {terms(k)}", x.proof([k], [], "nn."))

    head = f"{writer.head('(y : R)')} : {writer.applied('ok')} -> "
    at = Place(terms.names, asked, "intros o'. unfold ok in o'. ", "unfold range.")

    def put(e: Expr, holds: Callable[[Expr], bool], tactic: str) -> str:
        value = e.subs(Z, place)
        forms = (sympy.cancel(value), sympy.factor(value), value)
        shown = next((form for form in forms if holds(form)), None)
        if shown is None:
            raise NoFile(f"that {value} has a sign does not follow from its form")
        return f"replace ({there(e)}) with ({terms(shown)}) by (FIELD); {tactic}"

    steps = [put(wall, asked.positive, "pos") for wall in curve.walls] or ["exact I"]
    inside = "".join(f"split; [{step}|]. " for step in steps[:-1]) + f"{steps[-1]}."
    proof = at.proof([place], [place], inside)
    yield f"Lemma {label}_in{head}{range_.strip('()')} ({zeta}).\n{proof}"
    side = f"{put(sign * Z, asked.nonnegative, 'nn')}."
    yield f"Lemma {label}_side{head}0 <= {there(sign * Z)}.\n{at.proof([place], [place], side)}"
    known = f"assert (r' := {writer.applied(f'{label}_in', 'y')} o'). "
    known += writer.units_at(f"({zeta})", "o' r'")
    known += f"unfold ok, range in o', r'. remember ({zeta}) as z eqn:hx' in *. "
    far = Place(terms.names, x.signs, f"intros o'. {known}", values={Z: place}, first="subst z; ")
    N = 1 + (Y / c) ** 2
    bound, large = c * sympy.exp(N), f"large_exp ({terms(c)}) y ltac:(pos)"
    if n:
        bound, large = c * N**n, f"large ({terms(c)}) {n} y ltac:(pos) ltac:(lia)"
    end = f"apply Rle_trans with (1 := {large}). right. WRITE FIELD."
    yield f"Lemma {label}_far{head}y <= {there(g)}.\n{far.proof([g], [g, bound], end)}"
    shown = "|".join(
        f"exact (fun z r' => {writer.applied(f'{label}_{x}', 'z')} o' r')"
        for x in ("sum", "slope", "grows")
    )
    at_y = {x: writer.applied(f"{label}_{x}", "y") for x in ("in", "side", "far")}
    yield (
        f"Lemma {label}{head}exists z, {range_.strip('()')} z /\\ y <= ({sign}) * {f}.\n"
        f"Proof.\n  intros o'. revert y. destruct ({writer.applied('the_curve')} o').\n"
        f"  apply (far {range_} {writer.function('f')} (fun z => {terms(g)})\n"
        f"    (fun z => {terms(r)}) (fun z => {terms(k)}) ({sign}));\n"
        f"    [ring|auto|{_origin(writer)}|{shown}|].\n"
        f"  intros y. exists ({zeta}). split; [|split].\n  - exact ({at_y['in']} o').\n"
        f"  - generalize ({at_y['side']} o'). lra.\n  - exact ({at_y['far']} o').\nQed.\n"
    )


def _origin(writer: Writer) -> str:
    """Return what proves that 0 is on the curve."""
    terms = Terms(writer.names)
    at_0 = Terms({**writer.names, Z.name: "0"})
    steps = (
        f"replace ({at_0(wall)}) with ({terms(wall.subs(Z, 0))}) by ring; pos"
        for wall in writer.curve.walls
    )
    each = "|".join(steps)
    return f"unfold range, ok in *; hyps; repeat split; [{each}]" if each else "exact I"


def _far(term: Expr, sign: int, asked: Signs) -> tuple[Expr, Expr, Expr, int] | None:
    """Return a term of f without bound, the place where s times it is c N^n, c and n; 0 for exp."""
    c, rest = term.as_independent(Z)
    base, e = rest.as_base_exp()
    if base == Z and e.is_Integer and e > 0 and e % 2:
        return (term, sign * (1 + (Y / c) ** 2), c, int(e)) if asked.positive(c) else None
    c *= sign
    N = 1 + (Y / c) ** 2
    if not asked.positive(c):
        return None
    if isinstance(rest, sympy.exp):
        rate = rest.args[0].diff(Z)
        far = asked.positive(sign * rate) and rest.args[0] == rate * Z
        return (term, N / rate, c, 0) if far else None
    slope = base.diff(Z)
    pole = e.is_Rational and e < 0 and not slope.has(Z) and base.subs(Z, 0) == 1
    if pole and asked.positive(-sign * slope):
        return term, (N**-e.q - 1) / slope, c, -e.p
    return None
