"""Other ways to write one expression, by one step of rewriting; the one of fewest operations.

They are proposals: what is printed is proved as it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations

import sympy
from sympy import Expr, Symbol

from derive.errors import DeriveError
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import by_powers
from derive.exact.towers.tower import build_elements
from derive.language import OWN, from_sympy
from derive.model.notation import to_factored_expr


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


def log_of(A: Expr) -> Expr:
    """Return log A, that of a product of positive numbers and exponentials as a sum.

    >>> x = Symbol("x", real=True)
    >>> log_of(2 * sympy.exp(1) * sympy.exp(-x)), log_of(x * sympy.exp(x)), log_of((x + 1) ** 2)
    (-x + log(2) + 1, log(x*exp(x)), 2*log(Abs(x + 1)))
    """
    bare = A.args[0] if A.func is sympy.Abs else A
    base, n = bare.as_base_exp()
    if n.is_Integer and n != 1 and base is not sympy.E:
        return n * sympy.log(base if n % 2 and bare is A else sympy.Abs(base))
    factors = sympy.Mul.make_args(sympy.powsimp(A, combine="exp"))
    exponentials = [f for f in factors if isinstance(f, sympy.exp)]
    numbers = [f for f in factors if f not in exponentials]
    if not exponentials or not all(f.is_number and f.is_positive for f in numbers):
        return sympy.log(A)
    return sympy.Add(*map(sympy.log, numbers), *(f.exp for f in exponentials))


def with_hyperbolic(expression: Expr) -> Expr:
    """Return an expression with c exp(A) + d exp(-A) in cosh(A) and sinh(A), where shorter.

    It is (c + d) cosh(A) + (c - d) sinh(A). In a sum c log(A) + c x is c log(A exp(x)).

    >>> x, a, b = map(Symbol, "xab")
    >>> with_hyperbolic((sympy.exp(4 * x) - 1) * sympy.exp(-2 * x) / 8 - x)
    -x + sinh(2*x)/4
    >>> with_hyperbolic((a + b) ** 2 * sympy.exp(x) / 4 - (a - b) ** 2 * sympy.exp(-x) / 4)
    a*b*cosh(x) + (a**2 + b**2)*sinh(x)/2
    >>> with_hyperbolic(sympy.sqrt(2 * sympy.log(sympy.exp(2 * x) + 1) - 2 * x + 1))
    sqrt(2*log(2*cosh(x)) + 1)
    """
    if not expression.has(sympy.exp):
        return expression
    expression = expression.replace(lambda e: e.is_Add and e.has(sympy.log), _with_exponents_inside)
    slopes = _by_exponents(expression)
    if not any(a and -a in slopes for a in slopes):
        return expression
    total = slopes.pop(sympy.S.Zero, sympy.S.Zero)
    while slopes:
        a, c = slopes.popitem()
        d = slopes.pop(-a, sympy.S.Zero)
        a, c, d = (-a, d, c) if a.could_extract_minus_sign() else (a, c, d)
        ways = [_factored(c) * sympy.exp(a) + _factored(d) * sympy.exp(-a)]
        if c != 0 and d != 0:
            ways.insert(0, _factored(c + d) * sympy.cosh(a) + _factored(c - d) * sympy.sinh(a))
        total += fewest(ways)
    return fewest([total, expression])


def with_products(expression: Expr) -> Expr:
    """Return an expression with products for sums that are some, where that is shorter.

    exp(m + h) + exp(m - h) is 2 exp(m) cosh(h), with a minus sign it is 2 exp(m) sinh(h), and their
    ratio tanh(h); 1 + tan(x)^2 is 1/cos(x)^2, 1 - tanh(x)^2 is 1/cosh(x)^2; exp(-n h) (exp(h) +
    c)^n is (1 + c exp(-h))^n.

    >>> x = Symbol("x", real=True)
    >>> with_products(4 * sympy.exp(2 * x) / (sympy.exp(2 * x) + 1) ** 2)
    cosh(x)**(-2)
    >>> with_products((sympy.tan(x) ** 2 + 1) ** -2)
    cos(x)**4
    >>> with_products(sympy.exp(-2 * x) * (sympy.exp(x) - 1) ** 2)
    (1 - exp(-x))**2
    >>> with_products((sympy.exp(2 * x) - 1) ** 2 / (sympy.exp(2 * x) + 1) ** 2)
    tanh(x)**2
    """
    whole = sympy.powsimp(expression, combine="exp", deep=True)
    whole = whole.replace(lambda e: e.is_Add, _as_product)
    ways = [expression, sympy.powsimp(whole, combine="exp").replace(lambda e: e.is_Mul, _with_tanh)]
    factors = sympy.Mul.make_args(expression)
    for E in (x for x in factors if isinstance(x, sympy.exp)):
        for power in (x for x in factors if x.is_Pow and x.base.is_Add and x.exp.is_Integer):
            inside = sympy.expand(power.base * sympy.exp(E.args[0] / power.exp))
            ways.append(expression / (E * power) * inside**power.exp)
    return fewest(ways)


def _with_exponents_inside(total: Expr) -> Expr:
    """Return a sum with c log(A exp(x)) for c log(A) + c x, where that is shorter."""
    ways = [total]
    for log in (x for x in total.args if x.has(sympy.log)):
        c, A = log.as_independent(sympy.log)
        if isinstance(A, sympy.log):
            slopes = {E.args[0].as_coeff_Mul()[1] for E in A.args[0].atoms(sympy.exp)}
            alike = (x for x in total.args if (x / c).as_coeff_Mul()[1] in slopes)
            whole = sympy.factor_terms(A.args[0])
            for x in (*[sympy.S.Zero] * (whole != A.args[0]), *alike):
                inside = sympy.log(with_products(whole * sympy.exp(x / c)))
                ends = (inside, sympy.expand_log(inside))
                ways += [total - log - x + sympy.expand_mul(c * e) for e in ends]
    return fewest(ways)


def _as_product(total: Expr) -> Expr:
    """Return exp(a) + exp(b), times a number, 1 + tan(x)^2 or 1 - tanh(x)^2 as a product."""
    if len(total.args) != 2:
        return total
    (c, E), (d, F) = (term.as_independent(sympy.exp) for term in total.args)
    a, b = (x.args[0] if isinstance(x, sympy.exp) else sympy.S.Zero for x in (E, F))
    whole = ((a - b) / 2).as_coeff_Mul()[0].is_Integer  # exp(x/2) would be new
    if a != b and c in (d, -d) and whole:
        half = sympy.sinh if c == -d else sympy.cosh
        return 2 * c * sympy.exp((a + b) / 2) * half((a - b) / 2)
    for squares, cosine in _PYTHAGORAS:
        if found := total.match(squares):
            return cosine.xreplace(found) ** -2
    return total


def _with_tanh(product: Expr) -> Expr:
    """Return a product with tanh(h)^n for sinh(h)^n cosh(h)^-n."""
    powers = product.as_powers_dict()
    for sinh in (x for x in powers if isinstance(x, sympy.sinh)):
        cosh, n = sympy.cosh(sinh.args[0]), powers[sinh]
        if powers.get(cosh) == -n:
            product *= (cosh * sympy.tanh(sinh.args[0]) / sinh) ** n
    return product


_ANGLE = sympy.Wild("angle")
_PYTHAGORAS = (
    (1 + sympy.tan(_ANGLE) ** 2, sympy.cos(_ANGLE)),
    (1 - sympy.tanh(_ANGLE) ** 2, sympy.cosh(_ANGLE)),
)


def without_hyperbolic(expression: Expr) -> Expr:
    """Return an expression with exponentials for cosh and sinh, where it has these.

    >>> x, a, b = map(Symbol, "xab")
    >>> without_hyperbolic(a * b * sympy.cosh(x) + (a**2 + b**2) * sympy.sinh(x) / 2)
    -(a - b)**2*exp(-x)/4 + (a + b)**2*exp(x)/4
    """
    functions = (sympy.cosh, sympy.sinh)
    if not expression.has(*functions):
        return expression
    return by_exponentials(expression.rewrite(functions, sympy.exp))


def by_exponentials(expression: Expr) -> Expr:
    """Return a sum with one term for each exponential, its coefficient in factors if it is short.

    >>> x, y = map(Symbol, "xy")
    >>> by_exponentials((sympy.exp(x) + y) * (y * sympy.exp(x) + 1))
    y*exp(2*x) + y + (y**2 + 1)*exp(x)
    """
    if not expression.has(sympy.exp):
        return expression
    slopes = _by_exponents(expression)
    return sympy.Add(*(_factored(c) * sympy.exp(a) for a, c in slopes.items()))


def _by_exponents(expression: Expr) -> dict[Expr, Expr]:
    """Return the coefficients of exponentials in a sum by the exponents, at 0 what has none."""
    # SymPy's expand would bring an exponential below a sum that it stands beside.
    names: dict[Expr, Expr] = {E: sympy.Dummy() for E in expression.atoms(sympy.exp)}
    exponents = {name: E.args[0] for E, name in names.items()}
    calls, slopes = {name: E for E, name in names.items()}, dict[Expr, Expr]()
    for term in sympy.Add.make_args(sympy.expand(expression.xreplace(names))):
        powers = [(x, n) for x, n in term.as_powers_dict().items() if x in exponents]
        a = sympy.expand(sympy.Add(*(n * exponents[x] for x, n in powers)))
        c = (term / sympy.Mul(*(x**n for x, n in powers))).xreplace(calls)
        slopes[a] = slopes.get(a, sympy.S.Zero) + c
    return slopes


LONG = 40
"""Terms of a coefficient that is not factored."""


def _factored(coefficient: Expr) -> Expr:
    return sympy.factor(coefficient) if len(coefficient.args) < LONG else coefficient


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


def by_radical(roots: Mapping[Symbol, Expr], expression: Expr) -> Expr:
    """Return what is rational in roots of a quadratic as u + v sqrt(D), u and v in lowest terms.

    It is as it was where the two are not seen to be one element of a field.

    >>> x, A = Symbol("x"), Symbol("A")
    >>> by_radical({A: (1 + sympy.sqrt(4 * x**2 + 1)) / (2 * x)}, A / (A**2 + 1))
    x/sqrt(4*x**2 + 1)
    """
    whole = expression.xreplace(roots)
    images = {symbol.name: symbol for symbol in whole.free_symbols}
    positive = [symbol.name for symbol in whole.free_symbols if symbol.is_positive]

    def read(*ways: Expr) -> tuple[RationalFunction, ...]:
        trees = [from_sympy(e, OWN) for e in ways]
        return build_elements(trees, sorted(images), (), positive)

    try:
        (f,) = read(whole)
    except (DeriveError, ZeroDivisionError):
        return expression
    radicals = [g for g in f.field.generators if g.name in f.variables()]
    if [(g.kind, g.index) for g in radicals] != [("root", 2)]:
        return expression
    (g,), below = radicals, f.field.polynomial(f.denominator)
    D, parts = f.field.embed(g.argument), by_powers(f.numerator, f.field.positions[g.name])
    root, total = sympy.sqrt(to_factored_expr(D, images)), sympy.S.Zero
    for n, c in parts.items():
        u = f.field.polynomial(c) / below
        total += fewest(to_factored_expr(u * D**k, images) * root ** (n - 2 * k) for k in (0, n))
    try:
        same, other = read(whole, total)
    except DeriveError:
        return expression
    return total if same == other else expression
