"""Other costs over the fibre: min h(w) subject to F(w) = beta, by the inequality of the means.

Where outputs are monomials the weights above beta are an orbit (:mod:`derive.explicit.orbit`). The
same gives tr K = sum_ij S_ij <dF_i, dF_j> and det K, of which log det K is the logarithm. Data have
S = X^T X; of copies of one output K is diagonal, so that the least K_j counts S_jj times.

Of several monomials without common weights beta is split, an infimal convolution of C_i |b_i|^q. It
is the least C_i where q <= 1, as a concave cost has its minimum at an end; else
C = (sum_i C_i^(-1/(q-1)))^(1-q) over the monomials that take the sign of beta. Parts of the other
sign cost more. Of C |b|^q, q > 1, and c |b| the first takes beta up to the t with C q t^(q-1) = c,
and the other what is more: Huber's function, for q = 2.

What has no such rule is a root of a critical polynomial, as |w|^2 is, where all powers are even.
However it is found, h(v) >= R(F(v)) for all v, with equality at a least w: so grad h = J^T grad R
there, if R is differentiable.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import sympy
from sympy import Abs, Expr, Matrix, Symbol

from derive.errors import InputError
from derive.exact.elementary_signs import Undecided, lesser
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import nullspace_over_constants
from derive.exact.towers.tower import build_elements
from derive.explicit.constrained import pose_cost
from derive.explicit.eliminated import grows, minimum_by_bound
from derive.explicit.minimum import CriticalRoot, minimum_of
from derive.explicit.orbit import UNSEEN, Height, Orbit, exponents
from derive.language import to_sympy
from derive.language.symbolic import from_sympy
from derive.language.tree import Tree, names
from derive.model.names import read_tree
from derive.model.notation import Notation, rational, to_expr
from derive.model.parameterization import Parameterization
from derive.model.restriction import leave_out
from derive.printable import Printable
from derive.statement import Claims, Equations, Open, Sentence, Statement, each, note, tell
from derive.verdict import Finding, Verdict, conclude

TRACE, LOG_DET, LARGEST = "trace-K", "log-det-K", "max"
Costs = Mapping[str, Expr]
"""C |w|^p, by the weight."""
Sides: TypeAlias = tuple[Expr | None, Expr | None]
"""Of beta < 0, and of beta > 0."""
Rows = Sequence[Sequence[Fraction]]
MEANS = "by the inequality of the means along the scalings of the weights that `F` does not see"
SPLIT = "beta is split among monomials without common weights: an infimal convolution"
DUAL = "by duality of linear programs in the logarithms of the weights"
OUTPUTS = 4
"""Of which det K is expanded."""


@dataclass(frozen=True)
class BlockFibre:
    """The least cost of one block of outputs.

    Attributes:
        sides: the factor C of C |beta|^power, None where no w has that sign.
        whole: the least cost where it is no such power, as of several outputs.
        attained: by some w; else it is an infimum.
        kept: the sides where no weight is negative.
        signs: whether beta of all signs have weights.
        minimum: the least cost as a root of a polynomial, of what has no rule.
    """

    beta: tuple[Symbol, ...]
    finding: Finding
    power: Expr | None = None
    sides: Sides = (None, None)
    whole: Expr | None = None
    attained: bool = True
    kept: Sides = (None, None)
    signs: bool = True
    minimum: CriticalRoot | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """Of which beta that is said, where it is not of every beta."""
        orbit = len(self.beta) > 1 and self.finding.reason in (MEANS, DUAL)
        return ("no output is 0",) * orbit + ("`F(w) = beta` for some `w`",) * (not self.signs)

    @property
    def formula(self) -> Expr | None:
        """R where both sides are alike."""
        below, above = self.sides
        if self.minimum is not None:
            forms = {*self.minimum.closed_forms}
            return forms.pop() if len(forms) == 1 else None
        if self.power is None or above is None or below != above:
            return self.whole
        return above * Abs(self.beta[0]) ** self.power


@dataclass(frozen=True, repr=False)
class FibreCost(Claims, Printable):
    """min h(w) subject to F(w) = beta, for a cost h in the weights, tr K or log det K.

    Attributes:
        cost: as it was given.
        blocks: one record for outputs that share weights; the costs are added.
        X: rows of data, with S = X^T X for tr K S and log det X K X^T.
    """

    parameterization: Parameterization
    cost: str
    blocks: tuple[BlockFibre, ...]
    X: tuple[tuple[Fraction, ...], ...] = ()

    @property
    def verdict(self) -> Verdict:
        """PROVED where it is written for every block."""
        return conclude(tuple(block.finding for block in self.blocks))

    @functools.cached_property
    def betas(self) -> tuple[Symbol, ...]:
        """The coordinates of beta: one for each output, or for each feature of the data."""
        p, own = self.parameterization, tuple(b for block in self.blocks for b in block.beta)
        if p.d > 1 or not self.X:
            return own
        return tuple(Symbol(f"beta{j}", real=True) for j in range(1, len(self.X[0]) + 1))

    @property
    def R(self) -> Expr | None:
        """The whole, where it is one formula for all beta."""
        parts = [block.formula for block in self.blocks if block.formula is not None]
        if len(parts) < len(self.blocks):
            return None
        if self.X and self.parameterization.d == 1:
            (b,) = self.blocks[0].beta
            parts = [parts[0].xreplace({b: x}) for x in self.betas]
        if self.cost == LARGEST:
            return sympy.Max(*parts)
        if self.cost != LOG_DET:
            S = gram(self.X, len(parts)) if len(parts) > len(self.blocks) else sympy.eye(len(parts))
            return sympy.Add(*(S[j, j] * part for j, part in enumerate(parts)))
        whole = parts[0]  # det X K X^T of one block, else K is diagonal
        if self.X and len(parts) == len(self.betas):
            X = _matrix(self.X)
            whole = sympy.factor((X * sympy.diag(*parts) * X.T).det())
        elif len(parts) > 1:
            whole = sympy.Mul(*parts)
        return sympy.log(whole) if whole != 0 else -sympy.oo

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed, block by block, and on data."""
        told = (_statement(self, block) for block in self.blocks)
        return (*told, *self._envelopes(), *_on_data(self), *_constant(self))

    def _envelopes(self) -> Iterator[Statement]:
        """Say that grad R are the multipliers, where a least w is there of a smooth cost."""
        words = (
            "at a least `w` the slopes of the cost are `J^T grad R`: `grad R` are the multipliers"
        )
        why = "the cost less `R(F(v))` is `0` at `w`, and nowhere negative"
        given, several = ("`R` is differentiable at `beta`",), len(self.blocks) > 1
        for block in () if self.cost in (LOG_DET, LARGEST) else self.blocks:
            about = ", ".join(map(str, block.beta)) if several else ""
            told = Statement(
                words, {"block": block}, kind="envelope", conditions=given, proof=(note(why),)
            )
            if block.finding.verdict is Verdict.PROVED and block.attained:
                yield replace(told, about=about)


