"""What a record prints around its certificate, against what the certificate says.

Compared are F, ties, the verdicts, the conserved quantities, g, and Q with its constants and roots.
Other entries are not certified: kernels, points, and all sentences, such as evidence, domains and
assumptions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, names_in, require

_LARGEST = ("the root", "the only real root", "the largest real root", "the length of beta")
_BRANCH = "the root on the branch of the start"


def compare(record: JSON, space: Space, verdict: str, left_open: Sequence[str]) -> None:
    """Require that a record prints what its certificate certifies, or leaves open by name."""
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
