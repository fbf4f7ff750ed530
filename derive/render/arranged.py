"""Expressions as one writes them by hand: powers gathered, common factors in front of sums."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import combinations, islice
from operator import and_, ne

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from derive.exact.elementary_signs import with_squares
from derive.exact.named_integrals import NAMED
from derive.language import OWN, parse_expression, to_sympy
from derive.model.names import unused


def read(text: str) -> Expr:
    """Return an expression that we wrote ourselves, with the functions that integrals have.

    >>> read("x*Ei(-log(x)) + 1")
    x*Ei(-log(x)) + 1
    """
    if found := CALL.search(text):
        depth = itertools.accumulate((c == "(") - (c == ")") for c in text[found.end() - 1 :])
        end = found.end() - 1 + [*depth].index(0)
        name = unused("f", NAME.findall(text))
        whole = read(f"{text[: found.start()]}{name}{text[end + 1 :]}")
        return whole.xreplace({Symbol(name): CALLS[found[1]](read(text[found.end() : end]))})
    expression = to_sympy(parse_expression(text.replace("Abs(", "abs("), OWN))
    return expression.replace(_is_modulus, _modulus) if "Abs(" in text else expression


CALLS = {f.__name__: f for f in NAMED}
CALL = re.compile(rf"\b({'|'.join(CALLS)})\(")
NAME = re.compile(r"[A-Za-z_]\w*")


def _is_modulus(e: Expr) -> bool:
    """Tell whether an expression is the root of a square."""
    return bool(e.is_Pow and e.exp == sympy.S.Half) and all(
        x.as_base_exp()[1].is_even for x in sympy.Mul.make_args(e.base)
    )


def _modulus(e: Expr) -> Expr:
    powers = (x.as_base_exp() for x in sympy.Mul.make_args(e.base))
    return sympy.Abs(sympy.Mul(*(x ** (n / 2) for x, n in powers)))


LONGEST = 3000
"""Operands in a formula beyond which no page has it: a reader gains nothing by ten sides of it."""
TOO_LONG = "too long to print"


def is_too_long(expression: Expr) -> bool:
    """Tell whether no page has a formula; --json has it whole."""
    operands = sympy.preorder_traversal(expression)
    return next(islice(operands, LONGEST, None), None) is not None


VARIES = re.compile(r"(beta|[ABCz])\d*_?(\(\w+\))?")
"""Names of predictors and of roots, by whose powers polynomials are ordered."""


def symbols_of(expression: Expr) -> list[Symbol]:
    """Return the names in an expression, those of functions of b as well."""
    return [x for x in expression.atoms(Symbol, AppliedUndef) if hasattr(x, "name")]


@functools.lru_cache(4096)
def tidy(expression: Expr) -> Expr:
    """Return an expression with x^(ab) for (x^a)^b, x > 0; the shortest where exponents have names.

    >>> from sympy.abc import b, n, x
    >>> tidy(b * x**n + n * b * x**n)
    b*x**n*(n + 1)
    """
    one = one_power(expression)
    named = any(not power.exp.is_number for power in one.atoms(sympy.Pow))
    if not named or one.has(sympy.Integral):
        return shortened(one)
    # a fraction is longer than it is typed
    forms = one, pulled_out(one), gathered(one)
    return min(forms, key=lambda form: len(text := str(form)) + 8 * text.count("/"))


def shortened(expression: Expr) -> Expr:
    """Return an expression whose polynomials are products where that is shorter.

    >>> from sympy.abc import a, b
    >>> shortened(a**2 + 2 * a * b + b**2), shortened(a**2 - b**2)
    ((a + b)**2, a**2 - b**2)
    """
    if expression.is_Atom or isinstance(expression, sympy.Integral):
        return expression
    parts = [shortened(part) for part in expression.args]
    found = expression.func(*parts) if any(map(ne, parts, expression.args)) else expression
    if found.is_Mul:
        found = sympy.Mul(*map(pulled_out, found.args))
    elif found.is_Add and len(parts) <= LARGEST and found.is_polynomial():
        found = with_squares(min(sympy.factor(found), *_by_powers(found), key=_typed))
    return expression if found == expression else min(expression, found, key=_typed)


def _by_powers(polynomial: Expr) -> Iterator[Expr]:
    """Yield a polynomial, and the same by the powers of each root in it.

    >>> from sympy.abc import A, x, y
    >>> [*_by_powers(A**2 - 2*A*x - 2*A*y + 1)]
    [A**2 - 2*A*x - 2*A*y + 1, A**2 - 2*A*(x + y) + 1]
    """
    yield polynomial
    for root in symbols_of(polynomial):
        if VARIES.fullmatch(root.name) and root.name[0].isupper():
            yield sympy.collect(polynomial, root, pulled_out)


def _typed(expression: Expr) -> int:
    """Return how long an expression is as it is typed, e as exp(1)."""
    return len(str(expression)) + 5 * bool(expression.has(sympy.E))


LARGEST = 12
"""Terms of a polynomial that is factored to be printed."""


def one_power(expression: Expr) -> Expr:
    """Return an expression with x^(ab) for (x^a)^b, x > 0, also where a has poles."""
    return expression.replace(
        lambda e: e.is_Pow and e.base.is_Pow and e.base.base.is_positive,
        lambda e: e.base.base ** sympy.factor(e.base.exp * e.exp),
    )


def gathered(expression: Expr) -> Expr:
    """Return an expression as a product, with one power of each base."""
    one = sympy.powsimp(_exponents(sympy.powsimp(expression), sympy.cancel))
    return sympy.powsimp(_exponents(sympy.factor(one), sympy.factor), deep=True)


def _exponents(expression: Expr, rewritten: Callable[[Expr], Expr]) -> Expr:
    return expression.replace(
        lambda e: e.is_Pow and not e.exp.is_number, lambda e: e.base ** rewritten(e.exp)
    )


def in_number(expression: Expr) -> tuple[Expr, dict[Symbol, Symbol]]:
    """Return an expression in names that sort as they count, and what these stand for.

    >>> x2, x10 = Symbol("x2"), Symbol("x10")
    >>> in_number(x10 + x2)[1]
    {x0002: x2, x0010: x10}
    """
    symbols = sorted((s for s in expression.free_symbols if type(s) is Symbol), key=str)
    names = {re.sub(r"\d+", lambda n: n[0].zfill(4), s.name): s for s in symbols}
    if len(names) < len(symbols) or not any(re.search(r"\d\d", s.name) for s in symbols):
        return expression, {}
    known = {Symbol(name, **s.assumptions0): s for name, s in sorted(names.items())}
    return expression.xreplace({s: ordered for ordered, s in known.items()}), known


def as_written(expression: Expr) -> Expr:
    """Return an expression as one writes it, in roots and functions that SymPy takes apart."""
    return _with_area_functions(_with_joined_roots(expression))


def _with_area_functions(expression: Expr) -> Expr:
    """Return arsinh x for log(x + sqrt(x^2 + 1)), and 2 artanh x for log((1 + x)/(1 - x)) if short.

    >>> x = Symbol("x")
    >>> _with_area_functions(sympy.log((1 + x) / (1 - x)) / 4)
    atanh(x)/2
    >>> _with_area_functions(sympy.log(x + sympy.sqrt(x**2 + 1)))
    asinh(x)
    >>> _with_area_functions(sympy.log(1 - sympy.cos(x)) / 2 - sympy.log(sympy.cos(x) + 1) / 2)
    -atanh(cos(x))
    """

    found = expression.replace(lambda e: e.is_Add, _with_one_area).replace(sympy.log, _area)
    if found == expression:
        return found
    return found.replace(lambda e: e.is_Mul and e.has(sympy.atanh), _with_one_number)


def _area(A: Expr) -> Expr:
    """Return log A, as an area function where that is shorter."""
    rests = ((A - root, root) for root in A.args if A.is_Add and root.is_Pow)
    for x in (x for x, root in rests if sympy.expand(root**2 - x**2) == 1):
        return sympy.asinh(x)
    log, (top, bottom) = sympy.log(A), sympy.fraction(sympy.together(A))
    inside = sympy.cancel((top - bottom) / (top + bottom)) if bottom != 1 else sympy.S.One
    short = inside.count_ops() + 1 < log.count_ops() - 1
    return 2 * sympy.atanh(inside) if short and not inside.is_number else log


def _with_one_area(total: Expr) -> Expr:
    """Return a sum with artanh x for log(1 + x)/2 - log(1 - x)/2, x no quotient by a sum."""
    terms = (t.as_independent(sympy.log, as_Add=False) for t in total.args)
    logs = [(c, L) for c, L in terms if isinstance(L, sympy.log)]
    for (c, L), (_, M) in (pair for pair in combinations(logs, 2) if pair[0][0] == -pair[1][0]):
        whole = _area(L.args[0] / M.args[0])
        if any(not sympy.fraction(x.args[0])[1].is_Add for x in whole.atoms(sympy.atanh)):
            return total - c * (L - M) + c * whole
    return total


def _with_one_number(product: Expr) -> Expr:
    number, rest = product.as_content_primitive()
    return number * rest


def _with_joined_roots(expression: Expr) -> Expr:
    """Return an expression with sqrt(2*pi) for sqrt(2)*sqrt(pi), which SymPy takes apart.

    >>> x = Symbol("x")
    >>> _with_joined_roots(sympy.sqrt(2 * sympy.pi) * x)
    x*sqrt(2*pi)
    """

    def joined(product: Expr) -> Expr:
        roots = [f for f in product.args if f.is_Pow and f.exp == sympy.S.Half and f.base.is_number]
        if sympy.sqrt(sympy.pi) not in roots or len(roots) == 1:
            return product
        radicand = sympy.Mul(*(f.base for f in roots), evaluate=False)
        root = sympy.Pow(radicand, sympy.S.Half, evaluate=False)
        number, factors = product.as_coeff_mul()
        factors = (root, *(f for f in factors if f not in roots))
        return sympy.Mul(*((number,) * (number != 1)), *factors, evaluate=False)

    if not expression.has(sympy.pi):
        return expression
    return expression.replace(lambda e: e.is_Mul, joined)


def positive_first(terms: Sequence[Expr]) -> list[Expr]:
    """Start a sum with its first term that has no minus sign."""
    first = next((t for t in terms if not t.could_extract_minus_sign()), terms[0])
    rest = list(terms)
    rest.remove(first)
    return [first, *rest]


def pulled_out(expression: Expr) -> Expr:
    """Return a sum as the product of what all its terms have in common and the rest.

    >>> from sympy.abc import a, b
    >>> pulled_out(2 * a**2 - 4 * a * b)
    2*a*(a - 2*b)
    """
    if not expression.is_Add:
        return expression
    number, rest = expression.primitive()
    if _units(rest) <= _units(expression):
        number, rest = sympy.S.One, expression
    common = _common(sympy.Add.make_args(rest))
    if common != 1:
        rest = sympy.Add(*(term / common for term in sympy.Add.make_args(rest)))
    if all(t.could_extract_minus_sign() for t in sympy.Add.make_args(rest)):
        number, rest = -number, -rest
    return product_of([number, *sympy.Mul.make_args(common), rest])


def _common(terms: Sequence[Expr]) -> Expr:
    """Return the product of the powers that all terms have, of denominators those that are all."""
    powers = [term.as_powers_dict() for term in terms]
    below = {sympy.fraction(term.as_coeff_Mul()[1])[1] for term in terms}
    common = sympy.S.One
    for base in sorted(reduce(and_, map(set, powers)), key=str):
        exponents = {t[base] for t in powers}
        positive = all(n.is_Rational and n > 0 for n in exponents)
        alike = len(exponents) == 1 and (
            len(below) == 1 or not any(n.is_Rational for n in exponents)
        )
        if not base.is_Integer and (positive or alike):
            common *= base ** min(exponents, key=abs)
    return common


def _units(expression: Expr) -> int:
    """Return how many terms have no coefficient."""
    return sum(abs(t.as_coeff_Mul()[0]) == 1 for t in sympy.Add.make_args(expression))


def product_of(factors: Iterable[Expr]) -> Expr:
    """Return a product, its numbers joined and not multiplied into sums."""
    flat = [f for factor in factors for f in sympy.Mul.make_args(factor)]
    number = sympy.Mul(*(f for f in flat if f.is_Rational))
    others = [f for f in flat if not f.is_Rational]
    kept = [number, *others] if number != 1 or not others else others
    return sympy.Mul(*kept, evaluate=False) if len(kept) > 1 else kept[0]


def arranged(expression: Expr) -> Expr:
    """Return an expression with common factors pulled out of every sum in it."""
    if expression.is_Atom or not isinstance(expression, sympy.Basic):
        return expression
    parts = [arranged(x) if isinstance(x, Expr) else x for x in expression.args]
    if expression.is_Add:
        whole = pulled_out(expression)
        if whole.is_Add:
            return sympy.Add(*parts, evaluate=False)
        *front, inner = whole.args
        return product_of([*front, arranged(inner)])
    if expression.is_Mul:
        return product_of(parts)
    if expression.is_Pow or isinstance(expression, sympy.Function):
        return expression.func(*parts, evaluate=False)
    if isinstance(expression, sympy.Integral):
        return sympy.Integral(parts[0], *expression.limits)
    return expression
