"""Reduce a rotation-equivariant vector model beta = phi(a, |u|) u to two scalars per flow.

With n = |u| and s(a, n) = phi n = |beta|, gradient flow with steering lambda moves (a, n) along
grad s by <u/n, lambda>, and the direction u/n on the sphere. Hence for every d >= 2

    K = T I + (R - T) beta beta^T / s^2,   T = phi^2,   R = |grad s|^2,

the conserved quantities are those of the single output s, and a leaf is a curve times a sphere.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import sympy
from sympy import Symbol

from derive.errors import DegenerateStart, InputError, RankDeficient
from derive.exact.field.function_field import RationalFunction
from derive.language import parse_expression
from derive.language.equivariant import vector_form
from derive.language.tree import Name, Number, Operation, Tree, exponent_names, names
from derive.model.idle import find_idle
from derive.model.notation import AssumePositive, Notation
from derive.model.parameterization import Parameterization
from derive.model.signs import start_sign


class VectorForm(Protocol):
    """Outputs written as sum_v phi_v v over vectors v, phi_v in scalars and norms of vectors."""

    @property
    def coefficients(self) -> tuple[tuple[str, Tree], ...]:
        """Each vector with its coefficient."""

    @property
    def norms(self) -> tuple[tuple[str, str], ...]:
        """Each vector with the name that stands for its norm in the coefficients."""


@dataclass(frozen=True)
class VectorModel:
    """A vector output in vectors of open dimension, and where it starts.

    Attributes:
        text: the output as given.
        form: the output as a sum of multiples of vectors.
        start: values of scalars at the start, and of |u| for a vector u.
        positive: start symbols or scalars that start positive.

    >>> VectorModel.parse("a*u", ["u"]).form.norms
    (('u', 'norm_u'),)
    """

    text: str
    form: VectorForm
    start: Mapping[str, Any]
    positive: tuple[str, ...] = ()

    @classmethod
    def parse(
        cls,
        text: str,
        vectors: Iterable[str],
        start: Mapping[str, Any] | None = None,
        positive: Iterable[str] = (),
    ) -> VectorModel:
        """Read an output such as ``a*u`` in which some names are vectors in R^d, d left open.

        Raises:
            LanguageError: the text is not an expression, or needs a dimension.
        """
        return cls(text, vector_form(text, tuple(vectors)), dict(start or {}), tuple(positive))


class ReducedParameterization(Parameterization):
    """s(a, n) as a single output; a norm on which s does not depend stays, and is conserved."""

    def _validate(self) -> None:
        if all(x.is_zero() for x in self.covectors[0]):
            raise RankDeficient(
                "the length of beta is constant, so the outputs move together: "
                "give outputs that can move independently"
            )
        try:
            self.at_start(self.coefficient)
            slopes = [self.at_start(x) for x in self.covectors[0]]
        except ZeroDivisionError:
            raise DegenerateStart("F is undefined at the start: choose another start") from None
        if all(x.is_zero() for x in slopes):
            raise DegenerateStart(
                "the length of beta does not move from the start: choose another start"
            )

    @property
    def nonnegative(self) -> frozenset[str]:
        """The norm of the vector."""
        return frozenset((self.weights[-1],))

    @functools.cached_property
    def coefficient(self) -> RationalFunction:
        """Phi = s/n, a function of the scalars and of n, the last weight."""
        return self.F[0] / self.w[-1]


class RadialNotation(Notation):
    """The symbols of a radial derivation: the single predictor coordinate is s = |beta| >= 0."""

    @functools.cached_property
    def betas(self) -> tuple[Symbol, ...]:
        """The length s."""
        name = "s"
        while name in self.taken:
            name += "_"
        return (Symbol(name, nonnegative=True),)


@dataclass(frozen=True)
class Equivariant:
    """A map beta = phi(a, |u|) u from scalars a and a vector u in R^d, d left open.

    Attributes:
        coefficient: phi as given, with the name ``norm`` for |u|.
        vector: the name of u.
        norm: the name that stands for |u|.
        start_vector: the name of the start u_0.
        reduced: s(a, n) = sign phi n with its start; s > 0 near the start.
        sign: that of phi at the start.
        notation: the symbols, and what is assumed of the start.
        assumptions: signs at the start that had to be assumed, in words.
        idle: scalars that start at 0 and stay there, left out of ``reduced``.
    """

    coefficient: Tree
    vector: str
    norm: str
    start_vector: str
    reduced: ReducedParameterization
    sign: int
    notation: RadialNotation
    assumptions: tuple[str, ...]
    idle: tuple[str, ...] = ()

    @property
    def phi(self) -> RationalFunction:
        """Sign phi, positive near the start."""
        return self.reduced.coefficient

    @property
    def n(self) -> RationalFunction:
        """|u| as a function on the reduced weights."""
        return self.reduced.w[-1]

    @property
    def beta(self) -> Symbol:
        """The vector beta, as a name."""
        return Symbol("beta" if "beta" not in self.notation.taken else "predictor")


def reduce_vector(
    form: VectorForm,
    start: Mapping[str, Any] | None = None,
    positive: Iterable[str] = (),
) -> Equivariant:
    """Return the reduced scalar model s(a, n) = |beta| of a vector model with d left open.

    Args:
        form: the model; one vector.
        start: values of scalars at the start. The value of a vector is its *norm* at the start,
            a number >= 0 or an expression in start symbols; its direction stays open.
        positive: start symbols or scalars that start positive.

    Raises:
        InputError: d is needed, or a name or value does not fit.
        DegenerateStart: the length of beta cannot move from the start.
    """
    if len(form.coefficients) != 1:
        raise InputError("the derivation depends on the dimension: give one, --vector u:3")
    (vector, phi), norm = form.coefficients[0], dict(form.norms)[form.coefficients[0][0]]
    start = dict(start or {})
    scalars = _scalars(phi, norm)
    for name in start:
        if name not in (*scalars, vector):
            known = ", ".join((*scalars, vector))
            raise InputError(f"start: there is no weight {name} (the weights are {known})")
    positive = tuple(positive)
    if vector in positive:
        raise InputError(f"positive: {vector} is a vector")
    reduced = _reduced(phi, norm, scalars, vector, start, positive)
    idle = find_idle(reduced)
    if idle:
        phi = _without(phi, reduced, idle)
        scalars = _scalars(phi, norm)
        kept = {name: value for name, value in start.items() if name in (*scalars, vector)}
        positive = tuple(name for name in positive if name not in idle)
        reduced = _reduced(phi, norm, scalars, vector, kept, positive)
    sign, notation, assumptions = _sign_at_start(reduced)
    if sign < 0:
        opposite = Operation("*", Number(Fraction(-1)), phi)
        kept = {name: value for name, value in start.items() if name in (*scalars, vector)}
        reduced = _reduced(opposite, norm, scalars, vector, kept, positive)
        notation = RadialNotation(reduced, (0,), assumed=notation.assumed)
    start_vector = f"{vector}_0"
    while start_vector in notation.taken:
        start_vector += "0"
    return Equivariant(phi, vector, norm, start_vector, reduced, sign, notation, assumptions, idle)


def _scalars(phi: Tree, norm: str) -> tuple[str, ...]:
    """Return the scalar weights: names in exponents are parameters."""
    parameters = exponent_names((phi,))
    return tuple(x for x in names((phi,)) if x != norm and x not in parameters)


def _reduced(
    phi: Tree,
    norm: str,
    scalars: tuple[str, ...],
    vector: str,
    start: Mapping[str, Any],
    positive: tuple[str, ...],
) -> ReducedParameterization:
    """Return s = phi n with the norm's start positive, or 0 where that is given."""
    given = {norm if name == vector else name: value for name, value in start.items()}
    outputs = [Operation("*", phi, Name(norm))]
    weights = (*scalars, norm)
    try:
        reduced = ReducedParameterization(outputs, weights, given, positive)
    except DegenerateStart:
        raise
    except InputError as error:
        raise type(error)(str(error).replace(norm, vector)) from None
    n0 = reduced.w0[-1]
    if n0.is_constant() and n0.value() < 0:
        raise InputError(f"start: the norm of {vector} is {n0!r}, which is negative")
    if n0.is_zero():
        if norm in reduced.coefficient.variables():
            raise DegenerateStart(
                f"{vector} starts at 0, where F has no direction; choose another start"
            )
        return reduced
    return ReducedParameterization(outputs, weights, given, (*positive, norm))


