"""Limits of Q as a start symbol tends to 0, to infinity, or to a number: grad Q = N (G + o(1)).

A record of regimes has the record of a derivation, and a proof for each limit, or null:

"covariance": F(c w) = c^D F(w), and the fields alike, and w_0 = s^m w_1 with s^(m D) -> oo. From
    c w_1 the flow runs on c times the leaf of w_1, where K is c^(2D-2) times that there, and g a
    multiple. So at fixed x = beta - beta_0, grad Q = g(w_0) K(w_0)^-1 x (1 + O(s^(-m D))), and one
    order better where the slopes of K and g vanish at w_0. What is checked is K G N = g x at w_0.
"expansion": for each choice of signs of the coordinates that Q is a sum over, (dQ/dx_i)/N -> G_i
    by expansions of all calls in e, where s = e, 1/e, v - e, v + e, log(1/e)/rate or its inverse;
    see :mod:`.near`. The error is the order of (dQ/dx_i)/N - G_i.

Q/N is convex, and as its gradient converges, it does, to the Q that has the gradient G.
"""

from __future__ import annotations

from flint import fmpq

from derive.certificate.checking.further.expansion import (
    POINT,
    Tending,
    beyond,
    expanded,
    one_sided,
)
from derive.certificate.checking.further.setting import Setting
from derive.certificate.checking.shape import keyed, summed_up
from derive.certificate.checking.signs import Conditions
from derive.certificate.checking.text import JSON, PROVED, UNDECIDED, Rejected, rational, require
from derive.certificate.checking.theorem import Checker

SAMPLES = ("3", "7", "19", "37", "61", "89")


def accept(setting: Setting, said: JSON, proof: JSON) -> None:
    """Accept a limit."""
    keyed(said, "limit")
    x = said["coordinates"]
    plain = [said[key] for key in ("verdict", "given", "steep", "curve")] == [PROVED, [], [], None]
    sizes = {len(said[key]) for key in ("origin", "basis") if said[key] is not None}
    plain = plain and isinstance(said["error_is_sharp"], bool) and sizes <= {len(x)}
    require(plain, "a limit of this kind is not checked")
    by_scale = "exponent" in proof
    keyed(proof, "covariance" if by_scale else "expansion")
    lines = (covariance if by_scale else expanded)(setting, said, proof)
    Q = said["Q"]
    above = " and ".join(f"{n} > 0" for n in one_sided(said))
    where, G = f" where {above}" * bool(above), zip(x, said["gradient"], strict=True)
    moved = {k: said[k] for k in ("coordinates", "origin", "basis") if said[k] is not None}
    setting.shown += [f"{said['limit']}, {said['regime']} regime, N = {said['unit']}:"]
    setting.shown += [f"Q/N -> {Q}{where}"] * (Q is not None)
    setting.shown += [f"dQ/d{n} = N ({g} + o(1)){where}" for n, g in G if Q is None]
    if Q is None and any(beyond(said).values()):
        setting.open.append(f"the gradient below 0 of the limit {said['limit']}")
    setting.shown += [", ".join(f"{k}: {v}" for k, v in moved.items())] * (len(moved) > 1)
    setting.shown += lines


def covariance(setting: Setting, said: JSON, proof: JSON) -> list[str]:
    """Accept the limit at fixed beta - beta_0 of a homogeneous F."""
    state, base, m = setting.state, setting.space, rational(proof["exponent"])
    record, order = setting.record, int(proof["order"])
    _scales(setting, m, {"infinity": 1, "0+": -1}.get(said["limit"].split(" -> ")[1], 0))
    spread = [said["origin"] or ["0"] * len(setting.given["beta"]), said["basis"]]
    same = spread == [record["beta_0"], None] and not said["reached_above_0_only"]
    same = same and said["gradient_below_0"] is None
    require(same, "x is another than beta - beta_0")
    at = dict(zip(said["coordinates"], SAMPLES, strict=False))
    space = setting.near(said, {**proof, "at": at})
    for entry in proof["definitions"]:
        space.define(entry)
    found, K = Tending(said, space, []), [[space.read(t) for t in row] for row in setting.kernel]
    g = space.read(base.written(base.at_start(state.printed_warp())))
    space.positive(g, "the warp at the start")
    for row, x in zip(K, found.x, strict=True):
        same = (space.dot(row, found.G) * found.N).same(g * x)
        require(same, "N K G is another than g x at the start")
    named = [said["shape"], said["regime"], said["degree"]]
    require(named == ["quadratic", "kernel", "2"], "the limit has another name")
    slopes = [state.flow.along(x, k) for x in state.flow.X for row in state.flow.K for k in row]
    flat = (base.at_start(f).is_zero() for f in [*slopes, *state.flow.H])
    require(order == 1 or (order == 2 and all(flat)), "the error is of another order")
    require(said["error_is_sharp"] is False, "the error is not shown to be sharp")
    power = f"({record['variable']})**(({record['homogeneity']['degree']})*({-m * order}))"
    require(space.read(said["relative_error"]).same(space.read(power)), "another error")
    error = f"relative error: at most of order {said['relative_error']}"
    return [*setting.holds([], space), error]


def _scales(setting: Setting, m: fmpq, toward: int) -> None:
    """Require that F and the fields are homogeneous, w_0 = s^m w_1, and s^(m D) -> oo."""
    space, state, D = setting.space, setting.state, setting.degree
    open_ends = {"the warp", "the Hessian map"} & {*state.open} or not setting.kernel
    has_Q = setting.record["derivation"]["warping"]["verdict"] == PROVED and not open_ends
    if D is None or not has_Q:
        raise Rejected("there is no homogeneous F with a Q that is certified")
    fields = [x[k] for x in state.flow.X for k in state.free]
    require(space.is_homogeneous(fields, D - 1, state.free), "the fields do not scale")
    grows = Conditions(space).sign_of(D * (m * toward)) > 0
    require(grows, "s^(m D) does not tend to infinity")
    k = space.given.index(setting.record["variable"])
    hidden = any(f.uses(k) for g in space.generators for f in (g.argument, g.exponent))
    s, w0 = space.symbols[k], [space.w0[j] for j in state.free]
    same = all((s * w.partial(k)).same(m * w) for w in w0)
    require(same and not hidden, "the start is not scaled as a whole")


def regimes(record: JSON, state: Checker) -> tuple[str, list[str], list[str]]:
    """Return what is proved of limits, and what is not certified, after its derivation."""
    whole, verdicts, proofs = Setting(record, state), set[str](), record["certificate"]["limits"]
    for said, proof in zip(record["limits"], proofs, strict=True):
        verdicts.add(said["verdict"])
        point = POINT.fullmatch(said["limit"])
        require(point and point[1] == record["variable"], "the limit is of another symbol")
        if proof is None:
            whole.open.append(f"the limit {said['limit']}")
        else:
            accept(whole, said, proof)
    summed_up(record["verdict"], verdicts)
    unchecked = {"decided_by_kernel_at_start": "that K(w_0) decides"}
    unchecked |= {"warped_time": "the warped time"}
    whole.open += [text for key, text in unchecked.items() if record[key] is not None]
    partly = f"{PROVED} in part" if any(proofs) else UNDECIDED
    return partly if None in proofs else record["verdict"], whole.shown, whole.open
