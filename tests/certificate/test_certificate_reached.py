"""The domain of several coupled outputs, as the checker shows it by relations with beta."""

import functools
import json

import pytest

from derive.certificate.checking.check import check
from tests.certificate.certificates import assert_refused, replaced
from tests.published import certified_once, derive_once, record_once

OUTPUTS = ["a*c - b*d", "a*d + b*c"]
PROOF = ("certificate", "pieces", 0)
SAID = ("potential", "pieces", 0, "domain")


@functools.cache
def _text():
    return certified_once(OUTPUTS)


def record():
    return json.loads(_text())


def test_all_of_the_plane_is_reached_unless_a_constant_of_the_start_is_0():
    """g = |w|^2, of which the square is delta^2 + 4 |beta|^2; and rho = 1/g."""
    report = check(record())
    assert (report.verdict, report.open) == ("PROVED", ())
    assert "every beta1, beta2 is reached" in report.theorem
    (assumed,) = (line for line in report.theorem if line.startswith("assumed: "))
    assert "a_0**2 + b_0**2 - c_0**2 - d_0**2 != 0" in assumed


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ((*SAID, "unless_zero"), [], "warp is not shown to be other than 0"),
        ((*SAID, "unless_zero"), ["a_0 + b_0"], "warp is not shown to be other than 0"),
        ((*PROOF, "warp"), "0", "other than 0"),
        ((*PROOF, "warp"), "_x - (a**2 + b**2 + c**2 + d**2)", "known"),
        ((*PROOF, "warp"), "beta1*(_x**2 - _1**2 - 4*beta1**2 - 4*beta2**2)", "other than 0"),
        ((*PROOF, "warp"), "_x*(_x**2 - _1**2 - 4*beta1**2 - 4*beta2**2)", "other than 0"),
        ((*PROOF, "warp"), "1 - (_1**2 + 4*beta1**2 + 4*beta2**2)/_x**2", "polynom"),
        ((*PROOF, "warp"), "_x**2 - _1**2 - 4*beta1**2", "is no relation"),
        ((*PROOF, "warp"), "_x**2 - 7*_1**2 - 4*beta1**2 - 4*beta2**2", "is no relation"),
    ],
)
def test_what_is_changed_is_refused(path, value, why):
    assert_refused(replaced(record(), path, value), why)


def test_a_name_is_one_function_on_the_leaf_and_over_beta():
    """g^2 = e is 0 where e = delta^2 + 4 |beta|^2 is, which another e over beta would hide."""
    forged = replaced(record(), (*SAID, "unless_zero"), [])
    (proof,) = forged["certificate"]["pieces"]
    square = f"({forged['conserved']['laws'][0]})**2 + 4*beta1**2 + 4*beta2**2"
    proof["definitions"].insert(0, {"name": "e", "is": square})
    proof |= {"warp": "_x**2 - e", "domain": [{"name": "e", "of": "exp(beta1)"}]}
    assert_refused(forged, "only calls")


def test_q_exists_where_y_is_a_function_of_beta():
    """The fields of (a + i b)(c + i d) do not commute up to the warp: y shows it by itself."""
    proof = record()["certificate"]
    assert proof["warping"] is None
    for path, value, why in (
        (("certificate", "warping"), {}, "the fields 1, 2 do not commute"),
        (PROOF, None, "is said without a proof"),
        (("hessian", "verdict"), "PROVED", "has nothing in it"),
    ):
        assert_refused(replaced(record(), path, value), why)


def test_without_a_proof_the_domain_is_open():
    assert check(replaced(record(), (*PROOF, "domain"), None)).open == (
        "the domain of Q of beta1, beta2",
    )


def test_where_the_domain_is_not_decided_the_theorem_says_so():
    d = derive_once(["a*u1", "a*u2"])
    assert "which beta1, beta2 are reached is not decided" in check(json.loads(d.to_json())).theorem


def test_walls_are_what_is_said_of_them():
    """Of (u^2 + v^2, u v) on a sector; with another wall or one of them alone it is refused."""
    d = derive_once(["u**2 + v**2", "u*v"])
    sector = json.loads(d.to_json())
    assert check(sector).open == ()
    walls = sector["potential"]["pieces"][0]["domain"]["walls"]
    other = {**walls[1], "form": "beta1 + beta2"}
    for said in ([], walls[:1], [walls[0], other]):
        assert_refused(replaced(sector, (*SAID, "walls"), said))


@functools.cache
def _through_a_root():
    start = {"a": "alpha", "b": "alpha", "u": "0"}
    return certified_once("a*b*u", start=start, positive=["alpha"])


def test_one_output_is_followed_through_a_root():
    """K(A) > 0, and beta = A^3 + alpha^2 A tends to infinity with A."""
    said = json.loads(_through_a_root())
    assert check(said).open == ()
    wall = {"form": "beta + 1", "sign": "> 0", "vanishing": None}
    lines = check(replaced(said, (*SAID, "walls"), [wall])).theorem
    assert "at least where beta + 1 > 0" in lines
    root = ("potential", "pieces", 0, "roots", 0)
    for path, value, why in (
        ((*SAID, "walls"), [{**wall, "form": "A + 1"}], "has a name that is not said"),
        ((*SAID, "walls"), [{**wall, "form": "beta**2 + 1"}], "a wall is not linear"),
        ((*root, "polynomial"), "(A**3 + A*alpha**2)**2 - beta**2", "not shown to be"),
        ((*root, "polynomial"), "(A**3 + A*alpha**2 - beta)*(A**2 + beta)", "not shown to be"),
    ):
        assert_refused(replaced(said, path, value), why)
    # Without K its sign is that of no factor, and y(A) is a time where atan is defined.
    without = replaced(said, ("metric", "kernel"), None)
    assert_refused(without, "not among the definitions")
    without["certificate"]["pieces"][0]["domain"] = [{"name": "f", "of": "atan(A/alpha)"}]
    assert check(without).open == ()
    without["certificate"]["pieces"][0]["domain"] = None
    assert check(without).open == ("the domain of Q of beta",)


def test_a_domain_that_rests_on_a_sum_of_squares_says_of_which_starts():
    """K = sqrt(a**4 + 4 beta**2) of u v is 0 at beta = 0 where a = 0: from there no beta < 0 is."""
    start = {"u": "1 + a**2/4", "v": "1 - a**2/4"}
    said = record_once("u*v", start)
    piece, proof = said["potential"]["pieces"][0], said["certificate"]["pieces"][0]
    y, moment = (f"Integral({top}/sqrt(a**4 + 4*b**2), b, 1 - a**4/16, beta)" for top in ("1", "b"))
    said["potential"]["kind"] = piece["kind"] = "quadrature"
    piece |= {"gradient": [y], "Q": f"beta*{y} - {moment}", "assumptions": []}
    piece["domain"]["unless_zero"] = []
    integrals = [{"name": f"i{n}", "of": text} for n, text in enumerate((y, moment))]
    leaf, root, *_ = proof["definitions"]
    proof["definitions"] = [leaf, root, *integrals]
    assert_refused(said, r"not shown: a\*\*4 \+ 4\*beta\*\*2 != 0")
    piece["domain"]["unless_zero"] = ["a"]
    report = check(said)
    assert report.open == ()
    assert any(line.startswith("assumed: a != 0") for line in report.theorem)
