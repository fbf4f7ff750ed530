"""The command ``derive regularizer``: the mirror potential Q of a parameterization."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from derive.cli.options import (
    Json,
    Latex,
    Matrix,
    Output,
    Outputs,
    Parameter,
    Positive,
    Standalone,
    Start,
    Timeout,
    Vector,
)
from derive.cli.output import check_module, check_writable, chosen_form, deliver
from derive.cli.request import Options, Request, model_of, read_request
from derive.cli.running import UNDECIDED, Answer, Enter, answer_with, run
from derive.errors import DeriveError, InputError, NumericalError

Check = Annotated[bool, typer.Option("--check", help="Confirm Q by a precise flow and solver.")]
Digits = Annotated[
    int | None,
    typer.Option(help="Digits of --check (30).", min=10, max=1000, metavar="N"),
]
Module = Annotated[
    Path | None,
    typer.Option("--numpy", help="Write Q as a module of NumPy functions.", metavar="FILE.py"),
]


@dataclass(frozen=True, slots=True)
class Derived(Answer):
    """What a derivation printed, what is said beside it, and its NumPy module."""

    narration: str = ""
    module: str = ""


def regularizer(
    outputs: Outputs = None,
    start: Start = "",
    positive: Positive = "",
    vector: Vector = "",
    matrix: Matrix = "",
    parameter: Parameter = "",
    check: Check = False,
    digits: Digits = None,
    latex: Latex = False,
    standalone: Standalone = False,
    json: Json = False,
    output: Output = None,
    numpy: Module = None,
    timeout: Timeout = 60.0,
) -> None:
    """Derive the mirror potential Q(beta) of gradient flow on F, or prove that there is none.

    Where one exists, gradient flow on |X F(w) - y|^2 minimises Q among the beta with X beta = y.

    Each OUTPUT is a component of F(w), an expression in the weights in Python's notation:
    + - * / ** and brackets, exact numbers (0.5 is 1/2), sqrt exp log sin cos tan sinh cosh tanh
    asinh, and p**D with D a parameter. Weights are real; a weight w starts at the symbol w_0
    unless --start says otherwise.
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
    form = chosen_form(latex=latex, json=json, standalone=standalone)
    request = read_request(
        outputs or [], Options(start, positive, vector, matrix, parameter), form, standalone
    )
    if digits is not None and not check:
        raise InputError("--digits goes with --check")
    check_writable(output)
    if numpy is not None:
        check_module(numpy, output)
    asked = (digits or 30) if check else None
    derived = run(lambda enter: _derive(request, asked, numpy is not None, enter), timeout)
    deliver(derived.result, output)
    if numpy is not None and derived.module:
        deliver(derived.module.rstrip("\n"), numpy, "--numpy")
    if derived.narration:
        print(derived.narration, file=sys.stderr)
    raise typer.Exit(derived.code)


def _derive(request: Request, digits: int | None, module: bool, enter: Enter) -> Derived:
    """Derive, render, and cross-check where asked: the part that runs in the child."""
    enter("importing the algebra")
    from derive.derivation import derive
    from derive.verdict import Verdict

    enter("parameterization")
    derivation = derive(model_of(request), enter)
    report, failure = None, ""
    if digits is not None and derivation.verdict is Verdict.PROVED:
        enter("flow in the weights")
        try:
            report = _checked(derivation, digits)
        except DeriveError as error:
            failure = f"derive: --check: could not be done: {error}"
    enter("rendering")
    answer = answer_with(derivation, request.form, request.standalone)
    derived = Derived(answer.result, answer.code)
    if report is not None:
        derived = _with_check(derived, report, request.form)
    elif failure:
        derived = replace(derived, code=UNDECIDED, narration=failure)
    elif digits is not None:
        derived = replace(derived, narration="--check: there is no Q to check")
    return _with_module(derived, derivation) if module else derived


def _checked(derivation: Any, digits: int) -> Any:
    """Return the cross-check of Q; a vector model is checked in components."""
    from derive.vectors.derivation import RadialDerivation, in_components
    from numerics.confirm.crosscheck import crosscheck

    if isinstance(derivation, RadialDerivation):
        derivation = in_components(derivation)
    return crosscheck(derivation, digits=digits)


def _with_check(derived: Derived, report: Any, form: str) -> Derived:
    """Add the report to the text, or to the record and beside it; an alarm where it failed."""
    shown = report.report()
    alarm = "" if report.passed else "derive: --check: " + shown.partition("\n")[0]
    result, said = derived.result, [shown, alarm]
    if form == "text":
        result, said = f"{result}\n{shown}", [alarm]
    elif form == "json":
        result = report.added_to(result)
    code = derived.code if report.passed else UNDECIDED
    return replace(derived, result=result, code=code, narration="\n".join(filter(None, said)))


def _with_module(answer: Derived, derivation: Any) -> Derived:
    """Add the NumPy module, or the line that says why there is none."""
    from numerics.evaluate.source.module import numpy_module

    try:
        return replace(answer, module=numpy_module(derivation))
    except NumericalError as error:
        lines = (answer.narration, f"--numpy: no module is written: {error}")
        code = answer.code or UNDECIDED
        return replace(answer, code=code, narration="\n".join(filter(None, lines)))
