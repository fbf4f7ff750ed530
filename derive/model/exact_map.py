"""The map beta = F(w) and its start as exact functions, and what is read off them.

Homogeneity is Euler's identity, F(c w) = c^D F(w) exactly where <w, dF> = D F; outputs that share
no weight with one another are blocks.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from derive.errors import DegenerateStart, InputError
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.matrix import connected, dot, spanning_rows
from derive.exact.linear.modular import shows_full_rank
from derive.exact.towers.tower import build_elements, start_images
from derive.language import to_text
from derive.language.tree import Tree, names
from derive.model.geometry import EUCLIDEAN, Field, Geometry
from derive.model.names import positive_bases
from derive.model.vectors import AffineOutput, Vector

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True, init=False)
class ExactMap:
    """A map from R^p to R^d on which all exact computation rests: see :class:`Parameterization`."""

    trees: tuple[Tree, ...]
    weights: tuple[str, ...]
    start: tuple[tuple[str, Tree], ...]
    positive: tuple[str, ...]
    labels: tuple[int, ...] = dataclasses.field(compare=False)
    parameters: tuple[str, ...] = ()
    geometry: Geometry = dataclasses.field(default=EUCLIDEAN, repr=False)
    vectors: tuple[Vector, ...] = ()
    affine: tuple[AffineOutput, ...] = ()

    @functools.cached_property
    def field(self) -> FunctionField:
        """Q(w) with the functions and parameters that F uses."""
        return self.F[0].field

    @property
    def F(self) -> Field:
        """The outputs as exact functions."""
        return self._functions[: self.d]

    @functools.cached_property
    def _functions(self) -> Field:
        """The outputs, and what the metric on the weights is made of."""
        positive = [name for name in self.positive if name in self.weights]
        try:
            trees = (*self.trees, *self.geometry.trees)
            return build_elements(trees, self.weights, self.parameters, positive)
        except ZeroDivisionError:
            raise InputError("an output divides by an expression that is zero") from None

    @functools.cached_property
    def covectors(self) -> tuple[Field, ...]:
        """The differentials dF_a: the d rows of J = dF/dw, p functions each."""
        return tuple(map(self.field.gradient, self.F))

    @functools.cached_property
    def independent(self) -> tuple[int, ...]:
        """The first outputs, counted from 0, whose differentials span those of all."""
        full = shows_full_rank(self.covectors)
        return tuple(range(self.d)) if full else spanning_rows(self.covectors)

    @property
    def rank(self) -> int:
        """The rank of J at a generic point; below d the outputs satisfy a relation."""
        return len(self.independent)

    @property
    def is_rational(self) -> bool:
        """Whether all functions are rational in weights and parameters, with rational numbers."""
        return len(self.field.generators) == len(self.field.parameters)

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

    @functools.cached_property
    def start_covectors(self) -> tuple[Field, ...]:
        """The differentials dF_a at w_0; ZeroDivisionError: one has a pole there."""
        return tuple(tuple(map(self.at_start, row)) for row in self.covectors)

    @functools.cached_property
    def starts_regular(self) -> bool:
        """Whether J has rank d at w_0, as a matrix over Q(start symbols)."""
        rows = self.start_covectors
        return shows_full_rank(rows) or len(spanning_rows(rows)) == self.d

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
    def rates(self) -> tuple[Tree, ...]:
        """The learning rate of each weight; () where all are 1."""
        return self.geometry.trees

    @property
    def p(self) -> int:
        """The number of weights."""
        return len(self.weights)

    @property
    def nonnegative(self) -> frozenset[str]:
        """Names that are never negative: norms, what F needs positive, positive parameters.

        What F needs is what its powers are of as typed, and as computed: a and b of (a b)^D.
        """
        norms = (v.norm for v in self.vectors)
        constants = (name for name in self.parameters if name in self.positive)
        powers = {repr(g.argument) for g in self.field.generators if g.kind == "power"}
        needed = (*positive_bases(self.trees, self.weights), *(powers & {*self.weights}))
        return frozenset((*norms, *constants, *needed))

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
        moved = [dot(self.w, row) for row in self.covectors]
        ratio = moved[0] / self.F[0]
        if set(ratio.variables()) - ratio.field.parameters:
            return None
        return ratio if all(m == ratio * f for m, f in zip(moved, self.F, strict=True)) else None

    @functools.cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Groups of outputs, counted from 0, that share no weight with one another."""
        used, pairs = self._used, combinations(range(self.d), 2)
        shared = ((i, j) for i, j in pairs if used[i] & used[j])
        return tuple(map(tuple, sorted(connected(self.d, shared))))

    @functools.cached_property
    def _used(self) -> tuple[set[str], ...]:
        """The weights that each output depends on or moves, through functions in it as well."""
        pairs = zip(self.covectors, self.fields, strict=True)
        triples = (zip(self.weights, *pair, strict=True) for pair in pairs)
        used = tuple({w for w, x, v in t if not (x.is_zero() and v.is_zero())} for t in triples)
        return tuple(w | self.geometry.coupled(self.weights, w) for w in used)

    def at_start(self, function: RationalFunction) -> RationalFunction:
        """Return a function of the weights at w_0; ZeroDivisionError: it has a pole there."""
        return function.compose(self._start, self.start_field)

    @property
    def texts(self) -> tuple[str, ...]:
        """The outputs as text; of vectors, the sum of their terms."""
        if self.vectors:
            return (" + ".join(v.text for v in self.vectors),)
        return tuple(map(to_text, self.trees))
