"""The theorem on beta = phi u with a vector u of open dimension: Q = q(|beta|^2) - <u_0, beta>.

Let N = |u|^2 and n = |beta|^2 = phi^2 N, and let phi be a function of the scalars alone, so that
the dual coordinates are u. With the slope p(n) = 2 q'(n), which is 1/phi on the leaf, and the rate
r of u, are proved p > 0 and p + 2 n p' = sqrt(r T)/R > 0, where T and R are the eigenvalues of K
across beta and along it: Q is convex in |beta| and grows with it. The steering enters as
<u, lam>, with which the scalars and N move.

Outputs that are phi times weights of their own are such a vector, of their number as dimension.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation, derive
from derive.language import to_sympy
from derive.model.names import unused
from derive.model.parameterization import Parameterization
from derive.potential.piece import with_formulas
from derive.rocq.flow import ASKED, Definitions, Flow
from derive.rocq.place import Place, sure
from derive.rocq.subject import Subject, Z, conditions, subject_of
from derive.rocq.terms import ATOM, NoFile, Terms, all_of, conjunction, name_of, plain

PHI = Symbol("phi'", real=True)


@dataclass(frozen=True)
class Length:
    """Functions of n = |beta|^2.

    Attributes:
        q, p, dp: Q without <u_0, beta>, 2 q', and p'.
        beyond: p + 2 n p' = sqrt(r T)/R.
        walls: what is positive where Q lives.
    """

    q: Expr
    p: Expr
    dp: Expr
    beyond: Expr
    walls: tuple[Expr, ...]


def turning(d: Derivation) -> tuple[Subject, Length]:
    """Return phi as the output, the scalars, and |u|^2 as the last weight; and Q of the length.

    Raises:
        NoFile: the derivation has no such file.
    """
    m, (vector,) = subject_of(d), d.parameterization.vectors
    norm, phi = Symbol(vector.norm, real=True), plain(to_sympy(vector.coefficient))
    if phi.has(norm) or sympy.cancel(plain(d.warping.g) - m.rates[-1] * phi) != 0:
        raise NoFile("the dual coordinates are not u, of which no file is written")
    length_0 = Symbol(f"{vector.norm}_0", real=True)
    squares = {norm: sympy.sqrt(norm), length_0: sympy.sqrt(length_0)}
    assert d.direction is not None
    start = name_of(d.direction.start_vector)
    scalars = replace(
        m,
        outputs=(phi,),
        start=(*m.start[:-1], (m.start[-1] ** 2).subs(squares)),
        symbols=tuple(s for s in m.symbols if s != length_0.name),
        constants=tuple((c, v.subs(squares)) for c, v in m.constants),
        conditions=tuple(c for c in m.conditions if length_0.name not in c.names),
        laws=tuple(law.subs(squares) for law in m.laws),
        ties=tuple(_ties(phi, m)),
        typed=(("d", "nat"), (start, "nat -> R")),
        texts=((length_0.name, f"dot d {start} {start}"),) if m.start[-1] == length_0 else (),
    )
    return scalars, _length(d, scalars)


def _ties(phi: Expr, m: Subject) -> Iterator[tuple[int, Expr]]:
    """Yield scalars that stay equal to earlier ones: they start and move alike where they are."""
    scalars = [*zip(m.moving, m.start, m.rates, strict=True)][:-1]
    for j, (w, w_0, rate) in enumerate(scalars):
        for v, v_0, other in scalars[:j]:
            apart = (rate * phi.diff(w) - other * phi.diff(v)).subs(w, v)
            if v_0 == w_0 and sympy.expand(apart) == 0:
                yield j, v
                break


def _length(d: Derivation, m: Subject) -> Length:
    """Return functions of n, with what is positive where they are defined.

    Raises:
        NoFile: Q is not explicit.
    """
    turn, (piece,) = d.potential.turning, d.potential.pieces
    beyond = d.potential.other_side is not None or d.direction is None or d.direction.sign < 0
    if turn is None or turn.eigenvalues is None or piece.kind != "explicit" or beyond:
        raise NoFile(f"Q of the length is {piece.kind}, in a form of which no file is written")
    values, s = turn.eigenvalues, Symbol(piece.betas[0].name, real=True)
    roots = [*piece.roots, *values.roots]
    q, slope, across, along = (
        plain(with_formulas(e, roots)).subs(s, sympy.sqrt(Z))
        for e in (piece.value, *piece.gradient, values.across, values.along)
    )
    p = slope / sympy.sqrt(Z)
    second = sympy.sqrt(m.rates[-1] * across) / sympy.expand(along)
    signs, walls = m.asked.with_(least=(Z,)), []
    for e in (e for f in (q, p, second) for e in sympy.postorder_traversal(f) if e.is_Pow):
        if not e.exp.is_Integer and not signs.positive(e.base):
            walls.append(e.base)
            signs = signs.with_([e.base])
    return Length(q, p, p.diff(Z), second, tuple(walls))


def as_vector(d: Derivation) -> Derivation | None:
    """Return the same of a vector of open dimension, where the outputs are its entries.

    The outputs are phi u_i: each u_i is in one of them and starts where it likes, all at one rate.
    """
    p = d.parameterization
    if p.d == 1 or p.affine or p.vectors or not p.geometry.is_diagonal:
        return None
    if (found := _entries([plain(to_sympy(tree)) for tree in p.trees])) is None:
        return None
    phi, entries = found
    name = unused("u", (*p.weights, *p.parameters, *p.start_symbols))
    if (vector := _turned(p, phi, entries, name)) is None:
        return None
    whole = derive(vector)
    same = {*whole.parameterization.parameters} == {*p.parameters}
    return whole if same and _as_printed(d, whole, name) else None


def _turned(
    p: Parameterization, phi: Expr, entries: Sequence[str], name: str
) -> Parameterization | None:
    """Return phi u with a vector of this name for its entries; None where these are told apart."""
    start = {w: str(to_sympy(tree)) for w, tree in p.start}
    rates = dict(zip(p.weights, map(str, map(to_sympy, p.rates)), strict=False))
    if len({rates.get(w) for w in entries}) > 1 or any(start[w] != f"{w}_0" for w in entries):
        return None
    return Parameterization.parse(
        [f"({phi})*{name}"],
        {w: v for w, v in start.items() if w not in entries and v != f"{w}_0"},
        p.positive,
        vectors=[name],
        rates={name if w == entries[0] else w: r for w, r in rates.items() if w not in entries[1:]},
    )


def _entries(F: Sequence[Expr]) -> tuple[Expr, list[str]] | None:
    """Return phi and the names of the entries u_i of outputs phi u_i."""
    ratios = [sympy.fraction(sympy.cancel(f / F[0])) for f in F[1:]]
    u = [ratios[0][1], *(above for above, _ in ratios)]
    phi = sympy.cancel(F[0] / u[0])
    names = [x.name for x in u if x.is_Symbol]
    alike = len({*names}) == len(F) and all(below == u[0] for _, below in ratios)
    return (phi, names) if alike and not phi.has(*u) else None


def _as_printed(d: Derivation, vector: Derivation, name: str) -> bool:
    """Say whether what is assumed for a vector is what the page of its entries prints."""
    asked, kept = conditions(vector)
    printed = {c.written for piece in d.potential.pieces for c in piece.assumptions}
    mine = {c.written for c in asked if f"norm_{name}_0" not in c.names}
    return mine <= printed and all(any(w.startswith(f"{e} keeps") for w in printed) for e in kept)


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
        yield self.at_n.moves("q_slope", x.q, x.p / 2, f"({at(x.p)}) / 2", [x.p])
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
