"""Maps of open size told: what holds for every n in generic entries, with sums as symbols.

And matrices of open size: what measurements see of them, and what that minimises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sympy import Symbol

from derive.claims import FINITE
from derive.entrywise import EntrywiseDerivation
from derive.language import to_text
from derive.matrices import MatrixDerivation
from derive.outcome import HEADLINES
from derive.render.accounts import proofs
from derive.render.document import Document, Part
from derive.statement import Equations, Statement, Text, each, note, tell
from derive.verdict import Finding, Verdict

SHRUNK = (
    "weight decay `-k(t) w` beside the gradient shrinks the start and does nothing else, as `F` is "
    "homogeneous: a limit with `X beta = y` meets the KKT conditions for `Q` of `exp(-kappa) w_0`"
)
NAMED = str.maketrans("123", "ijk")
"""The three outputs that stand for all."""


def tell_entrywise(d: EntrywiseDerivation) -> Document:
    """Return what is said of a map of open size."""
    hessian = _finding(d.hessian.finding) if d.verdict is Verdict.PROVED else ()
    named = [] if d.y is None else [("g", d.warping.g), ("y_i", d.y)]
    named += [] if d.drift is None else [("H_i", d.drift)]
    warp = (*_finding(d.finding), *([Equations(tuple(named))] if named else []))
    parts = (
        Part(tell(_headline(d), n=Text(d.parameterization.size))),
        Part("Parameterization `beta = F(w)`, for every `n`", _map(d)),
        Part(*_laws(d)),
        Part("Tangent kernel `K = J J^T`, for `i != j`", (Equations(d.kernel),)),
        Part("Hessian map (`d_k rho_ij = d_i rho_kj`)?", hessian, verdict=d.hessian.verdict),
        Part("Warp `g` with `g rho` a Hessian map?", warp, verdict=d.verdict),
        Part("Implicit regularizer `Q`", _regularizer(d), verdict=d.verdict),
        Part("Proved in generic entries, with sums as symbols", _evidence(d), kind="proof"),
    )
    return Document(parts, d.parameterization.taken)


def _headline(d: EntrywiseDerivation) -> str:
    head, every = HEADLINES[d.verdict], f", for every `{{n}} >= {d.size}`{_but(d)}"
    if d.verdict is Verdict.UNDECIDED:
        return f"{head}."
    if d.verdict is Verdict.REFUTED:
        return f"{head}{every}, from almost every start."
    warped = "" if d.hessian.verdict is Verdict.PROVED else ", in a warped time"
    where = "`Q` exists, without a formula of every `n`" if d.potential is None else "`Q` is below"
    return f"{head}{warped}{every}; {where}."


def _map(d: EntrywiseDerivation) -> Iterator[object]:
    p = d.parameterization
    at = d.notation
    yield Equations(((at.shown(at.beta), at.shown(at.F)),))
    most = f"`{p.entry('1')}, ..., {p.entry(p.size)}`"
    yield note(f"`i = 1, ..., {d.outputs}`, and sums are over {most}")
    for name, rate in p.rates:
        yield note("the learning rate of `{w}` is `{r}`", w=Text(name), r=Text(to_text(rate)))
    if d.left_out:
        yield note("the sum of all outputs is constant: `{b}` is left out", b=at.shown(at.last))
    free = each("`{0}`", ((Symbol(x),) for x in (p.indexed, *p.scalars)))
    yield note("the start of {free} is free", free=free)


def _laws(d: EntrywiseDerivation) -> tuple[str, tuple[object, ...]]:
    if d.potential is None:
        return "", ()
    if not d.conserved.laws:
        return "Conserved quantities: none, the flow reaches every direction", ()
    rows = Equations(tuple((f"c_{k}", law) for k, law in enumerate(d.conserved.laws, 1)))
    words = "the flow keeps the functions below"
    by = d.finding
    return "Conserved quantities (all of them)", (
        Statement(words, kind="conserved", by=by, below=(rows,)),
    )


def _finding(finding: Finding) -> Iterator[object]:
    """Yield a finding, and identities of outputs 1, 2, 3 that fail as ones of i, j, k."""
    yield finding
    for e in (e for e in finding.evidence if not e.holds):
        lettered = re.sub(
            r"\b([FKHX])([123]+)\b", lambda m: f"{m[1]}_{m[2].translate(NAMED)}", e.claim
        )
        yield replace(e, claim=lettered)


def _regularizer(d: EntrywiseDerivation) -> Iterator[object]:
    if d.drift is not None:
        yield from _existence(d)
    if (found := d.potential) is None:
        return
    at = d.notation
    yield Equations(found.written)
    if found.follows:
        follows = each("`{0}`", ((at.shown(x),) for x in found.follows))
        yield note("where {these} are those of the flow", these=follows)
    if found.last is not None:
        yield note(
            "where `dQ/d{b} = 0` gives `{b}`, as its dual coordinate is kept", b=at.shown(at.last)
        )
    words = "`{y0}` is `y_i` at the start; up to a positive factor and a constant"
    yield note(words, y0=at.shown(at.y0))
    positive = () if at.is_positive(found.g) else (tell("`g > 0` along the flow"),)
    if asked := (*d.conditions, *positive):
        yield note("assuming {all}", all=each("{0}", ((x,) for x in asked), "; "))
    yield from _uses(d)


def _existence(d: EntrywiseDerivation) -> Iterator[object]:
    """Yield what Q is where its gradient is known along the flow alone."""
    words = (
        "around every start at which the outputs are independent there is a `Q` with "
        "`Hess Q = g K^-1` on the leaf, which has as many dimensions as there are outputs"
    )
    yield Statement(words, kind="mirror flow", by=d.finding)
    yield note(
        "along the flow `(grad Q)' = g lambda` and `(log g)' = sum_i H_i lambda_i`, with "
        "`lambda = X^T (y - X beta)`"
    )
    yield from _uses(d, "the outputs are independent along the flow and at its limit")


def _uses(d: EntrywiseDerivation, *conditions: str) -> Iterator[Statement]:
    """Yield what Q is for."""
    sizes = f"for every `n >= 2`{_but(d)}"
    words = f"its limit meets the KKT conditions of `min Q` subject to `X beta = y`, {sizes}"
    given = ("gradient flow on `|X F(w) - y|^2` converges with `X beta = y`", *conditions)
    yield Statement(words, kind="minimiser", conditions=given)
    if d.entries.homogeneous:
        yield Statement(SHRUNK, kind="shrunk start", conditions=(FINITE, *conditions))


def _but(d: EntrywiseDerivation) -> str:
    """Return the sizes at which nothing is said of Q."""
    left = d.excluded_sizes
    return f" but {', '.join(map(str, left))}" if left else ""


def _evidence(d: EntrywiseDerivation) -> Iterator[object]:
    """Yield what the dual coordinates are made of, and what was expanded, divided by E."""
    if d.argument:
        words = "`dy_i = {E} (dh(v_i) + k(v_i) dtau)` with `d{E} = mu {E} dtau` and, in `{v}`,"
        yield note(words, v=Text(d.parameterization.indexed), E=Symbol("E"))
        yield Equations(d.argument)
        if d.dual is not None and not d.dual.b.is_zero():
            words = "and `y_i - b/(1 + {n} b) sum_k y_k` of `a + s (x_i + b sum_k x_k)`, `s = +-1`"
            yield note(words, n=Text(d.parameterization.size))
    yield from (
        x for e in d.finding.evidence if e.holds for x in (Finding(d.verdict, f"`{e.claim}`"), e)
    )


LEAST = (
    "where `beta` interpolates `O diag(b) H^T` does too, and `sum_k |b_k|` is at most the nuclear "
    "norm of `beta`, and all of that in the limit"
)


def tell_matrices(d: MatrixDerivation) -> Document:
    """Return what is said of matrices of open size."""
    of = "" if d.parameterization.given else ", of every size"
    flow = _statements(d, "mirror flow", "data order", "conserved")
    parts = (
        Part(tell(_head_of_matrices(d))),
        Part(f"Parameterization `beta = F(w)`{of}", _map_of_matrices(d)),
        Part("Mirror flow of `F`", flow, verdict=d.verdict),
        Part("Is `K` a function of `beta`?", _statements(d, "closed kernel")),
        Part("One entry `b_k` in the weights", _entry(d)),
        Part("Implicit regularizer `Q = sum_k q(b_k)`", _sum_of_entries(d)),
        Part("Vanishing starts", _statements(d, "regime")),
        Part("A ReLU", _statements(d, "active unit")),
        Part("Separable data", _statements(d, "direction", "direction on half-lines")),
        Part("Why", _why(d), kind="proof"),
    )
    return Document(parts)


def _head_of_matrices(d: MatrixDerivation) -> str:
    """Return the headline, with the sizes from which on there is no Q."""
    head, given = HEADLINES[d.verdict], d.parameterization.given
    if d.verdict is Verdict.PROVED:
        of = "for these" if given else "of every size, for such"
        return f"{head}, {of} measurements; `Q` is below."
    if d.verdict is Verdict.REFUTED and given:
        return "No: no `Q` for these measurements."
    block = (d.fixed or d.orbit) if d.verdict is Verdict.REFUTED else None
    least = zip(d.parameterization.size, block.size if block else (), strict=False)
    open_ = dict.fromkeys(f"`{x} >= {k}`" for x, k in least if not x.isdigit())
    return f"{head}, for every {', '.join(open_)}." if open_ else f"{head}."


def _map_of_matrices(d: MatrixDerivation) -> Iterator[object]:
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
    if d.entry is None or d.fixed is not None:
        return
    (F,) = d.entry.parameterization.texts
    yield note("`b_k = {F}`", F=Text(F))
    p = d.parameterization
    for name, of in p.parts:
        yield note(f"`{name} = {of}`")
    yield from map(note, p.rows)
    if d.entry.conserved.laws:
        yield Equations(tuple(("c_k", law) for law in d.entry.conserved.laws))


def _sum_of_entries(d: MatrixDerivation) -> Iterator[object]:
    if d.entry is None or d.fixed is not None or d.entry.potential.Q is None:
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
    yield from proofs(d.statements)
    if d.orbit is not None:
        yield from d.finding.evidence
    if d.entry is not None and d.fixed is None:
        yield note(d.parameterization.argument)
        if d.gives_nuclear_norm:
            yield note(LEAST)
        (F,) = d.entry.parameterization.texts
        yield note("`q` is that of the one output `{F}`, from any start", F=Text(F))
