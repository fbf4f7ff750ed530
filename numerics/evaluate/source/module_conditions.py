"""Python source of what refuses a start that Q was not derived for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from sympy import Expr, Mul, Symbol, expand, fraction, together

from derive.language import to_sympy
from derive.model.condition import Condition, Sign
from derive.model.parameterization import Parameterization
from derive.potential.piece import Piece, start_signs
from numerics.evaluate.source.statements import Statements, parameter

_LONGEST = 50


def assumed_start(
    p: Parameterization, pieces: Sequence[Piece], vector: str = "", norm: str | None = None
) -> tuple[list[str], str]:
    """Return the texts of what refuses a start that a branch of Q was not derived for.

    Signs of short polynomials are tested as they read, others by balls, in a list of their own.
    A vector is tested by its length, which is the start symbol *norm* or what the start says.
    """
    names = {name: parameter(name) for name in (*p.parameters, *p.start_symbols)}
    given = [given for name, given in names.items() if name != norm]
    tests: list[str] = []
    formulas: dict[str, str] = {}
    conditions = []
    for condition in _conditions(pieces, names):
        test = _polynomial_test(condition, names)
        if test is not None and len(test) <= _LONGEST:
            tests.append(test)
            continue
        name = f"_condition{len(formulas) + 1}"
        formulas[name] = _condition_text(name, condition.of, names)
        shown = str(condition)
        shown = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
        holds = "positive" if condition.sign is Sign.POSITIVE else "not_zero"
        conditions.append(f'    (\n        "{shown}",\n        {holds},\n        {name},\n    ),')
    lines = [f"def _check({', '.join([*given, *[vector] * bool(vector)])}):"]
    lines.append('    """Raise ValueError for a start that Q was not derived for."""')
    if norm is not None:
        lines.append(f"    {names[norm]} = np.linalg.norm({vector})")
    elif vector:
        length = _renamed(to_sympy(dict(p.start)[p.weights[-1]]), names)
        lines.append(
            f"    if not abs(np.linalg.norm({vector}) - abs({length})) <= 1e-12 * abs({length}):"
        )
        lines.append(
            f'        raise ValueError("{vector} does not have the length that Q assumes")'
        )
    for test in dict.fromkeys(tests):
        lines.append(f"    if not np.all({test}):")
        lines.append(f'        raise ValueError("Q was derived for {test}: derive again")')
    if conditions:
        start = ", ".join(f'"{name}": {name}' for name in names.values())
        lines.append(f"    require(_CONDITIONS, {{{start}}})")
        listed = "\n".join(["_CONDITIONS: list[Any] = [", *conditions, "]"])
        return ["\n".join(lines), *formulas.values()], f"{listed}\n"
    return ["\n".join(lines)], ""


def _conditions(pieces: Sequence[Piece], names: Mapping[str, str]) -> Iterable[Condition]:
    """Return what must be > 0, or != 0, in start symbols."""
    written = (c for piece in pieces for _, c in start_signs(piece))
    return dict.fromkeys(c for c in written if c.names <= names.keys())


def _polynomial_test(condition: Condition, names: Mapping[str, str]) -> str | None:
    """Return the text of a test; None for what is not rational."""
    if not condition.of.is_rational_function():
        return None
    product = expand(Mul(*fraction(together(_renamed(condition.of, names)))))
    spaced = re.sub(r"(?<!\*)([*/])(?!\*)", r" \1 ", str(product))
    return condition.sign.format(spaced)


def _renamed(expression: Expr, names: Mapping[str, str]) -> Expr:
    return expression.subs({s: Symbol(names[s.name]) for s in expression.free_symbols})


def _condition_text(name: str, expression: Expr, names: Mapping[str, str]) -> str:
    writer = Statements({symbol: f"c.{given}" for symbol, given in names.items()})
    shown = writer.shortened([expression])
    lines = [f"def {name}(c):", *(f"    {line}" for line in writer.lines)]
    return "\n".join([*lines, f"    return [{shown}]"])
