"""What F divides by, and takes roots and logarithms of, is kept by a proof or said as a condition.

Each F below is a u where a is positive; what is written besides it ends at a = 0, which the flow
of a u reaches, with both of its outputs, at a finite time.
"""

import copy
import functools
import json

import pytest

from derive import Parameterization
from derive.certificate.checking.check import check
from derive.certificate.checking.domain import _are_finite
from derive.certificate.checking.theorem import Checker
from tests.certificate.certificates import assert_refused
from tests.published import certified_once, record_once

KEEPS = "a keeps its sign along the flow"
LOG = {"name": "l", "of": "log(Abs(a))"}
LOG_0 = {"name": "l0", "of": "log(Abs(a_0))"}
RAISED = [LOG, LOG_0, {"name": "e", "of": "exp(1/a)"}, {"name": "e0", "of": "exp(1/a_0)"}]
INVERSE = {"from": [["log(Abs(a))", "1"]]}
INVERSE_0 = {"from": [["log(Abs(a_0))", "1"]]}
WRITTEN = {  # what stands for a, and the definitions of its calls
    "root": (
        "a**5/(sqrt(a**4)*sqrt(a**4))",
        [{"of": "sqrt(a_0**4)", "is": "a_0**2"}, {"name": "t", "of": "sqrt(a**4)"}],
    ),
    "root of a sum": (
        "sqrt(a**2 + a**2*u1**2)/sqrt(1 + u1**2)",
        [
            {"name": "t", "of": "sqrt(1 + u1**2)"},
            {"of": "sqrt(a**2 + a**2*u1**2)", "is": "a*t"},
            {"name": "t0", "of": "sqrt(1 + u1_0**2)"},
            {"of": "sqrt(a_0**2 + a_0**2*u1_0**2)", "is": "a_0*t0"},
        ],
    ),
    "exponential of a logarithm": (
        "exp(log(a))",
        [
            *(LOG, LOG_0),
            {"of": "exp(log(a))", "is": "a", **INVERSE},
            {"of": "exp(log(a_0))", "is": "a_0", **INVERSE_0},
        ],
    ),
    "absolute value": ("abs(a)", []),
    "absolute value of a cube": ("abs(a**3)/a**2", []),
    "hyperbolic sine": ("a*sinh(1/a)/sinh(1/a)", RAISED),
    "hyperbolic tangent": ("a*tanh(1/a)/tanh(1/a)", RAISED),
    "logarithm": (
        "a*log(a**2)/log(a**2)",
        [
            LOG,
            LOG_0,
            *(
                {"of": f"log({w}**2)", "is": f"2*{name}", "from": [[f"log(Abs({w}))", "2"]]}
                for w, name in (("a", "l"), ("a_0", "l0"))
            ),
        ],
    ),
    "quotient": ("a**2/a", []),
    "power": ("a**D*a**(1 - D)", [{"name": "P", "of": "a**D"}, {"name": "P0", "of": "a_0**D"}]),
}


@functools.cache
def neuron():
    return certified_once(["a*u1", "a*u2"])


def written(name, *assumptions):
    """Return the record of a u with another text of F, and these assumptions alone."""
    record, (text, definitions) = json.loads(neuron()), WRITTEN[name]
    given, proof = record["parameterization"], record["certificate"]
    given["outputs"] = [f"{text}*u1", f"{text}*u2"]
    proof["definitions"] = copy.deepcopy(definitions)
    if name == "power":
        given["parameters"] = ["D"]
        for at in (proof["at"], proof["conserved"]["point"]):
            at["D"] = "3"
    record["potential"]["pieces"][0]["assumptions"] = [*assumptions]
    return record


@pytest.mark.every(4)
@pytest.mark.parametrize("name", WRITTEN)
def test_what_ends_where_the_flow_goes_is_a_condition(name):
    """A weight that starts positive is not positive on the way."""
    assert "a keeps its sign" in str(check(written(name, "a_0 > 0", KEEPS)).theorem)
    record = written(name, "a_0 > 0")
    for positive in (record["parameterization"]["positive"], ["a", "a_0"]):
        record["parameterization"]["positive"] = positive
        assert_refused(record, "a keeps its sign along the flow")


def test_a_condition_on_weights_is_one_all_along_the_flow():
    (line,) = (
        x for x in check(written("root", "a_0 > 0", "a > 0")).theorem if x.startswith("assumed")
    )
    assert "a > 0 along the flow" in line


ENDS = {"sqrt(w)*sqrt(w)": "sqrt(w)", "exp(log(w))": "w", "w**D*w**(1 - D)": "w"}


@pytest.mark.every(3)
@pytest.mark.parametrize("output", [*ENDS, "sqrt(w)", "exp(log(w)/2)"])
def test_a_domain_ends_where_f_does(output):
    """K is 1, or another function without a zero there: only F says that beta > 0."""
    record = record_once(output)
    report = check(record)
    assert (report.verdict, [*report.open]) == ("PROVED", [])
    (piece,) = record["potential"]["pieces"]
    walls = piece["domain"]["walls"]
    assert [wall["form"] for wall in walls] == ["beta"]
    for other in ([], [{**walls[0], "form": "beta + 1", "vanishing": None}]):
        piece["domain"]["walls"] = other
        assert_refused(record, r"it is not shown|not shown to live there")


