"""The command ``derive margin``: separable data, at finite time and in the limit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from derive.cli.forms import Form, RecordForm
from derive.cli.options import Model, Output, Timeout
from derive.cli.output import check_writable
from derive.cli.running import Answer, Enter, answer_with, finish
from derive.model.typed import ReadModel

if TYPE_CHECKING:
    from derive.margins.find import Margins


def margin(
    *, model: Model, form: RecordForm, output: Output = None, timeout: Timeout = 60.0
) -> None:
    """Find what gradient flow on F tends to on separable data, as in classification.

    At every time t, for every decreasing loss, beta(t) minimises Q among the predictors with
    margins at least its own: a theorem of every Q that is proved, warped or not. As t grows,
    under losses with an exponential tail, its direction is decided where the gradient of Q is
    coercive: it is that of the largest margin in the horizon of Q, its shape at infinity, such
    as an l1 norm. Beside it, for homogeneous F, stands the margin problem in the weights, whose
    KKT points are the possible limits, and its cost R_F in beta; where both roads apply they are
    compared.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`. One output stands for
    copies of it, one for each feature.

    Exit status: 0 the statement at every time is proved, and whether the gradient is coercive is
    decided; 1 there is no Q; 2 bad input; 3 undecided or out of time.

    \b
    Examples:
      derive margin "p**2 - m**2" --start p=alpha,m=alpha
      derive margin "p**3 - m**3" --start p=alpha,m=alpha
      derive margin "a*u" --vector u
      derive margin "W*T(W)" --matrix W:2x2
    """
    read = model.read()
    check_writable(output)
    finish(partial(_find, read, form), timeout, output)


def _margins(model: ReadModel, enter: Enter) -> Margins:
    from derive.derivation import derive
    from derive.margins.find import margins

    enter("parameterization")
    return margins(derive(model.parameterization(), enter), enter)


def _find(model: ReadModel, form: Form, enter: Enter) -> Answer:
    enter("importing the algebra")
    return answer_with(_margins(model, enter), form, enter)
