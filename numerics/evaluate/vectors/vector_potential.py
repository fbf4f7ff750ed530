"""Q of a vector model, beta = phi(a, |u|) u, in numbers: any dimension d >= 2."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sympy import Integral
from sympy.core.function import AppliedUndef

from derive.errors import InputError, NumericalError
from derive.potential.block import DirectionTerms
from derive.records import Potential
from numerics.evaluate.backend import Array, FloatOrArray, Number, quiet
from numerics.evaluate.balls.arithmetic import Ball
from numerics.evaluate.balls.elementary import FUNCTIONS
from numerics.evaluate.balls.plain import PLAIN_FUNCTIONS, Plain, evaluate_plainly
from numerics.evaluate.balls.precision import Formula, evaluate
from numerics.evaluate.newton_inverse import Columns, invert_by_newton
from numerics.evaluate.numbers import read_number
from numerics.evaluate.potential import PotentialAtStart
from numerics.evaluate.source.formulas import FormulaText
from numerics.evaluate.source.program import Loaded, Program, program
from numerics.evaluate.source.statements import NoSource, Statements, parameter, safe
from numerics.evaluate.start import check_assumptions, read_start, start_point
from numerics.evaluate.vectors.vector_formulas import OnVectors, VectorFormulas, length

_BITS = 4096
"""Working precision of |u_0|."""
_CLOSE = Fraction(1, 10**12)
ALONG = "tangential"
"""The name of the formula of q'(s)/s."""


class VectorFunctions(OnVectors):
    """Q on vectors: with error bounds, or in doubles alone."""

    in_doubles: VectorFunctions

    @functools.cached_property
    def beta0(self) -> Array:
        """F(w_0), where grad Q = 0."""
        return self._constant(self.q.forms("origin"))

    @functools.cached_property
    def pull(self) -> Array:
        """The vector of the linear term."""
        return self._constant(self.q.forms("pull"))

    def length_slope(self, s: float) -> float:
        """Return q'(s) in doubles."""
        (found,) = self._slope(Plain(np.float64(s)))
        return float(found.v)

    @functools.cached_property
    def _slope(self) -> Callable[[Ball], Sequence[Ball]]:
        slope, *_ = self.in_doubles.q.q.forms("gradient")
        return functools.partial(slope, self.start.at(Plain, ()))

    def __call__(self, what: str, *points: Array) -> Array:
        """Return what is asked for; by a search where the inverse of grad Q has no formula."""
        if what == "inverse" and not self.q.forms(what):
            return self._searched(*points)
        return super().__call__(what, *points)  # type: ignore[no-any-return]

    def _searched(self, y: Array) -> Array:
        dual = y + self.pull
        size = np.linalg.norm(dual, axis=-1)
        s0 = [float(np.linalg.norm(self.beta0))]
        (s,) = invert_by_newton(self._q_plainly("gradient"), self._q_plainly("hessian"), s0, [size])
        return np.asarray((s / size)[..., None] * dual)

    def _q_plainly(self, what: str) -> Columns:
        (form, *_) = self.in_doubles.q.q.forms(what)
        return lambda s: evaluate_plainly(form, self.start, s)

    def _constant(self, forms: Sequence[Formula]) -> Array:
        (found,) = evaluate(forms, self.start, [np.zeros((1, self.dimension))])
        return np.asarray(found[0])


class VectorsInDoubles(VectorFunctions):
    """Q on vectors in doubles alone: fast, with no bound of the error."""

    def __init__(self, *given: Any) -> None:
        """Bind the formulas, as the class above does."""
        super().__init__(*given)
        self.in_doubles = self

    def evaluated(self, forms: Sequence[Formula], points: Sequence[Array]) -> list[Array]:
        """Evaluate the first of the forms at vectors (n, d)."""
        return evaluate_plainly(forms[0], self.start, points)


