"""Write down what the checker needs to see that a printed Q is the right one.

Everything in a printed form is a function of the weights on the leaf: beta is F, named constants
are conserved quantities, roots are powers of polynomials there. These are the definitions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import TypeAlias

import sympy
from sympy import Expr

from derive.certificate.checking.sections import functions
from derive.certificate.checking.text import JSON, Rejected
from derive.certificate.checking.theorem import Checker
from derive.certificate.writing.definitions import Calls, FormDefinitions
from derive.certificate.writing.products import reduced, text_of, with_logs
from derive.exact.field.function_field import names_in
from derive.exact.field.polynomial import factorize
from derive.exact.linear.families import LogFunction
from derive.model.notation import AssumePositive
from derive.potential.piece import Curve, Piece, Root
from derive.potential.rewriting import without_hyperbolic
from derive.records import Block, InducedMetric
from derive.render.text import plain
from derive.weights.solved_leaf import SolvedLeaf, solved_leaves

POWERS = [sign * n for n in range(1, 9) for sign in (1, -1)]
Shown: TypeAlias = Piece | InducedMetric


def form_proofs(
    shown: Shown, said: JSON, blocks: Sequence[Block], state: Checker, calls: Calls
) -> Iterator[tuple[FormDefinitions, JSON]]:
    """Yield what may prove a form of Q, or K and rho in beta: the names there, and how to go on.

    All that is printed is a function of the weights on the leaf, where each law has its value at
    w_0. Either the constants are laws, and nothing else is asked of the leaf; or they are values,
    and law - value = 0 is solved for symbols of the start, or for weights.
    """
    called, above = functions(said) if isinstance(shown, Piece) else ({}, {})
    leaves = [*_leaves(blocks[0])] if called and above else [None]
    for solved, leaf in product(("", "start", "weights", "conic"), leaves):
        form = _Form(shown, blocks, state, calls)
        try:
            form.name_constants(solved)
            if solved:
                form.solve_leaf(solved)
            if called:
                form.name_above(leaf, called, above)
            elif (curve := form.curve) is not None and curve.weight:
                form.define({"name": str(curve.parameter), "is": curve.weight})
            elif curve is not None and not isinstance(shown, InducedMetric):
                form.name_parameter(curve, shown.gradient[0])
                form.follow_curve(curve)
                form.use(plain(shown.value))  # of whose powers those of beta are
            form.name_roots()
            entries = form.definitions.entries
            slopes = {str(r.symbol): [repr(f) for f in r.slopes] for r in shown.roots}
        except (Rejected, ZeroDivisionError):
            continue
        finally:
            form.definitions.__exit__()
            form.space.leave(form.before)
        yield form.definitions, {"definitions": entries, "slopes": slopes}


def _leaves(block: Block) -> Iterator[SolvedLeaf]:
    """Yield the leaf of one output in each coordinate in which it is solved for."""
    for leaves in solved_leaves(block.metric.conserved, block.notation):
        with contextlib.suppress(AssumePositive):
            yield from leaves


class _Form:
    """The names and calls of what is shown in beta, defined one after the other."""

    def __init__(self, shown: Shown, blocks: Sequence[Block], state: Checker, calls: Calls) -> None:
        self.shown, self.blocks, self.state = shown, blocks, state
        self.before = state.space.scope()
        self.curve = None if isinstance(shown, InducedMetric) else shown.curve
        charts = (b.potential.chart for b in blocks)
        self.chart = [entry for chart in charts if chart is not None for entry in chart.entries]
        self.definitions = FormDefinitions(state, calls, [repr(f) for _, f, _ in self.chart])
        self.space = self.definitions.__enter__()
        self.define, self.use = self.space.define, self.space.read
        names, F = state.given["beta"], state.flow.F
        betas = names if isinstance(shown, InducedMetric) else [str(b) for b in shown.betas]
        self.space.names |= {b: F[names.index(b)] for b in betas}

    def name_constants(self, solved: str) -> None:
        """Name the printed constants: as laws with their values, or where these are *solved* for
        as values alone."""
        for symbol, value in self.shown.constants:
            law = None if solved else self._law_of(value)
            text = plain(value)
            self.define({"name": str(symbol), "is": law or text, "value": text})
            self.space.fixed.add(str(symbol))

    def name_above(
        self, leaf: SolvedLeaf | None, called: Mapping[str, str], above: Mapping[str, str]
    ) -> None:
        """Name functions on the leaf that integrals are of: K, or t, and G by which a weight is."""
        if leaf is not None:
            self.define({"name": str(leaf.variable), "is": repr(leaf.place)})
        for name, text in above.items():
            image = text if leaf is None else self._integral(leaf, name, text)
            self.define({"name": name, "is": image})
        kernel = self.state.record["metric"]["kernel_in_weights"]
        (i,) = self.blocks[0].outputs
        for name in (f for f in called if f not in self.space.names):
            self.define({"name": name, "is": kernel[i][i]})

    def _integral(self, leaf: SolvedLeaf, name: str, text: str) -> str:
        """Return what a name is on the leaf: of an integral G, w^n = w_0^n + n G gives it there.

        Or it is that of w = w_0 exp(G).
        """
        for g in (g for g in leaf.integrals if str(leaf.images[g.name]) == name):
            G, p = leaf.field.named(g.name), leaf.given.p
            for w in p.weights:
                image, start = leaf.at(p.field.named(w)), repr(p.at_start(p.field.named(w)))
                powers = (n for n in POWERS if g.name not in names_in(image**n - n * G))
                if g.name in names_in(image):
                    n = next(powers, 0)
                    known = f"({start})**{n} + {n}*({text})" if n else f"({start})*exp({text})"
                    self.define({"zero": f"{w}**{n or 1} - ({known})", "main": w})
                    return f"({w}**{n} - ({start})**{n})/{n}" if n else text
        return text

    def _law_of(self, value: Expr) -> str | None:
        """Return the conserved function of the weights that a constant is the *value* of.

        It is the value with the weights for their starts, or a law that starts at it.
        """
        given, text = self.state.given, plain(value)
        weights = {name: sympy.Symbol(w) for w, name in given["start"].items()}
        images = {s: weights[str(s)] for s in value.free_symbols if str(s) in weights}
        moved = [plain(value.subs(images, simultaneous=True))] if images else []
        for law in (*moved, *(law for law, at_start in self._laws() if at_start == text)):
            with contextlib.suppress(Rejected):
                if self.space.kept(self.use(law)):
                    return law
        return None

    def _laws(self) -> list[tuple[str, str]]:
        """Return the laws with their values at the start."""
        said = self.state.record["conserved"]
        return [*zip(said["laws"], said["values_at_start"], strict=True)]

    def _kernels(self) -> Iterator[str]:
        """Yield K**2 as printed less that in the weights, of single outputs."""
        for block in (block for block in self.blocks if len(block.outputs) == 1):
            i, shown = block.outputs[0], self.shown
            if isinstance(shown, InducedMetric):
                kernel = None if shown.kernel is None else shown.kernel[i, i]
            else:
                kernel = shown.kernel
            if kernel is not None:
                yield f"({plain(kernel**2)}) - ({block.metric.K[0][0]!r})**2"

    def solve_leaf(self, names: str) -> None:
        """Solve law - value for start symbols, or for weights; or that of F = h(G) for these."""
        named = [(self._law_of(value), plain(value)) for _, value in self.shown.constants]
        laws = [pair for pair in named if pair[0]] or [pair for pair in self._laws() if pair[1]]
        if names == "conic":
            conics = ((b.parameterization, b.metric.conic) for b in self.blocks)
            laws = [(repr(c.law), repr(p.at_start(c.law))) for p, c in conics if c is not None]
        zeros = [f"({law}) - ({value})" for law, value in laws]
        if names == "start" and not self.shown.constants:
            zeros = [*self._kernels()] or zeros
        solved, seen, space = set[str](), set[str](), self.space
        for zero in map(self._component, zeros):
            symbols = self._symbols(zero, names)
            # What is solved last is replaced first: nothing before should need it.
            order = sorted(symbols - solved, key=lambda n: (n in seen, n not in space.given, n))
            for main in order:
                try:
                    self.define({"zero": zero, "main": main})
                except Rejected:
                    continue
                solved.add(main)
                seen |= symbols
                break

    def _symbols(self, zero: str, names: str) -> set[str]:
        """Return the start symbols or the weights in a relation, and the calls of these."""
        space, used = self.space, self.space.read(zero).variables
        return {
            name
            for name, f in space.names.items()
            if f in space.symbols
            and space.symbols.index(f) in used
            and space.is_of_constants(f) == (names == "start")
        }

    def _component(self, zero: str) -> str:
        """Return what a function that is 0 on the leaf adds to what is known to be.

        It is the irreducible factor that is 0 at w_0, as u - v of u^2 - v^2.
        """
        space, whole = self.space, self.use(zero).top
        factors = [f for f, _ in factorize(reduced(space, whole).top)[1]]
        same = whole.primitive()[1]
        parts = (space.of(f) for f in factors if f not in (same, -same))
        return next((text_of(part) for part in parts if space.at_start(part).is_zero()), zero)

    def name_parameter(self, curve: Curve, slope: Expr) -> None:
        """Name the parameter of a curve: Q' = c z with a number c, so z = (y - y_0)/c."""
        dual, z = self.blocks[0].potential.dual, curve.parameter
        scale = sympy.diff(slope, z)
        if dual is None or scale.has(z):
            raise Rejected("the slope is not linear in the parameter")
        y, p = dual.y[0], self.blocks[0].parameterization
        then = LogFunction(
            p.at_start(y.rational), tuple((p.at_start(c), p.at_start(a)) for c, a in y.logs)
        )
        text = f"({with_logs(y)} - ({with_logs(then)}))/({plain(scale)})"
        self.define({"name": str(z), "is": text})
        for name, w in curve.weights:
            for power in w.atoms(sympy.Pow):
                factor = w / power
                if factor.has(z) or not power.has(z):
                    continue
                quotient = self.use(f"({name})/({plain(factor)})")
                if power.exp.is_Rational and abs(power.exp.p) == 1:
                    self.definitions.candidates.append(quotient ** int(power.exp.p))
                elif not power.exp.is_Rational:
                    base, exponent = plain(power.base), plain(power.exp)
                    self.definitions.powers.append(
                        (self.space.read(base), self.space.read(exponent), quotient)
                    )

    def follow_curve(self, curve: Curve) -> None:
        """Say which exponentials of z weights are, sums and differences of two of them first.

        As u + v of u v these rise by themselves, which the weights then do that they are made of.
        """
        space, z = self.space, curve.parameter
        images = ((name, without_hyperbolic(w)) for name, w in curve.weights)
        weights = [(name, w) for name, w in images if name in space.names]
        if not any(w.has(sympy.exp) for _, w in weights):
            return
        pairs = product(combinations(weights, 2), (("+", 1), ("-", -1)))
        sums = [(f"{a} {s} {b}", sympy.expand(v + n * w)) for ((a, v), (b, w)), (s, n) in pairs]
        alone = [
            (text, w)
            for text, w in sums
            if len(rates := w.atoms(sympy.exp)) == 1 and not sympy.expand(w / rates.pop()).has(z)
        ]
        for text, w in (*alone, *weights):
            zero = f"{text} - ({plain(w)})"
            f, before = self.use(zero), space.scope()
            if not f.is_zero():
                try:
                    self.define({"zero": zero, "main": text.split()[0]})
                except Rejected:
                    space.leave(before)

    def name_roots(self) -> None:
        """Name the algebraic functions of beta."""
        for root in self.shown.roots:
            self.define({"name": str(root.symbol), "is": self._root_image(root)})

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
        return text_of(self.use(plain(root.explicit)))
