"""The weights above beta, of monomials: an orbit of scalings, and the least cost on it.

Let each output be a monomial c_i prod w_k^E_ik. Logarithms of |w| with F(w) = beta are an orbit of
the scalings w -> exp(K t) w, E K = 0. These multiply monomials of h by exp(<D, t>): let T_i be the
sum of those with one D = D_i, positive. If sum_i p_i D_i = 0 has one solution with sum_i p_i = 1,
all p_i > 0, then on the orbit

    h = sum_i p_i (T_i/p_i) >= prod_i (T_i/p_i)^p_i,   equality where all T_i/p_i are equal,

which is on the orbit where the D_i span all t, and prod_i T_i^p_i is a function of beta, as D is 0.
Where all D >= 0 along one t, and some are not 0, the infimum is that of D = 0, and not attained.
The least max_k |w_k| is a linear program in logarithms, min t, log |w_k| <= t: by duality it is the
largest prod_i |beta_i/c_i|^nu_i over the vertices nu of E^T nu >= 0, of sum 1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import sympy
from flint import nmod_mat
from sympy import Abs, Expr, Matrix, Symbol

from derive.exact.elementary_signs import Undecided

UNSEEN = "the inequality of the means was not seen to give the least cost"
Height = Callable[[Sequence[str], Sequence[Expr]], Expr]
"""H on some weights, and outputs in them."""


@dataclass(frozen=True)
class Orbit:
    """Weights |w| with given values of monomials: what all scalings make of one of them."""

    rows: tuple[Expr, ...]
    beta: tuple[Symbol, ...]

    @functools.cached_property
    def weights(self) -> tuple[str, ...]:
        """The weights of the monomials."""
        return tuple(sorted({w.name for row in self.rows for w in row.free_symbols}))

    @functools.cached_property
    def E(self) -> Matrix:
        """The exponents, a row for each output."""
        return Matrix([list(self._powers(row)[0]) for row in self.rows])

    @functools.cached_property
    def takes_all_signs(self) -> bool:
        """Whether the outputs have all signs: their exponents are independent modulo 2."""
        E = [[int(x) for x in row] for row in self.E.tolist()]
        return int(nmod_mat(E, 2).rank()) == len(self.rows)

    def parts(self, h: Expr) -> dict[tuple[Expr, ...], Expr]:
        """Return the sums of monomials of h that all scalings multiply alike, by their D."""
        found, scalings = dict[tuple[Expr, ...], Expr](), self.E.nullspace()
        for term in sympy.Add.make_args(h):
            e, _ = self._powers(term)
            D = tuple(e.dot(k) for k in scalings)
            found[D] = found.get(D, sympy.S.Zero) + term
        return found

    def least(self, h: Height) -> tuple[Expr, bool]:
        """Return the least h, and whether it is attained; Undecided where it is not seen."""
        parts = self.parts(h(self.weights, self.rows))
        dimension, independent = len(self.weights) - len(self.rows), self.E.rank() == len(self.rows)
        if independent and dimension == 1 and (max(parts)[0] <= 0 or min(parts)[0] >= 0):
            kept = parts.pop((sympy.S.Zero,), sympy.S.Zero)
            return self.in_beta(kept), not parts
        system = Matrix([[*D, 1] for D in parts]).T
        if not (independent and system.is_square and system.det() != 0):
            raise Undecided(UNSEEN)
        p = system.LUsolve(Matrix([0] * dimension + [1]))
        if min(p) <= 0:
            raise Undecided(UNSEEN)
        N = sympy.ilcm(1, *(x.q for x in p))
        means = sympy.Mul(*(T ** (N * x) for T, x in zip(parts.values(), p, strict=True)))
        G = self.in_beta(sympy.expand(means))
        number, form = sympy.factor(G).as_content_primitive()
        factor = sympy.Mul(*(x ** (-x) for x in p), sympy.root(number, N))
        return factor * sympy.powdenest(form ** (sympy.S.One / N)), True

    def largest(self) -> Expr:
        """Return the least max_k |w_k| of independent outputs."""
        d, sizes = len(self.rows), [exponents(row)[0] for row in self.rows]
        whole, found = self.E * sympy.ones(len(self.weights), 1), list[Expr]()
        for tight in combinations(range(len(self.weights)), d - 1):
            equal = Matrix([list(whole), *(list(self.E[:, k]) for k in tight)])
            nu = equal.LUsolve(Matrix([1, *[0] * (d - 1)])) if equal.det() else None
            if nu is not None and min(self.E.T * nu) >= 0:
                pairs = zip(self.beta, sizes, nu, strict=True)
                found.append(sympy.Mul(*(Abs(b / c) ** x for b, c, x in pairs)))
        return sympy.Max(*found)

    def in_beta(self, G: Expr) -> Expr:
        """Return what no scaling moves as a function of beta; Undecided where a sign is left."""
        return sympy.Add(*(self._term(term) for term in sympy.Add.make_args(G) if term != 0))

    def _term(self, term: Expr) -> Expr:
        """Return c prod |beta_i/c_i|^q_i sign(beta_i)^t_i, q E = e, t E odd where signs count."""
        e, odd = self._powers(term)
        q = (self.E * self.E.T).LUsolve(self.E * e)
        every = (Matrix([t]) for t in product((0, 1), repeat=len(self.rows)))
        t = next((t for t in every if all(x % 2 == 0 for x in t * self.E - odd)), None)
        if t is None:
            raise Undecided(UNSEEN)
        sized = zip((exponents(row)[0] for row in self.rows), self.beta, q, t, strict=True)
        signed = ((Abs(b / c), b / c, x, s) for c, b, x, s in sized)
        return exponents(term)[0] * sympy.Mul(*(size ** (x - s) * b**s for size, b, x, s in signed))

    def _powers(self, term: Expr) -> tuple[Matrix, Matrix]:
        """Return the exponents of |w| in a monomial, and which signs count, 1 or 0."""
        sizes = exponents(term)[1]
        pairs = [sizes.get(w, (sympy.S.Zero, False)) for w in self.weights]
        return Matrix([e for e, _ in pairs]), Matrix([[int(x) for _, x in pairs]])


def exponents(term: Expr) -> tuple[Expr, dict[str, tuple[Expr, bool]]]:
    """Return c of c prod |w|^e sign(w)^odd, and e with odd by the weight; e = 0 of what is none."""
    c, powers = term.as_coeff_Mul()
    found = dict[str, tuple[Expr, bool]]()
    for factor in sympy.Mul.make_args(powers):
        base, e = factor.as_base_exp()
        inside = base.args[0] if isinstance(base, Abs) else base
        size = inside.is_Symbol and e.is_Rational and (e.is_Integer or isinstance(base, Abs))
        known, odd = found.get(str(inside), (sympy.S.Zero, False))
        if factor != 1:
            turned = inside is base and e % 2 == 1
            found[str(inside)] = (known + e, odd != turned) if size else (sympy.S.Zero, True)
    return c, found
