"""The sections of a record: laws, whether Q exists, K and rho, dual coordinates, and Q in beta."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import combinations, product, takewhile

from derive.certificate.checking.domain import domain
from derive.certificate.checking.flow import Field, determinant, independent
from derive.certificate.checking.function import Function, Value, not_zero
from derive.certificate.checking.reading import LANGUAGE
from derive.certificate.checking.signs import Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import (
    JSON,
    NAME,
    PROVED,
    REFUTED,
    UNDECIDED,
    Rejected,
    names_in,
    require,
)
from derive.certificate.checking.theorem import Check, Checker

STARTS = re.compile(r"the real root that starts at (.+)")
CONTINUED = "the root on the branch of the start"
CALLED, KERNEL = re.compile(r"\b([A-Za-z_]\w*)\(([A-Za-z_]\w*)\)", re.ASCII), re.compile("K_*")
LENGTH, PARAMETRIC, QUADRATURE = "the length of beta", "parametric", "quadrature"
LARGEST = ("the largest real root", LENGTH)


class Printed:
    """Define what is printed: each name is fixed by beta on the leaf, not just any function there.

    *known* are the names that formulas in beta may use; others are aids of the proof. Abbreviations
    are of their *own* names: of beta, z of a curve, or weights, if these move with beta alone.
    """

    def __init__(
        self,
        space: Space,
        F: Mapping[str, Function],
        said: JSON,
        proof: JSON,
        own: Collection[str] = (),
    ) -> None:
        self.space, self.leaf, self.slopes = space, Conditions(space), proof.get("slopes") or {}
        self.squares = " - ".join(f"{name}**2" for name in F)
        roots = self.roots = {root["symbol"]: root for root in said["roots"]}
        constants, short = said["constants"], said.get("abbreviations", {})
        names, defined = {*constants, *roots, *short}, set[str]()
        given = [*constants, *short, *(root["symbol"] for root in said["roots"])]
        require(len(names) == len(given), "a name is given twice")
        for name, f in F.items():
            require(name not in space.names, f"the name {name!s:.40} is given twice")
            space.names[name] = f
        others = [x for x in space.fields if all(space.along(x, f).is_zero() for f in F.values())]
        for entry in proof["definitions"]:
            if (name := entry.get("name")) in constants:
                space.define(entry | {"value": constants[name]})
                space.fixed.add(name)
            else:
                space.define(entry)
            if name in roots:
                solved = names_in([roots[name]["polynomial"]]) - {name}
                fixed = solved <= {*space.fixed, *F, *defined}
                require(fixed, f"{name} uses a name that is not fixed by beta")
            if name in short:
                f, among = space.names[name], {*space.fixed, *own, *(defined & {*short})}
                alone = all(space.along(x, f).is_zero() for x in others)
                fixed = alone and names_in([short[name]]) <= among
                require(fixed, f"{name} uses a name that is not fixed by beta")
                require(f.same(space.read(short[name])), f"{name} is not {short[name]:.60}")
            defined |= {name} & names
        require(defined == names, "a name that is printed is not defined")
        self.known = {*space.fixed, *F, *roots, *short}
        self.lines = [f"{name} = {value}" for name, value in {**constants, **short}.items()]

    def branches(self, state: Checker) -> None:
        """Require of every root that it is on the branch that is printed, and its formula."""
        for name, root in self.roots.items():
            self._branch(state, name, root)
            if root["branch"] == LENGTH:
                texts = (root["polynomial"], f"{name}**2 - {self.squares}")
                P, square = (self.space.root(name, text) for text in texts)
                require(square == P, f"{name} is another root than the length of beta")
            self.lines.append(f"{name}: {root['branch']} of {root['polynomial']} = 0")
            if (text := root["explicit"]) is not None:
                self.lines.append(f"{name} = {text}")
                own = names_in([text]) <= self.known - {name}
                require(own, f"the formula of {name} uses another name")
                same = self.space.read(text).same(self.space.names[name])
                require(same, f"{name} is not {text:.60}")

    def _branch(self, state: Checker, name: str, root: JSON) -> None:
        """Require that a name is the root of its polynomial P that is printed.

        It is the largest, all along the leaf, if all derivatives of P there have one sign: P(r + x)
        has no zero x > 0. It is the only one if P' has no factor in the name that changes its sign.
        """
        space, said = self.space, root["branch"]
        P, last = space.root(name, root["polynomial"])
        degree, image = int(P.degrees()[last]), space.names[name]
        slopes, images = [P.derivative(last)], [*space.symbols[:last], image]
        while len(slopes) < degree:
            slopes.append(slopes[-1].derivative(last))
        at = [space.of(p).into(images) for p in slopes]
        for k, text in enumerate(self.slopes.get(name, ())):
            given = space.read(text) * math.factorial(k + 1)
            at[k] = given if at[k].same(given) else at[k]
        if said in LARGEST:
            signs = ({*map(self.leaf.sign_of, at)} for _ in state.weights_by_laws(self.leaf))
            shown = any(found in ({1}, {-1}) for found in signs)
        elif said == "the only real root":
            parts = space.factor(slopes[0])[1]
            shown = all(self.leaf.of(p).value for p, n in parts if n % 2 and p.degrees()[last])
            space.leads += [space.of(p**2) for p, _ in parts if not p.degrees()[last]]
        elif said == "the root":
            shown = degree == 1
        else:
            starts = STARTS.fullmatch(said)
            require(starts or said == CONTINUED, f"{said!s:.60} is no branch")
            if starts:
                space.vanish_at_start(image - space.read(starts[1]), f"{name} less its start")
                require(name in self.leaf.meet, f"no condition keeps {name} from other roots")
            shown = not_zero(at[0].at(space.start))  # it is simple
        require(shown, f"{name} is not shown to be {said}")


def metric(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept K in all weights, and K and rho = K^-1 in beta."""
    flow, space = state.flow, state.space
    K = flow.K
    if flow.turning is not None:
        K = [[flow.turning.across, flow.zero], [flow.zero, K[0][0]]]
        diagonal = [None] * 2 if said["kernel"] is None else [said["kernel"][k][k] for k in (0, 1)]
        require([said["T"], said["R"]] == diagonal, "T and R are other than in K")
    in_weights = said["kernel_in_weights"]
    state.require_plain([text for row in in_weights for text in row])
    _in_all_weights(state, in_weights, K, proof["definitions"])
    F = dict(zip(state.given["beta"], flow.F, strict=True))
    printed = Printed(space, F, said, proof)
    printed.leaf.take(state.conditions, {*space.given})
    printed.branches(state)
    state.table(in_weights)  # what it divides by must not vanish
    in_beta = {"K": said["kernel"], "rho": said["rho"]}
    in_beta = {n: table for n, table in in_beta.items() if table is not None}
    texts = [text for table in in_beta.values() for row in table for text in row]
    require(names_in(texts) <= printed.known, "a name in K or rho is not fixed by beta")
    if "K" in in_beta:
        state.equal(state.table(in_beta["K"]), K, "the printed K")
    if "rho" in in_beta:
        columns = [*zip(*K, strict=True)]
        rows = [[space.dot(row, x) for x in columns] for row in state.table(in_beta["rho"])]
        state.equal(rows, space.identity(len(K)), "rho K")
    state.theorem.append(f"K = {_matrix(in_weights)} in the weights")
    state.theorem += [f"{n} = {_matrix(table)}" for n, table in in_beta.items()]
    state.theorem += printed.lines * bool(in_beta)
    state.assume(printed.leaf)


