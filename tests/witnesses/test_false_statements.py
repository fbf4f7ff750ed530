"""Statements of every room that are false, each in one way: their witnesses refute them."""

import functools
import random
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy
from flint import arb

from derive import Parameterization, explicit_counterpart, margins, perturb
from derive.inverse.parameterize import parameterize
from derive.language import parse_expression
from derive.limits.random_width import random_width
from derive.separable.weights_problem import Level
from derive.statement import Statement
from derive.verdict import Finding, Verdict
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted, changed, repeated
from tests.witnesses.perturbed import kinds_of
from tests.witnesses.test_statements import ENTROPY, TIED, UPDATES, scaled, wide_net

PAIR, CUBES = "p**2 - m**2", "p**3 - m**3"
FROM_ALPHA = "p**2 - m**2 from p=alpha, m=alpha"
HALF, ALPHA = sympy.Rational(1, 2), sympy.Symbol("alpha", positive=True)


def first(record, kind):
    return record.says(kind)[0]


OTHERS = {
    "regularizer": ([PAIR], ["p**3 - m**2"]),
    "dual": ([PAIR], ["p**3 - m**2"]),
    "kernel": ([PAIR], ["p**2 - 2*m**2"]),
    "conserved": ([PAIR], ["p**2 - 2*m**2"]),
    "domain": (["w**2"], ["w**2 - w"]),
    "minimiser": ([PAIR], ["p**2 - m"]),
    "every time": ([PAIR], ["p**2 - m"]),
    "shrunk start": ([PAIR], ["p**2 - m"]),
    "mirror flow": (["a*u1", "a*u2", "a*u3"], ["a*u1", "a*u2 + u1*u3", "a*u3"]),
}
"""For each kind, a model, and another F with the same weights of which its claims are false."""


def of_another_map(kind):
    own, other = OTHERS[kind]
    d = derive_once(own)
    false = replace(d, parameterization=Parameterization.parse(other))
    assert false.parameterization.weights == d.parameterization.weights
    return false, first(d, kind)


def explicit(kind):
    """Return a record and a statement of it with another form, root, verdict, limit or value."""
    p = Parameterization.parse([PAIR], {"p": "a", "m": "a"})
    record = explicit_counterpart(p, at={"beta": Fraction(3), "a": Fraction(1)})
    s = first(record, kind)
    if kind in ("distance", "representation cost"):
        minimum = s.values["minimum"]
        moved = tuple(replace(x, factor=None) for x in minimum.intervals)
        return record, changed(s, minimum=replace(minimum, intervals=moved))
    contrast = s.values.get("contrast")
    if kind == "R beside Q":
        same = replace(contrast, finding=Finding(Verdict.PROVED, "they are the same"))
        return record, changed(s, contrast=same)
    if kind == "R and Q in numbers":
        rows = tuple(replace(row, implicit=2 * row.implicit) for row in contrast.rows)
        return record, changed(s, contrast=replace(contrast, rows=rows))
    if kind == "scale limit":  # from a start that does not go to 0
        other = Parameterization.parse([PAIR], {"p": "1 + a", "m": "1 + a"})
        return replace(record, parameterization=other), s
    return record, changed(s, value=replace(s.values["value"], ball=arb(2)))


