"""Write down what the checker needs to see that a printed Q is the right one.

Everything in a printed form is a function of the weights on the leaf: beta is F, named constants
are conserved quantities, roots are powers of polynomials there. These are the definitions.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy import Expr

from derive.certificate.checking.claims import Checker
from derive.certificate.checking.function import Function, constant
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected, names_in
from derive.certificate.writing.definitions import Calls, FormDefinitions, reduced
from derive.certificate.writing.products import calls_in, spelled, text_of, with_logs
from derive.exact.field.polynomial import factorize
from derive.exact.linear.families import LogFunction
from derive.potential.piece import Curve, Parametric, Piece, Root, kernel_of
from derive.records import Block
from derive.render.plain import plain

MODES = (
    ("laws", ""),
    ("values", "start"),
    ("values", "weights"),
    ("laws", "start"),
    ("laws", "weights"),
)
ROOTS = 6


def form_claims(
    block: Block, state: Checker, g: str, calls: Calls
) -> Iterator[tuple[str, Iterator[JSON]]]:
    """Yield what is printed of one block, and the claims that may certify it."""
    piece = block.potential.piece
    if piece is None:
        return
    integral = piece.value.has(sympy.Integral)
    closed = not any(x.has(sympy.Integral) for x in piece.gradient)
    in_beta = len(piece.betas) == 1 and not isinstance(piece, Parametric)
    modes = [*MODES[1:], MODES[0]] if in_beta else MODES
    attempts = (_attempt(_Form(block, piece, state, calls), g, mode) for mode in modes if closed)
    yield f"Q in {piece.kind} form", (c for c in attempts if c is not None)
    if integral and closed:
        yield "Q as the integral of its certified gradient", iter(())


def _attempt(form: _Form, g: str, mode: tuple[str, str]) -> JSON | None:
    """Return the claim, with constants as laws or as their values and the leaf solved for names."""
    try:
        form.name_constants(mode[0])
        if mode[1]:
            form.solve_leaf(mode[1])
        if isinstance(form.piece, Parametric):
            form.name_parameter(form.piece.curve)
        form.name_powers()
        form.name_roots()
        return form.claim(g)
    except (Rejected, ZeroDivisionError):
        return None
    finally:
        form.space.leave(form.before)


class _Form:
    """The names and calls of a printed form, defined one after the other."""

    def __init__(self, block: Block, piece: Piece, state: Checker, calls: Calls) -> None:
        self.block, self.piece, self.state = block, piece, state
        self.space: Space = state.space
        self.before = self.space.scope()
        self.chart = () if block.potential.chart is None else block.potential.chart.entries
        self.definitions = FormDefinitions(state, calls, [repr(f) for _, f, _ in self.chart])
        self.define, self.use = self.definitions.define, self.definitions.use
        self.equal: list[list[str]] = []
        self.outputs = [i + 1 for i in block.outputs]
        self.betas = [str(b) for b in piece.betas]
        outputs = (state.flow.F[i] for i in block.outputs)
        self.space.names.update(zip(self.betas, outputs, strict=True))

    def name_constants(self, source: str) -> None:
        """Name the printed constants: as "laws" with their values, or as "values" alone."""
        for symbol, value in self.piece.constants:
            law = self._law_of(symbol) if source == "laws" else None
            text = plain(value)
            self.use(text)
            if law is None:
                self.define({"name": str(symbol), "is": text})
            else:
                self.use(law)
                self.define({"name": str(symbol), "is": law, "value": text})

    def _law_of(self, symbol: Expr) -> str | None:
        """Return the conserved function of the weights that a constant is the value of."""
        relation = self._kernel_relation()
        for _, function, image in self.chart:
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
        kernel = kernel_of(self.piece)
        if kernel is None:
            return None
        n = next((n for n in range(1, 13) if _is_rational(sympy.expand(kernel**n))), 1)
        top, bottom = sympy.fraction(sympy.together(sympy.expand(kernel**n)))
        return sympy.expand(bottom * sympy.Symbol("K_") ** n - top)

    def _pulled(self, expression: Expr) -> str:
        """Return an expression in K_ and beta as text in the weights."""
        images = {
            sympy.Symbol("K_"): sympy.Symbol(f"({self.block.metric.K[0][0]!r})"),
            self.piece.betas[0]: sympy.Symbol(f"({self.block.parameterization.F[0]!r})"),
        }
        return plain(expression.subs(images, simultaneous=True))

    def solve_leaf(self, names: str) -> None:
        """Solve the relation of K and beta, or law - value, for start symbols, or for weights."""
        p, relation = self.block.parameterization, self._kernel_relation()
        laws = [
            (law, plain(value))
            for symbol, value in self.piece.constants
            if (law := self._law_of(symbol)) is not None
        ] or [(repr(law), repr(p.at_start(law))) for law in self.block.conserved.laws]
        zeros = [f"({law}) - ({value})" for law, value in laws]
        if names == "start" and relation is not None and not self.piece.constants:
            zeros = [self._pulled(relation)]
        known = set(p.weights) if names == "weights" else set(p.start_symbols)
        solved, seen = set[str](), set[str]()
        for zero in map(self._component, zeros):
            # What is solved last is replaced first: nothing before should need it.
            for main in sorted(names_in([zero]) & known - solved, key=lambda n: (n in seen, n)):
                try:
                    self.define({"zero": zero, "main": main})
                except (Rejected, KeyError, ValueError):
                    continue
                solved.add(main)
                seen |= names_in([zero])
                break

    def _component(self, zero: str) -> str:
        """Return what a function that is 0 on the leaf adds to what is known to be.

        It is the irreducible factor that is 0 at w_0, as u - v of u^2 - v^2.
        """
        self.use(zero)
        space, whole = self.space, self.space.read(zero).top
        factors = [f for f, _ in factorize(reduced(space, whole).top)[1]]
        same = whole.primitive()[1]
        parts = (Function(space, f, space.one) for f in factors if f not in (same, -same))
        return next((text_of(part) for part in parts if space.at_start(part).is_zero()), zero)

    def name_parameter(self, curve: Curve) -> None:
        """Name the parameter of a curve: Q' = c z with a number c, so z = (y - y_0)/c."""
        dual, z = self.block.potential.dual, curve.parameter
        scale = sympy.diff(self.piece.gradient[0], z)
        if dual is None or scale.has(z):
            raise Rejected("the slope is not linear in the parameter")
        y, p = dual.y[0], self.block.parameterization
        then = LogFunction(
            p.at_start(y.rational), tuple((p.at_start(c), p.at_start(a)) for c, a in y.logs)
        )
        text = f"({with_logs(y)} - ({with_logs(then)}))/({plain(scale)})"
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
                    self.definitions.candidates.append(quotient ** int(power.exp.p))
                elif not power.exp.is_Rational:
                    base, exponent = plain(power.base), plain(power.exp)
                    self.definitions.powers.append(
                        (self.space.read(base), self.space.read(exponent), quotient)
                    )

    def name_powers(self) -> None:
        """Say which weights powers of beta with open exponents are: c w^D to 1/D is c^(1/D) w."""
        (beta, *others), space = self.piece.betas, self.space
        expressions = (self.piece.value, *self.piece.gradient) if not others else ()
        powers = {x for e in expressions for x in e.atoms(sympy.Pow) if x.base.has(beta)}
        for base in {x.base for x in powers if not x.exp.is_Rational}:
            B = space.read(plain(base))
            for kind, weight, exponent, image in list(space.known):
                factor = B / image
                if kind == "power" and constant(exponent) is None and space.is_of_constants(factor):
                    E = space.number(1) / exponent
                    text = text_of(weight)
                    if text_of(factor) != "1":
                        text = f"({text})*({text_of(factor)})**({text_of(E)})"
                    self.use(text)
                    self.definitions.powers.append((B, E, space.read(text)))

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
        for _, function, image in self.chart:
            base, exponent = (image if image.is_Pow else -image).as_base_exp()
            if image == root.symbol:
                return repr(function)
            if base == root.symbol and exponent.is_Rational and exponent.p == 1:
                return f"({function!r})**{exponent.q}"
        if root.explicit is None:
            raise Rejected(f"{root.symbol} has no image in the weights")
        self.use(plain(root.explicit))
        return text_of(self.space.read(plain(root.explicit)))

    def _unit(self, g: str, slope: str) -> str:
        """Return g in the unit of the printed Q: X_1 y_1, where that is another multiple."""
        flow, space = self.state.flow, self.space
        printed = flow.along(flow.X[self.outputs[0] - 1], space.read(slope))
        if (printed - space.read(g)).is_zero():
            return g
        return spelled(printed)

    def claim(self, g: str) -> JSON:
        """Return the claim."""
        piece = self.piece
        Q = None if piece.value.has(sympy.Integral) else plain(piece.value)
        y = [plain(slope) for slope in piece.gradient]
        curve = piece.curve if isinstance(piece, Parametric) else None
        h = [] if curve is None else [plain(curve.beta)]
        for text in [*(t for pair in self.equal for t in pair), *y, *h, *([Q] if Q else [])]:
            self.use(text)
        for text in y:
            self.definitions.use_at_start(text)
        self.use(g)
        g = self._unit(g, y[0])
        turning = self.block.potential.turning
        linear = {} if turning is None else {"linear": plain(-turning.slope)}
        for text in linear.values():
            self.use(text)
        return {
            "claim": "form",
            **linear,
            "outputs": self.outputs,
            "beta": self.betas,
            "parameter": None if curve is None else str(curve.parameter),
            "curve": None if curve is None else h[0],
            "definitions": self.definitions.entries,
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
