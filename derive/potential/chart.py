"""Charts of a leaf: named functions of the weights, and each of them written in beta.

The outputs themselves are entries, and the conserved quantities, which are constants on the leaf;
root variables, and weights that are algebraic in those, are added by
:mod:`derive.potential.entries`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import sympy
from sympy import Expr, Symbol

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.implicitization import Coordinates, express
from derive.model.notation import Constant, Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.potential.piece import Algebraic, Explicit, Piece, Root
from derive.verdict import Identity
from derive.weights.metric import Metric

HIGHEST = 12
"""Weighted degree at which searches for relations stop."""


@dataclass(frozen=True)
class Chart:
    """Named functions on the leaf.

    Attributes:
        notation: the names.
        metric: K of the parameterization.
        entries: (name, function of the weights, the same in beta), in order of definition.
        constants: the symbols of the conserved values with these in start symbols.
        roots: the root variables.
        evidence: the identities behind the entries.
        assumptions: signs at the start that select branches.
        warp: g, known to be positive along the flow; 1 for a Hessian map.
        conditions: functions of the start that are assumed positive.
    """

    notation: Notation
    metric: Metric
    entries: tuple[tuple[str, RationalFunction, Expr], ...]
    constants: tuple[Constant, ...]
    roots: tuple[Root, ...] = ()
    evidence: tuple[Identity, ...] = ()
    assumptions: tuple[str, ...] = ()
    warp: RationalFunction | None = None
    conditions: tuple[RationalFunction, ...] = ()

    @property
    def parameterization(self) -> Parameterization:
        """The map F."""
        return self.metric.parameterization

    @cached_property
    def coordinates(self) -> Coordinates:
        """All entries as coordinates."""
        return Coordinates.of([(name, f) for name, f, _ in self.entries])

    @property
    def images(self) -> list[Expr]:
        """How each entry is written in beta."""
        return [image for _, _, image in self.entries]

    def without_outputs(self) -> Chart:
        """Return the chart of the roots, radicals and constants alone."""
        betas = {s.name for s in self.notation.betas}
        return replace(self, entries=tuple(e for e in self.entries if e[0] not in betas))

    def extended(self, name: str, function: RationalFunction, image: Expr) -> Chart:
        """Return the chart with one more entry."""
        return replace(self, entries=(*self.entries, (name, function, image)))

    def image(self, name: str) -> Expr | None:
        """Return how the entry of a name is written in beta, None where there is none."""
        return next((image for known, _, image in self.entries if known == name), None)

    def write(self, function: RationalFunction) -> Expr | None:
        """Return a function of the weights in beta, proved by expansion, or None."""
        function = self.parameterization.field.embed(function)
        if function.is_constant():
            return to_expr(function, self.notation.weights)
        written = express(function, self.coordinates, HIGHEST) if self.entries else None
        return None if written is None else to_expr(written, self.images)

    def substitute(self, function: RationalFunction) -> Expr | None:
        """Return a function with each weight as it is written in beta; None where one is not."""
        known = {name: image for name, _, image in self.entries}
        if not all(name in known for name in function.variables()):
            return None
        return to_expr(function, [known.get(n, sympy.S.Zero) for n in function.field.names])

    def names_in(self, *expressions: Expr) -> tuple[tuple[Root, ...], tuple[Constant, ...]]:
        """Return the roots that expressions use, and the constants that they or these use."""
        used = set[Symbol]().union(*(e.free_symbols for e in expressions))
        roots = tuple(r for r in self.roots if r.symbol in used)
        used = used.union(*(r.polynomial.free_symbols for r in roots))
        return roots, tuple(c for c in self.constants if c[0] in used)

    def named(self, piece: Piece) -> Piece:
        """Return the piece with the names that it uses; algebraic where a root has no formula."""
        roots, constants = self.names_in(piece.value, *piece.gradient)
        if isinstance(piece, Explicit) and any(r.explicit is None for r in roots):
            piece = Algebraic(
                piece.betas,
                piece.value,
                piece.gradient,
                assumptions=piece.assumptions,
                evidence=piece.evidence,
            )
        return replace(piece, roots=roots, constants=constants)


def base_chart(metric: Metric, notation: Notation) -> Chart | None:
    """Return the chart of the outputs and the conserved values, or None without polynomial laws."""
    p = metric.parameterization
    laws = metric.conserved.laws
    if any(not law.is_polynomial() or law.degree() < 1 for law in laws):
        return None
    entries = [(s.name, f, s) for s, f in zip(notation.betas, p.F, strict=True)]
    constants = []
    for i, law in enumerate(laws, 1):
        symbol = notation.fresh("delta" if len(laws) == 1 else f"delta{i}")
        value = to_expr(p.at_start(law), notation.start_symbols)
        image: Expr = symbol
        if value.is_number or value.is_Symbol:
            image = value
        else:
            constants.append((symbol, value))
        entries.append((symbol.name, law, image))
    for name in p.parameters:
        entries.append((name, p.field.named(name), notation.start_symbols[name]))
    return Chart(notation, metric, tuple(entries), tuple(constants))


def kernel_in_beta(metric: Metric, chart: Chart | None) -> tuple[tuple[Expr, ...], ...] | None:
    """Return K in beta, entry by entry, each proved by expansion; None where K was not written."""
    if chart is None:
        return None
    d = metric.parameterization.d
    entries: dict[tuple[int, int], Expr] = {}
    for i in range(d):
        for j in range(i, d):
            written = chart.write(metric.K[i][j])
            if written is None:
                return None
            entries[i, j] = entries[j, i] = written
    return tuple(tuple(entries[i, j] for j in range(d)) for i in range(d))
