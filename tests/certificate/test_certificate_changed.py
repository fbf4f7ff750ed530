"""Records with a change around proofs that are true: each is refused, if told so by its rule."""

import functools
import json

import pytest

from derive.certificate.checking.check import check
from tests.certificate.certificates import assert_refused, replaced
from tests.models import parsed
from tests.published import record_once

NEURON, TWO, CUBE, VECTOR = "a*u1, a*u2", "p**2 - m**2, w**2", "p**3 - m**3", "a*u"
DEEP = "a*b*u1, a*b*u2 from a=1, b=2, u1=1, u2=0"
BALANCED = "a*u1 + b*v1, a*u2 + b*v2 from a=1, b=1, u1=1, u2=0, v1=1, v2=0"
NO_WARP, EXPS, PEAK, POWER = "x**2*y, y**3", "exp(p) - exp(m)", "u**2*v**2", "w**D"
SQUARE, ROOT, LAW, SHARE = "w**2 from w=sqrt(2)", "sqrt(2)*w**2", "a + a*b**2", "w + w**3"
UNIT, WALL = [["1", "0"], ["0", "1"]], {"form": "beta + 1", "sign": "> 0", "vanishing": None}
OTHER, LOGISTIC, LARGE = (
    WALL | {"sign": "as at beta_0"},
    "exp(a)/(exp(a) + exp(b))",
    "+".join(["u1"] * 10_000),
)
OF_U = {"vector": "a", "norms": {"a": "norm_u"}, "start_vector": "a_0"}
SQUARED = "(A**2 - A*delta - beta1**2 - beta2**2)**2"
Y_OF_W = "beta2*log(beta2/w_0**2)/2 - beta2/2"
OF_LOGS = {"coefficient": "1", "argument": "p", "base": "2"}
CHANGES = [  # F and its start, what is changed, to what, and by which rule it is refused
    (NEURON, "piece.Q", "beta1**2 + beta2**2", None),
    (NEURON, "piece.roots.0.explicit", "7", None),
    (
        NEURON,
        "piece.roots.0.explicit",
        "delta/2 - sqrt(4*beta1**2 + 4*beta2**2 + delta**2)/2",
        None,
    ),
    (NEURON, "proof.definitions.1.is", "-a**2", None),
    (NEURON, "proof.definitions.1.is", "a", None),
    (NEURON, "piece.roots.0.branch", "the smallest real root", None),
    (NEURON, "piece.roots.0.branch", "the length of beta", None),
    (NEURON, "piece.roots.0.branch", "the only real root", None),
    (NEURON, "piece.roots.0.polynomial", SQUARED, None),
    (NEURON, "piece.abbreviations", {"A": "9"}, None),
    (NEURON, "piece.constants", {}, None),
    (NEURON, "piece.constants.delta", None, None),
    (NEURON, "piece.roots", [], None),
    (NEURON, "piece.kind", "algebraic", None),
    (NEURON, "piece.assumptions", [], None),
    (NEURON, "piece.assumptions", ["for every start"], None),
    (NEURON, "piece.assumptions.0", "a_0 < 0", None),
    (NEURON, "piece.domain", "all of R^2, for every start", None),
    (NEURON, "piece.domain.undecided", ["nothing"], None),
    (NEURON, "warping.g", "7*u1", None),
    (NEURON, "warping.g", "1", None),
    (NEURON, "warping.g", "(7*u1)/(7*u1/(a))*2", None),
    (NEURON, "warping.dual_coordinates.0.y.0.rational", "7", None),
    (NEURON, "warping.dual_coordinates.0.y.0.unit", "7", None),
    (NEURON, "metric.rho", UNIT, None),
    (NEURON, "metric.kernel", UNIT, None),
    (NEURON, "metric.kernel_in_weights", UNIT, None),
    (NEURON, "conserved.laws", ["u1"], None),
    (NEURON, "conserved.values_at_start", ["7"], None),
    (NEURON, "conserved", {"verdict": "UNDECIDED", "reason": "unknown"}, None),
    (NEURON, "conserved.lie_dimension", 3, None),
    (NEURON, "hessian.verdict", "PROVED", None),
    (NEURON, "hessian.reason", "there is none, and Q is convex", None),
    (NEURON, "warping.verdict", "REFUTED", None),
    (NEURON, "potential.verdict", "REFUTED", None),
    (NEURON, "potential.normalization", "none", None),
    (NEURON, "given.outputs", ["a*u1", "a*u2", "a"], None),
    (NEURON, "given.outputs", [], "too many outputs, or none"),
    (NEURON, "given.outputs", ["a"] * 61, "too many outputs, or none"),
    (NEURON, "given.beta", ["1, beta2), form (beta1, beta2"], None),
    (NEURON, "given.beta", ["1", "2"], None),
    (NEURON, "given.flow", "w' = J^T X^T r", None),
    (NEURON, "given.blocks", [[1], [2]], None),
    (NEURON, "given.positive", ["zz"], "positive is a name"),
    (NEURON, "given.blocks", [[1], [1, 2]], "dual|overlap"),
    (NEURON, "given.rates", {"a": "1"}, "has a rate"),
    (NEURON, "certificate.at.a_0", "-3", None),
    (NEURON, "certificate.at.a_0", "3/0", "is no rational"),
    (NEURON, "certificate.at.a_0", 3, "no rational"),
    (NEURON, "certificate.version", 2, None),
    (NEURON, "theorem", "anything", None),
    (NEURON, "piece.constants", {"A": "1"}, "given twice"),
    (NEURON, "proof.definitions", [{"name": "beta1", "is": "a"}], "given twice"),
    (NEURON, "relations", {"blocks": [["beta1 - beta2"]]}, "is not 0"),
    (NEURON, "piece.domain.walls", [{**WALL, "form": "beta1", "sign": "< 0"}], "another sign"),
    (NEURON, "piece.domain.unless_zero", ["zz"], "not said"),
    (NEURON, "piece.roots.0.polynomial", "A - a**2", "not fixed by beta"),
    (NEURON, "piece.roots.0.explicit", "A", "uses another name"),
    (NEURON, "piece.kernel", "A + beta1**2/A", "K of one output is said of several"),
    (NEURON, "warping.g", LARGE, "too long"),
    (NEURON, "warping.g", LARGE[:899], "nested too deeply"),
    (TWO, "warping.dual_coordinates.0.y.0.logarithms.0", OF_LOGS, "the key base"),
    (TWO, "proof.definitions.0.is", "4*m_0**2*p_0*p", "k1 is not conserved"),
    (TWO, "piece.constants.k1", "4*m**2*p**2", "not one of the start"),
    (TWO, "metric.kernel.0.0", "4*p**2 + 4*m**2", "not fixed by beta"),
    (BALANCED, "given.outputs.0", "a*u1 + b*v1 + 0*u1/(a - b)", "a divisor may be 0"),
    (BALANCED, "certificate.conserved.point.a", "1/7", "where the ties hold"),
    (NO_WARP, "certificate.warping.identity", [[1], [1, 1]], "two outputs or more"),
    (NO_WARP, "certificate.warping.identity.1", [], "no condition: "),
    ("u**2*v", "warping.g", "0", "g is 0"),
    (VECTOR, "metric.T", "A + s", "T and R"),
    (VECTOR, "potential.linear.coefficient", "-a/a", "is not constant"),
    (VECTOR, "potential.linear.coefficient", "1", None),
    (VECTOR, "given.coefficient", "a**2", None),
    (VECTOR, "given.vector", "v", None),
    (VECTOR, "given.norms", {"u": "a"}, None),
    (VECTOR, "given.dimension", "d >= 1", None),
    (VECTOR, "given.outputs", ["a*u", "a*u"], "a vector stands alone"),
    (VECTOR, "given.outputs", ["a**2*u"], None),
    (VECTOR, "certificate.at.a_0", "-2", None),
    (EXPS, "piece.curve.interval", ["-exp(p_0 - m_0)", "oo"], None),
    (EXPS, "piece.curve.interval", ["-exp(p_0)", "1"], None),
    (EXPS, "piece.curve.interval", ["-1", "1"], None),
    (EXPS, "piece.gradient.0", "z*exp(-m_0)", None),
    (EXPS, "piece.domain.walls", [WALL], None),
    (CUBE, "piece.curve.interval", ["-oo", "1"], None),
    (CUBE, "piece.curve.interval", ["1", "-p_0/m_0"], None),
    (CUBE, "piece.curve.interval", ["-p_0/m_0", "oo"], None),
    (CUBE, "piece.curve.interval", ["-p_0/m_0 - 1", "1"], None),
    (CUBE, "piece.curve.interval", ["z - 1", "1"], "an end, has a name"),
    (CUBE, "piece.curve.interval", ["-1", "z + 1"], "an end, has a name"),
    (CUBE, "piece.domain.walls", [OTHER | {"form": "all"}], None),
    (CUBE, "piece.domain.walls", [{**WALL, "form": "m"}], None),
    ("exp(w)", "piece.domain.walls", [OTHER | {"form": "beta*(beta - 1)"}], None),
    (PEAK, "piece.domain.walls.0.form", "beta + 1", None),
    (PEAK, "piece.domain.walls", [], None),
    ("tanh(a*b)", "piece.domain.unless_zero", [], "of all beta there it is not shown: delta"),
    (SHARE, "proof.interval", ["-oo", "1"], None),
    (SHARE, "proof.interval", ["1", "oo"], None),
    (LOGISTIC, "piece.domain.walls.0.form", "beta + 1", None),
    (POWER, "metric.kernel.0.0", "D**2*beta**(2 - 1/D)", None),
    (ROOT, "piece.gradient.0", "sqrt(2)*log(sqrt(2)*beta/(3*w_0**2))/8", None),
    (SQUARE, "piece.gradient.0", "log(beta/3)/4", None),
    (LAW, "conserved.laws.0", "b**2 - 2*a**2 + log(Abs(b))", None),
    (LAW, "conserved.bound", 2, None),
]


