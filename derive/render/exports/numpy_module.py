"""Q in NumPy: beside Q and its gradient the Hessian, the inverse mirror map and the divergence.

A start that Q was not derived for is refused, and beyond a wall of its domain all is nan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from sympy import Symbol

from derive.derivation import Derivation
from derive.language import to_sympy
from derive.mirror_map import inverse_of
from derive.potential.piece import Curve, Piece
from derive.render.exports.printer import NUMPY
from derive.render.exports.program import Writer, with_q

_NOTE = """These are the printed formulas in plain floating point; Q is up to an additive constant.
They have no error bounds: next to where formulas cancel they lose digits, which
``Potential.numeric`` of regderive does not."""
_TURNED = "({} / _y1)[..., None] * _dual"


def render_numpy(derivation: Derivation) -> str:
    """Return a module of NumPy; NumericalError where there is no Q, or no formula of it."""
    return _NumpyWriter(with_q(derivation), NUMPY).module(derivation)


class _NumpyWriter(Writer):
    """Writes functions of beta, or y, and the start."""

    note = _NOTE

    def parts(self) -> list[str]:
        """Return the texts of the functions, those for use first."""
        parts = [f'@np.errstate(all="ignore")\n{part}' for part in self._functions()]
        return [*parts, *self.helpers(parts)]

    def _functions(self) -> Iterator[str]:
        yield self.function("Q", "Return Q(beta).")
        yield self.function("gradient", "Return grad Q.")
        says = f"Return the Hessian of Q. {self.shapes()}"
        yield self.text("hessian", "beta", says, [*self.body(), *self._hessian()])
        if (lines := self._inverse()) is not None:
            yield self.text(
                "inverse_mirror_map", "y", "Return the beta with grad Q(beta) = y.", lines
            )
        start = "".join(f", {name}" for name in self.start)
        single = self.potential.parameterization.d == 1 and not self.vector
        slope = f"gradient(b0{start}) * step"
        product = slope if single else f"({slope}).sum(-1)"
        says = "Return Q(b) - Q(b0) - <grad Q(b0), b - b0>."
        steps = ("step = np.asarray(b) - np.asarray(b0)", f"rise = Q(b{start}) - Q(b0{start})")
        yield self.text("bregman", "b, b0", says, (*steps, f"return rise - {product}"))
        if self.vector:
            whole = f"(hessian(beta{start}) @ np.asarray(vector)[..., None])[..., 0]"
            says = "Return Hess Q(beta) vector."
            yield self.text("hessian_product", "beta, vector", says, (f"return {whole}",))
        yield self._check()

    def read(self) -> Iterator[str]:
        """Read what is given, and refuse a start that Q was not derived for."""
        yield from super().read()
        yield f"_check({', '.join(self._checked())})"

    def guard(self, piece: Piece) -> Iterator[str]:
        """Return lines that make beta nan where a wall has another sign than at the start."""
        if not (walls := self.walls(piece)):
            return
        signs = [f"(({here}) * ({begin}) >= 0)" for here, begin in walls]
        yield f"_inside = {' & '.join(signs)}"
        for b in piece.betas:
            yield f"{self.name(b.name)} = np.where(_inside, {self.name(b.name)}, np.nan)"

    def _checked(self) -> list[str]:
        p, lengths = self.potential.parameterization, [self.name(self.vector)] * bool(self.vector)
        return [*map(self.name, (*p.parameters, *p.start_symbols)), *lengths]

    def _check(self) -> str:
        """Return the function that refuses a start."""
        p, tests = self.potential.parameterization, self.asked()
        if self.vector and self.norm not in p.start_symbols:
            size = self.shown(to_sympy(dict(p.start)[p.weights[-1]]))
            length, name = f"abs({size})", self.name(self.vector)
            text = f"{name} of the length that the start says"
            tests[text] = f"abs(np.linalg.norm({name}) - {length}) <= 1e-12 * {length}"
        lines = [f"def _check({', '.join(self._checked())}):"]
        lines.append('    """Raise ValueError for a start that Q was not derived for."""')
        for text, test in tests.items():
            lines.append(f"    if not np.all({test}):")
            lines.append(f'        raise ValueError("Q was derived for {text}: derive again")')
        return "\n".join(lines) + "\n"

    def _hessian(self) -> Iterator[str]:
        first, *rest = entries = [*chain(*self.rows())]
        if self.vector:
            piece = self.potential.pieces[0]
            (s,), (slope,) = piece.betas, piece.gradient
            yield f"_e = beta / {self.name(s.name)}[..., None]"
            yield f"_across = ({self.shown(slope / s)})[..., None, None]"
            yield f"_along = ({first})[..., None, None]"
            outer = "_e[..., :, None] * _e[..., None, :]"
            yield f"return _across * np.eye(beta.shape[-1]) + (_along - _across) * ({outer})"
        elif rest:
            yield f"return _matrix(beta, {', '.join(entries)})"
        else:
            yield f"return {first} + np.zeros(beta.shape)"

    def _inverse(self) -> list[str] | None:
        """Return the lines of the inverse mirror map; None where it has no formula."""
        p, turning = self.potential.parameterization, self.potential.turning
        lines = [line.replace("beta", "y") for line in self.reading()]
        lines.append(f"_check({', '.join(self._checked())})")
        for outputs, piece in zip(p.blocks, self.potential.pieces, strict=True):
            duals = tuple(Symbol(f"_y{i + 1}") for i in outputs)
            lines += self.constants(piece)
            if turning is None:
                lines += [f"_y{i + 1} = {'y' if p.d == 1 else f'y[..., {i}]'}" for i in outputs]
            else:
                pull = f"({self.shown(turning.slope)}) * {self.name(self.vector)}"
                lines += [f"_dual = y + {pull}", "_y1 = np.sqrt((_dual * _dual).sum(-1))"]
            curve = piece.time_curve
            images = self._along(piece, curve, duals[0]) if curve else self._solved(piece, duals)
            if images is None:
                return None
            lines += [*images, *self.guard(piece)]
        names = [self.name(b.name) for b in self.ordered()]
        last = names[0] if p.d == 1 else f"np.stack([{', '.join(names)}], -1)"
        return [*lines, f"return {last}" if turning is None else f"return {_TURNED.format(last)}"]

    def _solved(self, piece: Piece, duals: Sequence[Symbol]) -> list[str] | None:
        """Return the lines of the beta with grad Q = y, by formulas; None where there are none."""
        if (solved := inverse_of(piece, duals)) is None:
            return None
        images, roots = solved
        lines = [f"{self.name(r.symbol.name)} = {self.root(r)}" for r in roots]
        pairs = zip(piece.betas, images, strict=True)
        return [*lines, *(f"{self.name(b.name)} = {self.shown(x)}" for b, x in pairs)]

    def _along(self, piece: Piece, curve: Curve, y: Symbol) -> list[str]:
        """Return the lines of beta = h(z) at z = y/rate, nan where no z is."""
        (b,), (slope,) = piece.betas, piece.gradient
        z, (low, high) = self.name(curve.parameter.name), curve.interval
        ends = [f"({z} > {self.shown(low)})"] * (low.is_finite is not False)
        ends += [f"({z} < {self.shown(high)})"] * (high.is_finite is not False)
        image = self.shown(curve.beta)
        if ends:
            image = f"np.where({' & '.join(ends)}, {image}, np.nan)"
        rate = slope / curve.parameter
        return [f"{z} = {self.shown(y / rate)}", f"{self.name(b.name)} = {image}"]
