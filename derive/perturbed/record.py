"""What a perturbation of gradient flow does to laws, dual coordinates and Q."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Mapping
from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from derive.derivation import Derivation, derive
from derive.limits.find import regimes
from derive.limits.limit import with_scale
from derive.model.labels import taken_names
from derive.model.names import unused
from derive.perturbed.continuous import OneSided, takes_to_zero
from derive.perturbed.coordinates import PRECONDITIONED
from derive.perturbed.drift import Drift
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
        followed = all(block.conserved.logarithmic is None for block in d.blocks)
        on_leaf = followed and d.conserved.verdict is Verdict.PROVED
        told = bool(self.start) or (on_leaf and len(self.of_dual) == outputs)
        return Verdict.PROVED if told else Verdict.UNDECIDED

    @property
    def shifted(self) -> bool:
        """Is y(0) + xi that of the effective start?"""
        return self.shift is not None and not any(self.shift)

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
        known = {s.name: x for s, x in self.effective.items()} | self._turned
        own = {s.name for s in self.derivation.beta} | known.keys()
        # An integral over K(b) has a start in K that no symbol shows.
        if Q.has(AppliedUndef) or any(s.name not in own for s in Q.free_symbols):
            return None
        moved = Q.xreplace({s: known[s.name] for s in Q.free_symbols if s.name in known})
        written = moved.replace(lambda e: e.is_Add and e.has(sympy.exp), sympy.factor_terms)
        pairs = zip(self.derivation.beta, shift, strict=False)
        return sympy.Add(written, *(-xi * b for b, xi in pairs))

    @property
    def vanishing(self) -> bool:
        """Is it noise that takes the effective start to 0 unless it stops?"""
        if self.by != "noise" or not self.effective or not self.shifted:
            return False
        return takes_to_zero(self.effective, taken_names(self.derivation.parameterization))

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
