"""What weight decay, momentum, finite steps and noise do to the laws, the dual coordinates and Q.

All are read off one calculus (:mod:`derive.perturbed.followed`), which gives, for any of them,

    c(inf) = c_inf,    y(inf) - y(0) - xi in the row space of X.

So where the perturbed flow converges to an interpolant and g > 0, its limit minimises
Q_(c_inf)(beta) - <y(0) + xi, beta> subject to X beta = y, where grad Q_c = y on the leaf of c.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from derive.derivation import Derivation
from derive.errors import InputError, check_kind
from derive.joint import join_findings
from derive.language import to_sympy
from derive.model.labels import taken_names
from derive.model.names import read_tree, unused
from derive.model.notation import Notation, to_expr
from derive.model.restriction import leave_out
from derive.perturbed.decay import check_penalty, decay_of, field_degree, penalty_of
from derive.perturbed.drift import Drift
from derive.perturbed.effective import joined, scaled_start, scaled_symbols, start_with_laws
from derive.perturbed.followed import Followed, Leaf, follow
from derive.perturbed.momentum import OneSided, momentum_of, one_sided
from derive.perturbed.noise import noise_of
from derive.perturbed.planar import followed_in_plane
from derive.perturbed.step import conditions, step_of
from derive.printable import Printable
from derive.verdict import Finding, Identity, Verdict


@dataclass(frozen=True, repr=False)
class Perturbation(Printable):
    """What a perturbation of gradient flow does, by exact identities in the weights.

    Attributes:
        derivation: of Q.
        by: decay, momentum, step or noise.
        of_laws, of_dual: the drift of each conserved quantity, and of each dual coordinate.
        closed: do c and y follow a system of their own, with no more of the weights in it?
        effective: start symbols of an unperturbed flow with the laws c_inf, where one is written.
        start: under decay of homogeneous fields, the weights from which unperturbed flow has the
            same limit; empty otherwise.
        degree: m of homogeneous fields, X(s w) = s^m X(w), where decay asks for it.
        one_sided: under momentum, the laws that are known to grow or to fall.
        conditions: of a step, what has to be positive; 0 is where c or y is singular.
        singular: functions of the weights at whose zeros c or y is singular.
        penalty: h of a decay that is not that of the weights.
    """

    derivation: Derivation
    by: str
    of_laws: tuple[Drift, ...]
    of_dual: tuple[Drift, ...]
    closed: Finding
    effective: Mapping[Symbol, Expr] | None = dataclasses.field(default=None, hash=False)
    start: tuple[tuple[str, Expr], ...] = ()
    degree: Expr | None = None
    one_sided: tuple[OneSided, ...] = ()
    conditions: tuple[Expr, ...] = ()
    singular: tuple[Expr, ...] = ()
    penalty: Expr | None = None

    @property
    def laws(self) -> tuple[Expr, ...]:
        """How each conserved quantity changes, in the weights and letters of the perturbation.

        decay: per unit of kappa, the time integral of the decay. momentum: lam c'' + c' = lam
        times this, in the velocities w_t of weights w. step: c(w+) - c(w), in eta and G = X^T r.
        noise: per unit of S, the accumulated covariance of the noise X^T sigma dB.
        """
        return tuple(x.change for x in self.of_laws)

    @property
    def dual(self) -> tuple[Expr, ...]:
        """How each dual coordinate changes: beside its steering g lambda_i, and in a step whole."""
        return tuple(x.change for x in self.of_dual)

    @property
    def ends_on_leaf(self) -> bool:
        """Do the laws tell the leaf on which the perturbed flow ends?"""
        d = self.derivation
        return d.conserved.verdict is Verdict.PROVED and d.equivalent is None

    @property
    def Q(self) -> Expr | None:
        """Q of the effective start, where it is explicit and no dual coordinate drifts beside."""
        kept = bool(self.start) or all(y.in_laws == 0 for y in self.of_dual)
        Q = self.derivation.potential.Q
        if not kept or self.effective is None or Q is None:
            return None
        known = {s.name: x for s, x in self.effective.items()}
        own = {s.name for s in self.derivation.beta} | known.keys()
        # An integral over K(b) has a start in K that no symbol shows.
        if Q.has(AppliedUndef) or any(s.name not in own for s in Q.free_symbols):
            return None
        moved = Q.xreplace({s: known[s.name] for s in Q.free_symbols if s.name in known})
        return moved.replace(lambda e: e.is_Add and e.has(sympy.exp), sympy.factor_terms)

    @property
    def vanishing(self) -> bool:
        """Is it noise that takes the effective start to 0 unless it stops, and moves laws alone?"""
        if self.by != "noise" or not self.effective or any(y.in_laws != 0 for y in self.of_dual):
            return False
        S = Symbol(unused("S", taken_names(self.derivation.parameterization)), real=True)
        return all((sympy.log(x / s) / S).is_negative for s, x in self.effective.items())

    @property
    def verdict(self) -> Verdict:
        """PROVED: the drift is closed. REFUTED: there is no Q. UNDECIDED: neither is proved."""
        return self.closed.verdict


Drifts = Callable[[Leaf, Followed], Drift]
Completed = Callable[[Perturbation, Derivation, Sequence[Leaf]], Perturbation]


def perturb(
    derivation: Derivation,
    by: str,
    progress: Callable[[str], None] | None = None,
    *,
    penalty: str | Expr | None = None,
) -> Perturbation:
    """Return how laws and dual coordinates drift under a perturbation of the flow.

    >>> from derive import Parameterization, derive
    >>> p = Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])
    >>> found = perturb(derive(p), by="decay")
    >>> found.verdict.value, found.laws, found.dual, found.effective
    ('PROVED', (-2*m*p,), (0,), {alpha: alpha*exp(-kappa)})

    Args:
        derivation: of any verdict; without Q the drift of the laws is all that is left.
        by: "decay", w' = grad L - kappa(t) w; "momentum", lam w'' + w' = -grad L from rest;
            "step", w - eta J^T X^T r; "noise" in the row space, as of SGD or of labels.
        progress: called with the name of each step as it begins.
        penalty: h, a function of the weights, of decay -kappa(t) G^-1 dh in place of -kappa(t) w.

    Raises:
        InputError: there is no such perturbation, or h is no function of weights of one block.

    Source: Jacobs, Burkholz 2025 (decay); Papazov, Pesme, Flammarion 2024 (momentum); Even, Pesme,
    Gunasekar, Flammarion 2023 (steps); Pesme, Pillaud-Vivien, Flammarion 2021 (noise), for diagonal
    networks; for other F, and other metrics of the weights, our own derivation.
    """
    check_kind(derivation, Derivation, "derive('p**2')")
    if not isinstance(by, str) or by not in KINDS:
        raise InputError(f"by is one of {', '.join(KINDS)}, not {by!r:.40}")
    enter = progress or (lambda step: None)
    if (d := derivation).direction is not None:
        enter("coordinates in the plane of the vector")
        d = followed_in_plane(d)
    enter(f"drift under {by}")
    # laws from another start say nothing of this one, from which the weights move otherwise
    leaves = follow(d.blocks) if d.equivalent is None else ()
    drift, completed = KINDS[by] if penalty is None else _penalty(by, derivation, leaves, penalty)
    laws = tuple(drift(leaf, x) for leaf in leaves for x in leaf.laws)
    dual = tuple(drift(leaf, x) for leaf in leaves for x in leaf.dual)
    singular = dict.fromkeys(leaf.written(P) for leaf in leaves for P in leaf.poles())
    finding = _closed(d, leaves, laws, dual)
    found = Perturbation(derivation, by, laws, dual, finding, singular=tuple(singular))
    return completed(found, d, leaves)


def _penalty(
    by: str, given: Derivation, leaves: Sequence[Leaf], penalty: str | Expr
) -> tuple[Drifts, Completed]:
    """Return what a penalty does, as of a kind."""
    tree = read_tree(penalty, "the penalty")
    check_penalty(given, tree)
    if by != "decay" or len(leaves) != 1:
        raise InputError(
            "a penalty goes with decay, and with one output or outputs that share weights"
        )

    def completed(found: Perturbation, d: Derivation, leaves: Sequence[Leaf]) -> Perturbation:
        h = to_sympy(tree, dict(leaves[0].notation.weights))
        return _decayed(replace(found, penalty=h), d, leaves)

    return partial(penalty_of, tree), completed


def _closed(
    d: Derivation, leaves: Sequence[Leaf], laws: Sequence[Drift], dual: Sequence[Drift]
) -> Finding:
    """Decide whether c and y follow a system of their own."""
    if d.warping.verdict is Verdict.REFUTED:
        return Finding(Verdict.REFUTED, f"there is no Q: {d.warping.finding.reason}")
    if not leaves:
        reason = "laws are known from another start, which the perturbation may tell from this one"
        return Finding(Verdict.UNDECIDED, reason)
    if any(len(leaf.dual) < len(leaf.outputs) for leaf in leaves):
        return Finding(Verdict.UNDECIDED, "no dual coordinates with rational derivatives are known")
    if not all(leaf.complete for leaf in leaves):
        return Finding(Verdict.UNDECIDED, "not all laws are known")
    found = join_findings([x.finding for x in (*laws, *dual)])
    if found.verdict is Verdict.PROVED and len({y.factor for y in dual}) > 1:
        reason = "the dual coordinates decay by different factors, which mixes the row space"
        return Finding(Verdict.UNDECIDED, reason, found.evidence)
    return found


def _shrunk(found: Perturbation, d: Derivation, leaves: Sequence[Leaf]) -> Perturbation:
    """Return what decay does where the fields are homogeneous: it shrinks the start."""
    p = leave_out(d.parameterization, d.idle)
    m = field_degree(p)
    if m is None:
        return _decayed(found, d, leaves)
    given = leave_out(found.derivation.parameterization, found.derivation.idle)
    factor = sympy.exp(-Symbol(unused("kappa", taken_names(given)), real=True))
    degree = to_expr(m, Notation(p, ()).weights)
    statement = f"<w, dX> = ({degree}) X for every component X of the fields grad F_a"
    if found.derivation.warping.verdict is not Verdict.PROVED:
        return replace(found, degree=degree)
    reason = "the fields grad F_a are homogeneous, so decay shrinks the start and nothing else"
    return replace(
        found,
        closed=Finding(Verdict.PROVED, reason, (Identity(statement, "0", "0"),)),
        effective=scaled_symbols(given, factor),
        start=scaled_start(given, factor),
        degree=degree,
    )


def _decayed(found: Perturbation, d: Derivation, leaves: Sequence[Leaf]) -> Perturbation:
    """Return decay with the start that has the laws after kappa."""
    kappa = Symbol(unused("kappa", taken_names(d.parameterization)), real=True)
    return _from_ratios(found, leaves, lambda r: sympy.exp(kappa * r))


def _with_sides(found: Perturbation, d: Derivation, leaves: Sequence[Leaf]) -> Perturbation:
    """Return momentum with the laws that grow or fall, and starts by the change Delta_c of each."""
    sides = tuple(x for leaf in leaves for x in one_sided(leaf))
    logs = {x.law for x in sides if x.in_logarithm}
    factors = [[_changed(leaf, x, logs) for x in leaf.laws] for leaf in leaves]
    return replace(_from_laws(found, leaves, factors), one_sided=sides)


def _changed(leaf: Leaf, law: Followed, logs: Collection[Symbol]) -> Expr | None:
    """Return c(inf)/c(0) in terms of Delta_c, the change of log |c| for those in *logs*."""
    change = leaf.fresh(f"Delta_{law.symbol}")
    if law.symbol in logs:
        return sympy.exp(change)
    value = leaf.parameterization.at_start(law.function.rational)
    return None if value.is_zero() else 1 + change / to_expr(value, leaf.notation.start_symbols)


def _with_conditions(found: Perturbation, d: Derivation, leaves: Sequence[Leaf]) -> Perturbation:
    """Return a step with what has to be positive, and the start that has the laws after it."""
    positive = tuple(dict.fromkeys(c for leaf in leaves for c in conditions(leaf)))
    return replace(_from_ratios(found, leaves, lambda r: 1 + r), conditions=positive)


def _accumulated(found: Perturbation, d: Derivation, leaves: Sequence[Leaf]) -> Perturbation:
    """Return noise with the start that has the laws after S."""
    return _from_ratios(found, leaves, sympy.exp)


def _from_ratios(
    found: Perturbation, leaves: Sequence[Leaf], factor: Callable[[Expr], Expr]
) -> Perturbation:
    """Return it with the start that has the laws times a function of their drift over them."""
    factors = [[None if r is None else factor(r) for r in _ratios(found, x)] for x in leaves]
    return _from_laws(found, leaves, factors)


def _ratios(found: Perturbation, leaf: Leaf) -> Iterator[Expr | None]:
    """Yield the drift of each law of a block over it, where that is no function of laws."""
    symbols = {law.symbol for law in leaf.laws}
    for x in found.of_laws:
        if x.symbol in symbols:
            ratio = None if x.in_laws is None else sympy.expand(x.in_laws / x.symbol)
            yield None if ratio is None or ratio.has(*symbols) else ratio


def _from_laws(
    found: Perturbation, leaves: Sequence[Leaf], factors: Sequence[Sequence[Expr | None]]
) -> Perturbation:
    pairs = zip(leaves, factors, strict=True)
    return replace(found, effective=joined([start_with_laws(leaf, k) for leaf, k in pairs]))


KINDS: dict[str, tuple[Drifts, Completed]] = {
    "decay": (decay_of, _shrunk),
    "momentum": (momentum_of, _with_sides),
    "step": (step_of, _with_conditions),
    "noise": (noise_of, _accumulated),
}
"""How a law or dual coordinate drifts, and what else is said of each perturbation."""
