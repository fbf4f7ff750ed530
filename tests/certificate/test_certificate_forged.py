"""Certificates and records that say something false, also beyond walls: each has to be refused."""

import pytest

from derive.certificate.checking.check import check
from tests.certificate.certificates import assert_refused, assert_rejected, certificate, replaced
from tests.published import record_once

HESSIAN = {"claim": "hessian"}
EXP = [{"name": "e", "of": "exp(w)"}, {"name": "e0", "of": "exp(w_0)"}]
LOGS = [{"name": "lp", "of": "log(Abs(p))"}, {"name": "lp0", "of": "log(Abs(p_0))"}]
LAW = {"zero": "p*m - p_0*m_0", "main": "p_0"}
A = {"name": "A", "is": "p**2", "root of": "A**2 - A*b - d**2", "above": 0}
PAIR = [
    LAW,
    {"name": "d", "is": "p*m", "value": "p_0*m_0"},
    A,
    {"of": "log(Abs(A))", "is": "2*lp", "from": [["log(Abs(p))", "2"]]},
]


def form(y, **entries):
    return {
        **{"claim": "form", "outputs": [1], "beta": ["b"], "parameter": None, "curve": None},
        **{"definitions": [], "g": "1", "y": y, "Q": None, "R": None, "equal": []},
        **entries,
    }


def left_open(*outputs):
    return {"claim": "not certified", "outputs": list(outputs), "what": "Q"}


def exponential(*definitions, y, **entries):
    claims = [HESSIAN, form([y], definitions=list(definitions), **entries)]
    return certificate(["exp(w)"], claims, "PROVED", weights=["w"], definitions=EXP)


def pair(*definitions, y, **entries):
    claims = [HESSIAN, form([y], definitions=list(definitions))]
    return certificate(
        ["p**2 - m**2"], claims, "PROVED", weights=["p", "m"], definitions=LOGS, **entries
    )


def linear(*claims):
    return certificate(["w"], [HESSIAN, *claims], "PROVED", weights=["w"])


def test_the_true_ones_are_accepted():
    assert check(exponential({"name": "C", "is": "exp(w_0)"}, y="1/C - 1/b"))
    assert check(pair(*PAIR, y="log(Abs(A))/4 - log(Abs(p_0))/2"))
    assert check(linear(form(["b - w_0"])))


