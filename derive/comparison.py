"""Models, or starts of one, side by side: what was found of each, and nothing beside that."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from sympy import Expr, ImmutableMatrix

from derive.derivation import Derivation, Model, derived
from derive.errors import DeriveError, InputError
from derive.limits.find import Regimes, regimes
from derive.perturbed.find import perturb
from derive.perturbed.record import Perturbation
from derive.printable import Held, Printable
from derive.separable.find import Margins, margins
from derive.verdict import Verdict

T = TypeVar("T")
SCALE = "alpha"
"""The symbol of the start in which limits are taken; where the start has none it is scaled."""


@dataclass(frozen=True, repr=False)
class Column(Held):
    """One of the models: its derivation, and what is found from that, None where it is refused.

    Attributes:
        label: what it is called.
        regimes: the limits of Q as alpha tends to 0 and to infinity.
        margins: what the flow tends to on separable data.
        step: what one step does to the laws.
    """

    label: str
    derivation: Derivation
    regimes: Regimes | None
    margins: Margins
    step: Perturbation | None

    @property
    def named_kernel(self) -> tuple[ImmutableMatrix, tuple[tuple[Expr, Expr], ...]]:
        """K in beta, with what its names stand for, where it has a formula; else in the weights."""
        metric = self.derivation.metric
        roots = tuple((root.symbol, root.explicit) for root in metric.roots if root.explicit)
        if metric.kernel is None or len(roots) < len(metric.roots):
            return metric.kernel_in_weights, ()
        return metric.kernel, (*roots, *metric.constants)

    @property
    def kernel(self) -> ImmutableMatrix:
        """The same without names."""
        K, names = self.named_kernel
        return K.subs(names)


@dataclass(frozen=True, repr=False)
class Comparison(Printable):
    """What was found of several models, in the order in which they were given."""

    columns: tuple[Column, ...]

    @property
    def verdict(self) -> Verdict:
        """PROVED where the existence of Q is decided for all models, else UNDECIDED."""
        decided = all(x.derivation.verdict is not Verdict.UNDECIDED for x in self.columns)
        return Verdict.PROVED if decided else Verdict.UNDECIDED

    def to_frame(self) -> Any:
        """Return a DataFrame with a row for each model, of what JSON has of it.

        Raises:
            InputError: pandas is not installed.
        """
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            raise InputError("to_frame needs pandas: pip install pandas") from None
        return pandas.DataFrame(json.loads(self.to_json())["models"]).set_index("label")


def compare(
    models: Iterable[Model] | Mapping[str, Model], progress: Callable[[str], None] | None = None
) -> Comparison:
    """Return models or starts side by side: Q, K, warp, regimes, horizon, steps.

    >>> two = compare(["p**2 - m**2", ["a*u1", "a*u2"]])
    >>> [(x.margins.norm, x.derivation.warping.g) for x in two.columns]
    [('l1', 1), ('l2', a)]

    Args:
        models: what :func:`derive` takes, of given size, or derivations; with names as a mapping.
        progress: called with the name of each step as it begins.

    Raises:
        InputError: there are none, or one is a map of open size.
    """
    enter = progress or (lambda stage: None)
    several = list(models) if not isinstance(models, str | Mapping) else models
    if isinstance(several, str) or not several:
        raise InputError("give a list of models, such as compare(['w**2', 'u*v'])")
    named = several if isinstance(several, Mapping) else dict(enumerate(several, 1))
    labels = {str(x): model for x, model in named.items()}
    if odd := [x for x in labels if not re.fullmatch(r"[\w .-]+", x)]:
        raise InputError(f"names of models have letters, digits, blanks, . and -, not {odd[0]!r}")
    return Comparison(tuple(_column(x, model, enter) for x, model in labels.items()))


def _column(label: str, model: Model, enter: Callable[[str], None]) -> Column:
    derivation = derived(model, lambda stage: enter(f"{label}: {stage}"))
    p = derivation.parameterization
    scaled = derivation if SCALE in p.positive else p
    enter(f"{label}: limits, margins, steps")
    limits = _unless_refused(lambda: regimes(scaled, SCALE))
    step = _unless_refused(lambda: perturb(derivation, "step"))
    return Column(label, derivation, limits, margins(derivation), step)


def _unless_refused(find: Callable[[], T]) -> T | None:
    """Return what is found; None where it does not go with such a model."""
    try:
        return find()
    except DeriveError:
        return None
