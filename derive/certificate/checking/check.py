"""Check a certificate without trusting whoever wrote it: exact identities, and no search.

Everything is recomputed from the text of F; only Python and python-flint are used. A function is
a quotient of integer polynomials in weights, constants and *generators* (exp, log, powers, ...)
with their derivatives. It is zero when its numerator leaves no remainder by the relations of roots
and of the leaf; it is not zero when its value at a start, or that of a derivative along the fields
X_a = grad F_a, is not, in rationals or in balls without 0. Every divisor is shown to be other
than zero. Numbers are texts such as "-3/2"; labels count the outputs from 1. A certificate is::

    {"format": "regderive-certificate", "version": 2, "outputs": ["a*u1", "a*u2"],
     "weights": ["a", "u1", "u2"], "parameters": [], "definitions": [],
     "start": {"a": "a_0", ...},            w_0, rational in start symbols
     "at": {"a_0": "2", ...},               all start symbols and parameters in numbers
     "flow": "w' = -J^T X^T r",              r = X F(w) - y; this one, where it is left out
     "ties": [{"zero": f, "main": w}, ...], relations that determine some of the weights
     "verdict": "PROVED",
     "claims": [{"claim": kind, ...}, ...]}

With "vector": {"name": "u", "norm": "norm_u"} the one output is phi, beta = phi u for every vector
u in R^d, d >= 2, and the weights are the scalars in phi and n = |u|. F is then s = |phi| n, and
the direction of u_0 is free; the start and "at" say which sign phi has near w_0.

Definitions: {"name", "of": "exp(w)"} a new generator; {"name", "is": f} a name, with its "value" at
w_0 if f is conserved, and "root of" a polynomial of which it is a simple real root, "above" others
being larger; {"of": "sqrt(...)", "is": f} a call that is a known function; {"zero": f, "main": x}
what is 0 on the leaf, as it is at w_0 and its derivatives along X_a are where it is, solved for x.
Claims, with K_ab = <X_a, X_b>:

laws: <grad c, X_a> = 0, with "values" at w_0, independent at "point"; all of them, if p - n
    "brackets" are independent there.
hessian, warp: with H = 0, or the forced H, and V from "paths"
(:mod:`derive.certificate.checking.flow`),
    "structure" has c with [X_a, X_b] = H_a X_b - H_b X_a + c V, [X_a, V] = -omega X_a + c V,
    [V, V'] = c V, and V F = 0, hence V K = omega K; eta with eta(X_a) = H_a, eta(V) = omega is
    closed.
no hessian, no warp: one of ``Flow.sides`` fails: the numerator of left - right, differentiated
    "along" fields, is not 0 at the start; nor is det K, differentiated along "regular".
dual, form: X_a g = H_a g and X_a y_b = g delta_ab; in a form y = grad Q as printed, which is 0 at
    w_0, X_a Q = sum_b K_ab y_b, g > 0 at w_0; "equal" are texts that say the same. A form is
    written in beta, constants, roots and the "parameter" z of a "curve" beta = h(z).
    With a "vector" H = n |grad phi|^2/phi is forced, and g n = y |phi| moreover. "no hessian" has
    the "identity" ["constant", [], []]: H is not 0. Q = q(s) + z <u_0, beta> with y = q', "linear"
    z, and grad Q = 0 at w_0.
not certified: "what" was printed that this certificate does not prove; always shown.

Exact are all identities. By balls, at the start "at", are: which branch a root is, the signs of g,
of roots and of arguments of log, and that values are other than 0.

PROVED: X_a and V span all brackets, so the leaf of w_0 is tangent to them and eta = d log g on it.
theta_b = sum_c (K^-1)_bc dF_c has theta_b(X_a) = delta_ab, theta_b(V) = 0; by the structure
g theta_b is closed, dy_b, and y_b is a function of beta as V y_b = 0; dy_b/dbeta_c = g (K^-1)_bc is
symmetric: y = grad Q. Of a vector y = psi u/n, and <grad y_i, grad F_j> = g delta_ij is in all
components X psi = g = psi phi/n (:class:`derive.certificate.checking.flow.Turning`), which has a
solution on the curve of the scalars and n. That is on the part of the leaf around w_0 where all
calls are analytic and nothing divides by 0; if J has lower rank at w_0, on the parts beside it.
REFUTED: the Gram minors of K leave one H for any warp, hence all of ``Flow.sides`` on the whole
leaf; one of them fails there. Otherwise UNDECIDED.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from derive.certificate.checking.claims import Checker
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, NotACertificate, Rejected, names_in, require

FORMAT, VERSION, FLOW = "regderive-certificate", 2, "w' = -J^T X^T r"
_FAULTS = (KeyError, TypeError, AttributeError, IndexError, ValueError, ArithmeticError)
_LARGEST = ("the root", "the only real root", "the largest real root", "the length of beta")
_BRANCH = "the root on the branch of the start"
__all__ = ["FORMAT", "VERSION", "NotACertificate", "Rejected", "Report", "check", "check_text"]


@dataclass(frozen=True)
class Report:
    """What was accepted: the verdict, one line for each claim, and what is not certified."""

    verdict: str
    accepted: tuple[str, ...]
    open: tuple[str, ...]


def check(record: JSON) -> Report:
    """Return what a certificate proves.

    Raises:
        NotACertificate: the record is none.
        Rejected: a claim, or the verdict, does not follow; one line says which and how.
    """
    return _check(record)[1]


def _check(record: JSON) -> tuple[Checker, Report]:
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise NotACertificate(f"the format is not {FORMAT}")
    if record.get("version") != VERSION:
        raise NotACertificate(f"the version is not {VERSION}")
    require(record.get("flow", FLOW) == FLOW, f"the flow is another than {FLOW}")
    try:
        checker, accepted, uncertified = Checker(record), [], []
        for n, claim in enumerate(record["claims"], 1):
            try:
                kind = checker.accept(claim)
            except Rejected as why:
                raise Rejected(f"claim {n} ({claim['claim']!s:.20}): {why}") from None
            where = ", ".join(f"beta{a}" for a in claim.get("outputs", ()))
            if kind == "not certified":
                uncertified.append(claim["what"])
            else:
                accepted.append(f"{kind} ({where})" if where else kind)
        verdict = checker.verdict()
    except _FAULTS as fault:
        raise NotACertificate(f"an entry is missing or of the wrong type ({fault})") from None
    require(record.get("verdict") == verdict, f"verdict: the claims imply {verdict}")
    return checker, Report(verdict, tuple(accepted), tuple(uncertified))


def check_text(text: str) -> Report:
    """Check a JSON text: a certificate, or a record that has one and must print what it says."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise NotACertificate(f"no JSON: {fault}") from None
    if not isinstance(record, dict) or "certificate" not in record:
        return check(record)
    if record["certificate"] is None:
        raise NotACertificate("the record was written without one")
    checker, report = _check(record["certificate"])
    try:
        compare(record, checker.space, report.verdict, report.open)
    except _FAULTS as fault:
        raise NotACertificate(f"the record around it is incomplete ({fault})") from None
    return report


