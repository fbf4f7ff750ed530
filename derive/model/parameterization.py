"""Stage 1: the parameterization beta = F(w), where it starts, and what F looks like."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from derive.errors import DegenerateStart, InputError
from derive.exact.field.elements import build_elements, start_images
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.matrix import dot
from derive.language import parse_outputs, to_text
from derive.language.arrays import parse_array_outputs
from derive.language.tree import Tree, names
from derive.model.arrays import independent_entries
from derive.model.blocks import independent_blocks, used_weights
from derive.model.euler import euler_degree
from derive.model.geometry import EUCLIDEAN, Field, Geometry
from derive.model.ingredients import Ingredients, replaced
from derive.model.names import (
    positive_bases,
    read_parameters,
    read_positive,
    read_starts,
    read_tree,
    read_weights,
)
from derive.model.validity import (
    check_bases,
    check_dependence,
    check_length,
    check_positive,
    check_rank,
    check_start,
)
from derive.model.vectors import (
    Vector,
    lengths,
    named_as_vectors,
    read_vectors,
)

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True, init=False)
class Parameterization:
    """A map beta = F(w) from R^p to R^d and the point w_0 where gradient flow starts.

    Args:
        outputs: d expressions: SymPy expressions or :data:`derive.language.tree.Tree` values.
        weights: names of the p weights (strings or SymPy symbols); by default the names in the
            outputs in order of appearance.
        start: values of weights at the start, exact numbers or expressions in start symbols;
            a weight w without one starts at the symbol ``w_0``.
        positive: start symbols or weights whose start value is assumed positive.
        labels: the numbers by which outputs are called in evidence; 1, ..., d by default.
        parameters: names in the outputs that are constants, as those in exponents are.
        geometry: the metric on the weights in which the flow is steepest.
        vectors: the vectors u_k of open dimension of which |beta| = sum_k phi_k n_k is the output,
            where they lie on one line; the weights are then the scalars and the norms n_k.

    >>> Parameterization.parse(["a*u1", "a*u2"]).degree
    2
    """

    trees: tuple[Tree, ...]
    weights: tuple[str, ...]
    start: tuple[tuple[str, Tree], ...]
    positive: tuple[str, ...]
    labels: tuple[int, ...] = dataclasses.field(compare=False)
    parameters: tuple[str, ...] = ()
    geometry: Geometry = dataclasses.field(default=EUCLIDEAN, repr=False)
    vectors: tuple[Vector, ...] = ()

    def __init__(
        self,
        outputs: Sequence[object],
        weights: Sequence[object] | None = None,
        start: Mapping[str, object] | None = None,
        positive: Iterable[str] = (),
        *,
        labels: Sequence[int] | None = None,
        parameters: Iterable[str] = (),
        geometry: Geometry = EUCLIDEAN,
        vectors: Sequence[Vector] = (),
    ) -> None:
        trees = tuple(read_tree(output, f"output {i}") for i, output in enumerate(outputs, 1))
        if not trees:
            raise InputError("give at least one output, for instance a*u1")
        constants = read_parameters(trees, tuple(str(name) for name in parameters))
        ordered = read_weights(trees, constants, weights)
        object.__setattr__(self, "vectors", tuple(vectors))
        object.__setattr__(self, "trees", trees)
        object.__setattr__(self, "weights", ordered)
        object.__setattr__(self, "parameters", constants)
        object.__setattr__(self, "geometry", geometry)
        object.__setattr__(self, "start", read_starts(ordered, constants, start or {}))
        narrowed = read_positive(tuple(positive), trees, self.start, constants)
        object.__setattr__(self, "positive", narrowed)
        object.__setattr__(self, "labels", tuple(labels or range(1, len(trees) + 1)))
        self._validate()

    def with_(self, **changes: Unpack[Ingredients]) -> Parameterization:
        """Return a copy with some ingredients replaced, named as in the constructor.

        What the new ones have no use for is left out: starts of weights that are gone, and
        names that occur no more.

        >>> p = Parameterization.parse(["a*u1", "a*u2"], start={"a": "a0"})
        >>> p.with_(outputs=p.trees[:1], weights=["a", "u1"], labels=[1]).start_symbols
        ('a0', 'u1_0')
        """
        return Parameterization(**replaced(self._ingredients, changes))

    @property
    def _ingredients(self) -> Ingredients:
        return {
            "outputs": self.trees,
            "weights": self.weights,
            "start": dict(self.start),
            "positive": self.positive,
            "labels": self.labels,
            "parameters": self.parameters,
            "geometry": self.geometry,
            "vectors": self.vectors,
        }

    def __reduce__(self) -> tuple[Callable[[], Parameterization], tuple[()]]:
        return functools.partial(Parameterization, **self._ingredients), ()

    @classmethod
    def parse(
        cls,
        outputs: Sequence[str],
        start: Mapping[str, object] | None = None,
        positive: Iterable[str] = (),
        parameters: Iterable[str] = (),
        arrays: Mapping[str, tuple[int, ...]] | None = None,
        vectors: Iterable[str] = (),
    ) -> Parameterization:
        """Read outputs, and start values that are text, through the language's whitelist.

        Args:
            outputs: one text each; with *arrays* also vectors and matrices, entry by entry.
            start, positive, parameters: as for the constructor.
            arrays: names that are vectors, ``{"u": (3,)}``, or matrices, ``{"W": (2, 2)}``;
                their entries are the weights u1, u2, u3 and W11, W12, W21, W22.
            vectors: names that are vectors whose dimension is left open; the start of one is that
                of its norm, and the only output is a vector such as ``a*u``.

        Raises:
            LanguageError: a text is not an expression.
            InputError: names do not fit, a function is not supported, or an output is constant.
            RankDeficient: the outputs move together.
            DegenerateStart: F is undefined or cannot move at the start.
        """
        if found := read_vectors(outputs, tuple(vectors)):
            given = lengths(found, start or {}, positive)
            with named_as_vectors(found):
                return cls(**given, vectors=found)
        entries = parse_array_outputs(outputs, arrays) if arrays else None
        trees = independent_entries(entries) if entries else parse_outputs(outputs)
        return cls(trees, None, start, positive, parameters=parameters)

    @functools.cached_property
    def field(self) -> FunctionField:
        """Q(w) with the functions and parameters that F uses."""
        return self.F[0].field

    @functools.cached_property
    def F(self) -> Field:
        """The outputs as exact functions."""
        positive = [name for name in self.positive if name in self.weights]
        try:
            return build_elements(self.trees, self.weights, self.parameters, positive)
        except ZeroDivisionError:
            raise InputError("an output divides by an expression that is zero") from None

    @functools.cached_property
    def covectors(self) -> tuple[Field, ...]:
        """The differentials dF_a: the d rows of J = dF/dw, p functions each."""
        return tuple(self.field.gradient(f) for f in self.F)

    @functools.cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields X_a = grad F_a = G^-1 dF_a along which the flow moves the weights."""
        return self.geometry.fields(self.covectors)

    @functools.cached_property
    def flow(self) -> tuple[Field, ...]:
        """The fields X_a on all variables of the field: X_a w_k, then X_a g for generators."""
        size = len(self.weights)
        return tuple(
            (*row, *(dot(row, self.field.gradient(g)) for g in self.field.gens[size:]))
            for row in self.fields
        )

    @property
    def start_symbols(self) -> tuple[str, ...]:
        """The names in the start values, without the parameters."""
        used = names(tuple(tree for _, tree in self.start))
        return tuple(name for name in used if name not in self.parameters)

    @functools.cached_property
    def start_field(self) -> FunctionField:
        """Q(s) with the functions of the start symbols s that F needs at the start."""
        return self._start[0].field if self._start else FunctionField(())

    @property
    def w0(self) -> Field:
        """The start w_0 as exact functions of the start symbols."""
        return self._start[: self.p]

    @functools.cached_property
    def _start(self) -> Field:
        """All variables of the field at the start."""
        trees = tuple(tree for _, tree in self.start)
        positive = (*self.positive, *self.parameters)
        try:
            return start_images(self.field, trees, self.start_symbols, self.parameters, positive)
        except ZeroDivisionError as pole:
            raise DegenerateStart(
                f"F is undefined at the start ({pole}): choose another start"
            ) from None

    @functools.cached_property
    def outputs(self) -> tuple[sympy.Expr, ...]:
        """The outputs as SymPy expressions in real symbols."""
        import sympy

        from derive.language import to_sympy

        symbols = {x: sympy.Symbol(x, real=True) for x in (*self.weights, *self.parameters)}
        return tuple(to_sympy(tree, symbols) for tree in self.trees)

    @property
    def w(self) -> Field:
        """The weights as elements of the field."""
        return self.field.gens[: self.p]

    @property
    def d(self) -> int:
        """The number of outputs."""
        return len(self.trees)

    @property
    def p(self) -> int:
        """The number of weights."""
        return len(self.weights)

    @property
    def nonnegative(self) -> frozenset[str]:
        """Weights that are never negative: norms, and those that F needs positive."""
        norms = (v.norm for v in self.vectors)
        return frozenset((*norms, *positive_bases(self.trees, self.weights)))

    @functools.cached_property
    def degree(self) -> int | None:
        """D if F(c w) = c^D F(w) for every output, else None (by Euler's identity, exactly)."""
        ratio = self.homogeneity
        if ratio is None or not ratio.is_constant() or ratio.value().denominator != 1:
            return None
        return int(ratio.value())

    @functools.cached_property
    def homogeneity(self) -> RationalFunction | None:
        """D with <w, grad F_i> = D F_i for all i, made of numbers and parameters, else None."""
        return euler_degree(self.w, self.F, self.covectors)

    @functools.cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Groups of outputs that share no weight with one another."""
        return independent_blocks(self._used)

    @functools.cached_property
    def _used(self) -> tuple[set[str], ...]:
        """The weights that each output depends on or moves."""
        pairs = zip(self.covectors, self.fields, strict=True)
        return tuple(used_weights(self.weights, *pair) for pair in pairs)

    def restrict(self, block: Sequence[int]) -> Parameterization:
        """Return the parameterization of some outputs and the weights that they use."""
        used = {name for i in block for name in self._used[i]}
        return self.with_(
            outputs=[self.trees[i] for i in block],
            weights=[w for w in self.weights if w in used],
            labels=[self.labels[i] for i in block],
        )

    def over(self, field: FunctionField) -> Parameterization:
        """Return the same map, its outputs elements of a larger field."""
        lifted = object.__new__(Parameterization)
        for attribute in dataclasses.fields(self):
            object.__setattr__(lifted, attribute.name, getattr(self, attribute.name))
        lifted.__dict__["F"] = tuple(field.embed(f) for f in self.F)
        return lifted

    def at_start(self, function: RationalFunction) -> RationalFunction:
        """Return a function of the weights at w_0.

        Raises:
            ZeroDivisionError: it has a pole there.
        """
        return function.compose(self._start, self.start_field)

    @property
    def texts(self) -> tuple[str, ...]:
        """The outputs as text; of vectors, the sum of their terms."""
        if self.vectors:
            return (" + ".join(v.text for v in self.vectors),)
        return tuple(to_text(tree) for tree in self.trees)

    def _validate(self) -> None:
        if self.vectors:
            check_length(self.F[0], self.covectors[0], self.vectors, self.at_start)
            return
        check_dependence(self.F, self.covectors, self.weights)
        check_positive(self.weights, self.w0, self.positive, self.nonnegative)
        check_start(self.F, self.covectors, self.blocks, self.at_start)
        check_bases(self.trees, self.field, self.positive, self.at_start)
        check_rank(self.covectors)