FORGED = {
    # b = exp(w) is a generator, so "no weight in it": C = exp(w_0) is printed as C = b.
    "a value that is beta": exponential(
        {"name": "C", "is": "exp(w_0)", "value": "b"}, y="1/C - 1/b"
    ),
    # The gradient of 2**exp(x - z) is taken to be 0. This F has no Q, as y + exp(exp(x - z)).
    "an exponent that is a generator": certificate(
        ["x", "y + 2**exp(x - z)"],
        [HESSIAN, left_open(1, 2)],
        "PROVED",
        weights=["x", "y", "z"],
        definitions=[{"name": "e", "of": "exp(x - z)"}, {"name": "p", "of": "2**exp(x - z)"}],
    ),
    # beta = beta: the parameter is a weight, which beta does not give.
    "a curve beta = beta": linear(form(["w - w_0"], parameter="w", curve="b")),
    # g = 1 for one output and g = 7 for the other, both called G.
    "two warps of one name": certificate(
        ["x", "y"],
        [
            HESSIAN,
            form(["b - x_0"], definitions=[{"name": "G", "is": "1"}], g="G"),
            form(["7*b - 7*y_0"], outputs=[2], definitions=[{"name": "G", "is": "7"}], g="G"),
        ],
        "PROVED",
        weights=["x", "y"],
    ),
    # C is called 7 where a relation is given, and is the weight p after.
    "a name that a relation carries": pair(
        {**LAW, "name": "C", "is": "0", "value": "7"},
        {"name": "C", "is": "p"},
        y="log(Abs(C))/2 - log(Abs(p_0))/2",
    ),
    # C is p_0, and then said to be 7.
    "a constant that is renamed by a relation": pair(
        {"name": "C", "is": "p_0"},
        {**PAIR[0], "name": "C", "value": "7"},
        *PAIR[1:],
        y="log(Abs(A))/4 - log(Abs(C))/2",
    ),
    # log(sqrt(d)) = 0 holds at p_0 m_0 = 1 only: sqrt at w_0 was read as a function of weights.
    "a call that is right at one start": pair(
        LAW,
        {"name": "r", "of": "sqrt(p*m)"},
        {"of": "log(r)", "is": "0"},
        *PAIR[1:],
        y="log(Abs(A))/4 - log(Abs(p_0))/2 + 5*log(sqrt(d))",
        at={"p_0": "2", "m_0": "1/2"},
    ),
    # beta1 is the second output.
    "betas in another order": certificate(
        ["x", "7*y"],
        [
            HESSIAN,
            form(["beta2 - x_0", "beta1/49 - y_0/7"], outputs=[1, 2], beta=["beta2", "beta1"]),
        ],
        "PROVED",
        weights=["x", "y"],
    ),
    "one output as two betas": linear(
        form(["b - w_0", "c - w_0"], outputs=[1, 1], beta=["b", "c"])
    ),
    # What the text of F uses is neither a weight nor a parameter: c is a.
    "F in names that are defined": certificate(
        ["a*c"],
        [HESSIAN, left_open(1)],
        "PROVED",
        weights=["a"],
        definitions=[{"name": "c", "is": "a"}],
    ),
    "power(w), which is no call": certificate(
        ["power(w)*w"], [HESSIAN, left_open(1)], "PROVED", weights=["w"]
    ),
    "tanh of two arguments": certificate(
        ["tanh(w, 5)"], [HESSIAN, left_open(1)], "PROVED", weights=["w"], definitions=EXP
    ),
    "a dual with g = 0": linear(
        {
            "claim": "dual",
            "outputs": [1],
            "definitions": [],
            "g": "0",
            "y": ["0"],
            "R": "0",
            "equal": [],
        },
        left_open(1),
    ),
    "a start that is no number": certificate(
        ["w"], [HESSIAN, left_open(1)], "PROVED", weights=["w"], at={"w_0": "1/0"}
    ),
}


PLANE = {"weights": ["x", "y", "z"], "parameters": ["t"]}
START = {"x_0": "2", "y_0": "3", "z_0": "5"}
POINT = {"p": "2", "m": "3", "p_0": "1", "m_0": "1"}
# Q = (x^2 + y^2)/2 for every t: both roots are |t|.
ROOTS = ["x", "y + (sqrt(t**2) - (t**4)**(1/4))*(x - z)**2"]
NO_WARP = {"claim": "no warp", "along": [], "regular": [], "identity": [[1, 2], [2, 2]]}
LAWS = {"claim": "laws", "definitions": [LAW], "brackets": [], "point": POINT}


def one(output, *definitions, **entries):
    return certificate(
        [output],
        [HESSIAN, left_open(1)],
        "PROVED",
        weights=["w"],
        definitions=list(definitions),
        **entries,
    )


def with_laws(*laws, values, brackets=()):
    claim = {**LAWS, "laws": list(laws), "values": values, "brackets": list(brackets)}
    return certificate(["p**2 - m**2"], [claim], "UNDECIDED", weights=["p", "m"])


FORGED |= {
    # sqrt(t**2) = t was shown at t = 3, and is read at t = -3.
    "a call that is known at another start": certificate(
        ROOTS,
        [{**NO_WARP, "at": {**START, "t": "-3"}}],
        "REFUTED",
        **PLANE,
        at={**START, "t": "3"},
        definitions=[{"of": "sqrt(t**2)", "is": "t"}, {"name": "q", "of": "(t**4)**(1/4)"}],
    ),
    # Conserved on the leaf of w_0 alone, where it is 0 with its gradient along X.
    "a law on one leaf": with_laws("(p*m - p_0*m_0)*p", values=["0"], brackets=[[1]]),
    "more laws than there are": with_laws("p*m", "(p*m - p_0*m_0)*p", values=["p_0*m_0", "0"]),
    "an F that is not real": one("w + sqrt(-1)", {"name": "i", "of": "sqrt(-1)"}),
    "an F that is not real at the start": one(
        "w + sqrt(c)", {"name": "r", "of": "sqrt(c)"}, parameters=["c"], at={"w_0": "2", "c": "-2"}
    ),
    "an F that is infinite": one("w + log(Abs(0))", {"name": "l", "of": "log(Abs(0))"}),
    "Abs of two arguments": one("log(Abs(w, 5))", {"name": "l", "of": "log(Abs(w))"}),
    # lives() differentiates 1/log(w), which adds the divisor w while divisors are gone through.
}


