"""One coordinate of the outputs: the definitions of its curve, and the lemmas on it.

Along the curve x = f(z) are proved f' = df > 0, (height(f z, z))' = mu df, mu' = df/kernel and
kernel > 0; of the flow, in ``flow.py``, that it stays on the curve, and that K is kernel there.
The library makes the theorem of these. In a section the start is at hand: there ``range'`` is
``range`` of it, and so on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import sympy
from sympy import Expr

from derive.model.condition import Sign
from derive.rocq.place import DERIVE, Place, squares, sure
from derive.rocq.signs import Signs, said
from derive.rocq.subject import Coordinate, Curve, Subject, X, Z
from derive.rocq.terms import Terms, cases, conjunction, name_of, plain

CURVE = ("range", "f", "df", "height", "mu", "kernel")
"""What is defined along the curve."""
OF_F = ("F", "rate", "defined")
ASKED = "assert (a' := asked'). unfold ok in a'. "
UNFOLDED = "unfold range, dom in r'. "


class Along:
    """Writes the definitions, and the lemmas on the curve of a coordinate."""

    def __init__(self, m: Subject, x: Coordinate) -> None:
        self.m, self.F, curve = m, x.F, x.curve
        self.K, self.steered = m.inner(x.F, x.F), x.steering
        self.output = "F" if m.d == 1 else "beta"
        self.unfolded = "F" if m.d == 1 else "beta, F"
        self.row = x.row
        symbols = [name_of(s) for s in m.symbols]
        groups = (*(([name], kind) for name, kind in m.typed), (symbols, "R"))
        self.variables = " ".join(f"({' '.join(n)} : {kind})" for n, kind in groups if n)
        self.given = [*(name for name, _ in m.typed), *symbols]
        self.of_F = [name_of(s) for s in m.parameters]
        self.z = "x" if curve.explicit else "z"
        constants = {c.name: self.of(name_of(c.name)) for c, _ in m.constants}
        own = {X.name: "x", Z.name: self.z}
        texts = dict(zip(m.symbols, symbols, strict=True)) | dict(m.texts)
        self.names = texts | constants | own
        self.terms = Terms(self.names)
        walls = m.asked.with_(curve.walls)
        on_curve, closing = f"intros {self.z} r'. {ASKED}", "unfold height, q, f, df, mu, kernel."
        self.beside = Place(self.names, walls, f"{on_curve}{UNFOLDED}", closing, split=True)
        self.units = dict(self._units(curve))
        opening = f"{on_curve}{self.units_at(self.z)}{UNFOLDED}"
        self.x = replace(self.beside, signs=walls.with_(self.units), opening=opening)
        df, kernel = (self.x.signs.form(e) or e for e in (curve.df, curve.kernel))
        self.curve = replace(curve, df=df, kernel=kernel)
        self.defined = tuple(self._smooth())

    def of(self, name: str) -> str:
        """Return a definition applied to the start."""
        return " ".join((name, *self.given))

    def at(self, time: str) -> dict[str, str]:
        """Return the names of the weights at a time, or of a point w."""
        point = f"w {time}".strip()
        weights = {w: f"{point} {i}%nat" for i, w in enumerate(self.m.weights)}
        steering = {x.name: f"lam {time} {i}%nat" for i, x in enumerate(self.m.steering)}
        return self.names | steering | weights

    def of_weights(self, name: str) -> str:
        """Return a definition applied to the parameters of F."""
        return " ".join((name, *self.of_F))

    @property
    def way(self) -> str:
        """What is asked of the weights at every time."""
        asked = ("defined", *["kept"] * bool(self.m.kept))
        return " /\\ ".join(f"{self.of_weights(name)} (w t)" for name in asked)

    def on(self, time: str) -> Terms:
        """Return what writes functions of the weights at a time."""
        return Terms(self.at(time))

    def combined(self, vector: str) -> str:
        """Return the coordinate of a vector of outputs, as text."""
        v = self.m.steering
        entries = {x.name: f"{vector} {i}%nat" for i, x in enumerate(v)}
        return Terms(entries)(sympy.Add(*(c * x for c, x in zip(self.row, v, strict=True))))

    # -- definitions

    def definitions(self) -> Iterator[str]:
        """Yield F, where it is defined, and what is asked of the start."""
        yield from self._defined(self.of_F, self.on_flow())
        yield from self._defined(self.given, self.on_start())

    def on_flow(self) -> dict[str, tuple[str, str]]:
        """Return definitions on the weights, with their arguments."""
        m, at, point = self.m, self.on(""), "(w : nat -> R)"
        rates = cases("j", [at(r) for r in m.rates]) if {*m.rates} != {1} else "1"
        defined = conjunction(said(at(e), sign) for _, e, sign in self.defined)
        return {
            "F": (f"{point}{' (i : nat)' * (m.d > 1)}", cases("i", [at(F) for F in m.outputs])),
            "rate": (f"(j : nat) {point} : R", rates),
            "defined": (f"{point} : Prop", defined),
        } | ({"kept": (f"{point} : Prop", at.above(m.kept))} if m.kept else {})

    def on_start(self) -> dict[str, tuple[str, str]]:
        """Return definitions on the start, with their arguments."""
        m, terms = self.m, self.terms
        asked = [said(terms(plain(c.of)), c.sign) for c in m.conditions]
        asked += [f"0 < {terms(e)}" for e in m.begun]
        starts = [f"w {i}%nat = {terms(v)}" for i, v in enumerate(m.start)]
        return {
            **{name_of(c.name): ("", terms(value)) for c, value in m.constants},
            "ok": (": Prop", conjunction(asked)),
            "starts": ("(w : nat -> R) : Prop", conjunction(starts)),
        }

    def on_curve(self) -> Iterator[str]:
        """Yield the definitions of the coordinate, where Q lives, its term of Q, and slopes."""
        if self.m.d > 1:
            beta = self.combined(" ".join(("F", *self.of_F, "w")))
            yield from self._defined(self.of_F, {"beta": ("(w : nat -> R)", beta)})
        yield from self._defined(self.given, self._of_curve())

    def _defined(self, given: list[str], definitions: dict[str, tuple[str, str]]) -> Iterator[str]:
        of_F = f"({' '.join(given)} : R)" if given else ""
        head = f" {self.variables if given is self.given else of_F}".rstrip()
        for name, (arguments, body) in definitions.items():
            yield f"Definition {name}{head} {arguments} := {body}.".replace("  ", " ")

    def _of_curve(self) -> dict[str, tuple[str, str]]:
        """Return where Q lives, Q and its curve, with arguments; the curve of beta comes last."""
        curve, terms, at_z = self.curve, self.terms, f"({self.z} : R)"
        walls = terms.above(curve.walls)
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
        for e in (*self.m.outputs, *self.m.rates):
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

    def section(self, names: Iterable[str], of_weights: Iterable[str]) -> Iterator[str]:
        """Yield how the section of the lemmas begins, where names with a prime are of the start."""
        yield f"Variables {self.variables}." if self.given else ""
        yield f"Hypothesis asked' : {self.of('ok')}."
        called = {name: self.of(name) for name in names}
        called |= {name: self.of_weights(name) for name in of_weights}
        yield from (f"Local Notation {name}' := ({of})." for name, of in called.items())

    def arguments(self, d: str = "d") -> str:
        """Return what definitions are applied to, with a text for the dimension d."""
        return "".join(f" {d if g == 'd' else g}" for g in self.given)

    def stated(self, name: str, flow: str, claim: str, d: str = "d") -> str:
        """Return the theorem without its proof, on a flow of so many weights and outputs."""
        variables = self.variables.removeprefix("" if d == "d" else "(d : nat) ")
        args, (rate, F) = self.arguments(d), map(self.of_weights, ("rate", "F"))
        return (
            f"Theorem {' '.join((name, 'w lam', variables)).rstrip()} :\n"
            f"  flow {flow} ({rate}) ({F}) w lam -> ok{args} -> starts{args} (w 0) ->\n"
            f"  (forall t, 0 <= t -> {self.way}) ->\n  {claim}\n    (fun t => {F} (w t)) lam.\n"
        )

    # -- lemmas on the curve

    def units_at(self, z: str) -> str:
        """Return commands that note what is positive at a place of the curve, where r' says so."""
        return "".join(f"assert (U{i}' := unit{i}' {z} r'). " for i in range(len(self.units)))

    def lemmas(self) -> Iterator[str]:
        """Yield the lemmas on Q and its slope along the curve."""
        curve, x, z = self.curve, self.x, self.z
        yield from self.section(("dom", *CURVE), (*OF_F, self.output))
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
        proofs["curve_opened"] = f"intros {z} r'. unfold range, dom in *. hyps. opens."
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
