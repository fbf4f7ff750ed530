"""Matrices of open size derived: what their measurements see moves as diagonal models do, or no Q.

Measurements with bases in common see b_k = sum_mu mu n_mu^2 alone (:mod:`derive.model.matrices`),
a model of one output that is derived as any other, so that Q = sum_k q(b_k) from any start. And
with alpha W_1 as start and q(b)/N -> |b|, the limits for alpha -> 0 have the least nuclear norm of
all matrices that interpolate: for any such beta the diagonal of O^T beta H interpolates too, and
sum_k |b_k| <= |beta|_*, with equality for O diag(b) H^T. Where beta is semidefinite its own
nuclear norm is sum_k |b_k|; else n_mu of one sign vanishes beside the other in each row, as the
product of powers of both that is conserved does, and |beta|_* -> sum_k |b_k|. Likewise along a
flow on which |b| -> infinity in the direction of largest l1 margin: beta/|beta|_* has the margins
that b/|b|_1 has, no matrix of nuclear norm 1 has larger ones, as its diagonal would.

Measurements without such bases steer beta to more dimensions than they fix, so that no Q gives the
limits (:mod:`derive.weights.orbit`): given ones, or of all measurements X_1 = diag(1, 2) and X_2
with one entry, in two rows and columns of beta, or two such in three. These generate the Lie
algebra of all in these rows, and <A, K A> = |grad <A, F>|^2 tells from which starts K has rank 3
there. Where K is invertible, no Q and no g > 0 have Hess Q = g K^-1, as grad Q is then a chart.

Measurements that fix what they reach, such as of one row or one column, are coordinates y of it: a
Q(beta) with (grad Q)' = g sum_i lambda_i X_i is a P(y) with Hess P = g K^-1, K that of the outputs
y_i, which are derived as any other. Columns of 0 stay 0, so that what fails for few columns does
for almost every start of more.

Sums of neurons, beta = a V^T of one row a, tend to the least |beta|_2 from vanishing starts of any
shape: Theorem 3 of Azulay et al. 2021, which asks for no balance (``NEURONS``). (Derived here.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from derive.clock import Stages
from derive.derivation import Derivation, derive
from derive.errors import InputError
from derive.limits.find import regimes
from derive.limits.limit import Limit
from derive.model.matrices import MatrixMap, Rows
from derive.model.parameterization import Parameterization
from derive.printable import Certified, Explored
from derive.separable.find import Margins, margins
from derive.separable.horizon import SOURCE
from derive.statement import Ground, Open, Statement, Text, each, note
from derive.verdict import Decided, Finding, Identity, Verdict
from derive.weights.orbit import Orbit

SCALE = "alpha"
LONGEST = 200
"""Characters of an equation that is shown; others are on the page of the outputs."""
MOST = 3
"""Rows and columns of the blocks in which two measurements are tried."""
FITS = "gradient flow on `|<X_i, F(w)> - y_i|^2` converges with `<X_i, beta> = y_i`"
UNIQUE = (
    "the loss is convex and decreases like `exp(-u)`",
    "the `X_i`, with their labels, are separable",
    "the `b` of largest margin among those with `sum_k |b_k| = 1` is unique",
)
CONVERGES = (
    "the loss decreases like `exp(-u)` and tends to 0",
    "`b(t)/|b(t)|` converges, to `c` with all `sum_k a_ik c_k > 0`",
)
"""What is asked on separable data, where Q lives on all b and where it lives on half-lines."""
REACHED = (
    "along `Z_i = grad <X_i, F>` the rows of all matrices, one above the other, move by "
    "`Z' = 2 S_i Z` with symmetric `S_i`: steering reaches the orbit of the group of "
    "`Lie{S_1, ..., S_m}`, and a neighbourhood in it of each point",
    "where `beta` has more than `m` dimensions there, the `m` numbers `<X_i, beta>` are "
    "constant on curves of it: two ways of steering end at different `beta` of one `y`",
)
CHART = (
    "where `K` is invertible `grad Q`, with `Hess Q = g rho`, would be a chart in which `beta` "
    "keeps to the `m` dimensions of `grad Q(beta_0) + span X_i`"
)
BLOCK = (
    "let `X_1 = {X[0]}` and `X_2 = {X[1]}` in some rows and columns, in orthonormal bases, and be "
    "0 elsewhere"
)
WHOLE = (
    "as all measurements of these rows do, they generate a Lie algebra of dimension `{algebra}`, "
    "and this block of `beta` moves along all `K A`",
    "`<A, K A> = |grad <A, F>|^2`: `K` of the block has rank 3 or more {where}",
)
WHERE = {
    (False, 2): ("`{0}_0` of rank 2 or more", "where the matrix has rank 2 in these rows"),
    (False, 3): ("start but 0", "where the matrix is not 0 in these rows"),
    (True, 2): (
        "start but 0",
        "where neither matrix is 0 in these rows, and where one is, it does not stay",
    ),
}
"""Of U V^T or of W W^T, by the rows of the block: from which starts, and why."""
MEASURED = (
    "where `beta` has as many dimensions as there are `X_i`, the `y_i = <X_i, beta>` are its "
    "coordinates: `grad Q(beta) = grad Q(beta_0) + sum_i mu_i X_i` is `mu = grad P(y)`, "
    "`P = Q(beta) - <grad Q(beta_0), beta>`, and `Hess P = g K^-1` with `K` of the outputs `y`"
)
MORE = (
    "columns of 0 stay 0: what fails somewhere with few columns fails almost everywhere with more"
)
TRANSITIVE = (
    "in the eigenbasis of `X_1` the brackets `ad(X_1)^k X_2 = [(a_i - a_j)^k x_ij]` span all "
    "matrices with a diagonal of 0, whose brackets and `X_1` give the rest: `G` reaches each with "
    "`det G > 0`, and these take `beta_0` to each of its rank and sign"
)
NEURONS = (  # kinds of statements, words, and why
    (
        "regime",
        "from `{a}_0 = alpha {a}_1`, `{v}_0 = alpha {v}_1` with `alpha -> 0`, limits with "
        "`<X_i, beta> = y_i` are within `O(alpha)` of that of least `|beta|_2`",
        "the `X_i` steer `{a}' = g {v}` and `{v}' = g^T {a}` with `g` in their span: with `P` the "
        "projection on it `(1 - P) {v}` stays `alpha (1 - P) {v}_1`, and off the span "
        "`|{a} {v}^T| <= alpha |{a}| |(1 - P) {v}_1|`",
        "`{a}^T {a} - {v}^T {v} = alpha^2 D` is kept, and `|{a} {v}^T|^2 = |{a}|^4 - alpha^2 {a} "
        "D {a}^T`: as `|{a}|^2 <= |{a} {v}^T| + alpha^2 |D|`, off the span it is of order `alpha`",
    ),
    (
        "mirror flow",
        "from `{a}_0^T {a}_0 = {v}_0^T {v}_0` the flow is that of one neuron `s u = {a} {v}^T`, "
        "`s = |{a}|`, from `|u_0| = s_0`, which has a `Q` with `g = s`",
        "there `{v} = u {a}/|{a}|`, and `{a}/|{a}|` does not move",
    ),
    (
        "active unit",
        "with a ReLU on each `<{v}_j, X_i>`, `sigma(t) = max(t, c t)`, `0 <= c <= 1`, and all "
        "`<X_i, X_k> >= 0`, units with `{a}_j > 0` and all `<{v}_j, X_i> > 0` stay active under "
        "losses that decrease with the outputs, `<X_i, beta>` of such; else units may turn off",
        "`{v}_j' = {a}_j g_j`, `{a}_j' = <{v}_j, g_j>` with `g_j = sum_i r_i sigma'(<{v}_j, X_i>) "
        "X_i`: there all `<g_j, X_k> >= 0`, and at all times `(1 - P) {v}_j` stays what it is",
    ),
)
TURNED = (
    "`({a} X, -{b} X^T)` leaves `beta` as it is; with `X = Y + S`, `Y` symmetric and `S` skew, it "
    "leaves `C = {a}^T {a} - {b}^T {b}` as it is where `N Y + Y N = S C - C S`, "
    "`N = {a}^T {a} + {b}^T {b}`, which has one solution `Y` for each `S`",
    "by Witt's theorem it is tangent to the leaf, and it changes `{a} {a}^T` by `2 {a} Y {a}^T`: "
    "by nothing for all `S` only where `C` commutes with all skew `S`, as `d I` alone does",
)


@dataclass(frozen=True, repr=False)
class MatrixDerivation(Decided, Explored, Certified):
    """What was derived of matrices of open size.

    Attributes:
        parameterization: F and its measurements.
        finding: is there a Q for all such measurements?
        entry: the derivation of one b_k, where these decouple, or of the outputs <X_i, F>, which
            have no Q, where they fix what they reach.
        vanishing: what Q tends to from alpha W_1 as alpha -> 0.
        margins: what the b_k tend to on separable data.
        orbit: what measurements without common bases reach that do not fix it.
        fixed: those that fix what they reach, of which entry is.
    """

    parameterization: MatrixMap
    finding: Finding
    entry: Derivation | None = None
    vanishing: Limit | None = None
    margins: Margins | None = None
    orbit: Orbit | None = None
    fixed: Orbit | None = None

    outcome: ClassVar[None] = None
    """No shorter record is kept of it."""

    def _shown(self) -> list[tuple[str, object]]:
        p, q = self.parameterization, None if self.entry is None else self.entry.potential.Q
        given = [("F", p.text), ("measurements", p.measurements)]
        return [*given, ("verdict", self.verdict), ("q", q)]

    @property
    def hypothesis(self) -> str:
        """What is asked of the measurements."""
        p = self.parameterization
        bases = "`X_i = O diag(a_i) O^T`" if p.is_square else "`X_i = O diag(a_i) H^T`"
        commute = (
            "`X_i` symmetric and `X_i X_j = X_j X_i`"
            if p.is_square
            else "`X_i X_j^T` and `X_i^T X_j` symmetric"
        )
        said = {
            "commuting": f"{commute} for all `i, j`, so that {bases} in orthonormal bases",
            "diagonal": f"`X_i` diagonal: {bases} with identities",
            "one": f"one alone{', `X_1` symmetric' * p.is_square}: {bases} in orthonormal bases",
            "general": "no common bases" if p.given else "all `X_i`",
        }
        return f"{f'{len(p.given)} are given: ' if p.given else ''}{said[p.measurements]}"

    @property
    def b(self) -> str:
        """What measurements see of beta."""
        return "(O^T beta O)_kk" if self.parameterization.is_square else "(O^T beta H)_kk"

    @property
    def gives_nuclear_norm(self) -> bool:
        """Whether the limits from vanishing starts have the least nuclear norm."""
        found = self.vanishing
        if found is None or found.potential is None or self.entry is None:
            return False
        l1 = found.finding.verdict is Verdict.PROVED and found.potential.shape == "l1"
        parts = (x for x in (found.potential.Q, found.unit) if x is not None)
        used = {s.name for x in parts for s in x.free_symbols}  # not starts, which weigh the sum
        return (
            l1
            and used <= {SCALE, "beta"}
            and len(self.parameterization.lengths) == self.entry.conserved.count + 1
        )

    @property
    def gives_nuclear_margin(self) -> bool:
        """Whether the direction of beta on separable data has the largest nuclear margin."""
        shape = None if self.margins is None else self.margins.shape
        if shape is None or self.entry is None or shape.weighted:
            return False
        return shape.norm == "l1" or shape.cone == abs(self.entry.beta[0])

    @property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed."""
        return tuple(self._statements())

    def _statements(self) -> Iterator[Statement | Open]:
        if self.verdict is Verdict.REFUTED:
            yield from self._refuted()
        elif self.entry is None:
            yield Open("whether there is a `Q` is not decided", kind="mirror flow")
        else:
            yield from self._decoupled()
        if self.entry is None or self.fixed is not None:
            yield from self._neurons()

    def _decoupled(self) -> Iterator[Statement | Open]:
        """Yield what is claimed where the b_k decouple."""
        p = self.parameterization
        yield Statement(
            f"`<X_i, beta> = sum_k a_ik b_k` with `b_k = {self.b}`, and each `b_k` moves as one "
            f"output by itself, {p.begin}",
            kind="mirror flow",
            conditions=p.asked,
            by=self.finding,
        )
        yield Statement(p.kept, kind="conserved", conditions=p.asked, by=self.finding)
        if p.terms and len(p.lengths) == 1:
            words = (
                "`(O^T beta O)_kl/sqrt(b_k b_l)` is kept, so that `b` determines `beta`; where "
                "`O^T beta_0 O` is diagonal, as in some `O` if `beta_0` commutes with all `X_i`, "
                "`O^T beta O` is, and `Q` is of its eigenvalues `b`"
            )
            why = (note("`(O^T beta O)_kl = mu <w_k, w_l>` of rows that keep directions"),)
            yield Statement(
                words, kind="conserved", conditions=(p.positive,), by=self.finding, proof=why
            )
        if self.verdict is Verdict.PROVED:
            words = (
                "its limit meets the KKT conditions of `min sum_k q(b_k)` subject to "
                "`<X_i, beta> = y_i`"
            )
            given = (*p.asked, FITS)
            yield Statement(words, kind="minimiser", conditions=given, by=self.finding)
        if self.gives_nuclear_norm:
            words = (
                f"from {p.small}, `q(b)/N -> |b|`, and every limit point of those limits has the "
                f"least nuclear norm among all {p.among} with `<X_i, beta> = y_i`"
            )
            yield Statement(words, kind="regime", conditions=p.asked, by=self.finding)
        if self.gives_nuclear_margin and self.margins is not None:
            cited = self.margins.shape.norm is not None
            yield Statement(
                "every limit point of `beta(t)` over its nuclear norm has the largest "
                f"`min_i <X_i, beta>` of all {p.among} of nuclear norm 1",
                kind="direction" if cited else "direction on half-lines",
                ground=Ground.CITED if cited else Ground.PROVED,
                conditions=(*(UNIQUE if cited else CONVERGES), p.positive),
                by=SOURCE if cited else self.finding,
            )

    def _refuted(self) -> Iterator[Statement]:
        """Yield why there is no Q: of what does not fix all that it reaches, and of what does."""
        if self.orbit is not None:
            yield from self._reached(self.orbit)
        if self.fixed is not None and self.entry is not None:
            outputs = each("`{0}`", ((Text(x),) for x in self.entry.parameterization.texts))
            failing = (e for e in self.entry.warping.finding.evidence if not e.holds)
            wider = () if self.parameterization.columns.isdigit() else (MORE,)
            yield Statement(
                f"from {self._most(self.fixed)}, no `Q(beta)` and no `g > 0` have "
                "`(grad Q(beta))' = g sum_i lambda_i X_i`",
                kind="mirror flow",
                by=self.finding,
                proof=(
                    *map(note, (*self._block(self.fixed), MEASURED)),
                    note("the outputs {y} have no such `P`, whatever `g`", y=outputs),
                    *(e for e in failing if len(e.left) + len(e.right) < LONGEST),
                    *map(note, wider),
                ),
            )
        if not self.parameterization.given and "1" not in self.parameterization.size:
            yield from self._closed(Orbit(self.parameterization, (2, 2), pair(2, 2), 2))

    def _most(self, orbit: Orbit) -> str:
        """Return which starts are meant."""
        return f"almost every start{self._with(orbit, self.parameterization.columns)}"

    def _with(self, orbit: Orbit, columns: str = "0") -> str:
        """Return from which sizes on an orbit is meant, beside two rows and columns."""
        pairs = zip((*self.parameterization.size, columns), (*orbit.size, orbit.width), strict=True)
        least = (f"`{x} >= {k}`" for x, k in pairs if not x.isdigit() and (k > 2 or x == columns))
        return "".join(f" with {', '.join(x)}" for x in [dict.fromkeys(least)] if x)

    def _block(self, orbit: Orbit) -> tuple[str, ...]:
        """Return what measurements these are, where none were given."""
        if self.parameterization.given:
            return ()
        m = orbit.size[1]
        rows = [[x[k : k + m] for k in range(0, len(x), m)] for x in orbit.X]
        shown = ["; ".join(", ".join(map(str, row)) for row in x) for x in rows]
        return (BLOCK.format(X=[f"[{x}]" for x in shown]),)

    def _reached(self, orbit: Orbit) -> Iterator[Statement]:
        """Yield what is claimed where measurements reach more than they fix."""
        p = self.parameterization
        start, regular = self._most(orbit), "`K` is invertible at such a start"
        proof: tuple[str, ...] = (*self._block(orbit), *REACHED)
        if not p.given and orbit.is_whole and (len(p.names) == 1 or p.is_product):
            rank, where = WHERE[p.is_product, orbit.size[0]]
            ranks = zip(p.names, p.size, strict=False)
            start = f"every {rank.format(p.names[0])}{self._with(orbit)}"
            regular = " or ".join(f"`{x}_0` has rank `{n}`" for x, n in ranks)
            proof += tuple(x.format(where=where, algebra=orbit.algebra) for x in WHOLE)
        yield Statement(
            f"from {start}, steering `beta' = K sum_i lambda_i X_i`, as loss weights, labels and "
            "orders of batches do, reaches different `beta` of one `<X_i, beta> = y_i`, so that no "
            "`Q(beta)` has each as its only minimiser",
            kind="data order",
            by=self.finding,
            proof=tuple(map(note, proof)),
        )
        if not p.given and len(p.terms) == len(p.names) == 1:
            yield Statement(
                "steering moves `beta = G beta_0 G^T` by `G' = sum_i mu_i X_i G`, a time-ordered "
                f"exponential with `mu_i = {2 * p.terms[0][2]} lambda_i`, and by two measurements "
                f"to every {p.among} of the rank of `beta_0`",
                kind="data order",
                conditions=(
                    "in the eigenbasis of `X_1` the differences `a_i - a_j` of eigenvalues are "
                    "distinct and not 0, no `x_ij` of `X_2` with `i != j` is 0, and `tr X_1 != 0`",
                ),
                proof=(note(TRANSITIVE),),
            )
        if self.fixed is not None:
            return
        yield Statement(
            "no `Q(beta)` and no warp `g > 0` have `Hess Q = g rho`",
            kind="mirror flow",
            conditions=(regular,),
            by=self.finding,
            proof=(note(CHART),),
        )

    def _neurons(self) -> Iterator[Statement]:
        """Yield where sums of neurons lead, and what a ReLU changes."""
        p = self.parameterization
        if "1" not in p.size or not p.is_product:
            return
        a, v = p.names if p.size[0] == "1" else p.names[::-1]
        for kind, *texts in NEURONS if p.terms[0][2] > 0 else NEURONS[:-1]:
            words, *proof = (x.format(a=a, v=v) for x in texts)
            yield Statement(words, kind=kind, proof=tuple(map(note, proof)))

    def _closed(self, orbit: Orbit) -> Iterator[Statement]:
        """Yield from which starts K is a function of beta, where that is known."""
        p, kind = self.parameterization, "closed kernel"
        (a, b, c), *_ = p.terms
        if len(p.names) == 1:
            yield Statement(
                f"`K: A -> {2 * c} (A beta + beta A)` is a function of `beta`", kind=kind
            )
        if p.is_product:
            square = f"`{a}_0` and `{b}_0` are square and invertible"
            C = f"`{a}_0^T {a}_0 - {b}_0^T {b}_0`"
            failure = _ranks("rank (dF, dK) = rank dF", orbit.with_kernel, orbit.dimension, orbit)
            yield Statement(
                "`K` is no function of `beta` on the leaf",
                kind=kind,
                conditions=(f"{square} and {C} is no multiple of `I`",),
                by=Finding(Verdict.REFUTED, "`K` changes where `beta` does not", (failure,)),
                proof=(*(note(x.format(a=a, b=b)) for x in TURNED), failure),
            )
            factor = f"{c**2} " * (c**2 != 1)
            words = (
                f"`K: A -> {factor}{a} {a}^T A + {factor}A {b} {b}^T` is a function of "
                f"`beta`, by `2 {a} {a}^T = sqrt(d^2 I + 4 B B^T) + d I` and "
                f"`2 {b} {b}^T = sqrt(d^2 I + 4 B^T B) - d I` with `B = {a} {b}^T`"
            )
            yield Statement(words, kind=kind, conditions=(f"{square} and {C} is `d I`",))


