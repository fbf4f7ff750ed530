"""The command line: the only module that knows both the derivation and the numerics.

Nothing heavy is imported before the arguments are known to be good.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from derive.audit_cli import add_audit
from derive.catalogue_cli import add_catalogue
from derive.check_cli import add_check
from derive.errors import DeriveError, InputError, NumericalError
from derive.experiment_cli import add_experiment
from derive.explicit_cli import add_explicit
from derive.figure_cli import add_figure
from derive.inverse_cli import add_parameterize
from derive.output import check_module, check_writable, deliver
from derive.regimes_cli import add_regimes
from derive.request import Options, Request, model_of, read_request
from derive.running import INTERRUPTED, UNDECIDED, Stop, run

YES, NO, BAD_INPUT = 0, 1, 2

app = typer.Typer(
    name="derive",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Derive the implicit regularizer of gradient flow on a parameterization beta = F(w).

    Try:  derive regularizer "a*u1" "a*u2"
    """
    if version:
        from derive import __version__

        print(f"regderive {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def regularizer(
    outputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="OUTPUT...",
            help='The components of F(w), one argument each: "a*u1" "a*u2".',
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        str,
        typer.Option(help="Start values: a=1/2,p=alpha. Others start at w_0.", metavar="W=V,..."),
    ] = "",
    positive: Annotated[
        str, typer.Option(help="Weights or start symbols that start positive.", metavar="NAMES")
    ] = "",
    vector: Annotated[
        str,
        typer.Option(
            help="Vectors: u:3, or u alone to leave the dimension open.", metavar="U[:D],..."
        ),
    ] = "",
    matrix: Annotated[
        str, typer.Option(help="Matrices: W:2x2; then W*T(W) is accepted.", metavar="W:MxN,...")
    ] = "",
    parameter: Annotated[
        str,
        typer.Option(help="Names that are constants; those in exponents are.", metavar="NAMES"),
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Confirm Q by a precise flow and solver.")
    ] = False,
    digits: Annotated[
        int | None,
        typer.Option(help="Digits of that check (30).", min=10, max=1000, metavar="N"),
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX snippet.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the JSON record.")] = False,
    standalone: Annotated[
        bool, typer.Option("--standalone", help="With --latex: a document that compiles.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write the result to FILE.", metavar="FILE"),
    ] = None,
    numpy: Annotated[
        Path | None,
        typer.Option("--numpy", help="Write Q as a module of NumPy functions.", metavar="FILE.py"),
    ] = None,
    timeout: Annotated[
        float, typer.Option(help="Give up after S seconds.", min=0.1, max=86400, metavar="S")
    ] = 60.0,
) -> None:
    """Derive the mirror potential Q(beta) of gradient flow on F, or prove that there is none.

    Where one exists, gradient flow on |X F(w) - y|^2 minimises Q among the beta with X beta = y.

    OUTPUT is an expression in the weights, in Python's notation: + - * / ** and brackets, exact
    numbers (0.5 is 1/2), sqrt exp log sin cos tan sinh cosh tanh asinh, and p**D with D a
    parameter. Weights are real and start at the symbol <weight>_0 unless --start says otherwise.
    With --vector and --matrix, outputs may use norm(u), dot(u, v), T(W) and products.

    Exit status: 0 Q exists and is printed; 1 proved that there is none; 2 bad input;
    3 undecided, or out of time.

    \b
    Examples:
      derive regularizer "p**2 - m**2" --start p=alpha,m=alpha --positive alpha
      derive regularizer "a*u1" "a*u2" --check
      derive regularizer "a*u" --vector u
      derive regularizer "W*T(W)" --matrix W:2x2
      derive regularizer "p**D - m**D" --start p=alpha,m=alpha
      derive regularizer "a*u1" "a*u2" --latex --standalone -o neuron.tex
      derive regularizer "a*u1" "a*u2" --numpy neuron.py
    """
    form = "latex" if latex else "json" if json else "text"
    options = Options(start, positive, vector, matrix, parameter)
    request = read_request(outputs or [], options, form, standalone)
    if latex and json:
        raise InputError("choose one of --latex and --json")
    if standalone and not latex:
        raise InputError("--standalone goes with --latex")
    if digits is not None and not check:
        raise InputError("--digits goes with --check")
    if output is not None and str(output) != "-":
        check_writable(output)
    if numpy is not None:
        check_module(numpy, output)
    asked = (digits or 30) if check else None
    answer = run(
        lambda enter: _derive(request, asked, numpy is not None, enter), timeout, output is None
    )
    deliver(answer.result, output)
    if numpy is not None and answer.module:
        deliver(answer.module.rstrip("\n"), numpy, "--numpy")
    if answer.narration:
        print(answer.narration, file=sys.stderr)
    raise typer.Exit(answer.code)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a derivation printed, and its exit status."""

    result: str
    code: int
    narration: str = ""
    module: str = ""


def _derive(
    request: Request, digits: int | None, module: bool, enter: Callable[[str], None]
) -> Answer:
    """Derive, render, and cross-check where asked: the part that runs in the child."""
    enter("importing the algebra")
    from derive.derivation import derive
    from derive.verdict import Verdict

    enter("parameterization")
    derivation = derive(model_of(request), enter)
    code = {Verdict.PROVED: YES, Verdict.REFUTED: NO, Verdict.UNDECIDED: UNDECIDED}[
        derivation.verdict
    ]
    report = None
    if digits is not None and derivation.verdict is Verdict.PROVED:
        enter("flow in the weights")
        from numerics.crosscheck import crosscheck

        checked = derivation
        if request.vectors:
            from derive.radial import in_components

            checked = in_components(derivation)
        report = crosscheck(checked, digits=digits)
        if not report.passed:
            code = UNDECIDED
    enter("rendering")
    if request.form == "latex":
        result = derivation.to_latex(standalone=request.standalone)
    elif request.form == "json":
        result = derivation.to_json() if report is None else report.added_to(derivation.to_json())
    else:
        result = derivation.to_text()
    answer = Answer(result, code)
    if report is None and digits is not None:
        answer = Answer(result, code, "--check: there is no Q to check")
    elif report is not None:
        shown = report.report()
        alarm = "" if report.passed else "derive: --check: " + shown.partition("\n")[0]
        if request.form == "text":
            answer = Answer(result + "\n" + shown, code, alarm)
        else:
            answer = Answer(result, code, "\n".join(filter(None, (shown, alarm))))
    return _with_module(answer, derivation) if module else answer


def _with_module(answer: Answer, derivation: Any) -> Answer:
    """Add the NumPy module, or the line that says why there is none."""
    from numerics.module import numpy_module

    try:
        return replace(answer, module=numpy_module(derivation))
    except NumericalError as error:
        lines = (answer.narration, f"--numpy: no module is written: {error}")
        code = answer.code or UNDECIDED
        return replace(answer, code=code, narration="\n".join(filter(None, lines)))


def _protect(arguments: Sequence[str]) -> list[str]:
    """Let expressions such as -w**2 pass as arguments: one leading minus is no option here."""
    return [
        f" {a}"
        if a.startswith("-") and not a.startswith("--") and a not in ("-o", "-h", "-")
        else a
        for a in arguments
    ]


def _confirm(regimes: Any) -> tuple[str, bool]:
    """Test the limits of Q by numbers: its gradient, and where its interpolants tend to."""
    from numerics.approach import confirm_minimizers
    from numerics.regimes import confirm_limits

    found = (*confirm_limits(regimes), *confirm_minimizers(regimes))
    lines = [c.report() for c in found] or ["there is no limit to check"]
    return "\n".join(lines), all(c.passed for c in found)


def _try_rate(*claim: Any) -> Any:
    """Try a printed rate on random problems."""
    from numerics.rates import try_rate

    return try_rate(*claim)


add_parameterize(app, run)
add_regimes(app, run, _confirm)
add_check(app, run)
add_experiment(app)
add_catalogue(app, run)
add_audit(app, run, _try_rate)
add_explicit(app, run)
add_figure(app, run)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status; every refusal is one line on stderr."""
    try:
        code = app(
            _protect(sys.argv[1:] if arguments is None else arguments),
            prog_name="derive",
            standalone_mode=False,
        )
    except Stop as stop:
        _refuse(str(stop))
        sys.exit(stop.code)
    except DeriveError as error:
        _refuse(str(error))
        sys.exit(BAD_INPUT if isinstance(error, InputError) else UNDECIDED)
    except KeyboardInterrupt:
        _refuse("interrupted")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of the pipe has left, as `derive ... | head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(YES)
    except Exception as fault:
        sys.exit(_explain(fault))
    sys.exit(code if isinstance(code, int) else YES)


def _explain(fault: Exception) -> int:
    """Print one line for what the argument parser refused, or for a fault of this program."""
    usage = getattr(fault, "format_message", None)
    if usage is not None:
        _refuse(f"{usage()} (derive --help shows what is accepted)")
        return BAD_INPUT
    _refuse(f"internal error ({type(fault).__name__}: {fault}); please report this command")
    return UNDECIDED


def _refuse(message: str) -> None:
    print(f"derive: {' '.join(message.split())}", file=sys.stderr)
