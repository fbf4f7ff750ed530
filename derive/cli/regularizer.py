"""``derive regularizer``, the mirror potential Q of F, and ``derive explore``, the page of it.

And why one should believe it: ``derive check``, of a certificate, ``derive rocq``, of proofs.
"""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from derive.cli.forms import Form, offer_page, rendered
from derive.cli.options import Command, Limited, OfModel, Runnable, Steepest
from derive.cli.output import check_writable, contents, deliver, deliver_to_folder, source
from derive.cli.recorded import EXIT, answer_with, bare_answer, checked, told, with_data
from derive.cli.running import BAD_INPUT, NO, UNDECIDED, YES, Answer, Enter, finish
from derive.errors import InputError, NumericalError
from derive.option import option
from derive.rocq.library import library

if TYPE_CHECKING:
    from derive.derivation import Derivation
    from derive.model.typed import ReadModel

Addition: TypeAlias = Callable[[Answer, "Derivation", Enter], Answer]
"""Adds to an answer what else was asked of the derivation."""


def _check(d: Any, digits: int | None) -> Any:
    """Put a verdict to precise flows of the weights; None for one that they do not show."""
    from numerics.confirm.crosscheck import crosscheck
    from numerics.confirm.sizes import check_matrices, check_sizes, steer_matrices
    from numerics.confirm.steered import check_reached, check_steered

    match type(d).__name__, d.verdict.value:
        case "Derivation", "PROVED":
            gradient = d.parameterization.geometry.steering.is_gradient
            return (crosscheck if gradient else check_steered)(d, digits=digits or 30)
        case "EntrywiseDerivation", "PROVED":
            return check_sizes(d.parameterization, d.found, d.excluded_sizes, digits or 20)
        case "MatrixDerivation", "PROVED":
            return check_matrices(d.parameterization, d.entry, digits or 20)
        case "MatrixDerivation", "REFUTED":
            return steer_matrices(d.orbit)
        case "PushedDerivation", "REFUTED":
            return check_reached(d)
    return None


CODE = ("jax", "torch", "numpy", "js", "rocq")
"""The forms that are programs."""


@dataclass(frozen=True, kw_only=True)
class Measured(OfModel):
    """Options of F, of matrices of every size with their measurements, too."""

    measurements: str = option(
        "",
        "With --matrix W:nxr: commuting, diagonal, one, general; or FILE.csv: X_i by rows, then y.",
        "KIND",
    )

    def read_model(self) -> ReadModel:
        """Return F and the start, with the measurements of a file."""
        read = self.model.read()
        if not self.measurements.endswith(".csv"):
            return read
        from numerics.margins.predictor import read_csv

        rows, _ = read_csv(contents(self.measurements, "--measurements: "))
        return replace(read, measurements=tuple(map(tuple, rows)))


@dataclass(frozen=True, kw_only=True)
class Regularizer(Steepest, Measured, Command):
    """Derive the mirror potential Q(beta) of gradient flow on F, or prove that there is none."""

    each: str = option("", "Indexed weight v_1, ..., v_n: v, or v:n-1 for outputs i < n.", "V")
    check: bool = option(False, "Confirm by precise flows of the weights.")
    digits: int | None = option(None, "Digits of --check (30).", "N", at_least=10, at_most=1000)
    data: Path | None = option(
        None, "Ask whether limits on these rows depend on loss weights.", "FILE.csv"
    )
    conjecture: str = option("", "Compare a Q of your own, in beta and start symbols.", "Q")
    form: Form = offer_page(*CODE)

    def read(self) -> ReadModel:
        """Return F and the start, or refuse what does not go together."""
        read = self.read_model()
        if self.digits is not None and not self.check:
            raise InputError("--digits goes with --check")
        open_size = "--each" if self.each else "--measurements" if self.measurements else ""
        written = "rocq" if self.each else ""  # the one program of every size
        if open_size and (self.conjecture or self.form.name in {*CODE} - {written}):
            also = f", --{written}" if written else ""
            raise InputError(f"{open_size} goes with text, --latex, --html{also} and --json")
        if self.data is not None:
            contents(self.data, "--data: ")
            if open_size or self.form.name in CODE:
                raise InputError("--data is for outputs of given number, as text, page or --json")
        return read

    def answer(self, enter: Enter) -> Answer:
        """Derive, render, and add what else was asked."""
        read = self.read()
        enter("importing the algebra")
        from derive.derivation import derive

        additions = [*self.additions()]
        keep = enter.keep_unfinished if additions else enter.keep
        enter("parameterization")
        derivation = derive(
            read.parameterization(),
            enter,
            timeout=enter.share,
            known=lambda outcome: keep(bare_answer(outcome, self.form)),
        )
        if derivation.outcome is not None:
            keep(bare_answer(derivation.outcome, self.form))
        answer = answer_with(derivation, self.form, enter)
        if additions:
            enter.keep_unfinished(answer)
        for add in additions:
            answer = add(answer, derivation, enter)
        return answer

    def additions(self) -> Iterator[Addition]:
        """Yield what adds to the answer, as it was asked for."""
        if self.data is not None:
            yield self.with_data_order
        elif self.check:
            yield self.with_check
        if self.conjecture:
            yield self.with_conjecture

    def with_check(self, answer: Answer, derivation: Derivation, enter: Enter) -> Answer:
        """Add the cross-check of Q to the text, or to the record and beside it."""
        enter("flow in the weights")
        return checked(answer, self.form, lambda: _check(derivation, self.digits))

    def with_data_order(self, answer: Answer, derivation: Derivation, enter: Enter) -> Answer:
        """Add what limits on the data depend on; a page is that of this question."""
        from derive.perturbed.order import data_order
        from numerics.confirm.regression_problem import check_order
        from numerics.margins.predictor import read_csv

        assert self.data is not None
        enter("data")
        rows, labels = read_csv(contents(self.data, "--data: "))
        order = data_order(derivation, rows)
        if self.form.name in ("text", "json"):
            answer = with_data(answer, order, self.form)
        else:
            answer = replace(answer, result=rendered(order, self.form))
        answer = replace(answer, code=EXIT[order.verdict.value])
        if not self.check:
            return answer
        enter("flows in the weights")
        return checked(answer, self.form, lambda: check_order(order, labels))

    def with_conjecture(self, answer: Answer, derivation: Derivation, enter: Enter) -> Answer:
        """Add what became of a conjectured Q to the text, or beside it; 1 where it differs."""
        enter("comparing the conjecture")
        compared = derivation.compare(self.conjecture)
        undecided = answer.code or UNDECIDED
        code = {"DIFFERS": NO, "NOT CHECKED": undecided}.get(compared.outcome, answer.code)
        return replace(told(answer, self.form, compared.to_text()), code=code)


