"""The command ``derive margin``: separable data, at finite time and in the limit."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from derive.cli.forms import FORMS, TEXT, Form, RecordForm
from derive.cli.options import Model, Output, Timeout, text_option
from derive.cli.output import check_writable
from derive.cli.running import NO, Answer, Enter, answer_with, find_and_answer, finish
from derive.errors import InputError, NumericalError
from derive.model.typed import ReadModel

if TYPE_CHECKING:
    from derive.separable.find import Margins
    from numerics.margins.interval import MarginInterval
    from numerics.margins.predictor import Cancelling, MaxMargin

Asked: TypeAlias = tuple[str, tuple[int, int] | None]
"""A norm, "" for that of the horizon, and the shape of matrices."""
DATA = "Rows of features and a class, for the predictor of largest margin on them."
Data = Annotated[
    Path | None, typer.Option("--data", help=DATA, metavar="FILE.csv", show_default=False)
]
NORMS = ("l1", "l2", "linf", "softmax", "dft", "nuclear", "l4/3")
Norm = Annotated[
    str, text_option("|".join(NORMS), "With --data: the norm, where not that of the horizon of Q.")
]
Shape = Annotated[str, text_option("NxM", "With --norm nuclear: features are matrices, by rows.")]


def margin(
    *,
    model: Model,
    data: Data = None,
    norm: Norm = "",
    shape: Shape = "",
    form: RecordForm,
    output: Output = None,
    timeout: Timeout = 60.0,
) -> None:
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
    read = model.read()
    if norm and data is None:
        raise InputError(f"--norm is {', '.join(NORMS)}, and goes with --data FILE.csv")
    if (norm == "nuclear") != bool(shape):
        raise InputError("--shape, such as 2x3, goes with --norm nuclear, and that with --shape")
    size = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", shape)
    if shape and size is None:
        raise InputError(f"--shape must be two whole numbers such as 2x3, not {shape!r}")
    if data is not None and form not in (TEXT, FORMS["json"]):
        raise InputError("--data is for text and --json: leave out --latex and --html")
    text = "" if data is None else text_of(data)
    check_writable(output)
    work = partial(find_and_answer, partial(_margins, read), form, None)
    if data is not None:
        asked = (norm, size and (int(size[1]), int(size[2])))
        work = partial(_find_on, read, form, text, asked)
    finish(work, timeout, output)


def text_of(path: Path) -> str:
    """Return the text of --data, or refuse the file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise InputError(f"--data: {path} cannot be read: {why}") from None


def _margins(model: ReadModel, enter: Enter) -> Margins:
    from derive.derivation import derive
    from derive.separable.find import margins

    enter("parameterization")
    return margins(derive(model.parameterization(), enter), enter)


def _find_on(model: ReadModel, form: Form, text: str, asked: Asked, enter: Enter) -> Answer:
    """Find what the flow tends to, and the predictor of largest margin on the data."""
    enter("data")
    from numerics.margins.classes import read_csv
    from numerics.margins.max_margin import NotSeparable, max_margin

    X, labels = read_csv(text)
    enter("importing the algebra")
    found = _margins(model, enter)
    _refuse_other_features(found, len(X[0]))
    answer = answer_with(found, form, enter)
    norm, shape = asked
    enter.keep_unfinished(answer)
    enter("largest margin")
    try:
        return _joined(answer, max_margin(X, labels, norm or _norm(found), shape), form)
    except NotSeparable as none:
        return replace(_joined(answer, none.certificate, form), code=NO)


def _joined(answer: Answer, on_data: MaxMargin | MarginInterval | Cancelling, form: Form) -> Answer:
    """Return an answer with what was found on the data."""
    if form is TEXT:
        return replace(answer, result=f"{answer.result}\n\n{on_data.report()}")
    record = json.loads(answer.result) | {"data": on_data.record()}
    return replace(answer, result=json.dumps(record, indent=2, ensure_ascii=True))


def _norm(found: Margins) -> str:
    """Return the norm of the horizon, where margins are computed in it."""
    if re.fullmatch(r"l[0-9/]+|\|DFT\|_1", found.norm or ""):
        return "dft" if found.norm == "|DFT|_1" else str(found.norm)
    what = "Q has no horizon" if found.norm is None else f"the horizon of Q is {found.norm}"
    raise NumericalError(
        f"{what}: give a norm in which margins are computed, --norm {', '.join(NORMS)}"
    )


def _refuse_other_features(found: Margins, features: int) -> None:
    """Refuse data that do not fit: one output, or a vector, stands for any number of features."""
    p = found.derivation.parameterization
    if p.affine:
        raise InputError("--data: outputs that are affine functions of others have no data here")
    if p.d > 1 and p.d != features:
        raise InputError(f"--data has {features} features, but F has {p.d} outputs")