@functools.cache
def record_of(line):
    """Return the record of F and its start, and assert that it is accepted as it is."""
    record = record_once(parsed(line))
    check(record)
    return record


@pytest.mark.every(2)
@pytest.mark.parametrize(("line", "path", "value", "why"), CHANGES)
def test_a_record_that_says_something_else_is_refused(line, path, value, why):
    assert_refused(replaced(record_of(line), path, value), why)


def two_pieces(record):
    pieces, proofs = record["potential"]["pieces"], record["certificate"]["pieces"]
    pieces.insert(0, {**pieces[0], "Q": "beta1**2 + beta2**2"})
    proofs.insert(0, None)


def another_piece(record):
    pieces = record["potential"]["pieces"]
    pieces.append({**pieces[0], "beta": ["beta1"], "Q": "beta1**2"})
    record["certificate"]["pieces"].append(None)


def swapped_betas(record):
    text = json.dumps(record["potential"]["pieces"][0]).replace("beta1", "betaX")
    text = text.replace("beta2", "beta1").replace("betaX", "beta2")
    record["potential"]["pieces"][0] = json.loads(text)


def a_root_twice(record):
    roots = record["potential"]["pieces"][0]["roots"]
    roots.insert(0, {**roots[0], "polynomial": "A - 7", "explicit": "7"})