def _in_all_weights(
    state: Checker, table: JSON, K: Sequence[Sequence[Function]], definitions: Sequence[JSON]
) -> None:
    """Require the printed K, by the definitions that come before what is 0 on the leaf alone."""
    space, before = state.space, state.space.scope()
    space.names |= zip(state.given["beta"], state.flow.F, strict=True)
    for entry in takewhile(lambda entry: "zero" not in entry, definitions):
        space.define(entry)
    state.equal(state.table(table), K, "the printed K")
    space.leave(before)


def _matrix(table: JSON) -> str:
    return f"[{'; '.join(', '.join(row) for row in table)}]"


def dual(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept y and its conjugate R in the weights: X_a y_b = g delta_ab, X_a R = g F_a."""
    (block, said), flow, space = said, state.flow, state.space
    at = [flow.position(a) for a in block]
    for entry in proof["definitions"]:
        space.define(entry)
    if (u := flow.turning) is not None:
        log, psi = _logs(state, said["log_psi"]), state.printed_warp() * u.n / u.pushed
        state.rises(log, [space.along(x, psi) / psi for x in flow.X], "log psi")
        return
    y = [_logs(state, f) for f in said["y"]]
    g, ratio = mirror(state, at, y)
    require(ratio.same(1), "y is in another unit than g")
    state.theorem += [f"y{a + 1} = {_written(f)}" for a, f in zip(at, said["y"], strict=True)]
    if (R := said["conjugate"]) is not None:
        state.theorem.append(f"R = {_written(R)}, sum_b y_b beta_b - Q up to a constant")
        slopes = [g * f if a in at else flow.zero for a, f in enumerate(flow.F)]
        state.rises(_logs(state, R), slopes, "the conjugate")
    state.assume(_moving(state, state.stated(), at))


def _moving(state: Checker, signs: Conditions, at: Sequence[int]) -> Conditions:
    """Return conditions with K != 0 at w_0 of a single output: from elsewhere it does not move.

    Beside others it may, where these move its weights.
    """
    if state.flow.d == 1:
        K, name = state.flow.K[at[0]][at[0]], state.given["beta"][at[0]]
        fixed = not signs.missing([], [K.top])
        signs.move(K)
        state.theorem += [] if fixed else [f"K != 0 at w_0: from elsewhere {name} does not move"]
    return signs


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
    g = space.along(flow.X[at[0]], y[0])
    for (a, x), (b, yb) in product(enumerate(flow.X), zip(at, y, strict=True)):
        same = space.along(x, yb).same(g if a == b else 0)
        require(same, f"y{b + 1} is no mirror map along grad F{a + 1}")
    state.rises(g, [h * g for h in flow.H], "g, which is not the warp,")
    if flow.turning is not None:
        across = (g * flow.turning.n).same(y[0] * flow.turning.pushed)
        require(across, "y is no mirror map across beta")
    space.positive(g, "the warp g")
    printed = state.printed_warp()
    ratio = space.number(1) if g.same(printed) else space.without_ties(g / printed)
    own = any(map(ratio.uses, range(space.size + state.named, len(space.symbols))))
    require(space.is_of_constants(ratio) and not own, "the record prints another g")
    require(ratio.at(space.start) > 0, "the record prints a g of the other sign")
    return g, ratio


def piece(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept y = grad Q and Q as functions of beta, with grad Q = 0 at the start."""
    flow, space = state.flow, state.space
    at = [state.given["beta"].index(b) for b in said["beta"]]
    printed = _printed(state, said, proof)
    in_weights = _in_beta(state, said, printed, at)
    y = [space.read(text) for text in said["gradient"]]
    g, ratio = mirror(state, at, y)
    require(all(map(ratio.same, state.ratios)), "one g serves for all outputs")
    more = space.number(0)  # of a vector q' + z n is 0, with the term z <u_0, beta> of Q
    if flow.turning is not None:
        text = state.record["potential"]["linear"]["coefficient"]
        require(names_in([text]) <= space.fixed, "the linear term of Q is not constant")
        more = state.sign * space.read(text) * flow.turning.n
    for b, yb in zip(said["beta"], y, strict=True):
        space.vanish_at_start(yb + more, f"the slope along {b}")
    if said["Q"] is None:
        state.open.append("Q, of which the gradient is printed alone")
    else:
        slopes = [space.dot([row[a] for a in at], y) for row in flow.K]
        state.rises(space.read(said["Q"]), slopes, "Q")
    printed.leaf.take(state.conditions, {*space.given})
    printed.leaf.take(said["assumptions"], {*space.given, *printed.known})
    _moving(state, printed.leaf, at)
    printed.branches(state)
    ends = domain(state, said, proof)
    shown, inside = ends or ([], [])
    state.ratios.append(ratio)
    linear = state.record["potential"].get("linear")
    state.theorem += [*_lines(said, linear, ends is not None, in_weights), *printed.lines, *shown]
    state.assume(printed.leaf, inside, g)


def functions(said: JSON) -> tuple[dict[str, str], dict[str, str]]:
    """Return x for each function f(x) in integrals over x, and abbreviations with f for f(x)."""
    short = said["abbreviations"]
    texts = [*said["gradient"], said["Q"] or "", *short, *short.values()]
    pairs = (pair for text in texts for pair in CALLED.findall(text))
    found = dict.fromkeys(pair for pair in pairs if pair[0] not in LANGUAGE)
    called, above = dict(found.keys()), dict[str, str]()
    require(len(called) == len(found), "a function is of two variables")
    for key, text in short.items():
        f = key.removesuffix(f"({called.get(key.partition('(')[0])})")
        require(NAME.fullmatch(f) and f not in above, f"{key:.40} is no name, or given twice")
        above[f] = CALLED.sub(lambda m: m[1] if m[1] in called else m[0], text)
    return called, above


def _printed(state: Checker, said: JSON, proof: JSON) -> Printed:
    """Define what is printed of a piece, with functions f(x) in integrals over x up to beta, or z.

    These are K as it is printed, abbreviations, and else what they are defined to be, of the
    weights on the leaf where F = x: at its end an integral has them as they are on the leaf.
    """
    space, curve, (called, above) = state.space, said["curve"], functions(said)
    F = {b: f for b, f in zip(state.given["beta"], state.flow.F, strict=True) if b in said["beta"]}
    alone = len(F) == 1 and {*called.values()}.isdisjoint(space.names)
    require(alone or not called, "a function is not of what an integral runs over")
    at_end = {f: f for f in called}
    if said["kernel"] is not None:
        at_end |= dict.fromkeys(filter(KERNEL.fullmatch, called), said["kernel"])
    aids = {e["name"]: e["is"] for e in proof["definitions"] if {*e} == {"name", "is"}}
    above = {f: aids[f] for f in called if f in aids} | above
    own = {*said["beta"], *(root["symbol"] for root in said["roots"])}
    if curve is not None:
        own = {curve["parameter"]}
    elif above.keys() <= called.keys():
        own = {*space.given}
    space.above = {said["beta"][0] if curve is None else curve["parameter"]: at_end}
    printed = Printed(space, F, said | {"abbreviations": above}, proof, own)
    printed.known -= called.keys() - said["abbreviations"].keys()
    at_point = "at the weights of the leaf with F(w) ="
    there = [f for f in above if f in called and curve is None]
    printed.lines += [f"{f}({called[f]}) is this {f} {at_point} {called[f]}" for f in there]
    return printed


def _in_beta(state: Checker, said: JSON, printed: Printed, at: Sequence[int]) -> bool:
    """Require that a form uses beta, z on a curve beta = h(z), or weights, and has its K and kind.

    Tell whether it uses weights.
    Parametric without a curve is in the weights, at the point of the leaf above beta.
    """
    space, flow, curve, kernel = state.space, state.flow, said["curve"], said["kernel"]
    texts = [*said["gradient"], *(text for text in (said["Q"], kernel) if text is not None)]
    if curve is not None:
        z = curve["parameter"]
        own = space.fixed | {z, *said["abbreviations"]}
        require(names_in([curve["beta"]]) <= own, "h uses more than z and constants")
        same = space.read(curve["beta"]).same(flow.F[at[0]])
        require(same and len(at) == 1, "beta is not h(z)")
        printed.known.add(z)
    weights = {*state.given["weights"]} & names_in(texts)
    in_weights = said["kind"] == PARAMETRIC or bool(said["kind"] == QUADRATURE and weights)
    if in_weights := in_weights and curve is None:
        require(flow.turning is None, "a length is no function of weights")
        require(weights, "the form is in beta")
        printed.known |= weights
    numbers = {"pi"} - {*space.names}
    fixed = names_in(texts) <= printed.known | numbers
    require(fixed, "a name that is printed is not fixed by beta")
    explicit = all(r["explicit"] is not None for r in said["roots"])
    kind = "explicit" if explicit else "algebraic"
    kind = PARAMETRIC if in_weights or curve is not None else kind
    kind = QUADRATURE if any("Integral" in text for text in texts) else kind
    require(said["kind"] == kind, "the form is of another kind")
    if kernel is not None:
        require(len(at) == 1, "K of one output is said of several")
        state.equal([[space.read(kernel)]], [[flow.K[at[0]][at[0]]]], "K of one output")
    return in_weights


def _lines(said: JSON, linear: JSON, ends: bool, in_weights: bool) -> list[str]:
    """Return what was shown of a piece; *linear* is the other term of Q of a vector."""
    curve, name = said["curve"], ", ".join(said["beta"])
    lines = [f"{'q' if linear else 'Q'}({name}) = {said['Q']}"] * (said["Q"] is not None)
    if linear:
        lines.append(f"Q(beta) = q({name}) + ({linear['coefficient']})*<{linear['vector']}, beta>")
    lines += [f"dQ/d{b} = {y}" for b, y in zip(said["beta"], said["gradient"], strict=True)]
    if curve is not None:
        low, high = curve["interval"] or ("", "")
        where = f", at least for {low} < {curve['parameter']} < {high}" * ends
        where += " while weights are finite" * (ends and "curve" in said["domain"]["undecided"])
        where = where if curve["interval"] else ", along the flow from the start"
        lines.append(f"{name} = {curve['beta']}{where}")
    elif in_weights:
        lines.append(f"these at the weights of the leaf with F(w) = ({name})")
    return lines + [f"K = {said['kernel']}"] * (said["kernel"] is not None)


def laws(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept conserved quantities, <grad c, X_a> = 0; all of them, by brackets of the X_a."""
    flow, space = state.flow, state.space
    for entry in proof["definitions"]:
        plain = "Integral" not in entry.get("of", "Integral")  # which has no value at a point
        require(plain, "only calls are defined for laws")
        space.define(entry)
    texts, values = said["laws"], said["values_at_start"]
    state.require_plain([*texts, *(v for v in values if v is not None)])
    functions = [space.read(text) for text in texts]
    for text, c, value in zip(texts, functions, values, strict=True):
        _is_law(state, text, c, value)
    point = state.values_at(proof["point"])
    on = all(space.read(t["zero"]).at(point) == 0 for t in state.ties)
    require(on, "the point is not where the ties hold")
    gradients = [[c.derivative(k) for k in range(space.weights)] for c in functions]
    require(_spread(state, gradients, point), "the gradients are not shown to be independent")
    fields = [flow.field(path)[0] for path in proof["brackets"]]
    require(_spread(state, fields, point), "the brackets are not shown to be independent")
    bound, count = len(state.free) - len(fields), len(texts)
    keys = ("count", "bound", "lie_dimension", "verdict", "reason")
    shown = [count, bound, len(fields), PROVED, None]
    if count != bound:  # there may be more brackets, and more laws
        why = f"independent laws found: {count}; at most {bound} exist"
        shown[2:] = [None, UNDECIDED, why]
    same = [said.get(key) for key in keys] == shown
    require(same, "the brackets show another number of laws")
    state.theorem += [f"conserved: {text}" for text in texts]
    state.assume(state.stated())
    whole = "near almost all weights every conserved quantity is a function of these"
    all_ = whole if texts else "nothing is conserved"
    state.theorem.append(all_ if count == bound else f"at most {bound} are conserved")


def _is_law(state: Checker, text: str, c: Function, value: JSON) -> None:
    """Require <grad c, X_a> = 0, the value at w_0 where one is known, and c of free weights."""
    space, tied = state.space, {*range(state.space.weights)} - {*state.free}
    try:
        at_start = space.at_start(c)
        same = value is not None and at_start.same(space.read(value))
    except Rejected:
        same = value is None
    require(same, "a conserved quantity has another value at the start")
    require(space.kept(c), f"<grad c, X_a> is not 0: {text:.60}")
    free = all(c.derivative(k).is_zero() for k in tied)
    require(free, "a law uses a weight that is tied to others")


def _spread(state: Checker, fields: Sequence[Field], point: Sequence[Value]) -> bool:
    """Tell whether fields are shown to be independent at a point, in weights that are free."""
    return independent([[x[k].at(point) for k in state.free] for x in fields])


def exists(kind: str, state: Checker, _: JSON, proof: JSON) -> None:
    """Accept that Q exists: [X_a, X_b] = H_a X_b - H_b X_a, and H is closed."""
    require(proof == {}, "a proof that Q exists has nothing in it")
    flow = state.flow.for_claim(kind)
    if flow.turning is not None and not flow.warped:
        require(flow.turning.H.is_zero(), "the only warp of the vector is not constant")
    moving = _spread(state, flow.X, state.space.start) or flow.lives(determinant(flow.K).top)
    require(moving, "the outputs are not shown to move independently along the flow")
    for (i, (x, h)), (j, (y, k)) in combinations(enumerate(zip(flow.X, flow.H, strict=True), 1), 2):
        closed = (flow.along(x, k) - flow.along(y, h)).is_zero()
        pairs = zip(flow.bracket(x, y), x, y, strict=True)
        same = closed and all(b.same(h * yk - k * xk) for b, xk, yk in pairs)
        require(same, f"the fields {i}, {j} do not commute, up to the warp")


def fails(kind: str, state: Checker, _: JSON, proof: JSON) -> None:
    """Accept that a condition, which every warp (or g = 1) needs, fails on the leaf."""
    flow = state.flow.for_claim(kind)
    values, (path, of) = state.space.start, proof["identity"]
    left, right, words = flow.sides(path, of)
    value = flow.derivative((left - right).top, proof["along"]).at(values)
    require(not_zero(value), "the value is 0, or not shown to be other than 0, at this start")
    if not independent([[xk.at(values) for xk in x] for x in flow.X]):
        regular = flow.derivative(determinant(flow.K).top, proof["regular"]).at(values)
        require(not_zero(regular), "J is not shown to have full rank on the leaf of the start")
    along = "".join(f" along X{a}" for a in proof["along"])
    state.theorem += [
        f"{kind}: needed is {words}",
        f"{kind}: left = {state.space.written(left)}",
        f"{kind}: right = {state.space.written(right)}",
        f"the numerator of left - right{along and ', differentiated'}{along} is {value} there",
    ]


def decide(name: str, verdict: str) -> Check:
    """Return what accepts the proof of a Hessian map or a warp, or that there is none."""
    kind = {"hessian": "hessian", "warping": "warp"}[name]
    require(verdict in (PROVED, REFUTED), f"{verdict!s:.20} is no verdict")
    return partial(exists, kind) if verdict == PROVED else partial(fails, f"no {kind}")