@dataclass(frozen=True, kw_only=True)
class Explore(Measured, Command):
    """Write a page on which one sees what gradient flow on F minimises: one file, no network."""

    open: bool = option(False, "Open the page in a browser.")

    def answer(self, enter: Enter) -> Answer:
        """Derive, and write the page."""
        read = self.read_model()
        enter("importing the algebra")
        from derive.derivation import derive

        enter("parameterization")
        derivation = derive(read.parameterization(), enter, timeout=enter.share)
        enter("drawing")
        code = EXIT[derivation.verdict.value]
        try:
            return Answer(derivation.explore().text, code)
        except NumericalError as error:
            return Answer("", UNDECIDED, f"derive: {error}")

    def run(self) -> int:
        """Write the page, and open it where that is asked."""
        output = self.output
        check_writable(output)
        if self.open and output is None:
            output = Path(tempfile.mkdtemp(prefix="derive-")) / "explore.html"
        code = finish(self.answer, self.timeout, output)
        if self.open and output is not None and code in (YES, NO):
            import webbrowser

            webbrowser.open(output.resolve().as_uri())
        return code


_FOLD = textwrap.TextWrapper(80, subsequent_indent=" " * 6, break_on_hyphens=False)


@dataclass(frozen=True, kw_only=True)
class Check(Limited):
    """Check a record: recompute what it says from F, without SymPy and without any search."""

    file: str = option(..., metavar="FILE")
    strict: bool = option(False, "Fail where anything that FILE says is not certified.")

    def run(self) -> int:
        """Print the theorem that was proved, or one line for what does not follow."""
        return finish(partial(self.answer, source(self.file)), self.timeout, None)

    def answer(self, opened: str | int, enter: Enter) -> Answer:
        """Check a record; this runs in the child."""
        enter("reading")
        text = contents(opened)
        enter("checking the certificate")
        from derive.certificate.checking.check import check_text
        from derive.certificate.checking.text import NotACertificate, Rejected

        try:
            report = check_text(text)
        except NotACertificate as fault:
            return _refused(f"not a certificate: {fault}", BAD_INPUT)
        except Rejected as fault:
            return _refused(f"rejected: {fault}", NO)
        if self.strict and report.open:
            return _refused(f"rejected: not certified: {'; '.join(report.open)}", NO)
        lines = [f"  {line}" for line in report.theorem]
        lines += [f"  not certified: {what}" for what in report.open]
        folded = (part for line in lines for part in _FOLD.wrap(_printable(line)))
        return Answer("\n".join([f"Accepted: {report.verdict}", *folded]))


def _refused(why: str, code: int) -> Answer:
    return Answer("", code, f"derive: {' '.join(_printable(why).split())}")


def _printable(line: str) -> str:
    """Return a line without what a certificate's author could send to the terminal."""
    return "".join(c if c.isprintable() else "?" for c in line)


@dataclass(frozen=True, kw_only=True)
class Rocq(Runnable):
    """Write the library that files of derive regularizer --rocq are compiled with."""

    library: bool = option(False, "Write the library.")
    output: Path | None = option(None, "Write the files to DIR.", "DIR", "-o", "--output")

    def run(self) -> int:
        """Write the files."""
        if not self.library or self.output is None:
            raise InputError("write the library to a folder, as derive rocq --library -o DIR")
        if self.output.exists() and not self.output.is_dir():
            raise InputError(f"-o: {self.output} is a file; give a folder")
        deliver_to_folder({n: text.rstrip("\n") for n, text in library().items()}, self.output)
        deliver(f"4 files: cd {self.output} && coqc Mirror.v && coqc Radial.v", None)
        return YES
