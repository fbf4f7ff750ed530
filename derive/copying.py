"""Independent copies of a parameterization, fitted jointly: a diagonal network of any width."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from derive.derivation import Derivation, derive, derive_blocks
from derive.errors import InputError
from derive.language.tree import Name, Tree, names, substituted
from derive.model.names import read_tree
from derive.model.parameterization import Parameterization
from derive.outcome import Outcome
from derive.printable import Held
from derive.records import NumericPotential
from derive.roads.published import Ansatz

if TYPE_CHECKING:
    from sympy import Expr


@dataclass(frozen=True, repr=False)
class Copies(Held):
    """Copies of F, each with weights and a start of its own; only Q of one is derived.

    Attributes:
        one: F.
        count: how many copies there are.
        start: numbers for its start symbols, the same in all copies, or one for each.
    """

    fold: ClassVar[str] = "derive.copying:derive_joint"
    """The stages by which all copies are derived together."""

    one: Parameterization
    count: int
    start: tuple[tuple[str, object], ...] = ()

    def _shown(self) -> Iterable[tuple[str, object]]:
        return (("one", self.one), ("count", self.count), ("start", dict(self.start)))

    @property
    def prefixes(self) -> tuple[str, ...]:
        """What the names of the weights of each copy begin with."""
        return ("",) if self.count == 1 else tuple(f"copy{i}_" for i in range(1, self.count + 1))

    @property
    def weights(self) -> tuple[str, ...]:
        """The names of all weights, copy by copy."""
        return tuple(prefix + w for prefix in self.prefixes for w in self.one.weights)

    @functools.cached_property
    def trees(self) -> tuple[Tree, ...]:
        """The outputs of all copies."""
        return self.spread(self.one.trees)

    @functools.cached_property
    def rates(self) -> tuple[Tree, ...]:
        """The learning rates of all weights; () where all are 1."""
        return self.spread(self.one.rates)

    def spread(self, trees: Sequence[Tree]) -> tuple[Tree, ...]:
        """Return functions of the weights of F for each copy, in the names of its own weights."""
        known = self.one.weights
        names = ({w: Name(prefix + w) for w in known} for prefix in self.prefixes)
        return tuple(substituted(tree, own) for own in names for tree in trees)

    @functools.cached_property
    def joint(self) -> Parameterization:
        """All copies as one map, each from its start, of outputs that share no weights.

        >>> copies(["a*w**2"], 2).joint
        Parameterization(['copy1_a*copy1_w**2', 'copy2_a*copy2_w**2'])

        Raises:
            InputError: the metric on the weights of one is not diagonal.
        """
        one = self.one
        if not one.geometry.is_diagonal or not one.geometry.steering.is_gradient:
            raise InputError("copies: derive one, whose weights have a metric of their own")
        each = [self._names(i) for i in range(self.count)]

        def of_copies(trees: Iterable[Tree]) -> list[Tree]:
            return [substituted(tree, own) for own in each for tree in trees]

        outputs = of_copies(one.trees)
        starts = dict(zip(self.weights, of_copies([tree for _, tree in one.start]), strict=True))
        rates = dict(zip(self.weights, of_copies(one.rates), strict=bool(one.rates)))
        used = names((*outputs, *starts.values(), *rates.values()))
        positive = (prefix + name for name in one.positive for prefix in ("", *self.prefixes))
        return Parameterization(
            outputs,
            start=starts,
            rates=rates,
            positive=[name for name in dict.fromkeys(positive) if name in used],
            parameters=[name for name in one.parameters if name in names(tuple(outputs))],
        )

    def _names(self, i: int) -> dict[str, Tree]:
        """Return what stands for the names of one in its copy i, and numbers for start symbols."""
        prefix, weights = self.prefixes[i], self.one.weights
        own: dict[str, Tree] = {w: Name(prefix + w) for w in weights}
        own |= {f"{w}_0": Name(f"{prefix}{w}_0") for w in weights}
        given = {s: x[i] if isinstance(x, tuple) else x for s, x in self.start}
        return own | {s: read_tree(x, f"the start of {s}") for s, x in given.items()}

    @functools.cached_property
    def derivation(self) -> Derivation:
        """What is derived of one copy."""
        return derive(self.one)

    def numeric(self, start: Mapping[str, Any] | None = None) -> NumericPotential:
        """Return the sum of Q(beta_i) over the copies, each at its start, in NumPy.

        Args:
            start: numbers for start symbols beside those given, one each or one for each copy.

        Raises:
            InputError: a start symbol has no value, or the value breaks an assumption.
            NumericalError: there is no Q to evaluate, or it needs a warp.
        """
        found: NumericPotential = importlib.import_module("numerics.evaluate.lowering").numeric(
            self, start or {}
        )
        return found


def derive_joint(
    given: Copies,
    progress: Callable[[str], None] | None,
    ansatz: Ansatz | None,
    timeout: float | None,
    known: Callable[[Outcome], None] | None,
) -> Derivation:
    """Derive all copies together."""
    return derive_blocks(given.joint, progress, ansatz, timeout, known)


def copies(
    p: Parameterization | Expr | str | Sequence[Expr | str],
    d: int,
    start: Mapping[str, object] | None = None,
) -> Copies:
    """Return d copies of a parameterization, to be fitted jointly as X beta = y.

    Gradient flow on all of them minimises ``Q(beta_1) + ... + Q(beta_d)`` where Q needs no warp, as
    that of a single output; under a warp each would have a time of its own, and no sum is
    minimised. `numerics.flow`, `interpolate` and `crosscheck` take copies in the place of one F.

    >>> pair = Parameterization.parse(["p**2 - m**2"], start={"p": "alpha", "m": "alpha"})
    >>> two = copies(pair, 2, start={"alpha": ["1/10", "2"]})
    >>> two.weights
    ('copy1_p', 'copy1_m', 'copy2_p', 'copy2_m')
    >>> two.numeric().gradient([0, 0]).tolist()
    [0.0, 0.0]

    Args:
        p: F and its start; or outputs, from a start in symbols.
        d: how many.
        start: exact numbers for start symbols: one for all copies, or a sequence of d.

    Raises:
        InputError: d is no number of copies, p has vectors of open dimension, or a name of the
            start is none of its symbols.
    """
    one = Parameterization.of(p)
    if isinstance(d, bool) or not isinstance(d, int) or d < 1:
        raise InputError(f"copies: d = {d!r} must be an integer of at least 1")
    if one.vectors:
        raise InputError("copies: give the vectors a dimension")
    known = (*one.start_symbols, *one.parameters)
    given = dict(start or {})
    if unknown := [str(name) for name in given if name not in known]:
        names = ", ".join(known) or "none"
        raise InputError(f"the start names {', '.join(unknown)}; its symbols are: {names}")
    return Copies(one, d, tuple((name, _held(value)) for name, value in given.items()))


def _held(value: object) -> object:
    """Return a number, or the numbers of a sequence or array as a tuple."""
    listed = value.tolist() if hasattr(value, "tolist") else value
    return tuple(listed) if isinstance(listed, list | tuple) else listed
