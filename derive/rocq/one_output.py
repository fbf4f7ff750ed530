"""One output, any number of copies: the definitions of a file, and the lemmas on the curve of Q.

Along the curve beta = f(z) are proved f' = df > 0, (height(f z, z))' = mu df, mu' = df/kernel and
kernel > 0; of each copy, in ``flow.py``, that it stays on the curve, and that K is kernel there.
The library makes the theorem of these.
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


class Names:
    """How things are called in a file."""

    def __init__(self, m: OneOutput, curve: Curve) -> None:
        self.m, self.curve = m, curve
        self.given = [name_of(s) for s in m.symbols]
        self.of_F = [name_of(s) for s in m.parameters]
        called = " ".join(self.given)
        self.z = "x" if curve.explicit else "z"
        constants = {c.name: f"{name_of(c.name)} {called}".strip() for c, _ in m.constants}
        own = {X.name: "x", Z.name: self.z}
        self.names = dict(zip(m.symbols, self.given, strict=True)) | constants | own

    def at(self, time: str) -> dict[str, str]:
        """Return the names of the weights at a time, or of a point w."""
        point = f"w {time}".strip()
        return self.names | {w: f"{point} {i}%nat" for i, w in enumerate(self.m.weights)}

    def on(self, time: str) -> Terms:
        """Return what writes functions of the weights at a time."""
        return Terms(self.at(time))

    def head(self, more: str = "") -> str:
        """Return the arguments of a definition."""
        return (f" ({' '.join(self.given)} : R)" if self.given else "") + f" {more}" * bool(more)

    def applied(self, name: str, *more: str) -> str:
        """Return a definition applied to the start."""
        return " ".join((name, *self.given, *more))

    def function(self, name: str) -> str:
        """Return a definition applied to the start, as an argument."""
        return f"({self.applied(name)})" if self.given else name

    def with_parameters(self, name: str) -> str:
        """Return a definition applied to the parameters of F, as an argument."""
        return f"({' '.join((name, *self.of_F))})" if self.of_F else name

    def on_curve(self, label: str, goal: str, proof: str) -> str:
        """Return a lemma on every z of the curve."""
        given = f"{self.applied('ok')} -> {self.applied('range', self.z)} -> "
        return f"Lemma {label}{self.head(f'({self.z} : R)')} : {given}{goal}.\n{proof}"


class Writer(Names):
    """Writes the definitions, the lemmas on the curve, and the theorem."""

    def __init__(self, m: OneOutput, curve: Curve) -> None:
        super().__init__(m, curve)
        self.asked = signs_of((plain(c.of), c.sign) for c in m.conditions)
        begun = (self.start_of(wall.subs(Z, m.F)) for wall in curve.walls if curve.explicit)
        self.begun = tuple(e for e in begun if not self.asked.positive(e))
        self.asked = self.asked.with_(self.begun)
        within = self.asked.with_(curve.walls)
        opening = "intros o' r'. unfold ok, range, dom in o', r'."
        closing = "unfold height, q, f, df, mu, kernel."
        self.x = Place(self.names, within, f"{opening} ", closing, split=True)
        self.units = dict(self._units())
        self.smooth = tuple(self._smooth())
        known = self.units_at(self.z, "o' r'")
        self.x = replace(self.x, opening=f"intros o' r'. {known}").knowing(
            opening.removeprefix("intros o' r'. "), self.units
        )
        df, kernel = map(self.oriented, (curve.df, curve.kernel))
        self.curve = replace(curve, kernel=kernel)
        self.df = df

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
        """Yield what the theorem is about: F, the conditions, where Q lives, and Q."""
        m, curve, at, terms = self.m, self.curve, self.on(""), Terms(self.names)
        of_F = f" ({' '.join(self.of_F)} : R)" if self.of_F else ""
        yield f"Definition F{of_F} (w : nat -> R) := {at(m.F)}."
        rates = [f"| {i}%nat => {at(r)} " for i, r in enumerate(m.rates) if r != 1]
        chosen = f"match j with {''.join(rates)}| _ => 1 end" if rates else "1"
        yield f"Definition rate{of_F} (j : nat) (w : nat -> R) : R := {chosen}."
        defined = [said(at(e), sign) for _, e, sign in self.smooth]
        yield f"Definition defined{of_F} (w : nat -> R) : Prop := {conjunction(defined)}."
        for symbol, value in m.constants:
            yield f"Definition {name_of(symbol.name)}{self.head()} := {terms(value)}."
        asked = [said(terms(plain(c.of)), c.sign) for c in m.conditions]
        asked += [f"0 < {terms(e)}" for e in self.begun]
        yield f"Definition ok{self.head()} : Prop := {conjunction(asked)}."
        starts = [f"w {i}%nat = {terms(v)}" for i, v in enumerate(m.start)]
        yield f"Definition starts{self.head('(w : nat -> R)')} : Prop := {conjunction(starts)}."
        walls = conjunction([f"0 < {terms(wall)}" for wall in curve.walls])
        range_, f = self.function("range"), self.function("f")
        if curve.explicit:
            parts = {
                "dom": ("(x : R) : Prop", walls),
                "q": ("(x : R)", terms(curve.height)),
                "range": ("", self.function("dom")),
                "f": ("(x : R)", "x"),
                "height": ("(x _ : R)", self.applied("q", "x")),
            }
        else:
            image = "True" if curve.everywhere else f"image {f} {range_} x"
            parts = {
                "range": ("(z : R) : Prop", walls),
                "f": ("(z : R)", terms(curve.f)),
                "height": ("(x z : R)", terms(curve.height)),
                "dom": ("(x : R) : Prop", image),
                "q": ("(x : R)", self.applied("height", "x", f"(inv {f} {range_} x)")),
            }
        for name, (args, body) in parts.items():
            yield f"Definition {name}{self.head(args)} := {body}."

    def _smooth(self) -> Iterator[tuple[str, Expr, Sign]]:
        """Yield what F and the rates divide by and take roots and logarithms of."""
        fresh = Terms(self.at(""))
        for e in (self.m.F, *self.m.rates):
            fresh(e)
        above = tuple(fresh.positive.values())
        for text, e in fresh.positive.items():
            if not Signs().positive(e):
                yield text, e, Sign.POSITIVE
        for text, e in fresh.divisors.items():
            if not e.is_number and not Signs(above).nonzero(e):
                yield text, e, Sign.NONZERO

    def _units(self) -> Iterator[tuple[Expr, Expr]]:
        """Yield what is positive as a multiple of a wall, with the product."""
        curve, signs = self.curve, self.x.signs
        bases = [e.args[0] for e in (*curve.f.atoms(sympy.Pow), *curve.height.atoms(sympy.log))]
        for wall in curve.walls:
            numerator, _ = sympy.fraction(sympy.together(wall))
            for e in sorted({numerator, *bases} - {*curve.walls}, key=str):
                ratio = sympy.cancel(e / wall)
                if e.has(Z) and not ratio.has(Z) and signs.positive(ratio):
                    yield e, sympy.Mul(ratio, wall, evaluate=False)

    def units_at(self, z: str, given: str) -> str:
        """Return commands that note what is positive at a place of the curve."""
        args = " ".join((*self.given, z, given))
        return "".join(f"assert (U{i}' := unit{i}' {args}). " for i in range(len(self.units)))

    # -- lemmas on the curve

    def lemmas(self) -> Iterator[str]:
        """Yield the lemmas on Q and its slope along the curve."""
        curve, terms, z = self.curve, Terms(self.names), self.z
        for name, e in (("df", self.df), ("mu", curve.mu), ("kernel", curve.kernel)):
            yield f"Definition {name}{self.head(f'({z} : R)')} := {terms(e)}."
        for i, (unit, product) in enumerate(self.units.items()):
            place = replace(self.x, opening="intros o' r'. unfold ok, range in o', r'. ")
            end = f"replace ({terms(unit)}) with ({terms(product)}) by (FIELD). pos."
            proof = place.proof([], [unit, product], end)
            yield self.on_curve(f"unit{i}'", f"0 < {terms(unit)}", proof)
        along = curve.height.subs(X, curve.f)
        beta = f"({self.applied('f', z)})"
        height = f"(fun {z} => {self.applied('height', beta, z)})"
        mu, df, kernel = (self.applied(x, z) for x in ("mu", "df", "kernel"))
        of_mu, fraction = self.function("mu"), self.df / curve.kernel
        slopes = (
            ("rises", self.function("f"), curve.f, self.df, df),
            ("height_slope", height, along, curve.mu * self.df, f"({mu} * {df})"),
            ("mu_slope", of_mu, curve.mu, fraction, f"({df} / {kernel})"),
        )
        for label, function, e, slope, text in slopes:
            parts = [e, slope, self.df, curve.mu, curve.kernel]
            proof = self.x.proof(parts, [*parts, e.diff(Z), *squares(e)], DERIVE)
            yield self.on_curve(label, f"is_derive {function} {z} ({text})", proof)
        for name, e in (("df", self.df), ("kernel", curve.kernel)):
            sure(self.x.signs.positive(e), e, "> 0")
            goal = f"0 < {self.applied(name, z)}"
            yield self.on_curve(f"{name}_positive", goal, self.x.proof([e], [], "pos."))
        yield self.whole()

    def whole(self) -> str:
        """Return the lemma on the curve, and which beta are on it."""
        parts = " ".join(map(self.function, ("range", "f", "df", "height", "mu", "kernel")))
        ok = self.applied("ok")
        opened = [
            f"apply (open_above (fun {self.z} => {Terms(self.names)(wall)})); "
            "[eexists; diff|assumption]"
            for wall in self.curve.walls
        ] or ["apply filter_forall; auto"]
        steps = "".join(f"apply open_and; [{step}|]. " for step in opened[:-1]) + f"{opened[-1]}."
        lemmas = ("rises", "df_positive", "height_slope", "mu_slope", "kernel_positive")
        shown = (f"  - exact (fun {self.z} => {self.applied(x, self.z)} o').\n" for x in lemmas)
        return (
            f"Lemma the_curve{self.head()} : {ok} -> curve {parts}.\n"
            "Proof.\n  intros o'. constructor.\n"
            "  - unfold range, dom. hyps. repeat split; lra.\n"
            f"  - intros {self.z} r'. unfold range, dom in *. hyps. {steps}\n"
            f"{''.join(shown)}Qed.\n"
        )

    def reached(self) -> str:
        """Return the lemma that Q lives where the curve is."""
        image = f"image {self.function('f')} {self.function('range')} x"
        proof = "reflexivity."
        if self.curve.explicit:
            proof = "apply explicit_image."
        elif self.curve.everywhere:
            exact = f"exact ({self.applied('everywhere', 'x')} o')"
            proof = f"split; [intros _; {exact}|intros _; exact I]."
        return (
            f"Lemma reached{self.head('(x : R)')} : {self.applied('ok')} -> "
            f"{self.applied('dom', 'x')} <-> {image}.\nProof. intros o'. {proof} Qed.\n"
        )

    # -- the theorem

    def theorem(self, name: str, *along: Expr) -> str:
        """Return the theorem on all copies, and its proof: T and K are functions of the weights."""
        m = self.m
        per_copy = [g for g in self.given if g not in self.of_F]
        rate, F, defined = map(self.with_parameters, ("rate", "F", "defined"))

        def of(name: str, *more: str) -> str:
            args = [g if g in self.of_F else f"({g} i)" for g in self.given]
            return " ".join((name, *args, *more))

        groups = (self.of_F, "R"), (per_copy, "nat -> R")
        variables = "".join(f" ({' '.join(x)} : {kind})" for x, kind in groups if x)
        at = self.at("t i")
        for symbol, text in zip(m.symbols, self.given, strict=True):
            at[symbol] = text if text in self.of_F else f"{text} i"
        at |= {c.name: of(name_of(c.name)) for c, _ in m.constants}
        flow = " ".join(f"(fun i t => {Terms(at)(e)})" for e in along)
        functions = " ".join(
            f"(fun i => {of(x)})" for x in ("dom", "range", "f", "df", "height", "mu", "kernel")
        )
        return (
            f"Theorem {name} d w lam{variables} :\n"
            f"  flows {len(m.weights)} d {rate} {F} w lam ->\n"
            f"  (forall i, (i < d)%nat -> {of('ok')} /\\ {of('starts', '(w 0 i)')}) ->\n"
            f"  (forall t i, 0 <= t -> (i < d)%nat -> {defined.strip('()')} (w t i)) ->\n"
            f"  regularizes d (fun b => forall i, (i < d)%nat -> {of('dom', '(b i)')})\n"
            f"    (fun b => Sum d (fun i => {of('q', '(b i)')}))\n"
            f"    (fun t i => {F.strip('()')} (w t i)) lam.\n"
            "Proof.\n  intros H' A' on'.\n"
            f"  apply (copies d {functions}\n"
            f"    _ _ {flow}).\n"
            "  - intros i hi'. apply the_curve, A', hi'.\n"
            "  - intros i x hi'. apply reached, A', hi'.\n"
            f"  - intros i hi'. apply ({of('a_copy')} (fun t => w t i) (fun t => lam t i));\n"
            "    [apply A', hi'|apply A', hi'|apply H', hi'|intros; apply on'; assumption].\n"
            "Qed."
        )