def test_a_domain_with_a_point_at_which_f_has_no_value_is_open():
    report = check(json.loads(certified_once("w*log(w)/log(w)")))
    assert report.open == ("the domain of Q of beta",)
    assert "as long as along the flow log(Abs(w)) != 0" in report.theorem


@pytest.mark.parametrize("output", ENDS)
def test_what_vanishes_at_a_wall_is_what_is_said(output):
    record = record_once(output)
    (wall,) = record["potential"]["pieces"][0]["domain"]["walls"]
    assert wall["vanishing"] == ENDS[output]
    for other in ("w + 1", "w_0", "w*(w + 1)"):
        wall["vanishing"] = other
        assert_refused(record, "does not vanish at the wall")


@functools.cache
def along_a_curve(output, start):
    return certified_once(output, dict(start))


ALPHA = (("p", "alpha"), ("m", "alpha"))


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("output", "start", "onto"),
    [
        ("p**5 - m**5", (), True),  # 1/(1 - z)**(5/3)
        ("p**3 - m**3", ALPHA, True),
        ("p**D - m**D", ALPHA, False),  # for D < 2 it ends
        ("log(a) + log(b)", (("a", "1"), ("b", "2")), True),
    ],
)
def test_all_beta_are_reached_where_a_curve_tends_to_infinity(output, start, onto):
    record = json.loads(along_a_curve(output, start))
    assert check(record).open == ()
    where = record["potential"]["pieces"][0]["domain"]
    finite = " while weights are finite"
    for said in (["curve"], []):
        where["undecided"] = said
        if onto or said:
            lines = check(record).theorem
            assert any(line.endswith(finite) for line in lines) == bool(said)
            assert ("every beta is reached" in lines) == (not said)
        else:
            assert_refused(record, "tend to infinity at both ends")


def test_weights_whose_rates_grow_may_be_infinite_where_beta_is_not():
    """K of atan(w) with w' = (1 + w^2) dF is 1, and yet |beta| < pi/2."""
    p = Parameterization.parse(["atan(w)"], rates={"w": "(1 + w**2)**2"})
    record = record_once(p)
    where = record["potential"]["pieces"][0]["domain"]
    assert [wall["form"] for wall in where["walls"]] == ["beta + pi/2", "pi/2 - beta"]
    where |= {"walls": [], "undecided": []}
    (proof,) = record["certificate"]["pieces"] = [{"definitions": [], "domain": []}]
    assert_refused(record)
    record = record_once("w", rates={"w": "(1 + w)**4"})
    assert check(record).open == ()
    said = record["potential"]["pieces"][0]["domain"]
    for undecided in ([], ["curve"], ["smooth"]):
        said["undecided"] = undecided
        without = copy.deepcopy(record)
        del without["certificate"]["pieces"][0]["square"]
        assert_refused(without, "not shown to be finite")
    said["undecided"] = []
    proof = record["certificate"]["pieces"][0]
    for relation in ("0", "beta**4*_x - 1", "(_x - beta**2)*beta"):
        proof["square"] = relation
        assert_refused(record, r"not shown to be finite|no relation")


def test_a_wall_on_whose_side_the_start_may_be_is_one_on_both():
    """From w_0 < 0 all beta < 0 would be reached, and w' = (1 + w)^4 dF stops at -1."""
    record = record_once("w", rates={"w": "(1 + w)**4"})
    (wall,) = record["potential"]["pieces"][0]["domain"]["walls"]
    assert (wall["form"], wall["sign"]) == ("beta + 1", "as at beta_0")
    assert check(record).open == ()
    wall["form"] = "beta"
    assert_refused(record, "it is not shown")


RATES = {
    "linear": ("p - m", {"p": "p", "m": "m"}),
    "bounded": ("u*v", {"u": "1/(1 + u**2)", "v": "1/(1 + v**2)"}),
    "a relation": ("w", {"w": "sqrt(1 + w**2)"}),
    "a square": ("w**2", {"w": "w"}),
}


@pytest.mark.every(2)
@pytest.mark.parametrize(("output", "rates"), RATES.values(), ids=RATES)
def test_weights_are_finite_where_beta_is(output, rates):
    record = record_once(output, rates=rates)
    assert not [text for text in check(record).open if text.startswith("the domain")]


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("output", "rates", "finite"),
    [
        ("u*v", {"u": "eta"}, True),
        ("u - v", {"u": "u", "v": "3*v"}, True),  # w' = A w
        ("w", {"w": "w**2"}, False),
        ("u*v", {"u": "u"}, False),
        ("w**3", {"w": "1/w**3"}, False),
    ],
)
def test_weights_are_finite_by_their_rates(output, rates, finite):
    state = Checker(record_once(output, rates=rates))
    state.outputs()
    assert _are_finite(state, state.flow.X) == finite


