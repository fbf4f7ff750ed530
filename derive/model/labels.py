"""The letters in which results are stated, K, rho, Q, g, F1, and how they make way for a user's."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Set

from sympy import Symbol

from derive.model.exact_map import ExactMap
from derive.model.names import unused
from derive.model.parameterization import Parameterization

LABEL = re.compile(
    r"d?((K|rho|Q|F|X|Y|H|V|M|P|R|y|h|n|d|delta|beta|b|c|q|s|w|G|S|Delta)(\d+(_\d+)?|_\w+)?|B|L|J|T|I"
    r"|D|N|g|k|r|l|z|t|mu|tau|psi|phi|omega|eta|lambda\d*|lam|kappa|sigma|xi|grad|Hess)"
)
"""What is a letter of ours, d for a differential before it: K, rho11, X_i, dQ."""

ENTRY = re.compile(r"(K|rho|F|X|y|H|V|c|G|S)(\d+(?:_\d+)?)")
"""An entry, which goes with its letter."""

PAIR = r"\d+_\d+|\d\d"
"""The index of an entry of a matrix."""

MEANING = {
    "K": "the tangent kernel",
    "rho": "the induced metric",
    "Q": "the regularizer",
    "g": "the warp",
    "F": "the parameterization",
    "J": "its Jacobian",
    "X": "the data",
    "y": "the targets, or dual coordinates",
    "w": "all weights",
    "c": "the laws",
    "G": "the gradient",
    "S": "the covariance of the noise",
    "k": "the decay",
    "L": "the loss",
    "R": "the conjugate of Q, or the distance from w_0",
    "D": "the degree",
    "N": "the unit of Q",
}
"""What those letters mean that stand alone."""

WORD = re.compile(r"(?<![\w'])[A-Za-z]\w*")


def pair(i: int, j: int) -> str:
    """Return the index of an entry of a matrix, in which both numbers can be told.

    >>> pair(1, 2), pair(1, 11)
    ('12', '1_11')
    """
    return f"{i}{j}" if i < 10 and j < 10 else f"{i}_{j}"


def numbers_of(index: str) -> list[int]:
    """Return both numbers of such an index.

    >>> numbers_of("12"), numbers_of("1_11")
    ([1, 2], [1, 11])
    """
    return [*map(int, index.split("_") if "_" in index else index)]


class Letter(Symbol):  # type: ignore[misc]
    """A letter of ours in a formula, which makes way for a user's name on the page."""


def taken_names(p: ExactMap, more: Iterable[str] = ()) -> frozenset[str]:
    """Return the names in F, and *more*; a single weight w is all weights w."""
    names = {*p.weights, *p.start_symbols, *p.parameters, *(v.name for v in p.vectors), *more}
    return frozenset(names - ({"w", "w_0"} if p.weights == ("w",) else set()))


def quoted(text: object, p: Parameterization) -> str:
    """Return a user's formula with backticks around the names that are letters of ours."""
    return backticked(text, taken_names(p))


def backticked(text: object, taken: Set[str]) -> str:
    """Return it so for the names that are given."""
    words = str(text).replace("Abs(", "abs(")
    return each_label(words, lambda name: f"`{name}`" if name in taken else name)


def each_label(text: str, change: Callable[[str], str]) -> str:
    """Return text with every word that is a letter of ours changed."""
    return WORD.sub(lambda m: change(m[0]) if LABEL.fullmatch(m[0]) else m[0], text)


def predictor(taken: Collection[str]) -> str:
    """Return what the predictor is called: beta, where no name begins so.

    >>> predictor(["beta1"]), predictor(["a"])
    ('predictor', 'beta')
    """
    numbered = (f"beta_{n}x" for n in range(100))
    return next(
        base
        for base in ("beta", "predictor", *numbered)
        if not any(name.startswith(base) for name in taken)
    )


def aside(label: str, taken: Set[str]) -> str:
    """Return a letter of ours as it is written where names are taken.

    >>> aside("K", {"K"}), aside("K21", {"K"}), aside("dQ", {"Q"}), aside("K", {"g"})
    ('K_', 'K_21', 'dQ_', 'K')
    >>> aside("y1", {"y1"}), aside("y2", {"y1"}), aside("beta_0", {"beta"})
    ('y_1', 'y2', 'predictor_0')
    >>> aside("w", {"u", "w", "w_0"}), aside("w_0", {"u", "w", "w_0"})
    ('theta', 'theta_0')
    """
    if label in ("w", "w_0") and taken & {"w", "w_0"}:
        return unused("theta", taken) + label[1:]
    if label.startswith("beta"):
        return predictor(taken) + label.removeprefix("beta")
    if label in taken or not label.startswith("d"):
        entry = ENTRY.fullmatch(label)
        if entry is None or not taken & {label, entry[1]}:
            return unused(label, taken)
        return unused(f"{entry[1]}_", taken) + entry[2]
    return unused("d" + aside(label[1:], taken), taken)


def beside(name: str, taken: Set[str]) -> str:
    """Return what a letter of ours is called in formulas beside names, as its stem on the page.

    >>> beside("k", {"k"}), beside("G1", {"G"}), beside("G1", {"S"})
    ('k_', 'G1_', 'G1')
    """
    return unused(f"{name}_" if stem_of(name, taken) in taken else name, taken)


def stem_of(label: str, taken: Set[str]) -> str:
    """Return the letter with which an entry goes, where that is taken; else the label."""
    entry = ENTRY.fullmatch(label)
    return entry[1] if entry is not None and entry[1] in taken else label
