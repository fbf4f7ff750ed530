"""What a record prints around its certificate, against what the certificate says.

Compared are F, ties, the verdicts, the conserved quantities, g, and Q with its constants and roots.
Other entries are not certified: kernels, points, and all sentences, such as evidence, domains and
assumptions.
"""

from __future__ import annotations

from typing import Any

from derive.certificate.checking.text import names_in, require

_LARGEST = ("the root", "the only real root", "the largest real root", "the length of beta")
_BRANCH = "the root on the branch of the start"


def compare(record: Any, checker: Any, report: Any) -> None:
    """Require that a record prints what its certificate certifies, or leaves open by name."""
    certificate, kinds, open_ = record["certificate"], checker.established, set(report.open)
    left = f"; it leaves open: {report.open[0]:.80}" if report.open else ""
    said = record["verdict"]
    require(said == report.verdict, f"the record says {said!s:.40}, its certificate does not{left}")
    given = record["parameterization"]
    same = all(given[key] == certificate[key] for key in ("outputs", "weights", "start"))
    require(same, "the record is of another F or start than its certificate")
    ties = [*given["idle"], *(f"{w} - ({tree})" for w, tree in given["ties"].items())]
    same = [entry["zero"] for entry in certificate["ties"]] == ties
    require(same, "the record ties other weights")
    proved = {kind: "PROVED" for kind in ("hessian", "warp") if kind in kinds}
    refuted = {kind: "REFUTED" for kind in ("no hessian", "no warp") if kind in kinds}
    found = {*proved.values(), "UNDECIDED"} if "no warp" not in kinds else {"REFUTED", "UNDECIDED"}
    opened = {"the warp", "no warp", "the Hessian map"} & open_
    require(
        opened or record["warping"]["verdict"] in found,
        "the record says something else of the warp",
    )
    found = {"UNDECIDED", "REFUTED" if refuted else "UNDECIDED"}
    found |= {"PROVED"} if "hessian" in kinds else set()
    opened = {"the Hessian map", "no Hessian map"} & open_
    require(
        opened or record["hessian"]["verdict"] in found,
        "the record says something else of the Hessian map",
    )
    require(said == record["potential"]["verdict"], "the record says something else of Q")
    claims = certificate["claims"]
    conserved = record["conserved"]
    laws = [c for c in claims if c["claim"] == "laws"]
    same = [[c["laws"], c["values"]] for c in laws] == [
        [conserved["laws"], conserved["values_at_start"]]
    ] and conserved["count"] == len(conserved["laws"])
    complete = conserved["verdict"] != "PROVED" or any(c["brackets"] is not None for c in laws)
    left_open = "the conserved quantities" in open_
    require(left_open or (same and complete), "the record says something else of what is conserved")
    g = record["warping"]["g"]
    warps = [claim["g"] for claim in claims if claim["claim"] == "dual"]
    warps += ["1"] if "hessian" in kinds else []
    same = "the dual coordinates" in open_ or g is None or g in warps
    same = same or any(_is_multiple(g, w, checker.space) for w in warps)
    require(same, "the record prints another g")
    _compare_forms(record, [*given["beta"]])


def _is_multiple(g: str, w: str, space: Any) -> bool:
    """Tell whether two warps differ by a positive constant, in the weights that are not tied."""
    ratio = space.without_ties(space.read(g) / space.read(w))
    return bool(space.is_of_constants(ratio) and ratio.at(space.start) > 0)


def _compare_forms(record: Any, betas: list[str]) -> None:
    """Require that every printed piece of Q is certified, or left open as a whole."""
    seen: list[str] = []
    claims = record["certificate"]["claims"]
    for piece in record["potential"]["pieces"]:
        labels = [betas.index(b) + 1 for b in piece["beta"]]
        require(labels and not set(piece["beta"]) & set(seen), "two pieces of Q share a beta")
        seen += piece["beta"]
        ours = [claim for claim in claims if claim.get("outputs") == labels]
        forms = [claim for claim in ours if claim["claim"] == "form"]
        opened = any(claim["claim"] == "not certified" for claim in ours)
        same = all(_says(piece, form, opened) for form in forms) and (forms or opened)
        require(same, "the record prints another Q than its certificate certifies")
    wanted = [b for c in claims if c["claim"] == "form" for b in c["beta"]]
    require(set(wanted) <= set(seen), "the record leaves out a Q that is certified")


def _says(piece: Any, claim: Any, opened: bool) -> bool:
    """Tell whether a printed form is the one of a claim, with the same constants and roots."""
    named = {entry["name"]: entry for entry in claim["definitions"] if "name" in entry}
    constants, roots = piece["constants"], {r["symbol"]: r for r in piece["roots"]}
    if len(roots) < len(piece["roots"]):
        return False
    curve = piece["curve"] or {"parameter": None, "beta": None}
    integral = claim["Q"] is None and opened and "Integral(" in piece["Q"]
    texts = [*claim["y"], claim["Q"] or "0", *(r["polynomial"] for r in roots.values())]
    used = names_in(texts) & set(named) - {claim["parameter"]}
    return bool(
        claim["beta"] == piece["beta"]
        and claim["y"] == piece["gradient"]
        and (integral or claim["Q"] == piece["Q"])
        and (integral or not piece["abbreviations"])
        and used <= {*constants, *roots}
        and all(v is not None and _value(named.get(n, {})) == v for n, v in constants.items())
        and all(_is_root(r, named.get(n, {}), claim) for n, r in roots.items())
        and (claim["parameter"], claim["curve"]) == (curve["parameter"], curve["beta"])
    )


def _value(entry: Any) -> Any:
    """Return the value of a constant at the start."""
    return None if "root of" in entry else entry.get("value", entry.get("is"))


def _is_root(root: Any, entry: Any, claim: Any) -> bool:
    """Tell whether a printed root is the one that is defined."""
    above, explicit = entry.get("above"), root["explicit"]
    return bool(
        root["polynomial"] == entry.get("root of")
        and root["real_roots_above"] in (None, above)
        and (explicit is None or [root["symbol"], explicit] in claim["equal"])
        and (root["branch"] == _BRANCH or (above == 0 and root["branch"] in _LARGEST))
    )
