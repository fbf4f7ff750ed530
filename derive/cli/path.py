"""The command ``derive path``: from saddle to saddle, as the start tends to 0."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path as File
from typing import TYPE_CHECKING

from derive.cli.options import OfModel
from derive.cli.output import check_picture, text_of
from derive.cli.recorded import Recorded
from derive.cli.regimes import SCALE
from derive.cli.running import Answer, Enter
from derive.errors import InputError
from derive.model.typed import ReadModel
from derive.option import option

if TYPE_CHECKING:
    from derive.optimizers.saddle_path import SaddlePath


@dataclass(frozen=True, kw_only=True)
class Path(OfModel, Recorded):
    """Follow gradient flow on data as its start tends to 0: plateaus, jumps, and where it ends.

    Where Q/N tends to a sum of L_j^+ beta_j for beta_j > 0 and L_j^- |beta_j| for beta_j < 0, beta
    stays on plateaus and jumps at times in units of N, all in fractions: coordinates wait at 0
    until their dual s_j, which moves by the residual, comes to an end. The last beta minimises
    that sum, with a certificate. On the tied pair from equal starts this is a theorem; of other
    scales and depths it is heuristic, and says so. Coordinates that arrive at one time are refused.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`. One output stands for
    copies of it, one for each feature. FILE.csv has one row for each example: its features and,
    last, y, separated by commas, as decimals or fractions; a first row of names is skipped.

    Exit status: 0 the path is that of a cited theorem; 2 bad input, or a tie; 3 it is heuristic, or
    out of time.

    \b
    Examples:
      derive path "p**2 - m**2" --start p=alpha,m=alpha --data xy.csv
      derive path "u*v" --start u=alpha,v=0 --data xy.csv --figure path.svg
    """

    data: File | None = option(None, "Rows of features and y.", "FILE.csv")
    scale: str = option(
        SCALE, "The start symbol that tends to a limit; a new name scales the whole start.", "NAME"
    )
    figure: File | None = option(None, "Draw the limit to a PNG, SVG or PDF file.", "FILE")

    def read(self) -> tuple[ReadModel, str, str]:
        """Return F with its start, the name of the scale, and the text of the data."""
        from derive.language import parse_names

        if self.data is None:
            raise InputError("give the data: --data FILE.csv")
        if self.figure is not None:
            check_picture(self.figure, "--figure")
        (name,) = parse_names(self.scale)[:1] or ("",)
        return self.model.read(), name, text_of(self.data)

    def find(self, read: tuple[ReadModel, str, str], enter: Enter) -> SaddlePath:
        """Return the path on the data."""
        from derive.derivation import derive
        from derive.language import names
        from derive.limits.initialization import with_scale
        from numerics.margins.classes import read_csv
        from numerics.optimizers.saddle import saddle_path

        model, name, text = read
        X, y = read_csv(text)
        enter("parameterization")
        if name in names(tuple(model.start.values())):  # a scale that the start uses is positive
            model = replace(model, positive=tuple(dict.fromkeys((*model.positive, name))))
        scaled = with_scale(model.parameterization(), name)
        return saddle_path(derive(scaled, enter), X, y, name)

    def complete(self, record: SaddlePath, answer: Answer, enter: Enter) -> Answer:
        """Draw the path where that is asked for."""
        if self.figure is None:
            return answer
        enter("flows from three starts")
        from numerics.figures.display import arranged, save
        from numerics.figures.saddle import SaddleDisplay

        save(arranged([SaddleDisplay.from_path(record)], ""), self.figure)
        return answer.saying(f"{self.figure}")
