"""Printed Q, grad Q, mirror potentials and Bregman divergences against grad Q.

With H the derivative of the printed gradient by beta on the leaf, a printed Q is right up to a
positive factor and an additive constant exactly when H = c Hess Q with c constant and positive,
and grad Q = 0 at the start. For an open dimension q'(s) takes the place of the Hessian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sympy import Expr, Integral

from derive.catalogue.audit.finding import Finding, Outcome, agreement, misprint, unchecked
from derive.catalogue.audit.leaf import (
    Leaf,
    Point,
    beta_leaf,
    checked,
    coordinates_of,
    points,
    texts_of,
)
from derive.catalogue.audit.ratio import (
    BALLS,
    Different,
    Elements,
    Proportional,
    Undefined,
    compare,
)
from derive.catalogue.audit.subject import Subject
from derive.catalogue.entry import Printed
from derive.catalogue.listing import definitions
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.germ import Unsettled
from derive.language.tree import Tree
from derive.render.plain import plain

Slopes: TypeAlias = Callable[[Leaf, Sequence[Tree]], list[RationalFunction]]

CONSTANT = "an additive constant"
LINEAR = "a linear term"


def check_Q(subject: Subject, printed: Printed) -> Finding:
    """Compare a Q: free are a positive factor and an additive constant."""
    found = _compare(subject, printed, slopes_of_value)
    if isinstance(found, Finding):
        return found
    if not found.linear:
        return _wrong_at_start(subject, found)
    return found.agreement(() if _same_value(subject, printed, found) else (CONSTANT,))


def check_gradient(subject: Subject, printed: Printed) -> Finding:
    """Compare grad Q: free is a positive factor."""
    found = _compare(subject, printed, slopes_as_printed)
    if isinstance(found, Finding):
        return found
    return found.agreement(()) if found.linear else _wrong_at_start(subject, found)


def check_mirror(subject: Subject, printed: Printed) -> Finding:
    """Compare a mirror potential: as for Q, and linear terms are free as well."""
    found = _compare(subject, printed, slopes_of_value)
    if isinstance(found, Finding):
        return found
    return found.agreement(() if found.linear else (LINEAR,))


def check_bregman(subject: Subject, printed: Printed) -> Finding:
    """Compare D(beta, beta_0) = Q(beta) - Q(beta_0), as grad Q(beta_0) = 0; free is a factor."""
    found = _compare(subject, printed, slopes_of_value)
    if isinstance(found, Finding):
        if found.outcome is Outcome.MISPRINT:
            return replace(found, derived=_divergence(subject))
        return found
    if not found.linear:
        return replace(_wrong_at_start(subject, found), derived=_divergence(subject))
    leaf = found.same.leaf
    start = {b.name: leaf.images[f"{b}_0"] for b in subject.betas}
    value = leaf.tower.read(texts_of(printed)[0], {**leaf.images, **start})
    return found.agreement(() if _vanishes(leaf, value) else (CONSTANT,))


@dataclass(frozen=True)
class _Compared:
    """The second derivatives agree up to a factor.

    Attributes:
        same: the factor.
        linear: whether the gradients agree with it, with no constant between.
    """

    same: Proportional
    linear: bool

    def agreement(self, more: tuple[str, ...]) -> Finding:
        """Return that they agree, up to what is named."""
        return agreement(self.same.method, (*scale_words(self.same), *more))


def _vanishes(leaf: Leaf, element: RationalFunction) -> bool:
    """Tell whether an element is 0.

    Raises:
        Unsettled: neither is proved.
    """
    if leaf.tower.is_zero(element):
        return True
    if leaf.tower.ball(element).contains(0):
        raise Unsettled("a difference is 0 as far as 70 digits tell, which proves nothing")
    return False


def _compare(subject: Subject, printed: Printed, slopes: Slopes) -> _Compared | Finding:
    curve, gradient = subject.curve, subject.gradient
    if curve is not None:
        gradient = curve.gradient
    if gradient is None:
        return unchecked("Q is not derived in closed form here, so there is none to compare with")
    trees = texts_of(printed)

    def build(point: Point) -> tuple[Leaf, Elements, Elements]:
        leaf = beta_leaf(subject, printed, trees, point)
        given = slopes(leaf, [checked(tree, leaf) for tree in trees])
        derived = [leaf.read(x) for x in gradient]
        if subject.radial:
            # A constant in q' would change grad Q = q'(s) beta/s + z: no derivative is taken.
            return leaf, given[:1], derived
        return leaf, _all_slopes(leaf, given), _all_slopes(leaf, derived)

    same = compare(build, points(subject, coordinates_of(subject)))
    if isinstance(same, Undefined):
        return unchecked(same.reason)
    what = "q'(s)" if subject.radial else "second derivatives"
    if isinstance(same, Different):
        reason = f"no constant factor makes the {what} equal; values are {what}"
        return misprint(reason, BALLS, derived_form(subject), same.witnesses)
    if same.sign <= 0:
        reason = "the sign" if same.sign else "it is linear in beta"
        return misprint(reason, same.method, derived_form(subject))
    return _Compared(same, _no_linear_term(subject, printed, slopes, gradient, same.leaf))


def _no_linear_term(
    subject: Subject,
    printed: Printed,
    slopes: Slopes,
    gradient: Sequence[Expr],
    leaf: Leaf,
) -> bool:
    """Tell whether printed - factor*derived is 0 in the gradient, and not another constant."""
    trees, tower = texts_of(printed), leaf.tower
    given = slopes(leaf, trees)
    if subject.radial:
        # z = -q'(s_0) beta_0/s_0, for every s_0: read with s in the place of s_0.
        s = subject.betas[0].name
        images = {**leaf.images, f"{s}_0": leaf.images[s]}
        return len(trees) == 2 and _vanishes(leaf, tower.read(trees[1], images) + given[0])
    derived = [leaf.read(x) for x in gradient]
    factor = _factor(leaf, given, derived)
    return all(
        _vanishes(leaf, tower.tidy(x - factor * y)) for x, y in zip(given, derived, strict=True)
    )


def _factor(leaf: Leaf, given: Elements, derived: Elements) -> RationalFunction:
    """Return the quotient of the first slopes."""
    return leaf.tower.tidy(leaf.along(given[0], 0) / leaf.along(derived[0], 0))


def _same_value(subject: Subject, printed: Printed, found: _Compared) -> bool:
    """Tell whether printed = factor*derived; what was derived as an integral counts as such."""
    value, leaf = subject.value, found.same.leaf
    if value is None or value.has(Integral):
        return True
    Q, derived = leaf.read(texts_of(printed)[0]), leaf.read(value)
    factor = leaf.tower.tidy(leaf.along(Q, 0) / leaf.along(derived, 0))
    return _vanishes(leaf, leaf.tower.tidy(Q - factor * derived))


def _wrong_at_start(subject: Subject, found: _Compared) -> Finding:
    reason = "the gradient at the start is not 0: a linear term is missing or wrong"
    return misprint(reason, found.same.method, derived_form(subject))


def slopes_of_value(leaf: Leaf, trees: Sequence[Tree]) -> list[RationalFunction]:
    """Return the derivatives of the first text along the leaf."""
    value = leaf.read(trees[0])
    return [leaf.along(value, k) for k in range(leaf.d)]


def slopes_as_printed(leaf: Leaf, trees: Sequence[Tree]) -> list[RationalFunction]:
    """Return the texts as the components of a gradient."""
    return [leaf.read(tree) for tree in trees]


def _all_slopes(leaf: Leaf, functions: Elements) -> list[RationalFunction]:
    return [leaf.along(f, k) for f in functions for k in range(leaf.d)]


def scale_words(same: Proportional) -> tuple[str, ...]:
    """Name the factor, unless it is 1."""
    if same.factor == 1:
        return ()
    if same.factor is None:
        return ("scale: a factor that is constant along the flow",)
    return (f"scale: printed = {plain(same.factor)} * derived",)


def derived_form(subject: Subject) -> str:
    """Return Q as it was derived, with what its names stand for."""
    return "; ".join([f"Q = {plain(subject.shown)}", *definitions(subject.pieces)])


def _divergence(subject: Subject) -> str:
    """Return Q(beta) - Q(beta_0)."""
    Q = subject.value
    if Q is None or subject.radial:
        return derived_form(subject)
    known = {s.name: s for s in Q.free_symbols}
    at = {}
    for b in subject.betas:
        value = subject.starts[f"{b}_0"]
        at[b] = value.subs({s: known.get(s.name, s) for s in value.free_symbols})
    return f"D = {plain(Q - Q.subs(at, simultaneous=True))}"
