"""The theorem on beta = phi u with a vector u of open dimension: Q = q(|beta|^2) - <u_0, beta>.

Let N = |u|^2 and n = |beta|^2 = phi^2 N, and let phi be a function of the scalars alone, so that
the dual coordinates are u. With the slope p(n) = 2 q'(n), which is 1/phi on the leaf, and the rate
r of u, are proved p > 0 and p + 2 n p' = sqrt(r T)/R > 0, where T and R are the eigenvalues of K
across beta and along it: Q is convex in |beta| and grows with it. The steering enters as
<u, lam>, with which the scalars and N move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy
from sympy import Symbol

from derive.rocq.flow import Flow
from derive.rocq.place import Place, sure
from derive.rocq.section import ASKED, Definitions
from derive.rocq.subject import Subject, Z
from derive.rocq.terms import ATOM, Terms, all_of, conjunction
from derive.rocq.vector import Length

PHI = Symbol("phi'", real=True)


class Radial(Flow):
    """Writes the file on one vector of open dimension."""

    def __init__(self, m: Subject, length: Length, dimension: str) -> None:
        self.length, self.start_vector, self.dimension = length, m.typed[-1][0], dimension
        self.scalars, (self.phi,) = len(m.weights) - 1, m.outputs
        n = sympy.Mul(PHI**2, m.moving[-1], evaluate=False)
        super().__init__(m, {PHI: self.phi, Z: n})
        u = f"(tail {self.scalars} (w t))"
        self.lam, self.steady = f"(fun t _ => dot d {u} (lam t))", "pushed_by"
        opening = self.start.opening.replace("hyps.", "hyps. rewrite ?length0' in *.")
        self.start = replace(self.start, opening=opening)
        self.w = self.w.knowing(f"assert (N' := dot_ge0 d {u}).")
        self.w = replace(self.w, signs=self.w.signs.with_(least=(m.moving[-1],)))
        signs = m.asked.with_(length.walls, least=(Z,))
        head, opening = (
            "forall n, 0 <= n -> dom' n -> ",
            f"intros n h' r'. {ASKED}unfold dom in r'.",
        )
        names = {**self.names, Z.name: "n"}
        self.at_n = Place(names, signs, head, opening, "n", "n", moving=(Z,))

    def at(self, time: str) -> dict[str, str]:
        """Return the names of the scalars, of N and of <u, lam> at a time."""
        point = f"w {time}".strip()
        u = f"(tail {self.scalars} ({point}))"
        own = {w: f"{point} {i}%nat" for i, w in enumerate(self.m.weights[:-1])}
        own |= {self.m.weights[-1]: f"dot d {u} {u}"}
        own |= {x.name: f"dot d {u} (lam {time})" for x in self.m.steering}
        return self.putting({**self.names, **own})

    # -- definitions

    def on_flow(self) -> Definitions:
        """Return definitions on the weights."""
        phi = {"phi": ("(w : nat -> R)", self.on("")(self.phi))}
        F = f"{self.of_weights('phi')} w * tail {self.scalars} w i"
        return phi | super().on_flow() | {"F": ("(w : nat -> R) (i : nat)", F)}

    def on_start(self) -> Definitions:
        """Return definitions on the start; functions of n come last."""
        m, x, u_0, at_n = self.m, self.length, self.start_vector, self.at_n.terms
        starts = [f"w {i}%nat = {self.terms(v)}" for i, v in enumerate(m.start[:-1])]
        starts += [f"(forall i, (i < d)%nat -> tail {self.scalars} w i = {u_0} i)"]
        if not m.texts:
            starts.append(f"dot d {u_0} {u_0} = {self.terms(m.start[-1])}")
        return super().on_start() | {
            "starts": ("(w : nat -> R) : Prop", conjunction(starts)),
            "dom": ("(n : R) : Prop", at_n.above(x.walls)),
            **{name: ("(n : R)", at_n(getattr(x, name))) for name in ("q", "p", "dp")},
        }

    # -- lemmas

    def on_length(self) -> Iterator[str]:
        """Yield the lemmas on functions of n."""
        yield from self.section(("dom", "q", "p", "dp"), ("phi", "F", "rate", "defined"))
        x, at_x, at = self.length, Terms({**self.names, Z.name: "x"}), self.at_n.terms
        up = [f"apply (Rlt_le_trans _ ({at_x(wall)})); [assumption|up]" for wall in x.walls]
        yield (
            "Lemma upward : forall x y, dom' x -> x <= y -> dom' y.\n"
            f"Proof using asked'. intros x y r' l'. {ASKED}unfold dom in *. hyps. "
            f"{all_of(up)} Qed.\n"
        )
        yield self.at_n.moves("q_slope", x.q, f"({at(x.p)}) / 2", [x.p])
        yield self.at_n.moves("p_slope", x.p, x.dp)
        yield self.at_n.positive("across", x.p)
        form = sure(x.beyond if self.at_n.signs.positive(x.beyond) else None, x.beyond, "> 0")
        whole, parts = f"({at(x.p)}) + 2 * n * ({at(x.dp)})", [x.p, x.dp, form]
        put = f"replace ({whole}) with ({at(form)}) by (FIELD). pos."
        yield self.at_n.lemma("beyond", f"0 < {whole}", parts, parts, put)

    def flow(self) -> Iterator[str]:
        """Yield the lemmas on the flow."""
        m, k, terms = self.m, self.scalars, self.terms
        u_0, N, rate = self.start_vector, self.on("0")(m.moving[-1]), terms(m.rates[-1], ATOM)
        yield from self.flowing(
            f"({k} + d) d rate' F'",
            f"Lemma apart : forall v i x, phi' (upd v ({k} + i) x) = phi' v.\n"
            "Proof. reflexivity. Qed.\n"
            f"Lemma same : forall i v, rate' ({k} + i)%nat v = {rate}.\n"
            "Proof. reflexivity. Qed.\n"
            "Lemma pushed_by t (j : nat) : 0 <= t -> (j < 1)%nat -> continuous (fun s => "
            f"{self.on('s')(m.steering[0])}) t.\n"
            f"Proof. exact (pushes {k} d rate' phi' {rate} w lam moves' apart same t j). Qed.\n"
            f"Lemma length0' : {N} = {terms(m.start[-1])}.\n"
            "Proof. assert (f' := from'). unfold starts in f'. hyps. "
            f"transitivity (dot d {u_0} {u_0}); [|auto]. unfold dot. apply Sum_ext. intros i hi'. "
            f"replace (tail _ _ _) with ({u_0} i) by (symmetry; auto). reflexivity. Qed.",
        )
        yield from self.staying(m.moving[:-1])
        yield from self.laws()
        yield from self.within(
            self.length.walls, f"dom' (phi' (w t) ^ 2 * {self.on('t')(m.moving[-1])})"
        )
        known = "assert (r' := inside t ht'). unfold dom, phi in r'."
        there = self.w.knowing(known, self.length.walls)
        yield self.zero("inverse", self.length.p, 1 / PHI, there)
        push = sure(self.w.form(m.rates[-1] * PHI), m.rates[-1] * PHI, "> 0")
        goal = f"0 < {rate} * {self.on('t')(PHI)}"
        yield self.w.lemma("pushed", goal, [push], [], "pos.")

    def weight(self, k: int) -> str:
        """Return the lemma on how a scalar moves, or N, which is the last."""
        m, at, phi = self.m, self.on("t"), self.phi
        of, slope = f"{self.scalars} d rate' phi'", phi.diff(m.moving[k])
        by = (
            f"apply (turns {of} w lam moves' t {k} {at(slope, ATOM)}); "
            "[exact ht'|lia|]. unfold partial, phi, upd. cbv beta iota delta [Nat.eqb]. "
            "evar_last; [diff|cbv beta; FIELD]."
        )
        if k == self.scalars:
            rate = at(m.rates[k], ATOM)
            by = f"apply (lengthens {of} {rate} w lam moves' apart same). exact ht'."
        return self.moved(k, [phi, slope, m.rates[k]], by, "unfold rate, phi. cbv beta iota")

    def theorem(self, name: str) -> Iterator[str]:
        """Yield the whole file after its head."""
        yield from self.definitions()
        yield from (*self.on_length(), *self.flow())
        k, u_0, rate = self.scalars, self.start_vector, self.terms(self.m.rates[-1], ATOM)
        of_n = " ".join(("upward", "q_slope", "p_slope", "across", "beyond"))
        yield from self.proved(
            name,
            f"({k} + {self.dimension}) {self.dimension}",
            lambda of, d: (
                f"regularizes {d} (fun b => {of('dom')} (dot {d} b b))\n"
                f"    (fun b => {of('q')} (dot {d} b b) - dot {d} {u_0} b)"
            ),
            f"  assert (f' : forall i, (i < d)%nat -> tail {k} (w 0) i = {u_0} i) by apply from'.\n"
            f"  exact (radial {k} d rate' phi' {rate} {u_0} w lam dom' q' p' dp' moves' apart\n"
            f"    same f' {of_n} inside inverse pushed).",
            self.dimension,
        )
