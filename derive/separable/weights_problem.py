"""The margin problem in the weights, for F with a grading, and what it costs in beta.

Gradient flow of logistic or exponential loss whose sum is below l(0) at some time tends in
direction to a KKT point of

    min |w|^2/2  subject to  <x_i, F(w)> >= 1:   w = J^T X^T lambda, lambda_i (u_i - 1) = 0,

lambda >= 0 (Lyu, Li 2020; that the direction converges: Ji, Telgarsky 2020), for F homogeneous of
positive degree, locally Lipschitz with a chain rule, and definable. In beta its global
minimizers are those of R_F(beta) = min |w|^2 s.t. F(w) = beta, homogeneous of degree 2/D.

A conserved c that is homogeneous of degree m != 0 vanishes at KKT points: m c = <grad c, w> =
<grad c, J^T X^T lambda> = 0. Where D >= 2, J(0) = 0, so weights of a copy that are 0 satisfy their
conditions whatever the data are.

For J Lam w = F with another diagonal Lam >= 0 the weights of the largest entry rule (Kunin et al.
2022): with c^-Lam w normalised they tend to a KKT point of the sum of *their* squares, where they
cannot all be 0. Weights without which F still reaches every beta cost nothing, and are thought to
fade: then F without them has the problem. Below the largest entry the next one decides among the
minimizers, as far as a formal expansion tells.

Constant learning rates are gradient flow of v, w = r^(1/2) v: for |w|^2 stands sum_k w_k^2/r_k,
for J^T stands G^-1 J^T, and laws and gradings are the same in v and in w. Where F_i(w) = s_i F_i(v)
R_F is that of equal rates at beta_i/s_i, whatever names s has in it.

Under steepest descent in l_p on copies of one homogeneous output limit points of w/|w|_p are KKT
points, in a generalised sense, of min |w|_p subject to <x_i, F(w)> >= 1 (Tsilivis, Vardi, Kempe
2024). In beta its minimizers are those of the sum over copies of R_p = min sum_k |w_k|^p subject to
F(w) = beta, or of the largest over copies of R_oo = min max_k |w_k|. F(c w) = c^D F(w) gives
R_p(beta) = R_p(1) |beta|^(p/D) for beta > 0, and the same for beta < 0 where F(P w) = -F(w) for
some P that permutes weights and alters signs, which no l_p norm sees. So it is the margin in
l_(p/D); of sign descent, p = oo, in l_inf. Where F takes one sign alone, it is that margin among
such beta.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.errors import DegenerateStart, InputError
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.linear.matrix import dot
from derive.exact.signs import Signs
from derive.explicit.constrained import Stopped, is_onto, pose_cost
from derive.explicit.fibre_cost import fibre_cost
from derive.explicit.minimum import RootByInterval, SquaredDistance
from derive.explicit.regularize import representation_cost
from derive.limits.limit import two_sided
from derive.model.geometry import EUCLIDEAN
from derive.model.grading import Grading, entries, find_gradings
from derive.model.labels import quoted
from derive.model.notation import Notation, rational, to_expr
from derive.model.parameterization import Parameterization
from derive.model.restriction import leave_out
from derive.separable.far import Far, Leading
from derive.verdict import Finding, Verdict
from derive.weights.conserved import ConservedQuantities, find_conserved, find_lie_structure

HOMOGENEOUS = "Lyu, Li 2020; Ji, Telgarsky 2020"
"""Who proved what homogeneous models tend to."""
GRADED = "Kunin, Yamamura, Ma, Ganguli 2022"
"""Who proved what others tend to, and conjectured which weights fade."""
STEEPEST = "Tsilivis, Vardi, Kempe 2024"
"""Who proved what steepest descent tends to."""
MOST = 6
"""Weights of which all sets are tried, whether F does without them, and all signs."""
FORMAL = "a formal expansion"
"""Why there are levels below the first."""


@dataclass(frozen=True)
class BlockCost:
    """R_F on outputs that share weights.

    Attributes:
        outputs: which, counted from 0.
        finding: how it was found, as a root of a polynomial or a formula.
        formula: R_F in betas; None where it was not written; on its *side* of 0 alone where that
            is 1 or -1, no w having F(w) = beta on the other.
        square: the sum of squares that is least, where not of all weights.
        given: of which beta that is said, where it is not of every beta.
    """

    outputs: tuple[int, ...]
    betas: tuple[Symbol, ...]
    finding: Finding
    formula: Expr | None
    side: int = 0
    square: Expr | None = None
    given: tuple[str, ...] = ()


@dataclass(frozen=True)
class Level:
    """Weights of one entry of Lam, the sum of whose squares is least, after those before it.

    Attributes:
        square: that sum, over the learning rates.
        costs: of the blocks of outputs that have no other weights, that sum as a function of beta.
    """

    degree: Fraction
    weights: tuple[Expr, ...]
    square: Expr
    costs: tuple[BlockCost, ...]


@dataclass(frozen=True)
class WeightsProblem:
    """min |w|^2/2 subject to <x_i, F(w)> >= 1.

    Attributes:
        finding: is it what the flow tends to a KKT point of?
        degree: D of F(c w) = c^D F(w), or None.
        costs: R_F of each block.
        vanishing: conserved quantities that are 0 at every KKT point.
        norm: of steepest descent, that of the problem in beta.
        side: 1 or -1 where F takes that sign alone; of steepest descent.
        grading: Lam where it is not I/D, by the weight.
        kept, fading: that of F without weights which the problem does without, and these.
        levels: what is least first, and what among its minimizers.
        square: sum_k w_k^2/r_k under constant learning rates.
    """

    finding: Finding
    degree: Expr | None
    costs: tuple[BlockCost, ...] = ()
    vanishing: tuple[Expr, ...] = ()
    norm: str | None = None
    grading: Mapping[Expr, Expr] | None = field(default=None, hash=False)
    kept: Mapping[Expr, Expr] | None = field(default=None, hash=False)
    fading: tuple[Expr, ...] = ()
    levels: tuple[Level, ...] = ()
    square: Expr | None = None
    side: int = 0

    @property
    def formula(self) -> Expr | None:
        """R_F in beta, the sum over blocks, where it is written on both sides of 0."""
        known = [c.formula for c in self.costs if c.formula is not None and not c.side]
        whole = len(known) == len(self.costs) > 0
        return sympy.Add(*known) if whole else None


def pose_in_weights(derivation: Derivation) -> WeightsProblem:
    """Return the margin problem in the weights that move, with the cost in beta."""
    p = leave_out(derivation.parameterization, derivation.idle)
    found = [block.conserved for block in derivation.blocks]
    if derivation.ties:  # of all weights: what the flow from this start keeps tells less
        groups = [p] if len(p.blocks) <= 1 else map(p.restrict, p.blocks)
        found = [find_conserved(find_lie_structure(group)) for group in groups]
    posed = _posed(p, tuple(law for laws in found for law in _vanishing(laws)))
    of_all = p.geometry == EUCLIDEAN or p.geometry.weight_square(p.w) is None
    return posed if of_all else replace(posed, square=_written_square(p, p.weights))


def _open(reason: str, D: Expr | None = None) -> WeightsProblem:
    return WeightsProblem(Finding(Verdict.UNDECIDED, reason), D)


def _posed(p: Parameterization, vanishing: tuple[Expr, ...]) -> WeightsProblem:
    if p.geometry.weight_square(p.w) is None:
        return _open("it is known for gradient flow, and for learning rates that are constant")
    homogeneity, gradings = p.homogeneity, find_gradings(p)
    D = None if homogeneity is None else to_expr(homogeneity, Notation(p, ()).weights)
    if gradings.one is not None and gradings.one.rules:
        return _pose_graded(p, gradings.one, WeightsProblem(gradings.finding, D))
    if D is None:
        other = "its grading is not diagonal, or has entries below 0"
        return _open(
            f"F is not homogeneous, and {other if gradings.one else gradings.finding.reason}"
        )
    if not is_polynomial(p):
        why = "F is homogeneous, but no polynomial: smoothness where weights vanish is not known"
        return _open(why, D)
    reason = "a homogeneous polynomial is locally Lipschitz and definable, with a chain rule"
    return WeightsProblem(Finding(Verdict.PROVED, reason), D, tuple(_costs(p, D)), vanishing)


def _square(p: Parameterization, names: Collection[str]) -> RationalFunction:
    """Return sum_k w_k^2/r_k of some weights."""
    rates = map(p.field.embed, p.geometry.functions or (p.field.one,) * p.p)
    rows = zip(p.w, rates, p.weights, strict=True)
    return sum((w * w / r for w, r, name in rows if name in names), p.field.zero)


def _written_square(p: Parameterization, names: Collection[str]) -> Expr:
    return to_expr(_square(p, names), Notation(p, ()).weights)


def _pose_graded(p: Parameterization, one: Grading, posed: WeightsProblem) -> WeightsProblem:
    """Return the problem of the largest entry of Lam, then of the others, without what fades."""
    needed = [_needed(p if len(p.blocks) == 1 else p.restrict(g)) for g in p.blocks]
    symbols, lam = Notation(p, ()).weights, dict[str, Fraction]()
    costs = dict[Fraction, list[BlockCost]]()
    for group, rest in zip(p.blocks, needed, strict=True):
        degrees = _degrees(rest)
        lam |= degrees
        top = max(degrees.values())
        large = [w for w in rest.weights if degrees[w] == top]
        whole = len(large) == rest.p
        cost = _costs(rest, 1 / rational(top))[0] if whole else _by_length(rest, large, top)
        if cost is not None:
            betas = Notation(p, group).betas if not p.vectors else cost.betas
            names = dict(zip(cost.betas, betas, strict=False))
            R = None if cost.formula is None else cost.formula.xreplace(names)
            own = _written_square(rest, large)
            cost = replace(cost, outputs=group, betas=betas, formula=R, square=own)
            costs.setdefault(top, []).append(cost)
    levels = []
    for x in sorted({*lam.values()} - {0}, reverse=True):
        own = [w for w in p.weights if lam.get(w) == x]
        least = _written_square(p, own)
        levels.append(Level(x, tuple(symbols[w] for w in own), least, tuple(costs.get(x, ()))))
    fading = tuple(symbols[w] for w in p.weights if w not in lam)
    kept = {symbols[w]: rational(lam[w]) for w in p.weights if w in lam}
    return replace(posed, grading=entries(p, one), kept=kept, fading=fading, levels=tuple(levels))


def _needed(block: Parameterization) -> Parameterization:
    """Return F without weights of the largest entries that it needs for no beta, if any.

    These are sets without which F has a grading with a lower largest entry, and still reaches
    every beta, proved: the least sum of squares of the largest entry is 0.
    """
    lam = _degrees(block)
    large = [w for w in block.weights if lam[w] == max(lam.values())]
    for n in range(1, len(large) + 1 if len(large) <= MOST else 2):
        for left_out in combinations(large, n):
            try:
                rest = leave_out(block, left_out)
            except (DegenerateStart, InputError):
                continue
            degrees = {} if {*rest.weights} & {*left_out} else _degrees(rest)
            lower = degrees and max(degrees.values()) < max(lam.values()) and not rest.vectors
            lower = lower and rest.rank == block.rank
            with suppress(Stopped):
                if lower and is_onto(pose_cost(rest)):
                    return _needed(rest)
    return block


def _degrees(p: Parameterization) -> dict[str, Fraction]:
    """Return the entries of Lam >= 0 by the weight; none where there is no such Lam."""
    one = find_gradings(p).one
    blocks = () if one is None or not one.blocks or one.blocks[-1][0] < 0 else one.blocks
    return {p.weights[k]: x for x, own in blocks for k in own}


def _by_length(p: Parameterization, large: Sequence[str], lam: Fraction) -> BlockCost | None:
    """Return the cost where |F| is a power of the length of these weights; or None."""
    size, e, square = _square(p, large), 1 / lam, dot(p.F, p.F)
    ratio = square / size**e.numerator if e.denominator == 1 else square
    if not ratio.is_constant():
        return None
    betas = (Symbol("s", real=True),) if p.vectors else Notation(p, tuple(range(p.d))).betas
    R = (sympy.Add(*(b**2 for b in betas)) / rational(ratio.value())) ** rational(lam)
    reason = "`|F|` is a power of the length of these weights"
    cost = SquaredDistance(betas, Finding(Verdict.PROVED, reason))
    return BlockCost((0,), betas, cost.finding, R, given=cost.given)


def is_polynomial(p: Parameterization) -> bool:
    """Tell whether F is a polynomial; of a sum of phi_k u_k, whether it is 0 where all u_k are."""
    constant = {g.kind for g in p.F[0].field.generators} <= {"parameter"}
    if not constant or not all(f.is_polynomial() for f in p.F):
        return False
    images = list(p.field.gens)
    for vector in p.vectors:
        images[p.weights.index(vector.norm)] = p.field.zero
    return not p.vectors or p.F[0].compose(images, p.field).is_zero()


def _vanishing(conserved: ConservedQuantities) -> list[Expr]:
    """Return the laws with <grad c, w> = m c, m != 0: they are 0 at KKT points."""
    p, found = conserved.parameterization, list[Expr]()
    for law in conserved.laws:
        if law.field is not p.field or not law.is_polynomial():
            continue
        moved = dot(p.w, p.field.gradient(law))
        if not moved.is_zero() and (moved / law).is_constant():
            found.append(to_expr(law, Notation(p, ()).weights))
    return found


def _costs(p: Parameterization, D: Expr) -> list[BlockCost]:
    if p.geometry != EUCLIDEAN:
        return _weighted_costs(p)
    found, s = [], Symbol("s", real=True)  # |beta| of a vector
    for group in [(0,)] if p.vectors else p.blocks:
        block = p if len(p.blocks) <= 1 else p.restrict(group)
        betas = (s,) if p.vectors else Notation(p, group).betas
        cost, formula, side = representation_cost(block, betas), None, 0
        if isinstance(cost, RootByInterval):
            down, up = (_factor(cost, betas[0], side) for side in (-1, 1))
            formula, side = _on_sides(None if p.vectors else down, up, betas[0], 2 / D)
        elif cost.verdict is Verdict.PROVED and not p.vectors:
            formula = next(iter(cost.closed_forms), None)
        side = 0 if p.vectors else side
        found.append(BlockCost(group, betas, cost.finding, formula, side, given=cost.given))
    return found


def _weighted_costs(p: Parameterization) -> list[BlockCost]:
    """Return the least sum_k w_k^2/r_k of each block; of a vector in its length s."""
    plain, found = p.with_(geometry=EUCLIDEAN, vectors=(), parameters=()), list[BlockCost]()
    scales = _scales(p) if p.parameters else [sympy.S.One] * p.d
    try:
        if scales is None:
            raise InputError(f"give {quoted(p.parameters[0], p)} a number")
        square = sympy.Add(*(w**2 for w in Notation(plain, ()).weights.values()))
        square = square if p.parameters else _written_square(p, p.weights)
        blocks = fibre_cost(plain, square).blocks
    except InputError as fault:
        every = tuple(range(p.d))
        finding = Finding(Verdict.UNDECIDED, str(fault))
        return [BlockCost(every, Notation(p, every).betas, finding, None)]
    for group, x in zip(p.blocks or [(0,)], blocks, strict=True):
        betas = (Symbol("s", real=True),) if p.vectors else x.beta
        R, side = (x.formula, 0) if x.power is None else _on_sides(*x.sides, betas[0], x.power)
        pairs = zip(x.beta, betas, (scales[i] for i in group), strict=True)
        at = {own: b / scale for own, b, scale in pairs}
        R = R.subs(at, simultaneous=True) if R and x.attained else None
        found.append(BlockCost(group, betas, x.finding, R, side, given=x.given))
    return found


def _scales(p: Parameterization) -> list[Expr] | None:
    """Return s_i with F_i(r^(1/2) v) = s_i F_i(v), of polynomials without parameters, or None."""
    symbols, found = Notation(p, ()).start_symbols, list[Expr]()
    known = all(g.kind == "parameter" for g in p.field.generators)
    if not (known and all(f.is_polynomial() for f in p.F)):
        return None
    rates = [to_expr(r, symbols) for r in p.geometry.functions]
    for f in p.F:
        powers = (e for e, _ in terms(f.numerator))
        scaled = {sympy.Mul(*(r**n for r, n in zip(rates, e, strict=False))) for e in powers}
        if len(scaled) > 1 or {*f.variables()} & {*p.parameters}:
            return None
        found += map(sympy.sqrt, scaled)
    return found


def _on_sides(down: Expr | None, up: Expr | None, b: Symbol, q: Expr) -> tuple[Expr | None, int]:
    """Return R_F = k |b|^q, k by the sign of b, and the one side where it is, if not both are."""
    if up is None and down is None:
        return None, 0
    if up is None or down is None:
        return (up * b**q, 1) if down is None else (down * (-b) ** q, -1)
    return (up * sympy.Abs(b) ** q if up == down else two_sided(up, down, b, q)), 0


def _factor(cost: RootByInterval, b: Symbol, side: int) -> Expr | None:
    """Return R_F(side) from the form on the interval that has it; None where it is not written."""
    for interval, form in zip(cost.intervals, cost.closed_forms, strict=True):
        low, high = interval.low, interval.high
        far, near = (high, low) if side > 0 else (low, high)
        if far is None and near in (None, 0) and form is not None:
            return form.subs(b, side)
    return None


def agreement(far: Sequence[Far], problem: WeightsProblem) -> Finding:
    """Decide whether the horizon of Q and R_F have the same predictors of largest margin.

    They do where R_F = k h on every block, h and R_F being sums over blocks and over copies of one
    output; where all outputs share weights, R_F = k h^r for some r > 0 will do.
    """
    costs, D = problem.costs, problem.degree
    if D is None or [len(f.betas) for f in far] != [len(c.betas) for c in costs]:
        return Finding(Verdict.UNDECIDED, "they are not sums over the same blocks")
    # R_F in the symbols of Q, where both are written on both sides of 0.
    pairs = [
        (f.leading, c.formula.xreplace(dict(zip(c.betas, f.betas, strict=True))))
        for f, c in zip(far, costs, strict=True)
        if f.leading is not None and c.formula is not None and not c.side
    ]
    if len(pairs) < len(far):
        return Finding(Verdict.UNDECIDED, "one of them was not written")
    free = len(far) == 1 and far[0].shape != "single"
    try:
        equal = _are_multiples(far, pairs, D if free else None)
    except Undecided as open_end:
        return Finding(Verdict.UNDECIDED, str(open_end))
    if not equal:
        return Finding(Verdict.REFUTED, "R_F is no increasing function of the horizon of Q")
    return Finding(Verdict.PROVED, "R_F is an increasing function of the horizon of Q")


def _are_multiples(
    far: Sequence[Far], pairs: Sequence[tuple[Leading, Expr]], D: Expr | None
) -> bool:
    """Tell whether R_F = k h^r with one k, exactly; r = 1 unless a degree D is given."""
    first, R = pairs[0]
    r = sympy.S.One if D is None else 2 / D / first.degree
    unit = dict.fromkeys(far[0].betas, sympy.S.Zero) | {far[0].betas[0]: sympy.S.One}
    k = R.subs(unit) / (first.h**r).subs(unit)
    gaps = (R - k * x.h**r for x, R in pairs)
    return all(_vanishes(f, gap) for f, gap in zip(far, gaps, strict=True))


def _vanishes(f: Far, gap: Expr) -> bool:
    """Tell whether a function of the betas of a block is 0; of one coordinate on either side."""
    if len(f.betas) > 1:
        return ElementarySigns().is_zero(gap)
    (b,), x = f.betas, Symbol("size_", positive=True)
    sides = (1, -1) if f.shape == "single" else (1,)
    decide = ElementarySigns([x.name, *(s.name for s in gap.free_symbols if s.is_positive)])
    return all(decide.is_zero(gap.subs(b, side * x)) for side in sides)


def pose_steepest(derivation: Derivation) -> WeightsProblem:
    """Return the margin problem in the weights of steepest descent, and its norm in beta."""
    p = derivation.parameterization
    if p.homogeneity is None:
        return _open("F is not homogeneous")
    D, k = to_expr(p.homogeneity, Notation(p, ()).weights), p.degree
    if k is None or k < 1 or not all(f.is_polynomial() for f in p.F):
        return _open("F is homogeneous, but no polynomial of given degree")
    if p.d > 1:
        return _open("it is known for copies of one output", D)
    words, (F,) = odd_symmetry(p), p.F
    side = next((c for c, f in ((1, F), (-1, -F)) if Signs().is_nonnegative(f)), 0)
    if words is None and not side:
        return _open("that `F` takes both signs at one cost was not found", D)
    found = Finding(Verdict.PROVED, words or f"no `w` has `F(w) {'<' if side > 0 else '>'} 0`")
    s = p.geometry.steepest
    norm = f"l{(1 + 1 / s) / Fraction(k)}" if s else "linf"
    return WeightsProblem(found, D, norm=norm, side=side)


def odd_symmetry(p: Parameterization) -> str | None:
    """Return the exchange of weights and signs that takes F to -F, by expansion; or None."""
    n, (F,) = p.p, p.F
    swaps = [(), *combinations(range(n), 2)]
    for signs, swap in product(product((1, -1), repeat=n if n <= MOST else 0), swaps):
        order = [*range(n)]
        for i in swap:
            order[i] = sum(swap) - i
        moved = [w if c > 0 else -w for c, w in zip(signs, (p.w[k] for k in order), strict=True)]
        if F.compose([*moved, *F.field.gens[n:]], F.field) == -F:
            pairs = zip(p.weights, moved, strict=True)
            changes = (f"{w} -> {x}" for w, x in pairs if repr(x) != w)
            return f"`F` becomes `-F` under `{', '.join(changes)}`"
    return None
