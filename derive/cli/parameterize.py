"""The command ``derive parameterize``: from a potential to a parameterization."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

from derive.cli.forms import RecordForm
from derive.cli.options import Output, Timeout, argument, text_option
from derive.cli.output import check_writable
from derive.cli.running import Enter, find_and_answer, finish
from derive.errors import InputError, LanguageError
from derive.model.typed import read_option

if TYPE_CHECKING:
    from derive.inverse.design import InverseDesign
    from derive.language import Tree

Potentials = Annotated[list[str] | None, argument("Q")]
Start = Annotated[
    str, text_option("BETA=V,...", "Where the flow starts: beta=1/2. By default where Q' = 0.")
]
Positive = Annotated[str, text_option("NAMES", "Parameters that are positive.")]


@dataclass(frozen=True, slots=True)
class ReadPotential:
    """A separable Q: the terms of its coordinates, where the flow starts, what is positive."""

    terms: tuple[Tree, ...]
    start: dict[str, Tree]
    positive: tuple[str, ...]


def parameterize(
    *,
    potentials: Potentials = None,
    start: Start = "",
    positive: Positive = "",
    form: RecordForm,
    output: Output = None,
    timeout: Timeout = 60.0,
) -> None:
    """Find beta = F(w) whose gradient flow has the implicit regularizer Q, and prove it.

    Q is separable: one argument for each coordinate, in the names beta or beta1, beta2, ...
    Other names are parameters. For one weight F'(w)^2 = 1/Q''(beta), up to the unit of Q.

    Exit status: 0 F is found and proved; 1 proved that there is none (Q is not strictly
    convex); 2 bad input; 3 no closed form was found (F is the inverse of an integral), or out
    of time.

    \b
    Examples:
      derive parameterize "beta*log(beta) - beta"
      derive parameterize "beta*asinh(beta/a) - sqrt(beta**2 + a**2)" --positive a
      derive parameterize "beta**(2 - t)/((1 - t)*(2 - t))"
      derive parameterize "-log(beta1)" "beta2**2/2" --json
    """
    check_writable(output)
    read = _read(potentials or [], start, positive)

    def find(enter: Enter) -> InverseDesign:
        from derive.inverse import parameterize as designs

        enter("search for a parameterization")
        return designs.parameterize(read.terms, None, read.start, read.positive)

    finish(partial(find_and_answer, find, form, None), timeout, output)


def _read(potentials: list[str], start: str, positive: str) -> ReadPotential:
    from derive.language import parse_assignments, parse_names, parse_outputs

    if not potentials:
        raise InputError("no potential: give Q(beta), such as beta*log(beta) - beta")
    try:
        terms = parse_outputs([text.lstrip() for text in potentials])
    except LanguageError as error:
        raise InputError(
            str(error).replace("output", "argument").replace("weight", "beta")
        ) from None
    starts = dict(read_option("--start", parse_assignments, start))
    return ReadPotential(terms, starts, read_option("--positive", parse_names, positive))
