"""Where Q lives: ends of one output or of the parameter of a curve; walls of several outputs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from derive.certificate.checking.function import Function
from derive.certificate.checking.reached import Lift
from derive.certificate.checking.signs import CONDITION, Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected, names_in, require
from derive.certificate.checking.theorem import Checker

UNDECIDED = {"kernel", "leaf", "length", "curve", "smooth", "beyond"}


def domain(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept the domain, or say that it is not decided, or leave what is said of it open."""
    where, curve = said["domain"], said["curve"]
    require({*where["undecided"]} <= UNDECIDED, "a domain is undecided otherwise")
    _are_ends(state.space, said)
    if where["undecided"] and not (where["walls"] or where["unless_zero"] or curve):
        state.theorem.append(f"which {', '.join(said['beta'])} are reached is not decided")
        return
    of_one = len(said["beta"]) == 1
    more = any(wall["vanishing"] is not None for wall in where["walls"])
    unread = of_one and (where["unless_zero"] or not (said["kernel"] or curve))
    if more or unread or proof.get("domain") is None:
        state.open.append(f"the domain of Q of {', '.join(said['beta'])}")
    elif of_one:
        _of_one(state, said, proof)
    else:
        _of_several(state, said, proof)


def _of_several(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept that every beta between the walls is reached."""
    unless = [f"{text} != 0" for text in said["domain"]["unless_zero"]]
    alone, signs = _between(state, said, proof, said["beta"], unless)
    Lift(state, alone, signs).check(
        [*map(state.given["beta"].index, said["beta"])], proof["reached"]
    )
    state.assumed |= dict.fromkeys(unless)
    state.generic |= signs.generic
    state.theorem.append(f"every beta{' below' * bool(said['domain']['walls'])} is reached")


def _of_one(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept the ends of beta where K(beta) of one output is 0 or infinite, or those of a curve.

    K, or the curve h, is read as a function of beta, or z, alone: with the walls as conditions
    none of its factors vanishes, nor what is under its roots and in its logarithms.
    """
    curve = said["curve"]
    name, text = said["beta"][0], said["kernel"]
    if curve is not None:
        name, text = curve["parameter"], curve["beta"]
    alone, signs = _between(state, said, proof, [name])
    f = alone.read(text)
    lives = f if curve is None else Function(alone, f.bottom, alone.one)
    missing = signs.missing([*alone.signs, lives * lives], ())
    require(not missing, f"{name} may reach {'; '.join(missing):.100}")


def _between(
    state: Checker, said: JSON, proof: JSON, names: Sequence[str], unless: Sequence[str] = ()
) -> tuple[Space, Conditions]:
    """Return beta, or z, as variables, with the conditions, and the signs of the walls."""
    alone = _alone(state, names, proof["domain"])
    signs = _signs(alone, [*state.conditions, *said["assumptions"], *unless])
    for form in ends(said):
        signs.add(form, "> 0" if alone.read(form).at(alone.start) > 0 else "< 0")
    return alone, signs


def _are_ends(space: Space, said: JSON) -> None:
    """Require that walls, and the ends of a curve, are on the side of the start that is said."""
    walls = said["domain"]["walls"]
    signs = {wall["sign"] for wall in walls}
    require(signs <= {"> 0", "as at beta_0"}, "a wall has another sign")
    forms = [wall["form"] for wall in walls if wall["sign"] == "> 0"]
    for form in forms if said["curve"] is None else [*forms, *ends(said)]:
        space.positive(space.read(form), f"{form:.60} at the start")


def ends(said: JSON) -> list[str]:
    """Return what keeps its sign: the walls, or z less the ends of its interval."""
    if (curve := said["curve"]) is None:
        return [wall["form"] for wall in said["domain"]["walls"]]
    name, (low, high) = curve["parameter"], curve["interval"]
    return [f"{name} - ({low})"] * (low != "-oo") + [f"{high} - {name}"] * (high != "oo")


def _alone(state: Checker, names: Sequence[str], definitions: JSON) -> Space:
    """Return a space in which beta, or z, are the variables, and what the flow keeps is fixed."""
    space = state.space
    constants = [n for n in space.names if n in space.fixed]
    alone = Space(names, constants, len(definitions) + 1)
    alone.start = [space.names[n].at(space.start) for n in (*names, *constants)]
    alone.w0 = alone.symbols[: len(names)]
    for entry in definitions:
        require("of" in entry and "name" in entry, "only calls are defined for a domain")
        alone.define(entry)
    return alone


def _signs(alone: Space, conditions: Sequence[str]) -> Conditions:
    """Return the conditions that are about constants."""
    signs = Conditions(alone, ())
    for condition in conditions:
        found = CONDITION.fullmatch(condition)
        if found and names_in([found[1]]) <= set(alone.names):
            with contextlib.suppress(Rejected):  # of calls that are not known here
                signs.add(*found.groups())
    return signs
