"""Certificates written by hand, and every small change of a certificate, for the tests."""

import copy
import json
import re

import pytest

from derive.certificate.checking.check import NotACertificate, Rejected, check_text

REFUSED = (Rejected, NotACertificate)


def assert_refused(record, why=None, faults=REFUSED):
    """Assert that the checker does not accept a record, or its text."""
    with pytest.raises(faults, match=why):
        check_text(record if isinstance(record, str) else json.dumps(record))


def assert_rejected(record, why=None):
    """Assert that a record is one, and that a statement of it does not follow."""
    assert_refused(record, why, Rejected)


def certificate(outputs, claims, verdict, **entries):
    """Return a record with the proofs of some claims, whose weights start at symbols unless told.

    Claims are what a section says beside its proof; outputs are shared out to the forms, and what
    is left has a Q without a proof.
    """
    weights = entries.pop("weights")
    start = entries.pop("start", {w: f"{w}_0" for w in weights})
    at = entries.pop("at", {f"{w}_0": str(n) for n, w in enumerate(weights, 2)})
    by_kind = {}
    for claim in claims:
        by_kind.setdefault(claim["claim"], []).append(claim)
    betas = named(outputs, by_kind.get("form", ()))
    pieces, proofs = (
        zip(*pieces_of(betas, claims), strict=True) if verdict == "PROVED" else ((), ())
    )
    duals = by_kind.get("dual", [])
    g = next((claim["g"] for claim in [*duals, *by_kind.get("form", ())]), None)
    yes, no = {"hessian", "warp"} & set(by_kind), {"no hessian", "no warp"} & set(by_kind)
    decided = {
        "hessian": "PROVED" if "hessian" in yes else "REFUTED" if no else "UNDECIDED",
        "warping": "PROVED" if yes else "REFUTED" if "no warp" in no else "UNDECIDED",
    }
    blocks = [c["outputs"] for c in duals] or [list(range(1, len(outputs) + 1))]
    said = [{"y": None, "conjugate": None}] if not duals else []
    said += [{"y": [logs(y) for y in c["y"]], "conjugate": logs(c["R"])} for c in duals]
    laws = (by_kind.get("laws") or [None])[0]
    return {
        "format": "regderive-derivation",
        "version": 2,
        "verdict": verdict,
        "parameterization": {
            "flow": "w' = -J^T X^T r",
            "outputs": outputs,
            "weights": weights,
            "parameters": entries.pop("parameters", []),
            "start": start,
            "positive": entries.pop("positive", []),
            "idle": [],
            "ties": entries.pop("ties", {}),
            "beta": betas,
            "blocks": blocks,
        },
        "conserved": conserved(laws, len(weights)),
        "metric": {
            **{"kernel_in_weights": [], "kernel": None, "rho": None},
            **{"roots": [], "constants": {}},
        },
        "hessian": decision(decided["hessian"]),
        "warping": {**decision(decided["warping"]), "g": g, "dual_coordinates": said},
        "potential": {
            **{"kind": max((p["kind"] for p in pieces), key=KINDS.index, default=None)},
            **{"pieces": list(pieces), "asked": None, **decision(verdict)},
            "normalization": "grad Q(beta_0) = 0; up to a positive factor and a constant",
        },
        "certificate": {
            **{"format": "regderive-certificate", "version": 6, "at": at},
            "definitions": entries.pop("definitions", []),
            "conserved": laws and proof(laws, "definitions", "point", "brackets"),
            "hessian": proof_of(by_kind, "hessian", "no hessian"),
            "warping": proof_of(by_kind, "warp", "no warp"),
            "metric": None,
            "dual": [{"definitions": c["definitions"]} for c in duals] or [None],
            "pieces": list(proofs),
        },
        **entries,
    }


KINDS = ("explicit", "parametric", "algebraic", "quadrature")


def named(outputs, forms):
    """Return the names of the outputs, as forms call them."""
    found = {a: b for form in forms for a, b in zip(form["outputs"], form["beta"], strict=True)}
    return [found.get(n, f"beta{n}") for n in range(1, len(outputs) + 1)]


def decision(verdict):
    return {"verdict": verdict, **({"reason": "unknown"} if verdict == "UNDECIDED" else {})}


def proof(claim, *keys):
    return {key: claim[key] for key in keys}


