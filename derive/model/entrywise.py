"""Maps of open size: beta_i = F(v_i; sums over all v_k, single weights) for every n at once.

v = (v_1, ..., v_n) is an indexed weight, and sum(m(v)) = sum_k m(v_k) a symmetric scalar. F is the
same function for every i, so that three generic entries v_i, v_j, v_k stand for all.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from derive.errors import InputError
from derive.exact.towers.tower import build_elements
from derive.language import to_text
from derive.language.arguments import parse_entrywise, parse_name
from derive.language.tree import (
    Call,
    Name,
    Number,
    Operation,
    Operator,
    Power,
    RealPower,
    Tree,
    children,
    exponent_names,
    fold,
    names,
    substituted,
    with_parts,
)
from derive.model.names import positive_bases, read_tree, unused

ENTRIES = ("i", "j", "k", "n")
"""The indices of generic entries, that of the last entry at the end."""


@dataclass(frozen=True, repr=False)
class EntrywiseMap:
    """beta_i = F(v_i; S, z), S_a = sum_k m_a(v_k), for i = 1, ..., n, or for i < n, of any n.

    Attributes:
        text: F as it was given.
        indexed: the name of v.
        output: F as a function of v, of the names of sums, and of single weights z.
        sums: the name of each S_a, and m_a.
        scalars: the names of z.
        parameters: names that are positive constants, or exponents.
        positive: v, where all v_k are positive at the start and as long as Q holds.
        rates: the learning rates of v and z, constants; 1 where not given.
        left_out: how many of the last outputs are no output: 0 or 1.

    >>> p = EntrywiseMap.parse(["exp(v)/sum(exp(v))"], ["v"])
    >>> p
    EntrywiseMap.parse(['exp(v)/sum(exp(v))'], ['v'])
    >>> p.sums
    (('S1', Call(function='exp', argument=Name(name='v'))),)
    """

    fold: ClassVar[str] = "derive.entrywise:derive_entrywise"
    """The stages by which it is derived."""

    text: str
    indexed: str
    output: Tree
    sums: tuple[tuple[str, Tree], ...]
    scalars: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    rates: tuple[tuple[str, Tree], ...] = ()
    left_out: int = 0

    @classmethod
    def parse(
        cls,
        outputs: Sequence[str],
        each: Iterable[str],
        positive: Iterable[str] = (),
        parameters: Iterable[str] = (),
        rates: Mapping[str, object] | None = None,
        *,
        others: Iterable[object] = (),
    ) -> EntrywiseMap:
        """Read F, and which weight is indexed: ``v``, or ``v:n-1`` for the outputs i < n.

        Args:
            others: what was given besides; there must be nothing.

        Raises:
            LanguageError: a text is not an expression.
            InputError: names do not fit, or F has no sum over all entries.
        """
        (one, *more), (text, *different) = [*each], [*outputs] or [""]
        _require(not any(others), "it goes with positive, parameters and rates alone")
        if more or different:
            raise InputError("--each: give one indexed weight and one output, that of each entry")
        name, _, last = one.partition(":")
        if last not in ("", "n-1"):
            raise InputError(f"--each: write {name}, or {name}:n-1 for the outputs i < n")
        indexed = parse_name(name, "indexed weight")
        read, sums = parse_entrywise(text, indexed)
        output, summands = fold(read, children, _joined), tuple(sums.values())
        used, own = names((output, *summands)), names((output,))
        constants = tuple(dict.fromkeys((*parameters, *exponent_names((output, *summands)))))
        scalars = tuple(x for x in used if x not in (indexed, *sums, *constants))
        given = _read_rates(rates or {}, (indexed, *scalars))
        known, weights = tuple(dict.fromkeys(positive)), (indexed, *scalars)
        _require(indexed in own, f"the output does not depend on {indexed} but through sums")
        _require(sums, f"the output has no scalar such as sum(...) or norm({indexed})")
        for x in constants:
            _require(x in used and x != indexed, f"{x} is no constant of the output")
        for x in names(summands):
            _require(x not in scalars, f"{x} is a single weight: take it out of the sum")
        for x in known:
            _require(x in (*weights, *constants), f"there is no weight {x} to be positive")
        constants = tuple(dict.fromkeys((*constants, *names(tuple(given.values())))))
        signs = dict.fromkeys((*known, *positive_bases((output, *summands), weights)))
        terms, rates_ = tuple(sums.items()), tuple(given.items())
        options = (constants, tuple(signs), rates_, int(bool(last)))
        return cls(text.strip(), indexed, output, terms, scalars, *options)

    def __repr__(self) -> str:
        """Return the code that makes it."""
        own = {*exponent_names((self.output, *(m for _, m in self.sums)))}
        given = {
            "positive": list(self.positive),
            "parameters": [x for x in self.parameters if x not in own],
            "rates": {x: to_text(rate) for x, rate in self.rates},
        }
        options = "".join(f", {name}={value}" for name, value in given.items() if value)
        last = f":{self.size}-1" * self.left_out
        return f"EntrywiseMap.parse({[self.text]}, {[self.indexed + last]}{options})"

    @property
    def size(self) -> str:
        """The name of n."""
        return unused("n", self.taken)

    @property
    def taken(self) -> frozenset[str]:
        """The names that were given."""
        return frozenset((self.indexed, *self.scalars, *self.parameters))

    def entry(self, index: str) -> str:
        """Return the name of an entry of v."""
        return unused(f"{self.indexed}_{index}", self.taken)

    def at(self, tree: Tree, index: str) -> Tree:
        """Return a function of v at an entry."""
        return substituted(tree, {self.indexed: Name(self.entry(index))})

    def of_size(self, n: int) -> list[Tree]:
        """Return the outputs of n entries, in coordinates v1, ..., vn.

        >>> from derive.language import to_text
        >>> p = EntrywiseMap.parse(["v/sum(v)"], ["v:n-1"])
        >>> [to_text(tree) for tree in p.of_size(2)]
        ['v1/(v1 + v2)']
        """
        entries = [Name(f"{self.indexed}{k}") for k in range(1, n + 1)]
        images, products = dict[str, Tree](), dict[Tree, Tree]()
        for name, m in self.sums:
            images[name] = _joint("+", [substituted(m, {self.indexed: v}) for v in entries])
            if isinstance(m, Call) and m.function == "log":
                factors = [substituted(m.argument, {self.indexed: v}) for v in entries]
                products[Call("exp", Name(name))] = _joint("*", factors)

        def with_products(node: Tree, parts: list[Tree]) -> Tree:
            return products.get(node, with_parts(node, parts))

        output, kept = fold(self.output, children, with_products), entries[: n - self.left_out]
        return [substituted(output, {**images, self.indexed: v}) for v in kept]


def _joint(operator: Operator, parts: list[Tree]) -> Tree:
    """Return the sum or the product of trees."""
    return functools.reduce(lambda x, y: Operation(operator, x, y), parts)


def _require(holds: object, otherwise: str) -> None:
    if not holds:
        raise InputError(f"--each: {otherwise}")


def _read_rates(rates: Mapping[str, object], weights: tuple[str, ...]) -> dict[str, Tree]:
    """Return the rates, which are positive numbers or names for one."""
    given = {x: read_tree(rate, f"the rate of {x}") for x, rate in rates.items()}
    for x, rate in given.items():
        if x not in weights:
            known = ", ".join(weights)
            raise InputError(f"rates: there is no weight {x} (the weights are {known})")
        named = isinstance(rate, Name) and rate.name not in weights
        if not (named or _is_positive_number(rate)):
            raise InputError(f"rates: with --each give {x} a positive number, or a name for one")
    return given


def _is_positive_number(tree: Tree) -> bool:
    """Tell whether a tree is a positive rational number."""
    if names((tree,)):
        return False
    (number,) = build_elements((tree,), ())
    return number.is_constant() and number.value() > 0


def _joined(node: Tree, parts: list[Tree]) -> Tree:
    """Return a power of the root of a sum as a power of the sum: norm(v)**k, sqrt(norm(v))."""
    node = with_parts(node, parts)
    match node:
        case RealPower(Power(Name() as base, q), exponent):
            return RealPower(base, Operation("*", Number(q), exponent))
        case Power(Power(Name() as base, q), e) if q.denominator % 2 == 0:
            return Power(base, q * e)
    return node