def gram(X: Rows, d: int) -> Matrix:
    """Return S = X^T X, 1 without data."""
    return _matrix(X).T * _matrix(X) if X else sympy.eye(d)


def _matrix(X: Rows) -> Matrix:
    return Matrix([[rational(x) for x in row] for row in X])


def fibre_cost(p: Parameterization, cost: str | Expr, X: Rows = ()) -> FibreCost:
    """Return the least cost over the weights with F(w) = beta.

    >>> fibre_cost(Parameterization.parse(["u*v"]), "3*u**2 + 12*v**2").R
    12*Abs(beta)
    >>> fibre_cost(Parameterization.parse(["a*u1", "a*u2"]), "trace-K").R
    2*sqrt(2)*sqrt(beta1**2 + beta2**2)

    Args:
        cost: a sum of c*abs(w)**p over all weights, c and p positive numbers; max, the largest
            abs(w); trace-K; log-det-K.
        X: rows of features, for the last two; of one output, of copies of it.

    Raises:
        InputError: the cost is no such sum, F no polynomial in coordinates, or data do not fit.
    """
    _refuse(p, X, of_kernel := str(cost) in (TRACE, LOG_DET))
    named = of_kernel or cost == LARGEST
    costs = None if named else _read(read_tree(cost, "the cost"), p.weights)
    blocks = []
    for group in p.blocks:
        block = p if len(p.blocks) == 1 else p.restrict(group)
        data = [[row[i] for i in group] for row in X] if p.d > 1 else []
        h = functools.partial(_cost, costs, str(cost) == LOG_DET, data)
        blocks.append(_of_block(str(cost), block, h, Notation(p, group).betas))
    return FibreCost(p, str(cost), tuple(blocks), tuple(map(tuple, X)))


