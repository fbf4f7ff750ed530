"""Records true at the start in numbers alone: the theorem says where it holds, or is refused."""

import functools

import pytest

from derive.certificate.checking.check import check
from tests.certificate.certificates import assert_rejected, replaced, steps
from tests.models import parsed
from tests.published import record_once

JUMP = "(atan(beta) + atan(1/beta) - atan(w_0) - atan(1/w_0))"
ATANS = [{"name": f"e{n}", "of": f"atan({x})"} for n, x in enumerate(("w", "1/w", "w_0", "1/w_0"))]
ROOTS = [{"of": "sqrt(beta**2)", "is": "w"}, {"of": "sqrt(w_0**2)", "is": "w_0"}]
LOGS = ["log(Abs(w/(w + 1)))", "log(Abs(w_0/(w_0 + 1)))"]
CUBIC = {"symbol": "A", "polynomial": "A**3/3 + A**2/2 - beta", "explicit": None}
LAW = "a_0**2 - u1_0**2 - u2_0**2"
NONE = f"(sqrt(({LAW})**2) + delta)"
ENDS = "as long as along the flow w != 0"
SAID = [  # F, what is changed (a list ends in what stands under "more"), and what is said then
    ("w", {  # a form ends where what is under a root vanishes
        "piece.Q": "sqrt(beta**2)*beta/2 - beta*w_0", "piece.gradient": ["sqrt(beta**2) - w_0"],
        "piece.assumptions": ["w_0 > 0"], "proof.definitions.more": ROOTS}, ENDS),
    ("w", {  # and where it divides by zero
        "piece.Q": f"beta**2/2 - beta*w_0 + beta*{JUMP}", "proof.definitions.more": ATANS,
        "piece.gradient": [f"beta - w_0 + {JUMP}"], "piece.assumptions": ["w_0 != 0"]}, ENDS),
    ("w**2, w + u", {  # a root in the metric is taken at starts of its sign
        "metric.kernel": [["4*beta1", "2*sqrt(beta1)"], ["2*sqrt(beta1)", "2"]],
        "metric.rho": [["1/(2*beta1)", "-1/(2*sqrt(beta1))"], ["-1/(2*sqrt(beta1))", "1"]],
        "certificate.metric.definitions": [{"of": "sqrt(beta1)", "is": "w"}]}, "assumed: w_0 > 0"),
    ("a*u1, a*u2", {  # a relation holds where its coefficient is not zero
        "piece.Q.more": f" + {NONE}*(beta2 - a_0*u2_0)**2",
        "piece.gradient.1.more": f" + 2*{NONE}*(beta2 - a_0*u2_0)",
        "piece.assumptions.more": [f"{LAW} != 0"],
        "proof.definitions.more": [
            {"name": "r", "of": f"sqrt(({LAW})**2)"},
            {"zero": f"(r - ({LAW}))*(a**2 - u1**2 - u2**2 + r)", "main": "a"}]}, f"{LAW} < 0"),
    ("w", {  # dual coordinates are those of starts of their sign
        "warping.dual_coordinates.0.y.0.rational": "sqrt(w**2)",
        "certificate.dual": [{"definitions": [{"of": "sqrt(w**2)", "is": "w"}]}]},
     "assumed: w_0 > 0"),
    ("u*v", {  # laws, too
        "conserved.laws": ["u*sqrt(u**2) - v**2"], "conserved.values_at_start": ["u_0**2 - v_0**2"],
        "certificate.conserved.definitions.more": [{"of": "sqrt(u**2)", "is": "u"}]}, "u_0 > 0"),
    ("w", {"piece.domain.unless_zero": ["w_0"]}, "assumed: w_0 != 0"),
    ("w", {}, ""),
]  # fmt: skip


def changed(line, changes):
    record = record_once(parsed(line))
    for path, value in changes.items():
        if path.endswith(".more"):
            path = path.removesuffix(".more")
            value = functools.reduce(lambda part, key: part[key], steps(path), record) + value
        record = replaced(record, path, value)
    return record


@pytest.mark.parametrize(("line", "changes", "said"), SAID)
def test_the_theorem_says_where_it_holds(line, changes, said):
    theorem = check(changed(line, changes)).theorem
    assert any(said in x for x in theorem)
    assert changes or not any("as long as" in x for x in theorem)


def test_a_weight_that_keeps_its_sign_has_one_at_the_start():
    names = [{"name": f"l{n}", "of": call} for n, call in enumerate(LOGS)]
    record = changed("w**2/2 + w**3/3", {
        "certificate.pieces.0": {
            "definitions": [{"name": "A", "is": "w"}, *names], "slopes": {}, "domain": None},
        "piece.Q": None, "piece.gradient": ["log(Abs(A/(A + 1))) - log(Abs(w_0/(w_0 + 1)))"],
        "piece.assumptions": ["w_0 != 0", "w_0 + 1 != 0", "w keeps its sign along the flow"],
        "piece.roots": [{**CUBIC, "branch": "the largest real root"}],
        "piece.curve": None, "piece.kind": "algebraic", "potential.kind": "algebraic",
    })  # fmt: skip
    assert_rejected(record, "not stated: w_0 > 0")
