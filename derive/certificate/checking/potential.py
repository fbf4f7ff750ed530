"""K, rho, dual coordinates and Q of a record, checked one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from derive.certificate.checking.assumed import assume, constant_divisors, is_kept, stated
from derive.certificate.checking.domain import domain, ends
from derive.certificate.checking.function import Function
from derive.certificate.checking.printed import Printed
from derive.certificate.checking.signs import Conditions, factors
from derive.certificate.checking.text import JSON, Missing, names_in, require
from derive.certificate.checking.theorem import Checker, dot


def metric(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept K in weights and in beta, times the factor of ties, and rho = K^-1."""
    flow, space = state.flow, state.space
    K = [[state.factor * k for k in row] for row in flow.K]
    if flow.turning is not None:
        K = [[flow.turning.phi**2, flow.zero], [flow.zero, K[0][0]]]
        require([said["T"], said["R"]] == _diagonal(said["kernel"]), "T and R are other than in K")
    in_weights, in_beta = said["kernel_in_weights"], [said["kernel"], said["rho"]]
    state.require_plain([text for row in in_weights for text in row])
    printed = Printed(space, state.given["beta"], flow.F, said, proof)
    printed.leaf.take(state.conditions, {*space.given})
    printed.branches()
    _is_table(state, in_weights, K, "the printed K")
    state.theorem.append(f"K = {_matrix(in_weights)} in the weights")
    known = {n: table for n, table in zip(("K", "rho"), in_beta, strict=True) if table is not None}
    texts = [text for table in known.values() for row in table for text in row]
    require(names_in(texts) <= printed.known, "a name in K or rho is not fixed by beta")
    if "K" in known:
        _is_table(state, known["K"], K, "the printed K")
    if "rho" in known:
        _is_inverse(state, known["rho"], K)
    state.theorem += [f"{n} = {_matrix(table)}" for n, table in known.items()]
    assume(state, printed.leaf)


def _is_inverse(state: Checker, texts: JSON, K: list[list[Function]]) -> None:
    """Require that rho K = 1."""
    space, columns = state.space, list(zip(*K, strict=True))
    rho = [[space.read(text) for text in row] for row in texts]
    one = [[space.number(i == j) for j in range(len(K))] for i in range(len(K))]
    state.equal([[dot(row, c, state.flow.zero) for c in columns] for row in rho], one, "rho K")


def _is_table(state: Checker, texts: JSON, table: list[list[Function]], what: str) -> None:
    """Require that a matrix is printed."""
    state.equal([[state.space.read(text) for text in row] for row in texts], table, what)


def _matrix(table: JSON) -> str:
    return f"[{'; '.join(', '.join(row) for row in table)}]"


def _diagonal(kernel: JSON) -> list[JSON]:
    return [None, None] if kernel is None else [kernel[0][0], kernel[1][1]]


