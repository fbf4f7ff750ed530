"""F, J, K, Q and what belongs to them as one module of JavaScript, in numbers without arrays."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from sympy import Matrix, Symbol, diag

from derive.derivation import Derivation
from derive.errors import NumericalError
from derive.language import to_sympy
from derive.model.geometry import Geometry
from derive.model.names import PI
from derive.potential.piece import of_the_flow
from derive.render.exports.languages import JAVASCRIPT
from derive.render.exports.program import WHOLE, Writer, with_q

FORMS = (Path(__file__).parent / "forms.js").read_text(encoding="utf-8").strip()
_NOTE = """beta and w are arrays, c has a number for each name of model.constants. Q is up to an
additive constant, and NaN outside its domain. Numbers are doubles without error bounds: roots of
quadratics are taken without cancellation, but sums of terms that cancel lose digits."""
_KERNEL = """/** Return the tangent kernel K = J G^-1 J^T. */
export function K(w, c) {
  const rows = J(w, c);
  const raised = rows.map((row) => raise(w, c, row));
  return rows.map((row) => raised.map((x) => row.reduce((sum, a, k) => sum + a * x[k], 0)));
}
"""


def render_js(derivation: Derivation) -> str:
    """Return a module of JavaScript; NumericalError where there is no Q, or no formula of it."""
    writer = ScriptWriter(derivation)
    return "\n\n".join((writer.account(derivation), *writer.parts(), FORMS))


class ScriptWriter(Writer):
    """Writes functions of arrays, beta or w, and of constants by name."""

    note = _NOTE

    def __init__(self, d: Derivation) -> None:
        super().__init__(with_q(d), JAVASCRIPT)
        self.d = d
        if self.vector:
            raise NumericalError(f"give {self.vector[:-2]} a dimension, as --vector u:2")

    def account(self, d: Derivation) -> str:
        """Return the head of the module, as a comment."""
        return f"/*\n{super().account(d).replace('*/', '* /')}\n*/\n"

    def parts(self) -> list[str]:
        """Return the texts of the functions."""
        return [*of_weights(self.d), *self.of_beta(), *self.of_start()]

    def of_beta(self) -> Iterator[str]:
        """Yield the functions of beta and the constants."""
        bad = ("NaN", "beta.map(() => NaN)", "beta.map(() => beta.map(() => NaN))")
        told = ("Q(beta)", "grad Q(beta)", "the rows of Hess Q(beta)")
        names, body = ("Q", "gradient", "hessian"), [*map(defined, self.body())]
        values = self.value(), listed(self.slopes()), listed(map(listed, self.rows()))
        for name, says, outside, value in zip(names, told, bad, values, strict=True):
            first = f"if (!inside(beta, c)) return {outside}"
            yield function(f"{name}(beta, c)", says, (first, *body), value)
        signs = [
            f"({x}) * ({y}) > 0" for piece in self.potential.pieces for x, y in self.walls(piece)
        ]
        says = "whether beta is in the domain, which the flow does not leave"
        at = [*map(defined, self.read())]
        yield function("inside(beta, c)", says, at, " && ".join(signs) or "true")

    def of_start(self) -> Iterator[str]:
        """Yield the functions of the constants alone."""
        pieces, reading = self.potential.pieces, [*map(defined, self.reading())]
        tests = listed(listed((json.dumps(text), test)) for text, test in self.asked().items())
        yield function("conditions(c)", "what is asked of c, and whether it is so", reading, tests)
        lines = dict.fromkeys(line for piece in pieces for line in self.constants(piece))
        named = dict.fromkeys(s.name for piece in pieces for s, _ in piece.constants)
        value = listed(f'["{name}", {self.name(name)}]' for name in named)
        says = "the named constants and their values"
        yield function("constants(c)", says, (*reading, *map(defined, lines)), value)

    def reading(self) -> Iterator[str]:
        """Return the lines that name what is given."""
        yield from reading(self.d)

    def read(self) -> Iterator[str]:
        """Return the lines that name the outputs, too."""
        yield from self.reading()
        yield f"[{', '.join(self.name(b.name) for b in self.ordered())}] = beta"


def of_weights(d: Derivation) -> Iterator[str]:
    """Yield the functions of the weights: what there is where no Q is, too."""
    p, show = d.parameterization, JAVASCRIPT.shown
    of_c = [*map(defined, reading(d))]
    both = (*of_c, f"const [{', '.join(map(JAVASCRIPT.name, p.weights))}] = w")
    quoted = [json.dumps([*group]) for group in (p.weights, constants_of(d), p.parameters)]
    sizes = f"outputs: {p.d}, weights: {quoted[0]}, constants: {quoted[1]}"
    yield (
        "/** How many outputs there are, the names of the weights, and of what c has. */\n"
        f"export const model = {{{sizes}, parameters: {quoted[2]}}};\n"
    )
    starts = dict(p.start)
    begin = [to_sympy(starts[w]) for w in p.weights]
    yield function("start(c)", "the weights at the start", of_c, listed(map(show, begin)))
    outputs = [*map(to_sympy, p.trees)]
    yield function("F(w, c)", "beta = F(w)", both, listed(map(show, outputs)))
    rows = (listed(show(f.diff(Symbol(x))) for x in p.weights) for f in outputs)
    yield function("J(w, c)", "the rows grad F_i", both, listed(rows))
    says = f"G^-1 times a covector; the flow is {p.geometry.statement}"
    yield function("raise(w, c, covector)", says, both, raised(p.geometry))
    yield _KERNEL
    g = "NaN" if d.warping.g is None else show(d.warping.g)
    yield function("g(w, c)", "the warp; NaN where it has no formula", both, g)
    known = {*p.weights, *constants_of(d)}
    kept = (c for c in chain.from_iterable(map(of_the_flow, d.potential.pieces)))
    asked = {json.dumps(str(c)): c for c in kept if c.names <= known}
    along = (listed((text, f'"{c.sign.name}"', show(c.of))) for text, c in asked.items())
    yield function(
        "along(w, c)", "what is asked of the flow, and of which numbers", both, listed(along)
    )


def raised(geometry: Geometry) -> str:
    """Return the text of G^-1 times a covector."""
    if not geometry.trees:
        return "covector"
    rows = [[*map(to_sympy, row)] for row in geometry.rows]
    metric = diag(*(row[0] for row in rows)) if geometry.is_diagonal else Matrix(rows)
    return listed(
        " + ".join(f"({JAVASCRIPT.shown(x)}) * covector[{i}]" for i, x in enumerate(row) if x != 0)
        for row in metric.tolist()
    )


def constants_of(d: Derivation) -> list[str]:
    """Return the names of what is given: parameters and start symbols."""
    p = d.parameterization
    return [n for n in dict.fromkeys((*p.parameters, *p.start_symbols)) if n != PI]


def listed(texts: Iterable[str]) -> str:
    """Return an array."""
    return f"[{', '.join(texts)}]"


def reading(d: Derivation) -> Iterator[str]:
    """Return the lines that name the constants."""
    given = ((n, JAVASCRIPT.name(n)) for n in constants_of(d))
    yield f"{{{', '.join(n if n == ours else f'{n}: {ours}' for n, ours in given)}}} = c"
    if PI in (*d.parameterization.parameters, *d.parameterization.start_symbols):
        yield f"{JAVASCRIPT.name(PI)} = Math.PI"


def defined(line: str) -> str:
    """Return a line that names a value as a definition."""
    return f"const {line}"


def function(head: str, told: str, lines: Iterable[str], value: str) -> str:
    """Return the text of a function."""
    body = [*lines, f"const value = {value}", "return value"]
    long = {"width": 96, "subsequent_indent": "    ", **WHOLE}
    written = (x if '"' in x else textwrap.fill(x, **long) for x in map("  {};".format, body))
    return f"/** Return {told}. */\nexport function {head} {{\n" + "\n".join(written) + "\n}\n"