class NumericVectorPotential(PotentialAtStart[VectorFunctions]):
    """Q of a vector model at a start; the cost is of order d for all but the Hessian.

    >>> from derive import Parameterization, derive
    >>> d = derive(Parameterization.parse(["a*u"], vectors=["u"]))
    >>> Q = d.potential.numeric({"a_0": 5, "u_0": [3, 4]})
    >>> Q.beta0.tolist(), round(Q([15, 20]), 12), Q.gradient([30, 40]).round(3).tolist()
    ([15.0, 20.0], 0.0, [1.243, 1.657])
    """

    __slots__ = ()

    def spectrum(self, beta: ArrayLike) -> tuple[FloatOrArray, FloatOrArray]:
        """Return the eigenvalues of the Hessian across beta (d - 1 of them), and along it."""
        with quiet():
            across, along = self.functions("spectrum", self._read(beta))
            return across, along

    def hessian_product(self, beta: ArrayLike, x: ArrayLike) -> FloatOrArray:
        """Return ``Hess Q(beta) x``; the shapes broadcast."""
        with quiet():
            return self.functions("product", self._read(beta), self._read(x))

    def length_slope(self, s: float) -> float:
        """Return q'(s) in doubles."""
        return self.functions.length_slope(s)

    @property
    def pull(self) -> Array:
        """The vector slope u_0 (d,): ``grad Q = q'(s) beta/s - pull``."""
        return np.asarray(self.functions.pull)


def lower_vector(potential: Potential, start: Mapping[str, Number]) -> NumericVectorPotential:
    """Return Q with numbers for its start symbols and for u_0, in float64.

    Args:
        potential: the dimension-free Q.
        start: a number for each start symbol of a scalar, and the vector u_0 (d,), d >= 2, under
            its printed name. Where the derivation was given |u_0|, u_0 must have that length.

    Raises:
        InputError: a symbol has no value, a name is unknown, or Q assumes another start.
        NumericalError: there is no Q, or q'(s) is known along a curve in the weights only.
    """
    values, vector = _read(potential, start)
    written, forms, plain = _loaded(potential)
    norm = norm_symbol(potential)
    names = [n for n in potential.parameterization.start_symbols if n != norm]
    known = {a: values[n] for a, n in zip(written.names, names, strict=True)}
    given = (known, list(map(float, vector)))
    q = VectorFunctions(written.constants, forms, *given)
    q.in_doubles = VectorsInDoubles(written.constants, plain, *given)
    exact: list[tuple[str, Number]] = [(n, x) for n, x in values.items() if n != norm]
    exact.append((turning_of(potential).direction.start_vector, vector))
    return NumericVectorPotential(len(vector), tuple(exact), q.beta0, q, potential)


def _loaded(potential: Potential) -> tuple[Loaded, VectorFormulas, VectorFormulas]:
    """Return the functions of Q; they are made once and kept with the potential."""
    kept = potential.workspace
    if "vectors" not in kept:
        try:
            written = vector_program(potential)
        except NoSource as reason:
            raise NumericalError(f"Q has no numeric form: {reason}") from None
        names = [name for name, _ in written.functions if name != ALONG]
        spaces = [
            written.space({**used, "length": length}) for used in (FUNCTIONS, PLAIN_FUNCTIONS)
        ]
        sign = turning_of(potential).direction.sign
        forms = [VectorFormulas(written.form(names, x), x[ALONG], sign) for x in spaces]
        kept["vectors"] = Loaded(written.names, spaces[0]["constants"], *forms), *forms
    found: tuple[Loaded, VectorFormulas, VectorFormulas] = kept["vectors"]
    return found


