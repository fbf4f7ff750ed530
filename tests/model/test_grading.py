"""Gradings of F: found where they are planted, refuted where there is none, least as laws ask."""

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy.optimize import linprog

from derive import Parameterization, Verdict, regimes
from derive.certificate.checking.check import check_text
from derive.errors import InputError
from derive.exact.balls import largest
from derive.language import to_text
from derive.model.grading import find_gradings
from derive.model.restriction import find_ties
from numerics import crosscheck, flow, interpolate
from tests.published import derive_once

WEIGHTS = "abcdef"


def drawn(seed):
    """Return a sum of monomials for which Lambda was planted, as exponents of each."""
    rng = random.Random(seed)
    size = rng.randrange(2, 6)
    lam = [Fraction(rng.randrange(1, 5), 4) for _ in range(size)]
    every = np.ndindex(*[5] * size)
    fitting = [e for e in every if sum(n * x for n, x in zip(e, lam, strict=True)) == 1]
    return rng.sample(fitting, min(len(fitting), rng.randrange(1, 4))), size


def text(monomials, size):
    return " + ".join(
        "*".join(f"{w}**{n}" for w, n in zip(WEIGHTS[:size], e, strict=True) if n)
        for e in monomials
    )


def values_of(found, p):
    return np.array([float(x.value()) for x in found.one.diagonal])


def scaled(F, names, lam, rng):
    """Return F(c^Lambda w) and c F(w) at a drawn point, by SymPy's own reading of F."""
    f = sympy.lambdify(sympy.symbols(names), sympy.sympify(F), "numpy")
    w, c = np.array([rng.uniform(0.5, 2) for _ in names]), rng.uniform(1.5, 3)
    return f(*(c**lam * w)), c * f(*w)


def leximin(E):
    """Return the least sorted entries of E lam = 1 by linear programs in doubles, one by one."""
    p, fixed = E.shape[1], {}
    while len(fixed) < p:
        free = [k for k in range(p) if k not in fixed]
        rows = [[float(k == j) for k in range(p)] + [-1.0] for j in free]
        equal = np.vstack([np.c_[E, np.zeros(len(E))]] + [np.eye(p + 1)[[k]] for k in fixed])
        sides = [*np.ones(len(E)), *fixed.values()]
        box = [(None, None)] * (p + 1)
        done = linprog([0.0] * p + [1.0], rows, [0.0] * len(rows), equal, sides, bounds=box)
        if done.status == 3:  # unbounded: laws keep those that are left bounded
            fixed |= dict.fromkeys(free, 0.0)
            break
        m = done.fun
        caps = [(None, fixed.get(k, m)) for k in range(p)]
        for k in free:
            low = linprog(np.eye(p)[k], A_eq=equal[:, :-1], b_eq=sides, bounds=caps)
            if low.status != 3 and low.fun > m - 1e-9:
                fixed[k] = m
    return np.array([fixed[k] for k in range(p)])


