"""The theorem on beta = phi u, u a vector of open dimension: Q = q(|beta|^2) - psi_0 <u_0, beta>.

Let N = |u|^2 and n = |beta|^2 = phi^2 N. The dual coordinates are psi u where psi' = -2 r phi_N psi
<u, lam> with the rate r of u; psi = 1 where phi is a function of the scalars alone. With the slope
p(n) = 2 q'(n), which is psi/phi on the leaf, are proved p > 0 and p + 2 n p' = p T/R > 0, where T
and R are the eigenvalues of K across beta and along it: Q is convex in |beta| and grows with it.
The steering enters as <u, lam>, with which the scalars and N move.

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
from derive.rocq.terms import ATOM, FUNCTIONS, NoFile, Terms, all_of, conjunction, name_of, plain

PHI, PSI = (Symbol(f"{name}'", real=True) for name in ("phi", "psi"))
SQUARE = Symbol("square'", real=True)
"""|u_0|^2, as a text, where it is a constant with a name."""
DUAL = "dual"
"""The name of psi_0 u_0, where psi is not 1."""


@dataclass(frozen=True)
class Length:
    """Functions of n = |beta|^2.

    Attributes:
        q, p, dp: Q without <u_0, beta>, None where it is an integral of p/2; 2 q', and p'.
        beyond: p + 2 n p' = p T/R.
        walls: what is positive where Q lives.
    """

    q: Expr | None
    p: Expr
    dp: Expr
    beyond: Expr
    walls: tuple[Expr, ...]


def turning(d: Derivation) -> tuple[Subject, Length, Expr]:
    """Return phi as the output, the scalars, and |u|^2 as the last weight; Q of the length; psi.

    Raises:
        NoFile: the derivation has no such file.
    """
    m, (vector,) = subject_of(d), d.parameterization.vectors
    norm, length_0 = (Symbol(f"{vector.norm}{end}", real=True) for end in ("", "_0"))
    squares = {norm: sympy.sqrt(norm), length_0: sympy.sqrt(length_0)}
    phi = plain(to_sympy(vector.coefficient)).subs(squares)
    psi = sympy.cancel(plain(d.warping.g).subs(squares) / (m.rates[-1] * phi))
    assert d.direction is not None
    start = name_of(d.direction.start_vector)
    length, named = m.start[-1] ** 2, phi.has(norm)  # a name of its own, where F has it
    if named and m.start[-1] != length_0:
        raise NoFile("of a length that starts at a number, and is in phi, no file is written")
    text = SQUARE if named else length_0
    scalars = replace(
        m,
        outputs=(phi,),
        start=(*m.start[:-1], length.subs(squares).subs(length_0, text)),
        symbols=tuple(s for s in m.symbols if s != length_0.name),
        constants=(
            *(((length_0, SQUARE),) if named else ()),
            *(
                (c, v.subs({norm: squares[norm], length_0: sympy.sqrt(text)}))
                for c, v in m.constants
            ),
        ),
        conditions=tuple(c for c in m.conditions if length_0.name not in c.names or named),
        laws=tuple(norm if law == norm else law.subs(squares) for law in m.laws),
        ties=tuple(_ties(phi, m)),
        typed=(("d", "nat"), (start, "nat -> R")),
        texts=((text.name, f"dot d {start} {start}"),) if m.start[-1] == length_0 else (),
    )
    return scalars, _length(d, scalars), psi.subs(norm, length_0 if norm in scalars.laws else norm)


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
        NoFile: q' is not explicit.
    """
    turn, (piece,) = d.potential.turning, d.potential.pieces
    beyond = d.potential.other_side is not None or d.direction is None or d.direction.sign < 0
    if (
        turn is None
        or turn.eigenvalues is None
        or piece.kind not in ("explicit", "quadrature")
        or beyond
    ):
        raise NoFile(f"Q of the length is {piece.kind}, in a form of which no file is written")
    values, s = turn.eigenvalues, Symbol(piece.betas[0].name, real=True)
    length_0 = Symbol(f"{m.weights[-1]}_0", real=True)
    roots = [*piece.roots, *values.roots]
    value, slope, across, along = (
        plain(with_formulas(e, roots)).subs({s: sympy.sqrt(Z), length_0: sympy.sqrt(length_0)})
        for e in (piece.value, *piece.gradient, values.across, values.along)
    )
    p = slope / sympy.sqrt(Z)
    second = sympy.cancel(p * across / sympy.expand(along))
    called = {type(f).__name__ for f in value.atoms(sympy.Function, sympy.Integral)}
    q = value if called <= FUNCTIONS.keys() else None
    if len({e.exp.q for e in (p.diff(Z) + second).atoms(sympy.Pow) if e.base == Z} - {1}) > 1:
        raise NoFile("Q has roots of several degrees, which no rule here ties to each other")
    walls = _walls(m, (q, p, second) if q is not None else (sympy.sqrt(Z), p, second))
    return Length(q, p, p.diff(Z), second, walls)