def _without(phi: Tree, reduced: Parameterization, idle: tuple[str, ...]) -> Tree:
    """Return phi where the idle scalars are 0."""
    field = reduced.field
    images = [
        field.zero if name in idle else w for name, w in zip(field.names, field.gens, strict=True)
    ]
    s = reduced.F[0].compose(images, field)
    return parse_expression(repr(s / field.gens[len(field.weights) - 1]))


def _sign_at_start(
    reduced: ReducedParameterization,
) -> tuple[int, RadialNotation, tuple[str, ...]]:
    """Return the sign of phi at the start, and what it rests on; 0 where phi is 0 there."""
    notation = RadialNotation(reduced, (0,))
    value = reduced.at_start(reduced.coefficient)
    if value.is_zero():
        return 0, notation, ()
    try:
        sign, assumed = start_sign(value, notation)
    except AssumePositive as request:
        notation = RadialNotation(reduced, (0,), assumed=request.names - notation.positive)
        sign, assumed = start_sign(value, notation)
    return sign, notation, assumed


def radial_eigenvalue(reduced: ReducedParameterization) -> RationalFunction:
    """Return R = |grad s|^2, the eigenvalue of K along beta."""
    return reduced.geometry.inner(reduced.covectors[0], reduced.covectors[0])


def start_direction(equivariant: Equivariant) -> sympy.Expr:
    """Return the inner product of u_0 and beta as one symbol."""
    return Symbol(f"<{equivariant.start_vector}, {equivariant.beta}>", real=True)
