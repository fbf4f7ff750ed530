"""The command ``derive regularizer``: the mirror potential Q of a parameterization."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from derive.cli.forms import DerivationForm, Form
from derive.cli.options import Model, Output, Timeout, text_option
from derive.cli.output import check_module, check_writable, deliver
from derive.cli.running import NO, UNDECIDED, Answer, Enter, answer_with, bare_answer, run
from derive.errors import DeriveError, InputError, NumericalError
from derive.model.typed import ReadModel

if TYPE_CHECKING:
    from derive.derivation import Derivation

Check = Annotated[bool, typer.Option("--check", help="Confirm by precise flows of the weights.")]
Digits = Annotated[
    int | None, typer.Option(help="Digits of --check (30).", min=10, max=1000, metavar="N")
]
Module = Annotated[
    Path | None,
    typer.Option("--numpy", help="Write Q as a module of NumPy functions.", metavar="FILE.py"),
]
Conjectured = Annotated[
    str, text_option("Q", "Compare a Q of your own, in beta and start symbols.")
]


Addition: TypeAlias = Callable[[Answer, "Derivation", Enter], Answer]
"""Adds to an answer what else was asked of the derivation."""


def regularizer(
    *,
    model: Model,
    check: Check = False,
    digits: Digits = None,
    form: DerivationForm,
    output: Output = None,
    numpy: Module = None,
    conjecture: Conjectured = "",
    timeout: Timeout = 60.0,
) -> None:
    """Derive the mirror potential Q(beta) of gradient flow on F, or prove that there is none.

    Where one exists, gradient flow on |X F(w) - y|^2 minimises Q among the beta with X beta = y.

    Each OUTPUT is a component of F(w), an expression in the weights in Python's notation:
    + - * / ** and brackets, exact numbers (0.5 is 1/2), sqrt exp log sin cos tan sinh cosh tanh
    asinh atan sigmoid softplus abs, and p**D with D a parameter. Weights are real; a weight w
    starts at the symbol w_0 unless --start says otherwise.
    With --vector and --matrix, outputs may use norm(u), dot(u, v), T(W) and products.

    Exit status: 0 Q exists and is printed; 1 proved that there is none, or --conjecture differs;
    2 bad input; 3 undecided, or out of time.

    \b
    Examples:
      derive regularizer "p**2 - m**2" --start p=alpha,m=alpha --positive alpha
      derive regularizer "a*u1" "a*u2" --check
      derive regularizer "a*u" --vector u
      derive regularizer "W*T(W)" --matrix W:2x2
      derive regularizer "p**D - m**D" --start p=alpha,m=alpha
      derive regularizer "a*u1" "a*u2" --latex --standalone -o neuron.tex
      derive regularizer "a*u1" "a*u2" --html -o neuron.html
      derive regularizer "a*u1" "a*u2" --numpy neuron.py
      derive regularizer "a*u1" "a*u2" --jax -o neuron_jax.py
      derive regularizer "a*b" --rocq -o product.v
      derive regularizer "w**2" --conjecture "beta*log(beta/w_0**2) - beta"
    """
    read = model.read()
    if digits is not None and not check:
        raise InputError("--digits goes with --check")
    check_writable(output)
    additions: list[Addition] = []
    if check:
        additions.append(partial(with_check, form, digits or 30))
    if conjecture:
        additions.append(partial(with_conjecture, form, conjecture))
    if numpy is not None:
        check_module(numpy, output)
        additions.append(_with_module)
    derived = run(lambda enter: derive_and_add(read, form, additions, enter), timeout)
    if derived.result:
        deliver(derived.result, output)
    if numpy is not None and derived.module:
        deliver(derived.module.rstrip("\n"), numpy, "--numpy")
    if derived.narration:
        print(derived.narration, file=sys.stderr)
    raise typer.Exit(derived.code)


def derive_and_add(
    model: ReadModel, form: Form, additions: Sequence[Addition], enter: Enter
) -> Answer:
    """Derive, render, and add what else was asked: the part that runs in the child."""
    enter("importing the algebra")
    from derive.derivation import derive

    keep = enter.keep_unfinished if additions else enter.keep
    enter("parameterization")
    derivation = derive(
        model.parameterization(),
        enter,
        timeout=enter.share,
        known=lambda outcome: keep(bare_answer(outcome, form)),
    )
    keep(bare_answer(derivation.outcome, form))
    derived = answer_with(derivation, form, enter)
    if additions:
        enter.keep_unfinished(derived)
    for add in additions:
        derived = add(derived, derivation, enter)
    return derived


def with_check(
    form: Form, digits: int, derived: Answer, derivation: Derivation, enter: Enter
) -> Answer:
    """Add the cross-check of Q to the text, or to the record and beside it."""
    from derive.components import in_components
    from derive.verdict import Verdict

    if derivation.verdict is not Verdict.PROVED:
        return derived.saying("--check: there is no Q to check")
    enter("flow in the weights")
    from numerics.confirm.crosscheck import crosscheck

    try:
        # A vector model is checked in components.
        report = crosscheck(in_components(derivation), digits=digits)
    except DeriveError as error:
        return derived.failing(f"derive: --check: could not be done: {error}")
    shown = report.report()
    if form.name == "text":
        derived = replace(derived, result=f"{derived.result}\n{shown}")
    else:
        result = report.added_to(derived.result) if form.name == "json" else derived.result
        derived = replace(derived, result=result).saying(shown)
    if report.passed:
        return derived
    return derived.failing("derive: --check: " + shown.partition("\n")[0])


def with_conjecture(
    form: Form, Q: str, derived: Answer, derivation: Derivation, enter: Enter
) -> Answer:
    """Add what became of a conjectured Q to the text, or beside it; 1 where it differs."""
    enter("comparing the conjecture")
    found = derivation.compare(Q)
    open_ = derived.code or UNDECIDED
    code = {"DIFFERS": NO, "NOT CHECKED": open_}.get(found.outcome, derived.code)
    if form.name == "text":
        return replace(derived, result=f"{derived.result}\n\n{found.to_text()}", code=code)
    return replace(derived.saying(found.to_text()), code=code)


def _with_module(derived: Answer, derivation: Derivation, enter: Enter) -> Answer:
    """Add the NumPy module, or the line that says why there is none."""
    from derive.render.exports.program import UNWRITTEN

    try:
        return replace(derived, module=derivation.to_code("numpy"))
    except NumericalError as error:
        said = f"--numpy: no module is written: {str(error).removeprefix(UNWRITTEN)}"
        return derived.failing(said, derived.code or UNDECIDED)