def _read(
    potential: Potential, start: Mapping[str, Number]
) -> tuple[dict[str, Fraction], tuple[Fraction, ...]]:
    """Return the exact start symbols, |u_0| among them, and u_0."""
    if potential.turning is None or not potential.pieces:
        raise NumericalError(f"there is no Q to evaluate: {potential.finding.reason}")
    (piece,), direction = potential.pieces, potential.turning.direction
    if named := potential.parameterization.parameters:
        raise NumericalError(
            f"no numeric form of Q for every dimension with the parameter {named[0]}: "
            f"derive it with a number, or give a dimension, --vector {direction.vector}:3"
        )
    if any(g.has(Integral) or g.atoms(AppliedUndef) for g in piece.gradient):
        raise NumericalError(
            "no numeric form of Q for every dimension: its gradient is known along a curve in the "
            f"weights only; give a dimension, --vector {direction.vector}:3"
        )
    name = direction.start_vector
    if name not in start:
        raise InputError(f"the start gives no value for the vector {name}")
    vector = _read_vector(start[name], name)
    norm = norm_symbol(potential)
    rest, size = {n: x for n, x in start.items() if n != name}, _length(vector)
    if norm is not None:
        if norm in rest:
            raise InputError(f"the start gives {norm}, which is the length of {name}")
        rest[norm] = size
    values = read_start(potential.parameterization, rest)
    if norm is not None and not values[norm]:
        text = f"Q was derived for {name} != 0"
        raise InputError(f"{text}: derive again with the start {direction.vector}=0")
    check_assumptions(potential, values)
    given = start_point(potential.parameterization, values)[0][-1]
    if abs(given - size) > _CLOSE * abs(given):
        has, says = float(size), float(given)
        raise InputError(f"{name} has length {has:g}, but the start says {says:g}")
    return values, vector


def _read_vector(values: Number, name: str) -> tuple[Fraction, ...]:
    shape = np.shape(values)
    if len(shape) != 1 or shape[0] < 2:
        raise InputError(f"{name} has shape {shape}, but it must be a vector of 2 or more numbers")
    return tuple(read_number(x, f"an entry of {name}") for x in values)


def _length(vector: Sequence[Fraction]) -> Fraction:
    """Return |u|, right to more than a thousand digits."""
    unit = math.lcm(*(x.denominator for x in vector))
    whole = [x.numerator * (unit // x.denominator) for x in vector]
    square = Fraction(sum(x * x for x in whole), unit * unit)
    shift = max(0, _BITS + square.denominator.bit_length() - square.numerator.bit_length()) // 2
    root = math.isqrt((square.numerator << 2 * shift) // square.denominator)
    return Fraction(root, 1 << shift)


def turning_of(potential: Potential) -> DirectionTerms:
    """Return what the direction of beta adds to q(s).

    Raises:
        NumericalError: there is no Q.
    """
    if potential.turning is None or not potential.pieces:
        raise NumericalError(f"there is no Q, {potential.finding.reason}")
    return potential.turning


def norm_symbol(potential: Potential) -> str | None:
    """Return the start symbol of |u_0|; None where the start says what it is."""
    name = f"{potential.parameterization.weights[-1]}_0"
    return name if repr(potential.parameterization.w0[-1]) == name else None


def vector_program(potential: Potential) -> Program:
    """Write the functions of q, the slope of the linear term, and |u_0| from u_0.

    Raises:
        NoSource: the form of q needs something that has no bounds here.
    """
    slope = turning_of(potential).slope
    written = program(potential, 0)
    (piece,), norm = potential.pieces, norm_symbol(potential)
    (s,) = piece.betas
    known = {name: f"c.{parameter(name)}" for name in potential.parameterization.start_symbols}
    writer = Statements(known)
    writer.define("slope of Q", "c.slope", ("", [slope]))
    constants = written.constants
    if norm is not None:
        head, _, rest = constants.partition('"""\n')
        constants = f'{head}"""\n    c.{parameter(norm)} = length(c.vector).take(0)\n{rest}'
    constants += "".join(f"\n    {line}" for line in writer.lines)
    known.update((x.name, f"c.{safe(x.name)}") for x, _ in piece.constants)
    across = FormulaText(ALONG, (s,), piece.roots, (piece.gradient[0] / s,), f"q'({s})/{s}")
    names = tuple(n for n in written.names if norm is None or n != parameter(norm))
    functions = (*written.functions, (ALONG, across.text(known)))
    return Program((), names, constants, functions, tuple(known.items()))
