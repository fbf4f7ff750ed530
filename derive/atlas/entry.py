"""An entry of the atlas: a parameterization from one start, and what was derived of it."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from derive.atlas.canonical import LETTERS
from derive.atlas.leaf import Numbers
from derive.model.parameterization import Parameterization

FAULT = "FAULT"
"""The verdict of what made the program fail: there is no answer."""
STARTS = tuple(Fraction(n, 20) for n in (28, 17, 23, 31, 15, 26, 19, 33, 21))
SAMPLED = 3
"""From how many starts Hess Q is sampled."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the atlas; each field is a column of the table ``entries``.

    Attributes:
        id: ten letters that F and the start alone decide.
        number: its place, by size and then as drawn.
        size: of F, by the grammar.
        outputs, start: F and its start as one types them.
        weights, dimension: p and d.
        verdict: PROVED, REFUTED, UNDECIDED, or FAULT.
        reason: of a verdict that is not PROVED.
        laws: what the flow keeps, between commas; law_forms: by which these are searched.
        g: the warp; 1 where none is needed, empty where it has no formula.
        Q: a line "Q = ...", and one for each name in it; empty without Q.
        kind: explicit, algebraic, parametric, or quadrature, where an integral is left.
        left: why one is left.
        domain: where Q lives, in words; everywhere: whether that is proved to be all of R^d.
        horizon: the norm whose largest margin the flow tends to on separable data.
        closed: whether K is written as a function of beta and constants.
        class_id: the id of the simplest entry with the same Q, in numbers.
        samples: rows (start, beta, Hess Q) as little-endian doubles, compressed by zlib.
        certificate: the JSON record with its certificate, compressed by xz; None where not asked.
        seconds: of the processor.
    """

    id: str
    number: int
    size: int
    outputs: str
    start: str
    weights: int
    dimension: int
    verdict: str
    reason: str = ""
    laws: str = ""
    law_forms: str = ""
    g: str = ""
    Q: str = ""
    kind: str = ""
    left: str = ""
    domain: str = ""
    everywhere: int = 0
    horizon: str = ""
    closed: int = 0
    class_id: str = ""
    samples: bytes | None = None
    certificate: bytes | None = None
    seconds: float = 0.0

    @property
    def answer(self) -> tuple[object, ...]:
        """What of the entry a special start may change."""
        return self.verdict, self.kind, self.g == "1", self.everywhere, self.horizon

    def parameterization(self) -> Parameterization:
        """Return F and its start, to be derived."""
        start = dict(pair.split("=") for pair in self.start.split(",") if pair)
        return Parameterization.parse(self.outputs.split(", "), start=start)

    @property
    def symbols(self) -> list[str]:
        """Where the weights start, in order: names, or 0."""
        given = dict(pair.split("=") for pair in self.start.split(",") if pair)
        return [given.get(w, f"{w}_0") for w in LETTERS[: self.weights]]

    def numbers(self, k: int) -> dict[str, Fraction]:
        """Return the k-th start in numbers at which Hess Q is sampled."""
        names = dict.fromkeys(s for s in self.symbols if s != "0")
        return {s: STARTS[(j * (k + 1) + 2 * k) % len(STARTS)] for j, s in enumerate(names)}

    def points(self) -> Numbers:
        """Return the samples: the number of the start, beta, and Hess Q as its upper triangle."""
        d = self.dimension
        raw = zlib.decompress(self.samples) if self.samples else b""
        return np.frombuffer(raw, "<f8").reshape(-1, 1 + d + d * (d + 1) // 2)


def identifier(outputs: Sequence[str], start: str = "") -> str:
    """Return the id of an entry."""
    whole = "\n".join((*outputs, start)).encode()
    return hashlib.blake2b(whole, digest_size=5).hexdigest()
