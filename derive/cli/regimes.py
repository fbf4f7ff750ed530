"""The command ``derive regimes``: limits of Q in the scale or the shape of the start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from derive.cli.options import OfModel, Steepest
from derive.cli.recorded import Checked
from derive.cli.running import Enter
from derive.errors import InputError
from derive.model.typed import ReadModel
from derive.option import option

if TYPE_CHECKING:
    from derive.limits.find import Regimes as Limits
    from derive.limits.random_width import RandomWidth
    from derive.model.parameterization import Parameterization

SCALE, TO = "alpha", "0,oo"


def scaled(model: ReadModel, name: str) -> Parameterization:
    """Return F from the start that a name scales, which is positive where the start uses it."""
    from derive.language import names
    from derive.limits.initialization import with_scale

    if name in names(tuple(model.start.values())):
        model = replace(model, positive=tuple(dict.fromkeys((*model.positive, name))))
    return with_scale(model.parameterization(), name)


@dataclass(frozen=True, kw_only=True)
class Regimes(Steepest, OfModel, Checked):
    """Find what Q tends to as the start is scaled, or in any symbol of the start.

    Kernel regime: Q tends to the squared norm of the tangent kernel at the start. Rich regime:
    to an l1 norm. Anti-NTK regime: to an increasing function of the l2 norm. The start symbol
    is positive; a name that the start does not have scales the whole start. A depth that is a
    symbol, D in p**D, is assumed to be above 2. With --width the start is random, and the sum of
    many copies of F is in one regime or the other with a probability that tends to 1.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`; with a vector of open
    dimension the limits hold in every one. Of the record of --json `derive check` certifies Q; the
    limits are shown by the expansions that their page prints.

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

    scale: str = option(
        SCALE, "The start symbol that tends to a limit; a new name scales the whole start.", "NAME"
    )
    to: str = option(TO, "The limits: 0, oo, or a number and a side, such as 1-.", "V,...")
    width: str = option("", "Sum NAME copies of F, their weights drawn from N(0, sigma^2).", "NAME")
    check: bool = option(False, "Confirm each limit by numbers.")

    def read(self) -> tuple[ReadModel, str]:
        """Return F with its start, and the name of the scale or of the width."""
        from derive.language import parse_names

        model = self.model.read()
        option, text = ("--width", self.width) if self.width else ("--scale", self.scale)
        names = parse_names(text)
        if len(names) != 1:
            raise InputError(f"{option}: give one name")
        if self.width and (self.start or (self.scale, self.to) != (SCALE, TO)):
            raise InputError(
                "--width draws the start: leave out --start, --scale, --to and open dimensions"
            )
        if self.width and model.vectors:
            raise InputError(f"--width goes with one number as output: {model.vectors[0]} is open")
        return model, names[0]

    def find(self, read: tuple[ReadModel, str], enter: Enter) -> Limits | RandomWidth:
        """Return the limits in the scale, or those of many copies with random starts."""
        model, name = read
        if self.width:
            from derive.limits.random_width import random_width

            enter("moments")
            return random_width(model.parameterization(), name)
        from derive.derivation import derive
        from derive.limits.find import regimes

        enter("parameterization")
        return regimes(derive(scaled(model, name), enter), name, self.to.split(","), enter)

    def confirm(self, record: Any, enter: Enter) -> tuple[str, bool]:
        """Test the limits of grad Q at two scales, or by random draws how often Q is in either."""
        from numerics.confirm.limits import confirm_limits, confirm_width

        if self.width:
            enter("random draws")
            confirmed = confirm_width(record)
            return confirmed.report(), confirmed.passed
        enter("numbers at two scales")
        confirmations = confirm_limits(record)
        lines = [c.report() for c in confirmations] or ["there is no limit to check"]
        return "\n".join(lines), all(c.passed for c in confirmations)