@pytest.mark.parametrize("seed", range(20))
def test_a_planted_grading_is_found_and_least(seed):
    monomials, size = drawn(seed)
    F = text(monomials, size)
    p = Parameterization.parse([F])
    found = find_gradings(p)
    lam = values_of(found, p)
    assert found.finding.verdict is Verdict.PROVED
    assert np.allclose(*scaled(F, p.weights, lam, random.Random(seed)))
    E = np.array([[e[WEIGHTS.index(w)] for w in p.weights] for e in monomials], float)
    assert np.allclose(lam, leximin(E), atol=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_a_constant_beside_leaves_none(seed):
    """F(w) + 1 has none, general or diagonal: J Lambda w is 0 at w = 0, and F there is 1."""
    monomials, size = drawn(seed)
    found = find_gradings(Parameterization.parse([f"{text(monomials, size)} + 1"]))
    assert (found.finding.verdict, found.one) == (Verdict.REFUTED, None)


@pytest.mark.parametrize(
    ("F", "lam"),
    [
        (["W + a*b"], "W 1, a 1/2, b 1/2"),
        (["c*a*b"], "c 1/3, a 1/3, b 1/3"),
        (["a**2*b"], "a 1/3, b 1/3"),  # not (2/5, 1/5), the solution of least norm
        (["g*v/sqrt(v**2 + u**2)", "g*u/sqrt(v**2 + u**2)"], "g 1, v 0, u 0"),
        (["a/b"], "a 0, b -1"),  # a^2 + b^2 is a law: F grows as b -> 0
        (["a*b", "c"], "a 1/2, b 1/2, c 1"),
        (["p**2 - m"], "p 1/2, m 1"),
    ],
)
def test_the_grading_that_the_laws_allow(F, lam):
    p = Parameterization.parse(F)
    one = find_gradings(p).one
    found = dict(zip(p.weights, (str(x.value()) for x in one.diagonal), strict=True))
    assert found == dict(pair.split(" ") for pair in lam.split(", "))


def test_a_grading_need_not_be_diagonal():
    found = find_gradings(Parameterization.parse(["(a + b) + (a - b)**2"]))
    (x, y), (z, t) = ([v.value() for v in row] for row in found.one.matrix)
    assert not found.one.is_diagonal
    assert (x + y, z + t, x - y, t - z) == (1, 1, Fraction(1, 2), Fraction(1, 2))


@pytest.mark.parametrize("F", ["sinh(w)", "exp(p) - exp(m)", "log(w)"])
def test_functions_of_other_growth_have_none(F):
    assert find_gradings(Parameterization.parse([F])).finding.verdict is Verdict.REFUTED


@pytest.mark.parametrize("F", ["sqrt(w + 1)", "sin(w)"])
def test_of_algebraic_functions_it_is_not_refuted(F):
    assert find_gradings(Parameterization.parse([F])).finding.verdict is Verdict.UNDECIDED


def test_a_symbol_in_the_exponent_stays():
    one = find_gradings(Parameterization.parse(["p**D - m**D"])).one
    assert one.is_diagonal
    assert {*map(str, one.diagonal)} == {"1/D"}


def test_equations_without_a_solution_have_no_vertex():
    one = Fraction(1)
    assert largest([one, one], [[one, one], [one, one]], [Fraction(0), one]) is None


@pytest.mark.parametrize("seed", range(20))
def test_vertices_are_largest(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 7)), int(rng.integers(0, 3))
    rows, x = rng.integers(-3, 4, (m, n)), rng.integers(0, 3, n) + np.eye(n, dtype=int)[0]
    cost, sides = rng.integers(-5, 6, n), rows @ x
    rows, sides = rows * np.where(sides < 0, -1, 1)[:, None], np.abs(sides)
    rows, sides = np.vstack([rows, np.ones(n, int)]), [*sides, x.sum()]
    exact = [[Fraction(int(y)) for y in row] for row in rows]
    found = largest([*map(Fraction, map(int, cost))], exact, [Fraction(int(s)) for s in sides])
    done = linprog(-cost, A_eq=rows, b_eq=sides)
    assert [sum(a * b for a, b in zip(row, found, strict=True)) for row in exact] == sides
    assert min(found) >= 0
    assert np.isclose(float(cost @ np.array(found, float)), -done.fun)


TWO = ["a*u1 + b*v1", "a*u2 + b*v2"]


ONES = {"u": "1", "v": "1"}


