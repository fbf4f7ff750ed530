"""What a record may say: the keys and types of its entries, and its fixed words."""

from __future__ import annotations

from collections.abc import Sequence

from derive.certificate.checking.text import JSON, require
from derive.certificate.checking.theorem import UNDECIDED

NORMALIZATION = tuple(
    f"{zero}; up to a positive factor and a constant"
    for zero in ("grad Q(beta_0) = 0", "grad Q = y - y(w_0), or y(w_0) - y")
)
FRAME = "eigenvalues across beta (T) and along it (R)"
LINEAR = "q(s) + coefficient*<start_vector, beta>"
FORMULA = "K = T I + (R - T) beta beta^T/s**2"
KINDS = ("explicit", "parametric", "algebraic", "quadrature")
KEYS = {
    "record": "format version verdict parameterization conserved metric hessian warping potential "
    "certificate",
    "parameterization": "flow outputs weights parameters start positive idle ties kernel_factor "
    "homogeneity_degree beta blocks",
    "equivalent": "equivalent_start",
    "vector": "dimension vector coefficient norms start_vector s",
    "affine": "affine",
    "rated": "rates",
    "conserved": "laws values_at_start count bound lie_dimension verdict",
    "metric": "kernel_in_weights kernel rho roots constants",
    "eigenvalues": "frame formula T R",
    "hessian": "verdict",
    "warping": "verdict g dual_coordinates",
    "dual": "y conjugate",
    "psi": "log_psi",
    "potential": "kind pieces normalization asked verdict",
    "linear": "linear Q",
    "sides": "other_side",
    "piece": "kind beta Q gradient constants roots curve kernel abbreviations assumptions domain",
    "root": "symbol polynomial explicit branch real_roots_above",
    "domain": "walls undecided unless_zero",
    "wall": "form sign vanishing",
    "certificate": "format version at definitions conserved hessian warping metric dual pieces",
    "moved": "equivalence",
    "relations": "blocks",
    "equation": "beta output is",
    "curve": "parameter beta interval",
    "function": "rational logarithms",
    "log": "coefficient argument",
    "coefficient": "vector coefficient",
}
TYPES = {
    list: "outputs weights parameters positive idle blocks laws values_at_start roots pieces dual "
    "dual_coordinates gradient assumptions walls undecided unless_zero definitions "
    "logarithms",
    dict: "start ties constants abbreviations at equivalent_start rates",
}


def typed(value: JSON) -> None:
    """Require lists and objects where these belong."""
    if isinstance(value, dict):
        for kind, keys in TYPES.items():
            odd = [k for k in keys.split() if not isinstance(value.get(k, kind()), kind)]
            require(not odd, f"{''.join(odd[:1])} is of another type")
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            typed(inner)


def _keys(entry: JSON, *kinds: str) -> None:
    """Require that an entry has the keys of its kinds, and a reason where it is undecided."""
    wanted = {key for kind in kinds for key in KEYS[kind].split()}
    if entry.get("verdict") == UNDECIDED and "record" not in kinds:
        wanted.add("reason")
        require(isinstance(entry.get("reason"), str), "what is undecided has a reason")
    odd = min(wanted ^ set(entry), default="")
    require(not odd, f"{kinds[0]}: the key {odd!s:.40} is missing or unknown")


def _logarithms(value: JSON) -> None:
    """Require that functions that are given with their logarithms have nothing else."""
    for f in value:
        if isinstance(f, list):
            _logarithms(f)
        elif f is not None:
            _keys(f, "function")
            for log in f["logarithms"]:
                _keys(log, "log")


def _rated(given: JSON) -> bool:
    """Tell whether the weights have rates: each of them, and no vectors."""
    rates = given.get("rates")
    same = rates is None or ({*rates} == {*given["weights"]} and "vector" not in given)
    require(same, "each weight has a rate, and no vector has")
    return rates is not None


def shape(record: JSON, flow: Sequence[str]) -> None:
    """Require that the record has the keys of its format, and says in words what it has to."""
    given, q = record["parameterization"], record["potential"]
    if open_dimension := "vector" in given:
        norm = {given["vector"]: given["norms"][given["vector"]]}
        words = [given["dimension"], given["norms"], given["start_vector"], given["s"]]
        same = words == ["d >= 2", norm, f"{given['vector']}_0", *given["beta"]]
        require(same, "the record says something else of its vector")
    _keys({key: record[key] for key in record if key != "relations"}, "record")
    moved = "equivalent_start" in given
    optional = ["affine"] * ("affine" in given) + ["vector"] * open_dimension
    rated = _rated(given)
    _keys(given, "parameterization", *optional, *["equivalent"] * moved, *["rated"] * rated)
    _keys(record["metric"], "metric", *["eigenvalues"] * open_dimension)
    sided = "other_side" in q
    _keys(q, "potential", *["linear"] * open_dimension, *["sides"] * sided)
    for kind in ("conserved", "hessian", "warping"):
        _keys(record[kind], kind)
    _keys(record["certificate"], "certificate", *["moved"] * moved)
    duals = record["warping"]["dual_coordinates"]
    require(len(duals) == len(given["blocks"]), "each block has dual coordinates, or none")
    for dual in duals:
        _keys(dual, "psi" if open_dimension else "dual")
        _logarithms([*dual.values()])
    for entry in given.get("affine", ()):
        _keys(entry, "equation")
    if "relations" in record:
        _keys(record["relations"], "relations")
    for piece in q["pieces"]:
        _keys(piece, "piece")
        _keys(piece["domain"], "domain")
        if piece["curve"] is not None:
            _keys(piece["curve"], "curve")
        for wall in piece["domain"]["walls"]:
            _keys(wall, "wall")
    for root in (r for part in (record["metric"], *q["pieces"]) for r in part["roots"]):
        _keys(root, "root")
    flow = flow[rated]
    require(given["flow"] == flow, f"the flow is another than {flow}")
    require(q["normalization"] == NORMALIZATION[sided], "Q is normalized in another way")
    if open_dimension:
        words = [record["metric"]["frame"], record["metric"]["formula"], q["Q"]]
        require(words == [FRAME, FORMULA, LINEAR], "the record says something else of a vector")
        _keys(q["linear"], "coefficient")
        require(q["linear"]["vector"] == given["start_vector"], "the linear term is of another")
