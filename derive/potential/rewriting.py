"""Other ways to write one expression, by one step of rewriting; the one of fewest operations.

They are proposals: what is printed is proved as it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

import sympy
from sympy import Expr, Symbol


def fewest(candidates: Iterable[Expr]) -> Expr:
    """Return the candidate of fewest operations, the first of equal ones.

    >>> x = Symbol("x")
    >>> fewest([1 / (x - 1) + 1 / (x + 1), 2 * x / (x**2 - 1)])
    2*x/(x**2 - 1)
    """
    return min(candidates, key=lambda e: int(e.count_ops()))


def beside_logarithms(f: Callable[[Expr], Expr], expression: Expr) -> Expr:
    """Return f of an expression, in which logarithms are symbols.

    >>> x = Symbol("x")
    >>> beside_logarithms(sympy.expand, (1 + sympy.log(x * (x + 1))) * x)
    x*log(x*(x + 1)) + x
    """
    names = {log: sympy.Dummy(real=True) for log in expression.atoms(sympy.log)}
    return f(expression.xreplace(names)).xreplace({name: log for log, name in names.items()})


def with_hyperbolic(expression: Expr) -> Expr:
    """Return an expression with c exp(A) +- c exp(-A) as 2 c cosh(A), 2 c sinh(A), where shorter.

    >>> x = Symbol("x")
    >>> with_hyperbolic((sympy.exp(4 * x) - 1) * sympy.exp(-2 * x) / 8 - x)
    -x + sinh(2*x)/4
    """
    if not expression.has(sympy.exp):
        return expression
    terms = list(sympy.Add.make_args(sympy.powsimp(sympy.expand(expression), combine="exp")))
    for s, t in combinations(terms, 2):
        (c, d), (a, b) = ([f(x) for x in (s, t)] for f in (_coefficient, _exponent))
        if a + b == 0 and a != 0 and c in (d, -d) and s in terms and t in terms:
            terms.remove(s)
            terms.remove(t)
            a, c, d = (-a, d, c) if a.could_extract_minus_sign() else (a, c, d)
            terms.append(2 * c * (sympy.cosh if c == d else sympy.sinh)(a))
    return fewest([expression, sympy.Add(*terms)])


def _coefficient(term: Expr) -> Expr:
    return sympy.Mul(*(x for x in sympy.Mul.make_args(term) if not isinstance(x, sympy.exp)))


def _exponent(term: Expr) -> Expr:
    return sympy.Add(*(x.exp for x in sympy.Mul.make_args(term) if isinstance(x, sympy.exp)))


def as_fraction(expression: Expr, x: Symbol) -> Expr:
    """Return a rational function in x as partial fractions, or in lowest terms."""
    whole = sympy.cancel(expression)
    parts = sympy.apart(whole, x)
    sums = [power.base for power in parts.atoms(sympy.Pow) if power.exp.is_negative]
    return fewest([parts, whole]) if any(base.is_Add for base in sums) else parts


def with_conjugates(product: Expr) -> Expr:
    """Return a product of powers with (a + b)^n (a - b)^n as (a^2 - b^2)^n.

    >>> x = Symbol("x")
    >>> with_conjugates((x - 1) ** 2 * (x + 1) ** 2 * x**2)
    x**2*(x**2 - 1)**2
    """
    powers = [x.as_base_exp() for x in sympy.Mul.make_args(product)]
    for (a, m), (b, n) in combinations(powers, 2):
        joined = sympy.expand(a * b)
        if m == n and a.is_Add and b.is_Add and len(joined.args) == len(a.args):
            return sympy.Mul(product / (a**m * b**n), joined**m)
    return product
