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
from dataclasses import replace
from itertools import permutations

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.potential.piece import with_formulas
from derive.rocq.along import ASKED, OF_F
from derive.rocq.flow import always
from derive.rocq.leaf import OnLeaf, Put
from derive.rocq.place import DERIVE, Place, squares, sure
from derive.rocq.subject import Coordinate, Curve, Subject, Z
from derive.rocq.terms import ATOM, POWER, NoFile, Terms, all_of, cases, each, name_of, plain

Pivot = tuple[int, Expr, Expr]
S = Symbol("s'", real=True)
WITHOUT = "Without minimality: that Q is convex has no certificate here."
"""Stands in a file whose theorem is on the mirror flow alone."""


class Coupled(OnLeaf):
    """Writes the file on outputs that Q couples."""

    def __init__(self, m: Subject, d: Derivation) -> None:
        (piece,) = d.potential.pieces
        if piece.kind != "explicit" or d.warping.g is None:
            raise NoFile(f"Q is {piece.kind}, in a form of which no file is written")
        zero, one = sympy.S.Zero, sympy.S.One
        curve = Curve(Z, one, (), zero, zero, one, ((m.outputs[0], None, None),))
        self.g = sympy.factor(plain(d.warping.g))
        parts = sympy.fraction(sympy.together(self.g))
        powers = (f.as_base_exp()[0] for part in parts for f in sympy.Mul.make_args(part))
        factors = [f for f in powers if f.has(*m.moving)]
        super().__init__(
            m,
            Coordinate((one,), m.outputs[0], zero, curve),
            (*m.moving, *factors, *(w**2 for w in m.moving)),
        )
        self.b = tuple(map(plain, piece.betas))
        self.put = tuple(
            Put(b, "", self.on("t")(F, ATOM), F) for b, F in zip(self.b, m.outputs, strict=True)
        )
        self.Q, *self.G = (
            plain(with_formulas(e, piece.roots)) for e in (piece.value, *piece.gradient)
        )
        self.H = sympy.Matrix([[g.diff(b) for b in self.b] for g in self.G])
        self.walls = tuple(self._walls((self.Q, *self.G)))
        self.inside_of = m.asked.with_(self.walls)
        self.pivots = self._pivots()
        self.convexity = self._convexity()

    def _walls(self, forms: tuple[Expr, ...]) -> Iterator[Expr]:
        """Yield what is positive where Q is defined."""
        signs = self.m.asked
        needs = Terms({b.name: b.name for b in self.b} | self.names)
        for e in forms:
            needs(e)
        for e in (*needs.positive.values(), *needs.divisors.values()):
            for f in sympy.Mul.make_args(sympy.factor(e)):
                base = f.as_base_exp()[0]
                if base.is_number or not base.has(*self.b) or signs.nonzero(base):
                    continue
                there = sympy.factor(self.on_leaf(base))
                if self.along.positive(there):
                    wall = base
                elif self.along.positive(-there):
                    wall = sympy.expand(-base)
                else:
                    raise NoFile("where Q lives is not decided")
                signs = signs.with_([wall])
                yield wall

    def _pivots(self) -> list[Pivot]:
        """Return k, D_k > 0 and v_k + sum_j L_kj v_j, in an order of outputs that has such."""
        v = [Symbol(f"v{i}", real=True) for i in range(self.m.d)]
        found = []
        for order in permutations(range(self.m.d)):
            H, pivots = self.H, list[Pivot]()
            for at, k in enumerate(order):
                if (D := self._positive(H[k, k])) is None:
                    break
                rows = (
                    (j, sympy.cancel(sympy.together(H[k, j] / H[k, k]))) for j in order[at + 1 :]
                )
                pivots.append((k, D, v[k] + sympy.Add(*(c * v[j] for j, c in rows))))
                H = H - H[:, k] * H[k, :] / H[k, k]
            else:
                found.append(pivots)
        cost = [sum(e.count_ops() for pivot in x for e in pivot[1:]) for x in found]
        return found[cost.index(min(cost))] if found else []

    def _convexity(self) -> str:
        """Return the lemma that the domain is convex; nothing where that, or Q, is not seen so."""
        try:
            return self.convex() if self.pivots else ""
        except NoFile:
            return ""

    def _positive(self, e: Expr) -> Expr | None:
        """Return a form of an expression that is positive, if there is one."""
        whole = sympy.cancel(sympy.together(e))
        calls = Place(self.at_b(("b", "b")), self.inside_of).calls(whole)
        normal = calls.back(calls.normal(calls.value(whole)))
        return self.inside_of.form(whole) or self.inside_of.form(normal)

    # -- definitions

    def at_b(self, *vectors: tuple[str, str]) -> dict[str, str]:
        """Return the names of the entries of vectors: of beta by one name, of v by another."""
        names = dict(self.names)
        for kind, vector in vectors:
            for i, b in enumerate(self.b):
                names[b.name if kind == "b" else f"{kind}{i}"] = f"{vector} {i}%nat"
        return names

    def on_start(self) -> dict[str, tuple[str, str]]:
        """Return definitions on the start; what the theorem is about comes last."""
        at = Terms(self.at_b(("b", "b"), ("v", "v")))
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
        yield from self.section(("dom", "Q", "G", *["S"] * bool(self.convexity)), OF_F)
        yield from self.slopes()
        if not self.convexity:
            return
        yield self.convexity
        yield self.definite()
        yield self.limits()

    def every(self, hypothesis: str) -> str:
        """Return commands that note a hypothesis on all entries for each."""
        return "".join(
            f"assert ({hypothesis}{i}' := {hypothesis}' {i}%nat ltac:(lia)). "
            for i in range(self.m.d)
        )

    def slopes(self) -> Iterator[str]:
        """Yield the lemmas that G is the slope of Q along curves, and S v that of <G, v>."""
        n, v = self.m.d, [Symbol(f"v{i}", real=True) for i in range(self.m.d)]
        along = (
            "forall (c : R -> nat -> R) s v, dom' (c s) ->\n"
            f"  (forall i, (i < {n})%nat -> is_derive (fun r => c r i) s (v i)) -> "
        )
        opening = f"intros c s v r' V'. {ASKED}unfold dom in r'. {self.every('V')}"
        place = Place(self.at_b(("b", "c s"), ("v", "v")), self.inside_of, opening, split=True)
        first = replace(place, closing="unfold Q, G, dot. cbn [Sum]. cbv beta iota.")
        read = [self.Q, *self.G, *(self.Q.diff(b) for b in self.b), *squares(self.Q)]
        slope = f"is_derive (fun r => Q' (c r)) s (dot {n} (G' (c s)) v)"
        yield f"Lemma slope : {along}{slope}.\n{first.proof([self.Q, *self.G], read, DERIVE)}"
        if not self.convexity:
            return
        second = replace(place, closing="unfold G, S, dot. cbn [Sum]. cbv beta iota.")
        parts = [*self.G, *(e for pivot in self.pivots for e in pivot[1:])]
        whole = sympy.Add(*(g * x for g, x in zip(self.G, v, strict=True)))
        read = [*parts, *self.H, *squares(whole)]
        slope = f"is_derive (fun r => dot {n} (G' (c r)) v) s (S' (c s) v)"
        yield f"Lemma second : {along}{slope}.\n{second.proof(parts, read, DERIVE)}"

    def limits(self) -> str:
        """Return the lemma that G is continuous."""
        n = self.m.d
        opening = f"intros b f r' T' i hi'. {ASKED}unfold dom in r'. {self.every('T')}"
        place = Place(self.at_b(("b", "b")), self.inside_of, opening, "unfold G.")
        tends = "tends (fun t => f t i) (b i)"
        return (
            f"Lemma steady : forall b f, dom' b -> (forall i, (i < {n})%nat -> {tends}) ->\n"
            f"  forall i, (i < {n})%nat -> tends (fun t => G' (f t) i) (G' b i).\n"
            + place.proof(self.G, [], f"{each('i', ['cbv beta iota; lim'] * n)}.")
        )

    def convex(self) -> str:
        """Return the lemma that the domain is convex: walls are concave."""
        b, c = ([Symbol(f"{k}{i}", real=True) for i in range(self.m.d)] for k in ("b", "c"))
        line = [x + S * (y - x) for x, y in zip(b, c, strict=True)]
        names = self.at_b(("b", "b"), ("c", "c")) | {S.name: "s"}
        names |= {x.name: f"b {i}%nat" for i, x in enumerate(b)}
        own = {x.name: f"(b {i}%nat + s * (c {i}%nat - b {i}%nat))" for i, x in enumerate(self.b)}
        terms, between, steps = Terms(names), Terms({**names, **own}), []
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
        opening = f"intros b v r'. {ASKED}unfold dom in r'. "
        names = self.at_b(("b", "b"), ("v", "v"))
        place, terms = Place(names, self.inside_of, opening, "unfold S."), Terms({**names})
        lines, back, done = [], [], list[int]()
        for k, D, e in self.pivots:
            lines += [
                f"assert (P{k}' : 0 < {terms(D)}) by pos.",
                f"assert (0 <= {terms(D, POWER)} * ({terms(e)}) ^ 2) by nn.",
            ]
        for k, D, e in reversed(self.pivots):
            zero = f"apply (square_0 ({terms(D)})); [exact P{k}'|lra]"
            put = "".join(f"rewrite ?U{j}' in Z{k}'; " for j in done)
            back += [
                f"assert (Z{k}' : {terms(e)} = 0) by ({zero}).",
                f"assert (U{k}' : v {k}%nat = 0) by ({put}lra).",
            ]
            done.append(k)
        ends = each("i", [f"exact U{i}'" for i in range(self.m.d)])
        end = "\n  ".join([*lines, "split; [lra|]. intros Z' i hi'.", *back, f"{ends}."])
        parts = [e for pivot in self.pivots for e in pivot[1:]]
        return (
            "Lemma definite : forall b v, dom' b -> 0 <= S' b v /\\ "
            f"(S' b v = 0 -> forall i, (i < {self.m.d})%nat -> v i = 0).\n"
            f"{place.proof(parts, [], end)}"
        )

    # -- the flow

    def flow(self) -> Iterator[str]:
        """Yield the lemmas on the flow."""
        yield from self.flowing(f"{len(self.m.weights)} {self.m.d} rate' F'")
        yield from self.staying()
        yield self.never_leaves(self.walls, "dom' (F' (w t))", "unfold dom, F. cbv beta iota.")
        for i, g in enumerate(self.G):
            yield self.turns(i, g)
        yield from self.at_rest()
        sure(self.w.signs.positive(self.g), self.g, "> 0")
        yield always("warped", f"0 < {self.on('t')(self.g)}", self.w.proof([self.g], [], "pos."))

    def turns(self, i: int, g: Expr) -> str:
        """Return the lemma on how an entry of G moves: with g lam."""
        at, m = self.on("t"), self.m
        inside = "assert (r' := inside t ht'). unfold dom, F in r'. cbv beta iota in r'."
        place = replace(
            self.w.knowing(inside, self.walls),
            names={**self.w.names, **{x.symbol.name: f"({x.text})" for x in self.put}},
            values={x.symbol: x.value for x in self.put},
            closing="unfold G, F. cbv beta iota.",
        )
        slope = f"{at(self.g, POWER)} * {at(m.steering[i])}"
        read = [g, self.g, *m.outputs, *(g.diff(b) for b in self.b), *squares(g)]
        goal = f"is_derive (fun s => G' (F' (w s)) {i}%nat) t ({slope})"
        return always(f"turns{i}'", goal, place.proof([g, self.g, *m.outputs], read, DERIVE))

    def at_rest(self) -> Iterator[str]:
        """Yield the lemmas that G is 0 at the start."""
        m, start = self.m, dict(zip(self.m.weights, self.m.start, strict=True))
        atoms = {**self.names, **{w: self.terms(v, ATOM) for w, v in start.items()}}
        texts = {x.symbol.name: f"({Terms(atoms)(x.value)})" for x in self.put}
        place = replace(
            self.start.knowing("assert (r' := inside 0 (Rle_refl 0)).", self.walls),
            names={**self.names, **texts},
            values={x.symbol: m.at_start(x.value) for x in self.put},
            split=True,
            closing="unfold G, dom, F in *. hyps. cbv beta iota in *. "
            "repeat match goal with H : w 0 _ = _ |- _ => rewrite H in *; clear H end.",
        )
        constants = dict(m.constants)
        for i, g in enumerate(self.G):
            used = [c for c in constants if g.has(c)]
            rooted = any(f.has(*used) for f in g.atoms(sympy.Function, sympy.Pow))
            told = g if rooted else g.subs(constants)
            if not place.calls(told).vanishes(told):
                raise NoFile("that the slope of Q is 0 at the start is not proved")
            put = "".join(f"unfold {name_of(c.name)}. " for c in used if not rooted)
            yield (
                f"Lemma balanced{i}' : G' (F' (w 0)) {i}%nat = 0.\n"
                f"{place.proof([], [told], f'{put}FIELD.')}"
            )

    def theorem(self, name: str) -> Iterator[str]:
        """Yield the whole file after its head."""
        yield from self.definitions()
        yield from ("", "Section Model.", *self.on_domain(), *self.flow())
        d, g = self.m.d, self.on("t")(self.g)
        begun = each("i", [f"exact balanced{i}'" for i in range(d)])
        turns = each("i", [f"apply turns{i}'; exact ht'" for i in range(d)])
        claim, theorem = "follows_mirror", f"mirrored {d} dom' Q' G'"
        ends: tuple[str, ...] = ("warped",)
        if self.convexity:
            claim, theorem = "regularizes", f"coupled {d} dom' Q' G' S'"
            ends += ("convex", "second", "definite", "steady", "inside")
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
