"""Check a certificate without trusting whoever wrote it.

A certificate says what a derivation proved, and gives what is needed to see it again: no search,
only exact identities. Everything that a claim speaks of is recomputed from the text of the
outputs F; the certificate's author is believed in nothing. This module and the ones that it
imports, all in :mod:`derive.checking`, use Python's standard library and python-flint, and no
other part of this package.

A certificate is JSON of dictionaries, lists, strings and small integers::

    {"format": "regderive-certificate", "version": 1,
     "outputs": ["a*u1", "a*u2"],          F, in the language of the command line; where it has
                                           generators, written in them, and "as typed" besides
     "weights": ["a", "u1", "u2"],
     "parameters": [],                     symbols in F that are constants, such as a depth D
     "generators": [],                     calls and real powers, each after those that it uses
     "point": null,                        {weight: rational}; divisors with generators are
                                           shown there not to be zero
     "start": {"a": "a_0", ...},           w_0 as rational functions of start symbols
     "verdict": "PROVED",
     "claims": [{"claim": kind, "block": n, ...}, ...]}

Numbers are strings such as "-3/2". Blocks are the groups of outputs that share no weight, counted
from 1 in the order of their first output. The claims, in order, each checked in what the ones
before it established:

idle
    "weights": they start at 0, and where they are 0 no output has a slope along them.
laws
    "laws": <grad c, grad F_i> = 0, with gradients that are independent at "point". They are all
    where p - n iterated "brackets" (1 is X_1, [1, 2] is [X_1, X_2], ...) are independent there.
hessian
    X_a K_bc = X_b K_ac and the closure of :mod:`derive.checking.flow` with H = 0; nothing for
    d = 1. Here and for a warp det K must not vanish on the leaf of w_0.
warp
    The forced H solves H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac, and the closure holds.
no hessian, no warp
    The "identity", one of those of :meth:`derive.checking.flow.Flow.sides`, fails on the leaf:
    left - right is "residual" at the start "at". Where "cleared", both sides are first multiplied
    by their denominators; then the difference may be differentiated along the fields "along".
    det K, differentiated along "regular along", is not 0 there.
dual
    <grad y_i, grad F_j> = g delta_ij, X_a g = H_a g, and <grad R, grad F_j> = g F_j.
form
    The printed Q and its gradient: see :mod:`derive.checking.form`.
not certified
    "what": something printed that this certificate does not prove; always shown. It stands
    "instead of" a "form" of Q, or of another "claim".

Why the verdict follows.

PROVED, one output. beta is monotone along the flow, in whichever direction it is steered, so on
    the leaf near w_0 the function K > 0 is one of beta; Q'' = 1/K.
PROVED, one block. eta(X_a) = H_a, eta(V) = omega(V) is a closed one-form on the leaf: the ranks
    show that its tangent space is spanned by the X_a and the vertical V. g = exp(int eta) makes
    g K^-1 constant along every V, so a function of beta, and the equations make it a Hessian.
PROVED, several blocks. Each is a Hessian map with g = 1, and Q is the sum.
REFUTED, one block. A warp g forces H = X log g, since the Gram minors of an independent J are
    positive, and with H every condition on the leaf. A function whose value, or an iterated
    derivative along the fields, is not 0 at w_0 is not zero on the leaf: one condition fails.
REFUTED, several blocks. For k in one block and i, j in another h_k rho_ij = 0, so that a warp
    is constant; and one block is not a Hessian map.
UNDECIDED: the claims imply neither. The verdict must be exactly what the claims imply.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from derive.checking.claims import CLAIMS
from derive.checking.polynomials import Rejected
from derive.checking.record import Block, NotACertificate, State, open_certificate, require_shape

FORMAT, VERSION = "regderive-certificate", 1


@dataclass(frozen=True)
class Report:
    """What was accepted: the verdict, one line for each claim, and what is not certified."""

    verdict: str
    accepted: tuple[str, ...]
    open: tuple[str, ...]


def check(certificate: Any) -> Report:
    """Return what a certificate proves.

    >>> record = {"format": FORMAT, "version": 1, "outputs": ["w"], "weights": ["w"],
    ...           "parameters": [], "generators": [], "point": None, "start": {"w": "w_0"},
    ...           "verdict": "PROVED", "claims": [{"claim": "hessian", "block": 1},
    ...           {"claim": "not certified", "block": 1, "what": "Q",
    ...            "instead of": "form"}]}
    >>> check(record).open
    ('Q',)

    Raises:
        NotACertificate: the record is none.
        Rejected: a claim, or the verdict, does not follow; one line says which and how.
    """
    if not isinstance(certificate, dict) or certificate.get("format") != FORMAT:
        raise NotACertificate(f"the format is not {FORMAT}")
    if certificate.get("version") != VERSION:
        raise NotACertificate(f"the version is not {VERSION}")
    try:
        require_shape(certificate)
        return _check(certificate)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as fault:
        raise NotACertificate(f"an entry is missing or of the wrong type ({fault})") from None
    except ZeroDivisionError:
        raise Rejected("a division by zero") from None


def _check(certificate: Mapping[str, Any]) -> Report:
    state = open_certificate(certificate)
    accepted, uncertified = [], []
    for position, claim in enumerate(certificate["claims"], 1):
        kind, where = claim["claim"], f"claim {position} ({claim['claim']})"
        if kind == "idle":
            continue
        index = claim["block"]
        if kind not in CLAIMS or type(index) is not int or not 1 <= index <= len(state.blocks):
            raise Rejected(f"{where}: there is no such claim or block")
        block = state.blocks[index - 1]
        try:
            CLAIMS[kind](claim, block, state)
        except Rejected as why:
            raise Rejected(f"{where}: {why}") from None
        block.established.add(claim["instead of"] if kind == "not certified" else kind)
        if kind == "not certified":
            uncertified.append(str(claim["what"]))
        else:
            accepted.append(f"block {index}: {kind}")
            if kind == "form" and claim["Q"] is None:
                uncertified.append("Q itself, of which only the gradient is certified")
    uncertified += _as_typed(certificate, state)
    verdict = implied(state.blocks)
    if certificate["verdict"] != verdict:
        raise Rejected(f"verdict: the claims imply {verdict}, not {certificate['verdict']!s:.40}")
    return Report(verdict, tuple(accepted), tuple(uncertified))


def _as_typed(certificate: Mapping[str, Any], state: State) -> list[str]:
    """Return what is open about F as typed being F as written in the generators."""
    found = []
    for text, output in zip(certificate.get("as typed", []), certificate["outputs"], strict=False):
        try:
            same = (state.space.read(text) - state.space.read(output)).is_zero()
        except Rejected:
            same = False
        if not same:
            found.append(f"that {text} is {output}")
    return found


def implied(blocks: list[Block]) -> str:
    """Return the verdict that the established claims imply."""
    hessian = all("hessian" in b.established for b in blocks)
    no_hessian = any(b.established & {"no hessian", "no warp"} for b in blocks)
    single = blocks[0].established if len(blocks) == 1 else set()
    if "no warp" in single or (len(blocks) > 1 and no_hessian):
        return "REFUTED"
    if (hessian or "warp" in single) and all("form" in b.established for b in blocks):
        return "PROVED"
    return "UNDECIDED"


def check_text(text: str) -> Report:
    """Check a JSON text: a certificate, or a record that has one under "certificate".

    What the record says elsewhere, the verdict, F and every certified Q, must be what its
    certificate says.

    Raises:
        NotACertificate: the text is no JSON, or holds no certificate.
        Rejected: a claim or the verdict does not follow, or the record says something else.
    """
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise NotACertificate(f"no JSON: {fault}") from None
    if not isinstance(record, dict) or "certificate" not in record:
        return check(record)
    report = check(record["certificate"])
    try:
        _compare(record, record["certificate"])
    except (KeyError, TypeError, AttributeError) as fault:
        raise NotACertificate(f"the record around it is incomplete ({fault})") from None
    return report


def _compare(record: Mapping[str, Any], certificate: Mapping[str, Any]) -> None:
    """Require that a record prints what its certificate certifies."""
    if record["verdict"] != certificate["verdict"]:
        left = [c["what"] for c in certificate["claims"] if c["claim"] == "not certified"]
        why = f"; it leaves open: {left[0]!s:.80}" if left else ""
        raise Rejected(f"the record says {record['verdict']!s:.40}, its certificate does not{why}")
    given = record["parameterization"]
    typed = certificate.get("as typed", certificate["outputs"])
    if given["outputs"] != typed or any(given[k] != certificate[k] for k in ("weights", "start")):
        raise Rejected("the record is of another F or start than its certificate")
    printed = {tuple(piece["beta"]): piece for piece in record["potential"]["pieces"]}
    for claim in certificate["claims"]:
        if claim["claim"] == "form":
            piece = printed.get(tuple(claim["beta"]), {"Q": None, "gradient": None})
            if claim["Q"] not in (None, piece["Q"]) or claim["gradient"] != piece["gradient"]:
                raise Rejected("the record prints another Q than its certificate certifies")
