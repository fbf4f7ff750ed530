"""The command ``derive regimes``: limits of Q in the scale or the shape of the start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from derive.cli.forms import RecordForm, refuse_check
from derive.cli.options import Model, Output, Timeout, text_option
from derive.cli.output import check_writable
from derive.cli.running import Answer, Enter, find_and_answer, finish
from derive.errors import InputError
from derive.model.typed import ReadModel, TypedModel

if TYPE_CHECKING:
    from derive.limits.find import Regimes
    from derive.limits.random_width import RandomWidth

SCALE = "The start symbol that tends to a limit; a new name scales the whole start."
Scale = Annotated[str, typer.Option(help=SCALE, metavar="NAME")]
LIMITS = "The limits: 0, oo, or a number and a side, such as 1-."
To = Annotated[str, typer.Option(help=LIMITS, metavar="V,...")]
Width = Annotated[
    str, text_option("NAME", "Sum NAME copies of F, their weights drawn from N(0, sigma^2).")
]
Check = Annotated[bool, typer.Option("--check", help="Confirm each limit by numbers.")]


def regimes(
    *,
    scale: Scale = "alpha",
    to: To = "0,oo",
    width: Width = "",
    model: Model,
    check: Check = False,
    form: RecordForm,
    output: Output = None,
    timeout: Timeout = 60.0,
) -> None:
    """Find what Q tends to as the start is scaled, or in any symbol of the start.

    Kernel regime: Q tends to the squared norm of the tangent kernel at the start. Rich regime:
    to an l1 norm. Anti-NTK regime: to an increasing function of the l2 norm. The start symbol
    is positive; a name that the start does not have scales the whole start. A depth that is a
    symbol, D in p**D, is assumed to be above 2. With --width the start is random, and the sum of
    many copies of F is in one regime or the other with a probability that tends to 1.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`; with a vector of open
    dimension the limits hold in every one. The record of --json has the proofs that `derive check`
    reads, as far as limits follow from covariance or from expansions of the calls in grad Q.

    Exit status: 0 all limits are proved; 2 bad input; 3 one was not decided, or --check did not
    confirm it, or out of time.

    \b
    Examples:
      derive regimes "p**2 - m**2" --start p=alpha,m=alpha
      derive regimes "u*v - x*y" --start u=c,x=c,v=d,y=d --scale c --to oo
      derive regimes "a*u1" "a*u2" --check
      derive regimes "a*u" --vector u
      derive regimes "p**D - m**D" --start p=alpha,m=alpha
      derive regimes "p**D - m**D" --start p=1,m=1 --scale D --to oo
      derive regimes "u*v" --width k --check
    """
    if check:
        refuse_check(form)
    check_writable(output)
    read = model.read()
    name = _name(scale, "--scale")
    work: Callable[[Enter], Answer]
    if width:
        _refuse_what_width_says(model, read, (scale, to))
        wide = partial(_of_wide_starts, read, _name(width, "--width"))
        work = partial(find_and_answer, wide, form, _confirm_width if check else None)
    else:
        scaled = partial(_of_scaled_starts, read, name, to.split(","))
        work = partial(find_and_answer, scaled, form, _confirm_limits if check else None)
    finish(work, timeout, output)


def _name(text: str, option: str) -> str:
    from derive.language import parse_names

    names = parse_names(text)
    if len(names) != 1:
        raise InputError(f"{option}: give one name")
    return names[0]


def _refuse_what_width_says(model: TypedModel, read: ReadModel, limit: tuple[str, str]) -> None:
    """Refuse a start, or limits in it, beside a start that is random."""
    if model.start or limit != ("alpha", "0,oo"):
        raise InputError(
            "--width draws the start: leave out --start, --scale, --to and open dimensions"
        )
    if read.vectors:
        raise InputError(f"--width goes with one number as output: {read.vectors[0]} is open")


def _of_scaled_starts(model: ReadModel, name: str, toward: list[str], enter: Enter) -> Regimes:
    from derive.derivation import derive
    from derive.limits.find import regimes
    from derive.limits.initialization import with_scale

    enter("parameterization")
    p = _positive(model, name).parameterization()
    return regimes(derive(with_scale(p, name), enter), name, toward, enter)


def _positive(model: ReadModel, name: str) -> ReadModel:
    """Return the model with a scale that the start uses among what is positive."""
    from derive.language import names

    if name not in names(tuple(model.start.values())):
        return model
    return replace(model, positive=tuple(dict.fromkeys((*model.positive, name))))


def _confirm_limits(found: Regimes, enter: Enter) -> tuple[str, bool]:
    """Test the limits of grad Q by numbers."""
    enter("numbers at two scales")
    from numerics.confirm.limits import confirm_limits

    confirmations = confirm_limits(found)
    lines = [c.report() for c in confirmations] or ["there is no limit to check"]
    return "\n".join(lines), all(c.passed for c in confirmations)


def _of_wide_starts(model: ReadModel, name: str, enter: Enter) -> RandomWidth:
    from derive.limits.random_width import random_width

    enter("moments")
    return random_width(model.parameterization(), name)


def _confirm_width(found: RandomWidth, enter: Enter) -> tuple[str, bool]:
    """Test by random draws how often Q is in either regime."""
    enter("random draws")
    from numerics.confirm.limits import confirm_width

    confirmed = confirm_width(found)
    return confirmed.report(), confirmed.passed
