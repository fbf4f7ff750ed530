"""The command ``derive margin``: separable data, at finite time and in the limit."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from derive.cli.forms import FORMS, TEXT
from derive.cli.options import OfModel, Steepest
from derive.cli.output import text_of
from derive.cli.recorded import Recorded, answer_with, with_data
from derive.cli.running import NO, Answer, Enter
from derive.errors import InputError, NumericalError
from derive.model.typed import ReadModel
from derive.option import option

if TYPE_CHECKING:
    from derive.separable.find import Margins

NORMS = ("l1", "l2", "linf", "softmax", "dft", "nuclear", "l4/3")


Separable: TypeAlias = tuple[ReadModel, str, tuple[int, int] | None]
"""F with its start, the text of the data, and the shape of features that are matrices."""


@dataclass(frozen=True, kw_only=True)
class Margin(Steepest, OfModel, Recorded):
    """Find what gradient flow on F tends to on separable data, as in classification.

    At every time t, for every decreasing loss, beta(t) minimises Q among the predictors with
    margins at least its own: a theorem of every Q that is proved, warped or not. As t grows,
    under losses with an exponential tail, its direction is decided where the gradient of Q is
    coercive: it is that of the largest margin in the horizon of Q, its shape at infinity, such
    as an l1 norm. Beside it, for homogeneous polynomials F, stands the margin problem in the
    weights, whose KKT points are the possible limits, and its cost R_F in beta; where both roads
    apply they are compared.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`. One output stands for
    copies of it, one for each feature.

    FILE.csv has one row for each example: its features and, last, its class, separated by
    commas, as decimals or fractions; a first row of names is skipped, and there is no offset but
    by a column of ones. Two classes: the greater one is +1. More: one predictor for each class,
    as under softmax. The answer is exact, with a certificate that is checked in rational numbers:
    multipliers where the classes are separable, and otherwise weights with which rows cancel. The
    norms dft, sum_k |DFT(beta)_k|, nuclear, of features that are matrices --shape NxM, and l_p
    such as l4/3 come with a predictor and two bounds proved in balls; softmax is l2 with a
    predictor for each class.

    Exit status: 0 the statement at every time is proved, and whether the gradient is coercive is
    decided; 1 there is no Q, or FILE.csv is not separable; 2 bad input; 3 undecided or out of
    time.

    \b
    Examples:
      derive margin "p**2 - m**2" --start p=alpha,m=alpha
      derive margin "p**3 - m**3" --start p=alpha,m=alpha
      derive margin "a*u" --vector u
      derive margin "p**2 - m**2" --start p=alpha,m=alpha --data iris.csv
      derive margin "W*T(W)" --matrix W:2x2
      derive margin "w" --data iris.csv --norm nuclear --shape 2x2
    """

    data: Path | None = option(
        None,
        "Rows of features and a class, for the predictor of largest margin on them.",
        "FILE.csv",
    )
    norm: str = option(
        "", "With --data: the norm, where not that of the horizon of Q.", "|".join(NORMS)
    )
    shape: str = option("", "With --norm nuclear: features are matrices, by rows.", "NxM")

    def read(self) -> Separable:
        """Return what is typed, and the data."""
        model = self.model.read()
        if self.norm and self.data is None:
            raise InputError(f"--norm is {', '.join(NORMS)}, and goes with --data FILE.csv")
        if (self.norm == "nuclear") != bool(self.shape):
            raise InputError(
                "--shape, such as 2x3, goes with --norm nuclear, and that with --shape"
            )
        size = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", self.shape)
        if self.shape and size is None:
            raise InputError(f"--shape must be two whole numbers such as 2x3, not {self.shape!r}")
        if self.data is None:
            return model, "", None
        if self.form not in (TEXT, FORMS["json"]):
            raise InputError("--data is for text and --json: leave out --latex and --html")
        return model, text_of(self.data), size and (int(size[1]), int(size[2]))

    def find(self, read: Separable, enter: Enter) -> Margins:
        """Return what the flow tends to on separable data."""
        from derive.derivation import derive
        from derive.separable.find import margins

        enter("parameterization")
        return margins(derive(read[0].parameterization(), enter), enter)

    def answer(self, read: Separable, enter: Enter) -> Answer:
        """Add the predictor of largest margin on the data, or that they are not separable."""
        if self.data is None:
            return super().answer(read, enter)
        enter("data")
        from numerics.margins.max_margin import NotSeparable, max_margin
        from numerics.margins.predictor import read_csv

        _, data, shape = read
        X, labels = read_csv(data)
        enter("importing the algebra")
        record = self.find(read, enter)
        p, features = record.derivation.parameterization, len(X[0])
        if p.affine:
            words = "outputs that are affine functions of others have no data here"
            raise InputError(f"--data: {words}")
        if p.d > 1 and p.d != features:  # one output, or a vector, stands for any number of them
            raise InputError(f"--data has {features} features, but F has {p.d} outputs")
        answer = answer_with(record, self.form, enter)
        enter.keep_unfinished(answer)
        enter("largest margin")
        try:
            found = max_margin(X, labels, self.norm or _norm(record), shape)
            return with_data(answer, found, self.form)
        except NotSeparable as none:
            return replace(with_data(answer, none.certificate, self.form), code=NO)


def _norm(record: Margins) -> str:
    """Return the norm of the horizon, or of steepest descent, where margins are computed in it."""
    if re.fullmatch(r"l[0-9]+/[0-9]+", record.norm or "") and Fraction(str(record.norm)[1:]) < 1:
        raise NumericalError(
            f"{record.norm} is no norm, as it is not convex: no margin is computed"
        )
    if re.fullmatch(r"l(?:[0-9/]+|inf)|\|DFT\|_1", record.norm or ""):
        return "dft" if record.norm == "|DFT|_1" else str(record.norm)
    what = "Q has no horizon" if record.norm is None else f"the horizon of Q is {record.norm}"
    raise NumericalError(
        f"{what}: give a norm in which margins are computed, --norm {', '.join(NORMS)}"
    )
