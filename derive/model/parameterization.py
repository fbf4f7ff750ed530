"""Stage 1: the parameterization beta = F(w) and where it starts, as given and checked."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, Unpack, cast, overload

from derive.clock import Clock
from derive.errors import InputError
from derive.exact.field.function_field import FunctionField
from derive.language import to_text
from derive.language.arguments import parse_array_outputs
from derive.language.arrays import by_entry
from derive.language.tree import Name, exponent_names, names
from derive.model.entrywise import EntrywiseMap
from derive.model.exact_map import ExactMap
from derive.model.geometry import EUCLIDEAN, Geometry
from derive.model.matrices import MatrixMap
from derive.model.names import (
    independent_entries,
    oriented,
    positive_bases,
    read_parameters,
    read_positive,
    read_starts,
    read_tree,
    read_weights,
)
from derive.model.rates import (
    CURVATURE,
    RATE,
    check_rates,
    positive_rates,
    rate_parameters,
    rates_by_entry,
    read_rates,
    read_steepest,
)
from derive.model.steepest import PushedMap
from derive.model.validity import check_numbers, validate
from derive.model.vectors import (
    AffineOutput,
    Ingredients,
    Vector,
    lengths,
    named_as_vectors,
    read_vectors,
)
from derive.printable import Shown

if TYPE_CHECKING:
    from sympy import Expr


Model = TypeVar("Model", EntrywiseMap, MatrixMap)

LONGEST = 200
"""Characters of the code that stands for a model where it is shown."""


class Printer(Protocol):
    """What IPython and hypothesis print with."""

    def text(self, obj: str) -> None: ...  # noqa: D102


@dataclass(frozen=True, init=False)
class Parameterization(ExactMap, Shown):
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
        affine: outputs that are left out of these, of which they are affine functions.
        rates: learning rates, positive functions of weights and parameters, 1 where not given; or
            a row of G^-1 for every weight.
        mirror: psi of mirror descent on the weights, G = Hess psi: the rates are then 1/psi'' where
            psi is a sum of functions of one weight each.
        steepest: p of steepest descent in l_p on the weights, oo for sign descent, of outputs with
            weights of their own.

    >>> Parameterization.parse(["a*u1", "a*u2"]).degree
    2
    """

    fold: ClassVar[str] = "derive.derivation:derive_blocks"
    """The stages by which it is derived."""

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
        affine: Sequence[AffineOutput] = (),
        rates: Mapping[str, object] | None = None,
        mirror: object | None = None,
        steepest: object | None = None,
    ) -> None:
        if steepest is not None:

            def plain(signed: Iterable[str]) -> Parameterization:
                return Parameterization(outputs, weights, start, signed, parameters=parameters)

            given = tuple(map(str, positive))
            positive, geometry = read_steepest(plain, given, steepest, (rates, mirror))
        trees = tuple(read_tree(output, f"output {i}") for i, output in enumerate(outputs, 1))
        if not trees:
            raise InputError("give at least one output, for instance a*u1")
        said = (*trees, *(output.tree for output in affine), *geometry.trees)
        constants = read_parameters(said, tuple(map(str, parameters)))
        ordered = read_weights(trees, constants, weights)
        if rates or mirror is not None:
            geometry = read_rates(ordered, rates or {}, mirror)
            named = rate_parameters(geometry, ordered)
            constants = tuple(dict.fromkeys((*constants, *named)))
            positive = (*positive, *named)
            psi = () if mirror is None else (read_tree(mirror, "the mirror"),)
            positive = (*positive, *positive_bases(psi, ordered))
        starts = read_starts(ordered, constants, start or {})
        positive = (*map(str, positive), *positive_rates(geometry, starts))
        known = frozenset(positive)
        trees = tuple(oriented(tree, dict(starts), known) for tree in trees)
        attributes = {
            "trees": trees,
            "weights": ordered,
            "start": starts,
            "positive": read_positive(positive, trees, starts, constants),
            "labels": tuple(labels or range(1, len(trees) + 1)),
            "parameters": constants,
            "geometry": geometry,
            "vectors": tuple(vectors),
            "affine": tuple(affine),
        }
        for name, value in attributes.items():
            object.__setattr__(self, name, value)
        object.__setattr__(
            self, "geometry", dataclasses.replace(geometry, functions=self._functions[self.d :])
        )
        validate(self)
        check_rates(self, RATE if mirror is None else CURVATURE)
        check_numbers(self)

    def __repr__(self) -> str:
        """Return the code that makes it, or its size where that does not fit in a line.

        >>> Parameterization.parse(["a*u1", "a*u2"], start={"a": 1})
        Parameterization(['a*u1', 'a*u2'], start={'a': '1'})
        """
        makes = "Parameterization.parse" if self.vectors else "Parameterization"
        affine = [(left_out.label, to_text(left_out.tree)) for left_out in self.affine]
        outputs = sorted((*zip(self.labels, self.texts, strict=True), *affine))
        given = "".join(f", {name}={value}" for name, value in self._options.items() if value)
        code = f"{makes}({[text for _, text in outputs]}{given})"
        return code if len(code) < LONGEST else f"<Parameterization R^{self.p} -> R^{self.d}>"

    @property
    def _options(self) -> dict[str, str | list[str] | dict[str, str] | dict[str, str | list[str]]]:
        """What does not follow from the outputs, as one writes it."""
        vectors = {v.norm: v.name for v in self.vectors}
        appearing = tuple(name for name in names(self.trees) if name not in self.parameters)
        starts = ((w, to_text(tree)) for w, tree in self.start if tree != Name(f"{w}_0"))
        implied = {*exponent_names(self.trees), *names(self.geometry.trees)}
        rates = zip(self.weights, self.geometry.texts, strict=False)
        steering = self.geometry.steering
        return {
            "weights": [] if vectors or appearing == self.weights else list(self.weights),
            "start": {vectors.get(w, w): text for w, text in starts},
            "positive": self._declared_positive,
            "parameters": [name for name in self.parameters if name not in implied],
            "vectors": list(vectors.values()),
            "steepest": "" if steering.is_gradient else repr(str(steering.norm or "oo")),
            "rates": {}
            if not steering.is_gradient
            else {vectors.get(w, w): rate for w, rate in rates if rate != "1"},
        }

    @property
    def _declared_positive(self) -> list[str]:
        """The names that are positive, and not because others are or F needs them to be."""
        implied = {
            *rate_parameters(self.geometry, self.weights),
            *positive_rates(self.geometry, self.start),
            *(v.norm for v in self.vectors),
            *positive_bases(self.trees, self.weights),
        }
        implied |= {x.name for w, x in self.start if w in self.positive and isinstance(x, Name)}
        return [name for name in self.positive if name not in implied]

    def _repr_pretty_(self, printer: Printer, cycle: object) -> None:
        """Show the code in IPython and in what hypothesis reports."""
        printer.text(repr(self))

    def with_(self, **changes: Unpack[Ingredients]) -> Parameterization:
        """Return a copy with some ingredients replaced, named as in the constructor.

        What the new ones have no use for is left out: starts of weights that are gone, and
        names that occur no more.

        >>> p = Parameterization.parse(["a*u1", "a*u2"], start={"a": "a0"})
        >>> p.with_(outputs=p.trees[:1], weights=["a", "u1"], labels=[1]).start_symbols
        ('a0', 'u1_0')
        """
        new: Ingredients = {**self._ingredients, **changes}
        weights = new["weights"]
        if "geometry" not in changes:
            kept = [self.weights.index(name) for name in weights if name in self.weights]
            new["geometry"] = self.geometry.restricted(kept)
        affine = (output.tree for output in new["affine"])
        used = names((*new["outputs"], *affine, *new["geometry"].trees))
        if "start" not in changes:
            new["start"] = {name: tree for name, tree in self.start if name in weights}
        if "parameters" not in changes:
            here = names((*self.trees, *self.geometry.trees))
            of_penalty = {*self.parameters} - {*here}
            new["parameters"] = [x for x in self.parameters if x in {*used, *of_penalty}]
        if "positive" not in changes:
            occurring = {*weights, *new["parameters"], *names(tuple(new["start"].values()))}
            new["positive"] = [name for name in self.positive if name in occurring]
        return Parameterization(**new).within(self.field.clock)

    @property
    def _ingredients(self) -> Ingredients:
        names = (f.name for f in dataclasses.fields(self) if f.name not in ("trees", "start"))
        fields = {name: getattr(self, name) for name in names}
        return cast("Ingredients", {"outputs": self.trees, "start": dict(self.start), **fields})

    def __reduce__(self) -> tuple[Callable[..., Parameterization], tuple[object, ...]]:
        return _made, (self._ingredients, self.field)

    @overload
    @classmethod
    def of(cls, outputs: Model) -> Model: ...

    @overload
    @classmethod
    def of(
        cls, outputs: Parameterization | Expr | str | Sequence[Expr | str]
    ) -> Parameterization: ...

    @classmethod
    def of(cls, outputs: Any) -> Any:
        """Return the map of some outputs, text or SymPy, from a start in symbols; a map as it is.

        >>> Parameterization.of("w**2")
        Parameterization(['w**2'])
        """
        if hasattr(outputs, "fold"):
            return outputs
        return cls(outputs if isinstance(outputs, list | tuple) else [outputs])

    @overload
    @classmethod
    def parse(
        cls,
        outputs: Sequence[str],
        start: Mapping[str, object] | None = None,
        positive: Iterable[str] = (),
        parameters: Iterable[str] = (),
        *,
        arrays: Mapping[str, tuple[int, ...]] | None = None,
        vectors: Iterable[str] = (),
        rates: Mapping[str, object] | None = None,
        mirror: object | None = None,
        steepest: object | None = None,
    ) -> Parameterization: ...

    @overload
    @classmethod
    def parse(
        cls,
        outputs: Sequence[str],
        *,
        each: Iterable[str],
        positive: Iterable[str] = (),
        parameters: Iterable[str] = (),
        rates: Mapping[str, object] | None = None,
    ) -> EntrywiseMap: ...

    @overload
    @classmethod
    def parse(
        cls,
        outputs: Sequence[str],
        start: Mapping[str, object],
        positive: Iterable[str],
        parameters: Iterable[str],
        *,
        each: Iterable[str],
        arrays: Mapping[str, tuple[int, ...]],
        vectors: Iterable[str],
        rates: Mapping[str, object],
        mirror: object | None,
        steepest: object | None,
        matrices: Mapping[str, str],
        measurements: str | Sequence[Sequence[object]],
    ) -> Any: ...

    @overload
    @classmethod
    def parse(
        cls,
        outputs: Sequence[str],
        *,
        matrices: Mapping[str, str],
        measurements: str | Sequence[Sequence[object]],
    ) -> MatrixMap: ...

    @classmethod
    def parse(
        cls,
        outputs: Sequence[str],
        start: Mapping[str, object] | None = None,
        positive: Iterable[str] = (),
        parameters: Iterable[str] = (),
        *,
        arrays: Mapping[str, tuple[int, ...]] | None = None,
        vectors: Iterable[str] = (),
        rates: Mapping[str, object] | None = None,
        mirror: object | None = None,
        steepest: object | None = None,
        each: Iterable[str] = (),
        matrices: Mapping[str, str] | None = None,
        measurements: str | Sequence[Sequence[object]] = "",
    ) -> Any:
        """Read outputs, and start values that are text, through the language's whitelist.

        Args:
            outputs: one text each; with *arrays* also vectors and matrices, entry by entry.
            start, positive, parameters, rates, mirror, steepest: as for the constructor.
            arrays: names that are vectors, ``{"u": (3,)}``, or matrices, ``{"W": (2, 2)}``;
                their entries are the weights u1, u2, u3 and W11, W12, W21, W22.
            vectors: names that are vectors whose dimension is left open; the start of one is that
                of its norm, and the only output is a vector such as ``a*u``.
            matrices: matrices of open size, ``{"W": "n x r"}``, of which the output is a sum of
                products such as W*T(W); *measurements* are commuting, diagonal, one, general, or
                rows of numbers, the entries of each X_i row by row.
            each: the weight v that is indexed, for a map of open size: the only output is that of
                v_i, in which sum(...), prod(...) and norm(v) go over all entries.

        Raises:
            LanguageError: a text is not an expression.
            InputError: names do not fit, a function is not supported, or an output is constant.
            RankDeficient: beta, a vector of open dimension, has a constant length.
            DegenerateStart: F is undefined or cannot move at the start.
        """
        start, rates, arrays = start or {}, rates or {}, arrays or {}
        beside = (start, arrays, tuple(vectors), mirror, steepest)
        if indexed := (*each, *(matrices or {})):
            weights = (tuple(positive), tuple(parameters), rates)
            if matrices:
                others = (*beside, *weights, *each)
                return MatrixMap.parse(outputs, matrices, measurements, others=others)
            return EntrywiseMap.parse(outputs, indexed, *weights, others=beside)
        if found := read_vectors(outputs, tuple(vectors)):
            if mirror is not None or steepest is not None:
                what = ("steepest goes", "a mirror goes")[steepest is None]
                raise InputError(f"{what} with outputs of given dimension: give components")
            given, norms = lengths(found, start, positive), {v.name: v.norm for v in found}
            turned = {norms.get(name, name): rate for name, rate in rates.items()}
            known = (read_tree(rate, f"the rate of {name}") for name, rate in turned.items())
            if {*names(tuple(known))} & {*norms, *norms.values()}:
                raise InputError("rates: one of a model with vectors names scalars alone")
            with named_as_vectors(found):
                return cls(**given, rates=turned)
        trees = independent_entries(parse_array_outputs(outputs, arrays))
        rates, start = rates_by_entry(rates, mirror, arrays), by_entry(start, arrays)
        make = functools.partial(cls, trees, None, start, positive, parameters=parameters)
        made = functools.partial(make, rates=rates, mirror=mirror, steepest=steepest)
        return made() if steepest is None else PushedMap.read(make(), steepest, arrays, made)

    def restrict(self, block: Sequence[int]) -> Parameterization:
        """Return the parameterization of some outputs and the weights that they use."""
        used = {name for i in block for name in self._used[i]}
        return self.with_(
            outputs=[self.trees[i] for i in block],
            weights=[w for w in self.weights if w in used],
            labels=[self.labels[i] for i in block],
        )

    def within(self, clock: Clock) -> Parameterization:
        """Return the same map, whose functions are computed with as long as a clock allows."""
        if clock is self.field.clock:
            return self
        field, start = (dataclasses.replace(f, clock=clock) for f in (self.field, self.start_field))
        timed = self.over(field)
        timed.__dict__["_start"] = tuple(map(start.embed, self._start))
        return timed

    def over(self, field: FunctionField) -> Parameterization:
        """Return the same map, its outputs elements of a larger field."""
        lifted = object.__new__(Parameterization)
        for attribute in dataclasses.fields(self):
            object.__setattr__(lifted, attribute.name, getattr(self, attribute.name))
        lifted.__dict__["_functions"] = tuple(map(field.embed, self._functions))
        return lifted


def _made(ingredients: Ingredients, field: FunctionField) -> Parameterization:
    """Return a map in a larger field than its own, in which other records have elements."""
    return Parameterization(**ingredients).over(field)