@pytest.mark.parametrize("record", FORGED.values(), ids=FORGED)
def test_forged_certificates_are_refused(record):
    assert_refused(record)


def log_2_to_400_bits():
    total, term, k = 0, 0, 1
    while (term := 2 ** (500 - k) // k) > 0:
        total, k = total + term, k + 1
    return total >> 100


def test_a_number_to_many_digits_is_not_log_2():
    # F = (x, y + c (x - z)**2) has no Q for any c other than 0.
    n = log_2_to_400_bits()
    record = certificate(
        ["x", f"y + (2**400*log(2) - {n})*(x - z)**2"],
        [HESSIAN, left_open(1, 2)],
        "PROVED",
        weights=["x", "y", "z"],
        definitions=[{"of": "log(2)", "is": f"{n}/2**400"}],
    )
    assert_refused(record)


def test_numbers_that_are_nearly_logarithms_refute_nothing():
    # F = (x, y), as log(4) = 2 log(2): it has a Q.
    n = log_2_to_400_bits()
    at = {"x_0": "2", "y_0": "3", "z_0": "5"}
    condition = {"claim": "no warp", "along": [], "regular": [], "at": at}
    record = certificate(
        ["x", "y + 2**400*(log(4) - 2*log(2))*(x - z)**2"],
        [{**condition, "identity": [[1, 2], [2, 2]]}],
        "REFUTED",
        weights=["x", "y", "z"],
        definitions=[
            {"of": "log(2)", "is": f"{n}/2**400"},
            {"of": "log(4)", "is": f"{2 * n + 1}/2**400"},
        ],
    )
    assert_refused(record)


def no_warp(outputs, identity, along=(), regular=(), kind="no warp", verdict="REFUTED"):
    claim = {"claim": kind, "identity": identity, "along": list(along), "regular": list(regular)}
    weights = sorted(set("".join(outputs)) & set("auvxy"))
    return certificate(list(outputs), [claim], verdict, weights=weights)


@pytest.mark.parametrize("along", [(), (1,), (2, 1)], ids=str)
@pytest.mark.parametrize("identity", [[[1, 2], [1]], [[1, 2], [2]]], ids=str)
def test_a_condition_that_holds_with_sides_other_than_zero_refutes_nothing(identity, along):
    # Gradient flow on (a u, a v) has a warp: both sides are functions such as -u K_11, and equal.
    assert_rejected(no_warp(["a*u", "a*v"], identity, along), "the value is 0")


@pytest.mark.parametrize("regular", [(), (1,), (3,), (1, 2), (3, 3)], ids=str)
def test_outputs_that_depend_on_each_other_are_not_regular(regular):
    # x y is a function of x and y: det K is 0 identically, whatever the conditions say.
    assert_rejected(no_warp(["x", "y", "x*y"], [[1, 3], [1]], regular=regular), "full rank")
    squared = no_warp(
        ["x*y", "(x*y)**2"],
        [[1, 2], [1]],
        regular=[min(a, 2) for a in regular],
        kind="no hessian",
        verdict="UNDECIDED",
    )
    assert_rejected(squared, "full rank")


def test_a_start_where_outputs_stop_moving_independently_may_be_regular():
    # det K = (2 v - u)^2 is 0 at this start, and its second derivative along grad(u v) is not.
    claim = {"claim": "no hessian", "identity": [[1, 2], [1]], "along": []}
    entries = {"weights": ["u", "v"], "at": {"u_0": "2", "v_0": "1"}}
    outputs = ["u*v", "u + 2*v"]
    assert check(certificate(outputs, [{**claim, "regular": [1, 1]}], "UNDECIDED", **entries))
    for regular in ([], [1], [2]):
        record = certificate(outputs, [{**claim, "regular": regular}], "UNDECIDED", **entries)
        assert_rejected(record, "full rank")


DOMAIN = ("potential", "pieces", 0, "domain")


def jump():
    """Return Q' = beta - beta_0 + 7 (sign(beta) - 1) of F = u; |beta| = sqrt(beta^2 + v^2)."""
    sign = form(
        ["b - u_0 + 7*(b/sqrt(b**2 + d**2) - 1)"],
        definitions=[
            {"name": "d", "is": "v", "value": "0"},
            {"name": "s", "of": "sqrt(b**2 + d**2)"},
            {"of": "sqrt(u_0**2)", "is": "u_0"},
        ],
        assumptions=["u_0 > 0"],
    )
    start = {"start": {"u": "u_0", "v": "0"}, "at": {"u_0": "2"}}
    record = certificate(["u"], [HESSIAN, sign], "PROVED", weights=["u", "v"], **start)
    record["parameterization"]["idle"] = ["v"]
    return record


def test_where_a_sum_of_squares_vanishes_on_the_leaf_is_said():
    """u^2 + v^2 > 0 wherever it is not 0; along the flow, where v = 0, it is 0 at beta = 0."""
    assert_refused(jump(), r"u\*\*2 \+ v\*\*2 keeps its sign")


def test_what_no_flow_reaches_need_not_be_said():
    """|X p| <= 1024 p for p = u^2 + v^2 and F = u v: from p > 0 no flow reaches 0."""
    record = record_once("u*v")
    assert not any(line.startswith("as long as") for line in check(record).theorem)


def wall(text, sign="as at beta_0"):
    return [{"form": text, "sign": sign, "vanishing": None}]


def test_a_smaller_domain_is_said_to_be_a_part():
    record = record_once("exp(w)", {"w": "0"})
    more = [*record["potential"]["pieces"][0]["domain"]["walls"], *wall("1000 - beta", "> 0")]
    lines = check(replaced(record, (*DOMAIN, "walls"), more)).theorem
    assert {"at least where beta > 0", "at least where 1000 - beta > 0"} <= {*lines}


def test_an_integral_has_no_value_at_a_point():
    """F = (u w, u w), the second by an integral: that the two are independent is false."""
    laws = {
        **{"claim": "laws", "laws": [], "values": [], "definitions": [], "brackets": [[1], [2]]},
        "point": {"u": "1", "w": "2", "u_0": "1"},
    }
    integral = "Integral(1, x = 0 .. w)"
    record = certificate(
        ["u*w", f"u*{integral}"],
        [laws],
        "UNDECIDED",
        weights=["u", "w"],
        start={"u": "u_0", "w": "0"},
        at={"u_0": "2"},
        definitions=[{"name": "i", "of": integral}],
    )
    assert_refused(record)


def test_assumptions_are_conditions_also_where_q_has_no_proof():
    record = record_once("u*v")
    record["certificate"]["pieces"] = [None]
    assert check(record).open == ("Q of beta",)
    for text in ("for every start", "beta*(beta - 1) > 0"):
        assert_refused(replaced(record, ("potential", "pieces", 0, "assumptions"), [text]))


def test_a_curve_that_turns_back_does_not_reach_all_beta():
    """Of exp(w) over z, beta = z^2 + 1 tends to oo at both ends, and no flow comes below 0."""
    record = record_once("exp(w)", {"w": "1"})
    (piece,), (proof,) = record["potential"]["pieces"], record["certificate"]["pieces"]
    curve = {"parameter": "z", "beta": "z**2 + 1", "interval": ["-oo", "oo"]}
    piece |= {"kind": "parametric", "curve": curve, "gradient": ["exp(-1) - 1/(z**2 + 1)"]}
    piece |= {"Q": None, "kernel": None}
    piece["assumptions"] = ["exp(w) - 1 keeps its sign along the flow"]
    piece["domain"]["walls"], record["potential"]["kind"] = [], "parametric"
    inverse = {"of": "exp(-1)", "is": "1/e", "from": [["exp(1)", "-1"]]}
    roots = [{"name": f"z{n}"[: 1 + n], "of": f"sqrt(exp({w}) - 1)"} for n, w in enumerate("w1")]
    proof["definitions"] = [{**inverse, "is": "1/f2"}, *roots]
    proof["domain"] = None
    assert "the domain of Q of beta" in check(record).open
    proof["domain"] = [{"name": "e", "of": "exp(1)"}, inverse]
    assert_refused(record, "is not shown to tend to infinity at both ends")
