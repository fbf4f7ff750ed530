"""A regularizer from paper and pencil, compared with the derived one.

Whether a Q of one's own is that of the flow, decided in the weights; none need be derived.

With X_b = grad F_b gradient flow has d/dt grad Q(F(w)) = M lambda, M_ib = X_b dQ/dbeta_i(F(w)),
that is M = Hess Q K. So grad Q(beta) - grad Q(beta_0) stays in the row space of all data, and Q is
convex along the flow, exactly where on the leaf of the start

    M = m I,   m > 0,

with m constant for one output, whose copies have one clock. m is then the warp g up to a factor,
as Hess Q = m K^-1 is the equation that has g for its only solution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from sympy import Expr, Symbol

from derive.catalogue.audit.formula_kinds import compare_printed
from derive.catalogue.audit.germs import (
    Germs,
    Subject,
    constants_of,
    flow_fields,
    flow_slopes,
    settled,
)
from derive.catalogue.audit.judgement import Judgement, Outcome, agreement, difference
from derive.catalogue.audit.proportionality import BALLS, NOT_ZERO, witness
from derive.catalogue.audit.report import values_at
from derive.catalogue.library import Printed
from derive.derivation import Derivation
from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.germ import Unsettled
from derive.language import from_sympy, names, parse_expression, to_sympy, to_text
from derive.language.tree import Tree
from derive.printable import Held
from derive.render.text import as_text, unmark, wrap
from derive.verdict import Verdict
from derive.weights.witness import is_free, samples

POINTS = 3
"""Starts at which the equations are looked at."""

DEPTH = 2
"""Derivatives along the flow that are looked at, where Q depends on the start."""

LARGEST = 300
"""Terms of what should vanish beyond which no derivatives of it are taken."""

NO_MULTIPLE = "Hess Q K is no multiple m I of the identity on the leaf; values are the rows of both"
NO_CONSTANT = "Hess Q K changes along the flow; values are its derivative and 0"
LATER = (
    "Hess Q K is a multiple m I of the identity at the start, and does not stay one; values are a "
    "derivative along the flow and 0"
)
NOT_CONVEX = "the sign: Hess Q K = m I, and m is not positive"
AT_START = "the gradient at the start is not 0: a linear term is missing or wrong"
METHOD = "exact identity in the weights"
UP_TO = ("scale: a factor that is constant along the flow", "an additive constant")


def judge_in_weights(subject: Subject, Q: Tree) -> Judgement:
    """Return what becomes of a Q(beta): a difference is shown at a start, agreement is an identity.

    Raises:
        Unsettled: neither was proved.
    """
    starts = islice(_starts(subject, Q), POINTS)
    return next(settled(starts, lambda germs: _Flow(subject, germs, Q).judgement()))


def _starts(subject: Subject, Q: Tree) -> Iterator[Germs]:
    """Yield germs in the weights, and in the start as names of its own, around rational starts."""
    p = subject.p
    for sample in filter(lambda sample: is_free(p, sample), samples(p)):
        known = zip(sample.field.names, sample.values, strict=False)
        start = {name: x for name, x in known if name in (*p.start_symbols, *p.parameters)}
        weights = dict(zip(p.weights, map(sample.of, p.w0), strict=True))
        exact = [x for x in (*weights.values(), *start.values()) if isinstance(x, Fraction)]
        if len(exact) == len(weights) + len(start):
            yield Germs.at({**weights, **start}, (*p.trees, Q), p.p)  # type: ignore[dict-item]


class _Flow:
    """M and what should vanish of it, near one start."""

    def __init__(self, subject: Subject, germs: Germs, Q: Tree) -> None:
        self.subject, self.germs, self.Q = subject, germs, Q
        self.fields = flow_fields(subject, germs)
        self.symbols = {
            name: Symbol(name) for name in (*names((Q,)), *(b.name for b in subject.betas))
        }
        self.slopes = [to_sympy(Q, self.symbols).diff(self.symbols[b.name]) for b in subject.betas]
        self.at_start = {name: germs.read(value) for name, value in subject.starts.items()}
        outputs = map(germs.read, subject.p.trees)
        self.betas = dict(zip((b.name for b in subject.betas), outputs, strict=True))
        self.M = self._derivatives(self.at_start)

    def _gradient(
        self, start: dict[str, RationalFunction], betas: dict[str, RationalFunction]
    ) -> list[RationalFunction]:
        """Return grad Q, with what is known of the start, at some betas."""
        images = {**self.germs.images, **start, **betas}
        return [self.germs.tower.read(from_sympy(slope), images) for slope in self.slopes]

    def _along(self, f: RationalFunction) -> list[RationalFunction]:
        """Return X_b f for every b."""
        return flow_slopes(self.germs, self.fields, f)

    def _derivatives(self, start: dict[str, RationalFunction]) -> list[list[RationalFunction]]:
        return [self._along(slope) for slope in self._gradient(start, self.betas)]

    def _equations(self, M: Sequence[Sequence[RationalFunction]]) -> list[RationalFunction]:
        """Return what is 0 where M = m I, and of one output where m is constant."""
        d = range(len(M))
        if len(M) == 1:
            return self._along(M[0][0])
        mixed = [M[i][b] for i in d for b in d if i != b]
        return [*mixed, *(M[i][i] - M[0][0] for i in d[1:])]

    def judgement(self) -> Judgement:
        """Return what is proved here; Unsettled where nothing is."""
        tower, equations = self.germs.tower, self._equations(self.M)
        for order in range(DEPTH + 1):
            failing = next((x for x in equations if not tower.ball(x).contains(0)), None)
            if failing is not None:
                return self._difference(failing, order)
            long = sum(len(x.numerator) for x in equations) > LARGEST
            if long or all(map(tower.is_zero, equations)):
                break
            equations = [y for x in equations for y in self._along(x)]
        return self._agreement()

    def _difference(self, failing: RationalFunction, order: int) -> Judgement:
        M, zero = self.M, self.germs.tower.field.zero
        if len(M) == 1 or order > 0:
            reason = NO_CONSTANT if len(M) == 1 else LATER
            shown = witness(self.germs, [failing], [zero])
            return difference(reason, NOT_ZERO, "m I", (shown,))
        entries = [x for row in M for x in row]
        wanted = [M[0][0] if i == b else zero for i in range(len(M)) for b in range(len(M))]
        shown = witness(self.germs, entries, wanted)
        return difference(NO_MULTIPLE, BALLS, "m I", (shown,))

    def _agreement(self) -> Judgement:
        """Return the judgement where the equations hold for all weights, read with laws."""
        start, tower = self._known_start(), self.germs.tower
        M = self._derivatives({**self.at_start, **(start or {})})
        if start is None or not all(map(tower.is_zero, self._equations(M))):
            raise Unsettled("no difference was seen, and no identity proved, in the weights")
        if tower.sign(M[0][0]) <= 0:
            return difference(NOT_CONVEX, METHOD, "m > 0")
        beta_0 = {b.name: self.at_start[f"{b}_0"] for b in self.subject.betas}
        if not self.germs.vanish(self._gradient(self.at_start, beta_0)):
            return difference(AT_START, METHOD, "grad Q(beta_0) = 0")
        return agreement(METHOD, UP_TO)

    def _known_start(self) -> dict[str, RationalFunction] | None:
        """Return the names of the start in Q as functions of the weights, by laws; or None."""
        laws = {name: self.germs.read(value) for name, value in constants_of(self.subject)}
        betas = [self.symbols[name] for name in self.betas]
        second = (slope.diff(b) for slope in self.slopes for b in betas)
        used = {s.name for x in second for s in x.free_symbols}
        own = used - set(self.betas) - set(self.subject.p.parameters)
        return {name: laws[name] for name in own} if own <= set(laws) else None


@dataclass(frozen=True, repr=False)
class Conjecture(Held):
    """What became of a conjectured Q: AGREES, AGREES UP TO *up_to*, DIFFERS or NOT CHECKED.

    Q is defined up to a positive factor and an additive constant, with grad Q = 0 at the start.
    """

    Q: str
    judgement: Judgement

    @property
    def outcome(self) -> str:
        """One of the four answers."""
        return self.judgement.outcome.short

    @property
    def up_to(self) -> tuple[str, ...]:
        """What it differs by and may differ by: a scale, an additive constant."""
        return tuple(x.replace("printed", "conjectured") for x in self.judgement.up_to)

    def to_text(self, width: int = 80) -> str:
        """Return the answer, and why or where."""
        found = self.judgement
        told = (unmark(as_text(values_at(w))) for w in found.witnesses[:1])
        where = [text.replace("printed", "conjectured") for text in told]
        details = (*self.up_to, found.reason, *where, f"[{found.method}]" * bool(found.method))
        lines = [f"Conjecture Q = {self.Q}: {self.outcome}", *(f"  {x}" for x in details if x)]
        return "\n".join(line for text in lines for line in wrap(text, width))


def compare_conjecture(derivation: Derivation, Q: str | Expr) -> Conjecture:
    """Compare a Q in beta and start symbols with the derived one, by exact algebra and balls.

    Raises:
        LanguageError: Q is not an expression.
        InputError: it uses a name that stands for nothing here.
    """
    tree = parse_expression(Q) if isinstance(Q, str) else from_sympy(Q)
    subject = Subject(derivation)
    known = (*(b.name for b in subject.betas), *subject.p.start_symbols, *subject.p.parameters)
    if odd := [name for name in names((tree,)) if name not in {*known, *subject.starts}]:
        raise InputError(f"the conjecture uses {odd[0]:.60}: it may use {', '.join(known)}")
    printed = Printed("Q", (to_text(tree),), "", "", "page")
    if derivation.verdict is Verdict.REFUTED:
        judgement = Judgement(Outcome.NOT_CHECKED, reason="there is no Q to compare with")
    else:
        judgement = compare_printed(subject, printed)
        if judgement.outcome is Outcome.NOT_CHECKED and not subject.open_dimension:
            try:
                judgement = judge_in_weights(subject, tree)
            except Unsettled as error:
                judgement = replace(judgement, reason=f"{judgement.reason}; {error}")
    return Conjecture(printed.text[0], judgement)
