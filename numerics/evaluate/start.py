"""Numbers for the start symbols, and whether they fit what a form of Q assumes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from flint import arb
from sympy import Expr, oo

from derive.derivation import derive
from derive.errors import DegenerateStart, InputError, NumericalError
from derive.exact.balls import Unbounded, evaluate_any, fraction, precise, values_of
from derive.language import bind
from derive.model.condition import Sign
from derive.model.names import PI
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.potential.domain import Domain
from derive.potential.monotone import along_curve
from derive.potential.piece import Piece, start_signs
from derive.records import Potential
from numerics.evaluate.numbers import Number, exact, read_number

with precise():
    _PI = Fraction(round(fraction(arb.pi() * 10**58)), 10**58)
_BITS = 4096
"""Working precision of start values that are not rational."""


def at_start(
    potential: Potential, start: Mapping[str, Number]
) -> tuple[Potential, dict[str, Fraction], tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return Q with numbers for the parameters of F, the exact start symbols, w_0 and beta_0."""
    if not potential.pieces:
        raise NumericalError(f"there is no Q to evaluate: {potential.finding.words}")
    p = potential.parameterization
    start = with_pi(p.parameters, start)
    refuse_missing(p.parameters, start)
    numbers = {name: read_number(start[name], f"the parameter {name}") for name in p.parameters}
    values = read_start(p, {name: x for name, x in start.items() if name not in numbers})
    check_assumptions(potential, {**values, **numbers})
    if numbers:
        potential = specialized(potential, numbers)
    return potential, values, *start_point(potential.parameterization, values)


def read_start(p: Parameterization, start: Mapping[str, Number]) -> dict[str, Fraction]:
    """Return the exact value of every start symbol.

    Raises:
        InputError: a symbol has no value, a name is unknown, or a value is no number.
    """
    names, start = p.start_symbols, with_pi(p.start_symbols, start)
    refuse_unknown(names, start)
    refuse_missing(names, start)
    return {name: read_number(start[name], f"the start symbol {name}") for name in names}


def refuse_unknown(known: Sequence[str], start: Mapping[str, object]) -> None:
    """Raise InputError for a name in a start that is none of its symbols."""
    if unknown := [str(name) for name in start if name not in known]:
        names = ", ".join(known) or "none"
        raise InputError(f"the start names {', '.join(unknown)}; its symbols are: {names}")


def refuse_missing(names: Sequence[str], start: Mapping[str, object]) -> None:
    """Raise InputError where a start has no value for a symbol."""
    if missing := [name for name in names if name not in start]:
        raise InputError(f"the start gives no value for {', '.join(missing)}")


def with_pi(names: Sequence[str], start: Mapping[str, Number]) -> dict[str, Number]:
    """Return a start with the value of pi, right to 58 digits, where it is among the names."""
    if start.get(PI, _PI) != _PI:
        raise InputError("pi is the number: give it no other value")
    return {**start, **({PI: _PI} if PI in names else {})}


def parameters_at(
    names: Sequence[str], start: Mapping[str, object], more: int = 0
) -> dict[str, Fraction]:
    """Return numbers for parameters of F: as given, pi, or halves of numbers from 7 + *more* on."""
    drawn = {name: Fraction(2 * k + 7 + more, 2) for k, name in enumerate(names)}
    numbers = drawn | with_pi(names, start)
    return {name: read_number(numbers[name], f"the parameter {name}") for name in names}


