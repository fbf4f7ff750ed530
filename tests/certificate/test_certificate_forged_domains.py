"""False statements beyond a point at which a function jumps, and walls that leave a part out."""

from derive.certificate.checking.check import check
from tests.certificate.certificates import assert_refused, certificate, replaced
from tests.certificate.test_certificate_forged import HESSIAN, form
from tests.published import record_once

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
