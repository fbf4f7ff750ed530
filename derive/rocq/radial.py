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

from derive.rocq.along import ASKED, OF_F
from derive.rocq.flow import always
from derive.rocq.leaf import OnLeaf, Put
from derive.rocq.place import DERIVE, Place, sure
from derive.rocq.subject import Coordinate, Curve, Z
from derive.rocq.terms import ATOM, Terms, all_of, conjunction
from derive.rocq.vector import Length, Turning


class Radial(OnLeaf):
    """Writes the file on one vector of open dimension."""

    def __init__(self, m: Turning, length: Length, dimension: str) -> None:
        self.length, self.start_vector = length, m.start_vector
        self.scalars, self.dimension = len(m.weights) - 1, dimension
        self.n = m.outputs[0] ** 2 * m.moving[-1]
        one, p = sympy.S.One, length.p
        curve = Curve(Z, one, length.walls, length.q, p, one, ((self.n, None, None),))
        x = Coordinate((one,), self.n, m.steering[0], curve)
        super().__init__(m, x, m.moving[:-1])
        self.put = (Put(Z, "n", self.n_text, self.n),)
        self.names |= {Z.name: "n"}
        self.terms = Terms(self.names)
        u = f"(tail {self.scalars} (w t))"
        self.lam, self.steady = f"(fun t _ => dot d {u} (lam t))", "pushed_by"
        self.begins_at += "assert (n' := length0'). "
        self.start = Place(self.names, m.asked, f"{ASKED}{self.begins_at}")
        self.w = self.w.knowing(f"assert (N' := dot_ge0 d {u}).")
        self.w = replace(self.w, signs=self.w.signs.with_(least=(m.moving[-1],)))
        opening = f"intros n h' r'. {ASKED}unfold dom in r'. "
        signs = m.asked.with_(length.walls, least=(Z,))
        self.at_n = Place(self.names, signs, opening, "unfold q, p, dp.")

    def at(self, time: str) -> dict[str, str]:
        """Return the names of the scalars, of N and of <u, lam> at a time."""
        point = f"w {time}".strip()
        u = f"(tail {self.scalars} ({point}))"
        own = {w: f"{point} {i}%nat" for i, w in enumerate(self.m.weights[:-1])}
        own |= {self.m.weights[-1]: f"dot d {u} {u}"}
        own |= {x.name: f"dot d {u} (lam {time})" for x in self.m.steering}
        return {**self.names, **own}

    # -- definitions

    def on_flow(self) -> dict[str, tuple[str, str]]:
        """Return definitions on the weights, with their arguments."""
        phi = {"phi": ("(w : nat -> R)", self.on("")(self.m.outputs[0]))}
        F = f"{self.of_weights('phi')} w * tail {self.scalars} w i"
        return phi | super().on_flow() | {"F": ("(w : nat -> R) (i : nat)", F)}

    def on_start(self) -> dict[str, tuple[str, str]]:
        """Return definitions on the start; functions of n come last."""
        m, terms, x, u_0 = self.m, self.terms, self.length, self.start_vector
        starts = [f"w {i}%nat = {terms(v)}" for i, v in enumerate(m.start[:-1])]
        starts += [f"(forall i, (i < d)%nat -> tail {self.scalars} w i = {u_0} i)"]
        if not m.texts:
            starts.append(f"dot d {u_0} {u_0} = {terms(m.start[-1])}")
        return super().on_start() | {
            "starts": ("(w : nat -> R) : Prop", conjunction(starts)),
            "dom": ("(n : R) : Prop", terms.above(x.walls)),
            **{k: ("(n : R)", terms(e)) for k, e in (("q", x.q), ("p", x.p), ("dp", x.p.diff(Z)))},
        }

    # -- lemmas

    def on_length(self) -> Iterator[str]:
        """Yield the lemmas on functions of n."""
        yield from self.section(("dom", "q", "p", "dp"), ("phi", *OF_F))
        x, at_x = self.length, Terms({**self.names, Z.name: "x"})
        dp = x.p.diff(Z)
        up = [f"apply (Rlt_le_trans _ ({at_x(wall)})); [assumption|up]" for wall in x.walls]
        yield (
            "Lemma upward : forall x y, dom' x -> x <= y -> dom' y.\n"
            f"Proof using asked'. intros x y r' l'. {ASKED}unfold dom in *. hyps. "
            f"{all_of(up)} Qed.\n"
        )
        for label, e, slope, shown in (
            ("q_slope", x.q, x.p / 2, "q' n (p' n / 2)"),
            ("p_slope", x.p, dp, "p' n (dp' n)"),
        ):
            parts = [e, slope]
            proof = self.at_n.proof(parts, [*parts, e.diff(Z)], DERIVE)
            yield f"Lemma {label} : forall n, 0 <= n -> dom' n -> is_derive {shown}.\n{proof}"
        yield (
            "Lemma across : forall n, 0 <= n -> dom' n -> 0 < p' n.\n"
            f"{self.at_n.proof([x.p], [], 'pos.')}"
        )
        read = [x.p, dp, x.beyond]
        sure(self.at_n.signs.positive(x.beyond), x.beyond, "> 0")
        put = f"replace (p' n + 2 * n * dp' n) with ({self.terms(x.beyond)})"
        put += " by (unfold p, dp; FIELD). pos."
        place = Place(self.names, self.at_n.signs, self.at_n.opening)
        yield (
            "Lemma beyond : forall n, 0 <= n -> dom' n -> 0 < p' n + 2 * n * dp' n.\n"
            f"{place.proof([x.p, dp, x.beyond], read, put)}"
        )

    def flow(self) -> Iterator[str]:
        """Yield the lemmas on the flow."""
        m, k = self.m, self.scalars
        u_0, N = self.start_vector, self.on("0")(m.moving[-1])
        yield from self.flowing(
            f"({k} + d) d rate' F'",
            f"Lemma apart : forall v i x, phi' (upd v ({k} + i) x) = phi' v.\n"
            "Proof. reflexivity. Qed.\n"
            f"Lemma same : forall i v, rate' ({k} + i)%nat v = {self.terms(m.rates[-1])}.\n"
            "Proof. reflexivity. Qed.\n"
            "Lemma pushed_by t (j : nat) : 0 <= t -> (j < 1)%nat -> continuous (fun s => "
            f"{self.on('s')(m.steering[0])}) t.\n"
            f"Proof. exact (pushes {k} d rate' phi' {self.terms(m.rates[-1], ATOM)} w lam moves' "
            "apart same t j). Qed.\n"
            f"Lemma length0' : {N} = {self.terms(m.start[-1])}.\n"
            "Proof. assert (f' := from'). unfold starts in f'. hyps. "
            f"transitivity (dot d {u_0} {u_0}); [|auto]. unfold dot. apply Sum_ext. intros i hi'. "
            "replace (tail _ _ _) with (" + u_0 + " i) by (symmetry; auto). reflexivity. Qed.",
        )
        yield from self.staying()
        yield self.never_leaves(self.length.walls, f"dom' ({self.n_phi})", "unfold dom.")
        phi, p = m.outputs[0], self.length.p
        place = self.at_leaf("unfold p, phi. ")
        inverse = place.proof([phi], [p, phi], "FIELD.")
        yield always("inverse", f"p' ({self.n_phi}) * phi' (w t) = 1", inverse)
        sure(self.w.signs.positive(m.rates[-1] * phi), phi, "> 0")
        pushed = replace(self.w, closing="unfold phi.").proof([phi], [], "pos.")
        yield always("pushed", f"0 < {self.on('t')(m.rates[-1], ATOM)} * phi' (w t)", pushed)

    def weight(self, k: int) -> str:
        """Return the lemma on how a scalar moves, or N, which is the last."""
        m, at = self.m, self.on("t")
        velocity = at(m.rates[k] * m.slopes[k])
        name = self.on("s")(m.moving[k])
        phi = m.outputs[0]
        parts = [phi, phi.diff(m.moving[k]), m.rates[k]]
        of = f"{self.scalars} d rate' phi'"
        if k == self.scalars:
            ends = [
                f"evar_last.\n  - apply (lengthens {of} {at(m.rates[k], ATOM)} w lam moves' apart "
                "same). exact ht'."
            ]
        else:
            ends = [
                f"evar_last.\n  - apply (turns {of} w lam moves' t {k} {at(parts[1], ATOM)}); "
                "[exact ht'|lia|]. unfold partial, phi, upd. cbv beta iota delta [Nat.eqb]. "
                "evar_last; [diff|cbv beta; FIELD]."
            ]
        proof = self.w.proof(parts, parts, *ends, "- unfold rate, phi. cbv beta iota. FIELD.")
        return always(f"W{k}'", f"is_derive (fun s => {name}) t ({velocity})", proof)

    @property
    def n_text(self) -> str:
        """Return n at a time: phi^2 N."""
        at = self.on("t")
        return f"({at(self.m.outputs[0], ATOM)}) ^ 2 * {at(self.m.moving[-1])}"

    @property
    def n_phi(self) -> str:
        """The same, with phi by its name."""
        return f"phi' (w t) ^ 2 * {self.on('t')(self.m.moving[-1])}"

    def theorem(self, name: str) -> Iterator[str]:
        """Yield the whole file after its head."""
        yield from self.definitions()
        yield from ("", "Section Model.", *self.on_length(), *self.flow())
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
