"""Expressions as terms of Rocq's reals, and what their functions and quotients ask for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import sympy
from sympy import Expr, Rational, Symbol

from derive.errors import NumericalError

SUM, PRODUCT, POWER, APPLIED, ATOM = range(5)
"""How tightly a text holds together."""
FUNCTIONS = {
    "exp": "exp",
    "log": "ln",
    "asinh": "arcsinh",
    "atan": "atan",
    "sin": "sin",
    "cos": "cos",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
}
"""What SymPy calls a function, and what Rocq does."""
WORDS = """
F rate defined kept ok starts phi p dp tail range f df height mu kernel dom q Q G S J K DK start
model curve image inv coordinate beta f_moves f_rises height_moves mu_moves kernel_above reached
 everywhere above below far large copy inside at_beta inverse balanced power kernel_power
K_least beta_moves a_term slope second convex definite steady warped upward q_slope p_slope across
beyond apart same pushed pushed_by proved turns turned lengthens pushes radial coupled mirrored
w lam x y z t s r v c n d i j k b O R I PI INR IZR Sum dot tends gradient agree
exp ln sqrt arcsinh atan sin cos tan sinh cosh tanh Rpower pos nn nz sides hyps begun diff cont lim
up lin logs opens law moving off_zero same_power copies separable term explicit_term
curve_term flow flow_at flows as at cofix else end
exists exists2 fix for forall fun if in let match mod return then using where with by Prop Set Type
SProp eq nat lia lra field ring partial upd kron line
"""
RESERVED = frozenset(WORDS.split())
"""Names that a file uses itself."""


class NoFile(NumericalError):
    """What is derived has no file: the message says why."""


def name_of(given: str) -> str:
    """Return a name that a file leaves free; what it calls things itself has primes.

    >>> name_of("alpha"), name_of("at")
    ('alpha', 'at_')
    """
    return given + "_" * (given in RESERVED)


@dataclass
class Terms:
    """Writes expressions, and notes what has to hold where they are differentiated.

    Attributes:
        names: texts of symbols, by name.
        divisors: what is divided by, as text.
        positive: what roots and logarithms are taken of, as text.
    """

    names: dict[str, str]
    divisors: dict[str, Expr] = field(default_factory=dict)
    positive: dict[str, Expr] = field(default_factory=dict)

    def __call__(self, e: Expr, level: int = SUM) -> str:
        """Return the text of an expression, in brackets where it binds less than *level*.

        Raises:
            NoFile: Rocq's reals have no such function here.
        """
        text, own = self._written(sympy.sympify(e))
        return text if own >= level else f"({text})"

    def above(self, expressions: Iterable[Expr]) -> str:
        """Return that all of some expressions are positive."""
        return conjunction(f"0 < {self(e)}" for e in expressions)

    def _written(self, e: Expr) -> tuple[str, int]:
        if e.is_Symbol:
            text = self._name(e)
            return text, ATOM if " " not in text else APPLIED
        if e.is_Integer:
            return (str(e), ATOM) if e >= 0 else (f"- {-e}", SUM)
        if e is sympy.pi:
            return "PI", ATOM
        if e.is_Add:
            return self._sum(e), SUM
        if type(e).__name__ in FUNCTIONS:
            return self._called(e)
        if e.is_Pow and e.exp.is_Rational and e.exp > 0:
            return self._power(e.base, e.exp)
        if e.is_Mul or e.is_Rational or (e.is_Pow and e.exp.is_Rational):
            return self._product(e)
        raise NoFile(f"{type(e).__name__} has no form here")

    def _name(self, symbol: Expr) -> str:
        if symbol.name not in self.names:
            raise NoFile(f"{symbol} has no form here")
        return self.names[symbol.name]

    def _sum(self, e: Expr) -> str:
        text = ""
        for term in e.as_ordered_terms():
            less = term.could_extract_minus_sign() and not term.is_Add
            shown = self(-term if less else term, PRODUCT)
            text += f" {'-' if less else '+'} {shown}" if text else ("- " * less + shown)
        return text

    def _called(self, e: Expr) -> tuple[str, int]:
        (argument,) = e.args
        shown = self(argument, ATOM)
        if e.func is sympy.log:
            self.positive[shown] = argument
        return f"{FUNCTIONS[type(e).__name__]} {shown}", APPLIED

    def _power(self, base: Expr, exponent: Rational) -> tuple[str, int]:
        if exponent.q == 1:
            return f"{self(base, APPLIED)} ^ {exponent}", POWER
        shown = self(base, ATOM)
        self.positive[shown] = base
        if exponent.q == 2:
            root = f"sqrt {shown}"
            return (root, APPLIED) if exponent.p == 1 else (f"{root} ^ {exponent.p}", POWER)
        return f"Rpower {shown} ({exponent.p} / {exponent.q})", APPLIED

    def _product(self, e: Expr) -> tuple[str, int]:
        number, rest = e.as_coeff_Mul()
        factors = [x for x in sympy.Mul.make_args(rest) if x != 1]
        below = [1 / x for x in factors if _divides(x)]
        above = [x for x in factors if not _divides(x)]
        if abs(number.p) != 1 or not above:
            above.insert(0, sympy.Integer(abs(number.p)))
        if number.q != 1:
            below.insert(0, sympy.Integer(number.q))
        text = " * ".join(self(x, POWER) for x in above)
        if below:
            shown = self(below[0], POWER)
            if below[1:]:
                shown = f"({' * '.join(self(x, POWER) for x in below)})"
            self.divisors[shown] = sympy.Mul(*below)
            text = f"{text} / {shown}"
        return (f"- {text}", SUM) if number < 0 else (text, PRODUCT)


def _divides(factor: Expr) -> bool:
    """Say whether a factor is a power with a negative number as exponent."""
    return bool(factor.is_Pow and factor.exp.is_Rational and factor.exp < 0)


def plain(e: Expr) -> Expr:
    """Return an expression whose symbols are known by their names alone, as real numbers."""
    e = sympy.sympify(e)
    return e.xreplace({s: Symbol(s.name, real=True) for s in e.free_symbols})


def cases(index: str, bodies: Sequence[str]) -> str:
    """Return what is the k-th of some texts where an index is k, and the last beyond."""
    *first, last = bodies
    if not first:
        return last
    rows = "".join(f"| {k}%nat => {body} " for k, body in enumerate(first))
    return f"match {index} with {rows}| _ => {last} end"


def each(index: str, tactics: Sequence[str]) -> str:
    """Return a case distinction of an index below the number of tactics, with these."""
    cut = "[|" * len(tactics) + index + "]" * len(tactics)
    return f"(destruct {index} as {cut}; [{''.join(f'{tactic}|' for tactic in tactics)}lia])"


def all_of(steps: Iterable[str]) -> str:
    """Return what proves a conjunction."""
    first = [*steps] or ["exact I"]
    return "".join(f"split; [{step}|]. " for step in first[:-1]) + f"{first[-1]}."


def conjunction(parts: Iterable[str]) -> str:
    """Return that all of some propositions hold."""
    return " /\\ ".join(parts) or "True"
