"""Write the proofs of limits: exponents of covariance, or expansions of the calls in grad Q."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import product

from flint import fmpq

from derive.certificate.checking.check import FORMAT, VERSION, derived
from derive.certificate.checking.function import constant
from derive.certificate.checking.further.expansion import one_sided
from derive.certificate.checking.further.limits import accept
from derive.certificate.checking.further.setting import Setting
from derive.certificate.checking.text import JSON, NotACertificate, Rejected
from derive.certificate.writing.certificate import MISSING
from derive.certificate.writing.expansions import Expansions
from derive.certificate.writing.products import named_calls

TERMS = (1, 2, 3)
SAMPLES = (("3", "7", "19", "37"), ("1/3", "1/7", "1/5", "1/11"), ("7/2", "11", "5", "13"))
FAULTS = (Rejected, NotACertificate, ValueError, ArithmeticError, KeyError, StopIteration)


def certify_limits(record: JSON, rates: Sequence[str | None], seconds: float) -> JSON:
    """Return a record of regimes with its certificate; None where the derivation has none.

    Args:
        record: what is said, with the record of the derivation.
        rates: for each limit c, where exp(-c s) or exp(-c/s) is the small parameter, or None.
        seconds: after which no more proofs are looked for.
    """
    end = time.monotonic() + seconds
    try:
        setting = _setting(record)
    except FAULTS as fault:
        return {**record, "certificate": None, "certificate_missing": f"{MISSING}: {fault}"}
    whole, proofs = setting.record, setting.record["certificate"]["limits"]
    for n, (said, rate) in enumerate(zip(record["limits"], rates, strict=True)):
        brief = {k: v for k, v in said.items() if k not in ("reason", "evidence")}
        proofs[n] = _first(setting, brief, rate, end)
        whole["limits"][n] = said if proofs[n] is None else brief
    return whole


def _setting(record: JSON) -> Setting:
    """Return the record with what the start needs, its derivation checked."""
    if (record["derivation"] or {}).get("certificate") is None:
        raise NotACertificate("the derivation has none")
    pieces = record["derivation"]["potential"]["pieces"]
    assumed = dict.fromkeys(text for piece in pieces for text in piece["assumptions"])
    texts = [text for row in record["kernel_at_start"] for text in row] + record["beta_0"]
    names = named_calls(texts, "k_")
    state = derived(record["derivation"], len(names))[1]
    proof = {"format": FORMAT, "version": VERSION, "definitions": names, "limits": []}
    whole = {**record, "assumptions": [*assumed], "certificate": proof}
    try:
        setting = Setting(whole, state)
    except Rejected:  # K at the start is left without a proof
        proof["definitions"] = None
        setting = Setting(whole, derived(record["derivation"])[1])
    proof["limits"] = [None] * len(record["limits"])
    return setting


def _first(setting: Setting, said: JSON, rate: str | None, end: float) -> JSON:
    """Return the first proof that the checker accepts before the end, or None."""
    for proof in proposals(setting, said, rate) if said["verdict"] == "PROVED" else ():
        if time.monotonic() > end:
            break
        try:
            accept(setting, said, proof)
        except FAULTS:
            continue
        return proof
    return None


def proposals(setting: Setting, said: JSON, rate: str | None) -> Iterator[JSON]:
    """Yield proofs of a limit."""
    exponent = _exponent(setting)
    if exponent is not None:
        texts = [*(t for row in setting.kernel or () for t in row), said["unit"], *said["gradient"]]
        names = named_calls(texts, "k_")
        for order in (2, 1):
            yield {"exponent": str(exponent), "definitions": names, "order": order}
    for error, terms, samples in product((True, False), TERMS, SAMPLES):
        try:
            sides = [*_sides(setting, said, rate, (terms, samples))]
            yield {"rate": rate, "sides": sides, "error": error}
        except FAULTS:
            continue


def _exponent(setting: Setting) -> fmpq | None:
    """Return m of w_0 = s^m w_1."""
    space, k = setting.space, setting.space.given.index(setting.record["variable"])
    moved = [w for w in space.w0 if not w.is_zero()]
    return constant(space.symbols[k] * moved[0].partial(k) / moved[0]) if moved else None


def _sides(
    setting: Setting, said: JSON, rate: str | None, by: tuple[int, Sequence[str]]
) -> Iterator[JSON]:
    x, (terms, samples) = said["coordinates"], by
    for signs in product(*map(tuple, _signs(setting, said))):
        pairs = list(zip(x, signs, samples, strict=False))
        where = [f"{n} {'<' if s < 0 else '>'} 0" for n, s, _ in pairs if s]
        first = [f"{n} > 0" for n in x if f"{n} > 0" in where and n in one_sided(said)]
        at = {n: f"{'-' if s < 0 else ''}{v}" for n, s, v in pairs}
        side = {"where": [*first, *(t for t in where if t not in first)], "at": at}
        found = Expansions(setting, said, {**side, "definitions": []}, rate, terms)
        yield {**side, "definitions": found.written()}


def _signs(setting: Setting, said: JSON) -> Iterator[Sequence[int]]:
    """Yield the signs that coordinates have: both, one, or 0 where Q is no sum."""
    for n in said["coordinates"]:
        if len(setting.given["blocks"]) < len(said["coordinates"]):
            yield (0,)
        else:
            yield (1,) if n in one_sided(said) else (-1, 1)
