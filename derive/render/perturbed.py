"""What a perturbation of the flow does, told, and as a versioned JSON record."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Symbol

from derive.model.labels import taken_names
from derive.perturbed.coordinates import MIRROR
from derive.perturbed.decay import STEERING
from derive.perturbed.record import Perturbation
from derive.render.narration import Narration, Part, part
from derive.render.sections import norms_of
from derive.statement import Note, OnPage, OnTerminal, Statement, note

ADDED = {"decay": "weight decay", "momentum": "momentum", "step": "finite steps", "noise": "noise"}
ASKED = "Do laws `c` and dual coordinates `y` drift by functions of `c` alone?"
STEERED = "Does the penalty move the weights as a loss of `beta` does?"


def tell_perturbation(v: Perturbation) -> Narration:
    """Return what is said of a perturbation."""
    parts = (
        Part(_heading(v), (note(_process(v)), *_below(v))),
        Part("Parameterization `beta = F(w)`", (v.derivation,)),
        part(
            STEERED if v.closed == STEERING else ASKED,
            v.says("drift", "closed drift"),
            verdict=v.verdict,
            label="thm:perturbed",
            title="Drift of laws and dual coordinates",
        ),
        part("", (OnPage(_proof(v)),), kind="proof"),
        part(
            "What the limit minimises",
            v.says("perturbed limit", "start of the end", "noise that stays", "annealed noise"),
            verdict=v.minimised,
        ),
        part("Decay that does not end", v.says("decay kept on")),
        part("While the flow moves", v.says("crossing", "damped rest", "one side")),
    )
    d = v.derivation
    return Narration(parts, taken_names(d.parameterization), norms_of(d.direction))


def _proof(v: Perturbation) -> tuple[object, ...]:
    claims = (s for s in v.says("drift") if isinstance(s, Statement))
    return tuple(line for s in claims for line in s.proof)


def _heading(v: Perturbation) -> str:
    *most, last = (ADDED[kind] for kind in v.kinds)
    name = f"{', '.join(most)} and {last}" if most else last
    process = "mirror descent" if v.process == MIRROR else "preconditioned gradient descent"
    has_mirror = v.derivation.parameterization.geometry.psi is not None
    return f"{name}, of {process}".capitalize() if has_mirror else name.capitalize()


def _process(v: Perturbation) -> str:
    """Return the equation of what is perturbed."""
    kinds, mirrored = v.kinds, v.process == MIRROR
    x, gradient = ("theta", "dF_a") if mirrored else ("w", "grad F_a")
    pushed = ("Hess psi w" if mirrored else "w") if v.penalty is None else "grad h"
    if v.penalty is not None and mirrored:
        pushed = "dh"
    decay, momentum = "decay" in kinds, "momentum" in kinds
    if "step" in kinds:
        force = f"(sum_a G_a {gradient} + k {pushed})" if decay else f"sum_a G_a {gradient}"
        last = f" + mu ({x} - {x}_before)" * momentum
        process = f"`{x}_next = {x} - eta {force}{last}`, with any gradient `G = X^T r`"
    elif "noise" in kinds:
        left = f"lam d{x}' + d{x}" if momentum else f"d{x}"
        noise = f"sum_a (lambda dt + X^T sigma dB)_a {gradient}"
        process = f"`{left} = {noise}{f' - k {pushed} dt' * decay}`, in the sense of Ito"
    else:
        left = f"lam {x}'' + {x}'" if momentum else f"{x}'"
        process = f"`{left} = sum_a lambda_a {gradient}{f' - k(t) {pushed}' * decay}`"
    return process + ", `theta = grad psi(w)`" * mirrored + ", from rest" * momentum


def _below(v: Perturbation) -> Iterator[Note | OnTerminal]:
    """Yield what is meant by letters in the statements below."""
    d = v.derivation
    if d.parameterization.geometry.psi is not None:
        other = "preconditioned" if v.process == MIRROR else "mirror"
        yield note("`dF_a`: the differential, and `grad F_a = (Hess psi)^-1 dF_a`")
        yield OnTerminal((f"the other process of this flow: --process {other}",))
    if v.penalty is not None:
        yield note("decay by the penalty `h = {h}`", h=v.penalty)
    if d.direction is not None:
        u, a, b = (Symbol(f"{d.direction.vector}{i}") for i in ("", 1, 2))
        yield note("`{u} = ({a}, {b})` in the plane of `{u}` and of what moves it", u=u, a=a, b=b)
        if v.by == "noise":
            yield note("where `{b} = 0`, coordinate 2 is any across `{u}`", u=u, b=b)
    if d.parameterization.affine:
        yield note(
            "`X` below is `X M`, where `beta = M beta' + b` for the outputs `beta'` that are kept"
        )
