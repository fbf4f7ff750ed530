"""Other costs over the fibre: min h(w) subject to F(w) = beta, for sums of monomials.

Of one monomial F = c prod w_k^e_k and h = sum_k c_k |w_k|^p_k, all p_k of one sign, logarithms
t_k of |w_k| make the cost convex, sum_k c_k exp(p_k t_k), and F linear. So the one critical point
is the minimum: c_k p_k |w_k|^p_k = m e_k, with S = sum_k e_k/p_k

    m^S = |beta/c| prod_k (c_k p_k/e_k)^(e_k/p_k),    h = S m.

tr K = sum_k (e_k beta/w_k)^2 on the fibre has p_k = -2. Of several monomials without common
weights beta is split, so that the cost is the infimal convolution of C_i |beta_i|^q, q = 1/S: the
least C_i where q <= 1, as a concave cost has its minimum at an end; else
C = (sum_i C_i^(-1/(q-1)))^(1-q) over the monomials that take the sign of beta. Parts of the other
sign cost more.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol

from derive.errors import InputError
from derive.exact.field.polynomial import terms
from derive.language import to_sympy
from derive.language.tree import Tree, names
from derive.model.names import read_tree
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.printable import Printable
from derive.statement import Claims, Equations, Open, Statement, note
from derive.verdict import Finding, Verdict, conclude

TRACE = "trace-K"
Costs = Mapping[str, tuple[Expr, Expr]]
"""c and p of c |w|^p, by the weight."""
CONVEX = "in logarithms of the weights the cost is convex and a monomial is linear"
SPLIT = "beta is split among monomials without common weights: an infimal convolution"


@dataclass(frozen=True)
class BlockFibre:
    """The least cost of one block of outputs: sides are those of beta < 0 and beta > 0.

    Attributes:
        sides: the factor C of C |beta|^power, None where no w has that sign.
    """

    beta: tuple[Symbol, ...]
    finding: Finding
    power: Expr | None = None
    sides: tuple[Expr | None, Expr | None] = (None, None)

    @property
    def formula(self) -> Expr | None:
        """R where both sides are alike."""
        below, above = self.sides
        if self.power is None or above is None or below != above:
            return None
        return above * sympy.Abs(self.beta[0]) ** self.power


@dataclass(frozen=True, repr=False)
class FibreCost(Claims, Printable):
    """min h(w) subject to F(w) = beta, for a cost h in the weights, or tr K.

    Attributes:
        cost: as it was given.
        blocks: one record for outputs that share weights; the costs are added.
    """

    parameterization: Parameterization
    cost: str
    blocks: tuple[BlockFibre, ...]

    @property
    def verdict(self) -> Verdict:
        """PROVED where it is written for every block."""
        return conclude(tuple(block.finding for block in self.blocks))

    @property
    def R(self) -> Expr | None:
        """The whole, where it is one formula for all beta."""
        parts = [block.formula for block in self.blocks]
        return None if None in parts else sympy.Add(*parts)

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed, block by block."""
        return tuple(_statement(self, block) for block in self.blocks)


def fibre_cost(p: Parameterization, cost: str | Expr) -> FibreCost:
    """Return the least cost over the weights with F(w) = beta.

    >>> fibre_cost(Parameterization.parse(["u*v"]), "3*u**2 + 12*v**2").R
    12*Abs(beta)
    >>> fibre_cost(Parameterization.parse(["u*v*w"]), "trace-K").R
    3*Abs(beta)**(4/3)

    Args:
        cost: a sum of c*abs(w)**p over all weights, c and p positive numbers; or trace-K.

    Raises:
        InputError: the cost is no such sum, or F no polynomial in coordinates.
    """
    if p.vectors or p.affine or p.rates or p.field.generators or p.parameters:
        raise InputError("a cost is of polynomials in coordinates, without rates and parameters")
    if str(cost) == "log-det-K":
        raise InputError("no rule is known for log det K: give trace-K, or a sum of c*abs(w)**p")
    costs = None if str(cost) == TRACE else _read(read_tree(cost, "the cost"), p.weights)
    blocks = []
    for group in p.blocks:
        block = p if len(p.blocks) == 1 else p.restrict(group)
        blocks.append(_block(block, costs, Notation(p, group).betas))
    return FibreCost(p, str(cost), tuple(blocks))


def _read(tree: Tree, weights: Sequence[str]) -> Costs:
    """Return c and p of every weight."""
    if unknown := [name for name in names((tree,)) if name not in weights]:
        raise InputError(f"the cost has {unknown[0]}, which is no weight")
    h = sympy.expand(to_sympy(tree, {w: Symbol(w, real=True) for w in weights}))
    found = dict[str, tuple[Expr, Expr]]()
    for term in sympy.Add.make_args(h):
        c, power = term.as_coeff_Mul()
        sizes = [_size(factor) for factor in sympy.Mul.make_args(power)]
        bases = {w for w, _ in sizes}
        if len(bases) != 1 or None in bases or c <= 0 or bases & found.keys():
            raise InputError(f"the cost is to be a sum of c*abs(w)**p, a weight each, not {term}")
        found[str(bases.pop())] = c, sympy.Add(*(e for _, e in sizes))
    if missing := [w for w in weights if w not in found]:
        raise InputError(f"{missing[0]} has no cost: the infimum is not attained")
    return found