def margin(kind):
    """Return a record and a statement of it that is false: of another sign, factor or F."""
    tied, beta = margins(derive_once([PAIR], TIED)), sympy.Symbol("beta", real=True)
    p, m = sympy.symbols("p m", real=True)
    false = {
        "direction": {"phi": abs(beta) + beta / 2},
        "growth": {"h": abs(beta) / 3},
        "homogeneous": {"D": sympy.Integer(3)},
        "KKT law": {"law": p**2 + m**2},
        "representation cost": {"R_F": beta**2 + 1},
    }
    if kind in false:
        return tied, changed(first(tied, kind), **false[kind])
    if kind in ("graded", "KKT levels", "level cost"):
        return of_two_levels(kind)
    if kind == "large starts, late":  # what was said before degrees had to be positive
        of_degree_below_0 = margins(derive_once(["1/p - 1/m"], TIED))
        K = sympy.ImmutableMatrix([[2 / sympy.Symbol("alpha") ** 4]])
        wrong = replace(of_degree_below_0.scaled, kernel=K)
        record = replace(of_degree_below_0, scaled=wrong)
    elif kind == "coercive":
        no = Finding(Verdict.REFUTED, "`grad Q` stays bounded as beta -> infinity")
        return replace(tied, coercive=no), first(tied, kind)
    elif kind == "agreement":
        shape = replace(tied.shape, function=abs(beta) - beta / 2)
        return replace(tied, shape=shape), first(tied, kind)
    elif kind == "large starts":
        record = replace(tied, scaled=replace(tied.scaled, degree=sympy.Integer(3)))
    else:
        other = Parameterization.parse(["p**2 - m" if kind == "KKT" else "p + m"], TIED)
        d = replace(tied.derivation, parameterization=other)
        return replace(tied, derivation=d), first(tied, kind)
    return record, first(record, kind)


def of_two_levels(kind):
    """Exchange what W and what a and b are said to be, or double a cost."""
    m = margins(derive_once(["W + a*b"]))
    W, a, b = sympy.symbols("W a b", real=True)
    s, one = first(m, kind), sympy.S.One
    if kind == "graded":
        return m, changed(s, lam={W: HALF, a: HALF, b: HALF})
    if kind == "level cost":
        return m, changed(s, R=2 * s.values["R"])
    wrong = replace(m.weights, kept={W: one}, fading=(a, b), levels=(Level(1, (W,), W**2, ()),))
    return replace(m, weights=wrong), s


@functools.cache
def drifts(F, by, **given):
    return perturb(derive_once(F, **given), by)


def doubled(changes):
    return tuple(replace(x, change=2 * x.change) for x in changes)


def perturbed(kind):
    """Return a record of which the statement of that kind is false."""
    noise, momentum = drifts(PAIR, "noise"), drifts(PAIR, "momentum")
    if kind == "closed drift":
        v = drifts(CUBES, "noise")
        false = replace(v, closed=replace(v.closed, verdict=Verdict.PROVED, evidence=()))
    elif kind in ("start of the end", "noise that stays"):
        false = replace(noise, effective={s: s * (s / x) for s, x in noise.effective.items()})
    elif kind == "decay metric":
        v = drifts("a*b + c", "decay")
        false = replace(v, grading=dict.fromkeys(v.grading, HALF))
    elif kind == "one side":
        turned = tuple(replace(x, side=-x.side) for x in momentum.one_sided)
        false = replace(momentum, one_sided=turned)
    elif kind == "decay kept on":
        v = drifts(PAIR, "decay")
        return replace(v, penalty=sympy.Symbol("p", real=True) ** 4), kinds_of(v)[kind]
    elif kind == "annealed noise":  # h without S: its least sum is at the other end
        s = kinds_of(noise)[kind]
        return noise, changed(s, h=sympy.Abs(noise.derivation.beta[0]))
    else:
        of = {"drift": noise, "crossing": momentum}
        v = of.get(kind) or drifts(CUBES, "momentum")
        false = replace(v, of_laws=doubled(v.of_laws))
    return false, kinds_of(false).get(kind) or kinds_of(noise)[kind]


def of_another_process(by):
    """p m is kept by mirror descent alone; so each drift is false of the other process."""
    for process, other in (("mirror", "preconditioned"), ("preconditioned", "mirror")):
        v = perturb(derive_once("p - m", mirror=ENTROPY), by, process=process)
        s = kinds_of(v)["drift"]
        repeated(WITNESSES["drift"], v, s, 2)
        yield replace(v, process=other), s