def dual(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept y and its conjugate R in the weights: X_a y_b = g delta_ab, X_a R = g F_a."""
    (block, said), flow, space = said, state.flow, state.space
    at = [flow.position(a) for a in block]
    for entry in proof["definitions"]:
        space.define(entry)
    if flow.turning is not None:
        log, psi = (
            _logs(state, said["log_psi"]),
            state.printed_warp() * flow.turning.n / flow.turning.phi,
        )
        slope = flow.along(flow.X[0], psi) / psi
        require((flow.along(flow.X[0], log) - slope).is_zero(), "log psi has another derivative")
        return
    y = [_logs(state, f) for f in said["y"]]
    g, ratio = mirror(state, at, y)
    require((ratio * state.factor - space.number(1)).is_zero(), "y is in another unit than g")
    state.theorem += [f"y{a + 1} = {_written(f)}" for a, f in zip(at, said["y"], strict=True)]
    if said["conjugate"] is not None:
        state.theorem.append(
            f"R = {_written(said['conjugate'])}, sum_b y_b beta_b - Q up to a constant"
        )
        slopes = [g * f if a in at else flow.zero for a, f in enumerate(flow.F)]
        rises(state, _logs(state, said["conjugate"]), slopes, "the conjugate")
    assume(state, stated(state))


def _logs(state: Checker, f: JSON) -> Function:
    """Return a function that is given with its logarithms."""
    state.require_plain([f["rational"], *(t for log in f["logarithms"] for t in log.values())])
    return state.space.read(_written(f))


def _written(f: JSON) -> str:
    """Return a function with its logarithms as one text."""
    logs = [f"({x['coefficient']})*log(Abs({x['argument']}))" for x in f["logarithms"]]
    return " + ".join([*[f["rational"]] * (not logs or f["rational"] != "0"), *logs])


def mirror(state: Checker, at: Sequence[int], y: Sequence[Function]) -> tuple[Function, Function]:
    """Require X_a y_b = g delta_ab with g > 0 a warp; return g and its ratio to the printed one."""
    flow, space = state.flow, state.space
    g = flow.along(flow.X[at[0]], y[0])
    for (a, x), (b, yb) in product(enumerate(flow.X), zip(at, y, strict=True)):
        slope = flow.along(x, yb) - (g if a == b else flow.zero)
        require(slope.is_zero(), f"y{b + 1} is no mirror map along grad F{a + 1}")
    for x, h in zip(flow.X, flow.H, strict=True):
        require((flow.along(x, g) - h * g).is_zero(), "g is not the warp")
    if flow.turning is not None:
        across = g * flow.turning.n - y[0] * flow.turning.phi
        require(across.is_zero(), "y is no mirror map across beta")
    space.positive(g, "the warp g")
    printed = state.printed_warp()
    same = (g - printed).is_zero()
    ratio = space.number(1) if same else space.without_ties(g / printed)
    own = any(map(ratio.uses, range(space.size + state.named, len(space.symbols))))
    require(space.is_of_constants(ratio) and not own, "the record prints another g")
    require(ratio.at(space.start) > 0, "the record prints a g of the other sign")
    return g, ratio


def rises(state: Checker, f: Function, slopes: Sequence[Function], what: str) -> None:
    """Require the derivatives of a function along the fields."""
    for x, slope in zip(state.flow.X, slopes, strict=True):
        require((state.flow.along(x, f) - slope).is_zero(), f"{what} has another derivative")


def piece(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept y = grad Q and Q as functions of beta, with grad Q = 0 at the start."""
    flow, space = state.flow, state.space
    at = [state.given["beta"].index(b) for b in said["beta"]]
    printed = Printed(space, said["beta"], [flow.F[a] for a in at], said, proof)
    _in_beta(state, said, printed, at)
    y = [space.read(text) for text in said["gradient"]]
    g, ratio = mirror(state, at, y)
    require(all((ratio - r).is_zero() for r in state.ratios), "one g serves for all outputs")
    for b, yb in zip(said["beta"], y, strict=True):
        space.vanish_at_start(_raised(state, yb), f"the slope along {b}")
    if said["Q"] is None:
        state.open.append("Q, of which the gradient is printed alone")
    else:
        rows = [dot([row[a] for a in at], y, flow.zero) for row in flow.K]
        rises(state, space.read(said["Q"]), rows, "Q")
    printed.leaf.take(state.conditions, {*space.given})
    printed.leaf.take(said["assumptions"], {*space.given, *printed.known})
    printed.branches()
    domain(state, said, proof)
    _require_conditions(state, g, printed.leaf)
    state.ratios.append(ratio)
    state.theorem += _lines(said, state.record["potential"].get("linear"))
    assume(state, printed.leaf, ends(said))


def _in_beta(state: Checker, said: JSON, printed: Printed, at: Sequence[int]) -> None:
    """Require that a form uses beta, or z on a curve beta = h(z), and has the K and kind said."""
    space, flow, curve, kernel = state.space, state.flow, said["curve"], said["kernel"]
    texts = [*said["gradient"], *(text for text in (said["Q"], kernel) if text is not None)]
    if curve is not None:
        z = curve["parameter"]
        require(names_in([curve["beta"]]) <= space.fixed | {z}, "h uses more than z and constants")
        same = (space.read(curve["beta"]) - flow.F[at[0]]).is_zero()
        require(same and len(at) == 1, "beta is not h(z)")
        printed.known.add(z)
    require(names_in(texts) <= printed.known, "a name that is printed is not fixed by beta")
    require(said["kind"] == _kind(said, texts), "the form is of another kind")
    if kernel is not None:
        require(len(at) == 1, "K of one output is said of several")
        state.equal([[space.read(kernel)]], [[flow.K[at[0]][at[0]]]], "K of one output")


def _require_conditions(state: Checker, g: Function, signs: Conditions) -> None:
    """Require the conditions for what has to keep its sign: as read at the start, and g > 0."""
    space = state.space
    missing = signs.missing(space.signs, constant_divisors(state))
    odd = (Function(space, p, space.one) for p, n in factors(g) if n % 2)
    kept = (f for f in odd if not is_kept(state, f, signs))
    missing += [f"{space.written(f)} keeps its sign along the flow" for f in kept]
    if missing:
        raise Missing(missing)


def _raised(state: Checker, y: Function) -> Function:
    """Return what is 0 at w_0: y; of a vector q' + z n, with the term z <u_0, beta> of Q."""
    if state.flow.turning is None:
        return y
    text = state.record["potential"]["linear"]["coefficient"]
    require(names_in([text]) <= state.space.fixed, "the linear term of Q is not constant")
    return y + state.space.number(state.sign) * state.space.read(text) * state.flow.turning.n


def _kind(said: JSON, texts: Sequence[str]) -> str:
    """Return what kind of form this is."""
    if any("Integral" in text for text in texts):
        return "quadrature"
    if said["curve"] is not None:
        return "parametric"
    return "explicit" if all(r["explicit"] is not None for r in said["roots"]) else "algebraic"


def _lines(said: JSON, linear: JSON) -> list[str]:
    """Return what was shown of a piece; *linear* is the other term of Q of a vector."""
    curve, name = said["curve"], ", ".join(said["beta"])
    lines = [f"{'q' if linear else 'Q'}({name}) = {said['Q']}"] * (said["Q"] is not None)
    if linear:
        lines.append(f"Q(beta) = q({name}) + ({linear['coefficient']})*<{linear['vector']}, beta>")
    lines += [f"dQ/d{b} = {y}" for b, y in zip(said["beta"], said["gradient"], strict=True)]
    if curve is not None:
        low, high = curve["interval"]
        lines.append(f"{name} = {curve['beta']}, {low} < {curve['parameter']} < {high}")
    lines += [f"K = {said['kernel']}"] * (said["kernel"] is not None)
    for root in said["roots"]:
        lines.append(f"{root['symbol']}: {root['branch']} of {root['polynomial']} = 0")
        lines += [f"{root['symbol']} = {root['explicit']}"] * (root["explicit"] is not None)
    named = {**said["constants"], **said["abbreviations"]}
    lines += [f"{symbol} = {value}" for symbol, value in named.items()]
    signs = {"> 0": "> 0", "as at beta_0": "has the sign that it has at beta_0"}
    return lines + [f"where {w['form']} {signs[w['sign']]}" for w in said["domain"]["walls"]]
