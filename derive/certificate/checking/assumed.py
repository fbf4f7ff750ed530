"""What a statement needs: signs at the start, and functions that do not vanish on the way."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpz_mpoly

from derive.certificate.checking.function import Function
from derive.certificate.checking.signs import CONDITION, Conditions, factors
from derive.certificate.checking.theorem import Checker


def stated(state: Checker) -> Conditions:
    """Return the conditions of the record that are about weights and constants."""
    signs = Conditions(state.space, ())
    known = [text for text in state.conditions if CONDITION.fullmatch(text)]
    signs.take(known, {*state.space.given})
    return signs


def assume(state: Checker, signs: Conditions, walls: Sequence[str] = ()) -> None:
    """Say what has to be so at the start, and what must not vanish on the way from there."""
    space = state.space
    forms = {str(p) for wall in walls for p, _ in factors(space.read(wall))}
    kept = [*space.signs, *space.leads]
    state.assumed |= dict.fromkeys(signs.missing(kept, constant_divisors(state)))
    state.generic |= signs.generic
    used = [*kept, *(Function(space, p, space.one) for p in space.divisors.values())]
    parts = {str(p): Function(space, p, space.one) for f in used for p, _ in factors(f)}
    moving = (f for p, f in parts.items() if p not in forms and not space.is_of_constants(f))
    left = [space.written(f) for f in moving if not is_kept(state, f, signs)]
    state.theorem += [f"as long as along the flow {text} != 0" for text in left]


def is_kept(state: Checker, f: Function, signs: Conditions) -> bool:
    """Tell whether f keeps its sign along the flow.

    No flow crosses f = 0 if f divides all X_a f, or if f^2 >= c for a conserved c > 0.
    """
    slopes = [state.flow.along(x, f).top for x in state.flow.X]
    divides = all((slope % f.top).is_zero() for slope in slopes)
    return bool(signs.sign(f.top)) or divides or stays_away(state, f, signs)


def stays_away(state: Checker, f: Function, signs: Conditions) -> bool:
    """Tell whether f^2 >= c for a conserved c > 0."""
    space = state.space
    laws = [space.read(text) for text in state.record["conserved"]["laws"]]
    return any(
        signs.sign_anywhere(f * f - c) > 0 and signs.sign_of(space.near_start(c)) > 0
        for law in laws
        for c in (law, space.number(0) - law)
        if space.kept(law)
    )


def constant_divisors(state: Checker) -> list[fmpz_mpoly]:
    """Return the irreducible divisors without weights."""
    space, one = state.space, state.space.one
    found = (Function(space, p, one) for d in space.divisors.values() for p, _ in d.factor()[1])
    return [f.top for f in found if space.is_of_constants(f)]