def limit(kind):
    """Return a record, and a statement of it with a wrong factor, exponent, side or name."""
    tied = scaled(FROM_ALPHA)
    if kind in ("limit", "regime", "limit error"):
        s = first(tied, kind)
        of = s.values["limit"]
        if kind == "regime":
            return tied, replace(s, words=s.words.replace("rich", "kernel"))
        wrong = {"limit": replace(of, unit=2 * of.unit)} if kind == "limit" else {"error": ALPHA}
        return tied, changed(s, **wrong)
    if kind == "start kernel":
        double = replace(tied.kernel, matrix=2 * tied.kernel.matrix)
        return tied, changed(first(tied, kind), kernel=double)
    if kind == "time scale":
        return tied, changed(first(tied, kind), e=sympy.Integer(3))
    if kind in ("graded", "ruling weights"):
        record = scaled("a*b + c")
        s = first(record, kind)
        if kind == "graded":
            return record, changed(s, lam=dict.fromkeys(s.values["lam"], sympy.S.Half))
        return record, changed(s, high=s.values["low"], low=s.values["high"])
    if kind == "steep side":
        record = scaled("p**2 - m**2 from p=alpha, m=s")
        return record, changed(first(record, kind), slope=sympy.log(sympy.Symbol("alpha")))
    if kind == "side reached":
        told = {"limit": tied.limits[0], "x": tied.limits[0].coordinates[0]}
        return tied, Statement("only `{x} > 0` is reached", told, kind=kind)
    if kind == "kernel decides":
        record = scaled("u*v from u=alpha, v=s")
        return record, Statement("Q depends on K alone", kind=kind)
    # A floor that g falls below, or a g that is large where beta is not.
    record = scaled("a*u1, a*u2 from a=2*alpha, u1=alpha, u2=0")
    g, floor = record.derivation.warping.g, 4 * sympy.Symbol("alpha") ** 2
    told = {"g": sympy.exp(40 * g) if kind == "clock is bounded" else g, "floor": floor}
    return record, Statement("g > 0", told, kind=kind)


def wide_start(kind):
    wide = random_width()
    s = first(wide, kind)
    factors = {"c": 2 * wide.curvature, "E kappa": 2 * wide.kappa_mean, "g": 2 * wide.gradient}
    return wide, changed(s, **{k: v for k, v in factors.items() if k in s.values})


def design(Q):
    found = parameterize(Q)
    (c,) = found.coordinates
    if Q.endswith("beta**2"):  # an integral
        other = replace(c, w_of_beta=parameterize("beta**6 + beta**2").coordinates[0].w_of_beta)
        return replace(found, coordinates=(other,)), first(found, "line element")
    other = "p**3 - m**2" if len(c.weights) > 1 else f"{c.weights[0]}**3"
    other = "w**3 + w" if other == "w**3" else other
    return replace(found, coordinates=(replace(c, output=parse_expression(other)),)), (
        found.statements[0]
    )


def update(name, kind, **other):
    o = UPDATES[name]
    return replace(o, update=replace(o.update, **other)), first(o, kind)


def factors(bending, *of_ends):
    p = wide_net("uniform")
    affine = tuple(x * (1 + 8 * c) for x, c in zip(p.affine, of_ends, strict=True))
    false = replace(p, bending=Fraction(bending) / 4, affine=affine)
    return false, false.statements[0]