def _refuse(p: Parameterization, X: Rows, of_kernel: bool) -> None:
    if p.vectors or p.affine or p.rates or p.field.generators or p.parameters:
        raise InputError("a cost is of polynomials in coordinates, without rates and parameters")
    if X and not of_kernel:
        raise InputError("data go with trace-K and log-det-K")
    if X and p.d > 1 and len(X[0]) != p.d:
        raise InputError(f"the data have {len(X[0])} features, but F has {p.d} outputs")


def _read(tree: Tree, weights: Sequence[str]) -> Costs:
    """Return c |w|^p of every weight."""
    if unknown := [name for name in names((tree,)) if name not in weights]:
        raise InputError(f"the cost has {unknown[0]}, which is no weight")
    h = sympy.expand(to_sympy(tree, {w: Symbol(w, real=True) for w in weights}))
    found = dict[str, Expr]()
    for term in sympy.Add.make_args(h):
        (c, sizes), bases = exponents(term), {x.name for x in term.free_symbols}
        plain = all(e > 0 and not odd for e, odd in sizes.values())
        if len(bases) != 1 or not plain or c <= 0 or bases & found.keys():
            raise InputError(f"the cost is to be a sum of c*abs(w)**p, a weight each, not {term}")
        found[bases.pop()] = term
    if missing := [w for w in weights if w not in found]:
        raise InputError(f"{missing[0]} has no cost: the infimum is not attained")
    return found


def _root(h: Height, p: Parameterization, beta: tuple[Symbol, ...]) -> CriticalRoot | None:
    """Return the least cost by elimination, or duality; None where that has no way.

    Where F and h see no shift along n, a weight with n_k != 0 is 0 at some least w: it is left out.
    """
    w = {x: Symbol(x, real=True) for x in p.weights}
    cost = h(p.weights, [to_sympy(f, w) for f in p.trees])
    try:
        *F, height = build_elements((*p.trees, from_sympy(cost)), p.weights)
        slopes = zip(*(f.field.gradient(f)[: p.p] for f in (*F, height)), strict=True)
        unseen = nullspace_over_constants([*slopes])
        last = (max(k for k, c in enumerate(n) if not c.is_zero()) for n in unseen)
        rest = leave_out(p, tuple(p.weights[k] for k in last))
        kept = cost.xreplace({w[x]: sympy.S.Zero for x in {*p.weights} - {*rest.weights}})
        *_, height = build_elements((*rest.trees, from_sympy(kept)), rest.weights)
    except InputError:  # a kink
        return None
    if height.field.generators or not grows(height):
        return None
    found = minimum_by_bound(functools.partial(pose_cost, height=height), rest, beta)
    if not isinstance(found, CriticalRoot):
        return None
    return found if found.factors or found.closed_forms else None


def _of_block(cost: str, p: Parameterization, h: Height, beta: tuple[Symbol, ...]) -> BlockFibre:
    """Return the cost of one block, by the rule of monomials where that is known, or as a root."""
    try:
        return _summed(p, h, beta) if p.d == 1 and cost != LARGEST else _shared(cost, p, h, beta)
    except Undecided as why:
        root = None if cost in (LOG_DET, LARGEST) else _root(h, p, beta)
        unknown = Finding(Verdict.UNDECIDED, str(why)) if root is None else root.finding
        return BlockFibre(beta, unknown, minimum=root)


def _shared(cost: str, p: Parameterization, h: Height, beta: tuple[Symbol, ...]) -> BlockFibre:
    """Return the cost of outputs that share weights, each a monomial."""
    parts = [*map(_monomials, p.F, [p] * p.d)]
    if [len(part) for part in parts] != [1] * p.d or p.d > OUTPUTS:
        raise Undecided(f"of outputs that share weights a rule is known for {OUTPUTS} monomials")
    orbit = Orbit(tuple(row for (row,) in parts), beta)
    if orbit.E.rank() < p.d:
        raise Undecided("the outputs depend on one another")
    R, attained = (orbit.largest(), True) if cost == LARGEST else orbit.least(h)
    proved = Finding(Verdict.PROVED, DUAL if cost == LARGEST else MEANS)
    return BlockFibre(beta, proved, whole=R, attained=attained, signs=orbit.takes_all_signs)


