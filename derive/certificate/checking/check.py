"""Check a record without trusting whoever wrote it: exact identities, and no search.

A record states a theorem; its "certificate" has what the proof needs. Everything is recomputed
from the text of F with Python and python-flint alone. A function is a quotient of integer
polynomials in weights, constants and *generators* (exp, log, powers, ...) with their derivatives.
It is zero when its numerator leaves no remainder by the relations of roots and of the leaf; it is
not zero when its value at a start, or that of a derivative along the fields X_a = grad F_a, is
not, in rationals or in balls without 0. Every divisor is shown to be other than zero.

The certificate has the format and version, "at" (start symbols and parameters in numbers),
"definitions" of the calls in F, and for each section of the record a proof, or null where it is not
certified. Definitions: {"name", "of": "exp(w)"} a new generator; {"name", "is": f} a
name, with its "value" at w_0 if the flow keeps it; {"of": "sqrt(...)", "is": f} a call that is a
known function; {"zero": f, "main": x} what is 0 on the leaf, as it is at w_0 and its derivatives
along X_a are where it is, solved for x. "sums" of laws, if there are any, are positive at w_0.
With K_ab = <X_a, X_b>, outputs counted from 1, the sections are:

conserved: <grad c, X_a> = 0; all of them, if p - n "brackets" of the X_a, named by paths as in
    ``Flow``, are independent at "point".
hessian, warping: if PROVED, [X_a, X_b] = H_a X_b - H_b X_a with H = 0, or the forced H, which is
    closed, X_a H_b = X_b H_a; or all pieces have a proof. If REFUTED, the "identity", one of
    ``Flow.sides``, fails: the numerator of left - right, differentiated
    "along" fields, is not 0 at the start; nor is det K, differentiated along "regular".
metric: K in all weights, K and rho = K^-1 in beta. dual: X_a y_b = g delta_ab in the weights.
pieces: y = grad Q as printed, 0 at w_0, with X_a y_b = g delta_ab, X_a g = H_a g, g > 0 at w_0, and
    X_a Q = sum_b K_ab y_b; constants are kept by the flow, roots on the branch that is printed.
    Of a single output K(w_0) != 0 is taken, as from another w_0 it does not move.
    Where Q lives: all beta between walls; of one output also by t of an interval, beta = f(t), t
    being z of a curve, or a root, which is given its "interval". A "warp" is 0 nowhere, and the
    "square" |w|^2 finite, by their relations with beta and laws.
    A curve without an interval is in a function on the leaf, along the flow, and says no more.
    Integrals over x may have functions f(x) of the point of the leaf with F = x, as t, G and K.
    "domain" has the calls, or is null: :mod:`derive.certificate.checking.domain`.

With a "vector" u in R^d, d >= 2, beta = phi u, and the weights are the scalars in phi and n = |u|.
F is s = |phi| n, the direction of u_0 is free; H is forced, g n = y r |phi|, r its rate,
Q = q(s) + z <u_0, beta>; "constant" is the identity that fails where H is not 0.

PROVED: if y of all outputs are functions of beta on the leaf with X_a y_b = g delta_ab, g > 0, then
sum_c dy_b/dbeta_c K_ac = g delta_ab, so that dy_b/dbeta_c = g (K^-1)_bc is symmetric: y = grad Q.
Without formulas: X_a span all brackets, so they are tangent to the leaf of w_0, of which beta are
coordinates, and H = d log g on it. X_a/g commute, as fields d/dy_a do, and these are such y. Of a
vector y = psi u/n, and <grad y_i, grad F_j> = g delta_ij is in all components X psi = g = psi phi/n
(:class:`derive.certificate.checking.flow.Turning`), which has a solution on the curve of the
scalars and n. That is on the part of the leaf around w_0 where all calls are analytic and nothing
divides by 0; if J has lower rank at w_0, on the parts beside it.
REFUTED: the Gram minors of K leave one H for any warp, hence all of ``Flow.sides`` on the whole
leaf; one of them fails there. Otherwise UNDECIDED.

Records of maps of open size are those of :mod:`derive.certificate.checking.every_size`, and of
matrices of open size have such a derivation or an orbit (``orbit.py``), of steepest descent on
outputs that share weights ranks and minors in balls (``pushed.py``). Records of
regimes hold one of a derivation, and that alone is certified: limits of Q, as explicit
costs, are shown by the expansion or the inequality that their page prints.

Signs and branches are read at the start "at" and hold wherever the conditions hold that the record
states. Whatever is read yields what must not vanish for it to be smooth: divisors, radicands,
arguments of logarithms, bases of powers. Each is shown to stay other than 0 along the flow, in an
order without circles, or is printed as a condition: see :mod:`derive.certificate.checking.signs`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, TypeAlias

from derive.certificate.checking import every_size, orbit, pushed, sections
from derive.certificate.checking.signs import CONDITION
from derive.certificate.checking.text import (
    JSON,
    PROVED,
    REFUTED,
    UNDECIDED,
    NotACertificate,
    Rejected,
    names_in,
    pairs,
    require,
)
from derive.certificate.checking.theorem import Checker

FORMAT, VERSION = "regderive-certificate", 6
HEAD = {"format": FORMAT, "version": VERSION}
FLOW = "w' = -J^T X^T r", "w' = -diag(rates) J^T X^T r", "w' = -G^-1 J^T X^T r"
DERIVATION, REGIMES = "regderive-derivation", "regderive-regimes"
EVERY_SIZE, MATRICES = "regderive-entrywise", "regderive-matrices"
PUSHED = "regderive-pushed"
EVERY_MATRIX = "that matrices of every size come down to this one: the page has the argument"
EVERY_ORBIT = "that F of the record is the sum of these products, and what follows from it of Q"
LIMITS = "the regimes: limits are shown by the expansions that their page prints"
EDITION, FIRST = 2, 1
MEANINGS = {
    PROVED: "its limit, where X beta = y, meets the KKT conditions of min Q subject to X beta = y, "
    "for a Q(beta) with Hess Q = c g rho",
    REFUTED: "no Q(beta) and no g > 0 have Hess Q = g rho around the start in numbers",
    UNDECIDED: "whether there is a Q(beta) with Hess Q = g rho is not decided",
}
STEERED = "grad Q(beta) moves by c phi(-X^T r), for a Q(beta) with Hess Q = c g rho"
__all__ = ["FORMAT", "VERSION", "NotACertificate", "Rejected", "Report", "check", "check_text"]
_FAULTS = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError)


class Report(NamedTuple):
    """What was accepted: the verdict, the theorem line by line, and what is not certified."""

    verdict: str
    theorem: Sequence[str]
    open: Sequence[str]


def check_text(text: str) -> Report:
    """Check a JSON text: see :func:`check`."""
    try:
        return check(json.loads(text, object_pairs_hook=_unique))
    except (ValueError, RecursionError) as fault:
        raise NotACertificate(f"no JSON: {fault}") from None


def _unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    if len(found := dict(pairs)) < len(pairs):
        raise NotACertificate("a key is given twice")
    return found


def check(record: JSON) -> Report:
    """Return what a record proves.

    Raises:
        NotACertificate: it has no certificate of this version.
        Rejected: a statement does not follow; one line says which and how.
    """
    try:
        kind = record.get("format") if isinstance(record, dict) else None
        if kind in SHOWN:
            return _of_open_size(record, *SHOWN[kind])
        return derived(record["derivation"], LIMITS) if kind == REGIMES else derived(record)
    except _FAULTS as fault:
        raise NotACertificate(f"an entry is missing or of the wrong type ({fault})") from None


def _of_open_size(record: JSON, kind: str, shown: Callable[[JSON], Shown]) -> Report:
    """Return what a record proves that is no derivation: the verdict, lines, and what is left."""
    proof = record.get("certificate", HEAD if kind == "matrices" else None)
    if proof is None or {key: proof[key] for key in HEAD} != HEAD:
        raise NotACertificate(
            f"the record was written without one: {record['certificate_missing']}"
        )
    keyed(record, kind, [x for x in ("fails", "exists") if x in proof])
    require(record["version"] == FIRST, f"the version is not {FIRST}")
    report = Report(*shown(record))
    require(record["verdict"] == report.verdict, f"the record proves {report.verdict}")
    return report


def _matrices(record: JSON) -> Report:
    """Return what the record of matrices of open size proves, by an orbit or one of its entries."""
    if (given := record["orbit"]) is None:
        report = derived(record["entry"], EVERY_MATRIX)
    else:
        report = Report(REFUTED, [orbit.shown(given)], [EVERY_ORBIT])
    require(record["finding"]["verdict"] == report.verdict, f"the record proves {report.verdict}")
    return report


Shown: TypeAlias = tuple[str, Sequence[str], Sequence[str]]
SHOWN: dict[str, tuple[str, Callable[[JSON], Shown]]] = {
    EVERY_SIZE: ("every size", every_size.shown),
    MATRICES: ("matrices", _matrices),
    PUSHED: ("pushed", pushed.shown),
}


def _of_this_version(record: JSON) -> None:
    """Require a derivation of this version; NotACertificate for another."""
    if not (isinstance(record, dict) and record.get("format") == DERIVATION):
        written = "which derive regularizer ... --json and derive regimes ... --json write"
        raise NotACertificate(f"the format is none of {DERIVATION}, {REGIMES}, {written}")
    certificate = record.get("certificate")
    version = certificate.get("version") if isinstance(certificate, dict) else None
    if (version, record.get("version")) != (VERSION, EDITION):
        old = (
            f"version {version!s:.10} is not read any more"
            if version
            else "the record was written without one"
        )
        raise NotACertificate(f"{old}: make a new one by derive regularizer ... --json")
    require(
        record["certificate"]["format"] == FORMAT, f"the format of a certificate is not {FORMAT}"
    )


def derived(record: JSON, *besides: str) -> Report:
    """Return what the record of a derivation proves; what is said *besides* is left open."""
    _of_this_version(record)
    state = Checker(record)
    given = record["parameterization"]
    shape(record, (given["flow"],) * len(FLOW) if state.degrees else FLOW)
    proof, q = record["certificate"], record["potential"]
    state.outputs()
    state.prove("the conserved quantities", sections.laws, record["conserved"], proof["conserved"])
    shown = _decided(record, state)
    if shown == PROVED:
        before = state.space.scope()
        state.flow = state.flow.for_claim(claimed(record))
        state.space.leave(before)  # K is regular where there is a warp
    state.prove("the metric", sections.metric, record["metric"], proof["metric"])
    verdict = REFUTED if shown == REFUTED else UNDECIDED
    if shown == PROVED:
        verdict = PROVED if q["pieces"] else UNDECIDED
        _potential(record, state)
    else:
        said = record["warping"]
        none = [said["g"], *(v for dual in said["dual_coordinates"] for v in dual.values())]
        said_none = none == [None] * len(none) and not q["pieces"]
        require(said_none, "g, y or Q is said without a proof that there is any")
    require(record["verdict"] == q["verdict"] == verdict, f"the record proves {verdict}")
    kinds = [KINDS.index(piece["kind"]) for piece in q["pieces"]]
    require(q["kind"] == (KINDS[max(kinds)] if kinds else None), "the kind of Q is another")
    require(record.get("Q") in (None, whole(q)), "Q is another than the sum of its pieces")
    reasons = {"hessian": "the Hessian map", "warping": "the warp", "potential": "Q"}
    state.open += [
        f"why {of} is undecided" for key, of in reasons.items() if "reason" in record[key]
    ]
    state.open += ["Q where the warp ends negative"] * ("other_side" in q)
    state.open += ["the Ansatz asked for"] * (q["asked"] is not None)
    lines = dict.fromkeys(_head(record, state) + state.theorem)
    return Report(verdict, tuple(lines), (*state.open, *besides))


def whole(q: JSON) -> str | None:
    """Return Q as a text, in the names of its pieces; None where one has no formula."""
    parts = [piece["Q"] for piece in q["pieces"]]
    if not parts or None in parts:
        return None
    linear = q.get("linear")
    parts += [f"({linear['coefficient']})*dot({linear['vector']}, beta)"] if linear else []
    return " + ".join(parts)


def claimed(record: JSON) -> str:
    """Return the kind of flow that pieces of Q are of: with H = 0 where that is a warp."""
    return "hessian" if record["hessian"]["verdict"] == PROVED else "warp"


def _decided(record: JSON, state: Checker) -> str:
    """Return what is proved of the warp; what is said without a proof is left open."""
    proof, shown = record["certificate"], set[str]()
    said = {name: record[name]["verdict"] for name in ("hessian", "warping")}
    for name, verdict in said.items():
        if proof[name] is not None:
            state.prove(name, sections.decide(name, verdict), record[name], proof[name])
            shown.add(name)
    require(said["hessian"] != PROVED or said["warping"] == PROVED, "g = 1 is a warp")
    if said["warping"] == PROVED:
        shown |= _by_formulas(record, state)
    # g = 1 is a warp, and is none where there is none.
    for verdict, by, of in ((PROVED, "hessian", "warping"), (REFUTED, "warping", "hessian")):
        if by in shown and said[by] == said[of] == verdict:
            shown.add(of)
    for name, what in (("hessian", "the Hessian map"), ("warping", "the warp")):
        if said[name] != UNDECIDED and name not in shown:
            state.open.append(what)
    return str(said["warping"]) if "warping" in shown else UNDECIDED


def _by_formulas(record: JSON, state: Checker) -> set[str]:
    """Return what there is where all pieces have proofs, whose y are functions of beta."""
    parts = record["certificate"]["pieces"]
    if not parts or None in parts:
        return set()
    constant = state.space.is_of_constants(state.printed_warp())
    return {"warping", *(["hessian"] if claimed(record) == "hessian" and constant else [])}


def _potential(record: JSON, state: Checker) -> None:
    """Check the warp, dual coordinates, and pieces of Q, which share out the outputs."""
    given, proof, said = record["parameterization"], record["certificate"], record["warping"]
    pieces = record["potential"]["pieces"]
    if said["g"] is not None:
        state.open += [] if state.is_warp() else ["that the warp g is positive beside the start"]
        slope = "-c g X^T r" if given["flow"] in FLOW else "c g phi(-X^T r)"
        state.theorem.append(
            f"(grad Q)' = {slope} along the flow, c > 0 constant, with the warp g = {said['g']}"
        )
        state.assume(state.stated())
    duals = zip(given["blocks"], said["dual_coordinates"], proof["dual"], strict=True)
    for block, dual, part in duals:
        if any(value is not None for value in dual.values()):
            state.prove("the dual coordinates", sections.dual, [block, dual], part)
    shared = [b for piece in pieces for b in piece["beta"]]
    whole = sorted(shared) == sorted(given["beta"])
    require(whole or not pieces, "the pieces of Q share out beta")
    for piece, part in zip(pieces, proof["pieces"], strict=True):
        state.prove(f"Q of {', '.join(piece['beta'])}", sections.piece, piece, part)


def _head(record: JSON, state: Checker) -> list[str]:
    """Return the setting of what was shown."""
    given, at = record["parameterization"], record["certificate"]["at"]
    names = zip(given["beta"], given["outputs"], strict=False)
    lines = [f"{given['flow']}, with w_0: {pairs(given['start'])}"]
    lines += [f"rates: {pairs(given.get('rates', {}))}".replace("'", "")] * ("rates" in given)
    lines += [f"{beta} = {tree}" for beta, tree in names]
    lines += [f"{w} = 0" for w in given["idle"]]
    lines += [f"{w} = {tree} along the flow" for w, tree in given["ties"].items()]
    proved = MEANINGS[PROVED] if given["flow"] in FLOW else STEERED
    lines.append({**MEANINGS, PROVED: proved}[record["verdict"]])
    conditions = [*state.conditions, *state.assumed, *(f"{p} != 0" for p in state.generic)]
    implied = {f"{text[:-4]} != 0" for text in conditions if text.endswith((" > 0", " < 0"))}
    conditions = [_of_flow(text, {*given["weights"]}) for text in conditions if text not in implied]
    lines += [f"assumed: {'; '.join(dict.fromkeys(conditions))}"] if conditions else []
    return lines + [f"numbers that signs were read at: {pairs(at)}"] * bool(at)


def _of_flow(condition: str, weights: set[str]) -> str:
    """Return a condition; one on weights is one all along the flow."""
    found = CONDITION.fullmatch(condition)
    plain = found is None or "keeps" in found[2] or not names_in([found[1]]) & weights
    return condition if plain else f"{condition} along the flow"


NORMALIZATION = tuple(
    f"{zero}; up to a positive factor and a constant"
    for zero in ("grad Q(beta_0) = 0", "grad Q = y - y(w_0), or y(w_0) - y")
)
KINDS = ("explicit", "parametric", "algebraic", "quadrature")
# The keys of each kind of entry: "key[]" is a list, "key{}" an object; "key:kind" has entries of a
# kind, or is one; of "key:kind?" there may be none. "kind feature" has the keys that entries of the
# kind have besides in some records.
KEYS = {
    "every size": "format version verdict size parameterization:map laws[] kernel{} "
    "hessian:hessian warping:slope Q definitions{} conditions[] certificate:generic",
    "map": "output each outputs weights[] parameters[] positive[] rates{}",
    "slope": "verdict g y_i",
    "generic": "format version size index entries{} sums{} products{} definitions[] kernel at{}",
    "slope exists": "H_i",
    "generic fails": "fails{}",
    "generic exists": "exists{}",
    "matrices": "format version verdict parameterization:shapes finding:finding statements[] "
    "entry block orbit",
    "pushed": "format version verdict reason flow push outputs[] weights[] shapes{} start{} laws "
    "point{} steering[] other{} statements[] certificate:balls certificate_missing",
    "balls": "format version at{} scaling velocities",
    "shapes": "output shapes{} measurements b lengths{}",
    "finding": "verdict reason evidence[]",
    "record": "format version verdict certificate:proof parameterization:F conserved:conserved "
    "metric:metric hessian:hessian warping:warping potential:potential",
    "record relations": "relations:relations",
    "record Q": "Q",
    "record proofs": "proofs[]",
    "F": "flow outputs[] weights[] parameters[] start{} positive[] idle[] ties{} beta blocks[]",
    "F vector": "dimension vector coefficient norms start_vector s",
    "F affine": "affine:equation",
    "F rates": "rates{}",
    "conserved": "laws[] values_at_start[] count bound lie_dimension verdict",
    "metric": "kernel_in_weights kernel rho roots[]:root constants{}",
    "metric vector": "frame formula T R",
    "hessian": "verdict",
    "warping": "verdict g dual_coordinates[]:dual",
    "dual scalars": "y:function? conjugate:function?",
    "dual vector": "log_psi:function?",
    "potential": "kind pieces[]:piece normalization asked verdict",
    "potential vector": "linear:coefficient Q",
    "potential other_side": "other_side",
    "piece": "kind beta Q gradient[] constants{} roots[]:root curve:curve? kernel abbreviations{} "
    "assumptions[] domain:domain",
    "root": "symbol polynomial explicit branch",
    "domain": "walls[]:wall undecided[] unless_zero[]",
    "wall": "form sign vanishing",
    "proof": "format version at{} definitions[] conserved hessian warping metric dual[] pieces[]",
    "proof sums": "sums[]",
    "relations": "blocks[]",
    "equation": "beta output is",
    "curve": "parameter beta interval",
    "function": "rational logarithms[]:log",
    "log": "coefficient argument",
    "coefficient": "vector coefficient",
}
KEY = re.compile(r"(\w+)(\[\]|{}|):?(.*)")
TYPES = {"": object, "[]": list, "{}": dict}


def keyed(entry: JSON, kind: str, features: Collection[str] = ()) -> None:
    """Require that an entry, or each of a list, has the keys of its kind in a record of features.

    What is undecided has a reason besides.
    """
    if isinstance(entry, list):
        for inner in entry:
            keyed(inner, kind, features)
        return
    if entry is None and kind.endswith("?"):
        return
    kind = kind.rstrip("?")
    kinds = (kind, *(f"{kind} {feature}" for feature in features))
    keys = [key for name in kinds for key in KEYS.get(name, "").split()]
    if entry.get("verdict") == UNDECIDED and "certificate:proof" not in keys:
        keys.append("reason")
        require(isinstance(entry.get("reason"), str), "what is undecided has a reason")
    parts = (part for key in keys for part in KEY.findall(key))
    inside = {name: (TYPES[mark], inner) for name, mark, inner in parts}
    odd = min({*inside} ^ {*entry}, default="")
    require(not odd, f"{kind}: the key {odd!s:.40} is missing or unknown")
    for name, (plain, inner) in inside.items():
        require(isinstance(entry[name], plain), f"{name} is of another type")
        if inner:
            keyed(entry[name], inner, features)


def shape(record: JSON, flow: Sequence[str]) -> None:
    """Require that the record has the keys of its format, and says in words what it has to."""
    given, q, metric = record["parameterization"], record["potential"], record["metric"]
    optional = {"relations": record, "other_side": q, "sums": record["certificate"]}
    optional |= dict.fromkeys(("proofs", "Q"), record)
    optional |= dict.fromkeys(("vector", "affine", "rates"), given)
    here = {key for key, entry in optional.items() if key in entry}
    keyed(record, "record", here if "vector" in here else {*here, "scalars"})
    proofs = record.get("proofs", ["certificate"])
    require(proofs in (["certificate"], ["certificate", "rocq"]), "proofs are named otherwise")
    same = len(record["warping"]["dual_coordinates"]) == len(given["blocks"])
    require(same, "each block has dual coordinates, or none")
    rates = given.get("rates")
    require(rates is None or {*rates} == {*given["weights"]}, "each weight has a rate")
    said: list[JSON] = [given["flow"], q["normalization"]]
    dense = any(isinstance(row, list) for row in (rates or {}).values())
    wanted: list[JSON] = [flow[("rates" in here) + dense], NORMALIZATION["other_side" in here]]
    if "vector" in here:
        u, (beta,) = given["vector"], given["beta"]
        said += [given["dimension"], given["norms"], given["start_vector"], given["s"]]
        wanted += ["d >= 2", {u: given["norms"][u]}, f"{u}_0", beta]
        said += [metric["frame"], metric["formula"], q["Q"], q["linear"]["vector"]]
        wanted += ["eigenvalues across beta (T) and along it (R)"]
        wanted += ["K = T I + (R - T) beta beta^T/s**2", "q(s) + coefficient*<start_vector, beta>"]
        wanted += [given["start_vector"]]
    for words, own in zip(said, wanted, strict=True):
        require(words == own, f"the record says {words!s:.60} where it has to say {own}")