def _size(factor: Expr) -> tuple[str | None, Expr]:
    """Return the weight and p of |w|^p > 0; no weight for what is none."""
    base, e = factor.as_base_exp()
    even = isinstance(base, sympy.Abs) or (e.is_Integer and e % 2 == 0)
    inside = base.args[0] if isinstance(base, sympy.Abs) else base
    plain = inside.is_Symbol and even and e.is_Rational and e > 0
    return (inside.name if plain else None), e


def _block(p: Parameterization, costs: Costs | None, beta: tuple[Symbol, ...]) -> BlockFibre:
    """Return the cost of one block."""

    def open_(why: str) -> BlockFibre:
        return BlockFibre(beta, Finding(Verdict.UNDECIDED, why))

    if p.d > 1 or not p.F[0].is_polynomial():
        return open_("a rule is known for one polynomial output of its own weights")
    parts = [*_monomials(p)]
    used = [w for _, powers in parts for w in powers]
    if len(set(used)) < len(used) or not all(powers for _, powers in parts):
        return open_("a rule is known for sums of monomials without common weights")
    rows = [_monomial(c, powers, costs) for c, powers in parts]
    (q, *others) = dict.fromkeys(q for q, _ in rows)
    if others or q == 0:
        return open_("the monomials have costs of several powers of beta, or of none")
    why = CONVEX if len(parts) == 1 else f"{CONVEX}; {SPLIT}"
    sides = _side(parts, rows, -1), _side(parts, rows, 1)
    return BlockFibre(beta, Finding(Verdict.PROVED, why), q, sides)


def _side(
    parts: Sequence[tuple[Expr, Mapping[str, int]]], rows: Sequence[tuple[Expr, Expr]], sign: int
) -> Expr | None:
    """Return the factor for beta of a sign, by the monomials that take it; None where none does."""
    reach, q = list[Expr](), rows[0][0]
    for (c, powers), (_, C) in zip(parts, rows, strict=True):
        reach += [C] if any(n % 2 for n in powers.values()) or (c > 0) == (sign > 0) else []
    if q > 1 and reach:  # the infimal convolution of C_i |b|^q
        return sympy.Add(*(C ** (-1 / (q - 1)) for C in reach)) ** (1 - q)
    return min(reach, key=lambda C: sympy.N(C, 50), default=None)


def _monomials(p: Parameterization) -> Iterator[tuple[Expr, dict[str, int]]]:
    """Yield the coefficient of each monomial of F with its exponents."""
    F = p.F[0]
    below = sympy.Integer(int(F.denominator.leading_coefficient()))
    for exponents, c in terms(F.numerator):
        used = {w: n for w, n in zip(p.weights, exponents, strict=False) if n}
        yield sympy.Integer(int(c)) / below, used


def _monomial(c: Expr, powers: Mapping[str, int], costs: Costs | None) -> tuple[Expr, Expr]:
    """Return q and C of the least cost C |beta|^q of one monomial."""
    size = 1 / abs(c)
    if costs is None:  # |beta|^2 sum_k e_k^2 v_k^2, prod v_k^e_k = |c|/|beta|, v_k = 1/|w_k|
        rows = [(sympy.Integer(e) ** 2, sympy.Integer(2), e) for e in powers.values()]
        q, C = _least(rows, abs(c))
        return 2 - q, C
    return _least([(*costs[w], e) for w, e in powers.items()], size)


def _least(rows: Sequence[tuple[Expr, Expr, int]], size: Expr) -> tuple[Expr, Expr]:
    """Return 1/S and S m of m^S = size prod (c p/e)^(e/p), S = sum e/p."""
    S = sympy.Add(*(e / p for _, p, e in rows))
    product = sympy.Mul(size, *((c * p / e) ** (e / p) for c, p, e in rows))
    return 1 / S, S * product ** (1 / S)


def _statement(f: FibreCost, block: BlockFibre) -> Statement | Open:
    """Say what the least cost of a block is, side by side where they differ."""
    name = ", ".join(map(str, block.beta))
    about = name if len(f.blocks) > 1 else ""
    if block.power is None:
        return Open("not written: {why}", {"why": block.finding}, kind="fibre cost", about=about)
    (b,), below = block.beta, list[object]()
    if block.formula is not None:
        below.append(Equations((("R", block.formula),)))
    else:
        for sign, C in zip(("<", ">"), block.sides, strict=True):
            nowhere = note(f"no `w` has `F(w) = beta` for `{{b}} {sign} 0`", b=b)
            value = None if C is None else C * sympy.Abs(b) ** block.power
            below += [nowhere] if value is None else [note(f"for `{{b}} {sign} 0`", b=b)]
            below += [] if value is None else [Equations((("R", value),))]
    words = "of the weights above `{b}` the least `{cost}` is as below: {why}"
    cost = Symbol("tr K") if f.cost == TRACE else read_tree(f.cost, "the cost")
    values = {"cost": cost, "b": b, "why": block.finding, "block": block}
    return Statement(
        words, values, kind="fibre cost", about=about, by=block.finding, below=tuple(below)
    )