def a_law_on_one_leaf(record):
    said, proof = record["conserved"], record["certificate"]["conserved"]
    rest = f"({said['laws'][0]} - ({said['values_at_start'][0]}))"
    proof["definitions"] = [{"zero": rest, "main": "a_0"}]
    said["laws"].append(f"u1*{rest}")
    said["values_at_start"].append("0")
    said["count"] += 1


def a_negative_warp(record):
    """True of a start with a_0 < 0, which the conditions of the record exclude."""
    record["warping"]["g"] = "-a"
    for y in record["warping"]["dual_coordinates"][0]["y"]:
        y["rational"] = f"-({y['rational']})"
    record["warping"]["dual_coordinates"][0]["conjugate"]["rational"] = "-(a**3/3)"
    record["certificate"]["at"]["a_0"] = "-3"


def another_gradient(record):
    piece = record["potential"]["pieces"][0]
    piece["gradient"] = [f"{y} + 2*u{n}_0" for n, y in enumerate(piece["gradient"], 1)]
    piece["Q"] += " + 2*beta1*u1_0 + 2*beta2*u2_0"


def warp_of_the_other_sign(record):
    a_negative_warp(record)
    another_gradient(record)


def condition_of_the_proof(record):
    record["potential"]["pieces"][0]["assumptions"].append("zz > 0")
    zz = {"name": "zz", "is": "a_0"}
    record["certificate"]["pieces"][0]["definitions"].append(zz)