def compare(record: JSON, space: Space, verdict: str, left_open: Sequence[str]) -> None:
    """Require that a record prints what its certificate certifies, or leaves open by name.

    Compared are F, ties, the verdicts, the conserved quantities, g, and Q with its constants and
    roots. Other entries are not certified: kernels, points, and all sentences.
    """
    certificate, given, said = record["certificate"], record["parameterization"], record["verdict"]
    left = f"; it leaves open: {left_open[0]:.80}" if left_open else ""
    require(said == verdict, f"the record says {said!s:.40}, its certificate does not{left}")
    claims: dict[str, list[JSON]] = defaultdict(list)
    for claim in certificate["claims"]:
        claims[claim["claim"]].append(claim)
    vector, kinds = certificate.get("vector"), set(claims)
    outputs = given["outputs"] if vector is None else [given["coefficient"]]
    said = {"weights": given["weights"], "start": given["start"], "outputs": outputs}
    same = all(said[key] == certificate[key] for key in said) and _says_vector(given, vector)
    require(same, "the record is of another F or start than its certificate")
    ties = [*given["idle"], *(f"{w} - ({tree})" for w, tree in given["ties"].items())]
    same = [entry["zero"] for entry in certificate["ties"]] == ties
    require(same, "the record ties other weights")
    _compare_verdicts(record, kinds, set(left_open))
    same = _says_laws(record["conserved"], claims["laws"])
    same = same or "the conserved quantities" in left_open
    require(same, "the record says something else of what is conserved")
    warps = [*(claim["g"] for claim in claims["dual"]), *("1" for _ in claims["hessian"])]
    same = "the dual coordinates" in left_open or _is_warp(record["warping"]["g"], warps, space)
    require(same, "the record prints another g")
    _compare_forms(record["potential"]["pieces"], certificate["claims"], given["beta"])
    if vector is not None:
        term = record["potential"].get("linear", {}).get("coefficient")
        require(
            all(c["linear"] == term for c in claims["form"]),
            "the record prints another linear term",
        )


def _says_vector(given: JSON, vector: JSON) -> bool:
    """Tell whether beta = phi u is with the vector of the certificate, or there is none."""
    if vector is None:
        return "vector" not in given
    norms = {vector["name"]: vector["norm"]}
    return bool(given["vector"] == vector["name"] and given["norms"] == norms)


