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

All measurements: of W W^T with W of rank n, K: A -> 2 (A beta + beta A) is a function of beta. Let
beta_0 be diagonal and B its block of the first two rows. With the other entries fixed, K maps
symmetric 2 x 2 blocks, and their complement, to themselves, so rho of the block is that of n = 2,
and Hess Q = g rho holds in the block where it holds in all: a refutation at n = 2, by a function of
B that is not 0, refutes every n >= 2. U V^T with U_0^T U_0 = V_0^T V_0 stays so, its K is
A -> sqrt(beta beta^T) A + A sqrt(beta^T beta), and in diagonal coordinates, where beta_0 >= 0, on
blocks B > 0 that is half of the K above: the same refutation. (Derived here.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from derive.clock import Stages
from derive.derivation import Derivation, derive
from derive.errors import InputError
from derive.limits.find import regimes
from derive.limits.limit import Limit
from derive.model.matrices import MatrixMap
from derive.model.parameterization import Parameterization
from derive.printable import Certified
from derive.separable.find import Margins, margins
from derive.separable.horizon import SOURCE
from derive.statement import Ground, Open, Statement
from derive.verdict import Decided, Finding, Verdict

SCALE = "alpha"


@dataclass(frozen=True, repr=False)
class MatrixDerivation(Decided, Certified):
    """What was derived of matrices of open size.

    Attributes:
        parameterization: F and its measurements.
        finding: is there a Q for all such measurements?
        entry: the derivation of one b_k, where these decouple.
        vanishing: what Q tends to from alpha W_1 as alpha -> 0.
        margins: what the b_k tend to on separable data.
        block: the derivation at n = 2 that refutes every n.
    """

    parameterization: MatrixMap
    finding: Finding
    entry: Derivation | None = None
    vanishing: Limit | None = None
    margins: Margins | None = None
    block: Derivation | None = None

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
            "general": "all `X_i`",
        }
        return said[p.measurements]

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
        # Each row has a start of its own: what depends on it would weigh the sum.
        parts = (x for x in (found.potential.Q, found.unit) if x is not None)
        used = {s.name for x in parts for s in x.free_symbols}
        return (
            l1
            and used <= {SCALE, "beta"}
            and len(self.parameterization.lengths) == self.entry.conserved.count + 1
        )

    @property
    def gives_nuclear_margin(self) -> bool:
        """Whether the direction of beta on separable data has the largest nuclear margin."""
        shape = None if self.margins is None else self.margins.shape
        return shape is not None and shape.norm == "l1" and not shape.weighted

    @property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed."""
        return tuple(self._statements())

    def _statements(self) -> Iterator[Statement | Open]:
        p = self.parameterization
        if self.verdict is Verdict.REFUTED:
            words = "no `Q(beta)` and no warp `g > 0` have `Hess Q = g rho`, of any such size"
            yield Statement(words, kind="mirror flow", conditions=(self.start,), by=self.finding)
            return
        if self.entry is None:
            yield Open("whether there is a `Q` is not decided", kind="mirror flow")
            return
        yield Statement(
            f"`<X_i, beta> = sum_k a_ik b_k` with `b_k = {self.b}`, and each `b_k` moves as one "
            "output by itself, from any start",
            kind="mirror flow",
            by=self.finding,
        )
        parts = ", ".join(f"`{of}`" for _, of in p.parts)
        words = f"the parts of the rows in {parts} keep their directions"
        yield Statement(words, kind="conserved", by=self.finding)
        if self.verdict is Verdict.PROVED:
            given = ("gradient flow on `|<X_i, F(w)> - y_i|^2` converges with `<X_i, beta> = y_i`",)
            words = (
                "its limit meets the KKT conditions of `min sum_k q(b_k)` subject to "
                "`<X_i, beta> = y_i`"
            )
            yield Statement(words, kind="minimiser", conditions=given, by=self.finding)
        if self.gives_nuclear_norm:
            start = ", ".join(f"`{x}_0 = alpha {x}_1`" for x in p.names)
            words = (
                f"from {start} with `alpha -> 0`, where {self.lengths_positive}, "
                "`q(b)/N -> |b|`, and every limit point of those limits has the least nuclear norm "
                f"among all {p.among} with `<X_i, beta> = y_i`"
            )
            yield Statement(words, kind="regime", by=self.finding)
        if self.gives_nuclear_margin:
            yield Statement(
                "every limit point of `beta(t)` over its nuclear norm has the largest "
                "`min_i <X_i, beta>` of all matrices of nuclear norm 1",
                kind="direction",
                ground=Ground.CITED,
                conditions=(
                    "the loss is convex and decreases like `exp(-u)`",
                    "the `X_i`, with their labels, are separable",
                    "the `b` of largest margin among those with `sum_k |b_k| = 1` is unique",
                    self.lengths_positive,
                ),
                by=SOURCE,
            )

    @property
    def lengths_positive(self) -> str:
        """That all parts of the rows are there."""
        return f"all {', '.join(f'`{x}`' for x in self.parameterization.lengths)} are above 0"

    @property
    def start(self) -> str:
        """Of which starts a refutation is shown."""
        p = self.parameterization
        if p.is_product:
            rank = p.size[0] if p.size[0] == p.size[1] else f"min({', '.join(p.size)})"
            given = " = ".join(f"{x}_0^T {x}_0" for x in p.names)
            return f"`{given}` has rank `{rank} >= 2`"
        whole = ", ".join(f"{x}_0" for x in p.names)
        whole = whole if len(p.names) == 1 else f"[{whole}]"
        return f"`{whole}` has rank `{p.size[0]} >= 2`"


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

    decide = _general if model.measurements == "general" else _by_entries
    return stages("one entry", lambda: decide(model, timeout), undecided)


def _by_entries(model: MatrixMap, timeout: float | None) -> MatrixDerivation:
    """Derive the b_k, which decouple."""
    b = model.of_one_entry
    entry = derive(Parameterization([b], positive=model.lengths), timeout=timeout)
    if entry.verdict is not Verdict.PROVED:
        return MatrixDerivation(model, entry.potential.finding, entry)
    reason = "rows in the common bases decouple, and `q` of one is proved"
    finding = Finding(Verdict.PROVED, reason, entry.potential.finding.evidence)
    start = {n: f"{SCALE}*{n}_1" for n in model.lengths}
    positive = [SCALE, *(f"{n}_1" for n in model.lengths)]
    scaled = derive(Parameterization([b], start=start, positive=positive), timeout=timeout)
    limits = regimes(scaled, SCALE, [0]).limits if scaled.verdict is Verdict.PROVED else ()
    vanishing = next(iter(limits), None)
    return MatrixDerivation(model, finding, entry, vanishing, margins(entry))


def _general(model: MatrixMap, timeout: float | None) -> MatrixDerivation:
    """Refute all measurements at once by the block of two rows."""
    if not (model.is_semidefinite or model.is_product):
        reason = "of all measurements `W*T(W)` and `U*T(V)` are decided"
        return MatrixDerivation(model, Finding(Verdict.UNDECIDED, reason))
    block = derive(Parameterization.parse(["W*T(W)"], arrays={"W": (2, 2)}), timeout=timeout)
    if block.verdict is not Verdict.REFUTED:
        reason = "at `n = 2` neither a `Q` nor its absence was proved"
        return MatrixDerivation(model, Finding(Verdict.UNDECIDED, reason))
    reason = "`K` maps symmetric blocks of two rows to themselves, and at `n = 2` there is none"
    finding = Finding(Verdict.REFUTED, reason, block.warping.finding.evidence)
    return MatrixDerivation(model, finding, block=block)