def derive_matrices(
    model: MatrixMap,
    progress: Callable[[str], None] | None = None,
    ansatz: object = None,
    timeout: float | None = None,
    known: object = None,
) -> MatrixDerivation:
    """Derive what gradient flow on matrices of open size minimises, or prove that it is nothing.

    Args:
        model: F with its measurements.
        progress, timeout: as of :func:`derive.derive`.
        ansatz: there must be none.
        known: what is told a verdict that comes before the rest: here none does.

    Source: derived here; Gunasekar et al. 2017 for commuting measurements of W W^T from alpha I.
    """
    if ansatz is not None:
        raise InputError("an Ansatz goes with outputs of given number")
    stages = Stages(timeout, progress or (lambda stage: None))

    def undecided(late: Finding) -> MatrixDerivation:
        return MatrixDerivation(model, late)

    several = model.size != ("1", "1")
    decide = _general if several and model.measurements == "general" else _by_entries
    return stages("one entry", lambda: decide(model, timeout), undecided)


def _by_entries(model: MatrixMap, timeout: float | None) -> MatrixDerivation:
    """Derive the b_k, which decouple."""
    b = model.of_one_entry
    entry = derive(Parameterization([b], positive=model.lengths), timeout=timeout)
    if entry.verdict is not Verdict.PROVED:
        return MatrixDerivation(model, entry.potential.finding, entry)
    reason = "rows in the common bases decouple, and `q` of one is proved"
    finding = Finding(Verdict.PROVED, reason, entry.potential.finding.evidence)
    positive = {x for text in model.scaled.values() for x in text.split("*")}
    scaled = derive(Parameterization([b], start=model.scaled, positive=positive), timeout=timeout)
    limits = regimes(scaled, SCALE, [0]).limits if scaled.verdict is Verdict.PROVED else ()
    return MatrixDerivation(model, finding, entry, next(iter(limits), None), margins(entry))