def _compare_verdicts(record: JSON, kinds: set[str], left_open: set[str]) -> None:
    """Require that "yes" and "no" are said where they are certified, or left open."""
    exists = "PROVED" if kinds & {"hessian", "warp"} else "UNDECIDED"
    warp = {"UNDECIDED", "REFUTED" if "no warp" in kinds else exists}
    opened = {"the warp", "no warp", "the Hessian map"} & left_open
    said = record["warping"]["verdict"]
    require(opened or said in warp, "the record says something else of the warp")
    refuted = "REFUTED" if kinds & {"no hessian", "no warp"} else "UNDECIDED"
    hessian = {"UNDECIDED", refuted, "PROVED" if "hessian" in kinds else "UNDECIDED"}
    opened = {"the Hessian map", "no Hessian map"} & left_open
    said = record["hessian"]["verdict"]
    require(opened or said in hessian, "the record says something else of the Hessian map")
    same = record["verdict"] == record["potential"]["verdict"]
    require(same, "the record says something else of Q")


def _says_laws(conserved: JSON, laws: list[JSON]) -> bool:
    """Tell whether the conserved quantities are those of the one claim, and as complete."""
    said = [conserved["laws"], conserved["values_at_start"]]
    same = [[claim["laws"], claim["values"]] for claim in laws] == [said]
    same = same and conserved["count"] == len(conserved["laws"])
    complete = any(claim["brackets"] is not None for claim in laws)
    return same and (complete or conserved["verdict"] != "PROVED")


def _is_warp(g: str | None, warps: Sequence[str], space: Space) -> bool:
    """Tell whether g is one of some warps, up to a positive constant where no weight is tied."""
    if g is None or g in warps:
        return True
    ratios = (space.without_ties(space.read(g) / space.read(w)) for w in warps)
    return any(space.is_of_constants(r) and bool(r.at(space.start) > 0) for r in ratios)


def _compare_forms(pieces: JSON, claims: JSON, betas: list[str]) -> None:
    """Require that every printed piece of Q is certified, or left open as a whole."""
    seen: list[str] = []
    for piece in pieces:
        labels = [betas.index(b) + 1 for b in piece["beta"]]
        require(labels and not set(piece["beta"]) & set(seen), "two pieces of Q share a beta")
        seen += piece["beta"]
        ours = [claim for claim in claims if claim.get("outputs") == labels]
        forms = [claim for claim in ours if claim["claim"] == "form"]
        opened = [claim for claim in ours if claim["claim"] == "not certified"]
        same = all(_says(piece, form, opened) for form in forms) and (forms or opened)
        require(same, "the record prints another Q than its certificate certifies")
    wanted = [b for claim in claims if claim["claim"] == "form" for b in claim["beta"]]
    require(set(wanted) <= set(seen), "the record leaves out a Q that is certified")


def _says(piece: JSON, claim: JSON, opened: list[JSON]) -> bool:
    """Tell whether a printed form is the one of a claim, with the same constants and roots."""
    curve = piece["curve"] or {"parameter": None, "beta": None}
    integral = claim["Q"] is None and opened and "Integral(" in piece["Q"]
    same = integral or (claim["Q"] == piece["Q"] and not piece["abbreviations"])
    said = [piece["beta"], piece["gradient"], curve["parameter"], curve["beta"]]
    same = same and said == [claim["beta"], claim["y"], claim["parameter"], claim["curve"]]
    return bool(same) and _names_are_said(piece, claim)


def _names_are_said(piece: JSON, claim: JSON) -> bool:
    """Tell whether constants and roots are printed as defined, and all that are used."""
    named = {entry["name"]: entry for entry in claim["definitions"] if "name" in entry}
    constants, roots = piece["constants"], {r["symbol"]: r for r in piece["roots"]}
    texts = [*claim["y"], claim["Q"] or "0", *(r["polynomial"] for r in roots.values())]
    used = names_in(texts) & set(named) - {claim["parameter"]}
    values = [(v, _value(named.get(n, {}))) for n, v in constants.items()]
    return (
        len(roots) == len(piece["roots"])
        and used <= {*constants, *roots}
        and all(v is not None and v == value for v, value in values)
        and all(_is_root(r, named.get(n, {}), claim) for n, r in roots.items())
    )


def _value(entry: JSON) -> JSON:
    """Return the value of a constant at the start."""
    return None if "root of" in entry else entry.get("value", entry.get("is"))


def _is_root(root: JSON, entry: JSON, claim: JSON) -> bool:
    """Tell whether a printed root is the one that is defined."""
    above, explicit = entry.get("above"), root["explicit"]
    return bool(
        root["polynomial"] == entry.get("root of")
        and root["real_roots_above"] in (None, above)
        and (explicit is None or [root["symbol"], explicit] in claim["equal"])
        and (root["branch"] == _BRANCH or (above == 0 and root["branch"] in _LARGEST))
    )