@pytest.mark.parametrize(
    ("outputs", "start", "rates"),
    [
        (TWO, {"a": "3", "b": "4", "u1": "1", "u2": "2", "v1": "2", "v2": "1"}, {}),
        (TWO, {"a": "1", "b": "1", "u1": "1", "u2": "2", "v1": "1", "v2": "3"}, {}),
        (TWO, {}, {}),
        # Equal weights that move differently, and a single one that leaves the origin.
        (["exp(u) - exp(v)"], ONES, {}),
        (["u*exp(v)"], ONES, {}),
        (["tanh(u)*v"], ONES, {}),
        (["sqrt(u**2 + v**2)"], ONES, {}),
        (["w + w**3"], {"w": "0"}, {}),
        (["exp(w)"], {"w": "0"}, {}),
        (["u*v"], ONES, {"u": "2", "v": "1/2"}),
        (["u*v"], ONES, {"u": "1 + u**2", "v": "1"}),
        (["u*v"], ONES, {"u": "u**2", "v": "v"}),
    ],
)
def test_what_is_not_aligned_or_moves_differently_has_no_ties(outputs, start, rates):
    p = Parameterization.parse(outputs, start, rates=rates)
    assert find_ties(p) is None
    assert outputs is not TWO or derive_once(p).verdict is Verdict.REFUTED


@pytest.mark.slow
def test_symbolic_ratios_become_parameters():
    start = {"a": "s", "b": "k*s", "u1": "t", "u2": "0", "v1": "k*t", "v2": "0"}
    d = derive_once(TWO, start=start)
    assert d.verdict is Verdict.PROVED
    assert "k" in d.potential.parameterization.parameters
    assert crosscheck(d, digits=20).passed
    assert "left out: b = k*a" in d.to_text()
    assert "b = a k" in d.to_latex()


def test_equal_weights_are_followed_as_one():
    """Q is that of ``p**2 - m**2`` with the rates 1/2: what u*v - x*y has in all its weights."""
    start = dict.fromkeys("uvxy", "alpha")
    d = derive_once("u*v - x*y", start, ["alpha"])
    assert (d.verdict, dict(d.ties).keys()) == (Verdict.PROVED, {"v", "y"})
    start |= {"v": "gamma", "y": "gamma"}
    both = derive_once("u*v - x*y", start, ["alpha", "gamma"])
    assert not both.ties
    gaps = zip(d.potential.gradient, both.potential.gradient, strict=True)
    values = {"alpha": sympy.Rational(3, 4), "gamma": sympy.Rational(3, 4)}
    for beta in (sympy.Rational(-2, 3), sympy.Rational(5, 2)):
        known = values | {d.beta[0].name: beta}
        for gap in gaps:
            ours, theirs = (
                g.subs({s: known[s.name] for s in g.free_symbols}).evalf(30) for g in gap
            )
            assert abs(ours - theirs) < 1e-25


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("F", "start", "rates", "kind"),
    [
        ("u**4 + v**4", {"u": "x", "v": "x"}, {}, "explicit"),
        ("u*v*w", dict.fromkeys("uv", "x"), {}, "quadrature"),
        ("exp(u) + exp(v)", {"u": "x", "v": "x"}, {}, "explicit"),
        ("u*v", {"u": "2", "v": "1"}, {"u": "2", "v": "1/2"}, "explicit"),
        ("tanh(u*v)", {"u": "2/3", "v": "2/3"}, {}, "explicit"),
        ("u*v", {"u": "1", "v": "1"}, {"u": "eta", "v": "eta"}, "explicit"),
        ("u*v", {"u": "x", "v": "x"}, {"u": "u**2", "v": "v**2"}, "explicit"),
        ("u**D*v**D", {"u": "x", "v": "x"}, {}, "explicit"),
        ("exp(u) + exp(v)", {"u": "0", "v": "0"}, {}, "explicit"),  # which leaves the origin
        ("u*v", {"u": "x", "v": "x"}, {"u": "1/v", "v": "1/u"}, "explicit"),
    ],
)
def test_fewer_weights_have_the_simpler_form(F, start, rates, kind):
    """The flow is that of one weight, in the metric that the line has from that of all."""
    d = derive_once(F, start, ["x"] * ("x" in start.values() and not rates), rates=rates)
    assert dict(d.ties).keys() == {"v"}
    assert (d.verdict, d.potential.pieces[0].kind) == (Verdict.PROVED, kind)
    assert crosscheck(d, digits=20).passed


