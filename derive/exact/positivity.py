"""Exact sufficient tests that a polynomial is nonnegative on all real points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import combinations
from math import comb

from flint import fmpq, fmpq_mat

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import Polynomial, factorize, terms

MAXIMAL_SQUARES, MARGIN = 40, 1024
"""Squares among the terms beyond which no sum of squares is sought; how much more it may be."""


def is_nonnegative(function: RationalFunction, positive: frozenset[str] = frozenset()) -> bool:
    """Tell whether *function* is proved >= 0 wherever it is defined; False means "not proved".

    A product is tested factor by factor: even powers, polynomials with positive coefficients in
    even powers (and in any powers of the variables in *positive*), and positive semidefinite
    quadratic forms in monomials pass.

    >>> from derive.exact.field.function_field import FunctionField
    >>> u, v = FunctionField(("u", "v")).gens
    >>> is_nonnegative(u**2 - u * v + v**2), is_nonnegative(u**2 - 3 * u * v + v**2)
    (True, False)
    """
    names = function.field.names
    return function.is_zero() or _is_one_sided(
        function, lambda f, n: n % 2 == 0 or _is_nonnegative_factor(f, names, positive)
    )


def is_positive(
    function: RationalFunction, positive: frozenset[str], nonzero: frozenset[str] = frozenset()
) -> bool:
    """Tell whether *function* is proved > 0 wherever it is defined; False means "not proved".

    Every factor must be more, as by :func:`is_nonnegative`, than a part of one of its terms, in
    *positive* names and even powers of what is *nonzero* alone.

    >>> from derive.exact.field.function_field import FunctionField
    >>> u, v = FunctionField(("u", "v")).gens
    >>> is_positive(u**2 + v, frozenset("v")), is_positive(u**2 + v**2, frozenset())
    (True, False)
    >>> is_positive(u**2 + u + 1, frozenset()), is_positive(u**2 + 2 * u + 1, frozenset())
    (True, False)
    """
    names = function.field.names
    return _is_one_sided(function, lambda f, _: _is_positive_factor(f, names, positive, nonzero))


def proved_sign(function: RationalFunction, positive: frozenset[str]) -> int:
    """Return the sign that a function is proved to have wherever it is not 0; 0: none is proved.

    That of a + b sqrt(A) is the sign of a where a^2 >= b^2 A, as for sqrt(1 + w^2) - w, else of b.
    """
    sign = _manifest_sign(function, positive)
    if sign:
        return sign
    sign, field = 1, function.field
    for part in map(field.polynomial, function.parts):
        roots = (g for g in field.generators if g.kind == "root" and g.index == 2)
        signs = (
            _sign_by_norm(part, field.positions[g.name], field.embed(g.argument), positive)
            for g in roots
        )
        sign *= _manifest_sign(part, positive) or next(filter(None, signs), 0)
    return sign


def _sign_by_norm(
    f: RationalFunction, k: int, square: RationalFunction, positive: frozenset[str]
) -> int:
    """Return the sign of f = a + b r by a^2 - b^2 r^2, r > 0 being the variable k."""
    b = f.partial(k)
    a = f - b * f.field.gens[k]
    if b.is_zero() or b.depends_on(k):
        return 0
    norm = _manifest_sign(a * a - b * b * square, positive)
    return abs(norm) * _manifest_sign(a if norm > 0 else b, positive)


def _manifest_sign(function: RationalFunction, positive: frozenset[str]) -> int:
    return int(is_nonnegative(function, positive)) - int(is_nonnegative(-function, positive))


def nearest(
    sign: int, ends: Iterable[RationalFunction], positive: frozenset[str]
) -> list[RationalFunction]:
    """Return the ends of an interval on one side that are not proved to lie beyond another one."""
    kept = list(dict.fromkeys(ends))
    for end in tuple(kept):
        others = [other for other in kept if other != end]
        if any(is_nonnegative(sign * (end - other), positive) for other in others):
            kept = others
    return kept


MOST, ZERO = 400, fmpq(0)
"""Systems of equations that are tried for vertices."""


def vertices(
    f: RationalFunction, given: Sequence[RationalFunction]
) -> Iterator[tuple[list[Fraction], RationalFunction]]:
    """Yield (n, f - sum_i n_i g_i) where as many n_i and coefficients are 0 as there are g_i.

    Among them are the vertices of the n for which no coefficient is negative but for the constant
    one: all other such sums of the g_i are means of those at vertices, or less.

    >>> from derive.exact.field.function_field import FunctionField
    >>> u, v = FunctionField(("u", "v")).gens
    >>> {str(*n): rest for n, rest in vertices(u**2, [2 * u**2 - v**2])}
    {'0': u**2, '1/2': v**2/2}
    """
    above, *rows = map(_coefficients, (f, *given))
    monomials = sorted(set[tuple[int, ...]]().union(*rows))
    equations = [([row.get(m, ZERO) for row in rows], above.get(m, ZERO)) for m in monomials]
    equations += [([fmpq(g is h) for h in given], ZERO) for g in given]
    few = comb(len(equations), len(given)) <= MOST
    for chosen in combinations(equations, len(given)) if few and given else ():
        left, right = zip(*chosen, strict=True)
        with suppress(ZeroDivisionError):
            solved = fmpq_mat([*left]).solve(fmpq_mat([[x] for x in right]))
            n = [Fraction(int(x.p), int(x.q)) for x in solved.entries()]
            sums = (f.field.constant(x) * g for x, g in zip(n, given, strict=True))
            yield n, f - sum(sums, f.field.zero)


def _coefficients(f: RationalFunction) -> dict[tuple[int, ...], fmpq]:
    """Return the coefficients of a polynomial but for the constant one."""
    below = int(f.denominator.leading_coefficient())
    return {e: fmpq(c, below) for e, c in terms(f.numerator) if any(e)}


def _is_one_sided(function: RationalFunction, passes: Callable[[Polynomial, int], bool]) -> bool:
    """Tell whether numbers make a positive sign and all factors pass, whose first terms are > 0."""
    sides = [factorize(polynomial) for polynomial in function.parts]
    same = len({content > 0 for content, _ in sides}) == 1
    return same and all(passes(f, n) for _, factors in sides for f, n in factors)


def _is_positive_factor(
    polynomial: Polynomial,
    names: tuple[str, ...],
    positive: frozenset[str],
    nonzero: frozenset[str],
) -> bool:
    """Tell whether a polynomial is seen to be more than a fraction of a term that is positive."""

    def is_positive_term(exponents: Sequence[int]) -> bool:
        powers = zip(names, exponents, strict=True)
        free = [(name, e) for name, e in powers if e and name not in positive]
        return all(name in nonzero and e % 2 == 0 for name, e in free)

    context = polynomial.context()
    least = (
        context.from_dict({e: c}) for e, c in terms(polynomial) if c > 0 and is_positive_term(e)
    )
    rests = (polynomial * MARGIN - term for term in least)
    return any(_is_nonnegative_factor(rest, names, positive) for rest in rests)


def _is_nonnegative_factor(
    polynomial: Polynomial, names: tuple[str, ...], positive: frozenset[str]
) -> bool:
    manifest = all(
        coefficient > 0 and all(e % 2 == 0 or names[k] in positive for k, e in enumerate(exponents))
        for exponents, coefficient in terms(polynomial)
    )
    return manifest or _is_sum_of_squares(polynomial)


def _is_sum_of_squares(polynomial: Polynomial) -> bool:
    """Test a polynomial as a quadratic form in the monomials whose squares are among its terms."""
    known = {tuple(map(int, e)): Fraction(c) for e, c in terms(polynomial)}
    squares = [e for e, c in known.items() if c > 0 and all(n % 2 == 0 for n in e)]
    if len(squares) > MAXIMAL_SQUARES:
        return False
    gram = {(e, e): known.pop(e) for e in squares}
    for u, v in combinations(squares, 2):
        between = tuple((m + n) // 2 for m, n in zip(u, v, strict=True))
        gram[u, v] = gram[v, u] = known.pop(between, Fraction(0)) / 2
    return not known and _is_semidefinite([[gram[u, v] for v in squares] for u in squares])


def _is_semidefinite(gram: list[list[Fraction]]) -> bool:
    """Tell whether a symmetric matrix is positive semidefinite, by exact elimination."""
    while gram:
        (pivot, *row), *rest = gram
        if pivot < 0 or (pivot == 0 and any(row)):
            return False
        gram = [
            [x - first * y / pivot if first else x for x, y in zip(others, row, strict=True)]
            for first, *others in rest
        ]
    return True
