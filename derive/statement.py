"""Statements: what a record claims of F, under which conditions, and on what ground.

Every record that is printed yields its ``statements``; renderers set these and claim nothing of
their own. A sentence is in the notation of the terminal, its formulas in backticks, as
"``for `{b} > 0` it is `Q/N -> |{b}|` ``"; what is put in for a name in braces is an expression, a
tree, a finding with its reason, or another sentence.

``KINDS`` is the closed list of what is claimed. For each kind the tests have a witness: code that
knows F and the data alone, and tries to refute the statement by simulation or brute force.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


class Ground(enum.Enum):
    """Why a statement is made.

    PROVED: by an identity, an enclosure or a theorem of ours, its hypotheses decided or listed as
    conditions. CITED: by a theorem of a source, its hypotheses likewise. SIMULATED: it was run, and
    the figure is told. CONJECTURED: for none of these reasons.
    """

    PROVED = "proved"
    CITED = "cited"
    SIMULATED = "simulated"
    CONJECTURED = "conjectured"


KINDS: Mapping[str, str] = {
    # Of an optimizer on a linear model.
    "span": "the iterates stay in w_0 + row(X), or their dual points; or have no such law",
    "optimizer limit": "what a limit that interpolates minimises, or what it does not",
    "iterates": "what each iterate minimises at its own margins, for decreasing losses",
    "tail": "the direction tends to the largest margin in a norm, under exponential tails",
    # Of wide nets on the line.
    "wide limit": "the function to which a net tends, trained by mirror flow, as its width grows",
    # Of a design of F.
    "design": "F has the given Q on an interval, from a start; or no F has",
    "line element": "w(beta) whose inverse F has the given Q, as an integral",
    # Of the path from small starts on data.
    "saddle path": "where beta is at fixed t/N as the start tends to 0",
    "saddle limit": "what the end of that path minimises",
    # Of a training run.
    "run": "the steps of a log are steps of gradient descent on F, or one is none",
    "run drift": "what laws and dual coordinates moved by, and that the rest is steered",
    "run limit": "where the run leads, and how far its end is from there",
    # Of a perturbed flow.
    "drift": "c and y change by these drifts, y beside what steers, along the process",
    "closed drift": "a drift depends on the weights through the laws alone, or does not",
    "perturbed limit": "what a limit with X beta = y of the perturbed process minimises",
    "start of the end": "gradient flow from this start has the laws at the end, and that Q",
    "decay metric": "decay does not only shrink the start, and by what penalty and rates it would",
    "noise that stays": "the effective start tends to 0 as S grows",
    "annealed noise": "what limits minimise as S grows in all columns, before the noise stops",
    "decay kept on": "where decay that does not end leads",
    "crossing": "which drifts hold through a zero of what others are singular at",
    "damped rest": "how fast Nesterov's flow comes to rest",
    "one side": "a law changes to one side only",
    "data order": "on given rows limits do not depend on loss weights and order, or do",
    "closed kernel": "K is a function of beta on the leaf, or is none",
    # Of a derivation.
    "mirror flow": "Hess Q = g K^-1 for some Q and g > 0, or for none",
    "conserved": "functions of the weights that the flow keeps, and how many there are",
    "kernel": "K = J J^T, in beta on the leaf",
    "dual": "<grad y_i, grad F_j> = g delta_ij",
    "regularizer": "Q has the gradient y - y(w_0) on the leaf",
    "domain": "which beta the flow can reach, and where Q is convex",
    "minimiser": "a limit with X beta = y minimises Q among them",
    "every time": "beta(t) minimises Q at the margins that it has",
    "one row": "what beta(t) minimises on one row, under steepest descent on the weights",
    "box": "how far sign descent on the weights takes grad Q by time t",
    "shrunk start": "decay of homogeneous F shrinks the start, and does nothing else",
    # Of regimes.
    "start kernel": "K(w_0) = J J^T and F(w_0)",
    "time scale": "K(c w_0) = c^e K(w_0)",
    "ruling weights": "from starts c^Lambda w_0 the flow is that of some weights alone, as c tends",
    "kernel decides": "Q depends on the start through K(w_0) alone",
    "limit": "Q/N, or grad Q/N, has a limit at fixed coordinates as a symbol of the start tends",
    "regime": "that limit is the kernel norm, an l1 norm, a function of l2, or none of these",
    "limit error": "how fast the gradient comes to it",
    "steep side": "on which side of 0 Q/N has no finite limit, and how it grows there",
    "side reached": "on which side of 0 alone beta is",
    "clock runs": "g > 0 along the flow",
    "clock is onto": "int_0^t g ds is unbounded",
    "clock is bounded": "g is bounded where beta is",
    "width law": "K^2 = c beta^2 + kappa, kappa conserved, for sums of copies",
    "width moments": "means and variances over random starts of sums of copies",
    "wide starts": "kappa and beta_0 concentrate, and dQ/dbeta with them",
    # Of explicit regularization.
    "distance": "R = min |w - w_0|^2 subject to F(w) = beta",
    "fibre cost": "min h(w) subject to F(w) = beta, for another cost h of the weights",
    "R beside Q": "R is the Q of gradient flow, or not",
    "R and Q in numbers": "both at some beta",
    "scale limit": "R as the start goes to 0",
    "value": "R or R_F at numbers",
    # Of separable data.
    "coercive": "|grad Q| -> infinity as |beta| -> infinity where Q lives, or along which rays not",
    "growth": "Q(c x)/(c N(c)) -> h(x) as c -> infinity",
    "direction": "beta(t)/|beta(t)| tends to the largest margin in the horizon of Q",
    "homogeneous": "F(c w) = c^D F(w)",
    "graded": "F(c^Lambda w) = c F(w)",
    "KKT": "w(t), normalised, tends to a KKT point of least |w|^2, or that of the weights of the"
    " largest entry of Lam, at margins of at least 1",
    "KKT levels": "which weights fade, and what is least among the minimizers",
    "level cost": "the least sum of squares of the weights of one entry of Lam, given beta",
    "KKT law": "a conserved quantity is 0 at every KKT point",
    "KKT minimizer": "KKT points are minimizers, or one that is none",
    "representation cost": "R_F = min |w|^2 subject to F(w) = beta",
    "steepest KKT": "w(t)/|w(t)|_p tends to KKT points of least |w|_p at margins of at least 1",
    "steepest cost": "min |w|_p subject to F(w) = beta, as a function of beta",
    "agreement": "R_F is an increasing function of the horizon of Q, or of none",
    "large starts": "starts c w_0 are a linear model at bounded rescaled times, as c -> infinity",
    "large starts, late": "of which the direction is then that of its largest margin",
}
"""What a statement of each kind claims."""


@dataclass(frozen=True)
class Sentence:
    """Words with formulas in backticks, and what stands in them for names in braces."""

    words: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Text:
    """Text of a kind that tells where formulas and names of the user are in it.

    Attributes:
        kind: given, a formula or assumption of the user; reason, a sentence with their names in
            backticks, and formulas of ours between dollars; cited, the key of a source; claim, that
            of an identity; digits, the leading ones of a number.
    """

    text: str
    kind: Literal["given", "reason", "cited", "claim", "digits"] = "given"


@dataclass(frozen=True)
class Matrix:
    """A matrix within a formula."""

    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Equations:
    """Formulas below one another, left and right: expressions, or text in our notation.

    Attributes:
        label: to refer to them, as to one equation.
    """

    rows: tuple[tuple[object, object], ...]
    relation: str = "="
    label: str = ""


@dataclass(frozen=True)
class OnPage:
    """Lines for which there is room on a page alone."""

    lines: tuple[object, ...]


@dataclass(frozen=True)
class OnTerminal:
    """Lines for the terminal alone, as what command tells more."""

    lines: tuple[object, ...]


@dataclass(frozen=True)
class Items:
    """Lines of a list, or on a page the blocks of each."""

    lines: tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """Rows of cells below a head; where these are too wide the last cell is below its row."""

    head: tuple[object, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Note(Sentence):
    """A sentence that claims nothing: what letters mean, or how more is had."""


@dataclass(frozen=True)
class Clause(Note):
    """Words of a paragraph, with capitals and stops of their own, between the formulas in it."""


@dataclass(frozen=True, kw_only=True)
class Statement(Sentence):
    """A sentence that claims something of F.

    Attributes:
        kind: what is claimed, one of ``KINDS``.
        about: of which part of the record, where it has several; empty for the whole.
        ground: why.
        conditions: under which it is claimed, beside those of the record: sentences or relations.
        by: the finding, or the key of the source, that is its ground.
        above: what the words are about, such as Q, which stands before them.
        below: formulas and notes that belong to the words and stand below them.
        proof: lines that show why.
    """

    kind: str
    about: str = ""
    ground: Ground = Ground.PROVED
    conditions: tuple[object, ...] = ()
    by: object = ""
    above: tuple[object, ...] = ()
    below: tuple[object, ...] = ()
    proof: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"there is no kind of statement {self.kind!r}")

    @property
    def sentence(self) -> Sentence:
        """The words with their conditions in front, and the ground behind where it is no proof."""
        given = each("{0}", ((c,) for c in self.conditions), " and ")
        first = "if {given}, " if self.conditions else ""
        ground = "" if self.ground is Ground.PROVED else f" ({self.ground.value}, {{by}})"
        stop = self.words[len(self.words.rstrip(":,")) :]
        words = f"{first}{self.words.removesuffix(stop)}{ground}{stop}"
        return Sentence(words, {**self.values, "given": given, "by": self.by})


@dataclass(frozen=True, kw_only=True)
class Open(Sentence):
    """A sentence that says what is not known of the claims of a kind, and why.

    No record has both a statement of a kind and one that says it is open, about one part.
    """

    kind: str
    about: str = ""


class Claims:
    """A record that claims something: its statements, and what of them is open."""

    @property
    def statements(self) -> tuple[Statement | Open, ...]:
        """All that the record claims of F, in the order in which it is told."""
        raise NotImplementedError

    def says(self, *kinds: str) -> tuple[Statement | Open, ...]:
        """Return its statements of some kinds."""
        return tuple(s for s in self.statements if s.kind in kinds)


def tell(words: str, /, **values: object) -> Sentence:
    """Return a sentence with what is put in."""
    return Sentence(words, values)


def note(words: str, /, **values: object) -> Note:
    """Return a sentence that claims nothing."""
    return Note(words, values)


def each(
    words: str, items: Iterable[Sequence[object]], between: str = ", ", last: str = ""
) -> Sentence:
    """Return the words once for each item, whose entries are put in for `{0}`, `{1}`, ...

    Args:
        between: what stands between two of them.
        last: what stands before the last one, if it is something else.
    """
    found, values = [], dict[str, object]()
    for i, item in enumerate(items):
        values |= {f"{i}_{j}": value for j, value in enumerate(item)}
        found.append(re.sub(r"\{(\d)\}", rf"{{{i}_\1}}", words))
    *most, end = found or [""]
    whole = f"{between.join(most)}{last or between}{end}" if most else end
    return Sentence(whole, values)


def listing(words: str, items: Iterable[Sequence[object]]) -> Sentence:
    """Return the words for each item, with commas, and a word before the last.

    >>> listing("{0}", ["a", "b", "c"]).words
    '{0_0}, {1_0} and {2_0}'
    """
    return each(words, items, last=" and ")
