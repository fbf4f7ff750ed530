"""``derive check``, of a certificate, and ``derive rocq``, the library of proofs."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from derive.cli.options import Limited, Program
from derive.cli.output import contents, deliver, deliver_to_folder, source
from derive.cli.running import BAD_INPUT, NO, YES, Answer, Enter, finish
from derive.errors import InputError
from derive.option import option
from derive.rocq.library import library

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
class Rocq(Program):
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
