"""Calls of elementary functions: what they are said to be, and their derivatives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flint import fmpq

from derive.certificate.checking.function import Function, root_of
from derive.certificate.checking.text import require

if TYPE_CHECKING:
    from derive.certificate.checking.space import Space

TURNS = 400


def is_call(
    space: Space, kind: str, u: Function, e: Function, f: Function, parts: list[Any]
) -> bool:
    """Tell whether f = kind(u), by what pairs (E_i, L_i), |E_i| = exp(L_i), combine to.

    exp(u) = f: u = sum n_i L_i, f = prod |E_i|^n_i; a power is exp(e log u); log|u| = f: the
    other way round. The sign of f is read at the start.
    """
    zero, one = space.number(0), space.number(1)
    if kind == "power":
        positive = f.at(space.start) > 0 and u.at(space.start) > 0
        if n := root_of(e):
            return bool(positive) and (f**n - u).is_zero()
        kind, u = ("exp", e * space.find("log", u)) if positive else ("", u)
    pairs = [(*_pair(space, *call), n) for call, n in parts]
    common = math.lcm(1, *(int(n.q) for *_, n in pairs))
    total = sum((L * space.number(n) for _, L, n in pairs), zero)
    product = math.prod((E ** (2 * int(n * common)) for E, _, n in pairs), start=one)
    if kind == "exp":
        positive = f.at(space.start) > 0 and common == 1
        return bool(positive) and (u - total).is_zero() and (f**2 - product).is_zero()
    same = (f - total).is_zero() and (u ** (2 * common) - product).is_zero()
    return kind == "log" and bool(pairs) and same


def _pair(space: Space, kind: str, u: Function, e: Function) -> tuple[Function, Function]:
    """Return (E, L) with |E| = exp(L) for a call that is known."""
    image = space.find(kind, u, e)
    if kind == "exp":
        return image, u
    if kind == "log":
        return u, image
    if kind == "asinh":
        half = space.number(fmpq(1, 2))
        return u + space.find("power", u**2 + space.number(1), half), image
    require(kind == "power", f"{kind} is no function of this kind")
    return image, e * space.find("log", u)


def is_angle(space: Space, u: Function, c: Function, s: Function, parts: list[Any]) -> bool:
    """Tell whether c + i s = prod (cos u_i + i sin u_i)^n_i and u = sum n_i u_i."""
    real, imaginary, total = space.number(1), space.number(0), space.number(0)
    for (kind, angle, e), n in parts:
        require(kind == "cos" and n.q == 1 and abs(n.p) <= TURNS, "angles are added n times")
        x, y = space.find("cos", angle, e), space.find("sin", angle, e)
        y = y * space.number(1 if n > 0 else -1)
        total = total + angle * space.number(n)
        for _ in range(abs(int(n.p))):
            real, imaginary = real * x - imaginary * y, real * y + imaginary * x
    return all(f.is_zero() for f in (u - total, c - real, s - imaginary))


def slope(space: Space, kind: str, u: Function, exponent: Function, f: Function) -> Function:
    """Return the derivative of f = kind(u) by u."""
    if kind == "exp":
        return f
    if kind == "log":
        return space.number(1) / u
    if kind == "atan":
        return space.number(1) / (u**2 + space.number(1))
    if kind == "cos":
        return space.number(-1) * space.find("sin", u)
    if kind == "sin":
        return space.find("cos", u)
    if kind == "asinh":
        root = space.find("power", u**2 + space.number(1), space.number(fmpq(1, 2)))
        return space.number(1) / root
    return f * exponent / u
