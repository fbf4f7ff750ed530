"""The shape of Q at infinity, and the theorem that the flow tends to the largest margin in it.

Pesme, Dragomir, Flammarion 2024, "Implicit bias of mirror flow on separable data": for a loss that
is convex and decreasing with an exponential tail, separable data, a potential Q on R^d, twice
differentiable with positive Hessian, whose gradient is coercive and whose sets {Q <= r}, scaled to
one size, converge to {phi <= 1}, beta(t)/|beta(t)| tends to the direction of the minimizer of phi
subject to <x_i, beta> >= 1, if that is unique. phi is the horizon of Q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import sympy
from sympy import Expr, ImmutableMatrix, Symbol

from derive.derivation import Derivation
from derive.potential.domain import Domain
from derive.separable.far import Far, Leading, same
from derive.verdict import Finding, Verdict

SOURCE = "Pesme, Dragomir, Flammarion 2024"
_PAIR = ImmutableMatrix([[1, 1], [1, -1]])


@dataclass(frozen=True)
class Hypothesis:
    """One of what the theorem needs; UNDECIDED: assumed, *of_data* or of the loss, or open."""

    statement: str
    finding: Finding
    of_data: bool = False


@dataclass(frozen=True)
class Horizon:
    """The horizon of Q.

    Attributes:
        hypotheses: of the theorem, each decided or assumed.
        function: phi in beta, homogeneous of degree 1; None where it is not known, or where a
            hypothesis fails.
        norm: what it is called: l1, l2, l3/2, group l1, |DFT|_1, ...
        weighted: whether it depends on the start.
        cone: phi where Q lives on half-lines in some coordinates, of these *sides*.
    """

    hypotheses: tuple[Hypothesis, ...]
    function: Expr | None = None
    norm: str | None = None
    weighted: bool = False
    cone: Expr | None = None
    sides: tuple[tuple[Symbol, int], ...] = ()


def find_horizon(derivation: Derivation, far: Sequence[Far], coercive: Finding) -> Horizon:
    """Return the horizon of Q and what became of the hypotheses of the theorem."""
    everywhere, clock = lives_everywhere(derivation), clock_runs(derivation)
    leading = [f.leading for f in far if f.leading is not None]
    shape = _shape(far)
    assumed = Finding(Verdict.UNDECIDED, "assumed, of the loss and the data")
    of_data = Finding(Verdict.UNDECIDED, "assumed; decided for given data")
    hypotheses = (
        Hypothesis(
            "the loss is convex and decreases like `exp(-u)`, `X` is separable", assumed, True
        ),
        Hypothesis("`Q` lives on all of `R^d` with `Hess Q > 0`", everywhere),
        Hypothesis("`g > 0` along the flow, which then only changes its clock", clock),
        Hypothesis("`|grad Q| -> infinity` as `|beta| -> infinity`", coercive),
        Hypothesis("the sets `{Q <= r}`, scaled to one size, converge", shape),
        Hypothesis("the predictor of largest margin is unique", of_data, True),
    )
    sides = tuple(
        (b, x.side) for f, x in zip(far, leading, strict=False) for b in f.betas if x.side
    )
    proved = coercive.verdict is shape.verdict is Verdict.PROVED
    if sides and proved and all(f.shape == "single" for f in far):
        return Horizon(hypotheses, cone=_function(leading), sides=sides)
    failing = Verdict.REFUTED in (everywhere.verdict, coercive.verdict)
    if failing or shape.verdict is not Verdict.PROVED:
        return Horizon(hypotheses)
    weighted = any(c.free_symbols for c in _constants(leading))
    name = _name(far, leading) if leading[0].growth else _name_of_greatest(leading)
    return Horizon(hypotheses, _function(leading), name, weighted)


def _shape(far: Sequence[Far]) -> Finding:
    """Decide whether Q(c x)/(c N(c)) converges to a function that is positive away from 0."""
    if any(f.leading is None for f in far):
        return Finding(Verdict.UNDECIDED, "$Q(c x)/(c N(c))$ was not seen to converge on all sides")
    if len({f.leading.growth for f in far if f.leading is not None}) > 1:
        reason = "blocks of outputs grow at different rates, so the sets become flat"
        return Finding(Verdict.REFUTED, reason)
    reason = "$Q(c x)/(c N(c))$ converges, by exact expansions, to a function positive away from 0"
    return Finding(Verdict.PROVED, reason)


def _constants(leading: Sequence[Leading]) -> tuple[Expr, ...]:
    return tuple(c for x in leading for c in x.constants)


def _function(leading: Sequence[Leading]) -> Expr:
    """Return (sum of h)^(1/p), up to a factor."""
    p, constants = leading[0].degree, _constants(leading)
    unit = constants[0] if same(constants) else sympy.S.One
    if leading[0].growth is None:  # log of a sum of exponentials
        return sympy.Max(*(x.h / unit for x in leading))
    whole = sympy.Add(*(sympy.expand(p * x.h / unit) for x in leading))
    return whole if p == 1 else sympy.powdenest(sympy.factor_terms(whole) ** (1 / p))


def of_copies(far: Far, betas: Sequence[Symbol]) -> Expr | None:
    """Return the horizon of copies of F side by side, from one start, in the beta of each."""
    if far.leading is None:
        return None
    (beta,), leading = far.betas, far.leading
    return _function([replace(leading, h=leading.h.xreplace({beta: b})) for b in betas])


def _name(far: Sequence[Far], leading: Sequence[Leading]) -> str:
    """Return what the horizon is called."""
    shapes = [f.shape for f in far]
    if shapes == ["radial"]:
        return "l2"
    if "quadratic" in shapes:
        return "quadratic"
    if any(f.shape == "single" and len(x.constants) > 1 for f, x in zip(far, leading, strict=True)):
        return "asymmetric"
    p, weighted = leading[0].degree, "" if same(_constants(leading)) else "weighted "
    if "sum" in shapes:
        whole = not weighted and p == 1 and [f.forms for f in far] == [_PAIR]
        return "|DFT|_1" if whole else f"{weighted}l{p} of V^T"
    return f"{'group ' if 'radial' in shapes and p != 2 else ''}{weighted}l{p}"


def _name_of_greatest(leading: Sequence[Leading]) -> str:
    """Return what a horizon of exponentials is called."""
    plain = same(_constants(leading)) and not any(x.h.has(sympy.Max) for x in leading)
    return "linf" if plain else "weighted linf"


def domains(derivation: Derivation) -> tuple[Domain, ...]:
    """Return where Q of each block lives, as far as that is recorded."""
    pieces = derivation.potential.pieces
    return tuple(piece.domain for piece in pieces if piece.domain is not None)


def lives_everywhere(derivation: Derivation) -> Finding:
    """Decide whether Q lives on all of R^d; UNDECIDED with what is not known of its domain."""
    found = domains(derivation)
    if any(domain.walls for domain in found):
        ends = "; ".join(domain.where for domain in found if domain.walls)
        return Finding(Verdict.REFUTED, f"Q lives on {ends}")
    if len(found) < len(derivation.potential.pieces):
        return Finding(Verdict.UNDECIDED, "its domain is not recorded")
    open_ = [domain.where for domain in found if domain.undecided]
    if open_:
        return Finding(Verdict.UNDECIDED, f"Q lives on {'; '.join(open_)}")
    unless = " or ".join(f"`{c} = 0`" for domain in found for c in domain.unless)
    reason = "the flow reaches every `beta`, and `Hess Q` is positive there"
    return Finding(Verdict.PROVED, reason + (f", unless {unless}" if unless else ""))


def clock_runs(derivation: Derivation) -> Finding:
    """Decide whether g > 0 along the flow: then its clock int g dt runs without end.

    Where Q lives on all of R^d with a coercive gradient the flow of grad Q exists for all values
    of the clock, and g is positive and continuous on the leaf that they share: in finite values of
    the clock no time is infinite.
    """
    if derivation.hessian.verdict is Verdict.PROVED:
        return Finding(Verdict.PROVED, "`g = 1`")
    if all(domain.convex in ("metric", "warp proved") for domain in domains(derivation)):
        return Finding(Verdict.PROVED, "`g > 0` is proved")
    return Finding(Verdict.UNDECIDED, "that `g` keeps its sign is part of what `Q` assumes")
