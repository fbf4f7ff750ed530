"""Q and grad Q as one module of JAX, PyTorch or NumPy.

That of NumPy has the Hessian, the inverse mirror map and the divergence, too: a start that Q was
not derived for is refused, and beyond a wall of its domain all is nan.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any, cast

import numpy as np
import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.errors import NumericalError
from derive.language import to_sympy
from derive.mirror_map import hessian, inverse_of
from derive.model.condition import Sign
from derive.model.names import PI
from derive.outcome import HEADLINES
from derive.potential.piece import UNSEEN, Curve, Piece, Root, of_the_flow, start_signs
from derive.programming import Language, outputs_at_start
from derive.records import Potential
from derive.render.exports.languages import JAX, NUMPY, OFF_ZERO, TORCH
from derive.render.text import unmark
from derive.verdict import Verdict

_LENGTH = """    if beta.shape[-1:] != ({d},):
        raise ValueError(f"beta has shape {{tuple(beta.shape)}}: the last number should be {shown}")
"""
_FUNCTIONS = (Path(__file__).parent / "functions.txt").read_text(encoding="utf-8").split("\n\n\n")
"""What modules bring along, each after those that call it."""
_NOTE = """These are the printed formulas in plain floating point, differentiable in beta and in the
start; Q is up to an additive constant. They have no error bounds: next to where formulas cancel
they lose digits, and outside the domain they give no nan."""
_TITLE = "The implicit regularizer Q of {flow} on F, derived and written by regderive."
_UNSEEN = textwrap.fill(UNSEEN, 92)


UNWRITTEN = "no module is written: "
"""How the reason begins where there is no Q."""
_WIDTH = 92
WHOLE: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


def _module(language: Language, derivation: Derivation) -> str:
    """Return a module; NumericalError where there is no Q, or no formula of it."""
    kind = _NumpyWriter if language is NUMPY else Writer
    return kind(with_q(derivation), language).module(derivation)


render_jax, render_torch, render_numpy = (partial(_module, x) for x in (JAX, TORCH, NUMPY))


def with_q(d: Derivation) -> Potential:
    """Return the potential of a derivation; NumericalError where there is no Q."""
    if d.verdict is not Verdict.PROVED:
        raise NumericalError(f"{UNWRITTEN}{unmark(HEADLINES[d.verdict])}")
    return d.potential


def _function(
    language: Language, potential: Potential, start: Mapping[str, Any]
) -> Callable[..., Any]:
    """Return Q(beta) at a start; InputError for a start that numbers refuse, too."""
    writer, at = Writer(potential, language), cast(Any, potential.numeric(start))
    read = {writer.name(x): np.asarray(value, float).tolist() for x, value in at.start}
    parts = writer.parts()
    text = "\n\n".join(("import math", writer.imports(parts), *parts))
    room: dict[str, Any] = {}
    exec(compile(text, "<regderive>", "exec"), room)
    return partial(room["Q"], **read)


jax_function, torch_function = partial(_function, JAX), partial(_function, TORCH)


class Writer:
    """Writes functions of beta and the start.

    Raises:
        NumericalError: there is none in beta or in mu.
    """

    note = _NOTE

    def __init__(self, potential: Potential, language: Language) -> None:
        self.potential, self.language = potential, language
        self.xp = language.calls["xp"]
        p, turning = self.potential.parameterization, self.potential.turning
        self.vector = turning.direction.start_vector if turning else ""
        self.norm = f"{p.weights[-1]}_0" if turning else ""
        names = [n for n in (*p.parameters, *p.start_symbols) if n not in (self.norm, PI)]
        self.start = [self.name(n) for n in (*names, *[self.vector] * bool(turning))]
        self.has_pi = PI in p.start_symbols
        self.roots = {root.symbol for piece in self.potential.pieces for root in piece.roots}

    def module(self, d: Derivation) -> str:
        """Return a module of functions, with what the derivation says of F, its laws and Q."""
        parts = self.parts()
        math = "import math\n\n" * any("math." in part for part in parts)
        head = f'"""{self.account(d)}\n"""\n\n{math}{self.imports(parts)}\n'
        return "\n\n".join([head, *parts]).rstrip()

    def imports(self, parts: Sequence[str]) -> str:
        """Return the lines that load what some parts call."""
        if not any(re.search(r"(?<![\w.])special\.", part) for part in parts):
            return self.language.imports
        return f"{self.language.imports}\n{self.language.calls['special']}"

    def account(self, d: Derivation) -> str:
        """Return what the derivation says of F, its laws and Q, and what there is to note."""
        kept = ("Yes", "Parameterization", "Conserved", "Implicit")
        sections = [part for part in d.to_text().split("\n\n") if part.startswith(kept)]
        notes = [self.note, *[_UNSEEN] * any(map(of_the_flow, self.potential.pieces))]
        title = _TITLE.format(flow=unmark(d.parameterization.geometry.steering.flow))
        return "\n\n".join([title, *sections, *notes]).replace("\\", "/")

    def parts(self) -> list[str]:
        """Return the texts of the functions, those for use first."""
        parts = [self.function("Q", "Return Q(beta)."), self.function("gradient", "Return grad Q.")]
        return [*parts, *self.helpers(parts)]

    def name(self, given: str) -> str:
        """Return a name that the language leaves free."""
        return self.language.name(given)

    def shown(self, expression: Expr) -> str:
        """Return the text of an expression."""
        return self.language.shown(_off_zero(expression, self.roots))

    def helpers(self, parts: Sequence[str]) -> list[str]:
        """Return the functions that some parts, and each other, call."""
        d, check = self.potential.parameterization.d, ""
        if self.vector:
            check = _LENGTH.format(d="start[-1].shape[-1]", shown="{start[-1].shape[-1]}")
        elif d > 1:
            check = _LENGTH.format(d=d, shown=d)
        given, used = {**self.language.calls, "check": check}, list(parts)
        for text in _FUNCTIONS:
            if any(text[4 : text.index("(") + 1] in part for part in used):
                used.append(re.sub(r"\{(\w+)\}", lambda m: given[m[1]], text.rstrip("\n")) + "\n")
        return used[len(parts) :]

    def function(self, name: str, says: str) -> str:
        """Return the text of Q or gradient."""
        if name == "gradient":
            last = self._gradient()
        else:
            last = self.value()
            if (turning := self.potential.turning) is not None and turning.slope != 0:
                along = f"(beta * {self.name(self.vector)}).sum(-1)"
                last = f"{last} - ({self.shown(turning.slope)}) * {along}"
        return self.text(name, "beta", f"{says} {self.shapes()}", [*self.body(), f"return {last}"])

    def value(self) -> str:
        """Return the text of Q, of a vector without the term linear in beta."""
        for weights in filter(None, (piece.in_weights for piece in self.potential.pieces)):
            raise NumericalError(f"{UNWRITTEN}Q is a formula in {weights}, and none in beta")
        return " + ".join(f"({self.shown(piece.value)})" for piece in self.potential.pieces)

    def slopes(self) -> list[str]:
        """Return the texts of dQ/dbeta_i."""
        pairs = (zip(x.betas, x.gradient, strict=True) for x in self.potential.pieces)
        known = dict(chain.from_iterable(pairs))
        return [self.shown(known[b]) for b in self.ordered()]

    def rows(self) -> list[list[str]]:
        """Return the texts of the rows of Hess Q."""
        pieces, betas = self.potential.pieces, self.ordered()
        pairs = (zip(product(x.betas, repeat=2), hessian(x), strict=True) for x in pieces)
        known = dict(chain.from_iterable(pairs))
        return [[self.shown(known.get((a, b), sympy.S.Zero)) for b in betas] for a in betas]

    def text(self, name: str, given: str, says: str, lines: Iterable[str]) -> str:
        """Return the text of a function of what is given and the start."""
        head = f'def {name}({", ".join([given, *self.start])}):\n    """{says}"""\n'
        return head + "".join(f"    {_broken(line)}\n" for line in lines)

    def body(self) -> Iterator[str]:
        """Return the lines that read beta and the start, and name constants and roots."""
        yield from self.read()
        for piece in self.potential.pieces:
            yield from (*self.constants(piece), *self.guard(piece))
            for root in piece.roots:
                yield f"{self.name(root.symbol.name)} = {self.root(root)}"
            if piece.time_curve is not None:
                yield from self._curve(piece, piece.time_curve)

    def shapes(self) -> str:
        """Return what is said of the shape of beta."""
        if self.vector:
            return f"beta has shape (..., d), {self.name(self.vector)} (d,)."
        d = self.potential.parameterization.d
        return "beta has any shape." if d == 1 else f"beta has shape (..., {d})."

    def reading(self) -> Iterator[str]:
        """Return the lines that make arrays of what is given, and name |u_0| and pi."""
        given = ", ".join(["beta", *self.start])
        yield f"{given}{',' * (not self.start)} = _read({given})"
        if self.has_pi:
            yield f"{self.name(PI)} = {self.language.functions['pi']}"
        if self.norm in self.potential.parameterization.start_symbols:
            norm, vector = self.name(self.norm), self.name(self.vector)
            yield f"{norm} = {self.xp}.sqrt(({vector} * {vector}).sum(-1))"

    def ordered(self) -> list[Symbol]:
        """Return the symbols of the outputs, in their order."""
        betas = [b for piece in self.potential.pieces for b in piece.betas]
        places = [i for outputs in self.potential.parameterization.blocks for i in outputs]
        return [b for _, b in sorted(zip(places, betas, strict=True), key=lambda pair: pair[0])]

    def read(self) -> Iterator[str]:
        """Return the lines that name the outputs, too."""
        yield from self.reading()
        first, *rest = betas = self.ordered()
        if self.vector:
            yield f"{self.name(first.name)} = {self.xp}.sqrt({OFF_ZERO}((beta * beta).sum(-1)))"
        elif rest:
            for i, b in enumerate(betas):
                yield f"{self.name(b.name)} = beta[..., {i}]"
        elif self.name(first.name) != "beta":
            yield f"{self.name(first.name)} = beta"

    def guard(self, piece: Piece) -> Iterator[str]:
        """Return the lines by which beta is kept where the form is; none here."""
        yield from ()

    def walls(self, piece: Piece) -> list[tuple[str, str]]:
        """Return each wall of the domain at beta and at the start: it keeps its sign."""
        p = self.potential.parameterization
        if piece.domain is None or self.vector:
            return []
        block = next(o for o, x in zip(p.blocks, self.potential.pieces, strict=True) if x is piece)
        begun = outputs_at_start(p)
        at_start = {b: begun[i] for b, i in zip(piece.betas, block, strict=True)}
        forms = ((wall.form, wall.form.subs(at_start)) for wall in piece.domain.walls)
        return [(self.shown(here), self.shown(begin)) for here, begin in forms]

    def asked(self) -> dict[str, str]:
        """Return what is asked of the start symbols, in words, and as a test of numbers."""
        p, tests = self.potential.parameterization, dict[str, str]()
        known = {*p.parameters, *p.start_symbols}
        for condition in (c for x in self.potential.pieces for _, c in start_signs(x)):
            if condition.names <= known:
                sign = ">" if condition.sign is Sign.POSITIVE else "!="
                tests[str(condition)] = f"{self.shown(condition.of)} {sign} 0"
        return tests

    def constants(self, piece: Piece) -> Iterator[str]:
        """Return the lines of named constants."""
        for symbol, value in piece.constants:
            yield f"{self.name(symbol.name)} = {self.shown(value)}"

    def root(self, root: Root) -> str:
        """Return the text of a root."""
        above, parts = self.language.solution(root)
        texts = [str(above)] * (above is not None) + [*map(self.shown, parts)]
        return f"_root({', '.join(texts)})" if above is not None else texts[0]

    def _curve(self, piece: Piece, curve: Curve) -> Iterator[str]:
        (b,) = map(self.shown, piece.betas)
        z, t = self.shown(curve.parameter), Symbol("_t")
        slope, along = curve.beta.diff(curve.parameter), _along(curve.interval, t)
        of = self.language.mapping.format
        yield f"_curve = {of(z, self.shown(curve.beta))}"
        yield f"_slope = {of(z, self.shown(slope))}"
        yield f"_along = {of(t.name, self.shown(along))}"
        yield f"_near = _between(_curve, _along, {b})"
        yield f"{z} = _solve({of(z, f'_curve({z}) - {b}')}, _slope, _near)"

    def _gradient(self) -> str:
        pieces, turning = self.potential.pieces, self.potential.turning
        if turning is not None:
            ((s,), (slope,)) = pieces[0].betas, pieces[0].gradient
            away = f"({self.shown(turning.slope)}) * {self.name(self.vector)}"
            # s cancels where it is a factor: at beta = 0 nothing is 0/0
            return f"({self.shown(slope / s)})[..., None] * beta - {away}"
        first, *rest = slopes = self.slopes()
        return f"{self.xp}.stack([{', '.join(slopes)}], -1)" if rest else first


def _off_zero(expression: Expr, roots: Collection[Symbol]) -> Expr:
    """Return an expression that divides by no |beta|, and takes no root of it, where beta is 0.

    A sum of even powers is 0 at one point alone, and so are roots A of their equations; there
    beta/sqrt(A) is 0, which is the gradient of q(|beta|) or a subgradient.
    """
    near = sympy.Function(OFF_ZERO)
    powers = expression.atoms(sympy.Pow)
    rooted = (x for x in powers if not (x.exp.is_Integer and x.exp.is_positive))
    return expression.xreplace(
        {
            x: near(x.base) ** x.exp
            for x in rooted
            if x.base in roots or len(_even_terms(x.base)) > 1
        }
    )


def _even_terms(base: Expr) -> list[Expr]:
    """Return the terms of a sum of positive multiples of even powers of names, or nothing."""
    terms = list(sympy.Add.make_args(base))
    for term in terms:
        number, power = term.as_coeff_Mul()
        b, n = power.as_base_exp()
        if not (b.is_Symbol and n.is_Integer and n.is_even and number.is_positive):
            return []
    return terms


def _broken(line: str) -> str:
    """Return a line of Python on lines of at most 96 characters, where blanks allow."""
    if len(line) <= _WIDTH:
        return line
    mark = "return " if line.startswith("return ") else ": " if "lambda" in line else " = "
    left, _, right = line.partition(mark)
    body = textwrap.indent(textwrap.fill(right, _WIDTH - 8, **WHOLE), " " * 8)
    return f"{left}{mark}(\n{body}\n    )"


def _along(interval: Sequence[Expr], t: Symbol) -> Expr:
    """Return z between two ends, which may be infinite, for t from -1 to 1."""
    low, high = interval
    if low.is_finite is not False and high.is_finite is not False:
        return (low + high) / 2 + t * (high - low) / 2
    if low.is_finite is not False:
        return low + (1 + t) / (1 - t)
    return high - (1 - t) / (1 + t) if high.is_finite is not False else t / (1 - t**2)


_PLAIN = """These are the printed formulas in plain floating point; Q is up to an additive constant.
They have no error bounds: next to where formulas cancel they lose digits, which
``Potential.numeric`` of regderive does not."""
_TURNED = "({} / _y1)[..., None] * _dual"


class _NumpyWriter(Writer):
    """Writes functions of beta, or y, and the start."""

    note = _PLAIN

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
