"""Matrices of open size told: what measurements see of them, and what that minimises."""

from __future__ import annotations

from collections.abc import Iterator

from derive.matrices import MatrixDerivation
from derive.outcome import HEADLINES
from derive.render.narration import Narration, Part
from derive.statement import Equations, Text, each, note, tell
from derive.verdict import Verdict

ARGUMENT = (
    "with `<X_i, F> = sum_k a_ik b_k` the rows `k` in the bases obey `w_k' = 2 lambda_k M w_k`, "
    "with the symmetric `M` of the quadratic form `b_k`, and in its eigenspaces only lengths move",
    "where `beta` interpolates `O diag(b) H^T` does too, and `sum_k |b_k|` is at most the nuclear "
    "norm of `beta`, and all of that in the limit",
)
BLOCK = (
    "where `beta_0` is diagonal, by orthonormal bases, `K` maps symmetric blocks of the first two "
    "rows to themselves, and their complement likewise",
    "so `rho` of the block is that of `n = 2`, where a function of `beta` that is not 0 refutes it",
)
PRODUCT = (
    "from such starts `K: Z -> sqrt(beta beta^T) Z + Z sqrt(beta^T beta)`, on symmetric blocks "
    "`S > 0` half of `Z -> 2 (Z S + S Z)`, which is that of `beta = W W^T`"
)


def tell_matrices(d: MatrixDerivation) -> Narration:
    """Return what is said of matrices of open size."""
    parts = (
        Part(tell(_headline(d))),
        Part("Parameterization `beta = F(w)`, of every size", _map(d)),
        Part("Mirror flow of `F`", _statements(d, "mirror flow", "conserved"), verdict=d.verdict),
        Part("One entry `b_k` in the weights", _entry(d)),
        Part("Implicit regularizer `Q = sum_k q(b_k)`", _regularizer(d)),
        Part("Vanishing starts", _statements(d, "regime")),
        Part("Why", _why(d), kind="proof"),
    )
    return Narration(parts)


def _headline(d: MatrixDerivation) -> str:
    if d.verdict is Verdict.PROVED:
        return f"{HEADLINES[d.verdict]}, of every size, for such measurements; `Q` is below."
    if d.verdict is Verdict.REFUTED:
        return f"{HEADLINES[d.verdict]}, for every size."
    return f"{HEADLINES[d.verdict]}."


def _map(d: MatrixDerivation) -> Iterator[object]:
    p = d.parameterization
    yield note(f"`beta = {p.formula}`")
    for name, (rows, columns) in p.shapes:
        yield note(f"`{name}` has `{rows}` rows and `{columns}` columns")
    yield note("`X_i` are the measurements, `y_i = <X_i, beta>`")
    yield note(f"measurements: {d.hypothesis}")


def _statements(d: MatrixDerivation, *kinds: str) -> Iterator[object]:
    yield from (x for x in d.statements if x.kind in kinds)
    if "mirror flow" in kinds and d.verdict is not Verdict.PROVED:
        yield d.finding


def _entry(d: MatrixDerivation) -> Iterator[object]:
    if d.entry is None:
        return
    (F,) = d.entry.parameterization.texts
    yield note("`b_k = {F}`", F=Text(F))
    p = d.parameterization
    for name, of in p.parts:
        yield note(f"`{name} = {of}`")
    most = p.size[0] if p.size[0] == p.size[1] else f"min({', '.join(p.size)})"
    for x in p.names:
        basis = "H^T" if x in p.rights and not p.is_square else "O^T"
        yield note(f"`{x.lower()}_k` is row `k` of `{basis} {x}`, for `k = 1, ..., {most}`")
    if d.entry.conserved.laws:
        yield Equations(tuple(("c_k", law) for law in d.entry.conserved.laws))


def _regularizer(d: MatrixDerivation) -> Iterator[object]:
    if d.entry is None or d.entry.potential.Q is None:
        return
    (b,) = d.entry.beta
    yield Equations(((f"q({b})", d.entry.potential.Q),))
    starts = each("`{0}`", ((Text(x),) for x in d.entry.parameterization.start_symbols))
    yield note("{starts}: at the start, for each `k` of its own", starts=starts)
    yield from _statements(d, "minimiser")
    assumed = [c for piece in d.entry.potential.pieces for c in piece.assumptions]
    for c in assumed:
        yield note("assuming {c}", c=c)


def _why(d: MatrixDerivation) -> Iterator[object]:
    if d.block is not None:
        if d.parameterization.is_product:
            yield note(PRODUCT)
        yield from map(note, BLOCK)
        failing = (e for e in d.finding.evidence if not e.holds)
        yield note("at `n = 2`, of `W W^T`:")
        yield from failing
        return
    if d.entry is not None:
        yield note(ARGUMENT[0])
        if d.gives_nuclear_norm:
            yield note(ARGUMENT[1])
        (F,) = d.entry.parameterization.texts
        yield note("`q` is that of the one output `{F}`, from any start", F=Text(F))