def test_infinity_is_no_name():
    """Ends of intervals are constants, or oo: which would be both."""
    text = along_a_curve("p**3 - m**3", (("p", "alpha"), ("m", "alpha")))
    assert_refused(json.loads(text.replace("alpha", "oo")), "names are letters")
    record = json.loads(text)
    record["certificate"]["definitions"].append({"name": "oo", "of": "sqrt(alpha)"})
    assert_refused(record, "a name is given twice")


def in_a_root():
    """Return Q of u^2 + u^4 in A = u^2, by 1/K(A) dbeta = (1/A - 2/(2 A + 1)) dA/4."""
    record = json.loads(along_a_curve("u**2 + u**4", ()))
    y = "log(A)/4 - log(u_0**2/(2*u_0**2 + 1))/4 - log(2*A + 1)/4"
    (piece,) = record["potential"]["pieces"]
    piece |= {"kind": "explicit", "Q": f"beta*({y}) - A/8 - log(2*A + 1)/16", "gradient": [y]}
    piece |= {"kernel": None, "assumptions": ["u_0 != 0"]}
    record["potential"]["kind"] = "explicit"
    quotient, two = "u_0**2/(2*u_0**2 + 1)", "log(Abs(2*u_0**2 + 1))"
    of_start = [["log(Abs(u_0))", "2"], [two, "-1"]]
    definitions = [
        {"name": "A", "is": "u**2"},
        {"of": "sqrt(4*beta + 1)", "is": "2*u**2 + 1"},
        {"name": "f", "of": "log(Abs(u))"},
        {"of": "log(A)", "is": "2*f", "from": [["log(Abs(u))", "2"]]},
        {"name": "g", "of": "log(Abs(u_0))"},
        {"name": "h", "of": two},
        {"of": f"log({quotient})", "is": "2*g - h", "from": of_start},
        {"name": "k", "of": "log(2*A + 1)"},
    ]
    proof = {"slopes": {"A": ["2*u**2 + 1", "1"]}, "domain": [], "interval": ["0", "oo"]}
    record["certificate"]["pieces"] = [{"definitions": definitions, **proof}]
    return record


def test_a_domain_is_the_image_of_the_curve_on_which_a_root_runs():
    """beta = A^3 + A; and beta = A^2 + A > 0, of which the leaf has A > 0."""
    cubic, square = json.loads(along_a_curve("w + w**3", ())), in_a_root()
    for record, others in (
        (cubic, (["1", "oo"], ["A", "oo"])),
        (square, (["-oo", "oo"], ["1", "oo"], ["0", "1000"], ["A - 1", "oo"])),
    ):
        (proof,) = record["certificate"]["pieces"]
        assert check(record).open == ()
        given = record["potential"]["pieces"][0]["roots"][0]
        given["polynomial"], old = "A*beta - exp(beta)", given["polynomial"]
        proof["domain"] = [{"name": "e", "of": "exp(beta)"}]
        assert_refused(record)
        given["polynomial"], proof["domain"] = old, []
        for other in others:
            assert_refused(
                {
                    **record,
                    "certificate": {
                        **record["certificate"],
                        "pieces": [proof | {"interval": other}],
                    },
                }
            )
    square["potential"]["pieces"][0]["domain"]["walls"] = []  # Q is not where beta < -1/4
    assert_refused(square, "at both ends")


def test_laws_that_are_not_all_have_no_dimension_and_no_reason_of_their_own():
    """One bracket less leaves the dimension of the leaf open."""
    record = json.loads(neuron())
    proof, said = record["certificate"]["conserved"], record["conserved"]
    proof["brackets"].pop()
    why = "independent laws found: 1; at most 2 exist"
    said |= {"bound": 2, "verdict": "UNDECIDED", "reason": why, "lie_dimension": None}
    assert check(record).open == ()
    for key, other in (("lie_dimension", 1), ("lie_dimension", 2), ("reason", "a**2 is no law")):
        assert_refused({**record, "conserved": {**said, key: other}}, "another number of laws")


def test_why_something_is_undecided_is_not_certified():
    record = json.loads(neuron())
    proof, why = record["certificate"], "no Q has a Hessian map, for no F at all"
    record["hessian"] = {"verdict": "UNDECIDED", "reason": why}
    proof["hessian"] = None
    report = check(record)
    assert report.open == ("why the Hessian map is undecided",)
    assert not any(why in line for line in report.theorem)


def test_what_f_needs_is_asked_of_all_that_is_printed():
    """The divisors of F are those of every section, though no formula there has them."""
    state = Checker(written("quotient", "a_0 > 0", KEEPS))
    state.outputs()
    assert [state.space.written(f) for f in state.needs] == ["a"]
    assert "a" in {state.space.written(f) for f in state.owed()}