def _summed(p: Parameterization, h: Height, beta: tuple[Symbol, ...]) -> BlockFibre:
    """Return the cost of a sum of monomials without common weights, by an infimal convolution."""
    parts = _monomials(p.F[0], p)
    used = [w for part in parts for w in part.free_symbols]
    if len(set(used)) < len(used) or not all(part.free_symbols for part in parts):
        raise Undecided("a rule is known for sums of monomials without common weights")
    orbits = (Orbit((part,), (Symbol("x", positive=True),)) for part in parts)
    if 0 in (costs := [orbit.least(h)[0] for orbit in orbits]):
        raise Undecided(UNSEEN)
    rows = [(degree(R), R.subs(dict.fromkeys(R.free_symbols, 1))) for R in costs]
    proved = Finding(Verdict.PROVED, MEANS if len(rows) == 1 else f"{MEANS}; {SPLIT}")
    (q, *others) = dict.fromkeys(q for q, _ in rows)
    if q != 0 and not others:
        sides = _sides(parts, rows, q, _takes)
        return BlockFibre(beta, proved, q, sides, kept=_sides(parts, rows, q, _leads))
    if (whole := _mixed(parts, rows, beta[0])) is None:
        raise Undecided("the monomials have costs of several powers of beta")
    return BlockFibre(beta, proved, whole=whole)


def degree(R: Expr) -> Expr:
    """Return q of C x^q."""
    return sympy.Add(*(sympy.cancel(x * R.diff(x) / R) for x in R.free_symbols))


def _monomials(f: RationalFunction, p: Parameterization) -> tuple[Expr, ...]:
    """Return the monomials of an output; of one that is no polynomial 1."""
    whole = sympy.expand(to_expr(f, {w: Symbol(w, real=True) for w in p.weights}))
    return sympy.Add.make_args(whole) if f.is_polynomial() else (sympy.S.One,)


def _cost(
    costs: Costs | None, of_det: bool, X: Rows, weights: Sequence[str], F: Sequence[Expr]
) -> Expr:
    """Return h on some weights: what was given, tr K S, or det X K X^T."""
    if costs is not None:
        return sympy.Add(*(costs[w] for w in weights))
    J = Matrix(F).jacobian([Symbol(x, real=True) for x in weights])
    K = J * J.T
    if not of_det:
        return sympy.expand((K * gram(X, len(F))).trace())
    seen = _matrix(X) * K * _matrix(X).T if X else K
    return sympy.expand(seen.det(method="berkowitz"))


def _sides(
    parts: Sequence[Expr],
    rows: Sequence[tuple[Expr, Expr]],
    q: Expr,
    takes: Callable[[Expr, int], bool],
) -> Sides:
    """Return the factors for beta of each sign, by the monomials that take it; None where none."""
    own = [[C for part, (_, C) in zip(parts, rows, strict=True) if takes(part, s)] for s in (-1, 1)]
    low, high = (_split(factors, q) if factors else None for factors in own)
    return low, high


def _leads(part: Expr, sign: int) -> bool:
    return bool((part.as_coeff_Mul()[0] > 0) == (sign > 0))


def _takes(part: Expr, sign: int) -> bool:
    return any(odd for _, odd in exponents(part)[1].values()) or _leads(part, sign)


def _split(factors: Sequence[Expr], q: Expr) -> Expr:
    """Return the factor of the infimal convolution of C_i |b|^q."""
    if q <= 1:
        return functools.reduce(lesser, factors)
    return sympy.Add(*(C ** (-1 / (q - 1)) for C in factors)) ** (1 - q)


def _mixed(parts: Sequence[Expr], rows: Sequence[tuple[Expr, Expr]], b: Symbol) -> Expr | None:
    """Return the infimal convolution of constants, C |b|^q, q > 1, and c |b|; None of others."""
    if not all(_takes(part, sign) for part in parts for sign in (1, -1)):
        return None
    if constants := [C for q, C in rows if q == 0]:  # what costs the same at every b takes all
        return sympy.Add(*constants)
    steep = {q for q, _ in rows if q != 1}
    if len(steep) != 1 or min(steep) < 1:
        return None
    (q,) = steep
    C = _split([x for p, x in rows if p == q], q)
    c = _split([x for p, x in rows if p == 1], sympy.S.One)
    t, size = (c / (C * q)) ** (1 / (q - 1)), Abs(b)
    first = sympy.Min(size, t)
    return C * first**q + c * (size - first)


