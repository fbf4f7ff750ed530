"""A regularizer from paper and pencil, compared with the derived one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sympy import Expr

from derive.catalogue.audit.formula_kinds import compare_printed
from derive.catalogue.audit.in_weights import judge_in_weights
from derive.catalogue.audit.judgement import Judgement, Outcome
from derive.catalogue.audit.report import shown
from derive.catalogue.audit.subject import Subject
from derive.catalogue.library import Printed
from derive.derivation import Derivation
from derive.errors import InputError
from derive.exact.towers.germ import Unsettled
from derive.language import from_sympy, names, parse_expression, to_text
from derive.printable import Held
from derive.render.plain import wrap
from derive.verdict import Verdict


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
        where = [shown(w).replace("printed", "conjectured") for w in found.witnesses[:1]]
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
