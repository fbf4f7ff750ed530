"""Write down what the checker needs to see that a printed Q is the right one.

Everything in a printed form is a function of the weights on the leaf: beta is F, named constants
are conserved quantities, roots are powers of polynomials there. These are the definitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy
from sympy import Expr

from derive.certificate_text import (
    Calls,
    call_of,
    calls_in,
    entries_for,
    logarithm,
    spelled,
    text_of,
)
from derive.check import Checker
from derive.checking.function import Function, constant, leading, not_zero, root_of
from derive.checking.space import Space
from derive.checking.text import Rejected, names_in
from derive.exact.polynomial import factorize
from derive.records import Block
from derive.render.plain import plain
from derive.stages.piece import Curve, Piece, Root

Claim = dict[str, Any]
Entry = dict[str, Any]
MODES = (
    ("laws", ""),
    ("values", "start"),
    ("values", "weights"),
    ("laws", "start"),
    ("laws", "weights"),
)
ROOTS, FACTORED, LARGEST = 6, 400, 10**12


def form_claims(
    block: Block, state: Checker, g: str, calls: Calls
) -> Iterator[tuple[str, Iterator[Claim]]]:
    """Yield what is printed of one block, and the claims that may certify it."""
    piece = block.potential.piece
    if piece is None:
        return
    integral = piece.value.has(sympy.Integral)
    closed = not any(x.has(sympy.Integral) for x in piece.gradient)
    modes = [*MODES[1:], MODES[0]] if len(piece.betas) == 1 and piece.curve is None else MODES
    attempts = (_attempt(block, piece, state, g, calls, *mode) for mode in modes)
    yield f"Q in {piece.kind} form", (c for c in attempts if c is not None and closed)
    if integral and closed:
        yield "Q as the integral of its certified gradient", iter(())


def _attempt(
    block: Block, piece: Piece, state: Checker, g: str, calls: Calls, constants: str, leaf: str
) -> Claim | None:
    """Return the claim, with constants as laws or as their values and the leaf solved for names."""
    space = state.space
    before = space.scope()
    try:
        form = _Form(block, piece, state, calls)
        form.name_constants(as_laws=constants == "laws")
        if leaf:
            form.solve_leaf(leaf)
        if piece.curve is not None:
            form.name_parameter(piece.curve)
        form.name_roots()
        return form.claim(g)
    except (Rejected, ZeroDivisionError):
        return None
    finally:
        space.leave(before)


class _Form:
    """Definitions, collected in the order in which they need one another."""

    def __init__(self, block: Block, piece: Piece, state: Checker, calls: Calls) -> None:
        self.block, self.piece, self.state, self.calls = block, piece, state, calls
        self.space: Space = state.space
        self.entries: list[Entry] = []
        self.equal: list[list[str]] = []
        self.candidates: list[Function] = []
        self.powers: list[tuple[Function, Function, Function]] = []
        self.outputs = [i + 1 for i in block.outputs]
        self.betas = [str(b) for b in piece.betas]
        outputs = (state.flow.F[i] for i in block.outputs)
        self.space.names.update(zip(self.betas, outputs, strict=True))

    def define(self, entry: Entry) -> None:
        """Add a definition that the checker accepts."""
        self.space.define(entry)
        self.entries.append(entry)

    def name_constants(self, as_laws: bool) -> None:
        """Name the printed constants: conserved quantities with their values, or the values."""
        for symbol, value in self.piece.constants:
            law = self._law_of(symbol) if as_laws else None
            text = plain(value)
            self.use(text)
            if law is None:
                self.define({"name": str(symbol), "is": text})
            else:
                self.use(law)
                self.define({"name": str(symbol), "is": law, "value": text})

    def _law_of(self, symbol: Expr) -> str | None:
        """Return the conserved function of the weights that a constant is the value of."""
        chart, relation = self.block.potential.chart, self._kernel_relation()
        for _, function, image in () if chart is None else chart.entries:
            if image == symbol:
                return repr(function)
        if relation is None:
            return None
        slope = sympy.diff(relation, symbol)
        if slope == 0 or slope.has(symbol):
            return None
        return self._pulled(-relation.subs(symbol, 0) / slope)

    def _kernel_relation(self) -> Expr | None:
        """Return the relation of K_ and beta: the power of the printed K that has no root."""
        kernel = self.piece.kernel
        if kernel is None:
            return None
        n = next((n for n in range(1, 13) if _is_rational(sympy.expand(kernel**n))), 1)
        top, bottom = sympy.fraction(sympy.together(sympy.expand(kernel**n)))
        return sympy.expand(bottom * sympy.Symbol("K_") ** n - top)

    def _pulled(self, expression: Expr) -> str:
        """Return an expression in K_ and beta as text in the weights."""
        images = {
            sympy.Symbol("K_"): sympy.Symbol(f"({self.block.metric.K[0][0]!r})"),
            self.piece.betas[0]: sympy.Symbol(f"({self.block.lie.parameterization.F[0]!r})"),
        }
        return plain(expression.subs(images, simultaneous=True))

    def solve_leaf(self, names: str) -> None:
        """Solve what is 0 on the leaf for start symbols, or for weights.

        That is the relation of K and beta, or law - value: of named constants, else of all.
        """
        p, relation = self.block.lie.parameterization, self._kernel_relation()
        laws = [
            (law, plain(value))
            for symbol, value in self.piece.constants
            if (law := self._law_of(symbol)) is not None
        ] or [(repr(law), repr(p.at_start(law))) for law in self.block.conserved.laws]
        zeros = [f"({law}) - ({value})" for law, value in laws]
        if relation is not None and _is_rational(relation) and not self.piece.constants:
            zeros = [self._pulled(relation)]
        known = set(p.weights) if names == "weights" else set(p.start_symbols)
        solved: set[str] = set()
        for zero in zeros:
            for main in sorted(names_in([zero]) & known - solved):
                try:
                    self.define({"zero": zero, "main": main})
                except (Rejected, KeyError, ValueError):
                    continue
                solved.add(main)
                break

    def name_parameter(self, curve: Curve) -> None:
        """Name the parameter of a curve: Q' = c z with a number c, so z = (y - y_0)/c."""
        dual, z = self.block.potential.dual, curve.parameter
        scale = sympy.diff(self.piece.gradient[0], z)
        if dual is None or scale.has(z):
            raise Rejected("the slope is not linear in the parameter")
        y, p = dual.y[0], self.block.lie.parameterization
        now = [f"({y.rational!r})", *(f"({c!r})*log(Abs({a!r}))" for c, a in y.logs)]
        then = [f"({p.at_start(y.rational)!r})"]
        then += [f"({p.at_start(c)!r})*log(Abs({p.at_start(a)!r}))" for c, a in y.logs]
        text = f"({' + '.join(now)} - ({' + '.join(then)}))/({plain(scale)})"
        self.use(text)
        self.define({"name": str(z), "is": text})
        self.equal += [[plain(w), name] for name, w in curve.weights]
        for name, w in curve.weights:
            for power in w.atoms(sympy.Pow):
                factor = w / power
                if factor.has(z) or not power.has(z):
                    continue
                self.use(plain(factor))
                quotient = self.space.read(f"({name})/({plain(factor)})")
                if power.exp.is_Rational and abs(power.exp.p) == 1:
                    self.candidates.append(quotient ** int(power.exp.p))
                elif not power.exp.is_Rational:
                    base, exponent = plain(power.base), plain(power.exp)
                    self.powers.append((self.space.read(base), self.space.read(exponent), quotient))

    def name_roots(self) -> None:
        """Name the algebraic functions of beta."""
        for root in self.piece.roots:
            name, polynomial = str(root.symbol), plain(root.polynomial)
            image = self._root_image(root)
            self.use(image)
            for text in calls_in([polynomial]):
                if name not in text:
                    self.use(text)
            above = range(ROOTS) if root.from_above is None else [root.from_above]
            for count in above:
                entry = {"name": name, "is": image, "root of": polynomial, "above": count}
                try:
                    self.define(entry)
                except Rejected:
                    if count == above[-1]:
                        raise
                    continue
                break
            if root.explicit is not None:
                self.equal.append([name, plain(root.explicit)])

    def _root_image(self, root: Root) -> str:
        """Return the function of the weights that a root is."""
        chart = self.block.potential.chart
        for _, function, image in () if chart is None else chart.entries:
            base, exponent = (image if image.is_Pow else -image).as_base_exp()
            if image == root.symbol:
                return repr(function)
            if base == root.symbol and exponent.is_Rational and exponent.p == 1:
                return f"({function!r})**{exponent.q}"
        if root.explicit is None:
            raise Rejected(f"{root.symbol} has no image in the weights")
        self.use(plain(root.explicit))
        return text_of(self.space.read(plain(root.explicit)))

    def use(self, text: str) -> None:
        """Define the calls in a text that are not known."""
        for call in calls_in([text]):
            try:
                self.space.read(call)
            except Rejected:
                kind, argument, exponent = self.space.call(call)
                image = self._image(kind, argument, exponent)
                if image is None:
                    self.define({"name": self.calls.fresh("f"), "of": call})
                else:
                    for entry in entries_for(self.space, call, text_of(image), self.calls.fresh):
                        self.define(entry)

    def use_at_start(self, text: str) -> None:
        """Define the calls in a text with their arguments at w_0."""
        space, f = self.space, self.space.read(text)
        for j, (kind, argument, exponent, _) in enumerate(list(space.generators), space.size):
            if f.uses(j) and not space.is_of_constants(argument):
                self.use(call_of(kind, space.at_start(argument), exponent))

    def _image(self, kind: str, argument: Function, exponent: Function) -> Function | None:
        """Return the function of the weights that a root is, where it is one."""
        if kind == "exp":
            return self._exponential(argument)
        n = root_of(exponent) if kind == "power" else None
        if n is None and kind == "power":
            return self._real_power(argument, exponent)
        if n is None:
            return None
        number = constant(argument)
        if number is not None and number.q == 1 and sympy.isprime(int(number.p)):
            return None
        for g in self.candidates:
            if (g**n - argument).is_zero():
                return g
        one = self.space.one
        reduced = _reduced(self.space, argument.top) / _reduced(self.space, argument.bottom)
        for f in (argument, reduced):
            top = self._root(Function(self.space, f.top, one), n)
            bottom = None if top is None else self._root(Function(self.space, f.bottom, one), n)
            if top is not None and bottom is not None:
                break
        if top is None or bottom is None:
            return None
        image = top / bottom
        return self.space.number(0) - image if image.at(self.space.start) < 0 else image

    def _root(self, f: Function, n: int) -> Function | None:
        """Return a function whose n-th power is f on the leaf: a factor, or an entry of K."""
        found = self._power_root(f, n) or self._power_root(_reduced(self.space, f.top), n)
        if found is not None:
            return found
        chart = self.block.potential.chart
        texts = [] if chart is None else [repr(function) for _, function, _ in chart.entries]
        known = [k for row in self.state.flow.K for k in row]
        known += [*self.state.flow.F, *self.space.symbols[: self.space.weights]]
        for g in [*known, *(self.space.read(text) for text in texts)]:
            rest = g**n - f
            if not not_zero(rest.at(self.space.start)) and rest.is_zero():
                return g
        return None

    def _power_root(self, f: Function, n: int) -> Function | None:
        """Return a function of which f is the n-th power, with roots of primes, or None."""
        space = self.space
        if f.top.is_zero() or len(f.top) > FACTORED:
            return None
        content, factors = factorize(f.top * f.bottom ** (n - 1))
        if any(e % n for _, e in factors) or (content < 0 and n % 2 == 0):
            return None
        if abs(content) > LARGEST:
            return None
        total = space.number(-1 if content < 0 else 1)
        for prime, e in sympy.factorint(abs(int(content))).items():
            total = total * space.number(prime ** (e // n))
            if e % n:
                self.use(f"({prime})**(1/{n})")
                total = total * space.read(f"({prime})**({e % n}/{n})")
        for factor, e in factors:
            total = total * Function(space, factor, space.one) ** (e // n)
        return total / Function(space, f.bottom, space.one)

    def _real_power(self, base: Function, exponent: Function) -> Function | None:
        """Return B^e where a weight on the curve is w = c B^E: it is (w/c)^(e/E)."""
        for known, power, quotient in self.powers:
            if (known - base).is_zero():
                ratio = text_of(exponent / power)
                self._name_logarithm(base, quotient, power)
                sides = []
                for side in (quotient.top, quotient.bottom):
                    text = f"({text_of(Function(self.space, side, self.space.one))})**({ratio})"
                    self.use(text)
                    sides.append(self.space.read(text))
                return sides[0] / sides[1]
        for kind, known, power, image in self.space.known:
            if kind == "power" and constant(power) is None and (known - base).is_zero():
                for n in (1, -1, 2, -2):
                    rest = constant(exponent - power * self.space.number(n))
                    if rest is not None and rest.q == 1:
                        return base ** int(rest.p) * image**n
        return None

    def _name_logarithm(self, base: Function, quotient: Function, power: Function) -> None:
        """Define log|B| where B^E = w/c, from B = (w/c)^(1/E)."""
        space = self.space
        inverse, product = text_of(space.number(1) / power), space.number(1)
        for side, n in ((quotient.top, 1), (quotient.bottom, -1)):
            text = f"({text_of(Function(space, side, space.one))})**({inverse})"
            self.use(text)
            product = product * space.read(text) ** n
        call = f"log(Abs({text_of(base)}))"
        for entry in logarithm(space, call, self.calls.fresh, product):
            self.define(entry)

    def _exponential(self, argument: Function) -> Function | None:
        """Return exp of an integer combination of logarithms and known exponents, or None."""
        space, total = self.space, self.space.number(1)
        for j, (kind, inner, _, image) in enumerate(space.generators, space.size):
            if kind == "log" and argument.uses(j):
                c = constant(argument.partial(j))
                if c is None or c.q != 1:
                    return None
                total = total * inner ** int(c.p)
                argument = argument - space.number(c) * image
        for kind, inner, _, image in space.known:
            if kind == "exp" and not argument.top.is_zero():
                c = constant(argument / inner)
                if c is not None and c.q == 1:
                    total = total * image ** int(c.p)
                    argument = space.number(0)
        if not argument.is_zero() or constant(total) is not None:
            return None
        return total if total.at(space.start) > 0 else space.number(0) - total

    def _unit(self, g: str, slope: str) -> str:
        """Return g in the unit of the printed Q: X_1 y_1, where that is another multiple."""
        flow, space = self.state.flow, self.space
        printed = flow.along(flow.X[self.outputs[0] - 1], space.read(slope))
        if (printed - space.read(g)).is_zero():
            return g
        return spelled(printed)

    def claim(self, g: str) -> Claim:
        """Return the claim."""
        piece = self.piece
        Q = None if piece.value.has(sympy.Integral) else plain(piece.value)
        y = [plain(slope) for slope in piece.gradient]
        curve = piece.curve
        h = [] if curve is None else [plain(curve.beta)]
        for text in [*(t for pair in self.equal for t in pair), *y, *h, *([Q] if Q else [])]:
            self.use(text)
        for text in y:
            self.use_at_start(text)
        self.use(g)
        g = self._unit(g, y[0])
        return {
            "claim": "form",
            "outputs": self.outputs,
            "beta": self.betas,
            "parameter": None if curve is None else str(curve.parameter),
            "curve": None if curve is None else h[0],
            "definitions": self.entries,
            "g": g,
            "y": y,
            "Q": Q,
            "R": None,
            "equal": self.equal,
        }


def _is_rational(expression: Expr) -> bool:
    return not any(
        isinstance(node, sympy.Function) or (node.is_Pow and not node.exp.is_Integer)
        for node in sympy.preorder_traversal(expression)
    )


def _reduced(space: Space, polynomial: Any) -> Function:
    """Return a polynomial as its remainder by the relations over powers of their coefficients."""
    bottom = space.number(1)
    for relation, k in 2 * space.relations[::-1]:
        degree, symbol, lead = relation.degrees()[k], space.symbols[k].top, leading(relation, k)
        while not polynomial.is_zero() and (m := polynomial.degrees()[k]) >= degree:
            lowered = leading(polynomial, k) * symbol ** int(m - degree) * relation
            polynomial = lead * polynomial - lowered
            bottom = bottom * Function(space, lead, space.one)
    return Function(space, polynomial, space.one) / bottom