def pair(n: int, m: int) -> Rows:
    """Return X_1 = diag(1, 2, 4, ...) and X_2 with 1 beside the diagonal, of n x m entries.

    >>> [[*map(int, x)] for x in pair(2, 2)], [[*map(int, x)] for x in pair(1, 2)]
    ([[1, 0, 0, 2], [0, 1, 0, 0]], [[1, 0], [0, 1]])
    """
    places = [(i, j) for i in range(n) for j in range(m)]
    beside = [(k, k + 1) for k in range(m - 1)] or [(1, 0)]
    diagonal = tuple(Fraction(2**i * (i == j)) for i, j in places)
    return diagonal, tuple(Fraction(at in beside) for at in places)


def _orbits(model: MatrixMap) -> Iterator[Orbit]:
    """Yield what is reached by measurements, given or in small blocks, from ever more columns."""
    sides = [int(x) if x.isdigit() else MOST for x in model.size]
    blocks = dict.fromkeys((min(k, sides[0]), min(k, sides[1])) for k in range(2, MOST + 1))
    columns = model.columns
    for size in [model.size_for(len(model.given[0]))] if model.given else blocks:
        rows = sum(x for x, _ in model.shapes_at(*size, 1).values())
        for width in (int(columns),) if columns.isdigit() else range(1, rows + 1):
            yield Orbit(model, size, model.given or pair(*size), width)