def _walls(m: Subject, functions: Sequence[Expr]) -> tuple[Expr, ...]:
    """Return what roots are taken of, where that is not known to be positive."""
    signs, walls = m.asked.with_(_above(m), least=(Z,)), []
    for e in (e for f in functions for e in sympy.postorder_traversal(f) if e.is_Pow):
        if not e.exp.is_Integer and not signs.positive(e.base):
            walls.append(e.base)
            signs = signs.with_([e.base])
    return tuple(walls)


def _above(m: Subject) -> list[Expr]:
    """Return the constants that are positive by what is asked of the start."""
    signs = m.asked.with_([SQUARE])
    return [c for c, value in m.constants if value != SQUARE and signs.positive(value)]


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

    def __init__(self, m: Subject, length: Length, psi: Expr, dimension: str) -> None:
        self.length, self.start_vector, self.dimension = length, m.typed[-1][0], dimension
        self.psi = psi
        self.scalars, (self.phi,) = len(m.weights) - 1, m.outputs
        n = sympy.Mul(PHI**2, m.moving[-1], evaluate=False)
        super().__init__(m, {PHI: self.phi, PSI: psi, Z: n})
        u = f"(tail {self.scalars} (w t))"
        self.of_F = [*["d"] * self.phi.has(m.moving[-1]), *self.of_F]
        self.lam, self.steady = f"(fun t _ => dot d {u} (lam t))", "pushed_by"
        opening = self.start.opening.replace("hyps.", "hyps. rewrite ?length0' in *.")
        self.start = replace(self.start, opening=opening)
        self.signed = _above(m)
        known = " ".join(f"assert (A{i}' := above{i}')." for i, _ in enumerate(self.signed))
        self.w = self.w.knowing(f"assert (N' := dot_ge0 d {u}). {known}".strip(), self.signed)
        if (N := m.moving[-1]) in self.w.signs.off:
            of = self.on("t")(N)
            by = "hyps; destruct N' as [|e']; [assumption|symmetry in e'; contradiction]"
            self.w = self.w.knowing(f"assert (P' : 0 < {of}) by ({by}).", [N])
        self.w = replace(self.w, signs=self.w.signs.with_(least=(N,)))
        self.begun = Place(self.names, m.asked, opening=ASKED.strip()).knowing(known, self.signed)
        signs, names = self.begun.signs.with_(length.walls, least=(Z,)), {**self.names, Z.name: "n"}
        head, opening = "forall n, 0 <= n -> dom' n -> ", "intros n h' r'. unfold dom in r'."
        opening = f"{opening} {self.begun.opening}"
        self.at_n = Place(names, signs, head, opening, "n", "n", moving=(Z,))

    def at(self, time: str) -> dict[str, str]:
        """Return the names of the scalars, of N and of <u, lam> at a time."""
        point = f"w {time}".strip()
        u = f"(tail {self.scalars} {f'({point})' if time else point})"
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
        integral = f"RInt (fun x => {self.of('p')} x / 2) ({self.terms(self.n_0)}) n"
        known = {"q": x.q, "p": x.p, "dp": x.dp}
        found = {name: at_n(e) for name, e in known.items() if e is not None}
        own = {"q": integral} if x.q is None else {}
        return super().on_start() | {
            "starts": ("(w : nat -> R) : Prop", conjunction(starts)),
            **self.dual,
            "dom": ("(n : R) : Prop", at_n.above(x.walls)),
            **{name: ("(n : R)", text) for name, text in (found | own).items()},
        }

    @property
    def n_0(self) -> Expr:
        """|beta|^2 at the start."""
        length = Symbol(f"{self.m.weights[-1]}_0", real=True)
        return self.m.at_start(self.phi**2 * self.m.moving[-1]).subs(SQUARE, length)

    @property
    def dual(self) -> Definitions:
        """Return the definition of the dual coordinates at the start; u_0 needs none."""
        psi_0 = self.terms(self.m.at_start(self.psi), ATOM)
        return {} if self.psi == 1 else {DUAL: ("(i : nat)", f"{psi_0} * {self.start_vector} i")}

    # -- lemmas

    def on_length(self) -> Iterator[str]:
        """Yield the lemmas on functions of n."""
        yield from self.section(
            ("dom", "q", "p", "dp", *self.dual), ("phi", "F", "rate", "defined")
        )
        x, at_x, at = self.length, Terms({**self.names, Z.name: "x"}), self.at_n.terms
        constants = ", ".join(name_of(c.name) for c, _ in self.m.constants)
        for i, c in enumerate(self.signed):
            by = f"{ASKED}hyps. unfold {constants} in *."
            yield f"Lemma above{i}' : 0 < {self.terms(c)}.\nProof using asked'. {by} pos. Qed.\n"
        up = [f"apply (Rlt_le_trans _ ({at_x(wall)})); [assumption|up]" for wall in x.walls]
        yield (
            "Lemma upward : forall x y, dom' x -> x <= y -> dom' y.\n"
            f"Proof using asked'. intros x y r' l'. {ASKED}unfold dom in *. hyps. "
            f"{all_of(up)} Qed.\n"
        )
        yield self.at_n.moves("p_slope", x.p, x.dp)
        if x.q is None:
            yield from self.integrated()
        else:
            yield self.at_n.moves("q_slope", x.q, x.p / 2, f"({at(x.p)}) / 2", [x.p])
        yield self.at_n.positive("across", x.p)
        form = sure(x.beyond if self.at_n.signs.positive(x.beyond) else None, x.beyond, "> 0")
        whole, parts = f"({at(x.p)}) + 2 * n * ({at(x.dp)})", [x.p, x.dp, form]
        put = f"replace ({whole}) with ({at(form)}) by (FIELD). pos."
        yield self.at_n.lemma("beyond", f"0 < {whole}", parts, parts, put)

    def integrated(self) -> Iterator[str]:
        """Yield the slope of Q as an integral, on the open interval in which n starts."""
        walls = self.length.walls
        for i, wall in enumerate(walls):
            yield self.begun.positive(f"begins{i}'", wall.subs(Z, self.n_0))
        n_0, begun = self.terms(self.n_0), [f"exact begins{i}'" for i, _ in enumerate(walls)]
        yield (
            f"Lemma begins : dom' ({n_0}).\n"
            f"Proof using asked'. {all_of(begun)} Qed.\n"
            "Lemma least' : forall n, dom' n -> 0 <= n.\n"
            "Proof using asked'. intros n r'. unfold dom in r'. hyps. lra. Qed.\n"
            "Lemma opened : forall n, dom' n -> locally n dom'.\n"
            "Proof using asked'. intros n r'. unfold dom in *. hyps. opens. Qed.\n"
            "Lemma q_slope : forall n, 0 <= n -> dom' n -> is_derive q' n (p' n / 2).\n"
            f"Proof using asked'. exact (integral_slope dom' p' dp' ({n_0}) upward opened least' "
            "p_slope begins). Qed.\n"
        )

    def flow(self) -> Iterator[str]:
        """Yield the lemmas on the flow."""
        m, k, terms = self.m, self.scalars, self.terms
        u_0, N, rate = self.start_vector, self.on("0")(m.moving[-1]), terms(m.rates[-1], ATOM)
        yield from self.flowing(
            f"({k} + d) d rate' F'",
            self.on_vector(),
            f"Lemma same : forall i v, rate' ({k} + i)%nat v = {rate}.\n"
            "Proof. reflexivity. Qed.\n"
            "Lemma pushed_by t (j : nat) : 0 <= t -> (j < 1)%nat -> continuous (fun s => "
            f"{self.on('s')(m.steering[0])}) t.\n"
            f"Proof. exact (pushes {self.applied} t j). Qed.\n"
            f"Lemma length0' : {N} = {terms(m.start[-1])}.\n"
            "Proof. assert (f' := from'). unfold starts in f'. hyps. "
            f"transitivity (dot d {u_0} {u_0}); [|auto]. unfold dot. apply Sum_ext. intros i hi'. "
            f"replace (tail _ _ _) with ({u_0} i) by (symmetry; auto). reflexivity. Qed.",
        )
        scalars = m.moving[:-1]
        yield from self.staying((*scalars, *(x**2 for x in scalars)))
        yield from self.laws()
        yield from self.within(
            self.length.walls, f"dom' (phi' (w t) ^ 2 * {self.on('t')(m.moving[-1])})"
        )
        known = "assert (r' := inside t ht'). unfold dom, phi in r'."
        there = self.w.knowing(known, self.length.walls)
        yield self.zero("inverse", self.length.p, PSI / PHI, there)
        whole = m.rates[-1] * PSI * PHI
        push = sure(self.w.form(whole), whole, "> 0")
        goal = f"0 < {rate} * {self.on('t')(PSI)} * {self.on('t')(PHI)}"
        yield self.w.lemma("pushed", goal, [push], [], "pos.")
        slope = -2 * m.rates[-1] * self.dphi * m.steering[0]
        factors = (rate, self.on("t")(self.dphi, ATOM), self.on("t")(m.steering[0]))
        shown = f"- (2 * {' * '.join(factors)}) * {self.on('t')(self.psi, ATOM)}"
        yield self.w.moves("steered", self.psi, slope * self.psi, shown)
        yield self.starts("begun'", self.psi - m.at_start(self.psi))

    @property
    def dphi(self) -> Expr:
        """The derivative of phi by |u|^2."""
        return self.phi.diff(self.m.moving[-1])

    @property
    def along(self) -> str:
        """phi in the weights v and n = |u|^2."""
        own = {w: f"v {i}%nat" for i, w in enumerate(self.m.weights)} | {self.m.weights[-1]: "n"}
        return f"(fun (v : nat -> R) (n : R) => {Terms({**self.names, **own})(self.phi)})"

    @property
    def applied(self) -> str:
        """What the lemmas on the vector are applied to."""
        dphi, rate = self.on("s")(self.dphi), self.terms(self.m.rates[-1], ATOM)
        of = f"{self.scalars} d rate' {self.along} {rate} w lam (fun s => {dphi})"
        return f"{of} moves' apart same phi_slope"

    def on_vector(self) -> str:
        """Return the lemmas on phi as a function of the vector, by its length alone."""
        k, N = self.scalars, self.m.moving[-1]
        point = f"({self.on('t')(N)})"
        at = replace(self.w, bound="n", point=point, along={N.name: "n"}, moving=(N,), rates=())
        return (
            f"{at.moves('phi_slope', self.phi, self.dphi)}\n"
            f"Lemma apart : forall v i x, {self.along} (upd v ({k} + i) x) = {self.along} v.\n"
            "Proof. reflexivity. Qed."
        )

    def weight(self, k: int) -> str:
        """Return the lemma on how a scalar moves, or N, which is the last."""
        m, at, phi = self.m, self.on("t"), self.phi
        of, slope = f"{self.scalars} d rate' {self.along}", phi.diff(m.moving[k])
        along = Terms({**self.at("t"), m.weights[k]: "x"})(phi)
        by = (
            f"apply (turns {of} w lam moves' t {k} {at(slope, ATOM)}); [exact ht'|lia|]. "
            f"apply (is_derive_ext (fun x => {along})); [reflexivity|]. "
            "evar_last; [diff|cbv beta; FIELD]."
        )
        if k == self.scalars:
            by = f"apply (lengthens {self.applied}). exact ht'."
        return self.moved(k, [phi, slope, m.rates[k]], by, "unfold rate, phi. cbv beta iota")

    def theorem(self, name: str) -> Iterator[str]:
        """Yield the whole file after its head."""
        yield "Require Import Radial.\n"
        yield from self.definitions()
        yield from (*self.on_length(), *self.flow())
        k, u_0, rate = self.scalars, self.start_vector, self.terms(self.m.rates[-1], ATOM)
        psi, dphi = (self.on("s")(e) for e in (self.psi, self.dphi))
        psi_0 = self.on("0")(self.psi, ATOM)
        y_0, own = u_0, "ring"
        if self.dual:
            begun = self.terms(self.m.at_start(self.psi), ATOM)
            y_0 = f"{DUAL}'"
            own = (
                f"unfold {DUAL}. replace ({psi_0}) with ({begun}) by (generalize begun'; lra). ring"
            )
        of_n = " ".join(("upward", "q_slope", "p_slope", "across", "beyond"))
        yield from self.proved(
            name,
            f"({k} + {self.dimension}) {self.dimension}",
            lambda of, d: (
                f"regularizes {d} (fun b => {of('dom')} (dot {d} b b))\n"
                f"    (fun b => {of('q')} (dot {d} b b) - "
                f"dot {d} {f'({of(DUAL)})' if self.dual else u_0} b)"
            ),
            f"  assert (v' : forall i, (i < d)%nat -> tail {k} (w 0) i = {u_0} i) by apply from'.\n"
            f"  assert (f' : forall i, (i < d)%nat -> {psi_0} * tail {k} (w 0) i = {y_0} i).\n"
            f"  {{ intros i hi'. rewrite (v' i hi'). {own}. }}\n"
            f"  exact (radial {k} d rate' {self.along} {rate} {y_0} w lam\n"
            f"    (fun s => {psi}) (fun s => {dphi}) dom' q' p' dp' moves' apart same phi_slope\n"
            f"    {of_n} inside f' steered inverse pushed).",
            self.dimension,
        )
