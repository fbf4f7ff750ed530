"""Finite families of functions of the weights, for conserved quantities and potentials.

A member is known by its derivative along a field, which is a rational function even where the
member itself is a logarithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, combinations_with_replacement

from flint import fmpq, fmpq_mat

from derive.exact.field.factors import factors, split
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.generators import Generator
from derive.exact.field.polynomial import Polynomial, terms
from derive.exact.linear.matrix import dot

INVERTIBLE = ("exp", "power")
"""Kinds of generators whose inverse powers stand in the families as well."""
MANY_WEIGHTS = 12
"""Beyond so many weights their sums and differences are not tried."""


@dataclass(frozen=True)
class LogFunction:
    """rational + sum_k coefficient_k log |argument_k|, coefficients conserved along the flow."""

    rational: RationalFunction
    logs: tuple[tuple[RationalFunction, RationalFunction], ...] = ()

    def along(self, x: Sequence[RationalFunction]) -> RationalFunction:
        """Return the derivative along a field; ValueError where a coefficient is not conserved."""
        field = self.rational.field
        total = dot(x, field.gradient(self.rational))
        for coefficient, argument in self.logs:
            if not dot(x, field.gradient(coefficient)).is_zero():
                raise ValueError("the coefficient of a logarithm is not conserved")
            total += coefficient * dot(x, field.gradient(argument)) / argument
        return total

    def mapped(self, f: Callable[[RationalFunction], RationalFunction]) -> LogFunction:
        """Return f of it, part by part; ZeroDivisionError for the logarithm of 0."""
        logs = tuple((f(c), f(A)) for c, A in self.logs)
        if any(A.is_zero() for _, A in logs):
            raise ZeroDivisionError("a logarithm of 0")
        return LogFunction(f(self.rational), logs)

    def scaled(self, factor: RationalFunction) -> LogFunction:
        """Return factor times this function, for a number *factor*."""
        return LogFunction(self.rational * factor, tuple((c * factor, a) for c, a in self.logs))

    def __add__(self, other: LogFunction) -> LogFunction:
        """Return the sum, logarithms of equal arguments collected."""
        logs = list(self.logs)
        for coefficient, argument in other.logs:
            at = next((i for i, (_, known) in enumerate(logs) if known == argument), None)
            if at is None:
                logs.append((coefficient, argument))
            else:
                logs[at] = (logs[at][0] + coefficient, argument)
        kept = tuple((c, a) for c, a in logs if not c.is_zero())
        return LogFunction(self.rational + other.rational, kept)

    def __str__(self) -> str:
        """Return it as it is written."""
        logs = [f"({c!r})*log(Abs({A!r}))" for c, A in self.logs]
        return " + ".join(
            [*[repr(self.rational)] * (not (logs and self.rational.is_zero())), *logs]
        )

    def is_zero(self) -> bool:
        """Tell whether no term is left."""
        return self.rational.is_zero() and not self.logs


def monomials(size: int, degree: int) -> Iterator[tuple[int, ...]]:
    """Yield the exponents of the monomials of one degree in *size* variables, in lex order.

    >>> list(monomials(2, 2))
    [(2, 0), (1, 1), (0, 2)]
    """
    for chosen in combinations_with_replacement(range(size), degree):
        exponents = [0] * size
        for k in chosen:
            exponents[k] += 1
        yield tuple(exponents)


def laurent_monomials(size: int, degree: int, reach: int) -> Iterator[tuple[int, ...]]:
    """Yield exponents of one- and two-variable Laurent monomials of a degree, inverse powers first.

    >>> list(laurent_monomials(2, -1, 2))
    [(-1, 0), (0, -1), (-2, 1), (1, -2)]
    """
    if degree < 0:
        for k in range(size):
            yield tuple(degree if i == k else 0 for i in range(size))
    for j in range(size):
        for k in range(size):
            for low in range(-1, -reach - 1, -1):
                high = degree - low
                if j != k and 0 < high <= reach:
                    yield tuple(low if i == j else high if i == k else 0 for i in range(size))


def generator_monomials(field: FunctionField, reach: int) -> Iterator[tuple[int, ...]]:
    """Yield exponents, at most *reach*, of monomials in one weight or generator or two of them."""
    size, total = len(field.weights), len(field.names)
    signed = [e for e in range(-reach, reach + 1) if e]
    movable = [(size + k, g) for k, g in enumerate(field.generators) if g.kind != "parameter"]
    alone = (((k, e),) for k in range(size) for e in signed)
    in_two = (((i, 1), (j, 1)) for i in range(size) for j in range(i))
    with_weights = (pairs for at, g in movable for pairs in _beside_weights(field, at, g, signed))
    for pairs in chain(alone, in_two, with_weights, _pairs_of(movable)):
        exponents = [0] * total
        for position, e in pairs:
            exponents[position] += e
        yield tuple(exponents)


def separate_monomials(field: FunctionField, reach: int) -> Iterator[tuple[int, ...]]:
    """Yield exponents, at most *reach*, of a weight, and of a function of it alone beside that."""
    size, total, fixed = len(field.weights), len(field.names), field.constants.keys()
    movable = [(size + j, g) for j, g in enumerate(field.generators) if g.kind != "parameter"]
    for k, weight in enumerate(field.weights):
        own = [
            (at, n)
            for at, g in movable
            for n in ((-1, 1) if g.kind == "root" else (-2, -1, 1, 2))
            if {*g.argument.variables()} - fixed == {weight}
        ]
        for e in range(-reach, reach + 1):
            powers = [{k: e}, *({k: e, at: n} for at, n in own)]
            yield from (tuple(x.get(i, 0) for i in range(total)) for x in powers if any(x.values()))


def _beside_weights(
    field: FunctionField, at: int, g: Generator[RationalFunction], signed: Sequence[int]
) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield (position, exponent) for powers of a generator, alone and beside one weight."""
    powers = signed if g.kind in INVERTIBLE else [e for e in signed if e > 0]
    for power in [1] if g.kind in ("root", "sin") else powers:
        yield ((at, power),)
        for k, weight in enumerate(field.weights):
            # Higher powers only of a weight that the generator is a function of.
            own = weight in g.argument.variables()
            if own or abs(power) == 1:
                for e in signed if own else (1, -1):
                    yield (k, e), (at, power)


