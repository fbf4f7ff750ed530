"""Expressions as terms of Rocq's reals, what their functions and quotients ask for, their signs.

Which are positive, by their form, is what the tactics ``pos``, ``nn`` and ``nz`` prove. The rules
are those of the library's tactics, which follow the form of what is written in the same
way; nothing is searched for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import sympy
from sympy import Expr, Rational, Symbol

from derive.errors import NumericalError
from derive.model.condition import Sign

SUM, PRODUCT, POWER, APPLIED, ATOM = range(5)
"""How tightly a text holds together."""
ALIKE = ("exp", "atan", "sin", "cos", "sinh", "cosh", "tanh")
FUNCTIONS = {name: name for name in ALIKE} | {"log": "ln", "asinh": "arcsinh"}
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
curve_term flow flow_at flows as at cofix else end dual phi_slope steered opened begins RInt
integral_slope Radial Mirror over softmax powers conserved
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


ALWAYS = (sympy.exp, sympy.cosh)
"""Functions that are positive."""


@dataclass(frozen=True)
class Signs:
    """What is known of signs, and what follows from it by form.

    Attributes:
        above: expressions that are positive.
        off: expressions that are not 0.
        least: expressions that are not negative.
    """

    above: tuple[Expr, ...] = ()
    off: tuple[Expr, ...] = ()
    least: tuple[Expr, ...] = ()

    def with_(
        self, above: Iterable[Expr] = (), off: Iterable[Expr] = (), least: Iterable[Expr] = ()
    ) -> Signs:
        """Return what is known when more is."""
        return Signs((*self.above, *above), (*self.off, *off), (*self.least, *least))

    def positive(self, e: Expr) -> bool:
        """Say whether an expression is positive by its form."""
        e = sympy.sympify(e)
        if e in self.above or e is sympy.pi or isinstance(e, ALWAYS):
            return True
        if e.is_Rational:
            return bool(e.is_positive)
        if e.is_Mul or e.is_Pow:
            return self._power(e) if e.is_Pow else self._product(e)
        if e.is_Add and all(map(self.nonnegative, e.args)):
            return e in self.off or any(map(self.positive, e.args))
        return any(e in (1 - f, 1 + f) for f in e.atoms(sympy.tanh)) or self._linear(e)

    def _power(self, e: Expr) -> bool:
        return self.positive(e.base) or (_even(e) and self.nonzero(e.base))

    def _product(self, e: Expr) -> bool:
        """Say so of a product, of whose factors an even number may be negative."""
        below = [factor for factor in e.args if not self.positive(factor)]
        return len(below) % 2 == 0 and all(map(self._negative, below))

    def _negative(self, e: Expr) -> bool:
        """Say whether a factor is negative by its form: a number, a sum, or as is known."""
        return -e in self.above or ((e.is_Rational or e.is_Add) and self.positive(-e))

    def nonnegative(self, e: Expr) -> bool:
        """Say whether an expression is nonnegative by its form."""
        e = sympy.sympify(e)
        if e.is_Rational or e in self.least:
            return bool(e.is_nonnegative) if e.is_Rational else True
        if e.is_Pow and e.exp.is_Rational and e.exp > 0:
            return _even(e) or not e.exp.is_Integer or self.nonnegative(e.base)
        parts = e.args if e.is_Mul or e.is_Add else [e.base] if e.is_Pow else ()
        return (bool(parts) and all(map(self.nonnegative, parts))) or self.positive(e)

    def nonzero(self, e: Expr) -> bool:
        """Say whether an expression is not 0 by its form."""
        e = sympy.sympify(e)
        if e in self.off or self.positive(e) or self._linear(-e):
            return True
        if any(sympy.expand(e + f) == 0 for f in (*self.above, *self.off)):
            return True
        if any(f.is_Mul and e in f.args for f in self.above):
            return True
        return (e.is_Mul or e.is_Pow) and all(map(self.nonzero, e.args[: None if e.is_Mul else 1]))

    def form(self, e: Expr) -> Expr | None:
        """Return a form of an expression that is positive, if there is one."""
        forms = (f(e) for f in (sympy.sympify, self.oriented, self.factored, sympy.expand))
        return next(filter(self.positive, forms), None)

    def factored(self, e: Expr) -> Expr:
        """Return the factors of an expression, those of a sign turned in pairs."""
        return self.oriented(sympy.factor(e))

    def oriented(self, e: Expr) -> Expr:
        """Return a product with its negative factors turned in pairs."""
        turned = [sympy.S.One]
        for base, n in (factor.as_base_exp() for factor in sympy.Mul.make_args(e)):
            turn = n.is_Integer and base.is_Add and self._negative(base)
            turned += [sympy.S.NegativeOne**n, (-base) ** n] if turn else [base**n]
        return sympy.Mul(*turned)

    def _linear(self, e: Expr) -> bool:
        """Say whether it is a positive multiple of what is positive plus a number, not negative."""
        whole = sympy.expand(e).as_coefficients_dict()
        for base in (sympy.expand(f).as_coefficients_dict() for f in self.above):
            lead = next((x for x in base if x != 1), None)
            if lead is None:  # a number
                continue
            ratio = whole.get(lead, 0) / base[lead]
            rest = {x: whole.get(x, 0) - ratio * base.get(x, 0) for x in {*whole, *base}}
            if ratio > 0 and not any(v for x, v in rest.items() if x != 1) and rest.get(1, 0) >= 0:
                return True
        return False


def _even(e: Expr) -> bool:
    """Say whether a power has an even number as exponent."""
    return bool(e.exp.is_Integer and e.exp % 2 == 0)


def signs_of(known: Iterable[tuple[Expr, Sign]]) -> Signs:
    """Return what is known where some expressions are positive, or not 0."""
    pairs = [*known]
    above = tuple(e for e, sign in pairs if sign is Sign.POSITIVE)
    return Signs(above, tuple(e for e, sign in pairs if sign is not Sign.POSITIVE))


def said(text: str, sign: Sign) -> str:
    """Return that what is written is positive, or not 0, as Rocq has it."""
    return f"0 < {text}" if sign is Sign.POSITIVE else f"{text} <> 0"