def kernel_of_the_weights_left(record):
    record["certificate"]["dual"] = record["certificate"]["pieces"] = [None]
    table = record["metric"]
    for name in ("kernel", "kernel_in_weights"):
        table[name] = [[f"2*({x})" for x in row] for row in table[name]]
    table["rho"] = [[f"({x})/2" for x in row] for row in table["rho"]]


def kernel_on_one_leaf(record):
    """K as it is where b^2 = a^2 + 3: true there, while it is said of all weights."""
    leaf = "b**2 - a**2 - 3"
    record["certificate"]["metric"]["definitions"].insert(0, {"zero": leaf, "main": "a"})
    table = record["metric"]["kernel_in_weights"]
    table[0][0] = f"{table[0][0]} + b**2*({leaf})"


ON_NEURON = (
    *(two_pieces, another_piece, swapped_betas, a_root_twice, a_law_on_one_leaf, a_negative_warp),
    *(another_gradient, warp_of_the_other_sign, condition_of_the_proof),
)
FORGED = [
    *((NEURON, forge) for forge in ON_NEURON),
    pytest.param(DEEP, kernel_on_one_leaf, marks=pytest.mark.slow),
    pytest.param(BALANCED, kernel_of_the_weights_left, marks=pytest.mark.slow),
]
TOGETHER = [
    (NEURON, {"piece.constants.A": "(a)**2", "piece.roots": []}, None),
    (
        NEURON,
        {
            "piece.abbreviations": {"short": "2*beta1"},
            "proof.definitions.0": {"name": "short", "is": "a*u1"},
        },
        "is not 2|not known",
    ),
    (
        TWO,
        {"potential.pieces.1.gradient": ["log(beta2/w_0**2)/2"], "potential.pieces.1.Q": Y_OF_W},
        "one g serves for all outputs",
    ),
    (
        VECTOR,
        {
            **{f"given.{key}": value for key, value in OF_U.items()},
            "potential.linear.vector": "a_0",
        },
        "stands alone",
    ),
]


@pytest.mark.parametrize(("line", "forge"), FORGED)
def test_a_forged_record_is_refused(line, forge):
    record = record_once(parsed(line))
    forge(record)
    assert_refused(record)


@pytest.mark.parametrize(("line", "changes", "why"), TOGETHER)
def test_entries_that_are_changed_together_are_refused(line, changes, why):
    record = record_of(line)
    for path, value in changes.items():
        record = replaced(record, path, value)
    assert_refused(record, why)


def test_rows_of_the_metric_are_lists():
    rows = {"u": ["2", "1"], "v": ["1", "2"]}
    record = record_once("u*v", rates=rows)
    assert check(record).open == ()
    record["parameterization"]["rates"]["u"] = "21"  # no rate, and not [2, 1]
    assert_refused(record)
