"""The command ``derive check``: a certificate against what it claims."""

from __future__ import annotations

import sys
import textwrap
from typing import Annotated, Literal, TypeAlias

import typer

from derive.cli.options import Timeout, argument
from derive.cli.output import contents, deliver, source
from derive.cli.running import BAD_INPUT, NO, YES, Answer, Enter, run

Wanted: TypeAlias = Literal["all", "some"]
_FOLD = textwrap.TextWrapper(80, subsequent_indent=" " * 6, break_on_hyphens=False)
Strict = Annotated[
    bool, typer.Option("--strict", help="Fail where anything that FILE says is not certified.")
]


def check(
    file: Annotated[str, argument("FILE")], strict: Strict = False, timeout: Timeout = 60.0
) -> None:
    """Check a record: recompute what it says from F, without SymPy and without any search.

    FILE is a record that --json of `derive regularizer` or `derive regimes` wrote; - reads the
    standard input. What is printed is the theorem that was proved. Anything else in FILE, as the
    limits of regimes, is named as not certified, and with --strict refused.

    Exit status: 0 what is printed is proved; 1 something does not follow; 2 no certificate;
    3 out of time.

    \b
    Examples:
      derive regularizer "a*u1" "a*u2" --json -o neuron.json
      derive check neuron.json
      derive check --strict neuron.json
    """
    opened = source(file)
    wanted: Wanted = "all" if strict else "some"
    answer = run(lambda enter: _check(opened, wanted, enter), timeout)
    if answer.code == YES:
        deliver(answer.result, None)
    else:
        print(f"derive: {' '.join(answer.result.split())}", file=sys.stderr)
    raise typer.Exit(answer.code)


def _check(opened: str | int, wanted: Wanted, enter: Enter) -> Answer:
    """Check a record, of which all has to be certified, or some may be left open by name."""
    enter("reading")
    text = contents(opened)
    enter("checking the certificate")
    from derive.certificate.checking.check import check_text
    from derive.certificate.checking.text import NotACertificate, Rejected

    try:
        report = check_text(text)
    except NotACertificate as fault:
        return Answer(_printable(f"not a certificate: {fault}"), BAD_INPUT)
    except Rejected as fault:
        return Answer(_printable(f"rejected: {fault}"), NO)
    if wanted == "all" and report.open:
        return Answer(_printable(f"rejected: not certified: {'; '.join(report.open)}"), NO)
    lines = [f"  {line}" for line in report.theorem]
    lines += [f"  not certified: {what}" for what in report.open]
    folded = (part for line in lines for part in _FOLD.wrap(_printable(line)))
    return Answer("\n".join([f"Accepted: {report.verdict}", *folded]))


def _printable(line: str) -> str:
    """Return a line without what a certificate's author could send to the terminal."""
    return "".join(c if c.isprintable() else "?" for c in line)
