"""What a record may say: the keys and types of its entries, and its fixed words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from derive.certificate.checking.text import JSON, UNDECIDED, require

NORMALIZATION = tuple(
    f"{zero}; up to a positive factor and a constant"
    for zero in ("grad Q(beta_0) = 0", "grad Q = y - y(w_0), or y(w_0) - y")
)
KINDS = ("explicit", "parametric", "algebraic", "quadrature")
# The keys of each kind of entry, "key:kind" for entries or lists of them, "key:kind?" where there
# may be none; "kind feature" for the keys that entries of the kind have besides in some records.
KEYS = {
    "record": "format version verdict certificate:proof parameterization:F conserved:conserved "
    "metric:metric hessian:hessian warping:warping potential:potential",
    "record relations": "relations:relations",
    "F": "flow outputs weights parameters start positive idle ties kernel_factor "
    "homogeneity_degree beta blocks",
    "F equivalent_start": "equivalent_start",
    "F vector": "dimension vector coefficient norms start_vector s",
    "F affine": "affine:equation",
    "F rates": "rates",
    "conserved": "laws values_at_start count bound lie_dimension verdict",
    "metric": "kernel_in_weights kernel rho roots:root constants",
    "metric vector": "frame formula T R",
    "hessian": "verdict",
    "warping": "verdict g dual_coordinates:dual",
    "dual scalars": "y:function? conjugate:function?",
    "dual vector": "log_psi:function?",
    "potential": "kind pieces:piece normalization asked verdict",
    "potential vector": "linear:coefficient Q",
    "potential other_side": "other_side",
    "piece": "kind beta Q gradient constants roots:root curve:curve? kernel abbreviations "
    "assumptions domain:domain",
    "root": "symbol polynomial explicit branch real_roots_above",
    "domain": "walls:wall undecided unless_zero",
    "wall": "form sign vanishing",
    "proof": "format version at definitions conserved hessian warping metric dual pieces",
    "proof equivalent_start": "equivalence",
    "relations": "blocks",
    "equation": "beta output is",
    "curve": "parameter beta interval",
    "function": "rational logarithms:log",
    "log": "coefficient argument",
    "coefficient": "vector coefficient",
}
TYPES = {
    list: "outputs weights parameters positive idle blocks laws values_at_start roots pieces dual "
    "dual_coordinates gradient assumptions walls undecided unless_zero definitions "
    "logarithms",
    dict: "start ties constants abbreviations at equivalent_start rates",
}


def keys_of(*names: str) -> dict[str, str]:
    """Return the keys of some kinds, with the kinds of what they have."""
    pairs = (key.partition(":") for name in names for key in KEYS.get(name, "").split())
    return {key: inner for key, _, inner in pairs}


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
    inside = keys_of(kind, *(f"{kind} {feature}" for feature in features))
    if entry.get("verdict") == UNDECIDED and "certificate" not in inside:
        inside["reason"] = ""
        require(isinstance(entry.get("reason"), str), "what is undecided has a reason")
    odd = min({*inside} ^ {*entry}, default="")
    require(not odd, f"{kind}: the key {odd!s:.40} is missing or unknown")
    for key, inner in inside.items():
        if inner:
            keyed(entry[key], inner, features)


def typed(value: JSON) -> None:
    """Require lists and objects where these belong."""
    if isinstance(value, dict):
        for kind, keys in TYPES.items():
            odd = [k for k in keys.split() if not isinstance(value.get(k, kind()), kind)]
            require(not odd, f"{''.join(odd[:1])} is of another type")
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            typed(inner)


def shape(record: JSON, flow: Sequence[str]) -> None:
    """Require that the record has the keys of its format, and says in words what it has to."""
    typed(record)
    given, q, metric = record["parameterization"], record["potential"], record["metric"]
    optional = {"relations": record, "other_side": q}
    optional |= dict.fromkeys(("vector", "affine", "rates", "equivalent_start"), given)
    here = {key for key, entry in optional.items() if key in entry}
    keyed(record, "record", here if "vector" in here else {*here, "scalars"})
    same = len(record["warping"]["dual_coordinates"]) == len(given["blocks"])
    require(same, "each block has dual coordinates, or none")
    rates = given.get("rates")
    require(rates is None or {*rates} == {*given["weights"]}, "each weight has a rate")
    said: list[JSON] = [given["flow"], q["normalization"], given["kernel_factor"]]
    dense = any(isinstance(row, list) for row in (rates or {}).values())
    wanted: list[JSON] = [flow[("rates" in here) + dense], NORMALIZATION["other_side" in here]]
    wanted.append(None)  # K is that of F as it is given
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
