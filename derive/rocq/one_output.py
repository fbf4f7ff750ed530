"""One output, any number of copies: the definitions of a file, and the lemmas on the curve of Q.

Along the curve beta = f(z) are proved f' = df > 0, (height(f z, z))' = mu df, mu' = df/kernel and
kernel > 0; of each copy, in ``flow.py``, that it stays on the curve, and that K is kernel there.
The library makes the theorem of these. In a section the start is at hand: there ``range'`` is
``range`` of it, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy
from sympy import Expr

from derive.model.condition import Sign
from derive.rocq.place import DERIVE, Place, squares, sure
from derive.rocq.signs import Signs, said, signs_of
from derive.rocq.subject import Curve, OneOutput, X, Z
from derive.rocq.terms import Terms, conjunction, name_of, plain

CURVE = ("range", "f", "df", "height", "mu", "kernel")
"""What is defined along the curve."""
OF_F = ("F", "rate", "defined")
ASKED = "assert (a' := asked'). unfold ok in a'. "
UNFOLDED = "unfold range, dom in r'. "


class Along:
    """Writes the definitions, the lemmas on the curve, and the theorem."""

    def __init__(self, m: OneOutput, curve: Curve) -> None:
        self.m = m
        self.given = [name_of(s) for s in m.symbols]
        self.of_F = [name_of(s) for s in m.parameters]
        self.z = "x" if curve.explicit else "z"
        constants = {c.name: self.of(name_of(c.name)) for c, _ in m.constants}
        own = {X.name: "x", Z.name: self.z}
        self.names = dict(zip(m.symbols, self.given, strict=True)) | constants | own
        self.terms = Terms(self.names)
        self.asked = signs_of((plain(c.of), c.sign) for c in m.conditions)
        begun = (self.start_of(wall.subs(Z, m.F)) for wall in curve.walls if curve.explicit)
        self.begun = tuple(e for e in begun if not self.asked.positive(e))
        self.asked = self.asked.with_(self.begun)
        walls = self.asked.with_(curve.walls)
        on_curve, closing = f"intros {self.z} r'. {ASKED}", "unfold height, q, f, df, mu, kernel."
        self.beside = Place(self.names, walls, f"{on_curve}{UNFOLDED}", closing, split=True)
        self.units = dict(self._units(curve))
        opening = f"{on_curve}{self.units_at(self.z)}{UNFOLDED}"
        self.x = replace(self.beside, signs=walls.with_(self.units), opening=opening)
        df, kernel = map(self.oriented, (curve.df, curve.kernel))
        self.curve = replace(curve, df=df, kernel=kernel)
        self.defined = tuple(self._smooth())

    def of(self, name: str) -> str:
        """Return a definition applied to the start."""
        return " ".join((name, *self.given))

    def at(self, time: str) -> dict[str, str]:
        """Return the names of the weights at a time, or of a point w."""
        point = f"w {time}".strip()
        return self.names | {w: f"{point} {i}%nat" for i, w in enumerate(self.m.weights)}

    def on(self, time: str) -> Terms:
        """Return what writes functions of the weights at a time."""
        return Terms(self.at(time))

    def oriented(self, e: Expr) -> Expr:
        """Return a function of z in a form that is positive on the curve, if one is."""
        signs = self.x.signs
        forms = (e, signs.oriented(e), signs.oriented(sympy.factor(e)), sympy.factor(e))
        return next((form for form in forms if signs.positive(form)), e)

    def start_of(self, e: Expr) -> Expr:
        """Return a function of the weights at the start, in a form that is positive."""
        start = self.m.at_start(e)
        forms = (start, sympy.factor(start), sympy.expand(start))
        return next((f for f in forms if self.asked.positive(f)), start)

    # -- definitions

    def definitions(self) -> Iterator[str]:
        """Yield what the theorem is about, F, the conditions, where Q lives and Q; and slopes."""
        m, at, terms = self.m, self.on(""), self.terms
        rates = [f"| {i}%nat => {at(r)} " for i, r in enumerate(m.rates) if r != 1]
        defined = [said(at(e), sign) for _, e, sign in self.defined]
        asked = [said(terms(plain(c.of)), c.sign) for c in m.conditions]
        asked += [f"0 < {terms(e)}" for e in self.begun]
        starts = [f"w {i}%nat = {terms(v)}" for i, v in enumerate(m.start)]
        of_F = {
            "F": ("(w : nat -> R)", at(m.F)),
            "rate": (
                "(j : nat) (w : nat -> R) : R",
                f"match j with {''.join(rates)}| _ => 1 end" if rates else "1",
            ),
            "defined": ("(w : nat -> R) : Prop", conjunction(defined)),
        }
        of_start = {
            **{name_of(c.name): ("", terms(value)) for c, value in m.constants},
            "ok": (": Prop", conjunction(asked)),
            "starts": ("(w : nat -> R) : Prop", conjunction(starts)),
            **self._of_curve(),
        }
        for given, definitions in ((self.of_F, of_F), (self.given, of_start)):
            head = f" ({' '.join(given)} : R)" if given else ""
            for name, (arguments, body) in definitions.items():
                yield f"Definition {name}{head} {arguments} := {body}.".replace("  ", " ")

    def _of_curve(self) -> dict[str, tuple[str, str]]:
        """Return where Q lives, Q and its curve, with arguments; the curve of beta comes last."""
        curve, terms, at_z = self.curve, self.terms, f"({self.z} : R)"
        walls = conjunction(f"0 < {terms(wall)}" for wall in curve.walls)
        slopes = {name: (at_z, terms(getattr(curve, name))) for name in ("df", "mu", "kernel")}
        if curve.explicit:
            return {
                "dom": (f"{at_z} : Prop", walls),
                "q": (at_z, terms(curve.height)),
                "range": ("", self.of("dom")),
                "f": (at_z, "x"),
                "height": ("(x _ : R)", f"{self.of('q')} x"),
            } | slopes
        f, range_ = f"({self.of('f')})", f"({self.of('range')})"
        return {
            "range": (f"{at_z} : Prop", walls),
            "f": (at_z, terms(curve.f)),
            "height": ("(x z : R)", terms(curve.height)),
            "dom": ("(x : R) : Prop", "True" if curve.everywhere else f"image {f} {range_} x"),
            "q": ("(x : R)", f"{self.of('height')} x (inv {f} {range_} x)"),
        } | slopes

    def _smooth(self) -> Iterator[tuple[str, Expr, Sign]]:
        """Yield what F and the rates divide by and take roots and logarithms of."""
        fresh = self.on("")
        for e in (self.m.F, *self.m.rates):
            fresh(e)
        above = tuple(fresh.positive.values())
        for text, e in fresh.positive.items():
            if not Signs().positive(e):
                yield text, e, Sign.POSITIVE
        for text, e in fresh.divisors.items():
            if not e.is_number and not Signs(above).nonzero(e):
                yield text, e, Sign.NONZERO

    def _units(self, curve: Curve) -> Iterator[tuple[Expr, Expr]]:
        """Yield what is positive as a multiple of a wall, with the product."""
        bases = [e.args[0] for e in (*curve.f.atoms(sympy.Pow), *curve.height.atoms(sympy.log))]
        for wall in curve.walls:
            calls = self.beside.calls(wall)
            numerator, _ = sympy.fraction(sympy.together(calls.value(wall)))
            for e in sorted({calls.back(numerator), *bases} - {*curve.walls}, key=str):
                slope = e.diff(Z)
                product = sympy.Mul(slope / wall.diff(Z), wall, evaluate=False)
                if slope == 0 or slope.has(Z) or not self.beside.signs.positive(product):
                    continue
                if self.beside.calls(e, product).vanishes(e - product):
                    yield e, product

    # -- lemmas on the curve

    def units_at(self, z: str) -> str:
        """Return commands that note what is positive at a place of the curve, where r' says so."""
        return "".join(f"assert (U{i}' := unit{i}' {z} r'). " for i in range(len(self.units)))

    def lemmas(self) -> Iterator[str]:
        """Yield the lemmas on Q and its slope along the curve."""
        curve, x, z = self.curve, self.x, self.z
        yield f"Variables {' '.join(self.given)} : R." if self.given else ""
        yield f"Hypothesis asked' : {self.of('ok')}."
        for name in ("dom", *CURVE, *OF_F):
            called = " ".join((name, *self.of_F)) if name in OF_F else self.of(name)
            yield f"Local Notation {name}' := ({called})."
        for i, (unit, product) in enumerate(self.units.items()):
            end = f"replace ({self.terms(unit)}) with ({self.terms(product)}) by (FIELD). pos."
            proof = self.beside.proof([], [unit, product], end)
            yield f"Lemma unit{i}' : forall {z}, range' {z} -> 0 < {self.terms(unit)}.\n{proof}"
        along = curve.height.subs(X, curve.f)
        slopes = {
            "curve_moves": (curve.f, curve.df),
            "curve_height": (along, curve.mu * curve.df),
            "curve_mu": (curve.mu, curve.df / curve.kernel),
        }
        proofs = {"curve_convex": "unfold range, dom. hyps. repeat split; lra."}
        opened = [
            f"apply (open_above (fun {z} => {self.terms(wall)})); [eexists; diff|assumption]"
            for wall in curve.walls
        ] or ["apply filter_forall; auto"]
        steps = "".join(f"apply open_and; [{step}|]. " for step in opened[:-1]) + f"{opened[-1]}."
        proofs["curve_opened"] = f"intros {z} r'. unfold range, dom in *. hyps. {steps}"
        for field, (e, slope) in slopes.items():
            parts = [e, slope, curve.df, curve.mu, curve.kernel]
            proofs[field] = x.steps(parts, [*parts, e.diff(Z), *squares(e)], DERIVE)
        for field, e in (("curve_rises", curve.df), ("curve_positive", curve.kernel)):
            sure(x.signs.positive(e), e, "> 0")
            proofs[field] = x.steps([e], [], "pos.")
        order = ("convex", "opened", "moves", "rises", "height", "mu", "positive")
        shown = "".join(f"- {proofs[f'curve_{field}']}\n" for field in order)
        of = " ".join(f"{name}'" for name in CURVE)
        yield (f"Lemma the_curve : curve {of}.\nProof using asked'.\nconstructor.\n{shown}Qed.\n")

    # -- the theorem

    def theorem(self, name: str, *along: Expr) -> str:
        """Return the theorem on all copies, and its proof: T and K are functions of the weights."""
        m = self.m
        per_copy = [g for g in self.given if g not in self.of_F]
        rate, F, defined = (" ".join((x, *self.of_F)) for x in ("rate", "F", "defined"))
        args = " ".join(g if g in self.of_F else f"({g} i)" for g in self.given)
        groups = (self.of_F, "R"), (per_copy, "nat -> R")
        variables = "".join(f" ({' '.join(x)} : {kind})" for x, kind in groups if x)
        at = self.at("t i") | {c.name: f"{name_of(c.name)} {args}" for c, _ in m.constants}
        at |= {s: f"{g} i" for s, g in zip(m.symbols, self.given, strict=True) if g in per_copy}
        flow = " ".join(f"(fun i t => {Terms(at)(e)})" for e in along)
        functions = " ".join(f"(fun i => {x} {args})" for x in ("dom", *CURVE))
        return (
            f"Theorem {name} d w lam{variables} :\n"
            f"  flows {len(m.weights)} d ({rate}) ({F}) w lam ->\n"
            f"  (forall i, (i < d)%nat -> ok {args} /\\ starts {args} (w 0 i)) ->\n"
            f"  (forall t i, 0 <= t -> (i < d)%nat -> {defined} (w t i)) ->\n"
            f"  regularizes d (fun b => forall i, (i < d)%nat -> dom {args} (b i))\n"
            f"    (fun b => Sum d (fun i => q {args} (b i)))\n"
            f"    (fun t i => {F} (w t i)) lam.\n"
            "Proof.\n  intros H' A' on'.\n"
            f"  apply (copies d {functions}\n    _ _ {flow}); intros i.\n"
            "  - intros hi'. apply the_curve, A', hi'.\n"
            "  - intros x hi'. apply reached, A', hi'.\n"
            f"  - intros hi'. refine (a_copy {args} _ (fun t => w t i) (fun t => lam t i) _ _ _);\n"
            "    [apply A', hi'|apply A', hi'|apply H', hi'|intros; apply on'; assumption].\n"
            "Qed."
        ).replace("  (b i)", " (b i)")
