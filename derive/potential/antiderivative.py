"""Antiderivatives of rational functions of a coordinate, and how logarithms in them are written.

SymPy proposes the integrals; each is differentiated back in the field of the relation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import prod

import sympy
from sympy import Expr, Poly, Symbol
from sympy.integrals.rationaltools import ratint

from derive.errors import DeriveError
from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.rational_solutions import coefficients, divided, element, quotient
from derive.exact.signs import Signs
from derive.exact.towers.tower import to_field
from derive.language import from_sympy
from derive.model.notation import AssumePositive, BranchOpen, without_modulus
from derive.model.signs import start_sign
from derive.potential.accept import ZeroTest
from derive.potential.rewriting import as_fraction, fewest, log_of, with_hyperbolic, with_products
from derive.weights.coordinate import Coordinate

_TRIED = 10
MAXIMAL_POWER = 12
"""Powers in a logarithm beyond which a sum of several is shorter."""


def antiderivatives(
    relation: Coordinate, K: RationalFunction, f: RationalFunction
) -> tuple[Expr, Expr, Expr] | None:
    """Return int kappa/K and int kappa f/K in the variable of the field, and kappa, or None."""
    # K divided by its value at one beta is r up to a number when r has numbers alone.
    values = (_at(K, beta) for beta in range(_TRIED))
    value = next((v for v in values if v is not None and not v.is_zero()), K.field.one)
    if set((K / value).variables()) - {K.field.names[0]}:
        value = K.field.one
    first = antiderivative(relation, value / K)
    second = None if first is None else antiderivative(relation, f * value / K)
    if first is None or second is None:
        return None
    number, kappa = relation.factored(value).as_coeff_Mul()
    return first / number, second / number, kappa


def collected(expression: Expr, x: Symbol) -> Expr:
    """Return logarithms and angles with their coefficients, beside partial fractions."""
    expanded = sympy.expand(expression, log=False)
    calls = sorted(expanded.atoms(sympy.log, sympy.atan), key=str)
    parts = sympy.collect(expanded, calls, evaluate=False) if calls else {sympy.S.One: expanded}
    rest = as_fraction(parts.pop(sympy.S.One, sympy.S.Zero), x)
    return sympy.Add(rest, *(sympy.factor(c) * call for call, c in parts.items()))


def gathered(expression: Expr, x: Symbol) -> Expr:
    """Return the same with one logarithm, of a quotient, for those with one coefficient."""
    terms = sympy.Add.make_args(collected(expression, x))
    rates: dict[tuple[Expr, bool], list[tuple[Expr, Expr]]] = {}
    rest = []
    for term in terms:
        log = next(iter(t for t in sympy.Mul.make_args(term) if isinstance(t, sympy.log)), None)
        number, unit = (term / log if log else term).as_coeff_Mul()
        number, unit = (-number, -unit) if unit.could_extract_minus_sign() else (number, unit)
        if log is None or not number.is_Rational:
            rest.append(term)
        else:
            inside, modulus = log.args[0], isinstance(log.args[0], sympy.Abs)
            A = inside.args[0] if modulus else inside
            rates.setdefault((unit, modulus), []).append((A, number))
    for (unit, modulus), numbers in rates.items():
        for common, powers in joined(numbers):
            A = sympy.Mul(*(a**n for a, n in powers))
            rest.append(sympy.Mul(common, unit, sympy.log(sympy.Abs(A) if modulus else A)))
    return sympy.Add(*rest)


def joined(numbers: Sequence[tuple[Expr, Expr]]) -> Iterator[tuple[Expr, list[tuple[Expr, int]]]]:
    """Yield c and powers of A_j with sum_j c_j log A_j = c log prod_j A_j^n_j, in one if short."""
    common = abs(sympy.gcd_list([number for _, number in numbers]))
    common *= 1 if any(number > 0 for _, number in numbers) else -1
    powers = [(A, int(number / common)) for A, number in numbers]
    if max(abs(n) for _, n in powers) <= MAXIMAL_POWER:
        yield common, powers
    else:
        yield from ((number, [(A, 1)]) for A, number in numbers)


def at_start(relation: Coordinate, expression: Expr) -> Expr:
    """Return a sum of logarithms, angles and fractions at beta_0, each in lowest terms."""
    x, beta0 = relation.variable, relation.start(relation.field.gens[0])

    def exact(part: Expr) -> RationalFunction:
        return relation.start(to_field(from_sympy(part), relation.field, "a term of Q"))

    def angle(term: Expr) -> Expr:
        rate, call = term.as_independent(x, as_Add=False)
        with suppress(DeriveError):  # of what has a root that the field has not
            if call.func is sympy.atan and relation.constants:
                return rate * sympy.atan(_shortest(relation, exact(call.args[0])))
        there = with_products(with_hyperbolic(relation.shorter(beta0)))
        if x in relation.notation.betas:
            there = fewest([relation.notation.beta_0[0], there])
        return sympy.expand_log(term.subs(x, there), force=True).replace(sympy.log, log_of)

    terms = sympy.Add.make_args(expression)
    rest = sympy.Add(*(t for t in terms if not t.has(sympy.log, sympy.atan)))
    total = _shortest(relation, exact(rest))
    # c log A - c log B is c log(A/B) for positive A, B
    rates: dict[Expr, list[tuple[Expr, Expr]]] = {}
    # Factors are not unique: (1 - sin)(1 + sin) is cos^2, (3 - sqrt(5))(3 + sqrt(5)) is 4.
    related = {g.name for g in relation.field.generators if g.kind in ("sin", "cos", "root")}
    unique = related.isdisjoint(beta0.variables())
    for term in (t for t in terms if t.has(sympy.log, sympy.atan)):
        rate, call = term.as_independent(x, as_Add=False)
        number, unit = rate.as_coeff_Mul()
        if unique and call.func is sympy.log and number.is_Rational and not call.has(sympy.Abs):
            rates.setdefault(unit, []).append((call.args[0], number))
        else:
            total += angle(term)
    for unit, numbers in rates.items():
        for common, powers in joined(numbers):
            first, *others = (exact(A) ** n for A, n in powers)
            total += unit * common * log_of(relation.factored(prod(others, start=first)))
    return total


def _shortest(relation: Coordinate, f: RationalFunction) -> Expr:
    """Return a function of the start in the shortest way, with names of constants or without."""
    ways = [relation.shorter(way) for way in (f, relation.with_values(f))]
    joined = [sympy.powsimp(way, combine="exp") for way in ways]
    return fewest(with_products(with_hyperbolic(e)) for e in (*ways, *joined))


def _at(K: RationalFunction, beta: int) -> RationalFunction | None:
    """Return K at one beta, None at a pole."""
    try:
        return K.compose((K.field.constant(beta), *K.field.gens[1:]), K.field)
    except ZeroDivisionError:
        return None


def logarithm(relation: Coordinate, argument: Expr) -> Expr:
    """Return log |A|, without the modulus where the sign of A, between zeros of K, is known."""
    sign = known_sign(relation, argument)
    return sympy.log(sympy.expand(sign * argument) if sign else sympy.Abs(argument))


def with_positive(relation: Coordinate, product: Expr) -> Expr:
    """Return a product of powers with sums that are positive at the start, where that is known."""
    number, powers = sympy.S.One, list[Expr]()
    for a, n in (x.as_base_exp() for x in sympy.Mul.make_args(product)):
        turned = a.is_Add and n.is_Integer and known_sign(relation, a) < 0
        number *= (-1) ** n if turned else 1
        powers.append((-a if turned else a) ** n)
    return sympy.Mul(number, *powers)


def known_sign(relation: Coordinate, argument: Expr) -> int:
    """Return the sign of a function of t at the start; 0 where it is not known for all starts."""
    with suppress(DeriveError, ZeroDivisionError):
        return _sign(relation, to_field(from_sympy(argument), relation.field, "a sign"))
    return 0


def _sign(relation: Coordinate, A: RationalFunction) -> int:
    if not A.depends_on(0) and (sign := Signs(relation.nonnegative).of(A)):
        return sign
    with suppress(AssumePositive, BranchOpen):
        sign, assumed = start_sign(relation.start(A), relation.notation)
        return 0 if assumed else sign
    return 0


def antiderivative(relation: Coordinate, integrand: RationalFunction) -> Expr | None:
    """Return a real antiderivative whose derivative was proved equal to the integrand."""
    x = relation.variable
    whole, terms = _simple_poles(relation, integrand)
    parts = [_of_simple_poles(relation, term) for term in terms]
    if any(part is None for part in parts):
        return None
    proposal = whole + sympy.Add(*parts)
    slope = without_modulus(proposal).diff(x) - relation.expr(integrand)
    # The logarithm of a negative number is that of its opposite and a constant.
    proposal = proposal.replace(sympy.log, lambda a: logarithm(relation, a))
    proved = ZeroTest(relation.notation.parameterization, {}).vanishes(slope)
    return proposal if proved else None


def _simple_poles(relation: Coordinate, f: RationalFunction) -> tuple[Expr, list[Expr]]:
    """Return the rational part of an integral, and what is left: fractions with simple poles.

    Of (A + (n - 1) B P')/P^n with a multiple of P above the bar, -B/P^(n - 1) is integrated.

    Source: Hermite 1872, in partial fractions (Bronstein 2005, section 2.2).
    """
    field, x = f.field, relation.variable
    top, bottom = (coefficients(field.polynomial(side)) for side in f.parts)
    whole, rest = divided(top, bottom)
    fractions, terms = [field.zero], list[Expr]()
    for P, n in factors(field.polynomial(f.denominator)):
        if not P.depends_on(0):
            continue
        above = element(field, quotient(rest, divided(bottom, coefficients(P**n))[0], P**n))
        for k in range(n - 1, 0, -1):
            slope = k * P.partial(0)
            B = element(field, quotient(coefficients(above), coefficients(slope), P))
            above = (above - B * slope) / P + B.partial(0)
            fractions.append(-B / P**k)
        terms.append(relation.expr(above / P))
    polynomial = Poly(relation.expr(element(field, whole)), x).integrate(x).as_expr()
    apart = sympy.Add(*map(relation.expr, fractions))
    return polynomial + fewest([relation.expr(sum(fractions, field.zero)), apart]), terms


def _of_simple_poles(relation: Coordinate, term: Expr) -> Expr | None:
    """Return a proposal for the integral of a fraction over an irreducible denominator."""
    x = relation.variable
    top, bottom = (Poly(part, x) for part in term.as_numer_denom())
    if not bottom.degree():
        return sympy.integrate(term, x)
    if bottom.degree() == 1:
        return top.as_expr() / bottom.LC() * sympy.log(bottom.primitive()[1].as_expr())
    if bottom.degree() == 2:
        return _of_quadratic(relation, top, bottom)
    if term.free_symbols != {x} or not _has_residues(top, bottom):
        return None
    neutral = Symbol("x", real=True)
    found = ratint(term.subs(x, neutral), neutral, real=True).subs(neutral, x)
    rooted = any(not power.exp.is_Integer for power in found.atoms(sympy.Pow))
    # An integral is shorter than what has roots of other roots.
    return None if rooted or found.has(sympy.RootSum, sympy.Integral, sympy.I) else found


def _has_residues(top: Poly, bottom: Poly) -> bool:
    """Tell whether the residues at the poles are square roots, or those of square roots.

    They are the roots of res_x(top - t bottom', bottom) (Rothstein 1976, Trager 1976).
    """
    t = sympy.Dummy("t")
    pencil = Poly(top.as_expr() - t * bottom.diff().as_expr(), top.gen)
    residues = Poly(pencil.resultant(bottom), t)
    powers = ({n for (n,) in f.monoms()} for f, _ in residues.factor_list()[1])
    return all(max(own) <= 2 or own <= {0, 2, 4} for own in powers)


def open_discriminant(relation: Coordinate, integrand: RationalFunction) -> RationalFunction | None:
    """Return 4 a c - b^2 of the one quadratic below the bar, if the start leaves its sign open."""
    bottom = Poly(relation.expr(integrand).as_numer_denom()[1], relation.variable)
    found = [f for f, _ in bottom.factor_list()[1]]
    squares = [f for f in found if f.degree() == 2]
    known = [_discriminant(relation, f) for f in squares]
    left = [square for square, sign in known if square is not None and not sign]
    alone = max((f.degree() for f in found), default=0) == 2 and len(left) == 1
    return left[0] if alone else None


def _discriminant(relation: Coordinate, quadratic: Poly) -> tuple[RationalFunction | None, int]:
    """Return 4 a c - b^2 of a x^2 + b x + c, and its sign; 0 where the start leaves that open."""
    a, b, c = quadratic.all_coeffs()
    try:
        square = to_field(from_sympy(4 * a * c - b**2), relation.field, "a discriminant")
    except DeriveError:
        return None, 0
    return square, _sign(relation, square) or relation.taken


def _of_quadratic(relation: Coordinate, top: Poly, bottom: Poly) -> Expr | None:
    """Return int (p x + q)/(a x^2 + b x + c), by the sign of 4 a c - b^2 where that matters."""
    x = relation.variable
    p, q = top.coeff_monomial(x), top.coeff_monomial(1)
    content, bottom = bottom.primitive()
    p, q, (a, b, *_) = p / content, q / content, bottom.all_coeffs()
    even = p / (2 * a) * sympy.log(bottom.as_expr())
    rate, t = sympy.cancel(q - p * b / (2 * a)), 2 * a * x + b
    if rate == 0:
        return even
    square, sign = _discriminant(relation, bottom)
    if square is None or not sign:
        return None
    # Either sign of a root will do.
    content, rest = relation.factored(sign * square).as_content_primitive()
    s = (sympy.sqrt(content) * sympy.sqrt(rest)).replace(sympy.Abs, lambda e: e)
    if sign > 0:
        return even + 2 * rate / s * sympy.atan(sympy.cancel(t / s))
    low, high = ((t + n * s).primitive()[1] for n in (-1, 1))
    return even + rate / s * (sympy.log(low) - sympy.log(high))
