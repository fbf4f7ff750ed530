"""What is said of gradient flow on given data: a run, loss weights, small starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Symbol

from derive.render.accounts import F, of_derivation, proofs
from derive.render.derivation import setting
from derive.render.document import Document, Part
from derive.statement import OnPage, tell

if TYPE_CHECKING:
    from derive.optimizers.saddle_path import SaddlePath
    from derive.perturbed.order import DataOrder
    from derive.perturbed.run import AuditedRun


def tell_run(r: AuditedRun) -> Document:
    """Return what is said of a training run."""
    asked = "Is it a run of gradient descent on `F`?"
    parts = [
        Part("A training run against the flow of `F`"),
        Part(F, setting(r.derivation)),
        Part(asked, r.says("run"), title="The steps"),
        Part("Laws and dual coordinates", r.says("run drift")),
        Part("Where it leads", r.says("run limit")),
    ]
    return of_derivation(r.derivation, parts)


def tell_order(o: DataOrder) -> Document:
    """Return what is said of loss weights and the order of batches on given data."""
    asked = "Is the limit on these data the same for all loss weights and orders?"
    closed = "Is `K` a function of `beta` on the leaf of the start?"
    parts = [
        Part("Loss weights and the order of batches, on given data"),
        Part(F, setting(o.derivation)),
        Part(asked, o.says("data order"), verdict=o.verdict, title="Independence"),
        Part("", (OnPage(tuple(proofs(o.says("data order")))),), kind="proof"),
        Part(closed, o.says("closed kernel"), verdict=o.closed.verdict, title="The kernel"),
    ]
    return of_derivation(o.derivation, parts)


def tell_path(s: SaddlePath) -> Document:
    """Return what is said of the path from saddle to saddle."""
    d = s.derivation
    parts = [
        Part(tell("From saddle to saddle, as `{x} -> 0`", x=Symbol(s.variable))),
        Part(F, setting(d)),
        Part("The path", s.says("saddle path"), verdict=s.verdict),
        Part("Its end", s.says("saddle limit")),
    ]
    return of_derivation(d, parts, s.variable)
