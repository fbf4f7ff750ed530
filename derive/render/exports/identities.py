"""Q and the identities that prove it, or the one that fails, as text for Mathematica and Lean.

Every identity is written out in the weights, with the partial derivatives as factors: for a law c,
``sum_k r_k (dc/dw_k)(dF_i/dw_k) = 0``. What is no rational function of the weights is left out, and
the file says how many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.errors import NumericalError
from derive.exact.linear.families import LogFunction
from derive.model.notation import to_expr
from derive.records import Block
from derive.render.arranged import read
from derive.render.exports.printer import LANGUAGES, Language
from derive.verdict import Identity, Verdict
from derive.weights.dual import DualCoordinates

_ZERO = sympy.S.Zero
INNER = "inner"
"""The name of <u_0, beta>, with the start of a vector of open dimension."""
Pairs = tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True)
class Goal:
    """An identity in the weights: a sum of products, and what it is; or a point where it is not."""

    label: str
    left: Pairs
    right: Expr
    point: tuple[tuple[str, Fraction], ...] = ()

    @property
    def symbols(self) -> list[Symbol]:
        """The names in it, and those of the point."""
        parts = [x for pair in self.left for x in pair]
        named = {s.name for x in (*parts, self.right) for s in x.free_symbols}
        return [Symbol(name) for name in sorted({*named, *dict(self.point)})]

    @property
    def denominators(self) -> list[Expr]:
        """What it divides by."""
        parts = [x for pair in self.left for x in pair]
        below = (sympy.fraction(sympy.together(x))[1] for x in (*parts, self.right))
        factors = (f for x in below for f, _ in sympy.factor_list(x)[1])
        return list(dict.fromkeys(factors))

    @property
    def rational(self) -> bool:
        """Whether it is between rational functions."""
        parts = [x for pair in self.left for x in pair]
        return all(x.is_rational_function(*self.symbols) for x in (*parts, self.right))


def goals(d: Derivation) -> Iterator[Goal]:
    """Yield what was expanded to find Q, or what fails."""
    for block in d.blocks:
        yield from (goal for goal in _of_block(block, d) if goal.left or goal.right != 0)
    failing = [e for f in (d.hessian.finding, d.warping.finding) for e in f.evidence if not e.holds]
    for e in failing:
        if not e.derivative:
            yield _failing(e)


def _of_block(block: Block, d: Derivation) -> Iterator[Goal]:
    weights = [Symbol(w) for w in block.parameterization.weights]

    def expr(function: object) -> Expr:
        return _plain(to_expr(function, block.notation.weights))  # type: ignore[arg-type]

    p = block.parameterization
    F = {i: expr(f) for i, f in zip(p.labels, p.F, strict=True)}

    def inner(f: Expr, g: Expr) -> Pairs:
        moved = p.geometry.raised([f.diff(w) for w in weights], expr)
        pairs = ((x, g.diff(w)) for x, w in zip(moved, weights, strict=True))
        return tuple(pair for pair in pairs if 0 not in pair)

    for law in map(_plain, d.conserved.laws):
        if law.free_symbols & set(weights):
            for i, f in F.items():
                yield Goal(f"{law} is conserved: <grad, grad F{i}> = 0", inner(law, f), _ZERO)
    if block.potential.dual is not None:
        yield from _of_dual(block.potential.dual, F, expr, inner)
        yield from _roots(block, list(F.values()), expr)


def _of_dual(
    dual: DualCoordinates,
    F: Mapping[int, Expr],
    expr: Callable[[object], Expr],
    inner: Callable[[Expr, Expr], Pairs],
) -> Iterator[Goal]:
    """Yield ``<grad y_i, grad F_j> = g delta_ij`` and ``<grad R, grad F_j> = g F_j``."""
    g = expr(dual.g)
    for i, function in zip(F, dual.y, strict=True):
        y = _without_logs(function, expr)
        for j, f in F.items():
            right = g if i == j else _ZERO
            yield Goal(f"<grad y{i}, grad F{j}> = {right}, y{i} = {y}", inner(y, f), right)
    if dual.R is not None:
        R = _without_logs(dual.R, expr)
        for j, f in F.items():
            yield Goal(f"<grad R, grad F{j}> = g F{j}, R = {R}", inner(R, f), g * f)


def _plain(expression: Expr) -> Expr:
    """Return an expression in symbols without assumptions."""
    return expression.xreplace({s: Symbol(s.name) for s in expression.free_symbols})


def _without_logs(f: LogFunction, expr: Callable[[object], Expr]) -> Expr:
    return sympy.Add(expr(f.rational), *(expr(c) * sympy.log(expr(a)) for c, a in f.logs))


def _roots(block: Block, F: Sequence[Expr], expr: Callable[[object], Expr]) -> Iterator[Goal]:
    """Yield the equations of roots, with the functions of the weights that names stand for."""
    chart, piece = block.potential.chart, block.potential.piece
    if chart is None or piece is None:
        return
    known = {name: expr(function) for name, function, _ in chart.entries}
    known |= {b.name: f for b, f in zip(piece.betas, F, strict=True)}
    for e in block.potential.finding.evidence:
        equation, _, meaning = e.statement.replace("`", "").partition(" = 0 for ")
        name, equals, what = meaning.partition(" = ")
        if equals and e.holds and name in {r.symbol.name for r in piece.roots}:
            at = {**known, name: read(what)}
            left = read(equation)
            found = left.subs({s: at[s.name] for s in left.free_symbols if s.name in at})
            plain = _plain(found)
            # Of balanced weights it holds on their leaf only.
            if sympy.fraction(sympy.together(plain))[0].expand() == 0:
                label = f"{equation} = 0 for {name} = {what}"
                yield Goal(label, ((plain, sympy.S.One),), _ZERO)


def _failing(e: Identity) -> Goal:
    left, right = (read(text) for text in (e.left, e.right))
    sides = [_plain(x) for x in (left, right)]
    point = tuple((name, Fraction(value)) for name, value in e.point)
    return Goal(f"fails: {e.statement}", ((sides[0], sympy.S.One),), sides[1], point)


def render_mathematica(derivation: Derivation) -> str:
    """Return Q, grad Q, and a list that Mathematica evaluates to True, ..., True."""
    language = LANGUAGES["mathematica"]
    lines = [f"(* {_heading(derivation).replace('*)', '* )').replace('(*', '( *')} *)", ""]
    if derivation.verdict is Verdict.PROVED:
        lines += _mathematica_definition(derivation, language)
    held = [_mathematica(goal, language) for goal in goals(derivation)]
    body = ",\n".join(f"  (* {goal.label.replace('*)', '* )')} *)\n  {text}" for goal, text in held)
    return "\n".join([*lines, "", f"identities = {{\n{body}\n}};", "Print[identities]"])


def _mathematica(goal: Goal, language: Language) -> tuple[Goal, str]:
    left, right = _sum(goal, language, "({}) ({})"), language.shown(goal.right)
    if not goal.point:
        return goal, f"TrueQ[Simplify[{left} - ({right})] == 0]"
    at = ", ".join(f"{language.name(n)} -> {x}" for n, x in goal.point)
    return goal, f"TrueQ[(({left}) - ({right}) /. {{{at}}}) != 0]"


def render_lean(derivation: Derivation) -> str:
    """Return Q and an example for each identity, to be read with Mathlib."""
    language = LANGUAGES["lean"]
    every = list(goals(derivation))
    known = [goal for goal in every if goal.rational]
    text = _heading(derivation).replace("-/", "- /").replace("/-", "/ -")
    lines = ["import Mathlib", "", f"/-!\n{text}\n-/", ""]
    if derivation.verdict is Verdict.PROVED:
        lines += _lean_definition(derivation, language)
    for goal in known:
        label = goal.label.replace("-/", "- /")
        lines += ["", f"/-- {label} -/", *_example(goal, language)]
    if len(every) > len(known):
        lines += ["", f"-- {len(every) - len(known)} identities are not rational, and not written."]
    return "\n".join(lines)


def _example(goal: Goal, language: Language) -> Iterator[str]:
    names = " ".join(map(language.shown, goal.symbols))
    left, right = _sum(goal, language, "({}) * ({})"), language.shown(goal.right)
    if goal.point:
        point = dict(goal.point)
        at = " ".join(f"({point.get(s.name, Fraction(1))})" for s in goal.symbols)
        yield f"example : \u00ac \u2200 {names} : \u211d,\n    ({left} : \u211d) = {right} := by"
        yield f"  intro h\n  have h := h {at}\n  norm_num at h"
        return
    below = goal.denominators
    given = "".join(f" (h{i} : {language.shown(x)} \u2260 0)" for i, x in enumerate(below))
    bound = f" ({names} : \u211d)" if names else ""
    yield f"example{bound}{given} :\n    ({left} : \u211d) = {right} := by"
    yield "  field_simp <;> ring" if below else "  ring"


def _sum(goal: Goal, language: Language, product: str) -> str:
    """Return the left side, its factors in brackets."""
    parts = [
        language.shown(f) if h == 1 else product.format(language.shown(f), language.shown(h))
        for f, h in goal.left
    ]
    return " + ".join(parts) or "0"


def _heading(d: Derivation) -> str:
    kept = ("Yes", "No", "Undecided", "Parameterization", "Conserved", "Warp", "Implicit")
    sections = [part for part in d.to_text(78).split("\n\n") if part.startswith(kept)]
    vectors = ["s is |beta|, and inner the product <u_0, beta>; gradient is q'(s)."]
    told = vectors if d.potential.turning else []
    return "\n\n".join(["Derived and written by regderive.", *sections, *told])


def _form(d: Derivation) -> tuple[list[tuple[str, Expr]], Expr, list[Expr]]:
    """Return constants and roots, Q and its slopes; of a vector with INNER for <u_0, beta>.

    Raises:
        NumericalError: Q has a root without a formula.
    """
    named, pieces, turning = list[tuple[str, Expr]](), d.potential.pieces, d.potential.turning
    for piece in pieces:
        named += [(symbol.name, value) for symbol, value in piece.constants]
        for root in piece.roots:
            if root.explicit is None:
                raise NumericalError(f"{root.symbol.name} {root.branch} of {root.polynomial} = 0")
            named.append((root.symbol.name, root.explicit))
    Q = sympy.Add(*(piece.value for piece in pieces))
    if turning is not None:
        Q -= turning.slope * Symbol(INNER)
    return named, Q, [slope for piece in pieces for slope in piece.gradient]


def _mathematica_definition(d: Derivation, language: Language) -> Iterator[str]:
    """Yield definitions of constants and roots, of Q and grad Q; none where Q has no form there."""
    try:
        named, Q, slopes = _form(d)
        shown = [f"{language.name(n)} = {language.shown(x)};" for n, x in named]
        gradient = ", ".join(map(language.shown, slopes))
        yield from (*shown, f"Q = {language.shown(Q)};", f"gradient = {{{gradient}}};")
    except NumericalError as error:
        yield f"(* {error} *)"


def _lean_definition(d: Derivation, language: Language) -> Iterator[str]:
    try:
        named, Q, _ = _form(d)
        free = {s.name for x in (Q, *(x for _, x in named)) for s in x.free_symbols}
        bound = " ".join(map(language.name, sorted(free - {name for name, _ in named})))
        shown = [f"  let {language.name(n)} := {language.shown(x)}" for n, x in named]
        head = f"noncomputable def Q ({bound} : \u211d) : \u211d :="
        yield from (head, *shown, f"  {language.shown(Q)}")
    except NumericalError as error:
        yield f"-- Q is not defined here: {error}"