def _general(model: MatrixMap, timeout: float | None) -> MatrixDerivation:
    """Refute measurements without common bases by what they reach, or where they fix that."""
    if not model.terms:
        reason = "of three factors or more measurements with common bases are decided"
        return MatrixDerivation(model, Finding(Verdict.UNDECIDED, reason))
    fixed, orbit = list[Orbit](), None
    for at in _orbits(model):
        if at.dimension > len(at.X):
            orbit = at
            break
        fixed += [at] if at.dimension == len(at.X) else []
    for at in (x for x in fixed if orbit is None or x.size != orbit.size):
        entry = derive(at.measured, timeout=timeout)
        if entry.verdict is Verdict.REFUTED:
            reason = "the outputs `<X_i, F>` have no `Q`, whatever the warp"
            finding = Finding(Verdict.REFUTED, reason, entry.warping.finding.evidence)
            found = _reach(orbit) if orbit else finding
            return MatrixDerivation(model, found, entry, orbit=orbit, fixed=at)
    if orbit is not None:
        return MatrixDerivation(model, _reach(orbit), orbit=orbit)
    reason = "the `<X_i, F>` fix what they steer `beta` to: derive them as outputs"
    return MatrixDerivation(model, Finding(Verdict.UNDECIDED, reason))


def _reach(orbit: Orbit) -> Finding:
    """Return that measurements steer beta to more dimensions than they fix."""
    d, m = orbit.dimension, len(orbit.X)
    reason = f"`m = {m}` measurements steer `beta` to `{d}` dimensions"
    failure = _ranks("rank J Lie{Z_1, ..., Z_m} = m", d, m, orbit)
    return Finding(Verdict.REFUTED, reason, (failure,))


def _ranks(claim: str, left: int, right: int, orbit: Orbit) -> Identity:
    """Return an equation of ranks that fails at the start of an orbit."""
    return Identity(claim, str(left), str(right), orbit.start, Fraction(left - right))
