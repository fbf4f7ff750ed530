"""The command ``derive check``: a certificate against what it claims."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from derive.cli.options import Timeout, argument
from derive.cli.output import contents, deliver, source
from derive.cli.running import BAD_INPUT, NO, YES, Answer, Enter, run


def check(file: Annotated[str, argument("FILE")], timeout: Timeout = 60.0) -> None:
    """Check a certificate: recompute every claim from F, without SymPy and without any search.

    FILE is a record that --json wrote, or a certificate; - reads the standard input.

    Exit status: 0 every claim holds and the verdict follows; 1 one does not; 2 no certificate;
    3 out of time.

    \b
    Examples:
      derive regularizer "a*u1" "a*u2" --json -o neuron.json
      derive check neuron.json
    """
    opened = source(file)
    answer = run(lambda enter: _check(opened, enter), timeout)
    if answer.code == YES:
        deliver(answer.result, None)
    else:
        print(f"derive: {' '.join(answer.result.split())}", file=sys.stderr)
    raise typer.Exit(answer.code)


def _check(opened: str | int, enter: Enter) -> Answer:
    enter("reading")
    text = contents(opened)
    enter("checking the certificate")
    from derive.certificate.checking.check import NotACertificate, Rejected, check_text

    try:
        report = check_text(text)
    except NotACertificate as fault:
        return Answer(_printable(f"not a certificate: {fault}"), BAD_INPUT)
    except Rejected as fault:
        return Answer(_printable(f"rejected: {fault}"), NO)
    lines = [f"Accepted: {report.verdict}"]
    lines += [f"  {claim}: holds" for claim in report.accepted]
    lines += [f"  not certified: {what}" for what in report.open]
    return Answer("\n".join(_printable(line) for line in lines))


def _printable(line: str) -> str:
    """Return a line without what a certificate's author could send to the terminal."""
    return "".join(c if c.isprintable() else "?" for c in line)