def _statement(f: FibreCost, block: BlockFibre) -> Statement | Open:
    """Say what the least cost of a block is, side by side where they differ."""
    name = ", ".join(map(str, block.beta))
    about = name if len(f.blocks) > 1 else ""
    if block.minimum is not None:
        told = minimum_of("R_h", block.minimum, range(len(block.beta)), about)
        first = "of the weights above {beta} let `R_h` be the least {cost}"
        beta = each("`{0}`", ((x,) for x in block.beta))
        more = {"beta": beta, "cost": _written(f), "block": block}
        return replace(told, words=f"{first}: {told.words}", values={**told.values, **more})
    if block.finding.verdict is not Verdict.PROVED:
        return Open("not written: {why}", {"why": block.finding}, kind="fibre cost", about=about)
    least = "least" if block.attained else "infimum, which no `w` attains, of"
    words = f"of the weights above {{b}} the {least} {{cost}} is as below: {{why}}"
    betas = each("`{0}`", ((x,) for x in block.beta))
    values = {"cost": _written(f), "b": betas, "why": block.finding, "block": block}
    return Statement(
        words,
        values,
        kind="fibre cost",
        about=about,
        conditions=block.given,
        by=block.finding,
        below=tuple(_formulas(block)),
    )


def _formulas(block: BlockFibre) -> Iterator[object]:
    """Yield R, or both of its sides; and what is more where no weight is negative."""
    b = block.beta[0]
    if block.formula is not None:
        yield Equations((("R", block.formula),))
    for sign, C, kept in zip(("<", ">"), block.sides, block.kept, strict=True):
        where = f"for `{{b}} {sign} 0`"
        if block.formula is None and C is None:
            yield note(f"no `w` has `F(w) = beta` {where}", b=b)
        elif block.formula is None:
            yield note(where, b=b)
            yield Equations((("R", C * Abs(b) ** block.power),))
        if kept is not None and kept != C:
            R = kept * Abs(b) ** block.power
            yield note(f"{where}, where no weight is negative, it is `{{R}}`", b=b, R=R)


def _written(f: FibreCost) -> Sentence:
    """Return the cost of one block, as it is written."""
    data = bool(f.X) and f.parameterization.d > 1
    if f.cost == TRACE:
        return tell("`tr K S`" if data else "`tr K`")
    if f.cost == LOG_DET:
        return tell("`det X K X^T`" if data else "`det K`")
    if f.cost == LARGEST:
        return tell("`max_k |w_k|`")
    return tell("`{h}`", h=to_sympy(read_tree(f.cost, "the cost")))  # |u|^3, not u^2 |u|


def _on_data(f: FibreCost) -> Iterator[Statement]:
    """Yield the whole cost on data."""
    R, copied = f.R, bool(f.X) and f.parameterization.d == 1
    apart = f.cost == TRACE and copied and f.verdict is Verdict.PROVED
    if not (f.X or f.cost == LOG_DET) or not (R is not None or apart):
        return
    S = each("`{0}`", ((x,) for x in gram(f.X, 1).diagonal()))
    parts = note("the sum over `j` of `S_jj` times that of `tr K` at `beta_j`, `S_jj` = {S}", S=S)
    yield Statement(
        _words_on_data(f, copied),
        {"R": R},
        kind="cost on data",
        below=(parts if R is None else Equations((("R", R),)),),
    )


def _words_on_data(f: FibreCost, copied: bool) -> str:
    """Say of what the whole cost is."""
    of = ("log det X K X^T" if f.X else "log det K") if f.cost == LOG_DET else "tr K S"
    data = "on these rows, `S = X^T X`, " if f.X else ""
    copies = "of copies of `F` " if copied else ""
    least = "least" if all(block.attained for block in f.blocks) else "infimum of"
    return f"{data}{copies}the {least} `{of}` is as below"


def _constant(f: FibreCost) -> Iterator[Statement]:
    """Yield that a cost selects none of the interpolating predictors, where it is so."""
    if not (f.cost == TRACE and f.X) or f.R is None:
        return
    if (k := _factor(f.R**2, f)) is not None:
        words = "it is `{k} |y|` for all `beta` with `X beta = y`: it selects none of them"
        yield Statement(words, {"k": sympy.sqrt(k)}, kind="constant cost")


def _factor(square: Expr, f: FibreCost) -> Expr | None:
    """Return k of a function that is k |X beta|^2; None of others.

    It is proposed at one beta; where X beta is 0 there, nothing is said.
    """
    b = Matrix(f.betas)
    square, size = (sympy.expand(e) for e in (square, (b.T * gram(f.X, len(b)) * b)[0]))
    at = {x: sympy.prime(j) for j, x in enumerate(f.betas, 1)}
    k, below = square.subs(at), size.subs(at)
    return k / below if below != 0 and sympy.expand(square * below - k * size) == 0 else None
