"""Printed tangent kernels, metrics and warps against the derived ones."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr

from derive.catalogue.audit.finding import Finding, agreement, misprint, unchecked
from derive.catalogue.audit.leaf import (
    Leaf,
    Point,
    beta_leaf,
    checked,
    coordinates_of,
    points,
    texts_of,
)
from derive.catalogue.audit.potentials import scale_words
from derive.catalogue.audit.ratio import (
    BALLS,
    NOT_ZERO,
    Comparison,
    Different,
    Elements,
    Undefined,
    compare,
    compare_here,
    witness,
)
from derive.catalogue.audit.subject import Subject
from derive.catalogue.audit.weights import define, moved, weight_leaves
from derive.catalogue.entry import Printed
from derive.exact.towers.elementary_germ import Elementary
from derive.exact.towers.germ import Unsettled
from derive.language import names
from derive.render.plain import plain


def check_kernel(subject: Subject, printed: Printed) -> Finding:
    """Compare K, upper triangle row by row, or its eigenvalues (T, R); up to a factor."""
    return _check_metric(subject, printed, "K")


def check_rho(subject: Subject, printed: Printed) -> Finding:
    """Compare rho = K^-1 in the same way."""
    return _check_metric(subject, printed, "rho")


def check_kernel_at_start(subject: Subject, printed: Printed) -> Finding:
    """Compare K at the start."""
    return _check_at_start(subject, printed, "K")


def check_rho_at_start(subject: Subject, printed: Printed) -> Finding:
    """Compare rho at the start."""
    return _check_at_start(subject, printed, "rho")


def check_warp(subject: Subject, printed: Printed) -> Finding:
    """Compare a warp g, up to a positive factor."""
    g = subject.derivation.warping.g
    if g is None:
        return unchecked("g is not derived in closed form here")
    return _in_weights(subject, printed, (g,), "g")


def _check_metric(subject: Subject, printed: Printed, name: str) -> Finding:
    used = names(texts_of(printed))
    inverse = name == "rho"
    if any(w in used for w in subject.p.weights):
        return _in_weights(subject, printed, subject.kernel_in_weights(inverse), name)
    derived = subject.kernel(inverse)
    if derived is None:
        return unchecked(f"{name} is not derived as a function of beta here")
    trees = texts_of(printed)

    def build(point: Point) -> tuple[Leaf, Elements, Elements]:
        leaf = beta_leaf(subject, printed, trees, point)
        return leaf, [leaf.read(checked(t, leaf)) for t in trees], [leaf.read(x) for x in derived]

    same = compare(build, points(subject, coordinates_of(subject)))
    return _answer(same, f"{name} = " + ", ".join(map(plain, derived)))


def _check_at_start(subject: Subject, printed: Printed, name: str) -> Finding:
    derived = subject.kernel_in_weights(name == "rho")
    trees = texts_of(printed)

    def build(point: Point) -> tuple[Leaf, Elements, Elements]:
        tower = Elementary(point, trees)
        leaf = Leaf(tower, dict(tower.known), point, 0)
        for weight, value in subject.starts.items():
            leaf.images[weight] = leaf.read(value)
        define(leaf, printed)
        return leaf, [leaf.read(checked(t, leaf)) for t in trees], [leaf.read(x) for x in derived]

    same = compare(build, points(subject, ()))
    return _answer(same, f"{name} = " + ", ".join(map(plain, derived)) + " at the start")


def _answer(same: Comparison, derived: str) -> Finding:
    if isinstance(same, Undefined):
        return unchecked(same.reason)
    if isinstance(same, Different):
        reason = "no constant factor makes the printed and the derived form equal"
        return misprint(reason, BALLS, derived, same.witnesses)
    if same.sign <= 0:
        return misprint("the sign", same.method, derived)
    words = scale_words(same)
    if words and same.factor is not None and same.factor.is_number:
        words = (f"{words[0]} (loss convention, the unit of time)",)
    return agreement(same.method, words)


def _in_weights(subject: Subject, printed: Printed, derived: Sequence[Expr], name: str) -> Finding:
    trees = texts_of(printed)
    text = f"{name} = " + ", ".join(map(plain, derived))
    for leaf in weight_leaves(subject, printed, trees):
        try:
            given, wanted = [leaf.read(t) for t in trees], [leaf.read(x) for x in derived]
        except Unsettled:
            continue
        found = compare_here(leaf, given, wanted)
        if found is not None:
            return _answer(found, text)
        for x, y in zip(given, wanted, strict=True):
            if not leaf.tower.is_zero(y):
                change = moved(subject, leaf, leaf.tower.tidy(x / y))
                if any(not leaf.tower.ball(c).contains(0) for c in change):
                    reason = "printed/derived changes along the flow"
                    return misprint(reason, NOT_ZERO, text, (witness(leaf, given, wanted),))
    return unchecked("the printed text was not compared at any point")
