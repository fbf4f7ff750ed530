"""The theorem where Q couples outputs and is explicit in them, on a convex domain.

Along curves are proved Q' = <G, v> and <G, v>' = S(b, v), where S is a sum of squares
D_k (v_k + sum_j L_kj v_j)^2 with D_k > 0: the Hessian of Q by its pivots. Of the flow, that
G(beta) is 0 at the start and moves with g lam, where g > 0. Q lives where its formula is defined:
what it divides by and takes roots and logarithms of has the sign that it has along the flow. Where
no pivots are seen to be positive, or where Q lives not to be convex, the theorem is on the mirror
flow alone, without minimality.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import permutations

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.potential.piece import with_formulas
from derive.rocq.flow import ASKED, Definitions, Flow
from derive.rocq.place import DERIVE, Place
from derive.rocq.subject import Subject
from derive.rocq.terms import POWER, NoFile, Terms, all_of, cases, each, plain

Pivot = tuple[int, Expr, Expr]
S = Symbol("s'", real=True)
WITHOUT = "Without minimality: that Q is convex has no certificate here."
"""Stands in a file whose theorem is on the mirror flow alone."""


class Coupled(Flow):
    """Writes the file on outputs that Q couples."""

    def __init__(self, m: Subject, d: Derivation) -> None:
        (piece,) = d.potential.pieces
        if piece.kind != "explicit" or d.warping.g is None:
            raise NoFile(f"Q is {piece.kind}, in a form of which no file is written")
        self.b = tuple(map(plain, piece.betas))
        super().__init__(m, dict(zip(self.b, m.outputs, strict=True)))
        self.g = sympy.factor(plain(d.warping.g))
        parts = sympy.fraction(sympy.together(self.g))
        powers = (f.as_base_exp()[0] for part in parts for f in sympy.Mul.make_args(part))
        factors = [f for f in powers if f.has(*m.moving)]
        self.flowed = [
            *self.flowing(f"{len(m.weights)} {m.d} rate' F'"),
            *self.staying((*m.moving, *factors, *(w**2 for w in m.moving))),
            *self.laws(),
        ]
        self.Q, *self.G = (
            plain(with_formulas(e, piece.roots)) for e in (piece.value, *piece.gradient)
        )
        self.H = sympy.Matrix([[g.diff(b) for b in self.b] for g in self.G])
        self.v = tuple(Symbol(f"v'{i}", real=True) for i in range(m.d))
        self.walls = tuple(self._walls((self.Q, *self.G)))
        opening = f"intros b v r'. {ASKED}unfold dom in r'."
        signs = m.asked.with_(self.walls)
        self.at_b = Place(self.entries("b", "v"), signs, "forall b v, dom' b -> ", opening)
        self.pivots, self.convexity = self._pivots(), ""
        if self.pivots:
            with suppress(NoFile):  # it is not seen that the domain is convex
                self.convexity = self.convex()

    def entries(self, b: str, v: str = "v") -> dict[str, str]:
        """Return the names of the entries of beta and of a direction, as vectors of these names."""
        named = (
            (x.name, f"{of} {i}%nat")
            for of, xs in ((b, self.b), (v, self.v))
            for i, x in enumerate(xs)
        )
        return {**self.names, **dict(named)}

    def _walls(self, forms: tuple[Expr, ...]) -> Iterator[Expr]:
        """Yield what is positive where Q is defined."""
        signs, needs = self.m.asked, Terms(self.entries("b"))
        for e in forms:
            needs(e)
        for e in (*needs.positive.values(), *needs.divisors.values()):
            for f in sympy.Mul.make_args(sympy.factor(e)):
                base = f.as_base_exp()[0]
                if base.is_number or not base.has(*self.b) or signs.nonzero(base):
                    continue
                oriented = (base, sympy.expand(-base))
                if (
                    wall := next((e for e in oriented if self.w.form(e) is not None), None)
                ) is None:
                    raise NoFile("where Q lives is not decided")
                signs = signs.with_([wall])
                yield wall

    def _pivots(self) -> list[Pivot]:
        """Return k, D_k > 0 and v_k + sum_j L_kj v_j, in an order of outputs that has such."""
        found = []
        for order in permutations(range(self.m.d)):
            H, pivots = self.H, list[Pivot]()
            for at, k in enumerate(order):
                D = self.at_b.form(sympy.cancel(sympy.together(H[k, k])))
                if D is None:
                    break
                row = [sympy.cancel(sympy.together(x / H[k, k])) for x in H[k, :]]
                pivots.append((k, D, sympy.Add(*(row[j] * self.v[j] for j in order[at:]))))
                H = H - H[:, k] * H[k, :] / H[k, k]
            else:
                found.append(pivots)
        cost = [sum(e.count_ops() for pivot in x for e in pivot[1:]) for x in found]
        return found[cost.index(min(cost))] if found else []

    # -- definitions

    def on_start(self) -> Definitions:
        """Return definitions on the start; what the theorem is about comes last."""
        at = self.at_b.terms
        sums = " + ".join(f"{at(D, POWER)} * ({at(e)}) ^ 2" for _, D, e in self.pivots)
        return super().on_start() | {
            "dom": ("(b : nat -> R) : Prop", at.above(self.walls)),
            "Q": ("(b : nat -> R)", at(self.Q)),
            "G": ("(b : nat -> R) (i : nat)", cases("i", [at(g) for g in self.G])),
            **({"S": ("(b v : nat -> R)", sums)} if self.convexity else {}),
        }

    # -- lemmas on Q

    def on_domain(self) -> Iterator[str]:
        """Yield the lemmas on Q where it lives."""
        names = ("dom", "Q", "G", *["S"] * bool(self.convexity))
        yield from self.section(names, ("F", "rate", "defined"))
        yield from self.slopes()
        if self.convexity:
            yield from (self.convexity, self.definite(), self.limits())

    def every(self, hypothesis: str) -> str:
        """Return commands that note a hypothesis on all entries for each."""
        return "".join(
            f"assert ({hypothesis}{i}' := {hypothesis}' {i}%nat ltac:(lia)). "
            for i in range(self.m.d)
        )

    def slopes(self) -> Iterator[str]:
        """Yield the lemmas that G is the slope of Q along curves, and S v that of <G, v>."""
        n, put = self.m.d, "unfold Q, G, S, dot. cbn [Sum]. cbv beta iota. "
        head = (
            "forall (c : R -> nat -> R) s v, dom' (c s) ->\n"
            f"  (forall i, (i < {n})%nat -> is_derive (fun r => c r i) s (v i)) -> "
        )
        opening = f"intros c s v r' V'. {ASKED}unfold dom in r'. {self.every('V')}"
        signs = self.at_b.signs
        place = Place(self.entries("c s"), signs, head, opening, moving=self.b, split=True)
        slope = sympy.Add(*(g * v for g, v in zip(self.G, self.v, strict=True)))
        squared = [e for pivot in self.pivots for e in pivot[1:]]
        yield place.lemma(
            "slope",
            f"is_derive (fun r => Q' (c r)) s (dot {n} (G' (c s)) v)",
            [self.Q, *self.G],
            [self.Q, *self.G, *place.slopes(self.Q)],
            put.replace("S, ", "") + DERIVE,
        )
        if self.convexity:
            yield place.lemma(
                "second",
                f"is_derive (fun r => dot {n} (G' (c r)) v) s (S' (c s) v)",
                [*self.G, *squared],
                [*self.G, *squared, *place.slopes(slope)],
                put.replace("Q, ", "") + DERIVE,
            )

    def limits(self) -> str:
        """Return the lemma that G is continuous."""
        n, tends = self.m.d, "tends (fun t => f t i) (b i)"
        i = f"forall i, (i < {n})%nat -> "
        head = f"forall b f, dom' b -> ({i}{tends}) ->\n  {i}"
        opening = f"intros b f r' T' i hi'. {ASKED}unfold dom in r'. {self.every('T')}"
        place = replace(self.at_b, head=head, opening=opening)
        end = f"unfold G. {each('i', ['cbv beta iota; lim'] * n)}."
        return place.lemma("steady", "tends (fun t => G' (f t) i) (G' b i)", self.G, [], end)

    def convex(self) -> str:
        """Return the lemma that the domain is convex: walls are concave."""
        b, c = ([Symbol(f"{k}'{i}", real=True) for i in range(self.m.d)] for k in "bc")
        ends = {x.name: f"{x.name[0]} {i}%nat" for xs in (b, c) for i, x in enumerate(xs)}
        names, steps = {**self.names, **ends, S.name: "s"}, []
        line = [x + S * (y - x) for x, y in zip(b, c, strict=True)]
        texts = zip(self.b, map(Terms(names), b), map(Terms(names), c), strict=True)
        own = {x.name: f"({p} + s * ({q} - {p}))" for x, p, q in texts}
        terms, between = Terms(names), Terms({**names, **own})
        for wall in self.walls:
            first, last, whole = (
                wall.subs(dict(zip(self.b, point, strict=True)), simultaneous=True)
                for point in (b, c, line)
            )
            rest = (whole - (1 - S) * first - S * last) / (S * (1 - S))
            rest = sympy.factor(sympy.cancel(rest))
            if rest.has(S) or not self.m.asked.nonnegative(rest):
                raise NoFile("where Q lives is not seen to be convex")
            shown = f"(1 - s) * ({terms(first)}) + s * ({terms(last)})"
            shown += f" + s * (1 - s) * ({terms(rest)})"
            steps.append(
                f"replace ({between(wall)}) with ({shown}) by ring; "
                "apply between; [assumption|assumption|assumption|nn]"
            )
        apart = "repeat match goal with H : 0 < _ /\\ _ |- _ => destruct H end. "
        return (
            "Lemma convex : forall b c s, dom' b -> dom' c -> 0 <= s <= 1 -> "
            "dom' (fun i => b i + s * (c i - b i)).\n"
            f"Proof using asked'. intros b c s hb' hc' hs'. {ASKED}unfold dom in *. {apart}"
            f"cbv beta. {all_of(steps)} Qed.\n"
        )

    def definite(self) -> str:
        """Return the lemma that S is positive but at v = 0: back from the last square."""
        terms, first, back, done = self.at_b.terms, ["unfold S."], [], list[int]()
        for k, D, e in self.pivots:
            square = f"{terms(D, POWER)} * ({terms(e)}) ^ 2"
            first.append(f"assert (P{k}' : 0 < {terms(D)}) by pos. assert (0 <= {square}) by nn.")
        for k, D, e in reversed(self.pivots):
            put = "".join(f"rewrite ?U{j}' in Z{k}'; " for j in done)
            back.append(
                f"assert (Z{k}' : {terms(e)} = 0) by (apply (square_0 ({terms(D)})); "
                f"[exact P{k}'|lra]). assert (U{k}' : v {k}%nat = 0) by ({put}lra)."
            )
            done.append(k)
        ends = each("i", [f"exact U{i}'" for i in range(self.m.d)])
        end = "\n  ".join([*first, "split; [lra|]. intros Z' i hi'.", *back, f"{ends}."])
        goal = f"0 <= S' b v /\\ (S' b v = 0 -> forall i, (i < {self.m.d})%nat -> v i = 0)"
        parts = [e for pivot in self.pivots for e in pivot[1:]]
        return self.at_b.lemma("definite", goal, parts, [], end)

    # -- the flow

    def flow(self) -> Iterator[str]:
        """Yield the lemmas on the flow."""
        yield from self.flowed
        yield from self.within(self.walls, "dom' (F' (w t))")
        m, at, unfolded = self.m, self.on("t"), "unfold dom, F in r'. cbv beta iota in r'."
        place = self.w.knowing(f"assert (r' := inside t ht'). {unfolded}", self.walls)
        for i, (g, steering) in enumerate(zip(self.G, m.steering, strict=True)):
            shown = f"{at(self.g, POWER)} * {at(steering)}"
            yield place.moves(f"turns{i}'", g, self.g * steering, shown, [self.g])
        opening = f"assert (r' := inside 0 (Rle_refl 0)). {unfolded} {self.start.opening}"
        signs = self.start.signs.with_(self.walls)
        place = replace(self.start, opening=opening, signs=signs, split=True)
        yield from (self.starts(f"balanced{i}'", g, place) for i, g in enumerate(self.G))
        yield self.w.positive("warped", self.g)

    def theorem(self, name: str) -> Iterator[str]:
        """Yield the whole file after its head."""
        yield from self.definitions()
        yield from (*self.on_domain(), *self.flow())
        d, g = self.m.d, self.on("t")(self.g)
        begun = each("i", [f"exact balanced{i}'" for i in range(d)])
        turns = each("i", [f"apply turns{i}'; exact ht'" for i in range(d)])
        claim, theorem = "follows_mirror", f"mirrored {d} dom' Q' G'"
        ends: tuple[str, ...] = ("warped", "inside")
        if self.convexity:
            claim, theorem = "regularizes", f"coupled {d} dom' Q' G' S'"
            ends += ("convex", "second", "definite", "steady")
        else:
            yield f"(* {WITHOUT} *)"
        yield from self.proved(
            name,
            f"{len(self.m.weights)} {d}",
            lambda of, _: f"{claim} {d} ({of('dom')}) ({of('Q')})",
            f"  apply ({theorem} _ lam (fun t => {g}) slope).\n"
            f"  - intros i hi'. {begun}.\n  - intros t i ht' hi'. {turns}.\n"
            + "\n".join(f"  - exact {end}." for end in ends),
        )
