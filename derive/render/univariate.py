"""The variational problem of univariate shallow nets, as plain text and as a JSON record."""

from __future__ import annotations

from collections.abc import Iterator

from flint import fmpq

from derive.render.plain import page
from derive.render.written_json import json_text
from derive.univariate.formulas import Value, rational
from derive.univariate.problem import VariationalProblem

SLOPES, MOMENT = "h'(inf) + h'(-inf)", "int h''(x) |x| dx - 2 h(0)"
SOURCE = "Liang and Montufar, implicit bias of mirror flow, univariate regression"


def render_text(p: VariationalProblem, width: int = 80) -> str:
    """Return the record as text."""
    remarks = (f"Source: {SOURCE}", *p.remarks)
    return page((_setting(p), _problem(p), _derivation(p), remarks), width)


def render_json(p: VariationalProblem) -> str:
    """Return the record as JSON text."""
    record = {
        "potential": p.potential.text,
        "scaled": p.scaled,
        "activation": p.activation.name,
        "density": p.density.text,
        "statement": list(_problem(p)),
        "derivation": list(_derivation(p)),
        "remarks": list(p.remarks),
    }
    return json_text("univariate", record)


def _setting(p: VariationalProblem) -> Iterator[str]:
    sigma = "max(z, 0)" if p.activation.odd else "|z|"
    way = "n^-2 sum phi(n (theta - theta(0)))" if p.scaled else "sum phi(theta - theta(0))"
    yield "Univariate shallow net of width n, trained by mirror flow"
    yield f"f(x) = sum_j a_j sigma(w_j x - b_j) + d, sigma(z) = {sigma}, w_j = 1 or -1"
    yield f"biases b_j from p: {p.density.text}, E b^2 = {shown(p.density.moment(2))}"
    yield f"potential {way}, phi = {p.potential.text}"


def _problem(p: VariationalProblem) -> Iterator[str]:
    tends = "formally tends" if p.remarks else "tends"
    yield f"As n -> infinity f(x, theta(inf)) - f(x, theta(0)) {tends} to the h with"
    yield "h(x_i) = y_i - f(x_i, theta(0)) that minimises"
    if p.affine is not None:
        yield "G1 + G2 + G3"
        yield f"G1 = {times(rational(p.bending))}int h''(x)^2/p(x) dx"
        yield f"G2 = {times(p.affine[0])}({SLOPES})^2"
        yield f"G3 = {times(p.affine[1])}({MOMENT})^2"
        return
    if p.activation.odd:
        yield "int (D_phi(h''/p + u, 0) + D_phi(h''/p - u, 0))/2 p dx"
        yield "among all u(x), the odd part of alpha, with"
        ends = "int p u dx", "int p x u dx"
    else:
        yield "int D_phi(h''(x)/(2 p(x)), 0) p(x) dx subject to"
        ends = "0", "0"
    yield f"{SLOPES} = {ends[0]}"
    yield f"{MOMENT} = {ends[1]}"
    yield f"D_phi(a, 0) = phi(a) - phi(0) - phi'(0) a, phi = {p.law.text}"


def _derivation(p: VariationalProblem) -> Iterator[str]:
    odd = p.activation.odd
    yield "Derivation"
    if not p.scaled:
        yield "theta moves by O(1/n): phi counts by its curvature at 0, as x^2/2 would,"
        yield "and the limit is that of gradient flow for all unscaled potentials"
    yield "minimise E D_phi(alpha, 0) subject to h(x) = E alpha(w, b) sigma(w x - b)"
    yield f"sigma(z) = {'(|z| + z)/2' if odd else '|z|'}; p is even;"
    yield "alpha(1, b) = v(b) + u(b), alpha(-1, -b) = v(b) - u(b):"
    if odd:
        yield "2 h(x) = int p v |x - b| db + int p u (x - b) db, h'' = p v"
        yield f"{SLOPES} = int p u db"
        yield f"{MOMENT} = int p b u db"
    else:
        yield "h(x) = int p v |x - b| db, h'' = 2 p v"
        yield "both sides have opposite slopes, and 2 h(0) = int h''(b) |b| db"
    if p.affine is not None:
        yield "the least int p u^2 at these is (int p u)^2 + (int p b u)^2/E b^2, as E b = 0"


def times(factor: Value) -> str:
    """Return a factor with a space behind it; nothing for 1."""
    return "" if factor == 1 else f"{shown(factor)} "


def shown(value: Value) -> str:
    """Return a rational number, or a ball to 12 digits."""
    return str(value) if isinstance(value, fmpq) else str(value.str(12, radius=False))
