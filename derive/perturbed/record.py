"""What a perturbation of gradient flow does to laws, dual coordinates and Q.

Where it is known, also the start from which unperturbed flow has the laws at the end.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from derive.derivation import Derivation, derive
from derive.limits.find import regimes
from derive.limits.limit import with_scale
from derive.model.labels import taken_names
from derive.model.names import unused
from derive.model.notation import Notation, log_expr, to_expr
from derive.model.parameterization import Parameterization
from derive.perturbed.continuous import OneSided
from derive.perturbed.coordinates import PRECONDITIONED
from derive.perturbed.drift import Drift
from derive.perturbed.followed import Followed, Leaf, follows_all, gradient
from derive.potential.piece import trimmed
from derive.printable import Printable
from derive.statement import Claims, Open, Statement
from derive.verdict import Finding, Verdict

CLAIMS = "derive.perturbed.statements"


@dataclass(frozen=True, repr=False)
class Perturbation(Printable, Claims):
    """What a perturbation of gradient flow does, by exact identities in the weights.

    Attributes:
        derivation: of Q.
        by: decay, momentum, step or noise; or several of these, with commas.
        of_laws, of_dual: the drift of each conserved quantity, and of each dual coordinate.
        closed: do c and y drift by functions of the laws alone, but for q y under decay, and the
            velocities of c and y under momentum? Or by what steers as a loss of beta does.
        process: mirror, with steps, noise and momentum of theta = grad psi(w), or preconditioned.
        effective: start symbols of an unperturbed flow with the laws c_inf, where one is written.
        start: under decay that normalises the fields, the weights from which unperturbed flow has
            the same limit; empty otherwise.
        degree: m of homogeneous fields, X(s w) = s^m X(w), where decay asks for it.
        grading: where decay does more, the degrees of the weights by which it would not.
        one_sided: under momentum, the laws that are known to grow or to fall.
        conditions: of a step, what has to be positive; 0 is where c or y is singular.
        singular: functions of the weights at whose zeros c or y is singular.
        penalty: h of a decay that is not that of the weights.
        shift: what y(0) + xi is beside y(0) of the effective start, where that is constant, as
            where that start has the shift xi too; for each output.
        generic: functions of the parameters that are not 0, or laws would be constants.
    """

    derivation: Derivation
    by: str
    of_laws: tuple[Drift, ...]
    of_dual: tuple[Drift, ...]
    closed: Finding
    process: str = PRECONDITIONED
    effective: Mapping[Symbol, Expr] | None = dataclasses.field(default=None, hash=False)
    start: tuple[tuple[str, Expr], ...] = ()
    degree: Expr | None = None
    one_sided: tuple[OneSided, ...] = ()
    conditions: tuple[Expr, ...] = ()
    singular: tuple[Expr, ...] = ()
    penalty: Expr | None = None
    shift: tuple[Expr, ...] | None = None
    generic: tuple[Expr, ...] = ()
    grading: Mapping[Expr, Expr] | None = dataclasses.field(default=None, hash=False)

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """All that is claimed of the perturbed flow."""
        return tuple(importlib.import_module(CLAIMS).statements(self))

    @property
    def laws(self) -> tuple[Expr, ...]:
        """How each conserved quantity changes, in the weights and letters of the perturbation.

        decay: per unit of kappa, the time integral of the decay. momentum: lam c'' + c' = lam
        times this, in the velocities w_t of weights w. step: c(w+) - c(w), in eta and G = X^T r.
        noise: per unit of S, the accumulated covariance of the noise X^T sigma dB. several: what
        c', or lam c'' + c', is, with the decay k at a time and S per unit of time.
        """
        return tuple(x.change for x in self.of_laws)

    @property
    def dual(self) -> tuple[Expr, ...]:
        """How each dual coordinate changes: beside its steering g lambda_i, and in a step whole."""
        return tuple(x.change for x in self.of_dual)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What perturbs the flow, one by one."""
        return tuple(self.by.split(", "))

    @property
    def minimised(self) -> Verdict:
        """PROVED: what a limit with X beta = y minimises is told by c_inf and xi; REFUTED: no Q."""
        d = self.derivation
        if d.warping.verdict is Verdict.REFUTED:
            return Verdict.REFUTED
        outputs = 2 if d.direction else len(d.beta)
        on_leaf = all(map(follows_all, d.blocks)) and d.conserved.verdict is Verdict.PROVED
        told = bool(self.start) or (on_leaf and len(self.of_dual) == outputs)
        return Verdict.PROVED if told else Verdict.UNDECIDED

    @property
    def shifted(self) -> bool:
        """Is y(0) + xi that of the effective start?"""
        return self.shift is not None and not any(self.shift)

    @property
    def has_velocities(self) -> bool:
        """Is it a flow with momentum, which may take laws through 0?"""
        return "momentum" in self.kinds and "step" not in self.kinds

    @property
    def is_steered(self) -> bool:
        """Is y(inf) - y(0) in the row space, as nothing but steering moves y?"""
        return all(y.still for y in self.of_dual)

    @property
    def _turned(self) -> dict[str, Expr]:
        """Of a vector, the part of Q that is linear in beta: u_0 is scaled as its norm is."""
        direction = self.derivation.direction
        if direction is None or not self.start:
            return {}
        scaled, u0 = dict(self.start)[direction.norm], direction.along_start
        own = [x for x in scaled.free_symbols if x.name.startswith(f"{direction.norm}_0")]
        return {u0.name: scaled.xreplace(dict.fromkeys(own, u0))} if own else {}

    @property
    def Q(self) -> Expr | None:
        """Q of the effective start but for its shift, Q_(c_inf)(beta) - <y(0) + xi, beta>."""
        Q, shift = self.derivation.potential.Q, self.shift or ()
        if (not self.start and self.shift is None) or self.effective is None or Q is None:
            return None
        own = {s.name for s in (*self.derivation.beta, *self.effective)} | self._turned.keys()
        # An integral over K(b) has a start in K that no symbol shows.
        if Q.has(AppliedUndef) or any(s.name not in own for s in Q.free_symbols):
            return None
        pairs = zip(self.derivation.beta, shift, strict=False)
        return sympy.Add(self._from_start(Q), *(-xi * b for b, xi in pairs))

    def _from_start(self, e: Expr) -> Expr:
        """Return an expression with the effective start in it."""
        known = {s.name: x for s, x in (self.effective or {}).items()} | self._turned
        moved = e.xreplace({s: known[s.name] for s in e.free_symbols if s.name in known})
        return moved.replace(lambda e: e.is_Add and e.has(sympy.exp), sympy.factor_terms)

    @property
    def formula(self) -> tuple[tuple[str | Symbol, Expr], ...]:
        """Q of the effective start, and the roots and constants in it where these have names."""
        if self.Q is None:
            return ()
        potential = self.derivation.potential
        piece, *others = map(trimmed, potential.pieces)
        roots = [(root.symbol, root.explicit) for root in piece.roots if root.explicit is not None]
        if others or len(roots) < len(piece.roots) or any(self.shift or ()):
            return (("Q", self.Q),)
        names = (*roots, *piece.abbreviations, *piece.constants)
        rows = (("Q", piece.value + potential.linear), *names)
        return tuple((name, self._from_start(e)) for name, e in rows)

    @property
    def vanishing(self) -> bool:
        """Is it noise that takes the effective start to 0 unless it stops?"""
        if self.by != "noise" or not self.effective or not self.shifted:
            return False
        # What is no name that is taken is an S, a variance where its two indices are the same.
        symbols = {s.name for x in self.effective.values() for s in x.free_symbols}
        names = symbols - {*taken_names(self.derivation.parameterization)}
        indices = ((name, name.strip("S_")) for name in names)
        own = [name for name, i in indices if i[: len(i) // 2] == i[len(i) // 2 :]]
        sizes = {Symbol(name, real=True): Symbol(name, positive=True) for name in own}
        pairs = self.effective.items()
        return all(sympy.log(x / s).xreplace(sizes).is_negative for s, x in pairs)

    @functools.cached_property
    def annealed(self) -> Expr | None:
        """h with Q/S -> h(beta) as noise with S -> infinity shrinks the start, or None.

        As Q/N -> h_1 for a start of scale c -> 0, and N = log(1/c) for c = exp(-n S).
        """
        d = self.derivation
        if not self.vanishing or len(d.beta) != 1 or self.effective is None:
            return None
        name, *more = (s.name for s in self.effective)
        if more:
            name = unused("scale", taken_names(d.parameterization))
            d = derive(with_scale(d.parameterization, name))
        (limit,) = regimes(d, name, toward=(0,)).limits
        potential, (S,) = limit.potential, {x / s for s, x in self.effective.items()}
        if limit.finding.verdict is not Verdict.PROVED or potential is None or limit.unit is None:
            return None
        units = {s for s in limit.unit.free_symbols if s.name == name}
        if potential.Q is None or limit.origin is not None or len(units) != 1:
            return None
        ratio = limit.unit / sympy.log(1 / units.pop())
        rate = -sympy.expand_log(sympy.log(S), force=True)
        return None if ratio.free_symbols else ratio * rate * potential.Q

    @property
    def verdict(self) -> Verdict:
        """PROVED: the drift is closed. REFUTED: it is not, or there is no Q. UNDECIDED: neither."""
        return self.closed.verdict


Effective = dict[Symbol, Expr]
"""Start symbols, each with what takes its place."""


def scaled_start(p: Parameterization, factors: Mapping[str, Expr]) -> tuple[tuple[str, Expr], ...]:
    """Return each weight with its factor times its start."""
    symbols = Notation(p, ()).start_symbols
    pairs = zip(p.weights, p.w0, strict=True)
    return tuple((w, factors[w] * to_expr(x, symbols)) for w, x in pairs)


def scaled_symbols(p: Parameterization, factors: Mapping[str, Expr]) -> Effective | None:
    """Return start symbols with which every weight starts at its factor times its start, or None.

    Where the start is homogeneous of degree n in some symbols, these have its factor to the power
    1/n.
    """
    found, field, names = Effective(), p.start_field, Notation(p, ()).start_symbols
    for w, x in zip(p.weights, p.w0, strict=True):
        own = [s for s in p.start_symbols if s in x.variables()]
        parts = (field.named(s) * field.derivative(x, field.weights.index(s)) for s in own)
        n = sum(parts, field.zero) / x if not x.is_zero() else field.one
        if not n.is_constant() or n.is_zero():
            return None
        for s in own:
            image = names[s] * factors[w] ** (1 / to_expr(n, names))
            if found.setdefault(names[s], image) != image:
                return None
    return found or None


def effective_start(
    found: Perturbation, leaves: Sequence[Leaf]
) -> tuple[Effective | None, tuple[Expr, ...] | None]:
    """Return the start symbols with which unperturbed flow has the laws at the end, or None.

    All are multiplied by one factor. With them, what y(0) + xi is beside y(0) of that start, for
    the outputs in turn; None where that is not constant. Where not all laws are known, no start is
    known to have them.
    """
    whole, left = Effective(), dict[int, Expr | None]()
    for leaf in leaves:
        part, own = _start_of(found, leaf)
        if part is None or any(whole.get(s, x) != x for s, x in part.items()):
            return None, None
        whole |= part
        left |= dict(zip(leaf.outputs, own, strict=False))
    shift = tuple(x for _, x in sorted(left.items()) if x is not None)
    known = len(shift) == sum(len(leaf.outputs) for leaf in leaves) > 0
    # a warp of Q and one of y may differ by a factor
    alike = found.derivation.hessian.verdict is Verdict.PROVED or not any(shift)
    return whole, shift if known and alike else None


def _start_of(found: Perturbation, leaf: Leaf) -> tuple[Effective | None, tuple[Expr | None, ...]]:
    """Return the start of one block: f s for the start symbols s, laws of degree m times f^m.

    Without laws f is that with which y(0) + n log f is y(0) + xi. Then what is left of xi for each
    y, xi - y(0) of that start + y(0); None for one that is not constant.
    """
    p, known = leaf.parameterization, leaf.notation.start_symbols
    rows = [_at_start(found, leaf, y) for y in leaf.dual]
    if not (leaf.complete and rows) or any(n != 0 and xi is None for _, n, xi in rows):
        return None, ()
    of_dual = (sympy.exp(xi / n) for _, n, xi in rows if n and xi is not None)
    of_laws = {_of_law(found, leaf, law) for law in leaf.laws}
    ratios = of_laws or {next(of_dual, sympy.S.One)}
    if len(ratios) != 1 or (f := ratios.pop()) is None:
        return None, ()
    image = {known[name]: known[name] * f for name in p.start_symbols}
    return image, tuple(_left(row, f, image) for row in rows)


Row: TypeAlias = tuple[Expr | None, Expr | None, Expr | None]


def _left(row: Row, f: Expr, image: Effective) -> Expr | None:
    """Return xi - y(0) of the start with these symbols + y(0); None where one is not known."""
    value, n, xi = row
    if value is None or xi is None:
        return None
    moved = value.xreplace(image) - value if n is None else n * sympy.log(f)
    return sympy.expand(sympy.expand_log(xi - moved, force=True))


def _at_start(found: Perturbation, leaf: Leaf, y: Followed) -> Row:
    """Return y(0), n with y(0) -> y(0) + n log f as all start symbols are multiplied by f, and xi.

    None for each that is not known, or not constant.
    """
    p, drift = leaf.parameterization, _drift(found, y)
    xi = sympy.S.Zero if drift.still else _constant(found, leaf, drift)
    try:
        value = y.function.mapped(p.at_start)
    except ZeroDivisionError:
        return None, None, xi
    pairs = zip(map(p.start_field.named, p.start_symbols), gradient(value), strict=False)
    n = sum((s * slope for s, slope in pairs), p.start_field.zero)
    growth = to_expr(n, {}) if n.is_constant() else None
    return log_expr(value, leaf.notation.start_symbols), growth, xi


def _of_law(found: Perturbation, leaf: Leaf, law: Followed) -> Expr | None:
    """Return f, of which a law of degree m is multiplied by f^m."""
    value, factor = leaf.parameterization.at_start(law.function.rational), _factor(found, leaf, law)
    plain = value.is_homogeneous() and value.degree() and not law.function.logs
    if factor is None or not plain:
        return None
    return factor ** sympy.Rational(1, value.degree())


def _drift(found: Perturbation, x: Followed) -> Drift:
    (drift,) = (d for d in (*found.of_laws, *found.of_dual) if d.symbol == x.symbol)
    return drift


def _constant(found: Perturbation, leaf: Leaf, drift: Drift) -> Expr | None:
    """Return what y drifts by on the whole, where that is the same at all times, or None."""
    rate = drift.in_laws
    velocities = "momentum" in found.kinds or "step" in found.kinds
    kept = {
        law.symbol: log_expr(law.function.mapped(p.at_start), leaf.notation.start_symbols)
        for p in [leaf.parameterization]
        for law in leaf.laws
        if _drift(found, law).still
    }
    rate = None if rate is None else rate.xreplace(kept)
    if rate is None or velocities or rate.has(*(x.symbol for x in leaf.all)):
        return None
    return _accumulated(found, leaf, rate)


def _accumulated(found: Perturbation, leaf: Leaf, rate: Expr) -> Expr:
    """Return a rate per unit of time, with kappa for k; decay alone is per unit of kappa."""
    kappa = leaf.fresh("kappa")
    return kappa * rate if found.by == "decay" else rate.xreplace({leaf.fresh("k"): kappa})


def _factor(found: Perturbation, leaf: Leaf, law: Followed) -> Expr | None:
    """Return what a law is multiplied by, up to the end or in a step, where that is known.

    Under momentum it is in terms of Delta_c, the change of c, or of log |c| where that has a side.
    """
    drift = _drift(found, law)
    if drift.still:
        return sympy.S.One
    if found.has_velocities:
        change = leaf.fresh(f"Delta_{law.symbol.name.rstrip('_')}")
        if any(x.law == law.symbol and x.in_logarithm for x in found.one_sided):
            return sympy.exp(change)
        value = leaf.parameterization.at_start(law.function.rational)
        return None if value.is_zero() else 1 + change / to_expr(value, leaf.notation.start_symbols)
    ratio = None if drift.in_laws is None else sympy.expand(drift.in_laws / law.symbol)
    if ratio is None or ratio.has(*(x.symbol for x in leaf.laws)):
        return None
    return 1 + ratio if "step" in found.kinds else sympy.exp(_accumulated(found, leaf, ratio))
