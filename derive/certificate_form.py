"""Write down what the checker needs to see that a printed Q is the right one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Any

import sympy
from sympy import Expr

from derive.exact.field import RationalFunction
from derive.records import Block
from derive.render.plain import plain
from derive.stages.chart import Chart
from derive.stages.piece import Piece

Claim = dict[str, Any]


def form_claims(
    block: Block, index: int, starts: Sequence[dict[str, str]]
) -> Iterator[tuple[str, Iterator[Claim]]]:
    """Yield what is printed of one block, and the claims that may certify it, one per start."""
    piece = block.potential.piece
    if piece is None:
        return
    integral = piece.value.has(sympy.Integral)
    what = f"Q in {piece.kind} form"
    if integral and any(g.has(sympy.Integral) for g in piece.gradient):
        yield what, iter(())
        return
    base = _base(block, piece, index)
    yield what, iter([] if base is None else [{**base, "at": at} for at in starts])
    if integral:
        yield "Q as the integral of its certified gradient", iter(())


def _base(block: Block, piece: Piece, index: int) -> Claim | None:
    base: Claim = {
        "claim": "form",
        "block": index,
        "beta": [str(b) for b in piece.betas],
        "Q": None if piece.value.has(sympy.Integral) else plain(piece.value),
        "gradient": [plain(g) for g in piece.gradient],
        "constants": [],
        "leaf": [],
    }
    if piece.curve is not None:
        return {**base, **_curve(piece)}
    if len(piece.betas) == 1:
        return None if piece.kernel is None else {**base, **_kernel(block, piece, piece.kernel)}
    chart = block.potential.chart
    return None if chart is None else {**base, **_chart(piece, chart)}


@dataclass
class _Generators:
    """Roots and functions in the order in which they need one another."""

    chart: Chart | None = None
    entries: list[Any] = field(default_factory=list)
    roots: dict[tuple[Expr, int], Expr] = field(default_factory=dict)
    seen: set[Expr] = field(default_factory=set)

    def add(self, *expressions: Expr) -> None:
        """Add what expressions use: roots, then exponentials, logarithms and asinh."""
        nodes = [n for e in expressions for n in sympy.postorder_traversal(e)]
        for node in nodes:
            if isinstance(node, sympy.Pow) and _is_root(node) and _root(node) not in self.roots:
                self._add_root(*_root(node))
        self._add_exponentials([n for n in nodes if isinstance(n, sympy.exp)])
        for node in nodes:
            if isinstance(node, sympy.log | sympy.asinh) and node not in self.seen:
                self.seen.add(node)
                if isinstance(node, sympy.asinh):
                    self._add_slope(1 + node.args[0] ** 2)
                self.entries.append(plain(node))

    def _add_root(self, base: Expr, n: int) -> None:
        root = sympy.Pow(base, sympy.Rational(1, n))
        self.roots[base, n] = root
        image = self._image(root)
        self.entries.append(plain(root) if image is None else {"text": plain(root), "image": image})

    def _image(self, root: Expr) -> str | None:
        """Return the function of the weights that a root is."""
        for _, function, image in () if self.chart is None else self.chart.entries:
            for sign, entry in (("", image), ("-", -image)):
                if entry == root:
                    return f"{sign}({function!r})"
        return None

    def _add_slope(self, square: Expr) -> None:
        """Say which function sqrt(1 + A^2) is, the slope of asinh(A), where a root gives it."""
        for (base, n), root in self.roots.items():
            factor = sympy.sqrt(sympy.cancel(sympy.together(square / base)))
            factor = factor.replace(sympy.Abs, lambda a: a)
            used = {_root(f) for f in factor.atoms(sympy.Pow) if _is_root(f)}
            if n == 2 and used <= self.roots.keys():
                text = f"({plain(square)})**(1/2)"
                self.entries.append({"text": text, "is": f"({plain(factor)})*{plain(root)}"})

    def _add_exponentials(self, exponentials: Sequence[Expr]) -> None:
        """Add exp(u z) once for all its powers exp(n u z)."""
        rates: dict[Expr, list[sympy.Rational]] = {}
        for node in exponentials:
            rate, rest = node.args[0].as_coeff_Mul()
            rates.setdefault(rest, []).append(rate)
        for rest, found in rates.items():
            bottom = int(sympy.ilcm(1, *(r.q for r in found)))
            unit = sympy.Rational(gcd(*(int(r * bottom) for r in found)), bottom)
            self.entries.append(f"exp({plain(unit * rest)})")


def _is_root(node: Expr) -> bool:
    return bool(node.exp.is_Rational and not node.exp.is_Integer)


def _root(node: Expr) -> tuple[Expr, int]:
    return node.base, int(node.exp.q)


def _kernel(block: Block, piece: Piece, kernel: Expr) -> Claim:
    """The relation of K and beta: the power of the printed K that has no root."""
    name = "K_"
    K = sympy.Symbol(name)
    n = next((n for n in range(1, 13) if _is_rational(sympy.expand(kernel**n))), 1)
    power = sympy.together(sympy.expand(kernel**n))
    top, bottom = sympy.fraction(power)
    relation = sympy.expand(bottom * K**n - top)
    in_weights = {
        K: sympy.Symbol(f"({block.metric.K[0][0]!r})"),
        piece.betas[0]: sympy.Symbol(f"({block.lie.parameterization.F[0]!r})"),
    }
    constants = []
    for symbol, value in piece.constants:
        slope = sympy.diff(relation, symbol)
        conserved = -relation.subs(symbol, 0) / slope
        text = plain(conserved.subs(in_weights, simultaneous=True))
        constants.append({"name": str(symbol), "value": plain(value), "conserved": text})
    generators = _Generators()
    generators.add(piece.value, *piece.gradient)
    return {
        "kind": "kernel",
        "kernel": name,
        "relation": plain(relation),
        "constants": constants,
        "generators": generators.entries,
    }


def _is_rational(expression: Expr) -> bool:
    return not any(
        isinstance(node, sympy.Function) or (node.is_Pow and not node.exp.is_Integer)
        for node in sympy.preorder_traversal(expression)
    )


def _chart(piece: Piece, chart: Chart) -> Claim:
    """The chart of the leaf: named constants, roots and their images in the weights."""
    named = dict(piece.constants)
    constants, leaf = [], []
    laws = chart.metric.conserved.laws
    for _, function, image in chart.entries:
        if image in named:
            text = {"name": str(image), "value": plain(named[image])}
            constants.append({**text, "conserved": repr(function)})
        elif function in laws and (
            image.is_number or image.name not in {str(s) for s, _ in chart.constants}
        ):
            leaf.append((function, image))
    generators = _Generators(chart)
    for root in piece.roots:
        generators.add(root.polynomial)
        generators.entries.append(
            {
                "name": str(root.symbol),
                "polynomial": plain(root.polynomial),
                "image": _root_image(chart, root.symbol),
                "explicit": None if root.explicit is None else plain(root.explicit),
                "above": root.from_above,
            }
        )
        if root.explicit is not None:
            generators.add(root.explicit)
    generators.add(*(e for e in (*piece.gradient, piece.value) if not e.has(sympy.Integral)))
    return {
        "kind": "chart",
        "constants": constants,
        "leaf": list(_triangular(leaf)),
        "generators": generators.entries,
    }


def _triangular(laws: list[tuple[RationalFunction, Expr]]) -> Iterator[dict[str, str]]:
    """Yield conserved functions, each with a variable that the ones after it do not have."""
    left = [(f, f.variables()) for f, _ in laws]
    symbols = {repr(f): image.name for f, image in laws if image.is_Symbol}
    while left:
        free = [
            (f, v)
            for f, names in left
            for v in names
            if all(v not in others for g, others in left if g is not f)
        ]
        function, main = free[0] if free else (left[0][0], left[0][0].variables()[0])
        left = [(f, names) for f, names in left if f is not function]
        text = repr(function)
        yield {"conserved": text, "main": symbols.get(text, main)}


def _root_image(chart: Chart, symbol: sympy.Symbol) -> str | None:
    """Return the function of the weights that a root variable is."""
    for _, function, image in chart.entries:
        base, exponent = (image if image.is_Pow else -image).as_base_exp()
        if image == symbol:
            return repr(function)
        if base == symbol and exponent.is_Rational and exponent.p == 1:
            return f"({function!r})**{exponent.q}"
    return None


def _curve(piece: Piece) -> Claim:
    curve = piece.curve
    if curve is None:
        raise AssertionError("a parametric form has a curve")
    generators = _Generators()
    generators.add(curve.beta, piece.value, *piece.gradient, *(w for _, w in curve.weights))
    return {
        "kind": "curve",
        "parameter": str(curve.parameter),
        "curve": plain(curve.beta),
        "weights": {name: plain(w) for name, w in curve.weights},
        "generators": generators.entries,
    }
