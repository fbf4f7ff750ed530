"""What a derivation claims of F: whether Q exists, what the flow keeps, Q, and what Q is for.

Each statement holds for the start that was given, under what ``potential`` assumes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sympy import Expr

from derive.derivation import Derivation
from derive.model.condition import Condition
from derive.outcome import headline
from derive.statement import Equations, OnPage, Open, Sentence, Statement, Text, each, note
from derive.verdict import Verdict


def statements(d: Derivation) -> Iterator[Statement | Open]:
    """Yield what is claimed, from existence to use."""
    yield _existence(d)
    yield from _conserved(d)
    if d.metric.kernel is not None:
        yield Statement("on the leaf `K = {K}`", {"K": d.metric.kernel}, kind="kernel")
    if d.warping.g is not None and any(b.potential.dual for b in d.blocks):
        words = "`<grad y_i, grad F_j> = g delta_ij`"
        yield Statement(words, kind="dual", by=d.warping.finding)
    if d.verdict is Verdict.PROVED and d.potential.pieces:
        yield from _potential(d)


def _existence(d: Derivation) -> Statement | Open:
    """Yes: a mirror flow, warped or not. No: for no Q and no clock."""
    _, _, words = headline(d.verdict, d.parameterization).partition(": ")
    if d.verdict is Verdict.UNDECIDED:
        return Open(words, kind="mirror flow")
    if d.verdict is Verdict.PROVED and d.hessian.verdict is not Verdict.PROVED:
        words += ", in a warped time"
    return Statement(words, kind="mirror flow", by=d.warping.finding)


def _conserved(d: Derivation) -> Iterator[Statement]:
    laws = d.conserved.laws
    if laws or d.conserved.verdict is Verdict.PROVED:
        complete = d.conserved.verdict is Verdict.PROVED
        all_of = ", and near almost all weights what else it keeps is a function of these"
        words = f"the flow keeps the functions below{all_of * complete}"
        rows = tuple((f"c_{i}", law) for i, law in enumerate(laws, 1))
        yield Statement(words, kind="conserved", by=d.conserved.finding, below=(Equations(rows),))


def _potential(d: Derivation) -> Iterator[Statement]:
    """Yield Q with its domain, and what it is for: regression, decreasing losses, decay."""
    pieces, by = d.potential.pieces, d.potential.finding
    words = f"then along the flow `grad Q(beta(t)) = int_0^t {warp_factor(d)}lambda ds`"
    above = (*introduction(d),)
    yield Statement(words, kind="regularizer", conditions=assumed(d), by=by, above=above)
    for domain in (piece.domain for piece in pieces if piece.domain is not None):
        where = {"where": Text(domain.where, "reason")}
        words = "`Q` is defined on {where}"
        yield Statement(words, where, kind="domain", conditions=assumed(d), by=by)
    yield from uses(d)


def warp_factor(d: Derivation) -> str:
    """Return the warp as a factor, where there is one."""
    return "" if d.hessian.verdict is Verdict.PROVED else "g "


def assumed(d: Derivation) -> tuple[Condition, ...]:
    """Return what Q assumes of the start and of the flow."""
    return tuple(dict.fromkeys(a for p in d.potential.pieces for a in p.assumptions))


def introduction(d: Derivation) -> Iterator[object]:
    """Yield Q, and where it is: what stands before a sentence about it."""
    yield d.potential
    domains = (p.domain for p in d.potential.pieces if p.domain is not None)
    if places := dict.fromkeys(domain.where for domain in domains):
        where = each("{0}", ((Text(x, "reason"),) for x in places), " and ")
        yield OnPage((note("`Q` is defined on {where}", where=where),))


def graded(lam: Mapping[Expr, Expr]) -> Statement:
    """Return the scaling of the weights under which F has degree 1, weight by weight."""
    words = "`F(c^Lambda w) = c F(w)`, where `Lambda` is diagonal with entries {entries}"
    return Statement(words, {"entries": entries_of(lam), "lam": lam}, kind="graded")


def entries_of(lam: Mapping[Expr, Expr]) -> Sentence:
    """Return the entries of Lambda, each with its weights."""
    values = sorted({*lam.values()}, reverse=True)
    own = ((x, each("`{0}`", ((w,) for w in lam if lam[w] == x))) for x in values)
    return each("`{0}` for {1}", own, "; ")


def uses(d: Derivation) -> Iterator[Statement]:
    """Yield what Q is for: regression, decreasing losses, decay; proved from Hess Q = g rho."""
    if not d.parameterization.geometry.steering.is_gradient:
        yield from _steepest(d)
        return
    Q = "sum_i Q(beta_i)" if d.of_coordinates else "Q"
    yield _minimiser(d, Q)
    yield Statement(EVERY_TIME.format(Q), kind="every time")
    p = (d.direction or d).parameterization
    if p.homogeneity is not None and not p.rates:
        yield Statement(SHRUNK.format(Q), kind="shrunk start", conditions=(FINITE,))
    if d.direction is not None:
        yield from _activated(d.direction.vector)


def _activated(u: str) -> Iterator[Statement]:
    """Say what a ReLU, leaky or not, on <u, x_i> changes: what steers, and at times the limit."""
    for kind, (when, words, why) in ACTIVATED.items():
        conditions, below = ("`phi > 0`", when.format(u)), (note(why.format(u)),)
        yield Statement(words.format(u), kind=kind, conditions=conditions, below=below)


def _steepest(d: Derivation) -> Iterator[Statement]:
    """Yield what Q is for where phi(-X^T r) steers, which leaves the row space of X.

    Of one row l = sigma(t) x. So dQ/dbeta_j = phi(x_j) int phi(sigma), and the inverse of phi takes
    that to the row space: KKT conditions of the sum of the P_j, which are convex. For phi = sign
    dQ/dbeta_j = sign(x_j) T: if all |dQ/dbeta_j| were less, so would be |<x, beta - beta_0>|.
    """
    steering, b = d.parameterization.geometry.steering, "beta_j"
    slope, least = f"dQ/d{b}", "`max_j |dQ/dbeta_j|`"
    if steering.norm:
        power = f"sign({slope}) |{slope}|^{steering.inverse}"
        least = f"`sum_j P_j(beta_j)`, `P_j' = {power}`,"
    own = ", `Q` at `beta_j` that of copy `j`" if d.of_coordinates else ""
    yield Statement(
        f"for every loss of `<x, beta>`, at every time `t`, `beta(t)` minimises {least} subject to"
        f" `<x, beta> = <x, beta(t)>` on the domain{own}",
        kind="one row",
        conditions=("`X` has one row `x`",),
        below=(note("of more rows `phi(-X^T r)` is in general not in the row space of `X`"),),
    )
    if not steering.norm:
        words = f"`|{slope}| <= t` at time `t`, whatever `X` is: a box that contains `beta(t)`"
        yield Statement(words, kind="box", conditions=("`w' = sign(-J^T X^T r)`, in this unit",))


def _minimiser(d: Derivation, Q: str) -> Statement:
    """Say what a limit on data is: where the domain is known to be convex, of all of it."""
    domains = [p.domain for p in d.potential.pieces if p.domain is not None]
    convex = all(x.exact or (len(x.betas) == 1 and x.convex != "length") for x in domains)
    over = "the domain" if domains and convex else EVERY_CONVEX
    return Statement(
        f"its limit meets the KKT conditions of `min {Q}` subject to `X beta = y`; as `Hess Q ="
        f" {warp_factor(d)}rho` is positive definite, it is the unique minimiser on {over}",
        kind="minimiser",
        conditions=("gradient flow on `|X F(w) - y|^2` converges with `X beta = y`",),
    )


ACTIVATED = {
    "activation": (
        "`0 <= c < 1`, with all `y_i > 0` where `c = 0`",
        "a limit of the ReLU network `phi sigma(<{0}, x_i>) = sigma(<beta, x_i>)`, `sigma(t) ="
        " max(t, c t)`, that fits `y` meets the KKT conditions of `min Q` subject to `<x_i, beta> ="
        " sigma^-1(y_i)`, whichever `<{0}, x_i>` change sign on the way",
        "`sum_i r_i sigma'(<{0}, x_i>) x_i` steers, as `sigma'(t) t = sigma(t)`",
    ),
    "idle data": (
        "`c = 0` with some `y_i = 0`",
        "loss weights and orders of batches move limits that fit, on some data: `<x_i, beta> < 0`"
        " fits, and has steered while it was above 0; no `Q(beta)` has each as its only minimiser",
        "as of `y_1 = 0 < y_2` and `<x_1, x_2> < 0 < <{0}_0, x_1>`: row 1 first leaves"
        " `<beta, x_1> = 0`, then row 2 less than that, with a multiplier of row 1; a large row 2"
        " alone may do the same without",
    ),
    "active unit": (
        "`<{0}_0, x_i> > 0` for all `i`",
        "the unit stays active on all `x_i`, `sigma(t) = t` there, under losses that decrease with"
        " the outputs if `<x_i, x_j> >= 0` for all `i, j`, and under `|.|^2` if the `x_i` are"
        " orthogonal and all `y_i > 0`; on other data `<{0}, x_i>` may reach 0",
        "where `<{0}, x_j> = 0` its derivative is `phi sum_i r_i sigma'(<{0}, x_i>) <x_i, x_j>`,"
        " up to a positive factor",
    ),
}
"""Of a ReLU: when, what, and why."""
EVERY_CONVEX = "every convex subset of the domain that contains it"
EVERY_TIME = (
    "for every decreasing loss of the margins, such as the logistic loss, with the labels in the"
    " rows `x_i` of `X`, `beta(t)` minimises `{}` at every time `t` subject to"
    " `<x_i, beta> >= <x_i, beta(t)>` for all `i`, over every convex subset of the domain that"
    " contains it: the gradient there is `X^T s` with `s >= 0`"
)
SHRUNK = (
    "weight decay `-k(t) w` beside the gradient shrinks the start and does nothing else, as `F` is"
    " homogeneous: a limit with `X beta = y` minimises `{}` of the start `exp(-kappa) w_0`"
)
FINITE = "`kappa = int k dt` is finite"
