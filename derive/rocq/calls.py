"""Roots, exponentials and other functions as names with rules, and the proofs of these.

An identity between such functions is one of rational functions in names, modulo the rules
``name^n = ...``: so it is decided by normal forms, here as by the tactic ``field``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd, lcm

import sympy
from sympy import Expr, Rational, Symbol

from derive.rocq.terms import APPLIED, ATOM, FUNCTIONS, NoFile, Signs, Terms

HYPERBOLIC = {
    sympy.sinh: lambda e, over: (e - over) / 2,
    sympy.cosh: lambda e, over: (e + over) / 2,
    sympy.tanh: lambda e, over: (e**2 - 1) / (e**2 + 1),
}
"""Hyperbolic functions by the exponential and its inverse."""
SAME = {sympy.log: 1, sympy.asinh: 0, sympy.atan: 0}
"""Functions that are told apart by their arguments alone, and where each is 0: at 0 it is odd."""


# The lemmas of a file share what they divide by: of ten quotients nine are asked for again.
cancel, together = (lru_cache(maxsize=1024)(f) for f in (sympy.cancel, sympy.together))


@dataclass
class Calls:
    """The functions in some expressions, each a name or a rational function of names.

    Attributes:
        terms: how things are written.
        signs: what is known of signs; that names are positive is added.
        lines: the commands that prove what is said of the names.
        rules: their names of equations name^n = ..., for ``field``.
        rewritten: their names of equations function = rational function of names, outer first.
        values: what some names are equal to, as their texts say.
        split: whether logarithms of products are sums of logarithms.
    """

    terms: Terms
    signs: Signs
    values: Mapping[Symbol, Expr] = field(default_factory=dict)
    split: bool = False
    lines: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    rewritten: list[str] = field(default_factory=list)
    _images: dict[Expr, Expr] = field(default_factory=dict)
    _atoms: dict[Symbol, Expr] = field(default_factory=dict)
    _relations: dict[Symbol, tuple[int, Expr]] = field(default_factory=dict)
    _equals: dict[Symbol, Expr] = field(default_factory=dict)
    _steps: dict[Expr, Rational] = field(default_factory=dict)
    _bases: dict[tuple[Expr, int], Symbol] = field(default_factory=dict)

    # -- reading

    def read(self, *given: Expr) -> None:
        """Name the functions in some expressions."""
        expressions = (*self.values.values(), *given)
        for e in expressions:
            for part in sympy.preorder_traversal(e):
                if isinstance(part, sympy.exp) or part.func in HYPERBOLIC:
                    self._measure(self._put(part.args[0]))
        for e in expressions:
            self._visit(e)

    def _visit(self, e: Expr) -> None:
        for part in sympy.postorder_traversal(sympy.sympify(e)):
            if part in self._images:
                continue
            if part.is_Pow and not isinstance(part, sympy.exp) and not part.exp.is_Integer:
                if not part.exp.is_Rational:
                    raise NoFile("exponents that are symbols have no form here")
                self._power(part)
            elif part.is_Function or isinstance(part, sympy.exp):
                self._call(part)

    def value(self, e: Expr) -> Expr:
        """Return an expression as a rational function of names, in normal form."""
        image = self._image(sympy.sympify(e))
        image = image.xreplace({x: self._image(v) for x, v in self.values.items()})
        for name, value in reversed(self._equals.items()):
            image = image.xreplace({name: value})
        return self.normal(image)

    def _put(self, e: Expr) -> Expr:
        return e.xreplace({**self.values})

    def _image(self, e: Expr) -> Expr:
        if e in self._images:
            return self._images[e]
        if not e.args:
            return e
        return e.func(*map(self._image, e.args))

    def normal(self, e: Expr) -> Expr:
        """Return a quotient whose numerator and denominator are reduced by the rules."""
        above, below = sympy.fraction(together(e))
        for _ in self._relations:
            above, below = self._reduced(above), self._reduced(below)
            above, below = sympy.fraction(cancel(above / below))
        return cancel(above / below)

    def _reduced(self, e: Expr) -> Expr:
        for name, (n, value) in reversed(self._relations.items()):
            whole = sympy.expand(e)
            if not whole.has(name):
                continue
            poly = sympy.Poly(whole, name)
            e = sum(c * value ** (m // n) * name ** (m % n) for (m,), c in poly.terms())
            above, below = sympy.fraction(together(e))
            e = above / below
        return sympy.expand(e)

    def vanishes(self, e: Expr) -> bool:
        """Say whether an expression is 0 by the rules."""
        above, _ = sympy.fraction(together(self.value(e)))
        return bool(self._reduced(above) == 0)

    def back(self, e: Expr) -> Expr:
        """Return an expression in names with the functions that these are."""
        for _ in self._atoms:
            e = e.xreplace(self._atoms)
        return e

    def know(self, relations: Iterable[tuple[Symbol, int, Expr, str]]) -> None:
        """Take over equations name^n = value that are proved."""
        for name, n, value, label in relations:
            self._visit(self._put(value))
            image = self._image(self._put(value))
            if n > 1:
                self._relations[name] = (n, image)
                self.rules.append(label)
            else:  # a rule divides by no number
                self._equals[name] = image
                self.rewritten.append(label)

    def field(self) -> str:
        """Return the tactic that proves an identity by the rules."""
        rules = f" [{' '.join(self.rules)}]" if self.rules else ""
        rewriting = "".join(f"rewrite ?{e}; " for e in reversed(self.rewritten))
        return f"{rewriting}field{rules}; sides"

    # -- naming

    def _name(self, atom: Expr) -> Symbol:
        name = Symbol(f"_{len(self._atoms)}", real=True)
        self._atoms[name] = atom
        self.terms.names[name.name] = self.terms(atom)
        self._images[atom] = name
        return name

    def _positive_name(self, atom: Expr) -> Symbol:
        name = self._name(atom)
        self.signs = self.signs.with_([name, atom])
        self.lines.append(f"assert (B{name}' : 0 < {self.terms(atom)}) by pos.")
        return name

    def _rule(self, name: Symbol, n: int, value: Expr, proof: str) -> None:
        atom, label = self._atoms[name], f"R{name}'"
        self._relations[name] = (n, self.value(value))
        self.rules.append(label)
        self.lines.append(
            f"assert ({label} : {self.terms(atom, APPLIED)} ^ {n} = {self.terms(value)}) "
            f"by ({proof})."
        )

    def _equal(self, atom: Expr, image: Expr, proof: str) -> None:
        """Note that a function is a rational function of names; it is used outer ones first."""
        self._images[atom] = image
        self._rewritten(self.terms(atom), self.terms(image), proof)

    def _rewritten(self, text: str, shown: str, proof: str) -> None:
        if text == shown:
            return
        label = f"E{len(self.rewritten)}'"
        self.lines.append(f"assert ({label} : {text} = {shown}) by ({proof}).")
        self.rewritten.append(label)

    # -- roots

    def _power(self, part: Expr) -> None:
        base, n = part.base, part.exp.q
        root = base ** Rational(1, n)
        if root not in self._images:
            self._root(root, base, n)
        self._images[part] = self._images[root] ** part.exp.p
        if n > 2 and abs(part.exp.p) != 1:
            power, m = base ** abs(part.exp), abs(part.exp.p)
            shown = f"Rpower {self.terms(base, ATOM)} (1 / {n}) ^ {m}"
            self._rewritten(self.terms(power), shown, "apply power_is; simpl INR; lra")

    def _root(self, root: Expr, base: Expr, n: int) -> None:
        """Name a root, or write it by roots of the factors of its base and by their powers."""
        if (same := self._bases.get((self.value(base), n))) is not None:
            self._equal(root, same, f"f_equal; {self.field()}")
            return
        split = self._split(base, n)
        if split is None or split == [(self.value(base), 1, 0)]:
            other = self.back(self.value(base)) if base in self._equals else base
            self._base(other ** Rational(1, n), other, n)  # a rule of what is not rewritten
            if other != base:
                same = self._images[other ** Rational(1, n)]
                self._equal(root, same, f"f_equal; {self.field()}")
            return
        image: Expr = sympy.Integer(1)
        for factor, odd, whole in split:
            image *= factor**whole
            if odd:
                image *= self._base_of(self.back(factor), n) ** odd
        image = self.normal(image)
        if n == 2:
            proof = f"apply root_is; [nn|{self.field()}]"
        else:
            proof = f"apply (power_root _ _ _ {n}); [pos|simpl INR; lra|{self.field()}]"
            self._rewritten(self.terms(base), self.terms(image**n), self.field())
        self._equal(root, image, proof)

    def _base_of(self, factor: Expr, n: int) -> Expr:
        root = factor ** Rational(1, n)
        if root.is_Rational:
            return root
        if (same := self._bases.get((self.value(factor), n))) is not None:
            return same
        if root not in self._images:
            self._base(root, factor, n)
        return self._images[root]

    def _base(self, root: Expr, base: Expr, n: int) -> None:
        if not self.signs.positive(base):
            raise NoFile(f"that {base} > 0 does not follow from its form")
        name = self._positive_name(root)
        self._bases[self.value(base), n] = name
        proof = "apply pow2_sqrt; nn" if n == 2 else "apply power_rule; [pos|simpl INR; lra]"
        self._rule(name, n, base, proof)

    def _split(self, base: Expr, n: int) -> list[tuple[Expr, int, int]] | None:
        """Return f, m, q with base^(1/n) = prod f^(m/n) f^q, each positive; None if not so."""
        found = []
        for f, m in self._factors(self.value(base)):
            odd, whole = m % n, m // n
            even = not odd and whole % 2 == 0 and self.signs.nonzero(self.back(f))
            if not (even or self._is_positive(f)) or (n > 2 and odd and not f.is_number):
                return None
            found.append((f, odd, whole))
        return found

    def _factors(self, value: Expr) -> list[tuple[Expr, int]]:
        """Return factors with their powers, primes too, positive ones where that is known."""
        number, found = Rational(1), []
        above, below = sympy.fraction(together(value))
        for part, sign in ((above, 1), (below, -1)):
            c, factors = sympy.factor_list(part)
            number *= c**sign
            for f, m in factors:
                turned = not self._is_positive(f) and self._is_positive(-f)
                number *= (-1) ** m if turned else 1
                found.append((-f if turned else f, sign * m))
        for n, sign in ((number.p, 1), (number.q, -1)):
            found += [(sympy.Integer(q), sign * m) for q, m in sympy.factorint(n).items()]
        return found

    def _is_positive(self, factor: Expr) -> bool:
        return self.signs.positive(factor) or self.signs.positive(self.back(factor))

    # -- functions

    def _call(self, part: Expr) -> None:
        if isinstance(part, sympy.exp):
            self._exponential(part)
        elif part.func in HYPERBOLIC:
            exponential = sympy.exp(*part.args)
            self._visit(exponential)
            e = self._images[exponential]
            image = together(HYPERBOLIC[part.func](e, self._inverse(e)))
            proof = "unfold tanh, sinh, cosh; rewrite ?exp_Ropp; "
            self._equal(part, image, f"{proof}{self.field()}")
        elif part.func is sympy.cos:
            sine = sympy.sin(*part.args)
            if sine not in self._images:
                self._name(sine)
            self._rule(self._name(part), 2, 1 - sine**2, "rewrite cos_rule; ring")
        elif part.func in SAME:
            self._transcendental(part)
        elif part.func is sympy.sin:
            self._name(part)
        else:
            raise NoFile(f"{type(part).__name__} has no form here")

    def quotient(self, above: Expr, below: Expr) -> Expr:
        """Return a quotient of expressions in names, in normal form without roots below."""
        above, below = sympy.fraction(self.normal(above / below))
        return self.normal(above * self._inverse(below))

    def _inverse(self, e: Expr) -> Expr:
        """Return 1/e, without roots below where e is a polynomial in one."""
        for name, (n, value) in self._relations.items():
            if name in self._atoms and e.has(name) and e.is_polynomial(name):
                return sympy.invert(e, name**n - value, name)
        return 1 / e

    def _transcendental(self, part: Expr) -> None:
        (argument,), name = part.args, FUNCTIONS[type(part).__name__]
        if part.func is sympy.asinh:  # whose slope has this root, as the library writes it
            square = sympy.Pow(argument, 2, evaluate=False)
            self._visit(sympy.sqrt(sympy.Add(square, 1, evaluate=False), evaluate=False))
        value = self.value(argument)
        if value == SAME[part.func]:
            text = self.terms(argument, ATOM)
            proof = f"replace {text} with {value} by ({self.field()}); apply {name}_{value}"
            self._equal(part, sympy.S.Zero, proof)
            return
        for atom, image in [*self._images.items()]:
            if not isinstance(atom, part.func):
                continue
            if self.vanishes(atom.args[0] - argument):
                self._equal(part, image, f"f_equal; {self.field()}")
                return
            if SAME[part.func] == 0 and self.vanishes(atom.args[0] + argument):
                turned = f"{name} (- {self.terms(atom.args[0], ATOM)})"
                proof = f"transitivity ({turned}); [f_equal; {self.field()}|apply {name}_opp]"
                self._equal(part, -image, proof)
                return
        if self.split and part.func is sympy.log and self._logarithm(part, value):
            return
        self._name(part)

    def _logarithm(self, part: Expr, value: Expr) -> bool:
        """Write a logarithm as a sum, where the argument is a product of positive things."""
        parts = self._factors(value)
        alone = len(parts) == 1 and parts[0][1] == 1 and self._exponent(parts[0][0]) is None
        if alone or not all(self._is_positive(g) for g, _ in parts):
            return False
        image: Expr = sympy.Integer(0)
        for g, m in parts:
            log = self._exponent(g)
            if log is None:
                log = sympy.log(g, evaluate=False)
                if log not in self._images:
                    self._name(log)
            image += m * self._image(log)
        text = self.terms(part.args[0], ATOM)
        proof = f"replace {text} with ({self._product(parts)}) by ({self.field()}); logs; field"
        self._equal(part, image, proof)
        return True

    def _product(self, parts: Sequence[tuple[Expr, int]]) -> str:
        """Write a product of powers, those of numbers too, which SymPy would multiply."""

        def one_side(sign: int) -> str:
            powers = [(self.terms(g, ATOM), sign * m) for g, m in parts if sign * m > 0]
            return " * ".join(g if m == 1 else f"{g} ^ {m}" for g, m in powers)

        above, below = one_side(1) or "1", one_side(-1)
        return f"{above} / ({below})" if below else above

    def _exponent(self, name: Expr) -> Expr | None:
        """Return a where a name is exp(a)."""
        atom = self._atoms.get(name)
        return atom.args[0] if isinstance(atom, sympy.exp) else None

    # -- exponentials

    def _monomials(self, argument: Expr) -> Iterator[tuple[Expr, Rational]]:
        for term in sympy.Add.make_args(sympy.expand(argument)):
            number, rest = term.as_coeff_Mul()
            if number != 0:
                yield rest, number

    def _measure(self, argument: Expr) -> None:
        """Note the largest step of which the coefficients of a monomial are multiples."""
        for rest, number in self._monomials(argument):
            step = self._steps.get(rest, number)
            over = lcm(step.q, number.q)
            self._steps[rest] = Rational(gcd(int(step * over), int(number * over)), over)

    def _exponential(self, part: Expr) -> None:
        image: Expr = sympy.Integer(1)
        for rest, number in self._monomials(self._put(part.args[0])):
            if isinstance(rest, sympy.log) and number.is_Integer:
                image *= self.value(rest.args[0]) ** number
            elif isinstance(rest, sympy.asinh) and number.is_Integer:
                u = rest.args[0]
                self._visit(root := sympy.sqrt(u**2 + 1))
                if u + root not in self.signs.above:
                    self.signs = self.signs.with_([u + root, self._image(u + root)])
                    self.lines.append(
                        f"assert (0 < {self.terms(u + root)}) by apply arcsinh_positive."
                    )
                image *= self.value(u + root) ** number
            else:
                step = self._steps[rest]
                base = sympy.exp(step * rest)
                if base not in self._images:
                    self._positive_name(base)
                image *= self._images[base] ** (number / step)
        if part not in self._images:
            turned = "unfold arcsinh; rewrite ?(Rplus_comm (sqrt _))"
            proof = f"apply exp_is; [pos|logs; {turned}; first [solve [field]|{self.field()}]]"
            self._equal(part, image, proof)
