"""Where Q lives: the ends of beta for one output, and those of the parameter of a curve."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from derive.certificate.checking.function import Function
from derive.certificate.checking.signs import CONDITION, Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected, names_in, require
from derive.certificate.checking.theorem import Checker

UNDECIDED = {"kernel", "leaf", "length", "curve", "smooth", "beyond"}


def domain(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept the ends of beta where K(beta) of one output is 0 or infinite, or those of a curve.

    K, or the curve h, is read as a function of beta, or z, alone: with the walls as conditions
    none of its factors vanishes, nor what is under its roots and in its logarithms.
    """
    walls, undecided, space = said["domain"]["walls"], said["domain"]["undecided"], state.space
    require({*undecided} <= UNDECIDED, "a domain is undecided otherwise")
    for wall in walls:
        require(wall["sign"] in ("> 0", "as at beta_0"), "a wall has another sign")
        if wall["sign"] == "> 0":
            space.positive(space.read(wall["form"]), f"{wall['form']:.60} at beta_0")
    name, text, forms = said["beta"][0], said["kernel"], [wall["form"] for wall in walls]
    if (curve := said["curve"]) is not None:
        name, text, (low, high) = curve["parameter"], curve["beta"], curve["interval"]
        forms = [f"{name} - ({low})"] * (low != "-oo") + [f"{high} - {name}"] * (high != "oo")
    elif undecided and not walls:
        return  # no end is claimed
    if proof.get("domain") is None or text is None or len(said["beta"]) > 1:
        state.open.append(f"the domain of Q of {', '.join(said['beta'])}")
        return
    alone = _alone(state, name, proof["domain"])
    signs = _signs(alone, [*state.conditions, *said["assumptions"]])
    for form in forms:
        signs.add(form, "> 0" if alone.read(form).at(alone.start) > 0 else "< 0")
    f = alone.read(text)
    lives = f if curve is None else Function(alone, f.bottom, alone.one)
    missing = signs.missing([*alone.signs, lives * lives], ())
    require(not missing, f"{name} may reach {'; '.join(missing):.100}")


def _alone(state: Checker, name: str, definitions: JSON) -> Space:
    """Return a space in which beta, or z, is the one variable, and what the flow keeps is fixed."""
    space = state.space
    constants = [n for n in space.names if n in space.fixed]
    alone = Space([name], constants, len(definitions) + 1)
    alone.start = [space.names[n].at(space.start) for n in (name, *constants)]
    alone.w0 = [alone.symbols[0]]
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