def proof_of(by_kind, yes, no):
    if yes in by_kind:
        return {}
    return proof(by_kind[no][0], "identity", "along", "regular") if no in by_kind else None


def conserved(laws, weights):
    if laws is None:
        none = {"laws": [], "values_at_start": [], "count": 0, "bound": weights}
        return {**none, "lie_dimension": None, **decision("UNDECIDED")}
    count, size = len(laws["laws"]), len(laws["brackets"])
    bound, said = weights - size, decision("PROVED")
    if count != bound:
        why = f"independent laws found: {count}; at most {bound} exist"
        said = {"verdict": "UNDECIDED", "reason": why}
    return {
        **{"laws": laws["laws"], "values_at_start": laws["values"], "count": count},
        **{"bound": bound, "lie_dimension": size if count == bound else None, **said},
    }


def logs(text):
    return None if text is None else {"rational": text, "logarithms": []}


def pieces_of(betas, claims):
    """Yield what is printed of Q with its proof: of the forms, and of what they leave."""
    left = list(betas)
    for claim in claims:
        if claim["claim"] == "form":
            left = [b for b in left if b not in claim["beta"]]
            yield (
                piece(claim),
                {"definitions": [aid(e) for e in claim["definitions"]], "domain": None},
            )
    if left:
        open_ = {"beta": left, "y": ["0"] * len(left), "Q": None, "definitions": []}
        yield piece({**open_, "parameter": None, "curve": None}), None


def aid(entry):
    return {k: v for k, v in entry.items() if k not in ("value", "root of", "above", "explicit")}


def piece(claim):
    found = {e["name"]: e for e in claim["definitions"] if "is" in e and "name" in e}
    roots = [root(name, e) for name, e in found.items() if "root of" in e]
    curve = None
    if claim["curve"] is not None:
        interval = ["-oo", "oo"]
        curve = {"parameter": claim["parameter"], "beta": claim["curve"], "interval": interval}
    explicit = all(r["explicit"] for r in roots)
    return {
        "kind": "parametric" if curve else "explicit" if explicit else "algebraic",
        "beta": claim["beta"],
        "Q": claim["Q"],
        "gradient": claim["y"],
        "constants": {
            n: e.get("value", e["is"])
            for n, e in found.items()
            if "root of" not in e and n != claim["parameter"]
        },
        "roots": roots,
        "curve": curve,
        "kernel": None,
        "abbreviations": {},
        "assumptions": claim.get("assumptions", []),
        "domain": {"walls": [], "undecided": ["leaf"], "unless_zero": []},
    }


def root(name, entry):
    branch = (
        "the largest real root" if entry["above"] == 0 else "the root on the branch of the start"
    )
    found = {"symbol": name, "polynomial": entry["root of"], "explicit": entry.get("explicit")}
    return {**found, "branch": branch}


def entries(value, path=()):
    """Yield (path, text) for every string in a record."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from entries(inner, (*path, key))
    elif isinstance(value, list):
        for key, inner in enumerate(value):
            yield from entries(inner, (*path, key))


SHORT = {
    "given": "parameterization",
    "piece": "potential.pieces.0",
    "proof": "certificate.pieces.0",
}


def steps(path):
    """Return the keys of a path, which may be a text such as ``piece.domain.walls``."""
    if not isinstance(path, str):
        return path
    first, dot, rest = path.partition(".")
    keys = f"{SHORT.get(first, first)}{dot}{rest}".split(".")
    return tuple(int(key) if key.isdigit() else key for key in keys)


def replaced(record, path, value):
    """Return a copy with one entry replaced."""
    path, changed = steps(path), copy.deepcopy(record)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return changed


def variants(text, names):
    """Yield texts that differ from *text* by one number, sign or name."""
    for found in re.finditer(r"(?<![A-Za-z0-9_])\d+|[+-]|[A-Za-z]\w*", text):
        old, (a, b) = found.group(), found.span()
        if old.isdigit():
            news = [str(int(old) + 1)]
        elif old in "+-":
            news = ["-" if old == "+" else "+"]
        else:
            news = [n for n in names if n != old][:2] if old in names else []
        for new in news:
            yield text[:a] + new + text[b:]
    if not text.startswith("-"):
        yield f"-({text})"
