r"""What a perturbation of the flow does, as a page of mathematics."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr

from derive.language.symbolic import to_sympy
from derive.model.labels import taken_names
from derive.perturbed.drift import Drift
from derive.perturbed.record import Perturbation
from derive.render.page.derivation import setting_of
from derive.render.page.lines import display
from derive.render.page.names import latex_name
from derive.render.page.paper import Page, Passage
from derive.render.page.printer import inline, latex
from derive.render.page.wording import say
from derive.render.perturbed import said_together
from derive.verdict import Verdict


def render_page(found: Perturbation) -> Page:
    """Return the page of what the perturbation does."""
    d = found.derivation
    parts = (
        Passage("theorem", (*_drift(found),), label="thm:perturbed"),
        Passage("paragraph", (*_minimised(found),), "What the limit minimises"),
        Passage("paragraph", (*_where(found),), "Where this holds"),
    )
    return Page((setting_of(d), *(p for p in parts if p.lines)), taken_names(d.parameterization))


def _drift(v: Perturbation) -> Iterator[str]:
    if len(v.kinds) == 1:
        yield say(f"perturbed.{v.by}")
    else:
        yield say("perturbed.several", kinds=said_together(v.kinds).lower(), equation=_together(v))
    if v.penalty is not None:
        yield say("perturbed.penalty", penalty=inline(v.penalty))
    if v.derivation.direction is not None:
        yield say("perturbed.plane")
    if v.derivation.kernel_factor is not None and v.by in ("step", "noise"):
        yield say("perturbed.tied", factor=inline(to_sympy(v.derivation.kernel_factor)))
    if v.derivation.parameterization.affine:
        yield say("perturbed.affine")
    drifts = (*v.of_laws, *v.of_dual)
    if not drifts:
        return
    yield from display([(latex(x.symbol), x.quantity) for x in drifts])
    yield say("perturbed.drifts")
    yield from display([(rf"\Delta {latex(x.symbol)}", _sides(x)) for x in drifts])
    yield say(f"perturbed.{_manner(v)}_drift")
    written = [(rf"\Delta {latex(x.symbol)}", x.in_beta) for x in drifts if x.in_beta is not None]
    if written:
        yield say("perturbed.in_beta")
        yield from display(written)
    kinds = {Verdict.PROVED: "closed", Verdict.REFUTED: "not_closed", Verdict.UNDECIDED: "open"}
    yield say(f"perturbed.{'open' if v.minimised is Verdict.REFUTED else kinds[v.verdict]}")


def _sides(x: Drift) -> Expr | str:
    """Return the drift in the weights, and in laws where it is known so."""
    if x.in_laws is None or x.in_laws == x.change:
        return x.change
    return f"{latex(x.change)} = {latex(x.in_laws)}"


def _minimised(v: Perturbation) -> Iterator[str]:
    if v.minimised is Verdict.REFUTED:
        yield say("perturbed.none")
    if not v.of_dual and not v.start:
        return
    if v.start:
        yield say("perturbed.shrunk")
    elif not v.ends_on_leaf:
        yield say("perturbed.unknown")
    else:
        yield say("perturbed.limit", sums=say(f"perturbed.{_manner(v)}_sums"))
        if all(y.in_laws == 0 for y in v.of_dual):
            yield say("perturbed.only_laws")
    if v.effective is not None:
        yield say("perturbed.step_start" if "step" in v.kinds else "perturbed.start")
        yield from display([(latex(s), x) for s, x in v.effective.items()], relation=r"\mapsto")
        if "momentum" in v.kinds and "step" not in v.kinds:
            yield say("perturbed.change")
    if v.Q is not None:
        yield say("perturbed.with_q")
        yield from display([("Q", v.Q)])
    if "decay" in v.kinds:
        yield say(f"perturbed.{_kept_on(v)}")


def _manner(v: Perturbation) -> str:
    """Return which words tell what a drift is."""
    if len(v.kinds) == 1:
        return v.by
    heavy = "heavy_" if {"momentum", "step"} <= {*v.kinds} else ""
    manners = ("step", "momentum")
    return f"several_{heavy}{next((x for x in manners if x in v.kinds), 'rate')}"


def _together(v: Perturbation) -> str:
    """Return the equation of several perturbations at once."""
    decay, momentum = "decay" in v.kinds, "momentum" in v.kinds
    if "step" in v.kinds:
        force = r"\sum_a G_a \nabla F_a" + r" + k\,w" * decay
        return rf"w_+ = w - \eta\,({force})" + r" + \mu\,(w - w_-)" * momentum
    noise, dt = "noise" in v.kinds, r"\,dt" * ("noise" in v.kinds)
    left = [r"\dot w", r"\varepsilon \ddot w + \dot w"][momentum] if not noise else ""
    left = left or [r"dw", r"\varepsilon\, d\dot w + dw"][momentum]
    force = r"(\lambda\,dt + X^{\mathsf T}\sigma\,dB)_a" if noise else r"\lambda_a"
    return rf"{left} = \sum_a {force} \nabla F_a" + rf" - k(t)\,w{dt}" * decay


def _kept_on(v: Perturbation) -> str:
    """Return which words tell where decay ends that goes on."""
    if v.penalty is not None:
        return "kept_penalty"
    return "ends" if v.derivation.parameterization.rates else "kept_on"


def _where(v: Perturbation) -> Iterator[str]:
    if v.by == "decay":
        return
    conditions = [f"${inline(x)} > 0$" for x in v.conditions]
    conditions = conditions or [rf"${inline(x)} \ne 0$" for x in v.singular]
    if conditions:
        yield say("perturbed.where", conditions=", ".join(conditions))
    for x in v.one_sided:
        side = "grows" if x.side > 0 else "falls"
        held = [f"${latex_name(w)} > 0$" for w in x.positive]
        held += [rf"${latex(x.law)} \ne 0$"] if x.in_logarithm else []
        condition = f", while {', '.join(held)}," if held else ""
        quantity = inline(x.quantity)
        yield say("perturbed.side", quantity=quantity, side=side, condition=condition)
        yield from display([("D", x.change)])