def _pairs_of(
    movable: Sequence[tuple[int, Generator[RationalFunction]]],
) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield (position, exponent) for products of two generators, quotients where they invert."""
    signs = {at: (1, -1) if g.kind in INVERTIBLE else (1,) for at, g in movable}
    for i, (at, _) in enumerate(movable):
        for other, _ in movable[:i]:
            yield from (((at, one), (other, two)) for one in signs[at] for two in signs[other])


def darboux_factors(
    field: FunctionField,
    fields: Sequence[Sequence[RationalFunction]],
    seeds: Sequence[RationalFunction],
) -> tuple[RationalFunction, ...]:
    """Return polynomials P with X_a P divisible by P for every field X_a.

    Each is accepted by exact division. Where X_a P = c_a P the sign of P never changes.

    Source: Darboux polynomials (Goriely 2001, Integrability and Nonintegrability, ch. 2).
    """
    accepted: list[RationalFunction] = []
    for candidate in _candidates(field, fields, seeds):
        if candidate.is_constant():
            continue
        element = normalized(field.polynomial(candidate))
        if element in accepted:
            continue
        slopes = (dot(x, field.gradient(element)) / element for x in fields)
        # No slope has a pole on the surface P = 0.
        if all(s.denominator.gcd(element.numerator).is_constant() for s in slopes):
            accepted.append(element)
    return tuple(accepted)


def _candidates(
    field: FunctionField,
    fields: Sequence[Sequence[RationalFunction]],
    seeds: Sequence[RationalFunction],
) -> Iterator[Polynomial]:
    """Yield the weights, their sums and differences, factors of the seeds, and eigenvectors."""
    weights = field.gens[: len(field.weights)]
    yield from (w.numerator for w in weights)
    if len(weights) <= MANY_WEIGHTS:
        for u, v in combinations(weights, 2):
            yield from ((u + v).numerator, (u - v).numerator)
    for polynomial in chain.from_iterable(seed.parts for seed in seeds):
        yield from (factor for factor, _ in split(field, polynomial)[1])
    for x, r, _ in field.norms:
        for w in {*range(len(weights))} - {x}:
            yield from ((field.gens[r] + n * weights[w]).numerator for n in (1, -1))
    # A form <v, w> has the slope <M^T v, w> along the field M w.
    matrices = [m.transpose() for x in fields if (m := linear_part(field, x)) is not None]
    for vector in eigenvectors(matrices) if len(matrices) == len(fields) else ():
        form = sum((w * c for w, c in zip(weights, vector, strict=True) if c), field.zero)
        yield form.numerator


def normalized(function: RationalFunction) -> RationalFunction:
    """Return the multiple with coprime integer coefficients whose lex first term is positive."""
    field = function.field
    content, numerator = function.numerator.primitive()
    if content == 0:
        return function
    if max(terms(numerator))[1] < 0:
        numerator = -numerator
    return field.quotient(numerator, function.denominator.primitive()[1])


def eigenvectors(matrices: Sequence[fmpq_mat]) -> list[list[int]]:
    """Return rational eigenvectors of matrices, all common ones where these commute."""
    size = matrices[0].nrows()
    combined = fmpq_mat(size, size)
    for position, matrix in enumerate(matrices):
        combined += (position * position + 1) * matrix
    found = []
    for factor, _ in combined.charpoly().factor()[1]:
        if factor.degree() == 1:
            root = -factor[0] / factor[1]
            shifted = fmpq_mat(combined)
            for k in range(size):
                shifted[k, k] -= root
            basis, nullity = shifted.numer_denom()[0].nullspace()
            found += [[int(basis[i, j]) for i in range(size)] for j in range(nullity)]
    return found


def linear_part(field: FunctionField, x: Sequence[RationalFunction]) -> fmpq_mat | None:
    """Return the matrix of a linear field, or None when the field is not linear."""
    size = len(field.weights)
    entries = []
    for component in x:
        if not component.is_zero() and not (
            component.is_polynomial() and component.is_homogeneous() and component.degree() == 1
        ):
            return None
        for k in range(size):
            value = field.derivative(component, k).value()
            entries.append(fmpq(value.numerator, value.denominator))
    return fmpq_mat(size, size, entries)


def with_poles(
    polynomials: Sequence[RationalFunction], functions: Sequence[RationalFunction]
) -> list[RationalFunction]:
    """Return the polynomials, and those at whose zeros the functions have poles, each once."""
    below = dict.fromkeys(f.field.polynomial(f.denominator) for f in functions)
    found = (normalized(P) for f in below for P, _ in factors(f))
    return list(dict.fromkeys((*polynomials, *found)))
