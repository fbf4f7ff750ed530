"""What a file on one output is about: F, its start, what is asked of it, and Q."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.language import to_sympy
from derive.model.condition import AT_START, Condition
from derive.potential.piece import Explicit
from derive.rocq.terms import NoFile, plain

X = Symbol("x", real=True)


@dataclass(frozen=True)
class OneOutput:
    """What the file is about, in plain symbols.

    Attributes:
        F: the output, in weights and parameters.
        weights, rates: names, and the learning rate of each.
        start: of each weight, in start symbols and parameters.
        symbols: start symbols and parameters, as the definitions take them.
        parameters: those of them that F has.
        constants: names of functions of the start.
        conditions: what is asked of the start.
        walls: functions of x that are positive where Q lives.
        q, dq, kernel: Q, its slope, and K as functions of x.
        laws: functions of the weights that are conserved.
        idle: places of the weights that start at 0 and stay there.
    """

    F: Expr
    weights: tuple[str, ...]
    rates: tuple[Expr, ...]
    start: tuple[Expr, ...]
    symbols: tuple[str, ...]
    parameters: tuple[str, ...]
    constants: tuple[tuple[Symbol, Expr], ...]
    conditions: tuple[Condition, ...]
    walls: tuple[Expr, ...]
    q: Expr
    dq: Expr
    kernel: Expr
    laws: tuple[Expr, ...]
    idle: tuple[int, ...] = ()

    @functools.cached_property
    def moving(self) -> tuple[Symbol, ...]:
        """The weights as symbols."""
        return tuple(Symbol(w, real=True) for w in self.weights)

    @functools.cached_property
    def slopes(self) -> tuple[Expr, ...]:
        """The partial derivatives of F."""
        return tuple(self.F.diff(w) for w in self.moving)

    @functools.cached_property
    def kernel_in_weights(self) -> Expr:
        """K = sum_k rate_k (dF/dw_k)^2."""
        terms = (r * s**2 for r, s in zip(self.rates, self.slopes, strict=True))
        return sympy.Add(*terms)

    def at_start(self, e: Expr) -> Expr:
        """Return a function of the weights at the start."""
        return e.subs(dict(zip(self.moving, self.start, strict=True)), simultaneous=True)


def one_output(d: Derivation) -> OneOutput:
    """Return what a file on one output is about.

    Raises:
        NoFile: the derivation has no such file.
    """
    p = d.parameterization
    if p.d > 1 or p.vectors or p.affine:
        raise NoFile("F has several outputs, of which no file is written")
    (piece,) = d.potential.pieces
    if not isinstance(piece, Explicit) or piece.kernel is None or piece.domain is None:
        raise NoFile(f"Q is {piece.kind}: a file is written of what is explicit in beta")
    for why, holds in _outside(d, piece).items():
        if holds:
            raise NoFile(why)
    in_x = {Symbol(piece.betas[0].name, real=True): X}
    rates = [plain(to_sympy(tree)) for tree in p.rates] or [sympy.Integer(1)] * p.p
    return OneOutput(
        plain(to_sympy(p.trees[0])),
        p.weights,
        tuple(rates),
        tuple(plain(to_sympy(tree)) for _, tree in p.start),
        (*p.parameters, *p.start_symbols),
        p.parameters,
        tuple((Symbol(c.name, real=True), plain(value)) for c, value in piece.constants),
        piece.assumptions,
        tuple(plain(w.form).xreplace(in_x) for w in piece.domain.walls),
        plain(piece.value).xreplace(in_x),
        plain(piece.gradient[0]).xreplace(in_x),
        plain(piece.kernel).xreplace(in_x),
        tuple(map(plain, d.conserved.laws)),
        tuple(map(p.weights.index, d.idle)),
    )


def _outside(d: Derivation, piece: Explicit) -> dict[str, bool]:
    """Return the reasons for which there may be no file, and whether each holds."""
    domain, p = piece.domain, d.parameterization
    return {
        "Q has roots by name": bool(piece.roots),
        "F moves in fewer weights than it has, of which no file is written": bool(
            d.ties or d.equivalent
        ),
        "no file is written of a mirror that couples weights": not p.geometry.is_diagonal,
        "where Q lives is not decided": domain is None
        or bool(domain.undecided or domain.unless)
        or not all(wall.oriented for wall in domain.walls),
        "no file is written where something is assumed of the flow on its way": any(
            c.sign not in AT_START or c.guards for c in piece.assumptions
        ),
    }
