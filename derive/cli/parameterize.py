"""The command ``derive parameterize``: from a potential to a parameterization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from derive.cli.recorded import Recorded
from derive.cli.running import Enter
from derive.errors import InputError, LanguageError
from derive.model.typed import read_option
from derive.option import option

if TYPE_CHECKING:
    from derive.inverse.design import InverseDesign
    from derive.language import Tree

    Separable: TypeAlias = tuple[tuple[Tree, ...], dict[str, Tree], tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Parameterize(Recorded):
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

    potentials: tuple[str, ...] = option((), metavar="[Q]...")
    start: str = option(
        "", "Where the flow starts: beta=1/2. By default where Q' = 0.", "BETA=V,..."
    )
    positive: str = option("", "Parameters that are positive.", "NAMES")

    def read(self) -> Separable:
        """Return the terms of Q, by coordinate, where the flow starts and what is positive."""
        from derive.language import parse_assignments, parse_names, parse_outputs

        if not self.potentials:
            raise InputError("no potential: give Q(beta), such as beta*log(beta) - beta")
        try:
            terms = parse_outputs([text.lstrip() for text in self.potentials])
        except LanguageError as error:
            words = str(error).replace("output", "argument").replace("weight", "beta")
            raise InputError(words) from None
        starts = dict(read_option("--start", parse_assignments, self.start))
        return terms, starts, read_option("--positive", parse_names, self.positive)

    def find(self, read: Separable, enter: Enter) -> InverseDesign:
        """Return F, or why there is none."""
        from derive.inverse.parameterize import parameterize

        enter("search for a parameterization")
        terms, starts, positive = read
        return parameterize(terms, None, starts, positive)