def start_point(
    p: Parameterization, values: Mapping[str, Fraction]
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return the weights w_0 and the outputs F(w_0); DegenerateStart at a pole.

    They are exact where they are rational, else right to more than a thousand digits.
    """
    try:
        known = values_of(p.start_field, {name: values[name] for name in p.start_symbols}, _BITS)
        weights = tuple(fraction(evaluate_any(w, known, _BITS)) for w in p.w0)
        _require_motion(p, weights)
        return weights, outputs_at(p, weights)
    except (ZeroDivisionError, Unbounded):
        raise DegenerateStart(
            "F is undefined at that start, or far too large: choose a start off its poles"
        ) from None


def _require_motion(p: Parameterization, weights: Sequence[Fraction]) -> None:
    """Refuse a critical point of outputs that share weights: nothing moves from there."""
    at = values_of(p.field, dict(zip(p.weights, weights, strict=True)), _BITS)
    for block in p.blocks:
        entries = (x for i in block for x in p.covectors[i])
        if all(fraction(evaluate_any(x, at, _BITS)) == 0 for x in entries):
            raise DegenerateStart(
                "that start is a critical point of F, from which gradient flow never moves: choose "
                "another start"
            )


def outputs_at(p: Parameterization, weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return F(w), exact where it is rational; ZeroDivisionError or Unbounded at a pole."""
    at = values_of(p.field, dict(zip(p.weights, weights, strict=True)), _BITS)
    return tuple(fraction(evaluate_any(f, at, _BITS)) for f in p.F)


def specialized(potential: Potential, values: Mapping[str, Fraction]) -> Potential:
    """Return :func:`specialize`, whose last result is kept."""
    kept = potential.workspace
    if kept.get("numbers") != values:
        kept["specialized"], kept["numbers"] = specialize(potential, values), dict(values)
    found: Potential = kept["specialized"]
    return found


def bound_at(p: Parameterization, values: Mapping[str, Fraction]) -> Parameterization:
    """Return F with numbers for its parameters."""
    trees = [bind(tree, values) for tree in p.trees]
    start = {w: bind(tree, values) for w, tree in p.start}
    geometry = p.geometry.mapped(lambda tree: bind(tree, values))
    affine = [output.mapped(lambda tree: bind(tree, values)) for output in p.affine]
    left = [x for x in p.parameters if x not in values]
    return p.with_(outputs=trees, start=start, geometry=geometry, affine=affine, parameters=left)


def specialize(potential: Potential, values: Mapping[str, Fraction]) -> Potential:
    """Return Q with numbers for the parameters of F."""
    bound = bound_at(potential.parameterization, values)
    at = partial(exact, values=values)
    pieces: list[Piece] = []
    for piece in potential.pieces:
        lift = piece.lift and replace(piece.lift, numbers=tuple(values.items()))
        pieces.append(replace(piece.mapped(at), lift=lift))
    other = None if potential.other_side is None else specialize(potential.other_side, values)
    turning = potential.turning and replace(potential.turning, slope=at(potential.turning.slope))
    pieces = _on_their_domains(pieces, bound, values)
    return replace(
        potential, parameterization=bound, pieces=tuple(pieces), other_side=other, turning=turning
    )


def _on_their_domains(
    pieces: Sequence[Piece], bound: Parameterization, values: Mapping[str, Fraction]
) -> list[Piece]:
    """Return pieces with the domains that they have at numbers for the parameters of F.

    A whole power goes on where its base is 0, which others do not.
    """
    if all(value.denominator == 1 for value in values.values()):
        domains = [piece.domain for piece in derive(bound).potential.pieces]
        if len(domains) == len(pieces):
            return [_on(piece, domain) for piece, domain in zip(pieces, domains, strict=True)]
    notation = Notation(bound, tuple(range(bound.d)))
    return [
        replace(piece, domain=along_curve(piece, piece.time_curve, notation))
        if piece.time_curve is not None
        else piece
        for piece in pieces
    ]


def _on(piece: Piece, domain: Domain | None) -> Piece:
    """Return a piece on another domain: of a curve without singular points, on all of it."""
    piece = replace(piece, domain=domain)
    curve = piece.time_curve
    open_ended = domain is not None and domain.exact and not domain.walls
    if curve is None or not open_ended:
        return piece
    smooth = all(w.is_polynomial(curve.parameter) for _, w in curve.weights)
    return replace(piece, curve=replace(curve, interval=(-oo, oo))) if smooth else piece


def check_assumptions(potential: Potential, values: Mapping[str, Fraction]) -> None:
    """Raise InputError for a start, or parameters of F, that a branch of Q was not derived for."""
    kept = potential.workspace
    if "conditions" not in kept:
        kept["conditions"] = [pair for piece in potential.pieces for pair in start_signs(piece)]
    failed = list[str]()
    for said, condition in kept["conditions"]:
        if not (number := exact(condition.of, values)).free_symbols:
            # At a pole, or below an even root, there is no sign.
            known = number.is_extended_real is not False and number.is_finite is not False
            least = number if condition.sign is Sign.POSITIVE else abs(number)
            failed += [] if known and least > 0 else [said]
    if failed:
        shown = ", ".join(f"{name} = {value}" for name, value in values.items())
        text = f"Q was derived for {failed[0]}, which fails at {shown}"
        raise InputError(f"{text}: derive again with that start")


def kept_signs(piece: Piece) -> tuple[Expr, ...]:
    """Return the functions of the weights that are assumed to keep their sign along the flow."""
    return tuple(dict.fromkeys(c.of for c in piece.assumptions if c.sign is Sign.KEPT))


def broken_signs(
    pieces: Iterable[Piece], begin: Mapping[str, Number], end: Mapping[str, Number]
) -> tuple[str, ...]:
    """Return those of :func:`kept_signs` that differ in sign between two points."""
    broken = dict[str, None]()
    for f in (f for piece in pieces for f in kept_signs(piece)):
        signs = (f.subs({s: point[s.name] for s in f.free_symbols}) for point in (begin, end))
        first, last = (int(bool(x > 0)) - int(bool(x < 0)) for x in signs)
        broken |= {str(f): None} if first * last <= 0 else {}
    return tuple(broken)