def test_a_weight_that_is_to_stay_positive_is_kept_where_it_may_not():
    """Sign descent on p^2 - m^2 has p + m = 2 alpha, until m or p is 0."""
    d = derive_once(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, steepest="oo")
    assert d.ties == ()
    words = d.potential.pieces[0].domain.words
    assert words.startswith("`-4*alpha**2 < beta < 4*alpha**2`")


@pytest.mark.parametrize(
    ("outputs", "start", "ties"),
    [
        (["x*(b + 1/b)", "y*(b + 1/b)"], {"b": "1"}, {"b": "1"}),
        (["a*b/(1 + a**2)"], {"a": "1"}, {"a": "1"}),
        (["a*cosh(b)"], {"b": "0"}, {"b": "0"}),
        (["g*v/sqrt(u**2 + v**2)"], {"g": "1", "v": "2", "u": "0"}, {"v": "2", "u": "0"}),
        (["a*b*c + d"], {"a": "2", "b": "0", "c": "0"}, {"a": "2", "b": "0", "c": "0"}),
        (["(u + v)*w"], {"u": "1", "v": "2"}, {"v": "u + 1"}),
        # Offsets by symbols would hide that F is homogeneous.
        (["(u + v)*w", "x*y"], {"u": "s", "v": "2*s", "x": "t", "y": "t"}, {"y": "x"}),
        (["u*v"], {"u": "1", "v": "s"}, None),
        (["x*(b + 1/b)"], {"b": "2"}, None),
    ],
)
def test_the_flow_stays_in_an_affine_subspace(outputs, start, ties):
    """A weight whose derivative is 0 where it starts stands still; a difference may be kept."""
    d = derive_once(outputs, start)
    assert {w: to_text(tree) for w, tree in d.ties} == (ties or {})
    assert d.verdict is Verdict.PROVED
    assert ties is None or d.potential.pieces[0].integrand is None
    assert crosscheck(d, digits=20).passed
    assert not check_text(d.to_json()).open


def test_a_scaled_start_leaves_f_homogeneous():
    """v = u + alpha holds, and F(u, u + alpha) is not homogeneous: F is followed as it is."""
    start = {"u": "alpha", "v": "2*alpha", "w": "alpha"}
    found = regimes(derive_once("(u + v)*w", start, ["alpha"]), "alpha")
    assert found.homogeneity.degree == 2
    assert [limit.finding.verdict for limit in found.limits] == [Verdict.PROVED] * 2


SIDES = [("(w**2)**(1/3)", "-1"), ("(w**2)**(1/4)", "-1"), ("((w-2)**2)**(1/3)", "1")]


@pytest.mark.every(2)
@pytest.mark.parametrize(("output", "start"), SIDES)
def test_a_root_of_an_even_power_is_that_of_the_side_of_the_start(output, start):
    """All three are |x|^k from |x| = 1; the flow of the weights agrees, and ends at x = 0."""
    p = Parameterization.parse([output], start={"w": start})
    d = derive_once(p)
    same = derive_once(output, start={"w": "3" if start == "1" else "1"})
    assert d.potential.gradient == same.potential.gradient
    (piece,) = d.potential.pieces
    assert piece.domain.where == "`beta > 0`"
    twice = [output, output.replace("w", "v")]
    two = Parameterization.parse(twice, start={"w": start, "v": start})
    q = derive_once(two).potential.numeric({})
    reached = flow(two, [[1.0, 0.5]], [2.5], start={"w": start, "v": start}, digits=12)
    found = interpolate(q, [[1.0, 0.5]], [2.5]).value
    assert np.allclose(found, np.array(reached.limit, dtype=float), rtol=1e-9)


@pytest.mark.parametrize(
    ("output", "start", "why"),
    [
        *((f"(w**2)**({n})", {}, "has a kink") for n in ("1/3", "1/4", "1/2")),
        *((f"w**({n})", {"w": "-1"}, "root of a negative number") for n in ("1/3", "1/2")),
    ],
)
def test_odd_and_even_roots_without_a_sign_or_of_a_negative_one_are_refused_alike(
    output, start, why
):
    with pytest.raises(InputError, match=why):
        Parameterization.parse([output], start)
