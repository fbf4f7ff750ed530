"""What weight decay, momentum, finite steps and noise do to the laws, the dual coordinates and Q.

All are read off one calculus (:mod:`derive.perturbed.followed`), which gives, for any of them,

    c(inf) = c_inf,    y(inf) - y(0) - xi in the row space of X.

So where the perturbed flow converges to an interpolant and g > 0, its limit minimises
Q_(c_inf)(beta) - <y(0) + xi, beta> subject to X beta = y, where grad Q_c = y on the leaf of c.

They go together. With decay, momentum and noise c' or lam c'' + c' is the sum of what each adds;
but noise in w'' adds to no law that depends on w alone: it is in the velocities. A step takes
decay and momentum in: w+ = w - eta (sum_a G_a X_a + k w) + mu (w - w_-).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation, Model, derived
from derive.errors import InputError
from derive.joint import join_findings
from derive.language import to_sympy
from derive.language.tree import Tree, names, substituted
from derive.model.geometry import EUCLIDEAN, Field
from derive.model.grading import entries, find_gradings
from derive.model.labels import taken_names
from derive.model.names import read_tree, unused
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.model.restriction import leave_out
from derive.perturbed.continuous import (
    STEERING,
    OneSided,
    decay_of,
    is_of_outputs,
    momentum_of,
    noise_of,
    one_sided,
    pushed_by,
    scaling_of,
)
from derive.perturbed.coordinates import MIRROR, PRECONDITIONED, PROCESSES
from derive.perturbed.drift import Drift, added
from derive.perturbed.followed import Followed, Leaf, follow, followed_in_plane
from derive.perturbed.record import Perturbation, effective_start, scaled_start, scaled_symbols
from derive.perturbed.step import step_of, stepped
from derive.potential.accept import ZeroTest
from derive.verdict import Finding, Identity, Verdict

KINDS = ("decay", "momentum", "step", "noise")
Drifts = Callable[[Leaf, Followed], Drift]


def perturb(
    model: Model,
    by: str | Sequence[str],
    progress: Callable[[str], None] | None = None,
    *,
    penalty: str | Expr | None = None,
    process: str | None = None,
) -> Perturbation:
    """Return how laws and dual coordinates drift under a perturbation of the flow.

    >>> from derive import Parameterization
    >>> p = Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])
    >>> found = perturb(p, by="decay")
    >>> found.verdict.value, found.laws, found.dual, found.effective
    ('PROVED', (-2*m*p,), (0,), {alpha: alpha*exp(-kappa)})
    >>> perturb(p, by=("decay", "noise")).effective
    {alpha: alpha*exp(-2*S - kappa)}

    Args:
        model: a derivation of any verdict, or F; without Q the drift of the laws is all there is.
        by: "decay", w' = grad L - kappa(t) w; "momentum", lam w'' + w' = -grad L from rest;
            "step", w - eta J^T X^T r; "noise" in the row space, as of SGD or of labels; or several
            of these at once, as a sequence or with commas.
        progress: called with the name of each step as it begins.
        penalty: h, a function of the weights, of decay -kappa(t) G^-1 dh in place of -kappa(t) w.
        process: "mirror", with steps, noise and momentum of theta = grad psi(w), the default where
            the weights have a mirror psi; or "preconditioned", those of w, their gradients times
            (Hess psi)^-1, or the learning rates. Both have the same flow.

    Raises:
        InputError: there is no such perturbation or process, or h is no function of weights of one
            block.

    Source: Jacobs, Burkholz 2025 (decay); Papazov, Pesme, Flammarion 2024 (momentum); Even, Pesme,
    Gunasekar, Flammarion 2023 (steps); Pesme, Pillaud-Vivien, Flammarion 2021 (noise), for diagonal
    networks; for other F, other metrics of the weights and several at once, our own derivation.
    """
    kinds, derivation = read_kinds(by), derived(model, progress)
    enter = progress or (lambda step: None)
    process = read_process(process, derivation.parameterization)
    if not _stays_tied(derivation, kinds, process, penalty):
        derivation = derivation.in_all_weights()
    if (d := derivation).direction is not None:
        enter("coordinates in the plane of the vector")
        d = followed_in_plane(d)
    enter(f"drift under {', '.join(kinds)}")
    leaves = follow(d.blocks, process)
    tree = None if penalty is None else _penalty(kinds, derivation, leaves, penalty)
    drift = _drifts(kinds, tree)
    laws = tuple(drift(leaf, x) for leaf in leaves for x in leaf.laws)
    # in the order of the outputs, which blocks may not have
    every = {i: (leaf, x) for leaf in leaves for i, x in zip(leaf.outputs, leaf.dual, strict=False)}
    dual = tuple(drift(*every[i]) for i in sorted(every))
    singular = dict.fromkeys(leaf.written(P) for leaf in leaves for P in leaf.poles())
    finding = _closed(d, kinds, leaves, laws, dual)
    by = ", ".join(kinds)
    found = Perturbation(derivation, by, laws, dual, finding, process, singular=tuple(singular))
    if tree is not None:
        found = replace(found, penalty=to_sympy(tree, dict(leaves[0].notation.weights)))
    if kinds == ("decay",):
        found = _decayed(found, d, leaves, tree)
    found = _with_conditions(found, leaves, tree)
    if found.start:
        return found
    effective, shift = effective_start(found, leaves)
    return replace(found, effective=effective, shift=shift, generic=_generic(leaves))


def _generic(leaves: Sequence[Leaf]) -> tuple[Expr, ...]:
    """Return functions of the parameters that are not 0 where laws and duals are as they are."""
    return tuple(dict.fromkeys(leaf.written(f) for leaf in leaves for f in leaf.generic()))


def read_kinds(by: object) -> tuple[str, ...]:
    """Return the perturbations that are named; InputError for one that there is not."""
    given = by.replace(",", " ").split() if isinstance(by, str) else by
    found = tuple(given) if isinstance(given, list | tuple) else (given,)
    if wrong := [x for x in found if x not in KINDS]:
        raise InputError(f"by is one of {', '.join(KINDS)}, not {wrong[0]!r:.40}")
    if not found:
        raise InputError(f"by is one of {', '.join(KINDS)}, or several with commas")
    if {"step", "noise"} <= {*found}:
        raise InputError("a step is along any gradient, that with noise too: leave out noise")
    return tuple(kind for kind in KINDS if kind in found)


def read_process(process: object, p: Parameterization) -> str:
    """Return which process is perturbed; InputError for one that there is not, or has no drifts."""
    if not p.geometry.steering.is_gradient:
        raise InputError("perturbations are of gradient flow: leave out steepest")
    has_mirror = p.geometry.psi is not None
    if process is None:
        return MIRROR if has_mirror else PRECONDITIONED
    if process not in PROCESSES:
        raise InputError(f"process is one of {', '.join(PROCESSES)}, not {process!r:.40}")
    if process == MIRROR and not has_mirror:
        raise InputError("mirror descent needs a mirror: give psi of theta = grad psi(w)")
    return str(process)


def _penalty(
    kinds: Sequence[str], given: Derivation, leaves: Sequence[Leaf], penalty: str | Expr
) -> Tree:
    """Return the penalty in the weights that are followed, if it goes with what is asked."""
    tree = read_tree(penalty, "the penalty")
    tree = substituted(tree, dict(given.ties))
    if "decay" not in kinds or len(leaves) != 1:
        raise InputError(
            "a penalty goes with decay, and with one output or outputs that share weights"
        )
    used, p = {*names((tree,))}, given.parameterization
    if given.direction is not None and not used <= {*p.weights[:-1], *p.parameters}:
        raise InputError("the penalty of a model with a vector is a function of its scalars alone")
    p = leaves[0].parameterization
    if unknown := used - {*p.weights, *p.parameters}:
        raise InputError(
            f"the penalty has no weight {min(unknown)} (there are {', '.join(p.weights)})"
        )
    return tree


def _stays_tied(
    d: Derivation, kinds: Sequence[str], process: str, penalty: str | Expr | None
) -> bool:
    """Tell whether weights stay tied: steps along fields keep them so, and some penalties do."""
    if process == MIRROR or "decay" not in kinds:
        return process != MIRROR
    ties = {Symbol(w): to_sympy(x) for w, x in d.ties}
    weights = [*map(Symbol, d.parameterization.weights)]
    psi = sympy.Add(*(w**2 for w in weights)) / 2
    if penalty is not None:
        psi = to_sympy(read_tree(penalty, "the penalty"))
    slopes = {w: psi.diff(w).xreplace(ties) for w in weights}
    along = {w: tie - tie.xreplace(dict.fromkeys(weights, sympy.S.Zero)) for w, tie in ties.items()}
    decide = ZeroTest(d.potential.parameterization, {})
    return all(decide.vanishes(slopes[w] - tie.xreplace(slopes)) for w, tie in along.items())


def _drifts(kinds: Sequence[str], penalty: Tree | None) -> Drifts:
    """Return how a law or dual coordinate drifts, in the sum of all kinds."""
    known: dict[str, Drifts] = {
        "decay": partial(decay_of, penalty),
        "momentum": partial(momentum_of, alone="decay" not in kinds),
        "noise": noise_of,
    }
    if "step" in kinds:
        return partial(step_of, kinds, penalty)
    if len(kinds) == 1:
        return known[kinds[0]]
    moving = [kind for kind in kinds if not (kind == "noise" and "momentum" in kinds)]

    def drift(leaf: Leaf, x: Followed) -> Drift:
        size = {"decay": leaf.fresh("k"), "momentum": leaf.fresh("lam")}
        return added([(size.get(kind, sympy.S.One), known[kind](leaf, x)) for kind in moving])

    return drift


def _with_conditions(
    found: Perturbation, leaves: Sequence[Leaf], penalty: Tree | None
) -> Perturbation:
    """Return steps with what has to be positive, momentum with the laws that grow or fall."""
    kinds = found.kinds
    if "step" in kinds:
        positive = (c for leaf in leaves for c in stepped(kinds, penalty, leaf).conditions())
        return replace(found, conditions=tuple(dict.fromkeys(positive)))
    if "momentum" not in kinds:
        return found
    drift, sides = _drifts(kinds, penalty), list[OneSided]()
    for leaf, x in ((at, x) for at in leaves for x in one_sided(at)):
        rate = decay_of(penalty, leaf, x.of).change if "decay" in kinds else sympy.S.Zero
        if rate.is_number and x.side * rate >= 0:  # decay moves it to that side, too
            sides.append(replace(x, change=drift(leaf, x.of).change))
    return replace(found, one_sided=tuple(sides))


def _closed(
    d: Derivation,
    kinds: Sequence[str],
    leaves: Sequence[Leaf],
    laws: Sequence[Drift],
    dual: Sequence[Drift],
) -> Finding:
    """Decide whether c and y drift by functions of the laws, and as their perturbation has it."""
    if d.warping.verdict is Verdict.REFUTED:
        return Finding(Verdict.REFUTED, f"there is no Q: {d.warping.finding.reason}")
    if not leaves:
        reason = "laws are known from another start, which the perturbation may tell from this one"
        return Finding(Verdict.UNDECIDED, reason)
    found = join_findings([x.finding for x in (*laws, *dual)])
    if found.verdict is Verdict.REFUTED:
        return found
    if any(len(leaf.dual) < len(leaf.outputs) for leaf in leaves):
        why = f"; {d.potential.finding.reason}" * (d.verdict is Verdict.UNDECIDED)
        reason = f"no dual coordinates with rational derivatives are known{why}"
        return Finding(Verdict.UNDECIDED, reason)
    if not all(leaf.complete for leaf in leaves):
        return Finding(Verdict.UNDECIDED, "not all laws are known")
    if found.verdict is not Verdict.PROVED:
        return found
    if len(factors := {y.factor for y in dual}) > 1:
        reason = "the dual coordinates decay by different factors, which mixes the row space"
        return Finding(Verdict.UNDECIDED, reason, found.evidence)
    more = ", but for `q y`" * any(factors) + ", and of velocities of `c` and `y`" * (
        "momentum" in kinds
    )
    names = [f"`{x.symbol}`" for x in (*laws, *dual)]
    verb = "drift of {} is a function" if len(names) == 1 else "drifts of {} are functions"
    return replace(found, reason=f"the {verb.format(', '.join(names))} of laws{more}")


def _decayed(
    found: Perturbation, d: Derivation, leaves: Sequence[Leaf], penalty: Tree | None
) -> Perturbation:
    """Return what decay does beside moving laws and dual coordinates."""
    if penalty is None:
        p = leave_out(d.parameterization, d.idle)
        return _shrunk(found, p, p.w)
    if found.of_dual and is_of_outputs(penalty, leaves[0]):
        return replace(found, closed=STEERING)
    if d.direction is not None:
        return found
    leaf, push = pushed_by(penalty, leaves[0])
    return _shrunk(found, leaf.parameterization, push)


def _shrunk(found: Perturbation, p: Parameterization, push: Field) -> Perturbation:
    """Return what decay does where it normalises the fields: it shrinks the start."""
    scaling = scaling_of(p, push)
    given = leave_out(found.derivation.parameterization, found.derivation.idle)
    if scaling is None:
        # the degrees of the weights by which decay would shrink the start
        lam = entries(p, find_gradings(p).one) if p.geometry == EUCLIDEAN else {}
        known = found.penalty is None and lam and min(lam.values()) > 0
        return replace(found, grading=lam) if known else found
    symbols = Notation(p, ()).weights
    q, *rates = (to_expr(x, symbols) for x in (scaling[0], *scaling[1]))
    if found.derivation.warping.verdict is not Verdict.PROVED or not any(rates):
        return replace(found, degree=q + 1)
    kappa = Symbol(unused("kappa", taken_names(given)), real=True)
    if len({*rates}) == 1:
        start = tuple((w, rates[0]) for w in given.weights)
    elif given.weights == p.weights:
        start = tuple(zip(p.weights, rates, strict=True))
    else:
        return found
    factors = {w: sympy.exp(-x * kappa) for w, x in start}
    closed = found.closed
    if found.penalty is None:
        reason = "the fields grad F_a are homogeneous, so decay shrinks the start and nothing else"
        statement = f"<w, dX> = ({q + 1}) X for every component X of the fields grad F_a"
        closed = Finding(Verdict.PROVED, reason, (Identity(statement, "0", "0"),))
    elif closed.verdict is not Verdict.PROVED:
        reason = "`[grad h, grad F_a] = q grad F_a`, so decay shrinks the start and nothing else"
        statement = f"[grad h, X] = ({q}) X for the fields X = grad F_a"
        closed = Finding(Verdict.PROVED, reason, (Identity(statement, "0", "0"),))
    return replace(
        found,
        closed=closed,
        effective=scaled_symbols(given, factors),
        start=scaled_start(given, factors),
        degree=q + 1,
    )
