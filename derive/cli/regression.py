"""Commands on data of regression: ``derive path`` from small starts, ``derive run`` of a log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

from derive.cli.findings import SCALE, scaled
from derive.cli.options import OfModel
from derive.cli.output import check_picture, text_of
from derive.cli.recorded import Recorded
from derive.cli.running import Answer, Enter
from derive.errors import InputError
from derive.model.typed import ReadModel
from derive.option import option

if TYPE_CHECKING:
    from derive.optimizers.saddle_path import SaddlePath
    from derive.perturbed.run import AuditedRun


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
        from numerics.margins.predictor import read_csv
        from numerics.optimizers.steepest import saddle_path

        model, name, text = read
        X, y = read_csv(text)
        enter("parameterization")
        return saddle_path(derive(scaled(model, name), enter), X, y, name)

    def complete(self, record: SaddlePath, answer: Answer, enter: Enter) -> Answer:
        """Draw the path where that is asked for."""
        if self.figure is None:
            return answer
        enter("flows from three starts")
        from numerics.figures.derived import SaddleDisplay
        from numerics.figures.display import arranged, save

        save(arranged([SaddleDisplay.from_path(record)], ""), self.figure)
        return answer.saying(f"{self.figure}")


@dataclass(frozen=True, kw_only=True)
class Run(OfModel, Recorded):
    """Audit a training run: is it gradient descent on F, what drifted, and where does it lead?

    A step of gradient descent, of any batch, labels and size, keeps every law to first order and
    moves dual coordinates in the row space of X. So momentum, Adam and decay are told from SGD and
    label noise, with the step and the law that broke. Of a run that is one, the drift of laws and
    of y is summed, and the predicted limit, by parts, stands beside the end of the log.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`. One output stands for
    copies of it, one for each feature. The log is a file of NumPy: `weights`, (N + 1, p, n), those
    before the first step and after each of N, or an array (N + 1, n) for each weight by its name.
    The data is one with `X`, (m, n), and `y`, (m,).

    Exit status: 0 it is such a run, as far as doubles tell; 1 a step is none; 2 bad input; 3 not
    told, or out of time.

    \b
    Examples:
      derive run "u*v" --log run.npz --data xy.npz
      derive run "p**2 - m**2" --log run.npz --data xy.npz --json
    """

    log: File | None = option(None, "The weights after each step.", "FILE.npz")
    data: File | None = option(None, "The arrays X and y.", "FILE.npz")

    def read(self) -> tuple[ReadModel, File, File]:
        """Return F, and the files."""
        if self.log is None or self.data is None:
            raise InputError("give the log and the data: --log FILE.npz --data FILE.npz")
        for file, name in ((self.log, "--log"), (self.data, "--data")):
            if not file.is_file():
                raise InputError(f"{name}: there is no file {file}")
        return self.model.read(), self.log, self.data

    def find(self, read: tuple[ReadModel, File, File], enter: Enter) -> AuditedRun:
        """Return what the log shows."""
        from numerics.confirm.audit import audit_run, read_arrays

        model, log, data = read
        enter("parameterization")
        p = model.parameterization()
        arrays, given = read_arrays(log, "--log"), read_arrays(data, "--data")
        if missing := [name for name in ("X", "y") if name not in given]:
            raise InputError(f"--data: {data} has no array {' nor '.join(missing)}")
        enter("the log")
        weights: Any = arrays.get("weights", arrays)
        return audit_run(p, weights, given["X"], given["y"], arrays.get("steps"))
