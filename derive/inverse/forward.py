"""The forward derivation of what was found, compared exactly with the Q that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from derive.derivation import Derivation, derive
from derive.errors import ConsistencyError, DeriveError, InputError
from derive.exact.elementary import Elementary
from derive.exact.tower import Unsettled
from derive.inverse.problem import PLACES, Problem
from derive.language import from_sympy
from derive.language.tree import Name, Tree, names
from derive.stages.parameterization import Parameterization
from derive.verdict import Identity, Verdict


@dataclass(frozen=True)
class Forward:
    """What the forward derivation said.

    Attributes:
        derivation: of F from its start; None where the derivation does not take F.
        identity: the comparison with Q, where it was proved.
        reason: in words.
    """

    derivation: Derivation | None
    identity: Identity | None
    reason: str


def run_forward(
    problem: Problem,
    output: Tree,
    weights: tuple[str, ...],
    start: Mapping[str, Tree],
    values: Mapping[str, Tree] | None = None,
    positive: tuple[str, ...] = (),
) -> Forward:
    """Derive Q from F and compare: Q_F''/Q'' is proved to be a positive constant in beta.

    Args:
        problem: Q.
        output: F.
        weights: its weights.
        start: where they start.
        values: start symbols that stand for functions of the parameters.
        positive: start symbols or weights that start positive.

    Raises:
        ConsistencyError: the derivation contradicts the design; a fault of this program.
    """
    if set(names((output,))) - set(weights):
        return Forward(None, None, "F has parameters, which the forward derivation does not take")
    try:
        p = Parameterization([output], weights, start, positive)
    except InputError as refusal:
        return Forward(None, None, f"the forward derivation does not take F: {refusal}")
    try:
        derivation = derive(p)
    except DeriveError as refusal:
        return Forward(None, None, f"the forward derivation stopped: {refusal}")
    if derivation.verdict is Verdict.REFUTED:
        raise ConsistencyError("the forward derivation refutes the design")
    if derivation.verdict is not Verdict.PROVED:
        return Forward(derivation, None, "the forward derivation is undecided")
    if _proportional(problem, derivation, dict(values or {})):
        statement = "Q_F''/Q'' is a positive constant, Q_F derived from F"
        identity = Identity(statement, "d/dbeta (Q_F''/Q'')", "0")
        return Forward(derivation, identity, "derived forward from F, and equal")
    return Forward(derivation, None, "the forward Q was not compared exactly")


def _proportional(problem: Problem, derivation: Derivation, values: dict[str, Tree]) -> bool:
    """Tell whether Q_F'' is proved to be Q'' times a positive constant."""
    Q = derivation.potential.Q
    if Q is None or derivation.potential.kind != "explicit":
        return False
    try:
        derived = from_sympy(Q)
    except DeriveError:
        return False
    beta = derivation.beta[0].name
    trees = [problem.tree, derived, *values.values()]
    for point in _points(problem, [n for n in names((derived,)) if n != beta]):
        tower = Elementary(point, trees)
        try:
            images = {name: tower.read(tree) for name, tree in values.items()}
            images[beta] = tower.known[problem.variable]
            found, asked = tower.read(derived, images), tower.read(problem.tree)
            for _ in range(2):
                found, asked = tower.derivative(found), tower.derivative(asked)
            if tower.sign(asked) <= 0:
                continue
            ratio = tower.tidy(found / asked)
            if tower.sign(ratio) <= 0 or not tower.ball(tower.derivative(ratio)).contains(0):
                raise ConsistencyError("the forward derivation finds another Q")
            return tower.is_zero(tower.derivative(ratio))
        except (Unsettled, ZeroDivisionError):
            continue
    return False


def _points(problem: Problem, symbols: list[str]) -> Iterator[dict[str, Fraction]]:
    for place in PLACES:
        for start in PLACES[:4]:
            for values in problem.parameter_points():
                free = {name: start for name in symbols if name not in values}
                yield {problem.variable: place, **values, **free}


def free_start(weight: str, taken: set[str]) -> Tree:
    """Return the symbol at which a weight starts, different from the user's names.

    >>> free_start("w", {"w_0"})
    Name(name='w_00')
    """
    name = f"{weight}_0"
    while name in taken:
        name += "0"
    return Name(name)