NORMALIZED = {"tail": {**UPDATES["normalized"].update.tail, "norm": "l1"}}
SIGMOID = {"update": {"w": "w - eta*g*sqrt(1 + g*g)"}}
FALSE = [  # how each is made, of what; the first of each row is tried by default
    (of_another_map, *OTHERS),
    (explicit, "distance", "representation cost", "R beside Q", "R and Q in numbers"),
    (explicit, "scale limit", "value"),
    (margin, "KKT law", "KKT", "KKT levels", "KKT minimizer", "agreement", "coercive", "direction"),
    (margin, "representation cost", "graded", "growth", "homogeneous", "large starts"),
    (margin, "large starts, late", "level cost"),
    (perturbed, "drift", "closed drift", "perturbed limit", "start of the end", "crossing"),
    (perturbed, "decay kept on", "noise that stays", "decay metric", "one side", "annealed noise"),
    (limit, "limit", "regime", "limit error", "start kernel", "time scale", "steep side"),
    (limit, "ruling weights", "graded", "side reached", "kernel decides", "clock runs"),
    (limit, "clock is onto", "clock is bounded"),
    (wide_start, "width law", "width moments", "wide starts"),
    (design, "beta*log(beta) - beta", "beta*asinh(beta/2) - sqrt(4 + beta**2)", "-log(beta)"),
    (design, "beta**4 + beta**2"),
    (factors, (1, 0, 0), (1, 0, 1), (3, 1, 1)),
    (update, ("momentum", "span", {"update": {"w": "w - eta*g + mu*w", "before": "w"}})),
    (update, ("normalized", "tail", NORMALIZED), ("gradient-descent", "optimizer limit", SIGMOID)),
    (update, ("gradient-descent", "iterates", {"update": {"w": "w + eta*g"}})),
    (update, ("coordinate-descent", "tail", {"norm": "inf"})),
    (update, ("adagrad", "span", {"update": {"w": "w - eta*g", "S": "S"}})),
    (update, ("coordinate-descent", "optimizer limit", {"norm": "inf"})),
]
ROWS = [
    pytest.param(
        make, of, marks=[pytest.mark.slow] * (n > 0 or k in (2, 5, 9, 10, 13, 16, 17, 18, 19))
    )
    for k, (make, *each) in enumerate(FALSE)
    for n, of in enumerate(each)
]


@pytest.mark.parametrize(("make", "of"), ROWS)
def test_witnesses_refute_what_is_false(make, of):
    if make is update:
        record, statement = update(of[0], of[1], **of[2])
    else:
        record, statement = make(*of) if isinstance(of, tuple) else make(of)
    with pytest.raises(Refuted):
        repeated(WITNESSES[statement.kind], record, statement)


@pytest.mark.every(4)
@pytest.mark.parametrize("by", ["noise", "step", "momentum"])
def test_a_witness_tells_the_two_processes_apart(by):
    for record, statement in of_another_process(by):
        with pytest.raises(Refuted):
            repeated(WITNESSES["drift"], record, statement)


def test_plain_squares_are_not_least_under_rates():
    """That of all weights alike, as without rates, is refuted where one moves faster."""
    m, plain = (margins(derive_once(["u*v"], rates=r)) for r in ({"v": "1/4"}, {}))
    told, wrong = (first(x, "representation cost") for x in (m, plain))
    assert (str(told.values["R_F"]), str(wrong.values["R_F"])) == ("4*Abs(beta)", "2*Abs(beta)")
    false = [(m, wrong)]
    for own, other in ((plain, m), (m, plain)):
        false.append((replace(own, derivation=other.derivation), first(own, "KKT law")))
    for record, statement in false:
        with pytest.raises(Refuted):
            repeated(WITNESSES[statement.kind], record, statement)


@pytest.mark.slow
def test_nesterov_s_flow_comes_to_rest_and_a_slower_one_is_told_apart(monkeypatch):
    v = drifts(PAIR, "momentum")
    statement = kinds_of(v)["damped rest"]
    assert WITNESSES["damped rest"](v, statement, random.Random(0))
    monkeypatch.setattr("tests.witnesses.perturbed.DAMPING", 0.2)
    with pytest.raises(Refuted):
        repeated(WITNESSES["damped rest"], v, statement)


@pytest.mark.slow
@pytest.mark.parametrize("slack", [sympy.Rational(1, 2), sympy.Rational(2, 3)])
def test_a_sharp_rate_that_errors_outrun_is_refuted(slack):
    record = scaled(FROM_ALPHA)
    s = first(record, "limit error")
    of = s.values["limit"]
    assert of.sharp
    slow = changed(s, error=of.error**slack)
    with pytest.raises(Refuted):
        repeated(WITNESSES["limit error"], record, slow)
    bound = changed(slow, limit=replace(of, sharp=False))
    assert WITNESSES["limit error"](record, bound, random.Random(5)) > 0
